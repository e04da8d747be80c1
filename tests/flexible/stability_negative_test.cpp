// Explicit steps that cannot be stable are refused, by name of what is too fast (E0525).
#include <fmt/format.h>

#include "panto/integrate/simulate.hpp"
#include "tests/linear/linear_case.hpp"

namespace panto {
namespace {

std::string refusal(const Result<Model>& model, const char* integrator, double dt,
                    double until = 0.01) {
  if (!model.ok()) return model.diagnostics().text();
  SimulationOptions options;
  options.integrator = integrator;
  options.dt = dt;
  options.until = until;
  return simulate(*model, nominal(*model), options).diagnostics().text();
}

TEST(UnstableStep, OfBeamsNamesTheHighestFrequency) {
  for (const auto& [name, dt] : {std::pair{"flexible_manipulator", 1e-4},
                                 {"slider_crank_flexible", 1e-4},
                                 {"single_flexible_link", 1e-3}}) {
    const auto model = load(name);
    const double hz = test::linearised(model, Operation::kHere).frequencies().back();
    for (const char* integrator : {"rk4", "semi_implicit_euler"}) {
      const std::string text = refusal(model, integrator, dt, 1000 * dt);
      EXPECT_NE(
          text.find(fmt::format("error[E0525]: integrator \"{}\": dt = {} s", integrator, dt)),
          std::string::npos)
          << text;
      EXPECT_NE(text.find(fmt::format("oscillates at {:.4g} Hz", hz)), std::string::npos)
          << hz << "\n"
          << text;
      EXPECT_NE(text.find("implicit integrator (radau5, trapezoidal)"), std::string::npos) << text;
    }
    EXPECT_EQ(refusal(model, "radau5", dt), "");
    EXPECT_EQ(refusal(model, "cvode", 0), "");
  }
}

TEST(UnstableStep, IsToldExactly) {
  EXPECT_EQ(refusal(load("flexible_manipulator"), "rk4", 1e-4),
            "error[E0525]: integrator \"rk4\": dt = 0.0001 s is not stable: the fastest mode "
            "oscillates at 4668 Hz, the largest stable dt is 9.644e-05 s; use a shorter dt or an "
            "implicit integrator (radau5, trapezoidal)\n");
  EXPECT_EQ(refusal(load("flexible_manipulator"), "rk4", 9.6e-5), "");
}

const char* const kDamper = R"(space = "planar"
body = [{ name = "cart", point_mass = { mass = 1 } }]
joint = [{ name = "x", type = "prismatic", parent = "ground", child = "cart", axis = "x" }]
force = [{ name = "oil", type = "joint_spring", on = "x", damping = 1e4 }]
initial = { x_dot = 1 }
)";

// λ = -1e4 1/s.
TEST(UnstableStep, OfAStiffDamperIsJudgedOnTheRealAxis) {
  const auto model = test::model_of(kDamper);
  for (const auto& [integrator, limit] :
       {std::pair{"rk4", 2.785e-4}, {"euler", 2e-4}, {"semi_implicit_euler", 2e-4}}) {
    EXPECT_EQ(refusal(model, integrator, 0.99 * limit, 10), "");
    const std::string text = refusal(model, integrator, 1.03 * limit, 10);
    EXPECT_NE(text.find("decays with a rate of 1e+04 1/s"), std::string::npos) << text;
    EXPECT_NE(text.find(fmt::format("{:.4g} s", limit)), std::string::npos) << text;
  }
}

// Explicit Euler lets the pendulum grow slowly, which teaches; the beam it would blow up.
TEST(UnstableStep, OfExplicitEulerIsOneThatBlowsUp) {
  EXPECT_EQ(refusal(load("pendulum"), "euler", 0.01, 10), "");
  EXPECT_NE(
      refusal(load("single_flexible_link"), "euler", 1e-4, 2).find("millionfold until t = 2 s"),
      std::string::npos);
}

}  // namespace
}  // namespace panto
