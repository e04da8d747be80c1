// From a simulated hammer test to modes and to a corrected model; the truth is known at every step.
#include <gtest/gtest.h>

#include <cmath>

#include "panto/updating/ema.hpp"
#include "panto/updating/impact.hpp"
#include "tests/updating/update_case.hpp"

namespace panto {
namespace {

// What a modal analysis is asked for: frequencies to 0.1 %, damping to 5 %, MAC of 0.99.
void expect_truth(const Ema& found, const ModalTest& truth, const std::string& what) {
  ASSERT_EQ(found.modes.size(), truth.modes.size()) << what;
  for (size_t k = 0; k < truth.modes.size(); ++k) {
    const EmaMode& m = found.modes[k];
    const MeasuredMode& t = truth.modes[k];
    EXPECT_LE(std::abs(m.frequency_hz / t.frequency_hz - 1), 1e-3) << what << ", mode " << k + 1;
    EXPECT_LE(std::abs(m.damping / t.damping - 1), 0.05) << what << ", mode " << k + 1;
    EXPECT_GE(modal_assurance(m.shape, t.shape), 0.99) << what << ", mode " << k + 1;
  }
}

struct ZooTest {
  const char* model;
  std::vector<MeasuredPoint> accelerometers, hammer;
  double rate, record, pulse, from, to;
};

std::vector<ZooTest> zoo() {
  const Eigen::Vector3d x(1, 0, 0), y(0, 1, 0);
  return {
      // Its nodes lie where the second bending of BC (195 Hz) does not move: the band ends below.
      {"flexible_manipulator_vertical",
       {{"AB.end", x},
        {"AD.n2", y},
        {"AD.end", y},
        {"AD.end", x},
        {"BC.n2", y},
        {"BC.n2", x},
        {"BC.end", y},
        {"CE.start", x},
        {"CE.n3", x},
        {"CE.n3", y},
        {"CE.end", x},
        {"CE.end", y},
        {"EF.end", x}},
       {{"AB.end", x}, {"AD.n2", y}, {"BC.n2", y}, {"CE.n3", x}, {"CE.end", x}},
       1024,
       8,
       0.004,
       5,
       185},
      {"single_flexible_link",
       {{"link.n2", y},
        {"link.n3", y},
        {"link.n4", y},
        {"link.end", y},
        {"link.n3", x},
        {"link.end", x}},
       {{"link.end", y}, {"link.end", x}},
       512,
       16,
       0.006,
       3,
       120},
      {"rotating_cantilever",
       {{"blade.n3", y}, {"blade.n5", y}, {"blade.n7", y}, {"blade.end", y}},
       {{"blade.end", y}, {"blade.n5", y}},
       256,
       32,
       0.012,
       1,
       40},
      {"slider_crank_flexible",
       {{"rod.n2", y}, {"rod.n3", y}, {"rod.n4", y}},
       {{"rod.n3", y}, {"rod.n4", y}},
       2048,
       4,
       0.002,
       10,
       400},
      {"three_link",
       {{"link2", y}, {"link3", y}},
       {{"link3", y}, {"link2", y}},
       1024,
       8,
       0.003,
       5,
       300},
  };
}

TEST(Chain, ModesOfZooModelsAreFoundInTheirHammerTests) {
  for (const ZooTest& z : zoo()) {
    const auto model = load(z.model);
    ASSERT_TRUE(model.ok()) << model.diagnostics().text();
    for (const double noise : {0.01, 0.05}) {
      ImpactOptions o;
      o.accelerometers = z.accelerometers;
      o.hammer = z.hammer;
      o.sample_rate_hz = z.rate;
      o.duration_s = z.record;
      o.pulse_s = z.pulse;
      o.from_hz = z.from;
      o.to_hz = z.to;
      o.damping = {0.01};
      o.noise = noise;
      o.hold = true;
      const auto test = impact_test(*model, nominal(*model), Operation::kHere, o);
      ASSERT_TRUE(test.ok()) << test.diagnostics().text();
      const auto found = ema(test->data);
      ASSERT_TRUE(found.ok()) << found.diagnostics().text();
      expect_truth(*found, test->modes, z.model + (", noise " + std::to_string(noise)));
    }
  }
}

}  // namespace
}  // namespace panto
