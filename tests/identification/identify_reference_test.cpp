// All solutions of the two configurations of Čepon et al., re-computed by elimination, and the accuracy of rounded and noisy data.
#include <algorithm>
#include <cmath>
#include <string>

#include "panto/model/compile.hpp"
#include "panto/model/copy_back.hpp"
#include "tests/identification/identify_case.hpp"

namespace panto {
namespace {

using test::identified;
using test::kBent;
using test::kStraight;
using test::kUnknown;
using Three = std::array<double, 3>;

void has_exactly(const Identification& r, const std::vector<Three>& expected) {
  std::vector<const Solution*> exact;
  for (const Solution& s : r.solutions)
    if (s.explains) exact.push_back(&s);
  EXPECT_EQ(exact.size(), expected.size());
  for (const Solution* s : exact) EXPECT_LT(s->error_hz, 1e-9);
  for (const Three& e : expected)
    EXPECT_TRUE(std::any_of(exact.begin(), exact.end(),
                            [&](const Solution* s) {
                              for (int i = 0; i < 3; ++i)  // printed to four or five digits
                                if (std::abs(s->theta(i) / e[static_cast<size_t>(i)] - 1) > 1e-3)
                                  return false;
                              return true;
                            }))
        << e[0] << " " << e[1] << " " << e[2];
}

const std::vector<Three> kFour{{21.100, 13.900, 5.770},
                               {20.0936, 17.5266, 4.8053},
                               {45.564, 4.894, 7.589},
                               {287.49, 3.940, 1.494}};
const std::vector<Three> kSix{{21.100, 13.900, 5.770}, {20.709, 46.349, 1.763},
                              {74.286, 4.599, 4.953},  {90.435, 35.484, 0.527},
                              {113.05, 28.784, 0.520}, {127.25, 4.411, 3.015}};

class Methods : public testing::TestWithParam<const char*> {
 protected:
  static std::string method() { return std::string("method = \"") + GetParam() + "\"\n"; }
};

TEST_P(Methods, FindAllFourSolutionsOfTheStraightChain) {
  const auto r = identified(method() + kUnknown + kStraight + "[simulate]\n");
  ASSERT_TRUE(r) << r.diagnostics().text();
  has_exactly(*r, kFour);
  EXPECT_NE(r.diagnostics().text().find("W0714"), std::string::npos);
  EXPECT_LT(r->unseen, 1);
}

TEST_P(Methods, FindAllSixSolutionsOfTheBentChain) {
  const auto r = identified(method() + kUnknown + kBent + "[simulate]\n");
  ASSERT_TRUE(r) << r.diagnostics().text();
  has_exactly(*r, kSix);
}

TEST_P(Methods, FindOnlyTheTrueOneInBothPosesTogether) {
  const auto r = identified(method() + kUnknown + kStraight + kBent + "[simulate]\n");
  ASSERT_TRUE(r) << r.diagnostics().text();
  has_exactly(*r, {kFour[0]});
  EXPECT_EQ(r->equivalent(), 1);
  EXPECT_EQ(r.diagnostics().text().find("W0714"), std::string::npos);
  for (size_t i = 1; i < r->solutions.size(); ++i) EXPECT_GT(r->solutions[i].error_hz, 10);
}

INSTANTIATE_TEST_SUITE_P(Both, Methods, testing::Values("least_squares", "interior_point"),
                         [](const auto& one) { return std::string(one.param); });

void errors_are(const std::string& study, const Three& percent, double tolerance) {
  const auto r = identified(study);
  ASSERT_TRUE(r) << r.diagnostics().text();
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(100 * r->errors[i].mean, percent[i], tolerance);
}

TEST(Rounded, FrequenciesErrAsComputedIndependently) {
  errors_are(kUnknown + kStraight + "[simulate]\nround = \"0.1 Hz\"\n", {-1.08, 1.46, -0.79},
             0.006);
  errors_are(kUnknown + kBent + "[simulate]\nround = \"0.1 Hz\"\n", {0.27, -0.01, 0.00}, 0.006);
  errors_are(kUnknown + kStraight + "[simulate]\n", {0, 0, 0}, 1e-9);
}

TEST(Identify, MeasuredFrequenciesInTwoPoses) {
  const auto r = identified(
      kUnknown + kStraight + "frequencies = [16.946036, 83.064916, 229.156590]\nsigma = 0.05\n" +
      kBent + "frequencies = [22.675497, \"58.489879 Hz\", 101.195716]\nsigma = \"0.05 Hz\"\n");
  ASSERT_TRUE(r) << r.diagnostics().text();
  const Three truth{21.1, 13.9, 5.77};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(r->parameters[i].value, truth[i], 1e-6 * truth[i]);
    EXPECT_LT(r->parameters[i].from, truth[i]);
    EXPECT_GT(r->parameters[i].to, truth[i]);
    EXPECT_FALSE(r->parameters[i].bounds_hit);
  }
  ASSERT_EQ(r->modes.size(), 6u);
  EXPECT_NEAR(r->modes[4].fitted_hz, 58.489879, 1e-5);
  EXPECT_FALSE(r->sigma_assumed);
}

TEST(Identify, DoesNotDependOnThreads) {
  const auto one = identified("threads = 1\n" + kUnknown + kStraight +
                              "[simulate]\nnoise = 0.001\nrepeats = 20\n"),
             three = identified("threads = 3\n" + kUnknown + kStraight +
                                "[simulate]\nnoise = 0.001\nrepeats = 20\n");
  ASSERT_TRUE(one && three);
  ASSERT_EQ(one->solutions.size(), three->solutions.size());
  for (size_t i = 0; i < one->solutions.size(); ++i) {
    EXPECT_EQ(one->solutions[i].theta, three->solutions[i].theta);
    EXPECT_EQ(one->solutions[i].hits, three->solutions[i].hits);
  }
  EXPECT_EQ(one->errors[1].std, three->errors[1].std);
}

// Frequencies given in the wrong order are sorted out by the shapes (joint angles of the modes at the true stiffnesses).
TEST(Identify, ShapesPairModesByResemblance) {
  const std::string shapes =
      "shapes = [{ theta_A = -0.0310, theta_B = 0.3707, theta_C = -0.9290 }, "
      "{ theta_A = 0.8058, theta_B = 0.5, theta_C = 0.28 }, "
      "{ theta_A = -0.30, theta_B = 0.53, theta_C = 0.79 }]\n";
  const auto r = identified(
      kUnknown + kStraight + "frequencies = [229.156590, 16.946036, 83.064916]\n" + shapes +
      "sigma = 0.1\n" + kBent + "frequencies = [22.675497, 58.489879, 101.195716]\nsigma = 0.1\n");
  ASSERT_TRUE(r) << r.diagnostics().text();
  EXPECT_EQ(r->modes[0].mode, 3);
  EXPECT_EQ(r->modes[1].mode, 1);
  EXPECT_EQ(r->modes[2].mode, 2);
  for (int i = 0; i < 3; ++i) EXPECT_GT(r->modes[static_cast<size_t>(i)].assurance, 0.8);
  EXPECT_NEAR(r->parameters[0].value, 21.1, 1e-4);
}

TEST(Identify, DampingRatiosGiveDampers) {
  // m = 1, k = 100, c = 2: f = 10/(2π), ζ = 0.1.
  const std::string model = R"toml(
space = "planar"
parameters = { k = 90, c = 3 }
body = [{ name = "a", mass = 1, inertia = 1 }]
joint = [{ name = "x", type = "prismatic", parent = "ground", child = "a" }]
force = [{ name = "s", type = "joint_spring", on = "x", stiffness = "k", damping = "c" }]
)toml";
  const auto spec = parse_model_text(model, "oscillator.toml");
  const auto compiled = compile(*spec);
  ASSERT_TRUE(compiled) << compiled.diagnostics().text();
  IdentifyStudy study;
  study.parameters.resize(2);
  study.parameters[0].name = "k";
  study.parameters[1].name = "c";
  study.poses.resize(1);
  MeasuredFrequency m;
  m.frequency_hz = 10 / (2 * M_PI);
  m.sigma_hz = 0.01;
  m.damping = 0.1;
  m.damping_sigma = 0.001;
  study.poses[0].modes = {m};
  const auto r = identify(*compiled, nominal(*compiled), study);
  ASSERT_TRUE(r) << r.diagnostics().text();
  EXPECT_NEAR(r->parameters[0].value, 100, 1e-7);
  EXPECT_NEAR(r->parameters[1].value, 2, 1e-9);
  // σ_k = 2 k σ_f / f.
  EXPECT_NEAR(r->parameters[0].std, 2 * 100 * 0.01 / m.frequency_hz, 1e-6);
  const std::string text = copy_back(*spec, *compiled, r->params);
  EXPECT_NE(text.find("k = 100"), std::string::npos) << text;
}

