#include "panto/numerics/equality_program.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace panto {
namespace {

// Nearest point to (2, 1) on the circle x² + y² = 1, written with entries that add up.
EqualityProgram circle() {
  EqualityProgram p;
  p.hessian = {{0, 0, 0.5}, {0, 0, 0.5}, {1, 1, 1}};
  p.g = Eigen::Vector2d(2, 1);
  p.start = Eigen::Vector2d(0.5, 0.9);
  p.equations = [](const Eigen::VectorXd& x, Eigen::VectorXd& c,
                   std::vector<SparseEntry>* derivatives) {
    c = Eigen::VectorXd::Constant(1, x.squaredNorm() - 1);
    if (derivatives != nullptr) *derivatives = {{0, 0, 2 * x[0]}, {0, 1, 2 * x[1]}};
    return x.allFinite();
  };
  return p;
}

TEST(EqualityProgram, FindsTheNearestPointOfACurve) {
  EqualityProgram p = circle();
  p.g /= 1.8;  // near the circle the curvature that is left out is small
  const EqualityOptimum found = minimise(p, 200, 1e-10);
  ASSERT_TRUE(found.solved);
  EXPECT_NEAR(found.x[0], 2 / std::sqrt(5.), 1e-8);
  EXPECT_NEAR(found.x[1], 1 / std::sqrt(5.), 1e-8);
}

TEST(EqualityProgram, StopsWhenItIsTold) {
  EqualityProgram p = circle();
  p.g /= 1.8;
  int asked = 0;
  p.go_on = [&] { return ++asked < 3; };
  const EqualityOptimum found = minimise(p, 200, 1e-10);
  EXPECT_TRUE(found.stopped);
  EXPECT_FALSE(found.solved);
  EXPECT_EQ(asked, 3);
}

// ½ |x|² on a plane: Lagrange's equations, solved at once.
TEST(EqualityProgram, IsExactWithLinearEquations) {
  EqualityProgram p;
  p.hessian = {{0, 0, 2}, {1, 0, 0.5}, {1, 1, 1}, {2, 2, 3}};
  p.g = Eigen::Vector3d(1, -2, 0.5);
  p.start = Eigen::Vector3d::Zero();
  p.equations = [](const Eigen::VectorXd& x, Eigen::VectorXd& c,
                   std::vector<SparseEntry>* derivatives) {
    c = Eigen::VectorXd::Constant(1, x[0] - 2 * x[1] + x[2] - 3);
    if (derivatives != nullptr) *derivatives = {{0, 0, 1}, {0, 1, -2}, {0, 2, 1}};
    return true;
  };
  const EqualityOptimum found = minimise(p, 20, 1e-12);
  ASSERT_TRUE(found.solved);
  Eigen::Matrix4d k;
  k << 2, 0.5, 0, 1, 0.5, 1, 0, -2, 0, 0, 3, 1, 1, -2, 1, 0;
  const Eigen::Vector4d exact(found.x[0], found.x[1], found.x[2], 0);
  const Eigen::Vector4d right(1, -2, 0.5, 3);
  // The multiplier from the first row; the others must then hold.
  const double multiplier = right[0] - (k * exact)[0];
  const Eigen::Vector4d left = k * exact + multiplier * k.col(3) - right;
  EXPECT_LT(left.cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE(found.iterations, 3);
}

TEST(EqualityProgram, HoldingStepsBackDoesNotMoveTheMinimum) {
  EqualityProgram p = circle();
  p.held = 2;
  const EqualityOptimum found = minimise(p, 200, 1e-10);
  ASSERT_TRUE(found.solved);
  EXPECT_NEAR(found.x[0], 2 / std::sqrt(5.), 1e-8);
  EXPECT_NEAR(found.x[1], 1 / std::sqrt(5.), 1e-8);
}

// The row is nearly obeyed anywhere; where it is obeyed it still says.
TEST(EqualityProgram, GoesOnUntilStepsAreSmall) {
  EqualityProgram p;
  p.hessian = {{0, 0, 1e-6}};
  p.g = p.start = Eigen::VectorXd::Zero(1);
  p.equations = [](const Eigen::VectorXd& x, Eigen::VectorXd& c,
                   std::vector<SparseEntry>* derivatives) {
    c = 1e-7 * (x.array() - 1);
    if (derivatives != nullptr) *derivatives = {{0, 0, 1e-7}};
    return true;
  };
  const EqualityOptimum found = minimise(p, 50, 1e-6);
  ASSERT_TRUE(found.solved);
  EXPECT_LE(found.left, 1e-6);
  EXPECT_NEAR(found.x[0], 1, 1e-6);
}

TEST(EqualityProgram, SaysWhereItFails) {
  EqualityProgram p = circle();
  p.equations = [](const Eigen::VectorXd& x, Eigen::VectorXd& c,
                   std::vector<SparseEntry>* derivatives) {
    c = Eigen::VectorXd::Constant(1, x.squaredNorm() + 1);
    if (derivatives != nullptr) *derivatives = {{0, 0, 2 * x[0]}, {0, 1, 2 * x[1]}};
    return true;
  };
  EXPECT_FALSE(minimise(p, 50, 1e-10).solved);
  p.start[0] = NAN;
  p.equations = [](const Eigen::VectorXd&, Eigen::VectorXd& c, std::vector<SparseEntry>*) {
    c = Eigen::VectorXd::Constant(1, NAN);
    return false;
  };
  EXPECT_FALSE(minimise(p, 50, 1e-10).solved);
}

}  // namespace
}  // namespace panto
