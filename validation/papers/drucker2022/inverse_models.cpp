// Drücker, doctoral thesis on servo-constraints, Sections 4.1.2 and 4.2.5: errors of inverse models against the exact input.
//
// | thesis                | here                                            |
// |-----------------------|-------------------------------------------------|
// | orig, proj, subs      | formulations original, projection, substitution |
// | e_max                 | largest |u - exact u|, the start included       |
// | J, J̃, J̃10, J̃50      | differences; Broyden with restart 0, 10, 50     |
//
// Figures 4.2 and 4.11 print no numbers; "printed" are those of the text. Bands, set before the run: half a unit of the last printed digit, 10 % where the text
// says "about"; counts that must be zero: one half.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/inversion/inverse_model.hpp"
#include "panto/inversion/model_servo.hpp"
#include "panto/inversion/test/cases.hpp"
#include "validation/support.hpp"

namespace panto::validation::drucker2022 {
namespace {

struct Outcome {
  double error = 0;  // |u - exact|
  long values = 0;   // evaluations of the equations
  long factorisations = 0;
  bool good = false;
};

// exact(n, i): input i after n steps; the start counts too: there the inverse model is at rest.
template <class Exact>
Outcome run(ServoSystem& system, const Path& path, const InverseOptions& options,
            const Exact& exact) {
  Outcome out;
  auto model = InverseModel::create(system, path, options);
  if (!model.ok() || !(*model)->start(0).ok()) return out;
  const int steps = static_cast<int>(std::lround(path.end() / options.dt));
  for (int n = 0; n <= steps; ++n) {
    if (n > 0 && fatal((*model)->step())) return out;
    for (size_t i = 0; i < (*model)->u().size(); ++i)
      out.error = std::max(out.error, std::abs((*model)->u()[i] - exact(n, static_cast<int>(i))));
  }
  out.values = (*model)->report().values + (*model)->report().tangents;
  out.factorisations = (*model)->report().factorisations;
  out.good = true;
  return out;
}

Result<std::unique_ptr<ModelServo>> servo(const Loaded& loaded, const ServoChoice& choice) {
  return ModelServo::create(*loaded.model, loaded.params, choice);
}

}  // namespace

// Torsional oscillator of the zoo, implicit Euler, one turn in 6 s by (4.5).
Result<std::vector<Row>> fig4_2() {
  std::vector<Row> rows;
  const struct {
    int disks;
    double dt, printed, band;
  } best[] = {{2, 1e-3, 5e-4, 0.5e-4},
              {3, 1e-2, 6e-3, 0.5e-3},
              {4, 5e-2, 2.5e-2, 0.05e-2},
              {5, 0.1, 0.26, 0.005}};
  const Path path = inversion_test::turn();
  int worse = 0;
  double apart = 0;
  for (const auto& b : best) {
    Result<Loaded> loaded =
        load_model("torsional_oscillator", std::vector<Override>{{"N", std::to_string(b.disks)}});
    if (!loaded.ok()) return loaded.diagnostics();
    Result<std::unique_ptr<ModelServo>> system = servo(*loaded, {{"z"}, {}, {"u"}, {}});
    if (!system.ok()) return system.diagnostics();
    const auto error = [&](double dt, Formulation formulation) {
      const Outcome o =
          run(**system, path, inversion_test::euler(dt, formulation),
              [&](int n, int) { return inversion_test::chain_torque(b.disks, path, n * dt); });
      return o.good ? o.error : 1e300;
    };
    const double projected = error(b.dt, Formulation::kProjection);
    rows.push_back({fmt::format("N = {}, {} ms: e_max, index reduced", b.disks, 1e3 * b.dt),
                    b.printed, projected, "N m", b.band,
                    b.disks < 4
                        ? ""
                        : "mostly the jump of the exact torque at the start, where the path "
                          "is C7 and C" +
                              std::to_string(2 * b.disks) + " is needed"});
    // Steps down to where round-off sets in.
    for (const double dt : {0.1, 0.05, 0.02, 0.01}) {
      if (dt < b.dt) continue;
      const double p = error(dt, Formulation::kProjection);
      worse += error(dt, Formulation::kOriginal) < p * (1 - 1e-9) ? 1 : 0;
      apart = std::max(apart, std::abs(error(dt, Formulation::kSubstitution) / p - 1));
    }
  }
  rows.push_back(
      {"steps at which orig has the smaller error", 0, static_cast<double>(worse), "", 0.5, ""});
  rows.push_back({"largest relative difference of proj and subs", 0, apart, "", 1e-3, ""});
  return rows;
}

// Reduced cable robot in the thesis' differential-algebraic form (2.73)–(2.75) with outputs substituted, Radau: order of the error, updates in place of fresh
// Jacobians.
Result<std::vector<Row>> fig4_11() {
  auto system = inversion_test::cable_dae();
  const Path path = inversion_test::cable_line();
  const auto outcome = [&](double dt, JacobianKind jacobian, int restart) {
    InverseOptions o;
    o.dt = dt;
    o.scheme = InverseScheme::kRadau5;
    o.formulation = Formulation::kSubstitution;
    o.newton.jacobian = jacobian;
    o.newton.restart = restart;
    o.newton.iterations = 20;
    o.predict = false;  // as the thesis: speeds, forces and inputs of the step before
    return run(system, path, o, [&](int n, int i) {
      return inversion_test::cable_inputs(path, n * dt)[static_cast<size_t>(i)];
    });
  };
  std::vector<Row> rows;
  const Outcome coarse = outcome(0.1, JacobianKind::kFiniteDifference, 0),
                fine = outcome(0.01, JacobianKind::kFiniteDifference, 0);
  rows.push_back({"order of the error between 100 and 10 ms", 2,
                  std::log10(coarse.error / fine.error), "", 0.5, ""});
  for (const int restart : {0, 10, 50})
    for (const double dt : {0.1, 0.05, 0.02, 0.01}) {
      const Outcome fresh = outcome(dt, JacobianKind::kFiniteDifference, 0),
                    updated = outcome(dt, JacobianKind::kBroyden, restart);
      rows.push_back({fmt::format("{} ms: error with {} over that with J", 1e3 * dt,
                                  restart == 0 ? std::string("J~") : fmt::format("J~{}", restart)),
                      1, updated.error / fresh.error, "", 0.1, ""});
    }
  // The equations at three stages, by 15 unknowns in all; the thesis, with speeds among them, has 21 to differentiate by.
  const Outcome updated = outcome(0.01, JacobianKind::kBroyden, 10);
  constexpr double kUnknowns = 15, kTheirs = 21, kStages = 3;
  const auto with_theirs = [&](const Outcome& o) {
    return static_cast<double>(o.values) / kStages +
           static_cast<double>(o.factorisations) * (kTheirs - kUnknowns);
  };
  rows.push_back(
      {"10 ms: cost with J over cost with J~10", 20.5 / 2.4,
       static_cast<double>(fine.values) / static_cast<double>(updated.values), "", 2,
       fmt::format("printed: computing times in MATLAB; computed: evaluations of the equations. "
                   "The thesis differentiates by 21 unknowns, we by 15: with 21 as many iterations "
                   "would give {:.2g}",
                   with_theirs(fine) / with_theirs(updated))});
  return rows;
}

}  // namespace panto::validation::drucker2022
