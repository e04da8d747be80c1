#include "panto/numerics/quadratic_program.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <limits>

#include "panto/numerics/random.hpp"

namespace panto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Eigen::MatrixXd drawn(Eigen::Index rows, Eigen::Index columns, std::uint64_t stream) {
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&](Eigen::Index i, Eigen::Index j) {
    return normal(11, stream, static_cast<std::uint64_t>(i * columns + j));
  });
}

// A strictly convex program with bounds and rows that some point satisfies.
QuadraticProgram random_program(Eigen::Index n, Eigen::Index rows, std::uint64_t number) {
  QuadraticProgram p;
  const Eigen::MatrixXd a = drawn(n + 2, n, 10 * number);
  p.h = a.transpose() * a;
  p.g = 5 * drawn(n, 1, 10 * number + 1);
  p.low = -drawn(n, 1, 10 * number + 2).cwiseAbs();
  p.high = drawn(n, 1, 10 * number + 3).cwiseAbs();
  p.c = drawn(rows, n, 10 * number + 4);
  p.row_low = -0.3 * drawn(rows, 1, 10 * number + 5).cwiseAbs();
  p.row_high = 0.3 * drawn(rows, 1, 10 * number + 6).cwiseAbs();
  return p;
}

// Another road to the optimum: cyclic projections of Hildreth on the dual, which never looks at KKT systems. Slow and simple.
Eigen::VectorXd by_dual_ascent(const QuadraticProgram& p) {
  const Eigen::Index n = p.g.size(), m = p.c.rows();
  Eigen::MatrixXd rows(2 * (n + m), n);  // rows x ≤ limit
  Eigen::VectorXd limit(2 * (n + m));
  rows << Eigen::MatrixXd::Identity(n, n), -Eigen::MatrixXd::Identity(n, n), p.c, -p.c;
  limit << p.high, -p.low, p.row_high, -p.row_low;
  const Eigen::MatrixXd inverse = p.h.llt().solve(Eigen::MatrixXd::Identity(n, n));
  const Eigen::MatrixXd q = rows * inverse * rows.transpose();
  Eigen::VectorXd y = Eigen::VectorXd::Zero(rows.rows()), b = rows * inverse * p.g - limit;
  for (int sweep = 0; sweep < 200000; ++sweep) {
    double moved = 0;
    for (Eigen::Index i = 0; i < y.size(); ++i) {
      const double next = std::max(0.0, y(i) + (b(i) - q.row(i).dot(y)) / q(i, i));
      moved = std::max(moved, std::abs(next - y(i)));
      y(i) = next;
    }
    if (moved < 1e-14) break;
  }
  return inverse * (p.g - rows.transpose() * y);
}

TEST(QuadraticProgram, OfOneUnknownStopsAtItsBound) {
  QuadraticProgram p;
  p.h = Eigen::MatrixXd::Constant(1, 1, 2);
  p.g = Eigen::VectorXd::Constant(1, 6);  // minimum at 3
  p.low = Eigen::VectorXd::Constant(1, -1);
  p.high = Eigen::VectorXd::Constant(1, 2);
  const QuadraticOptimum at = minimise(p);
  ASSERT_TRUE(at.solved);
  EXPECT_EQ(at.x(0), 2);
  EXPECT_NEAR(at.bound(0), 2, 1e-12);  // 6 - 2·2, round-off
  EXPECT_LT(at.kkt, 1e-14);
}

TEST(QuadraticProgram, WithoutLimitsSolvesTheNormalEquations) {
  QuadraticProgram p = random_program(6, 0, 1);
  p.low.setConstant(-kInfinity);
  p.high.setConstant(kInfinity);
  const QuadraticOptimum at = minimise(p);
  ASSERT_TRUE(at.solved);
  // Round-off times the condition of H, 1e3 here.
  EXPECT_LT((at.x - p.h.llt().solve(p.g)).norm(), 1e-11);
}

TEST(QuadraticProgram, AgreesWithAnIndependentSolverOnRandomInstances) {
  int active = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const QuadraticProgram p = random_program(2 + static_cast<Eigen::Index>(number % 9),
                                              static_cast<Eigen::Index>(number % 4), number);
    const QuadraticOptimum at = minimise(p);
    ASSERT_TRUE(at.solved) << number;
    EXPECT_LT(at.kkt, 1e-12) << number;
    // The dual ascent stops at steps of 1e-14 and converges linearly: some orders more are left.
    EXPECT_LT((at.x - by_dual_ascent(p)).lpNorm<Eigen::Infinity>(), 1e-8) << number;
    active += (at.bound.array() != 0).count() + (at.row.array() != 0).count() > 0 ? 1 : 0;
  }
  EXPECT_GT(active, 150);
}

TEST(QuadraticProgram, HoldsEquationsAmongTheRows) {
  QuadraticProgram p = random_program(5, 1, 7);
  p.low.setConstant(-kInfinity);
  p.high.setConstant(kInfinity);
  p.row_low(0) = p.row_high(0) = 0.25;
  const QuadraticOptimum at = minimise(p);
  ASSERT_TRUE(at.solved);
  EXPECT_NEAR(p.c.row(0).dot(at.x), 0.25, 1e-13);  // round-off
  EXPECT_LT(at.kkt, 1e-12);
}

TEST(QuadraticProgram, WithASingularHessianStillEndsAtAMinimum) {
  QuadraticProgram p = random_program(6, 0, 9);
  const Eigen::MatrixXd a = drawn(2, 6, 500);
  p.h = a.transpose() * a;
  p.g = a.transpose() * drawn(2, 1, 501);
  const QuadraticOptimum at = minimise(p);
  ASSERT_TRUE(at.solved);
  EXPECT_LT(at.kkt, 1e-9);
}

TEST(QuadraticProgram, TellsLimitsThatContradictEachOther) {
  QuadraticProgram p = random_program(3, 1, 3);
  p.c.row(0) << 1, 0, 0;
  p.row_low(0) = p.high(0) + 1;
  p.row_high(0) = p.high(0) + 2;
  EXPECT_FALSE(minimise(p).solved);
}

}  // namespace
}  // namespace panto
