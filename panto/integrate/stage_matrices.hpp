// The matrices of a step with three stages whose equations are decoupled by a real and a pair of complex eigenvalues λ of its Runge-Kutta matrix, on the
// accelerations (INT-15): M + λ h C + (λ h)² K, sparse, as in MotionMatrix.
#pragma once

#include <Eigen/Core>
#include <complex>

#include "panto/integrate/motion_blocks.hpp"

namespace panto {

class StageMatrices {
 public:
  // Every independent coordinate is the integral of one independent speed.
  explicit StageMatrices(Ode& ode);
  // At (t, x), where the independent speeds change at about these rates, for steps of about this length.
  [[nodiscard]] Status linearise(double t, View x, View rates, double h) noexcept;
  // For steps h, at the point of the last linearise(). False where a matrix is singular.
  [[nodiscard]] bool factor(double h, double real, std::complex<double> pair) noexcept;
  // Changes of the accelerations (all speeds) that remove imbalances, by independent acceleration: first the one of the real eigenvalue, then real and
  // imaginary parts of the one of the pair.
  void solve(const Eigen::MatrixXd& rest, Eigen::MatrixXd& change) noexcept;
  // (I - γ ∂f/∂x)⁻¹ of a change of coordinates and speeds, by speed, with γ = h times the real eigenvalue.
  void solve_shifted(double* step, double* speed) noexcept {
    real_.solve_shifted(blocks_, step, speed);
  }

 private:
  Ode& ode_;
  MotionBlocks blocks_;
  BorderedFactors<double> real_;
  BorderedFactors<std::complex<double>> pair_;
};

}  // namespace panto
