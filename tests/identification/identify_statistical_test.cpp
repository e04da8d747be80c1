// Noisy frequencies: the spread of the parameters is the one computed independently, and the one that the covariance says.
#include "tests/identification/identify_case.hpp"

namespace panto {
namespace {

// 0.1 % noise on every frequency: standard deviations of kA, kB, kC in per cent (re-computed for Čepon et al.). With 2000 repeats a standard
// deviation is known to 1.6 %; the band is three times that and half a digit.
TEST(Noise, SpreadsAsComputedIndependently) {
  const std::pair<std::string, std::array<double, 3>> cases[] = {
      {test::kStraight, {0.57, 1.81, 1.31}}, {test::kBent, {0.27, 0.25, 0.21}}};
  for (const auto& [pose, percent] : cases) {
    const auto r =
        test::identified(test::kUnknown + pose + "[simulate]\nnoise = 0.001\nrepeats = 2000\n");
    ASSERT_TRUE(r) << r.diagnostics().text();
    EXPECT_EQ(r->repeats, 2000);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(100 * r->errors[i].std, percent[i], 0.05 * percent[i] + 0.005);
      EXPECT_NEAR(100 * r->parameters[i].std / r->parameters[i].value, percent[i],
                  0.1 * percent[i] + 0.005);
    }
  }
}

// 95 % intervals hold the truth in 95 % of the cases: of 200, 190 ± 3 · 3.1.
TEST(Noise, IntervalsHoldTheTruth) {
  int held = 0;
  for (int seed = 0; seed < 200; ++seed) {
    const auto r =
        test::identified("starts = 1\nseed = " + std::to_string(seed) + "\n" +
                         "model = \"three_link\"\nparameters = { kA = {}, kB = {}, kC = {} }\n" +
                         test::kBent + "[simulate]\nnoise = 0.001\n");
    ASSERT_TRUE(r) << r.diagnostics().text();
    const IdentifiedParameter& p = r->parameters[1];
    held += p.from <= 13.9 && 13.9 <= p.to ? 1 : 0;
  }
  EXPECT_GE(held, 180);
  EXPECT_LE(held, 199);
}

}  // namespace
}  // namespace panto
