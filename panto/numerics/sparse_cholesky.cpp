#include "panto/numerics/sparse_cholesky.hpp"

#include <suitesparse/amd.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "panto/base/contract.hpp"

namespace panto {

SparseCholesky::SparseCholesky(int size, const std::vector<std::pair<int, int>>& lower)
    : place_(static_cast<size_t>(size)),
      work_(static_cast<size_t>(size), 0.0),
      x_(static_cast<size_t>(size), 0.0) {
  // Least fill by approximate minimum degree. Columns of the lower triangle.
  std::vector<std::vector<int>> below(static_cast<size_t>(size));
  for (const auto& [i, j] : lower) {
    PANTO_EXPECT(i >= j && j >= 0 && i < size, "entries of the lower triangle");
    below[static_cast<size_t>(j)].push_back(i);
  }
  std::vector<int> first{0}, rows_below,
      order(static_cast<size_t>(size));  // order: place -> unknown
  for (auto& column : below) {
    std::sort(column.begin(), column.end());
    rows_below.insert(rows_below.end(), column.begin(), column.end());
    first.push_back(static_cast<int>(rows_below.size()));
  }
  const int status =
      amd_order(size, first.data(), rows_below.data(), order.data(), nullptr, nullptr);
  PANTO_EXPECT(status == AMD_OK, "each entry once");
  for (int i = 0; i < size; ++i) place_[static_cast<size_t>(order[static_cast<size_t>(i)])] = i;
  // Rows of the matrix in that order.
  const auto n = static_cast<size_t>(size);
  std::vector<std::vector<std::pair<int, int>>> rows(n);  // (column, index of value)
  for (size_t k = 0; k < lower.size(); ++k) {
    const int a = place_[static_cast<size_t>(lower[k].first)],
              b = place_[static_cast<size_t>(lower[k].second)];
    rows[static_cast<size_t>(std::max(a, b))].emplace_back(std::min(a, b), static_cast<int>(k));
  }
  // Row i of L: columns of A's row and, from each of them, the way up the elimination tree to i.
  std::vector<int> parent(n, -1);
  std::vector<std::vector<int>> l_rows(n), l_columns(n);
  a_start_.push_back(0);
  for (int i = 0; i < size; ++i) {
    std::set<int> columns;
    for (const auto& [column, value] : rows[static_cast<size_t>(i)]) {
      a_column_.push_back(column);
      a_value_.push_back(value);
      for (int k = column; k >= 0 && k < i && columns.insert(k).second;) {
        int& up = parent[static_cast<size_t>(k)];
        if (up < 0) up = i;
        k = up;
      }
    }
    a_start_.push_back(static_cast<int>(a_column_.size()));
    l_rows[static_cast<size_t>(i)].assign(columns.begin(), columns.end());
    l_columns[static_cast<size_t>(i)].push_back(i);
    for (int k : columns) l_columns[static_cast<size_t>(k)].push_back(i);
  }
  start_.push_back(0);
  for (const auto& column : l_columns) {
    row_.insert(row_.end(), column.begin(), column.end());
    start_.push_back(static_cast<int>(row_.size()));
  }
  l_.assign(row_.size(), 0.0);
  row_start_.push_back(0);
  std::vector<int> next(start_.begin(), start_.end() - 1);
  for (int i = 0; i < size; ++i) {
    for (int k : l_rows[static_cast<size_t>(i)]) {
      row_column_.push_back(k);
      row_entry_.push_back(++next[static_cast<size_t>(k)]);
    }
    row_start_.push_back(static_cast<int>(row_column_.size()));
  }
}

bool SparseCholesky::factor(const double* value, double tolerance) noexcept {
  double *work = work_.data(), *l = l_.data();
  const int *start = start_.data(), *row = row_.data();
  for (int i = 0; i < size(); ++i) {
    for (int k = a_start_[static_cast<size_t>(i)]; k < a_start_[static_cast<size_t>(i) + 1]; ++k)
      work[a_column_[static_cast<size_t>(k)]] += value[a_value_[static_cast<size_t>(k)]];
    const double whole = work[i];
    double pivot = whole;
    for (int p = row_start_[static_cast<size_t>(i)]; p < row_start_[static_cast<size_t>(i) + 1];
         ++p) {
      const int j = row_column_[static_cast<size_t>(p)], entry = row_entry_[static_cast<size_t>(p)];
      const double e = work[j] / l[start[j]];
      work[j] = 0;
      for (int k = start[j] + 1; k < entry; ++k) work[row[k]] -= l[k] * e;
      l[entry] = e;
      pivot -= e * e;
    }
    work[i] = 0;
    if (!(pivot > tolerance * whole)) {
      std::fill(work_.begin(), work_.end(), 0.0);
      return false;
    }
    l[start[i]] = std::sqrt(pivot);
  }
  return true;
}

void SparseCholesky::solve(double* x) const noexcept {
  const int n = size(), *start = start_.data(), *row = row_.data(), *place = place_.data();
  const double* l = l_.data();
  double* y = x_.data();
  for (int i = 0; i < n; ++i) y[place[i]] = x[i];
  for (int j = 0; j < n; ++j) {
    const double e = y[j] /= l[start[j]];
    for (int k = start[j] + 1; k < start[j + 1]; ++k) y[row[k]] -= l[k] * e;
  }
  for (int j = n; j-- > 0;) {
    double e = y[j];
    for (int k = start[j] + 1; k < start[j + 1]; ++k) e -= l[k] * y[row[k]];
    y[j] = e / l[start[j]];
  }
  for (int i = 0; i < n; ++i) x[i] = y[place[i]];
}

}  // namespace panto
