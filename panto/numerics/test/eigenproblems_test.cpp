#include "panto/numerics/eigenproblems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace panto {
namespace {

// Masses on springs, damped in part: A = [0 I; -K -D].
TEST(LargestValues, OfALargeMatrixAreThoseOfAll) {
  const int n = 150;
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  a.topRightCorner(n, n).setIdentity();
  for (int i = 0; i < n; ++i) {
    a(n + i, i) = -2;
    if (i > 0) a(n + i, i - 1) = a(n + i - 1, i) = 1;
    a(n + i, n + i) = i % 3 == 0 ? -0.1 : 0;
  }
  a(2 * n - 1, 2 * n - 1) = -3;  // a decay faster than all vibrations
  const Eigen::VectorXcd few = largest_values(a, 8), all = state_pairs(a).values;
  ASSERT_LT(few.size(), all.size());
  EXPECT_NEAR(few.cwiseAbs().maxCoeff(), all.cwiseAbs().maxCoeff(), 1e-6);
  for (const std::complex<double>& s : few)
    EXPECT_LT((all.array() - s).abs().minCoeff(), 1e-6) << s;
}

TEST(LargestValues, OfASmallMatrixAreAll) {
  EXPECT_EQ(largest_values(Eigen::MatrixXd::Identity(3, 3), 8).size(), 3);
  EXPECT_EQ(largest_values(Eigen::MatrixXd(0, 0), 8).size(), 0);
}

}  // namespace
}  // namespace panto
