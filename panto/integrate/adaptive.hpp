// Integrators that choose their own steps, behind one interface: CVODE (Adams, BDF) on the ordinary differential equation, IDA on the
// stabilised index-2 equations.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "panto/integrate/ode.hpp"

namespace panto {

class Adaptive {
 public:
  // "cvode", "cvode_bdf", "auto" or "ida"; nullptr for other names. tol: accuracy wanted of the whole run, relative to 1 + |x|. Errors of
  // steps add up over a run, so that a step is held to tol / 1000 (INT-8), but not below what round-off allows.
  // The ode must outlive the integrator.
  static std::unique_ptr<Adaptive> create(std::string_view name, Ode& ode, double tol);
  virtual ~Adaptive() = default;
  Adaptive() = default;
  Adaptive(const Adaptive&) = delete;
  Adaptive& operator=(const Adaptive&) = delete;

  // Begins at t with x, forgetting the past. Again at every jump of an input.
  [[nodiscard]] virtual Status start(double t, View x) = 0;
  // One step of its own choice that does not pass `limit`. Chooses other independent coordinates first where the present ones are worn.
  [[nodiscard]] virtual Status step(double limit) = 0;
  // The last step.
  [[nodiscard]] virtual double previous() const = 0;
  [[nodiscard]] virtual double time() const = 0;
  // State inside the last step, loops closed; as accurate as the step itself.
  [[nodiscard]] virtual Status at(double t, MutableView x) = 0;

  // The method in use: "auto" answers "cvode" until it has met stiffness, "radau5" on beams of many elements.
  [[nodiscard]] virtual std::string method() const = 0;
  // What the last failure was, in words.
  [[nodiscard]] virtual std::string failure() const = 0;

  // evaluations: of its own equations, not counting those of the ode.
  struct Counts {
    long steps = 0, evaluations = 0, jacobians = 0, repartitions = 0, rejected = 0;
  };
  [[nodiscard]] virtual Counts counts() const = 0;
};

// Tolerance of a step from the tolerance of the run. smallest: where the method's own round-off begins.
[[nodiscard]] constexpr double step_tolerance(double tol, double smallest) {
  return tol / 1000 > smallest ? tol / 1000 : smallest;
}

// Highest order of BDF on beams of many elements: of hundreds of undamped vibrations some always lie where higher orders let them grow.
constexpr int kBeamOrder = 2;

std::unique_ptr<Adaptive> make_cvode(std::string_view name, Ode& ode, double tol);
std::unique_ptr<Adaptive> make_ida(std::string_view name, Ode& ode, double tol);
// "auto" on beams of many elements (INT-18); every independent coordinate is the integral of an independent speed.
std::unique_ptr<Adaptive> make_variable_radau(Ode& ode, double tol);

}  // namespace panto
