#include "panto/numerics/differentiate.hpp"

#include <algorithm>
#include <array>

#include "panto/base/contract.hpp"

namespace panto {
namespace {

constexpr int kMostPoints = 15, kMostOrder = 2;
// weights[k][j]: of sample j for derivative k.
using Weights = std::array<std::array<double, kMostPoints>, kMostOrder + 1>;

// B. Fornberg, Generation of finite difference formulas on arbitrarily spaced grids, Math. Comp. 51 (1988).
void fornberg(double at, std::span<const double> x, Weights& w) {
  for (auto& row : w) row.fill(0);
  w[0][0] = 1;
  double c1 = 1, c4 = x[0] - at;
  for (size_t i = 1; i < x.size(); ++i) {
    const int most = std::min<int>(static_cast<int>(i), kMostOrder);
    double c2 = 1;
    const double c5 = c4;
    c4 = x[i] - at;
    for (size_t j = 0; j < i; ++j) {
      const double c3 = x[i] - x[j];
      c2 *= c3;
      if (j + 1 == i) {
        for (int k = most; k > 0; --k) w[k][i] = c1 * (k * w[k - 1][i - 1] - c5 * w[k][i - 1]) / c2;
        w[0][i] = -c1 * c5 * w[0][i - 1] / c2;
      }
      for (int k = most; k > 0; --k) w[k][j] = (c4 * w[k][j] - k * w[k - 1][j]) / c3;
      w[0][j] = c4 * w[0][j] / c3;
    }
    c1 = c2;
  }
}

}  // namespace

std::vector<double> differentiate(std::span<const double> t, std::span<const double> y, int order,
                                  int points) {
  PANTO_EXPECT(t.size() == y.size(), "as many times as values");
  PANTO_EXPECT(order >= 1 && order <= kMostOrder, "first or second derivative");
  PANTO_EXPECT(points > order && points <= kMostPoints, "between 3 and 15 points");
  const size_t n = t.size();
  const size_t used = std::min(n, static_cast<size_t>(points));
  std::vector<double> out(n, 0.0);
  if (used <= static_cast<size_t>(order)) return out;
  Weights w{};
  for (size_t i = 0; i < n; ++i) {
    const size_t first = std::min(i > used / 2 ? i - used / 2 : 0, n - used);
    fornberg(t[i], t.subspan(first, used), w);
    for (size_t j = 0; j < used; ++j) out[i] += w[static_cast<size_t>(order)][j] * y[first + j];
  }
  return out;
}

}  // namespace panto
