// The report of an inverse model.
#pragma once

#include "panto/inversion/feedback/feedback_result.hpp"
#include "panto/inversion/invert.hpp"
#include "panto/scene/report.hpp"

namespace panto::scene {

// The mechanism as the inverse model moves it, with the desired way of every point that outputs follow; outputs desired and achieved with the error, inputs in
// their limits, coordinates and speeds, poles and zeros, what the analysis says, cost of the cycles.
Report report_of_inversion(const Model& model, const Params& params, const Inversion& inversion,
                           const std::vector<InputLimit>& limits);

// Whether zeros in the right half plane are so near to the axis that they do not limit the weight of a redefined output (`marginal` of its study).
bool redefinition_tolerates(const Inversion& inversion);

// Of the feedback that its study tried, before all that: per plant the errors of the outputs and the inputs of every law, one table of all; statistics over draws.
void add_feedback(const FeedbackReport& feedback, const Inversion& inverse, Report& report);

}  // namespace panto::scene
