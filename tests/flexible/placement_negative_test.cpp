// Placements of the rigid links that do not work are named, with what to change.
#include <gtest/gtest.h>

#include "panto/io/toml.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/model/compile.hpp"

namespace panto {
namespace {

std::string two_links(const std::string& first, const std::string& second) {
  return "space = \"planar\"\nbody = [{ name = \"a\", beam = { length = 1, circle = 0.01, E = "
         "7e10, density = "
         "2700, elements = 2" +
         first +
         " } },\n{ name = \"b\", beam = { length = 1, circle = 0.01, E = 7e10, density = "
         "2700, elements = 2" +
         second +
         " } }]\njoint = [{ name = \"j1\", type = \"revolute\", parent = \"ground\", child = "
         "\"a\" }, { name = \"j2\", type = \"revolute\", parent = \"a.end\", child = \"b\" }]\n";
}

std::string findings(const std::string& text) {
  const auto spec = parse_model_text(text, "test.toml");
  if (!spec.ok()) return spec.diagnostics().text();
  const auto model = compile(*spec);
  if (!model.ok()) return model.diagnostics().text();
  const auto w = Workspace::create(*model, nominal(*model));
  const auto state = assemble(*w);
  return state.ok() ? "" : state.diagnostics().text();
}

TEST(Placement, OfAChainIsByItsJoints) { EXPECT_EQ(findings(two_links("", "")), ""); }

TEST(Placement, ByTheChordWorksToo) {
  EXPECT_EQ(findings(two_links(", zeroed = [\"n3.uy\"]", ", zeroed = [\"n3.uy\"]")), "");
}

TEST(Placement, WithTooFewNamesTheBeamThatHasNone) {
  const std::string text = findings(two_links(", zeroed = []", ", zeroed = [\"n1.turn\"]"));
  EXPECT_NE(text.find("error[E0519]: body \"a\": 1 displacements"), std::string::npos) << text;
  EXPECT_NE(text.find("2 degrees of freedom"), std::string::npos) << text;
  EXPECT_NE(text.find("list one more in \"zeroed\""), std::string::npos) << text;
}

TEST(Placement, WithTooManyIsNotTaken) {
  const std::string text =
      findings(two_links(", zeroed = [\"n1.turn\", \"n2.uy\"]", ", zeroed = [\"n1.turn\"]"));
  EXPECT_NE(text.find("[E0519]"), std::string::npos) << text;
  EXPECT_NE(text.find("list fewer"), std::string::npos) << text;
}

// Along the link a turning rod does not move its end.
TEST(Placement, ThatIsSingularInThePoseIsNamed) {
  const std::string text = findings(two_links(", zeroed = [\"n2.ux\"]", ""));
  EXPECT_NE(text.find("error[E0520]: body \"a\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"n2.ux\""), std::string::npos) << text;
}

}  // namespace
}  // namespace panto
