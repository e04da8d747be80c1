#include "panto/mechanics/assembly.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "panto/mechanics/closure.hpp"
#include "panto/mechanics/test/model_builder.hpp"

namespace panto {
namespace {

using test::ModelBuilder;
constexpr double kPi = std::numbers::pi;
constexpr double kDeg = kPi / 180;

// Crank 1, coupler 2, rocker sqrt(13), base 4: closed at theta = 0 with beta = +-90 deg relative to the crank.
struct FourBar : ModelBuilder {
  Channel theta, beta, gamma;
  explicit FourBar(double crank = 1, double base = 4) : ModelBuilder(SpaceKind::kPlanar) {
    gravity(0, -9.81);
    const double rocker = std::sqrt(13.0);
    const int b1 = body("theta", JointType::kRevolute, kGround, -1, -1, {bar(1, crank)});
    const int end1 = frame(b1, {crank, 0});
    const int b2 = body("beta", JointType::kRevolute, b1, end1, -1, {bar(2, 2)});
    const int end2 = frame(b2, {2, 0});
    const int pivot = frame(kGround, {base, 0});
    const int b3 = body("gamma", JointType::kRevolute, kGround, pivot, -1, {bar(4, rocker)});
    const int end3 = frame(b3, {rocker, 0});
    pin("pin", end2, end3, 7);
    theta = coordinate(0);
    beta = coordinate(1);
    gamma = coordinate(2);
    tip = end2;
  }
  int tip = -1;
};

Result<AssembledState> assemble_model(const Model& m, View guess = {}) {
  const auto workspace = Workspace::create(m, nominal(m));
  return assemble(*workspace, 0, guess);
}

double violation(const Model& m, const AssembledState& s) {
  const auto workspace = Workspace::create(m, nominal(m));
  double position = 0, velocity = 0;
  workspace->violation(0, view(s.q), view(s.v), {}, position, velocity);
  return std::max(position, velocity);
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
    EXPECT_LT(violation(b.model, *s), 4e-15);
    EXPECT_EQ(s->v.norm(), 0);
  }
}

TEST(Assemble, FindsAPoseWithoutAnyGuess) {
  FourBar b;
  b.initial("theta", b.theta, 40 * kDeg);
  const auto s = assemble_model(b.model);
  ASSERT_TRUE(s.ok()) << s.diagnostics().text();
  EXPECT_EQ(s->q(0), 40 * kDeg);
  EXPECT_LT(violation(b.model, *s), 4e-15);
}

}  // namespace
}  // namespace panto
