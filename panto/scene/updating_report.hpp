// The report of model updating.
#pragma once

#include "panto/scene/report.hpp"
#include "panto/updating/update.hpp"

namespace panto::scene {

// Measured shapes that move, frequency errors and MAC before and after, side-by-side shapes, L-curve, parameters.
Report report_of_updating(const Model& model, const Updating& result);

}  // namespace panto::scene
