// What is known beforehand of kinematic observers: dead centres of the slider-crank, an arm that is seen everywhere, sensors that cannot do.
#include "panto/estimation/kinematic_check.hpp"
#include "tests/estimation/kinematic_case.hpp"

namespace panto {
namespace {

Run run(const std::string& name, double until) {
  const auto model = test::zoo_model(name);
  SimulationOptions o;
  o.until = until;
  o.sample = until / 1000;
  auto r = simulate(*model, nominal(*model), o);
  if (!r.ok()) throw std::runtime_error(r.diagnostics().text());
  return std::move(*r);
}

KinematicSettings settings(TopState top = TopState::kCombined) {
  KinematicSettings s;
  s.system.top = top;
  s.system.noise.top = {1.0};
  s.dt = 1e-3;
  return s;
}

// One turn of the driven crank: S = L1 sin(θ2 - θ1)/sin θ2 vanishes at θ1 = 90° and 270°.
TEST(SliderCrankCheck, FindsTheDeadCentres) {
  const auto model = test::zoo_model("slider_crank_inline");
  KinematicSettings s = settings();
  s.system.enter = 0.008;
  s.system.leave = 0.01;
  KinematicCheckOptions options;
  options.samples = 1000;
  const auto c =
      check_kinematic(*model, nominal(*model), s, {{.name = "slider_accelerometer"}},
                      {{.name = "crank_encoder"}}, run("slider_crank_kkf", 0.5), options);
  ASSERT_TRUE(c.ok()) << c.diagnostics().text();
  EXPECT_EQ(c->degrees_of_freedom, 1);
  ASSERT_EQ(c->failing.size(), 2u);
  EXPECT_NEAR(c->failing[0].q[0], std::numbers::pi / 2, 0.01);
  EXPECT_NEAR(c->failing[1].q[0], 3 * std::numbers::pi / 2, 0.01);
  EXPECT_FALSE(c->exists);
  EXPECT_TRUE(c->observable);
  EXPECT_EQ(c->least_rank, 2);  // θ and its speed; the acceleration is the inputs' own
  // |θ1 - θ2 - kπ| <= 0.08 in two places; the rod turns with dθ2/dθ1 = ∓L1/L2 there.
  EXPECT_NEAR(c->failing_share, 2 * (0.08 / 1.4 + 0.08 / 0.6) / (2 * std::numbers::pi), 0.01);
  const std::string words = in_words(*c, *model);
  EXPECT_NE(words.find("2 places"), std::string::npos) << words;
}

TEST(TwoLinkCheck, SeesTheArmEverywhere) {
  const auto model = test::zoo_model("two_link");
  const auto c = check_kinematic(*model, nominal(*model), settings(TopState::kRandomWalk),
                                 {{.name = "a1"}, {.name = "a2"}},
                                 {{.name = "encoder1"}, {.name = "encoder2"}}, run("two_link", 3));
  ASSERT_TRUE(c.ok()) << c.diagnostics().text();
  EXPECT_TRUE(c->exists);
  EXPECT_TRUE(c->observable);
  EXPECT_TRUE(c->failing.empty());
  ASSERT_EQ(c->deviations.size(), 6u);
  // Better than one reading of the encoder.
  EXPECT_LT(c->deviations[0].second, 2 * std::numbers::pi / 1000 / std::sqrt(12.0));
}

// One encoder for two joints: the elbow's angle shows only through what moves with it, and not at all while the inputs carry the motion alone.
TEST(TwoLinkCheck, SaysWhatIsMissing) {
  const auto model = test::zoo_model("two_link");
  const auto c =
      check_kinematic(*model, nominal(*model), settings(TopState::kNone),
                      {{.name = "a1"}, {.name = "a2"}}, {{.name = "encoder1"}}, run("two_link", 3));
  ASSERT_TRUE(c.ok());
  EXPECT_TRUE(c->exists);
  EXPECT_FALSE(c->observable);
  EXPECT_LT(c->least_rank, 4);
  const auto few =
      check_kinematic(*model, nominal(*model), settings(), {{.name = "a1"}},
                      {{.name = "encoder1"}, {.name = "encoder2"}}, run("two_link", 3));
  ASSERT_TRUE(few.ok());
  EXPECT_FALSE(few->exists);
  EXPECT_EQ(few->median_margin, 0);
  EXPECT_NE(in_words(*few, *model).find("anywhere"), std::string::npos);
}

TEST(Advice, RanksSetsAndSaysWhatIsNeeded) {
  const auto model = test::zoo_model("two_link");
  const auto a =
      advise_kinematic(*model, nominal(*model), settings(TopState::kNone), {}, run("two_link", 2));
  ASSERT_TRUE(a.ok()) << a.diagnostics().text();
  EXPECT_EQ(a->degrees_of_freedom, 2);
  EXPECT_NE(a->needed.find("2 independent sensors of acceleration"), std::string::npos)
      << a->needed;
  ASSERT_EQ(a->sets.size(), 3u);
  EXPECT_EQ(a->sets[0].sensors, (std::vector<std::string>{"encoder1", "encoder2"}));
  EXPECT_TRUE(a->sets[0].check.observable);
  // θ1 alone tells nothing of θ2; θ2 alone tells of θ1 only by its accelerations.
  for (size_t i = 1; i < 3; ++i) EXPECT_FALSE(a->sets[i].check.observable);
  KinematicSettings first = settings(TopState::kNone);
  first.system.order = 1;
  const auto none = advise_kinematic(*model, nominal(*model), first, {}, run("two_link", 2));
  EXPECT_NE(none.diagnostics().text().find("E0842"), std::string::npos);
  EXPECT_NE(check_kinematic(*model, nominal(*model), settings(), {{.name = "a1"}, {.name = "a2"}},
                            {{.name = "encoder1"}}, run("slider_crank", 1))
                .diagnostics()
                .text()
                .find("E0841"),
            std::string::npos);
}

}  // namespace
}  // namespace panto
