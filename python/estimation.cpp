// State observers: twin studies, logs, readings one by one, tuning, choice of sensors.
#include "python/estimation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "panto/estimation/observability.hpp"
#include "panto/estimation/placement.hpp"
#include "panto/io/sensor_log.hpp"
#include "panto/io/study.hpp"
#include "panto/scene/observation_report.hpp"
#include "python/page.hpp"

namespace panto::python {

py::array_t<double> array(const std::vector<double>& v) {
  return py::array_t<double>(static_cast<py::ssize_t>(v.size()), v.data());
}

py::dict dict_of(const std::vector<std::pair<std::string, double>>& values) {
  py::dict d;
  for (const auto& [name, value] : values) d[py::str(name)] = value;
  return d;
}

py::dict columns_of(const EstimateSeries& s) {
  const auto value = [](const EstimateColumn& c) { return array(c.value); };
  const auto sigma = [](const EstimateColumn& c) { return array(c.sigma); };
  py::dict d;
  d["model"] = s.model;
  d["filter"] = s.filter;
  d["t"] = array(s.t);
  d["values"] = by_name(s.estimates, value);
  d["sigma"] = by_name(s.estimates, sigma);
  d["units"] = by_name(s.estimates, [](const EstimateColumn& c) { return c.unit; });
  d["innovations"] = by_name(s.innovations, value);
  d["innovation_sigma"] = by_name(s.innovations, sigma);
  d["nis"] = array(s.nis);
  return d;
}

SensorLog log_from(const LogColumns& columns, const Model& model) {
  SensorLog log;
  std::vector<double> times;
  for (const auto& [name, t, values] : columns) times.insert(times.end(), t.begin(), t.end());
  std::sort(times.begin(), times.end());
  for (const auto& [name, t, values] : columns) {
    LogSeries series{name, {}};
    for (size_t i = 0; i < t.size(); ++i) {
      const auto place = std::lower_bound(times.begin(), times.end(), t[i]) - times.begin();
      series.samples.push_back({t[i], values[i], static_cast<long>(place), 0});
    }
    const bool output = find_output(model, name) >= 0;
    (output ? log.sensors : log.inputs).push_back(std::move(series));
  }
  return log;
}

namespace {

py::dict named(const std::vector<std::string>& names, const std::vector<double>& values) {
  py::dict d;
  for (size_t i = 0; i < values.size(); ++i) d[py::str(names[i])] = values[i];
  return d;
}

py::dict to_dict(const TwinResult& r) {
  py::list rows, cells, series;
  for (const TwinRow& e : r.rows) {
    if (e.rmse.empty()) continue;  // stopped before it
    rows.append(py::make_tuple(e.filter, e.sensors, e.rate_hz, e.error_level, e.seed,
                               named(r.channels, e.rmse), e.coverage95, e.nees, e.nis_mean,
                               e.whiteness, e.rejected, e.diverged, e.lost, e.lost_at, e.restarts,
                               to_string(e.status), e.us_per_step));
  }
  for (const TwinCell& c : r.cells)
    cells.append(py::make_tuple(c.filter, c.sensors, c.rate_hz, c.error_level, c.runs, c.diverged,
                                c.failed, c.lost, named(r.channels, c.rmse_mean),
                                named(r.channels, c.rmse_std), c.coverage95, c.nees, c.nis_mean,
                                c.whiteness, c.us_per_step));
  for (const TwinSeries& s : r.series) {
    py::dict channels, innovations;
    for (size_t i = 0; i < s.truth.size(); ++i)
      channels[py::str(r.channels[i])] =
          py::make_tuple(array(s.truth[i]), array(s.estimate[i]), array(s.sigma[i]));
    for (size_t i = 0; i < s.sensors.size(); ++i)
      innovations[py::str(s.sensors[i])] = py::make_tuple(
          array(s.innovation_t[i]), array(s.innovation[i]), array(s.innovation_sigma[i]));
    series.append(py::make_tuple(s.row, array(s.t), channels, innovations));
  }
  py::dict d;
  d["model"] = r.model;
  d["channels"] = r.channels;
  d["units"] = r.units;
  d["rows"] = rows;
  d["cells"] = cells;
  d["series"] = series;
  d["complete"] = r.complete;
  d["seconds"] = r.seconds;
  return d;
}

py::tuple observe(const ModelSpec& description,
                  const std::optional<std::vector<std::uint64_t>>& seeds,
                  std::optional<int> threads, bool series, py::object progress) {
  LoadedObserveStudy loaded = value_of(load_observe_study(description));
  if (seeds && seeds->empty()) throw py::value_error("seeds: at least one is needed");
  if (seeds) loaded.study.seeds = *seeds;
  loaded.study.threads = threads.value_or(loaded.study.threads);
  Watch watch(std::move(progress));
  TwinOptions options;
  options.series = series;
  options.progress = std::ref(watch);
  std::optional<Result<TwinResult>> result;
  {
    const py::gil_scoped_release release;
    result = run_twin(loaded.study, loaded.load, options);
  }
  watch.rethrow();
  const py::list notes = to_python(result->diagnostics());
  const auto found = std::make_shared<const TwinResult>(value_of(std::move(*result)));
  py::dict d = to_dict(*found);
  d["_page"] = Page{[found] { return scene::report_of_observation(*found); }};
  return py::make_tuple(d, notes);
}

// ---- logs and machines ------------------------------------------------------------------------------------------------

// What Python asks of a filter: settings and sensors are descriptions of settings files.
struct Wanted {
  std::optional<ModelSpec> settings, sensors;
  std::optional<std::string> filter;
  double gate = 0;

