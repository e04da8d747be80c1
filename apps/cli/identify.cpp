#include "panto/identification/identify.hpp"

#include <fmt/format.h>

#include <memory>

#include "apps/cli/json.hpp"
#include "apps/cli/study.hpp"
#include "panto/io/study.hpp"
#include "panto/scene/identification_report.hpp"

namespace panto::cli {
namespace {

struct Arguments : StudyArguments {
  int starts = 0;
  CLI::Option* seed_given = nullptr;
  std::uint64_t seed = 1;
};

std::string json_of(const Identification& r) {
  JsonWriter json;
  json.begin_object().key("parameters").begin_object();
  for (const IdentifiedParameter& p : r.parameters)
    json.key(p.name)
        .begin_object()
        .member("value", p.value)
        .member("std", p.std)
        .member("bounds_hit", p.bounds_hit)
        .member("interval", std::vector<double>{p.from, p.to})
        .member("bounds", std::vector<double>{p.low, p.high})
        .member("start", p.start)
        .end_object();
  json.end_object()
      .member("cost", r.cost)
      .member("error_hz", r.error_hz)
      .member("unique", r.equivalent() == 1)
      .key("solutions")
      .begin_array();
  for (const Solution& s : r.solutions) {
    json.begin_object().key("parameters").begin_object();
    for (size_t i = 0; i < r.parameters.size(); ++i)
      json.member(r.parameters[i].name, s.theta(static_cast<Eigen::Index>(i)));
    json.end_object()
        .member("cost", s.cost)
        .member("error_hz", s.error_hz)
        .member("starts", s.hits)
        .member("explains", s.explains)
        .member("bounds_hit", s.bounds_hit)
        .end_object();
  }
  json.end_array().key("frequencies").begin_array();
  for (const FittedMode& m : r.modes) {
    json.begin_object()
        .member("pose", m.pose)
        .member("mode", m.mode)
        .member("measured", m.measured_hz)
        .member("fitted", m.fitted_hz)
        .member("sigma", m.sigma_hz);
    if (m.measured_damping >= 0)
      json.member("damping_measured", m.measured_damping)
          .member("damping_fitted", m.fitted_damping);
    json.member("mac", m.assurance).end_object();
  }
  json.end_array()
      .member("starts", r.starts)
      .member("converged", r.converged)
      .member("complete", r.complete)
      .member("unseen", r.unseen)
      .member("condition", r.condition)
      .member("sigma_assumed", r.sigma_assumed)
      .key("correlation")
      .begin_array();
  for (Eigen::Index i = 0; i < r.correlation.rows(); ++i) {
    const Eigen::VectorXd row = r.correlation.row(i);
    json.value(std::vector<double>(row.begin(), row.end()));
  }
  json.end_array();
  if (!r.errors.empty()) {
    json.key("simulated").begin_object().member("repeats", r.repeats).key("errors").begin_object();
    for (const SimulatedError& e : r.errors)
      json.key(e.name)
          .begin_object()
          .member("truth", e.truth)
          .member("mean", e.mean)
          .member("std", e.std)
          .member("worst", e.worst)
          .end_object();
    json.end_object().end_object();
  }
  json.end_object();
  return json.text() + "\n";
}

std::string table_of(const Model& model, const Identification& r) {
  std::string text = fmt::format("{}: {} parameters from {} modes\n\n", model.name,
                                 r.parameters.size(), r.modes.size());
  text += fmt::format("  {:<12} {:>14} {:>12}   {:<26} {:>10}\n", "parameter", "value", "std",
                      "95 % interval", "start");
  for (const IdentifiedParameter& p : r.parameters)
    text += fmt::format("  {:<12} {:>14.8g} {:>12.3g}   {:<26} {:>10.4g}{}\n", p.name, p.value,
                        p.std, fmt::format("{:.6g} … {:.6g}", p.from, p.to), p.start,
                        p.bounds_hit ? "  at its bound" : "");
  text += fmt::format("\n  {:<16} {:>4} {:>14} {:>14} {:>12}\n", "pose", "mode", "measured [Hz]",
                      "fitted [Hz]", "difference");
  for (const FittedMode& m : r.modes)
    text += fmt::format("  {:<16} {:>4} {:>14.8g} {:>14.8g} {:>12.3g}\n", m.pose, m.mode,
                        m.measured_hz, m.fitted_hz, m.fitted_hz - m.measured_hz);
  text += fmt::format("\n  {} of {} starts converged, to {} minima; {:.2g} more are expected:\n",
                      r.converged, r.starts, r.solutions.size(), r.unseen);
  for (const Solution& s : r.solutions) {
    std::string values;
    for (size_t i = 0; i < r.parameters.size(); ++i)
      values += fmt::format("{}{} = {:.6g}", i == 0 ? "" : ", ", r.parameters[i].name,
                            s.theta(static_cast<Eigen::Index>(i)));
    text += fmt::format("    {} {:<52} error {:>9.3g} Hz, {} starts\n", s.explains ? "*" : " ",
                        values, s.error_hz, s.hits);
  }
  text += "    * explains the data\n";
  if (!r.errors.empty()) {
    text += fmt::format("\n  simulated measurements, {} repeats [%]\n", r.repeats);
    for (const SimulatedError& e : r.errors)
      text += fmt::format("  {:<12} mean {:>+9.3g}   std {:>9.3g}   worst {:>9.3g}\n", e.name,
                          100 * e.mean, 100 * e.std, 100 * e.worst);
  }
  return text;
}

int identify_verb(const Arguments& a) {
  Result<LoadedStudy> loaded = load_identify_study(a.study);
  if (loaded.ok()) {
    IdentifyStudy& study = loaded->study;
    if (!a.method.empty())
      study.method = a.method == "interior_point" ? IdentifyMethod::kInteriorPoint
                                                  : IdentifyMethod::kLeastSquares;
    if (a.starts > 0) study.starts = a.starts;
    if (a.threads > 0) study.threads = a.threads;
    if (a.seed_given->count() > 0) study.seed = a.seed;
  }
  return run_study(
      "identify", a, loaded,
      [](const LoadedStudy& l, const std::function<bool(double)>& progress) {
        return identify(l.model, nominal(l.model), l.study, progress);
      },
      scene::report_of_identification, table_of, json_of);
}

}  // namespace

void add_identify(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("identify", "Parameters from natural frequencies measured in some poses");
  verb->group("Vibration");
  add_study_arguments(*verb, *a, "model, unknown parameters, measured poses",
                      {"least_squares", "interior_point"},
                      "least_squares (Ceres) or interior_point (IPOPT)");
  verb->add_option("--starts", a->starts, "Starts of the search for all solutions (100)")
      ->type_name("n")
      ->check(CLI::PositiveNumber);
  a->seed_given = verb->add_option("--seed", a->seed, "Of the random numbers")->type_name("n");
  verb->add_option("-o,--out", a->model, "Write the model with the identified parameters")
      ->type_name("model.toml");
  add_study_results(*verb, *a);
  verb->footer(
      "Examples:\n"
      "  panto identify study.toml -o identified.toml\n"
      "  panto identify study.toml --method interior_point --json");
  verb->callback([a, &exit_code] { exit_code = identify_verb(*a); });
}

}  // namespace panto::cli
