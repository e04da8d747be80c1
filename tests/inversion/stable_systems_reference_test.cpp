// Stable inversion of several flexible mechanisms, against another beam formulation, a forward integration, and plants simulated by another integrator.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "panto/integrate/simulate.hpp"
#include "panto/inversion/model_servo.hpp"
#include "panto/inversion/stable_inversion.hpp"
#include "panto/io/toml.hpp"
#include "tests/inversion/flexible_arms.hpp"

namespace panto {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

Model compiled(const Result<ModelSpec>& spec) {
  if (!spec.ok()) throw std::runtime_error(spec.diagnostics().text());
  Result<Model> model = compile(*spec);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  return *model;
}

Result<StableInversion> inverted(const Model& model, const ServoChoice& choice, const Path& path,
                                 const StableOptions& options) {
  auto servo = ModelServo::create(model, nominal(model), choice);
  if (!servo.ok()) return servo.diagnostics();
  return invert_stably(**servo, path, options);
}

// The plant from the beginning of the horizon with the inputs that were found, by generalised-α; largest error of an output.
double largest_error(Model plant, const StableInversion& motion, const Path& path,
                     const std::vector<std::string>& outputs,
                     const std::vector<std::string>& inputs, double step) {
  std::vector<double> t = motion.t;
  for (double& at : t) at -= motion.t.front();
  for (size_t i = 0; i < inputs.size(); ++i) {
    size_t k = 0;
    while (plant.inputs.at(k).name != inputs[i]) ++k;
    plant.inputs[k].signal = static_cast<int>(plant.signals.size());
    plant.signals.push_back(Signal::table(t, motion.u[i]));
    plant.signal_sources.emplace_back();
  }
  SimulationOptions options;
  options.integrator = "generalised_alpha";
  options.dt = step;
  options.until = t.back();
  const Result<Run> run = simulate(plant, nominal(plant), options);
  if (!run.ok()) throw std::runtime_error(run.diagnostics().text());
  double largest = 0;
  std::vector<double> z(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    size_t k = 0;
    while (plant.outputs.at(k).name != outputs[i]) ++k;
    for (size_t n = 0; n < run->t.size(); ++n) {
      path.at(run->t[n] + motion.t.front(), 1, z);
      largest = std::max(largest, std::abs(run->outputs[k][n] - z[i]));
    }
  }
  return largest;
}

// One link, 30 or 15 degrees, clamped to a shaft that a torque turns. Beams on a floating frame (deformation linear) and in absolute coordinates (large) have the same
// bending zeros; their torques differ by what is of second order in the deformation.
TEST(StableSystems, BeamFormulationsAgreeToTheSquareOfTheDeformation) {
  Result<ModelSpec> spec = load_spec("flexible_arm");
  ASSERT_TRUE(spec.ok());
  Node& beam = *std::get<Node::Array>(spec->root.find("body")->value)[0].find("ancf");
  beam.set("element", "cable");
  auto& members = std::get<Node::Table>(beam.value);
  members.erase(std::remove_if(members.begin(), members.end(),
                               [](const auto& member) { return member.first == "poisson"; }),
                members.end());
  for (Node& output : std::get<Node::Array>(spec->root.find("output")->value))
    if (*output.find("name")->text() == "tip_angle") output.set("of", "link.end");
  Node& drive = std::get<Node::Array>(spec->root.find("actuator")->value)[0];
  drive.set("type", "torque");
  drive.set("input", 0);
  const Model absolute = compiled(spec), floating = compiled(load_spec("single_flexible_link"));
  StableOptions options;
  options.before = options.after = 0.3;
  options.tolerance = 1e-5;  // a hundredth of the smaller difference
  std::array<double, 2> differs{}, bends{};
  for (size_t n = 0; n < 2; ++n) {
    const Path path = *Path::line({0}, {30 * kDegree / std::pow(2, n)}, 0, 1, 4);
    const auto a = inverted(absolute, {{"tip_direction"}, {}, {"drive"}, {}}, path, options),
               f = inverted(floating, {{"tip_direction"}, {}, {"T"}, {}}, path, options);
    ASSERT_TRUE(a.ok()) << a.diagnostics().text();
    ASSERT_TRUE(f.ok()) << f.diagnostics().text();
    const Signal torque = Signal::table(a->t, a->u[0]);
    double largest = 0;
    const auto tip = static_cast<size_t>(std::find(floating.coordinate_names.begin(),
                                                   floating.coordinate_names.end(), "link.n5.uy") -
                                         floating.coordinate_names.begin());
    for (size_t k = 0; k < f->t.size(); ++k) {
      differs[n] = std::max(differs[n], std::abs(torque.at(f->t[k]).value - f->u[0][k]));
      largest = std::max(largest, std::abs(f->u[0][k]));
      bends[n] = std::max(bends[n], std::abs(f->y[tip][k]));
    }
    differs[n] /= largest;
  }
  // The tip leaves the straight link of 1 m by 4.7 and 2.3 cm.
  EXPECT_NEAR(bends[0], 0.047, 1e-3);
  EXPECT_LT(differs[0], 3 * bends[0] * bends[0]);
  // A quarter with half the deformation; fourth-order terms, (4.7 %)², are the tolerance with margin.
  EXPECT_NEAR(differs[0] / differs[1], 4, 0.05);
}

// A rigid and a flexible link, two drives that hold speeds, the tip on a line: 19 growing, 19 decaying and 14 neutral internal modes.
TEST(StableSystems, TheTipOfARigidAndAFlexibleLinkFollowsALine) {
  const Model model = compiled(load_spec("flexible_two_link"));
  const double reach = 2 * std::cos(20 * kDegree);
  const Path path = *Path::line({reach, 0}, {1.8, 0.1}, 0, 1, 4);
  StableOptions options;
  options.before = options.after = 0.3;
  options.dt = 1.0 / 400;
  const auto motion =
      inverted(model, {{"tip_x", "tip_y"}, {}, {"shoulder", "elbow"}, {}}, path, options);
  ASSERT_TRUE(motion.ok()) << motion.diagnostics().text();
  ASSERT_EQ(motion.diagnostics().items().size(), 1U);
  EXPECT_EQ(motion.diagnostics().items()[0].id, 1076);
  EXPECT_GT(motion->pre_actuation, 0.05);
  // Inputs are straight between 2.5 ms, the plant is simulated with steps of 1 ms.
  EXPECT_LT(largest_error(model, *motion, path, {"tip_x", "tip_y"}, {"shoulder", "elbow"}, 1e-3),
            1e-4);
}

// The zoo's two-link arm with torques in its joints, its second link a beam on a floating frame or in absolute coordinates.
Model two_link(bool floating) {
  Result<ModelSpec> spec = load_spec("flexible_two_link");
  if (!spec.ok()) throw std::runtime_error(spec.diagnostics().text());
  Node& root = spec->root;
  auto& second = std::get<Node::Table>(std::get<Node::Array>(root.find("body")->value)[1].value);
  Node beam;
  beam.value = Node::Table{};
  for (const char* key : {"length", "rectangle", "E", "density"})
    beam.set(key, *second.back().second.find(key));
  beam.set("elements", 4);
  if (!floating) {
    beam.set("element", "cable");
    for (const char* key : {"at", "angle"}) beam.set(key, *second.back().second.find(key));
  }
  second.back() = {floating ? "beam" : "ancf", beam};
  if (floating) root.find("initial")->set("beta", "beta0 - alpha0");
  for (Node& drive : std::get<Node::Array>(root.find("actuator")->value)) {
    drive.set("type", "torque");
    drive.set("input", 0);
  }
  return compiled(spec);
}

// Rigid and flexible link: torques of both beam formulations differ by what is of second order in the motion, and the plant follows.
TEST(StableSystems, BeamFormulationsAgreeBehindARigidLink) {
  const Model floating = two_link(true), absolute = two_link(false);
  const ServoChoice choice{{"tip_x", "tip_y"}, {}, {"shoulder", "elbow"}, {}};
  const double reach = 2 * std::cos(20 * kDegree);
  StableOptions options;
  options.before = options.after = 0.3;
  options.tolerance = 1e-4;
  std::array<double, 3> differs{};  // [N m]
  for (size_t n = 0; n < differs.size(); ++n) {
    const double part = std::pow(0.25, n);
    const Path path = *Path::line({reach, 0}, {reach - 0.08 * part, 0.1 * part}, 0, 1, 4);
    const auto f = inverted(floating, choice, path, options),
               a = inverted(absolute, choice, path, options);
    ASSERT_TRUE(f.ok()) << f.diagnostics().text();
    ASSERT_TRUE(a.ok()) << a.diagnostics().text();
    EXPECT_GT(f->pre_actuation, 0.1);
    double largest = 0;
    for (size_t i = 0; i < 2; ++i) {
      const Signal torque = Signal::table(a->t, a->u[i]);
      for (size_t k = 0; k < f->t.size(); ++k) {
        differs[n] = std::max(differs[n], std::abs(torque.at(f->t[k]).value - f->u[i][k]));
        largest = std::max(largest, std::abs(f->u[i][k]));
      }
    }
    EXPECT_LT(differs[n], 0.02 * largest);
    if (n == 0) {
      EXPECT_LT(largest_error(floating, *f, path, {"tip_x", "tip_y"}, {"shoulder", "elbow"}, 1e-3),
                1e-4);
    }
  }
  // Third-order terms are a part of the path's length of this; the smallest motion, 8 mm, is known to 1e-4 of its torques.
  EXPECT_NEAR(differs[0] / differs[1], 16, 3);
  EXPECT_NEAR(differs[1] / differs[2], 16, 2);
}

// A crank that bends moves a slider by way of a rigid rod.
constexpr const char* kFlexibleCrank = R"toml(
space = "planar"
body = [
  { name = "crank", beam = { length = "0.4 m", rectangle = ["40 mm", "5 mm"], E = "3 GPa", density = "1400 kg/m^3", elements = 2, zeroed = [], damping = { alpha = "1 1/s", beta = "1e-4 s" } } },
  { name = "rod", bar = { length = "1 m", mass = "0.2 kg" } },
  { name = "slider", point_mass = { mass = "0.5 kg" } },
]
joint = [
  { name = "theta", type = "revolute", parent = "ground", child = "crank" },
  { name = "phi", type = "revolute", parent = "crank.end", child = "rod" },
  { name = "x", type = "prismatic", parent = "ground", child = "slider", axis = "x" },
]
loop = [{ name = "wrist", type = "pin", between = ["rod.end", "slider"] }]
actuator = [{ name = "T", type = "torque", on = "theta" }]
output = [{ name = "position", type = "position", of = "slider", axis = "x" }]
independent = ["theta"]
initial = { theta = "60 deg", guess = { phi = -1.4, x = 1.1 } }
)toml";

