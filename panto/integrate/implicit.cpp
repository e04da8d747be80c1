// One-step implicit methods (INT-4): implicit_euler, trapezoidal. The trapezoidal rule acts on (z, ż) alone, as in the matrix-R formulation: dependent
// coordinates are closed inside f.
#include <algorithm>

#include "panto/integrate/families.hpp"
#include "panto/integrate/newton.hpp"

namespace panto {

namespace {

class ThetaMethod final : public Stepper {
 public:
  ThetaMethod(Ode& ode, const StepperOptions& options, bool trapezoidal)
      : Stepper(ode),
        trapezoidal_(trapezoidal),
        newton_(ode, options),
        f_(next_.size(), 0.0),
        c_(next_.size()) {}

 protected:
  // x1 = x0 + h f1, or x1 = x0 + h/2 (f0 + f1).
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
  if (name == "implicit_euler") return std::make_unique<ThetaMethod>(ode, options, false);
  if (name == "trapezoidal") return std::make_unique<ThetaMethod>(ode, options, true);
  return nullptr;
}

}  // namespace panto
