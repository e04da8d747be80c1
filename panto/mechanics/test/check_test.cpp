#include <gtest/gtest.h>

#include <numbers>

#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/test/four_bar.hpp"

namespace panto {
namespace {

using test::FourBar;
using test::ModelBuilder;

Result<CheckReport> check_model(const Model& m) {
  const auto w = Workspace::create(m, nominal(m));
  return check(*w);
}

TEST(Check, CountsTheFourBarsFreedomByRank) {
  FourBar b;
  b.initial("theta", b.theta, 0);
  b.guess(b.beta, 1.5);
  b.guess(b.gamma, 2.5);
  const auto r = check_model(b.model);
  ASSERT_TRUE(r.ok()) << r.diagnostics().text();
  EXPECT_EQ(r->bodies, 3);
  EXPECT_EQ(r->joints, 3);
  EXPECT_EQ(r->loops, 1);
  EXPECT_EQ(r->rows, 2);
  EXPECT_EQ(r->degrees_of_freedom, 1);
  EXPECT_EQ(r->mobility, 1);
  EXPECT_FALSE(r->singular_pose);
  EXPECT_TRUE(r->redundant.empty());
  EXPECT_EQ(r->independent.size(), 1U);
  EXPECT_TRUE(r.diagnostics().items().empty()) << r.diagnostics().text();
}

TEST(Check, NamesTheRowsOfAParallelBarAsRedundant) {
  FourBar b(2, 1, 2, 1);
  const int middle =
      b.body("middle", JointType::kRevolute, kGround, b.frame(kGround, {1, 0}), -1, {b.bar(1, 1)});
  b.pin("middle pin", b.frame(1, {1, 0}), b.frame(middle, {1, 0}));
  b.initial("theta", b.theta, 1);
  b.guess(b.beta, -1);
  b.guess(b.gamma, 1);
  b.guess(b.coordinate(3), 1);
  const auto r = check_model(b.model);
  ASSERT_TRUE(r.ok()) << r.diagnostics().text();
  EXPECT_EQ(r->degrees_of_freedom, 1);
  EXPECT_FALSE(r->singular_pose);
  EXPECT_EQ(r->redundant, std::vector<std::string>{"loop middle pin: y"});
}

TEST(Check, WarnsOfAFlatParallelogram) {
  FourBar b(2, 1, 2, 1);
  b.initial("theta", b.theta, 0);
  b.initial("beta", b.beta, 0);
  b.initial("gamma", b.gamma, std::numbers::pi);
  b.model.initial.pop_back();
  b.guess(b.gamma, 0);
  const auto r = check_model(b.model);
  // theta = 0, beta = 0 stretches crank and coupler to 3 = 2 + 1: flat.
  ASSERT_TRUE(r.ok()) << r.diagnostics().text();
  EXPECT_TRUE(r->singular_pose);
  EXPECT_EQ(r->mobility, 2);
  EXPECT_EQ(r->degrees_of_freedom, 1);
  EXPECT_TRUE(r->redundant.empty());
  EXPECT_NE(r.diagnostics().text().find("warning[W0522]"), std::string::npos);
}

TEST(Check, WarnsOfABodyThatMovesNoMass) {
  FourBar b;
  const int arm = b.body("arm", JointType::kRevolute, 0, -1, -1, {});
  (void)arm;
  b.model.bodies[3].loc = {"model.toml", 3, 2};
  b.initial("theta", b.theta, 0);
  b.guess(b.beta, 1.5);
  b.guess(b.gamma, 2.5);
  const auto r = check_model(b.model);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.diagnostics().text(),
            "model.toml:3:2: warning[W0521]: body \"arm\" can move without moving any mass: its "
            "acceleration is not defined; give it inertia or hold it\n");
}

TEST(Check, AcceptsAMasslessCouplerThatTheLoopCarries) {
  FourBar b;
  b.model.bodies[1].solids.clear();
  b.initial("theta", b.theta, 0);
  b.guess(b.beta, 1.5);
  b.guess(b.gamma, 2.5);
  const auto r = check_model(b.model);
  ASSERT_TRUE(r.ok());
  EXPECT_TRUE(r.diagnostics().items().empty()) << r.diagnostics().text();
}

TEST(Check, StatesTheFrequencyThatAStiffSpringImplies) {
  ModelBuilder b(SpaceKind::kPlanar);
  b.body("cart", JointType::kPrismatic, kGround, -1, -1, {b.solid(2, {0, 0}, {1})}, {1, 0, 0});
  b.body("load", JointType::kPrismatic, 0, -1, -1, {b.solid(1, {0, 0}, {1})}, {1, 0, 0});
  ForceElement& soft = b.force("soft", LawKind::kSpringDamper, b.coordinate(0));
  soft.stiffness = b.number(300);
  ForceElement& stiff = b.force("stiff", LawKind::kSpringDamper, b.coordinate(1));
  stiff.stiffness = b.number(6e8);
  stiff.loc = {"model.toml", 8, 3};
  const auto r = check_model(b.model);
  ASSERT_TRUE(r.ok());
  ASSERT_EQ(r->frequencies_hz.size(), 2U);
  const double pi = std::numbers::pi;
  // On the coordinate alone, the other at rest as a free mass: 1/k_eff per unit force.
  EXPECT_NEAR(r->frequencies_hz[0], std::sqrt(300 * 0.5) / (2 * pi), 1e-9);
  EXPECT_NEAR(r->frequencies_hz[1], std::sqrt(6e8 * 1.5) / (2 * pi), 1e-6);
  EXPECT_EQ(
      r.diagnostics().text(),
      "model.toml:8:3: warning[W0523]: force \"stiff\" is stiff: it implies 4.77e+03 Hz; explicit "
      "steps must stay below 6.7e-05 s\n");
}

TEST(Check, WarnsOfACoordinateOutsideItsRange) {
  ModelBuilder b(SpaceKind::kPlanar);
  b.body("arm", JointType::kRevolute, kGround, -1, -1, {b.bar(1, 1)});
  b.model.limits[0] = {b.number(-1), b.number(1)};
  b.initial("arm", b.coordinate(0), 2);
  const auto r = check_model(b.model);
  ASSERT_TRUE(r.ok());
  EXPECT_NE(
      r.diagnostics().text().find("warning[W0524]: arm starts at 114.6 deg, outside its range"),
      std::string::npos)
      << r.diagnostics().text();
}

TEST(Check, FailsWhereAssemblyFails) {
  FourBar b(10);
  EXPECT_FALSE(check_model(b.model).ok());
}

}  // namespace
}  // namespace panto