TEST(StableSystems, ASliderIsMovedByACrankThatBends) {
  const Model model = compiled(parse_model_text(kFlexibleCrank, "crank.toml"));
  const double from = 0.2 + std::sqrt(1 - 0.12);
  const Path path = *Path::line({from}, {0.8}, 0, 0.5, 4);
  StableOptions options;
  options.tolerance = 1e-4;
  const auto motion = inverted(model, {{"position"}, {}, {"T"}, {}}, path, options);
  ASSERT_TRUE(motion.ok()) << motion.diagnostics().text();
  EXPECT_TRUE(motion.diagnostics().items().empty()) << motion.diagnostics().text();
  EXPECT_LE(motion->error, 1e-4);
  EXPECT_GT(motion->pre_actuation, 0);
  EXPECT_LT(largest_error(model, *motion, path, {"position"}, {"T"}, 5e-4), 1e-6);
}

// Minimum phase: the slider of the zoo's slider-crank with a steel rod, moved by the crank. The boundary value problem has nothing to anticipate and gives the inputs
// of a forward integration.
TEST(StableSystems, AgreesWithAForwardIntegrationOfAFlexibleRod) {
  const Model model = compiled(load_spec("slider_crank_flexible"));
  const ServoChoice choice{{"slider_x"}, {}, {"T"}, {}};
  const Path path = *Path::line({0.89}, {0.85}, 0, 0.5, 4);
  StableOptions options;
  options.tolerance = 1e-3;
  options.after = 0.2;
  const auto stable = inverted(model, choice, path, options);
  ASSERT_TRUE(stable.ok()) << stable.diagnostics().text();
  EXPECT_EQ(stable->modes.growing.size(), 0U);
  EXPECT_EQ(stable->pre_actuation, 0);
  const Signal torque = Signal::table(stable->t, stable->u[0]);
  auto servo = ModelServo::create(model, nominal(model), choice);
  ASSERT_TRUE(servo.ok()) << servo.diagnostics().text();
  InverseOptions forward;
  forward.scheme = InverseScheme::kRadau5;
  forward.dt = 2e-3;
  auto inverse = InverseModel::create(**servo, path, forward);
  ASSERT_TRUE(inverse.ok()) << inverse.diagnostics().text();
  ASSERT_TRUE((*inverse)->start(0).ok());
  double worst = 0, largest = 0;
  while ((*inverse)->t() < 0.6) {
    ASSERT_TRUE(ok((*inverse)->step()));
    const double u = (*inverse)->u()[0];
    largest = std::max(largest, std::abs(u));
    worst = std::max(worst, std::abs(u - torque.at((*inverse)->t()).value));
  }
  EXPECT_LT(worst, 1e-3 * largest);
}

