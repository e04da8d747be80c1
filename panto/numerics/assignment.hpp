// Who goes with whom: the pairing of rows and columns with the largest total value.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace panto {

// For each row of `value` its column, -1 where there are more rows than columns and the row is left over. Each column is taken at most once,
// min(rows, columns) pairs are made and the sum of their values is the largest possible. Cost: rows² · columns (shortest augmenting paths).
// Entries must be finite.
std::vector<int> best_assignment(const Eigen::MatrixXd& value);

}  // namespace panto
