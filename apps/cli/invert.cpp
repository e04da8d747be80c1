#include "panto/inversion/invert.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include "apps/cli/invert_feedback.hpp"
#include "apps/cli/json.hpp"
#include "apps/cli/operating.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/io/feedback_report.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/scene/inversion_report.hpp"

namespace panto::cli {
namespace {

struct Arguments : ModelArguments {
  bool analyse = false, force = false, unverified = false;
  std::string output, by, redefine, along, weight, to, duration, until, step, method, form, csv,
      view;
  std::string ends, guess, solver, before, after, clamp_begin, clamp_end, tolerance;
  std::vector<std::string> limits;
  int smooth = -1;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out(1);
  int open = 0;  // commas inside an expression are its own
  for (const char c : text) {
    open += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && open == 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  std::erase(out, "");
  return out;
}

// What writes or judges a run has nothing to do beside an analysis.
std::string beside_analysis(const Arguments& a) {
  const std::pair<const char*, std::string> options[] = {
      {"csv", a.csv},
      {"view", a.view},
      {"until", a.until},
      {"limit", a.limits.empty() ? "" : a.limits.front()}};
  for (const auto& [name, text] : options)
    if (!text.empty())
      return fmt::format("--{} {}: expected no --analyse beside it, which solves nothing", name,
                         text);
  for (const auto& [name, given] : {std::pair("force", a.force), {"no-verify", a.unverified}})
    if (given)
      return fmt::format("--{}: expected no --analyse beside it, which solves nothing", name);
  return "";
}

// What the command line says, over what the study says.
bool apply(const Arguments& a, LoadedInvertStudy& study, std::string& message) {
  const auto wrong = [&](const std::string& option, const std::string& text,
                         const std::string& wanted) {
    message = fmt::format("--{}{}{}: expected {}", option, text.empty() ? "" : " ", text, wanted);
    return false;
  };
  InvertChanges changes;
  if (!a.output.empty()) changes.outputs = split(a.output);
  if (!a.by.empty()) changes.inputs = split(a.by);
  if (!a.to.empty()) {
    changes.to.emplace();
    for (const std::string& word : split(a.to)) {
      double x = 0;
      if (!parse_value(word, x)) return wrong("to", a.to, "values, such as 4,30deg");
      changes.to->push_back(x);
    }
  }
  const auto time = [](const std::string& text, std::optional<double>& into) {
    return text.empty() || parse_value(text, into.emplace());
  };
  if (!time(a.duration, changes.duration)) return wrong("in", a.duration, "a time, such as 8s");
  if (!time(a.step, changes.step)) return wrong("step", a.step, "a time, such as 10ms");
  if (!time(a.until, changes.until) || (changes.until && !(*changes.until > 0)))
    return wrong("until", a.until, "a time, such as 12s");
  if (!a.method.empty()) changes.method = a.method;
  if (!a.form.empty()) changes.form = a.form;
  if (!a.ends.empty()) changes.ends = a.ends;
  if (!a.guess.empty()) changes.guess = a.guess;
  if (!a.solver.empty()) changes.solver = a.solver;
  const auto span = [&](const std::string& text, std::optional<double>& into) {
    return time(text, into) && (!into || *into >= 0);
  };
  if (!span(a.before, changes.before)) return wrong("before", a.before, "a time, such as 1s");
  if (!span(a.after, changes.after)) return wrong("after", a.after, "a time, such as 1s");
  if (!time(a.tolerance, changes.tolerance) || (changes.tolerance && !(*changes.tolerance > 0)))
    return wrong("tolerance", a.tolerance, "a number above 0, such as 1e-6");
  if (!a.clamp_begin.empty()) changes.clamp_begin = split(a.clamp_begin);
  if (!a.clamp_end.empty()) changes.clamp_end = split(a.clamp_end);
  if (a.smooth >= 0) changes.smooth = a.smooth;
  if (!a.redefine.empty()) changes.redefine = split(a.redefine);
  if (!a.along.empty()) changes.along = a.along;
  if (!a.weight.empty() && !parse_value(a.weight, changes.weight.emplace()))
    return wrong("weight", a.weight, "a number from 0 to 1");
  if (a.force) changes.force = true;
  if (a.unverified) changes.verify = false;
  for (const std::string& text : a.limits) {
    const size_t equals = text.find('='), dots = text.find("..", std::min(equals, text.size()));
    InputLimit limit;
    if (equals == std::string::npos || dots == std::string::npos || equals == 0 ||
        !parse_value(text.substr(equals + 1, dots - equals - 1), limit.lower) ||
        !parse_value(text.substr(dots + 2), limit.upper) || !(limit.lower <= limit.upper))
      return wrong("limit", text, "an actuator and its range, such as u_T=-3..3");
    limit.actuator = text.substr(0, equals);
    if (!changes.limits) changes.limits.emplace();
    changes.limits->push_back(std::move(limit));
  }
  const std::optional<UnknownWord> unknown = panto::apply(changes, study);
  return !unknown || wrong(unknown->option, unknown->word, unknown->expected);
}

std::string text_of(const std::complex<double>& s) {
  if (std::abs(s.imag()) <= 1e-9 * std::abs(s)) return fmt::format("{:.6g}", s.real());
  return fmt::format("{:.6g} {} {:.6g}i", s.real(), s.imag() < 0 ? "-" : "+", std::abs(s.imag()));
}

std::string analysis_text(const ServoAnalysis& s, const ServoChoice& servo,
                          bool tolerated = false) {
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<26}{}\n", name, value);
  };
  line("class", tolerated ? "marginal, as the redefinition tolerates" : to_string(s.type));
  line("configuration", fmt::format("{} ({} of {} outputs reached directly)",
                                    to_string(s.configuration), s.reachable, servo.inputs.size()));
  const auto list = [](const std::vector<std::complex<double>>& values) {
    std::string out;
    for (const auto& v : values) out += (out.empty() ? "" : ",  ") + text_of(v);
    return out.empty() ? std::string("none") : out;
  };
  line("poles [1/s]", list(s.poles));
  if (!s.regular) return text;
  line("zeros [1/s]", list(s.zeros));
  std::string degrees;
  for (size_t i = 0; i < s.relative_degree.size(); ++i)
    degrees += fmt::format("{}{}", i > 0 ? ", " : "", s.relative_degree[i]);
  line("relative degree",
       fmt::format("{}, sum of infinite zeros {}{}", degrees, s.total_relative_degree,
                   s.decoupling_regular ? "" : ", decoupling matrix singular"));
  line("index", fmt::format("{} (without multipliers {}, plant alone {})", s.index, s.motion_index,
                            s.plant_index));
  line("path must be", fmt::format("C{}", s.smoothness));
  return text;
}

void zeros_json(JsonWriter& json, const char* name,
                const std::vector<std::complex<double>>& values) {
  json.key(name).begin_array();
  for (const auto& v : values) json.begin_array().value(v.real()).value(v.imag()).end_array();
  json.end_array();
}

void analysis_json(JsonWriter& json, const ServoAnalysis& s) {
  json.key("analysis").begin_object();
  json.member("class", to_string(s.type)).member("configuration", to_string(s.configuration));
  json.member("reachable", s.reachable).member("regular", s.regular);
  zeros_json(json, "poles", s.poles);
  zeros_json(json, "zeros", s.zeros);
  zeros_json(json, "zeros_qz", s.zeros_qz);
  zeros_json(json, "zeros_second_order", s.zeros_second_order);
  json.key("relative_degree").begin_array();
  for (const int r : s.relative_degree) json.value(r);
  json.end_array();
  json.member("total_relative_degree", s.total_relative_degree)
      .member("decoupling_regular", s.decoupling_regular)
      .member("index", s.index)
      .member("motion_index", s.motion_index)
      .member("plant_index", s.plant_index)
      .member("smoothness", s.smoothness)
      .end_object();
}

void redefined_json(JsonWriter& json, const RedefinedOutput& r) {
  json.key("redefined").begin_object();
  json.member("outputs", r.choice.outputs).member("weight", r.weight);
  if (r.axial >= 0) json.member("axial", r.axial);
  json.member("limit", r.limit).member("together", r.together);
  json.key("zeros").begin_array();
  for (const WeightedZeros& at : r.along) {
    json.begin_object().member("weight", at.weight).member("worst", at.worst);
    json.key("zeros").begin_array();
    for (const auto& z : at.zeros) json.begin_array().value(z.real()).value(z.imag()).end_array();
    json.end_array().end_object();
  }
  json.end_array().key("true").begin_array();
  for (const TrueOutput& o : r.truth) {
    json.begin_object().member("name", o.name).member("mean_square", o.mean_square);
    json.member("largest", o.largest);
    json.member("residual", o.residual.value_or(std::numeric_limits<double>::quiet_NaN()));
    json.member("inverse", o.inverse).member("plant", o.plant).end_object();
  }
  json.end_array().end_object();
}

std::string redefined_text(const RedefinedOutput& r) {
  std::string text = "\n  redefined: rigid + weight (output - rigid)\n";
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<26}{}\n", name, value);
  };
  line("weight", fmt::format("{:.4g}", r.weight));
  if (r.axial >= 0) line("weight along the link", fmt::format("{:.4g}", r.axial));
  line("minimum phase up to", fmt::format("{:.4g}", r.limit));
  if (r.axial >= 0) line("  both parts alike", fmt::format("{:.4g}", r.together));
  text +=
      fmt::format("\n  {:>8}{:>16}   {}\n", "weight", "Re s / |s|", "zero furthest right [1/s]");
  for (const WeightedZeros& at : r.along)
    if (!at.zeros.empty())
      text +=
          fmt::format("  {:>8.3g}{:>16.3g}   {}\n", at.weight, at.worst, text_of(at.zeros.front()));
  if (r.truth.empty()) return text;  // nothing was followed
  text += fmt::format("\n  {:<26}{:>14}{:>14}{:>17}\n", "error of the true output", "mean square",
                      "largest", "after the path");
  for (const TrueOutput& o : r.truth)
    text += fmt::format("  {:<26}{:>14.3g}{:>14.3g}{:>17}\n", o.name, o.mean_square, o.largest,
                        o.residual ? fmt::format("{:.3g}", *o.residual) : "-");
  return text;
}

