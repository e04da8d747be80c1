#include "panto/numerics/saddle.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

namespace panto {
namespace {

TEST(SaddleSolver, RedundantRowsGetTheMultipliersOfSmallestNorm) {
  // One constraint written twice: the two multipliers share the force equally.
  Eigen::MatrixXd m = Eigen::MatrixXd::Identity(2, 2) * 2, g(2, 2);
  g << 1, 0, 1, 0;
  Eigen::VectorXd f(2), b = Eigen::VectorXd::Zero(2), a, lambda;
  f << 4, 6;
  SaddleSolver s(2, 2);
  ASSERT_EQ(s.solve(m, g, f, b, a, lambda), Status::kOk);
  EXPECT_EQ(s.rank(), 1);
  EXPECT_NEAR(a(0), 0, 1e-14);
  EXPECT_NEAR(a(1), 3, 1e-14);
  EXPECT_NEAR(lambda(0), -2, 1e-13);
  EXPECT_NEAR(lambda(1), -2, 1e-13);
}

TEST(SaddleSolver, ContradictoryRowsAreReported) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Identity(1, 1), g(2, 1);
  g << 1, 1;
  Eigen::VectorXd f(1), b(2), a, lambda;
  f << 0;
  b << 1, 2;
  SaddleSolver s(1, 2);
  EXPECT_EQ(s.solve(m, g, f, b, a, lambda), Status::kInconsistent);
}

TEST(SaddleSolver, AMasslessDirectionThatTheRowsHoldIsNoObstacle) {
  // m1 a1 = f1 - ..., the second unknown has no mass and follows the first: a2 = a1 + 1.
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(2, 2), g(1, 2);
  m(0, 0) = 3;
  g << -1, 1;
  Eigen::VectorXd f(2), b(1), a, lambda;
  f << 4, 5;
  b << 1;
  SaddleSolver s(2, 1);
  ASSERT_EQ(s.solve(m, g, f, b, a, lambda), Status::kOk);
  EXPECT_NEAR(a(0), 3, 1e-14);
  EXPECT_NEAR(a(1), 4, 1e-14);
  EXPECT_NEAR(lambda(0), -5, 1e-13);
  g << 1, 0;
  EXPECT_EQ(s.solve(m, g, f, b, a, lambda), Status::kSingular);
}

TEST(SaddleSolver, AMassMatrixSingularButForRoundOffIsRefused) {
  Eigen::MatrixXd m(2, 2), g(0, 2);
  m << 1, 1, 1, 1 + 1e-15;
  Eigen::VectorXd f = Eigen::VectorXd::Ones(2), b(0), a, lambda;
  SaddleSolver s(2, 0);
  EXPECT_EQ(s.solve(m, g, f, b, a, lambda), Status::kSingular);
}

TEST(SaddleSolver, AnIndefiniteMassMatrixIsRefused) {
  Eigen::MatrixXd m(2, 2), g(0, 2);
  m << 1, 2, 2, 1;
  Eigen::VectorXd f = Eigen::VectorXd::Ones(2), b(0), a, lambda;
  SaddleSolver s(2, 0);
  EXPECT_EQ(s.solve(m, g, f, b, a, lambda), Status::kSingular);
}

}  // namespace
}  // namespace panto
