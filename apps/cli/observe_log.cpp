#include <fmt/format.h>

#include <limits>

#include "apps/cli/json.hpp"
#include "apps/cli/observe.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "panto/io/sensor_log.hpp"

namespace panto::cli {
namespace {

double step_us(const LogSummary& s) {
  return s.steps > 0 ? 1e6 * s.step_seconds / static_cast<double>(s.steps) : 0;
}

std::string json_of(const Model& model, const std::string& filter,
                    const std::optional<double>& smooth, const LogSummary& s,
                    const EstimateSeries& e) {
  JsonWriter json;
  json.begin_object()
      .member("model", model.name)
      .member("filter", filter)
      .member("smoothed", smooth.has_value())
      .member("begin", s.begin)
      .member("end", s.end)
      .member("dt", s.dt)
      .member("updates", s.updates)
      .member("steps", s.steps)
      .member("step_us", step_us(s))
      .member("nis", s.nis)
      .member("diverged", s.diverged)
      .member("restarts", s.restarts)
      .key("sensors")
      .begin_object();
  for (const SensorRecord& r : s.sensors)
    json.key(r.name)
        .begin_object()
        .member("readings", r.readings)
        .member("missing", r.missing)
        .member("used", r.used)
        .member("rejected", r.rejected)
        .member("late", r.late)
        .member("dropped", r.dropped)
        .member("repeated", r.repeated)
        .member("rms", r.rms)
        .member("mean", r.mean)
        .member("nis", r.nis)
        .member("correlation", r.correlation)
        .end_object();
  json.end_object().key("final").begin_object();
  for (const EstimateColumn& c : e.estimates)
    json.key(c.name)
        .begin_object()
        .member("value", c.value.back())
        .member("sigma", c.sigma.back())
        .end_object();
  json.end_object().end_object();
  return json.text() + "\n";
}

std::string table_of(const Model& model, const std::string& filter, const std::string& file,
                     const LogSummary& s, const EstimateSeries& e) {
  std::string text =
      fmt::format("{}: {} from {:.6g} s to {:.6g} s, {} updates, {} steps of at most {:.4g} s\n\n",
                  model.name, filter, s.begin, s.end, s.updates, s.steps, s.dt);
  size_t width = 6;
  for (const SensorRecord& r : s.sensors)
    width = std::max(width, r.name.size() + r.unit.size() + 3);
  text += fmt::format("  {:<{}} {:>8} {:>8} {:>8} {:>6} {:>8} {:>12} {:>7} {:>6} {:>6}\n", "sensor",
                      width, "readings", "missing", "rejected", "late", "dropped", "RMS", "mean/σ",
                      "NIS", "lag 1");
  for (const SensorRecord& r : s.sensors)
    text += fmt::format(
        "  {:<{}} {:>8} {:>8} {:>8} {:>6} {:>8} {:>12.4g} {:>6.2f} {:>6.2f} {:>6.2f}\n",
        r.unit.empty() ? r.name : fmt::format("{} [{}]", r.name, r.unit), width, r.readings,
        r.missing, r.rejected, r.late, r.dropped, r.rms, r.mean, r.nis, r.correlation);
  text += fmt::format("\n  mean NIS {:.3g} per reading (1 is right), {:.3g} µs per step\n", s.nis,
                      step_us(s));
  if (s.diverged > 0 || s.restarts > 0)
    text += fmt::format("  lost {} times, restarted {} times\n", s.diverged, s.restarts);
  text += fmt::format("\n  at {:.6g} s\n", s.end);
  for (const EstimateColumn& c : e.estimates)
    text += fmt::format("    {:<24} {:>14.6g} ± {:.3g}\n",
                        c.unit.empty() ? c.name : fmt::format("{} [{}]", c.name, c.unit),
                        c.value.back(), c.sigma.back());
  if (!file.empty()) text += fmt::format("\n  written  {}\n", file);
  return text;
}

}  // namespace

int observe_log(const ObserveArguments& a) {
  Asked asked;
  Diagnostics notes;
  if (const int refused = ask(a, asked, notes); refused != kOk) return refused;
  const Model& model = asked.model;
  const std::string& filter = asked.setup.settings.filter;
  LogOptions options;
  options.lag = a.lag;
  options.dt = a.dt;
  options.restart = *restart_named(a.restart);
  if (a.smooth) options.smooth = std::numeric_limits<double>::infinity();
  if (a.smooth_lag >= 0) options.smooth = a.smooth_lag;
  options.outputs = asked.outputs;
  const Result<SensorLog> log = read_sensor_log(a.log, asked.model, asked.setup.sensors);
  notes.append(log.diagnostics());
  if (!log.ok()) return fail(notes, a.json);
  Result<std::unique_ptr<Observer>> observer =
      Observer::create(model, nominal(model), asked.setup.settings, asked.setup.sensors);
  notes.append(observer.diagnostics());
  if (!observer.ok()) return fail(notes, a.json);

  const Interrupt interrupt;
  Progress progress("observe " + model.name);
  options.progress = [&](double fraction) {
    progress.show(fraction);
    return !Interrupt::requested();
  };
  EstimateSeries series;
  series.model = model.name;
  series.filter = filter;
  const Result<LogSummary> done =
      run_log(**observer, *log, options, [&](const Estimate& e) { series.add(e); });
  progress.wipe();
  notes.append(done.diagnostics());
  if (!done.ok()) return fail(notes, a.json);
  series.label(*done);
  if (!a.out.empty())
    notes.append(a.out.ends_with(".h5") ? write_hdf5(series, a.out) : write_csv(series, a.out));
  if (!notes.ok()) return fail(notes, a.json);
  print(notes);
  if (a.json) {
    out(json_of(model, filter, options.smooth, *done, series));
  } else {
    summary(
        table_of(model, options.smooth ? filter + ", smoothed," : filter, a.out, *done, series));
  }
  return done->complete ? kOk : kInterrupted;
}

}  // namespace panto::cli
