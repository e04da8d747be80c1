// Stable inversion of the planar manipulator with a passive joint (Drücker, 2022, Section 6.3; criteria A13 and A14 of its recomputation).
#include <gtest/gtest.h>

#include "panto/inversion/horizon_search.hpp"
#include "panto/inversion/linear_servo.hpp"
#include "panto/inversion/stable_inversion.hpp"
#include "panto/inversion/test/cases.hpp"

namespace panto {
namespace {

using Arm = inversion_test::PassiveArm;
using inversion_test::largest_difference;
using inversion_test::swing;

TEST(StableInversionReference, ThePassiveJointHasOneGrowingAndOneDecayingMode) {
  FunctionServo<Arm> arm;
  const Path path = swing();
  const auto rest = rest_at(arm, path, 0);
  ASSERT_TRUE(rest.ok());
  const InternalModes modes = internal_modes(arm, 0, *rest);
  ASSERT_EQ(modes.growing.size(), 1U);
  ASSERT_EQ(modes.decaying.size(), 1U);
  // (6.52): (6 d ± √(36 d² + 12 k m L²)) / (m L²).
  const double ml2 = Arm::kMass * Arm::kLength * Arm::kLength, d = 2.5e-5;
  const double root = std::sqrt(36 * d * d + 12 * Arm::kStiffness * ml2);
  EXPECT_NEAR(modes.growing[0].real(), (6 * d + root) / ml2, 1e-9);
  EXPECT_NEAR(modes.decaying[0].real(), (6 * d - root) / ml2, 1e-9);
}

// A13: fourth order, at most 4e-6 N m with steps of 0.03 s; inputs begin about 0.2 s before the path.
TEST(StableInversionReference, ConvergesWithFourthOrder) {
  FunctionServo<Arm> arm;
  const Path path = swing();
  StableOptions options;
  options.before = options.after = 1;
  options.dt = 1.0 / 528;
  const auto fine = invert_stably(arm, path, options);
  ASSERT_TRUE(fine.ok()) << fine.diagnostics().text();
  // Hardly damped, from rest to rest: as long after the path as before it.
  EXPECT_NEAR(fine->pre_actuation, 0.2, 0.02);
  EXPECT_NEAR(fine->post_actuation, 0.2, 0.02);
  std::vector<double> errors;
  for (const int n : {33, 66, 132}) {
    options.dt = 1.0 / n;
    const auto coarse = invert_stably(arm, path, options);
    ASSERT_TRUE(coarse.ok()) << coarse.diagnostics().text();
    errors.push_back(largest_difference(*coarse, *fine));
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 4, 0.3);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 4, 0.3);
  EXPECT_LE(errors[0], 4e-6);
}

// A13 against an independent solution of the internal dynamics, with α = z - β/2 put into the second equation of motion by hand:
//   (m22 - m12/2) β'' = -(m12 z'' + k (z' - β'/2)² + kβ + dβ'),  β' = s β at both ends, with s the zeros,
// by collocation with residual control (scipy's solve_bvp) to 1e-9, over a second more on either side; its values to seven digits, every 10 ms.
TEST(StableInversionReference, AgreesWithTheInternalDynamicsSolvedIndependently) {
  FunctionServo<Arm> arm;
  StableOptions options;
  options.before = options.after = 1;
  options.dt = 0.0025;
  const auto found = invert_stably(arm, swing(), options);
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  double beta = 0, low = 0, high = 0;
  for (size_t k = 0; k < found->t.size(); ++k) {
    const double cycles = found->t[k] / 0.01;
    if (std::abs(cycles - std::round(cycles)) > 1e-6) continue;
    beta = std::max(beta, std::abs(found->y[1][k]));
    low = std::min(low, found->u[0][k]);
    high = std::max(high, found->u[0][k]);
  }
  EXPECT_NEAR(beta, 0.0900428, 1e-7);
  EXPECT_NEAR(low, -0.1288121, 1e-7);
  EXPECT_NEAR(high, 0.1288202, 1e-7);
}

// So fast a turn that full steps of Newton's method lead away.
TEST(StableInversionReference, DampedStepsLeadToTheMotion) {
  FunctionServo<Arm> arm;
  const double seconds = 0.4;
  const Path path = *Path::line({0}, {1}, 0, seconds, 4);
  const auto begin = rest_at(arm, path, 0), end = rest_at(arm, path, seconds);
  ASSERT_TRUE(begin.ok() && end.ok());
  const InternalModes modes = internal_modes(arm, 0, *begin);
  const auto at_rest = [&](const Rest& rest, const EndConditions& conditions) {
    return HorizonEnd{rest.y, rest.u, conditions, modes.frequency};
  };
  const std::vector<double> mesh = equal_intervals({-0.5, 0, seconds, seconds + 0.5}, 0.01);
  const auto still = rest_along(arm, {path}, mesh, *begin);
  ASSERT_TRUE(still.ok());
  HorizonCollocation problem(
      arm, [&](double t, std::span<double> z) { path.at(t, 3, z); }, mesh,
      at_rest(*begin, leave_along_growing(modes)), at_rest(*end, arrive_along_decaying(modes)),
      *still);
  HorizonCollocation::Report report;
  EXPECT_EQ(problem.solve(25, 1e-8, report), Status::kOk);
  EXPECT_GT(report.dampings, 0);
  EXPECT_LT(report.step, 1e-8);
}

// With so few steps Newton's method does not reach the motion from rest; from that along a slower path, sped up, it does, and it is the same.
TEST(StableInversionReference, AMotionAlongASlowerPathIsSpedUp) {
  FunctionServo<Arm> arm;
  const Path path = *Path::line({0}, {1}, 0, 0.4, 4);
  StableOptions options;
  options.tolerance = 1e-8;
  const auto at_once = invert_stably(arm, path, options);
  ASSERT_TRUE(at_once.ok()) << at_once.diagnostics().text();
  EXPECT_EQ(at_once->slow_downs, 0);
  options.iterations = 7;
  const auto sped_up = invert_stably(arm, path, options);
  ASSERT_TRUE(sped_up.ok()) << sped_up.diagnostics().text();
  EXPECT_GT(sped_up->slow_downs, 0);
  EXPECT_LE(sped_up->error, options.tolerance);
  double largest = 0;
  for (const double u : at_once->u[0]) largest = std::max(largest, std::abs(u));
  EXPECT_LT(largest_difference(*sped_up, *at_once), 1e-6 * largest);
}

// The same mechanism as ordinary equations and as a differential-algebraic system.
TEST(StableInversionReference, MinimalAndRedundantCoordinatesGiveTheSameMotionWithFourthOrder) {
  FunctionServo<Arm> minimal;
  FunctionServo<inversion_test::PassiveArmDae> redundant;
  const Path path = swing();
  StableOptions options;
  options.before = options.after = 1;
  options.dt = 1.0 / 528;
  const auto fine = invert_stably(minimal, path, options);
  ASSERT_TRUE(fine.ok()) << fine.diagnostics().text();
  std::vector<double> errors;
  for (const int n : {33, 66, 132}) {
    options.dt = 1.0 / n;
    const auto coarse = invert_stably(redundant, path, options);
    ASSERT_TRUE(coarse.ok()) << coarse.diagnostics().text();
    EXPECT_EQ(coarse->lambda.size(), 2U);
    errors.push_back(largest_difference(*coarse, *fine));
    // Joint and hinge hold, at instants and in the middles of intervals that are solved for.
    for (size_t i = 0; i < coarse->t.size(); i += 2) {
      const double x = coarse->y[1][i] - Arm::kLength * std::cos(coarse->y[0][i]) -
                       Arm::kLength / 2 * std::cos(coarse->y[3][i]);
      EXPECT_NEAR(x, 0, 1e-11);
    }
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 4, 0.3);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 4, 0.3);
  EXPECT_LE(errors[0], 4e-6);
}

