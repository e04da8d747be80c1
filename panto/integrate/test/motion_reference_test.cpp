// Motions that are known otherwise.
#include <gtest/gtest.h>

#include <boost/math/special_functions/ellint_1.hpp>
#include <boost/math/special_functions/jacobi_elliptic.hpp>

#include "panto/integrate/simulate.hpp"
#include "panto/integrate/test/mechanisms.hpp"

namespace panto {
namespace {

double last(const Run& run, size_t output = 0) { return run.outputs[output].back(); }

Run run_of(const Model& model, const SimulationOptions& options) {
  Result<Run> run = simulate(model, nominal(model), options);
  EXPECT_TRUE(run.ok()) << run.diagnostics().text();
  return run.ok() ? std::move(*run) : Run{};
}

// Released at rest from the horizontal: with k = sin(45°), the angle from the downward vertical is 2 asin(k sn(K - ω t)), ω² = g/l.
double pendulum_angle(double t, double g) {
  const double k = std::sqrt(0.5), quarter = boost::math::ellint_1(k), w = std::sqrt(g);
  const double s = boost::math::jacobi_sn(k, quarter - w * t);
  return 2 * std::asin(k * s) - std::numbers::pi / 2;
}

TEST(Pendulum, FollowsEllipticFunctions) {
  const Model model = test::pendulum(9.81);
  const double exact = pendulum_angle(10, 9.81);
  SimulationOptions options;
  options.until = 10;
  options.q = {0};
  options.v = {0};
  options.at = {10};
  options.tol = 1e-11;
  for (const char* integrator : {"auto", "cvode"}) {
    options.integrator = integrator;
    EXPECT_NEAR(last(run_of(model, options)), exact, 1e-10) << integrator;
  }
  // Fixed steps: truncation h⁴ and h⁵ below 1e-10 at these steps.
  options.integrator = "rk4";
  options.dt = 5e-4;
  EXPECT_NEAR(last(run_of(model, options)), exact, 1e-10);
  options.integrator = "radau5";
  options.dt = 2.5e-3;
  EXPECT_NEAR(last(run_of(model, options)), exact, 1e-10);
}

TEST(Pendulum, ConservesEnergy) {
  const Model model = test::pendulum(9.81);
  SimulationOptions options;
  options.q = {0};
  options.v = {0};
  options.tol = 1e-11;
  const auto run = run_of(model, options);
  EXPECT_LT(run.energy_max_drift, 1e-10 * 9.81);
  EXPECT_EQ(run.t.size(), 1001u);
}

// Crank angle of the four-bar of Sanjurjo et al. (2017) by the trapezoidal rule with 5 ms, and its converged value.
TEST(FourBar, TrapezoidalRuleGivesTheMatrixRNumbers) {
  const Model model = test::sanjurjo();
  SimulationOptions options;
  options.at = {1, 10};
  options.dt = 5e-3;
  options.integrator = "trapezoidal";
  const auto coarse = run_of(model, options);
  ASSERT_EQ(coarse.t.size(), 2u);
  EXPECT_NEAR(coarse.outputs[0][0], -0.041992, 5e-7);
  EXPECT_NEAR(coarse.outputs[0][1], -4.905879, 5e-7);
  options.integrator = "cvode";
  options.dt = 0;
  options.tol = 1e-10;
  const auto fine = run_of(model, options);
  EXPECT_NEAR(fine.outputs[0][0], -0.041973, 5e-7);
  EXPECT_NEAR(fine.outputs[0][1], -4.905948, 5e-7);
  EXPECT_LT(fine.max_position_violation, 1e-10);
  EXPECT_LT(fine.max_velocity_violation, 1e-12);
}

// A spinning symmetric top keeps its spin; the two formulations agree.
TEST(HeavyTop, KeepsItsSpin) {
  const Model model = test::heavy_top();
  SimulationOptions options;
  const double c = std::sqrt(0.5);
  options.q = {c, c, 0, 0};
  options.v = {0, 15, -0.46};
  options.until = 1;
  options.tol = 1e-10;
  for (const char* integrator : {"cvode", "cvode_bdf", "ida"}) {
    options.integrator = integrator;
    const auto run = run_of(model, options);
    EXPECT_NEAR(run.v[1].back(), 15, 1e-8) << integrator;
    double norm = 0;
    for (size_t e = 0; e < 4; ++e) norm += run.q[e].back() * run.q[e].back();
    EXPECT_NEAR(norm, 1, 1e-14) << integrator;
  }
}

}  // namespace
}  // namespace panto
