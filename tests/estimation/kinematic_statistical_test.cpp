// Kinematic observers by Monte Carlo: consistent where the noise is as assumed, alike whatever the filter, and without drift through dead centres.
#include <numbers>

#include "panto/estimation/ekf.hpp"
#include "panto/estimation/kinematic_observer.hpp"
#include "panto/estimation/sigma.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/numerics/lanczos.hpp"
#include "tests/estimation/kinematic_case.hpp"

namespace panto {
namespace {

using test::KinematicCase;
using test::view;

constexpr double kStep = 1e-3;

struct Twin {
  KinematicCase truth, observer;
  Twin(const KinematicOptions& options, double input_sigma, double sensor_sigma)
      : truth(*test::zoo_model("two_link"), {"a1", "a2"}, input_sigma, {"encoder1", "encoder2"},
              sensor_sigma, options),
        observer(*truth.model, {"a1", "a2"}, input_sigma, {"encoder1", "encoder2"}, sensor_sigma,
                 options) {}
};

std::unique_ptr<Filter> make(int kind, System& system) {
  if (kind == 0) return std::make_unique<Ekf>(system, FilterOptions{});
  SigmaOptions o;
  o.set = kind == 1 ? SigmaSet::kUnscented : SigmaSet::kSphericalSimplex;
  return std::make_unique<SigmaFilter>(system, FilterOptions{}, o);
}

std::vector<double> excitation(int k) { return {3 * std::sin(0.02 * k), 6 * std::cos(0.013 * k)}; }

// The truth moves by the scheme itself with the true accelerations; the observer has noisy ones, a wrong start, and noisy encoders.
double nees(int kind, const KinematicOptions& options, int runs, int steps) {
  const double input_sigma = 0.2, sensor_sigma = 2e-3;
  Twin twin(options, input_sigma, sensor_sigma);
  const int n = twin.truth.system->size();
  Eigen::MatrixXd p0, p(n, n);
  const std::vector<double> s0{0.01}, s1{0.05}, s2{0.5};
  twin.observer.system->initial_covariance(s0, s1, s2, p0);
  const auto filter = make(kind, *twin.observer.system);
  double sum = 0;
  for (int run = 1; run <= runs; ++run) {
    const auto seed = static_cast<std::uint64_t>(run);
    std::vector<double> x = twin.truth.x, next = x, start = x, w(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i)
      w[static_cast<size_t>(i)] =
          std::sqrt(p0(i, i)) * normal(seed, 100, static_cast<std::uint64_t>(i));
    twin.observer.system->move(start, w, start);
    EXPECT_EQ(filter->start(0, start, p0), Status::kOk);
    const std::vector<int> all{0, 1};
    std::vector<double> y(2);
    for (int k = 0; k < steps; ++k) {
      const auto u = excitation(k);
      twin.truth.system->set_inputs(u, u);
      EXPECT_EQ(twin.truth.system->step(k * kStep, kStep, x, next), Status::kOk);
      std::swap(x, next);
      EXPECT_EQ(twin.truth.system->sense((k + 1) * kStep, x, all, y), Status::kOk);
      std::vector<double> noisy = u;
      for (size_t i = 0; i < 2; ++i) {
        noisy[i] += input_sigma * normal(seed, i, static_cast<std::uint64_t>(k));
        y[i] += sensor_sigma * normal(seed, 10 + i, static_cast<std::uint64_t>(k));
      }
      twin.observer.system->set_inputs(noisy, noisy);
      EXPECT_EQ(filter->step(kStep, all, y), Status::kOk);
    }
    filter->covariance(p);
    std::vector<double> e(static_cast<size_t>(n));
    twin.observer.system->difference(x, filter->state(), e);
    const Eigen::Map<const Eigen::VectorXd> error(e.data(), n);
    sum += error.dot(p.ldlt().solve(error)) / n;
  }
  return sum / runs;
}

// Mean of 200 independent runs: deviation √(2/(200 n)), 0.05 for four states and 0.04 for six; four of that.
TEST(KinematicFilters, AreConsistentWhereTheNoiseIsAsAssumed) {
  for (const TopState top : {TopState::kNone, TopState::kRandomWalk, TopState::kCombined})
    for (const Scheme scheme : {Scheme::kEuler, Scheme::kRungeKutta4})
      for (const int kind : {0, 1, 2}) {
        KinematicOptions o;
        o.top = top;
        o.scheme = scheme;
        EXPECT_NEAR(nees(kind, o, 200, 80), 1, 0.2)
            << "top " << static_cast<int>(top) << " filter " << kind;
      }
}

// Without input noise in the covariance the filter believes in itself too much: the test can tell.
TEST(KinematicFilters, ThatIgnoreTheNoiseOfTheInputsAreNot) {
  const double input_sigma = 0.2;
  KinematicOptions o;
  Twin twin(o, 0.02 * input_sigma, 2e-3);
  const auto filter = make(0, *twin.observer.system);
  Eigen::MatrixXd p0, p(4, 4);
  twin.observer.system->initial_covariance(std::vector{0.01}, std::vector{0.05}, std::vector{1.0},
                                           p0);
  ASSERT_EQ(filter->start(0, twin.observer.x, p0), Status::kOk);
  std::vector<double> x = twin.truth.x, next = x, y(2), e(4);
  const std::vector<int> all{0, 1};
  double sum = 0;
  for (int k = 0; k < 2000; ++k) {
    auto u = excitation(k);
    twin.truth.system->set_inputs(u, u);
    ASSERT_EQ(twin.truth.system->step(0, kStep, x, next), Status::kOk);
    std::swap(x, next);
    ASSERT_EQ(twin.truth.system->sense(0, x, all, y), Status::kOk);
    for (size_t i = 0; i < 2; ++i) {
      u[i] += input_sigma * normal(1, i, static_cast<std::uint64_t>(k));
      y[i] += 2e-3 * normal(1, 10 + i, static_cast<std::uint64_t>(k));
    }
    twin.observer.system->set_inputs(u, u);
    ASSERT_EQ(filter->step(kStep, all, y), Status::kOk);
    filter->covariance(p);
    twin.observer.system->difference(x, filter->state(), e);
    const Eigen::Map<const Eigen::VectorXd> error(e.data(), 4);
    if (k >= 1000) sum += error.dot(p.ldlt().solve(error)) / 4;
  }
  EXPECT_GT(sum / 1000, 3);
}

// Small noise: all filters are one linear filter. What differs is of second order in the spread: a hundredth of the standard deviations themselves.
TEST(KinematicFilters, AgreeOnSmallNoise) {
  KinematicOptions o;
  o.scheme = Scheme::kRungeKutta4;
  o.top = TopState::kRandomWalk;
  std::vector<std::vector<double>> states;
  Eigen::MatrixXd p(6, 6);
  for (const int kind : {0, 1, 2}) {
    Twin twin(o, 1e-3, 1e-4);
    const auto filter = make(kind, *twin.observer.system);
    Eigen::MatrixXd p0;
    twin.observer.system->initial_covariance(std::vector{1e-4}, std::vector{1e-3},
                                             std::vector{1e-2}, p0);
    ASSERT_EQ(filter->start(0, twin.observer.x, p0), Status::kOk);
    std::vector<double> x = twin.truth.x, next = x, y(2);
    const std::vector<int> all{0, 1};
    for (int k = 0; k < 500; ++k) {
      auto u = excitation(k);
      twin.truth.system->set_inputs(u, u);
      ASSERT_EQ(twin.truth.system->step(0, kStep, x, next), Status::kOk);
      std::swap(x, next);
      ASSERT_EQ(twin.truth.system->sense(0, x, all, y), Status::kOk);
      for (size_t i = 0; i < 2; ++i) {
        u[i] += 1e-3 * normal(5, i, static_cast<std::uint64_t>(k));
        y[i] += 1e-4 * normal(5, 10 + i, static_cast<std::uint64_t>(k));
      }
      twin.observer.system->set_inputs(u, u);
      ASSERT_EQ(filter->step(kStep, all, y), Status::kOk);
    }
    std::vector<double> w(6);
    twin.observer.system->difference(filter->state(), x, w);
    states.push_back(w);
    filter->covariance(p);
  }
  for (size_t i = 0; i < 6; ++i) {
    const double sigma = std::sqrt(p(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i)));
    EXPECT_NEAR(states[0][i], states[1][i], 0.01 * sigma) << i;
    EXPECT_NEAR(states[0][i], states[2][i], 0.01 * sigma) << i;
  }
}

// ---- the arm, quantised --------------------------------------------------------------------------------------------------------------

double quantised(double x, double step, double phase) {
  return step * (std::round(x / step + phase) - phase);
}

double root_mean_square(const std::vector<double>& a, const std::vector<double>& b, size_t shift) {
  double sum = 0;
  size_t count = 0;
  for (size_t k = 500; k + 10 < a.size(); ++k, ++count) {
    const double e = a[k] - b[k - shift];
    sum += e * e;
  }
  return std::sqrt(sum / static_cast<double>(count));
}

// Palomba's tests KKF-II: speeds are better than those of the differentiated encoder, which needs later samples, and no step late. The encoders' phases
// differ from run to run.
void expect_better_than_differentiation(const std::vector<Override>& excitation, double until) {
  const auto loaded = load("two_link", excitation);
  ASSERT_TRUE(loaded.ok()) << loaded.diagnostics().text();
  const Model* model = &*loaded;
  SimulationOptions options;
  options.until = until;
  options.dt = 1e-4;  // a variable step would leap over impulses
  options.sample = kStep;
  const auto run = simulate(*model, nominal(*model), options);
  ASSERT_TRUE(run.ok());
  const auto series = [&](const char* name) {
    const auto found = std::find(run->output_names.begin(), run->output_names.end(), name);
    return run->outputs[static_cast<size_t>(found - run->output_names.begin())];
  };
  const std::vector<double> acceleration[2]{series("a1"), series("a2")};
  constexpr double kTick = 2 * std::numbers::pi / 1000, kLsb[2]{0.0030, 0.0448};
  KinematicSettings s;
  s.system.top = TopState::kRandomWalk;
  s.system.scheme = Scheme::kRungeKutta4;
  s.system.hold = InputHold::kLinear;
  s.system.noise.speed = {1e-3};
  s.system.noise.top = {1.0};
  auto made =
      KinematicObserver::create(*model, nominal(*model), s, {{.name = "a1"}, {.name = "a2"}},
                                {{.name = "encoder1"}, {.name = "encoder2"}});
  ASSERT_TRUE(made.ok()) << made.diagnostics().text();
  KinematicObserver& o = **made;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<double> encoder[2], speed[2], q(2), v(2), a(2), u(2), y(2);
    for (size_t k = 0; k < run->t.size(); ++k) {
      for (size_t i = 0; i < 2; ++i) {
        u[i] = quantised(acceleration[i][k], kLsb[i], uniform(seed, i, 0));
        y[i] = quantised(run->q[i][k], kTick, uniform(seed, 2 + i, 0));
        encoder[i].push_back(y[i]);
      }
      if (k == 0) {
        ASSERT_EQ(o.start(0, u), Status::kOk);
      } else {
        ASSERT_EQ(o.step(run->t[k], u, y).status, Status::kOk);
      }
      o.motion(q, v, a);
      for (size_t i = 0; i < 2; ++i) speed[i].push_back(v[i]);
    }
    for (size_t i = 0; i < 2; ++i) {
      const double filter = root_mean_square(speed[i], run->v[i], 0);
      EXPECT_LT(filter, root_mean_square(lanczos(encoder[i], kStep), run->v[i], 0));
      EXPECT_LT(filter, root_mean_square(speed[i], run->v[i], 1));
    }
  }
}

