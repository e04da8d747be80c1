#include "panto/estimation/twin.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <numeric>

#include "panto/estimation/observability.hpp"
#include "panto/integrate/measure.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/numerics/random.hpp"
#include "panto/numerics/ranks.hpp"

namespace panto {

namespace {

constexpr double kTruthTolerance = 1e-10;
constexpr int kObservedSteps = 400;
constexpr double kNormal95 = 1.9599639845400545;
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kNumbers = 11;  // of a row, beside the channels

// Splitmix64 with a 53-bit uniform, as in the digest of the benchmark.
struct Splitmix {
  std::uint64_t state = 0;
  double uniform() {
    state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    z ^= z >> 31U;
    return static_cast<double>(z >> 11U) * 0x1p-53;
  }
};

// Later settings of the same name win.
std::vector<Override> merged(std::initializer_list<const std::vector<Override>*> lists) {
  std::vector<Override> out;
  for (const auto* list : lists)
    for (const Override& o : *list) {
      const auto same =
          std::find_if(out.begin(), out.end(), [&](const Override& e) { return e.name == o.name; });
      if (same == out.end())
        out.push_back(o);
      else
        same->value = o.value;
    }
  return out;
}

struct Truth {
  std::vector<double> t;
  std::vector<std::vector<double>> sensors, channels;  // [k][step], step 0 is the start
  std::vector<std::vector<double>> q, v;               // [coordinate][step]
  std::vector<std::string> speed_names;
  Model model;
};

// A filter with one set of sensors on one wrong model.
struct Group {
  const StudyFilter* filter = nullptr;
  const SensorSet* sensors = nullptr;
  const ModelError* error = nullptr;
  const Truth* truth = nullptr;
  std::shared_ptr<const Model> model;
  std::vector<int> channels;  // outputs of the observer's model
  std::vector<int> every;  // per sensor: reading every so many steps, where the study has no rates
};

// eᵀ P⁻¹ e / n of coordinates and speeds, where the truth has coordinates of the same names: found once per run, for every step counts it.
class Nees {
 public:
  Nees(const Truth& truth, Observer& observer) : truth_(truth), observer_(observer) {
    const Model& m = observer.workspace().model();
    const auto& names = truth.speed_names;
    // Ball joints: through the difference of whole coordinate vectors, for equal models only.
    equal_ = names == m.speed_names;
    speed_.assign(m.speed_names.size(), -1);
    coordinate_ = speed_;
    for (size_t i = 0; i < speed_.size(); ++i) {
      const auto found = std::find(names.begin(), names.end(), m.speed_names[i]);
      if (found != names.end()) speed_[i] = static_cast<int>(found - names.begin());
    }
    for (const ScalarCoordinate& c : scalar_coordinates(truth.model))
      for (size_t i = 0; i < speed_.size(); ++i)
        if (speed_[i] == c.v) coordinate_[i] = c.q;
    q_.resize(truth.q.size());
    step_.resize(m.speed_names.size());
    known_ = &observer.system() == &observer.mechanism();
  }

  // Of the present step; false where it cannot be told.
  bool add(int step, double& sum) {
    if (!known_) return false;
    Workspace& w = observer_.workspace();
    const Mechanism& mechanism = observer_.mechanism();
    const View x = observer_.filter().state();
    const int np = mechanism.coordinates(), nz = mechanism.speeds(), n = np + nz;
    const auto k = static_cast<size_t>(step);
    if (equal_) {
      for (size_t i = 0; i < q_.size(); ++i) q_[i] = truth_.q[i][k];
      w.difference(q_, mechanism.q(x), step_);
    }
    const auto zp = w.independent_positions(), zv = w.independent_speeds();
    e_.resize(n);
    for (int i = 0; i < np; ++i) {
      const auto dof = static_cast<size_t>(zp[static_cast<size_t>(i)]);
      if (equal_) {
        e_(i) = step_[dof];
        continue;
      }
      if (coordinate_[dof] < 0) return false;
      e_(i) = truth_.q[static_cast<size_t>(coordinate_[dof])][k] -
              x[static_cast<size_t>(w.coordinate_of(static_cast<int>(dof)))];
    }
    for (int i = 0; i < nz; ++i) {
      const auto dof = static_cast<size_t>(zv[static_cast<size_t>(i)]);
      if (speed_[dof] < 0) return false;
      e_(np + i) = truth_.v[static_cast<size_t>(speed_[dof])][k] - mechanism.v(x)[dof];
    }
    observer_.filter().covariance(p_);
    l_ = p_.topLeftCorner(n, n);
    if (!cholesky(l_, l_)) return false;
    double squares = 0;  // of L⁻¹ e
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) e_(i) -= l_(i, j) * e_(j);
      e_(i) /= l_(i, i);
      squares += e_(i) * e_(i);
    }
    sum += squares / n;
    return true;
  }

