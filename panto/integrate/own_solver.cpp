#include "panto/integrate/own_solver.hpp"

#include <nvector/nvector_serial.h>

namespace panto {

OwnSolver::OwnSolver(SUNContext context, void* self, Solve solve)
    : matrix(SUNMatNewEmpty(context)),
      solver(SUNLinSolNewEmpty(context)),
      self_(self),
      solve_(solve) {
  matrix->ops->getid = [](SUNMatrix) { return SUNMATRIX_CUSTOM; };
  matrix->ops->zero = [](SUNMatrix) { return 0; };
  matrix->ops->destroy = [](SUNMatrix m) { SUNMatFreeEmpty(m); };
  solver->content = this;
  solver->ops->gettype = [](SUNLinearSolver) { return SUNLINEARSOLVER_DIRECT; };
  solver->ops->getid = [](SUNLinearSolver) { return SUNLINEARSOLVER_CUSTOM; };
  solver->ops->initialize = [](SUNLinearSolver) { return 0; };
  solver->ops->setup = [](SUNLinearSolver, SUNMatrix) { return 0; };
  solver->ops->solve = &OwnSolver::solve_vector;
  solver->ops->free = [](SUNLinearSolver s) {
    s->content = nullptr;
    SUNLinSolFreeEmpty(s);
    return 0;
  };
}

OwnSolver::~OwnSolver() {
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
}

int OwnSolver::solve_vector(SUNLinearSolver s, SUNMatrix, N_Vector x, N_Vector b, realtype) {
  const auto& me = *static_cast<const OwnSolver*>(s->content);
  if (x != b) N_VScale(1, b, x);
  me.solve_(me.self_, N_VGetArrayPointer(x));
  return 0;
}

}  // namespace panto
