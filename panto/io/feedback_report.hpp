// The feedback of a study tried out: every law on the model itself, on plants that differ from it, and on draws of them.
#pragma once

#include "panto/inversion/feedback/feedback_result.hpp"
#include "panto/io/invert_study.hpp"

namespace panto {

// Along an inversion of the same study. Errors: E1051 … E1058, those of observers (E08xx), E1059: the loop on the model itself fails, with its time.
// Warnings: W1059 the same of other plants, W1061 an actuator reaches its limit: when first, for which share of the cycles.
Result<FeedbackReport> run_feedback(const LoadedInvertStudy& study, const Inversion& inversion,
                                    const std::function<bool(double)>& progress = {});

// Inputs, outputs and coordinates of an inversion over time and of every loop, columns "law.plant.name"; as HDF5 where the name ends with .h5.
Diagnostics write_inversion(const Inversion& inversion, const FeedbackReport* feedback,
                            const std::string& path);

}  // namespace panto
