// Settings files, logs and trackers of kinematic observers: they add nothing to the observers, choose what is open, and tell what is bad.
#include <cmath>
#include <limits>

#include "panto/estimation/kinematic_log.hpp"
#include "panto/integrate/measure.hpp"
#include "panto/io/toml.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/estimation/observer_case.hpp"

namespace panto {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

KinematicSetup setup_of(const std::string& text, const Model& model) {
  const auto file = parse_model_text(text, "kkf.toml");
  if (!file.ok()) throw std::runtime_error(file.diagnostics().text());
  auto setup = kinematic_setup(*file);
  if (!setup.ok()) throw std::runtime_error(setup.diagnostics().text());
  auto done = complete(std::move(*setup), model, nominal(model));
  if (!done.ok()) throw std::runtime_error(done.diagnostics().text());
  return std::move(*done);
}

std::unique_ptr<KinematicTracker> tracker_of(const Model& model, const KinematicSetup& setup) {
  auto outputs = kinematic_outputs(model, setup.settings.system.order, {});
  auto made = KinematicTracker::create(model, nominal(model), setup, *outputs);
  if (!made.ok()) throw std::runtime_error(made.diagnostics().text());
  return std::move(*made);
}

// Readings of a run with noise.
struct Machine {
  std::unique_ptr<Model> model = test::zoo_model("slider_crank");
  Run run;
  SensorLog log;

  explicit Machine(double until = 2, double step = 2e-3) {
    SimulationOptions o;
    o.until = until;
    o.sample = step;
    auto r = simulate(*model, nominal(*model), o);
    if (!r.ok()) throw std::runtime_error(r.diagnostics().text());
    run = std::move(*r);
    measure(*model, nominal(*model), 1, run);
    for (const MeasuredSeries& m : run.measured) {
      LogSeries series{m.name, {}};
      for (size_t i = 0; i < m.t.size(); ++i)
        series.samples.push_back({m.t[i], m.values[i], static_cast<long>(i), 0});
      log.sensors.push_back(std::move(series));
    }
  }
  LogSeries& series(const std::string& name) {
    for (LogSeries& s : log.sensors)
      if (s.name == name) return s;
    throw std::runtime_error(name);
  }
  [[nodiscard]] const std::vector<double>& truth(const std::string& name) const {
    for (size_t i = 0; i < run.output_names.size(); ++i)
      if (run.output_names[i] == name) return run.outputs[i];
    throw std::runtime_error(name);
  }
};

constexpr const char* kBoth = R"toml(
[kinematic]
[forces]
unknown = [{ name = "F", walk = 100 }]
)toml";

TEST(KinematicSetupDefaults, AreTheSensorsThatFitAndThresholdsOfTheOwnMotion) {
  const Machine machine;
  const KinematicSetup s = setup_of(kBoth, *machine.model);
  EXPECT_EQ(s.channels(),
            (std::vector<std::string>{"slider_accelerometer", "crank_encoder", "torque_meter"}));
  EXPECT_EQ(s.forces->measured[0].name, "T");
  EXPECT_EQ(s.forces->measured[0].sigma, 0.28);
  EXPECT_GT(s.settings.system.enter, 0);
  EXPECT_DOUBLE_EQ(s.settings.system.leave, 1.25 * s.settings.system.enter);
  EXPECT_EQ(s.settings.system.top, TopState::kRandomWalk);
  EXPECT_GT(s.settings.system.fallback_noise.top[0], 0);
  EXPECT_GT(s.settings.sigma_top[0], 10);
  const KinematicSetup alone = setup_of("[kinematic]\n", *machine.model);
  EXPECT_EQ(alone.settings.system.top, TopState::kNone);
  EXPECT_GT(alone.settings.system.fallback_noise.speed[0], 0);
}

