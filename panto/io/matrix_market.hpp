// Sparse matrices as Matrix Market files, the exchange format of numerical programs.
#pragma once

#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/numerics/sparse_pairs.hpp"

namespace panto {

// Names of rows come from comments "%dof <name>", one each, in order; other comments are skipped.
struct MatrixFile {
  SparseMatrix matrix;
  std::vector<std::string> names;
};

// Real or integer matrices, "coordinate" or "array", general or symmetric (then of either triangle). E0916 with the line where something is wrong;
// E0621, E0622 where the file cannot be read.
Result<MatrixFile> read_matrix_market(const std::string& path);

// Coordinate format with 17 digits; symmetric: the lower triangle alone.
Diagnostics write_matrix_market(const SparseMatrix& matrix, bool symmetric,
                                const std::vector<std::string>& names, const std::string& path);

}  // namespace panto
