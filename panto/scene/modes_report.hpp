// The report of a linearised mechanism: mode shapes that move, frequencies, strained elements, frequency responses.
#pragma once

#include "panto/linear/modes.hpp"
#include "panto/scene/report.hpp"

namespace panto::scene {

Report report_of_modes(Workspace& workspace, const OperatingPoint& point,
                       const panto::Modes& modes);

}  // namespace panto::scene