TEST(KinematicSetupDefaults, WithoutAMotionThereIsNoZoneAndAWarning) {
  Machine machine(0.01);
  machine.model->run.integrator = "none";
  const auto file = parse_model_text("[kinematic]\n", "kkf.toml");
  const auto setup = complete(*kinematic_setup(*file), *machine.model, nominal(*machine.model));
  ASSERT_TRUE(setup.ok()) << setup.diagnostics().text();
  EXPECT_EQ(setup.diagnostics().items().at(0).id, 843);
  EXPECT_EQ(setup->settings.system.enter, 0);
  EXPECT_EQ(setup->inputs.at(0).name, "slider_accelerometer");
}

TEST(KinematicSetupKeys, GoBeforeWhatWouldBeChosen) {
  const Machine machine;
  const KinematicSetup s = setup_of(R"toml(
[kinematic]
order = 2
filter = "ekf"
scheme = "trapezoidal"
top = "combined"
newmark_gamma = 0.9
newmark_beta = 0.4
hold = "begin"
jacobian = "numeric"
enter = 0.05
fallback = "random_walk"
noise = { position = 1, speed = 2, top = 3 }
fallback_noise = { top = 4 }
sigma_coordinates = "2 deg"
sigma_top = 5
dt = "2 ms"
gate = 6
inputs = [{ name = "slider_accelerometer", sigma = 0.1, period = 0.01, bias_sigma = 0.2, bias_walk = 0.3, lower = -9, upper = 8, frozen_after = 7, hold = "50 ms" }]
sensors = [{ name = "theta", sigma = "1 deg" }]
)toml",
                                    *machine.model);
  const KinematicOptions& o = s.settings.system;
  EXPECT_EQ(s.settings.filter, "ekf");
  EXPECT_EQ(o.scheme, Scheme::kTrapezoidal);
  EXPECT_EQ(o.top, TopState::kCombined);
  EXPECT_EQ(o.gamma, 0.9);
  EXPECT_EQ(o.beta, 0.4);
  EXPECT_EQ(o.hold, InputHold::kBegin);
  EXPECT_EQ(o.jacobian, KinematicJacobian::kNumeric);
  EXPECT_EQ(o.enter, 0.05);
  EXPECT_EQ(o.leave, 0.0625);
  EXPECT_EQ(o.fallback, Fallback::kRandomWalk);
  EXPECT_EQ(o.noise.position[0], 1);
  EXPECT_EQ(o.noise.top[0], 3);
  EXPECT_EQ(o.fallback_noise.top[0], 4);
  EXPECT_EQ(o.fallback_noise.speed[0], 0);
  EXPECT_EQ(s.settings.sigma_top[0], 5);
  EXPECT_EQ(s.settings.dt, 2e-3);
  EXPECT_EQ(s.settings.options.gate, 6);
  EXPECT_FALSE(s.forces.has_value());
  const KinematicChannel& c = s.inputs.at(0);
  EXPECT_EQ(c.sigma, 0.1);
  EXPECT_EQ(c.period, 0.01);
  EXPECT_EQ(c.bias_sigma, 0.2);
  EXPECT_EQ(c.bias_walk, 0.3);
  EXPECT_EQ(c.lower, -9);
  EXPECT_EQ(c.upper, 8);
  EXPECT_EQ(c.frozen_after, 7);
  EXPECT_EQ(c.hold, 0.05);
  EXPECT_EQ(s.sensors.at(0).name, "theta");
}

// Statistical: 1000 steps, some 200 independent ones.
TEST(KinematicLog, AFirstRunWithoutSettingsIsConsistent) {
  Machine machine;
  const auto tracker = tracker_of(*machine.model, setup_of(kBoth, *machine.model));
  long inside = 0, force_inside = 0, count = 0;
  const auto done = run_log(*tracker, machine.log, [&](const KinematicEstimate& e) {
    const auto k = static_cast<size_t>(std::lround(e.t / 2e-3));
    const auto within = [&](size_t i, const std::string& output) {
      return std::abs(e.value[i] - machine.truth(output)[k]) < 1.96 * e.sigma[i];
    };
    if (e.t < 0.2) return;
    ++count;
    if (within(0, "theta")) ++inside;
    if (within(3, "slider_force")) ++force_inside;
  });
  ASSERT_TRUE(done.ok()) << done.diagnostics().text();
  EXPECT_EQ(tracker->quantities()[3].name, "force F");
  EXPECT_EQ(tracker->quantities()[3].unit, "N");
  EXPECT_NEAR(done->nis, 1, 0.25);
  EXPECT_GT(static_cast<double>(inside) / static_cast<double>(count), 0.9);
  EXPECT_GT(static_cast<double>(force_inside) / static_cast<double>(count), 0.85);
  EXPECT_EQ(done->counts.steps, 1000);
  EXPECT_EQ(done->counts.restarts, 0);
  EXPECT_GT(done->counts.crossings, 3);
}

