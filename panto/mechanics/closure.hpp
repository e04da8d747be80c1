// Newton on position constraints and wanted channel values, for poses far from closed: the engine of assembly, of the check of
// neighbouring poses and of equilibria. Rows of any rank; minimum-norm steps in a metric that says how willingly each speed moves.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "panto/mechanics/workspace.hpp"
#include "panto/numerics/dense.hpp"

namespace panto {

// A channel value wanted beside the position rows.
struct WantedValue {
  Channel channel;
  double value = 0;
  double weight = 1;  // relative to the loops; matters only where not all can be met
};

struct ClosureResult {
  bool converged = false;
  bool finite = true;
  double error = 0;  // largest row, lengths relative to Workspace::length(), angles in rad
  int iterations = 0;
};

class Closure {
 public:
  // Rows: the model's position rows at time t, then the wanted values.
  Closure(Workspace& workspace, double t);

  std::vector<WantedValue> wanted;
  // Per speed: 0 stays, 1 moves freely, between: moves reluctantly. Lengths are counted in Workspace::length().
  Eigen::VectorXd mobility;

  // Moves q until all rows vanish (ASM-1): Gauss-Newton with minimum-norm steps of at most 0.5 rad (half a length), damped (Levenberg–Marquardt) where that does
  // not descend; then polished to round-off. q is left at the best pose found.
  ClosureResult solve(Eigen::VectorXd& q, int max_iterations = 100);

  // Rows at q, lengths relative to length(): position rows, then wanted values (without their weights).
  Eigen::VectorXd rows(const Eigen::VectorXd& q);
  // Derivatives of the rows by tangent directions, columns times the dof scale (1 rad or one length).
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& q);

  // 1 for angles, length() for slides: a unit step of each speed.
  [[nodiscard]] const Eigen::VectorXd& dof_scale() const { return dof_scale_; }
  // 1 for rows that are angles or direction cosines, 1 / length() for lengths. All constraint rows.
  [[nodiscard]] const Eigen::VectorXd& row_scale() const { return row_scale_; }

 private:
  [[nodiscard]] double scale_of(const Channel& c) const;
  [[nodiscard]] double step_size(const Eigen::VectorXd& step) const;

  Workspace& workspace_;
  double t_;
  Eigen::VectorXd dof_scale_, row_scale_, zero_;
  Residual residual_;
  Eigen::MatrixXd g_;
};

inline View view(const Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }
inline MutableView view(Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }

}  // namespace panto
