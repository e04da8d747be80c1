#include "panto/numerics/assignment.hpp"

#include <limits>

#include "panto/base/contract.hpp"

namespace panto {

namespace {

// Kuhn–Munkres with potentials u (rows), v (columns); rows <= columns. Column 0 and row 0 stand for "none".
std::vector<int> assign_rows(const Eigen::MatrixXd& cost) {
  const auto n = static_cast<size_t>(cost.rows()), m = static_cast<size_t>(cost.cols());
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<double> u(n + 1), v(m + 1);
  std::vector<size_t> row_of(m + 1), before(m + 1);
  for (size_t i = 1; i <= n; ++i) {
    row_of[0] = i;
    size_t j = 0;
    std::vector<double> distance(m + 1, kFar);
    std::vector<char> done(m + 1);
    do {
      done[j] = 1;
      const size_t row = row_of[j];
      double step = kFar;
      size_t next = 0;
      for (size_t k = 1; k <= m; ++k) {
        if (done[k] != 0) continue;
        const double d =
            cost(static_cast<Eigen::Index>(row) - 1, static_cast<Eigen::Index>(k) - 1) - u[row] -
            v[k];
        if (d < distance[k]) {
          distance[k] = d;
          before[k] = j;
        }
        if (distance[k] < step) {
          step = distance[k];
          next = k;
        }
      }
      for (size_t k = 0; k <= m; ++k) {
        if (done[k] != 0) {
          u[row_of[k]] += step;
          v[k] -= step;
        } else {
          distance[k] -= step;
        }
      }
      j = next;
    } while (row_of[j] != 0);
    for (; j != 0; j = before[j]) row_of[j] = row_of[before[j]];
  }
  std::vector<int> column(n, -1);
  for (size_t k = 1; k <= m; ++k)
    if (row_of[k] != 0) column[row_of[k] - 1] = static_cast<int>(k) - 1;
  return column;
}

}  // namespace

std::vector<int> best_assignment(const Eigen::MatrixXd& value) {
  PANTO_EXPECT(value.allFinite(), "values to assign must be finite");
  if (value.rows() <= value.cols()) return assign_rows(-value);
  const std::vector<int> row = assign_rows(-value.transpose());
  std::vector<int> column(static_cast<size_t>(value.rows()), -1);
  for (size_t k = 0; k < row.size(); ++k) column[static_cast<size_t>(row[k])] = static_cast<int>(k);
  return column;
}

}  // namespace panto