TEST(KinematicTracker, GivesTheNumbersOfTheObserversInIt) {
  Machine machine;
  const Model& model = *machine.model;
  const KinematicSetup s = setup_of(kBoth, model);
  auto first = KinematicObserver::create(model, nominal(model), s.settings, s.inputs, s.sensors);
  auto second = ForceObserver::create(model, nominal(model), *s.forces);
  ASSERT_TRUE(first.ok() && second.ok());
  TwoStageObserver both(std::move(*first), std::move(*second));
  const auto tracker = tracker_of(model, s);
  KinematicEstimate e = tracker->estimate();
  std::vector<double> sigma(1);
  for (size_t k = 0; k < 500; ++k) {
    const double t = machine.log.sensors[0].samples[k].t;
    const std::vector<double> u{machine.series("slider_accelerometer").samples[k].value},
        y{machine.series("crank_encoder").samples[k].value},
        f{machine.series("torque_meter").samples[k].value}, all{u[0], y[0], f[0]};
    if (k == 0) {
      ASSERT_EQ(both.kinematic().start(t, u), Status::kOk);
      ASSERT_EQ(both.start(f), Status::kOk);
      ASSERT_EQ(tracker->start(t, all), Status::kOk);
      continue;
    }
    both.step(t, u, y, f);
    ASSERT_EQ(tracker->push(t, all), Stamp::kGood);
    const long before = calls;
    if (k > 1) {
      tracker->present(e);
      EXPECT_EQ(calls, before) << k;
    } else {
      tracker->present(e);  // sizes are found
    }
    both.force().unknown_sigma(sigma);
    // Round-off of the loops (1e-12) through S⁺, at most some 100, and inertia forces.
    EXPECT_NEAR(e.value[0], both.q()[0], 1e-9);
    EXPECT_NEAR(e.value[1], both.v()[0], 1e-8);
    EXPECT_NEAR(e.value[2], both.a()[0], 1e-6);
    EXPECT_NEAR(e.value[3], both.force().unknown()[0], 1e-6);
    EXPECT_NEAR(e.sigma[3], sigma[0], 1e-6);
  }
}

TEST(KinematicLog, CountsAndFlagsWhatIsBad) {
  Machine machine(0.5);
  auto& acceleration = machine.series("slider_accelerometer").samples;
  auto& angle = machine.series("crank_encoder").samples;
  for (size_t k = 50; k < 60; ++k) angle[k].value = angle[49].value;  // frozen after 5
  acceleration[80].value = 1e4;                                       // saturated
  acceleration[81].value = kNone;                                     // held
  angle[100].value = std::numeric_limits<double>::infinity();
  angle[120].value += 1;  // gate
  for (LogSeries& s : machine.log.sensors) {
    s.samples[150].t = s.samples[149].t;
    s.samples[160].t = s.samples[100].t;
    s.samples[170].t = 1e6;
  }
  const auto tracker = tracker_of(*machine.model, setup_of(R"toml(
[kinematic]
gate = 6
inputs = [{ name = "slider_accelerometer", upper = 1000, hold = "5 ms" }]
sensors = [{ name = "crank_encoder", frozen_after = 5 }]
)toml",
                                                           *machine.model));
  EstimateSeries series;
  const auto done =
      run_log(*tracker, machine.log, [&](const KinematicEstimate& e) { add(series, e); });
  ASSERT_TRUE(done.ok()) << done.diagnostics().text();
  label(series, *tracker);
  EXPECT_EQ(done->counts.repeated, 1);
  EXPECT_EQ(done->counts.backward, 1);
  EXPECT_EQ(done->counts.jumps, 1);
  const ChannelRecord &a = done->channels[0], &y = done->channels[1];
  EXPECT_EQ(a.of(Reading::kSaturated), 1);
  EXPECT_EQ(a.of(Reading::kHeld), 1);
  EXPECT_EQ(y.of(Reading::kNotFinite), 1);
  EXPECT_GE(y.of(Reading::kFrozen), 6);
  EXPECT_GE(y.of(Reading::kRejected), 1);
  ASSERT_EQ(series.readings.size(), 2u);
  EXPECT_EQ(series.readings[0].name, "slider_accelerometer");
  EXPECT_EQ(series.readings[0].words[79], "saturated");
  EXPECT_EQ(series.readings[0].words[80], "held");
  EXPECT_EQ(series.readings[1].words[99], "not_finite");
  EXPECT_EQ(series.readings[1].words[119], "rejected");
  for (const EstimateColumn& c : series.estimates)
    for (const double value : c.value) EXPECT_TRUE(std::isfinite(value)) << c.name;
}

