// The mechanism as an ordinary differential equation ẋ = f(t, x) in independent coordinates:
//   x = [ q (all coordinates) | v of the independent speeds | energy entered, energy taken ].
// f first closes the loops: dependent coordinates are corrected to φ = 0 (what x carries for them is only the starting value), dependent
// speeds follow from the independent ones. Hence f does not depend on the dependent coordinates, and every textbook method
// integrates x as a plain vector.
//
// Derivatives: with w = (independent directions δq, independent speeds), m entries, δf = F δw and δw = P δx, hence ∂f/∂x = F P.
// The factors stay small when the mechanism has many coordinates and few freedoms:
//   (s I - F P)⁻¹ = (I + F (s I - P F)⁻¹ P) / s.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "panto/mechanics/workspace.hpp"

namespace panto {

class ReducedTangent;

struct State {
  double t = 0;
  Eigen::VectorXd q, v;
};

class Ode {
 public:
  // The workspace must outlive this object and have its partition chosen. with_work: append the two energy integrals.
  Ode(Workspace& workspace, bool with_work);
  ~Ode();
  Ode(const Ode&) = delete;
  Ode& operator=(const Ode&) = delete;

  [[nodiscard]] int size() const { return nq_ + nz_ + (with_work_ ? 2 : 0); }
  [[nodiscard]] int coordinates() const { return nq_; }
  [[nodiscard]] int independent() const { return nz_; }
  // Entries that feed back into f: all but the energy integrals.
  [[nodiscard]] int dynamic_size() const { return nq_ + nz_; }
  // m: independent directions and independent speeds together.
  [[nodiscard]] int reduced_size() const { return np_ + nz_; }
  [[nodiscard]] Workspace& workspace() const { return workspace_; }
  [[nodiscard]] bool with_work() const { return with_work_; }

  // ẋ at (t, x). kRepartition counts as success: the values are right, but choose again before the next step.
  [[nodiscard]] Status rhs(double t, View x, MutableView x_dot) noexcept;

  // What the equations of motion lack at (t, x) where the independent speeds change at `rates` (LOOP-7), by independent acceleration: zero where
  // rates are those of f. Speeds that follow from others get, in accelerations(), the rate that they follow with. No mass matrix is made.
  [[nodiscard]] Status imbalance(double t, View x, View rates, MutableView rest) noexcept;
  // Power in and out (the rates of the energy integrals) at the last imbalance().
  void power(MutableView in_and_out) noexcept;
  // Every independent coordinate is the integral of one independent speed.
  [[nodiscard]] bool plain() const { return plain_; }

  // F (dynamic_size x m) and P F (m x m) at (t, x), exact, by the tangent of the equations of motion. Does not allocate after
  // prepare_derivatives(). Also leaves f(t, x)'s accelerations behind, like rhs().
  void prepare_derivatives();
  [[nodiscard]] Status linearise(double t, View x) noexcept;
  [[nodiscard]] const Eigen::MatrixXd& columns() const;           // F
  [[nodiscard]] const Eigen::MatrixXd& reduced_jacobian() const;  // P F
  [[nodiscard]] const ReducedTangent& motion() const;             // what they were made of
  // w = P x_step at the point of the last linearise() or rhs().
  void reduce(View x_step, MutableView w) const noexcept;
  // ∂f/∂x = F P (size x size). Rows and columns of the energy integrals are zero: nothing depends on them, and a Newton iteration gets
  // them right in its last correction.
  [[nodiscard]] Status jacobian(double t, View x, Eigen::MatrixXd& jacobian) noexcept;

  // x with its dependent coordinates closed and quaternions normalised.
  [[nodiscard]] Status project(double t, MutableView x) noexcept;
  void pack(View q, View v, MutableView x) const noexcept;
  // Full q and v of x (closed).
  [[nodiscard]] Status unpack(double t, View x, MutableView q, MutableView v) noexcept;

  // True when the dependent block has deteriorated since the choice: time to choose again.
  [[nodiscard]] bool worn() const { return worn_; }
  // Chooses the partition again at x and re-expresses x in it. kRepartition: the independent coordinates are others than before; kOk: the
  // same. The size of x does not change unless the mobility does: then kSingular.
  [[nodiscard]] Status repartition(double t, MutableView x, bool renew = false) noexcept;

  // Signals are evaluated inside [begin, end): a jump at `end` is not seen by steps that end there.
  void set_window(double begin, double end);
  [[nodiscard]] double inside_window(double t) const noexcept;

  // Of the last rhs(), imbalance() or linearise(): full coordinates, speeds, accelerations, multipliers (redundant rows zero).
  [[nodiscard]] View positions() const { return q_; }
  [[nodiscard]] View speeds() const { return v_; }
  [[nodiscard]] View accelerations() const { return a_; }
  [[nodiscard]] View multipliers() noexcept;
  // Multipliers of the last imbalance().
  [[nodiscard]] View balancing_multipliers() const { return lambda_; }
  [[nodiscard]] View inputs() const { return u_; }
  [[nodiscard]] View input_rates() const { return u_rate_; }
  [[nodiscard]] long evaluations() const { return evaluations_; }
  [[nodiscard]] long linearisations() const { return linearisations_; }
  // One more, made elsewhere.
  void count_linearisation() { ++linearisations_; }

 private:
  struct Derivatives;
  [[nodiscard]] Status close(double t, View x) noexcept;     // q_, v_, u_ of x
  [[nodiscard]] Status evaluate(double t, View x) noexcept;  // and a_
  void watch() noexcept;
  void fill_rates(MutableView x_dot) noexcept;  // ẋ from q_, v_, a_ and, for the work, lambda_

  Workspace& workspace_;
  bool with_work_, driven_ = false, plain_ = true;
  int nq_ = 0, nv_ = 0, np_ = 0, nz_ = 0, na_ = 0;
  long evaluations_ = 0, linearisations_ = 0;
  double window_begin_, window_end_;
  bool worn_ = false;
  double best_conditioning_ = 0;
  std::vector<double> q_, v_, a_, lambda_, u_, u_rate_;
  std::vector<int> dof_coordinate_;  // speed -> first coordinate of its joint
  std::vector<int>
      dof_component_;  // speed -> axis of a spherical joint, -1 for one-coordinate joints
  std::vector<int> old_positions_, old_speeds_;
  std::unique_ptr<Derivatives> d_;
};

}  // namespace panto
