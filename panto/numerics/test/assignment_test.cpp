#include "panto/numerics/assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "panto/numerics/random.hpp"

namespace panto {
namespace {

Eigen::MatrixXd draw(int rows, int columns, int trial) {
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&](Eigen::Index i, Eigen::Index j) {
    return uniform(7, static_cast<std::uint64_t>(trial), static_cast<std::uint64_t>(i * 100 + j));
  });
}

double total(const Eigen::MatrixXd& value, const std::vector<int>& column) {
  double sum = 0;
  for (size_t i = 0; i < column.size(); ++i)
    if (column[i] >= 0) sum += value(static_cast<Eigen::Index>(i), column[i]);
  return sum;
}

double best_of_all(const Eigen::MatrixXd& value) {  // rows <= columns
  std::vector<int> columns(static_cast<size_t>(value.cols()));
  std::iota(columns.begin(), columns.end(), 0);
  double best = -1;
  do {
    best = std::max(best, total(value, {columns.begin(), columns.begin() + value.rows()}));
  } while (std::next_permutation(columns.begin(), columns.end()));
  return best;
}

TEST(Assignment, IsTheBestOfAllPermutations) {
  for (int trial = 0; trial < 50; ++trial) {
    const Eigen::MatrixXd value = draw(1 + trial % 4, 4 + trial % 3, trial);
    EXPECT_NEAR(total(value, best_assignment(value)), best_of_all(value), 1e-14);
  }
}

TEST(Assignment, LeavesSurplusRowsOver) {
  const Eigen::MatrixXd value = draw(5, 3, 1);
  const std::vector<int> column = best_assignment(value);
  EXPECT_EQ(std::count(column.begin(), column.end(), -1), 2);
  EXPECT_NEAR(total(value, column), best_of_all(value.transpose()), 1e-14);
}

TEST(Assignment, OfNothingIsEmpty) { EXPECT_TRUE(best_assignment(Eigen::MatrixXd(0, 0)).empty()); }

}  // namespace
}  // namespace panto
