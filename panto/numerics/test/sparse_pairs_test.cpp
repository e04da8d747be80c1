#include "panto/numerics/sparse_pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace panto {
namespace {

// n masses of 1 kg in a row, springs of 1 N/m between them; fixed at both ends or free.
SparseMatrix chain(int n, bool fixed) {
  SparseMatrix k(n, n);
  for (int i = 0; i < n; ++i) {
    k.insert(i, i) = fixed || (i > 0 && i < n - 1) ? 2 : 1;
    if (i > 0) k.insert(i, i - 1) = k.insert(i - 1, i) = -1;
  }
  return k;
}
SparseMatrix unit(int n) {
  SparseMatrix m(n, n);
  m.setIdentity();
  return m;
}
// Two equal systems side by side.
SparseMatrix twice(const SparseMatrix& a) {
  const Eigen::Index n = a.rows();
  SparseMatrix out(2 * n, 2 * n);
  for (Eigen::Index j = 0; j < a.outerSize(); ++j)
    for (SparseMatrix::InnerIterator i(a, j); i; ++i) {
      out.insert(i.row(), i.col()) = i.value();
      out.insert(n + i.row(), n + i.col()) = i.value();
    }
  return out;
}

TEST(SparsePairs, AChainHasItsClosedFormFrequencies) {
  const int n = 300;
  const auto pairs = lowest_pairs(chain(n, true), unit(n), 40);
  ASSERT_TRUE(pairs);
  for (int i = 0; i < 40; ++i) {
    const double exact = std::pow(2 * std::sin(std::numbers::pi * (i + 1) / (2 * (n + 1))), 2);
    EXPECT_NEAR(pairs->values(i), exact, 1e-11 * 4) << i;  // round-off of the largest value, 4
  }
  const Eigen::MatrixXd gram = pairs->vectors.transpose() * pairs->vectors;
  EXPECT_LT((gram - Eigen::MatrixXd::Identity(40, 40)).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(SparsePairs, AFreeChainHasARigidMode) {
  const auto pairs = lowest_pairs(chain(200, false), unit(200), 3);
  ASSERT_TRUE(pairs);
  EXPECT_NEAR(pairs->values(0), 0, 1e-12);
  EXPECT_GT(pairs->values(1), 1e-5);
}

TEST(SparsePairs, EveryCopyOfADoubleValueIsFound) {
  const int n = 150;
  const SparseMatrix k = twice(chain(n, true));
  const auto pairs = lowest_pairs(k, unit(2 * n), 20);
  ASSERT_TRUE(pairs);
  for (int i = 0; i < 20; ++i) {
    const int mode = i / 2 + 1;  // each value is there twice
    const double exact = std::pow(2 * std::sin(std::numbers::pi * mode / (2 * (n + 1))), 2);
    EXPECT_NEAR(pairs->values(i), exact, 1e-11) << i;
  }
}

TEST(SparsePairs, AsManyAsThereAreIsTheDenseSolution) {
  const auto all = lowest_pairs(chain(60, true), unit(60), 60);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->values.size(), 60);
  EXPECT_NEAR(all->values.sum(), 120, 1e-10);  // trace
}

TEST(SparsePairs, AMassThatIsNotDefiniteIsRefused) {
  SparseMatrix m = unit(200);
  m.coeffRef(7, 7) = -1;
  EXPECT_FALSE(lowest_pairs(chain(200, true), m, 3));
}

TEST(SparsePairs, InertiaCountsTheValuesBelow) {
  const int n = 100;
  for (const int below : {0, 1, 17, 99}) {
    const double value =
        std::pow(2 * std::sin(std::numbers::pi * (below + 0.5) / (2 * (n + 1))), 2);
    EXPECT_EQ(values_below(chain(n, true), unit(n), value), below);
  }
}

TEST(SparsePairs, TheWeakestPivotTellsASingularMatrix) {
  EXPECT_GT(SparseSymmetric(chain(50, true)).weakest(), 0.1);
  EXPECT_LT(std::abs(SparseSymmetric(chain(50, false)).weakest()), 1e-12);
}

}  // namespace
}  // namespace panto
