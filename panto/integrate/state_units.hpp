// Units of what a run holds.
#pragma once

#include "panto/integrate/simulate.hpp"

namespace panto {

// Fills coordinate_units, speed_units and multiplier_units.
void describe_states(const Model& model, Run& run);

// Angles count as dimensionless; outputs that are angles show it: "rad", "rad/s", "rad/s^2".
std::string unit_of(const Output& output);

}  // namespace panto
