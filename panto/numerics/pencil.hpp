// Matrix pencils s E - A of differential-algebraic equations E ẋ = A x + B u, of any index, by orthogonal reduction.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <vector>

namespace panto {

// What remains of E ẋ = A x + B u when the algebraic equations are solved, and those that they hide (PEN-1):
//   x = N z, E_z ż = A_z z + B_z u with E_z regular.
// Every reduction takes out the rows without derivatives: 0 = A_2 x leaves x = N_2 x', and as many rows as unknowns. The number of reductions is the
// index; the finite eigenvalues are those of (A_z, E_z), without the spurious ones that QZ makes of infinite eigenvalues of high multiplicity.
struct PencilStructure {
  bool regular = false;  // false: det(s E - A) = 0 for every s, the rest is meaningless
  int index = 0;
  Eigen::MatrixXd N, E, A, B;
  // Largest entry of B in rows without derivatives, relative to all of B: not zero where inputs act directly on algebraic equations.
  double direct = 0;
  // How clear the decisions on ranks were: smallest pivot that counted, largest that did not, relative to the largest.
  double smallest_kept = 1, largest_dropped = 0;

  // By decreasing real part.
  [[nodiscard]] std::vector<std::complex<double>> values() const;
};

// Rows and columns are scaled first. Pivots below `tolerance` times the largest count as zero. B: may have no columns.
PencilStructure reduce_pencil(const Eigen::MatrixXd& e, const Eigen::MatrixXd& a,
                              const Eigen::MatrixXd& b, double tolerance = 1e-9);

}  // namespace panto