  [[nodiscard]] FilterSetup setup() const {
    FilterSetup out;
    if (settings) out = value_of(filter_setup(*settings));
    if (sensors) out.sensors = value_of(filter_setup(*sensors)).sensors;
    if (filter) out.settings.filter = *filter;
    if (gate > 0) out.settings.options.gate = gate_of(gate);
    return out;
  }
};

SensorLog log_of(const LogSource& source, const Model& model, std::vector<SensorSettings>& sensors,
                 Diagnostics& notes) {
  if (const auto* path = std::get_if<std::string>(&source)) {
    Result<SensorLog> log = read_sensor_log(*path, model, sensors);
    notes.append(log.diagnostics());
    return value_of(std::move(log));
  }
  SensorLog log = log_from(std::get<LogColumns>(source), model);
  if (sensors.empty())
    for (const LogSeries& s : log.sensors) {
      sensors.emplace_back();
      sensors.back().name = s.name;
    }
  return log;
}

std::unique_ptr<Observer> observer_of(const CompiledModel& m, const FilterSetup& setup,
                                      Diagnostics& notes) {
  Result<std::unique_ptr<Observer>> made =
      Observer::create(*m.model, m.params, setup.settings, setup.sensors);
  notes.append(made.diagnostics());
  return value_of(std::move(made));
}

Restart restart_of(const std::string& name) {
  const std::optional<Restart> restart = restart_named(name);
  if (!restart) throw py::value_error("restart: \"never\", \"present\" or \"initial\"");
  return *restart;
}

py::dict to_dict(const SensorRecord& r) {
  py::dict d;
  d["readings"] = r.readings;
  d["missing"] = r.missing;
  d["used"] = r.used;
  d["rejected"] = r.rejected;
  d["late"] = r.late;
  d["dropped"] = r.dropped;
  d["repeated"] = r.repeated;
  d["rms"] = r.rms;
  d["mean"] = r.mean;
  d["nis"] = r.nis;
  d["correlation"] = r.correlation;
  return d;
}

py::tuple observe_log(const CompiledModel& m, const LogSource& source, const Wanted& wanted,
                      const std::vector<std::string>& outputs, double lag, double dt,
                      const std::string& restart, std::optional<double> smooth,
                      py::object progress) {
  Diagnostics notes;
  FilterSetup setup = wanted.setup();
  const SensorLog log = log_of(source, *m.model, setup.sensors, notes);
  const std::unique_ptr<Observer> observer = observer_of(m, setup, notes);
  LogOptions options;
  options.lag = lag;
  options.dt = dt;
  options.restart = restart_of(restart);
  options.smooth = smooth;
  options.outputs = value_of(outputs_named(*m.model, outputs));
  Watch watch(std::move(progress));
  options.progress = std::ref(watch);
  EstimateSeries series;
  series.model = m.model->name;
  series.filter = setup.settings.filter;
  std::optional<Result<LogSummary>> result;
  {
    const py::gil_scoped_release release;
    result = run_log(*observer, log, options, [&](const Estimate& e) { series.add(e); });
  }
  watch.rethrow();
  notes.append(result->diagnostics());
  const LogSummary summary = value_of(std::move(*result));
  series.label(summary);
  py::dict d = columns_of(series);
  d["sensors"] = by_name(summary.sensors, [](const SensorRecord& r) { return to_dict(r); });
  d["nis_mean"] = summary.nis;
  d["dt"] = summary.dt;
  d["updates"] = summary.updates;
  d["steps"] = summary.steps;
  d["lost"] = summary.diverged;
  d["restarts"] = summary.restarts;
  d["complete"] = summary.complete;
  return py::make_tuple(d, to_python(notes));
}

// An observer that takes readings one by one.
class Stream {
 public:
  Stream(const CompiledModel& m, const Wanted& wanted, const std::vector<std::string>& outputs,
         double lag, double dt, const std::string& restart)
      : model_(m.model) {
    FilterSetup setup = wanted.setup();
    if (setup.sensors.empty()) setup.sensors = sensors_of(*model_);
    Diagnostics notes;
    observer_ = observer_of(m, setup, notes);
    TrackerOptions options;
    options.lag = lag;
    options.dt = dt;
    options.restart = restart_of(restart);
    options.outputs = value_of(outputs_named(*model_, outputs));
    tracker_ = std::make_unique<Tracker>(*observer_, options);
    estimate_ = tracker_->estimate();
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> quantities() const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const EstimatedQuantity& q : tracker_->quantities()) out.emplace_back(q.name, q.unit);
    return out;
  }
  [[nodiscard]] py::dict sensors() const {
    return by_name(tracker_->sensors(), [](const SensorRecord& r) { return to_dict(r); });
  }
  [[nodiscard]] std::vector<std::string> inputs() const {
    std::vector<std::string> out;
    for (const Input& u : model_->inputs) out.push_back(u.name);
    return out;
  }

