// Inverse dynamics and static equilibrium.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/mechanics/test/four_bar.hpp"

namespace panto {
namespace {

using test::FourBar;
using test::ModelBuilder;
constexpr double kPi = std::numbers::pi;
constexpr double kG = 9.81;

TEST(InverseDynamics, HoldsAnArmAgainstGravity) {
  ModelBuilder b(SpaceKind::kPlanar);
  b.gravity(0, -kG);
  b.body("arm", JointType::kRevolute, kGround, -1, -1, {b.bar(2, 1.5)});
  b.actuator("motor", b.coordinate(0));
  const auto w = Workspace::create(b.model, nominal(b.model));
  const Eigen::VectorXd q = Eigen::VectorXd::Constant(1, 0.4), v = Eigen::VectorXd::Constant(1, 3),
                        a = Eigen::VectorXd::Constant(1, 2);
  Point p;
  p.q = view(q);
  p.v = view(v);
  p.a = view(a);
  InverseDynamics out;
  const int motor = 0;
  ASSERT_EQ(inverse_dynamics(*w, p, {&motor, 1}, out), Status::kOk);
  EXPECT_NEAR(out.u(0), 2 * 1.5 * 1.5 / 3 * 2 + 2 * kG * 0.75 * std::cos(0.4), 1e-13);
}

TEST(InverseDynamics, SaysWhatNoActuatorCanProduce) {
  ModelBuilder b(SpaceKind::kPlanar);
  b.body("one", JointType::kPrismatic, kGround, -1, -1, {b.solid(2, {0, 0}, {1})}, {1, 0, 0});
  b.body("two", JointType::kPrismatic, kGround, -1, -1, {b.solid(3, {0, 0}, {1})}, {1, 0, 0});
  b.actuator("push", b.coordinate(0));
  const auto w = Workspace::create(b.model, nominal(b.model));
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(2), a = Eigen::Vector2d(1, 1);
  Point p;
  p.q = p.v = view(zero);
  p.a = view(a);
  InverseDynamics out;
  const int push = 0;
  EXPECT_EQ(inverse_dynamics(*w, p, {&push, 1}, out), Status::kSingular);
  EXPECT_NEAR(out.u(0), 2, 1e-14);
  EXPECT_NEAR(out.residual, 3, 1e-14);
}

TEST(InverseDynamics, ReadsTheInputOfAVelocityDriveOffTheMotion) {
  for (const TargetKind kind : {TargetKind::kDrive0, TargetKind::kDrive1, TargetKind::kDrive2}) {
    ModelBuilder b(SpaceKind::kPlanar);
    b.body("cart", JointType::kPrismatic, kGround, -1, -1, {b.solid(2, {0, 0}, {1})}, {1, 0, 0});
    const int input = b.input("drive");
    ConstraintRow& r = b.row(b.group("drive"), b.coordinate(0),
                             kind == TargetKind::kDrive0 ? Level::kVelocity : Level::kAcceleration);
    r.target = kind;
    r.input = input;
    r.tau = b.number(0.5);
    r.zeta = b.number(0.7);
    r.omega = b.number(4);
    const auto w = Workspace::create(b.model, nominal(b.model));
    const Eigen::VectorXd q = Eigen::VectorXd::Constant(1, 0.3),
                          v = Eigen::VectorXd::Constant(1, 2), a = Eigen::VectorXd::Constant(1, 5);
    Point p;
    p.q = view(q);
    p.v = view(v);
    p.a = view(a);
    InverseDynamics out;
    ASSERT_EQ(inverse_dynamics(*w, p, {&input, 1}, out), Status::kOk);
    const double expected = kind == TargetKind::kDrive0   ? 2
                            : kind == TargetKind::kDrive1 ? 0.5 * 5 + 2
                                                          : 0.3 + (5 + 2 * 0.7 * 4 * 2) / 16;
    EXPECT_NEAR(out.u(0), expected, 1e-14);
    EXPECT_NEAR(out.lambda(0), 2 * 5, 1e-13);
  }
}

Result<Equilibrium> equilibrium_of(const Model& m, const std::vector<double>& guess = {}) {
  const auto w = Workspace::create(m, nominal(m));
  return equilibrium(*w, 0, {.q = guess});
}

ModelBuilder pendulum() {
  ModelBuilder b(SpaceKind::kPlanar);
  b.gravity(0, -kG);
  b.body("arm", JointType::kRevolute, kGround, -1, -1, {b.bar(2, 1.5)});
  return b;
}

TEST(Equilibrium, HangingPendulumIsStableAndSwingsAtItsFrequency) {
  const auto e = equilibrium_of(pendulum().model, {-1});
  ASSERT_TRUE(e.ok()) << e.diagnostics().text();
  EXPECT_NEAR(e->q(0), -kPi / 2, 1e-14);
  EXPECT_TRUE(e->stable);
  ASSERT_EQ(e->eigenvalues.size(), 2U);
  EXPECT_NEAR(e->eigenvalues[0].second, std::sqrt(1.5 * kG / 1.5), 1e-12);
}

TEST(Equilibrium, UprightPendulumIsReportedWithItsGrowthRate) {
  const auto e = equilibrium_of(pendulum().model, {1.4});
  ASSERT_TRUE(e.ok()) << e.diagnostics().text();
  EXPECT_NEAR(e->q(0), kPi / 2, 1e-14);
  EXPECT_FALSE(e->stable);
  EXPECT_NEAR(e->growth_rate, std::sqrt(1.5 * kG / 1.5), 1e-12);
}

TEST(Equilibrium, AFarGuessIsLetDownToAStableRest) {
  for (const double angle : {0.0, 0.6, 1.1, 2.3, -3.0}) {
    const auto e = equilibrium_of(pendulum().model, {angle});
    ASSERT_TRUE(e.ok()) << angle << e.diagnostics().text();
    EXPECT_NEAR(std::sin(e->q(0)), -1, 1e-14) << angle;
    EXPECT_TRUE(e->stable);
  }
}

TEST(Equilibrium, ExactGuessIsAccepted) {
  const auto e = equilibrium_of(pendulum().model, {-kPi / 2});
  ASSERT_TRUE(e.ok()) << e.diagnostics().text();
  EXPECT_TRUE(e->stable);
}

TEST(Equilibrium, FourBarRestsWhereItsPotentialIsLowest) {
  FourBar b;
  b.initial("theta", b.theta, -1);
  b.guess(b.beta, 1.5);
  b.guess(b.gamma, 2.5);
  const auto w = Workspace::create(b.model, nominal(b.model));
  const auto e = equilibrium(*w, 0);
  ASSERT_TRUE(e.ok()) << e.diagnostics().text();
  EXPECT_TRUE(e->stable);
  // Independent check: potential energy of closed poses either side, and its curvature against the eigenvalue.
  const auto potential = [&](double step) {
    Closure closure(*w, 0);
    Eigen::VectorXd q = e->q;
    q(0) += step;
    closure.mobility(0) = 0;
    EXPECT_TRUE(closure.solve(q).converged);
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(3);
    return w->energy(view(q), view(zero)).potential;
  };
  const double h = 1e-3, v0 = potential(0), vp = potential(h), vm = potential(-h);
  EXPECT_GT(vp, v0);
  EXPECT_GT(vm, v0);
  EXPECT_NEAR((vp - vm) / (2 * h), 0, 1e-4);  // truncation h² V'''/6
  Eigen::MatrixXd mass, r;
  w->choose_partition(0, view(e->q));
  Eigen::VectorXd q = e->q;
  ASSERT_FALSE(fatal(w->close_positions(0, view(q))));
  w->null_space(r);
  w->mass_matrix(view(q), mass);
  const Eigen::VectorXd motion = r.col(0) / r(0, 0);
  const double stiffness = (vp - 2 * v0 + vm) / (h * h), inertia = motion.dot(mass * motion);
  EXPECT_NEAR(e->eigenvalues[0].second, std::sqrt(stiffness / inertia), 1e-4);  // truncation
  EXPECT_NEAR(e->eigenvalues[0].first, 0, 1e-9);
}

TEST(Equilibrium, SpringCarriesItsLoadAndDamperDecides) {
  ModelBuilder b(SpaceKind::kPlanar);
  b.gravity(0, -kG);
  b.body("mass", JointType::kPrismatic, kGround, -1, -1, {b.solid(2, {0, 0}, {1})}, {0, 1, 0});
  ForceElement& s = b.force("spring", LawKind::kSpringDamper, b.coordinate(0));
  s.stiffness = b.number(100);
  s.damping = b.number(4);
  const auto e = equilibrium_of(b.model);
  ASSERT_TRUE(e.ok()) << e.diagnostics().text();
  EXPECT_NEAR(e->q(0), -2 * kG / 100, 1e-15);
  EXPECT_NEAR(e->growth_rate, -1, 1e-12);
  EXPECT_NEAR(e->eigenvalues[0].second, 7, 1e-12);
}

TEST(Equilibrium, HeavyTopHangsDownFromATiltedGuess) {
  ModelBuilder b(SpaceKind::kSpatial);
  b.gravity(0, 0, -kG);
  b.body("top", JointType::kSpherical, kGround, -1, -1,
         {b.solid(2, {0, 0, 0.5}, {0.1, 0.1, 0.05})});
  const double half = 0.5 * 2.6;  // 149 deg from upright
  const auto e = equilibrium_of(b.model, {std::cos(half), std::sin(half), 0, 0});
  ASSERT_TRUE(e.ok()) << e.diagnostics().text();
  const auto w = Workspace::create(b.model, nominal(b.model));
  EXPECT_NEAR(w->body_pose(view(e->q), 0).axes[8], -1, 1e-14);
  EXPECT_TRUE(e->stable);
  EXPECT_NEAR(e->eigenvalues.front().first, 0, 1e-6);
}

TEST(Equilibrium, NamesTheForceThatNothingBalances) {
  ModelBuilder b(SpaceKind::kPlanar);
  b.body("cart", JointType::kPrismatic, kGround, -1, -1, {b.solid(2, {0, 0}, {1})}, {1, 0, 0});
  ForceElement& push = b.force("push", LawKind::kApplied, b.coordinate(0));
  push.signal = b.signal(Signal::constant(3));
  const auto e = equilibrium_of(b.model);
  ASSERT_FALSE(e.ok());
  EXPECT_NE(e.diagnostics().text().find(
                "error[E0505]: no equilibrium found from this guess: 3 N remains on cart"),
            std::string::npos)
      << e.diagnostics().text();
}

TEST(Equilibrium, SecondOrderDriveStandsAtItsInput) {
  ModelBuilder b(SpaceKind::kPlanar);
  b.gravity(0, -kG);
  b.body("arm", JointType::kRevolute, kGround, -1, -1, {b.bar(2, 1.5)});
  const int input = b.input("drive", 0.8);
  ConstraintRow& r = b.row(b.group("drive"), b.coordinate(0), Level::kAcceleration);
  r.target = TargetKind::kDrive2;
  r.input = input;
  r.zeta = b.number(0.5);
  r.omega = b.number(10);
  const auto e = equilibrium_of(b.model);
  ASSERT_TRUE(e.ok()) << e.diagnostics().text();
  EXPECT_NEAR(e->q(0), 0.8, 1e-14);
  EXPECT_NEAR(e->lambda(0), 2 * kG * 0.75 * std::cos(0.8), 1e-12);
  EXPECT_NEAR(e->growth_rate, -5, 1e-12);
}

}  // namespace
}  // namespace panto
