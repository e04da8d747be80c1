// Drücker, doctoral thesis: errors of inverse models with internal dynamics, Figures 5.5 and 5.10.
//
// Bands were set before the run. Figure 5.5: numbers are given with one or two digits and an "about", ± 20 %. Figure 5.10 has no numbers in the text:
// what stands beside ours is an independent recomputation from the thesis' data, given with two digits, ± 15 %; orders ± 0.3.
// Formulation and norm of Figure 5.10, which nobody states, were chosen after a first run (README.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/inversion/invert.hpp"
#include "panto/inversion/test/cases.hpp"
#include "validation/support.hpp"

namespace panto::validation::drucker2022 {
namespace {

// Largest |u - u_exact| up to `until`, and on the path without its first and last 0.2 s.
struct ForceError {
  double all = 0, within = 0;
};
Result<ForceError> force_error(const Loaded& loaded, const std::string& scheme, int order,
                               double dt, double until) {
  const Path path = inversion_test::car_line();
  InvertOptions o;
  o.inverse.dt = dt;
  o.inverse.order = order;
  o.inverse.scheme = scheme == "radau5" ? InverseScheme::kRadau5 : InverseScheme::kBdf;
  o.inverse.start_up = StartUp::kRest;
  o.until = until;
  o.verify = false;
  const Result<Inversion> run =
      invert(*loaded.model, loaded.params, {{"z"}, {}, {"u"}, {}}, path, o);
  if (!run.ok()) return run.diagnostics();
  const std::vector<double> exact = inversion_test::car_force(
      inversion_test::Car{}, path, dt, static_cast<int>(run->t.size()) - 1, dt > 0.005 ? 20 : 4);
  ForceError e;
  for (size_t k = 1; k < run->t.size(); ++k) {
    const double difference = std::abs(run->u[0][k] - exact[k]);
    e.all = std::max(e.all, difference);
    if (run->t[k] > path.begin() + 0.2 && run->t[k] < path.end() - 0.2)
      e.within = std::max(e.within, difference);
  }
  return e;
}

}  // namespace

// Case 2.2 of the mass on the car, 1 m to 4 m in 8 s (4.10), projection. The end of the run is not given: 16 s.
Result<std::vector<Row>> fig5_5() {
  Result<Loaded> loaded = load_model("mass_on_car");
  if (!loaded.ok()) return loaded.diagnostics();
  struct Run {
    const char *label, *scheme;
    int order;
    double dt, printed;
    const char* note;
  };
  std::vector<Row> rows;
  for (const Run& r :
       {Run{"implicit Euler, 10 ms", "bdf", 1, 0.01, 0.5, ""},
        Run{"implicit Euler, 1 ms", "bdf", 1, 0.001, 0.11,
            "it grows with time, and the end of the run is not given; the equations without "
            "projection give 0.12 N"},
        Run{"BDF3, 10 ms", "bdf", 3, 0.01, 0.02,
            "the largest error is in the first steps, where the fifth derivative of the path "
            "jumps; how the thesis starts is not given"},
        Run{"Radau IIA, 10 ms", "radau5", 1, 0.01, 0.02,
            "smaller than printed; tolerance and start of the thesis are not given"}}) {
    const Result<ForceError> e = force_error(*loaded, r.scheme, r.order, r.dt, 16);
    if (!e.ok()) return e.diagnostics();
    Row row{fmt::format("{}: largest error of u", r.label),
            r.printed,
            e->all,
            "N",
            0.2 * r.printed,
            ""};
    if (!row.reproduced())
      row.note = fmt::format("{}; on the path, 0.2 s from its ends, {:.2g} N", r.note, e->within);
    rows.push_back(row);
  }
  return rows;
}

// The spatial arm around its circle in 2 s, forward simulation with variable step: largest distance of the tip from its path,
// servo-constraints as they stand, from rest. The centre of gravity of the last
// link is not given: s4 = 0.168 m, from a counterweight that makes up its printed mass and inertia; no gravity.
Result<std::vector<Row>> fig5_10() {
  Result<Loaded> loaded = load_model("arm_spatial");
  if (!loaded.ok()) return loaded.diagnostics();
  const ServoChoice choice{{"tip_x", "tip_y", "tip_z"}, {}, {"u1", "u2", "u3"}, {}};
  Result<std::unique_ptr<ModelServo>> servo =
      ModelServo::create(*loaded->model, loaded->params, choice);
  if (!servo.ok()) return servo.diagnostics();
  const Result<AnalysedRest> rest = analyse_at_rest(**servo);
  if (!rest.ok()) return rest.diagnostics();
  const Result<Path> path = Path::circle(rest->outputs, {0.65, 0.7, 1}, 0, 2, 4);
  if (!path.ok()) return path.diagnostics();
  const auto error = [&](int order, double dt, Formulation form, double& out) {
    InvertOptions o;
    o.inverse.dt = dt;
    o.inverse.order = order;
    o.inverse.formulation = form;
    o.inverse.start_up = StartUp::kRest;
    o.until = 2;
    o.tol = 1e-8;
    const Result<Inversion> run = invert(*loaded->model, loaded->params, choice, *path, o);
    if (!run.ok() || run->achieved.size() != 3) return false;
    out = 0;
    for (size_t k = 0; k < run->t.size(); ++k) {
      double square = 0;
      for (size_t i = 0; i < 3; ++i)
        square += std::pow(run->achieved[i][k] - run->desired[i][k], 2);
      out = std::max(out, std::sqrt(square));
    }
    return true;
  };
  struct Run {
    int order;
    double dt, other;
  };
  std::vector<Row> rows;
  std::vector<double> found;
  for (const Run& r :
       {Run{1, 0.001, 0.25}, Run{2, 0.01, 1.2e-2}, Run{2, 0.005, 3.0e-3}, Run{2, 0.0025, 7.5e-4},
        Run{3, 0.01, 2.2e-3}, Run{3, 0.005, 2.9e-4}, Run{3, 0.0025, 5.9e-5}}) {
    double e = 0, projected = 0;
    if (!error(r.order, r.dt, Formulation::kOriginal, e) ||
        !error(r.order, r.dt, Formulation::kProjection, projected)) {
      Diagnostics d;
      d.error(1024, {}, fmt::format("arm_spatial: k = {}, {} s fails", r.order, r.dt));
      return d;
    }
    found.push_back(e);
    Row row{
        fmt::format("k = {}, {:g} ms: largest error of the tip (recomputed)", r.order, 1e3 * r.dt),
        r.other,
        e,
        "m",
        0.15 * r.other,
        ""};
    if (!row.reproduced())
      row.note = fmt::format(
          "nothing is printed; by projection {:.2g} m. Formulation and start of the other program "
          "are not known",
          projected);
    rows.push_back(row);
  }
  rows.push_back(
      {"k = 2: order from 5 ms to 2.5 ms", 2, std::log2(found[2] / found[3]), "1", 0.3, ""});
  Row third{"k = 3: order from 5 ms to 2.5 ms", 3, std::log2(found[5] / found[6]), "1", 0.3, ""};
  if (!third.reproduced())
    third.note =
        "the order of the method; the thesis states only that the error falls down to about 1 ms";
  rows.push_back(third);
  return rows;
}

}  // namespace panto::validation::drucker2022
