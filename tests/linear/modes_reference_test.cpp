// Natural frequencies against closed forms, an independent one-degree-of-freedom reduction and re-computed published values.
#include <chrono>
#include <cmath>
#include <numbers>

#include "panto/numerics/eigenproblems.hpp"
#include "tests/linear/linear_case.hpp"

namespace panto {
namespace {

using test::linearised;
using test::model_of;

constexpr double kDeg = std::numbers::pi / 180;
constexpr double kTurn = 2 * std::numbers::pi;

// Čepon et al., geometry and acceptance values of an independent computation (validation/papers/cepon).
TEST(ThreeLink, HasTheFrequenciesOfTheIndependentComputation) {
  struct Case {
    double b, c;
    std::array<double, 3> hz;
  };
  const std::array cases{Case{0, 0, {16.946036, 83.064916, 229.156590}},
                         Case{90, -90, {22.999028, 58.742953, 99.181812}},
                         Case{89.11, -84.95, {22.675497, 58.489879, 101.195716}},
                         Case{-89.11, 84.95, {22.675497, 58.489879, 101.195716}}};
  for (const Case& expected : cases) {
    const auto c = linearised(load("three_link"), Operation::kHere,
                              {{"theta_B", expected.b * kDeg}, {"theta_C", expected.c * kDeg}});
    const auto hz = c.frequencies();
    ASSERT_EQ(hz.size(), 3U);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(hz[i] / expected.hz[i], 1, 1e-7) << expected.b;
  }
}

TEST(ThreeLink, TellsWhichSpringIsStrainedAndTheSharesSumToOne) {
  const std::array<std::array<double, 3>, 3> straight{
      {{0.7618, 0.2114, 0.0268}, {0.2073, 0.4181, 0.3746}, {0.0308, 0.3705, 0.5986}}},
      bent{{{0.8058, 0.1616, 0.0326}, {0.1560, 0.8384, 0.0056}, {0.0381, 0.0000, 0.9618}}};
  for (const bool is_bent : {false, true}) {
    const auto c = linearised(
        load("three_link"), Operation::kHere,
        {{"theta_B", is_bent ? 89.11 * kDeg : 0.0}, {"theta_C", is_bent ? -84.95 * kDeg : 0.0}});
    for (size_t i = 0; i < 3; ++i) {
      double sum = 0;
      for (size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(c.modes.list[i].strain[k], (is_bent ? bent : straight)[i][k], 1e-4);
        sum += c.modes.list[i].strain[k];
      }
      EXPECT_NEAR(sum, 1, 1e-12);
      EXPECT_NEAR(c.modes.list[i].strain_rest, 0, 1e-12);
      EXPECT_NEAR(c.modes.list[i].kinetic.sum(), 1, 1e-12);
    }
  }
}

TEST(ThreeLink, AwayFromTheUnstressedPoseReportsTheForceLeftOver) {
  const auto c = linearised(load("three_link"), Operation::kHere, {{"theta_C", 0.1}});
  EXPECT_NEAR(c.point.residual, 5.77 * 0.1, 1e-12);
}

std::string pendulum_chain(int n) {
  std::string text = "space = \"planar\"\ngravity = [0, -9.81]\n";
  for (int i = 0; i < n; ++i) {
    const std::string k = std::to_string(i);
    const std::string parent =
        i == 0 ? "\"ground\"" : "{ body = \"b" + std::to_string(i - 1) + "\", at = [0, -0.3] }";
    text += "[[body]]\nname = \"b" + k + "\"\npoint_mass = { mass = 0.7, at = [0, -0.3] }\n";
    text += "[[joint]]\nname = \"q" + k + "\"\ntype = \"revolute\"\nparent = " + parent +
            "\nchild = \"b" + k + "\"\n";
  }
  return text;
}

double laguerre(int n, double x) {
  double before = 1, now = 1 - x;
  if (n == 0) return 1;
  for (int k = 1; k < n; ++k) {
    const double next = ((2 * k + 1 - x) * now - k * before) / (k + 1);
    before = now;
    now = next;
  }
  return now;
}

// N equal masses on N equal massless rods: ω² = (g/l) x with x the zeros of the Laguerre polynomial L_N.
TEST(PendulumChain, HasTheZerosOfLaguerrePolynomials) {
  for (const int n : {1, 2, 3, 5, 8, 12}) {
    const auto c = linearised(model_of(pendulum_chain(n)), Operation::kEquilibrium);
    ASSERT_EQ(c.modes.list.size(), static_cast<size_t>(n));
    EXPECT_TRUE(c.modes.stable);
    for (const Mode& m : c.modes.list) {
      const double x = std::pow(kTurn * m.frequency_hz, 2) * 0.3 / 9.81;
      const double h = 1e-6 * x;
      const double slope = (laguerre(n, x + h) - laguerre(n, x - h)) / (2 * h);
      // Distance to the zero, by one Newton step.
      EXPECT_LT(std::abs(laguerre(n, x) / slope / x), 1e-10) << n;
    }
  }
}

// n masses on a line between springs; fixed ends: ω² = 4 k/m sin²(jπ / (2n + 2)), free ones: 4 k/m sin²(jπ / 2n), j from 0.
std::string spring_line(int n, bool fixed) {
  std::string text = "space = \"planar\"\n";
  for (int i = 0; i < n; ++i) {
    const std::string k = std::to_string(i);
    text += "[[body]]\nname = \"b" + k + "\"\nmass = 2\ninertia = 1\n";
    text += "[[joint]]\nname = \"x" + k +
            "\"\ntype = \"prismatic\"\naxis = \"x\"\nparent = { body = \"ground\", at = [" +
            std::to_string(i + 1) + ", 0] }\nchild = \"b" + k + "\"\n";
  }
  const auto place = [&](int i) {
    return i < 0 || i == n ? "{ body = \"ground\", at = [" + std::to_string(i + 1) + ", 0] }"
                           : "\"b" + std::to_string(i) + "\"";
  };
  for (int i = fixed ? 0 : 1; i < n + (fixed ? 1 : 0); ++i)
    text += "[[force]]\nname = \"k" + std::to_string(i) + "\"\ntype = \"spring\"\nbetween = [" +
            place(i - 1) + ", " + place(i) + "]\nstiffness = 800\nfree_length = 1\n";
  return text;
}

struct Few {
  std::unique_ptr<Model> model;
  std::unique_ptr<Workspace> workspace;
  OperatingPoint point;
  LinearModel linear;
  [[nodiscard]] Modes modes(int count) const {
    auto found = panto::modes(*workspace, point, linear, {.count = count});
    if (!found.ok()) throw std::runtime_error(found.diagnostics().text());
    return *found;
  }
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Few large(const std::string& text) {
  Few f;
  const auto model = model_of(text);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  f.model = std::make_unique<Model>(*model);
  f.workspace = Workspace::create(*f.model, nominal(*f.model));
  const auto point = operating_point(*f.workspace, Operation::kHere);
  if (!point.ok()) throw std::runtime_error(point.diagnostics().text());
  f.point = *point;
  const auto linear = linearize(*f.workspace, f.point);
  if (!linear.ok()) throw std::runtime_error(linear.diagnostics().text());
  f.linear = *linear;
  return f;
}

TEST(LargeModel, FewModesOfASpringLineAreThoseOfTheClosedForm) {
  for (const bool fixed : {true, false}) {
    const int n = 500, count = 12;
    const Few f = large(spring_line(n, fixed));
    const Modes few = f.modes(count);
    double sparse = HUGE_VAL;  // the best of some, on a machine that does other things
    for (int i = 0; i < 3; ++i) {
      const auto start = std::chrono::steady_clock::now();
      ASSERT_EQ(f.modes(count).list.size(), few.list.size());
      sparse = std::min(sparse, seconds_since(start));
    }
    const auto again = std::chrono::steady_clock::now();
    const auto all = symmetric_pairs(f.linear.K_z, f.linear.M_z);
    const double dense = seconds_since(again);
    ASSERT_EQ(few.list.size(), static_cast<size_t>(count));
    ASSERT_TRUE(all);
    EXPECT_TRUE(few.stable);
    for (int j = 0; j < count; ++j) {
      const double half =
          fixed ? (j + 1) * std::numbers::pi / (2 * n + 2) : j * std::numbers::pi / (2 * n);
      const double hz = 2 * std::sqrt(800.0 / 2) * std::sin(half) / kTurn;
      const Mode& m = few.list[static_cast<size_t>(j)];
      if (j == 0 && !fixed) {
        EXPECT_EQ(m.frequency_hz, 0);
      } else {
        EXPECT_NEAR(m.frequency_hz / hz, 1, 1e-8) << j;
      }
      EXPECT_NEAR(m.z.dot(f.linear.M_z * m.z), 1, 1e-10);
      EXPECT_LT(
          (f.linear.K_z * m.z - std::pow(kTurn * m.frequency_hz, 2) * f.linear.M_z * m.z).norm(),
          1e-8 * 800);
      if (j > 0) {
        EXPECT_NEAR(std::sqrt(all->values(j)) / (kTurn * m.frequency_hz), 1, 1e-8);
      }
    }
    // Measured: a seventh.
    EXPECT_LT(sparse, dense);
  }
}

// Full matrices: relative angles of a chain.
TEST(LargeModel, FewModesOfAPendulumChainAreZerosOfTheLaguerrePolynomial) {
  const int n = 320;
  const Few f = large(pendulum_chain(n));
  const Modes few = f.modes(8);
  ASSERT_EQ(few.list.size(), 8U);
  for (const Mode& m : few.list) {
    const double x = std::pow(kTurn * m.frequency_hz, 2) * 0.3 / 9.81, h = 1e-4 * x;
    const double slope = (laguerre(n, x + h) - laguerre(n, x - h)) / (2 * h);
    EXPECT_LT(std::abs(laguerre(n, x) / slope / x), 1e-8);
  }
}

// A spring of negative stiffness drives one mode out, far below zero.
TEST(LargeModel, GrowingModesComeFirstThoughTheyAreFarFromZero) {
  std::string text = spring_line(310, true);
  text +=
      "[[force]]\nname = \"push\"\ntype = \"spring\"\nbetween = [{ body = \"ground\", at = [100, "
      "0] }, \"b100\"]\nstiffness = -9e4\nfree_length = 1\n";
  const Few f = large(text);
  const Modes few = f.modes(3);
  const auto all = symmetric_pairs(f.linear.K_z, f.linear.M_z);
  ASSERT_TRUE(all);
  ASSERT_LT(all->values(0), 0);
  EXPECT_FALSE(few.stable);
  EXPECT_NEAR(few.list[0].growth_rate / std::sqrt(-all->values(0)), 1, 1e-8);
  EXPECT_NEAR(kTurn * few.list[1].frequency_hz / std::sqrt(all->values(1)), 1, 1e-7);
}

// Crank 1, coupler 2, rocker sqrt 13, ground 4: one coordinate, V(θ) and m(θ) coded from the triangle, differentiated by Richardson's rule.
struct FourBar {
  struct Pose {
    double beta, gamma;  // absolute angles of coupler and rocker
  };
  double sign = 1;
  [[nodiscard]] Pose pose(double theta) const {
    const double x = 4 - std::cos(theta), y = -std::sin(theta);
    const double d = std::hypot(x, y), base = std::atan2(y, x);
    const double cosine = (4 + d * d - 13) / (4 * d);
    const double beta = base + sign * std::acos(cosine);
    return {beta, std::atan2(std::sin(theta) + 2 * std::sin(beta),
                             std::cos(theta) + 2 * std::cos(beta) - 4)};
  }
  [[nodiscard]] double potential(double theta) const {
    const Pose p = pose(theta);
    const double a = std::sin(theta);
    return 9.81 * (1 * 0.5 * a + 2 * (a + std::sin(p.beta)) +
                   4 * 0.5 * std::sqrt(13.0) * std::sin(p.gamma));
  }
  template <class F>
  static double derivative(F f, double x) {
    const auto d = [&](double h) { return (f(x + h) - f(x - h)) / (2 * h); };
    const double h = 0.02;
    std::array<std::array<double, 6>, 6> r{};
    for (size_t i = 0; i < 6; ++i) {
      r[i][0] = d(h / std::pow(2, i));
      for (size_t k = 1; k <= i; ++k)
        r[i][k] = r[i][k - 1] + (r[i][k - 1] - r[i - 1][k - 1]) / (std::pow(4, k) - 1);
    }
    return r[5][5];
  }
  [[nodiscard]] double mass(double theta) const {
    const Pose p = pose(theta);
    const double b = derivative([&](double x) { return pose(x).beta; }, theta),
                 g = derivative([&](double x) { return pose(x).gamma; }, theta);
    const double coupler_vx = -std::sin(theta) - std::sin(p.beta) * b,
                 coupler_vy = std::cos(theta) + std::cos(p.beta) * b;
    return 1.0 / 3 + 2 * (coupler_vx * coupler_vx + coupler_vy * coupler_vy) +
           2 * 4 / 12.0 * b * b + 4 * 13 / 3.0 * g * g;
  }
};

TEST(ClosedLoop, AtItsEquilibriumVibratesAsTheOneCoordinateReductionSays) {
  const auto c = linearised(load("fourbar_f1"), Operation::kEquilibrium);
  ASSERT_EQ(c.modes.list.size(), 1U);
  ASSERT_TRUE(c.modes.stable);
  FourBar bar;
  const double theta = c.point.q(0);
  bar.sign = std::sin(c.point.q(1)) > 0 ? 1 : -1;
  const double slope = FourBar::derivative([&](double x) { return bar.potential(x); }, theta);
  EXPECT_NEAR(slope, 0, 1e-9);
  const double curvature = FourBar::derivative(
      [&](double y) { return FourBar::derivative([&](double x) { return bar.potential(x); }, y); },
      theta);
  const double expected = std::sqrt(curvature / bar.mass(theta)) / kTurn;
  EXPECT_NEAR(c.modes.list[0].frequency_hz / expected, 1, 1e-7);  // truncation of the differences
}

TEST(ClosedLoop, WithoutTheStiffnessOfConstraintForcesTheFrequencyWouldBeWrong) {
  auto c = linearised(load("fourbar_f1"), Operation::kEquilibrium);
  const double right = c.modes.list[0].frequency_hz;
  c.point.lambda.setZero();
  const auto linear = linearize(*c.workspace, c.point);
  ASSERT_TRUE(linear.ok());
  const auto wrong = modes(*c.workspace, c.point, *linear);
  ASSERT_TRUE(wrong.ok());
  EXPECT_GT(std::abs(wrong->list[0].frequency_hz / right - 1), 0.05);
}

// A mass on an arm hinged to a free shaft, turning steadily at Ω with the arm at α from the vertical: cos α = g / (l Ω²), and small motions at
// Ω sqrt(1 + 3 cos² α), the conical pendulum.
TEST(SteadyMotion, OfAConicalPendulumHasItsClosedForm) {
  const double g = 9.81, l = 0.4, omega = 7;
  const auto model = model_of(R"(
space = "spatial"
gravity = [0, 0, -9.81]
body = [
  { name = "shaft", mass = 0 },
  { name = "arm", point_mass = { mass = 2, at = [0, 0, -0.4] } },
]
joint = [
  { name = "psi", type = "revolute", parent = "ground", child = "shaft", axis = "z" },
  { name = "alpha", type = "revolute", parent = "shaft", child = "arm", axis = "y" },
]
initial = { psi = 0, alpha = -0.9, psi_dot = 7, alpha_dot = 0 }
)");
  const auto c = linearised(model, Operation::kSteady);
  const double alpha = std::acos(g / (l * omega * omega));
  EXPECT_NEAR(std::abs(c.point.q(1)), alpha, 1e-9);
  EXPECT_NEAR(c.point.v(0), omega, 1e-12);
  EXPECT_LT(c.point.residual, 1e-9);
  const double expected = omega * std::sqrt(1 + 3 * std::pow(std::cos(alpha), 2));
  double fastest = 0;
  for (const auto& s : c.modes.eigenvalues) {
    fastest = std::max(fastest, s.imag());
    EXPECT_NEAR(s.real(), 0, 1e-6);
  }
  EXPECT_NEAR(fastest / expected, 1, 1e-9);
}

TEST(FreeBodies, HaveExactlyTheirRigidModes) {
  const auto model = model_of(R"toml(
space = "planar"
body = [
  { name = "a", bar = { length = 1, mass = 2 } },
  { name = "b", bar = { length = 0.5, mass = 1 } },
]
joint = [
  { name = "fa", type = "free", parent = "ground", child = "a" },
  { name = "fb", type = "free", parent = { body = "ground", at = [0.2, 0.7] }, child = "b" },
]
force = [
  { name = "k1", type = "spring", between = ["a.end", "b"], stiffness = 1000, free_length = "sqrt(1.13)" },
  { name = "k2", type = "spring", between = ["a", "b.end"], stiffness = 2000, free_length = "sqrt(0.98)" },
  { name = "k3", type = "spring", between = ["a", "b"], stiffness = 1500, free_length = "sqrt(0.53)" },
]
)toml");
  if (!model.ok()) GTEST_FAIL() << model.diagnostics().text();
  const auto c = linearised(model, Operation::kHere);
  int rigid = 0;
  for (const Mode& m : c.modes.list) rigid += m.frequency_hz == 0 && m.growth_rate == 0 ? 1 : 0;
  EXPECT_EQ(rigid, 3);
  EXPECT_EQ(c.modes.list.size(), 6U);
}

}  // namespace
}  // namespace panto