TEST(KinematicLog, WithoutColumnsOrReadingsIsRefused) {
  Machine machine(0.1);
  const KinematicSetup s = setup_of(kBoth, *machine.model);
  SensorLog log = machine.log;
  std::erase_if(log.sensors, [](const LogSeries& e) { return e.name == "torque_meter"; });
  const auto missing = run_log(*tracker_of(*machine.model, s), log, {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.diagnostics().items()[0].id, 810);
  log = machine.log;
  for (LogSeries& e : log.sensors)
    for (LogSample& sample : e.samples) sample.value = kNone;
  const auto empty = run_log(*tracker_of(*machine.model, s), log, {});
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.diagnostics().items()[0].id, 815);
}

TEST(KinematicOutputs, AreThoseOfMotion) {
  const auto model = test::zoo_model("slider_crank");
  EXPECT_EQ(kinematic_outputs(*model, 2, {})->size(), 6u);
  EXPECT_EQ(kinematic_outputs(*model, 1, {})->size(), 5u);
  EXPECT_EQ(kinematic_outputs(*model, 2, {"torque"}).diagnostics().items()[0].id, 805);
  EXPECT_EQ(kinematic_outputs(*model, 1, {"slider_a"}).diagnostics().items()[0].id, 805);
  EXPECT_EQ(kinematic_outputs(*model, 1, {"slider_b"}).diagnostics().items()[0].id, 802);
}

// The rod's rate drives a first-order model; speeds have no deviation where no state holds them.
TEST(FirstOrder, FollowsTheRates) {
  Machine machine;
  const KinematicSetup s = setup_of(R"toml(
[kinematic]
order = 1
inputs = [{ name = "theta_dot", sigma = 0.01 }]
)toml",
                                    *machine.model);
  EXPECT_EQ(s.sensors.at(0).name, "crank_encoder");
  LogSeries rate{"theta_dot", {}};
  for (size_t k = 0; k < machine.run.t.size(); ++k)
    rate.samples.push_back(
        {machine.run.t[k], machine.truth("theta_dot")[k], static_cast<long>(k), 0});
  machine.log.sensors.push_back(rate);
  const auto tracker = tracker_of(*machine.model, s);
  double worst = 0;
  const auto done = run_log(*tracker, machine.log, [&](const KinematicEstimate& e) {
    const auto k = static_cast<size_t>(std::lround(e.t / 2e-3));
    if (e.t > 0.2) worst = std::max(worst, std::abs(e.value[0] - machine.truth("theta")[k]));
    EXPECT_TRUE(std::isnan(e.sigma[1]));
  });
  ASSERT_TRUE(done.ok()) << done.diagnostics().text();
  EXPECT_EQ(tracker->quantities().size(), 5u);
  EXPECT_LT(worst, 2e-3);  // below the encoder's 3e-3
}

}  // namespace
}  // namespace panto
