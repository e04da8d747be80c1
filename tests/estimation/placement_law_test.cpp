// Sets of sensors are ranked by what the filter would know with them.
#include <gtest/gtest.h>

#include <algorithm>

#include "panto/estimation/placement.hpp"
#include "tests/estimation/sanjurjo_case.hpp"

namespace panto {
namespace {

using test::kDegree;

Placement ranked(const Model& model, const ObserverSettings& settings,
                 const std::vector<std::string>& candidates, const PlacementOptions& options = {}) {
  auto r = rank_sensors(model, nominal(model), settings, test::sensors_named(candidates), options);
  if (!r.ok()) throw std::runtime_error(r.diagnostics().text());
  return std::move(*r);
}

std::string refusal(const ObserverSettings& settings, const std::vector<std::string>& candidates,
                    const PlacementOptions& options = {}) {
  const Model model = test::sanjurjo_model(false, 10, 0);
  const auto r =
      rank_sensors(model, nominal(model), settings, test::sensors_named(candidates), options);
  return r.ok() ? "accepted" : r.diagnostics().text();
}

TEST(Candidates, AnUnknownOneIsAnsweredWithTheNearest) {
  EXPECT_NE(refusal({}, {"coupler_giro"}).find("did you mean \"coupler_gyro\"?"),
            std::string::npos);
}

TEST(Candidates, ASensorThatTheModelGivesNoNoise) {
  Model model = test::sanjurjo_model(false, 10, 0);
  for (Sensor& s : model.sensors) s.noise = -1;
  const auto r = rank_sensors(model, nominal(model), {}, {});
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.diagnostics().text().find("E0803"), std::string::npos);
}

TEST(Candidates, SetsOfNothingAndMotionsOfNothing) {
  PlacementOptions none, still;
  none.largest_set = 0;
  still.dt = 0;
  EXPECT_NE(refusal({}, {}, none).find("E0832"), std::string::npos);
  EXPECT_NE(refusal({}, {}, still).find("E0832"), std::string::npos);
}

TEST(Candidates, AFilterWithoutDiscreteTransition) {
  ObserverSettings s;
  s.filter = "cekf";
  EXPECT_NE(refusal(s, {}).find("E0805"), std::string::npos);
}

TEST(FourBar, EncoderBeatsCouplerGyroBeatsCrankGyroForAConstantTransition) {
  const Model model = test::sanjurjo_model(false, 10, 0);
  const Placement p = ranked(model, test::sanjurjo_settings(false, "dekf"), {});
  ASSERT_EQ(p.sets.size(), 3U);
  EXPECT_EQ(p.sets[0].sensors, std::vector<std::string>{"crank_encoder"});
  EXPECT_EQ(p.sets[1].sensors, std::vector<std::string>{"coupler_gyro"});
  EXPECT_EQ(p.sets[2].sensors, std::vector<std::string>{"crank_gyro"});
  EXPECT_TRUE(p.sets[1].observable);
  EXPECT_FALSE(p.sets[2].observable);
  EXPECT_EQ(p.sets[2].least, std::vector<std::string>{"theta"});
  // What is not seen stays as it was at the start.
  EXPECT_NEAR(p.sets[2].share, 1, 0.01);
}

// Continuous filter of a double integrator: σ_θ² = √2 R^(3/4) S^(1/4), R = σ² dt; 4 %: steps of 5 ms are a twelfth of its time constant (S/R)^(-1/4).
TEST(FourBar, ExpectedDeviationIsThatOfADoubleIntegrator) {
  const Model model = test::sanjurjo_model(false, 10, 0);
  const Placement p = ranked(model, test::sanjurjo_settings(false, "dekf"), {"crank_encoder"});
  const double r = kDegree * kDegree * 0.005, s = 5.25 * kDegree,
               variance = std::sqrt(2.0) * std::pow(r, 0.75) * std::pow(s, 0.25);
  ASSERT_EQ(p.sets[0].deviations.size(), 1U);
  EXPECT_EQ(p.sets[0].deviations[0].first, "theta");
  EXPECT_NEAR(p.sets[0].deviations[0].second, std::sqrt(variance), 0.04 * std::sqrt(variance));
  EXPECT_NEAR(p.sets[0].trace, std::pow(p.sets[0].deviations[0].second, 2), 1e-12);
}

TEST(FourBar, MoreSensorsNeverKnowLess) {
  const Model model = test::sanjurjo_model(false, 10, 0);
  PlacementOptions o;
  o.largest_set = 3;
  const Placement p = ranked(model, test::sanjurjo_settings(false, "ukf"), {}, o);
  ASSERT_EQ(p.sets.size(), 7U);
  EXPECT_EQ(p.sets[0].sensors.size(), 3U);
  const auto holds = [](const RankedSet& a, const RankedSet& b) {
    return std::all_of(b.sensors.begin(), b.sensors.end(), [&](const std::string& e) {
      return std::find(a.sensors.begin(), a.sensors.end(), e) != a.sensors.end();
    });
  };
  for (const RankedSet& a : p.sets)
    for (const RankedSet& b : p.sets) EXPECT_TRUE(!holds(a, b) || a.share <= 1.001 * b.share);
}

TEST(FourBar, ARareSensorKnowsLess) {
  const Model model = test::sanjurjo_model(false, 10, 0);
  std::vector<SensorSettings> s = test::sensors_named({"crank_encoder"});
  s[0].rate = 20;
  const ObserverSettings settings = test::sanjurjo_settings(false, "dekf");
  const auto rare = rank_sensors(model, nominal(model), settings, s);
  ASSERT_TRUE(rare.ok());
  EXPECT_GT(rare->sets[0].share, 1.5 * ranked(model, settings, {"crank_encoder"}).sets[0].share);
}

// Outputs that are no sensors of the model: with a standard deviation given.
TEST(FiveBar, OneAngleDoesNotShowTheOther) {
  const Model model = test::sanjurjo_model(true, 10, 0);
  std::vector<SensorSettings> s = test::sensors_named({"theta1", "theta2"});
  for (SensorSettings& e : s) e.sigma = kDegree;
  PlacementOptions o;
  o.largest_set = 2;
  const auto p =
      rank_sensors(model, nominal(model), test::sanjurjo_settings(true, "error_ekf"), s, o);
  ASSERT_TRUE(p.ok()) << p.diagnostics().text();
  ASSERT_EQ(p->sets.size(), 3U);
  EXPECT_EQ(p->sets[0].sensors.size(), 2U);
  for (const size_t i : {1U, 2U}) {
    EXPECT_FALSE(p->sets[i].observable);
    const std::string other = p->sets[i].sensors[0] == "theta1" ? "theta2" : "theta1";
    EXPECT_NE(std::find(p->sets[i].least.begin(), p->sets[i].least.end(), other),
              p->sets[i].least.end());
  }
}

}  // namespace
}  // namespace panto
