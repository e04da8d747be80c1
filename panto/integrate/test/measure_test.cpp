#include "panto/integrate/measure.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace panto {
namespace {

// One output x(t) = t and one sensor on it; the slots are constants.
struct Fixture {
  Model model;
  Params params;
  Run run;

  Slot number(double value) {
    model.slots.push_back(Expression::constant(value));
    return static_cast<Slot>(model.slots.size()) - 1;
  }
  Sensor& sensor() {
    if (model.sensors.empty()) {
      model.sensors.emplace_back();
      model.sensors[0].output = 0;
    }
    return model.sensors[0];
  }
  explicit Fixture(int reports, double interval) {
    run.output_names = {"x"};
    run.output_units = {"m"};
    run.outputs.resize(1);
    for (int i = 0; i < reports; ++i) {
      run.t.push_back(i * interval);
      run.outputs[0].push_back(i * interval);
    }
  }
};

TEST(Measure, WithoutRateAndNoiseEveryReportIsReadAsItIs) {
  Fixture f(5, 0.1);
  f.sensor();
  measure(f.model, f.params, 1, f.run);
  ASSERT_EQ(f.run.measured.size(), 1U);
  EXPECT_EQ(f.run.measured[0].name, "x");
  EXPECT_EQ(f.run.measured[0].unit, "m");
  EXPECT_EQ(f.run.measured[0].t, f.run.t);
  EXPECT_EQ(f.run.measured[0].values, f.run.outputs[0]);
}

TEST(Measure, ReadingsComeAtTheSensorsRate) {
  Fixture f(1001, 0.001);
  f.sensor().rate = f.number(200);
  measure(f.model, f.params, 1, f.run);
  const auto& m = f.run.measured[0];
  ASSERT_EQ(m.t.size(), 201U);
  for (size_t k = 0; k < m.t.size(); ++k)
    EXPECT_NEAR(m.t[k], 0.005 * static_cast<double>(k), 1e-12);
  EXPECT_EQ(sensor_rate(f.model, f.params, f.sensor()), 200);
}

TEST(Measure, BiasAndQuantumAct) {
  Fixture f(4, 0.1);
  f.sensor().bias = f.number(0.26);
  f.sensor().quantum = f.number(0.25);
  measure(f.model, f.params, 1, f.run);
  EXPECT_EQ(f.run.measured[0].values, (std::vector<double>{0.25, 0.25, 0.5, 0.5}));
}

TEST(Measure, NoiseIsNormalAndDependsOnSeedAndReadingOnly) {
  constexpr int kReadings = 100000;
  Fixture f(kReadings, 0.001);
  f.sensor().noise = f.number(2);
  measure(f.model, f.params, 7, f.run);
  const std::vector<double> first = f.run.measured[0].values;
  double mean = 0, square = 0, fourth = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    const double e = (first[i] - f.run.outputs[0][i]) / 2;
    mean += e / kReadings;
    square += e * e / kReadings;
    fourth += e * e * e * e / kReadings;
  }
  // Five standard deviations of the estimates for n = 1e5: 1/sqrt(n), sqrt(2/n), sqrt(96/n).
  EXPECT_NEAR(mean, 0, 5 * 0.0032);
  EXPECT_NEAR(square, 1, 5 * 0.0045);
  EXPECT_NEAR(fourth, 3, 5 * 0.031);

  measure(f.model, f.params, 7, f.run);
  EXPECT_EQ(f.run.measured[0].values, first);
  measure(f.model, f.params, 8, f.run);
  EXPECT_NE(f.run.measured[0].values, first);
  // Every other report at the same sensor rate: the same noise at the same readings.
  Fixture half(kReadings / 2, 0.002);
  half.sensor().noise = half.number(2);
  half.sensor().rate = half.number(500);
  Fixture full(kReadings, 0.001);
  full.sensor().noise = full.number(2);
  full.sensor().rate = full.number(500);
  measure(half.model, half.params, 3, half.run);
  measure(full.model, full.params, 3, full.run);
  ASSERT_EQ(half.run.measured[0].t.size(), full.run.measured[0].t.size());
  for (size_t k = 0; k < 100; ++k)
    EXPECT_NEAR(half.run.measured[0].values[k], full.run.measured[0].values[k], 1e-9);
}

}  // namespace
}  // namespace panto
