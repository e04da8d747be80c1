// Twin studies: filters that lose the truth are noticed and restarted; noise found from a study's readings; settings as files.
#include <gtest/gtest.h>

#include <cmath>

#include "panto/estimation/twin.hpp"
#include "panto/io/load.hpp"
#include "panto/io/study.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/write_toml.hpp"

namespace panto {
namespace {

LoadedObserveStudy study_of(const std::string& text) {
  const auto spec = parse_model_text(text, "study.toml");
  if (!spec.ok()) throw std::runtime_error(spec.diagnostics().text());
  auto loaded = load_observe_study(*spec);
  if (!loaded.ok()) throw std::runtime_error(loaded.diagnostics().text());
  return std::move(*loaded);
}

TwinResult run(const std::string& text, const TwinOptions& options = {}) {
  const LoadedObserveStudy loaded = study_of(text);
  auto result = run_twin(loaded.study, loaded.load, options);
  if (!result.ok()) throw std::runtime_error(result.diagnostics().text());
  return std::move(*result);
}

// Too little process noise: the filter trusts a model whose gravity is wrong.
const std::string kTrusting = R"toml(
model = "fourbar_sanjurjo"
until = 10
dt = "5 ms"
seeds = 2
channels = ["theta"]
[[error]]
name = "gravity"
set = { g = 9 }
[[sensors]]
name = "encoder"
use = ["crank_encoder"]
[[filter]]
filter = "dekf_exact"
acceleration_noise = 1e-6
)toml";

TEST(TwinStudy, ALostFilterIsNoticedByItsInnovationsAndARestartBringsItBack) {
  const TwinResult never = run(kTrusting), present = run("restart = \"present\"\n" + kTrusting);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_GE(never.rows[i].lost, 1);
    EXPECT_EQ(never.rows[i].restarts, 0);
    EXPECT_GT(never.rows[i].lost_at, 1);  // two windows of 100 updates at the earliest
    EXPECT_LT(never.rows[i].lost_at, 10);
    EXPECT_EQ(present.rows[i].lost_at, never.rows[i].lost_at);
    EXPECT_EQ(present.rows[i].restarts, present.rows[i].lost);
    EXPECT_LT(present.rows[i].rmse[0], 0.5 * never.rows[i].rmse[0]);
  }
  EXPECT_EQ(never.cells[0].lost, 2);
  // A shorter watch is quicker.
  const TwinResult shorter = run("watch = 20\nrestart = \"present\"\n" + kTrusting);
  EXPECT_LT(shorter.rows[0].lost_at, never.rows[0].lost_at);
}

TEST(TwinStudy, AFilterThatFailsGoesOnWhereItIsRestarted) {
  // Its covariance equation has no solution from so large an uncertainty.
  std::string text = kTrusting;
  text.replace(text.find("filter = \"dekf_exact\"\nacceleration_noise = 1e-6"), 46,
               "filter = \"cekf\"\nsigma_coordinates = 3");
  const TwinResult never = run(text), present = run("restart = \"initial\"\n" + text);
  EXPECT_NE(never.rows[0].status, Status::kOk);
  EXPECT_EQ(never.rows[0].lost, 1);
  EXPECT_EQ(never.cells[0].failed, 2);
  EXPECT_EQ(present.rows[0].status, Status::kOk);
  EXPECT_GE(present.rows[0].restarts, 1);
}

// Rare on the five-bar with gyroscopes on its couplers: a crank slips by a turn, in 7 of 400 sequences with these settings.
TEST(TwinStudy, ACrankThatSlipsByATurnIsNoticed) {
  const TwinResult r = run(R"toml(
model = "five_bar"
truth = { integrator = "trapezoidal" }
until = 10
dt = "5 ms"
seeds = [1, 2, 123, 163, 355]
noise = "splitmix64"
channels = ["theta1", "theta2"]
[[error]]
name = "high"
set = { g = 9, "initial.theta1" = "pi/16", "initial.theta2" = "pi + pi/16" }
[[sensors]]
name = "coupler gyros"
use = ["left_coupler_gyro", "right_coupler_gyro"]
[[filter]]
filter = "dekf"
acceleration_noise = "31.5*pi/180"
)toml");
  for (const TwinRow& row : r.rows) {
    EXPECT_EQ(row.diverged, row.seed > 100) << row.seed;
    EXPECT_EQ(row.lost, row.seed > 100 ? 1 : 0) << row.seed;
    EXPECT_EQ(std::isnan(row.lost_at), row.lost == 0) << row.seed;
  }
  EXPECT_EQ(r.cells[0].lost, 3);
}

