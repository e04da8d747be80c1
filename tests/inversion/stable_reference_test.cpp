// Stable inversion of the flexible one-link arm (Drücker, 2022, Section 6.4; criteria A16 and A20 of its recomputation).
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "panto/integrate/simulate.hpp"
#include "panto/inversion/invert.hpp"
#include "panto/inversion/model_servo.hpp"
#include "panto/inversion/stable_inversion.hpp"
#include "tests/inversion/flexible_arms.hpp"

namespace panto {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

Model arm(int elements, bool perpendicular = false, bool torque = false) {
  Result<Model> model = inversion_test::flexible_arm(elements, perpendicular, torque);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  return *model;
}

Result<StableInversion> inverted(const Model& model, const StableOptions& options) {
  auto servo = ModelServo::create(model, nominal(model), {{"tip_direction"}, {}, {"drive"}, {}});
  if (!servo.ok()) return servo.diagnostics();
  return invert_stably(**servo, inversion_test::one_link_swing(), options);
}

// Largest deviation of the tip's direction, as seen from the drive, from its goal after the move, when the drive turns as told; time counts from the table's first instant.
double left_over(int elements, const std::vector<double>& t, const std::vector<double>& rate) {
  Model plant = arm(elements);
  std::vector<double> shifted = t;
  for (double& at : shifted) at -= t.front();
  plant.inputs[0].signal = static_cast<int>(plant.signals.size());
  plant.signals.push_back(Signal::table(shifted, rate));
  plant.signal_sources.emplace_back();
  SimulationOptions options;
  options.integrator = "radau5";
  options.dt = 2e-3;
  options.until = 3 - t.front();
  const Result<Run> run = simulate(plant, nominal(plant), options);
  if (!run.ok()) throw std::runtime_error(run.diagnostics().text());
  double largest = 0;
  for (size_t k = 0; k < run->t.size(); ++k)
    if (run->t[k] + t.front() > 1)
      largest = std::max(
          largest, std::abs(std::atan2(run->outputs[3][k], run->outputs[2][k]) / kDegree - 30));
  return largest;
}

// Largest difference of coordinates at the instants every 5 ms, which both have; one whose path had to be slowed down first may have more.
double apart(const StableInversion& a, const StableInversion& b) {
  const auto at = [](const StableInversion& s, double t) {
    const auto k =
        static_cast<size_t>(std::lower_bound(s.t.begin(), s.t.end(), t - 1e-9) - s.t.begin());
    EXPECT_LT(k, s.t.size());
    EXPECT_NEAR(s.t[k], t, 1e-9);
    return k;
  };
  double worst = 0;
  for (int n = -200; n <= 400; ++n) {
    const size_t i = at(a, 0.005 * n), k = at(b, 0.005 * n);
    for (size_t c = 0; c < a.y.size(); ++c)
      worst = std::max(worst, std::abs(a.y[c][i] - b.y[c][k]));
  }
  return worst;
}

// The four cases are one motion. Relative degrees 4, 3, 2, 1: where the first section is free the drive acts on the tip by way of the elements alone.
TEST(StableReference, TheFourCasesOfTheFlexibleLink) {
  StableOptions options;
  options.dt = 0.005;
  options.before = options.after = 1;
  const auto torque = inverted(arm(4, true, true), options),
             speed = inverted(arm(4, true), options);
  ASSERT_TRUE(torque.ok()) << torque.diagnostics().text();
  ASSERT_TRUE(speed.ok()) << speed.diagnostics().text();
  // Undamped and from rest to rest: the motion is its own mirror image in time, torques are odd and speeds even about the middle.
  const auto mirrored = [](const StableInversion& s, double sign) {
    const size_t last = s.t.size() - 1;
    double worst = 0;
    for (size_t k = 0; k <= last; ++k)
      worst = std::max(worst, std::abs(s.u[0][k] - sign * s.u[0][last - k]));
    return worst;
  };
  double largest = 0;
  for (const double u : torque->u[0]) largest = std::max(largest, std::abs(u));
  // The arm linearised about its straight shape (inversion_test::ancf_arm), solved to 1e-6: 10.9990 N m.
  EXPECT_NEAR(largest, 10.999, 0.003);
  EXPECT_LT(mirrored(*torque, -1), 1e-4 * largest);
  EXPECT_LT(mirrored(*speed, 1), 1e-4);
  // What they differ by is the error of intervals of 5 ms.
  EXPECT_LT(apart(*torque, *speed), 5e-6);
  const auto free_torque = inverted(arm(4, false, true), options),
             free_speed = inverted(arm(4), options);
  ASSERT_TRUE(free_torque.ok()) << free_torque.diagnostics().text();
  ASSERT_TRUE(free_speed.ok()) << free_speed.diagnostics().text();
  EXPECT_LT(apart(*free_torque, *free_speed), 1e-6);
}

// The drive acts on the tip at once by 1e-9 and less of what it could: numbers of poles and zeros tell the degrees.
TEST(StableReference, RelativeDegreesOfManyElements) {
  const struct {
    bool perpendicular, torque;
    int degree, index, motion_index, reachable;
  } cases[] = {{false, true, 4, 5, 5, 0},
               {false, false, 3, 5, 4, 0},
               {true, true, 2, 3, 3, 1},
               {true, false, 1, 3, 2, 1}};
  for (const int elements : {4, 10, 15})
    for (const auto& c : cases) {
      const Model model = arm(elements, c.perpendicular, c.torque);
      auto servo =
          ModelServo::create(model, nominal(model), {{"tip_direction"}, {}, {"drive"}, {}});
      ASSERT_TRUE(servo.ok());
      const auto at_rest = analyse_at_rest(**servo);
      ASSERT_TRUE(at_rest.ok()) << at_rest.diagnostics().text();
      const ServoAnalysis& a = at_rest->analysis;
      EXPECT_EQ(a.relative_degree, std::vector<int>{c.degree}) << elements;
      EXPECT_EQ(a.total_relative_degree, c.degree) << elements;
      EXPECT_EQ(a.smoothness, c.degree) << elements;
      EXPECT_EQ(a.reachable, c.reachable) << elements;
      EXPECT_EQ(a.index, c.index) << elements;
      EXPECT_EQ(a.motion_index, c.motion_index) << elements << " " << c.degree;
    }
}

// With meshes that are refined, also where straight forces give the chain of intervals growing motion of its own (SRV-49).
TEST(StableReference, TheFourCasesToAMillionth) {
  StableOptions options;
  options.tolerance = 1e-6;
  options.before = options.after = 1;
  const auto of = [&](bool perpendicular, bool torque) {
    auto found = inverted(arm(4, perpendicular, torque), options);
    if (!found.ok()) throw std::runtime_error(found.diagnostics().text());
    EXPECT_LE(found->error, options.tolerance);
    return *found;
  };
  const StableInversion torque = of(true, true), speed = of(true, false),
                        free_torque = of(false, true), free_speed = of(false, false);
  EXPECT_LT(apart(torque, speed), 1e-6);
  EXPECT_LT(apart(free_torque, free_speed), 1e-6);
  // With clamps in place of internal modes, which a second of horizon makes harmless.
  options.ends = EndKind::kClamped;
  const StableInversion clamped = of(false, true);
  EXPECT_EQ(clamped.clamped_begin.size() + clamped.clamped_end.size(),
            clamped.modes.basis().cols());
  EXPECT_LT(apart(free_torque, clamped), 1e-5);
}

// Without conditions at the ends, by IPOPT, on the arm of one element.
TEST(StableReference, TheMotionNearestToRestIsTheBoundedOne) {
  StableOptions options;
  options.dt = 0.01;  // and middles
  options.before = options.after = 1;
  const auto bounded = inverted(arm(1, true, true), options);
  options.method = StableMethod::kDirect;
  const auto nearest = inverted(arm(1, true, true), options);
  ASSERT_TRUE(bounded.ok()) << bounded.diagnostics().text();
  ASSERT_TRUE(nearest.ok()) << nearest.diagnostics().text();
  EXPECT_LT(apart(*bounded, *nearest), 1e-4);
}

// One element, whose horizon by default is no multiple of the path's intervals: chains of other intervals would oscillate differently outside the path. Eight elements: a motion that grows at
// 22.7 1/s oscillates at 2842 1/s, which refinement deals with.
TEST(StableReference, OneElementAndEight) {
  StableOptions options;
  options.tolerance = 1e-4;
  options.cycle = 0.01;
  for (const int elements : {1, 8}) {
    const auto found = inverted(arm(elements), options);
    ASSERT_TRUE(found.ok()) << elements << ": " << found.diagnostics().text();
    EXPECT_LE(found->error, options.tolerance);
    EXPECT_LT(std::max(found->leakage_begin, found->leakage_end), 1e-6);
  }
}

// With intervals of 1.25 ms the chain has 19 growing modes at one end and 21 at the other: no solution there, with half as long ones there is.
TEST(StableReference, AMeshWithoutASolutionIsPassedOver) {
  Result<Model> model = inversion_test::flexible_two_link(4);
  ASSERT_TRUE(model.ok());
  auto servo = ModelServo::create(*model, nominal(*model), inversion_test::tip_position());
  ASSERT_TRUE(servo.ok());
  const Path here = *path_at_rest(**servo);
  std::vector<double> from(2);
  here.at(0, 1, from);
  StableOptions options;
  options.tolerance = 1e-3;
  const auto found = invert_stably(**servo, *Path::line(from, {1.2, 1.2}, 0, 1, 4), options);
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  EXPECT_LE(found->error, options.tolerance);
}

// exp(-32.7 · 0.2) of the slowest internal motion, 32.7 1/s: clamps 0.2 s from the path disturb the motion on it by more than a tolerance of 1e-5 bears; conditions by eigenspaces do not.
TEST(StableReference, ClampsThatAreTooNearThePathAreTold) {
  StableOptions options;
  options.tolerance = 1e-5;
  options.ends = EndKind::kClamped;
  options.before = options.after = 0.2;
  const auto found = inverted(arm(4), options);
  ASSERT_FALSE(found.ok());
  const Diagnostic& told = found.diagnostics().items().back();
  EXPECT_EQ(told.id, 1074);
  EXPECT_NE(told.message.find("too short for clamped ends, where 0.0015 of"), std::string::npos)
      << told.message;
  EXPECT_NE(told.message.find("0.43 s instead of 0.2 s before the path and 0.43 s instead of 0.2 s "
                              "after the path would do"),
            std::string::npos)
      << told.message;
  options.before = options.after = 0.43;
  EXPECT_TRUE(inverted(arm(4), options).ok());
  options.before = options.after = 0.2;
  options.ends = EndKind::kEigenspaces;
  EXPECT_TRUE(inverted(arm(4), options).ok());
}

TEST(StableReference, ClampsAreNotBlamedWhereTheHorizonIsLongEnough) {
  StableOptions options;
  options.tolerance = 1e-15;
  options.ends = EndKind::kClamped;
  const auto found = inverted(arm(1), options);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.diagnostics().items().back().id, 1074);
  EXPECT_EQ(found.diagnostics().text().find("clamped"), std::string::npos)
      << found.diagnostics().text();
}

// A16 and A20: the inputs of a rigid link leave 8.39°, those of four elements 0.14 to 0.15° on an arm of ten.
TEST(StableReference, TheArmComesToRest) {
  const Path path = inversion_test::one_link_swing();
  std::vector<double> t, rate;
  for (int k = 0; k <= 500; ++k) {
    std::array<double, 2> z{};
    t.push_back(k * 2e-3);
    path.at(t.back(), 2, z);
    rate.push_back(z[1]);
  }
  EXPECT_NEAR(left_over(10, t, rate), 8.39, 0.1);
  StableOptions options;
  options.dt = 0.005;
  options.before = options.after = 1;
  const auto stable = inverted(arm(4), options);
  ASSERT_TRUE(stable.ok()) << stable.diagnostics().text();
  EXPECT_LT(left_over(10, stable->t, stable->u[0]), 0.25);
}

}  // namespace
}  // namespace panto
