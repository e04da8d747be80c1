#include "panto/integrate/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "apps/cli/json.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/integrate/measure.hpp"
#include "panto/io/results.hpp"
#include "panto/io/toml.hpp"
#include "panto/scene/run_report.hpp"

namespace panto::cli {
namespace {

struct Arguments : ModelArguments {
  double until = 0, dt = 0, tol = 0, sample = 0;
  double reduction_limit = SimulationOptions().reduction_limit;
  CLI::Option *until_given = nullptr, *dt_given = nullptr, *tol_given = nullptr,
              *sample_given = nullptr, *seed_given = nullptr;
  std::string integrator, at, stop, out, csv, view;
  std::optional<double> deformation;
  std::uint64_t seed = 0;
};

// "name>value", "name<value", "name=value".
bool parse_stop(const std::string& text, StopEvent& event) {
  const size_t sign = text.find_first_of("<>=");
  if (sign == 0 || sign == std::string::npos) return false;
  event.output = text.substr(0, text.find_last_not_of(' ', sign - 1) + 1);
  event.direction = text[sign] == '>' ? 1 : text[sign] == '<' ? -1 : 0;
  const size_t number = text.find_first_not_of(' ', sign + 1);
  return !event.output.empty() && number != std::string::npos &&
         parse_number(text.substr(number), event.value);
}

// The fastest rate of a sensor; 0 where none has a rate.
double highest_sensor_rate(const Model& model, const Params& params) {
  double highest = 0;
  for (const Sensor& s : model.sensors) highest = std::max(highest, sensor_rate(model, params, s));
  return highest;
}

bool takes_fixed_steps(const std::string& integrator) {
  const auto& all = integrators();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const IntegratorInfo& i) { return i.name == integrator; });
  return found != all.end() && found->fixed_step;
}

// Options of the command line on top of those of the model. Empty answer: fine; else what is wrong.
std::string options_of(const Arguments& a, const Model& model, const Params& params,
                       SimulationOptions& o) {
  if (a.dt_given->count() > 0 && a.tol_given->count() > 0)
    return "--dt asks for a fixed step, --tol for a variable one: give one of them";
  if (!a.at.empty()) {
    if (!parse_numbers(a.at, o.at))
      return fmt::format("--at {}: expected times like 0.5,1,2", a.at);
    if (*std::min_element(o.at.begin(), o.at.end()) < 0)
      return fmt::format("--at {}: times count from 0", a.at);
  }
  if (!a.stop.empty()) {
    StopEvent event;
    if (!parse_stop(a.stop, event))
      return fmt::format("--stop {}: expected \"output>value\" or \"output<value\"", a.stop);
    o.stop = event;
  }
  const double last = o.at.empty() ? 0 : *std::max_element(o.at.begin(), o.at.end());
  o.until = a.until_given->count() > 0 ? a.until : o.at.empty() ? model.run.until : last;
  if (o.until == 0 && !o.at.empty()) o.until = 1e-9;  // --at 0: the start alone
  if (a.until_given->count() > 0 && !o.at.empty() && last > a.until)
    return fmt::format("--at {} lies beyond --until {}", last, a.until);

  o.integrator = a.integrator;
  if (a.dt_given->count() > 0) {
    o.dt = a.dt;
  } else if (a.tol_given->count() > 0) {
    o.tol = a.tol;
  } else {
    o.dt = model.run.dt;
    if (model.run.tol > 0) o.tol = model.run.tol;
  }
  // The model's integrator, unless the command line asks for the other kind of step.
  if (o.integrator.empty() && takes_fixed_steps(model.run.integrator) == (o.dt > 0))
    o.integrator = model.run.integrator;
  if (!a.integrator.empty() && !takes_fixed_steps(a.integrator) && a.dt_given->count() == 0)
    o.dt = 0;

  if (a.sample_given->count() > 0) o.sample = a.sample;
  o.reduction_limit = a.reduction_limit;
  if (a.seed_given->count() > 0 && o.sample == 0 && o.at.empty()) {
    const double rate = highest_sensor_rate(model, params);
    if (rate > 0) o.sample = 1 / rate;
  }
  return {};
}

// Positions in run.t of the times asked for, in the order of the command line; all of them without --at.
std::vector<size_t> rows_of(const Run& run, const std::vector<double>& at) {
  std::vector<size_t> rows;
  if (at.empty()) {
    for (size_t i = 0; i < run.t.size(); ++i) rows.push_back(i);
    return rows;
  }
  for (const double t : at) {
    const auto found = std::lower_bound(run.t.begin(), run.t.end(), t);
    if (found != run.t.end() && *found == t)
      rows.push_back(static_cast<size_t>(found - run.t.begin()));
  }
  return rows;
}

