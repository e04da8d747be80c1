// `panto observe` with settings of a kinematic observer: a log, and which sensors to fit.
#include "apps/cli/observe_kinematic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/cli/json.hpp"
#include "apps/cli/observe.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/sensor_log.hpp"

namespace panto::cli {
namespace {

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : fmt::format("{} [{}]", name, unit);
}

double step_us(const KinematicLogSummary& s) {
  return s.counts.steps > 0 ? 1e6 * s.step_seconds / static_cast<double>(s.counts.steps) : 0;
}

void write(JsonWriter& json, const KinematicSetup& setup, const KinematicLogSummary& s,
           const EstimateSeries& e) {
  json.member("begin", s.begin)
      .member("end", s.end)
      .member("dt", setup.settings.dt)
      .member("steps", s.counts.steps)
      .member("step_us", step_us(s))
      .member("nis", s.nis)
      .member("enter", setup.settings.system.enter)
      .member("leave", setup.settings.system.leave)
      .member("zone_share", s.zone_share)
      .member("crossings", s.counts.crossings)
      .member("restarts", s.counts.restarts)
      .member("repeated", s.counts.repeated)
      .member("backward", s.counts.backward)
      .member("jumps", s.counts.jumps)
      .key("channels")
      .begin_object();
  for (const ChannelRecord& r : s.channels) {
    json.key(r.name).begin_object().member("role", name_of(r.role));
    for (int k = 0; k < kReadingKinds; ++k)
      json.member(name_of(static_cast<Reading>(k)), r.of(static_cast<Reading>(k)));
    if (r.role == ChannelRole::kSensor) json.member("rms", r.rms).member("nis", r.nis);
    json.end_object();
  }
  json.end_object().key("final").begin_object();
  for (const EstimateColumn& c : e.estimates)
    json.key(c.name)
        .begin_object()
        .member("value", c.value.back())
        .member("sigma", c.sigma.back())
        .end_object();
  json.end_object();
}

std::string table_of(const Model& model, const KinematicSetup& setup, const std::string& file,
                     const KinematicLogSummary& s, const EstimateSeries& e) {
  std::string text =
      fmt::format("{}: kinematic observer, {}, from {:.6g} s to {:.6g} s, {} steps\n\n", model.name,
                  setup.settings.filter, s.begin, s.end, s.counts.steps);
  text += kinematic_table(s.channels, s.counts);
  text += fmt::format(
      "\n  mean NIS {:.3g} per reading (1 is right), {:.3g} µs per step\n"
      "  zone: enter = {:.4g}, leave = {:.4g}; {:.1f} % of the steps in it\n",
      s.nis, step_us(s), setup.settings.system.enter, setup.settings.system.leave,
      100 * s.zone_share);
  text += fmt::format("\n  at {:.6g} s\n", s.end);
  for (const EstimateColumn& c : e.estimates) {
    text += fmt::format("    {:<24} {:>14.6g}", with_unit(c.name, c.unit), c.value.back());
    if (!std::isnan(c.sigma.back())) text += fmt::format(" ± {:.3g}", c.sigma.back());
    text += "\n";
  }
  if (!file.empty()) text += fmt::format("\n  written  {}\n", file);
  return text;
}

// ---- advice ----------------------------------------------------------------------------------------------------------

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, " + "));
}

std::string verdict(const KinematicCheck& c) {
  return fmt::format("{}, {}",
                     c.exists              ? "exists everywhere"
                     : c.median_margin > 0 ? fmt::format("fails in {} places", c.failing.size())
                                           : "exists nowhere",
                     c.observable ? "observable" : "not observable");
}

void write(JsonWriter& json, const KinematicCheck& c, const Model& model) {
  json.member("exists", c.exists)
      .member("observable", c.observable)
      .member("median_margin", c.median_margin)
      .member("least_margin", c.least_margin)
      .member("enter", c.enter)
      .member("leave", c.leave)
      .member("failing_share", c.failing_share)
      .member("rank", c.least_rank)
      .member("states", c.states)
      .member("log10_condition_median", c.median)
      .member("log10_condition_worst", c.worst)
      .key("failing")
      .begin_array();
  for (const FailingPoses& f : c.failing) {
    json.begin_object()
        .member("from", f.from)
        .member("to", f.to)
        .member("worst", f.worst)
        .member("margin", f.margin)
        .key("pose")
        .begin_object();
    for (size_t i = 0; i < f.q.size(); ++i) json.member(model.coordinate_names[i], f.q[i]);
    json.end_object().end_object();
  }
  json.end_array().key("deviations").begin_object();
  for (const auto& [name, deviation] : c.deviations) json.member(name, deviation);
  json.end_object().member("words", in_words(c, model));
}