 private:
  const Truth& truth_;
  Observer& observer_;
  bool equal_ = false, known_ = false;
  std::vector<int> speed_, coordinate_;  // of the truth, by speed of the observer's model; -1: none
  std::vector<double> q_, step_;
  Eigen::VectorXd e_;
  Eigen::MatrixXd p_, l_;
};

class Twin {
 public:
  Twin(const ObserveStudy& study, const ModelLoader& load, const TwinOptions& options)
      : study_(study),
        load_(load),
        options_(options),
        steps_(static_cast<int>(std::lround(study.until / study.dt))) {}

  Result<TwinResult> run() {
    const auto began = std::chrono::steady_clock::now();
    prepare();
    if (!notes_.ok()) return notes_;
    warn_unobservable();
    simulate_all();
    out_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (!failure_.empty()) {
      notes_.error(804, groups_.front().filter->loc, failure_);
      return notes_;
    }
    summarise();
    return {std::move(out_), std::move(notes_)};
  }

  Result<TunedStudy> tuned(const TuneOptions& options) {
    prepare();
    if (!notes_.ok()) return notes_;
    TunedStudy out;
    out.model = out_.model;
    Diagnostics failures;
    for (const Group& g : groups_) {
      const Result<std::unique_ptr<Observer>> made =
          Observer::create(*g.model, nominal(*g.model), g.filter->settings, g.sensors->use);
      if (!made) return made.diagnostics();
      Result<Tuning> found = tune(*g.model, nominal(*g.model), g.filter->settings, g.sensors->use,
                                  first_readings(g, (*made)->mechanism()), options);
      const std::string which = fmt::format("filter \"{}\" with \"{}\" ({}): ", g.filter->name,
                                            g.sensors->name, g.error->name);
      for (const Diagnostic& d : found.diagnostics().items()) {
        notes_.warning(d.id, d.loc, which + d.message);
        if (!found) failures.error(d.id, d.loc, which + d.message);
      }
      if (!found) continue;
      TunedFilter t;
      t.filter = *g.filter;
      t.filter.settings = with_noise(t.filter.settings, found->noise);
      t.filter.sensors = {g.sensors->name};
      t.filter.errors = {g.error->name};
      t.sensors = g.sensors->name;
      t.error_level = g.error->name;
      t.rate_hz = study_.rates_hz.empty() ? 0 : study_.rates_hz.front();
      t.tuning = std::move(*found);
      out.complete = t.tuning.complete;
      out.filters.push_back(std::move(t));
      if (!out.complete) break;
    }
    if (out.filters.empty()) return failures;
    return {std::move(out), std::move(notes_)};
  }

 private:
  // Models are loaded once per cell; what they say is said once.
  void remark(const Diagnostics& found) {
    for (const Diagnostic& d : found.items()) {
      const bool said =
          std::any_of(notes_.items().begin(), notes_.items().end(), [&](const Diagnostic& e) {
            return e.id == d.id && e.message == d.message && e.loc.line == d.loc.line &&
                   e.loc.file == d.loc.file;
          });
      if (said) continue;
      if (d.severity == Severity::kError)
        notes_.error(d.id, d.loc, d.message);
      else
        notes_.warning(d.id, d.loc, d.message);
    }
  }

