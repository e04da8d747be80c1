#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "apps/cli/json.hpp"
#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/integrate/stability.hpp"
#include "panto/integrate/stepper.hpp"
#include "panto/mechanics/assembly.hpp"

namespace panto::cli {
namespace {

// What the beams of a model ask of a fixed step (INT-12); no limit without beams.
StepLimit beam_limit(Workspace& workspace, const CheckReport& r) {
  const Model& model = workspace.model();
  if (model.nq == model.joint_nq()) return {};
  const std::span<const double> q(r.q.data(), static_cast<size_t>(r.q.size())),
      v(r.v.data(), static_cast<size_t>(r.v.size()));
  workspace.choose_partition(0, q);
  Ode ode(workspace, false);
  std::vector<double> x(static_cast<size_t>(ode.size()));
  ode.pack(q, v, x);
  Eigen::VectorXcd eigenvalues;
  if (!usable(fast_eigenvalues(ode, 0, x, eigenvalues))) return {};
  return step_limit("rk4", eigenvalues, model.run.until);
}

std::string json_of(const Model& model, const CheckReport& r, const StepLimit& limit,
                    const Diagnostics& notes) {
  JsonWriter json;
  json.begin_object()
      .member("model", model.name)
      .member("title", model.title)
      .member("space", model.space == SpaceKind::kPlanar ? "planar" : "spatial")
      .member("bodies", r.bodies)
      .member("joints", r.joints)
      .member("loops", r.loops)
      .member("coordinates", r.coordinates)
      .member("constraint_rows", r.rows)
      .member("degrees_of_freedom", r.degrees_of_freedom)
      .member("mobility", r.mobility)
      .member("redundant", r.redundant)
      .member("independent", r.independent)
      .member("conditioning", r.conditioning)
      .member("singular_pose", r.singular_pose);
  json.key("frequencies_hz").begin_object();
  for (size_t i = 0; i < r.frequencies_hz.size() && i < model.forces.size(); ++i)
    if (r.frequencies_hz[i] > 0) json.member(model.forces[i].name, r.frequencies_hz[i]);
  json.end_object();
  if (std::isfinite(limit.step)) {
    json.member("fastest_mode_hz", std::abs(limit.eigenvalue) / (2 * std::numbers::pi));
    json.member("largest_rk4_step", limit.step);
  }
  json.key("initial").begin_object();
  for (int i = 0; i < model.nq; ++i)
    json.member(model.coordinate_names[static_cast<size_t>(i)], r.q[i]);
  for (int i = 0; i < model.nv; ++i) json.member(model.speed_names[static_cast<size_t>(i)], r.v[i]);
  json.end_object();
  json.key("warnings").begin_array();
  for (const Diagnostic& d : notes.items()) json.value(to_string(d));
  json.end_array().end_object();
  return json.text() + "\n";
}

std::string table_of(const Model& model, const CheckReport& r, const StepLimit& limit) {
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "));
  };
  std::string text = model.name + (model.title.empty() ? "" : ": " + model.title) + "\n\n";
  text += fmt::format("  {:<22}{}\n", "space",
                      model.space == SpaceKind::kPlanar ? "planar" : "spatial");
  text += fmt::format("  {:<22}{}\n", "bodies", r.bodies);
  text += fmt::format("  {:<22}{}\n", "joints", r.joints);
  text += fmt::format("  {:<22}{}\n", "loops", r.loops);
  text += fmt::format("  {:<22}{}\n", "coordinates", r.coordinates);
  text += fmt::format("  {:<22}{} rows, redundant: {}\n", "constraints", r.rows, list(r.redundant));
  text += fmt::format("  {:<22}{} (by rank)\n", "degrees of freedom", r.degrees_of_freedom);
  text += fmt::format("  {:<22}{}\n", "independent", list(r.independent));
  text += fmt::format("  {:<22}{}\n", "initial pose",
                      r.singular_pose
                          ? fmt::format("singular: {} independent motions start here", r.mobility)
                          : fmt::format("regular, conditioning {:.2g}", r.conditioning));
  for (size_t i = 0; i < r.frequencies_hz.size() && i < model.forces.size(); ++i)
    if (r.frequencies_hz[i] > 0)
      text += fmt::format("  {:<22}{:.4g} Hz\n",
                          fmt::format("\"{}\" implies", model.forces[i].name), r.frequencies_hz[i]);
  if (std::isfinite(limit.step))
    text += fmt::format("  {:<22}{}: rk4 is stable up to dt = {:.4g} s\n", "fastest mode",
                        describe_mode(limit.eigenvalue), limit.step);
  return text;
}

int check_verb(const ModelArguments& a) {
  std::vector<Override> overrides;
  std::string message;
  if (!parse_settings(a.set, overrides, message)) return fail_usage(message, a.json);
  const Result<Model> model = load_model(a.model, overrides);
  if (!model.ok()) return fail(model.diagnostics(), a.json);
  const auto workspace = Workspace::create(*model, nominal(*model));
  const Result<CheckReport> report = check(*workspace);
  Diagnostics notes = model.diagnostics();
  notes.append(report.diagnostics());
  if (!report.ok()) return fail(notes, a.json);
  print(notes);
  const StepLimit limit = beam_limit(*workspace, *report);
  if (a.json) {
    out(json_of(*model, *report, limit, notes));
  } else {
    summary(table_of(*model, *report, limit));
  }
  return kOk;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<ModelArguments>();
  CLI::App* verb =
      app.add_subcommand("check", "Mobility and health of a model at its initial pose");
  verb->group("Models");
  add_model_arguments(*verb, *a);
  verb->footer(
      "Examples:\n"
      "  panto check fourbar_f1\n"
      "  panto check arm.toml --set L=0.4 --json");
  verb->callback([a, &exit_code] { exit_code = check_verb(*a); });
}

}  // namespace panto::cli