// The linear guess solves what is linear at once; elsewhere both guesses lead to the same motion.
TEST(StableInversionReference, TheLinearGuessSolvesALinearSystem) {
  LinearServo beam = *LinearServo::create(inversion_test::ancf_arm(2, true, false));
  const Path path = swing();
  const auto begin = rest_at(beam, path, 0), end = rest_at(beam, path, 1);
  ASSERT_TRUE(begin.ok() && end.ok());
  const auto at_rest = [&](const Rest& rest, const EndConditions& conditions, double frequency) {
    Eigen::VectorXd mu(rest.lambda.size() + rest.u.size());
    mu << rest.lambda, rest.u;
    return HorizonEnd{rest.y, mu, conditions, frequency};
  };
  const InternalModes modes = internal_modes(beam, 0, *begin);
  ASSERT_FALSE(modes.growing.empty());
  std::vector<double> mesh;
  for (int k = -20; k <= 120; ++k) mesh.push_back(0.01 * k);
  const HorizonEnd first = at_rest(*begin, leave_along_growing(modes), modes.frequency);
  Eigen::MatrixXd still = Eigen::MatrixXd::Zero(3 * beam.nv() + beam.n_lambda() + beam.nu(),
                                                static_cast<Eigen::Index>(mesh.size()));
  still.topRows(beam.nv()).colwise() = begin->y;
  HorizonCollocation problem(
      beam, [&](double t, std::span<double> z) { path.at(t, 3, z); }, mesh, first,
      at_rest(*end, arrive_along_decaying(modes), modes.frequency), still);
  ASSERT_TRUE(problem.move_linearly());
  HorizonCollocation::Report report;
  EXPECT_EQ(problem.solve(1, 1e-8, report), Status::kOk);
  EXPECT_LT(report.step, 1e-8);

  FunctionServo<Arm> arm;
  StableOptions options;
  const auto by_rest = invert_stably(arm, path, options);
  options.guess = StableGuess::kLinear;
  const auto by_line = invert_stably(arm, path, options);
  ASSERT_TRUE(by_rest.ok() && by_line.ok());
  EXPECT_LT(largest_difference(*by_rest, *by_line), 1e-8);
}

