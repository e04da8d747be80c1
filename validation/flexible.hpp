// Natural frequencies of flexible mechanisms beside printed ones.
#pragma once

#include "panto/linear/operating_point.hpp"
#include "validation/support.hpp"

namespace panto::validation {

// Frequencies [Hz] of the elastic modes: those above the modes of the rigid links, one for each of their degrees of freedom.
Result<std::vector<double>> elastic_frequencies(const std::string& model, Operation operation);

// One row per printed value. Band: `digit` plus `share` of the printed value.
std::vector<Row> frequency_rows(const std::vector<double>& printed,
                                const std::vector<double>& computed, double digit, double share);

}  // namespace panto::validation
