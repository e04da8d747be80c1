#include "panto/estimation/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "panto/estimation/observability.hpp"
#include "panto/estimation/parallel.hpp"

namespace panto {

namespace {

constexpr size_t kMostSets = 10000;

double entry(const std::vector<double>& values, size_t i) {
  return values[values.size() == 1 ? 0 : i];
}

// What all candidates read along the motion, column per step, without noise.
Result<Eigen::MatrixXd> motion(const Model& model, const Params& params, ObserverSettings settings,
                               const std::vector<SensorSettings>& candidates, double dt,
                               int steps) {
  settings.filter = "ukf";  // reads everything
  settings.scheme = Scheme::kTrapezoidal;
  auto made = Observer::create(model, params, settings, candidates);
  if (!made) return made.diagnostics();
  Observer& observer = **made;
  Mechanism& m = observer.mechanism();
  Status status = observer.start();
  std::vector<double> x(observer.filter().state().begin(), observer.filter().state().end()),
      next(x.size()), y(candidates.size());
  std::vector<int> all(candidates.size());
  std::iota(all.begin(), all.end(), 0);
  Eigen::MatrixXd out(m.sensors(), steps), change(m.size(), m.size());
  for (int k = 0; k < steps && status == Status::kOk; ++k) {
    status = m.step(k * dt, dt, x, next);
    if (status == Status::kOk) status = m.sense((k + 1) * dt, next, all, y);
    if (status == Status::kOk && m.worn()) status = m.reframe((k + 1) * dt, next, change);
    std::swap(x, next);
    for (size_t i = 0; i < y.size(); ++i) out(static_cast<Eigen::Index>(i), k) = y[i];
    if (status != Status::kOk) {
      Diagnostics notes;
      notes.error(832, settings.loc,
                  fmt::format("the motion that sensors are to observe stopped at {:.6g} s: {}",
                              k * dt, to_string(status)));
      return notes;
    }
  }
  return out;
}

// Sums of the covariance over the second half of a run.
class Spread {
 public:
  Spread(Observer& observer, double from) : observer_(observer), from_(from) {}

  void operator()(const Filter& filter) {
    if (filter.time() < from_) return;
    if (filter.reframed() != reframed_) {
      reframed_ = filter.reframed();
      names_ = observer_.mechanism().names();
    }
    filter.covariance(p_);
    const int np = observer_.mechanism().coordinates();
    for (int i = 0; i < np; ++i) {
      const double variance = p_(i, i),
                   start = entry(observer_.settings().sigma_coordinates, static_cast<size_t>(i));
      trace_ += variance;
      share_ += variance / (start * start) / np;
      Sum& sum = of(names_[static_cast<size_t>(i)]);
      sum.variance += variance;
      ++sum.count;
    }
    ++count_;
  }

  void report(RankedSet& set) const {
    if (count_ == 0) return;
    set.trace = trace_ / count_;
    set.share = std::sqrt(share_ / count_);
    for (const Sum& s : sums_) set.deviations.emplace_back(s.name, std::sqrt(s.variance / s.count));
  }

 private:
  struct Sum {
    std::string name;
    double variance = 0;
    int count = 0;
  };
  Sum& of(const std::string& name) {
    for (Sum& s : sums_)
      if (s.name == name) return s;
    sums_.push_back({name});
    return sums_.back();
  }