// A14: what single clamped positions cost decays with the horizon as the internal modes do, by 16.9 and 1.53 per 0.05 s.
TEST(StableInversionReference, ErrorsOfClampedEndsDecayAsTheInternalModes) {
  FunctionServo<Arm> arm(Arm{{}, 0.05});
  const Path path = swing();
  StableOptions options;
  options.dt = 1e-3;
  options.before = 0.8;
  options.after = 4;
  const auto exact = invert_stably(arm, path, options);
  ASSERT_TRUE(exact.ok()) << exact.diagnostics().text();
  const auto at = [](const StableInversion& s, double t) {
    size_t k = 0;
    while (k + 1 < s.t.size() && s.t[k] < t - 1e-9) ++k;
    return s.v[1][k];
  };
  options.ends = EndKind::kClamped;
  options.clamp_begin = options.clamp_end = {"y2"};
  std::array<double, 3> begin{}, end{};
  for (size_t i = 0; i < 3; ++i) {
    options.before = 0.1 + 0.05 * static_cast<double>(i);
    options.after = 0.5 + 0.05 * static_cast<double>(i);
    const auto clamped = invert_stably(arm, path, options);
    ASSERT_TRUE(clamped.ok()) << clamped.diagnostics().text();
    begin[i] = std::abs(clamped->v[1].front() - at(*exact, -options.before));
    end[i] = std::abs(clamped->v[1].back() - at(*exact, 1 + options.after));
  }
  const double grows = std::exp(0.05 * exact->modes.growing[0].real()),
               decays = std::exp(-0.05 * exact->modes.decaying[0].real());
  EXPECT_NEAR(grows, 16.9, 0.05);
  EXPECT_NEAR(decays, 1.53, 0.005);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(begin[i] / begin[i + 1], grows, 0.05 * grows);
    EXPECT_NEAR(end[i] / end[i + 1], decays, 0.05 * decays);
  }
}

