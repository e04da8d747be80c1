// Reports of pose selection and identification.
#pragma once

#include "panto/identification/identify.hpp"
#include "panto/identification/poses.hpp"
#include "panto/scene/report.hpp"

namespace panto::scene {

// The best pose drawn (the initial one as its ghost), the ranking, which frequency tells about which parameter, and where in the ranges good poses lie.
Report report_of_poses(const Model& model, const Params& params, const PoseStudy& study);

// The mechanism, parameters with their intervals, measured and fitted modes, all minima.
Report report_of_identification(const Model& model, const Identification& result);

}  // namespace panto::scene
