// One-step implicit methods (INT-4): implicit_euler, trapezoidal. The trapezoidal rule acts on (z, ż) alone, as in the matrix-R formulation: dependent
// coordinates are closed inside f.
#include <algorithm>

#include "panto/integrate/families.hpp"
#include "panto/integrate/motion_newton.hpp"
#include "panto/integrate/newton.hpp"

namespace panto {

namespace {

// On the accelerations: v1 = v0 + (w a0 + a1)/s, q1 = q0 + (w v0 + v1)/s with s = 1/h and w = 0, or s = 2/h and w = 1.
class ThetaMethod final : public Stepper {
 public:
  ThetaMethod(Ode& ode, const StepperOptions& options, bool trapezoidal)
      : Stepper(ode), weight_(trapezoidal ? 1 : 0), motion_(ode, options) {}
  void reset() noexcept override { motion_.forget(); }

 protected:
  Status advance(double t, double h, View x0, MutableView x1) noexcept override {
    Status status = motion_.begin(t, h, x0, side_);
    if (!usable(status)) return status;
    const double s = (1 + weight_) / h;
    MotionNewton::Law& law = motion_.law();
    law.velocity = 1 / s;
    law.position = 1 / (s * s);
    const View v0 = motion_.speeds(), a0 = motion_.accelerations();
    for (size_t i = 0; i < v0.size(); ++i) {
      law.speed[i] = v0[i] + weight_ * a0[i] / s;
      law.step[i] = (law.speed[i] + weight_ * v0[i]) / s;
    }
    status = motion_.solve(x0, x1, iterations_);
    const View before = motion_.power_before(), power = motion_.power();
    const auto work = static_cast<size_t>(ode_.dynamic_size());
    for (size_t i = 0; i < power.size(); ++i)
      x1[work + i] = x0[work + i] + (weight_ * before[i] + power[i]) / s;
    return status;
  }
  void commit(double t, View x) noexcept override { motion_.commit(t, x); }
  void repartitioned(double) noexcept override { motion_.forget(); }

 private:
  double weight_;
  MotionNewton motion_;
};

// The same on all of x, for coordinates that are not integrals of speeds: x1 = x0 + h f1, or x1 = x0 + h/2 (f0 + f1).
class ThetaOnStates final : public Stepper {
 public:
  ThetaOnStates(Ode& ode, const StepperOptions& options, bool trapezoidal)
      : Stepper(ode),
        trapezoidal_(trapezoidal),
        newton_(ode, options),
        f_(next_.size(), 0.0),
        c_(next_.size()) {}

 protected:
  Status advance(double t, double h, View x0, MutableView x1) noexcept override {
    if (trapezoidal_) {
      const Status status = ode_.rhs(t, x0, f_);
      if (!usable(status)) return status;
    }
    const double s = (trapezoidal_ ? 2 : 1) / h;
    for (size_t i = 0; i < f_.size(); ++i) c_[i] = -s * x0[i] - f_[i];
    std::copy(x0.begin(), x0.end(), x1.begin());
    return newton_.solve(t + h, s, c_, x1, iterations_);
  }

 private:
  bool trapezoidal_;
  NewtonSolver newton_;
  std::vector<double> f_, c_;
};

}  // namespace

StepperPointer make_implicit(std::string_view name, Ode& ode, const StepperOptions& options) {
  const bool trapezoidal = name == "trapezoidal";
  if (!trapezoidal && name != "implicit_euler") return nullptr;
  if (ode.plain()) return std::make_unique<ThetaMethod>(ode, options, trapezoidal);
  return std::make_unique<ThetaOnStates>(ode, options, trapezoidal);
}

}  // namespace panto