void series(JsonWriter& json, const char* name, const std::vector<std::string>& names,
            const std::vector<std::vector<double>>& values) {
  json.key(name).begin_object();
  for (size_t i = 0; i < names.size() && i < values.size(); ++i) json.member(names[i], values[i]);
  json.end_object();
}

const char* ends_of(const StableReport& s) {
  if (s.method == StableMethod::kDirect) return "none: nearest to rest, direct";
  if (s.method == StableMethod::kIndirect) return "none: nearest to rest, indirect";
  return s.ends == EndKind::kClamped ? "clamped" : "eigenspaces";
}

void stable_json(JsonWriter& json, const StableReport& s) {
  json.key("stable").begin_object().member("ends", ends_of(s));
  zeros_json(json, "growing", s.modes.growing);
  zeros_json(json, "decaying", s.modes.decaying);
  zeros_json(json, "neutral", s.modes.neutral);
  json.member("path_begin", s.path_begin).member("path_end", s.path_end);
  json.member("clamped_begin", s.clamped_begin).member("clamped_end", s.clamped_end);
  json.member("before", s.before).member("after", s.after);
  json.member("pre_actuation", s.pre_actuation).member("post_actuation", s.post_actuation);
  json.member("leakage_begin", s.leakage_begin).member("leakage_end", s.leakage_end);
  json.member("error", s.error).member("intervals", s.intervals).member("meshes", s.meshes);
  json.member("iterations", s.iterations).member("slow_downs", s.slow_downs).end_object();
}

