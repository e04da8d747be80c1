// The linear systems of CVODE and IDA on models with many coordinates, by sparse factors of the size of INT-13 (INT-16, INT-17): nothing of the size n x n
// is made. What stands in the way of SUNDIALS' own matrices is that ∂f/∂x holds M⁻¹K, which is full.
#pragma once

#include <optional>
#include <vector>

#include "panto/integrate/motion_blocks.hpp"

namespace panto {

// (I - γ ∂f/∂x) δ = b of ẋ = f(t, x).
class SparseOdeSystem {
 public:
  explicit SparseOdeSystem(Ode& ode);
  // M, C, K at (t, x), ẋ there, for steps with about this γ.
  [[nodiscard]] Status linearise(double t, View x, View x_dot, double gamma) noexcept;
  [[nodiscard]] bool factor(double gamma) noexcept { return factors_.factor(blocks_, gamma); }
  // b <- δ.
  void solve(MutableView b) noexcept;

 private:
  Ode& ode_;
  MotionBlocks blocks_;
  BorderedFactors<double> factors_;
  std::vector<double> speed_, step_;
};

// The Newton system of INT-9, derivatives with respect to y + c ẏ: c δq - δv - Gᵀδμ, (c M + C) δv + K δq - Gᵀδλ, G δv, G δq. How G turns with the pose is
// neglected in the last two. All rows are on the position level.
class SparseFullSystem {
 public:
  explicit SparseFullSystem(Ode& ode);
  // G is that of the workspace's last pose.
  [[nodiscard]] bool factor(const Point& at, double c, const Workspace& workspace) noexcept;
  // Right-hand sides become the solution. rows: the constraints counted in, by place in dλ and dμ.
  void solve(double* dq, double* dv, double* dlambda, double* dmu,
             const std::vector<int>& rows) noexcept;

 private:
  void add_reactions(const double* multipliers, double* out) const noexcept;  // out += Gᵀ m
  [[nodiscard]] double row_times(int row, const double* x) const noexcept;    // G x

  MotionBlocks blocks_;
  BorderedFactors<double> factors_;
  std::optional<BorderedFactors<double>> gram_;  // [ I, -Gᵀ; G, 0 ], for G Gᵀ
  RowMatrix g_;
  double c_ = 1;
  std::vector<double> push_, multipliers_;
};

}  // namespace panto
