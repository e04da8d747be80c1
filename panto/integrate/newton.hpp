// The nonlinear equation behind the one-stage implicit methods and BDF: s x + c = f(t, x).
#pragma once

#include <Eigen/LU>

#include "panto/integrate/stepper.hpp"

namespace panto {

// (s I - ∂f/∂x)⁻¹ through the factors of the Jacobian (INT-10): one LU of the reduced size. Scalar: double or complex.
template <class Scalar>
class ShiftedSolver {
 public:
  explicit ShiftedSolver(const Ode& ode)
      : lu_(ode.reduced_size()),
        matrix_(ode.reduced_size(), ode.reduced_size()),
        right_(ode.reduced_size()),
        w_(ode.reduced_size()) {
    matrix_.setIdentity();
    lu_.compute(matrix_);
  }
  // After ode.linearise().
  void factor(const Ode& ode, Scalar shift) noexcept {
    shift_ = shift;
    matrix_ = -ode.reduced_jacobian().template cast<Scalar>();
    matrix_.diagonal().array() += shift;
    lu_.compute(matrix_);
  }
  [[nodiscard]] Scalar shift() const { return shift_; }
  // w = (s I - P F)⁻¹ reduced, where `reduced` = P r.
  template <class Vector>
  const Eigen::Matrix<Scalar, Eigen::Dynamic, 1>& solve_reduced(const Vector& reduced) noexcept {
    right_ = reduced;
    w_ = lu_.solve(right_);
    return w_;
  }

 private:
  Eigen::PartialPivLU<Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>> lu_;
  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> matrix_;
  Eigen::Matrix<Scalar, Eigen::Dynamic, 1> right_, w_;
  Scalar shift_{1};
};

// Judges a sequence of corrections: done, going on, or stuck. Corrections that no longer shrink are accepted at round-off level only.
class Convergence {
 public:
  static constexpr double kRoundOff = 1e-9;  // stagnation below this is the noise of closing loops
  // Of large models: forces of short elements are small differences of large ones.
  [[nodiscard]] static double round_off(const Ode& ode);
  explicit Convergence(double round_off = kRoundOff) : round_off_(round_off) {}
  enum class Verdict { kDone, kContinue, kSlow, kFailed };
  void start() { previous_ = -1; }
  // kSlow: go on, with a fresh Jacobian.
  Verdict judge(double correction, double tolerance) noexcept;

 private:
  double previous_ = -1, round_off_;
};

class NewtonSolver {
 public:
  NewtonSolver(Ode& ode, const StepperOptions& options);
  // Solves from the start value in x; the energy entries follow from f. x_dot() is f there. Modified Newton: the Jacobian is renewed when
  // corrections shrink by less than a factor of ten.
  [[nodiscard]] Status solve(double t, double s, View c, MutableView x, long& iterations) noexcept;
  [[nodiscard]] View x_dot() const { return f_; }

 private:
  Ode& ode_;
  double tolerance_;
  int limit_;
  ShiftedSolver<double> shifted_;
  Convergence convergence_;
  std::vector<double> f_;
  Eigen::VectorXd residual_, reduced_, correction_;
};

}  // namespace panto
