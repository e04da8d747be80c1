// A linear solver of one's own inside CVODE and IDA.
#pragma once

#include <sundials/sundials_linearsolver.h>

namespace panto {

// A matrix and a direct solver for SUNDIALS that hand b to solve(self, b), b <- solution; the factors are made where SUNDIALS asks for the Jacobian.
struct OwnSolver {
  using Solve = void (*)(void* self, double* b);
  OwnSolver(SUNContext context, void* self, Solve solve);
  ~OwnSolver();
  OwnSolver(const OwnSolver&) = delete;
  OwnSolver& operator=(const OwnSolver&) = delete;
  SUNMatrix matrix = nullptr;
  SUNLinearSolver solver = nullptr;

 private:
  static int solve_vector(SUNLinearSolver, SUNMatrix, N_Vector x, N_Vector b, realtype);
  void* self_;
  Solve solve_;
};

}  // namespace panto
