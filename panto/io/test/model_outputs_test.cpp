// Outputs, sensors, initial state.
#include <cmath>

#include "panto/io/test/support.hpp"

namespace panto {
namespace {

using test::compiled;
using test::slot_value;

Model arm(const std::string& more) { return compiled(test::kArm + more); }
Model spatial(const std::string& more) { return compiled(test::kSpatialArm + more); }

TEST(Outputs, AreAllCoordinatesAndSpeedsWhenNoneAreWritten) {
  const Model m = arm("");
  ASSERT_EQ(m.outputs.size(), 4u);
  EXPECT_EQ(m.outputs[0].name, "phi");
  EXPECT_EQ(m.outputs[1].name, "reach");
  EXPECT_EQ(m.outputs[1].dim, dim::kLength);
  EXPECT_EQ(m.outputs[2].name, "phi_dot");
  EXPECT_EQ(m.outputs[2].order, Order::kRate);
  EXPECT_EQ(spatial("").outputs.size(), 3u + 9u);  // x y z, and nine speeds
}

TEST(Outputs, OfEveryKind) {
  const Model m = arm(R"toml(
force = [{ name = "rub", type = "friction", on = "phi", level = 1 },
         { name = "push", type = "force", on = "tool", value = [1, 2] }]
actuator = [{ name = "motor", type = "torque", on = "phi" }, { name = "servo", type = "velocity", on = "reach" }]
loop = [{ name = "pin", type = "pin", between = ["tool", { body = "ground", at = [3, 0] }] }]
output = [
  { name = "o1", type = "coordinate", of = "phi" },
  { name = "o2", type = "speed", of = "phi_dot" },
  { name = "o3", type = "coordinate_acceleration", of = "reach" },
  { name = "o4", type = "position", of = "tool", axis = "x" },
  { name = "o5", type = "velocity", of = "tool", axis = "y", in = "arm" },
  { name = "o6", type = "acceleration", of = "tool", axis = "y" },
  { name = "o7", type = "distance", between = ["tool", "ground"] },
  { name = "o8", type = "distance_rate", between = ["tool", "ground"] },
  { name = "o9", type = "angle", of = "tool", from = "arm" },
  { name = "o10", type = "angle_rate", of = "tool" },
  { name = "o11", type = "angular_velocity", of = "tool" },
  { name = "o12", type = "angular_acceleration", of = "tool" },
  { name = "o13", type = "combination", terms = { phi = 2, reach = 1 }, offset = 1 },
  { name = "o14", type = "combination_rate", terms = { phi = 2 } },
  { name = "o15", type = "force_of", of = "rub" },
  { name = "o16", type = "force_of", of = "push", component = 1 },
  { name = "o17", type = "force_of", of = "pin", component = 1 },
  { name = "o18", type = "force_of", of = "motor" },
  { name = "o19", type = "force_of", of = "servo" },
  { name = "o20", type = "input_of", of = "servo" },
  { name = "o21", type = "kinetic_energy" },
  { name = "o22", type = "potential_energy" },
  { name = "o23", type = "direction", of = "tool" },
  { name = "o24", type = "direction_rate", of = "tool", from = "arm" },
]
)toml");
  ASSERT_EQ(m.outputs.size(), 24u);
  const auto at = [&](int i) { return m.outputs[static_cast<size_t>(i - 1)]; };
  EXPECT_EQ(at(2).order, Order::kRate);
  EXPECT_EQ(at(3).order, Order::kAcceleration);
  EXPECT_EQ(at(3).dim, dim::kAcceleration);
  EXPECT_EQ(at(4).channel.kind, ChannelKind::kPoint);
  EXPECT_EQ(at(5).channel.axis, 1);
  EXPECT_EQ(at(9).channel.kind, ChannelKind::kAngle);
  EXPECT_TRUE(at(9).angle);
  EXPECT_EQ(at(11).channel.kind, ChannelKind::kAngularRate);
  EXPECT_EQ(at(11).order, Order::kRate);
  EXPECT_DOUBLE_EQ(slot_value(m, at(13).offset), 1);
  EXPECT_EQ(at(15).kind, OutputKind::kForceElement);
  EXPECT_EQ(at(16).index, 2);
  EXPECT_EQ(at(17).kind, OutputKind::kMultiplier);
  EXPECT_EQ(at(17).index, 1);
  EXPECT_EQ(at(18).kind, OutputKind::kInput);
  EXPECT_EQ(at(19).kind, OutputKind::kMultiplier);
  EXPECT_EQ(at(19).index, 2);  // after the two position rows of the pin
  EXPECT_EQ(at(20).index, 1);
  EXPECT_EQ(at(21).dim, dim::kTorque);  // J
  EXPECT_EQ(find_output(m, "o22"), 21);
  EXPECT_EQ(at(23).channel.kind, ChannelKind::kDirection);
  EXPECT_TRUE(at(23).angle);
  EXPECT_TRUE(at(23).channel.within_turn);
  EXPECT_EQ(at(24).order, Order::kRate);
  EXPECT_GE(at(24).channel.frame_b, 0);
}

TEST(Sensors, AreOutputsWithErrors) {
  const Model m = arm(R"toml(
force = [{ name = "rub", type = "friction", on = "phi", level = 1 }]
output = [{ name = "y", type = "position", of = "tool", axis = "y" }]
sensor = [
  { name = "enc", type = "encoder", of = "phi", rate = "1000 Hz", quantisation = "0.1 deg" },
  { name = "ang", type = "angle", of = "tool" },
  { name = "gyro", type = "gyroscope", of = "tool", noise = "0.1 deg/s", bias = 0.01 },
  { name = "acc", type = "accelerometer", of = "tool", axis = "y" },
  { name = "pos", type = "position", of = "tool", axis = "x" },
  { name = "dist", type = "distance", between = ["tool", "ground"] },
  { name = "load", type = "force", of = "rub" },
  { name = "seen", type = "direction", of = "tool", noise = "0.1 deg" },
]
)toml");
  ASSERT_EQ(m.outputs.size(), 9u);
  ASSERT_EQ(m.sensors.size(), 8u);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(m.sensors[i].output, static_cast<int>(i) + 1);
  EXPECT_DOUBLE_EQ(slot_value(m, m.sensors[0].rate), 1000);
  EXPECT_NEAR(slot_value(m, m.sensors[0].quantum), M_PI / 1800, 1e-16);
  const Output& acc = m.outputs[4];
  EXPECT_TRUE(acc.minus_gravity);
  EXPECT_EQ(acc.channel.frame_a, acc.channel.frame_b);
  EXPECT_EQ(acc.order, Order::kAcceleration);
  const Output& gyro = m.outputs[3];
  EXPECT_EQ(gyro.channel.axis, 2);
  EXPECT_EQ(gyro.channel.frame_a, gyro.channel.frame_b);
}

TEST(Sensors, LeaveTheDefaultOutputsInPlace) {
  const Model m = arm("sensor = [{ name = \"phi\", type = \"encoder\", of = \"phi\" }]\n");
  EXPECT_EQ(m.outputs.size(), 4u);
  EXPECT_EQ(find_output(m, "phi"), m.sensors[0].output);
}

TEST(Initial, ByCoordinateSpeedPointAndGuess) {
  const Model m = arm(R"toml(
independent = ["reach"]
[initial]
phi = "30 deg"
phi_dot = "60 rpm"
points = [{ of = "tool", at = ["free", 1] }]
velocities = [{ of = "tool", at = [2, "free"] }]
guess = { reach = "16 mm", points = [{ of = "arm.end", at = [1, 1] }] }
)toml");
  ASSERT_EQ(m.initial.size(), 7u);
  EXPECT_NEAR(slot_value(m, m.initial[0].value), M_PI / 6, 1e-15);
  EXPECT_EQ(m.initial[1].order, Order::kRate);
  EXPECT_NEAR(slot_value(m, m.initial[1].value), 2 * M_PI, 1e-14);
  EXPECT_EQ(m.initial[2].channel.kind, ChannelKind::kPoint);
  EXPECT_EQ(m.initial[2].channel.axis, 1);
  EXPECT_EQ(m.initial[2].name, "tool y");
  EXPECT_EQ(m.initial[3].order, Order::kRate);
  EXPECT_EQ(m.initial[3].channel.axis, 0);
  EXPECT_TRUE(m.initial[4].guess);
  EXPECT_EQ(m.initial[4].name, "reach");
  EXPECT_TRUE(m.initial[5].guess);
  EXPECT_EQ(m.preferred, std::vector<int>{1});
}

TEST(Initial, DottedCoordinatesNeedNoQuotes) {
  const Model m =
      spatial("initial = { float.x = 1, \"float.y\" = 2, float.z_dot = 3, ball.wx = 4 }\n");
  ASSERT_EQ(m.initial.size(), 4u);
  // The members of one joint come together: TOML gathers float.x and float.z_dot in one table.
  EXPECT_EQ(m.initial[0].name, "float.x");
  EXPECT_EQ(m.initial[1].name, "float.z_dot");
  EXPECT_EQ(m.initial[1].channel.dof, 2);
  EXPECT_EQ(m.initial[2].name, "float.y");
  EXPECT_EQ(m.initial[3].channel.dof, 6);
}

TEST(Initial, OrientationsAreQuaternionsOrAngles) {
  const Model m = spatial(R"toml(
[initial]
float = { x = 1, rpy = [0, 0, "90 deg"] }
guess = { ball = { quaternion = [2, 0, 0, 0] } }
)toml");
  ASSERT_EQ(m.orientations.size(), 2u);
  EXPECT_EQ(m.orientations[0].joint, 3);  // after the three slides
  EXPECT_NEAR(slot_value(m, m.orientations[0].quaternion[0]), std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(slot_value(m, m.orientations[0].quaternion[3]), std::sqrt(0.5), 1e-15);
  EXPECT_FALSE(m.orientations[0].guess);
  EXPECT_TRUE(m.orientations[1].guess);
  EXPECT_DOUBLE_EQ(slot_value(m, m.orientations[1].quaternion[0]), 2);
  EXPECT_EQ(m.initial.size(), 1u);
}

}  // namespace
}  // namespace panto
