// A servo system by its matrices.
#pragma once

#include "panto/base/diagnostics.hpp"
#include "panto/inversion/servo_system.hpp"

namespace panto {

// M ÿ + D ẏ + K y = B u + Gfᵀ λ,  C y + C_u u = 0 or with ẏ or ÿ,  z = H y or its first or second derivative.
struct LinearServoMatrices {
  Eigen::MatrixXd M, D, K, B, H;
  Eigen::MatrixXd C, C_u, Gf;  // empty: no constraints; C_u empty: without inputs; Gf empty: C
  std::vector<Level> constraint_levels, output_levels;  // empty: positions
  Eigen::VectorXd rest;                                 // guess of the equilibrium; empty: zero
};

class LinearServo : public ServoSystem {
 public:
  // E1001: sizes that do not fit.
  static Result<LinearServo> create(LinearServoMatrices matrices);
  void evaluate(const ServoPoint& x, bool with_tangent, ServoValues& out) noexcept override;
  void guess(MutableView y) const override;

 private:
  explicit LinearServo(LinearServoMatrices matrices);
  LinearServoMatrices m_;
  Eigen::MatrixXd g_;  // C above H
};

}  // namespace panto
