#include "panto/elements/section.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <stdexcept>

#include "panto/numerics/dual.hpp"

namespace panto {
namespace {

constexpr double kPi = std::numbers::pi;

TEST(Section, SizesThatAreNotPositiveAreRefused) {
  for (double bad : {0.0, -0.01, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW((void)circle_section(bad), std::logic_error);
    EXPECT_THROW((void)rectangle_section(bad, 0.1), std::logic_error);
    EXPECT_THROW((void)rectangle_section(0.1, bad), std::logic_error);
    EXPECT_THROW((void)given_section(bad, 1e-8), std::logic_error);
    EXPECT_THROW((void)given_section(1e-4, bad), std::logic_error);
    EXPECT_THROW((void)tube_section(0.1, bad), std::logic_error);
  }
  EXPECT_THROW((void)tube_section(0.1, 0.1), std::logic_error);
  EXPECT_THROW((void)tube_section(0.1, 0.2), std::logic_error);
  EXPECT_THROW((void)circle_section(Dual(-1.0)), std::logic_error);
}

TEST(Section, CircleHasItsMoments) {
  const auto s = circle_section(0.02);
  EXPECT_NEAR(s.area, kPi * 1e-4, 1e-18);
  EXPECT_NEAR(s.second_moment, kPi * 1e-8 / 4, 1e-22);
  EXPECT_NEAR(s.fourth_moment, kPi * 1e-12 / 8, 1e-26);
}

TEST(Section, TubeIsTheDifferenceOfTwoCircles) {
  const auto s = tube_section(0.03, 0.02);
  EXPECT_NEAR(s.area, kPi / 4 * (9e-4 - 4e-4), 1e-17);
  EXPECT_NEAR(s.second_moment, kPi / 64 * (81e-8 - 16e-8), 1e-21);
}

TEST(Section, RectangleBendsAboutItsWidth) {
  const auto s = rectangle_section(0.02, 0.03);
  EXPECT_NEAR(s.area, 6e-4, 1e-18);
  EXPECT_NEAR(s.second_moment, 0.02 * 27e-6 / 12, 1e-21);
  EXPECT_NEAR(s.fourth_moment, 0.02 * std::pow(0.03, 5) / 80, 1e-24);
}

TEST(Section, GivenMomentsAreCompletedByTheRectangleThatHasThem) {
  const auto r = rectangle_section(0.02, 0.03);
  const auto s = given_section(r.area, r.second_moment);
  EXPECT_EQ(s.area, r.area);
  EXPECT_EQ(s.second_moment, r.second_moment);
  EXPECT_NEAR(s.fourth_moment / r.fourth_moment, 1, 1e-14);
}

TEST(Section, DerivativesByDimensionsAreExact) {
  const auto s = tube_section(Dual(0.03, 0), Dual(0.02, 1));
  EXPECT_NEAR(s.second_moment.v[0], kPi / 16 * std::pow(0.03, 3), 1e-19);
  EXPECT_NEAR(s.second_moment.v[1], -kPi / 16 * std::pow(0.02, 3), 1e-19);
  const auto z = circle_section(std::complex<double>(0.02, 1e-40));
  EXPECT_NEAR(z.area.imag() / 1e-40, kPi * 0.01, 1e-16);
}

}  // namespace
}  // namespace panto