TEST(TwinStudy, UnknownRestartsAreRefused) {
  const auto spec = parse_model_text("restart = \"always\"\nwatch = 0\n" + kTrusting, "study.toml");
  const auto loaded = load_observe_study(*spec);
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.diagnostics().text().find(
                "study.toml:1:11: error[E0114]: restart: \"always\" is not one of \"never\", "
                "\"present\", \"initial\""),
            std::string::npos)
      << loaded.diagnostics().text();
}

TEST(Tune, TheFiltersOfAStudyGetNoiseForWhichItsReadingsAreMoreLikelyAndAsSmallErrors) {
  const LoadedObserveStudy loaded = study_of(kTrusting);
  const auto tuned = tune(loaded.study, loaded.load);
  ASSERT_TRUE(tuned.ok()) << tuned.diagnostics().text();
  ASSERT_EQ(tuned->filters.size(), 1U);
  const TunedFilter& f = tuned->filters[0];
  EXPECT_EQ(f.sensors, "encoder");
  EXPECT_EQ(f.error_level, "gravity");
  EXPECT_GT(f.tuning.chosen.log_likelihood, f.tuning.start.log_likelihood + 1000);
  EXPECT_LT(f.tuning.chosen.nis, 1.3);
  EXPECT_EQ(f.filter.settings.acceleration_noise, f.tuning.noise);
  ObserveStudy again = loaded.study;
  again.filters = {f.filter};
  const auto result = run_twin(again, loaded.load);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->rows[0].lost, 0);
  EXPECT_LT(result->rows[0].rmse[0], 0.01);
}

TEST(Tune, AFilterThatCannotBeTunedIsAWarningBesideOthersAndAnErrorAlone) {
  const std::string more = kTrusting + "[[filter]]\nfilter = \"cekf\"\n";
  const LoadedObserveStudy both = study_of(more);
  const auto tuned = tune(both.study, both.load);
  ASSERT_TRUE(tuned.ok());
  EXPECT_EQ(tuned->filters.size(), 1U);
  EXPECT_NE(tuned.diagnostics().text().find("W0805"), std::string::npos);
  LoadedObserveStudy alone = both;
  alone.study.filters.erase(alone.study.filters.begin());
  const auto none = tune(alone.study, alone.load);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.diagnostics().text().find("E0805"), std::string::npos);
}

// What is written reads back as the same settings.
TEST(Settings, AFileHoldsAllOfThem) {
  FilterSetup setup;
  ObserverSettings& s = setup.settings;
  s.filter = "sr_ss_ukf";
  s.scheme = Scheme::kRungeKutta4;
  s.jacobian = TransitionJacobian::kExact;
  s.rate_terms = RateTerms::kDiagonal;
  s.noise_form = NoiseForm::kDiagonal;
  s.sigma_coordinates = {0.1, 0.2};
  s.sigma_speeds = {0.3, 0.3};
  s.sigma_forces = {0.4};
  s.acceleration_noise = {0.1, 1.0 / 3};
  s.force_walk = {7};
  s.input_noise = {{"push.left", 0.01}, {"torque", 2}};
  s.sigma.alpha = 0.5;
  s.sigma.beta = 1.5;
  s.sigma.kappa = 1;
  s.sigma.w0 = 0.25;
  s.sigma.square_root = s.sigma.redraw = true;
  s.options.gate = 4;
  s.options.adapt_process = 0.02;
  s.options.adapt_sensors = 0.03;
  s.iterations = 5;
  s.constraint = 1e-5;
  s.particles = 500;
  s.seed = 9;
  SensorSettings gyro;
  gyro.name = "gyro";
  gyro.sigma = 0.01;
  gyro.rate = 50;
  gyro.bias_sigma = 0.1;
  gyro.bias_walk = 0.001;
  setup.sensors = {gyro};
  const std::string text = write_toml(describe(setup));
  const auto spec = parse_model_text(text, "filter.toml");
  ASSERT_TRUE(spec.ok()) << text << spec.diagnostics().text();
  const auto read = filter_setup(*spec);
  ASSERT_TRUE(read.ok()) << text << read.diagnostics().text();
  EXPECT_EQ(write_toml(describe(*read)), text);
  EXPECT_EQ(read->settings.acceleration_noise, s.acceleration_noise);
  EXPECT_EQ(read->settings.sigma_speeds, std::vector<double>{0.3});
  EXPECT_EQ(read->settings.input_noise, s.input_noise);
  EXPECT_EQ(read->settings.seed, s.seed);
  EXPECT_EQ(read->sensors[0].bias_walk, gyro.bias_walk);
  // Defaults are not written.
  EXPECT_EQ(write_toml(describe(FilterSetup{})), "filter = \"ukf\"\n");
}

}  // namespace
}  // namespace panto
