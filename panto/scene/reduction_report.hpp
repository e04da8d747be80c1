// The report of model reduction.
#pragma once

#include "panto/reduction/reduce.hpp"
#include "panto/scene/report.hpp"

namespace panto::scene {

// Sizes that the rankings need, error over size for each ranking side by side, what becomes of the modes, which interior modes matter.
Report report_of_reduction(const LinearSystem& system, const RankedReduction& result,
                           const ReduceOptions& options);

}  // namespace panto::scene