  py::tuple step(double t, const Array& y, const Array& u) {
    if (!std::isfinite(t)) throw py::value_error("t: expected a finite time");
    switch (tracker_->push(t, view_of(y, "readings", observer_->mechanism().sensors()),
                           view_of(u, "inputs", static_cast<int>(model_->inputs.size())))) {
      case Arrival::kTooOld:
        throw py::value_error("t = " + std::to_string(t) + " s is older than the lag");
      case Arrival::kJump:
        throw py::value_error("t = " + std::to_string(t) + " s is too far ahead of " +
                              std::to_string(tracker_->time()) + " s");
      case Arrival::kFailed:
        throw NumericalFailure(tracker_->status(), "the filter failed");
      default:
        break;
    }
    tracker_->present(estimate_);
    return py::make_tuple(
        estimate_.t, array(estimate_.value), array(estimate_.sigma), array(estimate_.innovation),
        array(estimate_.innovation_sigma),
        estimate_.used > 0 ? estimate_.nis : std::numeric_limits<double>::quiet_NaN());
  }

  [[nodiscard]] int restarts() const { return tracker_->restarts(); }
  [[nodiscard]] int lost() const { return tracker_->diverged(); }

 private:
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<Tracker> tracker_;
  Estimate estimate_;
};

// ---- tuning, choice of sensors ----------------------------------------------------------------------------------------

py::tuple to_tuple(const InnovationTest& t) {
  return py::make_tuple(t.count, t.log_likelihood, t.nis, array(t.autocorrelation), t.inside,
                        t.ljung_box, t.p_value);
}

py::dict to_dict(const Tuning& t, const std::vector<std::string>& sensors, const Node& settings) {
  py::list points;
  for (const TunePoint& p : t.points)
    points.append(py::make_tuple(p.varied, p.factor, named(t.speeds, p.noise),
                                 named(sensors, p.sigma), p.log_likelihood, p.nis, p.lag1));
  ModelSpec description;
  description.root = settings;
  py::dict d;
  d["noise"] = named(t.speeds, t.noise);
  d["noise_error"] = named(t.speeds, t.noise_error);
  d["sigma"] = named(sensors, t.sigma);
  d["sigma_error"] = named(sensors, t.sigma_error);
  d["start"] = to_tuple(t.start);
  d["chosen"] = to_tuple(t.chosen);
  d["points"] = points;
  d["settings"] = std::move(description);
  d["complete"] = t.complete;
  return d;
}

py::tuple tune_log(const CompiledModel& m, const LogSource& source, const Wanted& wanted,
                   bool tune_sensors, double lag, double dt, int threads, py::object progress) {
  Diagnostics notes;
  FilterSetup setup = wanted.setup();
  const SensorLog log = log_of(source, *m.model, setup.sensors, notes);
  const std::unique_ptr<Observer> observer = observer_of(m, setup, notes);
  LogOptions options;
  options.lag = lag;
  options.dt = dt;
  const Readings readings = value_of(readings_of(*observer, log, options));
  TuneOptions search;
  search.sensors = tune_sensors;
  search.threads = threads;
  Watch watch(std::move(progress));
  search.progress = std::ref(watch);
  std::optional<Result<Tuning>> result;
  {
    const py::gil_scoped_release release;
    result = tune(*m.model, m.params, setup.settings, setup.sensors, readings, search);
  }
  watch.rethrow();
  notes.append(result->diagnostics());
  const Tuning found = value_of(std::move(*result));
  setup.settings = with_noise(setup.settings, found.noise);
  std::vector<std::string> sensors;
  for (size_t i = 0; i < setup.sensors.size(); ++i) {
    sensors.push_back(setup.sensors[i].name);
    if (tune_sensors) setup.sensors[i].sigma = found.sigma[i];
  }
  return py::make_tuple(to_dict(found, sensors, describe(setup)), to_python(notes));
}

py::tuple tune_study(const ModelSpec& description, std::optional<int> threads,
                     py::object progress) {
  const LoadedObserveStudy loaded = value_of(load_observe_study(description));
  TuneOptions search;
  search.threads = threads.value_or(loaded.study.threads);
  Watch watch(std::move(progress));
  search.progress = std::ref(watch);
  std::optional<Result<TunedStudy>> result;
  {
    const py::gil_scoped_release release;
    result = tune(loaded.study, loaded.load, search);
  }
  watch.rethrow();
  const py::list notes = to_python(result->diagnostics());
  const TunedStudy found = value_of(std::move(*result));
  py::list out;
  for (const TunedFilter& f : found.filters) {
    std::vector<std::string> sensors;
    for (const SensorSet& set : loaded.study.sensors)
      if (set.name == f.sensors)
        for (const SensorSettings& s : set.use) sensors.push_back(s.name);
    py::dict d = to_dict(f.tuning, sensors, describe(f.filter));
    d["filter"] = f.filter.name;
    d["sensors"] = f.sensors;
    d["error_level"] = f.error_level;
    d["rate_hz"] = f.rate_hz;
    out.append(d);
  }
  return py::make_tuple(out, notes);
}

py::tuple advise(const CompiledModel& m, const Wanted& wanted, int largest, double dt, double until,
                 int threads, py::object progress) {
  const FilterSetup setup = wanted.setup();
  PlacementOptions options;
  options.largest_set = largest;
  options.dt = dt;
  options.until = until;
  options.threads = threads;
  Watch watch(std::move(progress));
  options.progress = std::ref(watch);
  std::optional<Result<Placement>> result;
  {
    const py::gil_scoped_release release;
    result = rank_sensors(*m.model, m.params, setup.settings, setup.sensors, options);
  }
  watch.rethrow();
  const py::list notes = to_python(result->diagnostics());
  const Placement found = value_of(std::move(*result));
  py::list sets;
  for (const RankedSet& s : found.sets) {
    py::dict least;
    for (const std::string& name : s.least) least[py::str(name)] = state_in_words(*m.model, name);
    sets.append(py::make_tuple(s.sensors, s.observable, s.median, s.worst, s.blind, s.share,
                               dict_of(s.deviations), least, s.failure));
  }
  return py::make_tuple(sets, found.complete, notes);
}

}  // namespace

