// Reductions that cannot be made are named, with what to change.
#include <gtest/gtest.h>

#include "panto/integrate/simulate.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"

namespace panto {
namespace {

std::string findings(const std::string& reduction, const std::string& more = "",
                     const std::string& kind = "beam") {
  const std::string beam = " = { length = 1, circle = 0.01, E = 7e10, density = 2700, elements = 2";
  const std::string bodies =
      kind == "beam" ? "body = [{ name = \"a\", beam" + beam + more + " } }]\n"
                     : "body = [{ name = \"a\", mass = 1, com = [0.1, 0], inertia = 1 }]\n";
  const auto spec = parse_model_text(
      "space = \"planar\"\n" + bodies +
          "joint = [{ name = \"j\", type = \"revolute\", parent = \"ground\", child = \"a\" }]\n" +
          "[reduction]\n" + reduction,
      "test.toml");
  if (!spec.ok()) return spec.diagnostics().text();
  const auto model = compile(*spec);
  return model.ok() ? "" : model.diagnostics().text();
}

const std::string kTip = "masters = [\"a.n3.ux\", \"a.n3.uy\"]\n";

TEST(BadReduction, GoodOneCompiles) { EXPECT_EQ(findings(kTip + "lowest = 2"), ""); }

TEST(BadReduction, WithoutBeamsHasNothingToReduce) {
  EXPECT_NE(findings("masters = []", "", "rigid").find("error[E0930]"), std::string::npos);
}
TEST(BadReduction, NamesAMasterThatDoesNotExist) {
  EXPECT_NE(findings("masters = [\"a.n3.uz\"]").find("error[E0931]"), std::string::npos);
}
TEST(BadReduction, RefusesAMasterThatIsHeld) {
  EXPECT_NE(findings("masters = [\"a.n1.turn\"]").find("held at zero"), std::string::npos);
}
TEST(BadReduction, WantsBothDisplacementsOfANode) {
  EXPECT_NE(findings("masters = [\"a.n3.uy\"]").find("error[E0932]"), std::string::npos);
}
TEST(BadReduction, RefusesNonlinearBeams) {
  EXPECT_NE(findings(kTip, ", strain = \"stiffening\"").find("error[E0933]"), std::string::npos);
}
TEST(BadReduction, RefusesModesThatDoNotExist) {
  EXPECT_NE(findings(kTip + "modes = [1, 40]").find("error[E0934]"), std::string::npos);
  EXPECT_NE(findings(kTip + "modes = [1, 1]").find("error[E0934]"), std::string::npos);
  EXPECT_NE(findings(kTip + "modes = [1]\nlowest = 2").find("error[E0934]"), std::string::npos);
}
TEST(BadReduction, NamesABeamOfTheReferenceThatDoesNotExist) {
  EXPECT_NE(findings(kTip + "reference = { b = 1 }").find("error[E0935]"), std::string::npos);
}

TEST(BadReduction, RefusesANegativeLimitOfARun) {
  const auto model = compile(*parse_model_text(
      "space = \"planar\"\nbody = [{ name = \"a\", mass = 1, com = [1, 0], inertia = 1 }]\njoint = "
      "[{ name = \"j\", type = \"revolute\", parent = \"ground\", child = \"a\" }]\n",
      "test.toml"));
  ASSERT_TRUE(model.ok());
  SimulationOptions options;
  options.until = 1;
  options.reduction_limit = -1;
  const auto run = simulate(*model, nominal(*model), options);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.diagnostics().text().find("error[E0937]"), std::string::npos);
}

}  // namespace
}  // namespace panto
