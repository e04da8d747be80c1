#include <cmath>

#include "panto/io/test/support.hpp"
#include "panto/model/copy_back.hpp"

namespace panto {
namespace {

constexpr const char* kText = R"toml(# A pendulum, π in a comment: ä
space = "planar"
gravity = [0, -9.81]   # downwards
[parameters]
L = "16 mm"            # measured
rho = 7_800
m = "rho*L"
N = 2
[[body]]
name = 'bob'
mass = "m"
inertia = 1e-3
point_mass = [ {mass = "500 g", at = [ "L" ,  0.25 ]}, { mass = 0x10 } ]
[[body]]
repeat = "i = 1..N"
name = "b{i}"
mass = 3
[[joint]]
name = "q"
type = "revolute"
parent = { body = "ground", angle = "30 deg", at = [1, 2] }
child = "bob"
[[joint]]
repeat = "i = 1..N"
name = "q{i}"
type = "prismatic"
parent = "ground"
child = "b{i}"
[initial]
q = "45 deg"  # "quoted"
)toml";

struct Loaded {
  ModelSpec spec;
  Model model;
};

Loaded loaded(const std::string& text, const std::vector<Override>& overrides = {}) {
  Loaded out;
  auto spec = parse_model_text(text, "pendulum.toml");
  EXPECT_TRUE(spec) << spec.diagnostics().text();
  out.spec = std::move(*spec);
  auto model = compile(out.spec, overrides);
  EXPECT_TRUE(model) << model.diagnostics().text();
  out.model = std::move(*model);
  return out;
}

TEST(CopyBack, WithUnchangedParametersGivesTheTextBack) {
  const Loaded in = loaded(kText);
  EXPECT_EQ(copy_back(in.spec, in.model, nominal(in.model)), kText);
}

TEST(CopyBack, ChangesOnlyTheNumber) {
  const Loaded in = loaded(kText);
  Params p = nominal(in.model);
  p.values[find_parameter(in.model, "L")] = 0.0173;
  p.values[find_parameter(in.model, "bob.inertia")] = 0.002;
  p.values[find_parameter(in.model, "bob.point_mass.1.mass")] = 17;
  std::string expected = kText;
  const auto replace = [&](const std::string& a, const std::string& b) {
    expected.replace(expected.find(a), a.size(), b);
  };
  replace("\"16 mm\"", "\"17.3 mm\"");
  replace("1e-3", "0.002");
  replace("0x10", "17");
  EXPECT_EQ(copy_back(in.spec, in.model, p), expected);
}

TEST(CopyBack, EveryParameterReadsBack) {
  const Loaded in = loaded(kText);
  Params p = nominal(in.model);
  for (Eigen::Index i = 0; i < p.values.size(); ++i) {
    p.values[i] = (p.values[i] + 0.1) * std::exp(0.37 * std::sin(1.7 * static_cast<double>(i)));
  }
  const Loaded back = loaded(copy_back(in.spec, in.model, p));
  ASSERT_EQ(back.model.parameters.size(), in.model.parameters.size());
  const Params q = nominal(back.model);
  // One rounding in the conversion to the written unit.
  for (Eigen::Index i = 0; i < p.values.size(); ++i) {
    EXPECT_NEAR(q.values[i], p.values[i], 1e-15 * std::abs(p.values[i]));
  }
}

TEST(CopyBack, WritesOverrides) {
  const std::vector<Override> overrides{{"N", "4"}, {"bob.inertia", "2*rho"}, {"rho", "10"}};
  const Loaded in = loaded(kText, overrides);
  const std::string text = copy_back(in.spec, in.model, nominal(in.model));
  EXPECT_NE(text.find("N = 4\n"), std::string::npos);
  EXPECT_NE(text.find("inertia = \"2*rho\"\n"), std::string::npos);
  EXPECT_NE(text.find("rho = 10\n"), std::string::npos);
  EXPECT_EQ(loaded(text).model.bodies.size(), 5u);
}

TEST(CopyBack, OfAModelBuiltInCodeIsToml) {
  ModelSpec spec;
  spec.root.set("space", "planar");
  Node body, joint;
  body.set("name", "b");
  body.set("mass", "2 kg");
  body.set("inertia", 0.5);
  joint.set("name", "q");
  joint.set("type", "revolute");
  joint.set("parent", "ground");
  joint.set("child", "b");
  spec.root.set("body", Node::Array{body});
  spec.root.set("joint", Node::Array{joint});
  Node initial;
  initial.set("q", 1);
  spec.root.set("initial", initial);
  const Result<Model> model = compile(spec);
  ASSERT_TRUE(model) << model.diagnostics().text();
  Params p = nominal(*model);
  p.values[find_parameter(*model, "b.mass")] = 3;
  EXPECT_EQ(copy_back(spec, *model, p), R"toml(space = "planar"
body = [
  { name = "b", mass = "3 kg", inertia = 0.5 },
]
joint = [
  { name = "q", type = "revolute", parent = "ground", child = "b" },
]

[initial]
q = 1
)toml");
}

TEST(CopyBack, RefusesParametersOfAnotherModel) {
  const Loaded in = loaded(kText);
  EXPECT_THROW(copy_back(in.spec, in.model, Params{}), std::logic_error);
  Params p = nominal(in.model);
  p.values[0] = std::nan("");
  EXPECT_THROW(copy_back(in.spec, in.model, p), std::logic_error);
}

}  // namespace
}  // namespace panto