// (6.54)–(6.57): a position or a speed of the passive joint at either end.
TEST(StableInversionReference, AllPairsOfClampsLeadToTheSameMotion) {
  FunctionServo<Arm> arm;
  const Path path = swing();
  StableOptions options;
  options.dt = 0.02;
  const auto exact = invert_stably(arm, path, options);
  ASSERT_TRUE(exact.ok());
  options.ends = EndKind::kClamped;
  for (const char* begin : {"y2", "y2'"})
    for (const char* end : {"y2", "y2'"}) {
      options.clamp_begin = {begin};
      options.clamp_end = {end};
      const auto clamped = invert_stably(arm, path, options);
      ASSERT_TRUE(clamped.ok()) << clamped.diagnostics().text();
      // Leakage of 1e-6 at ends that are 0.63 s away.
      EXPECT_LT(largest_difference(*clamped, *exact), 1e-6);
    }
}

TEST(StableInversionReference, RefinesTheMeshToTheTolerance) {
  FunctionServo<Arm> arm;
  const Path path = swing();
  StableOptions options;
  options.tolerance = 1e-10;
  const auto exact = invert_stably(arm, path, options);
  ASSERT_TRUE(exact.ok());
  double largest = 0;
  for (const double u : exact->u[0]) largest = std::max(largest, std::abs(u));
  int intervals = 0;
  for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
    options.tolerance = tolerance;
    const auto found = invert_stably(arm, path, options);
    ASSERT_TRUE(found.ok()) << found.diagnostics().text();
    EXPECT_GE(found->intervals, intervals);
    intervals = found->intervals;
    EXPECT_LE(found->error, tolerance);
    EXPECT_LT(largest_difference(*found, *exact), tolerance * largest);
  }
  EXPECT_GT(exact->intervals, 2 * intervals);
}

// Started at rest where the path begins, the same equations run away.
TEST(StableInversionReference, AForwardIntegrationFailsWhereItPasses) {
  FunctionServo<Arm> arm;
  const Path path = swing();
  InverseOptions forward;
  forward.order = 2;
  auto inverse = InverseModel::create(arm, path, forward);
  ASSERT_TRUE(inverse.ok());
  ASSERT_TRUE((*inverse)->start(0).ok());
  Status status = Status::kOk;
  double largest = 0;
  while (ok(status) && (*inverse)->t() < 1 && largest < 10) {
    status = (*inverse)->step();
    largest = std::max(largest, std::abs((*inverse)->y()[1]));
  }
  EXPECT_TRUE(!ok(status) || largest >= 10) << largest;
  const auto stable = invert_stably(arm, path, {});
  ASSERT_TRUE(stable.ok());
  for (const double beta : stable->y[1]) EXPECT_LT(std::abs(beta), 0.1);
}

// Minimum phase: nothing to anticipate, and the same inputs as a forward integration.
TEST(StableInversionReference, AgreesWithAForwardIntegrationWhereThatWorks) {
  auto chain = LinearServo::create(inversion_test::chain(2, 1, 0.1));
  const Path path = inversion_test::turn();
  StableOptions options;
  options.tolerance = 1e-6;
  const auto stable = invert_stably(*chain, path, options);
  ASSERT_TRUE(stable.ok()) << stable.diagnostics().text();
  EXPECT_EQ(stable->before, 0);
  EXPECT_EQ(stable->pre_actuation, 0);
  InverseOptions forward;
  forward.dt = 6.0 / 600;
  auto inverse = InverseModel::create(*chain, path, forward);
  ASSERT_TRUE(inverse.ok());
  ASSERT_TRUE((*inverse)->start(0).ok());
  double worst = 0, largest = 0;
  size_t k = 0, compared = 0;
  while ((*inverse)->t() < 5.9) {
    ASSERT_TRUE(ok((*inverse)->step()));
    while (k + 1 < stable->t.size() && stable->t[k] < (*inverse)->t() - 1e-9) ++k;
    if (std::abs(stable->t[k] - (*inverse)->t()) > 1e-9) continue;
    ++compared;
    largest = std::max(largest, std::abs((*inverse)->u()[0]));
    worst = std::max(worst, std::abs((*inverse)->u()[0] - stable->u[0][k]));
  }
  EXPECT_GT(compared, 20U);
  // BDF4 with 10 ms on a motion of 6 s.
  EXPECT_LT(worst, 1e-5 * largest);
}