void bind_estimation(py::module_& module) {
  using py::arg;
  module.def("observe", &observe, arg("study"), arg("seeds"), arg("threads"), arg("series"),
             arg("progress"));
  py::class_<Wanted>(module, "Wanted")
      .def(py::init([](std::optional<ModelSpec> settings, std::optional<ModelSpec> sensors,
                       std::optional<std::string> filter, double gate) {
             return Wanted{std::move(settings), std::move(sensors), std::move(filter), gate};
           }),
           arg("settings"), arg("sensors"), arg("filter"), arg("gate"));
  module.def("observe_log", &observe_log, arg("model"), arg("log"), arg("wanted"), arg("outputs"),
             arg("lag"), arg("dt"), arg("restart"), arg("smooth"), arg("progress"));
  module.def("tune_log", &tune_log, arg("model"), arg("log"), arg("wanted"), arg("tune_sensors"),
             arg("lag"), arg("dt"), arg("threads"), arg("progress"));
  module.def("tune_study", &tune_study, arg("study"), arg("threads"), arg("progress"));
  module.def("advise", &advise, arg("model"), arg("wanted"), arg("largest"), arg("dt"),
             arg("until"), arg("threads"), arg("progress"));
  bind_kinematic(module);
  py::class_<Stream>(module, "Stream")
      .def(py::init<const CompiledModel&, const Wanted&, const std::vector<std::string>&, double,
                    double, const std::string&>(),
           arg("model"), arg("wanted"), arg("outputs"), arg("lag"), arg("dt"), arg("restart"))
      .def("step", &Stream::step, arg("t"), arg("readings"), arg("inputs"))
      .def_property_readonly("quantities", &Stream::quantities)
      .def_property_readonly("sensors", &Stream::sensors)
      .def_property_readonly("inputs", &Stream::inputs)
      .def_property_readonly("restarts", &Stream::restarts)
      .def_property_readonly("lost", &Stream::lost);
  module.def("filters", [] {
    std::vector<std::pair<std::string, std::string>> out;
    for (const FilterInfo& f : filters()) out.emplace_back(f.name, f.title);
    return out;
  });
}

}  // namespace panto::python
