#include "panto/estimation/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>

#include "panto/estimation/smoother.hpp"

namespace panto {

namespace {

constexpr double kLongestStep = 0.01;  // where nothing else is said [s]
constexpr size_t kMostMessages = 5;

// One sample of one sensor or input on its way to the filter.
struct Item {
  double t = 0, value = 0;
  long arrival = 0;
  int line = 0, index = 0;
  bool input = false;
};

// Median distance of neighbouring stamps; 0: fewer than two.
double period_of(const LogSeries& series) {
  std::vector<double> t;
  t.reserve(series.samples.size());
  for (const LogSample& s : series.samples)
    if (std::isfinite(s.value)) t.push_back(s.t);
  std::sort(t.begin(), t.end());
  t.erase(std::unique(t.begin(), t.end()), t.end());
  if (t.size() < 2) return 0;
  std::vector<double> gap;
  gap.reserve(t.size() - 1);
  for (size_t i = 1; i < t.size(); ++i) gap.push_back(t[i] - t[i - 1]);
  const auto middle = gap.begin() + static_cast<std::ptrdiff_t>(gap.size() / 2);
  std::nth_element(gap.begin(), middle, gap.end());
  return *middle;
}

// Different stamps in the fullest window as long as the lag.
size_t most_in_window(const std::vector<Item>& items, double lag) {
  std::vector<double> t;
  t.reserve(items.size());
  for (const Item& item : items) t.push_back(item.t);
  std::sort(t.begin(), t.end());
  t.erase(std::unique(t.begin(), t.end()), t.end());
  size_t most = 0, first = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    while (t[first] < t[i] - lag) ++first;
    most = std::max(most, i - first + 1);
  }
  return most;
}

// What a log holds of an observer's sensors and inputs.
struct Gathered {
  std::vector<Item> items;
  std::vector<long> missing;  // per sensor
  double dt = 0;              // step: the one asked for, or the shortest period
};

Loc place_in(const SensorLog& log, int line) { return {log.file, line, line > 0 ? 1 : 0}; }

bool gather(Observer& observer, const SensorLog& log, const LogOptions& options, Gathered& out,
            Diagnostics& notes) {
  const Mechanism& mechanism = observer.mechanism();
  const Model& model = mechanism.workspace().model();
  out.missing.assign(static_cast<size_t>(mechanism.sensors()), 0);
  double shortest = kLongestStep;
  std::set<int> told;
  const auto take = [&](const LogSeries& series, int index, bool input) {
    double newest = -std::numeric_limits<double>::infinity();
    for (const LogSample& s : series.samples) {
      if (s.t < newest - options.lag && told.size() < kMostMessages && told.insert(s.line).second)
        notes.error(812, place_in(log, s.line),
                    fmt::format("time goes back from {:.9g} s to {:.9g} s, by more than the lag of "
                                "{:g} s; sort the log, part it where its clock was set, or allow a "
                                "longer lag",
                                newest, s.t, options.lag));
      newest = std::max(newest, s.t);
      if (std::isfinite(s.value)) {
        out.items.push_back({s.t, s.value, s.arrival, s.line, index, input});
      } else if (!input) {
        ++out.missing[static_cast<size_t>(index)];
      }
    }
  };
  for (const LogSeries& series : log.sensors)
    for (int i = 0; i < mechanism.sensors(); ++i)
      if (model.outputs[static_cast<size_t>(mechanism.sensor(i).output)].name == series.name) {
        take(series, i, false);
        if (const double period = period_of(series); period > 0)
          shortest = std::min(shortest, period);
      }
  if (out.items.empty())
    notes.error(815, place_in(log, 0), "holds no reading of the sensors that are used");
  for (const LogSeries& series : log.inputs)
    for (size_t i = 0; i < model.inputs.size(); ++i)
      if (model.inputs[i].name == series.name) take(series, static_cast<int>(i), true);
  out.dt = options.dt > 0 ? options.dt : shortest;
  return notes.ok();
}

// The steps of a run through a log, and what all readings say of its estimates.
class SmoothedLog {
 public:
  SmoothedLog(Observer& observer, std::optional<double> lag)
      : smoother_(lag ? std::make_unique<Smoother>(observer.filter()) : nullptr),
        lag_(lag.value_or(0)),
        held_(observer.mechanism().workspace().model().inputs.size(),
              std::numeric_limits<double>::quiet_NaN()) {}

