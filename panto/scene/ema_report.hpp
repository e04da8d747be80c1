// The report of an experimental modal analysis: stabilisation diagram, synthesised and measured responses, modes.
#pragma once

#include "panto/scene/report.hpp"
#include "panto/updating/ema.hpp"

namespace panto::scene {

Report report_of_ema(const Ema& result, const std::string& title);

}  // namespace panto::scene
