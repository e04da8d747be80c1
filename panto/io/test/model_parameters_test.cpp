#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "panto/io/test/support.hpp"

namespace panto {
namespace {

using test::compiled;
using test::findings;
using test::parameter;
using test::slot_value;

// One body whose mass is written as given.
std::string with_mass(const std::string& parameters, const std::string& mass) {
  return "space = \"planar\"\n" + parameters + "\n[[body]]\nname = \"b\"\nmass = " + mass +
         "\ninertia = 1\n[[joint]]\nname = \"q\"\ntype = \"revolute\"\nparent = \"ground\"\nchild "
         "= "
         "\"b\"\n";
}

double mass_of(const Model& m) { return slot_value(m, m.bodies.at(0).solids.at(0).mass); }

TEST(Parameters, MayBeDefinedInAnyOrder) {
  const Model m =
      compiled(with_mass("parameters = { m = \"rho*V\", V = \"L^3\", L = 2, rho = 5 }", "\"m\""));
  EXPECT_DOUBLE_EQ(mass_of(m), 40);
  ASSERT_EQ(m.parameters.size(), 3u);  // L, rho, and the inertia written in place
  EXPECT_EQ(m.parameters[0].name, "L");
  EXPECT_EQ(m.parameters[1].name, "rho");
  EXPECT_EQ(m.parameters[2].name, "b.inertia");
}

TEST(Parameters, SlotsFollowThetaThroughDerivedParameters) {
  const Model m = compiled(with_mass("parameters = { m = \"rho*L\", L = 2, rho = 5 }", "\"2*m\""));
  Params p = nominal(m);
  p.values[find_parameter(m, "L")] = 7;
  std::vector<double> slots(m.slots.size());
  evaluate_slots<double>(m, {p.values.data(), static_cast<size_t>(p.values.size())}, slots);
  EXPECT_DOUBLE_EQ(slots[static_cast<size_t>(m.bodies[0].solids[0].mass)], 70);
}

TEST(Parameters, QuantitiesAreConvertedAndKeepTheirDimension) {
  const Model m = compiled(with_mass("parameters = { L = \"16 mm\" }", "\"500 g\""));
  EXPECT_DOUBLE_EQ(parameter(m, "L"), 0.016);
  EXPECT_EQ(m.parameters[0].dim, dim::kLength);
  EXPECT_DOUBLE_EQ(parameter(m, "b.mass"), 0.5);
}

TEST(Parameters, AnExpressionInPlaceIsNotTheta) {
  const Model m = compiled(with_mass("", "\"sqrt(16)\""));
  EXPECT_DOUBLE_EQ(mass_of(m), 4);
  EXPECT_EQ(find_parameter(m, "b.mass"), -1);
}

TEST(Parameters, AnOverrideReplacesANamedParameter) {
  const std::string text = with_mass("parameters = { m = 2 }", "\"m\"");
  EXPECT_DOUBLE_EQ(mass_of(compiled(text, {{"m", "3"}})), 3);
  EXPECT_DOUBLE_EQ(mass_of(compiled(text, {{"m", "300 g"}})), 0.3);
  EXPECT_DOUBLE_EQ(mass_of(compiled(text, {{"m", "2*pi"}})), 2 * std::numbers::pi);
  EXPECT_DOUBLE_EQ(mass_of(compiled(text, {{"m", "1"}, {"m", "5"}})), 5);  // the last one counts
}

TEST(Parameters, AnOverrideReplacesANumberWrittenInPlace) {
  const std::string text = with_mass("parameters = { m = 2 }", "1");
  EXPECT_DOUBLE_EQ(mass_of(compiled(text, {{"b.mass", "4"}})), 4);
  EXPECT_DOUBLE_EQ(mass_of(compiled(text, {{"b.mass", "3*m"}})), 6);
}

TEST(Parameters, AnOverrideReplacesAnExpressionWrittenInPlaceAndMakesItTheta) {
  const Model m = compiled(with_mass("", "\"sqrt(16)\""), {{"b.mass", "7"}});
  EXPECT_DOUBLE_EQ(parameter(m, "b.mass"), 7);
}

TEST(Parameters, AnUnknownOverrideIsAnError) {
  const std::string text = with_mass("parameters = { mass = 2 }", "\"mass\"");
  EXPECT_EQ(
      findings(text, {{"mas", "3"}}),
      "--set mas=3: error[E0203]: the model has no parameter \"mas\"; did you mean \"mass\"?\n");
}

TEST(Parameters, AnOverrideWithABadValueIsReportedThere) {
  const std::string text = with_mass("parameters = { m = 2 }", "\"m\"");
  EXPECT_NE(findings(text, {{"m", "3*"}}).find("--set m=3*: error[E0301]: parameter \"m\""),
            std::string::npos);
  EXPECT_NE(findings(text, {{"b.inertia", "16 mm"}}).find("error[E0302]"), std::string::npos);
}

TEST(Repeat, WritesAnItemOncePerNumber) {
  const Model m = compiled(R"toml(
space = "planar"
parameters = { N = 3 }
body = [{ repeat = "i = 1..N", name = "link{i}", bar = { length = "i/2", mass = 1 } }]
joint = [
  { name = "q1", type = "revolute", parent = "ground", child = "link1" },
  { repeat = "i = 2..N", name = "q{i}", type = "revolute", parent = "link{i-1}.end", child = "link{i}" },
])toml");
  ASSERT_EQ(m.bodies.size(), 3u);
  EXPECT_EQ(m.bodies[2].name, "link3");
  EXPECT_DOUBLE_EQ(slot_value(m, m.bodies[2].solids[0].numbers[0]), 1.5);
  EXPECT_EQ(m.joints[2].parent, 1);
  EXPECT_EQ(m.coordinate_names, (std::vector<std::string>{"q1", "q2", "q3"}));
  // N decides how many items there are and the numbers of repeated items are constants: nothing is left to vary.
  EXPECT_TRUE(m.parameters.empty());
}

TEST(Repeat, FollowsAnOverrideOfItsRange) {
  const std::string text = R"toml(
space = "planar"
parameters = { N = "2*M", M = 1, L = 3 }
body = [{ repeat = "k = 1..N", name = "b{k}", mass = "k*L", inertia = 1 }]
joint = [{ repeat = "k = 1..N", name = "q{k}", type = "revolute", parent = "ground", child = "b{k}" }]
)toml";
  EXPECT_EQ(compiled(text).bodies.size(), 2u);
  const Model m = compiled(text, {{"M", "20"}});
  EXPECT_EQ(m.bodies.size(), 40u);
  ASSERT_EQ(m.parameters.size(), 1u);
  EXPECT_EQ(m.parameters[0].name, "L");
  EXPECT_DOUBLE_EQ(slot_value(m, m.bodies[39].solids[0].mass), 120);
}

TEST(Repeat, AnEmptyRangeWritesNothing) {
  const Model m =
      compiled(std::string(test::kArm) +
               "force = [{ repeat = \"i = 1..0\", name = \"f{i}\", type = \"friction\", on = "
               "\"phi\", level = 1 }]\n");
  EXPECT_TRUE(m.forces.empty());
}

TEST(Repeat, ReportsAFaultyItemOnce) {
  const std::string text = findings(R"toml(
space = "planar"
body = [{ repeat = "i = 1..9", name = "b{i}", mass = "-i", inertia = 1 }]
joint = [{ repeat = "i = 1..9", name = "q{i}", type = "revolute", parent = "ground", child = "b{i}" }]
)toml");
  EXPECT_EQ(text,
            "model.toml:3:54: error[E0304]: body \"b1\": mass: must not be negative, it is -1\n");
}

TEST(Parameters, ALongChainNeedsNoDeepStack) {
  std::string parameters = "[parameters]\np0 = 1\n";
  constexpr int kCount = 20000;
  for (int i = 1; i < kCount; ++i) {
    parameters += fmt::format("p{} = \"p{}\"\n", i, i - 1);
  }
  const Model m = compiled(with_mass(parameters, fmt::format("\"p{}\"", kCount - 1)));
  EXPECT_DOUBLE_EQ(mass_of(m), 1);
}

TEST(Parameters, DoublingChainsAreRefusedBeforeTheyFillTheMemory) {
  std::string parameters = "[parameters]\np0 = 1\n";
  for (int i = 1; i < 64; ++i) {
    parameters += fmt::format("p{0} = \"p{1} + p{1}\"\n", i, i - 1);
  }
  EXPECT_NE(findings(with_mass(parameters, "1")).find("error[E0312]"), std::string::npos);
}

}  // namespace
}  // namespace panto
