#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "apps/cli/json.hpp"
#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/mechanics/assembly.hpp"

namespace panto::cli {
namespace {

struct Arguments : ModelArguments {
  double time = 0;
};

std::string json_of(const Model& model, const Equilibrium& e) {
  JsonWriter json;
  json.begin_object().member("model", model.name);
  json.key("coordinates").begin_object();
  for (int i = 0; i < model.nq; ++i)
    json.member(model.coordinate_names[static_cast<size_t>(i)], e.q[i]);
  json.end_object();
  json.member("residual", e.residual)
      .member("stable", e.stable)
      .member("growth_rate", e.growth_rate)
      .member("iterations", e.iterations);
  json.key("eigenvalues").begin_array();
  for (const auto& [real, imaginary] : e.eigenvalues)
    json.begin_array().value(real).value(imaginary).end_array();
  json.end_array().end_object();
  return json.text() + "\n";
}

std::string table_of(const Model& model, const Equilibrium& e) {
  std::string text =
      fmt::format("{}: {} equilibrium\n\n", model.name, e.stable ? "stable" : "unstable");
  for (int i = 0; i < model.nq; ++i)
    text +=
        fmt::format("  {:<22}{:>20.12g}\n", model.coordinate_names[static_cast<size_t>(i)], e.q[i]);
  text += fmt::format("\n  {:<22}{:>20.3e}\n", "force left over", e.residual);
  text += fmt::format("  {:<22}{:>20.6g} 1/s\n", "fastest growth", e.growth_rate);
  constexpr double kCycle = 2 * M_PI;
  for (const auto& [real, imaginary] : e.eigenvalues)
    if (imaginary > 0)
      text += fmt::format("  {:<22}{:>20.9g} Hz, decays at {:.4g} 1/s\n", "oscillation",
                          imaginary / kCycle, 0.0 - real);
  return text;
}

int equilibrium_verb(const Arguments& a) {
  std::vector<Override> overrides;
  std::string message;
  if (!parse_settings(a.set, overrides, message)) return fail_usage(message, a.json);
  const Result<Model> model = load_model(a.model, overrides);
  if (!model.ok()) return fail(model.diagnostics(), a.json);
  const auto workspace = Workspace::create(*model, nominal(*model));
  const Result<Equilibrium> found = equilibrium(*workspace, a.time);
  Diagnostics notes = model.diagnostics();
  notes.append(found.diagnostics());
  if (!found.ok()) return fail(notes, a.json);
  print(notes);
  if (a.json) {
    out(json_of(*model, *found));
  } else {
    summary(table_of(*model, *found));
  }
  return kOk;
}

}  // namespace

void add_equilibrium(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "equilibrium", "Static equilibrium near the initial pose, with its stability");
  verb->group("Motion");
  add_model_arguments(*verb, *a);
  verb->add_option("--time", a->time, "Inputs and drivers are frozen at this time [s]")
      ->type_name("t");
  verb->footer(
      "Examples:\n"
      "  panto equilibrium fourbar_f1\n"
      "  panto equilibrium double_pendulum --json");
  verb->callback([a, &exit_code] { exit_code = equilibrium_verb(*a); });
}

}  // namespace panto::cli
