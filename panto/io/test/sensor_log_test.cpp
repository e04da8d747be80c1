#include "panto/io/sensor_log.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "panto/integrate/measure.hpp"
#include "panto/io/load.hpp"
#include "panto/io/results.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

const Model& four_bar() {
  static const Model model = *load("fourbar_sanjurjo");
  return model;
}

SensorLog parsed(const std::string& text, const std::vector<std::string>& wanted = {}) {
  auto log = parse_sensor_log(text, "log.csv", four_bar(), wanted);
  EXPECT_TRUE(log.ok()) << log.diagnostics().text();
  return log.ok() ? *log : SensorLog{};
}

TEST(SensorLog, UnitsAreConvertedAndEmptyCellsAreMissing) {
  const SensorLog log = parsed(
      "time [ms],crank_encoder [deg],crank_gyro\n"
      "0,90,1\n5,,2\n10,91,nan\n");
  ASSERT_EQ(log.sensors.size(), 2U);
  const auto& encoder = log.sensors[0].samples;
  EXPECT_EQ(log.sensors[0].name, "crank_encoder");
  EXPECT_NEAR(encoder[0].value, 90 * kDegree, 1e-15);
  EXPECT_TRUE(std::isnan(encoder[1].value));
  EXPECT_NEAR(encoder[2].t, 0.01, 1e-15);
  EXPECT_EQ(encoder[2].line, 4);
  EXPECT_EQ(encoder[2].arrival, 2);
  EXPECT_TRUE(std::isnan(log.sensors[1].samples[2].value));
}

TEST(SensorLog, SemicolonsMayComeWithDecimalCommas) {
  const SensorLog log = parsed("t;crank_encoder [deg]\n0;90,5\n0,005;91\n");
  ASSERT_EQ(log.sensors.size(), 1U);
  EXPECT_NEAR(log.sensors[0].samples[0].value, 90.5 * kDegree, 1e-15);
  EXPECT_EQ(log.sensors[0].samples[1].t, 0.005);
}

TEST(SensorLog, RowsOfSensorAndValueAreReadToo) {
  const SensorLog log = parsed(
      "t,sensor,value\n"
      "0,crank_encoder,1.04\n0.002,crank_gyro,0.1\n0.001,crank_encoder,\n");
  ASSERT_EQ(log.sensors.size(), 2U);
  EXPECT_EQ(log.sensors[0].samples.size(), 2U);
  EXPECT_EQ(log.sensors[0].samples[1].arrival, 2);
  EXPECT_TRUE(std::isnan(log.sensors[0].samples[1].value));
  EXPECT_EQ(log.sensors[1].samples[0].value, 0.1);
}

TEST(SensorLog, MeasuredColumnsComeBeforeIdealOnesAndOutputsOnlyWhenAskedFor) {
  const std::string text =
      "t,theta,crank_encoder,crank_encoder.measured,energy.kinetic\n0,1,2,3,4\n0.1,1,2,3,4\n";
  const SensorLog sensors = parsed(text);
  ASSERT_EQ(sensors.sensors.size(), 1U);
  EXPECT_EQ(sensors.sensors[0].samples[0].value, 3);
  const SensorLog outputs = parsed(text, {"theta"});
  ASSERT_EQ(outputs.sensors.size(), 1U);
  EXPECT_EQ(outputs.sensors[0].name, "theta");
}

TEST(SensorLog, ColumnsOfInputsAreInputs) {
  const Model arm = *load("arm_spatial");
  const auto log = parse_sensor_log("t,u1 [N m]," + arm.outputs[0].name + "\n0,5,1\n1,6,1\n",
                                    "log.csv", arm, {arm.outputs[0].name});
  ASSERT_TRUE(log.ok()) << log.diagnostics().text();
  ASSERT_EQ(log->inputs.size(), 1U);
  EXPECT_EQ(log->inputs[0].name, "u1");
  EXPECT_EQ(log->inputs[0].samples[1].value, 6);
}

TEST(SensorLog, ARunAsHdf5AndAsCsvHoldTheSameReadings) {
  const test::TemporaryFolder folder;
  SimulationOptions o;
  o.until = 0.1;
  o.sample = 0.005;
  panto::Run run = *simulate(four_bar(), nominal(four_bar()), o);
  measure(four_bar(), nominal(four_bar()), 1, run);
  ASSERT_TRUE(write_hdf5(run, folder.path("run.h5")).ok());
  ASSERT_TRUE(write_csv(run, folder.path("run.csv")).ok());
  const auto a = read_sensor_log(folder.path("run.h5"), four_bar(), {});
  const auto b = read_sensor_log(folder.path("run.csv"), four_bar(), {});
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_EQ(a->sensors.size(), 3U);
  ASSERT_EQ(b->sensors.size(), 3U);
  for (size_t k = 0; k < 3; ++k)
    for (size_t i = 0; i < 21; ++i) {
      EXPECT_EQ(a->sensors[k].samples[i].value, b->sensors[k].samples[i].value);
      EXPECT_EQ(a->sensors[k].samples[i].t, b->sensors[k].samples[i].t);
    }
}

}  // namespace
}  // namespace panto
