#include "panto/io/toml.hpp"

#include <gtest/gtest.h>

#include "panto/model/compile.hpp"

namespace panto {
namespace {

constexpr const char* kFourBar = R"toml(
space = "planar"
gravity = [0, -9.81]
body = [
  { name = "crank",   bar = { length = 1, mass = 1 } },
  { name = "coupler", bar = { length = 2, mass = 2 } },
  { name = "rocker",  bar = { length = "sqrt(13)", mass = 4 } },
]
joint = [
  { name = "theta", type = "revolute", parent = "ground", child = "crank" },
  { name = "beta",  type = "revolute", parent = "crank.end", child = "coupler" },
  { name = "gamma", type = "revolute", parent = { body = "ground", at = [4, 0] }, child = "rocker" },
]
loop = [{ name = "pin", type = "pin", between = ["coupler.end", "rocker.end"] }]
initial = { theta = 0, guess = { beta = "90 deg", gamma = "146 deg" } }
output = [{ name = "theta", type = "coordinate", of = "theta" }]
)toml";

TEST(FourBar, OfTheDocumentationCompiles) {
  const Result<ModelSpec> spec = parse_model_text(kFourBar, "fourbar.toml");
  ASSERT_TRUE(spec) << spec.diagnostics().text();
  const Result<Model> model = compile(*spec);
  ASSERT_TRUE(model) << model.diagnostics().text();
  EXPECT_EQ(model.diagnostics().text(), "");
  EXPECT_EQ(model->nq, 3);
  EXPECT_EQ(model->nv, 3);
  EXPECT_EQ(model->n_position_rows, 2);
  EXPECT_EQ(model->name, "fourbar");
  ASSERT_EQ(model->outputs.size(), 1u);
}

}  // namespace
}  // namespace panto
