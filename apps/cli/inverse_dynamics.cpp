#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "apps/cli/json.hpp"
#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/io/csv.hpp"
#include "panto/io/results.hpp"
#include "panto/mechanics/inverse_motion.hpp"

namespace panto::cli {
namespace {

struct Arguments : ModelArguments {
  std::string motion, actuators, out, csv;
};

bool ends_as_rate(const std::string& name, const SeriesTable& table) {
  for (const char* suffix : {"_dot", "_ddot"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string base = name.substr(0, name.size() - std::string(suffix).size());
    if (table.find(base) >= 0) return true;
  }
  return false;
}

// Columns t, <coordinate>, and where given <coordinate>_dot and <coordinate>_ddot.
PrescribedMotion motion_of(const SeriesTable& table, const std::string& file, Diagnostics& d) {
  PrescribedMotion motion;
  const int time = table.find("t");
  if (time < 0) {
    d.error(632, {file, 1, 1}, "the motion needs a column \"t\"");
    return motion;
  }
  const auto values = [&](const std::string& name) {
    const int k = table.find(name);
    return k < 0 ? std::vector<double>() : table.columns[static_cast<size_t>(k)].values;
  };
  motion.t = values("t");
  for (const SeriesColumn& c : table.columns)
    if (c.name != "t" && !ends_as_rate(c.name, table))
      motion.coordinates.push_back(
          {c.name, c.values, values(c.name + "_dot"), values(c.name + "_ddot")});
  return motion;
}

// Inputs by name; all of them where none is named.
std::vector<int> inputs_of(const std::string& names, const Model& model, Diagnostics& d) {
  std::vector<int> inputs;
  std::vector<std::string> known;
  for (const Input& i : model.inputs) known.push_back(i.name);
  if (known.empty()) d.error(201, {}, fmt::format("model \"{}\" has no actuators", model.name));
  if (names.empty())
    for (int i = 0; i < model.nu(); ++i) inputs.push_back(i);
  for (size_t start = 0; !names.empty() && start <= names.size();) {
    const size_t end = std::min(names.find(',', start), names.size());
    const std::string name = names.substr(start, end - start);
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      d.error(201, {},
              fmt::format("there is no actuator \"{}\"{}", name, did_you_mean(name, known)));
    } else {
      inputs.push_back(static_cast<int>(found - known.begin()));
    }
    start = end + 1;
  }
  return inputs;
}

// The efforts as a run, so that they can be written and opened like any other.
Run run_of(const Model& model, const InverseMotion& result) {
  Run run;
  run.model = model.name;
  run.integrator = "inverse dynamics";
  run.t = result.t;
  for (const int i : result.inputs) {
    const Input& input = model.inputs[static_cast<size_t>(i)];
    run.output_names.push_back(input.name);
    run.output_units.push_back(to_string(input.dim));
  }
  run.outputs = result.efforts;
  run.coordinate_names = model.coordinate_names;
  run.speed_names = model.speed_names;
  run.q = result.q;
  run.v = result.v;
  run.a = result.a;
  return run;
}

std::string json_of(const Run& run, const InverseMotion& result) {
  JsonWriter json;
  json.begin_object().member("model", run.model).member("t", run.t);
  json.key("inputs").begin_object();
  for (size_t k = 0; k < run.outputs.size(); ++k) json.member(run.output_names[k], run.outputs[k]);
  json.end_object().member("residual", result.max_residual).end_object();
  return json.text() + "\n";
}

std::string table_of(const Run& run, const InverseMotion& result, const Arguments& a) {
  std::string text = fmt::format("{}: inverse dynamics at {} times, {:.6g} s to {:.6g} s\n\n",
                                 run.model, run.t.size(), run.t.front(), run.t.back());
  text += fmt::format("  {:<24}{:>16}{:>16}{:>16}\n", "input", "smallest", "largest", "rms");
  for (size_t k = 0; k < run.outputs.size(); ++k) {
    const auto [low, high] = std::minmax_element(run.outputs[k].begin(), run.outputs[k].end());
    double sum = 0;
    for (const double x : run.outputs[k]) sum += x * x;
    text += fmt::format("  {:<24}{:>16.9g}{:>16.9g}{:>16.9g}\n",
                        fmt::format("{} [{}]", run.output_names[k], run.output_units[k]), *low,
                        *high, std::sqrt(sum / static_cast<double>(run.t.size())));
  }
  text += fmt::format("\n  force that no input produces: at most {:.2e}\n", result.max_residual);
  for (const std::string& file : {a.out, a.csv})
    if (!file.empty()) text += fmt::format("  written {}\n", file);
  return text;
}

int inverse_dynamics_verb(const Arguments& a) {
  std::vector<Override> overrides;
  std::string message;
  if (!parse_settings(a.set, overrides, message)) return fail_usage(message, a.json);
  const Result<Model> model = load_model(a.model, overrides);
  const Result<SeriesTable> table = read_csv(a.motion);
  Diagnostics notes = model.diagnostics();
  notes.append(table.diagnostics());
  if (!model.ok() || !table.ok()) return fail(notes, a.json);
  const PrescribedMotion motion = motion_of(*table, a.motion, notes);
  const std::vector<int> inputs = inputs_of(a.actuators, *model, notes);
  if (!notes.ok()) return fail(notes, a.json);
  const auto workspace = Workspace::create(*model, nominal(*model));
  const Result<InverseMotion> result = inverse_motion(*workspace, motion, inputs);
  notes.append(result.diagnostics());
  if (!result.ok()) return fail(notes, a.json);
  const Run run = run_of(*model, *result);
  if (!a.out.empty()) notes.append(write_hdf5(run, a.out));
  if (!a.csv.empty()) notes.append(write_csv(run, a.csv));
  if (!notes.ok()) return fail(notes, a.json);
  print(notes);
  if (a.json) {
    out(json_of(run, *result));
  } else {
    summary(table_of(run, *result, a));
  }
  return kOk;
}

}  // namespace

void add_inverse_dynamics(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("inverse-dynamics", "Actuator efforts that produce a given motion");
  verb->group("Motion");
  add_model_arguments(*verb, *a);
  verb->add_option(
          "MOTION", a->motion,
          "CSV with columns t and one per prescribed coordinate; where present, columns\n"
          "<coordinate>_dot and <coordinate>_ddot are used, else samples are differentiated")
      ->required();
  verb->add_option("--actuators", a->actuators,
                   "Inputs to solve for (default: all); the others act as the model says")
      ->type_name("a,b,...");
  verb->add_option("-o,--out", a->out, "Write efforts and motion to an HDF5 file")
      ->type_name("u.h5");
  verb->add_option("--csv", a->csv, "Write the efforts to a CSV file")->type_name("u.csv");
  verb->footer(
      "Examples:\n"
      "  panto inverse-dynamics slider_crank motion.csv --actuators T --csv torque.csv\n"
      "  panto inverse-dynamics arm_spatial motion.csv --json");
  verb->callback([a, &exit_code] { exit_code = inverse_dynamics_verb(*a); });
}

}  // namespace panto::cli
