#include "panto/numerics/quantiles.hpp"

#include <gtest/gtest.h>

namespace panto {
namespace {

TEST(Quantiles, OfTheNormalDistributionAreTheTabulatedOnes) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-13);
  EXPECT_NEAR(normal_quantile(0.9995), 3.290526731491926, 1e-11);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-12);
}

// Tables; the approximation's own error decides.
TEST(Quantiles, OfChiSquaredAreNearTheTabulatedOnes) {
  EXPECT_NEAR(chi_squared_quantile(0.95, 3), 7.8147, 0.01 * 7.8147);
  EXPECT_NEAR(chi_squared_quantile(0.99, 10), 23.209, 0.002 * 23.209);
  EXPECT_NEAR(chi_squared_quantile(0.025, 100), 74.222, 0.001 * 74.222);
}

}  // namespace
}  // namespace panto
