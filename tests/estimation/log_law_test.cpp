// Observers through recorded readings: rates, gaps, late and wrong readings, restarts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "panto/estimation/log.hpp"
#include "panto/estimation/tune.hpp"
#include "panto/integrate/measure.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"
#include "panto/numerics/random.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/source_dir.hpp"

namespace panto {
namespace {

const double kNone = std::numeric_limits<double>::quiet_NaN();

// The filters that can be made today by their own names, one of each kind.
const std::vector<std::string> kKinds = {"dekf", "error_ekf_ej", "error_ekf_fe", "ukf_fe",
                                         "ukf",  "ss_ukf",       "sr_ckf",       "iekf"};

// A machine: the four-bar with its sensors, simulated and measured.
struct Machine {
  Model model;
  Params params;
  Run run;
};

Machine machine(const std::string& name, double until, std::uint64_t seed = 1) {
  Machine m{*load(name), {}, {}};
  m.params = nominal(m.model);
  SimulationOptions o;
  o.until = until;
  o.sample = 0.005;
  m.run = *simulate(m.model, m.params, o);
  measure(m.model, m.params, seed, m.run);
  return m;
}

SensorLog log_of(const Run& run) {
  SensorLog log;
  for (const MeasuredSeries& series : run.measured) {
    LogSeries out{series.name, {}};
    for (size_t i = 0; i < series.t.size(); ++i)
      out.samples.push_back(
          {series.t[i], series.values[i], std::lround(series.t[i] * 1e6), static_cast<int>(i) + 2});
    log.sensors.push_back(std::move(out));
  }
  return log;
}

LogSeries& series(SensorLog& log, const std::string& name) {
  return *std::find_if(log.sensors.begin(), log.sensors.end(),
                       [&](const LogSeries& s) { return s.name == name; });
}

std::unique_ptr<Observer> observer(const Machine& m, const std::string& filter,
                                   const std::vector<std::string>& sensors, double gate = 0) {
  ObserverSettings settings;
  settings.filter = filter;
  settings.options.gate = gate;
  // Its trapezoidal covariance has no solution from an uncertainty far above the sensors'.
  if (filter == "cekf") settings.sigma_coordinates = settings.sigma_speeds = {0.01};
  std::vector<SensorSettings> used;
  used.reserve(sensors.size());
  for (const std::string& name : sensors) used.push_back({name});
  auto made = Observer::create(m.model, m.params, settings, used);
  EXPECT_TRUE(made.ok()) << made.diagnostics().text();
  return std::move(*made);
}

struct Outcome {
  LogSummary summary;
  EstimateSeries series;
  [[nodiscard]] const EstimateColumn& operator[](const std::string& name) const {
    return *std::find_if(series.estimates.begin(), series.estimates.end(),
                         [&](const EstimateColumn& c) { return c.name == name; });
  }
};

Outcome observe(Observer& o, const SensorLog& log, const LogOptions& options = {}) {
  Outcome out;
  const auto done = run_log(o, log, options, [&](const Estimate& e) { out.series.add(e); });
  EXPECT_TRUE(done.ok()) << done.diagnostics().text();
  if (done.ok()) out.summary = *done;
  out.series.label(out.summary);
  return out;
}

void expect_same(const EstimateSeries& a, const EstimateSeries& b, const std::string& what) {
  ASSERT_EQ(a.t, b.t) << what;
  for (size_t k = 0; k < a.estimates.size(); ++k) {
    EXPECT_EQ(a.estimates[k].value, b.estimates[k].value) << what << " " << a.estimates[k].name;
    EXPECT_EQ(a.estimates[k].sigma, b.estimates[k].sigma) << what << " " << a.estimates[k].name;
  }
}

TEST(Log, AnEncoderAndAGyroscopeOfOtherRatesTellTheMotion) {
  const Machine m = machine("fourbar_sanjurjo", 2);
  SensorLog log = log_of(m.run);
  // Every fourth reading of the encoder; a stretch without any reading of the gyroscope.
  auto& encoder = series(log, "crank_encoder").samples;
  for (size_t i = encoder.size(); i-- > 0;)
    if (i % 4 != 0) encoder.erase(encoder.begin() + static_cast<std::ptrdiff_t>(i));
  auto& gyro = series(log, "crank_gyro").samples;
  for (size_t i = 100; i < 140; ++i) gyro[i].value = kNone;
  const auto o = observer(m, "ukf", {"crank_encoder", "crank_gyro"});
  LogOptions options;
  options.outputs = {find_output(m.model, "pin_x"), find_output(m.model, "coupler_speed")};
  const Outcome found = observe(*o, log, options);
  ASSERT_EQ(found.summary.sensors.size(), 2U);
  EXPECT_EQ(found.summary.sensors[0].readings, 101);
  EXPECT_EQ(found.summary.sensors[1].readings, 401 - 40);
  EXPECT_EQ(found.summary.sensors[1].missing, 40);
  EXPECT_NEAR(found.summary.dt, 0.005, 1e-12);
  // All stamps but the empty ones that the encoder has none of.
  EXPECT_EQ(found.series.t.size(), 401U - 30U);
  // The error is within four standard deviations, for coordinates and outputs.
  for (const char* name : {"theta", "theta_dot", "pin_x", "coupler_speed"}) {
    const EstimateColumn& c = found[name];
    const auto& truth = m.run.outputs[static_cast<size_t>(find_output(m.model, name))];
    double worst = 0;
    for (size_t i = 0; i < c.value.size(); ++i) {
      const auto k = static_cast<size_t>(std::lround(found.series.t[i] / 0.005));
      worst = std::max(worst, std::abs(c.value[i] - truth[k]) / c.sigma[i]);
    }
    EXPECT_LT(worst, 4) << name;
    EXPECT_GT(worst, 0.1) << name;
  }
  // The simulated machine has none of the noise that the filter expects of a real one.
  EXPECT_GT(found.summary.nis, 0.3);
  EXPECT_LT(found.summary.nis, 1.3);
}

// Every reading is delayed by its own time up to 60 ms.
SensorLog shuffled_of(const SensorLog& log) {
  SensorLog shuffled = log;
  std::uint64_t k = 0;
  for (LogSeries& s : shuffled.sensors) {
    for (LogSample& sample : s.samples)
      sample.arrival += std::lround(6e4 * uniform(7, 1, k++)) + (sample.t == 0 ? -70000 : 0);
    std::stable_sort(s.samples.begin(), s.samples.end(),
                     [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
  }
  return shuffled;
}

void expect_order_is_nothing(const Machine& m, const std::vector<std::string>& filters,
                             const std::vector<std::string>& sensors) {
  const SensorLog in_order = log_of(m.run), shuffled = shuffled_of(in_order);
  for (const std::string& filter : filters) {
    const auto o = observer(m, filter, sensors);
    const Outcome one = observe(*o, in_order), two = observe(*o, shuffled);
    long late = 0;
    for (const SensorRecord& r : two.summary.sensors) {
      late += r.late;
      EXPECT_EQ(r.dropped, 0) << filter;
    }
    EXPECT_GT(late, 100) << filter;
    expect_same(one.series, two.series, filter);
    EXPECT_EQ(one.summary.nis, two.summary.nis) << filter;
    EXPECT_EQ(one.summary.sensors[0].rms, two.summary.sensors[0].rms) << filter;
  }
}

TEST(Log, OutOfOrderWithinTheLagIsTheSameToTheLastBit) {
  expect_order_is_nothing(machine("five_bar", 1), kKinds,
                          {"left_encoder", "right_encoder", "left_coupler_gyro"});
  expect_order_is_nothing(machine("fourbar_sanjurjo", 1), {"dekf_exact", "ukf_rk4"},
                          {"crank_encoder", "crank_gyro"});
}

TEST(Log, ReadingsOlderThanTheLagAreDroppedAndCounted) {
  const Machine m = machine("fourbar_sanjurjo", 1);
  SensorLog log = log_of(m.run), without = log;
  // The encoder comes half a second late throughout.
  for (LogSample& s : series(log, "crank_encoder").samples) s.arrival += 500000;
  series(without, "crank_encoder").samples.resize(1);
  const auto o = observer(m, "ukf", {"crank_encoder", "crank_gyro"});
  const Outcome found = observe(*o, log), gyro = observe(*o, without);
  // The gyroscope has ended at 1 s; from 0.9 s on the encoder is not older than the lag, and its last reading is not late.
  EXPECT_NEAR(static_cast<double>(found.summary.sensors[0].dropped), 180, 1);
  EXPECT_EQ(found.summary.sensors[0].late + found.summary.sensors[0].dropped, 200);
  EXPECT_EQ(found.summary.sensors[1].dropped, 0);
  EXPECT_EQ(gyro.summary.sensors[0].readings, 1);
  LogOptions longer;
  longer.lag = 0.6;
  EXPECT_EQ(observe(*o, log, longer).summary.sensors[0].dropped, 0);
}

TEST(Log, AClockThatGoesBackIsAnErrorWithItsLine) {
  const Machine m = machine("fourbar_sanjurjo", 1);
  SensorLog log = log_of(m.run);
  log.file = "machine.csv";
  for (size_t i = 100; i < 201; ++i) {
    series(log, "crank_encoder").samples[i].t -= 0.5;
    series(log, "crank_gyro").samples[i].t -= 0.5;
  }
  for (LogSeries& s : log.sensors)
    for (size_t i = 0; i < s.samples.size(); ++i) s.samples[i].arrival = static_cast<long>(i);
  const auto o = observer(m, "ukf", {"crank_encoder", "crank_gyro"});
  const auto done = run_log(*o, log, {}, {});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.diagnostics().items().front().id, 812);
  EXPECT_EQ(done.diagnostics().items().front().loc.line, 102);
  EXPECT_NE(done.diagnostics().text().find("machine.csv:102:1: error[E0812]: time goes back from "
                                           "0.495 s to 0 s, by more than the lag of 0.1 s"),
            std::string::npos)
      << done.diagnostics().text();
  // A stamp far ahead is one too.
  SensorLog ahead = log_of(m.run);
  series(ahead, "crank_encoder").samples.back().t = 1e9;
  const auto jumped = run_log(*o, ahead, {}, {});
  ASSERT_FALSE(jumped.ok());
  EXPECT_EQ(jumped.diagnostics().items().front().id, 812);
}

TEST(Log, NoReadingIsAnError) {
  const Machine m = machine("fourbar_sanjurjo", 0.1);
  SensorLog log = log_of(m.run);
  for (LogSample& s : series(log, "crank_gyro").samples) s.value = kNone;
  const auto o = observer(m, "ukf", {"crank_gyro"});
  const auto done = run_log(*o, log, {}, {});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.diagnostics().items().front().id, 815);
}

TEST(Log, TheGateLeavesOutPlantedOutliersAndCountsThem) {
  const Machine m = machine("fourbar_sanjurjo", 2);
  SensorLog log = log_of(m.run);
  auto& encoder = series(log, "crank_encoder").samples;
  for (size_t i = 50; i < 400; i += 35) encoder[i].value += 1;  // ten of them, by a radian
  for (const std::string filter : {"ukf", "error_ekf_ej", "cekf", "iekf"}) {
    const auto gated = observer(m, filter, {"crank_encoder", "crank_gyro"}, gate_of(0.99999));
    const Outcome found = observe(*gated, log);
    // The continuous filter, whose readings count by the time they are held, is too sure of itself: it leaves out two good ones of 800.
    const int good = filter == "cekf" ? 1 : 0;
    EXPECT_EQ(found.summary.sensors[0].rejected, 10 + good) << filter;
    EXPECT_EQ(found.summary.sensors[1].rejected, good) << filter;
    EXPECT_EQ(found.summary.sensors[0].used, 391 - good) << filter;
    EXPECT_LT(found.summary.sensors[0].nis, 1.4) << filter;
    EXPECT_EQ(found.summary.diverged, 0) << filter;
    const auto open = observer(m, filter, {"crank_encoder", "crank_gyro"});
    EXPECT_GT(observe(*open, log).summary.sensors[0].nis, 10) << filter;
  }
}

// An encoder that has slipped: the gate leaves out all of its readings from then on.
TEST(Log, ALostFilterIsNoticedAndRestarted) {
  const Machine m = machine("fourbar_sanjurjo", 6);
  SensorLog log = log_of(m.run);
  auto& encoder = series(log, "crank_encoder").samples;
  for (size_t i = 500; i < encoder.size(); ++i) encoder[i].value += 0.4;  // it has slipped
  const auto o = observer(m, "ukf", {"crank_encoder", "crank_gyro"}, gate_of(0.9999));
  LogOptions options;
  const auto lost = run_log(*o, log, options, {});
  ASSERT_TRUE(lost.ok());
  EXPECT_EQ(lost->diverged, 0);  // half of the readings, the gyroscope's, are good
  // Without the gyroscope nothing is left.
  const auto alone = observer(m, "ukf", {"crank_encoder"}, gate_of(0.9999));
  const auto gone = run_log(*alone, log, options, {});
  ASSERT_TRUE(gone.ok());
  EXPECT_GE(gone->diverged, 1);
  EXPECT_EQ(gone->restarts, 0);
  EXPECT_EQ(gone.diagnostics().items().at(0).id, 816);
  for (const Restart where : {Restart::kPresent, Restart::kInitial}) {
    options.restart = where;
    const auto again = run_log(*alone, log, options, {});
    ASSERT_TRUE(again.ok());
    EXPECT_GE(again->restarts, 1);
    EXPECT_LT(again->sensors[0].rejected, gone->sensors[0].rejected + 1);
  }
}

TEST(Log, TwoReadingsOfOneTimeCountOnce) {
  const Machine m = machine("fourbar_sanjurjo", 0.2);
  SensorLog log = log_of(m.run);
  auto& encoder = series(log, "crank_encoder").samples;
  const std::vector<LogSample> copy = encoder;
  for (LogSample s : copy) {
    s.arrival += 1000;
    encoder.push_back(s);
  }
  std::stable_sort(encoder.begin(), encoder.end(),
                   [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
  const auto o = observer(m, "ukf", {"crank_encoder", "crank_gyro"});
  const Outcome twice = observe(*o, log), once = observe(*o, log_of(m.run));
  EXPECT_EQ(twice.summary.sensors[0].repeated, 41);
  expect_same(once.series, twice.series, "repeated");
}

// Speed of a mass from its position, pushed by a force that only the log knows.
TEST(Log, InputsOfTheLogReplaceTheModels) {
  const auto spec = parse_model_text(R"(
space = "planar"
body = [{ name = "cart", point_mass = { mass = 2 } }]
joint = [{ name = "x", type = "prismatic", parent = "ground", child = "cart" }]
actuator = [{ name = "push", type = "force", on = "x", input = "0" }]
sensor = [{ name = "ruler", type = "position", of = "cart", axis = "x", rate = 100, noise = 0.001 }]
)",
                                     "cart.toml");
  ASSERT_TRUE(spec.ok()) << spec.diagnostics().text();
  auto model = compile(*spec);
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  Machine m{*model, nominal(*model), {}};
  SensorLog log;
  log.sensors.push_back({"ruler", {}});
  log.inputs.push_back({m.model.inputs.at(0).name, {}});
  for (int i = 0; i <= 100; ++i) {
    const double t = 0.01 * i;
    log.sensors[0].samples.push_back({t, 0.5 * 3 * t * t, i, i});  // 6 N on 2 kg
    log.inputs[0].samples.push_back({t, i == 0 ? 6 : kNone, i, i});
  }
  const auto o = observer(m, "ukf", {"ruler"});
  const Outcome found = observe(*o, log);
  EXPECT_LT(found.summary.sensors[0].rms, 1e-6);
  LogOptions smooth;
  smooth.smooth = 0.1;
  EXPECT_NEAR(observe(*o, log, smooth)["x_dot"].value.at(50), 1.5, 1e-5);
  // So do they for the innovations that noise is found from.
  const auto readings = readings_of(*o, log, {});
  ASSERT_TRUE(readings.ok());
  EXPECT_TRUE(std::isnan(readings->inputs.at(0).at(0)));
  EXPECT_EQ(readings->inputs.at(1).at(0), 6);
  InnovationTest tested;
  ASSERT_EQ(test_innovations(*o, *readings, tested), Status::kOk);
  EXPECT_LT(tested.nis, 1e-6);
  log.inputs.clear();
  EXPECT_GT(observe(*o, log).summary.sensors[0].rms, 1e-5);
}

// All that follows a reading says something of it: errors and deviations shrink, and agree as before.
TEST(Smoothing, LaterReadingsMakeEstimatesBetterTheMoreOfThemCount) {
  const Machine m = machine("fourbar_sanjurjo", 4);
  const SensorLog log = log_of(m.run);
  for (const std::string filter : {"ukf", "error_ekf_ej", "sr_ckf", "error_ekf_fe"}) {
    const auto o = observer(m, filter, {"crank_encoder"});
    LogOptions options;
    options.outputs = {find_output(m.model, "pin_x")};
    struct Quality {
      double rms = 0, sigma = 0, share = 0;
    };
    const auto quality = [&](std::optional<double> smooth, const char* name) {
      options.smooth = smooth;
      const Outcome found = observe(*o, log, options);
      const EstimateColumn& c = found[name];
      const auto& truth = m.run.outputs[static_cast<size_t>(find_output(m.model, name))];
      Quality q;
      EXPECT_EQ(c.value.size(), truth.size());
      const auto n = static_cast<double>(truth.size());
      for (size_t i = 0; i < truth.size(); ++i) {
        const double error = c.value[i] - truth[i];
        q.rms += error * error / n;
        q.sigma += c.sigma[i] / n;
        q.share += error * error / (c.sigma[i] * c.sigma[i]) / n;
      }
      q.rms = std::sqrt(q.rms);
      return q;
    };
    for (const char* name : {"theta", "theta_dot", "pin_x"}) {
      const Quality filtered = quality({}, name), some = quality(0.02, name),
                    all = quality(std::numeric_limits<double>::infinity(), name);
      EXPECT_LT(some.sigma, filtered.sigma) << filter << " " << name;
      EXPECT_LT(all.sigma, some.sigma) << filter << " " << name;
      EXPECT_LT(all.rms, 0.8 * filtered.rms) << filter << " " << name;
      EXPECT_LT(some.rms, filtered.rms) << filter << " " << name;
      EXPECT_LT(all.share, 1.5) << filter << " " << name;
    }
    // No later reading: the filter's own estimates.
    EXPECT_NEAR(quality(0.0, "theta").rms, quality({}, "theta").rms, 1e-12) << filter;
  }
}

TEST(Smoothing, TheOrderAndRepetitionOfReadingsIsNothing) {
  const Machine m = machine("five_bar", 1);
  const SensorLog in_order = log_of(m.run);
  SensorLog shuffled = shuffled_of(in_order);
  auto& encoder = series(shuffled, "left_encoder").samples;
  encoder.push_back(encoder.back());
  encoder.back().arrival += 1;
  const auto o = observer(m, "ukf", {"left_encoder", "right_encoder", "left_coupler_gyro"});
  LogOptions options;
  options.smooth = std::numeric_limits<double>::infinity();
  const Outcome one = observe(*o, in_order, options), two = observe(*o, shuffled, options);
  expect_same(one.series, two.series, "smoothed");
  EXPECT_EQ(two.summary.sensors[0].repeated, 1);
}

TEST(Smoothing, FiltersWithoutPredictionsAndRestartsAreRefused) {
  const Machine m = machine("fourbar_sanjurjo", 0.2);
  const SensorLog log = log_of(m.run);
  LogOptions options;
  options.smooth = 0.1;
  for (const std::string filter : {"cekf", "particle"}) {
    const auto o = observer(m, filter, {"crank_encoder"});
    const auto done = run_log(*o, log, options, {});
    ASSERT_FALSE(done.ok()) << filter;
    EXPECT_EQ(done.diagnostics().items().front().id, 805);
  }
  options.restart = Restart::kPresent;
  const auto o = observer(m, "ukf", {"crank_encoder"});
  EXPECT_FALSE(run_log(*o, log, options, {}).ok());
}

TEST(Readings, AreTheLogInTheOrderOfTimeWithInputsThatHoldUntilTheNext) {
  const Machine m = machine("fourbar_sanjurjo", 0.5);
  const auto o = observer(m, "ukf", {"crank_encoder", "crank_gyro"});
  const SensorLog log = log_of(m.run);
  const auto one = readings_of(*o, log, {}), two = readings_of(*o, shuffled_of(log), {});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_TRUE(one->fit());
  EXPECT_EQ(one->start, 0);
  EXPECT_EQ(one->t.size(), 101U);
  EXPECT_EQ(one->t, two->t);
  EXPECT_EQ(one->values, two->values);
  EXPECT_TRUE(one->inputs.empty());
  SensorLog back = log;
  series(back, "crank_encoder").samples.back().t = 0;
  EXPECT_FALSE(readings_of(*o, back, {}).ok());
  SensorLog ahead = log;
  series(ahead, "crank_encoder").samples.back().t = 1e9;
  EXPECT_FALSE(readings_of(*o, ahead, {}).ok());
}

TEST(Snapshot, GoingBackGivesTheSameNumbersAndAllocatesNothing) {
  const Machine m = machine("fourbar_sanjurjo", 0.5);
  for (const FilterInfo& info : filters()) {
    const auto o = observer(m, info.name, {"crank_encoder", "crank_gyro"});
    Filter& filter = o->filter();
    ASSERT_EQ(o->start(0), Status::kOk) << info.name;
    Snapshot s = filter.snapshot();
    const std::vector<int> both = {0, 1};
    std::vector<double> first;
    Eigen::MatrixXd p, again;
    const auto run = [&](size_t from, size_t to) {
      for (size_t i = from; i < to; ++i) {
        const double y[] = {m.run.measured[0].values[i], m.run.measured[2].values[i]};
        EXPECT_EQ(filter.step(0.005, both, y), Status::kOk) << info.name << " " << i;
      }
    };
    run(1, 20);
    const long before = calls;
    filter.save(s);
    const long after = calls;
    run(20, 40);
    first.assign(filter.state().begin(), filter.state().end());
    filter.covariance(p);
    const long before_return = calls;
    filter.restore(s);
    EXPECT_EQ(calls - before_return + after - before, 0) << info.name;
    run(20, 40);
    filter.covariance(again);
    EXPECT_EQ(p, again) << info.name;
    for (int i = 0; i < m.model.nq + m.model.nv; ++i)
      EXPECT_EQ(first[static_cast<size_t>(i)], filter.state()[static_cast<size_t>(i)]) << info.name;
  }
}

TEST(Tracker, NoArrivalAllocatesInOrderOrLate) {
  const Machine m = machine("five_bar", 0.5);
  for (const std::string& filter : kKinds) {
    const auto o = observer(m, filter, {"left_encoder", "right_encoder", "left_coupler_gyro"});
    TrackerOptions options;
    options.dt = 0.005;
    options.outputs = {find_output(m.model, "point2_x"),
                       find_output(m.model, "left_coupler_speed")};
    Tracker tracker(*o, options);
    ASSERT_EQ(tracker.start(0), Status::kOk);
    Estimate e = tracker.estimate();
    std::vector<double> y(3), one(3, kNone);
    const auto reading = [&](size_t sensor, size_t i) { return m.run.measured[sensor].values[i]; };
    long before = 0;
    for (size_t i = 0; i < 100; ++i) {
      if (i == 20) before = calls;
      // The second encoder comes three readings late.
      y = {reading(0, i), kNone, i % 2 == 0 ? reading(2, i) : kNone};
      (void)tracker.push(0.005 * static_cast<double>(i), y, {});
      if (i >= 3) {
        one[1] = reading(1, i - 3);
        EXPECT_EQ(tracker.push(0.005 * static_cast<double>(i - 3), one, {}), Arrival::kLate);
      }
      tracker.present(e);
    }
    const long after = calls;
    EXPECT_EQ(after - before, 0) << filter;
    EXPECT_NEAR(e.value[0], m.run.outputs[static_cast<size_t>(find_output(m.model, "theta1"))][99],
                0.2)
        << filter;
  }
}

// Far around a four-bar other coordinates are the better ones: the uncertainty of an older state is the same in them.
TEST(Tracker, GoesBackOverAChangeOfCoordinates) {
  auto spec = parse_model_text(*read_bytes(PANTO_SOURCE_DIR "/models/fourbar_sanjurjo/model.toml"),
                               "four.toml");
  ASSERT_TRUE(spec.ok());
  const Model wanted = *compile(*spec);
  Machine m{wanted, nominal(wanted), {}};
  m.model.preferred.clear();
  for (const std::string filter_name : {"error_ekf_fe", "sr_ukf"}) {
    const auto o = observer(m, filter_name, {"crank_encoder", "crank_gyro"});
    ASSERT_EQ(o->start(0), Status::kOk);
    Filter& filter = o->filter();
    const Snapshot s = filter.snapshot();
    Workspace& w = o->workspace();
    const std::vector<int> before(w.independent_positions().begin(),
                                  w.independent_positions().end());
    Eigen::MatrixXd p, dq, dv;
    std::vector<double> x(filter.state().begin(), filter.state().end());
    filter.covariance(p);
    ASSERT_EQ(o->mechanism().state_jacobian(0, x, dq, dv), Status::kOk);
    const Eigen::MatrixXd positions = dq * p.topLeftCorner(2, 2) * dq.transpose(),
                          speeds = dv * p.topLeftCorner(2, 2) * dv.transpose();
    std::vector<double> q(x.begin(), x.begin() + 3);
    const auto same = [&] {
      return std::equal(before.begin(), before.end(), w.independent_positions().begin());
    };
    for (int k = 0; k < 120 && same(); ++k) {
      q[static_cast<size_t>(before[0])] += 0.05;
      if (fatal(w.close_positions(0, q))) break;
      w.choose_partition(0, q, true);
    }
    ASSERT_FALSE(same());
    filter.restore(s);
    filter.covariance(p);
    std::copy(filter.state().begin(), filter.state().end(), x.begin());
    ASSERT_EQ(o->mechanism().state_jacobian(0, x, dq, dv), Status::kOk);
    EXPECT_LT((dq * p.topLeftCorner(2, 2) * dq.transpose() - positions).norm(),
              1e-9 * positions.norm());
    EXPECT_LT((dv * p.topLeftCorner(2, 2) * dv.transpose() - speeds).norm(), 1e-9 * speeds.norm());
    EXPECT_EQ(filter.step(0.005, {}, {}), Status::kOk);
  }
}

}  // namespace
}  // namespace panto
