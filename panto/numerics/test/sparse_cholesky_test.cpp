#include "panto/numerics/sparse_cholesky.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace panto {
namespace {

using Pattern = std::vector<std::pair<int, int>>;

Eigen::MatrixXd dense(int n, const Pattern& pattern, const std::vector<double>& value) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  for (size_t k = 0; k < pattern.size(); ++k) {
    a(pattern[k].first, pattern[k].second) = value[k];
    a(pattern[k].second, pattern[k].first) = value[k];
  }
  return a;
}

TEST(SparseCholesky, SolvesAsADenseFactorisation) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> number(-1, 1);
  for (const int n : {1, 2, 7, 30}) {
    Pattern pattern;
    std::vector<double> value;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        if (i == j || number(random) > 0.6) {
          pattern.emplace_back(i, j);
          value.push_back(i == j ? n : number(random));
        }
    SparseCholesky factor(n, pattern);
    // Twice: the second time with other numbers in the same places.
    for (int pass = 0; pass < 2; ++pass) {
      for (double& e : value) e *= 1 + 0.01 * number(random);
      const Eigen::MatrixXd a = dense(n, pattern, value);
      ASSERT_TRUE(factor.factor(value.data(), 1e-13));
      const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(n, 1, 2);
      Eigen::VectorXd x = b;
      factor.solve(x.data());
      EXPECT_LT((a * x - b).cwiseAbs().maxCoeff(), 1e-13);
    }
  }
}

TEST(SparseCholesky, TellsWhereTheMatrixIsNotDefinite) {
  SparseCholesky factor(2, {{0, 0}, {1, 0}, {1, 1}});
  const std::vector<double> singular{1, 1, 1}, regular{2, 1, 1};
  EXPECT_FALSE(factor.factor(singular.data(), 1e-13));
  ASSERT_TRUE(factor.factor(regular.data(), 1e-13));  // and is not harmed by it
  double x[] = {1, 0};
  factor.solve(x);
  EXPECT_NEAR(x[0], 1, 1e-15);
  EXPECT_NEAR(x[1], -1, 1e-15);
}

TEST(SparseCholesky, KeepsAChainFreeOfFill) {
  constexpr int kSize = 3000;
  Pattern pattern;
  for (int i = 0; i < kSize; ++i) {
    if (i > 0) pattern.emplace_back(i, i - 1);
    pattern.emplace_back(i, i);
  }
  EXPECT_EQ(SparseCholesky(kSize, pattern).entries(), static_cast<int>(pattern.size()));
}

}  // namespace
}  // namespace panto
