// Beams of small and of large deformation are two computations of one thing: they agree where deformation is small, on slow and on fast arms, and both become
// rigid with Young's modulus.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "panto/integrate/simulate.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"

namespace panto {
namespace {

struct Tip {
  double x, y, angle;
};

// An arm of 1 m on a hinge; `more`: the rest of the file.
Tip tip(const std::string& body, const std::string& more, double until) {
  const std::string text =
      "space = \"planar\"\n" + body +
      "joint = [{ name = \"theta\", type = \"revolute\", parent = \"ground\", "
      "child = \"arm\" }]\n" +
      more +
      "output = [{ name = \"x\", type = \"position\", of = \"arm.end\", axis = \"x\" "
      "}, { name = \"y\", type = \"position\", of = \"arm.end\", axis = \"y\" }, { "
      "name = \"angle\", type = \"angle\", of = \"arm.end\" }]\n";
  const auto spec = parse_model_text(text, "arm.toml");
  if (!spec.ok()) throw std::runtime_error(spec.diagnostics().text());
  const auto model = compile(*spec);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  SimulationOptions options;
  options.until = until;
  options.integrator = "cvode";
  options.tol = 1e-8;
  const auto run = simulate(*model, nominal(*model), options);
  if (!run.ok()) throw std::runtime_error(run.diagnostics().text());
  return {run->outputs[0].back(), run->outputs[1].back(), run->outputs[2].back()};
}
std::string arm(const char* kind, double youngs_modulus, const std::string& more = "") {
  return fmt::format(
      "body = [{{ name = \"arm\", {} = {{ length = 1, rectangle = [0.02, 0.01], E = {}, density = "
      "2700, elements = 4{} }} }}]\n",
      kind, youngs_modulus, more);
}

const std::string kSlow =
    "driver = [{ name = \"d\", on = \"theta\", motion = \"0.3*(t - sin(pi*t)/pi)\" }]\n";
// Of the rigid arm at t = 0.5, where it accelerates most.
const double kAngle = 0.3 * (0.5 - 1 / std::numbers::pi);
const Tip kRigid{std::cos(kAngle), std::sin(kAngle), kAngle};

TEST(SlowArm, BothFormulationsAgree) {
  const Tip small = tip(arm("beam", 70e9), kSlow, 0.5), large = tip(arm("ancf", 70e9), kSlow, 0.5);
  const double lag = std::hypot(large.x - kRigid.x, large.y - kRigid.y);
  EXPECT_GT(lag, 1e-5);
  // Of second order in the deflection, and the tolerance of the integrator.
  EXPECT_LT(std::hypot(small.x - large.x, small.y - large.y), 1e-3 * lag);
  EXPECT_NEAR(small.angle, large.angle, 1e-3 * lag);
}

// Deflections of a slow motion fall with 1/E.
TEST(SlowArm, BecomesRigidInProportionToItsCompliance) {
  for (const char* kind : {"beam", "ancf"}) {
    const auto lag = [&](double e) {
      const Tip t = tip(arm(kind, e), kSlow, 0.5);
      return std::hypot(t.x - kRigid.x, t.y - kRigid.y);
    };
    EXPECT_NEAR(std::log10(lag(7e9) / lag(7e10)), 1, 0.2) << kind;
  }
}

// A soft arm (first frequency 5 rad/s when clamped) at 20 rad/s, pushed by its motor: centrifugal and gyroscopic forces decide where its tip is. The axial
// vibration of the start, 0.5 mm, is left out by comparing directions: straight elements of the one and cubic ones of the other keep its phase differently.
TEST(FastArm, BothFormulationsAgree) {
  const std::string push =
      "actuator = [{ name = \"T\", type = \"torque\", on = \"theta\", input = \"0.3*sin(8*t)\" "
      "}]\n";
  const auto direction = [](const Tip& t) { return std::atan2(t.y, t.x); };
  const Tip small = tip(arm("beam", 7e8, ", strain = \"stiffening\""),
                        push + "initial = { theta_dot = 20 }\n", 0.5),
            large = tip(arm("ancf", 7e8, ", rate = 20"), push, 0.5);
  const Tip rigid = tip("body = [{ name = \"arm\", bar = { length = 1, mass = 0.54 } }]\n",
                        push + "initial = { theta_dot = 20 }\n", 0.5);
  const double bent = std::abs(direction(large) - direction(rigid));
  EXPECT_GT(bent, 1e-3);
  EXPECT_LT(std::abs(direction(small) - direction(large)), 0.02 * bent);
}

}  // namespace
}  // namespace panto