std::string stable_text(const StableReport& s) {
  std::string text = "\n";
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<26}{}\n", name, value);
  };
  line("internal modes", fmt::format("{} growing, {} decaying, {} neutral", s.modes.growing.size(),
                                     s.modes.decaying.size(), s.modes.neutral.size()));
  line("ends", ends_of(s));
  if (s.method == StableMethod::kBoundaryValue && s.ends == EndKind::kClamped) {
    line("clamped at the beginning", fmt::format("{}", fmt::join(s.clamped_begin, ", ")));
    line("clamped at the end", fmt::format("{}", fmt::join(s.clamped_end, ", ")));
  }
  line("horizon", fmt::format("{:.4g} s before the path, {:.4g} s after it", s.before, s.after));
  line("inputs act",
       fmt::format("{:.4g} s before the path, ", s.pre_actuation) +
           (std::isfinite(s.post_actuation) ? fmt::format("{:.4g} s after it", s.post_actuation)
                                            : "without end after it"));
  line("left at the ends", fmt::format("{:.2g}, {:.2g}", s.leakage_begin, s.leakage_end));
  line("mesh", fmt::format("{} intervals, error {:.2g}, {} meshes, {} iterations", s.intervals,
                           s.error, s.meshes, s.iterations));
  return text;
}

