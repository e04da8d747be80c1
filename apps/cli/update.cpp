#include "panto/updating/update.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "apps/cli/json.hpp"
#include "apps/cli/study.hpp"
#include "panto/io/update_study.hpp"
#include "panto/scene/updating_report.hpp"

namespace panto::cli {
namespace {

struct Arguments : StudyArguments {
  CLI::Option* lambda_given = nullptr;
  double lambda = 0;
  bool as_printed = false, cross_validate = false, dry = false;
};

std::string json_of(const Updating& r) {
  JsonWriter json;
  json.begin_object().key("parameters").begin_object();
  for (const UpdatedParameter& p : r.parameters)
    json.key(p.name)
        .begin_object()
        .member("nominal", p.nominal)
        .member("value", p.value)
        .member("change", p.change)
        .member("std", p.std)
        .member("bounds", std::vector<double>{p.low, p.high})
        .member("bounds_hit", p.bounds_hit)
        .member("resolution", p.resolution)
        .member("unmovable", p.unmovable)
        .end_object();
  json.end_object().key("modes").begin_array();
  for (const UpdatedMode& m : r.modes)
    json.begin_object()
        .member("pose", m.pose)
        .member("measured", m.measured_hz)
        .member("before", m.before_hz)
        .member("after", m.after_hz)
        .member("error_before", m.error_before())
        .member("error_after", m.error_after())
        .member("mode_before", m.mode_before)
        .member("mode_after", m.mode_after)
        .member("mac_before", m.mac_before)
        .member("mac_after", m.mac_after)
        .member("left_out", m.left_out_hz)
        .member("misfit", m.misfit)
        .member("weight", m.weight)
        .member("damping", m.damping)
        .end_object();
  json.end_array().key("poses").begin_array();
  for (const UpdatedPose& p : r.poses)
    json.begin_object()
        .member("name", p.name)
        .member("frame_difference", p.frame_difference)
        .end_object();
  json.end_array().key("limits").begin_array();
  for (const UpdatedLimit& l : r.limits)
    json.begin_object()
        .member("name", l.name)
        .member("low", l.low)
        .member("high", l.high)
        .member("before", l.before)
        .member("after", l.after)
        .member("active", l.active)
        .end_object();
  json.end_array()
      .member("mean_error_before", r.mean_error_before())
      .member("mean_error_after", r.mean_error_after())
      .member("lambda", r.lambda)
      .member("kkt", r.kkt)
      .member("objective", r.objective)
      .member("objective_as_printed", r.objective_as_printed)
      .member("iterations", r.iterations)
      .member("converged", r.converged)
      .member("rank", r.identifiability.rank)
      .key("collinear")
      .begin_array();
  for (const std::vector<int>& group : r.identifiability.collinear) {
    std::vector<std::string> names;
    names.reserve(group.size());
    for (const int h : group) names.push_back(r.parameters[static_cast<size_t>(h)].name);
    json.value(names);
  }
  json.end_array().key("covariance").begin_array();
  for (Eigen::Index h = 0; h < r.covariance.rows(); ++h) {
    const Eigen::VectorXd row = r.covariance.row(h);
    json.value(std::vector<double>(row.begin(), row.end()));
  }
  json.end_array()
      .key("l_curve")
      .begin_object()
      .member("lambda", r.curve.lambda)
      .member("residual", r.curve.residual)
      .member("size", r.curve.size)
      .end_object();
  if (r.has_damping)
    json.key("damping")
        .begin_object()
        .member("alpha", r.damping.alpha)
        .member("beta", r.damping.beta)
        .end_object();
  if (r.draws.draws > 0)
    json.key("draws")
        .begin_object()
        .member("draws", r.draws.draws)
        .member("failed", r.draws.failed)
        .member("all_improved", r.draws.all_improved)
        .member("all_nearer", r.draws.all_nearer)
        .member("within_bounds", r.draws.within_bounds)
        .member("mean_error_before", r.draws.mean_error_before)
        .member("mean_error_after", r.draws.mean_error_after)
        .end_object();
  json.end_object();
  return json.text() + "\n";
}

std::string mac_text(double mac) { return std::isnan(mac) ? "-" : fmt::format("{:.3f}", mac); }

std::string table_of(const Model& model, const Updating& r) {
  std::string text = fmt::format("{}: {} parameters, {} modes\n\n", model.name, r.parameters.size(),
                                 r.modes.size());
  text += fmt::format("  {:<14} {:>13} {:>12} {:>12} {:>9} {:>9} {:>11} {:>10}\n", "pose",
                      "measured [Hz]", "before [Hz]", "after [Hz]", "before %", "after %",
                      "MAC before", "MAC after");
  for (const UpdatedMode& m : r.modes) {
    text += fmt::format("  {:<14} {:>13.5g} {:>12.5g} {:>12.5g} {:>+9.3f} {:>+9.3f} {:>11} {:>10}",
                        m.pose, m.measured_hz, m.before_hz, m.after_hz, 100 * m.error_before(),
                        100 * m.error_after(), mac_text(m.mac_before), mac_text(m.mac_after));
    if (std::isfinite(m.left_out_hz)) text += fmt::format("  left out: {:.5g} Hz", m.left_out_hz);
    if (m.weight == 0) text += "  does not count";
    text += "\n";
  }
  text += fmt::format("  mean |error| {:.3f} % -> {:.3f} %\n\n", 100 * r.mean_error_before(),
                      100 * r.mean_error_after());
  text += fmt::format("  {:<14} {:>13} {:>13} {:>9} {:>11} {:>6}   {}\n", "parameter", "nominal",
                      "updated", "change %", "std", "told", "bounds");
  for (const UpdatedParameter& p : r.parameters)
    text += fmt::format(
        "  {:<14} {:>13.6g} {:>13.6g} {:>+9.2f} {:>11} {:>6.2f}   {:.5g} … {:.5g}{}{}\n", p.name,
        p.nominal, p.value, 100 * p.change,
        std::isfinite(p.std) ? fmt::format("{:.3g}", p.std) : "-", p.resolution, p.low, p.high,
        p.bounds_hit ? "  at its bound" : "", p.unmovable ? "  no mode depends on it" : "");
  for (const UpdatedLimit& l : r.limits)
    text += fmt::format("  {:<28} {:>12.5g} -> {:<12.5g} {:.5g} … {:.5g}{}\n", l.name, l.before,
                        l.after, l.low, l.high, l.active ? "  holds" : "");
  text += fmt::format("\n  lambda {:.3g}, KKT residual {:.1e}, {} iterations\n", r.lambda, r.kkt,
                      r.iterations);
  for (const UpdatedPose& p : r.poses)
    if (p.frame_difference > 0)
      text += fmt::format("  {}: exact and linearised link coordinates differ by {:.1e} at 1 mm\n",
                          p.name, p.frame_difference);
  if (r.has_damping) {
    text += fmt::format("  Rayleigh damping: alpha = {:.5g} 1/s, beta = {:.5g} s\n",
                        r.damping.alpha, r.damping.beta);
    text += fmt::format("  {:<14} {:>12} {:>12} {:>12}\n", "pose", "mode [Hz]", "measured %",
                        "fitted %");
    Eigen::Index fitted = 0;
    for (const UpdatedMode& m : r.modes)
      if (m.damping > 0)
        text += fmt::format("  {:<14} {:>12.5g} {:>12.4g} {:>12.4g}\n", m.pose, m.measured_hz,
                            100 * m.damping, 100 * r.damping.ratios(fitted++));
  }
  if (r.draws.draws > 0)
    text += fmt::format(
        "  {} simulated tests: every error smaller in {}, every frequency nearer to the truth in "
        "{}, "
        "all bounds kept in {}; mean |error| {:.3f} % -> {:.3f} %\n",
        r.draws.draws, r.draws.all_improved, r.draws.all_nearer, r.draws.within_bounds,
        100 * r.draws.mean_error_before, 100 * r.draws.mean_error_after);
  return text;
}

int update_verb(Arguments a) {
  if (a.model.empty()) a.model = "model.updated.toml";
  if (a.dry) a.model.clear();
  Result<LoadedUpdateStudy> loaded = load_update_study(a.study);
  if (loaded.ok()) {
    UpdateStudy& study = loaded->study;
    if (!a.method.empty())
      study.method =
          a.method == "sensitivity" ? UpdateMethod::kSensitivity : UpdateMethod::kQuadratic;
    if (a.lambda_given->count() > 0) study.lambda = a.lambda;
    if (a.threads > 0) study.threads = a.threads;
    study.as_printed = study.as_printed || a.as_printed;
    study.cross_validate = study.cross_validate || a.cross_validate;
  }
  return run_study(
      "update", a, loaded,
      [](const LoadedUpdateStudy& l, const std::function<bool(double)>& progress) {
        return update(l.model, nominal(l.model), l.study, progress);
      },
      scene::report_of_updating, table_of, json_of);
}

}  // namespace

void add_update(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("update", "A model file corrected by modal tests");
  verb->group("Vibration");
  add_study_arguments(*verb, *a, "model, parameters with bounds, modal tests",
                      {"quadratic", "sensitivity"},
                      "quadratic (convex program) or sensitivity (Ceres)");
  a->lambda_given = verb->add_option("--lambda", a->lambda, "Penalty on change (from the L-curve)")
                        ->type_name("number")
                        ->check(CLI::NonNegativeNumber);
  verb->add_flag("--as-printed", a->as_printed,
                 "The form of Belotti et al., eq. 25: nearest to the unconstrained minimum");
  verb->add_flag("--cross-validate", a->cross_validate, "Predict every mode from the others");
  verb->add_option("-o,--out", a->model, "The model with the updated values (model.updated.toml)")
      ->type_name("model.toml");
  verb->add_flag("--dry-run", a->dry, "Write no model");
  add_study_results(*verb, *a);
  verb->footer(
      "Examples:\n"
      "  panto update study.toml -o model.updated.toml --view update.html\n"
      "  panto update study.toml --as-printed --dry-run --json");
  verb->callback([a, &exit_code] { exit_code = update_verb(*a); });
}

}  // namespace panto::cli
