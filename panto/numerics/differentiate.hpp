// Derivatives of sampled functions.
#pragma once

#include <span>
#include <vector>

namespace panto {

// First (order 1) or second (order 2) derivative at every sample: that of the polynomial through the nearest `points` samples, by
// Fornberg's weights. t strictly increasing, not necessarily uniform; exact for polynomials of degree below `points`, otherwise the error
// is of order h^(points - order), one-sided at the ends. Fewer samples than `points`: all are used. Noise is amplified by h^-order.
std::vector<double> differentiate(std::span<const double> t, std::span<const double> y, int order,
                                  int points = 7);

}  // namespace panto
