// The stabilisation diagram: poles of all orders, and which of them stay (EMA-1 … EMA-4, EMA-8).
#pragma once

#include <Eigen/Core>
#include <complex>
#include <numbers>
#include <vector>

#include "panto/updating/ema.hpp"
#include "panto/updating/pole_residue.hpp"

namespace panto {

// Poles of one mode that are stable over many orders.
struct StablePole {
  std::complex<double> s;          // median, without the window's share
  Eigen::VectorXcd participation;  // of the excitations; empty where they are no references
  int orders = 0;
};

struct Stabilisation {
  std::vector<DiagramPole> diagram;
  std::vector<StablePole> poles;
  int references = 0;
};

// `h`: lines x pairs, column response + responses · excitation; `decay`: rate of the exponential window, which the poles of the data hold.
Stabilisation stabilise(const Eigen::VectorXd& frequency_hz, const Eigen::MatrixXcd& h,
                        const ResponseNoise& noise, int responses, double decay,
                        const EmaOptions& options);

inline double frequency_of(std::complex<double> s) { return std::abs(s) / (2 * std::numbers::pi); }
inline double damping_of(std::complex<double> s) { return -s.real() / std::abs(s); }

}  // namespace panto