TEST(TwoLinkArm, UnderASweepIsFollowedBetterThanByDifferentiation) {
  expect_better_than_differentiation({}, 9);
}

TEST(TwoLinkArm, UnderImpulsesIsFollowedBetterThanByDifferentiation) {
  expect_better_than_differentiation({{"sweep", "0"}, {"impulse", "5"}}, 10);
}

// ---- dead centres --------------------------------------------------------------------------------------------------------------------

constexpr double kL1 = 0.1, kL2 = 0.25;

// Crank θ, its speed and acceleration; the slider's acceleration.
struct Crank {
  double w0 = 12.56, w1 = 1.256, f = 2;
  double theta = 0, rate = 0, acceleration = 0, slider = 0;
  void at(double t) {
    const double c = 2 * std::numbers::pi * f;
    theta = w0 * t + w1 / c * (1 - std::cos(c * t));
    rate = w0 + w1 * std::sin(c * t);
    acceleration = w1 * c * std::cos(c * t);
    const double th2 = std::acos(-kL1 / kL2 * std::cos(theta)),
                 k = -kL1 * std::sin(theta) / (kL2 * std::sin(th2));
    // (2.23) solved for a.
    slider = (kL1 * std::sin(th2 - theta) * acceleration -
              (kL2 * k * k + kL1 * std::cos(th2 - theta)) * rate * rate) /
             std::sin(th2);
  }
};

