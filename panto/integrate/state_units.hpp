// Units of the states in a run.
#pragma once

#include "panto/integrate/simulate.hpp"

namespace panto {

// Fills coordinate_units, speed_units and multiplier_units.
void describe_states(const Model& model, Run& run);

}  // namespace panto
