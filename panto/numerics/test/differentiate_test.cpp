#include "panto/numerics/differentiate.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace panto {
namespace {

TEST(Differentiate, IsExactForPolynomialsOfDegreeSixOnUnevenGrids) {
  std::vector<double> t, y, first, second;
  for (int i = 0; i < 20; ++i) {
    const double x = 0.1 * i + 0.03 * std::sin(5.0 * i);
    t.push_back(x);
    y.push_back(1 + x * x - 2 * std::pow(x, 6));
    first.push_back(2 * x - 12 * std::pow(x, 5));
    second.push_back(2 - 60 * std::pow(x, 4));
  }
  const auto d1 = differentiate(t, y, 1), d2 = differentiate(t, y, 2);
  for (size_t i = 0; i < t.size(); ++i) {
    // Round-off of values up to 80 times weights of 1/h and 1/h^2, h = 0.07.
    EXPECT_NEAR(d1[i], first[i], 1e-11);
    EXPECT_NEAR(d2[i], second[i], 1e-8);
  }
}

TEST(Differentiate, ConvergesWithOrderFiveForSecondDerivativesAtTheEnds) {
  const auto end_error = [](int n) {
    std::vector<double> t, y;
    for (int i = 0; i <= n; ++i) {
      t.push_back(static_cast<double>(i) / n);
      y.push_back(std::sin(3 * t.back()));
    }
    return std::abs(differentiate(t, y, 2).back() + 9 * std::sin(3.0));
  };
  const double order = std::log2(end_error(20) / end_error(40));
  EXPECT_NEAR(order, 5, 0.3);
}

TEST(Differentiate, UsesWhatThereIs) {
  const std::vector<double> t{0, 1, 3}, y{1, 2, 10};
  for (const double d : differentiate(t, y, 2)) EXPECT_NEAR(d, 2, 1e-14);
  EXPECT_EQ(differentiate(std::vector<double>{1}, std::vector<double>{5}, 1).at(0), 0);
}

}  // namespace
}  // namespace panto
