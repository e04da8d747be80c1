#include "panto/reduction/reduce.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <numbers>
#include <optional>
#include <set>

#include "apps/cli/json.hpp"
#include "apps/cli/operating.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/reduction.hpp"
#include "panto/io/toml.hpp"
#include "panto/scene/reduction_report.hpp"

namespace panto::cli {
namespace {

constexpr int kMost = 1'000'000;  // interior modes

struct Arguments : OperatingArguments {
  std::string masters, rank, modes, weights, band, tolerance, mass, damping_matrix, sample, file,
      view;
  std::vector<std::string> forces;
  std::optional<double> damping, mac;
  int candidates = 0, keep = -1;
};

double hz(double omega2) { return std::sqrt(std::max(omega2, 0.0)) / (2 * std::numbers::pi); }

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find(at, start), text.size());
    if (end > start) out.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

// "1%" or "0.01".
bool parse_share(std::string text, double& share) {
  const bool percent = text.ends_with('%');
  if (percent) text.pop_back();
  if (!parse_number(text, share)) return false;
  if (percent) share /= 100;
  return true;
}

// A number, or a quantity of this dimension.
bool parse_of(const std::string& text, const Dim& dim, double& value) {
  if (parse_number(text, value)) return true;
  const auto quantity = parse_quantity(text);
  if (quantity) value = quantity->value;
  return quantity && quantity->dim == dim;
}

// "50Hz:tray.2.y,tray.5.y=1@30deg": frequency, places, amplitude and phase.
bool parse_force(const std::string& text, ForceTerm& force) {
  const size_t colon = text.find(':'), equals = text.rfind('='), phase = text.rfind('@');
  if (colon == std::string::npos || !parse_of(text.substr(0, colon), dim::kFrequency, force.hz))
    return false;
  const size_t places = std::min({equals, phase, text.size()});
  if (places <= colon) return false;
  force.at = split(text.substr(colon + 1, places - colon - 1), ',');
  if (force.at.empty()) return false;
  const size_t last = std::min(phase, text.size());
  if (equals != std::string::npos &&
      !parse_value(text.substr(equals + 1, last - equals - 1), force.amplitude))
    return false;
  return phase == std::string::npos || parse_of(text.substr(phase + 1), dim::kNone, force.phase);
}

// What the command line says, over what the study says.
bool apply(const Arguments& a, ReduceOptions& o, std::string& message) {
  // What the command line says stands in no file.
  const std::pair<const char*, bool> said[] = {
      {"masters", !a.masters.empty()},
      {"rank", !a.rank.empty()},
      {"modes", !a.modes.empty()},
      {"weights", !a.weights.empty() || !a.modes.empty() || !a.band.empty()},
      {"band", !a.band.empty()},
      {"tolerance", !a.tolerance.empty()},
      {"damping", a.damping.has_value()},
      {"mac", a.mac.has_value()},
      {"candidates", a.candidates > 0},
      {"keep", a.keep >= 0},
      {"sample", !a.sample.empty()}};
  for (const auto& [key, is] : said)
    if (is) o.places[key] = {};
  if (!a.masters.empty()) o.masters = split(a.masters, ',');
  if (!a.rank.empty()) o.rank = ranking_method(a.rank);
  std::vector<double> numbers;
  if (!a.modes.empty()) {
    if (!parse_numbers(a.modes, numbers)) {
      message = fmt::format("--modes {}: expected numbers, such as 8,14", a.modes);
      return false;
    }
    std::vector<int> modes;
    for (const double n : numbers) {
      if (!(n >= 1 && n <= 1e6) || n != static_cast<int>(n)) {
        message = fmt::format("--modes {}: expected whole numbers from 1 on", a.modes);
        return false;
      }
      modes.push_back(static_cast<int>(n));
    }
    for_modes(o, std::move(modes));
  }
  if (!a.band.empty()) {
    const auto ends = split(a.band, ',');
    double from = 0, to = 0;
    if (ends.size() != 2 || !parse_of(ends[0], dim::kFrequency, from) ||
        !parse_of(ends[1], dim::kFrequency, to)) {
      message = fmt::format("--band {}: expected two frequencies, such as 0,180Hz", a.band);
      return false;
    }
    for_band(o, {from, to});
  }
  if (!a.weights.empty()) {
    o.weights.clear();
    if (!parse_numbers(a.weights, o.weights)) {
      message = fmt::format("--weights {}: expected numbers, such as 2,1", a.weights);
      return false;
    }
  }
  if (!a.tolerance.empty() && !parse_share(a.tolerance, o.tolerance)) {
    message = fmt::format("--tolerance {}: expected a share, such as 1%", a.tolerance);
    return false;
  }
  if (!a.forces.empty()) o.forces.clear();
  for (const std::string& text : a.forces) {
    ForceTerm force;
    if (!parse_force(text, force)) {
      message = fmt::format(
          "--forces {}: expected frequency:places=amplitude@phase, such as "
          "50Hz:tray.2.y,tray.5.y=1@30deg",
          text);
      return false;
    }
    o.forces.push_back(std::move(force));
  }
  if (a.damping) o.damping = *a.damping;
  if (a.mac) o.mac = *a.mac;
  if (a.candidates > 0) o.candidates = a.candidates;
  if (a.keep >= 0) o.keep = a.keep;
  if (!a.sample.empty()) o.sample = a.sample;
  return true;
}

// Options that say nothing about a system of this kind: not ignored.
std::string useless(const Arguments& a, bool model, bool matrix) {
  if (!model &&
      (!a.at.empty() || !a.set.empty() || a.here || a.steady || a.equilibrium || a.time != 0))
    return "--at, --set, --here, --steady, --equilibrium and --time are for a model";
  if (!matrix && (!a.mass.empty() || !a.damping_matrix.empty()))
    return "--mass and --damping-matrix go with a stiffness matrix K.mtx";
  return {};
}

// The system by what the name is: a pair of matrices, a CalculiX job, a study, a model. nullopt: failed, the exit code is in `exit_code`.
std::optional<LoadedReduceStudy> loaded(const Arguments& a, Diagnostics& notes, int& exit_code) {
  const std::string ending = std::filesystem::path(a.model).extension().string();
  const auto take = [&](Result<LinearSystem> system) -> std::optional<LoadedReduceStudy> {
    notes.append(system.diagnostics());
    if (system.ok()) return LoadedReduceStudy{{}, std::move(*system)};
    exit_code = fail(notes, a.json);
    return std::nullopt;
  };
  const auto refused = [&](bool model, bool matrix) {
    const std::string message = useless(a, model, matrix);
    if (!message.empty()) exit_code = fail_usage(message, a.json);
    return !message.empty();
  };
  if (ending == ".mtx") {
    if (refused(false, true)) return std::nullopt;
    if (a.mass.empty()) {
      exit_code = fail_usage("a stiffness matrix alone: give --mass M.mtx too", a.json);
      return std::nullopt;
    }
    return take(read_matrices({a.mass, a.model, a.damping_matrix}));
  }
  const bool calculix =
      ending == ".sti" || ending == ".inp" || ending == ".dof" || ending == ".mas";
  if (calculix && refused(false, false)) return std::nullopt;
  if (calculix) return take(read_calculix(a.model));
  if (ending == ".toml") {
    const Result<ModelSpec> file = read_model_file(a.model);
    if (file.ok() && is_reduce_study(*file)) {
      if (refused(false, false)) return std::nullopt;
      Result<LoadedReduceStudy> study = load_reduce_study(*file);
      notes.append(study.diagnostics());
      if (study.ok()) return std::move(*study);
      exit_code = fail(notes, a.json);
      return std::nullopt;
    }
  }
  if (refused(true, false)) return std::nullopt;
  const auto l = linearised(a, exit_code);
  if (!l) return std::nullopt;
  notes.append(l->notes);
  return take(linear_system(l->linear, l->model.name));
}

// Interior modes as people count them.
std::vector<double> numbers(const std::vector<int>& modes) {
  std::vector<double> out;
  out.reserve(modes.size());
  for (const int mode : modes) out.push_back(mode + 1);
  return out;
}

std::string json_of(const LinearSystem& system, const RankedReduction& r) {
  JsonWriter json;
  json.begin_object()
      .member("system", system.name)
      .member("size", system.size())
      .member("masters", static_cast<int>(r.cb.masters.size()))
      .member("rigid", r.cb.rigid)
      .member("reduced_size", static_cast<int>(r.system.M.rows()))
      .member("names", r.system.names)
      .member("unseen", r.unseen)
      .member("kept", numbers(r.selected))
      .key("interior")
      .begin_array();
  for (Eigen::Index i = 0; i < r.cb.omega2.size(); ++i) json.value(hz(r.cb.omega2(i)));
  json.end_array().key("modes").begin_array();
  for (size_t i = 0; i < r.mode_errors.size(); ++i)
    json.begin_object()
        .member("mode", r.modes->numbers[i] + 1)
        .member("frequency", hz(r.modes->omega2(static_cast<Eigen::Index>(i))))
        .member("frequency_error", r.mode_errors[i].frequency)
        .member("nco", r.mode_errors[i].nco)
        .end_object();
  json.end_array().key("rankings").begin_object();
  for (const RankingCurve& c : r.rankings) {
    json.key(to_string(c.method))
        .begin_object()
        .member("needed", c.needed)
        .member("order", numbers(c.ranking.order))
        .member("coefficient",
                std::vector<double>(c.ranking.coefficient.begin(), c.ranking.coefficient.end()))
        .key("sizes")
        .begin_array();
    for (const SizePoint& p : c.points)
      json.begin_object()
          .member("size", p.size)
          .member("epsilon", p.epsilon)
          .member("frequency_error", p.frequency)
          .member("nco", p.nco)
          .member("mac", p.mac)
          .member("gain_error", p.gain)
          .end_object();
    json.end_array().end_object();
  }
  json.end_object().end_object();
  return json.text() + "\n";
}

std::string percent(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.3g} %", 100 * share);
}

