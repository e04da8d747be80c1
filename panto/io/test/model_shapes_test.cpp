// What bodies say about their drawing.
#include "panto/io/test/support.hpp"
#include "panto/model/copy_back.hpp"

namespace panto {
namespace {

using test::compiled;
using test::slot_value;

std::string arm_with(const std::string& shape) {
  return "space = \"planar\"\nparameters = { L = 2 }\n"
         "body = [{ name = \"arm\", bar = { length = \"L\", mass = 3 }, shape = " +
         shape +
         " }]\n"
         "joint = [{ name = \"phi\", type = \"revolute\", parent = \"ground\", child = \"arm\" "
         "}]\n";
}

TEST(Shapes, ReachTheModelWithTheirPlaceAndColour) {
  const Model m = compiled(arm_with(
      "{ type = \"box\", size = [\"L/2\", 0.1], at = [\"L\", 1], angle = \"90 deg\", color = "
      "\"#10a0FF\" }"));
  ASSERT_EQ(m.bodies[0].shapes.size(), 1u);
  const Shape& s = m.bodies[0].shapes[0];
  EXPECT_EQ(s.kind, ShapeKind::kBox);
  EXPECT_DOUBLE_EQ(slot_value(m, s.numbers[0]), 1);
  EXPECT_DOUBLE_EQ(slot_value(m, s.numbers[1]), 0.1);
  EXPECT_EQ(s.numbers[2], -1);
  EXPECT_DOUBLE_EQ(slot_value(m, s.position[0]), 2);
  EXPECT_NEAR(slot_value(m, s.rotation[0]), 1.5707963267948966, 1e-15);
  EXPECT_EQ(s.color, "#10a0FF");
}

TEST(Shapes, MayBeSeveral) {
  const Model m = compiled(arm_with(
      "[{ type = \"bar\", length = \"L\" }, { type = \"sphere\", radius = 0.1, at = [2, 0] }, "
      "{ type = \"polygon\", x = [0, 1, 1], y = [0, 0, \"L\"] }, { type = \"cylinder\", radius = 1 "
      "}]"));
  ASSERT_EQ(m.bodies[0].shapes.size(), 4u);
  EXPECT_EQ(m.bodies[0].shapes[0].numbers[1], -1);
  EXPECT_DOUBLE_EQ(slot_value(m, m.bodies[0].shapes[2].y[2]), 2);
  EXPECT_EQ(m.bodies[0].shapes[3].axis, 2);
}

TEST(Shapes, NoneHidesTheBody) {
  const Model m = compiled(arm_with("{ type = \"none\" }"));
  EXPECT_TRUE(m.bodies[0].hidden);
  EXPECT_TRUE(m.bodies[0].shapes.empty());
}

TEST(Shapes, AddNoParameters) {
  const Model plain = compiled(arm_with("{ type = \"none\" }"));
  const Model drawn = compiled(arm_with("{ type = \"bar\", length = 2, width = 0.1 }"));
  EXPECT_EQ(plain.parameters.size(), drawn.parameters.size());
}

TEST(Shapes, FollowOverridesWhichCopyBackWrites) {
  const std::string text = arm_with("{ type = \"bar\", length = 2, width = 0.1 }");
  const Result<ModelSpec> spec = parse_model_text(text, "model.toml");
  const Result<Model> m = compile(*spec, test::sets({{"arm.shape.width", "0.3"}}));
  ASSERT_TRUE(m) << m.diagnostics().text();
  EXPECT_DOUBLE_EQ(slot_value(*m, m->bodies[0].shapes[0].numbers[1]), 0.3);
  EXPECT_NE(copy_back(*spec, *m, nominal(*m)).find("width = 0.3"), std::string::npos);
  EXPECT_EQ(copy_back(*spec, *compile(*spec), nominal(*m)), text);
}

}  // namespace
}  // namespace panto
