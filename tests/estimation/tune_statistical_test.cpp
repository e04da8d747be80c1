// Noise found from readings that were simulated with a known one.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <numeric>

#include "panto/estimation/tune.hpp"
#include "tests/estimation/sanjurjo_case.hpp"

namespace panto {
namespace {

using test::kDegree;

// Motion driven by white acceleration noise of the settings, read at every step with the sensors' noise.
Readings noisy(const Model& model, const ObserverSettings& settings,
               const std::vector<SensorSettings>& sensors, int steps, std::uint64_t seed) {
  const double dt = 0.005;
  auto made = Observer::create(model, nominal(model), settings, sensors);
  if (!made.ok()) throw std::runtime_error(made.diagnostics().text());
  if ((*made)->start() != Status::kOk) throw std::runtime_error("no start");
  Mechanism& m = (*made)->mechanism();
  const View start = (*made)->filter().state();
  std::vector<double> x(start.begin(), start.end()), next(x.size());
  Eigen::MatrixXd q(m.size(), m.size());
  Eigen::VectorXd w(m.size());
  std::vector<int> all(sensors.size());
  std::iota(all.begin(), all.end(), 0);
  Readings r;
  r.dt = dt;
  test::Noise noise(seed);
  for (int k = 1; k <= steps; ++k) {
    if (m.step((k - 1) * dt, dt, x, next) != Status::kOk) throw std::runtime_error("no motion");
    m.process_noise((k - 1) * dt, dt, x, q);
    for (Eigen::Index i = 0; i + 1 < w.size(); i += 2) std::tie(w(i), w(i + 1)) = noise.normals();
    w = Eigen::MatrixXd(q.llt().matrixL()) * w;
    m.move(next, {w.data(), static_cast<size_t>(w.size())}, x);
    std::vector<double> y(sensors.size());
    if (m.sense(k * dt, x, all, y) != Status::kOk) throw std::runtime_error("no readings");
    for (size_t i = 0; i < y.size(); ++i)
      y[i] += m.sensor(static_cast<int>(i)).sigma * noise.normals().first;
    r.t.push_back(k * dt);
    r.sensors.push_back(all);
    r.values.push_back(y);
  }
  return r;
}

// Standard deviation of ln S for a double integrator of noise density S whose position is read with σ at every dt over the time T (Whittle's
// information of the spectrum S/ω⁴ + σ² dt): 1/√(T ω0 1.666/(4π)), ω0⁴ = S/(σ² dt).
double expected_error(double density, double sigma, double dt, double time) {
  const double w0 = std::pow(density / (sigma * sigma * dt), 0.25);
  return 1 / std::sqrt(time * w0 * 1.666 / (4 * test::kPi));
}

Model zoo(const std::string& name) {
  auto model = load(name);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  return std::move(*model);
}

Tuning tuned(const Model& model, const ObserverSettings& settings,
             const std::vector<SensorSettings>& sensors, const Readings& readings,
             const TuneOptions& options = {}) {
  auto t = tune(model, nominal(model), settings, sensors, readings, options);
  if (!t.ok()) throw std::runtime_error(t.diagnostics().text());
  return std::move(*t);
}

InnovationTest tested(const Model& model, ObserverSettings settings, double density,
                      const std::vector<SensorSettings>& sensors, const Readings& readings) {
  settings.acceleration_noise = {density};
  auto observer = Observer::create(model, nominal(model), settings, sensors);
  if (!observer.ok()) throw std::runtime_error(observer.diagnostics().text());
  InnovationTest out;
  EXPECT_EQ(test_innovations(**observer, readings, out), Status::kOk);
  return out;
}

// Found within a factor of two, which is five of the standard deviations of 20 s; nowhere more likely than there, and there alone white.
void finds(const Model& model, ObserverSettings settings,
           const std::vector<SensorSettings>& sensors, double density, double sigma) {
  settings.acceleration_noise = {density};
  const Readings r = noisy(model, settings, sensors, 4000, 1);
  settings.acceleration_noise = {30 * density};
  const Tuning t = tuned(model, settings, sensors, r);
  const double expected = expected_error(density, sigma, r.dt, 20);
  EXPECT_LT(5 * expected, std::log(2.0));
  EXPECT_NEAR(std::log(t.noise[0] / density), 0, std::log(2.0));
  EXPECT_NEAR(t.noise_error[0], expected, 0.2 * expected);

  for (const TunePoint& p : t.points) EXPECT_LE(p.log_likelihood, t.chosen.log_likelihood);
  const InnovationTest truth = tested(model, settings, density, sensors, r);
  // Twice the difference is χ² of one degree of freedom: 4.5 is three standard deviations.
  EXPECT_LT(t.chosen.log_likelihood - truth.log_likelihood, 4.5);
  EXPECT_NEAR(t.chosen.nis, 1, 4 * std::sqrt(2.0 / t.chosen.count));
  EXPECT_GE(t.chosen.inside, 0.8);  // 0.95 of 20 lags, four standard deviations
  EXPECT_GT(t.chosen.p_value, 1e-3);
  // Lag 1 of white ones, three standard deviations.
  const double chance = 3 / std::sqrt(t.chosen.count);
  EXPECT_LT(std::abs(t.chosen.autocorrelation[0]), chance);
  for (const double wrong : {0.01, 100.0}) {
    const InnovationTest w = tested(model, settings, wrong * density, sensors, r);
    EXPECT_LT(w.log_likelihood, t.chosen.log_likelihood - 100);
    EXPECT_GT(std::abs(w.autocorrelation[0]), chance);
    EXPECT_LT(w.inside, t.chosen.inside);
    EXPECT_LT(w.p_value, 1e-6);
  }
}

TEST(Noise, OfAPendulumIsFound) {
  ObserverSettings s;
  s.filter = "ukf";
  s.sigma_coordinates = s.sigma_speeds = {kDegree};
  std::vector<SensorSettings> sensors = test::sensors_named({"x", "y"});
  for (SensorSettings& e : sensors) e.sigma = 0.02;  // the angle is known to 0.02 from both
  finds(zoo("pendulum"), s, sensors, 0.3, 0.02);
}

TEST(Noise, OfAFourBarIsFound) {
  finds(zoo("fourbar_sanjurjo"), test::sanjurjo_settings(false, "error_ekf_ej"),
        test::sensors_named({"crank_encoder"}), 0.3, kDegree);
}

// Of 16 sequences the mean deviation is 0 ± 1/4 of the error that each says of itself.
TEST(Noise, ErrorsAreAsLargeAsTheyAreSaidToBe) {
  const Model model = zoo("pendulum");
  ObserverSettings s;
  s.filter = "dekf_exact";
  s.sigma_coordinates = s.sigma_speeds = {kDegree};
  s.acceleration_noise = {1};
  std::vector<SensorSettings> sensors = test::sensors_named({"x", "y"});
  for (SensorSettings& e : sensors) e.sigma = 0.02;
  double mean = 0, square = 0;
  const int count = 16;
  for (int seed = 1; seed <= count; ++seed) {
    const Readings r = noisy(model, s, sensors, 1000, static_cast<std::uint64_t>(seed));
    const Tuning t = tuned(model, s, sensors, r);
    const double deviation = std::log(t.noise[0]) / t.noise_error[0];
    mean += deviation / count;
    square += deviation * deviation / count;
  }
  EXPECT_LT(std::abs(mean), 3.0 / 4);
  EXPECT_NEAR(square, 1, 3 * std::sqrt(2.0 / count));
}

TEST(Noise, OfTwoSpeedsIsFoundForEach) {
  const Model model = zoo("five_bar");
  ObserverSettings s = test::sanjurjo_settings(true, "dekf_exact");
  s.acceleration_noise = {3, 0.3};
  const auto sensors = test::sensors_named({"left_encoder", "right_encoder"});
  const Readings r = noisy(model, s, sensors, 2000, 1);
  s.acceleration_noise = {30};
  const Tuning t = tuned(model, s, sensors, r);
  EXPECT_EQ(t.speeds, (std::vector<std::string>{"theta1_dot", "theta2_dot"}));
  EXPECT_NEAR(std::log(t.noise[0] / 3), 0, std::log(2.0));
  EXPECT_NEAR(std::log(t.noise[1] / 0.3), 0, std::log(2.0));
  for (const double e : t.noise_error) EXPECT_LT(3 * e, std::log(2.0));
  EXPECT_GT(t.chosen.inside, t.start.inside);
  EXPECT_GT(t.chosen.log_likelihood, t.start.log_likelihood + 100);
}

// A standard deviation is known to 1/√(2 N) of N readings: 1.6 % of 2000.
TEST(Noise, OfTheSensorIsFoundBesideThatOfTheMotion) {
  const Model model = zoo("fourbar_sanjurjo");
  ObserverSettings s = test::sanjurjo_settings(false, "dekf_exact");
  s.acceleration_noise = {0.3};
  std::vector<SensorSettings> sensors = test::sensors_named({"crank_encoder"});
  const Readings r = noisy(model, s, sensors, 2000, 1);
  sensors[0].sigma = 0.1;
  s.acceleration_noise = {3};
  TuneOptions o;
  o.sensors = true;
  const Tuning t = tuned(model, s, sensors, r, o);
  EXPECT_NEAR(t.sigma[0], kDegree, 4 * 0.016 * kDegree);
  EXPECT_NEAR(t.sigma_error[0], 0.016, 0.003);
  EXPECT_NEAR(std::log(t.noise[0] / 0.3), 0, std::log(2.0));
}

TEST(Noise, ThatIsNotThereHasAnUpperLimitOnly) {
  const Model model = zoo("pendulum");
  ObserverSettings s;
  s.filter = "ukf";
  s.sigma_coordinates = s.sigma_speeds = {kDegree};
  s.acceleration_noise = {1e-12};
  std::vector<SensorSettings> sensors = test::sensors_named({"x", "y"});
  for (SensorSettings& e : sensors) e.sigma = 0.02;
  const Readings r = noisy(model, s, sensors, 400, 1);
  s.acceleration_noise = {0.1};
  const auto t = tune(model, nominal(model), s, sensors, r);
  ASSERT_TRUE(t.ok());
  EXPECT_NE(t.diagnostics().text().find("W0833"), std::string::npos);
  EXPECT_LT(t->noise[0], 0.01);
}

TEST(Search, IsTheSameOnOneThreadAndEndsWhenAsked) {
  const Model model = zoo("fourbar_sanjurjo");
  ObserverSettings s = test::sanjurjo_settings(false, "dekf");
  const auto sensors = test::sensors_named({"crank_encoder"});
  const Readings r = noisy(model, s, sensors, 200, 1);
  TuneOptions o;
  const Tuning many = tuned(model, s, sensors, r, o);
  o.threads = 1;
  const Tuning one = tuned(model, s, sensors, r, o);
  EXPECT_TRUE(one.complete);
  ASSERT_EQ(many.points.size(), one.points.size());
  for (size_t i = 0; i < one.points.size(); ++i)
    EXPECT_EQ(many.points[i].log_likelihood, one.points[i].log_likelihood);
  o.progress = [](double) { return false; };
  EXPECT_FALSE(tuned(model, s, sensors, r, o).complete);
}

TEST(Refused, ReadingsThatDoNotFitAndFiltersWithoutInnovations) {
  const Model model = zoo("fourbar_sanjurjo");
  const auto sensors = test::sensors_named({"crank_encoder"});
  ObserverSettings s;
  const auto refusal = [&](const Readings& r) {
    const auto t = tune(model, nominal(model), s, sensors, r);
    return t.ok() ? "accepted" : t.diagnostics().text();
  };
  const Readings good{0.005, {0.005, 0.01}, {{0}, {0}}, {{1}, {1}}};
  Readings backward = good, unknown = good, missing = good;
  backward.t[1] = 0.005;
  unknown.sensors[1] = {1};
  missing.values[1] = {};
  for (const Readings& r : {backward, unknown, missing, Readings{}})
    EXPECT_NE(refusal(r).find("E0833"), std::string::npos);
  s.acceleration_noise = {0};
  EXPECT_NE(refusal(good).find("E0833"), std::string::npos);
  s.filter = "cekf";
  EXPECT_NE(refusal(good).find("E0805"), std::string::npos);
}

}  // namespace
}  // namespace panto