// Internal modes by hand: what counts is how much they grow or decay in a step, not how fast they oscillate.
TEST(StableInversionReference, StepsAreJudgedByGrowthAndDecay) {
  InternalModes modes;
  modes.growing = {{22.7, 2842}, {22.7, -2842}};
  EXPECT_TRUE(resolves(modes, 0.01).ok());
  modes.decaying = {{-191, 0}, {-5000, 0}};
  EXPECT_TRUE(resolves(modes, 0.005).ok());
  const Diagnostics d = resolves(modes, 0.01);
  ASSERT_FALSE(d.ok());
  EXPECT_EQ(d.items()[0].id, 1078);
  EXPECT_NE(d.items()[0].message.find("0.0052 s"), std::string::npos) << d.text();
}

// The second of two disks, when the first follows the path: I s^2 + d s + k = 0. To a millionth it would take 9 hours.
TEST(StableInversionReference, HardlyDecayingMotionIsNotFollowedToItsEnd) {
  LinearServoMatrices disks = inversion_test::chain(2, 1, 1e-4);
  disks.H << 1, 0;
  auto chain = LinearServo::create(disks);
  StableOptions options;
  options.tolerance = 1e-3;
  const Path path = inversion_test::turn();
  const auto found = invert_stably(*chain, path, options);
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  EXPECT_NEAR(found->after, 20 * (path.end() - path.begin()), 0.1);
  ASSERT_EQ(found.diagnostics().items().size(), 1U) << found.diagnostics().text();
  EXPECT_EQ(found.diagnostics().items()[0].id, 1077);
  EXPECT_NE(found.diagnostics().items()[0].message.find("hardly decays"), std::string::npos);
}

// Without a damper: a quarter of the path is shown of an oscillation that goes on for ever.
TEST(StableInversionReference, InputsGoOnWhereInternalMotionIsNeutral) {
  LinearServoMatrices disks = inversion_test::chain(2);
  disks.H << 1, 0;
  auto chain = LinearServo::create(disks);
  StableOptions options;
  options.tolerance = 1e-3;
  const Path path = inversion_test::turn();
  const auto found = invert_stably(*chain, path, options);
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  EXPECT_EQ(found->modes.neutral.size(), 2U);
  EXPECT_EQ(found->before, 0);
  EXPECT_NEAR(found->after, (path.end() - path.begin()) / 4, 1e-9);
  EXPECT_TRUE(std::isinf(found->post_actuation));
  options.after = 0;
  EXPECT_EQ(invert_stably(*chain, path, options)->after, 0);
}

// Three disks, of relative degree 6: an error names the mesh on which it was smallest, and a path on which it falls further.
TEST(StableInversionReference, ErrorsNameTheBestMeshAndASmootherPath) {
  auto chain = LinearServo::create(inversion_test::chain(3));
  const auto along = [&](int smooth) {
    return invert_stably(*chain, *Path::line({0}, {1}, 0, 3, smooth), {});
  };
  const auto rough = along(6);
  ASSERT_FALSE(rough.ok());
  const Diagnostic& told = rough.diagnostics().items().back();
  EXPECT_EQ(told.id, 1074);
  EXPECT_NE(told.message.find("with 1600 intervals"), std::string::npos) << told.message;
  EXPECT_NE(told.message.find("`smooth` of 8"), std::string::npos) << told.message;
  const auto smooth = along(8);
  EXPECT_TRUE(smooth.ok()) << smooth.diagnostics().text();
}

