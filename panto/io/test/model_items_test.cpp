// Bodies, frames, loops, forces, actuators, drivers, signals.
#include <cmath>

#include "panto/io/test/support.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

using test::compiled;
using test::findings;
using test::slot_value;

Model arm(const std::string& more) { return compiled(test::kArm + more); }
Model spatial(const std::string& more) { return compiled(test::kSpatialArm + more); }

// A spatial body with the given mass properties.
Model body(const std::string& properties, const std::string& space = "spatial") {
  return compiled(
      "space = \"" + space + "\"\nbody = [{ name = \"b\", " + properties + " }]\n" +
      "joint = [{ name = \"j\", type = \"free\", parent = \"ground\", child = \"b\" }]\n");
}

TEST(Bodies, TakeMassCentreAndInertia) {
  const Model m = body("mass = 2, com = [1, 2, 3], inertia = [3, 4, 5, 0.1, 0.2, 0.3]");
  const Solid& s = m.bodies.back().solids.at(0);
  EXPECT_EQ(s.kind, SolidKind::kExplicit);
  EXPECT_DOUBLE_EQ(slot_value(m, s.mass), 2);
  EXPECT_DOUBLE_EQ(slot_value(m, s.at[2]), 3);
  EXPECT_DOUBLE_EQ(slot_value(m, s.numbers[5]), 0.3);
  EXPECT_GE(find_parameter(m, "b.inertia.xz"), 0);
  EXPECT_GE(find_parameter(m, "b.com.y"), 0);
}

TEST(Bodies, AreTheSumOfTheirShorthands) {
  const Model m = body(
      "bar = { length = 1, mass = 1 }, point_mass = [{ mass = 1 }, { mass = 2, at = [1, 0, 0] }], "
      "box = { size = [1, 1, 1], density = 8 }, cylinder = { length = 1, radius = 2, axis = \"y\", "
      "mass "
      "= 3 }, sphere = { radius = 1, mass = 1, at = [0, 1, 0] }");
  const auto& solids = m.bodies.back().solids;
  ASSERT_EQ(solids.size(), 6u);
  const auto find = [&](SolidKind kind) {
    for (const Solid& s : solids) {
      if (s.kind == kind) return s;
    }
    return Solid{};
  };
  EXPECT_EQ(find(SolidKind::kCylinder).axis, 1);
  EXPECT_DOUBLE_EQ(slot_value(m, find(SolidKind::kBox).density), 8);
  EXPECT_DOUBLE_EQ(slot_value(m, find(SolidKind::kSphere).at[1]), 1);
  EXPECT_GE(find_parameter(m, "b.point_mass.1.at.x"), 0);
}

TEST(Bodies, OfAPlaneHaveTheirShorthandsToo) {
  const Model m =
      body("box = { size = [1, 2], mass = 1 }, cylinder = { radius = 2, mass = 3 }, inertia = 4",
           "planar");
  EXPECT_EQ(m.bodies.back().solids.size(), 3u);
  EXPECT_EQ(m.bodies.back().solids[2].axis, 2);
}

TEST(Bodies, ABarOfGivenSectionHasADensity) {
  const Model m =
      body("bar = { length = 2, width = \"10 mm\", height = \"20 mm\", density = 7800 }");
  const Solid& s = m.bodies.back().solids.at(0);
  EXPECT_EQ(s.mass, -1);
  EXPECT_DOUBLE_EQ(slot_value(m, s.density), 7800);
  EXPECT_DOUBLE_EQ(slot_value(m, s.numbers[1]), 0.01);
}

TEST(Bodies, AThinRodIsAtTheEdgeOfTheTriangleInequality) { body("mass = 1, inertia = [0, 1, 1]"); }

TEST(Frames, BringNamedPlaces) {
  const Model m = arm(R"toml(
frame = [{ name = "tip", body = "tool", at = [0.1, 0.2], angle = "90 deg" },
         { name = "pole", body = "ground", at = [5, 0] }]
output = [{ name = "d", type = "distance", between = ["tool.tip", "ground.pole"] }]
)toml");
  const Channel& c = m.outputs.at(0).channel;
  EXPECT_EQ(m.frames[static_cast<size_t>(c.frame_a)].body, 1);
  EXPECT_EQ(m.frames[static_cast<size_t>(c.frame_b)].body, kGround);
  EXPECT_NEAR(slot_value(m, m.frames[static_cast<size_t>(c.frame_a)].rotation[0]), M_PI / 2, 1e-15);
  EXPECT_GE(find_parameter(m, "tool.tip.at.x"), 0);
}

