// Stable inversion of the flexible one-link arm (Drücker, 2022, Section 6.4; criteria A16 and A20 of its recomputation).
#include <gtest/gtest.h>

#include <numbers>

#include "panto/integrate/simulate.hpp"
#include "panto/inversion/model_servo.hpp"
#include "panto/inversion/stable_inversion.hpp"
#include "validation/papers/drucker2022/flexible_arm.hpp"

namespace panto {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

using validation::drucker2022::ArmCase;

Model arm(int elements, const ArmCase& c) {
  Result<Model> model = validation::drucker2022::flexible_arm(elements, c);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  return *model;
}

Path swing() { return *Path::line({0}, {30 * kDegree}, 0, 1, 4); }

Result<StableInversion> inverted(const Model& model, const StableOptions& options) {
  auto servo = ModelServo::create(model, nominal(model), {{"tip_direction"}, {}, {"drive"}, {}});
  if (!servo.ok()) return servo.diagnostics();
  return invert_stably(**servo, swing(), options);
}

// Largest deviation of the tip's direction, as seen from the drive, from its goal after the move, when the drive turns as told; time counts from the table's first instant.
double left_over(int elements, const std::vector<double>& t, const std::vector<double>& rate) {
  Model plant = arm(elements, {});
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

// The four cases are one motion. Relative degrees 4, 3, 2, 1: where the first section is free the drive acts on the tip by way of the elements alone.
TEST(StableReference, TheFourCasesOfTheFlexibleLink) {
  StableOptions options;
  options.dt = 0.005;
  options.before = options.after = 1;
  const auto torque = inverted(arm(4, {true, true}), options),
             speed = inverted(arm(4, {true, false}), options);
  ASSERT_TRUE(torque.ok()) << torque.diagnostics().text();
  ASSERT_TRUE(speed.ok()) << speed.diagnostics().text();
  // Undamped and from rest to rest: the motion is its own mirror image in time, torques are odd and speeds even about the middle.
  const size_t last = torque->t.size() - 1;
  double largest = 0, odd = 0, even = 0, differ = 0;
  for (size_t k = 0; k <= last; ++k) {
    largest = std::max(largest, std::abs(torque->u[0][k]));
    odd = std::max(odd, std::abs(torque->u[0][k] + torque->u[0][last - k]));
    even = std::max(even, std::abs(speed->u[0][k] - speed->u[0][last - k]));
    for (size_t c = 0; c < torque->y.size(); ++c)
      differ = std::max(differ, std::abs(torque->y[c][k] - speed->y[c][k]));
  }
  // The arm linearised about its straight shape (inversion_test::ancf_arm), solved to 1e-6: 10.9990 N m.
  EXPECT_NEAR(largest, 10.999, 0.003);
  EXPECT_LT(odd, 1e-4 * largest);
  EXPECT_LT(even, 1e-4);
  EXPECT_LT(differ, 1e-6);
  const auto free_torque = inverted(arm(4, {false, true}), options),
             free_speed = inverted(arm(4, {}), options);
  ASSERT_TRUE(free_torque.ok()) << free_torque.diagnostics().text();
  ASSERT_TRUE(free_speed.ok()) << free_speed.diagnostics().text();
  differ = 0;
  for (size_t k = 0; k <= last; ++k)
    for (size_t c = 0; c < free_torque->y.size(); ++c)
      differ = std::max(differ, std::abs(free_torque->y[c][k] - free_speed->y[c][k]));
  EXPECT_LT(differ, 1e-6);
}

// A16 and A20: the inputs of a rigid link leave 8.39°, those of four elements 0.14 to 0.15° on an arm of ten.
TEST(StableReference, TheArmComesToRest) {
  const Path path = swing();
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
  const auto stable = inverted(arm(4, {}), options);
  ASSERT_TRUE(stable.ok()) << stable.diagnostics().text();
  EXPECT_LT(left_over(10, stable->t, stable->u[0]), 0.25);
}

}  // namespace
}  // namespace panto