std::string json_of(const Run& run, const std::vector<double>& at) {
  const std::vector<size_t> rows = rows_of(run, at);
  const auto picked = [&](const std::vector<double>& series) {
    std::vector<double> out;
    out.reserve(rows.size());
    for (const size_t i : rows) out.push_back(series[i]);
    return out;
  };
  JsonWriter json;
  json.begin_object().member("model", run.model).member("t", picked(run.t));
  json.key("outputs").begin_object();
  for (size_t k = 0; k < run.outputs.size(); ++k)
    json.member(run.output_names[k], picked(run.outputs[k]));
  json.end_object();
  json.key("energy")
      .begin_object()
      .member("initial", run.energy_initial)
      .member("final", run.energy_final)
      .member("max_drift", run.energy_max_drift)
      .end_object();
  json.key("constraint_violation")
      .begin_object()
      .member("position", run.max_position_violation)
      .member("velocity", run.max_velocity_violation)
      .end_object();
  json.key("stats")
      .begin_object()
      .member("steps", run.stats.steps)
      .member("evaluations", run.stats.evaluations)
      .member("wall_seconds", run.stats.wall_seconds)
      .member("real_time_factor", run.stats.real_time_factor);
  if (run.stats.references > 0) json.member("references", run.stats.references);
  json.end_object();
  if (!run.stopped_by.empty()) json.member("stopped_by", run.stopped_by);
  json.end_object();
  return json.text() + "\n";
}

std::string table_of(const Run& run, const Arguments& a, const std::vector<double>& at) {
  std::string text = fmt::format("{}: {} s by {}, {} steps, {} evaluations\n\n", run.model,
                                 run.t.empty() ? 0 : run.t.back(), run.integrator, run.stats.steps,
                                 run.stats.evaluations);
  std::vector<size_t> rows = rows_of(run, at);
  constexpr size_t kMostRows = 20;
  if (at.empty() && !rows.empty()) rows = {rows.back()};
  if (rows.size() > kMostRows) rows.erase(rows.begin(), rows.end() - kMostRows);
  size_t width = 8;
  for (size_t k = 0; k < run.outputs.size(); ++k)
    width = std::max(width, run.output_names[k].size() + run.output_units[k].size() + 3);
  for (const size_t i : rows) {
    text += fmt::format("  at {:.12g} s\n", run.t[i]);
    for (size_t k = 0; k < run.outputs.size(); ++k)
      text += fmt::format("    {:<{}}  {:>20.12g}\n",
                          run.output_units[k].empty()
                              ? run.output_names[k]
                              : fmt::format("{} [{}]", run.output_names[k], run.output_units[k]),
                          width, run.outputs[k][i]);
  }
  text += fmt::format(
      "\n  energy      {:.9g} J at the start, {:.9g} J at the end, largest drift {:.1e} J\n",
      run.energy_initial, run.energy_final, run.energy_max_drift);
  text += fmt::format("  constraints open by at most {:.1e} (position), {:.1e} (velocity)\n",
                      run.max_position_violation, run.max_velocity_violation);
  text += fmt::format("  computed in {:.3g} s, {:.3g} times faster than real time\n",
                      run.stats.wall_seconds, run.stats.real_time_factor);
  if (run.stats.references > 0)
    text += fmt::format(
        "  reduction   modes computed anew {} times, displacements jumped by at most {:.1e}\n",
        run.stats.references, run.stats.reference_jump);
  if (!run.stopped_by.empty()) text += fmt::format("  stopped by  {}\n", run.stopped_by);
  for (const std::string& file : {a.out, a.csv, a.view})
    if (!file.empty()) text += fmt::format("  written     {}\n", file);
  return text;
}