// Some sizes up to a little above the one kept, and those that were asked about.
std::set<int> sizes_shown(const RankedReduction& r) {
  constexpr size_t kRows = 20;
  const auto& points = r.rankings.front().points;
  const auto last = r.selected.size() + kRows / 2;
  const size_t step = 1 + std::min(points.size(), last) / kRows;
  std::set<int> out{static_cast<int>(r.system.M.rows())};
  for (size_t i = 0; i < points.size() && i <= last; i += step) out.insert(points[i].size);
  for (const RankingCurve& c : r.rankings)
    if (c.needed >= 0) out.insert(c.needed);
  return out;
}

std::string table_of(const LinearSystem& system, const RankedReduction& r) {
  std::string text = fmt::format(
      "{}: {} degrees of freedom -> {} ({} masters, {} interior modes)\n\n", system.name,
      system.size(), r.system.M.rows(), r.cb.masters.size(), r.selected.size());
  if (!r.mode_errors.empty()) {
    text += fmt::format("  {:>5} {:>16} {:>16} {:>10}\n", "mode", "frequency [Hz]", "error", "NCO");
    for (size_t i = 0; i < r.mode_errors.size(); ++i)
      text += fmt::format("  {:>5} {:>16.9g} {:>16} {:>10.6f}\n", r.modes->numbers[i] + 1,
                          hz(r.modes->omega2(static_cast<Eigen::Index>(i))),
                          percent(r.mode_errors[i].frequency), r.mode_errors[i].nco);
    text += "\n";
  }
  const bool forces = !r.harmonics.empty();
  if (!r.modes && !forces) return text;
  text += "  size needed:";
  for (const RankingCurve& c : r.rankings)
    text += fmt::format("   {} {}", to_string(c.method),
                        c.needed >= 0 ? std::to_string(c.needed) : "-");
  text += "\n";
  const std::set<int> sizes = sizes_shown(r);
  const auto add = [&](const char* what, const auto& cell) {
    text += fmt::format("\n  error by size ({}):\n  {:>6}", what, "size");
    for (const RankingCurve& c : r.rankings) text += fmt::format(" {:>22}", to_string(c.method));
    text += "\n";
    for (const int size : sizes) {
      text += fmt::format("  {:>6}", size);
      for (const RankingCurve& c : r.rankings) {
        const auto same = std::find_if(c.points.begin(), c.points.end(),
                                       [&](const SizePoint& p) { return p.size == size; });
        text += fmt::format(" {:>22}", same != c.points.end() ? cell(*same) : "-");
      }
      text += "\n";
    }
  };
  if (r.modes) add("a priori", [](const SizePoint& p) { return percent(p.epsilon); });
  if (forces)
    add("gain, MAC", [](const SizePoint& p) {
      return std::isnan(p.gain) ? "-" : fmt::format("{}, {:.4f}", percent(p.gain), p.mac);
    });
  return text;
}

