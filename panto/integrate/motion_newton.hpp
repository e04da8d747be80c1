// Newton on the accelerations of one implicit step (INT-13). The method fixes how coordinates and speeds at the end of the step follow the accelerations
// there; the equations of motion decide which these are. No mass matrix is factorised on the way: the residual of the equations is enough, and the
// matrix of the iteration is kept from step to step as long as that is cheaper than a new one.
#pragma once

#include <array>
#include <memory>

#include "panto/integrate/motion_matrix.hpp"
#include "panto/integrate/stepper.hpp"

namespace panto {

class MotionNewton {
 public:
  MotionNewton(Ode& ode, const StepperOptions& options);

  // End of the step by its accelerations a, all speeds: v = speed + velocity a, q = q0 moved by step + position a. Entries of dependent speeds
  // only serve start values and coordinates whose speed is given.
  struct Law {
    double position = 0, velocity = 0;
    std::vector<double> step, speed;
  };
  [[nodiscard]] Law& law() { return law_; }

  // Speeds and accelerations at the start of a step of length h, and a guess of those at its end: from the step that was committed last if it
  // ended in this state, otherwise evaluated. side: a step that will not be taken; nothing is kept of it.
  [[nodiscard]] Status begin(double t, double h, View x0, bool side) noexcept;
  [[nodiscard]] View speeds() const { return start_.v; }
  [[nodiscard]] View accelerations() const { return start_.a; }
  // Power in and out at the start of the step, and at its end after solve(); empty where work is not integrated.
  [[nodiscard]] View power_before() const { return start_.power; }
  [[nodiscard]] View power() const { return power_; }

  // x1 at the end of the step by the law, energy entries not touched. After begin().
  [[nodiscard]] Status solve(View x0, MutableView x1, long& iterations) noexcept;
  // Accelerations at the end of the step.
  [[nodiscard]] View solution() const { return a_; }

  // The step last solved is taken; x is closed, at t.
  void commit(double t, View x) noexcept;
  // The next step starts anew.
  void forget() noexcept;

 private:
  // How the iterations with a matrix have gone.
  struct History {
    double rate = -1;  // slowest at which corrections have shrunk, -1: not known
    int least = 0;     // iterations of the quickest step
    int excess = 0;    // iterations beyond that, all steps
  };
  struct Held {
    std::unique_ptr<MotionMatrix> matrix;
    bool valid = false;
    double position = 0, velocity = 0;
    History history;
  };
  // A state and its derivatives.
  struct Known {
    double t = 0;
    std::vector<double> x, v, a, power;
  };
  void remember(Known& at, double t, View x, View a) noexcept;
  void place(View x0, MutableView x1) noexcept;
  // Corrects a_ by the imbalance evaluated last; the largest relative change of the state that follows.
  [[nodiscard]] double correct(Held& held, View x1) noexcept;
  [[nodiscard]] bool converged(double size, double before, bool fresh, bool& renew,
                               History& history) const noexcept;

  Ode& ode_;
  double tolerance_;
  int limit_, patience_;
  double round_off_;  // corrections below it may be noise
  Law law_;
  Held main_, side_;
  bool on_the_side_ = false;
  double h_ = 0;       // of the step begun
  double last_h_ = 0;  // of the step taken last
  Known start_, last_;
  // Backward differences of the accelerations of steps taken, of order 0 (those at last_), 1, …: so many are known, of steps of one length, and the
  // sum of so many foretells the next.
  std::array<std::vector<double>, 5> difference_;
  size_t known_ = 0, used_ = 1;
  std::vector<double> a_, guess_, v_, q_, move_, rates_, x_dot_, power_;
  std::vector<double> shift_;  // from where the law puts dependent coordinates to where they close
  Eigen::VectorXd ahead_, change_, rest_;
};

}  // namespace panto
