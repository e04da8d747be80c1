// Poles of frequency responses for all orders of a right matrix fraction: poly-reference least-squares complex frequency.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <vector>

namespace panto {

struct OrderPole {
  int order = 0;
  std::complex<double> s;          // [1/s], positive imaginary part, as the data has it
  Eigen::VectorXcd participation;  // of the references, norm 1
};

// H(f) = B(z) A(z)⁻¹ per line, outputs x references; B and A are polynomials in z = exp(2πi (f - f_first) / span), the band on the whole circle,
// with the lowest coefficient of A the identity, so that poles of the computation are unstable and drop out (EMA-1 … EMA-4).
// `h`: lines x (outputs * references), column output + outputs * reference. Stable poles within the band, of the orders 1 … max_order.
// Cost: lines · max_order · columns for the sums, (references · max_order)³ for the last of the eigenproblems.
std::vector<OrderPole> poly_reference_poles(const Eigen::VectorXd& frequency_hz,
                                            const Eigen::MatrixXcd& h, int outputs, int references,
                                            int max_order);

}  // namespace panto