TEST(Identify, SaysWhatTheDataDoNotTell) {
  // Mass and inertia of the first link act on the modes through J1 + m1 a1² alone.
  const auto r = identified(
      "model = \"three_link\"\nparameters = { kA = { low = 1, high = 100 }, m1 = { } , J1 = { } "
      "}\n" +
      kStraight + "frequencies = [16.946036, 83.064916, 229.156590]\nsigma = 0.1\n");
  ASSERT_TRUE(r) << r.diagnostics().text();
  EXPECT_NE(r.diagnostics().text().find("W0715"), std::string::npos);
  EXPECT_EQ(r.diagnostics().text().find("W0714"),
            std::string::npos);  // one valley, not many answers
}

// Within ±20 % of the truth the other solutions are out of reach, and what remains of them ends at bounds, at one point each.
TEST(Identify, MinimaAtBoundsAreCountedOnce) {
  const auto r = identified(
      "model = \"three_link\"\nparameters = { kA = { low = 16.88, high = 25.32 }, kB = { low = "
      "11.12, "
      "high = 16.68 }, kC = { low = 4.616, high = 6.924 } }\n" +
      kStraight + "[simulate]\n");
  ASSERT_TRUE(r) << r.diagnostics().text();
  for (size_t i = 0; i < r->solutions.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      EXPECT_GT((r->solutions[i].theta - r->solutions[k].theta).norm(), 0.1)
          << r->solutions[i].theta.transpose() << " and " << r->solutions[k].theta.transpose();
}

TEST(Identify, SaysWhenABoundIsHit) {
  const auto r =
      identified("model = \"three_link\"\nparameters = { kA = { low = 25, high = 100 } }\n" +
                 kStraight + "frequencies = [16.946036]\nsigma = 0.1\n");
  ASSERT_TRUE(r) << r.diagnostics().text();
  EXPECT_TRUE(r->parameters[0].bounds_hit);
  EXPECT_NEAR(r->parameters[0].value, 25, 1e-6);
  EXPECT_NE(r.diagnostics().text().find("W0716"), std::string::npos);
}

}  // namespace
}  // namespace panto
