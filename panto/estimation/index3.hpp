// Trapezoidal step of a mechanism in all its coordinates, constraints by multipliers (index 3), then speeds and accelerations projected on the
// constraints with the mass as metric (OBS-9). The plant of the indirect filter as published; starts from states off the constraints.
#pragma once

#include <Eigen/LU>

#include "panto/mechanics/workspace.hpp"

namespace panto {

class Index3Plant {
 public:
  // The model must not have velocity-controlled inputs.
  explicit Index3Plant(Workspace& workspace);

  // (q, v, a) at t to those at t + h; u, u_rate: inputs at t + h; added: further generalised forces. On failure they are unchanged.
  [[nodiscard]] Status step(double t, double h, View u, View u_rate, View added, MutableView q,
                            MutableView v, MutableView a) noexcept;

 private:
  [[nodiscard]] bool linearise(const Point& x, double h) noexcept;
  void border() noexcept;

  Workspace& workspace_;
  int nv_, nc_;
  std::vector<int> rows_;  // independent position rows
  Eigen::VectorXd q_, q0_, v_, v0_, a_, a0_, lambda_, step_, zero_, right_, solution_;
  Eigen::MatrixXd left_, mass_, g_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  Residual residual_;
  Tangent tangent_;
  Blocks blocks_;
};

}  // namespace panto
