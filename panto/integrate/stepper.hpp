// Fixed-step integrators behind one interface. A step neither allocates, throws nor locks, and its iterations are bounded.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "panto/integrate/ode.hpp"

namespace panto {

struct StepperOptions {
  double rho_infinity = 0.9;        // generalised-α: spectral radius at infinite frequency
  double newton_tolerance = 1e-12;  // of a correction, relative to 1 + |x| per entry
  int newton_limit = 20;
};

class Stepper {
 public:
  // nullptr if there is no fixed-step integrator of that name. The ode must outlive the stepper.
  static std::unique_ptr<Stepper> create(std::string_view name, Ode& ode,
                                         const StepperOptions& options = {});
  virtual ~Stepper() = default;
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  // From x at t to x at t + h, loops closed; chooses other independent coordinates when the present ones wear out. On failure the state and t are
  // unchanged: kNotConverged (Newton stalled: take a smaller step), kNotFinite (blown up), kSingular.
  [[nodiscard]] Status step(double& t, double h, MutableView x) noexcept;
  // The same without taking it: the state at t + h goes to `out`, nothing else changes. For reports and events between steps.
  [[nodiscard]] Status trial(double t, double h, View x, MutableView out) noexcept;
  // Forget the past: x was changed from outside, or f jumped.
  virtual void reset() noexcept {}

  [[nodiscard]] long steps() const { return steps_; }
  [[nodiscard]] long iterations() const { return iterations_; }
  [[nodiscard]] long repartitions() const { return repartitions_; }

 protected:
  explicit Stepper(Ode& ode);
  // Raw step from x0 to x1 (not yet closed). Keeps what commit() needs.
  [[nodiscard]] virtual Status advance(double t, double h, View x0, MutableView x1) noexcept = 0;
  // The advance has been accepted; x is closed, at t. Multistep methods remember it.
  virtual void commit(double t, View x) noexcept;
  // Other independent coordinates: re-express what is remembered.
  virtual void repartitioned(double t) noexcept;

  Ode& ode_;
  long steps_ = 0, iterations_ = 0, repartitions_ = 0;
  bool side_ = false;  // the advance is a trial: it must leave no trace
  std::vector<double> next_;

 private:
  [[nodiscard]] Status attempt(double t, double h, View x, MutableView out) noexcept;
};

// True for outcomes after which the values may be used.
[[nodiscard]] constexpr bool usable(Status s) {
  return s == Status::kOk || s == Status::kRepartition;
}

}  // namespace panto
