#include "panto/io/test/support.hpp"

namespace panto {
namespace {

using test::compiled;
using test::findings;

// A spatial body on one joint of the given type.
std::string on_joint(const std::string& space, const std::string& joint) {
  return "space = \"" + space + "\"\nbody = [{ name = \"b\", mass = 1 }]\n" +
         "joint = [{ name = \"j\", parent = \"ground\", child = \"b\", " + joint + " }]\n";
}

using Names = std::vector<std::string>;

TEST(Joints, RevoluteTurnsAboutZUnlessToldOtherwise) {
  const Model m = compiled(on_joint("spatial", "type = \"revolute\""));
  ASSERT_EQ(m.joints.size(), 1u);
  EXPECT_EQ(m.joints[0].type, JointType::kRevolute);
  EXPECT_EQ(m.joints[0].axis, (std::array<double, 3>{0, 0, 1}));
  EXPECT_EQ(m.coordinate_names, Names{"j"});
  EXPECT_EQ(m.speed_names, Names{"j_dot"});
  const Model x = compiled(on_joint("spatial", "type = \"revolute\", axis = [0, 3, 4]"));
  EXPECT_EQ(x.joints[0].axis, (std::array<double, 3>{0, 0.6, 0.8}));
}

TEST(Joints, PrismaticSlidesAlongXUnlessToldOtherwise) {
  EXPECT_EQ(compiled(on_joint("planar", "type = \"prismatic\"")).joints[0].axis,
            (std::array<double, 3>{1, 0, 0}));
  EXPECT_EQ(compiled(on_joint("planar", "type = \"prismatic\", axis = \"y\"")).joints[0].axis,
            (std::array<double, 3>{0, 1, 0}));
}

TEST(Joints, CylindricalIsARevoluteAndAPrismaticOnOneAxis) {
  const Model m = compiled(on_joint("spatial", "type = \"cylindrical\", axis = \"y\""));
  ASSERT_EQ(m.joints.size(), 2u);
  EXPECT_EQ(m.joints[0].type, JointType::kRevolute);
  EXPECT_EQ(m.joints[1].type, JointType::kPrismatic);
  EXPECT_EQ(m.joints[0].axis, m.joints[1].axis);
  EXPECT_EQ(m.coordinate_names, (Names{"j.angle", "j.slide"}));
  EXPECT_EQ(m.speed_names, (Names{"j.angle_dot", "j.slide_dot"}));
  EXPECT_TRUE(m.bodies[0].solids.empty());
  EXPECT_EQ(m.bodies[1].name, "b");
  EXPECT_EQ(m.joints[1].parent, 0);
  EXPECT_EQ(m.file_joints[0].count, 2);
}

TEST(Joints, UniversalTurnsAboutXThenY) {
  const Model m = compiled(on_joint("spatial", "type = \"universal\""));
  EXPECT_EQ(m.coordinate_names, (Names{"j.angle1", "j.angle2"}));
  EXPECT_EQ(m.joints[0].axis, (std::array<double, 3>{1, 0, 0}));
  EXPECT_EQ(m.joints[1].axis, (std::array<double, 3>{0, 1, 0}));
}

TEST(Joints, SphericalHasAQuaternionAndThreeSpeeds) {
  const Model m = compiled(on_joint("spatial", "type = \"spherical\""));
  EXPECT_EQ(m.nq, 4);
  EXPECT_EQ(m.nv, 3);
  EXPECT_EQ(m.coordinate_names, (Names{"j.qw", "j.qx", "j.qy", "j.qz"}));
  EXPECT_EQ(m.speed_names, (Names{"j.wx", "j.wy", "j.wz"}));
  EXPECT_EQ(find_dof(m, "j.wy"), 1);
  EXPECT_EQ(find_dof(m, "j.qw"), -1);
}

TEST(Joints, PlanarInSpaceSlidesTwiceAndTurns) {
  const Model m = compiled(on_joint("spatial", "type = \"planar\""));
  EXPECT_EQ(m.coordinate_names, (Names{"j.x", "j.y", "j.angle"}));
}

TEST(Joints, FreeHasAllCoordinatesOfItsSpace) {
  EXPECT_EQ(compiled(on_joint("planar", "type = \"free\"")).coordinate_names,
            (Names{"j.x", "j.y", "j.angle"}));
  const Model m = compiled(on_joint("spatial", "type = \"free\""));
  EXPECT_EQ(m.nq, 7);
  EXPECT_EQ(m.nv, 6);
  EXPECT_EQ(m.speed_names, (Names{"j.x_dot", "j.y_dot", "j.z_dot", "j.wx", "j.wy", "j.wz"}));
  EXPECT_EQ(find_dof(m, "j.z"), 2);
}

TEST(Joints, WeldHasNone) {
  const Model m = compiled(on_joint("spatial", "type = \"weld\""));
  EXPECT_EQ(m.nq, 0);
  EXPECT_EQ(m.joints[0].type, JointType::kWeld);
}

TEST(Joints, RangesBecomeLimits) {
  const Model m =
      compiled(on_joint("planar", "type = \"revolute\", range = [\"-30 deg\", \"30 deg\"]"));
  EXPECT_NEAR(test::slot_value(m, m.limits[0].upper), 0.5235987755982988, 1e-15);
  EXPECT_GE(find_parameter(m, "j.range.lower"), 0);
}

TEST(Tree, ChildrenFollowTheirParentsWhateverTheFileOrder) {
  const Model m = compiled(R"toml(
space = "planar"
body = [{ name = "c", mass = 1 }, { name = "b", mass = 1 }, { name = "a", mass = 1 }]
joint = [
  { name = "jc", type = "revolute", parent = "b", child = "c" },
  { name = "jb", type = "revolute", parent = "a", child = "b" },
  { name = "ja", type = "revolute", parent = "ground", child = "a" },
]
)toml");
  ASSERT_EQ(m.joints.size(), 3u);
  EXPECT_EQ(m.joints[0].name, "ja");
  EXPECT_EQ(m.bodies[0].name, "a");
  for (size_t i = 0; i < 3; ++i) EXPECT_LT(m.joints[i].parent, static_cast<int>(i));
}

TEST(Tree, KeepsTheFileOrderWhereItIsGood) {
  const Model m = compiled(R"toml(
space = "planar"
body = [{ name = "a", mass = 1 }, { name = "b", mass = 1 }, { name = "c", mass = 1 }]
joint = [
  { name = "ja", type = "revolute", parent = "ground", child = "a" },
  { name = "jb", type = "revolute", parent = "ground", child = "b" },
  { name = "jc", type = "revolute", parent = "a", child = "c" },
]
)toml");
  EXPECT_EQ(m.coordinate_names, (Names{"ja", "jb", "jc"}));
  EXPECT_EQ(m.joints[2].parent, 0);
}

TEST(Tree, JointsOnOwnFramesNeedNoFrame) {
  const Model m = compiled(test::kArm);
  EXPECT_EQ(m.joints[0].parent_frame, -1);
  EXPECT_EQ(m.joints[0].child_frame, -1);
  ASSERT_GE(m.joints[1].parent_frame, 0);
  const Frame& f = m.frames[static_cast<size_t>(m.joints[1].parent_frame)];
  EXPECT_EQ(f.name, "arm.end");
  EXPECT_EQ(f.body, 0);
  EXPECT_DOUBLE_EQ(test::slot_value(m, f.position[0]), 2);
}

TEST(Tree, WarnsAboutBranchesWithoutMass) {
  EXPECT_EQ(
      findings("space = \"planar\"\nbody = [{ name = \"b\" }]\njoint = [{ name = \"j\", type = "
               "\"revolute\", parent = \"ground\", child = \"b\" }]\n"),
      "model.toml:2:9: warning[W0411]: body \"b\": the body and all it carries have no mass\n");
}

}  // namespace
}  // namespace panto