  // ---- before the runs -------------------------------------------------------------------------------------------------------------
  void prepare() {
    for (const SensorSet& s : study_.sensors) {
      truths_.push_back(std::make_unique<Truth>());
      if (!make_truth(s, *truths_.back())) return;
    }
    for (size_t i = 0; i < study_.sensors.size(); ++i)
      for (const ModelError& e : study_.errors) {
        std::map<std::string, std::shared_ptr<const Model>> models;
        std::vector<std::string> taken;
        for (const StudyFilter& f : study_.filters) {
          const auto wanted = [](const std::vector<std::string>& list, const std::string& name) {
            return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
          };
          // The first entry of a name that is meant for these sensors and this error.
          if (!wanted(f.sensors, study_.sensors[i].name) || !wanted(f.errors, e.name) ||
              std::find(taken.begin(), taken.end(), f.name) != taken.end())
            continue;
          taken.push_back(f.name);
          const std::string name = !f.model.empty()                 ? f.model
                                   : !study_.observer_model.empty() ? study_.observer_model
                                                                    : study_.model;
          auto& model = models[name];
          if (!model) {
            Result<Model> loaded =
                load_(name, merged({&study_.observer_set, &study_.sensors[i].set, &e.set}));
            remark(loaded.diagnostics());
            if (!loaded) return;
            model = std::make_shared<const Model>(std::move(*loaded));
          }
          if (!add_group(f, study_.sensors[i], e, *truths_[i], model)) return;
        }
      }
    if (groups_.empty()) notes_.error(808, {}, "no filter is meant for any sensors and error");
  }

  bool make_truth(const SensorSet& s, Truth& truth) {
    Result<Model> loaded = load_(study_.model, merged({&study_.truth_set, &s.set}));
    remark(loaded.diagnostics());
    if (!loaded) return false;
    truth.model = std::move(*loaded);
    const Model& m = truth.model;
    SimulationOptions o;
    o.until = study_.until;
    if (study_.integrator.empty()) {
      o.tol = kTruthTolerance;
      o.at.reserve(static_cast<size_t>(steps_) + 1);
      for (int k = 0; k <= steps_; ++k) o.at.push_back(k * study_.dt);
    } else {
      o.integrator = study_.integrator;
      o.dt = o.sample = study_.dt;
    }
    const Result<Run> run = simulate(m, nominal(m), o);
    remark(run.diagnostics());
    if (!run) return false;
    if (run->t.size() < static_cast<size_t>(steps_) + 1) {
      notes_.error(804, s.loc, "the truth could not be simulated to the end");
      return false;
    }
    truth.t = run->t;
    truth.q = run->q;
    truth.v = run->v;
    truth.speed_names = m.speed_names;
    for (const SensorSettings& e : s.use) {
      const int k = find_output(m, e.name);
      if (k < 0) {
        std::vector<std::string> outputs;
        for (const Output& output : m.outputs) outputs.push_back(output.name);
        notes_.error(802, e.loc,
                     fmt::format("sensor \"{}\" is not a sensor or output of the model{}", e.name,
                                 did_you_mean(e.name, outputs)));
        return false;
      }
      truth.sensors.push_back(run->outputs[static_cast<size_t>(k)]);
    }
    if (out_.channels.empty()) find_channels(m);
    for (const std::string& name : out_.channels) {
      const int k = find_output(m, name);
      if (k < 0) {
        notes_.error(809, s.loc, fmt::format("channel \"{}\" is not an output of the model", name));
        return false;
      }
      truth.channels.push_back(run->outputs[static_cast<size_t>(k)]);
      if (out_.units.size() < out_.channels.size())
        out_.units.push_back(run->output_units[static_cast<size_t>(k)]);
    }
    out_.model = m.name;
    return true;
  }

  // Outputs that are independent coordinates, unless the study names some.
  void find_channels(const Model& m) {
    out_.channels = study_.channels;
    if (!out_.channels.empty()) return;
    for (const Output& o : m.outputs)
      if (o.kind == OutputKind::kChannel && o.channel.kind == ChannelKind::kCoordinate &&
          o.order == Order::kValue &&
          std::none_of(m.sensors.begin(), m.sensors.end(), [&](const Sensor& e) {
            return &m.outputs[static_cast<size_t>(e.output)] == &o;
          }))
        out_.channels.push_back(o.name);
    if (out_.channels.empty())
      for (const Output& o : m.outputs) out_.channels.push_back(o.name);
    if (out_.channels.empty())
      notes_.error(809, {}, "the model has no outputs to compare; give it some");
  }

