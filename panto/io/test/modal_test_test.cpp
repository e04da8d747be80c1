#include "panto/io/modal_test.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Two modes at three points, one of which the second mode was not measured at; the last point was measured by none.
ModalTest example() {
  ModalTest test;
  test.points = {{"tip", Eigen::Vector3d::UnitY()},
                 {"elbow, left", Eigen::Vector3d(0.6, -0.8, 0)},
                 {"base", -Eigen::Vector3d::UnitZ()},
                 {"spare", Eigen::Vector3d(1, 1, 1).normalized()}};
  MeasuredMode a;
  a.frequency_hz = 12.25 + 1.0 / 3;
  a.damping = 0.0123456789012345;
  a.frequency_sigma = 0.01;
  a.damping_sigma = 1e-4;
  a.shape = Eigen::VectorXcd(4);
  a.shape << 1.0, std::complex<double>(-0.1, 1e-17), 1.0 / 7, std::complex<double>(kNaN, kNaN);
  a.shape_sigma = Eigen::Vector4d(0.01, 0.02, 0.03, 0);
  MeasuredMode b;
  b.frequency_hz = 40;
  b.shape = Eigen::VectorXcd(4);
  b.shape << 0.5, std::complex<double>(kNaN, kNaN), std::complex<double>(0, -2),
      std::complex<double>(kNaN, kNaN);
  MeasuredMode c;
  c.frequency_hz = 80;
  c.damping = 0.02;
  c.shape = Eigen::VectorXcd::Constant(4, std::complex<double>(kNaN, kNaN));
  test.modes = {a, b, c};
  return test;
}

void expect_same(const ModalTest& a, const ModalTest& b) {
  ASSERT_EQ(a.points.size(), b.points.size());
  for (size_t i = 0; i < a.points.size(); ++i) {
    EXPECT_EQ(a.points[i].frame, b.points[i].frame);
    EXPECT_EQ(a.points[i].direction, b.points[i].direction);
  }
  ASSERT_EQ(a.modes.size(), b.modes.size());
  for (size_t k = 0; k < a.modes.size(); ++k) {
    const MeasuredMode &m = a.modes[k], &n = b.modes[k];
    EXPECT_EQ(m.frequency_hz, n.frequency_hz);
    EXPECT_EQ(m.damping, n.damping);
    EXPECT_EQ(m.frequency_sigma, n.frequency_sigma);
    EXPECT_EQ(m.damping_sigma, n.damping_sigma);
    ASSERT_EQ(m.shape.size(), n.shape.size());
    for (Eigen::Index i = 0; i < m.shape.size(); ++i) {
      EXPECT_EQ(std::isnan(m.shape(i).real()), std::isnan(n.shape(i).real()));
      if (!std::isnan(m.shape(i).real())) {
        EXPECT_EQ(m.shape(i), n.shape(i));
      }
    }
    EXPECT_EQ(m.shape_sigma, n.shape_sigma);
  }
}

TEST(ModalTable, TomlReadsBackBitForBit) {
  const auto back = parse_modal_toml(modal_toml(example()), "a.toml");
  ASSERT_TRUE(back.ok()) << back.diagnostics().text();
  expect_same(*back, example());
}

TEST(ModalTable, CsvReadsBackBitForBit) {
  const auto back = parse_modal_csv(modal_csv(example()), "a.csv");
  ASSERT_TRUE(back.ok()) << back.diagnostics().text();
  expect_same(*back, example());
}

TEST(ModalTable, FilesAreChosenByTheirNames) {
  const test::TemporaryFolder folder;
  for (const char* name : {"modes.toml", "modes.csv"}) {
    ASSERT_TRUE(write_modal_test(example(), folder.path(name)).ok());
    const auto back = read_modal_test(folder.path(name));
    ASSERT_TRUE(back.ok()) << back.diagnostics().text();
    expect_same(*back, example());
  }
  EXPECT_FALSE(read_modal_test(folder.path("none.toml")).ok());
}

TEST(ModalTable, TakesQuantitiesAxesAndAnyOrderOfModes) {
  const auto test = parse_modal_toml(R"(
[[mode]]
frequency = "100 Hz"
damping = 0.01
shape = [{ frame = "tip", direction = "-y", value = 2 }]
[[mode]]
frequency = 12
shape = [{ frame = "tip", direction = [0, -2, 0], value = 1, imaginary = 0.5 },
         { frame = "base", direction = [3, 4, 0], value = 1 }]
)",
                                     "a.toml");
  ASSERT_TRUE(test.ok()) << test.diagnostics().text();
  ASSERT_EQ(test->modes.size(), 2U);
  EXPECT_EQ(test->modes[0].frequency_hz, 12);
  EXPECT_EQ(test->modes[1].frequency_hz, 100);
  ASSERT_EQ(test->points.size(), 2U);
  EXPECT_EQ(test->points[0].direction, Eigen::Vector3d(0, -1, 0));
  EXPECT_DOUBLE_EQ(test->points[1].direction.x(), 0.6);
  EXPECT_EQ(test->modes[1].shape(0), 2.0);
  EXPECT_TRUE(std::isnan(test->modes[1].shape(1).real()));
  EXPECT_EQ(test->modes[0].shape(0), std::complex<double>(1, 0.5));
  EXPECT_EQ(test->modes[0].shape_sigma.size(), 0);
}

TEST(ModalTable, ACsvOfFrequenciesAloneIsATable) {
  const auto test = parse_modal_csv("mode,frequency [Hz],damping\n1,10,0.01\n2,20,0.02\n", "a.csv");
  ASSERT_TRUE(test.ok()) << test.diagnostics().text();
  ASSERT_EQ(test->modes.size(), 2U);
  EXPECT_EQ(test->modes[1].damping, 0.02);
  EXPECT_TRUE(test->points.empty());
}

}  // namespace
}  // namespace panto
