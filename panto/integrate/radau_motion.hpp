// Radau IIA on the accelerations a_i of the stages (INT-15), where every coordinate is the integral of a speed: v_i = v0 + h Σ A_ij a_j, q_i = q0 moved by
// h c_i v0 + h² Σ (A²)_ij a_j. No matrix of the size n x n is made.
#pragma once

#include <vector>

#include "panto/integrate/newton.hpp"
#include "panto/integrate/radau_table.hpp"
#include "panto/integrate/stage_matrices.hpp"
#include "panto/integrate/stepper.hpp"

namespace panto {

class RadauOnMotion final : public Stepper {
 public:
  RadauOnMotion(Ode& ode, const StepperOptions& options);
  void reset() noexcept override { follows_ = main_.valid = false; }

  // Error of the step taken last, as the embedded formula of order 3 sees it (INT-18, INT-19): root mean square over independent coordinates, by 1 + |q|, and h times
  // speeds, by 1 + h |v|. again: at its start, with the error found first (one more evaluation there); so that fast vibrations which the step damps count
  // little even where they are strong.
  [[nodiscard]] double error(bool again) noexcept;
  // All speeds where it started.
  [[nodiscard]] View start_speeds() const { return v0_; }

 protected:
  Status advance(double t, double h, View x0, MutableView x1) noexcept override;
  void commit(double t, View x) noexcept override;
  void repartitioned(double) noexcept override { reset(); }

 private:
  struct Held {
    StageMatrices matrices;
    bool valid = false;
    double h = 0;
    int least = 0;  // iterations of the first step
  };
  // Speeds at the start of the step, and the accelerations there as a guess of those of the stages: those of the step taken last if it ended in this state.
  Status begin(double t, double h, View x0) noexcept;
  Status renew(Held& held, double t, double h, View x) noexcept;
  void take_rates(int stage) noexcept;
  // Columns of `to`: those of `from` weighted by a row of the matrix.
  static void combine(const double (&weight)[3][3], const Eigen::MatrixXd& from,
                      Eigen::MatrixXd& to) noexcept;
  // What accelerations, or their changes, make of speeds and coordinates.
  void sum(const Eigen::MatrixXd& a, double h) noexcept;
  void place(int s, double h, View x0, MutableView x) noexcept;
  // Largest relative change of an independent coordinate or speed of a stage.
  double size_of_change(double h) noexcept;
  // The estimate from speeds and accelerations at the start; by_speed_ and by_step_ are those of the step.
  void estimate(View v, View a) noexcept;
  [[nodiscard]] double norm_of_estimate() const noexcept;

  double tolerance_;
  int limit_;
  radau::Eigenvalues eigen_;
  Held main_, beside_;  // of steps taken, and of trials
  Convergence convergence_;
  bool follows_ = false;
  double last_t_ = 0;
  double square_[3][3] = {};  // A²
  double power_[3][2] = {};   // in and out, of the stages
  std::vector<double> f_, q_, rates_, v0_, a0_, v_, move_;
  std::vector<double> last_x_, last_v_, last_a_;  // where the step taken last ended
  std::vector<double> x_[3];
  Eigen::MatrixXd a_;  // of the stages
  Eigen::MatrixXd by_speed_, by_step_, change_, mixed_, rest_, mixed_rest_;
  Eigen::MatrixXd shift_;  // from where the law puts dependent coordinates to where they close
  std::vector<double> start_x_, error_step_, error_speed_;  // of the step taken last
  double start_t_ = 0, step_ = 0;
};

}  // namespace panto
