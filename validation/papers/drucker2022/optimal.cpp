// Drücker, doctoral thesis on servo-constraints, Figure 6.4: stable inversion of the planar manipulator with a passive joint by optimisation.
//
// | thesis           | here                                                                              |
// |------------------|-----------------------------------------------------------------------------------|
// | opt, idopt       | StableMethod::kDirect, kIndirect                                                  |
// | dae              | coordinates α, β with the servo-constraint α + β/2 = z                            |
// | ode              | coordinates z, β of the normal form: the constraint is a coordinate, β is η       |
// | error            | largest difference of u from the boundary value problem with steps of 1/528 s     |
//
// Horizon from 1 s before to 1 s after the path (the thesis does not say). Bands, set before the run: 0.3 for the order ("about 4"); one half where a bound is asked about.
#include "validation/papers/drucker2022/optimal.hpp"

#include <fmt/format.h>

#include <cmath>

#include "panto/inversion/stable_inversion.hpp"
#include "panto/inversion/test/cases.hpp"

namespace panto::validation::drucker2022 {
namespace {

using inversion_test::PassiveArm;

// The same arm in coordinates z = α + β/2 and β.
struct NormalForm {
  static constexpr int kCoordinates = 2, kConstraints = 0, kInputs = 1;
  PassiveArm arm;
  template <class T>
  void dynamics(double t, const T* y, const T* v, const T* w, const T* lambda, const T* u,
                T* r) const {
    const T ya[] = {y[0] - 0.5 * y[1], y[1]}, va[] = {v[0] - 0.5 * v[1], v[1]},
            wa[] = {w[0] - 0.5 * w[1], w[1]};
    arm.dynamics(t, ya, va, wa, lambda, u, r);
  }
  template <class T>
  void outputs(const T&, const T* y, T* z) const {
    z[0] = y[0];
  }
  static void guess(double* y) { y[0] = y[1] = 0; }
};

template <class System>
Diagnostics add(const std::string& name, StableMethod method, System system,
                const StableInversion& fine, std::vector<Row>& rows) {
  StableOptions options;
  options.method = method;
  options.before = options.after = 1;
  double error[2] = {0, 0};
  for (int k = 0; k < 2; ++k) {
    options.dt = k == 0 ? 1.0 / 33 : 1.0 / 66;
    const auto found = invert_stably(system, inversion_test::arm_swing(), options);
    if (!found.ok()) return found.diagnostics();
    error[k] = inversion_test::largest_difference(*found, fine);
  }
  rows.push_back({name + ": order", 4, std::log2(error[0] / error[1]), "", 0.3, ""});
  rows.push_back({name + ": error with 0.03 s at most 4e-6 N m", 1, error[0] <= 4e-6 ? 1. : 0., "",
                  0.5, fmt::format("{:.2g} N m", error[0])});
  return {};
}

}  // namespace

Result<std::vector<Row>> optimisation_rows() {
  FunctionServo<PassiveArm> dae;
  FunctionServo<NormalForm> ode;
  StableOptions options;
  options.before = options.after = 1;
  options.dt = 1.0 / 528;
  const auto fine = invert_stably(dae, inversion_test::arm_swing(), options);
  if (!fine.ok()) return fine.diagnostics();
  std::vector<Row> rows;
  for (const auto& [name, method] :
       {std::pair{"opt", StableMethod::kDirect}, std::pair{"idopt", StableMethod::kIndirect}}) {
    if (Diagnostics d = add(fmt::format("{}-ode", name), method, ode, *fine, rows); !d.ok())
      return d;
    if (Diagnostics d = add(fmt::format("{}-dae", name), method, dae, *fine, rows); !d.ok())
      return d;
  }
  return rows;
}

}  // namespace panto::validation::drucker2022
