#include "panto/numerics/eigenproblems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace panto {
namespace {

struct Matrices {
  Eigen::MatrixXd k, m;
};

// K symmetric, of both signs; M positive definite. band: entries off the diagonal that are not zero.
Matrices random_matrices(int n, int band, unsigned seed) {
  std::mt19937 gen(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  Matrices out{Eigen::MatrixXd::Zero(n, n), Eigen::MatrixXd::Zero(n, n)};
  for (int i = 0; i < n; ++i) {
    out.k(i, i) = 3 * u(gen);
    out.m(i, i) = band + 1;
    for (int j = std::max(0, i - band); j < i; ++j) {
      out.k(i, j) = out.k(j, i) = u(gen);
      out.m(i, j) = out.m(j, i) = 0.4 * u(gen);
    }
  }
  return out;
}

TEST(LowestPairs, AreTheFirstOfAllPairsWithSparseAndWithFullMatrices) {
  for (const int band : {2, 60}) {
    const Matrices a = random_matrices(120, band, 7);
    const auto all = symmetric_pairs(a.k, a.m), few = lowest_pairs(a.k, a.m, 6);
    ASSERT_TRUE(all && few);
    ASSERT_EQ(few->values.size(), 6);
    EXPECT_LT(all->values(0), 0);
    for (Eigen::Index i = 0; i < 6; ++i) {
      const double size = all->largest;
      EXPECT_NEAR(few->values(i), all->values(i), 1e-12 * size);
      const Eigen::VectorXd x = few->vectors.col(i);
      EXPECT_NEAR(x.dot(a.m * x), 1, 1e-12);
      EXPECT_LT((a.k * x - few->values(i) * a.m * x).norm(), 1e-8 * size * (a.m * x).norm());
    }
    // The scale of round-off, by power iteration.
    EXPECT_LE(few->largest, all->largest * (1 + 1e-12));
    EXPECT_GT(few->largest, 0.5 * all->largest);
  }
}

TEST(LowestPairs, OfFreeBodiesAreZero) {
  const int n = 100;
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(n, n);
  for (int i = 1; i < n; ++i) {
    k(i, i) += 1;
    k(i - 1, i - 1) += 1;
    k(i, i - 1) = k(i - 1, i) = -1;
  }
  const auto few = lowest_pairs(k, Eigen::MatrixXd::Identity(n, n), 3);
  ASSERT_TRUE(few);
  EXPECT_NEAR(few->values(0), 0, 1e-14);
  EXPECT_NEAR(few->values(1), 4 * std::pow(std::sin(M_PI / (2 * n)), 2), 1e-14);
  EXPECT_TRUE(lowest_pairs(Eigen::MatrixXd::Zero(n, n), Eigen::MatrixXd::Identity(n, n), 1));
}

TEST(LowestPairs, NeedAPositiveDefiniteMass) {
  Matrices a = random_matrices(50, 2, 1);
  a.m(20, 20) = -1;
  EXPECT_FALSE(lowest_pairs(a.k, a.m, 4));
  a.m.setZero();
  EXPECT_FALSE(lowest_pairs(a.k, a.m, 4));
}

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