  bool add_group(const StudyFilter& f, const SensorSet& s, const ModelError& e, const Truth& truth,
                 std::shared_ptr<const Model> model) {
    Group g;
    g.filter = &f;
    g.sensors = &s;
    g.error = &e;
    g.truth = &truth;
    g.model = std::move(model);
    const Model& m = *g.model;
    for (const std::string& name : out_.channels) {
      const int k = find_output(m, name);
      if (k < 0) {
        notes_.error(809, f.loc,
                     fmt::format("channel \"{}\" is not an output of the observer's model \"{}\"",
                                 name, m.name));
        return false;
      }
      g.channels.push_back(k);
    }
    // One observer is made here for its messages.
    Result<std::unique_ptr<Observer>> observer = Observer::create(m, nominal(m), f.settings, s.use);
    if (!observer) {
      remark(observer.diagnostics());
      return false;
    }
    for (const SensorSettings& u : s.use) {
      double rate = u.rate;
      const int output = find_output(m, u.name);
      for (const Sensor& sensor : m.sensors)
        if (rate == 0 && sensor.output == output) rate = sensor_rate(m, nominal(m), sensor);
      const double every = rate > 0 ? 1 / (rate * study_.dt) : 1;
      if (every < 0.5 || std::abs(every - std::round(every)) > 1e-6 * every) {
        notes_.error(807, u.loc,
                     fmt::format("sensor \"{}\": its rate of {} Hz is not a whole number of steps "
                                 "of {} s",
                                 u.name, rate, study_.dt));
        return false;
      }
      g.every.push_back(static_cast<int>(std::lround(every)));
    }
    groups_.push_back(std::move(g));
    return true;
  }

  // What a filter cannot see with its sensors is said before the runs, by the start of the motion.
  void warn_unobservable() {
    for (const Group& g : groups_) {
      const std::string& name = g.filter->settings.filter;
      if (name == "cekf" || name == "iekf" || name == "particle") continue;
      Result<std::unique_ptr<Observer>> made =
          Observer::create(*g.model, nominal(*g.model), g.filter->settings, g.sensors->use);
      if (!made) continue;
      Readings readings;
      readings.dt = study_.dt;
      const int steps = std::min(steps_, kObservedSteps);
      std::vector<int> all;
      for (size_t i = 0; i < g.sensors->use.size(); ++i) all.push_back(static_cast<int>(i));
      for (int k = 1; k <= steps; ++k) {
        readings.t.push_back(k * study_.dt);
        readings.sensors.push_back(all);
        readings.values.emplace_back();
        for (const auto& sensor : g.truth->sensors)
          readings.values.back().push_back(sensor[static_cast<size_t>(k)]);
      }
      const Result<Observability> seen = observability(**made, readings);
      if (seen && !seen->observable)
        notes_.warning(834, g.filter->loc,
                       fmt::format("filter \"{}\" with \"{}\" ({}): {}", g.filter->name,
                                   g.sensors->name, g.error->name, in_words(*seen, g.model.get())));
    }
  }

  // ---- the runs --------------------------------------------------------------------------------------------------------------------
  [[nodiscard]] size_t rates() const { return std::max<size_t>(1, study_.rates_hz.size()); }
  [[nodiscard]] size_t row_of(size_t group, size_t rate, size_t seed) const {
    return (group * rates() + rate) * study_.seeds.size() + seed;
  }

  void simulate_all() {
    const size_t tasks = groups_.size() * study_.seeds.size();
    out_.rows.resize(groups_.size() * rates() * study_.seeds.size());
    if (options_.series) out_.series.resize(groups_.size() * rates());
    const Ranks& ranks = Ranks::world();
    const auto width = static_cast<Eigen::Index>(kNumbers + out_.channels.size());
    numbers_.setZero(width, static_cast<Eigen::Index>(out_.rows.size()));
    std::atomic<size_t> finished{0};
    std::atomic<bool> stop{false};
    tbb::task_arena arena(study_.threads > 0 ? study_.threads : tbb::task_arena::automatic);
    arena.execute([&] {
      const auto sequence = [&](size_t task) {
        if (stop || static_cast<int>(task % static_cast<size_t>(ranks.size())) != ranks.rank())
          return;
        one_sequence(task / study_.seeds.size(), task % study_.seeds.size());
        const size_t count = ++finished;
        if (options_.progress) {
          const std::lock_guard lock(mutex_);
          if (!options_.progress(static_cast<double>(count * static_cast<size_t>(ranks.size())) /
                                 static_cast<double>(tasks)))
            stop = true;
        }
      };
      // One by one: several of the slowest filter in one hand would be waited for at the end.
      tbb::parallel_for(size_t{0}, tasks, sequence, tbb::simple_partitioner());
    });
    ranks.sum({numbers_.data(), static_cast<size_t>(numbers_.size())});
    out_.complete = !stop;
    unpack();
  }