std::string json_of(const Inversion& r, const FeedbackReport* feedback) {
  JsonWriter json;
  json.begin_object().member("model", r.model);
  analysis_json(json, r.analysis);
  json.member("t", r.t);
  series(json, "desired", r.outputs, r.desired);
  series(json, "achieved", r.outputs, r.achieved);
  series(json, "inputs", r.inputs, r.u);
  series(json, "coordinates", r.coordinates, r.y);
  json.member("tracking_max", r.tracking_max).member("tracking_rms", r.tracking_rms);
  if (r.stable) {
    stable_json(json, *r.stable);
  } else {
    json.member("most_iterations", r.most_iterations).member("not_converged", r.not_converged);
    json.key("cycle").begin_object();
    json.member("mean", r.times.mean).member("worst", r.times.worst).member("over", r.times.over);
    json.end_object();
  }
  if (r.redefined) redefined_json(json, *r.redefined);
  if (feedback != nullptr) feedback_json(json, *feedback);
  json.end_object();
  return json.text() + "\n";
}

std::string table_of(const Inversion& r, const ServoChoice& servo, double dt) {
  std::string text =
      fmt::format("{}: inputs for {} steps of {:g} s\n\n", r.model, r.t.size() - 1, dt);
  text += analysis_text(r.analysis, servo, scene::redefinition_tolerates(r));
  text += fmt::format("\n  {:<26}{:>14}{:>14}{:>14}\n", "input", "smallest", "largest", "rms");
  for (size_t i = 0; i < r.inputs.size(); ++i) {
    const auto [low, high] = std::minmax_element(r.u[i].begin(), r.u[i].end());
    double sum = 0;
    for (const double x : r.u[i]) sum += x * x;
    text += fmt::format("  {:<26}{:>14.6g}{:>14.6g}{:>14.6g}\n", r.inputs[i], *low, *high,
                        std::sqrt(sum / static_cast<double>(r.u[i].size())));
  }
  if (!r.tracking_max.empty()) {
    text += fmt::format("\n  {:<26}{:>14}{:>14}\n", "plant simulated: error of", "largest", "rms");
    for (size_t i = 0; i < r.outputs.size(); ++i)
      text += fmt::format("  {:<26}{:>14.3g}{:>14.3g}\n", r.outputs[i], r.tracking_max[i],
                          r.tracking_rms[i]);
  }
  if (r.redefined) text += redefined_text(*r.redefined);
  if (r.stable) return text + stable_text(*r.stable);
  if (r.times.cycles == 0) return text;  // read from a file
  text += fmt::format("\n  cycle: mean {:.3g} us, worst {:.3g} us, at most {} iterations\n",
                      1e6 * r.times.mean, 1e6 * r.times.worst, r.most_iterations);
  return text;
}

