#include "panto/estimation/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

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

}  // namespace

Result<LogSummary> run_log(Observer& observer, const SensorLog& log, const LogOptions& options,
                           const Tracker::Sink& sink) {
  Diagnostics notes;
  const Mechanism& mechanism = observer.mechanism();
  const Model& model = mechanism.workspace().model();
  const auto place_of = [&](int line) { return Loc{log.file, line, line > 0 ? 1 : 0}; };

  std::vector<Item> items;
  std::vector<long> missing(static_cast<size_t>(mechanism.sensors()), 0);
  double shortest = kLongestStep;
  std::set<int> told;
  const auto take = [&](const LogSeries& series, int index, bool input) {
    double newest = -std::numeric_limits<double>::infinity();
    for (const LogSample& s : series.samples) {
      if (s.t < newest - options.lag && told.size() < kMostMessages && told.insert(s.line).second)
        notes.error(812, place_of(s.line),
                    fmt::format("time goes back from {:.9g} s to {:.9g} s, by more than the lag of "
                                "{:g} s; sort the log, part it where its clock was set, or allow a "
                                "longer lag",
                                newest, s.t, options.lag));
      newest = std::max(newest, s.t);
      if (std::isfinite(s.value)) {
        items.push_back({s.t, s.value, s.arrival, s.line, index, input});
      } else if (!input) {
        ++missing[static_cast<size_t>(index)];
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
  const bool any = !items.empty();
  for (const LogSeries& series : log.inputs)
    for (size_t i = 0; i < model.inputs.size(); ++i)
      if (model.inputs[i].name == series.name) take(series, static_cast<int>(i), true);
  if (!any) notes.error(815, place_of(0), "holds no reading of the sensors that are used");
  if (!notes.ok()) return notes;
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.arrival < b.arrival; });

  LogOptions o = options;
  if (o.dt <= 0) o.dt = shortest;
  o.events = static_cast<int>(most_in_window(items, o.lag)) + 2;
  Tracker tracker(observer, o, sink);
  LogSummary summary;
  summary.dt = o.dt;
  summary.begin = items.front().t;
  for (const Item& item : items)
    if (item.t >= items.front().t - o.lag) summary.begin = std::min(summary.begin, item.t);
  if (tracker.start(summary.begin) != Status::kOk) {
    notes.error(813, place_of(0),
                fmt::format("the filter cannot be started: {}", to_string(tracker.status())));
    return notes;
  }
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> y(missing.size(), none), u(model.inputs.size(), none);
  for (size_t i = 0; i < items.size();) {
    // What follows with the same stamp goes together; a second reading of one sensor does not.
    std::fill(y.begin(), y.end(), none);
    std::fill(u.begin(), u.end(), none);
    const Item& first = items[i];
    for (; i < items.size() && items[i].t == first.t; ++i) {
      double& place = (items[i].input ? u : y)[static_cast<size_t>(items[i].index)];
      if (!std::isnan(place)) break;
      place = items[i].value;
    }
    const double before = tracker.time();
    const Arrival arrival = tracker.push(first.t, y, u);
    if (arrival == Arrival::kJump) {
      notes.error(
          812, place_of(first.line),
          fmt::format("time jumps from {:.9g} s to {:.9g} s, more than 100000 steps of {:g} "
                      "s; part the log there, or allow longer steps",
                      before, first.t, o.dt));
      return notes;
    }
    if (arrival == Arrival::kFailed) {
      notes.error(
          813, place_of(first.line),
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

  summary.sensors = tracker.sensors();
  for (size_t i = 0; i < missing.size(); ++i) summary.sensors[i].missing = missing[i];
  summary.quantities = tracker.quantities();
  summary.end = tracker.time();
  summary.updates = tracker.updates();
  summary.steps = tracker.steps();
  summary.nis = tracker.mean_nis();
  summary.step_seconds = tracker.step_seconds();
  summary.restarts = tracker.restarts();
  summary.diverged = tracker.diverged();
  if (summary.diverged > 0)
    notes.warning(816, place_of(0),
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