  [[nodiscard]] bool possible() const { return smoother_->possible(); }
  void begin() { note(smoother_->begin()); }
  void record(bool arrived) {
    note(smoother_->record());
    if (arrived) places_.push_back(smoother_->count() - 1);
  }
  // Inputs from the next readings on; NaN: as before.
  void hold(View u) {
    for (size_t i = 0; i < u.size(); ++i)
      if (!std::isnan(u[i])) held_[i] = u[i];
    inputs_.push_back(held_);
  }
  void keep(const Estimate& e) { kept_.push_back(e); }

  Status finish(Tracker& tracker, const Tracker::Sink& sink) {
    Smoothed all;
    note(std::isinf(lag_) ? smoother_->smooth(all) : smoother_->smooth_within(all, lag_));
    for (size_t i = 0; i < kept_.size(); ++i) {
      const size_t k = places_[i];
      tracker.evaluate(kept_[i].t, all.x[k], all.p[k], inputs_[i], kept_[i]);
      if (sink) sink(kept_[i]);
    }
    return status_;
  }

 private:
  void note(Status status) {
    if (status != Status::kOk) status_ = status;
  }
  std::unique_ptr<Smoother> smoother_;
  double lag_;
  std::vector<double> held_;
  std::vector<std::vector<double>> inputs_;  // per time of readings
  std::vector<Estimate> kept_;
  std::vector<size_t> places_;  // of their records
  Status status_ = Status::kOk;
};

void jump(const SensorLog& log, int line, double from, double to, double dt, Diagnostics& notes) {
  notes.error(812, place_in(log, line),
              fmt::format("time jumps from {:.9g} s to {:.9g} s, more than 100000 steps of {:g} "
                          "s; part the log there, or allow longer steps",
                          from, to, dt));
}

}  // namespace

Result<Readings> readings_of(Observer& observer, const SensorLog& log, const LogOptions& options) {
  Diagnostics notes;
  Gathered all;
  if (!gather(observer, log, options, all, notes)) return notes;
  std::stable_sort(all.items.begin(), all.items.end(),
                   [](const Item& a, const Item& b) { return a.t < b.t; });
  Readings out;
  out.dt = all.dt;
  out.start = all.items.front().t;
  std::vector<double> held(observer.mechanism().workspace().model().inputs.size(),
                           std::numeric_limits<double>::quiet_NaN());
  for (size_t i = 0; i < all.items.size();) {
    const Item& first = all.items[i];
    if (!out.t.empty() && (first.t - out.t.back()) / out.dt > Tracker::kMostSteps) {
      jump(log, first.line, out.t.back(), first.t, out.dt, notes);
      return notes;
    }
    out.t.push_back(first.t);
    if (!log.inputs.empty()) out.inputs.push_back(held);
    std::vector<int>& sensors = out.sensors.emplace_back();
    std::vector<double>& values = out.values.emplace_back();
    for (; i < all.items.size() && all.items[i].t == first.t; ++i) {
      const Item& item = all.items[i];
      if (item.input) {
        held[static_cast<size_t>(item.index)] = item.value;
      } else if (std::find(sensors.begin(), sensors.end(), item.index) == sensors.end()) {
        sensors.push_back(item.index);
        values.push_back(item.value);
      }
    }
  }
  return {std::move(out), notes};
}

