#include "panto/mechanics/assembly.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "panto/mechanics/closure.hpp"
#include "panto/mechanics/test/four_bar.hpp"

namespace panto {
namespace {

using test::FourBar;
using test::ModelBuilder;
constexpr double kPi = std::numbers::pi;
constexpr double kDeg = kPi / 180;
constexpr double kRoundOff = 4e-15;  // of closed loops a few metres long

Result<AssembledState> assemble_model(const Model& m, View guess = {}) {
  const auto workspace = Workspace::create(m, nominal(m));
  return assemble(*workspace, 0, guess);
}

double violation(const Model& m, const AssembledState& s) {
  const auto workspace = Workspace::create(m, nominal(m));
  Eigen::VectorXd u(m.nu()), rate(m.nu());
  workspace->inputs_at(0, view(u), view(rate));
  double position = 0, velocity = 0;
  workspace->violation(0, view(s.q), view(s.v), view(u), position, velocity);
  return std::max(position, velocity);
}

std::string failure(const Model& m) {
  const auto s = assemble_model(m);
  EXPECT_FALSE(s.ok());
  return s.diagnostics().text();
}

TEST(Assemble, ClosesTheFourBarOnTheBranchOfTheGuess) {
  for (const double sign : {1.0, -1.0}) {
    FourBar b;
    b.initial("theta", b.theta, 0);
    b.guess(b.beta, sign * 80 * kDeg);
    b.guess(b.gamma, sign * 150 * kDeg);
    const auto s = assemble_model(b.model);
    ASSERT_TRUE(s.ok()) << s.diagnostics().text();
    EXPECT_EQ(s->q(0), 0);
    EXPECT_NEAR(s->q(1), sign * kPi / 2, 1e-13);
    EXPECT_NEAR(s->q(2), sign * std::atan2(2, -3), 1e-13);
    EXPECT_LT(violation(b.model, *s), kRoundOff);
    EXPECT_EQ(s->v.norm(), 0);
  }
}

TEST(Assemble, FindsAPoseWithoutAnyGuess) {
  FourBar b;
  b.initial("theta", b.theta, 40 * kDeg);
  const auto s = assemble_model(b.model);
  ASSERT_TRUE(s.ok()) << s.diagnostics().text();
  EXPECT_EQ(s->q(0), 40 * kDeg);
  EXPECT_LT(violation(b.model, *s), kRoundOff);
}

TEST(Assemble, StartsFromTheCallersGuessInsteadOfTheModels) {
  FourBar b;
  b.initial("theta", b.theta, 0);
  b.guess(b.beta, 80 * kDeg);
  b.guess(b.gamma, 150 * kDeg);
  const std::vector<double> guess{0, -1.5, -2.6};
  const auto s = assemble_model(b.model, guess);
  ASSERT_TRUE(s.ok());
  EXPECT_NEAR(s->q(1), -kPi / 2, 1e-13);
}

TEST(Assemble, MovesGuessesLessThanCoordinatesWithoutOne) {
  ModelBuilder b(SpaceKind::kPlanar);
  const int one = b.body("one", JointType::kRevolute, kGround, -1, -1, {b.bar(1, 1)});
  b.body("two", JointType::kRevolute, one, -1, -1, {b.bar(1, 1)});
  ConstraintRow& r = b.row(b.group("sum"), b.sum({{0, 1}, {1, 1}}));
  r.constant = b.number(1);
  b.guess(b.coordinate(0), 0.3);
  const auto s = assemble_model(b.model);
  ASSERT_TRUE(s.ok());
  EXPECT_NEAR(s->q(0), 0.3, 0.01);
  EXPECT_NEAR(s->q(0) + s->q(1), 1, 1e-15);
}

TEST(Assemble, PlacesAGivenPoint) {
  FourBar b;
  b.initial("tip x", ModelBuilder::between(ChannelKind::kPoint, b.tip, -1, 0), 1);
  b.guess(b.beta, 1.2);
  b.guess(b.gamma, 2.5);
  const auto s = assemble_model(b.model);
  ASSERT_TRUE(s.ok()) << s.diagnostics().text();
  const auto w = Workspace::create(b.model, nominal(b.model));
  EXPECT_NEAR(w->frame_pose(view(s->q), b.tip).position[0], 1, 1e-14);
  EXPECT_LT(violation(b.model, *s), kRoundOff);
}

TEST(Assemble, UsesAGuessedPointToChooseTheBranch) {
  for (const double sign : {1.0, -1.0}) {
    FourBar b;
    b.initial("theta", b.theta, 0);
    b.guess(ModelBuilder::between(ChannelKind::kPoint, b.tip, -1, 0), 1.1);
    b.guess(ModelBuilder::between(ChannelKind::kPoint, b.tip, -1, 1), sign * 1.7);
    const auto s = assemble_model(b.model);
    ASSERT_TRUE(s.ok()) << s.diagnostics().text();
    EXPECT_NEAR(std::sin(s->q(1)), sign, 1e-13);
  }
}

TEST(Assemble, AcceptsMoreValuesThanFreedomWhenTheyAgree) {
  FourBar b;
  b.initial("theta", b.theta, 0);
  b.initial("beta", b.beta, 1.5707963);  // seven digits
  b.initial("gamma", b.gamma, 2.5535901);
  b.initial("tip x", ModelBuilder::between(ChannelKind::kPoint, b.tip, -1, 0), 1);
  const auto s = assemble_model(b.model);
  ASSERT_TRUE(s.ok()) << s.diagnostics().text();
  EXPECT_NEAR(s->q(0), 0, 1e-6);
  EXPECT_NEAR(s->q(1), kPi / 2, 1e-6);
  EXPECT_LT(violation(b.model, *s), kRoundOff);
}

TEST(Assemble, PlacesDriversAtTheirStart) {
  FourBar b;
  ConstraintRow& r = b.row(b.group("motor", "driver"), b.theta);
  r.target = TargetKind::kSignal;
  r.signal = b.signal(Signal::polynomial({0.5, 2}));
  b.guess(b.beta, 1.2);
  b.guess(b.gamma, 2.5);
  const auto s = assemble_model(b.model);
  ASSERT_TRUE(s.ok()) << s.diagnostics().text();
  EXPECT_NEAR(s->q(0), 0.5, 1e-15);
  EXPECT_NEAR(s->v(0), 2, 1e-14);
  EXPECT_LT(violation(b.model, *s), 1e-14);
}

TEST(Assemble, KeepsTheGivenOrientationOfABall) {
  ModelBuilder b(SpaceKind::kSpatial);
  const int ball =
      b.body("ball", JointType::kSpherical, kGround, -1, -1, {b.solid(1, {1, 0, 0}, {1, 1, 1})});
  const int rod = b.body("rod", JointType::kSpherical, kGround, b.frame(kGround, {0, 2, 0}), -1,
                         {b.solid(1, {1, 0, 0}, {1, 1, 1})});
  const int g = b.group("rod");
  b.row(g, ModelBuilder::between(ChannelKind::kDistance, b.frame(ball, {1, 0, 0}),
                                 b.frame(rod, {1, 0, 0})))
      .constant = b.number(1.5);
  InitialOrientation o;
  o.joint = 0;
  o.name = "ball";
  o.quaternion = {b.number(2), -1, -1, b.number(2)};  // 90 deg about z, not of unit length
  b.model.orientations.push_back(o);
  const auto s = assemble_model(b.model);
  ASSERT_TRUE(s.ok()) << s.diagnostics().text();
  const double h = std::sqrt(0.5);
  EXPECT_LT((s->q.head(4) - Eigen::Vector4d(h, 0, 0, h)).norm(), 1e-15);
  EXPECT_NEAR(s->q.tail(4).norm(), 1, 1e-15);
  EXPECT_LT(violation(b.model, *s), kRoundOff);
}

TEST(Assemble, BlamesTheOnlyGivenValueThatKeepsALoopOpen) {
  FourBar b(6);  // 6 m apart: crank and coupler reach the rocker only near theta = 0
  b.initial("theta", b.theta, 90 * kDeg, 12);
  b.guess(b.gamma, 160 * kDeg);
  EXPECT_EQ(
      failure(b.model),
      "model.toml:7:1: error[E0501]: loop \"pin\" cannot close: its ends stay 477.2 mm apart with "
      "theta = 90 deg (line 12); 62.3 deg would fit\n");
}

TEST(Assemble, NamesGivenValuesThatConflict) {
  FourBar b;
  b.initial("theta", b.theta, 0, 12);
  b.initial("gamma", b.gamma, 140 * kDeg, 13);
  EXPECT_EQ(
      failure(b.model),
      "model.toml:7:1: error[E0501]: loop \"pin\" cannot close: its ends stay 329.8 mm apart; "
      "given "
      "values conflict: theta = 0 deg (line 12), gamma = 140 deg (line 13); drop one or make it a "
      "guess\n");
}

TEST(Assemble, LeavesInnocentValuesUnnamed) {
  FourBar b;
  const int free = b.body("free", JointType::kPrismatic, kGround, -1, -1, {b.bar(1, 1)}, {1, 0, 0});
  (void)free;
  b.initial("free", b.coordinate(3), 0.2, 11);
  b.initial("theta", b.theta, 0, 12);
  b.initial("gamma", b.gamma, 140 * kDeg, 13);
  const std::string text = failure(b.model);
  EXPECT_EQ(text.find("free"), std::string::npos) << text;
  EXPECT_NE(text.find("theta = 0 deg"), std::string::npos) << text;
}

TEST(Assemble, SaysWhenNoInitialValueCanCloseALoop) {
  FourBar b(10);
  b.initial("theta", b.theta, 0, 12);
  EXPECT_EQ(failure(b.model),
            "model.toml:7:1: error[E0501]: loop \"pin\" cannot close: its ends stay 3394 mm apart, "
            "whatever "
            "initial values are chosen; check its lengths and places\n");
}

TEST(Assemble, NamesADriverThatCannotReachItsPosition) {
  FourBar b(6);
  ConstraintRow& r = b.row(b.group("motor", "driver", 9), b.theta);
  r.target = TargetKind::kSignal;
  r.signal = b.signal(Signal::constant(2));
  const std::string text = failure(b.model);
  EXPECT_NE(text.find("error[E0501]"), std::string::npos) << text;
}

TEST(Assemble, SaysHowFarAPointIsOutOfReach) {
  ModelBuilder b(SpaceKind::kPlanar);
  const int one = b.body("one", JointType::kRevolute, kGround, -1, -1, {b.bar(1, 1)});
  const int two = b.body("two", JointType::kRevolute, one, b.frame(one, {1, 0}), -1, {b.bar(1, 1)});
  const int tip = b.frame(two, {1, 0});
  b.initial("tip x", ModelBuilder::between(ChannelKind::kPoint, tip, -1, 0), 2.5, 5);
  EXPECT_EQ(failure(b.model),
            "model.toml:5:1: error[E0502]: initial values cannot be reached, off by 500 mm: tip x "
            "= 2500 mm "
            "(line 5); 2000 mm would fit\n");
}

TEST(Assemble, SatisfiesGivenSpeedsAndLoops) {
  FourBar b;
  b.initial("theta", b.theta, 0);
  b.guess(b.beta, 1.5);
  b.guess(b.gamma, 2.5);
  b.rate("theta_dot", b.theta, 2);
  const auto s = assemble_model(b.model);
  ASSERT_TRUE(s.ok()) << s.diagnostics().text();
  EXPECT_NEAR(s->v(0), 2, 1e-15);
  EXPECT_LT(violation(b.model, *s), 1e-14);
  EXPECT_GT(std::abs(s->v(1)), 0.1);
}

TEST(Assemble, ChoosesTheSpeedsOfLeastKineticEnergy) {
  ModelBuilder c(SpaceKind::kPlanar);
  const int one = c.body("one", JointType::kRevolute, kGround, -1, -1, {c.bar(1, 1)});
  c.body("two", JointType::kRevolute, one, c.frame(one, {1, 0}), -1, {c.bar(1, 1)});
  c.initial("two", c.coordinate(1), 0.7);
  c.rate("one_dot", c.coordinate(0), 1);
  const auto s = assemble_model(c.model);
  ASSERT_TRUE(s.ok());
  const auto w = Workspace::create(c.model, nominal(c.model));
  Eigen::MatrixXd mass;
  w->mass_matrix(view(s->q), mass);
  // The free speed carries no momentum.
  EXPECT_NEAR((mass * s->v)(1), 0, 1e-7);  // regularised by 1e-8 of the largest inertia
}

TEST(Assemble, NamesASpeedThatContradictsTheLoops) {
  FourBar b;
  b.initial("theta", b.theta, 0);
  b.guess(b.beta, 1.5);
  b.guess(b.gamma, 2.5);
  b.rate("theta_dot", b.theta, 1, 14);
  b.rate("gamma_dot", b.gamma, 5, 15);
  EXPECT_EQ(failure(b.model),
            "model.toml:14:1: error[E0503]: initial speed theta_dot = 1 rad/s contradicts the "
            "constraints and "
            "gamma_dot; -15 rad/s would fit\n");
}

TEST(Assemble, AcceptsRedundantSpeedsThatAgree) {
  FourBar b;
  b.initial("theta", b.theta, 0);
  b.guess(b.beta, 1.5);
  b.guess(b.gamma, 2.5);
  b.rate("theta_dot", b.theta, 1, 14);
  b.rate("gamma_dot", b.gamma, -0.3333333, 15);
  const auto s = assemble_model(b.model);
  ASSERT_TRUE(s.ok()) << s.diagnostics().text();
  EXPECT_NEAR(s->v(2), -1.0 / 3, 1e-6);
  EXPECT_LT(violation(b.model, *s), 1e-14);
}

TEST(Assemble, ReportsPositionsThatAreNotFinite) {
  ModelBuilder b(SpaceKind::kPlanar);
  b.body("one", JointType::kRevolute, kGround, -1, -1, {b.bar(1, 1)});
  const int centre = b.frame(0, {0, 0});
  b.row(b.group("rod", "distance", 4), ModelBuilder::between(ChannelKind::kDistance, centre, -1))
      .constant = b.number(1);
  EXPECT_NE(failure(b.model).find("E0504"), std::string::npos);
}

}  // namespace
}  // namespace panto
