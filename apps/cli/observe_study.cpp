#include "apps/cli/observe_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/cli/json.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/study.hpp"
#include "panto/numerics/ranks.hpp"
#include "panto/scene/observation_report.hpp"

namespace panto::cli {
namespace {

std::string json_of(const TwinResult& r) {
  JsonWriter json;
  json.begin_object()
      .member("model", r.model)
      .member("channels", r.channels)
      .member("complete", r.complete)
      .member("seconds", r.seconds)
      .key("rows")
      .begin_array();
  for (const TwinRow& row : r.rows) {
    if (row.rmse.empty()) continue;
    json.begin_object()
        .member("filter", row.filter)
        .member("sensors", row.sensors)
        .member("rate_hz", row.rate_hz)
        .member("error_level", row.error_level)
        .member("seed", static_cast<long>(row.seed))
        .key("rmse")
        .begin_object();
    for (size_t i = 0; i < r.channels.size(); ++i) json.member(r.channels[i], row.rmse[i]);
    json.end_object()
        .member("coverage95", row.coverage95)
        .member("nees", row.nees)
        .member("nis_mean", row.nis_mean)
        .member("whiteness", row.whiteness)
        .member("rejected", row.rejected)
        .member("diverged", row.diverged)
        .member("lost", row.lost)
        .member("lost_at", row.lost_at)
        .member("restarts", row.restarts)
        .member("status", to_string(row.status))
        .member("us_per_step", row.us_per_step)
        .end_object();
  }
  json.end_array().key("cells").begin_array();
  for (const TwinCell& c : r.cells) {
    json.begin_object()
        .member("filter", c.filter)
        .member("sensors", c.sensors)
        .member("rate_hz", c.rate_hz)
        .member("error_level", c.error_level)
        .member("runs", c.runs)
        .member("diverged", c.diverged)
        .member("failed", c.failed)
        .member("lost", c.lost);
    for (const auto& [key, values] :
         {std::pair{"rmse_mean", &c.rmse_mean}, {"rmse_std", &c.rmse_std}}) {
      json.key(key).begin_object();
      for (size_t i = 0; i < r.channels.size(); ++i) json.member(r.channels[i], (*values)[i]);
      json.end_object();
    }
    json.member("coverage95", c.coverage95)
        .member("nees", c.nees)
        .member("nis_mean", c.nis_mean)
        .member("whiteness", c.whiteness)
        .member("us_per_step", c.us_per_step)
        .end_object();
  }
  json.end_array().end_object();
  return json.text() + "\n";
}

std::string csv_of(const TwinResult& r) {
  std::string text = "filter,sensors,rate_hz,error_level,seed";
  for (size_t i = 0; i < r.channels.size(); ++i)
    text += fmt::format(",rmse {} [{}]", r.channels[i], r.units[i]);
  text +=
      ",coverage95,nees,nis_mean,whiteness,rejected,diverged,lost,lost_at "
      "[s],restarts,status,us_per_step\n";
  for (const TwinRow& row : r.rows) {
    if (row.rmse.empty()) continue;
    text += fmt::format("\"{}\",\"{}\",{},\"{}\",{}", row.filter, row.sensors, row.rate_hz,
                        row.error_level, row.seed);
    for (double e : row.rmse) text += fmt::format(",{:.9g}", e);
    text +=
        fmt::format(",{:.6g},{:.6g},{:.6g},{:.6g},{},{},{},{},{},\"{}\",{:.4g}\n", row.coverage95,
                    row.nees, row.nis_mean, row.whiteness, row.rejected, row.diverged ? 1 : 0,
                    row.lost, row.lost > 0 ? fmt::format("{:.6g}", row.lost_at) : "", row.restarts,
                    to_string(row.status), row.us_per_step);
  }
  return text;
}

std::string table_of(const TwinResult& r) {
  size_t filter = 6, sensors = 7, error = 5;
  for (const TwinCell& c : r.cells) {
    filter = std::max(filter, letters(c.filter));
    sensors = std::max(sensors, letters(c.sensors));
    error = std::max(error, letters(c.error_level));
  }
  const auto pad = [](const std::string& text, size_t width) {
    return text + std::string(width - std::min(width, letters(text)), ' ');
  };
  std::string text =
      fmt::format("{}: RMS error over {} runs, {:.1f} s\n\n", r.model, r.rows.size(), r.seconds);
  text += fmt::format("  {} {} {} {:>8}", pad("filter", filter), pad("sensors", sensors),
                      pad("error", error), "rate");
  for (size_t i = 0; i < r.channels.size(); ++i)
    text += fmt::format(" {:>22}", fmt::format("{} [{}]", r.channels[i], r.units[i]));
  text += fmt::format(" {:>6} {:>6} {:>6} {:>6} {:>9} {:>7} {:>8}\n", "cover", "NEES", "NIS",
                      "white", "diverged", "lost", "us/step");
  for (const TwinCell& c : r.cells) {
    text += fmt::format("  {} {} {} {:>8}", pad(c.filter, filter), pad(c.sensors, sensors),
                        pad(c.error_level, error),
                        c.rate_hz > 0 ? fmt::format("{:g} Hz", c.rate_hz) : "own");
    const bool none = c.runs == c.diverged;
    for (size_t i = 0; i < r.channels.size(); ++i)
      text += fmt::format(
          " {:>22}", none         ? (c.failed == c.runs ? "fails" : "diverges")
                     : c.runs > 1 ? fmt::format("{:.5g} ± {:.2g}", c.rmse_mean[i], c.rmse_std[i])
                                  : fmt::format("{:.6g}", c.rmse_mean[i]));
    if (none)
      text += fmt::format(" {:>6} {:>6} {:>6} {:>6}", "", "", "", "");
    else
      text += fmt::format(" {:>6.3f} {:>6} {:>6.3g} {:>6.2f}", c.coverage95,
                          std::isnan(c.nees) ? "-" : fmt::format("{:.3g}", c.nees), c.nis_mean,
                          c.whiteness);
    text += fmt::format(" {:>9} {:>7} {:>8.3g}\n", fmt::format("{}/{}", c.diverged, c.runs),
                        fmt::format("{}/{}", c.lost, c.runs), c.us_per_step);
  }
  return text;
}

}  // namespace

int observe_study(const ObserveStudyArguments& a) {
  Result<LoadedObserveStudy> loaded = load_observe_study(a.study);
  if (!loaded.ok()) return fail(loaded.diagnostics(), a.json);
  ObserveStudy& study = loaded->study;
  if (a.threads > 0) study.threads = a.threads;
  if (a.seeds > 0) {
    study.seeds.clear();
    for (int i = 1; i <= a.seeds; ++i) study.seeds.push_back(static_cast<std::uint64_t>(i));
  }
  const Interrupt interrupt;
  Progress progress("observe " + study.model);
  TwinOptions options;
  options.series = a.series || !a.view.empty();
  options.progress = [&](double fraction) {
    progress.show(fraction);
    return !Interrupt::requested();
  };
  const Result<TwinResult> result = run_twin(study, loaded->load, options);
  progress.wipe();
  if (Ranks::world().rank() > 0) return result.ok() ? kOk : kBadInput;  // the first rank speaks
  Diagnostics notes = loaded.diagnostics();
  notes.append(result.diagnostics());
  if (!result.ok()) return fail(notes, a.json);
  if (!a.out.empty())
    notes.append(a.out.ends_with(".h5") ? write_hdf5(*result, a.out)
                                        : write_text_atomically(a.out, csv_of(*result)));
  if (!a.view.empty()) {
    scene::Report report = scene::report_of_observation(*result);
    scene::add_notes(notes, report);
    notes.append(write_page(report, a.view));
  }
  if (!notes.ok()) return fail(notes, a.json);
  if (!a.out.empty()) note("wrote " + a.out);
  print(notes);
  if (a.json) {
    out(json_of(*result));
  } else {
    summary(table_of(*result));
  }
  return result->complete ? kOk : kInterrupted;
}

}  // namespace panto::cli
