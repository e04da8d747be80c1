// Report of a twin study of state observers.
#pragma once

#include "panto/estimation/twin.hpp"
#include "panto/scene/report.hpp"

namespace panto::scene {

// The table of the grid, RMS error over the rate, and for the runs whose course was kept: truth, estimate and its 95 % band, error, innovations, their
// autocorrelation and spectrum.
Report report_of_observation(const TwinResult& result);

}  // namespace panto::scene
