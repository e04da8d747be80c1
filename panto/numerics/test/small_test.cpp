#include "panto/numerics/small.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

namespace panto {
namespace {

TEST(Small, ProductsAndSolvesAreThoseOfTheGeneralRoutines) {
  for (int n : {1, 2, 3, 4, 5, 6, 9}) {
    const Eigen::MatrixXd a = Eigen::MatrixXd::Random(n, n), b = Eigen::MatrixXd::Random(n, n);
    Eigen::MatrixXd c(n, n);
    multiply(a, b, c);
    EXPECT_LT((c - a * b).norm(), 1e-13) << n;
    multiply_transposed(a, b, c);
    EXPECT_LT((c - a * b.transpose()).norm(), 1e-13) << n;
    Eigen::MatrixXd used = a, x = Eigen::MatrixXd::Random(n, 3), right = x;
    ASSERT_TRUE(eliminate(used, x)) << n;
    EXPECT_LT((a * x - right).norm(), 1e-10) << n;
    used = a;
    Eigen::VectorXd v = right.col(0);
    ASSERT_TRUE(eliminate(used, v));
    EXPECT_LT((v - x.col(0)).norm(), 1e-13) << n;
  }
}

TEST(Small, RowsAreExchanged) {
  Eigen::MatrixXd a(2, 2), b(2, 1);
  a << 0, 1, 2, 0;
  b << 3, 4;
  ASSERT_TRUE(eliminate(a, b));
  EXPECT_EQ(b(0), 2);
  EXPECT_EQ(b(1), 3);
}

TEST(Small, SingularMatricesAreRefused) {
  for (int n : {2, 5}) {
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n), b = Eigen::MatrixXd::Ones(n, 1);
    EXPECT_FALSE(eliminate(a, b));
  }
}

}  // namespace
}  // namespace panto
