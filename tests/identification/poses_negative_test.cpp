// Questions about poses that cannot be answered.
#include <gtest/gtest.h>

#include "panto/identification/poses.hpp"
#include "tests/linear/linear_case.hpp"

namespace panto {
namespace {

std::string refusal(const Model& model, const PosesOptions& o) {
  const auto study = poses(model, nominal(model), o);
  return study.ok() ? "accepted" : study.diagnostics().text();
}

class BadPoses : public testing::Test {
 protected:
  void SetUp() override {
    auto model = load("three_link");
    ASSERT_TRUE(model.ok());
    model_ = std::move(*model);
    o_.parameters = {"kA", "kB"};
    o_.poses = 3;
    o_.samples = 3;
  }
  Model model_;
  PosesOptions o_;
};

TEST_F(BadPoses, AnUnknownParameterIsAnsweredWithTheNearest) {
  o_.parameters = {"kD"};
  EXPECT_EQ(refusal(model_, o_),
            "error[E0701]: poses: \"kD\" is no parameter of three_link; did you mean \"kA\"?\n");
}

TEST_F(BadPoses, AParameterOfZeroHasNoRelativeSpread) {
  o_.parameters = {"pose_A"};
  EXPECT_NE(refusal(model_, o_).find("E0703"), std::string::npos);
}

TEST_F(BadPoses, AnUnknownCoordinate) {
  o_.ranges = {{"theta_D", 0, 1}};
  EXPECT_NE(refusal(model_, o_).find("error[E0506]: poses: \"theta_D\""), std::string::npos);
}

TEST_F(BadPoses, AnEmptyRange) {
  o_.ranges = {{"theta_B", 1, 0}};
  EXPECT_NE(refusal(model_, o_).find("E0702"), std::string::npos);
}

TEST_F(BadPoses, ASpreadThatReachesZero) {
  o_.spread = 1;
  EXPECT_NE(refusal(model_, o_).find("E0702"), std::string::npos);
}

TEST(BadPosesOfASlider, ARangeBeyondTheLimitsNamesBoth) {
  const auto model = test::model_of(R"toml(
space = "planar"
parameters = { k = 100 }
body = [{ name = "a", mass = 1, inertia = 1 }]
joint = [{ name = "phi", type = "revolute", parent = "ground", child = "a", range = ["-30 deg", "30 deg"] }]
force = [{ name = "s", type = "torsion_spring", on = "phi", stiffness = "k" }]
)toml");
  ASSERT_TRUE(model) << model.diagnostics().text();
  PosesOptions o;
  o.parameters = {"k"};
  o.ranges = {{"phi", -1, 0}};
  EXPECT_EQ(refusal(*model, o),
            "error[E0702]: poses: the range of \"phi\", -57.2958 deg to 0 deg, leaves the joint's "
            "limits, -30 deg to 30 deg\n");
}

TEST(BadPosesOfALoop, AreCountedWhenNoneIsReachable) {
  const auto model = load("fourbar_f1");
  ASSERT_TRUE(model.ok());
  PosesOptions o;
  o.poses = 2;
  o.samples = 3;
  for (const ParameterInfo& p : model->parameters)
    if (o.parameters.empty() && p.value != 0) o.parameters = {p.name};
  // A loop fixes all coordinates but one; two of them far apart cannot be had together.
  o.ranges = {{model->coordinate_names[0], 0.1, 0.1}, {model->coordinate_names[1], 40, 41}};
  EXPECT_NE(refusal(*model, o).find("E0704"), std::string::npos) << refusal(*model, o);
}

}  // namespace
}  // namespace panto
