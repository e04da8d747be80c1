// Frequencies and deflections of beams against closed forms and independent computations.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <regex>

#include "panto/mechanics/assembly.hpp"
#include "tests/linear/linear_case.hpp"
#include "tests/source_dir.hpp"

namespace panto {
namespace {

using test::linearised;
using test::model_of;

constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kLength = 0.8, kDiameter = 0.01, kYoung = 70e9, kDensity = 2700;

double area() { return std::numbers::pi / 4 * kDiameter * kDiameter; }
double stiffness() { return kYoung * std::numbers::pi / 64 * std::pow(kDiameter, 4); }

std::string beam(int elements, const std::string& more = "") {
  return fmt::format(
      "space = \"planar\"\n[[body]]\nname = \"b\"\nbeam = {{ length = {}, circle = {}, E = {}, "
      "density = {}, elements = {}{} }}\n",
      kLength, kDiameter, kYoung, kDensity, elements, more);
}
const std::string kClamp =
    "[[joint]]\nname = \"w\"\ntype = \"weld\"\nparent = \"ground\"\nchild = \"b\"\n";
const std::string kHinge =
    "[[joint]]\nname = \"j\"\ntype = \"revolute\"\nparent = \"ground\"\nchild = \"b\"\n";
const std::string kFree =
    "[[joint]]\nname = \"f\"\ntype = \"free\"\nparent = \"ground\"\nchild = \"b\"\n";

// Bending frequency of (βL)², in Hz.
double bending(double beta) {
  return beta * beta / (kLength * kLength) * std::sqrt(stiffness() / (kDensity * area())) / kTurn;
}

std::vector<double> frequencies(const std::string& text) {
  return linearised(model_of(text), Operation::kHere).frequencies();
}

// Cubic elements with consistent mass miss a bending frequency by (β h)⁴ / 1440 and higher terms; finite elements are too stiff.
void converges(const std::string& joint, size_t mode, double beta) {
  const double exact = bending(beta), coarse = frequencies(beam(4) + joint).at(mode) / exact - 1,
               fine = frequencies(beam(8) + joint).at(mode) / exact - 1;
  EXPECT_NEAR(fine / (std::pow(beta / 8, 4) / 1440), 1, 0.05);
  EXPECT_NEAR(std::log2(coarse / fine), 4, 0.3);  // the next term is felt on the coarse mesh
}

TEST(FlexibleManipulator, HasTheFrequenciesOfTheIndependentComputation) {
  const auto c = linearised(load("flexible_manipulator"), Operation::kHere);
  EXPECT_EQ(c.model->nv - c.model->joint_nv(), 27);
  const auto hz = c.frequencies();
  ASSERT_EQ(hz.size(), 30U);
  const double expected[] = {12.95,  45.30,  61.84,  126.80, 155.08,
                             174.21, 199.33, 300.28, 344.79};  // printed with two digits
  for (size_t i = 0; i < 3; ++i) EXPECT_LT(hz[i], 1e-3);
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(hz[i + 3], expected[i], 0.006) << i;
  EXPECT_NEAR(hz.back(), 4668, 1);
}

// Acceptance values of the rebuilt model of Belotti et al.: masses by density, H at a fifth of AD.
TEST(FlexibleManipulator, WithDensitiesHasTheFrequenciesOfTheRebuiltModel) {
  std::ifstream in(PANTO_SOURCE_DIR "/models/flexible_manipulator/model.toml");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  text = std::regex_replace(text, std::regex("E = \"E\", mass = \"[0-9.]+ kg\""),
                            "E = \"E\", density = 2700");
  const size_t h = text.find("0.425 m");
  ASSERT_NE(h, std::string::npos);
  text.replace(h, 5, "0.170");
  const auto hz = frequencies(text);
  const double expected[] = {12.8944,  44.4605,  66.4513,  121.6968, 156.9424,
                             195.4404, 205.3090, 287.9040, 339.3606};  // printed with four digits
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(hz.at(i + 3), expected[i], 6e-5) << i;
}

// Weight and springs move no elastic mode by more than 0.4 %; the pose of the test is their equilibrium.
TEST(FlexibleManipulator, InTheVerticalPlaneHasAlmostTheFrequenciesOfTheHorizontalOne) {
  const auto c = linearised(load("flexible_manipulator_vertical"), Operation::kEquilibrium);
  EXPECT_NEAR(c.point.q(0), 1.0821, 5e-3);
  EXPECT_NEAR(c.point.q(1), 2.6354, 5e-4);
  const auto hz = c.frequencies();
  const double horizontal[] = {12.8887,  44.3791,  66.3887,  121.4857, 156.8664,
                               195.0816, 205.1257, 287.3881, 339.2663};
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(hz.at(i + 3) / horizontal[i], 1, 4e-3) << i;
}

TEST(FlexibleManipulator, HasTheRigidInertiaOfTheIndependentComputation) {
  const auto model = load("flexible_manipulator");
  ASSERT_TRUE(model.ok());
  const auto w = Workspace::create(*model, nominal(*model));
  const auto state = assemble(*w);
  ASSERT_TRUE(state.ok());
  Eigen::MatrixXd mass, by_links(5, 3), expected(3, 3);
  w->mass_matrix({state->q.data(), static_cast<size_t>(state->q.size())}, mass);
  // Relative coordinates by the absolute angles of AB, AD, EF in a parallelogram.
  by_links << 1, 0, 0, 0, 1, 0, -1, 1, 0, 1, -1, 0, -1, 0, 1;
  expected << 1.8276, -0.0121, 0.0246, -0.0121, 4.3492, -0.0164, 0.0246, -0.0164, 0.0102;
  const Eigen::MatrixXd rigid = by_links.transpose() * mass.topLeftCorner(5, 5) * by_links;
  EXPECT_LT((rigid - expected).cwiseAbs().maxCoeff(), 6e-5);  // printed with four digits
}

TEST(Beam, ClampedFreeConvergesAtOrderFour) {
  converges(kClamp, 0, 1.8751040687119611);
  converges(kClamp, 1, 4.694091132974175);
}

TEST(Beam, FreeFreeConvergesAtOrderFour) {
  const auto hz = frequencies(beam(8) + kFree);
  for (size_t i = 0; i < 3; ++i) EXPECT_LT(hz[i], 1e-4);
  converges(kFree, 3, 4.730040744862704);
}

TEST(Beam, PinnedPinnedConvergesAtOrderFour) {
  const std::string pinned =
      "[[loop]]\nname = \"p\"\ntype = \"pin\"\nbetween = [\"b.end\", { body = \"ground\", at = "
      "[0.8, 0] }]\n";
  converges(kHinge + pinned, 0, std::numbers::pi);
}

TEST(Beam, HingedFreeTurnsAndBends) {
  const auto hz = frequencies(beam(8) + kHinge);
  EXPECT_LT(hz[0], 1e-4);
  converges(kHinge, 1, 3.926602312047919);
}

TEST(Beam, CantileverBendsUnderItsWeightAndATipMass) {
  const double g = 9.81, m = 0.05;
  const std::string more = fmt::format(", lumped = [{{ node = 4, mass = {} }}]", m);
  const auto model = model_of("gravity = [0, -9.81]\n" + beam(3, more) + kClamp);
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  const auto w = Workspace::create(*model, nominal(*model));
  const auto e = equilibrium(*w, 0);
  ASSERT_TRUE(e.ok()) << e.diagnostics().text();
  const double expected =
      -(kDensity * area() * g * std::pow(kLength, 4) / 8 + m * g * std::pow(kLength, 3) / 3) /
      stiffness();
  const int dof = find_dof(*model, "b.n4.uy");
  ASSERT_GE(dof, 0);
  // Static nodal displacements of the element are exact.
  EXPECT_NEAR(e->q(w->coordinate_of(dof)), expected, 1e-9 * std::abs(expected));
}

// Cubic functions hold the deflection under a tip load exactly.
TEST(Beam, TellsDisplacementCurvatureAndStrainUnderATipLoad) {
  const double pull = 30, lift = 2, height = 0.004, x = 0.3;
  const auto model = model_of(
      fmt::format(
          "force = [{{ name = \"f\", type = \"force\", on = \"b.end\", value = [{}, {}] }}]\n"
          "output = [{{ name = \"u\", type = \"displacement\", of = \"b.end\", axis = \"x\" }},"
          "{{ name = \"w\", type = \"displacement\", of = \"b.end\", axis = \"y\" }},"
          "{{ name = \"turn\", type = \"displacement\", of = \"b.end\", axis = \"z\" }},"
          "{{ name = \"k\", type = \"curvature\", of = \"b\", x = {} }},"
          "{{ name = \"e\", type = \"strain\", of = \"b\", x = {}, height = {} }},"
          "{{ name = \"y\", type = \"position\", of = \"b.end\", axis = \"y\" }}]\n",
          pull, lift, x, x, height) +
      beam(3) + kClamp);
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  const auto w = Workspace::create(*model, nominal(*model));
  const auto e = equilibrium(*w, 0);
  ASSERT_TRUE(e.ok()) << e.diagnostics().text();
  const std::vector<double> zero(static_cast<size_t>(model->nv), 0.0);
  std::vector<double> y(model->outputs.size());
  Point at;
  at.q = {e->q.data(), static_cast<size_t>(e->q.size())};
  at.v = at.a = zero;
  w->outputs(at, y);
  const double k = lift * (kLength - x) / stiffness();
  const double expected[] = {pull * kLength / (kYoung * area()),
                             lift * std::pow(kLength, 3) / (3 * stiffness()),
                             lift * std::pow(kLength, 2) / (2 * stiffness()),
                             k,
                             pull / (kYoung * area()) - height * k,
                             lift * std::pow(kLength, 3) / (3 * stiffness())};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(y[i] / expected[i], 1, 1e-9) << i;
}

}  // namespace
}  // namespace panto
