// Least deviation under nonlinear equations with sparse derivatives.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

namespace panto {

struct SparseEntry {
  int row = 0, column = 0;
  double value = 0;
};

// min ½ xᵀ H x - gᵀ x such that c(x) = 0. H symmetric positive semidefinite.
struct EqualityProgram {
  std::vector<SparseEntry> hessian;  // of H, the lower triangle; entries of one place add up
  Eigen::VectorXd g;
  Eigen::VectorXd start;
  // Added to the diagonal of H in steps alone, which become shorter where little holds x; the minimum stays where it is.
  double held = 0;
  // c(x) and, where `derivatives` is given, its derivatives: always in the same places and order. False: not finite there.
  std::function<bool(const Eigen::VectorXd& x, Eigen::VectorXd& c,
                     std::vector<SparseEntry>* derivatives)>
      equations;
  std::function<bool()> go_on;  // asked in every iteration, if there; false ends them
};

struct EqualityOptimum {
  bool solved = false, stopped = false;
  Eigen::VectorXd x;
  double left =
      0;  // largest entry of what steps to come would add to x, as the last two tell; of the last steps where they no longer fall, for round-off
  int iterations = 0;
};

// A minimum near the start by an interior point method (IPOPT), whose steps leave out the curvature of the equations: exact where they are linear, and converging the
// faster the smaller the multipliers are, that is the nearer the equations let x come to the free minimum. Solved: `left` is below the tolerance; small rows c alone do
// not tell, since rows may hardly feel some of x. Calls of several threads wait for each other.
EqualityOptimum minimise(const EqualityProgram& program, int iterations, double tolerance);

}  // namespace panto
