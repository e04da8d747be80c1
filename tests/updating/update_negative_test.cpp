// Studies that cannot be: told with place and remedy, before anything is computed or written.
#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"
#include "tests/updating/update_case.hpp"

namespace panto {
namespace {

// A beam clamped at one end.
constexpr const char* kBeam = R"toml(
space = "planar"
parameters = { E = "70 GPa", m = 0, rho = 2700 }
body = [{ name = "rod", beam = { length = "0.8 m", circle = "10 mm", E = "E", density = "rho", elements = 2, lumped = [{ node = 3, mass = "m" }] } }]
joint = [{ name = "clamp", type = "weld", parent = "ground", child = "rod" }]
)toml";

struct Built {
  std::unique_ptr<Model> model;
  UpdateStudy study;
};

Built built() {
  const auto spec = parse_model_text(kBeam, "beam.toml");
  auto model = test::compiled(*spec);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  Built out;
  out.model = std::make_unique<Model>(std::move(*model));
  UpdateParameter e;
  e.name = "E";
  e.loc = {"study.toml", 3, 1};
  out.study.parameters = {e};
  UpdatePose pose;
  pose.name = "only";
  pose.loc = {"study.toml", 7, 1};
  pose.test.points = {{"rod.end", {0, 1, 0}}};
  MeasuredMode m;
  m.frequency_hz = 11;
  m.shape = Eigen::VectorXcd::Ones(1);
  pose.test.modes = {m};
  out.study.poses = {pose};
  return out;
}

std::string refused(const Built& b) {
  const auto found = update(*b.model, nominal(*b.model), b.study);
  EXPECT_FALSE(found.ok());
  return found.diagnostics().text();
}

TEST(UpdateRefuses, ShapesAtPointsThatDoNotExist) {
  Built b = built();
  b.study.poses[0].test.points[0].frame = "rod.ned";
  EXPECT_EQ(
      refused(b),
      "study.toml:7:1: error[E0970]: pose \"only\": a shape was measured at \"rod.ned\", which "
      "is no place of beam; did you mean \"rod.end\"?\n");
}

TEST(UpdateRefuses, BoundsThatCannotBe) {
  Built b = built();
  b.study.parameters[0].has_low = true;
  b.study.parameters[0].low = -1;
  EXPECT_NE(refused(b).find("study.toml:3:1: error[E0971]: parameter \"E\": the lower bound -1 is "
                            "negative"),
            std::string::npos);
  b.study.parameters[0].low = 80e9;
  EXPECT_NE(refused(b).find("error[E0971]: parameter \"E\": the model's value 7e+10 is outside"),
            std::string::npos);
  b = built();
  b.study.parameters[0].name = "m";
  EXPECT_NE(refused(b).find("error[E0971]: parameter \"m\": it is zero in the model"),
            std::string::npos);
}

// Of a study file: whatever the model itself would refuse, and values of another dimension.
TEST(UpdateRefuses, BoundsThatTheModelRefuses) {
  const test::TemporaryFolder folder;
  folder.put("beam.toml", kBeam);
  const auto of = [&](const std::string& parameter) {
    const auto found =
        test::updated("model = \"beam.toml\"\n[parameters]\n" + parameter +
                          "\n[[pose]]\npoints = [[\"rod.end\", \"y\"]]\nfrequencies = [11]\n"
                          "shapes = [[1]]\n",
                      folder.path("study.toml"));
    EXPECT_EQ(found.ok(), parameter == "m = { low = 0, high = 0.1 }");
    return found.diagnostics().text();
  };
  of("m = { low = 0, high = 0.1 }");
  EXPECT_NE(of("m = { low = -0.01, high = 0.1 }")
                .find("study.toml:3:1: error[E0971]: parameter \"m\": the model refuses its lower "
                      "bound -0.01: body \"rod\": beam.lumped.0.mass: must not be negative"),
            std::string::npos);
  EXPECT_NE(of("rho = { range = 2 }").find("error[E0971]: parameter \"rho\": the model refuses"),
            std::string::npos);
  EXPECT_NE(of("E = { high = \"5 kg\" }").find("bound 5 kg: body \"rod\": beam.E: "),
            std::string::npos);
}

TEST(UpdateRefuses, TestsThatDoNotFitTheModel) {
  Built b = built();
  b.study.poses[0].weights = {1, 2};
  EXPECT_NE(refused(b).find("error[E0972]: pose \"only\": 2 weights for 1 modes"),
            std::string::npos);
  b = built();
  b.study.poses[0].modes = {40};
  EXPECT_NE(refused(b).find("error[E0972]: pose \"only\": mode 41 is named, but the model has 6"),
            std::string::npos);
  b = built();
  b.study.poses[0].test.modes.clear();
  EXPECT_NE(refused(b).find("error[E0972]: pose \"only\": the test has no modes"),
            std::string::npos);
}

TEST(UpdateRefuses, ConstraintsThatContradictEachOther) {
  Built b = built();
  UpdateConstraint c;
  c.name = "stiff";
  c.loc = {"study.toml", 12, 1};
  c.terms = {{"E", 1}};
  c.low = 200e9;
  c.high = 300e9;
  b.study.constraints = {c};
  EXPECT_NE(refused(b).find("study.toml:12:1: error[E0973]: no values satisfy"), std::string::npos);
  b.study.method = UpdateMethod::kSensitivity;
  EXPECT_NE(refused(b).find("study.toml:12:1: error[E0974]: the sensitivity method knows bounds"),
            std::string::npos);
}

TEST(UpdateRefuses, UnknownParametersWithASuggestion) {
  Built b = built();
  b.study.parameters[0].name = "rhoo";
  EXPECT_NE(refused(b).find("error[E0701]: \"rhoo\" is no parameter of beam; did you mean "
                            "\"rho\"?"),
            std::string::npos);
}

TEST(UpdateWarns, OfFewerEquationsThanParametersAndNamesThem) {
  Built b = built();
  UpdateParameter rho;
  rho.name = "rho";
  b.study.parameters.push_back(rho);
  const auto found = update(*b.model, nominal(*b.model), b.study);
  ASSERT_TRUE(found) << found.diagnostics().text();
  const std::string text = found.diagnostics().text();
  EXPECT_NE(text.find("warning[W0978]: 1 independent equations for 2 parameters"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("warning[W0984]: the data tell only a combination of E, rho"),
            std::string::npos)
      << text;
}

TEST(UpdateWarns, OfModesWithoutShape) {
  Built b = built();
  b.study.poses[0].test.modes[0].shape.resize(0);
  b.study.poses[0].test.points.clear();
  const auto found = update(*b.model, nominal(*b.model), b.study);
  ASSERT_TRUE(found) << found.diagnostics().text();
  EXPECT_NE(found.diagnostics().text().find("warning[W0980]"), std::string::npos);
  EXPECT_TRUE(std::isnan(found->modes[0].mac_before));
}

TEST(UpdateStudyFile, RefusesUnknownWordsAndKeys) {
  const auto file = parse_model_text(
      "model = \"three_link\"\nmethod = \"quadratc\"\n[parameters]\nkA = { rnge = 0.1 }\n"
      "[[pose]]\nfrequencies = [\"3 m\"]\n",
      "study.toml");
  ASSERT_TRUE(file);
  const auto study = update_study(*file);
  ASSERT_FALSE(study.ok());
  const std::string text = study.diagnostics().text();
  EXPECT_NE(text.find("study.toml:2:10: error[E0114]: method: \"quadratc\" is not one of"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("error[E0110]"), std::string::npos) << text;
  EXPECT_NE(text.find("study.toml:6"), std::string::npos) << text;
}

}  // namespace
}  // namespace panto
