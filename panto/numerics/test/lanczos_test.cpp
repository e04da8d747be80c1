// Differentiators of noisy samples: printed weights, polynomials, delay and noise.
#include "panto/numerics/lanczos.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "panto/numerics/random.hpp"

namespace panto {
namespace {

// Lanczos: (f1 - f-1 + 2 (f2 - f-2) + 3 (f3 - f-3)) / 28 h.
TEST(LanczosWeights, OfSevenPointsAreThePrintedOnes) {
  for (const int degree : {1, 2}) {
    const auto w = lanczos_weights(7, degree, 1, 3);
    for (int k = -3; k <= 3; ++k) EXPECT_NEAR(w[static_cast<size_t>(k + 3)], k / 28.0, 1e-14);
  }
}

TEST(Lanczos, IsExactForPolynomialsOfItsDegreeAlsoAtTheEnds) {
  const double h = 0.1;
  std::vector<double> y, slope, bend;
  for (int k = 0; k < 30; ++k) {
    const double t = h * k;
    y.push_back(1 + 2 * t - 0.5 * t * t + 0.3 * t * t * t);
    slope.push_back(2 - t + 0.9 * t * t);
    bend.push_back(-1 + 1.8 * t);
  }
  const auto first = lanczos(y, h, 1, 9, 3), second = lanczos(y, h, 2, 9, 3);
  CausalLanczos causal(9, 3, 1, h);
  for (size_t k = 0; k < y.size(); ++k) {
    EXPECT_NEAR(first[k], slope[k], 1e-11);
    EXPECT_NEAR(second[k], bend[k], 1e-10);
    const double now = causal.next(y[k]);
    EXPECT_EQ(causal.ready(), k >= 8);
    EXPECT_NEAR(now, k >= 8 ? slope[k] : 0, 1e-11);
  }
}

// Of degree 1 the causal one is the centred one, three samples late.
TEST(CausalLanczos, OfLowestDegreeIsTheCentredOneLate) {
  const double h = 1e-3;
  std::vector<double> y;
  y.reserve(200);
  for (int k = 0; k < 200; ++k)
    y.push_back(std::sin(40 * h * k) + 0.01 * normal(3, 0, static_cast<std::uint64_t>(k)));
  const auto centred = lanczos(y, h, 1, 7, 1);
  CausalLanczos causal(7, 1, 1, h);
  for (size_t k = 0; k < y.size(); ++k) {
    const double now = causal.next(y[k]);
    if (k >= 6) {
      EXPECT_NEAR(now, centred[k - 3], 1e-9);
    }
  }
  causal.reset();
  EXPECT_FALSE(causal.ready());
}

// 20000 samples, of which neighbours share what they use, about 3000 independent ones: known to 1.3 %, three of that allowed.
TEST(Lanczos, PassesNoiseOfTheSizeOfItsWeights) {
  const double h = 0.01, sigma = 0.003;
  std::vector<double> y;
  y.reserve(20000);
  for (int k = 0; k < 20000; ++k) y.push_back(sigma * normal(7, 0, static_cast<std::uint64_t>(k)));
  const auto d = lanczos(y, h);
  double square = 0, weights = 0;
  for (const double e : d) square += e * e;
  for (const double w : lanczos_weights(7, 2, 1, 3)) weights += w * w;
  const double expected = sigma * std::sqrt(weights) / h;
  EXPECT_NEAR(std::sqrt(square / static_cast<double>(d.size())), expected, 0.04 * expected);
}

}  // namespace
}  // namespace panto