int simulate_verb(const Arguments& a) {
  std::vector<Override> overrides;
  std::string message;
  if (!parse_settings(a.set, overrides, message)) return fail_usage(message, a.json);
  ModelSpec spec;
  const Result<Model> model = load_model(a.model, overrides, &spec);
  if (!model.ok()) return fail(model.diagnostics(), a.json);
  const Params params = nominal(*model);
  SimulationOptions options;
  message = options_of(a, *model, params, options);
  if (!message.empty()) return fail_usage(message, a.json);
  options.keep_states = !a.out.empty() || !a.view.empty();

  note(fmt::format(
      "simulate until {} s, {}, integrator {}", options.until,
      options.dt > 0 ? fmt::format("fixed step {} s", options.dt)
                     : fmt::format("variable step, tolerance {}", options.tol),
      options.integrator.empty() ? (options.dt > 0 ? "rk4" : "auto") : options.integrator));
  const Interrupt interrupt;
  Progress progress("simulate " + model->name);
  options.progress = [&](double fraction) {
    progress.show(fraction);
    return !Interrupt::requested();
  };
  Result<Run> run = simulate(*model, params, options);
  progress.wipe();
  Diagnostics notes = model.diagnostics();
  notes.append(run.diagnostics());
  if (!run.ok()) return fail(notes, a.json);

  note(fmt::format(
      "{}: {} steps, {} evaluations, {} Jacobians, {} choices of coordinates, {} rejected",
      run->integrator, run->stats.steps, run->stats.evaluations, run->stats.jacobians,
      run->stats.repartitions, run->stats.rejected));
  run->model_text = spec.source_text.empty() ? to_toml(spec) : spec.source_text;
  run->settings = a.set;
  if (a.seed_given->count() > 0) measure(*model, params, a.seed, *run);
  if (!a.out.empty()) notes.append(write_hdf5(*run, a.out));
  if (!a.csv.empty()) notes.append(write_csv(*run, a.csv));
  if (!a.view.empty()) {
    scene::Report report = scene::report_of_run(*model, params, *run);
    report.deformation = a.deformation;
    notes.append(write_page(report, a.view));
  }
  if (!notes.ok()) return fail(notes, a.json);
  for (const std::string& file : {a.out, a.csv})
    if (!file.empty()) note("wrote " + file);
  print(notes);
  if (a.json) {
    out(json_of(*run, options.at));
  } else {
    summary(table_of(*run, a, options.at));
  }
  return Interrupt::requested() && !run->complete ? kInterrupted : kOk;
}

}  // namespace

void add_simulate(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("simulate", "Motion over time, with energy and constraint audit");
  verb->group("Motion");
  add_model_arguments(*verb, *a);
  a->until_given = verb->add_option("--until", a->until,
                                    "End of the run [s] (default: the model's, or the last --at)")
                       ->type_name("T");
  a->dt_given = verb->add_option("--dt", a->dt, "Fixed step [s]")->type_name("h");
  a->tol_given =
      verb->add_option("--tol", a->tol, "Relative tolerance of a variable step")->type_name("e");
  verb->add_option("--integrator", a->integrator, "Name of the method, see below")
      ->type_name("name");
  verb->add_option("--at", a->at, "Report exactly at these times")->type_name("t1,t2,...");
  a->sample_given =
      verb->add_option("--sample", a->sample, "Report every so many seconds")->type_name("s");
  verb->add_option("--reduction-limit", a->reduction_limit,
                   "Misfit at which a reduced model's modes are computed anew; 0: never")
      ->type_name("e");
  verb->add_option("--stop", a->stop, "Stop where an output crosses a value: \"theta>1.5\"")
      ->type_name("event");
  a->seed_given =
      verb->add_option("--seed", a->seed, "Simulate the sensors too, noise from this seed")
          ->type_name("n");
  verb->add_option("--out", a->out, "Write everything to an HDF5 file")->type_name("run.h5");
  verb->add_option("--csv", a->csv, "Write the outputs to a CSV file")->type_name("run.csv");
  CLI::Option* view = verb->add_option("--view", a->view, "Write the report page of the run")
                          ->type_name("run.html");
  add_deformation(*verb, a->deformation)->needs(view);
  verb->footer("");
  verb->footer([] {
    std::string text = "Integrators:";
    size_t column = text.size();
    for (const IntegratorInfo& i : integrators()) {
      if (column + i.name.size() + 1 > 90) {
        text += "\n ";
        column = 1;
      }
      text += " " + i.name;
      column += i.name.size() + 1;
    }
    return text +
           "\n\nExamples:\n"
           "  panto simulate fourbar_f1 --until 10 --out run.h5\n"
           "  panto simulate pendulum --at 1,2,5 --tol 1e-12 --json\n"
           "  panto simulate n_four_bar --set N=40 --dt 1e-3 --integrator rk4\n"
           "  panto simulate arm.toml --stop \"tip_y<0\" --csv run.csv\n"
           "  panto simulate five_bar --seed 1 --out measured.h5";
  });
  verb->callback([a, &exit_code] { exit_code = simulate_verb(*a); });
}

}  // namespace panto::cli