TEST(StableInversionReference, TheSpeedDownToWhichThereIsAMotionIsTold) {
  FunctionServo<Arm> arm;
  const auto fast = invert_stably(arm, *Path::line({0}, {2.6}, 0, 0.4, 2), {});
  ASSERT_FALSE(fast.ok());
  EXPECT_EQ(fast.diagnostics().items().back().id, 1073);
  EXPECT_NE(fast.diagnostics().items().back().message.find("times more slowly"), std::string::npos)
      << fast.diagnostics().text();
  // So fast that equal intervals of the path fill the mesh with what is before and after it: slower ones are tried all the same.
  const auto faster = invert_stably(arm, *Path::line({0}, {0.5}, 0, 0.02, 4), {});
  ASSERT_FALSE(faster.ok());
  EXPECT_EQ(faster.diagnostics().items().back().id, 1073);
  EXPECT_NE(faster.diagnostics().items().back().message.find("a motion is found when"),
            std::string::npos)
      << faster.diagnostics().text();
  const auto jumps = invert_stably(arm, *Path::line({0}, {0.5}, 0, 1, 0), {});
  ASSERT_FALSE(jumps.ok());
  EXPECT_EQ(jumps.diagnostics().items().back().id, 1073);
}

// Where no motion is found clamps near the path may be why.
TEST(StableInversionReference, ClampsNearThePathAreToldWhereThereIsNoMotion) {
  FunctionServo<Arm> arm;
  StableOptions options;
  options.ends = EndKind::kClamped;
  const auto told = [&] {
    const auto found = invert_stably(arm, *Path::line({0}, {2.6}, 0, 0.4, 2), options);
    EXPECT_FALSE(found.ok());
    EXPECT_EQ(found.diagnostics().items().back().id, 1073) << found.diagnostics().text();
    return found.diagnostics().text();
  };
  EXPECT_EQ(told().find("clamped ends"), std::string::npos);
  options.before = 0.1;
  const std::string near = told();
  EXPECT_NE(near.find("instead of 0.1 s before the path would do"), std::string::npos) << near;
}

TEST(StableInversionReference, SaysWhatCannotBe) {
  FunctionServo<Arm> arm;
  const Path path = swing();
  StableOptions options;
  options.before = 0.02;
  const auto leaking = invert_stably(arm, path, options);
  ASSERT_TRUE(leaking.ok());
  ASSERT_EQ(leaking.diagnostics().items().size(), 1U);
  EXPECT_EQ(leaking.diagnostics().items()[0].id, 1077);
  EXPECT_GT(leaking->leakage_begin, 5e-3);
  options = {};
  options.ends = EndKind::kClamped;
  options.clamp_begin = {"y3"};
  EXPECT_EQ(invert_stably(arm, path, options).diagnostics().items()[0].id, 1072);
  options.clamp_begin = {"y2", "y2'"};
  EXPECT_EQ(invert_stably(arm, path, options).diagnostics().items()[0].id, 1072);
  options = {};
  options.tolerance = 1e-12;
  options.most_intervals = 100;
  EXPECT_EQ(invert_stably(arm, path, options).diagnostics().items()[0].id, 1074);
  options = {};
  options.progress = [](double) { return false; };
  EXPECT_EQ(invert_stably(arm, path, options).diagnostics().items()[0].id, 1075);
}

// Asked between iterations on the first mesh already.
TEST(StableInversionReference, StopsWithinAMesh) {
  FunctionServo<Arm> arm;
  for (const StableMethod method :
       {StableMethod::kBoundaryValue, StableMethod::kDirect, StableMethod::kIndirect}) {
    StableOptions options;
    options.method = method;
    std::vector<double> fractions;
    options.progress = [&](double fraction) {
      fractions.push_back(fraction);
      return fractions.size() < 2;
    };
    const auto stopped = invert_stably(arm, swing(), options);
    ASSERT_FALSE(stopped.ok());
    EXPECT_EQ(stopped.diagnostics().items()[0].id, 1075);
    EXPECT_EQ(fractions, std::vector<double>({0, 0}));
  }
}

}  // namespace
}  // namespace panto