// The reduced mechanism as a model file.
Diagnostics write_mechanism(const Arguments& a, const LinearSystem& system,
                            const RankedReduction& found) {
  std::vector<Override> overrides;
  std::string message;
  ModelSpec spec;
  Diagnostics d;
  if (!parse_settings(a.set, overrides, message)) return d;  // linearised() has refused it
  const Result<Model> model = load_model(a.model, overrides, &spec);
  if (!model.ok()) {
    d.error(1103, {}, fmt::format("-o {}: only a model has a model file that is reduced", a.file));
    return d;
  }
  const Result<std::string> text = reduced_model(spec, *model, nominal(*model), system, found);
  return text.ok() ? write_text_atomically(a.file, *text) : text.diagnostics();
}

int reduce_verb(const Arguments& a) {
  int exit_code = kOk;
  const std::string ending = std::filesystem::path(a.file).extension().string();
  if (!a.file.empty() && ending != ".h5" && ending != ".hdf5" && ending != ".toml")
    return fail_usage(
        fmt::format("-o {}: expected a name that ends in .h5, .hdf5 or .toml", a.file), a.json);
  Diagnostics notes;
  auto study = loaded(a, notes, exit_code);
  if (!study) return exit_code;
  std::string message;
  if (!apply(a, study->options, message)) return fail_usage(message, a.json);
  const Interrupt interrupt;
  Progress progress("reduce " + study->system.name);
  study->options.progress = [&](double fraction) {
    progress.show(fraction);
    return !Interrupt::requested();
  };
  const Result<RankedReduction> found = reduce(study->system, study->options);
  progress.wipe();
  notes.append(found.diagnostics());
  if (Interrupt::requested()) return kInterrupted;
  if (!found.ok()) return fail(notes, a.json);
  if (a.file.ends_with(".toml")) {
    notes.append(write_mechanism(a, study->system, *found));
  } else if (!a.file.empty()) {
    notes.append(write_reduction(study->system, *found, a.file));
  }
  if (!a.view.empty()) {
    scene::Report report = scene::report_of_reduction(study->system, *found, study->options);
    scene::add_notes(notes, report);
    notes.append(write_page(report, a.view));
  }
  if (!notes.ok()) return fail(notes, a.json);
  if (!a.file.empty()) note("wrote " + a.file);
  print(notes);
  if (a.json)
    out(json_of(study->system, *found));
  else
    summary(table_of(study->system, *found));
  return kOk;
}

}  // namespace

