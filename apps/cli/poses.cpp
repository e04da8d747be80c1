#include "panto/identification/poses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numbers>

#include "apps/cli/json.hpp"
#include "apps/cli/operating.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "panto/base/units.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/csv.hpp"
#include "panto/numerics/ranks.hpp"
#include "panto/scene/identification_report.hpp"

namespace panto::cli {
namespace {

struct Arguments : ModelArguments {
  PosesOptions options;
  std::string parameters, ranges, csv, view;
  double spread = 50;
  int best = 10;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(at, start), text.size());
    if (end > start) out.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

// "theta_B=-90deg:90deg,s=0:5mm"
bool parse_ranges(const std::string& text, std::vector<PoseRange>& ranges, std::string& message) {
  for (const std::string& word : split(text, ',')) {
    const size_t equals = word.find('='), colon = word.find(':');
    PoseRange r;
    if (equals == std::string::npos || equals == 0 || colon == std::string::npos ||
        !parse_value(word.substr(equals + 1, colon - equals - 1), r.low) ||
        !parse_value(word.substr(colon + 1), r.high)) {
      message =
          fmt::format("--ranges {}: expected name=low:high, such as theta=-90deg:90deg", word);
      return false;
    }
    r.coordinate = word.substr(0, equals);
    ranges.push_back(std::move(r));
  }
  return true;
}

void matrix(JsonWriter& json, const char* name, const Eigen::MatrixXd& m) {
  json.key(name).begin_array();
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    json.begin_array();
    for (Eigen::Index k = 0; k < m.cols(); ++k) json.value(m(i, k));
    json.end_array();
  }
  json.end_array();
}

void pose(JsonWriter& json, const PoseStudy& s, const ScoredPose& p) {
  json.begin_object().member("number", p.number).key("coordinates").begin_object();
  for (size_t i = 0; i < s.coordinates.size(); ++i)
    json.member(s.coordinates[i], p.q(static_cast<Eigen::Index>(i)));
  json.end_object().member("score", p.score).member("information", p.information);
  json.key("told_by").begin_object();
  for (size_t k = 0; k < s.parameters.size(); ++k)
    json.member(s.parameters[k],
                p.told_by[k] < 0 ? std::string() : s.features[static_cast<size_t>(p.told_by[k])]);
  json.end_object();
  matrix(json, "correlation", p.correlation);
  matrix(json, "sensitivity", p.sensitivity);
  json.end_object();
}

std::string json_of(const Model& model, const PoseStudy& s, int best) {
  JsonWriter json;
  json.begin_object()
      .member("model", model.name)
      .member("parameters", s.parameters)
      .member("features", s.features)
      .member("drawn", s.drawn)
      .member("unreachable", s.unreachable)
      .member("beyond_limits", s.beyond_limits)
      .member("singular", s.singular)
      .member("complete", s.complete)
      .key("poses")
      .begin_array();
  for (size_t i = 0; i < std::min(s.poses.size(), static_cast<size_t>(best)); ++i)
    pose(json, s, s.poses[i]);
  json.end_array().key("together").begin_object().key("poses").begin_array();
  for (const int i : s.together) pose(json, s, s.poses[static_cast<size_t>(i)]);
  json.end_array().member("information", s.together_information).key("deviation").begin_object();
  for (size_t k = 0; k < s.parameters.size(); ++k)
    json.member(s.parameters[k], s.together_deviation[k]);
  json.end_object().end_object().end_object();
  return json.text() + "\n";
}

bool is_angle(const Model& model, const std::string& coordinate) {
  return std::any_of(model.joints.begin(), model.joints.end(), [&](const Joint& j) {
    return j.nv == 1 && j.type == JointType::kRevolute &&
           model.coordinate_names[static_cast<size_t>(j.q)] == coordinate;
  });
}

std::string in_words(const Model& model, const PoseStudy& s, const ScoredPose& p) {
  std::string text;
  for (const PoseRange& r : s.ranges) {
    const auto at = std::find(s.coordinates.begin(), s.coordinates.end(), r.coordinate);
    const double value = p.q(at - s.coordinates.begin());
    const bool angle = is_angle(model, r.coordinate);
    text += fmt::format("{}{} = {:.2f}{}", text.empty() ? "" : ", ", r.coordinate,
                        angle ? value * 180 / std::numbers::pi : value * 1000, angle ? "°" : " mm");
  }
  return text;
}

std::string table_of(const Model& model, const PoseStudy& s, int best) {
  std::string text = fmt::format("{}: {} poses judged for {}\n\n  rank   score  information   ",
                                 model.name, s.poses.size(), fmt::join(s.parameters, ", "));
  text += "told by (correlation)\n";
  for (size_t i = 0; i < std::min(s.poses.size(), static_cast<size_t>(best)); ++i) {
    const ScoredPose& p = s.poses[i];
    std::string own;
    for (size_t k = 0; k < s.parameters.size(); ++k)
      if (const int f = p.told_by[k]; f >= 0)
        own += fmt::format("{}{} by {} ({:.2f})", own.empty() ? "" : ", ", s.parameters[k],
                           s.features[static_cast<size_t>(f)],
                           p.correlation(f, static_cast<Eigen::Index>(k)));
    text += fmt::format("  {:>4}  {:>6.3f}  {:>11.3f}   {}\n        {}\n", i + 1, p.score,
                        p.information, own, in_words(model, s, p));
  }
  text += fmt::format(
      "\n  most informative {}, {:.3f}:\n",
      s.together.size() == 1 ? "pose" : fmt::format("set of {} poses", s.together.size()),
      s.together_information);
  for (const int i : s.together)
    text += fmt::format("        {}\n", in_words(model, s, s.poses[static_cast<size_t>(i)]));
  text += "  errors when frequencies are off by 1 %:";
  for (size_t k = 0; k < s.parameters.size(); ++k)
    text +=
        fmt::format("{} {} {:.2g} %", k == 0 ? "" : ",", s.parameters[k], s.together_deviation[k]);
  return text + fmt::format("\n\n  {} draws: {} not reachable, {} beyond limits, {} singular\n",
                            s.drawn, s.unreachable, s.beyond_limits, s.singular);
}

SeriesTable columns_of(const Model& model, const PoseStudy& s) {
  SeriesTable out;
  const auto add = [&](const std::string& name, const auto& of, const char* unit = "") {
    SeriesColumn c{name, unit, {}};
    for (const ScoredPose& p : s.poses) c.values.push_back(of(p));
    out.columns.push_back(std::move(c));
  };
  add("number", [](const ScoredPose& p) { return static_cast<double>(p.number); });
  for (size_t i = 0; i < s.coordinates.size(); ++i)
    add(
        s.coordinates[i], [i](const ScoredPose& p) { return p.q(static_cast<Eigen::Index>(i)); },
        is_angle(model, s.coordinates[i]) ? "rad" : "");
  add("score", [](const ScoredPose& p) { return p.score; });
  add("information", [](const ScoredPose& p) { return p.information; });
  for (size_t i = 0; i < s.features.size(); ++i)
    for (size_t k = 0; k < s.parameters.size(); ++k)
      add(fmt::format("rho {} {}", s.features[i], s.parameters[k]), [i, k](const ScoredPose& p) {
        return p.correlation(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
      });
  return out;
}

int poses_verb(Arguments& a) {
  std::vector<Override> overrides;
  std::string message;
  if (!parse_settings(a.set, overrides, message) ||
      !parse_ranges(a.ranges, a.options.ranges, message))
    return fail_usage(message, a.json);
  const Result<Model> model = load_model(a.model, overrides);
  if (!model.ok()) return fail(model.diagnostics(), a.json);
  const Params params = nominal(*model);
  a.options.parameters = split(a.parameters, ',');
  a.options.spread = a.spread / 100;
  const Interrupt interrupt;
  Progress progress("poses of " + model->name);
  a.options.progress = [&](double fraction) {
    progress.show(fraction);
    return !Interrupt::requested();
  };
  const Result<PoseStudy> study = poses(*model, params, a.options);
  progress.wipe();
  if (Ranks::world().rank() > 0) return study.ok() ? kOk : kBadInput;  // the first rank speaks
  Diagnostics notes = model.diagnostics();
  notes.append(study.diagnostics());
  if (!study.ok()) return fail(notes, a.json);
  if (!a.csv.empty())
    notes.append(write_text_atomically(a.csv, csv_text(columns_of(*model, *study))));
  if (!a.view.empty())
    notes.append(write_page(scene::report_of_poses(*model, params, *study), a.view));
  if (!notes.ok()) return fail(notes, a.json);
  print(notes);
  if (a.json) {
    out(json_of(*model, *study, a.best));
  } else {
    summary(table_of(*model, *study, a.best));
  }
  return study->complete ? kOk : kInterrupted;
}

}  // namespace

void add_poses(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "poses", "Poses in which each natural frequency tells about one parameter");
  verb->group("Vibration");
  add_model_arguments(*verb, *a);
  verb->add_option("--parameters", a->parameters, "What is to be identified: kA,kB,kC")
      ->type_name("names")
      ->required();
  verb->add_option("--poses", a->options.poses, "How many poses are drawn (1000)")->type_name("n");
  verb->add_option("--samples", a->options.samples, "Parameter sets in each (1000)")
      ->type_name("n");
  verb->add_option("--ranges", a->ranges,
                   "Coordinates that are drawn: theta=-90deg:90deg,...\n"
                   "(default: joint ranges, or +-90 deg)")
      ->type_name("ranges");
  verb->add_option("--spread", a->spread, "Parameters are drawn within +- this share [%] (50)")
      ->type_name("p");
  verb->add_flag("--damping", a->options.damping, "Damping ratios count beside frequencies");
  verb->add_flag("--local", a->options.local, "Derivatives in place of parameter sets: cheaper");
  verb->add_option("--together", a->options.together, "Poses that are measured together (1)")
      ->type_name("n");
  verb->add_option("--seed", a->options.seed, "Of the random numbers (1)")->type_name("n");
  verb->add_option("--threads", a->options.threads, "Cores to use (all)")->type_name("n");
  verb->add_option("--best", a->best, "Poses to print (10)")
      ->type_name("n")
      ->check(CLI::PositiveNumber);
  verb->add_option("--csv", a->csv, "Write all poses to a CSV file")->type_name("poses.csv");
  verb->add_option("--view", a->view, "Write the report page")->type_name("poses.html");
  verb->footer(
      "Examples:\n"
      "  panto poses three_link --parameters kA,kB,kC\n"
      "  panto poses three_link --parameters kA,kB,kC --ranges theta_B=-180deg:180deg --together "
      "2\n"
      "  mpirun -n 4 panto poses three_link --parameters kA,kB,kC --poses 100000 --json");
  verb->callback([a, &exit_code] { exit_code = poses_verb(*a); });
}

}  // namespace panto::cli
