#include "panto/numerics/quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "panto/base/contract.hpp"

namespace panto {

// Newton on log p, which is concave: monotone from the left of the solution, and by symmetry only p <= 1/2 is solved.
double normal_quantile(double p) {
  PANTO_EXPECT(p > 0 && p < 1, "a probability between 0 and 1");
  if (p > 0.5) return -normal_quantile(1 - p);
  double x = -std::sqrt(-2 * std::log(p));
  for (int k = 0; k < 100; ++k) {
    const double below = 0.5 * std::erfc(-x / std::numbers::sqrt2);
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
    const double step = (std::log(below) - std::log(p)) * below / density;
    x -= step;
    if (std::abs(step) <= 1e-15 * std::max(1.0, std::abs(x))) break;
  }
  return x;
}

double chi_squared_quantile(double p, double degrees) {
  PANTO_EXPECT(degrees > 0, "degrees of freedom are positive");
  const double c = 2 / (9 * degrees), root = 1 - c + normal_quantile(p) * std::sqrt(c);
  return degrees * std::max(0.0, root * root * root);
}

}  // namespace panto
