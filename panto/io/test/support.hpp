// Models from text, for tests.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"

namespace panto::test {

inline std::vector<Override> sets(std::initializer_list<Override> list) { return list; }

// The model of a text; the test fails with the diagnostics if there is none.
inline Model compiled(const std::string& text, const std::vector<Override>& overrides = {}) {
  const Result<ModelSpec> spec = parse_model_text(text, "model.toml");
  EXPECT_TRUE(spec) << spec.diagnostics().text();
  if (!spec) return {};
  Result<Model> model = compile(*spec, overrides);
  EXPECT_TRUE(model) << model.diagnostics().text();
  return model ? std::move(*model) : Model{};
}

// All messages about a text, warnings included.
inline std::string findings(const std::string& text, const std::vector<Override>& overrides = {}) {
  const Result<ModelSpec> spec = parse_model_text(text, "model.toml");
  if (!spec) return spec.diagnostics().text();
  return compile(*spec, overrides).diagnostics().text();
}

inline double slot_value(const Model& model, Slot slot) {
  if (slot < 0) return 0;
  const Params p = nominal(model);
  return model.slots[static_cast<size_t>(slot)].evaluate<double>(
      {p.values.data(), static_cast<size_t>(p.values.size())});
}

inline double parameter(const Model& model, std::string_view name) {
  const int i = find_parameter(model, name);
  EXPECT_GE(i, 0) << name;
  return i < 0 ? 0 : model.parameters[static_cast<size_t>(i)].value;
}

// A planar arm that other items can hang on: bodies "arm" and "tool", coordinates "phi" and "reach".
inline const char* const kArm = R"toml(
space = "planar"
gravity = [0, -9.81]
body = [
  { name = "arm", bar = { length = 2, mass = 3 } },
  { name = "tool", mass = 1, inertia = 0.1 },
]
joint = [
  { name = "phi", type = "revolute", parent = "ground", child = "arm" },
  { name = "reach", type = "prismatic", parent = "arm.end", child = "tool" },
]
)toml";

// A spatial one: a free body "base" on joint "float" and a ball on joint "ball".
inline const char* const kSpatialArm = R"toml(
space = "spatial"
gravity = [0, 0, -9.81]
body = [
  { name = "base", box = { size = [1, 2, 3], mass = 6 } },
  { name = "head", sphere = { radius = 0.1, density = 1000 } },
]
joint = [
  { name = "float", type = "free", parent = "ground", child = "base" },
  { name = "ball", type = "spherical", parent = { body = "base", at = [0, 0, 1.5] }, child = "head" },
]
)toml";

}  // namespace panto::test
