#include "panto/numerics/lanes.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstring>
#include <vector>

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

TEST(Lanes, ColumnsAheadOfAFactorAreEliminatedWithIt) {
  // Of a matrix of 1 + n rows the first column's factor below its diagonal, then the rest as it is.
  for (const int n : {9, 10, 11, 12}) {
    const int ld = lanes::padded(n);
    const Eigen::MatrixXd r = padded_columns(n + 1, n + 1).topRows(n + 1),
                          a = r * r.transpose() + Eigen::MatrixXd::Identity(n + 1, n + 1);
    Eigen::MatrixXd l = Eigen::MatrixXd::Zero(ld, n + 1);
    l.col(0).head(n) = a.col(0).tail(n) / a(0, 0);
    Eigen::VectorXd pivots(n + 1), inverse(n + 1), x = Eigen::VectorXd::Zero(ld);
    pivots(0) = a(0, 0);
    inverse(0) = 1 / a(0, 0);
    const auto rest = [&]<int C, int K>(lanes::Four(&columns)[C][K]) {
      const int from = ld - K * lanes::kWidth;
      for (int j = 0; j < C; ++j) {
        Eigen::VectorXd column = Eigen::VectorXd::Zero(K * lanes::kWidth);
        column.head(n - from) = a.col(1 + from + j).tail(n - from);
        std::memcpy(columns[j], column.data(), sizeof(columns[j]));
      }
    };
    ASSERT_TRUE((lanes::detail::factor_panels<3, 0>(l.data(), 1, n, 1e-13, pivots.data(),
                                                    inverse.data(), rest)));
    // With a right side of zero in the first row this solves with the Schur complement.
    x.head(n).setLinSpaced(1, 2);
    const Eigen::VectorXd b = x.head(n);
    lanes::detail::solve_down<3, 0>(l.data() + ld, n, x.data());
    lanes::detail::solve_up<3, 0>(l.data() + ld, n, inverse.data() + 1, x.data());
    const Eigen::MatrixXd schur =
        a.bottomRightCorner(n, n) - a.col(0).tail(n) * a.row(0).tail(n) / a(0, 0);
    EXPECT_LT((schur * x.head(n) - b).norm(), 1e-12 * b.norm()) << n;
  }
}

TEST(Lanes, RowsTurnToColumnsAndSums) {
  Eigen::Matrix4d m = Eigen::Matrix4d::Random();
  lanes::Four e[4];
  std::memcpy(e, m.data(), sizeof(e));
  const lanes::Four sum = lanes::sums(e);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(sum[i], m.col(i).sum(), 1e-15);
  lanes::transpose(e);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) EXPECT_EQ(e[i][j], m(i, j));
  EXPECT_EQ(lanes::spread<2>(e[1])[3], m(1, 2));
}

TEST(Lanes, RowsTimesAVectorFillWholeGroups) {
  const Eigen::MatrixXd m = padded_columns(11, 8);  // columns of 12, of which the rows are taken
  const Eigen::VectorXd x = Eigen::VectorXd::Random(12);
  Eigen::VectorXd y = Eigen::VectorXd::Zero(8);
  lanes::rows_times(m.data(), 12, 6, x.data(), 12, y.data());
  EXPECT_LT((y - m.transpose() * x).norm(), 1e-14);
}

TEST(Lanes, OneNumberThatIsNotFiniteIsSeen) {
  std::vector<double> x(7, 1e308);
  EXPECT_TRUE(lanes::finite(x.data(), 7));
  for (const size_t i : {size_t{1}, size_t{6}})
    for (const double e : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      std::vector<double> y = x;
      y[i] = e;
      EXPECT_FALSE(lanes::finite(y.data(), 7));
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
