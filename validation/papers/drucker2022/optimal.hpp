// Rows of Figure 6.4 for the formulations by optimisation.
#pragma once

#include "validation/cases.hpp"

namespace panto::validation::drucker2022 {

// opt-ode, opt-dae, idopt-ode, idopt-dae.
Result<std::vector<Row>> optimisation_rows();

}  // namespace panto::validation::drucker2022
