#include "panto/numerics/least_squares.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace panto {
namespace {

// Rosenbrock's valley: r = (10 (y - x²), 1 - x), minimum 0 at (1, 1).
bool valley(const Eigen::VectorXd& x, Eigen::VectorXd& r, Eigen::MatrixXd* j) {
  r = Eigen::Vector2d(10 * (x(1) - x(0) * x(0)), 1 - x(0));
  if (j != nullptr) *j = (Eigen::Matrix2d() << -20 * x(0), 10, -1, 0).finished();
  return true;
}

TEST(LeastSquares, FollowsAValleyToItsEnd) {
  const Eigen::Vector2d wide(10, 10), start(-1.2, 1);
  const LeastSquaresMinimum end = minimise(valley, -wide, wide, start);
  EXPECT_TRUE(end.converged);
  EXPECT_NEAR((end.x - Eigen::Vector2d(1, 1)).norm(), 0, 1e-9);
  EXPECT_NEAR(end.cost, 0, 1e-18);
}

// With x ≤ 0.5 the minimum is on the bound: y = x², cost ½ (1 - 0.5)².
TEST(LeastSquares, StaysWithinBounds) {
  const LeastSquaresMinimum end =
      minimise(valley, Eigen::Vector2d(-2, -2), Eigen::Vector2d(0.5, 2), Eigen::Vector2d(-1.2, 1));
  EXPECT_TRUE(end.converged);
  EXPECT_NEAR(end.x(0), 0.5, 1e-12);
  EXPECT_NEAR(end.x(1), 0.25, 1e-9);
  EXPECT_NEAR(end.cost, 0.125, 1e-12);
}

TEST(LeastSquares, TellsAStartWithoutValue) {
  const auto none = [](const Eigen::VectorXd&, Eigen::VectorXd&, Eigen::MatrixXd*) {
    return false;
  };
  const Eigen::VectorXd start = Eigen::VectorXd::Zero(1), one = Eigen::VectorXd::Ones(1);
  const LeastSquaresMinimum end = minimise(none, -one, one, start);
  EXPECT_FALSE(end.converged);
  EXPECT_EQ(end.x, start);
}

}  // namespace
}  // namespace panto
