#include "panto/io/toml.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "panto/io/load.hpp"
#include "panto/model/compile.hpp"
#include "panto/model/copy_back.hpp"

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

TEST(Toml, TheFourBarOfTheDocumentationCompiles) {
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

TEST(Toml, TablesKeepTheOrderOfTheFile) {
  const Result<ModelSpec> spec = parse_model_text(
      "space = \"planar\"\nb = 1\na = { z = 1, y = 2, x = 3 }\n[c]\nk = 1\nj = 2\n", "f.toml");
  ASSERT_TRUE(spec);
  const auto keys = [](const Node& table) {
    std::string out;
    for (const auto& [key, member] : *table.table()) out += key + " ";
    return out;
  };
  EXPECT_EQ(keys(spec->root), "space b a c ");
  EXPECT_EQ(keys(*spec->root.find("a")), "z y x ");
  EXPECT_EQ(keys(*spec->root.find("c")), "k j ");
}

TEST(Toml, LettersOfAllLanguagesMayStandInTexts) {
  const Result<ModelSpec> spec =
      parse_model_text("title = \"\"\"Größe \\\n  été µ\u3001\"\"\"\n\"ä\" = 1 # ß\n", "f.toml");
  ASSERT_TRUE(spec) << spec.diagnostics().text();
  EXPECT_EQ(*spec->root.find("title")->text(), "Größe été µ\u3001");
  EXPECT_NE(spec->root.find("ä"), nullptr);
}

TEST(Toml, ValuesKnowTheirPlace) {
  const Result<ModelSpec> spec = parse_model_text("# ä\na = [1,\n  \"x\"]\n", "f.toml");
  ASSERT_TRUE(spec);
  const Node& a = *spec->root.find("a");
  EXPECT_EQ(a.key_loc.line, 2);
  EXPECT_EQ(a.loc.column, 5);
  EXPECT_EQ((*a.array())[1].loc.line, 3);
  EXPECT_EQ((*a.array())[1].loc.column, 3);
  EXPECT_EQ(a.loc.file, "f.toml");
}

// θ of a model, a little beside itself: not round any more, and still physical.
Params moved(const Model& model) {
  Params p = nominal(model);
  for (Eigen::Index i = 0; i < p.values.size(); ++i) {
    p.values[i] *= 1 + 1e-7 * std::sin(1.3 * static_cast<double>(i) + 1);
  }
  return p;
}

TEST(Toml, EveryZooModelIsWrittenAndReadBack) {
  for (const std::string& name : zoo_names()) {
    ModelSpec spec;
    const Result<Model> model = load(name, {}, &spec);
    ASSERT_TRUE(model) << name;
    const Result<ModelSpec> again = parse_model_text(to_toml(spec), spec.file);
    ASSERT_TRUE(again) << name << again.diagnostics().text();
    const Result<Model> copy = compile(*again);
    ASSERT_TRUE(copy) << name << copy.diagnostics().text();
    ASSERT_EQ(copy->parameters.size(), model->parameters.size()) << name;
    for (size_t i = 0; i < model->parameters.size(); ++i) {
      EXPECT_EQ(copy->parameters[i].name, model->parameters[i].name) << name;
      EXPECT_EQ(copy->parameters[i].value, model->parameters[i].value) << name;
    }
  }
}

TEST(CopyBack, OfEveryZooModelKeepsTheTextAndReadsBack) {
  for (const std::string& name : zoo_names()) {
    ModelSpec spec;
    const Result<Model> model = load(name, {}, &spec);
    ASSERT_TRUE(model) << name;
    EXPECT_EQ(copy_back(spec, *model, nominal(*model)), spec.source_text) << name;
    const Params theta = moved(*model);
    const Result<ModelSpec> again = parse_model_text(copy_back(spec, *model, theta), spec.file);
    ASSERT_TRUE(again) << name << again.diagnostics().text();
    const Result<Model> copy = compile(*again);
    ASSERT_TRUE(copy) << name << copy.diagnostics().text();
    const Params back = nominal(*copy);
    ASSERT_EQ(back.values.size(), theta.values.size()) << name;
    for (Eigen::Index i = 0; i < back.values.size(); ++i) {
      // One rounding in the conversion to the written unit.
      EXPECT_NEAR(back.values[i], theta.values[i], 1e-15 * std::abs(theta.values[i])) << name;
    }
  }
}

}  // namespace
}  // namespace panto
