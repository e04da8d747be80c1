#include "panto/numerics/dense.hpp"

#include <gtest/gtest.h>

namespace panto {
namespace {

constexpr double kRoundOff = 1e-13;

TEST(MinimumNorm, SolvesARankDeficientSystemWithTheShortestVector) {
  Eigen::MatrixXd a(3, 4);
  a << 1, 2, 0, 1, 2, 4, 0, 2, 0, 0, 3, 0;
  MinimumNorm solver;
  solver.compute(a);
  EXPECT_EQ(solver.rank(), 2);
  const Eigen::VectorXd x = solver.solve(Eigen::Vector3d(6, 12, 3));
  EXPECT_LT((x - Eigen::Vector4d(1, 2, 1, 1)).norm(), kRoundOff);
  const Eigen::MatrixXd n = solver.null_space();
  ASSERT_EQ(n.cols(), 2);
  EXPECT_LT((a * n).norm(), kRoundOff);
  EXPECT_LT((n.transpose() * n - Eigen::Matrix2d::Identity()).norm(), kRoundOff);
}

TEST(MinimumNorm, AcceptsMatricesWithoutRowsOrRank) {
  MinimumNorm solver;
  solver.compute(Eigen::MatrixXd(0, 3));
  EXPECT_EQ(solver.rank(), 0);
  EXPECT_EQ(solver.null_space().cols(), 3);
  EXPECT_EQ(solver.solve(Eigen::VectorXd(0)).norm(), 0);
  solver.compute(Eigen::MatrixXd::Zero(2, 3));
  EXPECT_EQ(solver.rank(), 0);
  EXPECT_EQ(solver.solve(Eigen::Vector2d(1, 1)).norm(), 0);
}

TEST(DampedLeastSquares, AgreesForWideAndTallMatrices) {
  Eigen::MatrixXd wide(2, 3);
  wide << 1, 2, 3, 0, 1, -1;
  const Eigen::Vector2d b(1, 2);
  const Eigen::VectorXd x = damped_least_squares(wide, b, 0.5);
  EXPECT_LT((wide.transpose() * (wide * x - b) + 0.5 * x).norm(), kRoundOff);
  const Eigen::MatrixXd tall = wide.transpose();
  const Eigen::Vector3d c(1, 2, 3);
  const Eigen::VectorXd y = damped_least_squares(tall, c, 0.5);
  EXPECT_LT((tall.transpose() * (tall * y - c) + 0.5 * y).norm(), kRoundOff);
}

TEST(Eigenvalues, ComeInOrderOfRealPart) {
  Eigen::MatrixXd a(3, 3);
  a << 0, 1, 0, -4, 0, 0, 0, 0, 1;
  const auto e = eigenvalues(a);
  EXPECT_NEAR(e[0].real(), 1, kRoundOff);
  EXPECT_NEAR(e[1].imag(), 2, kRoundOff);
  EXPECT_NEAR(e[2].imag(), -2, kRoundOff);
}

}  // namespace
}  // namespace panto