KinematicSettings crank_settings(const std::string& filter) {
  KinematicSettings s;
  s.filter = filter;
  s.system.top = TopState::kCombined;
  s.system.enter = 0.008;  // |θ1 - θ2 - kπ| <= 0.08 rad
  s.system.leave = 0.010;
  s.system.noise.top = {1.0};
  s.system.fallback_noise.top = {3e4};
  s.sigma_coordinates = {0.01};
  s.sigma_speeds = {0.5};
  s.sigma_top = {20};
  return s;
}

struct CrankErrors {
  double position = 0, speed = 0, mean_speed = 0, worst_speed = 0;
  long crossings = 0, entered_truth = 0, changes = 0;
};
CrankErrors run_crank(const std::string& filter, std::uint64_t seed, double until, Crank crank = {},
                      double leave = 0.010) {
  const auto model = test::zoo_model("slider_crank_inline");
  KinematicSettings settings = crank_settings(filter);
  settings.system.leave = leave;
  auto o =
      KinematicObserver::create(*model, nominal(*model), settings,
                                {{.name = "slider_accelerometer"}}, {{.name = "crank_encoder"}});
  if (!o.ok()) throw std::runtime_error(o.diagnostics().text());
  crank.at(0);
  EXPECT_EQ((*o)->start(0, std::vector{crank.slider}), Status::kOk);
  CrankErrors e;
  std::vector<double> q(3), v(3), a(3);
  const int steps = static_cast<int>(std::lround(until / kStep));
  bool zone = false, singular = false;
  for (int k = 1; k <= steps; ++k) {
    crank.at(k * kStep);
    const double u = crank.slider + 0.03 * normal(seed, 0, static_cast<std::uint64_t>(k)),
                 y = crank.theta + 0.003 * normal(seed, 1, static_cast<std::uint64_t>(k));
    const KinematicReport& r = (*o)->step(k * kStep, std::vector{u}, std::vector{y});
    EXPECT_EQ(r.status, Status::kOk) << k;
    if (r.zone != zone) ++e.changes;
    zone = r.zone;
    const double th2 = std::acos(-kL1 / kL2 * std::cos(crank.theta));
    const bool now = std::abs(std::sin(th2 - crank.theta)) <= std::sin(0.08);
    if (now && !singular) ++e.entered_truth;
    singular = now;
    (*o)->motion(q, v, a);
    for (const double number : {q[0], v[0], a[0]}) EXPECT_TRUE(std::isfinite(number));
    if (k * kStep < 0.5) continue;
    const double ds = v[0] - crank.rate;
    e.position += (q[0] - crank.theta) * (q[0] - crank.theta);
    e.speed += ds * ds;
    e.mean_speed += ds;
    e.worst_speed = std::max(e.worst_speed, std::abs(ds));
  }
  const double count = steps - 0.5 / kStep;
  e.position = std::sqrt(e.position / count);
  e.speed = std::sqrt(e.speed / count);
  e.mean_speed /= count;
  e.crossings = (*o)->counts().crossings;
  return e;
}

