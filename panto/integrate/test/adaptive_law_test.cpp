// The variable-step integrators agree with each other and keep to the tolerance asked for.
#include <gtest/gtest.h>

#include "panto/integrate/simulate.hpp"
#include "panto/integrate/test/mechanisms.hpp"

namespace panto {
namespace {

Run run_of(const Model& model, const SimulationOptions& options) {
  Result<Run> run = simulate(model, nominal(model), options);
  EXPECT_TRUE(run.ok()) << run.diagnostics().text();
  return run.ok() ? std::move(*run) : Run{};
}

struct Start {
  Model model;
  std::vector<double> q, v;
  double until;
};

std::vector<Start> starts() {
  std::vector<Start> s;
  s.push_back({test::double_pendulum(), {0.3, 0.5}, {0, 1}, 2});
  s.push_back({test::sanjurjo(), {}, {}, 2});
  const double c = std::sqrt(0.5);
  s.push_back({test::heavy_top(), {c, c, 0, 0}, {0, 15, -0.46}, 1});
  s.push_back({test::distance_rod(), {-1, 4, 3, 1, 0, 0, 0}, {0, 0, 0, 0.3, 0.5, -0.4}, 2});
  s.push_back({test::driven_slider_crank(), {}, {}, 1});
  for (int order = 0; order < 3; ++order) s.push_back({test::velocity_arm(order), {}, {}, 2});
  return s;
}

TEST(Adaptive, IntegratorsAgree) {
  for (const Start& s : starts()) {
    SimulationOptions options;
    options.q = s.q;
    options.v = s.v;
    options.until = s.until;
    options.at = {0.37 * s.until, s.until};
    options.tol = 1e-10;
    options.integrator = "cvode";
    const auto adams = run_of(s.model, options);
    for (const char* other : {"cvode_bdf", "ida", "auto"}) {
      options.integrator = other;
      const auto run = run_of(s.model, options);
      ASSERT_EQ(run.q.size(), adams.q.size());
      for (size_t i = 0; i < 2; ++i) {
        for (size_t k = 0; k < run.q.size(); ++k)
          EXPECT_NEAR(run.q[k][i], adams.q[k][i], 1e-8) << s.model.name << " " << other;
        for (size_t k = 0; k < run.v.size(); ++k)
          EXPECT_NEAR(run.v[k][i], adams.v[k][i], 1e-8 * 15) << s.model.name << " " << other;
      }
    }
  }
}

TEST(Adaptive, EnergyBalanceClosesWithDriversAndDampers) {
  for (const Start& s : starts()) {
    SimulationOptions options;
    options.q = s.q;
    options.v = s.v;
    options.until = s.until;
    options.tol = 1e-10;
    const auto run = run_of(s.model, options);
    double scale = 1;
    for (size_t i = 0; i < run.t.size(); ++i)
      scale = std::max(scale, run.kinetic[i] + std::abs(run.potential[i]));
    EXPECT_LT(run.energy_max_drift, 1e-8 * scale) << s.model.name;
  }
}

TEST(Adaptive, ErrorFollowsTheTolerance) {
  const Model model = test::sanjurjo();
  SimulationOptions options;
  options.until = 5;
  options.at = {5};
  options.tol = 1e-12;
  options.integrator = "cvode";
  const double exact = run_of(model, options).outputs[0][0];
  for (const double tol : {1e-5, 1e-7, 1e-9}) {
    options.tol = tol;
    // The crank turns fast here: errors of the motion's phase count sixfold.
    EXPECT_LT(std::abs(run_of(model, options).outputs[0][0] - exact), 60 * tol) << tol;
  }
}

// A mass on a spring and a damper so strong that the fast motion dies at once: λ = -4e4 1/s and -20 1/s.
Model stiff_spring(double damping) {
  using test::list;
  using test::table;
  return test::build(
      table({{"name", "stiff"},
             {"space", "planar"},
             {"body", list({table({{"name", "mass"}, {"point_mass", table({{"mass", 1.0}})}})})},
             {"joint", list({test::joint("x", "prismatic", "ground", "mass")})},
             {"force", list({table({{"name", "spring"},
                                    {"type", "joint_spring"},
                                    {"on", "x"},
                                    {"stiffness", 8e5},
                                    {"damping", damping}})})},
             {"output", list({test::coordinate_output("x")})}}));
}

TEST(Adaptive, AutoTurnsToBdfWhenStiff) {
  const Model model = stiff_spring(4e4);
  SimulationOptions options;
  options.q = {1};
  options.v = {0};
  options.until = 10;
  options.at = {0.1, 10};
  options.tol = 1e-8;
  const auto run = run_of(model, options);
  EXPECT_EQ(run.integrator, "cvode_bdf");
  EXPECT_LT(run.stats.steps, 3000);
  // x = (λ₂ e^{λ₁ t} - λ₁ e^{λ₂ t}) / (λ₂ - λ₁); at 0.1 s only the slow term is left.
  const double root = std::sqrt(4e8 - 8e5), slow = -2e4 + root, fast = -2e4 - root;
  EXPECT_NEAR(run.outputs[0][0], fast / (fast - slow) * std::exp(0.1 * slow), 1e-8);
}

TEST(Adaptive, AutoStaysWithAdamsWhenOnlyTheFrequencyIsHigh) {
  const Model model = stiff_spring(0);
  SimulationOptions options;
  options.q = {1};
  options.v = {0};
  options.until = 0.2;
  options.at = {0.2};
  options.tol = 1e-8;
  const auto run = run_of(model, options);
  EXPECT_EQ(run.integrator, "cvode");
  EXPECT_NEAR(run.outputs[0][0], std::cos(0.2 * std::sqrt(8e5)), 1e-6);
}

}  // namespace
}  // namespace panto