  void fail(const std::string& message) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = message;
  }

  // All rates of one group and seed, with one observer.
  void one_sequence(size_t group, size_t seed) {
    const Group& g = groups_[group];
    Result<std::unique_ptr<Observer>> made =
        Observer::create(*g.model, nominal(*g.model), g.filter->settings, g.sensors->use);
    if (!made) return fail(made.diagnostics().text());
    Observer& observer = **made;
    const auto m = static_cast<int>(g.sensors->use.size());
    const auto noise = noise_sequence(study_.noise, study_.seeds[seed], steps_, m);
    for (size_t rate = 0; rate < rates(); ++rate) {
      TwinSeries* series =
          options_.series && seed == 0 ? &out_.series[group * rates() + rate] : nullptr;
      one_run(g, observer, rate, noise, row_of(group, rate, seed), series);
    }
  }

  // Steps between the readings of each sensor.
  [[nodiscard]] std::vector<int> steps_between(const Group& g, size_t rate) const {
    if (study_.rates_hz.empty()) return g.every;
    const double steps = 1 / (study_.rates_hz[rate] * study_.dt);
    return std::vector<int>(g.every.size(), static_cast<int>(std::lround(steps)));
  }

  // What the sensors read after step k, with their noise; how many do.
  static size_t read(const Group& g, const Mechanism& mechanism, const std::vector<int>& every,
                     const std::vector<std::vector<double>>& noise, int k, std::vector<int>& which,
                     std::vector<double>& values) {
    size_t count = 0;
    for (size_t i = 0; i < every.size(); ++i)
      if ((k + 1) % every[i] == 0) {
        which[count] = static_cast<int>(i);
        values[count++] =
            g.truth->sensors[i][static_cast<size_t>(k) + 1] +
            mechanism.sensor(static_cast<int>(i)).sigma * noise[static_cast<size_t>(k)][i];
      }
    return count;
  }

  [[nodiscard]] Readings first_readings(const Group& g, const Mechanism& mechanism) const {
    const size_t m = g.every.size();
    const auto noise =
        noise_sequence(study_.noise, study_.seeds.front(), steps_, static_cast<int>(m));
    const std::vector<int> every = steps_between(g, 0);
    std::vector<int> which(m);
    std::vector<double> values(m);
    Readings out;
    out.dt = study_.dt;
    for (int k = 0; k < steps_; ++k) {
      const auto count =
          static_cast<std::ptrdiff_t>(read(g, mechanism, every, noise, k, which, values));
      out.t.push_back((k + 1) * study_.dt);
      out.sensors.emplace_back(which.begin(), which.begin() + count);
      out.values.emplace_back(values.begin(), values.begin() + count);
    }
    return out;
  }

  void one_run(const Group& g, Observer& observer, size_t rate,
               const std::vector<std::vector<double>>& noise, size_t row, TwinSeries* series) {
    const auto n = out_.channels.size(), m = g.sensors->use.size();
    auto number = numbers_.col(static_cast<Eigen::Index>(row));
    number(0) = 1;
    Status status = observer.start();
    Filter& filter = observer.filter();
    Mechanism& mechanism = observer.mechanism();
    std::vector<double> y(m), z(n), sigma(n), sum(n, 0.0), last(m, 0.0);
    std::vector<char> has(m, 0);
    std::vector<int> which(m);
    std::vector<double> values(m);
    long covered = 0, counted = 0, readings = 0, rejected = 0, nees_count = 0, pairs = 0;
    double nis = 0, nees = 0, products = 0, squares = 0;
    std::vector<double> spent;  // per step [us]
    spent.reserve(static_cast<size_t>(steps_));
    Nees nees_of(*g.truth, observer);
    InnovationWatch watch(study_.watch);
    std::vector<double> scratch(filter.state().size());
    int lost = 0, restarts = 0;
    double lost_at = 0;
    const std::vector<int> every = steps_between(g, rate);
    if (series != nullptr) begin(g, row, *series);
    int k = 0;
    for (; k < steps_ && status == Status::kOk; ++k) {
      const size_t count = read(g, mechanism, every, noise, k, which, values);
      const auto before = std::chrono::steady_clock::now();
      status = filter.step(study_.dt, {which.data(), count}, {values.data(), count});
      spent.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before)
              .count());
      if (status == Status::kOk) observer.renew_reference();
      const Innovations& e = filter.innovations();
      const bool failed = status != Status::kOk;
      if (failed || watch.add(e.nis, e.count, e.rejected)) {
        const double t = (k + 1) * study_.dt;
        if (lost++ == 0) lost_at = t;
        if (study_.restart == Restart::kNever && failed) break;
        if (study_.restart != Restart::kNever) {
          status = restart(observer, study_.restart, t, scratch);
          if (status != Status::kOk) break;
          ++restarts;
          watch.reset();
        }
      }
      nis += e.nis;
      readings += e.count;
      rejected += e.rejected;
      for (size_t i = 0; i < e.sensor.size(); ++i) {
        const auto s = static_cast<size_t>(e.sensor[i]);
        const double normalised = e.value[i] / std::sqrt(e.variance[i]);
        if (has[s] != 0) {
          products += normalised * last[s];
          ++pairs;
        }
        squares += normalised * normalised;
        last[s] = normalised;
        has[s] = 1;
        if (series != nullptr) {
          series->innovation_t[s].push_back(filter.time());
          series->innovation[s].push_back(e.value[i]);
          series->innovation_sigma[s].push_back(std::sqrt(e.variance[i]));
        }
      }
      status = observer.outputs(g.channels, z, sigma);
      if (status != Status::kOk) break;
      for (size_t i = 0; i < n; ++i) {
        const double error = z[i] - g.truth->channels[i][static_cast<size_t>(k) + 1];
        sum[i] += error * error;
        covered += std::abs(error) <= kNormal95 * sigma[i] ? 1 : 0;
        ++counted;
        if (series != nullptr) {
          series->truth[i].push_back(g.truth->channels[i][static_cast<size_t>(k) + 1]);
          series->estimate[i].push_back(z[i]);
          series->sigma[i].push_back(sigma[i]);
        }
      }
      if (series != nullptr) series->t.push_back(filter.time());
      if (2 * k >= steps_ && nees_of.add(k + 1, nees)) ++nees_count;
    }
    double worst = 0;
    for (size_t i = 0; i < n; ++i) {
      const double rms = k > 0 ? std::sqrt(sum[i] / k) : 0;
      worst = std::max(worst, rms);
      number(static_cast<Eigen::Index>(kNumbers + i)) = rms;
    }
    number(1) = counted > 0 ? static_cast<double>(covered) / static_cast<double>(counted) : 0;
    number(2) = nees_count > 0 ? nees / static_cast<double>(nees_count) : kNotKnown;
    number(3) = readings > 0 ? nis / static_cast<double>(readings) : 0;
    number(4) = pairs > 0 && squares > 0 ? products / squares : 0;
    number(5) = static_cast<double>(rejected);
    number(6) = static_cast<double>(status);
    number(7) = undisturbed_mean(spent);
    number(8) = lost;
    number(9) = lost_at;
    number(10) = restarts;
    if (!(worst <= study_.diverged_above) || status != Status::kOk) number(0) = 2;
  }

  // Mean of all but the slowest hundredth, in which the scheduler gave the core to somebody else.
  static double undisturbed_mean(std::vector<double>& spent) {
    if (spent.empty()) return 0;
    const auto kept =
        spent.begin() + static_cast<std::ptrdiff_t>(spent.size() - spent.size() / 100);
    std::nth_element(spent.begin(), kept - 1, spent.end());
    return std::accumulate(spent.begin(), kept, 0.0) / static_cast<double>(kept - spent.begin());
  }

  void begin(const Group& g, size_t row, TwinSeries& s) const {
    s.row = row;
    const size_t n = out_.channels.size(), m = g.sensors->use.size();
    s.truth.assign(n, {});
    s.estimate = s.sigma = s.truth;
    s.innovation_t.assign(m, {});
    s.innovation = s.innovation_sigma = s.innovation_t;
    for (const SensorSettings& u : g.sensors->use) s.sensors.push_back(u.name);
  }

  // ---- after the runs --------------------------------------------------------------------------------------------------------------
  void unpack() {
    for (size_t group = 0; group < groups_.size(); ++group)
      for (size_t rate = 0; rate < rates(); ++rate)
        for (size_t seed = 0; seed < study_.seeds.size(); ++seed) {
          const size_t at = row_of(group, rate, seed);
          const auto number = numbers_.col(static_cast<Eigen::Index>(at));
          TwinRow& row = out_.rows[at];
          row.filter = groups_[group].filter->name;
          row.sensors = groups_[group].sensors->name;
          row.error_level = groups_[group].error->name;
          row.rate_hz = study_.rates_hz.empty() ? 0 : study_.rates_hz[rate];
          row.seed = study_.seeds[seed];
          row.coverage95 = number(1);
          row.nees = number(2);
          row.nis_mean = number(3);
          row.whiteness = number(4);
          row.rejected = static_cast<long>(number(5));
          row.status = static_cast<Status>(static_cast<int>(number(6)));
          row.us_per_step = number(7);
          row.lost = static_cast<int>(number(8));
          row.lost_at = row.lost > 0 ? number(9) : std::numeric_limits<double>::quiet_NaN();
          row.restarts = static_cast<int>(number(10));
          row.diverged = number(0) > 1;
          for (size_t i = 0; i < out_.channels.size(); ++i)
            row.rmse.push_back(number(static_cast<Eigen::Index>(kNumbers + i)));
          if (number(0) == 0) row.rmse.clear();  // stopped before this run
        }
  }

  void summarise() {
    const size_t n = out_.channels.size(), seeds = study_.seeds.size();
    for (size_t first = 0; first < out_.rows.size(); first += seeds) {
      TwinCell cell;
      const TwinRow& head = out_.rows[first];
      cell.filter = head.filter;
      cell.sensors = head.sensors;
      cell.error_level = head.error_level;
      cell.rate_hz = head.rate_hz;
      cell.rmse_mean.assign(n, 0.0);
      cell.rmse_std.assign(n, 0.0);
      int good = 0;
      for (size_t i = first; i < first + seeds; ++i) {
        const TwinRow& r = out_.rows[i];
        if (r.rmse.empty()) continue;
        ++cell.runs;
        cell.us_per_step += r.us_per_step;
        if (r.status != Status::kOk) ++cell.failed;
        if (r.lost > 0) ++cell.lost;
        if (r.diverged) {
          ++cell.diverged;
          continue;
        }
        ++good;
        for (size_t k = 0; k < n; ++k) {
          cell.rmse_mean[k] += r.rmse[k];
          cell.rmse_std[k] += r.rmse[k] * r.rmse[k];
        }
        cell.coverage95 += r.coverage95;
        cell.nees += r.nees;
        cell.nis_mean += r.nis_mean;
        cell.whiteness += r.whiteness;
      }
      if (cell.runs > 0) cell.us_per_step /= cell.runs;
      if (good > 0) {
        for (size_t k = 0; k < n; ++k) {
          cell.rmse_mean[k] /= good;
          const double variance = cell.rmse_std[k] / good - cell.rmse_mean[k] * cell.rmse_mean[k];
          cell.rmse_std[k] = good > 1 ? std::sqrt(std::max(0.0, variance) * good / (good - 1)) : 0;
        }
        for (double* e : {&cell.coverage95, &cell.nees, &cell.nis_mean, &cell.whiteness})
          *e /= good;
      }
      out_.cells.push_back(std::move(cell));
    }
  }

  const ObserveStudy& study_;
  const ModelLoader& load_;
  TwinOptions options_;
  int steps_;
  Diagnostics notes_;
  TwinResult out_;
  std::vector<std::unique_ptr<Truth>> truths_;
  std::vector<Group> groups_;
  Eigen::MatrixXd numbers_;
  std::mutex mutex_;
  std::string failure_;
};

}  // namespace

std::vector<std::vector<double>> noise_sequence(NoiseStream stream, std::uint64_t seed, int steps,
                                                int sensors) {
  std::vector<std::vector<double>> out(static_cast<size_t>(steps),
                                       std::vector<double>(static_cast<size_t>(sensors)));
  Splitmix generator{seed};
  for (size_t k = 0; k < out.size(); ++k)
    for (size_t i = 0; i < out[k].size(); ++i) {
      if (stream == NoiseStream::kCounter) {
        out[k][i] = normal(seed, i, k);
        continue;
      }
      const double a = generator.uniform(), b = generator.uniform(),
                   r = std::sqrt(-2 * std::log(1 - a)), angle = 2 * std::numbers::pi * b;
      out[k][i] = r * std::cos(angle);
      if (++i < out[k].size()) out[k][i] = r * std::sin(angle);
    }
  return out;
}

Result<TunedStudy> tune(const ObserveStudy& study, const ModelLoader& load,
                        const TuneOptions& options) {
  return Twin(study, load, {}).tuned(options);
}

Result<TwinResult> run_twin(const ObserveStudy& study, const ModelLoader& load,
                            const TwinOptions& options) {
  return Twin(study, load, options).run();
}

}  // namespace panto
