// Output redefinition of flexible arms (Drücker, 2022, Section 6.5; criteria A17 to A19 and A21 of its recomputation).
#include <gtest/gtest.h>

#include "panto/io/invert_study.hpp"
#include "panto/io/toml.hpp"
#include "tests/inversion/flexible_arms.hpp"

namespace panto {
namespace {

using namespace inversion_test;
constexpr double kDegree = std::numbers::pi / 180;

InvertOptions bdf2(double dt, double until) {
  InvertOptions options;
  options.inverse.order = 2;
  options.inverse.dt = dt;
  options.inverse.formulation = Formulation::kOriginal;  // of index 2 or 3 here: half the unknowns
  options.until = until;
  options.verify = false;
  return options;
}

// Second order: the limits of the recomputation, between 0.76 and 0.77 with one and four elements, 0.75 and 0.76 with ten.
TEST(RedefineReference, TheLimitOfTheOneLinkArm) {
  const struct {
    int elements;
    double low, high;
  } cases[] = {{1, 0.76, 0.77}, {4, 0.76, 0.77}, {10, 0.75, 0.76}};
  for (const auto& c : cases) {
    const Model arm = *flexible_arm(c.elements);
    const auto found = redefine_output(arm, nominal(arm), tip_direction(), driven_section());
    ASSERT_TRUE(found.ok()) << found.diagnostics().text();
    EXPECT_GT(found->limit, c.low) << c.elements;
    EXPECT_LT(found->limit, c.high) << c.elements;
    EXPECT_NEAR(found->weight, 0.99 * found->limit, 1e-12);
    EXPECT_EQ(found->along.size(), 21U);
    EXPECT_LE(found->used.worst, 1e-3);
    EXPECT_GT(found->along.back().worst, 0.1);
  }
}

// 5.8e-3 rad² with rigid links, 7.7e-5 with 0.75; what is left after the move with 0.2: 5.3°.
TEST(RedefineReference, TheErrorsOfTheOneLinkArm) {
  const Model arm = *flexible_arm(10);
  const auto at = [&](double weight) {
    auto found = invert_redefined(arm, nominal(arm), tip_direction(), driven_section(weight),
                                  one_link_swing(), bdf2(0.01, 2));
    if (!found.ok()) throw std::runtime_error(found.diagnostics().text());
    return found->redefined->truth.front();
  };
  EXPECT_NEAR(at(0).mean_square, 5.8e-3, 0.05 * 5.8e-3);
  EXPECT_LT(at(0.75).mean_square, 1e-4);
  const double left = *at(0.2).residual / kDegree;
  EXPECT_GT(left, 5);
  EXPECT_LT(left, 5.5);
  // A run that ends with the path knows nothing of what is left after it.
  const auto short_run = invert_redefined(arm, nominal(arm), tip_direction(), driven_section(0.2),
                                          one_link_swing(), bdf2(0.01, 1));
  ASSERT_TRUE(short_run.ok());
  EXPECT_FALSE(short_run->redefined->truth.front().residual.has_value());
}

// The same link by small displacements on a rigid one: the errors of the recomputation again.
TEST(RedefineReference, TheEquivalentRigidLinkWithBeams) {
  const Result<Model> arm = load("single_flexible_link");
  ASSERT_TRUE(arm.ok());
  const ServoChoice tip{{"atan2(tip_y, tip_x)"}, {}, {"T"}, {}};
  const auto limit = redefine_output(*arm, nominal(*arm), tip, driven_section());
  ASSERT_TRUE(limit.ok()) << limit.diagnostics().text();
  EXPECT_NEAR(limit->limit, 0.76, 0.01);
  const auto at = [&](double weight) {
    const auto found = invert_redefined(*arm, nominal(*arm), tip, driven_section(weight),
                                        one_link_swing(), bdf2(0.01, 2));
    if (!found.ok()) throw std::runtime_error(found.diagnostics().text());
    return found->redefined->truth.front();
  };
  EXPECT_NEAR(at(0).mean_square, 5.8e-3, 0.05 * 5.8e-3);
  EXPECT_LT(at(0.75).mean_square, 1e-4);
  EXPECT_NEAR(*at(0.2).residual / kDegree, 5.25, 0.25);
}

// The axial zeros leave the imaginary axis at 0.5, those of bending at 0.75 to 0.76.
TEST(RedefineReference, TheTwoLinkArmHasALimitPerDirection) {
  const Model arm = *flexible_two_link(10);
  Redefinition how = straight_links();
  how.along = "section_angle";
  const auto found = redefine_output(arm, nominal(arm), tip_position(), how);
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  EXPECT_NEAR(found->together, 0.5, 0.01);
  EXPECT_NEAR(found->limit, 0.755, 0.01);
  EXPECT_NEAR(found->axial, 0.99 * found->together, 1e-12);
}

// 2.0e-3 and 2.2e-5 m² with 0 and 0.75, BDF2, 10 ms; with 5 ms the axial zeros at 202 ± 361i 1/s grow, and are named.
TEST(RedefineReference, TheTwoLinkArmBeyondItsLimit) {
  const Model arm = *flexible_two_link(10);
  const auto sum = [&](double weight) {
    auto found = invert_redefined(arm, nominal(arm), tip_position(), straight_links(weight),
                                  two_link_circle(), bdf2(0.01, 3));
    if (!found.ok()) throw std::runtime_error(found.diagnostics().text());
    if (weight > 0.5) {
      EXPECT_EQ(found.diagnostics().items().front().id, 1089);
    }
    return found->redefined->truth[0].mean_square + found->redefined->truth[1].mean_square;
  };
  const double rigid = sum(0), mixed = sum(0.75);
  EXPECT_NEAR(rigid, 2.0e-3, 0.05e-3);
  EXPECT_NEAR(mixed, 2.2e-5, 0.05e-5);
  EXPECT_LT(mixed, rigid / 50);
  const auto finer = invert_redefined(arm, nominal(arm), tip_position(), straight_links(0.75),
                                      two_link_circle(), bdf2(0.005, 3));
  ASSERT_FALSE(finer.ok());
  EXPECT_EQ(finer.diagnostics().items().front().id, 1088);
  EXPECT_NE(finer.diagnostics().text().find("202.4 ± 360.8i"), std::string::npos)
      << finer.diagnostics().text();
}

// BDF2 on ẋ = s x: (3/2 - s dt) ζ² - 2 ζ + 1/2 = 0; Radau damps the imaginary axis, BDF4 does not.
TEST(RedefineReference, GrowthPerStepIsThatOfTheMethod) {
  InverseOptions options;
  options.order = 1;
  options.dt = 0.1;
  EXPECT_NEAR(growth_per_step(options, {-3, 4}), 1 / std::abs(std::complex<double>(1.3, -0.4)),
              1e-12);
  options.order = 2;
  const std::complex<double> a = 1.5 - std::complex<double>(2, 3.6) * 0.5,
                             root = std::sqrt(4. - 2. * a);
  options.dt = 0.5;
  EXPECT_NEAR(growth_per_step(options, {2, 3.6}),
              std::max(std::abs((2. + root) / (2. * a)), std::abs((2. - root) / (2. * a))), 1e-12);
  options.dt = 1;
  options.order = 4;
  EXPECT_GT(growth_per_step(options, {0, 1.0}), 1);
  options.scheme = InverseScheme::kRadau5;
  EXPECT_LT(growth_per_step(options, {0, 1.0}), 1);
  EXPECT_NEAR(growth_per_step(options, {-0.1, 0}), std::exp(-0.1), 1e-8);
}

Result<LoadedInvertStudy> study(const std::string& redefine) {
  const auto text = parse_model_text(
      "model = \"flexible_two_link\"\n"
      "servo = [{ output = [\"tip_x\", \"tip_y\"], by = [\"shoulder\", \"elbow\"] }]\n"
      "until = 3\nverify = false\n"
      "path = { type = \"circle\", centre = [1.7, 0], duration = \"3 s\", smooth = 4 }\n"
      "method = { name = \"bdf2\", step = \"5 ms\", form = \"original\" }\n" +
          redefine,
      "rubber.toml");
  if (!text.ok()) return text.diagnostics();
  return load_invert_study(*text);
}

// Digest of the recomputation: with weights of at most 0.45 every step works; across the link more is possible.
TEST(RedefineReference, AStudyWeighsPartsApart) {
  auto loaded = study(
      "[redefine]\nrigid = [\"L1*cos(alpha) + L2*cos(section_angle)\", \"L1*sin(alpha) + "
      "L2*sin(section_angle)\"]\nalong = \"section_angle\"\n");
  ASSERT_TRUE(loaded.ok()) << loaded.diagnostics().text();
  const auto apart = run_invert_study(*loaded);
  ASSERT_TRUE(apart.ok()) << apart.diagnostics().text();
  loaded->redefine->along.clear();
  const auto together = run_invert_study(*loaded);
  ASSERT_TRUE(together.ok()) << together.diagnostics().text();
  const auto error = [](const Inversion& found) {
    return found.redefined->truth[0].mean_square + found.redefined->truth[1].mean_square;
  };
  EXPECT_NEAR(together->redefined->weight, 0.495, 1e-3);
  EXPECT_NEAR(apart->redefined->axial, 0.495, 1e-3);
  EXPECT_GT(apart->redefined->weight, 0.74);
  EXPECT_LT(error(*apart), error(*together) / 5);
  EXPECT_LT(error(*apart), 3e-5);
}

TEST(RedefineReference, AStudyIsRefusedWhereItIsWrong) {
  const auto id = [](const std::string& text) {
    const auto found = study("[redefine]\n" + text);
    return found.ok() ? 0 : found.diagnostics().items().front().id;
  };
  EXPECT_EQ(id("weight = 0.5"), 111);
  EXPECT_EQ(id("rigid = [\"alpha\", \"alpha\"]\nwieght = 0.5"), 110);
  EXPECT_EQ(id("rigid = [\"alpha\", \"alpha\"]\nweight = \"much\""), 112);
}

// Of either part: below 0 none is the one that is taken by default.
TEST(RedefineReference, AStudyHasNoWeightsBelowZero) {
  for (const std::string weight : {"weight", "axial"}) {
    const auto loaded = study(
        "[redefine]\nrigid = [\"L1*cos(alpha) + L2*cos(section_angle)\", \"L1*sin(alpha) + "
        "L2*sin(section_angle)\"]\nalong = \"section_angle\"\n" +
        weight + " = -1\n");
    ASSERT_TRUE(loaded.ok()) << loaded.diagnostics().text();
    const auto found = run_invert_study(*loaded);
    ASSERT_FALSE(found.ok()) << weight;
    EXPECT_EQ(found.diagnostics().items().front().id, 1086) << weight;
  }
}

// The passive angle alone says nothing of where the arm is: two zeros at the origin.
TEST(RedefineReference, RigidOutputsThatDriftAreRefused) {
  const Result<Model> arm = load("manipulator_2d");
  ASSERT_TRUE(arm.ok());
  Redefinition how;
  how.rigid = {"beta"};
  const auto found = redefine_output(*arm, nominal(*arm), {{"z"}, {}, {"u"}, {}}, how);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.diagnostics().items().front().id, 1087);
  EXPECT_NE(found.diagnostics().text().find("a zero at the origin"), std::string::npos);
}

TEST(RedefineReference, SaysWhatCannotBe) {
  const Model arm = *flexible_arm(2);
  const auto id = [&](const Redefinition& how) {
    const auto found = redefine_output(arm, nominal(arm), tip_direction(), how);
    return found.ok() ? 0 : found.diagnostics().items().front().id;
  };
  Redefinition how = driven_section();
  how.rigid = {};
  EXPECT_EQ(id(how), 1086);
  EXPECT_EQ(id(driven_section(1.5)), 1086);
  EXPECT_EQ(id(driven_section(-1)), 1086);
  how = driven_section();
  how.along = "theta";
  EXPECT_EQ(id(how), 1086);
  how = driven_section();
  how.axial = 0.5;
  EXPECT_EQ(id(how), 1086);
  how = driven_section();
  how.rigid = {"tip_angle"};
  EXPECT_EQ(id(how), 1087);
  how.rigid = {"thetta"};
  EXPECT_EQ(id(how), 1006);
}

}  // namespace
}  // namespace panto
