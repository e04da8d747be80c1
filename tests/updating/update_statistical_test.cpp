// Updating from noisy tests.
#include <gtest/gtest.h>

#include "tests/updating/update_case.hpp"

namespace panto {
namespace {

// 1 % shape noise, 0.2 % frequency noise, 100 draws. Masses at E as in the thesis on the machine, with which the paper's nominal column was computed: with those of
// Table 3 the first mode starts only 0.2 % off, within the noise, where nothing can be asked of it.
TEST(NoisyUpdate, BringsEveryFrequencyNearerAndKeepsAllBoundsInAHundredDraws) {
  LoadedUpdateStudy study = test::twin();
  const auto model = test::compiled(study.spec, {{"m_E4", "1.537"}, {"m_E5", "0.095"}});
  ASSERT_TRUE(model) << model.diagnostics().text();
  study.study.relative = true;
  study.study.lambda = -1;
  SimulatedTest& s = study.study.simulate.front();
  s.truth.emplace_back("m_E4", 1.844);
  s.truth.emplace_back("m_E5", 0.1139);
  s.shape_noise = 0.01;
  s.frequency_noise = 0.002;
  s.draws = 100;
  const auto found = update(*model, nominal(*model), study.study);
  ASSERT_TRUE(found) << found.diagnostics().text();
  EXPECT_EQ(found->draws.draws, 100);
  EXPECT_EQ(found->draws.failed, 0);
  EXPECT_EQ(found->draws.all_improved, 100);
  EXPECT_EQ(found->draws.within_bounds, 100);
  RecordProperty("all_nearer", found->draws.all_nearer);
  RecordProperty("mean_error_before", std::to_string(100 * found->draws.mean_error_before));
  RecordProperty("mean_error_after", std::to_string(100 * found->draws.mean_error_after));
}

// With the masses of Table 3 as nominal the first mode starts 0.2 % off, as much as one deviation of the noise: in a few draws it is nearer by chance than any update
// can bring it. Of 100 seeds, all modes that got worse were that one, and with shapes expanded again (iterations) they had started within 0.03 %.
TEST(NoisyUpdate, OfAModeThatStartsWithinTheNoiseCanOnlyLoseByChance) {
  LoadedUpdateStudy study = test::twin();
  study.study.relative = true;
  study.study.lambda = -1;
  study.study.iterations = 10;
  SimulatedTest& s = study.study.simulate.front();
  s.shape_noise = 0.01;
  s.frequency_noise = 0.002;
  s.draws = 100;
  const auto found = test::updated(study);
  ASSERT_TRUE(found) << found.diagnostics().text();
  EXPECT_EQ(found->draws.failed, 0);
  EXPECT_EQ(found->draws.within_bounds, 100);
  EXPECT_GE(found->draws.all_improved, 88);  // 93 ± 2.6
  EXPECT_LT(found->draws.mean_error_after, 0.002);
}

TEST(NoisyUpdate, DoesNotDependOnThreads) {
  LoadedUpdateStudy study = test::twin();
  study.study.simulate.front().draws = 20;
  study.study.simulate.front().frequency_noise = 0.002;
  study.study.threads = 1;
  const auto one = test::updated(study);
  study.study.threads = 2;
  const auto two = test::updated(study);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->draws.mean, two->draws.mean);
}

// Noise of shapes enters squared where the model is right. What is told comes from one test, whose errors make the derivatives: it scatters by a third.
TEST(NoisyUpdate, DeviationsByShapesAreThoseOfTheDraws) {
  LoadedUpdateStudy study = test::twin();
  test::keep(study, {"E1", "E2", "E3", "E4"});
  for (UpdateParameter& p : study.study.parameters) p.range = 0.5;
  study.study.lambda = 0;
  study.study.relative = true;
  SimulatedTest& s = study.study.simulate.front();
  s.shape_noise = 0.01;
  s.frequency_noise = 1e-5;
  s.draws = 400;
  const auto found = test::updated(study);
  ASSERT_TRUE(found);
  for (size_t h = 0; h < found->parameters.size(); ++h)
    EXPECT_NEAR(found->draws.std(static_cast<Eigen::Index>(h)) / found->parameters[h].std, 1, 0.35)
        << found->parameters[h].name;
}

// The covariance of identifiable parameters is that of the draws, with either method.
class NoisyUpdateBy : public testing::TestWithParam<UpdateMethod> {};
TEST_P(NoisyUpdateBy, DeviationsAreThoseOfTheDraws) {
  LoadedUpdateStudy study = test::twin();
  study.study.method = GetParam();
  test::keep(study, {"E1", "E2", "E3", "E4"});
  for (UpdateParameter& p : study.study.parameters) p.range = 0.5;
  study.study.lambda = 0;
  study.study.relative = true;
  SimulatedTest& s = study.study.simulate.front();
  s.frequency_noise = 0.001;
  s.draws = 400;
  const auto found = test::updated(study);
  ASSERT_TRUE(found);
  // Deviations of 400 draws scatter by 1/√800 = 3.5 %; four of them, at 4 σ.
  for (size_t h = 0; h < found->parameters.size(); ++h)
    EXPECT_NEAR(found->draws.std(static_cast<Eigen::Index>(h)) / found->parameters[h].std, 1, 0.15)
        << found->parameters[h].name;
}
INSTANTIATE_TEST_SUITE_P(Methods, NoisyUpdateBy,
                         testing::Values(UpdateMethod::kQuadratic, UpdateMethod::kSensitivity),
                         [](const auto& method) {
                           return method.param == UpdateMethod::kQuadratic ? "quadratic"
                                                                           : "sensitivity";
                         });

}  // namespace
}  // namespace panto
