#include <gtest/gtest.h>

#include "panto/io/load.hpp"
#include "panto/io/results.hpp"
#include "panto/io/sensor_log.hpp"
#include "panto/io/test/example_run.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

// All that is said about a log of the four-bar.
std::string said(const std::string& text, const std::vector<std::string>& wanted = {}) {
  static const Model model = *load("fourbar_sanjurjo");
  return parse_sensor_log(text, "log.csv", model, wanted).diagnostics().text();
}

TEST(BadSensorLog, AMissingSensorIsNamedWithTheNearestColumn) {
  EXPECT_EQ(
      said("t,crank_encodr,crank_gyro\n0,1,2\n", {"crank_encoder"}),
      "log.csv: warning[W0814]: columns that are no output or input of the model are ignored: "
      "crank_encodr\n"
      "log.csv: error[E0810]: has no readings of sensor \"crank_encoder\"; did you mean "
      "\"crank_encodr\"?\n");
}

TEST(BadSensorLog, NoSensorAtAllListsThoseOfTheModel) {
  EXPECT_EQ(
      said("t,crank_encodr\n0,1\n"),
      "log.csv: warning[W0814]: columns that are no output or input of the model are ignored: "
      "crank_encodr\n"
      "log.csv: error[E0810]: has no readings of a sensor of the model (crank_encoder, "
      "coupler_gyro, crank_gyro); is \"crank_encodr\" \"crank_encoder\"?\n");
}

TEST(BadSensorLog, UnitsThatDoNotFitAreAllNamed) {
  EXPECT_EQ(
      said("t [m],crank_encoder [mm],crank_gyro [dg/s],coupler_gyro [rpm]\n0,1,2,3\n"),
      "log.csv:1:1: error[E0811]: column \"t\" is in m, but must be in s (or a multiple of it)\n"
      "log.csv:1:1: error[E0811]: column \"crank_encoder\" is in mm, but must be in rad or "
      "without unit (or a multiple of it)\n"
      "log.csv:1:1: error[E0811]: column \"crank_gyro\": unit \"dg/s\" is not known\n");
}

TEST(BadSensorLog, RowsWithoutTimeAreLeftOutWithAWarning) {
  EXPECT_EQ(said("t,crank_encoder\n0,1\n,2\n0.1,3\n"),
            "log.csv: warning[W0818]: 1 rows without a time are left out\n");
}

TEST(BadSensorLog, TextsAndEmptyFilesAreRefused) {
  EXPECT_NE(said("").find("E0625"), std::string::npos);
  EXPECT_NE(said("t,crank_encoder\n").find("E0625"), std::string::npos);
  EXPECT_NE(said("t,crank_encoder\n0,abc\n").find("W0623"), std::string::npos);
}

TEST(BadSensorLog, ARunWithoutMeasurementsSaysHowToGetThem) {
  const test::TemporaryFolder folder;
  panto::Run run = example_run();
  run.measured.clear();
  ASSERT_TRUE(write_hdf5(run, folder.path("run.h5")).ok());
  const auto log = read_sensor_log(folder.path("run.h5"), *load("fourbar_sanjurjo"), {});
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.diagnostics().text().find("error[E0810]: the run holds no measurements; simulate "
                                          "with --seed"),
            std::string::npos);
  EXPECT_FALSE(read_sensor_log(folder.path("none.csv"), *load("fourbar_sanjurjo"), {}).ok());
}

}  // namespace
}  // namespace panto