TEST(DeadCentres, AreCrossedWithoutDriftAndCountedOnceEach) {
  for (const char* filter : {"ekf", "ukf", "ss_ukf", "ckf", "sr_ss_ukf"}) {
    const CrankErrors e = run_crank(filter, 3, 10);
    EXPECT_LT(e.position, 0.003) << filter;
    EXPECT_LT(e.speed, 0.3) << filter;
    EXPECT_LT(std::abs(e.mean_speed), 0.05) << filter;
    EXPECT_LT(e.worst_speed, 2) << filter;
    EXPECT_EQ(e.crossings, e.entered_truth) << filter;
    EXPECT_GE(e.changes, 2 * e.crossings - 1) << filter;
    EXPECT_LE(e.changes, 2 * e.crossings) << filter;
  }
}

// So slow that noise moves the estimate to and fro over the edge of the zone: without hysteresis it chatters, with it it does not.
TEST(DeadCentres, CrossedSlowlyDoNotChatter) {
  Crank slow;
  slow.w0 = 0.35;
  slow.w1 = 0;
  const CrankErrors e = run_crank("ss_ukf", 4, 30, slow, 0.016);
  EXPECT_EQ(e.crossings, e.entered_truth);
  EXPECT_EQ(e.entered_truth, 3);
  const CrankErrors none = run_crank("ss_ukf", 4, 30, slow, 0.008);
  EXPECT_GT(none.crossings, e.crossings);
}

}  // namespace
}  // namespace panto