int invert_verb(const Arguments& a) {
  if (a.analyse)
    if (const std::string wrong = beside_analysis(a); !wrong.empty())
      return fail_usage(wrong, a.json);
  Diagnostics notes;
  std::optional<LoadedInvertStudy> study;
  if (a.model.ends_with(".toml") && std::filesystem::exists(a.model)) {
    const Result<ModelSpec> file = read_model_file(a.model);
    if (file.ok() && is_invert_study(*file)) {
      if (!a.set.empty())
        return fail_usage("--set belongs to a model; a study has its own table `set`", a.json);
      Result<LoadedInvertStudy> loaded = load_invert_study(*file);
      notes.append(loaded.diagnostics());
      if (!loaded.ok()) return fail(notes, a.json);
      study = std::move(*loaded);
    }
  }
  std::string message;
  if (!study) {
    std::vector<Override> overrides;
    if (!parse_settings(a.set, overrides, message)) return fail_usage(message, a.json);
    ModelSpec spec;
    Result<Model> model = load_model(a.model, overrides, &spec);
    notes.append(model.diagnostics());
    if (!model.ok()) return fail(notes, a.json);
    Params params = nominal(*model);
    Result<LoadedInvertStudy> alone = invert_model(std::move(*model), std::move(params), spec);
    if (!alone.ok()) return fail(alone.diagnostics(), a.json);
    study = std::move(*alone);
  }
  if (!apply(a, *study, message)) return fail_usage(message, a.json);
  if (!a.analyse && !has_path(*study))
    return fail_usage("where to? --to gives the outputs at the end, a study.toml a path", a.json);
  if (a.analyse) {
    const Result<StudyAnalysis> rest = analyse_invert_study(*study);
    notes.append(rest.diagnostics());
    if (!rest.ok()) return fail(notes, a.json);
    print(notes);
    if (a.json) {
      JsonWriter json;
      json.begin_object().member("model", study->model.name);
      analysis_json(json, rest->analysis);
      if (rest->redefined) redefined_json(json, *rest->redefined);
      json.end_object();
      out(json.text() + "\n");
    } else {
      summary(fmt::format("{}: inverse model at rest\n\n", study->model.name) +
              analysis_text(rest->analysis, study->servo,
                            rest->redefined && tolerates(*rest->redefined, rest->analysis)) +
              (rest->redefined ? redefined_text(*rest->redefined) : ""));
    }
    return kOk;
  }
  const Result<Inversion> found = [&] {
    const Interrupt interrupt;
    Progress progress("invert " + study->model.name);
    study->options.progress = [&](double fraction) {
      progress.show(fraction);
      return !Interrupt::requested();
    };
    Result<Inversion> result = run_invert_study(*study);
    study->options.progress = nullptr;
    progress.wipe();
    return result;
  }();
  notes.append(found.diagnostics());
  if (!found.ok()) return fail(notes, a.json);
  std::optional<FeedbackReport> feedback;
  if (!study->feedback.laws.empty()) {
    const Interrupt interrupt;
    Progress progress("feedback " + study->model.name);
    Result<FeedbackReport> tried = run_feedback(*study, *found, [&](double fraction) {
      progress.show(fraction);
      return !Interrupt::requested();
    });
    progress.wipe();
    notes.append(tried.diagnostics());
    if (!tried.ok()) return fail(notes, a.json);
    feedback = std::move(*tried);
  }
  const FeedbackReport* loops = feedback ? &*feedback : nullptr;
  if (!a.csv.empty()) {
    const Diagnostics written = write_inversion(*found, loops, a.csv);
    notes.append(written);
    if (!written.ok()) return fail(notes, a.json);
  }
  if (!a.view.empty()) {
    scene::Report report =
        scene::report_of_inversion(study->model, study->params, *found, study->options.limits);
    if (loops != nullptr) scene::add_feedback(*loops, *found, report);
    scene::add_notes(notes, report);
    notes.append(write_page(report, a.view));
    if (!notes.ok()) return fail(notes, a.json);
  }
  print(notes);
  if (a.json)
    out(json_of(*found, loops));
  else
    summary(table_of(*found, study->servo, study->options.inverse.dt) +
            (feedback ? feedback_text(*feedback) : ""));
  return kOk;
}

}  // namespace

