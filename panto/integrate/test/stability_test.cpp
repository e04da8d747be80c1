// Largest steps of explicit methods against closed forms (INT-12).
#include "panto/integrate/stability.hpp"

#include <cmath>
#include <numbers>

#include "panto/integrate/simulate.hpp"
#include "panto/integrate/test/mechanisms.hpp"

namespace panto {
namespace {

constexpr double kRate = 5e3;  // |λ| of the tests [1/s]
constexpr double kLong = 1e6;  // a run in which every growth shows

double step_of(const char* integrator, std::complex<double> s, double until = kLong) {
  Eigen::VectorXcd values(2);
  values << s, std::conj(s);
  return kRate * step_limit(integrator, kRate * values, until).step;
}

std::complex<double> damped(double ratio) { return {-ratio, std::sqrt(1 - ratio * ratio)}; }

TEST(StepLimit, OfRungeKutta) {
  EXPECT_NEAR(step_of("rk4", {0, 1}), 2 * std::numbers::sqrt2, 1e-6);
  EXPECT_NEAR(step_of("rk4", -1), 2.785293563405282, 1e-6);
}

TEST(StepLimit, OfSemiImplicitEuler) {
  EXPECT_NEAR(step_of("semi_implicit_euler", {0, 1}), 2, 1e-4);
  EXPECT_NEAR(step_of("semi_implicit_euler", -1), 2, 1e-6);
  for (const double ratio : {0.01, 0.1, 0.4, 0.9})
    EXPECT_NEAR(step_of("semi_implicit_euler", damped(ratio)),
                2 * (std::sqrt(1 + ratio * ratio) - ratio), 1e-6);
}

TEST(StepLimit, OfExplicitEuler) {
  EXPECT_NEAR(step_of("euler", -1), 2, 1e-6);
  for (const double ratio : {0.01, 0.1, 0.4})
    EXPECT_NEAR(step_of("euler", damped(ratio)), 2 * ratio, 1e-6);
  // Without damping every step lets it grow: by exp(½ ω² h T).
  const double until = 10;
  EXPECT_NEAR(step_of("euler", {0, 1}, until), 2 * std::log(1e6) / (kRate * until), 1e-6);
  // Too few oscillations to grow much.
  EXPECT_TRUE(std::isinf(step_of("euler", {0, 1}, 10 / kRate)));
}

TEST(StepLimit, IsNotSetByWhatGrowsOrRests) {
  for (const char* integrator : {"euler", "semi_implicit_euler", "rk4"}) {
    EXPECT_TRUE(std::isinf(step_of(integrator, 1))) << integrator;
    EXPECT_TRUE(std::isinf(step_of(integrator, 0))) << integrator;
  }
  EXPECT_NEAR(step_of("rk4", {0.3, 1}), 2 * std::numbers::sqrt2, 1e-6);
}

TEST(StepLimit, IsOfExplicitMethodsOnly) {
  for (const IntegratorInfo& info : integrators()) {
    const bool explicit_step = info.fixed_step && !info.implicit;
    EXPECT_EQ(std::isfinite(step_of(info.name.c_str(), {0, 1})), explicit_step) << info.name;
  }
}

TEST(FastEigenvalues, OfAHangingPendulum) {
  test::Rig rig(test::pendulum(9.81), {-std::numbers::pi / 2}, {0});
  Eigen::VectorXcd values;
  ASSERT_EQ(fast_eigenvalues(*rig.ode, 0, rig.x, values), Status::kOk);
  ASSERT_EQ(values.size(), 2);
  for (const std::complex<double>& s : values) {
    EXPECT_NEAR(s.real(), 0, 1e-12);
    EXPECT_NEAR(std::abs(s.imag()), std::sqrt(9.81), 1e-12);
  }
}

TEST(DescribeMode, NamesWhatDecides) {
  const double hz = 2 * std::numbers::pi;
  EXPECT_EQ(describe_mode({0, 100 * hz}), "oscillates at 100 Hz");
  EXPECT_EQ(describe_mode(100 * hz * damped(0.3)), "oscillates at 100 Hz (damping ratio 0.3)");
  EXPECT_EQ(describe_mode(-250), "decays with a rate of 250 1/s");
}

}  // namespace
}  // namespace panto
