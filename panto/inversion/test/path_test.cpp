#include "panto/inversion/path.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

namespace panto {
namespace {

TEST(Path, RefusesWhatCannotBe) {
  EXPECT_FALSE(Path::line({}, {}, 0, 1, 2).ok());
  EXPECT_FALSE(Path::line({0}, {1, 2}, 0, 1, 2).ok());
  EXPECT_FALSE(Path::line({0}, {1}, 0, 0, 2).ok());
  EXPECT_FALSE(Path::line({0}, {1}, 0, 1, -1).ok());
  EXPECT_FALSE(Path::line({0}, {1}, 0, 1, kMostSmooth + 1).ok());
  EXPECT_FALSE(Path::circle({1}, {0}, 0, 1, 2).ok());
  EXPECT_FALSE(Path::circle({1, 1}, {1, 1}, 0, 1, 2).ok());
  EXPECT_FALSE(Path::way_points({0}, {{1}}, 2).ok());
  EXPECT_FALSE(Path::way_points({0, 1, 1}, {{1}, {2}, {3}}, 2).ok());
  EXPECT_FALSE(Path::way_points({0, 1}, {{1}, {NAN}}, 2).ok());
  EXPECT_FALSE(Path::way_points({0, 1}, {{1}, {2, 3}}, 2).ok());
}

// Coefficients as printed by Drücker (2022): (4.10) and (4.5).
TEST(Path, TransitionsAreThePrintedPolynomials) {
  for (const double x : {0.1, 0.3, 0.5, 0.8}) {
    double s = 0;
    Transition(4).at(x, {&s, 1});
    EXPECT_NEAR(
        s, 126 * pow(x, 5) - 420 * pow(x, 6) + 540 * pow(x, 7) - 315 * pow(x, 8) + 70 * pow(x, 9),
        1e-13);
    Transition(7).at(x, {&s, 1});
    EXPECT_NEAR(s,
                -3432 * pow(x, 15) + 25740 * pow(x, 14) - 83160 * pow(x, 13) + 150150 * pow(x, 12) -
                    163800 * pow(x, 11) + 108108 * pow(x, 10) - 40040 * pow(x, 9) +
                    6435 * pow(x, 8),
                1e-10);
  }
}

// Round-off alone, at every smoothness: against the alternating sum in extended precision, which loses some 10 bits of its 64.
TEST(Path, TransitionsAreExactToRoundOff) {
  for (int m = 0; m <= kMostSmooth; ++m)
    for (const double x : {0.05, 0.2, 0.35, 0.49}) {
      long double exact = 0;
      for (int n = m; n >= 0; --n) {
        long double a = 1, b = 1;  // C(m+n, n), C(2m+1, m-n)
        for (int i = 1; i <= n; ++i) a = a * (m + i) / i;
        for (int i = 1; i <= m - n; ++i) b = b * (m + 1 + n + i) / i;
        exact = exact * -static_cast<long double>(x) + a * b;
      }
      exact *= powl(x, m + 1);
      std::array<double, 2> s{};
      Transition(m).at(x, s);
      EXPECT_NEAR(s[0], static_cast<double>(exact), 4e-16) << m << " " << x;
      Transition(m).at(1 - x, s);
      EXPECT_NEAR(s[0], 1 - static_cast<double>(exact), 4e-16) << m << " " << x;
    }
}

TEST(Path, TransitionsRestAtBothEndsUpToTheirSmoothness) {
  for (int m = 0; m <= kMostSmooth; ++m) {
    std::array<double, kMostDerivatives> begin{}, end{};
    Transition(m).at(0, begin);
    Transition(m).at(1, end);
    EXPECT_EQ(begin[0], 0);
    EXPECT_EQ(end[0], 1);
    for (int k = 1; k <= m; ++k) {
      EXPECT_EQ(begin[static_cast<size_t>(k)], 0);
      EXPECT_EQ(end[static_cast<size_t>(k)], 0);
    }
    EXPECT_NE(begin[static_cast<size_t>(m) + 1], 0);
  }
}

// Each derivative is the central difference of the one before; truncation h²/6 of the third derivative after it.
void expect_derivatives(const Path& path, double t, int orders) {
  const auto n = static_cast<size_t>(path.size());
  std::vector<double> at(n * static_cast<size_t>(orders)), before = at, after = at;
  const double h = 1e-5 * (path.end() - path.begin());
  path.at(t, orders, at);
  path.at(t - h, orders, before);
  path.at(t + h, orders, after);
  for (size_t i = n; i < at.size(); ++i) {
    const double difference = (after[i - n] - before[i - n]) / (2 * h);
    const size_t order = i / n;
    const double size =
        std::abs(at[i]) + std::pow(12 / (path.end() - path.begin()), static_cast<double>(order));
    EXPECT_NEAR(at[i], difference, 1e-6 * size) << "derivative " << order;
  }
}

TEST(Path, DerivativesFitEachOther) {
  const auto line = Path::line({1, 2}, {4, -1}, 1, 2, 4);
  const auto circle = Path::circle({2, 0, 5}, {1, 1, 5}, 0, 2, 4);
  const auto points = Path::way_points({0, 1, 1.5, 3}, {{0, 1}, {2, 1}, {1, 0}, {3, 3}}, 3);
  for (const double share : {0.13, 0.37, 0.62, 0.91}) {
    expect_derivatives(*line, 1 + 2 * share, 6);
    expect_derivatives(*circle, 2 * share, 6);
    expect_derivatives(*points, 3 * share, 6);
  }
}

TEST(Path, ACircleKeepsItsRadiusAndComesBack) {
  const auto circle = Path::circle({0.347, 0, 1}, {0.65, 0.7, 1}, 0, 2, 4);
  const double radius = std::hypot(0.347 - 0.65, 0.7);
  std::array<double, 6> z{};
  for (int i = 0; i <= 20; ++i) {
    circle->at(0.1 * i, 2, z);
    EXPECT_NEAR(std::hypot(z[0] - 0.65, z[1] - 0.7), radius, 1e-14);
    EXPECT_EQ(z[2], 1);
  }
  circle->at(5, 2, z);
  EXPECT_NEAR(z[0], 0.347, 1e-14);
  EXPECT_NEAR(z[1], 0, 1e-14);
  // Arc length follows the timing law: at half time half way around.
  circle->at(1, 1, z);
  EXPECT_NEAR(z[0], 2 * 0.65 - 0.347, 1e-12);
  EXPECT_NEAR(z[1], 1.4, 1e-12);
}

TEST(Path, ASplineThroughTwoPointsIsTheTransition) {
  const auto spline = Path::way_points({1, 3}, {{2}, {5}}, 5);
  const auto line = Path::line({2}, {5}, 1, 2, 5);
  std::array<double, 8> a{}, b{};
  for (const double t : {0.5, 1.2, 2.0, 2.9, 4.0}) {
    spline->at(t, 8, a);
    line->at(t, 8, b);
    for (size_t k = 0; k < 8; ++k)
      EXPECT_NEAR(a[k], b[k], 1e-11 * std::pow(12, k)) << t << " " << k;
  }
}

TEST(Path, SplinesPassTheirPointsWithoutJumpsUpToTwiceTheirSmoothness) {
  constexpr int kM = 3;
  const std::vector<double> times{0, 1, 1.5, 3};
  const auto path = Path::way_points(times, {{0}, {2}, {1}, {3}}, kM);
  std::array<double, 2 * kM + 2> left{}, right{};
  for (size_t i = 1; i < 3; ++i) {
    path->at(times[i] - 1e-9, 2 * kM + 2, left);
    path->at(times[i] + 1e-9, 2 * kM + 2, right);
    for (size_t k = 0; k <= 2 * kM; ++k)
      EXPECT_NEAR(left[k], right[k], 1e-5 * std::pow(12, k)) << times[i] << " derivative " << k;
  }
  path->at(1, 1, left);
  EXPECT_NEAR(left[0], 2, 1e-12);
}

// Points on a line leave nothing to choose: the line from rest to rest, whatever their spacing.
TEST(Path, ACurveThroughPointsOnALineIsTheLine) {
  std::vector<std::vector<double>> points;
  for (const double s : {0.0, 0.1, 0.25, 0.3, 0.55, 0.6, 0.8, 1.0})
    points.push_back({1 + 3 * s, 2 - 3 * s});
  for (const size_t count : {2, 3, 5, 8}) {
    const std::vector<std::vector<double>> some(points.end() - static_cast<ptrdiff_t>(count),
                                                points.end());
    for (const int m : {2, 4, 7}) {
      const auto curve = Path::along(some, 1, 2, m);
      ASSERT_TRUE(curve.ok()) << curve.diagnostics().text();
      const auto line = Path::line(some.front(), some.back(), 1, 2, m);
      EXPECT_NEAR(curve->length(), line->length(), 1e-12);
      std::array<double, 10> a{}, b{};
      for (const double t : {0.5, 1.0, 1.3, 2.0, 2.7, 3.0, 4.0}) {
        curve->at(t, 5, a);
        line->at(t, 5, b);
        // Round-off of a spline grows with each derivative.
        for (size_t i = 0; i < 10; ++i)
          EXPECT_NEAR(a[i], b[i], 1e-10 * std::pow(20, static_cast<double>(i) / 2))
              << count << " points, C" << m << ", t = " << t;
      }
    }
  }
}

// Once around a circle: the spline of degree 5 is off by the 6th power of the spacing in places, by the 4th in accelerations; the speed is that of the timing law exactly.
TEST(Path, ACurveThroughPointsOnACircleBecomesTheCircle) {
  const auto circle = Path::circle({2, 0}, {0, 0}, 0, 3, 4);
  const auto errors = [&](int pieces) {
    std::vector<std::vector<double>> points;
    for (int i = 0; i <= pieces; ++i) {
      const double angle = 2 * std::numbers::pi * i / pieces;
      points.push_back({2 * std::cos(angle), 2 * std::sin(angle)});
    }
    const auto curve = Path::along(points, 0, 3, 4);
    EXPECT_TRUE(curve.ok());
    std::array<double, 3> e{};
    std::array<double, 6> a{}, b{};
    for (int i = 0; i <= 300; ++i) {
      const double t = 0.01 * i;
      curve->at(t, 3, a);
      circle->at(t, 3, b);
      for (size_t k = 0; k < 6; ++k) e[k / 2] = std::max(e[k / 2], std::abs(a[k] - b[k]));
      double s[2];
      Transition(4).at(t / 3, s);
      EXPECT_NEAR(std::hypot(a[2], a[3]), curve->length() * s[1] / 3, 1e-12);
    }
    return e;
  };
  const auto coarse = errors(16), fine = errors(32);
  EXPECT_LT(fine[0], 2e-5);
  EXPECT_GT(std::log2(coarse[0] / fine[0]), 5.5);
  EXPECT_GT(std::log2(coarse[2] / fine[2]), 3.5);
}

TEST(Path, ACurveThroughUnevenPointsPassesThemSmoothly) {
  const std::vector<std::vector<double>> points{{0, 0, 1},   {1, 0.2, 1}, {1.5, 1, 2},
                                                {1, 2, 2.2}, {0, 2, 1},   {-2, 0, 0}};
  for (const int m : {2, 3, 4, 6}) {
    const auto curve = Path::along(points, 1, 4, m);
    ASSERT_TRUE(curve.ok()) << curve.diagnostics().text();
    EXPECT_EQ(curve->smoothness(), m);
    // Small steps of time: none jumps, and every point is passed.
    std::vector<double> nearest(points.size(), 1e9), z(3 * static_cast<size_t>(m + 1)), before;
    double largest = 0, jump = 0;
    for (int i = 0; i <= 40000; ++i) {
      curve->at(1 + 1e-4 * i, m + 1, z);
      for (size_t k = 0; k < points.size(); ++k)
        nearest[k] = std::min(
            nearest[k], std::hypot(z[0] - points[k][0], z[1] - points[k][1], z[2] - points[k][2]));
      const auto top = static_cast<size_t>(3 * m);
      largest = std::max(largest, std::abs(z[top]));
      if (i > 0) jump = std::max(jump, std::abs(z[top] - before[top]));
      before = z;
    }
    for (const double distance : nearest) EXPECT_LT(distance, 5e-4);  // half a step at 5 1/s
    EXPECT_LT(jump, 0.02 * largest) << "derivative " << m << " is continuous";
    for (const double t : {1.3, 2.6, 3.9, 4.7}) expect_derivatives(*curve, t, m + 1);
  }
}

TEST(Path, ASpeedGivesTheDuration) {
  const auto line = Path::line({0, 0}, {3, 4}, 1, 1, 4);
  const auto circle = Path::circle({1, 0}, {0, 0}, 1, 1, 4, -2);
  const auto curve = Path::along({{0, 0}, {1, 1}, {2, 0}, {3, 3}}, 1, 1, 4);
  for (const auto* path : {&line, &circle, &curve}) {
    const auto paced = (*path)->paced(0.5);
    ASSERT_TRUE(paced.ok());
    EXPECT_EQ(paced->begin(), 1);
    double fastest = 0;
    std::array<double, 4> z{};
    for (int i = 0; i <= 1000; ++i) {
      paced->at(1 + i * 1e-3 * (paced->end() - 1), 2, z);
      fastest = std::max(fastest, std::hypot(z[2], z[3]));
    }
    EXPECT_NEAR(fastest, 0.5, 1e-12);
    // (4.10): the largest speed is 2.461 times the mean one.
    EXPECT_NEAR(paced->end() - 1, 2.4609375 * paced->length() / 0.5, 1e-9);
  }
  EXPECT_FALSE(line->paced(0).ok());
  EXPECT_FALSE(Path::line({1}, {1}, 0, 1, 2)->paced(1).ok());
  EXPECT_FALSE(Path::way_points({0, 1}, {{1}, {2}}, 2)->paced(1).ok());
}

TEST(Path, RefusesCurvesThatTurnBackOrStand) {
  for (const std::vector<std::vector<double>>& points :
       {std::vector<std::vector<double>>{{0, 0}, {1, 1}, {1, 1}}, {{0}, {1}, {0.5}}, {{0, 0}}}) {
    const auto curve = Path::along(points, 0, 1, 4);
    ASSERT_FALSE(curve.ok());
    EXPECT_EQ(curve.diagnostics().items().front().id, 1011);
  }
}

TEST(Path, SamplesOfASmoothMotionAreAccepted) {
  const auto exact = Path::line({0}, {1}, 0, 1, 6);
  std::vector<double> times;
  std::vector<std::vector<double>> points;
  for (int i = 0; i <= 60; ++i) {
    times.push_back(i / 60.0);
    points.emplace_back(1);
    exact->at(times.back(), 1, points.back());
  }
  const auto path = Path::sampled(times, points, 4);
  ASSERT_TRUE(path.ok()) << path.diagnostics().text();
  std::array<double, 5> a{}, b{};
  path->at(0.4321, 5, a);
  exact->at(0.4321, 5, b);
  EXPECT_NEAR(a[0], b[0], 1e-9);
  EXPECT_NEAR(a[2], b[2], 1e-4);
}

TEST(Path, SamplesWithNoiseOrAKinkAreRefused) {
  const auto exact = Path::line({0}, {1}, 0, 1, 6);
  std::vector<double> times;
  std::vector<std::vector<double>> noisy, kinked;
  for (int i = 0; i <= 60; ++i) {
    const double t = i / 60.0;
    times.push_back(t);
    double z = 0;
    exact->at(t, 1, {&z, 1});
    noisy.push_back({z + 1e-5 * (i % 3 - 1)});
    kinked.push_back({t < 0.5 ? 4 * t * t * t : 0.5 + 1.5 * (t - 0.5)});  // the acceleration jumps
  }
  for (const auto& points : {noisy, kinked}) {
    const auto path = Path::sampled(times, points, 3);
    ASSERT_FALSE(path.ok());
    EXPECT_EQ(path.diagnostics().items().front().id, 1012);
  }
}

}  // namespace
}  // namespace panto