std::string json_of(const Model& model, const std::string& filter, const KinematicReview& r) {
  JsonWriter json;
  json.begin_object()
      .member("model", model.name)
      .member("filter", filter)
      .member("degrees_of_freedom", r.advice.degrees_of_freedom)
      .member("needed", r.advice.needed);
  if (r.check) {
    json.key("check").begin_object().member("inputs", r.inputs).member("sensors", r.sensors);
    write(json, *r.check, model);
    json.end_object();
  }
  json.key("sets").begin_array();
  for (const AdvisedSet& s : r.advice.sets) {
    json.begin_object().member("inputs", s.inputs).member("sensors", s.sensors);
    write(json, s.check, model);
    json.end_object();
  }
  json.end_array().end_object();
  return json.text() + "\n";
}

std::string csv_of(const KinematicAdvice& a) {
  std::string text =
      "rank,inputs,sensors,verdict,failing share,median margin,least margin,log10 condition "
      "median,log10 condition worst";
  std::vector<std::string> names;
  for (const AdvisedSet& s : a.sets)
    for (const auto& [name, deviation] : s.check.deviations)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const std::string& name : names) text += fmt::format(",\"deviation of {}\"", name);
  text += "\n";
  for (size_t i = 0; i < a.sets.size(); ++i) {
    const AdvisedSet& s = a.sets[i];
    const KinematicCheck& c = s.check;
    text += fmt::format("{},\"{}\",\"{}\",\"{}\",{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}", i + 1,
                        joined(s.inputs), joined(s.sensors), verdict(c), c.failing_share,
                        c.median_margin, c.least_margin, c.median, c.worst);
    for (const std::string& name : names) {
      text += ",";
      for (const auto& [of, deviation] : c.deviations)
        if (of == name) text += fmt::format("{:.6g}", deviation);
    }
    text += "\n";
  }
  return text;
}

// Root mean square of the coordinates' deviations, by which sets are ranked.
double deviation_of(const KinematicCheck& c) {
  const size_t n = std::min(c.deviations.size(), static_cast<size_t>(c.degrees_of_freedom));
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += c.deviations[i].second * c.deviations[i].second;
  return n > 0 ? std::sqrt(sum / static_cast<double>(n)) : std::nan("");
}

std::string table_of(const Model& model, const KinematicReview& r) {
  constexpr size_t kMost = 10;
  std::string text = fmt::format("{}: {}\n", model.name, r.advice.needed);
  if (r.check) {
    const KinematicCheck& c = *r.check;
    text +=
        fmt::format("\n  {}; {}\n  {}\n", joined(r.inputs), joined(r.sensors), in_words(c, model));
    for (size_t i = 0; i < std::min(kMost, c.failing.size()); ++i) {
      const FailingPoses& f = c.failing[i];
      std::vector<std::string> pose;
      for (size_t k = 0; k < f.q.size(); ++k)
        pose.push_back(fmt::format("{} = {:.4g}", model.coordinate_names[k], f.q[k]));
      text += fmt::format("    fails from {:.4g} s to {:.4g} s, worst at {}\n", f.from, f.to,
                          fmt::join(pose, ", "));
    }
    if (c.failing.size() > kMost)
      text += fmt::format("    and in {} more places\n", c.failing.size() - kMost);
  }
  size_t inputs = 6, sensors = 7;
  for (const AdvisedSet& s : r.advice.sets) {
    inputs = std::max(inputs, joined(s.inputs).size());
    sensors = std::max(sensors, joined(s.sensors).size());
  }
  text += fmt::format("\n  {:<{}} {:<{}} {:>10} {:>8}  verdict\n", "inputs", inputs, "sensors",
                      sensors, "deviation", "failing");
  for (const AdvisedSet& s : r.advice.sets)
    text += fmt::format("  {:<{}} {:<{}} {:>10.3g} {:>6.1f} %  {}\n", joined(s.inputs), inputs,
                        joined(s.sensors), sensors, deviation_of(s.check),
                        100 * s.check.failing_share, verdict(s.check));
  return text +
         "\n  deviation: RMS of the coordinates, second half of the motion; failing: share of the "
         "motion\n";
}

}  // namespace

