// Convex quadratic programs.
#pragma once

#include <Eigen/Core>

namespace panto {

// min ½ xᵀ H x - gᵀ x,  low ≤ x ≤ high,  row_low ≤ C x ≤ row_high; H symmetric positive semidefinite, infinite bounds: none.
struct QuadraticProgram {
  Eigen::MatrixXd h;
  Eigen::VectorXd g, low, high;
  Eigen::MatrixXd c;  // no rows: none
  Eigen::VectorXd row_low, row_high;
};

struct QuadraticOptimum {
  bool solved = false;
  Eigen::VectorXd x;
  // H x - g + bound + Cᵀ row = 0; positive at upper limits, negative at lower ones, zero elsewhere.
  Eigen::VectorXd bound, row;
  double kkt = 0;  // kkt_residual()
  int iterations = 0;
};

// Largest violation of the conditions of Karush, Kuhn and Tucker, each relative: stationarity to max|g| + max|H x|, limits to 1 + max|x|,
// complementarity (a multiplier times the distance from its limit, or one of the wrong sign) to the same scale of forces. Zero at the optimum alone.
double kkt_residual(const QuadraticProgram& problem, const QuadraticOptimum& at);

// The global minimum: interior point (IPOPT), then the equations of the limits that it found active, solved exactly where they confirm it. Where H is singular one of the
// minima. Not solved: limits contradict each other. Calls of several threads wait for each other (the interior point's linear solver keeps global state).
QuadraticOptimum minimise(const QuadraticProgram& problem);

}  // namespace panto
