#include "panto/io/urdf.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "panto/io/load.hpp"
#include "panto/model/compile.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

constexpr const char* kArm = R"xml(<?xml version="1.0"?>
<robot name="two link arm">
  <link name="base_link"/>
  <link name="upper arm">
    <inertial>
      <origin xyz="0.5 0 0" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="0.3" iyy="0.1" izz="0.3" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual><origin xyz="0.5 0 0"/><geometry><box size="1 0.1 0.1"/></geometry></visual>
  </link>
  <link name="lower">
    <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0.01" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="finger"><inertial><mass value="0.1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"><inertial><mass value="0.1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="plate"><inertial><mass value="0.1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="ball"><inertial><mass value="0.1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute">
    <parent link="base_link"/><child link="upper arm"/>
    <origin xyz="0 0 1" rpy="0 0 0.5"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1.5" effort="10" velocity="1"/>
    <dynamics damping="0.7"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper arm"/><child link="lower"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/>
    <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="grip" type="prismatic">
    <parent link="lower"/><child link="finger"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.1" effort="1" velocity="1"/>
    <mimic joint="elbow" multiplier="0.05" offset="0.01"/>
  </joint>
  <joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/></joint>
  <joint name="table" type="planar"><parent link="base_link"/><child link="plate"/><axis xyz="1 0 0"/></joint>
  <joint name="flight" type="floating"><parent link="base_link"/><child link="ball"/></joint>
</robot>
)xml";

Model compiled(const Result<ModelSpec>& spec) {
  EXPECT_TRUE(spec) << spec.diagnostics().text();
  if (!spec) return {};
  Result<Model> m = compile(*spec);
  EXPECT_TRUE(m) << m.diagnostics().text();
  return m ? std::move(*m) : Model{};
}

double slot_value(const Model& m, Slot s) {
  const Params p = nominal(m);
  return m.slots[static_cast<size_t>(s)].evaluate<double>(
      {p.values.data(), static_cast<size_t>(p.values.size())});
}

const Joint* joint(const Model& m, const std::string& name) {
  for (const Joint& j : m.joints) {
    if (j.name == name) return &j;
  }
  ADD_FAILURE() << name;
  return nullptr;
}

TEST(Urdf, ReadsATree) {
  const Model m = compiled(parse_urdf_text(kArm, "arm.urdf"));
  EXPECT_EQ(m.space, SpaceKind::kSpatial);
  EXPECT_EQ(m.name, "two_link_arm");
  EXPECT_EQ(m.nv, 1 + 1 + 1 + 3 + 6);
  EXPECT_DOUBLE_EQ(slot_value(m, m.gravity[2]), -9.81);
  EXPECT_EQ(joint(m, "base_link_base")->type, JointType::kWeld);
  const Joint* shoulder = joint(m, "shoulder");
  ASSERT_NE(shoulder, nullptr);
  EXPECT_EQ(shoulder->type, JointType::kRevolute);
  EXPECT_EQ(shoulder->axis, (std::array<double, 3>{0, 1, 0}));
  EXPECT_DOUBLE_EQ(slot_value(m, m.limits[static_cast<size_t>(shoulder->v)].upper), 1.5);
  EXPECT_EQ(joint(m, "flange")->type, JointType::kWeld);
}

TEST(Urdf, TurnsInertiaIntoTheAxesOfTheLink) {
  const Model m = compiled(parse_urdf_text(kArm, "arm.urdf"));
  for (const Body& b : m.bodies) {
    if (b.name != "upper_arm") continue;
    const Solid& s = b.solids.at(0);
    EXPECT_DOUBLE_EQ(slot_value(m, s.mass), 2);
    EXPECT_DOUBLE_EQ(slot_value(m, s.at[0]), 0.5);
    EXPECT_NEAR(slot_value(m, s.numbers[0]), 0.1,
                1e-15);  // y of the inertial frame is −x of the link
    EXPECT_NEAR(slot_value(m, s.numbers[1]), 0.3, 1e-15);
    EXPECT_NEAR(slot_value(m, s.numbers[3]), 0, 1e-15);
    return;
  }
  ADD_FAILURE() << "no body upper_arm";
}

TEST(Urdf, DampingFrictionAndMimicBecomeItems) {
  const Model m = compiled(parse_urdf_text(kArm, "arm.urdf"));
  ASSERT_EQ(m.forces.size(), 2u);
  EXPECT_EQ(m.forces[0].name, "shoulder_damping");
  EXPECT_DOUBLE_EQ(slot_value(m, m.forces[0].damping), 0.7);
  EXPECT_EQ(m.forces[1].law, LawKind::kFriction);
  EXPECT_DOUBLE_EQ(slot_value(m, m.forces[1].level), 0.2);
  ASSERT_EQ(m.groups.size(), 1u);
  EXPECT_EQ(m.groups[0].name, "grip_mimic");
  EXPECT_DOUBLE_EQ(slot_value(m, m.terms[1].coefficient), -0.05);
  EXPECT_DOUBLE_EQ(slot_value(m, m.rows[0].constant), 0.01);
}