std::string kinematic_table(const std::vector<ChannelRecord>& channels,
                            const KinematicCounts& counts) {
  size_t width = 7;
  for (const ChannelRecord& r : channels) width = std::max(width, with_unit(r.name, r.unit).size());
  std::string text =
      fmt::format("  {:<{}} {:<6} {:>8} {:>8} {:>8} {:>10} {:>9} {:>8} {:>8} {:>10} {:>6}\n",
                  "channel", width, "role", "used", "held", "none", "not finite", "saturated",
                  "frozen", "rejected", "RMS", "NIS");
  for (const ChannelRecord& r : channels) {
    text +=
        fmt::format("  {:<{}} {:<6} {:>8} {:>8} {:>8} {:>10} {:>9} {:>8} {:>8}",
                    with_unit(r.name, r.unit), width, name_of(r.role), r.of(Reading::kUsed),
                    r.of(Reading::kHeld), r.of(Reading::kNone), r.of(Reading::kNotFinite),
                    r.of(Reading::kSaturated), r.of(Reading::kFrozen), r.of(Reading::kRejected));
    if (r.role == ChannelRole::kSensor) text += fmt::format(" {:>10.4g} {:>6.2f}", r.rms, r.nis);
    text += "\n";
  }
  return text + fmt::format(
                    "\n  singular zone entered {} times, started again {} times; stamps: {} "
                    "repeated, {} backward, {} jumps\n",
                    counts.crossings, counts.restarts, counts.repeated, counts.backward,
                    counts.jumps);
}

int observe_kinematic_log(const ObserveArguments& a) {
  AskedKinematic asked;
  Diagnostics notes;
  if (const int refused = ask(a, asked, notes); refused != kOk) return refused;
  const Model& model = asked.model;
  const Params params = nominal(model);
  KinematicSetup& setup = asked.setup;
  const Result<SensorLog> log = read_sensor_log(a.log, model, params, setup);
  notes.append(log.diagnostics());
  if (!log.ok()) return fail(notes, a.json);
  const auto tracker = KinematicTracker::create(model, params, setup, asked.outputs);
  notes.append(tracker.diagnostics());
  if (!tracker.ok()) return fail(notes, a.json);

  const Interrupt interrupt;
  Progress progress("observe " + model.name);
  EstimateSeries series;
  series.model = model.name;
  series.filter = setup.settings.filter;
  const Result<KinematicLogSummary> done = run_log(
      **tracker, *log, [&](const KinematicEstimate& e) { add(series, e); },
      [&](double fraction) {
        progress.show(fraction);
        return !Interrupt::requested();
      });
  progress.wipe();
  notes.append(done.diagnostics());
  if (!done.ok()) return fail(notes, a.json);
  label(series, **tracker);
  if (!a.out.empty())
    notes.append(a.out.ends_with(".h5") ? write_hdf5(series, a.out) : write_csv(series, a.out));
  if (!notes.ok()) return fail(notes, a.json);
  print(notes);
  if (a.json) {
    JsonWriter json;
    json.begin_object().member("model", model.name).member("filter", series.filter);
    write(json, setup, *done, series);
    json.end_object();
    out(json.text() + "\n");
  } else {
    summary(table_of(model, setup, a.out, *done, series));
  }
  return done->complete ? kOk : kInterrupted;
}

int observe_kinematic_advise(const ObserveArguments& a) {
  if (!a.out.empty() && !a.out.ends_with(".csv"))
    return fail_usage(fmt::format("-o {}: advice is written as .csv", a.out), a.json);
  AskedKinematic asked;
  Diagnostics notes;
  if (const int refused = ask(a, asked, notes); refused != kOk) return refused;
  const Result<KinematicReview> found =
      review(asked.setup, asked.model, nominal(asked.model), asked.candidates, a.spare);
  notes.append(found.diagnostics());
  if (!found.ok()) return fail(notes, a.json);
  if (!a.out.empty()) notes.append(write_text_atomically(a.out, csv_of(found->advice)));
  if (!notes.ok()) return fail(notes, a.json);
  print(notes);
  if (a.json) {
    out(json_of(asked.model, asked.setup.settings.filter, *found));
  } else {
    std::string text = table_of(asked.model, *found);
    if (!a.out.empty()) text += fmt::format("\n  written  {}\n", a.out);
    summary(text);
  }
  return kOk;
}

}  // namespace panto::cli