  Observer& observer_;
  double from_;
  int reframed_ = -1, count_ = 0;
  std::vector<std::string> names_;
  std::vector<Sum> sums_;
  double trace_ = 0, share_ = 0;
  Eigen::MatrixXd p_;
};

bool better(const RankedSet& a, const RankedSet& b) {
  if (a.failure.empty() != b.failure.empty()) return a.failure.empty();
  if (a.observable != b.observable) return a.observable;
  return a.share < b.share;
}

}  // namespace

std::vector<std::vector<int>> subsets(int n, int smallest, int largest) {
  std::vector<std::vector<int>> out;
  for (int size = smallest; size <= std::min(n, largest); ++size) {
    std::vector<int> set(static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) set[static_cast<size_t>(i)] = i;
    for (;;) {
      out.push_back(set);
      if (out.size() > kMostSets) return {};
      int i = size - 1;
      while (i >= 0 && set[static_cast<size_t>(i)] == n - size + i) --i;
      if (i < 0) break;
      ++set[static_cast<size_t>(i)];
      for (int k = i + 1; k < size; ++k)
        set[static_cast<size_t>(k)] = set[static_cast<size_t>(k - 1)] + 1;
    }
  }
  return out;
}

Result<Placement> rank_sensors(const Model& model, const Params& params,
                               const ObserverSettings& settings,
                               std::vector<SensorSettings> candidates,
                               const PlacementOptions& options) {
  Diagnostics notes;
  if (candidates.empty()) candidates = sensors_of(model);
  const double until = options.until > 0 ? options.until : model.run.until;
  const int steps = options.dt > 0 ? static_cast<int>(std::lround(until / options.dt)) : 0;
  const auto sets = subsets(static_cast<int>(candidates.size()), 1, options.largest_set);
  if (candidates.empty()) {
    notes.error(832, settings.loc,
                "there is no sensor to choose from: the model has none, name outputs of it");
  } else if (sets.empty()) {
    notes.error(832, settings.loc,
                options.largest_set < 1
                    ? std::string("sets of sensors have at least one sensor")
                    : fmt::format("{} candidates in sets of up to {} are more than {} sets; name "
                                  "fewer candidates or smaller sets",
                                  candidates.size(), options.largest_set, kMostSets));
  }
  if (steps < 2)
    notes.error(832, settings.loc, "the motion has no steps: dt and until must be positive");
  if (!notes.ok()) return notes;

  // With all candidates at once, so that every mistake in them is told.
  auto all = Observer::create(model, params, settings, candidates);
  if (!all) return all.diagnostics();
  const auto values = motion(model, params, settings, candidates, options.dt, steps);
  if (!values) return values.diagnostics();
  std::vector<int> every;  // steps between the readings of a candidate
  for (size_t i = 0; i < candidates.size(); ++i) {
    double rate = candidates[i].rate;
    const int output = (*all)->mechanism().sensor(static_cast<int>(i)).output;
    for (const Sensor& s : model.sensors)
      if (rate == 0 && s.output == output && s.rate >= 0) rate = (*all)->workspace().number(s.rate);
    every.push_back(rate > 0 ? std::max(1, static_cast<int>(std::lround(1 / (rate * options.dt))))
                             : 1);
  }

  Placement out;
  out.sets.resize(sets.size());
  std::vector<Diagnostics> refused(sets.size());
  out.complete =
      for_all(static_cast<int>(sets.size()), options.threads, options.progress, [&](int n) {
        const std::vector<int>& set = sets[static_cast<size_t>(n)];
        RankedSet& row = out.sets[static_cast<size_t>(n)];
        std::vector<SensorSettings> sensors;
        for (int i : set) {
          sensors.push_back(candidates[static_cast<size_t>(i)]);
          row.sensors.push_back(sensors.back().name);
        }
        Readings readings;
        readings.dt = options.dt;
        for (int k = 1; k <= steps; ++k) {
          readings.t.push_back(k * options.dt);
          auto& which = readings.sensors.emplace_back();
          auto& read = readings.values.emplace_back();
          for (size_t i = 0; i < set.size(); ++i)
            if (k % every[static_cast<size_t>(set[i])] == 0) {
              which.push_back(static_cast<int>(i));
              read.push_back((*values)(set[i], k - 1));
            }
        }
        auto observer = Observer::create(model, params, settings, sensors);
        if (!observer) {
          refused[static_cast<size_t>(n)] = observer.diagnostics();
          return;
        }
        Spread spread(**observer, 0.5 * steps * options.dt);
        ObservabilityOptions judged;
        judged.threshold = options.threshold;
        judged.after_step = [&](const Filter& f) { spread(f); };
        const auto seen = observability(**observer, readings, judged);
        for (const Diagnostic& d : seen.diagnostics().items()) row.failure = d.message;
        if (!seen) {
          if (seen.diagnostics().items().front().id == 805)
            refused[static_cast<size_t>(n)] = seen.diagnostics();
          return;
        }
        row.observable = seen->observable;
        row.median = seen->median;
        row.worst = seen->worst;
        row.blind = seen->blind;
        for (const auto& [name, share] : seen->least) row.least.push_back(name);
        spread.report(row);
      });
  for (const Diagnostics& d : refused)
    if (!d.ok()) return d;
  if (!out.complete) std::erase_if(out.sets, [](const RankedSet& s) { return s.sensors.empty(); });
  std::stable_sort(out.sets.begin(), out.sets.end(), better);
  return out;
}

}  // namespace panto
