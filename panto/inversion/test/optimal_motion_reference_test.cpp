// Stable inversion by optimisation (Drücker, 2022, Sections 6.1.3 and 6.3): against the boundary value problem, whose motion both formulations must come to.
#include <gtest/gtest.h>

#include "panto/inversion/stable_inversion.hpp"
#include "panto/inversion/test/cases.hpp"

namespace panto {
namespace {

using Arm = inversion_test::PassiveArm;
using inversion_test::largest_difference;
using inversion_test::swing;

class OptimalMotionReference : public ::testing::TestWithParam<StableMethod> {
 protected:
  static Result<StableInversion> inverted(StableOptions options) {
    FunctionServo<Arm> arm;
    options.method = GetParam();
    return invert_stably(arm, swing(), options);
  }
};

// A13 for these formulations: fourth order, at most 4e-6 N m with steps of 0.03 s; the reference is the boundary value problem on a fine mesh.
TEST_P(OptimalMotionReference, ConvergesToTheBoundaryValueProblemWithFourthOrder) {
  FunctionServo<Arm> arm;
  StableOptions options;
  options.before = options.after = 1;
  options.dt = 1.0 / 528;
  const auto fine = invert_stably(arm, swing(), options);
  ASSERT_TRUE(fine.ok()) << fine.diagnostics().text();
  std::vector<double> errors;
  for (const int n : {33, 66, 132}) {
    options.dt = 1.0 / n;
    const auto coarse = inverted(options);
    ASSERT_TRUE(coarse.ok()) << coarse.diagnostics().text();
    errors.push_back(largest_difference(*coarse, *fine));
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 4, 0.3) << errors[0] << " " << errors[1];
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 4, 0.3) << errors[2];
  EXPECT_LE(errors[0], 4e-6);
}

// What is chosen without conditions at the ends comes to the bounded motion as the horizon grows. Near the ends the bounded motion is a e^(-s t), the motion that is added
// to it a multiple of e^(-s (ΔT - t)): their product is the same everywhere, so that the error is e^(-s ΔT) (c + ΔT) (SRV-55).
TEST_P(OptimalMotionReference, ComesToTheBoundedMotionAsTheHorizonGrows) {
  FunctionServo<Arm> arm;
  StableOptions options;
  options.dt = 0.01;
  options.before = options.after = 1;
  const auto bounded = invert_stably(arm, swing(), options);
  ASSERT_TRUE(bounded.ok());
  std::array<double, 4> scaled{};
  for (size_t i = 0; i < scaled.size(); ++i) {
    const double horizon = 0.2 + 0.1 * static_cast<double>(i);
    options.before = options.after = horizon;
    const auto found = inverted(options);
    ASSERT_TRUE(found.ok()) << found.diagnostics().text();
    scaled[i] =
        largest_difference(*found, *bounded) * std::exp(horizon * bounded->modes.growing[0].real());
  }
  // Second differences of what is linear: higher powers of e^(-s ΔT) are left, e^(-4.4) at first.
  const double rise = (scaled[3] - scaled[0]) / 3;
  EXPECT_GT(rise, 0);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(scaled[i + 1] - scaled[i], rise, 0.1 * rise);
}

TEST_P(OptimalMotionReference, RefinesTheMeshToTheTolerance) {
  FunctionServo<Arm> arm;
  StableOptions options;
  options.tolerance = 1e-8;
  const auto exact = invert_stably(arm, swing(), options);
  ASSERT_TRUE(exact.ok());
  options.tolerance = 1e-5;
  const auto found = inverted(options);
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  double largest = 0;
  for (const double u : exact->u[0]) largest = std::max(largest, std::abs(u));
  EXPECT_LT(largest_difference(*found, *exact), 1e-5 * largest);
}

// With damping one internal mode is slower than the other; a minimum leaves both free at both ends.
TEST_P(OptimalMotionReference, ItsHorizonIsThatOfTheSlowestModeAtBothEnds) {
  FunctionServo<Arm> arm(Arm{{}, 0.05});
  StableOptions options;
  options.tolerance = 1e-5;
  options.leakage = 1e-4;
  const auto bounded = invert_stably(arm, swing(), options);
  ASSERT_TRUE(bounded.ok());
  options.method = GetParam();
  const auto found = invert_stably(arm, swing(), options);
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  EXPECT_GT(std::abs(bounded->before - bounded->after), 0.5);
  EXPECT_EQ(found->before, found->after);
  EXPECT_EQ(found->before, std::max(bounded->before, bounded->after));
  EXPECT_TRUE(found.diagnostics().items().empty()) << found.diagnostics().text();
  double largest = 0;
  for (const double u : bounded->u[0]) largest = std::max(largest, std::abs(u));
  EXPECT_LT(largest_difference(*found, *bounded), 1e-3 * largest);
}

INSTANTIATE_TEST_SUITE_P(Formulations, OptimalMotionReference,
                         ::testing::Values(StableMethod::kDirect, StableMethod::kIndirect),
                         [](const auto& which) {
                           return which.param == StableMethod::kDirect ? "Direct" : "Indirect";
                         });

// The torque of two disks is what derivatives of the path say, up to the fourth, or the third where a damper is between them.
TEST(OptimalMotion, TheErrorOfAChainIsWhatItIsSaidToBe) {
  for (const int dampers : {0, 1}) {
    auto chain = LinearServo::create(inversion_test::chain(2, dampers));
    StableOptions options;
    options.before = options.after = 1;
    options.tolerance = 1e-6;
    const auto exact = invert_stably(*chain, inversion_test::turn(), options);
    ASSERT_TRUE(exact.ok()) << exact.diagnostics().text();
    double largest = 0;
    for (const double u : exact->u[0]) largest = std::max(largest, std::abs(u));
    options.method = StableMethod::kDirect;
    for (const double tolerance : {1e-3, 1e-5}) {
      options.tolerance = tolerance;
      const auto found = invert_stably(*chain, inversion_test::turn(), options);
      ASSERT_TRUE(found.ok()) << found.diagnostics().text();
      EXPECT_LT(largest_difference(*found, *exact), tolerance * largest) << dampers;
    }
  }
}

TEST(OptimalMotion, TheDirectMethodNeedsInputsThatActWithinFourDerivatives) {
  auto chain = LinearServo::create(inversion_test::chain(3));
  StableOptions options;
  options.method = StableMethod::kDirect;
  const auto found = invert_stably(*chain, inversion_test::turn(), options);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.diagnostics().items()[0].id, 1090);
}

// A damped chain whose torque acts on the last disk through the others.
TEST(OptimalMotion, TheAdjointNeedsInputsThatActAtOnce) {
  auto chain = LinearServo::create(inversion_test::chain(2, 1, 0.1));
  StableOptions options;
  options.method = StableMethod::kIndirect;
  const auto found = invert_stably(*chain, inversion_test::turn(), options);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.diagnostics().items()[0].id, 1090);
}

}  // namespace
}  // namespace panto
