// The families of fixed-step integrators; each answers nullptr to a name that is not its own.
#pragma once

#include "panto/integrate/stepper.hpp"

namespace panto {

using StepperPointer = std::unique_ptr<Stepper>;
StepperPointer make_explicit(std::string_view name, Ode& ode, const StepperOptions& options);
StepperPointer make_implicit(std::string_view name, Ode& ode, const StepperOptions& options);
StepperPointer make_bdf(std::string_view name, Ode& ode, const StepperOptions& options);
StepperPointer make_radau(std::string_view name, Ode& ode, const StepperOptions& options);
// radau5 as large models take it (INT-15); every independent coordinate is the integral of an independent speed.
StepperPointer make_sparse_radau(Ode& ode, const StepperOptions& options);
StepperPointer make_generalised_alpha(std::string_view name, Ode& ode,
                                      const StepperOptions& options);

}  // namespace panto
