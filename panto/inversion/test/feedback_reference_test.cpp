// Feedback around inverse models against closed forms, second formulations and independently computed values.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "panto/inversion/feedback/closed_loop.hpp"
#include "panto/inversion/test/cases.hpp"
#include "panto/numerics/riccati.hpp"

namespace panto {
namespace {

using inversion_test::CableDae;
using inversion_test::CableOde;

// One mass, one force: ÿ = u.
LinearServo mass() {
  LinearServoMatrices m;
  m.M = m.B = m.H = Eigen::MatrixXd::Identity(1, 1);
  m.K = m.D = Eigen::MatrixXd::Zero(1, 1);
  return *LinearServo::create(m);
}
DesiredMotion moved(ServoSystem& system, const Path& path, double until, double dt = 0.01) {
  InverseOptions o;
  o.dt = dt;
  Result<DesiredMotion> m = desired_motion(system, path, o, until);
  EXPECT_TRUE(m.ok()) << m.diagnostics().text();
  return *m;
}
FeedbackSettings lqr(int nv, int nu, double q, double r) {
  FeedbackSettings s;
  s.name = "lqr";
  s.law = Law::kLqr;
  s.lqr.Q = q * Eigen::MatrixXd::Identity(2 * nv, 2 * nv);
  s.lqr.R = r * Eigen::MatrixXd::Identity(nu, nu);
  return s;
}
LoopRun run(ServoSystem& system, const DesiredMotion& motion, const FeedbackSettings& settings,
            const LoopSettings& loop) {
  const Result<FeedbackDesign> design =
      design_feedback(system, motion, settings, motion.dt() * loop.every);
  EXPECT_TRUE(design.ok()) << design.diagnostics().text();
  EXPECT_TRUE(check_loop(motion, loop).ok()) << check_loop(motion, loop).text();
  const auto controller = Controller::create(*design, system, loop.limits);
  const auto plant = make_plant(system);
  LoopRun out = run_loop(motion, *controller, *plant, loop);
  EXPECT_EQ(out.status, Status::kOk) << out.failed << " at " << out.failed_at;
  return out;
}

// Table 4.4 of the thesis: Q = 1000, R = 100, at the end of the line (L = 7 m). Values: scipy 1.10.1, linalg.solve_continuous_are on the linearised (2.69),
// to its six digits here; the thesis prints none.
TEST(FeedbackReference, GainOfTheCableRobotIsTheOneOfAnIndependentProgram) {
  FunctionServo<CableOde> robot;
  const DesiredMotion motion = moved(robot, inversion_test::cable_line(), 12);
  const Result<GainSchedule> gains = lqr_gains(robot, motion, lqr(3, 2, 1000, 100).lqr);
  ASSERT_TRUE(gains.ok()) << gains.diagnostics().text();
  Eigen::MatrixXd f(2, 6);
  f << 3.162277660, 0, -4.044680789, 2.714480083, 0, 2.337128875,  //
      0, 3.162277660, 0, 0, 2.335639535, 0;
  EXPECT_LT((gains->F[0] - f).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_NEAR(gains->poles[0].front().real(), -0.0812491, 1e-6);
  EXPECT_LT(gains->residual, 1e-13);
}

TEST(FeedbackReference, PolesOfTheLoopAreTheStableEigenvaluesOfTheHamiltonianMatrix) {
  auto robot = inversion_test::cable_dae();
  const DesiredMotion motion = moved(robot, inversion_test::cable_line(), 10);
  LqrSettings settings = lqr(4, 2, 10, 3).lqr;
  settings.at = LqrSettings::Where::kStart;
  const Result<GainSchedule> gains = lqr_gains(robot, motion, settings);
  ASSERT_TRUE(gains.ok()) << gains.diagnostics().text();
  const Wanted x = motion.at(0);
  const Result<LinearMotion> m = linearise_motion(robot, x.t, x.y, x.v, x.u);
  ASSERT_TRUE(m.ok());
  ASSERT_EQ(m->A.rows(), 6);
  Eigen::MatrixXd h(12, 12);
  h << m->A, -m->B * m->B.transpose() / 3, -10 * Eigen::MatrixXd::Identity(6, 6), -m->A.transpose();
  const Eigen::VectorXcd all = Eigen::EigenSolver<Eigen::MatrixXd>(h).eigenvalues();
  size_t stable = 0;
  for (const std::complex<double>& e : all) {
    if (e.real() > 0) continue;
    ++stable;
    double nearest = 1e300;
    for (const auto& p : gains->poles[0]) nearest = std::min(nearest, std::abs(p - e));
    EXPECT_LT(nearest, 1e-8 * std::abs(e));
  }
  EXPECT_EQ(stable, gains->poles[0].size());
  // The loop of the whole system, multipliers eliminated, is closed by F in all coordinates.
  const auto closed = (m->A - m->B * gains->F[0] * m->T).eval();
  EXPECT_LT(closed.eigenvalues().real().maxCoeff(), 0);
}

// Redundant coordinates x_T, L, x_P, z_P with any weights, and minimal ones x_T, L, φ with the same weights seen through J: the same inputs.
TEST(FeedbackReference, WeightsInRedundantCoordinatesGiveTheGainOfMinimalOnes) {
  auto dae = inversion_test::cable_dae();
  FunctionServo<CableOde> ode;
  const Path line = inversion_test::cable_line();
  const DesiredMotion of_dae = moved(dae, line, 12), of_ode = moved(ode, line, 12);
  LqrSettings redundant, minimal;
  redundant.Q = Eigen::VectorXd::LinSpaced(8, 3, 40).asDiagonal();
  redundant.R = minimal.R = Eigen::Vector2d(2, 5).asDiagonal();
  const double L = 7;
  Eigen::MatrixXd j(4, 3), J = Eigen::MatrixXd::Zero(8, 6);
  j << 1, 0, 0, 0, 1, 0, 1, 0, L, 0, 1, 0;
  J.topLeftCorner(4, 3) = J.bottomRightCorner(4, 3) = j;
  minimal.Q = J.transpose() * redundant.Q * J;
  const Result<GainSchedule> a = lqr_gains(dae, of_dae, redundant),
                             b = lqr_gains(ode, of_ode, minimal);
  ASSERT_TRUE(a.ok() && b.ok());
  // Both linearised where their inverse models end, which agree to 1e-8.
  EXPECT_LT((a->F[0] * J - b->F[0]).cwiseAbs().maxCoeff(), 1e-6);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_LT(std::abs(a->poles[0][i] - b->poles[0][i]), 1e-5 * std::abs(b->poles[0][i]));
}

// (3.106) by blocks with the last factor corrected to M_aa⁻¹, and as printed, with M'_aa⁻¹, against Θ M⁻¹ B.
TEST(FeedbackReference, TheInputMatrixOfTheSurfaceIsTheCorrectedOne) {
  Eigen::MatrixXd m(3, 3), b = Eigen::MatrixXd::Zero(3, 2), theta(2, 3);
  m << 4, 0.5, 1.2, 0.3, 3, -0.7, 1.1, -0.4, 2;  // not symmetric
  b(0, 0) = 1.5, b(1, 1) = -2;
  theta << 1, 0, 1.5, 0.2, 1, -0.8;
  const Eigen::MatrixXd maa = m.topLeftCorner(2, 2), mau = m.topRightCorner(2, 1),
                        mua = m.bottomLeftCorner(1, 2), muu = m.bottomRightCorner(1, 1),
                        ba = b.topRows(2), ta = theta.leftCols(2), tu = theta.rightCols(1);
  const Eigen::MatrixXd aa = maa - mau * muu.inverse() * mua, uu = muu - mua * maa.inverse() * mau;
  const Eigen::MatrixXd corrected =
                            ta * aa.inverse() * ba - tu * uu.inverse() * mua * maa.inverse() * ba,
                        printed =
                            ta * aa.inverse() * ba - tu * uu.inverse() * mua * aa.inverse() * ba;
  LinearServoMatrices lm;
  lm.M = m;
  lm.K = lm.D = Eigen::MatrixXd::Zero(3, 3);
  lm.B = b;
  lm.H = Eigen::MatrixXd::Identity(2, 3);
  LinearServo servo = *LinearServo::create(lm);
  MotionSolver solver(servo);
  const std::vector<double> zero(3, 0.0);
  ASSERT_EQ(solver.solve(0, zero, zero), Status::kOk);
  const Eigen::MatrixXd ours = theta * solver.solution().topRightCorner(3, 2);
  EXPECT_LT((ours - corrected).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_GT((ours - printed).cwiseAbs().maxCoeff(), 1e-2);
}

FeedbackSettings sliding(double layer) {
  FeedbackSettings s;
  s.name = "sliding";
  s.law = Law::kSliding;
  s.sliding.rate = Eigen::MatrixXd::Identity(1, 1);
  s.sliding.position = 2 * s.sliding.rate;
  s.sliding.reach = Eigen::VectorXd::Ones(1);
  s.sliding.layer = layer * Eigen::VectorXd::Ones(1);
  return s;
}
// σ = ẏ + 2 y falls from 2 at the rate κ = 1, less a disturbance of 0.6 that it fights: inside the layer after (2 - Φ) / (1 - 0.6) s, and there it
// stays below 0.6 Φ. The inputs stand still for 1 ms.
TEST(FeedbackReference, TheSurfaceIsReachedInFiniteTimeAgainstADisturbance) {
  LinearServo system = mass();
  const DesiredMotion motion = moved(system, *Path::line({0}, {0}, 0, 1, 4), 8, 0.001);
  for (const double push : {0.0, 0.6, -0.6}) {
    LoopSettings loop;
    loop.start = {1};
    loop.disturbance = {push};
    const LoopRun r = run(system, motion, sliding(0.05), loop);
    double reached = -1, worst = 0;
    for (size_t k = 0; k < r.t.size(); ++k) {
      const double sigma = r.v[0][k] + 2 * r.y[0][k];
      if (reached < 0 && sigma < 0.05) reached = r.t[k];
      if (r.t[k] > 7) worst = std::max(worst, std::abs(sigma));
    }
    EXPECT_NEAR(reached, (2 - 0.05) / (1 - push), 5e-3) << push;
    EXPECT_NEAR(worst, 0.05 * std::abs(push), 1e-3) << push;
    EXPECT_LT(r.inputs[0].saturated, 1e-12);
  }
}

// The thesis' surface for the cable robot (Table 4.5) takes away an error of 0.5 m at the start; inputs of the inverse alone do not.
TEST(FeedbackReference, FeedbackTakesAwayAnErrorAtTheStartAndFeedforwardDoesNot) {
  FunctionServo<CableOde> robot;
  const Path line = *Path::line({11, 4.5}, {15, 6}, 0, 15, 4);
  const DesiredMotion motion = moved(robot, line, 60);
  LoopSettings loop;
  loop.start = {0.5, 0, 0};
  loop.plant_step = 0.005;
  const LoopRun open = run(robot, motion, {}, loop);
  EXPECT_NEAR(open.errors[0].final, 0.5, 0.1);
  const LoopRun quadratic = run(robot, motion, lqr(3, 2, 1000, 100), loop);
  EXPECT_LT(std::abs(quadratic.errors[0].final), 0.02);
  FeedbackSettings s;
  s.law = Law::kSliding;
  s.sliding.rate.resize(2, 3);
  s.sliding.position.resize(2, 3);
  s.sliding.rate << 1, 0, 1.5, 0, 1, 0;
  s.sliding.position << 0.5, 0, -5, 0, 0.5, 0;
  s.sliding.reach = s.sliding.layer = Eigen::Vector2d(1, 1);
  const LoopRun surface = run(robot, motion, s, loop);
  EXPECT_LT(std::abs(surface.errors[0].final), 0.02);
}

// On the manifold of a DAE: the same loop in redundant and in minimal coordinates moves the load alike.
TEST(FeedbackReference, TheLoopOfRedundantCoordinatesMovesAsThatOfMinimalOnes) {
  auto dae = inversion_test::cable_dae();
  FunctionServo<CableOde> ode;
  const Path line = inversion_test::cable_line();
  const DesiredMotion of_dae = moved(dae, line, 12), of_ode = moved(ode, line, 12);
  FeedbackSettings redundant = lqr(4, 2, 100, 10), minimal = lqr(3, 2, 100, 10);
  Eigen::MatrixXd j(4, 3), J = Eigen::MatrixXd::Zero(8, 6);
  j << 1, 0, 0, 0, 1, 0, 1, 0, 7, 0, 1, 0;
  J.topLeftCorner(4, 3) = J.bottomRightCorner(4, 3) = j;
  minimal.lqr.Q = J.transpose() * redundant.lqr.Q * J;
  LoopSettings a, b;
  a.start = {0.01, 0, 0.01, 0};
  b.start = {0.01, 0, 0};
  const LoopRun x = run(dae, of_dae, redundant, a), y = run(ode, of_ode, minimal, b);
  // Far from the end, where the gain belongs, x_P - x_P,d is not L φ: of the second order in the deviation of 1 cm.
  for (size_t k = 0; k < x.t.size(); k += 50) EXPECT_NEAR(x.z[0][k], y.z[0][k], 2e-3) << x.t[k];
  EXPECT_NEAR(x.errors[0].final, y.errors[0].final, 1e-4);
}

TEST(FeedbackReference, AnIntegralLeavesNoErrorUnderAConstantDisturbance) {
  LinearServo system = mass();
  const DesiredMotion motion = moved(system, *Path::line({0}, {1}, 0, 1, 4), 12);
  FeedbackSettings pid;
  pid.law = Law::kPid;
  pid.pid.p = 20 * Eigen::MatrixXd::Identity(1, 1);
  pid.pid.d = 8 * Eigen::MatrixXd::Identity(1, 1);
  pid.pid.i = Eigen::MatrixXd::Zero(1, 1);
  LoopSettings loop;
  loop.disturbance = {0.5};
  // Without: u = p e must balance the disturbance.
  EXPECT_NEAR(run(system, motion, pid, loop).errors[0].final, 0.5 / 20, 1e-4);
  pid.pid.i(0, 0) = 15;
  EXPECT_LT(std::abs(run(system, motion, pid, loop).errors[0].final), 1e-6);
}

// A limit that holds the actuator for long: the integral waits, and the output does not run over.
TEST(FeedbackReference, TheIntegralStandsStillInALimit) {
  LinearServo system = mass();
  const DesiredMotion motion = moved(system, *Path::line({0}, {0}, 0, 1, 4), 20);
  FeedbackSettings pid;
  pid.law = Law::kPid;
  pid.pid.p = 4 * Eigen::MatrixXd::Identity(1, 1);
  pid.pid.i = pid.pid.d = 4 * Eigen::MatrixXd::Identity(1, 1);
  LoopSettings loop;
  loop.start = {-2};
  loop.limits = {{-0.5}, {0.5}};
  const LoopRun r = run(system, motion, pid, loop);
  EXPECT_GT(r.inputs[0].saturated, 0.05);
  EXPECT_EQ(r.inputs[0].first, 0);
  EXPECT_LE(r.inputs[0].max, 0.5);
  EXPECT_LT(std::abs(r.errors[0].final), 1e-2);
  // Wound up over the whole way it would overshoot by more than it had to go.
  EXPECT_LT(*std::max_element(r.z[0].begin(), r.z[0].end()), 0.5 * 2);
}

// ÿ = u, u̇ = (c - u) / τ with c = 1: y = t²/2 - τ t + τ² (1 - e^(-t/τ)).
TEST(FeedbackReference, ActuatorsLagExactly) {
  LinearServo system = mass();
  DesiredMotion motion = moved(system, *Path::line({0}, {0}, 0, 1, 4), 1);
  motion.u.rightCols(motion.u.cols() - 1).setOnes();
  LoopSettings loop;
  loop.lag = {0.2};
  loop.every = 1;
  const LoopRun r = run(system, motion, {}, loop);
  const double t = 0.99, tau = 0.2;
  // The first cycle still gives zero. Straight lines between steps of 1 ms: h² / (12 τ²) of the input.
  EXPECT_NEAR(r.y[0].back(), t * t / 2 - tau * t + tau * tau * (1 - std::exp(-t / tau)), 1e-5);
}

TEST(FeedbackReference, GainsAlongThePathAreThoseOfEveryInstant) {
  FunctionServo<CableOde> robot;
  const DesiredMotion motion = moved(robot, inversion_test::cable_line(), 12);
  FeedbackSettings s = lqr(3, 2, 1000, 100);
  s.lqr.at = LqrSettings::Where::kPath;
  s.lqr.samples = 13;
  const Result<GainSchedule> path = lqr_gains(robot, motion, s.lqr);
  ASSERT_TRUE(path.ok());
  ASSERT_EQ(path->t.size(), 13U);
  s.lqr.at = LqrSettings::Where::kEnd;
  EXPECT_LT((path->F.back() - lqr_gains(robot, motion, s.lqr)->F[0]).norm(), 1e-9);
  s.lqr.at = LqrSettings::Where::kStart;
  EXPECT_LT((path->F.front() - lqr_gains(robot, motion, s.lqr)->F[0]).norm(), 1e-9);
  for (const auto& poles : path->poles) EXPECT_LT(poles.front().real(), 0);
  s.lqr.at = LqrSettings::Where::kPath;
  LoopSettings loop;
  loop.start = {0.2, 0, 0};
  loop.hold = Hold::kLinear;
  EXPECT_LT(run(robot, motion, s, loop).errors[0].rms, 0.2);
}

int first_error(const Diagnostics& d) { return d.items().empty() ? 0 : d.items().front().id; }

TEST(FeedbackReference, WhatCannotBeIsNamed) {
  // At 90° the mass on its incline moves by itself, undamped: no force on the car reaches it.
  inversion_test::Car car;
  car.alpha = std::numbers::pi / 2;
  LinearServo upright = *LinearServo::create(car.matrices());
  DesiredMotion still;
  still.t = {0, 0.01};
  still.y = still.v = still.w = Eigen::MatrixXd::Zero(3, 2);
  still.u = still.z = Eigen::MatrixXd::Zero(1, 2);
  const Result<FeedbackDesign> none = design_feedback(upright, still, lqr(3, 1, 1, 1), 0.01);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(first_error(none.diagnostics()), 1051);
  EXPECT_NE(none.diagnostics().text().find("± 1i 1/s"), std::string::npos)
      << none.diagnostics().text();
  LinearServo one = *LinearServo::create(inversion_test::Car{}.matrices());
  EXPECT_EQ(first_error(design_feedback(one, still, lqr(3, 1, 0, 1), 0.01).diagnostics()), 1052);
  EXPECT_EQ(first_error(design_feedback(one, still, lqr(2, 1, 1, 1), 0.01).diagnostics()), 1055);
  EXPECT_EQ(first_error(design_feedback(one, still, lqr(3, 1, 1, -1), 0.01).diagnostics()), 1055);
  FeedbackSettings wrong = sliding(1);
  EXPECT_EQ(first_error(design_feedback(one, still, wrong, 0.01).diagnostics()), 1055);
  wrong.sliding.rate = Eigen::RowVector3d(0, 0, 0);
  wrong.sliding.position = Eigen::RowVector3d(1, 0, 0);
  EXPECT_EQ(first_error(design_feedback(one, still, wrong, 0.01).diagnostics()), 1056);
  wrong.law = Law::kPid;
  EXPECT_EQ(first_error(design_feedback(one, still, wrong, 0.01).diagnostics()), 1055);
  LoopSettings loop;
  loop.lag = {1, 1};
  EXPECT_EQ(first_error(check_loop(still, loop)), 1058);
  loop.lag = {-1};
  EXPECT_EQ(first_error(check_loop(still, loop)), 1058);
  // A coordinate moved by its input without delay.
  LinearServoMatrices drive = inversion_test::chain(2);
  drive.C = Eigen::RowVector2d(1, 0);
  drive.C_u = -Eigen::MatrixXd::Identity(1, 1);
  drive.B.setZero();
  LinearServo ideal = *LinearServo::create(drive);
  still.y = still.v = still.w = Eigen::MatrixXd::Zero(2, 2);
  EXPECT_EQ(first_error(design_feedback(ideal, still, lqr(2, 1, 1, 1), 0.01).diagnostics()), 1053);
  // Two rows that say the same.
  drive = inversion_test::chain(2);
  drive.C = Eigen::MatrixXd::Ones(2, 2);
  LinearServo twice = *LinearServo::create(drive);
  EXPECT_EQ(first_error(design_feedback(twice, still, lqr(2, 1, 1, 1), 0.01).diagnostics()), 1054);
}

}  // namespace
}  // namespace panto