Result<LogSummary> run_log(Observer& observer, const SensorLog& log, const LogOptions& options,
                           const Tracker::Sink& sink) {
  Diagnostics notes;
  const Model& model = observer.mechanism().workspace().model();
  Gathered all;
  if (!gather(observer, log, options, all, notes)) return notes;
  std::vector<Item>& items = all.items;
  const bool smooth = options.smooth.has_value();
  std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    return smooth ? a.t < b.t : a.arrival < b.arrival;
  });

  LogOptions o = options;
  o.dt = all.dt;
  SmoothedLog later(observer, options.smooth);
  if (smooth) {
    if (!later.possible() || o.restart != Restart::kNever) {
      notes.error(805, observer.settings().loc,
                  later.possible()
                      ? "smoothing goes back through one run of the filter: it cannot be restarted"
                      : fmt::format("{} keeps no predictions to smooth; take \"error_ekf_ej\" or "
                                    "\"ukf\"",
                                    observer.info().name));
      return notes;
    }
    o.lag = 0;
    o.after_step = [&](bool arrived) { later.record(arrived); };
  }
  o.events = static_cast<int>(most_in_window(items, o.lag)) + 2;
  Tracker tracker(observer, o, smooth ? [&](const Estimate& e) { later.keep(e); } : sink);
  LogSummary summary;
  summary.dt = o.dt;
  summary.begin = items.front().t;
  for (const Item& item : items)
    if (item.t >= items.front().t - o.lag) summary.begin = std::min(summary.begin, item.t);
  if (tracker.start(summary.begin) != Status::kOk) {
    notes.error(813, place_in(log, 0),
                fmt::format("the filter cannot be started: {}", to_string(tracker.status())));
    return notes;
  }
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> y(all.missing.size(), none), u(model.inputs.size(), none);
  std::vector<long> repeated(all.missing.size(), 0);
  if (smooth) later.begin();
  for (size_t i = 0; i < items.size();) {
    // What follows with the same stamp goes together; a second reading of one sensor does not.
    std::fill(y.begin(), y.end(), none);
    std::fill(u.begin(), u.end(), none);
    const Item& first = items[i];
    for (; i < items.size() && items[i].t == first.t; ++i) {
      double& place = (items[i].input ? u : y)[static_cast<size_t>(items[i].index)];
      if (!std::isnan(place) && !smooth) break;
      if (std::isnan(place) || items[i].input) {
        place = items[i].value;
      } else {
        ++repeated[static_cast<size_t>(items[i].index)];
      }
    }
    if (smooth) later.hold(u);
    const double before = tracker.time();
    const Arrival arrival = tracker.push(first.t, y, u);
    if (arrival == Arrival::kJump) {
      jump(log, first.line, before, first.t, o.dt, notes);
      return notes;
    }
    if (arrival == Arrival::kFailed) {
      notes.error(
          813, place_in(log, first.line),
          fmt::format("the filter failed at {:.9g} s: {}; let it be restarted, take shorter "
                      "steps or another filter",
                      first.t, to_string(tracker.status())));
      return notes;
    }
    if (options.progress &&
        !options.progress(static_cast<double>(i) / static_cast<double>(items.size()))) {
      summary.complete = false;
      break;
    }
  }
  tracker.finish();
  if (smooth) {
    const Status status = later.finish(tracker, sink);
    if (status != Status::kOk)
      notes.warning(835, place_in(log, 0),
                    fmt::format("a smoothed state cannot be taken by the mechanism ({}): the "
                                "filter's stands there",
                                to_string(status)));
  }

  summary.sensors = tracker.sensors();
  for (size_t i = 0; i < all.missing.size(); ++i) {
    summary.sensors[i].missing = all.missing[i];
    summary.sensors[i].readings += repeated[i];
    summary.sensors[i].repeated += repeated[i];
  }
  summary.quantities = tracker.quantities();
  summary.end = tracker.time();
  summary.updates = tracker.updates();
  summary.steps = tracker.steps();
  summary.nis = tracker.mean_nis();
  summary.step_seconds = tracker.step_seconds();
  summary.restarts = tracker.restarts();
  summary.diverged = tracker.diverged();
  if (summary.diverged > 0)
    notes.warning(816, place_in(log, 0),
                  fmt::format("from about {:.6g} s on the innovations are too large for their "
                              "uncertainty: the model, the noise settings or a sensor is wrong, or "
                              "the filter has lost the machine",
                              tracker.diverged_at()));
  return {std::move(summary), notes};
}

void EstimateSeries::add(const Estimate& e) {
  t.push_back(e.t);
  nis.push_back(e.used > 0 ? e.nis : std::numeric_limits<double>::quiet_NaN());
  const auto put = [](std::vector<EstimateColumn>& columns, const std::vector<double>& value,
                      const std::vector<double>& sigma) {
    columns.resize(value.size());
    for (size_t i = 0; i < value.size(); ++i) {
      columns[i].value.push_back(value[i]);
      columns[i].sigma.push_back(sigma[i]);
    }
  };
  put(estimates, e.value, e.sigma);
  put(innovations, e.innovation, e.innovation_sigma);
}

void EstimateSeries::label(const LogSummary& summary) {
  for (size_t i = 0; i < estimates.size(); ++i) {
    estimates[i].name = summary.quantities[i].name;
    estimates[i].unit = summary.quantities[i].unit;
  }
  for (size_t i = 0; i < innovations.size(); ++i) {
    innovations[i].name = summary.sensors[i].name;
    innovations[i].unit = summary.sensors[i].unit;
  }
}

}  // namespace panto
