#include "panto/numerics/lanes.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

namespace panto {
namespace {

// n columns with their last entries zero, as padding has it.
Eigen::MatrixXd padded_columns(int rows, int n) {
  std::srand(3);
  Eigen::MatrixXd m = Eigen::MatrixXd::Random(lanes::padded(rows), n);
  m.bottomRows(m.rows() - rows).setZero();
  return m;
}

TEST(Lanes, ProductsAreThoseOfMatrices) {
  for (int rows = 1; rows < 40; rows += 3) {
    const Eigen::MatrixXd m = padded_columns(rows, 7);
    const Eigen::VectorXd x = Eigen::VectorXd::Random(14);
    Eigen::VectorXd y = Eigen::VectorXd::Ones(m.rows());
    const auto ld = static_cast<int>(m.rows());
    lanes::add_product(m.data(), ld, ld, 7, x.data(), y.data(), 2);
    const Eigen::VectorXd every_other = Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<2>>(
        x.data(), 7, Eigen::InnerStride<2>());
    EXPECT_LT((y - Eigen::VectorXd::Ones(ld) - m * every_other).norm(), 1e-14 * ld);
    EXPECT_NEAR(lanes::dot(m.data(), y.data(), ld), m.col(0).dot(y), 1e-13 * ld);
  }
}

TEST(Lanes, HarmonicsTurnTheBlocksOfAMatrix) {
  const Eigen::MatrixXd a = padded_columns(8, 5);
  Eigen::VectorXd y(8);
  const double angle = 0.7;
  lanes::harmonics(a.col(0).data(), a.col(1).data(), a.col(2).data(), a.col(3).data(),
                   a.col(4).data(), std::cos(angle), std::sin(angle), 8, y.data());
  const Eigen::VectorXd expected = a.col(0) + std::cos(angle) * a.col(1) +
                                   std::sin(angle) * a.col(2) + std::cos(2 * angle) * a.col(3) +
                                   std::sin(2 * angle) * a.col(4);
  EXPECT_LT((y - expected).norm(), 1e-14);
}

TEST(Lanes, FactorsSolveDefiniteSystems) {
  for (const int n : {1, 2, 5, 13, 16}) {
    const int ld = lanes::padded(n);
    const Eigen::MatrixXd r = padded_columns(n, n).topRows(n),
                          a = r * r.transpose() + Eigen::MatrixXd::Identity(n, n);
    Eigen::MatrixXd l = Eigen::MatrixXd::Zero(ld, n);
    l.topRows(n) = a;
    Eigen::VectorXd pivots(3 * n), x = Eigen::VectorXd::Zero(ld);
    x.head(n).setLinSpaced(1, 2);
    const Eigen::VectorXd b = x.head(n);
    ASSERT_TRUE(lanes::factor(l.data(), n, ld, 1e-13, pivots.data()));
    lanes::solve(l.data(), n, ld, pivots.data(), x.data());
    EXPECT_LT((a * x.head(n) - b).norm(), 1e-12 * b.norm()) << n;
  }
}

TEST(Lanes, FactorRefusesAMatrixThatIsNotDefinite) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(4, 2);
  a.topRows(2) << 1, 1, 1, 1;
  Eigen::VectorXd pivots(6);
  EXPECT_FALSE(lanes::factor(a.data(), 2, 4, 1e-13, pivots.data()));
}

}  // namespace
}  // namespace panto
