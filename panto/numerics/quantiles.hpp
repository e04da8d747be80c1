// Quantiles of the normal and χ² distributions: gates, bands and intervals.
#pragma once

namespace panto {

// x such that a standard normal number lies below it with this probability; 0 < p < 1.
double normal_quantile(double p);
// The same of χ² with any positive number of degrees of freedom (Wilson and Hilferty: 1 % or better from three degrees on).
double chi_squared_quantile(double p, double degrees);

}  // namespace panto
