#include "panto/numerics/sine_cosine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace panto {
namespace {

TEST(SineCosine, WhatIsNoAngleGivesNoNumber) {
  for (double x :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(std::isnan(sine_cosine(x).sine));
    EXPECT_TRUE(std::isnan(sine_cosine(x).cosine));
  }
}

TEST(SineCosine, IsRightToTheLastPlace) {
  // Half a unit in the last place of numbers below one is 5.55e-17.
  for (double range : {0.01, 4.0, 100.0, 2e4}) {
    double worst = 0;
    for (int i = -50000; i <= 50000; ++i) {
      const double x = range * (i + 0.37 * std::sin(i)) / 50001;
      const SineCosine e = sine_cosine(x);
      worst = std::max(
          worst, static_cast<double>(std::abs(e.sine - std::sin(static_cast<long double>(x)))));
      worst = std::max(
          worst, static_cast<double>(std::abs(e.cosine - std::cos(static_cast<long double>(x)))));
    }
    EXPECT_LT(worst, 6.5e-17) << range;
  }
}

TEST(SineCosine, SmallAnglesAndQuartersAreKept) {
  EXPECT_EQ(sine_cosine(0).sine, 0);
  EXPECT_EQ(sine_cosine(0).cosine, 1);
  for (double x : {1e-300, 1e-9, 1e-3, 0.012})
    EXPECT_NEAR(sine_cosine(x).sine / std::sin(x), 1, 3e-16);
  for (double x : {0.5, 1.0, 1.5, 2.0}) {
    const SineCosine e = sine_cosine(x * std::numbers::pi);
    EXPECT_NEAR(e.sine, std::sin(x * std::numbers::pi),
                1e-18 + 2e-16 * std::abs(std::sin(x * std::numbers::pi)));
    EXPECT_NEAR(e.cosine, std::cos(x * std::numbers::pi),
                1e-18 + 2e-16 * std::abs(std::cos(x * std::numbers::pi)));
  }
}

TEST(SineCosine, FarAnglesAreTheLibrarys) {
  for (double x : {2e4, -3e7, 1e300}) {
    EXPECT_EQ(sine_cosine(x).sine, std::sin(x));
    EXPECT_EQ(sine_cosine(x).cosine, std::cos(x));
  }
}

}  // namespace
}  // namespace panto
