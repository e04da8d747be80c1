// The largest step with which an explicit method can follow the motion linearised at a state (INT-12).
#pragma once

#include <complex>
#include <limits>
#include <string>
#include <string_view>

#include "panto/integrate/ode.hpp"

namespace panto {

// Eigenvalues of the motion linearised at (t, x), damping and gyroscopic terms included: all of a model of ordinary size, the ones of largest
// magnitude of a large one. Cost: one tangent of the equations of motion and one small eigenproblem; of a large model with a sparse matrix some hundred
// evaluations, linear in its elements.
[[nodiscard]] Status fast_eigenvalues(Ode& ode, double t, View x, Eigen::VectorXcd& values);

struct StepLimit {
  double step = std::numeric_limits<double>::infinity();  // [s]; infinity: no mode sets a limit
  std::complex<double> eigenvalue;                        // of the mode that sets it
};

// For "euler", "semi_implicit_euler" and "rk4"; no limit for any other method. What grows by itself sets no limit: of a growing oscillation only the
// frequency counts. Explicit Euler lets every undamped oscillation grow: its limit is the step with which a mode grows a millionfold until
// the end of the run.
StepLimit step_limit(std::string_view integrator, const Eigen::VectorXcd& eigenvalues,
                     double until);

// "oscillates at 4668 Hz", with its damping ratio where that is felt, or "decays with a rate of 1e5 1/s".
std::string describe_mode(std::complex<double> eigenvalue);

}  // namespace panto
