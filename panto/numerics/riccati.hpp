// The algebraic Riccati equation of optimal control, by an ordered Schur form of its Hamiltonian matrix (LAPACK).
#pragma once

#include <Eigen/Core>
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

namespace panto {

enum class RiccatiOutcome : std::uint8_t {
  kSolved,
  kBadWeights,       // sizes that do not fit, R not positive definite, Q not positive semidefinite
  kNotStabilisable,  // a mode that does not decay and that no input moves
  kUnseen,  // a mode on the imaginary axis that the weights do not see: the Hamiltonian matrix has eigenvalues there
};

// Pᵀ = P with A - B F stable (RIC-1); what is not solved has an outcome only, and the mode that is to blame.
struct Riccati {
  RiccatiOutcome outcome = RiccatiOutcome::kBadWeights;
  Eigen::MatrixXd P, F;                     // F = R⁻¹ Bᵀ P
  std::vector<std::complex<double>> poles;  // of A - B F, by decreasing real part
  double residual = 0;                      // of the equation, relative to its largest term
  std::complex<double> mode = 0;
};

// Aᵀ P + P A - P B R⁻¹ Bᵀ P + Q = 0. Cost some (2 n)³; two steps of Newton's method refine what the Schur vectors give.
Riccati solve_riccati(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, const Eigen::MatrixXd& q,
                      const Eigen::MatrixXd& r);

// An eigenvalue of A with a real part that is not negative at which [A - s 1, B] loses rank (Hautus), the one furthest to the right.
std::optional<std::complex<double>> unstabilisable_mode(const Eigen::MatrixXd& a,
                                                        const Eigen::MatrixXd& b);

// X with Aᵀ X + X A + C = 0, C symmetric; false where A has eigenvalues s and -s.
[[nodiscard]] bool solve_lyapunov(const Eigen::MatrixXd& a, const Eigen::MatrixXd& c,
                                  Eigen::MatrixXd& x);

}  // namespace panto