TEST(Urdf, PlanarJointsMoveNormalToTheirAxis) {
  const Model m = compiled(parse_urdf_text(kArm, "arm.urdf"));
  const Joint* first = joint(m, "table.x");
  ASSERT_NE(first, nullptr);
  // The joint frame's z axis is the given axis x: R = Rz(yaw) Ry(pitch) Rx(roll) takes z to x.
  const Frame& f = m.frames[static_cast<size_t>(first->parent_frame)];
  const double roll = slot_value(m, f.rotation[0]), pitch = slot_value(m, f.rotation[1]),
               yaw = slot_value(m, f.rotation[2]);
  EXPECT_NEAR(std::cos(roll) * std::sin(pitch) * std::cos(yaw) + std::sin(roll) * std::sin(yaw), 1,
              1e-15);
}

TEST(Urdf, TakesLoopsFromTheFileBesideIt) {
  const test::TemporaryFolder folder;
  const std::string arm = folder.put("arm.urdf", kArm);
  EXPECT_TRUE(load(arm));
  folder.put("arm.loops.toml", R"toml(
gravity = [0, 0, 0]
loop = [{ name = "rod", type = "distance", between = ["tool", "ball"], length = 1 }]
joint = [{ name = "rail", type = "prismatic", parent = "ground", child = "base_link" }]
initial = { shoulder = "30 deg" }
)toml");
  const Result<Model> m = load(arm);
  ASSERT_TRUE(m) << m.diagnostics().text();
  EXPECT_EQ(m->groups.size(), 2u);
  EXPECT_EQ(joint(*m, "rail")->type, JointType::kPrismatic);  // in place of the weld
  EXPECT_EQ(m->initial.size(), 1u);
  EXPECT_DOUBLE_EQ(slot_value(*m, m->gravity[2]), 0);
  folder.put("arm.loops.toml", "loop = [{ name = \"rod\", type = \"distnce\" }]\n");
  EXPECT_NE(load(arm).diagnostics().text().find("arm.loops.toml:1:32: error[E0114]"),
            std::string::npos);
}

TEST(Urdf, AWorldLinkIsTheGround) {
  const Model m = compiled(parse_urdf_text(
      R"(<robot name="r"><link name="world"/><link name="b"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="continuous"><parent link="world"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>)",
      "r.urdf"));
  EXPECT_EQ(m.bodies.size(), 1u);
  EXPECT_EQ(m.joints[0].parent, kGround);
}

TEST(Urdf, BadFilesAreDiagnostics) {
  const auto text = [](const std::string& xml) {
    return parse_urdf_text(xml, "f.urdf").diagnostics().text();
  };
  EXPECT_NE(text("").find("f.urdf: error[E0120]"), std::string::npos);
  EXPECT_NE(text("space = \"planar\"").find("error[E0120]"), std::string::npos);
  EXPECT_NE(text("<robot name='a'><link name='b'>").find("error[E0120]"), std::string::npos);
  EXPECT_NE(text("<robot name='a'><link name='b'/><link name='c'/></robot>").find("error[E0120]"),
            std::string::npos);
  EXPECT_NE(text("<robot name='a'><link name='b'/><joint name='j' type='magic'/></robot>")
                .find("error[E0120]"),
            std::string::npos);
  EXPECT_NE(
      text(R"(<robot name="r"><link name="world"/><link name="b"/><joint name="j" type="continuous">
      <parent link="world"/><child link="b"/><axis xyz="0 0 1"/><mimic joint="k"/></joint></robot>)")
          .find("error[E0121]"),
      std::string::npos);
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  EXPECT_NE(text(deep).find("error[E0103]"), std::string::npos);
  EXPECT_NE(text(std::string(10, '\0')).find("error[E0104]"), std::string::npos);
  EXPECT_NE(read_urdf_file("/nowhere.urdf").diagnostics().text().find("error[E0105]"),
            std::string::npos);
}

TEST(Urdf, TruncatedAnywhereIsNeverACrash) {
  const std::string xml = kArm;
  for (size_t n = 0; n < xml.size(); n += 7) (void)parse_urdf_text(xml.substr(0, n), "f.urdf");
}

}  // namespace
}  // namespace panto
