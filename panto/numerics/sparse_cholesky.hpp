// Cholesky factorisation of sparse symmetric matrices whose pattern stays: ordered and laid out once, then factorised again and again without
// allocation.
#pragma once

#include <utility>
#include <vector>

namespace panto {

class SparseCholesky {
 public:
  // Entries (row, column) with row >= column, the diagonal among them; values of factor() come in this order.
  SparseCholesky(int size, const std::vector<std::pair<int, int>>& lower);

  // False where the matrix is not positive definite: a pivot falls below `tolerance` times its diagonal entry.
  [[nodiscard]] bool factor(const double* value, double tolerance) noexcept;
  // x <- A⁻¹ x
  void solve(double* x) const noexcept;

  [[nodiscard]] int size() const { return static_cast<int>(place_.size()); }
  // Non-zeros of the factor.
  [[nodiscard]] int entries() const { return static_cast<int>(l_.size()); }

 private:
  // L by columns, first the diagonal, rows ascending; all in the order of elimination.
  std::vector<int> start_, row_;
  std::vector<double> l_;
  // Row i of L: its columns, ascending, and where the entries stand in l_.
  std::vector<int> row_start_, row_column_, row_entry_;
  // Row i of the matrix: columns and places in `value`.
  std::vector<int> a_start_, a_column_, a_value_;
  std::vector<int> place_;  // unknown -> place in the order
  std::vector<double> work_;
  mutable std::vector<double> x_;
};

}  // namespace panto
