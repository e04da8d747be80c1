#include <gtest/gtest.h>

#include <cmath>

#include "panto/updating/ema.hpp"
#include "panto/updating/test/modal_case.hpp"

namespace panto {
namespace {

using test::KnownModes;

KnownModes seven_modes(int responses, int excitations) {
  Eigen::VectorXd f(7), z(7);
  f << 12.4, 23.1, 41.7, 66.0, 71.5, 110.2, 151.9;
  z << 0.012, 0.008, 0.004, 0.006, 0.005, 0.003, 0.01;
  KnownModes m = test::string_modes(f, z, responses, excitations);
  m.upper = Eigen::MatrixXd::Constant(responses, excitations, 2e-7);
  m.lower = Eigen::MatrixXd::Constant(responses, excitations, 0.03);
  return m;
}

void expect_modes(const Ema& found, const KnownModes& known, double frequency, double damping,
                  double mac) {
  ASSERT_EQ(found.modes.size(), static_cast<size_t>(known.frequency_hz.size()));
  for (size_t k = 0; k < found.modes.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    EXPECT_LE(std::abs(found.modes[k].frequency_hz / known.frequency_hz(i) - 1), frequency) << k;
    EXPECT_LE(std::abs(found.modes[k].damping / known.damping(i) - 1), damping) << k;
    EXPECT_GE(modal_assurance(found.modes[k].shape, known.shapes.col(i)), mac) << k;
    EXPECT_GE(modal_assurance(found.modes[k].participation, known.participation.col(i)), mac) << k;
  }
}

TEST(Ema, ExactResponsesOfAModalModelAreRecoveredToRoundOff) {
  const KnownModes known = seven_modes(8, 3);
  for (const Motion motion : {Motion::kDisplacement, Motion::kVelocity, Motion::kAcceleration}) {
    const FrequencyData data =
        test::responses_of(known, Eigen::VectorXd::LinSpaced(1024, 0.2, 180), motion);
    const auto found = ema(data);
    ASSERT_TRUE(found.ok()) << found.diagnostics().text();
    // Round-off of 1e-16, amplified by the ratio of frequency to half-width of the sharpest mode (300) and by what residuals and modes share.
    expect_modes(*found, known, 1e-11, 1e-9, 1 - 1e-12);
    EXPECT_GE(found->correlation.minCoeff(), 1 - 1e-12);
    EXPECT_NEAR(found->upper(1, 1), 2e-7, 1e-13);
    EXPECT_NEAR(found->lower(1, 1), 0.03, 1e-8);
    for (const EmaMode& m : found->modes) {
      EXPECT_NEAR(m.mpc, 1, 1e-9);
      EXPECT_NEAR(m.mpd, 0, 1e-4);
    }
  }
}

TEST(Ema, TheWindowsShareOfTheDampingIsTakenOut) {
  const KnownModes known = seven_modes(6, 2);
  // Rate of a window that falls to 10 % in 16 s times ten: it more than doubles the damping of the first mode.
  const double window = 1.44;
  const FrequencyData data = test::responses_of(known, Eigen::VectorXd::LinSpaced(1024, 0.2, 180),
                                                Motion::kAcceleration, window);
  const auto found = ema(data);
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  expect_modes(*found, known, 1e-10, 1e-8, 1 - 1e-12);
  FrequencyData forgotten = data;
  forgotten.window_decay = 0;
  const auto wrong = ema(forgotten);
  ASSERT_TRUE(wrong.ok());
  const double share = window / (2 * std::numbers::pi * known.frequency_hz(0));
  EXPECT_NEAR(wrong->modes[0].damping, known.damping(0) + share, 0.02 * share);
}

TEST(Ema, NoiseOfOneToFivePercentLeavesModesWithinTheBounds) {
  const KnownModes known = seven_modes(12, 3);
  const FrequencyData clean =
      test::responses_of(known, Eigen::VectorXd::LinSpaced(2048, 180.0 / 2048, 180));
  for (const double noise : {0.01, 0.02, 0.05})
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      FrequencyData data = clean;
      test::add_noise(data, noise, seed);
      const auto found = ema(data);
      ASSERT_TRUE(found.ok()) << found.diagnostics().text();
      expect_modes(*found, known, 1e-3, 0.05, 0.99);
      // Estimated deviations hold the errors: five of them in 63 draws of each kind.
      for (size_t k = 0; k < found->modes.size(); ++k) {
        const EmaMode& m = found->modes[k];
        const auto i = static_cast<Eigen::Index>(k);
        EXPECT_LE(std::abs(m.frequency_hz - known.frequency_hz(i)), 5 * m.frequency_sigma);
        EXPECT_LE(std::abs(m.damping - known.damping(i)), 5 * m.damping_sigma);
      }
    }
}

// A full test: 21 responses to 15 excitations, where the first mode is a hundredth of the largest in acceleration. Noise adds a multiple of 1 to EMA-3, which hides
// such modes from the poles of the whole band at any order (two of seven at 5 %); what the others leave shows them.
TEST(Ema, AFullTestOf315ResponsesShowsItsWeakModes) {
  const KnownModes known = seven_modes(21, 15);
  const FrequencyData clean =
      test::responses_of(known, Eigen::VectorXd::LinSpaced(1600, 0.125, 200));
  for (const double noise : {0.01, 0.05}) {
    FrequencyData data = clean;
    test::add_noise(data, noise, 1);
    const auto found = ema(data);
    ASSERT_TRUE(found.ok()) << found.diagnostics().text();
    expect_modes(*found, known, 1e-3, 0.05, 0.99);
    EXPECT_EQ(found.diagnostics().text(), "");
    EmaOptions options;
    options.select_hz = {12.4};  // by hand as well
    EXPECT_TRUE(ema(data, options).ok()) << noise;
  }
}

TEST(Ema, TwoModesCloserThanTheirWidthsNeedTwoReferences) {
  Eigen::VectorXd f(3), z(3);
  f << 30, 50, 50.15;
  z << 0.01, 0.01, 0.01;  // half-width 0.5 Hz
  const KnownModes known = test::string_modes(f, z, 10, 3);
  FrequencyData data = test::responses_of(known, Eigen::VectorXd::LinSpaced(1500, 0.1, 100));
  test::add_noise(data, 0.002, 5);
  const auto found = ema(data);
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  expect_modes(*found, known, 1e-3, 0.05, 0.99);
}

TEST(Ema, ComplexModesAreTold) {
  KnownModes known = seven_modes(8, 2);
  for (Eigen::Index i = 0; i < 8; ++i)
    known.shapes(i, 2) *= std::polar(1.0, 0.2 * static_cast<double>(i));
  const auto found = ema(test::responses_of(known, Eigen::VectorXd::LinSpaced(1024, 0.2, 180)));
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  expect_modes(*found, known, 1e-10, 1e-8, 1 - 1e-10);
  EXPECT_LT(found->modes[2].mpc, 0.8);
  EXPECT_GT(found->modes[2].mpd, 0.1);
}

TEST(Ema, PolesAreSelectedByHand) {
  const KnownModes known = seven_modes(8, 2);
  EmaOptions options;
  options.select_hz = {23.2, 110};
  const auto found =
      ema(test::responses_of(known, Eigen::VectorXd::LinSpaced(1024, 0.2, 180)), options);
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  ASSERT_EQ(found->modes.size(), 2U);
  EXPECT_NEAR(found->modes[0].frequency_hz, 23.1, 0.02);
  EXPECT_NEAR(found->modes[1].frequency_hz, 110.2, 0.1);
}

TEST(Ema, ABandLeavesTheOtherModesToTheResidualTerms) {
  const KnownModes known = seven_modes(8, 2);
  EmaOptions options;
  options.from_hz = 55;
  options.to_hz = 90;
  const auto found =
      ema(test::responses_of(known, Eigen::VectorXd::LinSpaced(4096, 0.2, 180)), options);
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  ASSERT_EQ(found->modes.size(), 2U);
  // The tails of modes outside are no exact residual terms.
  EXPECT_NEAR(found->modes[0].frequency_hz, 66, 1e-3 * 66);
  EXPECT_NEAR(found->modes[1].frequency_hz, 71.5, 1e-3 * 71.5);
  EXPECT_NEAR(found->modes[0].damping, 0.006, 0.05 * 0.006);
  EXPECT_NEAR(found->modes[1].damping, 0.005, 0.05 * 0.005);
}

TEST(Ema, ARovingHammerGivesShapesAtItsPoints) {
  const KnownModes known = seven_modes(2, 9);
  const auto found = ema(test::responses_of(known, Eigen::VectorXd::LinSpaced(1024, 0.2, 180)));
  ASSERT_TRUE(found.ok()) << found.diagnostics().text();
  expect_modes(*found, known, 1e-10, 1e-8, 1 - 1e-10);
  const ModalTest test = modal_test(*found);
  ASSERT_EQ(test.points.size(), 9U);
  EXPECT_EQ(test.points[0].frame, "e0");
  EXPECT_GE(modal_assurance(test.modes[4].shape, known.participation.col(4)), 1 - 1e-10);
}

}  // namespace
}  // namespace panto
