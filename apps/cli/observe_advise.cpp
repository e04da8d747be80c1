// `panto observe MODEL --advise`: which sensors to fit.
#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/json.hpp"
#include "apps/cli/observe.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "panto/estimation/observability.hpp"
#include "panto/estimation/placement.hpp"
#include "panto/io/atomic_file.hpp"

namespace panto::cli {
namespace {

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, " + "));
}

std::string verdict(const RankedSet& s) {
  return !s.failure.empty() ? "fails" : s.observable ? "observable" : "not observable";
}

std::string json_of(const Model& model, const std::string& filter, const Placement& p) {
  JsonWriter json;
  json.begin_object()
      .member("model", model.name)
      .member("filter", filter)
      .member("complete", p.complete)
      .key("sets")
      .begin_array();
  for (const RankedSet& s : p.sets) {
    json.begin_object()
        .member("sensors", s.sensors)
        .member("observable", s.observable)
        .member("log10_condition_median", s.median)
        .member("log10_condition_worst", s.worst)
        .member("blind", s.blind)
        .member("share", s.share)
        .member("seen_least", s.least)
        .key("deviations")
        .begin_object();
    for (const auto& [name, deviation] : s.deviations) json.member(name, deviation);
    json.end_object().member("failure", s.failure).end_object();
  }
  json.end_array().end_object();
  return json.text() + "\n";
}

std::string csv_of(const Placement& p) {
  std::string text =
      "rank,sensors,verdict,log10 condition median,log10 condition worst,blind share,share of the "
      "initial deviation,seen least,failure\n";
  for (size_t i = 0; i < p.sets.size(); ++i) {
    const RankedSet& s = p.sets[i];
    text += fmt::format("{},\"{}\",{},{:.6g},{:.6g},{:.6g},{:.6g},\"{}\",\"{}\"\n", i + 1,
                        joined(s.sensors), verdict(s), s.median, s.worst, s.blind, s.share,
                        fmt::join(s.least, " "), s.failure);
  }
  return text;
}

std::string table_of(const Model& model, const std::string& filter, const Placement& p) {
  std::string text = fmt::format("{}: sets of sensors for {}, best first\n\n", model.name, filter);
  size_t width = 7;
  for (const RankedSet& s : p.sets) width = std::max(width, joined(s.sensors).size());
  text += fmt::format("  {:<{}} {:>10} {:>6} {:>6} {:>6}  verdict\n", "sensors", width, "deviation",
                      "median", "worst", "blind");
  for (const RankedSet& s : p.sets) {
    if (!s.failure.empty()) {
      text += fmt::format("  {:<{}} {:>34} {}\n", joined(s.sensors), width, "", s.failure);
      continue;
    }
    std::vector<std::string> least;
    for (const std::string& name : s.least) least.push_back(state_in_words(model, name));
    text += fmt::format("  {:<{}} {:>8.3g} % {:>6.2f} {:>6.2f} {:>4.0f} %  {} {}\n",
                        joined(s.sensors), width, 100 * s.share, s.median, s.worst, 100 * s.blind,
                        s.observable ? "observable; seen least:" : "not observable: hides",
                        fmt::join(least, ", "));
  }
  return text +
         "\n  deviation: of the coordinates, second half of the motion, share of that at the "
         "start\n"
         "  median, worst: log10 of the condition number; blind: share of the motion above 6\n";
}

}  // namespace

int observe_advise(const ObserveArguments& a) {
  if (!a.out.empty() && !a.out.ends_with(".csv"))
    return fail_usage(fmt::format("-o {}: advice is written as .csv", a.out), a.json);
  Asked asked;
  Diagnostics notes;
  if (const int refused = ask(a, asked, notes); refused != kOk) return refused;
  PlacementOptions options;
  options.largest_set = a.largest;
  if (a.dt > 0) options.dt = a.dt;
  options.threads = a.threads;
  const Interrupt interrupt;
  Progress progress("advise " + asked.model.name);
  options.progress = [&](double fraction) {
    progress.show(fraction);
    return !Interrupt::requested();
  };
  const std::string& filter = asked.setup.settings.filter;
  const Result<Placement> found = rank_sensors(asked.model, nominal(asked.model),
                                               asked.setup.settings, asked.setup.sensors, options);
  progress.wipe();
  notes.append(found.diagnostics());
  if (!found.ok()) return fail(notes, a.json);
  if (!a.out.empty()) notes.append(write_text_atomically(a.out, csv_of(*found)));
  if (!notes.ok()) return fail(notes, a.json);
  print(notes);
  if (a.json) {
    out(json_of(asked.model, filter, *found));
  } else {
    std::string text = table_of(asked.model, filter, *found);
    if (!a.out.empty()) text += fmt::format("\n  written  {}\n", a.out);
    summary(text);
  }
  return found->complete ? kOk : kInterrupted;
}

}  // namespace panto::cli
