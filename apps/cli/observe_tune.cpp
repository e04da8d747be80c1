// `panto observe --tune`: noise of a filter from a log, or of the filters of a study from its simulated readings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/cli/json.hpp"
#include "apps/cli/observe.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "panto/estimation/tune.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/sensor_log.hpp"
#include "panto/io/study.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/write_toml.hpp"
#include "panto/numerics/ranks.hpp"

namespace panto::cli {
namespace {

double lag1(const InnovationTest& t) {
  return t.autocorrelation.empty() ? 0 : t.autocorrelation.front();
}

const TunePoint& start_of(const Tuning& t) { return t.points.front(); }

void json_of(const InnovationTest& t, JsonWriter& json) {
  json.begin_object()
      .member("readings", t.count)
      .member("log_likelihood", t.log_likelihood)
      .member("nis", t.nis)
      .member("autocorrelation", t.autocorrelation)
      .member("inside", t.inside)
      .member("ljung_box", t.ljung_box)
      .member("p_value", t.p_value)
      .end_object();
}

// Members of an open object.
void json_of(const Tuning& t, const std::vector<std::string>& sensors, JsonWriter& json) {
  const auto found = [&](const char* key, const std::vector<std::string>& names,
                         const std::vector<double>& start, const std::vector<double>& value,
                         const std::vector<double>& error) {
    json.key(key).begin_object();
    for (size_t i = 0; i < names.size(); ++i) {
      json.key(names[i]).begin_object().member("start", start[i]).member("value", value[i]);
      if (!error.empty()) json.member("ln_error", error[i]);
      json.end_object();
    }
    json.end_object();
  };
  found("noise", t.speeds, start_of(t).noise, t.noise, t.noise_error);
  found("sigma", sensors, start_of(t).sigma, t.sigma, t.sigma_error);
  json.key("start");
  json_of(t.start, json);
  json.key("chosen");
  json_of(t.chosen, json);
  json.key("points").begin_array();
  for (const TunePoint& p : t.points)
    json.begin_object()
        .member("varied", p.varied)
        .member("factor", p.factor)
        .member("noise", p.noise)
        .member("sigma", p.sigma)
        .member("log_likelihood", p.log_likelihood)
        .member("nis", p.nis)
        .member("lag1", p.lag1)
        .end_object();
  json.end_array().member("complete", t.complete);
}

std::string factor_text(double ln_error) {
  return std::isfinite(ln_error) ? fmt::format("×/÷ {:.3g}", std::exp(ln_error)) : "not known";
}

std::string table_of(const Tuning& t, const std::vector<std::string>& sensors) {
  std::string text =
      fmt::format("  {:>10} {:>15} {:>8} {:>7}\n", "noise ×", "log-likelihood", "NIS", "lag 1");
  std::vector<const TunePoint*> common;
  for (const TunePoint& p : t.points)
    if (p.varied == "all") common.push_back(&p);
  std::stable_sort(common.begin(), common.end(),
                   [](const auto* a, const auto* b) { return a->factor < b->factor; });
  for (const TunePoint* p : common)
    text += std::isfinite(p->log_likelihood)
                ? fmt::format("  {:>10.4g} {:>15.3f} {:>8.3g} {:>7.3f}\n", p->factor,
                              p->log_likelihood, p->nis, p->lag1)
                : fmt::format("  {:>10.4g} {:>15}\n", p->factor, "fails");
  const size_t others = t.points.size() - common.size() - 1;  // but for the start
  if (others > 0) text += fmt::format("  and {} points of one noise at a time (--json)\n", others);
  text += fmt::format("\n  {:<28} {:>12} {:>12}  error\n", "", "start", "chosen");
  for (size_t i = 0; i < t.speeds.size(); ++i)
    text += fmt::format("  {:<28} {:>12.4g} {:>12.4g}  {}\n", "noise of " + t.speeds[i],
                        start_of(t).noise[i], t.noise[i], factor_text(t.noise_error[i]));
  for (size_t i = 0; i < t.sigma_error.size(); ++i)
    text += fmt::format("  {:<28} {:>12.4g} {:>12.4g}  {}\n", "sigma of " + sensors[i],
                        start_of(t).sigma[i], t.sigma[i], factor_text(t.sigma_error[i]));
  const auto row = [&](const char* name, double start, double chosen, const char* right) {
    text += fmt::format("  {:<28} {:>12.4g} {:>12.4g}  {}\n", name, start, chosen, right);
  };
  row("log-likelihood", t.start.log_likelihood, t.chosen.log_likelihood, "");
  row("NIS", t.start.nis, t.chosen.nis, "1 is right");
  row("correlation at lag 1", lag1(t.start), lag1(t.chosen), "0 is right");
  row("autocorrelations inside", t.start.inside, t.chosen.inside, "0.95 is right");
  row("Ljung-Box p", t.start.p_value, t.chosen.p_value, "above 0.05: white");
  return text;
}

std::string table_of(const TunedStudy& study) {
  std::string text =
      fmt::format("{}: noise of the filters, on their first readings\n", study.model);
  for (const TunedFilter& f : study.filters) {
    const Tuning& t = f.tuning;
    text += fmt::format(
        "\n  {} · {} · {}{}: log-likelihood {:.1f} → {:.1f}, NIS {:.3g} → {:.3g}, "
        "lag 1 {:.2f} → {:.2f}, p {:.2g} → {:.2g}\n",
        f.filter.name, f.sensors, f.error_level,
        f.rate_hz > 0 ? fmt::format(" · {:g} Hz", f.rate_hz) : "", t.start.log_likelihood,
        t.chosen.log_likelihood, t.start.nis, t.chosen.nis, lag1(t.start), lag1(t.chosen),
        t.start.p_value, t.chosen.p_value);
    for (size_t i = 0; i < t.speeds.size(); ++i)
      text += fmt::format("    noise of {:<20} {:>12.4g} → {:<12.4g} {}\n", t.speeds[i],
                          start_of(t).noise[i], t.noise[i], factor_text(t.noise_error[i]));
  }
  return text;
}

bool is_toml(const std::string& file) { return file.empty() || file.ends_with(".toml"); }

TuneOptions options_of(const ObserveArguments& a, Progress& progress) {
  TuneOptions options;
  options.sensors = a.tune_sensors;
  options.threads = a.threads;
  options.progress = [&progress](double fraction) {
    progress.show(fraction);
    return !Interrupt::requested();
  };
  return options;
}

}  // namespace

int observe_tune(const ObserveArguments& a) {
  if (!is_toml(a.out))
    return fail_usage(fmt::format("-o {}: settings are written as .toml", a.out), a.json);
  Asked asked;
  Diagnostics notes;
  if (const int refused = ask(a, asked, notes); refused != kOk) return refused;
  const Result<SensorLog> log = read_sensor_log(a.log, asked.model, asked.setup.sensors);
  notes.append(log.diagnostics());
  if (!log.ok()) return fail(notes, a.json);
  FilterSetup& setup = asked.setup;
  const Params params = nominal(asked.model);
  Result<std::unique_ptr<Observer>> observer =
      Observer::create(asked.model, params, setup.settings, setup.sensors);
  notes.append(observer.diagnostics());
  if (!observer.ok()) return fail(notes, a.json);
  LogOptions options;
  options.lag = a.lag;
  options.dt = a.dt;
  const Result<Readings> readings = readings_of(**observer, *log, options);
  notes.append(readings.diagnostics());
  if (!readings.ok()) return fail(notes, a.json);

  const Interrupt interrupt;
  Progress progress("tune " + asked.model.name);
  const Result<Tuning> found =
      tune(asked.model, params, setup.settings, setup.sensors, *readings, options_of(a, progress));
  progress.wipe();
  notes.append(found.diagnostics());
  if (!found.ok()) return fail(notes, a.json);
  std::vector<std::string> sensors;
  for (size_t i = 0; i < setup.sensors.size(); ++i) {
    sensors.push_back(setup.sensors[i].name);
    if (a.tune_sensors) setup.sensors[i].sigma = found->sigma[i];
  }
  setup.settings = with_noise(setup.settings, found->noise);
  if (!a.out.empty()) notes.append(write_filter_setup(setup, a.out));
  if (!notes.ok()) return fail(notes, a.json);
  print(notes);
  if (a.json) {
    JsonWriter json;
    json.begin_object()
        .member("model", asked.model.name)
        .member("filter", setup.settings.filter)
        .member("begin", readings->start)
        .member("end", readings->t.back())
        .member("dt", readings->dt);
    json_of(*found, sensors, json);
    json.end_object();
    out(json.text() + "\n");
  } else {
    std::string text = fmt::format("{}: noise of {} from {:.6g} s to {:.6g} s, {} readings\n\n",
                                   asked.model.name, setup.settings.filter, readings->start,
                                   readings->t.back(), found->chosen.count);
    text += table_of(*found, sensors);
    if (!a.out.empty()) text += fmt::format("\n  written  {}\n", a.out);
    summary(text);
  }
  return found->complete ? kOk : kInterrupted;
}

int observe_tune_study(const ObserveArguments& a) {
  if (!is_toml(a.out))
    return fail_usage(fmt::format("-o {}: a tuned study is written as .toml", a.out), a.json);
  Result<ModelSpec> file = read_model_file(a.model);
  if (!file.ok()) return fail(file.diagnostics(), a.json);
  Result<LoadedObserveStudy> loaded = load_observe_study(*file);
  if (!loaded.ok()) return fail(loaded.diagnostics(), a.json);
  const Interrupt interrupt;
  Progress progress("tune " + loaded->study.model);
  TuneOptions options = options_of(a, progress);
  if (a.threads == 0) options.threads = loaded->study.threads;
  const Result<TunedStudy> found = tune(loaded->study, loaded->load, options);
  progress.wipe();
  if (Ranks::world().rank() > 0) return found.ok() ? kOk : kBadInput;  // the first rank speaks
  Diagnostics notes = loaded.diagnostics();
  notes.append(found.diagnostics());
  if (!found.ok()) return fail(notes, a.json);
  if (!a.out.empty()) {
    Node::Array filters;
    for (const TunedFilter& f : found->filters) filters.push_back(describe(f.filter));
    file->root.set("filter", std::move(filters));
    notes.append(write_text_atomically(a.out, write_toml(file->root)));
  }
  if (!notes.ok()) return fail(notes, a.json);
  print(notes);
  if (a.json) {
    JsonWriter json;
    json.begin_object().member("model", found->model).key("tunings").begin_array();
    for (const TunedFilter& f : found->filters) {
      std::vector<std::string> sensors;
      for (const SensorSet& set : loaded->study.sensors)
        if (set.name == f.sensors)
          for (const SensorSettings& s : set.use) sensors.push_back(s.name);
      json.begin_object()
          .member("filter", f.filter.name)
          .member("sensors", f.sensors)
          .member("error_level", f.error_level)
          .member("rate_hz", f.rate_hz);
      json_of(f.tuning, sensors, json);
      json.end_object();
    }
    json.end_array().member("complete", found->complete).end_object();
    out(json.text() + "\n");
  } else {
    std::string text = table_of(*found);
    if (!a.out.empty()) text += fmt::format("\n  written  {}\n", a.out);
    summary(text);
  }
  return found->complete ? kOk : kInterrupted;
}

}  // namespace panto::cli
