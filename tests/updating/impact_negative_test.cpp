// Tests that no rig can make.
#include <gtest/gtest.h>

#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"
#include "panto/updating/impact.hpp"

namespace panto {
namespace {

Model pendulum(const char* angle) {
  const std::string text = std::string(R"toml(
space = "planar"
gravity = [0, -10]
body = [{ name = "rod", bar = { length = 1, mass = 1 } }]
joint = [{ name = "theta", type = "revolute", parent = "ground", child = "rod" }]
initial = { theta = ")toml") +
                           angle + "\" }\n";
  auto model = compile(*parse_model_text(text, "pendulum.toml"), {});
  if (!model) throw std::runtime_error(model.diagnostics().text());
  return std::move(*model);
}

ImpactOptions options() {
  ImpactOptions o;
  o.accelerometers = {{"rod.end", {1, 0, 0}}};
  o.duration_s = 4;
  o.damping = {0.5};
  return o;
}

std::string answer(const ImpactOptions& o, const char* angle = "-90 deg") {
  const Model model = pendulum(angle);
  return impact_test(model, nominal(model), Operation::kHere, o).diagnostics().text();
}

TEST(BadImpact, PointsThatTheModelDoesNotHaveAreNamed) {
  ImpactOptions o = options();
  o.accelerometers[0].frame = "rod.ent";
  EXPECT_EQ(answer(o),
            "error[E0970]: \"rod.ent\" is no place of pendulum; did you mean \"rod.end\"?\n");
}

TEST(BadImpact, SettingsThatNoRigHasAreAllTold) {
  ImpactOptions o = options();
  o.sample_rate_hz = 0;
  o.averages = 0;
  o.window_end = 1.5;
  o.damping = {1};
  EXPECT_EQ(answer(o),
            "error[E0963]: impact test: the sample rate must be positive, not 0\n"
            "error[E0963]: impact test: at least one hit per point is needed\n"
            "error[E0963]: impact test: the exponential window ends at 1.5, expected above 0 and "
            "at most 1\n"
            "error[E0963]: impact test: damping ratio 1, expected 0 to below 1\n");
  o = options();
  o.from_hz = 5000;
  EXPECT_NE(answer(o).find("half of the sample rate"), std::string::npos);
  o = options();
  o.pulse_s = 1e-4;
  EXPECT_NE(answer(o).find("less than two samples"), std::string::npos);
}

TEST(BadImpact, AHitThatIsTooSoftDoesNotTrigger) {
  ImpactOptions o = options();
  o.peak_n = 4;
  EXPECT_EQ(
      answer(o),
      "error[E0963]: impact test: a hit of 4 N does not reach the trigger of 5.72 N behind the "
      "low-pass of the channel; hit harder or longer, or lower the trigger\n");
}

TEST(BadImpact, AnUnstablePoseIsRefusedUnlessFrictionHoldsIt) {
  ImpactOptions o = options();
  EXPECT_EQ(
      answer(o, "90 deg"),
      "error[E0963]: impact test: pendulum is not stable in this pose (a mode grows at 3.87 1/s); "
      "choose another one, or say that friction holds it (hold)\n");
  o.hold = true;
  EXPECT_EQ(answer(o, "90 deg"), "");
}

TEST(BadImpact, ModesThatRingAndDampingThatCouplesModesAreTold) {
  ImpactOptions o = options();
  o.damping.clear();
  EXPECT_NE(answer(o).find("warning[W0964]: modes still ring at the end of the record: 0.6164 Hz"),
            std::string::npos)
      << answer(o);
  const auto spec = parse_model_text(R"toml(
space = "planar"
body = [{ name = "a", mass = 1, inertia = 1 }, { name = "b", mass = 1, inertia = 1 }]
joint = [{ name = "x", type = "prismatic", parent = "ground", child = "a" },
         { name = "y", type = "prismatic", parent = "a", child = "b" }]
force = [{ name = "s1", type = "joint_spring", on = "x", stiffness = 1000 },
         { name = "s2", type = "joint_spring", on = "y", stiffness = 1000 },
         { name = "d", type = "joint_spring", on = "x", stiffness = 0, damping = 5 }]
)toml",
                                     "two.toml");
  const auto model = compile(*spec, {});
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  o.accelerometers = {{"b", {1, 0, 0}}};
  EXPECT_NE(
      impact_test(*model, nominal(*model), Operation::kHere, o).diagnostics().text().find("W0965"),
      std::string::npos);
}

}  // namespace
}  // namespace panto
