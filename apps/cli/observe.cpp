#include "apps/cli/observe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "apps/cli/observe_study.hpp"
#include "apps/cli/report.hpp"
#include "panto/estimation/kinematic_log.hpp"
#include "panto/io/study.hpp"

namespace panto::cli {
namespace {

std::vector<std::string> parts(const std::string& text) {
  std::vector<std::string> out;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    if (end > start) out.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

// A file that names sensors for filters is a study; a model has `sensor`, without s.
bool is_study(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    for (const std::string key : {"sensors", "filter", "truth", "observer"})
      for (const std::string& start : {key + " ", key + "=", "[" + key + "]", "[[" + key + "]]"})
        if (line.starts_with(start)) return true;
  return false;
}

// Sensors of the command line, "encoder" or "theta=0.01" with its standard deviation; what a settings file says of them besides stays.
template <class Channel>
std::vector<Channel> sensors_in(const std::string& text, const std::vector<Channel>& known,
                                std::string& message) {
  std::vector<Channel> out;
  for (const std::string& part : parts(text)) {
    const size_t equals = part.find('=');
    Channel s;
    s.name = part.substr(0, equals);
    for (const Channel& k : known)
      if (k.name == s.name) s = k;
    if (equals != std::string::npos &&
        (!parse_number(part.substr(equals + 1), s.sigma) || s.sigma <= 0))
      message = fmt::format("sensor {}: expected name or name=standard deviation", part);
    out.push_back(std::move(s));
  }
  return out;
}

std::string series_conflict(const std::string& out) {
  if (out.empty() || out.ends_with(".csv") || out.ends_with(".h5")) return {};
  return fmt::format("-o {}: expected a name that ends with .csv or .h5", out);
}

// Empty, or what does not go together.
std::string study_conflict(const ObserveArguments& a) {
  if (a.live || !a.log.empty() || !a.set.empty() || !a.settings.empty())
    return "a study has its own truth and settings: no LOG, --live, --set or --settings";
  if (!a.filter.empty() || !a.sensors.empty() || !a.outputs.empty() || a.gate > 0 || a.dt != 0 ||
      a.lag != kLag)
    return "a study has its own filters, sensors and steps: no --filter, --sensors, --outputs, "
           "--gate, --dt or --lag";
  if (a.tune_sensors) return "--tune-sensors: the sensors of a study have the noise that it says";
  if (a.tune && (!a.view.empty() || a.seeds > 0))
    return "--view and --seeds are for the runs of a study; --tune takes its first noise sequence";
  if (a.advise) return "--advise needs a MODEL, not a study";
  if (a.smooth || a.smooth_lag >= 0) return "--smooth is for logs, not for studies";
  if (a.restart != "never") return "a study has `restart` in its file: no --restart";
  if (a.series && !a.out.ends_with(".h5")) return "--series goes to an HDF5 file: -o rows.h5";
  return a.tune ? std::string() : series_conflict(a.out);
}

std::string conflict(const ObserveArguments& a) {
  if (!a.view.empty() || a.seeds > 0 || a.series)
    return "--view, --seeds and --series belong to studies";
  if (a.threads > 0 && !a.tune && !a.advise)
    return "--threads belongs to studies, --tune and --advise";
  if (!(a.lag >= 0)) return "--lag: expected a time of zero or more";
  if (!(a.dt >= 0)) return "--dt: expected a positive time";
  if (!(a.gate >= 0 && a.gate < 1))
    return "--gate: expected a probability between 0 and 1, 0.999 say";
  if (a.tune && a.gate > 0) return "--tune counts every reading: no --gate";
  if (a.advise &&
      (a.tune || a.live || !a.log.empty() || !a.sensors.empty() || a.gate > 0 || a.lag != kLag))
    return "--advise follows the model's own motion: no LOG, --live, --tune, --gate or --lag; name "
           "sensors with --candidates";
  if ((a.tune || a.advise) && (!a.outputs.empty() || a.restart != "never"))
    return "--outputs and --restart are for estimates, not for --tune and --advise";
  if (!a.advise && (!a.candidates.empty() || a.largest != 1))
    return "--candidates and --largest belong to --advise";
  if (a.advise) return {};
  if (a.live && !a.log.empty()) return "give a LOG or --live, not both";
  if (a.live && a.tune) return "--tune needs a LOG, not --live";
  const bool smooth = a.smooth || a.smooth_lag >= 0;
  if (smooth && (a.live || a.tune)) return "--smooth is for the estimates of a LOG";
  if (smooth && a.restart != "never")
    return "--smooth goes back through one run of the filter: no --restart";
  if (!a.live && a.udp > 0) return "--udp belongs to --live";
  if (!a.live && a.log.empty()) return "what was measured is missing: give a LOG, or --live";
  if (a.live && !a.out.empty())
    return "-o belongs to a LOG; --live writes its estimates to standard output";
  return a.tune ? std::string() : series_conflict(a.out);
}

// Beside conflict(): what a kinematic observer has otherwise than the filters.
std::string kinematic_conflict(const ObserveArguments& a) {
  if (a.tune) return "--tune is for filters on dynamics: the noise of [kinematic] is in its file";
  if (!a.sensors.empty())
    return "--sensors: a kinematic observer has `inputs` and `sensors` in its settings file";
  if (a.smooth || a.smooth_lag >= 0)
    return "--smooth is for filters on dynamics, not for [kinematic]";
  if (a.lag != kLag) return "--lag: a kinematic observer leaves out what comes late";
  if (a.restart != "never")
    return "--restart: a kinematic observer starts again by itself, at its last good state";
  if (a.largest != 1 || a.threads > 0)
    return "--largest and --threads: a kinematic observer needs as many inputs as degrees of "
           "freedom; --spare allows more";
  return {};
}

int observe_verb(const ObserveArguments& a) {
  const bool study = is_study(a.model);
  const bool kinematic = !study && !a.settings.empty() && is_kinematic_file(a.settings);
  std::string wrong = a.tune_sensors && !a.tune ? "--tune-sensors belongs to --tune"
                      : study                   ? study_conflict(a)
                                                : conflict(a);
  if (wrong.empty() && kinematic) wrong = kinematic_conflict(a);
  if (wrong.empty() && a.spare > 0 && !(a.advise && kinematic))
    wrong = "--spare belongs to --advise with settings of a kinematic observer";
  if (!wrong.empty()) return fail_usage(wrong, a.json);
  if (study)
    return a.tune ? observe_tune_study(a)
                  : observe_study({a.model, a.out, a.view, a.threads, a.seeds, a.json, a.series});
  if (kinematic)
    return a.advise ? observe_kinematic_advise(a)
           : a.live ? observe_kinematic_live(a)
                    : observe_kinematic_log(a);
  if (a.advise) return observe_advise(a);
  if (a.tune) return observe_tune(a);
  return a.live ? observe_live(a) : observe_log(a);
}

int ask_model(const ObserveArguments& a, Model& model, Diagnostics& notes) {
  std::vector<Override> overrides;
  std::string message;
  if (!parse_settings(a.set, overrides, message)) return fail_usage(message, a.json);
  Result<Model> loaded = load_model(a.model, overrides);
  if (!loaded.ok()) return fail(loaded.diagnostics(), a.json);
  notes.append(loaded.diagnostics());
  model = std::move(*loaded);
  return kOk;
}

int take_outputs(const ObserveArguments& a, Result<std::vector<int>> named,
                 std::vector<int>& outputs, Diagnostics& notes) {
  notes.append(named.diagnostics());
  if (named.ok()) outputs = std::move(*named);
  return notes.ok() ? kOk : fail(notes, a.json);
}

}  // namespace

int ask(const ObserveArguments& a, Asked& asked, Diagnostics& notes) {
  if (!a.settings.empty()) {
    Result<FilterSetup> setup = load_filter_setup(a.settings);
    if (!setup.ok()) return fail(setup.diagnostics(), a.json);
    asked.setup = std::move(*setup);
  }
  if (!a.filter.empty()) asked.setup.settings.filter = a.filter;
  if (a.gate > 0) asked.setup.settings.options.gate = gate_of(a.gate);
  std::string message;
  for (const std::string* named : {&a.sensors, &a.candidates})
    if (!named->empty()) asked.setup.sensors = sensors_in(*named, asked.setup.sensors, message);
  if (!message.empty()) return fail_usage(message, a.json);
  if (const int refused = ask_model(a, asked.model, notes); refused != kOk) return refused;
  return take_outputs(a, outputs_named(asked.model, parts(a.outputs)), asked.outputs, notes);
}

int ask(const ObserveArguments& a, AskedKinematic& asked, Diagnostics& notes) {
  Result<KinematicSetup> setup = load_kinematic_setup(a.settings);
  if (!setup.ok()) return fail(setup.diagnostics(), a.json);
  asked.setup = std::move(*setup);
  KinematicSettings& s = asked.setup.settings;
  if (!a.filter.empty()) s.filter = a.filter;
  if (a.gate > 0) s.options.gate = gate_of(a.gate);
  if (a.dt > 0) s.dt = a.dt;
  std::string message;
  std::vector<KinematicChannel> known = asked.setup.inputs;
  known.insert(known.end(), asked.setup.sensors.begin(), asked.setup.sensors.end());
  asked.candidates = sensors_in(a.candidates, known, message);
  if (!message.empty()) return fail_usage(message, a.json);
  if (const int refused = ask_model(a, asked.model, notes); refused != kOk) return refused;
  return take_outputs(a, kinematic_outputs(asked.model, s.system.order, parts(a.outputs)),
                      asked.outputs, notes);
}

void add_observe(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<ObserveArguments>();
  CLI::App* verb =
      app.add_subcommand("observe", "State of a machine from its sensors, with its uncertainty");
  verb->group("Motion");
  add_model_arguments(*verb, *a);
  verb->add_option("LOG", a->log, "What was measured: a CSV table, or a run with measurements")
      ->type_name("log.csv|run.h5");
  verb->add_option("--settings", a->settings,
                   "Filter and sensors from a file, with the keys of a study's [[filter]], or a "
                   "kinematic observer: tables [kinematic] and [forces]")
      ->type_name("filter.toml");
  verb->add_option("--filter", a->filter, "Name of the filter, see below (ukf)")->type_name("name");
  verb->add_option("--sensors", a->sensors,
                   "Sensors to use, with their standard deviation where the model has none (all)")
      ->type_name("a,b=0.01");
  verb->add_option("--outputs", a->outputs, "Outputs to estimate (all that are no sensors)")
      ->type_name("x,y");
  verb->add_option("--gate", a->gate,
                   "Leave out readings that a good sensor would not give with this probability")
      ->type_name("0.999");
  verb->add_option("--lag", a->lag, "How late a reading may come [s] (0.1)")->type_name("s");
  verb->add_option("--dt", a->dt, "Longest step [s] (the fastest sensor's, at most 0.01)")
      ->type_name("h");
  verb->add_option("--restart", a->restart,
                   "Start a filter that is lost again: never, present or initial (state)")
      ->type_name("where")
      ->check(CLI::IsMember({"never", "present", "initial"}));
  verb->add_flag("--smooth", a->smooth, "Of a LOG: estimates from all readings, also later ones");
  verb->add_option("--smooth-lag", a->smooth_lag,
                   "Of a LOG: estimates also from readings up to this much later [s]")
      ->type_name("s")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--series", a->series,
                 "Of a study, with -o rows.h5: the courses of the first sequence too");
  verb->add_flag("--tune", a->tune,
                 "Find the process noise under which the readings are most likely, and white");
  verb->add_flag("--tune-sensors", a->tune_sensors,
                 "With --tune: the standard deviations of the sensors too");
  verb->add_flag("--advise", a->advise,
                 "Rank sets of sensors by what the filter would know with them");
  verb->add_option("--candidates", a->candidates,
                   "With --advise: sensors and outputs to choose from (the model's sensors)")
      ->type_name("a,b=0.01");
  verb->add_option("--largest", a->largest, "With --advise: sets of up to so many sensors (1)")
      ->type_name("k")
      ->check(CLI::PositiveNumber);
  verb->add_option(
          "--spare", a->spare,
          "With --advise of a kinematic observer: inputs beyond the degrees of freedom (0)")
      ->type_name("n")
      ->check(CLI::PositiveNumber);
  verb->add_option("-o,--out", a->out,
                   "Write the estimates; of a study, one line per run; with --tune, the settings; "
                   "with --advise, the ranking")
      ->type_name("est.csv|est.h5|filter.toml");
  verb->add_option("--view", a->view, "Of a study: write the report page")
      ->type_name("observe.html");
  verb->add_option("--seeds", a->seeds, "Of a study: noise sequences 1 … n instead of its own")
      ->type_name("n")
      ->check(CLI::PositiveNumber);
  verb->add_option("--threads", a->threads, "Of a study, --tune or --advise: cores to use (all)")
      ->type_name("n")
      ->check(CLI::PositiveNumber);
  verb->add_flag("--live", a->live, "JSON lines from standard input, answered line by line");
  verb->add_option("--udp", a->udp, "With --live: datagrams at this port, answered to the sender")
      ->type_name("port")
      ->check(CLI::Range(1, 65535));
  verb->add_option("--bind", a->bind, "With --udp: address to listen at (127.0.0.1)")
      ->type_name("address");
  verb->footer("");
  verb->footer([] {
    std::string text = "Filters:\n";
    for (const FilterInfo& f : filters()) text += fmt::format("  {:<13} {}\n", f.name, f.title);
    return text +
           "\nExamples:\n"
           "  panto observe machine.toml log.csv --filter ukf --gate 0.999 -o est.csv\n"
           "  panto observe fourbar_sanjurjo run.h5 --sensors crank_encoder --json\n"
           "  panto observe machine.toml log.csv --tune -o filter.toml\n"
           "  panto observe machine.toml --advise --largest 2\n"
           "  panto observe machine.toml --live --udp 5005 --settings filter.toml\n"
           "  panto observe slider_crank log.csv --settings kinematic.toml -o est.csv\n"
           "  panto observe slider_crank --settings kinematic.toml --advise";
  });
  verb->callback([a, &exit_code] { exit_code = observe_verb(*a); });
}

}  // namespace panto::cli