void add_invert(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "invert", "Inputs that make outputs follow a path, for underactuated mechanisms");
  verb->group("Motion");
  add_model_arguments(*verb, *a);
  verb->add_flag("--analyse", a->analyse,
                 "Class, poles, zeros, relative degree, index; nothing is solved");
  verb->add_option("--output", a->output, "Outputs to follow (default: [[servo]] of the model)")
      ->type_name("name,...");
  verb->add_option("--by", a->by, "Actuators that make them follow")->type_name("name,...");
  verb->add_option("--redefine", a->redefine,
                   "Follow a mixture of the outputs and of these, their values with rigid links")
      ->type_name("name,...");
  verb->add_option(
          "--weight", a->weight,
          "Share of the outputs in it (a hundredth below the largest that is minimum phase)")
      ->type_name("0..1");
  verb->add_option("--along", a->along, "Angle of the link: a weight along it and one across it")
      ->type_name("name");
  verb->add_option("--to", a->to, "Outputs at the end of a line from rest to rest")
      ->type_name("value,...");
  verb->add_option("--in", a->duration, "Duration of the path (1s)")->type_name("time");
  verb->add_option(
          "--until", a->until,
          "End of the run (a quarter beyond the path; stable and optimal: where --after ends)")
      ->type_name("time");
  verb->add_option("--smooth", a->smooth,
                   "Continuous derivatives of the path (as needed; stable and optimal: two more)")
      ->type_name("m")
      ->check(CLI::Range(0, kMostSmooth));
  verb->add_option("--step", a->step, "Cycle of the inverse model (10ms)")->type_name("time");
  verb->add_option("--method", a->method,
                   "euler, linear_euler, bdf1 ... bdf6 (bdf4), radau5; stable: also where forward "
                   "integration grows without bound; optimal: the same without "
                   "conditions at its ends")
      ->type_name("name");
  verb->add_option("--ends", a->ends,
                   "Of method stable: eigenspaces (default), or clamped positions and speeds")
      ->type_name("kind");
  verb->add_option("--before", a->before, "Horizon before the path (until motion has decayed)")
      ->type_name("time");
  verb->add_option("--after", a->after, "Horizon after the path (until motion has decayed)")
      ->type_name("time");
  verb->add_option("--clamp-begin", a->clamp_begin,
                   "Coordinates, speeds with ', held at rest at the beginning (chosen)")
      ->type_name("name,...");
  verb->add_option("--clamp-end", a->clamp_end, "The same at the end")->type_name("name,...");
  verb->add_option("--guess", a->guess,
                   "Where its solution begins: rest along the path (default), or the bounded "
                   "motion linearised there")
      ->type_name("rest|linear");
  verb->add_option("--solver", a->solver,
                   "Of method optimal: direct (default, interior point), or by adjoint equations")
      ->type_name("direct|indirect");
  verb->add_option("--tolerance", a->tolerance, "Error of the boundary value problem (1e-6)")
      ->type_name("number");
  verb->add_option("--form", a->form,
                   "original, projection (default), substitution, minimal_extension, baumgarte")
      ->type_name("name");
  verb->add_flag("--force", a->force, "Integrate a non-minimum phase system all the same");
  verb->add_flag("--no-verify", a->unverified, "Do not simulate the plant with the inputs");
  verb->add_option("--limit", a->limits, "Range of an actuator; told where it is exceeded")
      ->type_name("name=low..high");
  verb->add_option("--view", a->view, "Write the report page")->type_name("invert.html");
  verb->add_option("--csv", a->csv,
                   "Write inputs, outputs and coordinates, HDF5 where it ends with .h5")
      ->type_name("u.csv");
  verb->footer(
      "MODEL is a model, or a study.toml with a path (docs/invert.md).\nExamples:\n"
      "  panto invert manipulator_2d --output z --by u --analyse\n"
      "  panto invert mass_on_car --to 4 --in 8s --method bdf3 --csv force.csv\n"
      "  panto invert manipulator_2d --output z --by u --to 30deg --method stable");
  verb->callback([a, &exit_code] { exit_code = invert_verb(*a); });
}

}  // namespace panto::cli
