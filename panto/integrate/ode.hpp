// The mechanism as an ordinary differential equation ẋ = f(t, x) in independent coordinates:
//   x = [ q (all coordinates) | v of the independent speeds | energy entered, energy taken ].
// f first closes the loops: dependent coordinates are corrected to φ = 0 (what x carries for them is only the starting value), dependent
// speeds follow from the independent ones. Hence f does not depend on the dependent coordinates, and every textbook method
// integrates x as a plain vector.
#pragma once

#include <Eigen/Core>

#include "panto/mechanics/workspace.hpp"

namespace panto {

struct State {
  double t = 0;
  Eigen::VectorXd q, v;
};

class Ode {
 public:
  // The workspace must outlive this object and have its partition chosen. with_work: append the two energy integrals.
  Ode(Workspace& workspace, bool with_work);

  [[nodiscard]] int size() const { return nq_ + nz_ + (with_work_ ? 2 : 0); }
  [[nodiscard]] int coordinates() const { return nq_; }
  [[nodiscard]] int independent() const { return nz_; }
  [[nodiscard]] Workspace& workspace() { return workspace_; }

  // ẋ at (t, x). kRepartition counts as success: the values are right, but choose again before the next step.
  [[nodiscard]] Status rhs(double t, View x, MutableView x_dot) noexcept;
  // ∂f/∂x (size x size, column major in `jacobian`), exact, by the tangent of the equations of motion.
  [[nodiscard]] Status jacobian(double t, View x, Eigen::MatrixXd& jacobian) noexcept;
  // x with its dependent coordinates closed and quaternions normalised.
  [[nodiscard]] Status project(double t, MutableView x) noexcept;

  void pack(View q, View v, MutableView x) const noexcept;
  // Full q and v of x (closed).
  [[nodiscard]] Status unpack(double t, View x, MutableView q, MutableView v) noexcept;
  // Chooses the partition again at x and re-expresses x in it. The size of x does not change unless the mobility does: then kSingular.
  [[nodiscard]] Status repartition(double t, MutableView x) noexcept;

  // Of the last rhs(): all accelerations and multipliers.
  [[nodiscard]] View accelerations() const;
  [[nodiscard]] View multipliers() const;
  [[nodiscard]] long evaluations() const { return evaluations_; }

 private:
  Workspace& workspace_;
  bool with_work_;
  int nq_ = 0, nz_ = 0;
  long evaluations_ = 0;
  std::vector<double> q_, v_, a_, lambda_, u_, u_rate_;
};

}  // namespace panto
