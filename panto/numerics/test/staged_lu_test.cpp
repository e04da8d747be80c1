#include "panto/numerics/staged_lu.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace panto {
namespace {

RowMatrix from_dense(const Eigen::MatrixXd& a) {
  RowMatrix g;
  g.columns = static_cast<int>(a.cols());
  for (int i = 0; i < a.rows(); ++i) {
    for (int j = 0; j < a.cols(); ++j)
      if (a(i, j) != 0) {
        g.column.push_back(j);
        g.value.push_back(a(i, j));
      }
    g.start.push_back(static_cast<int>(g.column.size()));
  }
  return g;
}

Eigen::MatrixXd random_sparse(int m, int n, unsigned seed) {
  std::mt19937 gen(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(m, n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      if (u(gen) > 0.3 || i == j) a(i, j) = u(gen);
  return a;
}

constexpr std::array<int, 3> kNoRank{0, 0, 0};

TEST(StagedLU, SolvesEveryStageWithTheLeadingBlock) {
  const Eigen::MatrixXd a = random_sparse(7, 10, 3);
  const RowMatrix g = from_dense(a);
  const std::array<int, 3> stages{3, 5, 7};
  StagedLU lu(g, stages);
  lu.choose(g, std::vector<double>(10, 1.0), kNoRank);
  ASSERT_EQ(lu.factor(g), Status::kOk);
  for (int stage = 0; stage < 3; ++stage) {
    const int r = lu.rank(stage);
    ASSERT_EQ(r, stages[static_cast<size_t>(stage)]);
    Eigen::MatrixXd block(r, r);
    for (int i = 0; i < r; ++i)
      for (int j = 0; j < r; ++j) block(i, j) = a(lu.pivot_rows()[i], lu.pivot_columns()[j]);
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(r, 1, 2);
    Eigen::VectorXd x = b, y = b;
    lu.solve(stage, x.data());
    lu.solve_transposed(stage, y.data());
    EXPECT_LT((block * x - b).norm(), 1e-12);
    EXPECT_LT((block.transpose() * y - b).norm(), 1e-12);
  }
}

TEST(StagedLU, FindsTheRankAndNamesTheRedundantRow) {
  Eigen::MatrixXd a = random_sparse(4, 6, 5);
  a.row(2) = a.row(0) - 2 * a.row(1);
  const RowMatrix g = from_dense(a);
  const std::array<int, 3> stages{4, 4, 4};
  StagedLU lu(g, stages);
  lu.choose(g, std::vector<double>(6, 1.0), kNoRank);
  EXPECT_EQ(lu.rank(), 3);
  ASSERT_EQ(lu.redundant_rows().size(), 1u);
  EXPECT_LT(lu.redundant_rows()[0], 3);
  EXPECT_EQ(lu.free_columns(2).size(), 3u);
}

TEST(StagedLU, LightColumnsStayFreeWhenOthersCanServe) {
  Eigen::MatrixXd a(1, 3);
  a << 5, 1, 1;
  const RowMatrix g = from_dense(a);
  const std::array<int, 3> stages{1, 1, 1};
  StagedLU lu(g, stages);
  lu.choose(g, std::vector<double>{1e-3, 1, 1}, kNoRank);
  EXPECT_NE(lu.pivot_columns()[0], 0);
}

TEST(StagedLU, AsksForANewChoiceWhenAPivotDeteriorates) {
  Eigen::MatrixXd a(1, 2);
  a << 1, 0.5;
  RowMatrix g = from_dense(a);
  const std::array<int, 3> stages{1, 1, 1};
  StagedLU lu(g, stages);
  lu.choose(g, std::vector<double>(2, 1.0), kNoRank);
  ASSERT_EQ(lu.factor(g), Status::kOk);
  ASSERT_EQ(lu.pivot_columns()[0], 0);
  g.value[0] = 1e-5;
  EXPECT_EQ(lu.factor(g), Status::kRepartition);
  lu.choose(g, std::vector<double>(2, 1.0), kNoRank);
  EXPECT_EQ(lu.factor(g), Status::kOk);
  EXPECT_EQ(lu.pivot_columns()[0], 1);
}

TEST(StagedLU, AChainFillsLinearly) {
  // Bidiagonal chain of 200 unknowns: LU must stay bidiagonal.
  const int n = 200;
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n + 1);
  for (int i = 0; i < n; ++i) {
    a(i, i) = 1;
    a(i, i + 1) = -0.9;
  }
  const RowMatrix g = from_dense(a);
  const std::array<int, 3> stages{n, n, n};
  StagedLU lu(g, stages);
  lu.choose(g, std::vector<double>(n + 1, 1.0), kNoRank);
  ASSERT_EQ(lu.factor(g), Status::kOk);
  Eigen::VectorXd x = Eigen::VectorXd::Ones(n), b = x;
  lu.solve(2, x.data());
  Eigen::VectorXd check = Eigen::VectorXd::Zero(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) check(i) += a(lu.pivot_rows()[i], lu.pivot_columns()[j]) * x(j);
  EXPECT_LT((check - b).norm(), 1e-9);
}

TEST(StagedLU, ChoosesRowsAgainForTheSameColumns) {
  const std::array<int, 3> stages{4, 6, 8};
  // Rows 1 and 3 repeat rows 0 and 2 up to factors that vanish in turn.
  const auto matrix = [](double first, double second) {
    Eigen::MatrixXd a = random_sparse(8, 10, 5);
    const Eigen::MatrixXd r = random_sparse(2, 10, 6);
    a.row(0) = first * r.row(0);
    a.row(1) = second * r.row(0);
    a.row(2) = second * r.row(1);
    a.row(3) = first * r.row(1);
    return a;
  };
  const RowMatrix before = from_dense(matrix(1, 0.1)), after = from_dense(matrix(1e-13, 1));
  StagedLU lu(from_dense(matrix(1, 1)), stages);
  const std::vector<double> weight(10, 1.0);
  lu.choose(before, weight, kNoRank);
  std::array<std::vector<int>, 3> free;
  for (int s = 0; s < 3; ++s) free[s].assign(lu.free_columns(s).begin(), lu.free_columns(s).end());
  ASSERT_TRUE(lu.choose_rows(after));
  for (int s = 0; s < 3; ++s)
    EXPECT_TRUE(std::equal(free[s].begin(), free[s].end(), lu.free_columns(s).begin(),
                           lu.free_columns(s).end()));
  EXPECT_EQ(lu.factor(after), Status::kOk);
  EXPECT_GT(lu.conditioning(), 1e-3);
  const RowMatrix nothing = from_dense(Eigen::MatrixXd::Zero(8, 10));
  EXPECT_FALSE(lu.choose_rows(nothing));
}

}  // namespace
}  // namespace panto
