// Studies that cannot be carried out are refused, with file, line and remedy.
#include "tests/identification/identify_case.hpp"
#include "tests/linear/linear_case.hpp"

namespace panto {
namespace {

using test::kStraight;
using test::kUnknown;

void refused(const std::string& text, const std::string& expected) {
  const auto r = test::identified(text);
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.diagnostics().text().find(expected), std::string::npos) << r.diagnostics().text();
}

TEST(BadStudy, MoreParametersThanFrequencies) {
  refused(kUnknown + kStraight + "frequencies = [16.9, 83.1]\n",
          "study.toml:2:16: error[E0711]: 3 parameters cannot follow from 2 measured values");
}

TEST(BadStudy, NegativeFrequency) {
  refused(kUnknown + kStraight + "frequencies = [16.9, -83.1, 229]\n",
          "study.toml:6:22: error[E0710]: pose \"straight\": frequency -83.1 Hz");
}

TEST(BadStudy, NegativeUncertainty) {
  refused(kUnknown + kStraight + "frequencies = [16.9, 83.1, 229]\nsigma = -1\n",
          "study.toml:7:9: error[E0710]");
}

TEST(BadStudy, UncertaintiesThatTheFitBelies) {
  const std::string study = "model = \"three_link\"\nparameters = { kA = {} }\n" + kStraight +
                            "frequencies = [17, 84, 226]\nsigma = ";
  const auto belied = test::identified(study + "1e-4\n"),
             scattered = test::identified(study + "10\n");
  ASSERT_TRUE(belied.ok() && scattered.ok());
  EXPECT_NE(belied.diagnostics().text().find("study.toml:3:1: warning[W0719]"), std::string::npos)
      << belied.diagnostics().text();
  EXPECT_EQ(scattered.diagnostics().text().find("W0719"), std::string::npos);
  // The deviation of the fit, not the one that was given: the same whatever that is.
  const auto finer = test::identified(study + "1e-5\n");
  ASSERT_TRUE(finer.ok());
  EXPECT_NEAR(finer->parameters[0].std, belied->parameters[0].std,
              1e-6 * belied->parameters[0].std);
}

TEST(BadStudy, UnknownParameter) {
  refused(
      "model = \"three_link\"\nparameters = { kD = {} }\n" + kStraight + "frequencies = [17]\n",
      "study.toml:2:16: error[E0701]: \"kD\" is no parameter of three_link; did you mean \"kA\"?");
}

TEST(BadStudy, ParameterOfValueZeroWithoutBounds) {
  refused(
      "model = \"three_link\"\nparameters = { pose_A = {} }\n" + kStraight + "frequencies = [17]\n",
      "error[E0703]");
}

TEST(BadStudy, BoundsInTheWrongOrder) {
  refused("model = \"three_link\"\nparameters = { kA = { low = 3, high = 2 } }\n" + kStraight +
              "frequencies = [17]\n",
          "study.toml:2:21: error[E0308]: parameter \"kA\"");
}

TEST(BadStudy, StartOutsideTheBounds) {
  refused("model = \"three_link\"\nparameters = { kA = { low = 1, high = 2, start = 3 } }\n" +
              kStraight + "frequencies = [17]\n",
          "error[E0313]");
}

TEST(BadStudy, UnknownKey) {
  refused(
      kUnknown + kStraight + "frequency = [17]\n",
      "study.toml:6:1: error[E0110]: pose \"straight\": unknown key \"frequency\"; did you mean "
      "\"frequencies\"?");
}

TEST(BadStudy, WrongDimension) {
  refused(kUnknown + kStraight + "frequencies = [\"17 mm\"]\n", "error[E0302]: pose \"straight\"");
}

TEST(BadStudy, ListOfAnotherLength) {
  refused(kUnknown + kStraight + "frequencies = [17, 83]\nsigma = [0.1]\n",
          "study.toml:7:9: error[E0113]: pose \"straight\": sigma: 1 values for 2 frequencies");
}

TEST(BadStudy, MoreModesThanTheModelHas) {
  refused(
      "model = \"three_link\"\nparameters = { kA = {} }\n" + kStraight +
          "frequencies = [17, 83, 229, 500]\n",
      "study.toml:6:29: error[E0712]: pose \"straight\": mode 4 was measured, but the model has 3");
}

TEST(BadStudy, ShapeOfAnUnknownOutput) {
  refused("model = \"three_link\"\nparameters = { kA = {} }\n" + kStraight +
              "frequencies = [17]\nshapes = [{ tip_z = 1 }]\n",
          "error[E0712]: pose \"straight\": the shape names \"tip_z\"");
}

TEST(BadStudy, AModeGivenTwice) {
  refused("model = \"three_link\"\nparameters = { kA = {} }\n" + kStraight +
              "frequencies = [17, 18]\nmodes = [1, 1]\n",
          "study.toml:6:20: error[E0712]: pose \"straight\": mode 1 is given twice");
}

TEST(BadStudy, MoreShapesThanModes) {
  refused("model = \"three_link\"\nparameters = { kA = {} }\n" + kStraight +
              "frequencies = [17, 18, 19, 20]\nmodes = [1, 1, 2, 3]\nshapes = [{ theta_A = 1 }, { "
              "theta_A "
              "= 1 }, { theta_B = 1 }, { theta_C = 1 }]\n",
          "error[E0712]: pose \"straight\": 4 shapes were measured, but the model has 3 modes");
}

TEST(BadStudy, MeasurementsBesideSimulatedOnes) {
  refused(kUnknown + kStraight + "sigma = 0.1\n[simulate]\n",
          "study.toml:6:1: error[E0115]: pose \"straight\": sigma");
}

TEST(BadStudy, UnknownCoordinateOfAPose) {
  refused(
      "model = \"three_link\"\nparameters = { kA = {} }\n[[pose]]\nat = { theta_D = 0 "
      "}\nfrequencies = [17]\n",
      "study.toml:3:1: error[E0506]: pose \"pose 1\"");
}

TEST(BadStudy, PoseThatALoopCannotReach) {
  refused(
      "model = \"fourbar_f1\"\nparameters = { g = {} }\n[[pose]]\nname = \"stretched\"\nat = { "
      "gamma = 0 }\nfrequencies = [1]\n",
      "study.toml:3:1: error[E0713]: pose \"stretched\": ");
}

TEST(BadStudy, PoseBeyondAJointsRange) {
  const auto model = test::model_of(R"toml(
space = "planar"
parameters = { k = 100 }
body = [{ name = "a", mass = 1, inertia = 1 }]
joint = [{ name = "phi", type = "revolute", parent = "ground", child = "a", range = [-1, 1] }]
force = [{ name = "s", type = "torsion_spring", on = "phi", stiffness = "k" }]
)toml");
  ASSERT_TRUE(model) << model.diagnostics().text();
  IdentifyStudy study;
  study.parameters.resize(1);
  study.parameters[0].name = "k";
  study.poses.resize(1);
  study.poses[0].name = "wide";
  study.poses[0].at = {{"phi", 2}};
  study.poses[0].modes.resize(1);
  study.poses[0].modes[0].frequency_hz = 1.6;
  const auto r = identify(*model, nominal(*model), study);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.diagnostics().text(),
            "error[E0713]: pose \"wide\": phi = 2 is outside its joint's range, -1 to 1\n");
}

TEST(BadStudy, NoPoseAndNoParameters) {
  refused("model = \"three_link\"\n", "missing table [parameters]");
  refused("model = \"three_link\"\n", "missing [[pose]]");
  refused(kUnknown, "error[E0111]");
}

TEST(BadStudy, TruthThatIsNotIdentified) {
  refused(kUnknown + kStraight + "[simulate]\ntruth = { m1 = 1 }\n", "error[E0701]: truth: \"m1\"");
}

TEST(BadStudy, UnknownMethod) {
  refused("method = \"least_square\"\n" + kUnknown + kStraight + "frequencies = [17]\n",
          "did you mean \"least_squares\"?");
}

}  // namespace
}  // namespace panto
