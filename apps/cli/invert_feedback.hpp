// What `panto invert` tells of the feedback that a study tries.
#pragma once

#include <string>

#include "apps/cli/json.hpp"
#include "panto/io/feedback_report.hpp"

namespace panto::cli {

std::string feedback_text(const FeedbackReport& report);
// Members "feedback", "monte_carlo" of the present object.
void feedback_json(JsonWriter& json, const FeedbackReport& report);

}  // namespace panto::cli
