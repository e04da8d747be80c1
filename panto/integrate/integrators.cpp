#include "panto/integrate/adaptive.hpp"
#include "panto/integrate/motion_matrix.hpp"
#include "panto/integrate/simulate.hpp"

namespace panto {

const std::vector<IntegratorInfo>& integrators() {
  static const std::vector<IntegratorInfo> kAll = {
      {"euler", "explicit Euler", 1, true, false},
      {"semi_implicit_euler", "speeds first, then coordinates with the new speeds", 1, true, false},
      {"rk4", "classical Runge-Kutta", 4, true, false},
      {"implicit_euler", "implicit Euler", 1, true, true},
      {"trapezoidal", "trapezoidal rule in independent coordinates", 2, true, true},
      {"bdf1", "backward differentiation, order 1", 1, true, true},
      {"bdf2", "backward differentiation, order 2", 2, true, true},
      {"bdf3", "backward differentiation, order 3", 3, true, true},
      {"bdf4", "backward differentiation, order 4", 4, true, true},
      {"bdf5", "backward differentiation, order 5", 5, true, true},
      {"bdf6", "backward differentiation, order 6", 6, true, true},
      {"radau5", "Radau IIA, three stages", 5, true, true},
      {"generalised_alpha", "generalised-alpha, spectral radius 0.9", 2, true, true},
      {"auto", "variable step: cvode, or cvode_bdf once stiffness is met; radau5 on long beams", 0,
       false, false},
      {"cvode", "variable step: Adams to order 12, not stiff (SUNDIALS CVODE)", 0, false, false},
      {"ida", "variable step: stabilised index-2 equations (SUNDIALS IDA)", 0, false, true},
      {"cvode_bdf", "variable step: BDF to order 5, stiff (SUNDIALS CVODE)", 0, false, true},
  };
  return kAll;
}

std::unique_ptr<Adaptive> Adaptive::create(std::string_view name, Ode& ode, double tol) {
  if (name == "auto" && MotionMatrix::many_vibrations(ode)) return make_variable_radau(ode, tol);
  if (auto cvode = make_cvode(name, ode, tol)) return cvode;
  return make_ida(name, ode, tol);
}

}  // namespace panto