TEST(Loops, OfAPlane) {
  const Model m = arm(R"toml(
loop = [
  { name = "p", type = "pin", between = ["tool", { body = "ground", at = [3, 0] }] },
  { name = "s", type = "slider", between = ["tool", "ground"] },
  { name = "t", type = "slider", turn = true, between = ["tool", "ground"] },
  { name = "d", type = "distance", between = ["tool", "ground"], length = 3 },
  { name = "w", type = "weld", between = ["tool", "ground"] },
  { name = "c", type = "coupling", terms = { phi = 1, reach = "-2" }, offset = 0.5 },
  { name = "r", type = "rack", pinion = "phi", slider = "reach", radius = "50 mm" },
]
)toml");
  const std::vector<size_t> rows{2, 2, 1, 1, 3, 1, 1};
  ASSERT_EQ(m.groups.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(m.groups[i].rows.size(), rows[i]) << i;
  EXPECT_EQ(m.n_position_rows, 11);
  const ConstraintRow& rack = m.rows.back();
  EXPECT_DOUBLE_EQ(
      slot_value(m, m.terms[static_cast<size_t>(rack.channel.first_term) + 1].coefficient), -0.05);
}

TEST(Loops, OfSpace) {
  const Model m = spatial(R"toml(
loop = [
  { name = "b", type = "spherical", between = ["head", "ground"] },
  { name = "s", type = "slider", between = ["head", "ground"] },
  { name = "r", type = "revolute", between = ["head", "ground"] },
  { name = "u", type = "universal", between = ["head", "ground"] },
  { name = "w", type = "weld", between = ["head", "ground"] },
]
)toml");
  const std::vector<size_t> rows{3, 5, 5, 4, 6};
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(m.groups[i].rows.size(), rows[i]) << i;
}

TEST(Loops, AGearCouplesTwoAngles) {
  const Model m = compiled(R"toml(
space = "planar"
body = [{ name = "a", mass = 1 }, { name = "b", mass = 1 }]
joint = [{ name = "p", type = "revolute", parent = "ground", child = "a" },
         { name = "q", type = "revolute", parent = "ground", child = "b" }]
loop = [{ name = "g", type = "gear", joints = ["p", "q"], ratio = -2, offset = "10 deg" }]
)toml");
  const ConstraintRow& row = m.rows.at(0);
  EXPECT_EQ(m.terms[0].dof, 1);
  EXPECT_DOUBLE_EQ(slot_value(m, m.terms[0].coefficient), 1);
  EXPECT_EQ(m.terms[1].dof, 0);
  EXPECT_DOUBLE_EQ(slot_value(m, m.terms[1].coefficient), 2);
  EXPECT_NEAR(slot_value(m, row.constant), M_PI / 18, 1e-15);
}

TEST(Forces, SpringsActOnDistancesAnglesAndCoordinates) {
  const Model m = arm(R"toml(
force = [
  { name = "s", type = "spring", between = ["tool", "ground"], stiffness = "1520 N/m", damping = 1, free_length = "16 mm", initial_tension = 2 },
  { name = "t", type = "torsion_spring", on = "phi", stiffness = 3, free_angle = "30 deg", preload = 1 },
  { name = "u", type = "torsion_spring", between = ["ground", "tool"], stiffness = 3 },
  { name = "j", type = "joint_spring", on = "reach", stiffness = 3, free = 1 },
  { name = "n", type = "spring", between = ["tool", "ground"], table = { x = [-1, 0, 2], f = [-3, 0, 1], smooth = false } },
]
)toml");
  ASSERT_EQ(m.forces.size(), 5u);
  EXPECT_EQ(m.forces[0].channel.kind, ChannelKind::kDistance);
  EXPECT_DOUBLE_EQ(slot_value(m, m.forces[0].free), 0.016);
  EXPECT_EQ(m.forces[1].channel.kind, ChannelKind::kCoordinate);
  EXPECT_EQ(m.forces[2].channel.kind, ChannelKind::kAngle);
  EXPECT_EQ(m.forces[2].channel.frame_b, -1);
  EXPECT_EQ(m.forces[3].channel.dof, 1);
  EXPECT_EQ(m.forces[4].law, LawKind::kTable);
  EXPECT_DOUBLE_EQ(m.tables[0].at(1).value, 0.5);
}

TEST(Forces, AppliedOnesHaveOneElementPerComponent) {
  const Model m = arm(R"toml(
parameters = { F = 4 }
force = [
  { name = "push", type = "force", on = "tool", value = [1, "F*sin(2*t)"], in = "arm" },
  { name = "twist", type = "torque", on = "arm", value = "F*t" },
  { name = "motor", type = "torque", on = "phi", value = 5 },
  { name = "rub", type = "friction", on = "reach", level = 2, damping = 0.1 },
]
)toml");
  ASSERT_EQ(m.forces.size(), 5u);
  EXPECT_EQ(m.forces[0].name, "push.x");
  EXPECT_EQ(m.forces[1].channel.kind, ChannelKind::kPointRate);
  EXPECT_DOUBLE_EQ(m.signals[1].at(0.5).value, 4 * std::sin(1));
  EXPECT_EQ(m.signals[0].kind(), Signal::Kind::kConstant);
  EXPECT_EQ(m.forces[2].channel.kind, ChannelKind::kAngularRate);
  EXPECT_EQ(m.forces[3].channel.kind, ChannelKind::kCoordinate);
  EXPECT_DOUBLE_EQ(slot_value(m, m.forces[4].speed), 1e-3);
  ASSERT_EQ(m.signal_sources.size(), m.signals.size());
  EXPECT_TRUE(m.signal_sources[0].code().empty());
  EXPECT_TRUE(m.signal_sources[1].uses(1 + find_parameter(m, "F")));
}

TEST(Forces, TorquesInSpaceHaveThreeComponents) {
  const Model m = spatial(
      "force = [{ name = \"t\", type = \"torque\", on = \"head\", value = [1, 2, 3], in = \"head\" "
      "}]\n");
  EXPECT_EQ(m.forces.size(), 3u);
}

TEST(Actuators, OfForceTorqueAndVelocity) {
  const Model m = arm(R"toml(
actuator = [
  { name = "a", type = "torque", on = "phi", input = "3 N m" },
  { name = "b", type = "force", between = ["tool", "ground"] },
  { name = "c", type = "velocity", on = "reach", input = "0.1*t" },
  { name = "d", type = "velocity", on = "reach", order = 1, tau = "20 ms" },
  { name = "e", type = "velocity", on = "reach", order = 2, zeta = 0.3, omega = "70 rad/s" },
]
loop = [{ name = "l", type = "distance", between = ["tool", "ground"], length = 1 }]
)toml");
  EXPECT_EQ(m.nu(), 5);
  EXPECT_EQ(m.inputs[0].dim, dim::kTorque);
  EXPECT_EQ(m.inputs[2].dim, dim::kSpeed);
  EXPECT_EQ(m.inputs[4].dim, dim::kLength);
  EXPECT_EQ(m.actuators[0].group, -1);
  ASSERT_EQ(m.n_rows(), 4);
  EXPECT_EQ(m.n_velocity_rows, 1);
  EXPECT_EQ(m.n_acceleration_rows, 2);
  // Rows are ordered by level, and the groups know where theirs went.
  for (size_t i = 1; i < m.rows.size(); ++i) EXPECT_LE(m.rows[i - 1].level, m.rows[i].level);
  for (size_t g = 0; g < m.groups.size(); ++g) {
    for (const int row : m.groups[g].rows) {
      EXPECT_EQ(m.rows[static_cast<size_t>(row)].group, static_cast<int>(g));
    }
  }
}

TEST(Drivers, OnACoordinateADistanceOrAPoint) {
  const Model m = arm(R"toml(
driver = [
  { name = "a", on = "phi", motion = "2*pi*t" },
  { name = "b", between = ["tool", "ground"], motion = { polynomial = ["1 m", "2 m/s", 3] } },
  { name = "c", of = "tool", axis = "y", motion = { table = { t = [0, 1, 2], y = [0, 1, 0], linear = true } } },
]
)toml");
  ASSERT_EQ(m.rows.size(), 3u);
  EXPECT_NEAR(m.signals[0].at(1).rate, 2 * M_PI, 1e-14);
  EXPECT_DOUBLE_EQ(m.signals[1].at(2).value, 17);
  EXPECT_DOUBLE_EQ(m.signals[2].at(0.5).value, 0.5);
  EXPECT_EQ(m.rows[2].channel.kind, ChannelKind::kPoint);
}

TEST(Signals, ComeFromTablesInFilesBesideTheModel) {
  const test::TemporaryFolder folder;
  folder.put("signals/run.csv",
             "time [s], angle [rad], other\n0, 0, 5\n1, 2, 6 # note\n\n2, 4, 7\n");
  const auto spec = read_model_file(folder.put(
      "signals/model.toml",
      std::string(test::kArm) +
          "driver = [{ name = \"a\", on = \"phi\", motion = { csv = \"run.csv\", column = "
          "\"angle\", linear = true } }]\n"
          "force = [{ name = \"s\", type = \"joint_spring\", on = \"reach\", table = { csv = "
          "\"run.csv\" } }]\n"));
  ASSERT_TRUE(spec) << spec.diagnostics().text();
  const auto m = compile(*spec);
  ASSERT_TRUE(m) << m.diagnostics().text();
  EXPECT_DOUBLE_EQ(m->signals[0].at(0.5).value, 1);
  EXPECT_DOUBLE_EQ(m->tables[0].at(2).value, 4);
  EXPECT_EQ(m->name, "signals");
}

TEST(Model, TakesNameTitleAndRunDefaults) {
  const Model m = arm(R"toml(
[simulation]
until = "500 ms"
dt = 1e-3
tol = 1e-6
integrator = "rk4"
)toml");
  EXPECT_DOUBLE_EQ(m.run.until, 0.5);
  EXPECT_DOUBLE_EQ(m.run.dt, 1e-3);
  EXPECT_EQ(m.run.integrator, "rk4");
  EXPECT_EQ(m.name, "model");
}

}  // namespace
}  // namespace panto