void add_reduce(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "reduce", "The smallest model that keeps chosen modes or forced responses");
  verb->group("Vibration");
  add_operating_arguments(*verb, *a);
  verb->add_option("--masters", a->masters, "Degrees of freedom, nodes or sets that stay")
      ->type_name("name,...");
  verb->add_option("--rank", a->rank, "imr (modes), ebr (forces) or sbe")
      ->type_name("name")
      ->check(CLI::IsMember({"imr", "ebr", "sbe"}));
  CLI::Option* modes = verb->add_option("--modes", a->modes, "Modes to keep, from 1, rigid counted")
                           ->type_name("n,...");
  verb->add_option("--band", a->band, "All elastic modes between two frequencies")
      ->type_name("from,to")
      ->excludes(modes);
  verb->add_option("--weights", a->weights, "How much each of the modes matters (alike)")
      ->type_name("w,...");
  verb->add_option("--forces", a->forces, "Periodic force: 50Hz:tray.2.y,tray.5.y=1@30deg")
      ->type_name("force");
  verb->add_option("--tolerance", a->tolerance, "Error allowed (1%)")->type_name("share");
  verb->add_option("--mac", a->mac, "MAC of forced responses (0.999)")->type_name("share");
  verb->add_option("--damping", a->damping, "Structural damping ratio of forced responses (0)")
      ->type_name("ratio");
  verb->add_option("--sample", a->sample, "Master whose amplitude is compared")->type_name("name");
  verb->add_option("--candidates", a->candidates, "Interior modes to choose from")
      ->type_name("n")
      ->check(CLI::Range(1, kMost));
  verb->add_option("--keep", a->keep, "Interior modes to keep, whatever the tolerance")
      ->type_name("n")
      ->check(CLI::Range(0, kMost));
  verb->add_option("--mass", a->mass, "Mass matrix, where MODEL is a stiffness matrix K.mtx")
      ->type_name("M.mtx");
  verb->add_option("--damping-matrix", a->damping_matrix, "Damping matrix beside them")
      ->type_name("C.mtx");
  verb->add_option(
          "-o,--out", a->file,
          "Write the reduced system: HDF5, and Matrix Market beside; .toml: the reduced mechanism")
      ->type_name("reduced.h5");
  verb->add_option("--view", a->view, "Write the report page")->type_name("reduction.html");
  verb->footer(
      "MODEL is a model, a study.toml, a stiffness matrix .mtx (with --mass), or a CalculiX job "
      ".inp.\nExamples:\n"
      "  panto reduce horn.toml --rank imr --modes 8,14 --tolerance 1%\n"
      "  panto reduce K.mtx --mass M.mtx --masters d1,d2 --band 0,180Hz -o reduced.h5");
  verb->callback([a, &exit_code] { exit_code = reduce_verb(*a); });
}

}  // namespace panto::cli
