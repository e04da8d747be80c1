#include "panto/io/frequency_data.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

FrequencyData example() {
  FrequencyData data;
  data.responses = {{"tip_of_the_long_arm", Eigen::Vector3d::UnitY()},
                    {"elbow", -Eigen::Vector3d::UnitX()}};
  data.excitations = {{"elbow", -Eigen::Vector3d::UnitX()},
                      {"base", Eigen::Vector3d::UnitZ()},
                      {"tip_of_the_long_arm", Eigen::Vector3d::UnitY()}};
  data.frequency_hz = Eigen::VectorXd::LinSpaced(9, 0, 8.0 / 3);
  data.h = Eigen::MatrixXcd(9, 6);
  for (int i = 0; i < 54; ++i)
    data.h(i % 9, i / 9) = std::complex<double>(std::sin(i), std::cos(3.0 * i)) * 1e-3;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  data.h.col(4).setConstant({nan, nan});
  data.coherence = Eigen::MatrixXd::Constant(9, 6, 0.875);
  data.motion = Motion::kVelocity;
  data.window_decay = 1.0 / 7;
  return data;
}

void expect_same(const FrequencyData& a, const FrequencyData& b) {
  ASSERT_EQ(a.responses.size(), b.responses.size());
  ASSERT_EQ(a.excitations.size(), b.excitations.size());
  for (size_t i = 0; i < a.responses.size(); ++i)
    EXPECT_EQ(name_of(a.responses[i]), name_of(b.responses[i]));
  for (size_t i = 0; i < a.excitations.size(); ++i)
    EXPECT_EQ(name_of(a.excitations[i]), name_of(b.excitations[i]));
  EXPECT_EQ(a.frequency_hz, b.frequency_hz);
  EXPECT_EQ(a.motion, b.motion);
  EXPECT_EQ(a.window_decay, b.window_decay);
  ASSERT_EQ(a.h.cols(), b.h.cols());
  for (Eigen::Index k = 0; k < a.h.cols(); ++k) {
    EXPECT_EQ(std::isnan(a.h(0, k).real()), k == 4);
    if (k == 4) continue;
    EXPECT_EQ(a.h.col(k), b.h.col(k));
    EXPECT_EQ(a.coherence.col(k), b.coherence.col(k));
  }
}

TEST(FrequencyFiles, EveryFormatReadsBackBitForBit) {
  const test::TemporaryFolder folder;
  for (const char* name : {"a.csv", "a.h5", "a.uff"}) {
    ASSERT_TRUE(write_frequency_data(example(), folder.path(name)).ok()) << name;
    const auto back = read_frequency_data(folder.path(name));
    ASSERT_TRUE(back.ok()) << back.diagnostics().text();
    expect_same(*back, example());
  }
}

TEST(FrequencyFiles, UnitsOfCsvTellTheMotionAndAreConverted) {
  const auto data = parse_frequency_csv(
      "frequency [Hz],tip:y/base:x re [mm/N],tip:y/base:x im [mm/N]\n1,2,3\n2,3,4\n", "a.csv");
  ASSERT_TRUE(data.ok()) << data.diagnostics().text();
  EXPECT_EQ(data->motion, Motion::kDisplacement);
  EXPECT_NEAR(data->h(1, 0).imag(), 4e-3, 1e-18);
}

TEST(FrequencyFiles, ColumnsThatAreNoResponseAreNamed) {
  const auto said = [](const char* text) {
    return parse_frequency_csv(text, "a.csv").diagnostics().text();
  };
  EXPECT_EQ(said("frequency,tip re\n1,2\n"),
            "a.csv:1:1: error[E0957]: column \"tip re\" is no part of a response: expected names "
            "such as \"tip:y/base:-x re\", \"… im\", \"… coherence\"\n");
  EXPECT_NE(said("tip:y/base:x re,tip:y/base:x im\n1,2\n").find("\"frequency\" is missing"),
            std::string::npos);
  EXPECT_NE(said("frequency,tip:y/base:x re [kg]\n1,2\n").find("no unit of a motion per force"),
            std::string::npos);
  EXPECT_NE(said("frequency,tip:y/base:x re\n1,2\n").find("alone"), std::string::npos);
  EXPECT_NE(said("frequency,a:y/b:x re,a:y/b:x im\n1,2,3\n2,,3\n").find("a.csv:3:1: error[E0957]"),
            std::string::npos);
  EXPECT_NE(said("frequency,a:y/b:x re,a:y/b:x im\n2,2,3\n1,2,3\n").find("E0956"),
            std::string::npos);
}

TEST(FrequencyFiles, DirectionsAlongNoAxisAreKeptByCsvAndRefusedByUniversalFiles) {
  const test::TemporaryFolder folder;
  FrequencyData data = example();
  data.responses[0].direction = {0.6, 0.8, 0};
  ASSERT_TRUE(write_frequency_data(data, folder.path("a.csv")).ok());
  const auto back = read_frequency_data(folder.path("a.csv"));
  ASSERT_TRUE(back.ok()) << back.diagnostics().text();
  EXPECT_EQ(back->responses[0].direction, data.responses[0].direction);
  const Diagnostics d = write_frequency_data(data, folder.path("a.uff"));
  EXPECT_NE(d.text().find("E0957"), std::string::npos);
  EXPECT_FALSE(read_frequency_data(folder.path("a.uff")).ok());
}

TEST(FrequencyFiles, NodesAreNamedByTheUser) {
  FrequencyData data = example();
  auto file = uff_of(data);
  ASSERT_TRUE(file.ok());
  file->traces.clear();
  const auto plain = frequency_data(*file);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->responses[0].frame, "node 1");
  const auto named = frequency_data(*file, {{1, "tip"}});
  EXPECT_EQ(named->responses[0].frame, "tip");
}

TEST(FrequencyFiles, ModesPassThroughUniversalFilesWithSixDigits) {
  ModalTest test;
  test.points = {{"tip", Eigen::Vector3d::UnitY()}, {"elbow", -Eigen::Vector3d::UnitX()}};
  for (const bool is_complex : {false, true}) {
    MeasuredMode m;
    m.frequency_hz = is_complex ? 20.123 : 10.5;
    m.damping = 0.0125;
    m.shape = Eigen::VectorXcd(2);
    m.shape << 1.0, std::complex<double>(-0.5, is_complex ? 0.25 : 0);
    test.modes.push_back(m);
  }
  const auto file = uff_of(test, {{"tip", {1, 2, 3}}, {"elbow", {0, 0, 0}}});
  ASSERT_TRUE(file.ok()) << file.diagnostics().text();
  const auto parsed = uff::parse(uff::text(*file), "m.uff");
  ASSERT_TRUE(parsed.ok()) << parsed.diagnostics().text();
  const auto back = modal_test(*parsed);
  ASSERT_TRUE(back.ok()) << back.diagnostics().text();
  ASSERT_EQ(back->modes.size(), 2U);
  ASSERT_EQ(back->points.size(), 2U);
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(back->modes[k].frequency_hz, test.modes[k].frequency_hz, 1e-5 * 20);
    EXPECT_NEAR(back->modes[k].damping, 0.0125, 1e-7);
    for (size_t i = 0; i < 2; ++i) {
      const size_t j = back->points[i].frame == "tip" ? 0 : 1;
      const double sign = back->points[i].direction.dot(test.points[j].direction);
      EXPECT_LE(std::abs(sign * back->modes[k].shape(static_cast<Eigen::Index>(i)) -
                         test.modes[k].shape(static_cast<Eigen::Index>(j))),
                1e-6);
    }
  }
}

}  // namespace
}  // namespace panto