// A pole on a cart, phi'' = ω² phi - c x'' upright: what is left at the ends is a share of its swing, however far the cart goes.
TEST(StableSystems, WhatIsLeftAtTheEndsIsMeasuredByInternalMotion) {
  const Result<ModelSpec> spec = parse_model_text(R"(
space = "planar"
gravity = [0, -9.81]
body = [
  { name = "cart", point_mass = { mass = "1 kg" } },
  { name = "pole", bar = { length = "0.6 m", mass = "0.2 kg" } },
]
joint = [
  { name = "x", type = "prismatic", parent = "ground", child = "cart", axis = "x" },
  { name = "phi", type = "revolute", parent = "cart", child = "pole" },
]
actuator = [{ name = "F", type = "force", on = "x" }]
output = [{ name = "place", type = "coordinate", of = "x" }]
initial = { phi = "90 deg" }
)",
                                                  "pole.toml");
  const Model pole = compiled(spec);
  for (const auto& [distance, seconds] : {std::pair{10., 20.}, {100., 60.}})
    for (const double before : {0., 0.5, 2.}) {
      StableOptions options;
      options.before = options.after = before;
      const auto found = inverted(pole, {{"place"}, {}, {"F"}, {}},
                                  *Path::line({0}, {distance}, 0, seconds, 2), options);
      ASSERT_TRUE(found.ok()) << found.diagnostics().text();
      double largest = 0;
      for (const double phi : found->y[1])
        largest = std::max(largest, std::abs(phi - std::numbers::pi / 2));
      const double share = std::abs(found->y[1].front() - std::numbers::pi / 2) / largest;
      // At the ends the pole falls as fast as it rises: positions and speeds, in its own unit of time, are alike.
      EXPECT_NEAR(found->leakage_begin, share, 0.05 * share);
      const bool warned =
          std::any_of(found.diagnostics().items().begin(), found.diagnostics().items().end(),
                      [](const Diagnostic& d) { return d.id == 1077; });
      EXPECT_EQ(warned, before < 1) << before;
    }
}

}  // namespace
}  // namespace panto
