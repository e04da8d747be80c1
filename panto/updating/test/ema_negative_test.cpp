#include <gtest/gtest.h>

#include <limits>

#include "panto/updating/ema.hpp"
#include "panto/updating/test/modal_case.hpp"

namespace panto {
namespace {

FrequencyData example() {
  return test::responses_of(
      test::string_modes(Eigen::Vector2d(10, 20), Eigen::Vector2d(0.01, 0.01), 4, 2),
      Eigen::VectorXd::LinSpaced(200, 0.2, 40));
}

TEST(BadEma, ABandWithTooFewLinesIsRefused) {
  EmaOptions options;
  options.from_hz = 5;
  options.to_hz = 12;
  EXPECT_EQ(ema(example(), options).diagnostics().text(),
            "error[E0958]: 36 lines between 5 and 12 Hz are too few for the order 40: at least 82 "
            "are needed; widen the band or lower the order\n");
}

TEST(BadEma, ResponsesThatAreNotCompleteAreLeftOutWithAWarning) {
  FrequencyData data = example();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  data.h.col(data.pair(1, 0)).setConstant({nan, nan});
  const auto found = ema(data);
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  EXPECT_EQ(found.diagnostics().text(),
            "warning[W0961]: responses that were not measured for every excitation are left out: "
            "\"r1\"\n");
  EXPECT_EQ(found->responses.size(), 3U);
  data.h.leftCols(4).setConstant({nan, nan});
  EXPECT_NE(ema(data).diagnostics().text().find("E0958"), std::string::npos);
}

TEST(BadEma, AFrequencyWithoutAPoleIsRefused) {
  EmaOptions options;
  options.select_hz = {10, 15};
  EXPECT_EQ(ema(example(), options).diagnostics().text(),
            "error[E0960]: no stable pole near 15 Hz\n");
}

TEST(BadEma, NoiseAloneHasNoModes) {
  FrequencyData data = example();
  data.h.setConstant(1);
  test::add_noise(data, 1, 3);
  data.h.array() -= 1;
  const auto found = ema(data);
  // Where a chance pole is found, it stands in doubt.
  if (found) {
    EXPECT_NE(found.diagnostics().text().find("W0962"), std::string::npos);
  } else {
    EXPECT_NE(found.diagnostics().text().find("E0960"), std::string::npos);
  }
}

TEST(BadEma, ModesThatWereNotSelectedLeaveResponsesUnexplained) {
  EmaOptions options;
  options.select_hz = {10};
  const auto found = ema(example(), options);
  ASSERT_TRUE(found.ok());
  EXPECT_NE(found.diagnostics().text().find("W0962"), std::string::npos);
}

}  // namespace
}  // namespace panto
