// Radau IIA with steps chosen by error control, for beams of many elements (INT-18, INT-19): L-stable, so that vibrations too fast for the step die out instead of setting it,
// and of order 5, so that the slow ones are followed with few steps. The error estimate has order 3: of vibrations that a step resolves it is far too large, of
// those that it drops about right. So it is held to a tenth of the tolerance of the run, not to a thousandth.
#include <algorithm>
#include <cmath>

#include "panto/integrate/adaptive.hpp"
#include "panto/integrate/radau_motion.hpp"

namespace panto {

namespace {

constexpr double kAllowed = 0.1;  // of the tolerance of the run
constexpr double kSafety = 0.9, kShrink = 0.2, kGrow = 8;
constexpr double kWorthwhile = 1.2;  // steps that would grow by less keep their matrices
constexpr double kFailed = 0.25;     // of a step whose equations were not solved
constexpr double kSmallest = 1e-12;  // of ε, round-off
constexpr double kShortest = 1e-15;  // of a step [s]

StepperOptions newton(double tolerance) {
  StepperOptions options;
  options.newton_tolerance = tolerance;
  return options;
}

class VariableRadau final : public Adaptive {
 public:
  VariableRadau(Ode& ode, double tol)
      : ode_(ode),
        local_(step_tolerance(tol, kSmallest)),
        allowed_(std::max(kAllowed * tol, kSmallest)),
        stepper_(ode, newton(local_)) {
    for (auto* e : {&x_, &next_, &start_, &rates_}) e->resize(static_cast<size_t>(ode.size()));
  }

  Status start(double t, View x) override {
    t_ = previous_ = t;
    std::copy(x.begin(), x.end(), x_.begin());
    start_ = x_;
    stepper_.reset();
    const Status status = ode_.rhs(t, x_, rates_);
    if (!usable(status)) return status;
    double largest = 1;
    for (int i = ode_.coordinates(); i < ode_.dynamic_size(); ++i)
      largest = std::max(largest, std::abs(rates_[static_cast<size_t>(i)]));
    h_ = std::sqrt(local_ / largest);
    first_ = true;
    return Status::kOk;
  }

  Status step(double limit) override {
    for (bool rejected = false;; rejected = true) {
      // Two even steps where one would leave a rest.
      const double left = limit - t_;
      const double h = h_ >= left ? left : 2 * h_ > left ? 0.5 * left : h_;
      const long before = stepper_.repartitions();
      double t = t_;
      next_ = x_;
      const Status status = stepper_.step(t, h, next_);
      // Matrices and coordinates of a step after which others were chosen are gone: it is taken.
      const bool moved = stepper_.repartitions() > before;
      double error = moved ? 1 : INFINITY;
      if (status == Status::kOk && !moved) {
        error = stepper_.error(false) / allowed_;
        if (!(error < 1) && (first_ || rejected)) error = stepper_.error(true) / allowed_;
      }
      if (status != Status::kOk || !(error <= 1)) {
        ++rejected_;
        if (h < kShortest || moved) {
          failure_ = status == Status::kOk ? "the error test failed at the smallest step"
                                           : "a step was not solved at the smallest step";
          return status == Status::kOk ? Status::kIntegratorFailed : status;
        }
        h_ = h * (std::isfinite(error) ? next_factor(error, 1) : kFailed);
        if (status != Status::kOk) stepper_.reset();
        continue;
      }
      double factor = next_factor(error, rejected ? 1 : kGrow);
      if (factor > 1 && factor < kWorthwhile) factor = 1;
      h_ = factor < 1 || h == h_ ? factor * h : std::max(factor * h, h_);
      first_ = false;
      start_ = x_;
      if (moved)
        ode_.pack(View(start_).first(static_cast<size_t>(ode_.coordinates())),
                  stepper_.start_speeds(), start_);
      x_ = next_;
      previous_ = t_;
      t_ = h == left ? limit : t;
      ++steps_;
      return Status::kOk;
    }
  }

  double previous() const override { return previous_; }
  double time() const override { return t_; }

  Status at(double t, MutableView x) override {
    if (t != t_) return stepper_.trial(previous_, t - previous_, start_, x);
    std::copy(x_.begin(), x_.end(), x.begin());
    return usable(ode_.project(t, x)) ? Status::kOk : Status::kIntegratorFailed;
  }

  std::string method() const override { return "radau5"; }
  std::string failure() const override { return failure_; }
  Counts counts() const override {
    Counts c;
    c.steps = steps_;
    c.jacobians = ode_.linearisations();
    c.repartitions = stepper_.repartitions();
    c.rejected = rejected_;
    return c;
  }

 private:
  static double next_factor(double error, double most) {
    return std::clamp(kSafety * std::pow(error, -0.25), kShrink, most);
  }

  Ode& ode_;
  double local_, allowed_;  // of the error of a step, and of its estimate
  RadauOnMotion stepper_;
  std::vector<double> x_, next_, start_, rates_;
  double t_ = 0, previous_ = 0, h_ = 0;
  bool first_ = true;
  long steps_ = 0, rejected_ = 0;
  std::string failure_;
};

}  // namespace

std::unique_ptr<Adaptive> make_variable_radau(Ode& ode, double tol) {
  return std::make_unique<VariableRadau>(ode, tol);
}

}  // namespace panto
