// Files as the open program pyuff writes them (ladisk/pyuff, dataset_58.py, dataset_15.py, dataset_164.py: layout of the records), which public data sets of modal tests are
// shared with. The records are made here by hand, field by field, with other tools than this library's writer.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <numbers>

#include "panto/io/frequency_data.hpp"
#include "panto/updating/ema.hpp"

namespace panto {
namespace {

template <class... Values>
std::string line(const char* layout, Values... values) {
  char buffer[400];
  const int size = std::snprintf(buffer, sizeof buffer, layout, values...);
  return std::string(buffer, static_cast<size_t>(size)) + "\n";
}

constexpr int kLines = 600;
constexpr double kStep = 0.1;

// Two modes, 8 and 21 Hz, at three nodes; hit at the third.
std::complex<double> response(int node, double hz) {
  const std::complex<double> s(0, 2 * std::numbers::pi * hz);
  std::complex<double> h = 0;
  for (const auto& [f, shape] :
       {std::pair{8.0, std::array{0.3, 0.7, 1.0}}, std::pair{21.0, std::array{-0.8, -0.4, 1.0}}}) {
    const double w = 2 * std::numbers::pi * f;
    h += shape[static_cast<size_t>(node - 1)] * s * s / (s * s + 2 * 0.01 * w * s + w * w);
  }
  return h;
}

std::string axis(int type, const char* unit) {
  return line("%10i%5i%5i%5i %-20s %-20s", type, 0, 0, 0, "NONE", unit);
}

// Even abscissae, complex doubles. Binary: the header tells byte order 1 (little), format 2 (IEEE), 11 lines of text and the bytes; the mark of the end follows at once.
std::string function(int node, bool binary, bool single) {
  const int bytes = kLines * 2 * (single ? 4 : 8);
  std::string out = line("%6i", -1);
  out += binary ? line("%6i%1s%6i%6i%12i%12i%6i%6i%12i%12i", 58, "b", 1, 2, 11, bytes, 0, 0, 0, 0)
                : line("%6i%74s", 58, " ");
  for (const char* id : {"FRF", "NONE", "18-Nov-14 10:00:00", "NONE", "NONE"})
    out += line("%-80s", id);
  out += line("%5i%10i%5i%10i %10s%10i%4i %10s%10i%4i", 4, 0, 0, 0, "NONE", node, 3, "NONE", 3, 3);
  out += line("%10i%10i%10i%13.5e%13.5e%13.5e", single ? 5 : 6, kLines, 1, kStep, kStep, 0.0);
  out += axis(18, "Hz") + axis(12, "m/s^2") + axis(13, "N") + axis(0, "NONE");
  std::string values;
  for (int i = 0; i < kLines; ++i) {
    const std::complex<double> h = response(node, kStep * (i + 1));
    for (const double part : {h.real(), h.imag()}) {
      if (!binary) {
        values += line("%20.11e", part);
        values.pop_back();
        if (values.size() % 81 == 80) values += "\n";  // four fields of 20
        continue;
      }
      char raw[8];
      const auto narrow = static_cast<float>(part);
      std::memcpy(raw, single ? static_cast<const void*>(&narrow) : &part, single ? 4 : 8);
      values.append(raw, single ? 4 : 8);
    }
  }
  return out + values + line("%6i", -1);
}

std::string nodes() {
  std::string out = line("%6i", -1) + line("%6i%74s", 15, " ");
  for (int node = 1; node <= 3; ++node)
    out += line("%10i%10i%10i%10i%13.5e%13.5e%13.5e", node, 0, 0, 0, 0.1 * node, 0.0, 0.0);
  return out + line("%6i", -1);
}

std::string units() {
  return line("%6i", -1) + line("%6i%74s", 164, " ") + line("%10i%20s%10i", 1, "SI: meter", 2) +
         line("%25.16e%25.16e%25.16e", 1.0, 1.0, 1.0) + line("%25.16e", 273.15) + line("%6i", -1);
}

TEST(PublicUff, FilesOfPyuffGiveTheirModes) {
  for (const bool binary : {false, true})
    for (const bool single : {false, true}) {
      if (single && !binary) continue;
      std::string text = units() + nodes();
      for (int node = 1; node <= 3; ++node) text += function(node, binary, single);
      const auto file = uff::parse(text, "pyuff.uff");
      ASSERT_TRUE(file.ok()) << file.diagnostics().text();
      EXPECT_EQ(file.diagnostics().text(), "");
      ASSERT_EQ(file->functions.size(), 3U);
      const auto data = frequency_data(*file);
      ASSERT_TRUE(data.ok()) << data.diagnostics().text();
      ASSERT_EQ(data->responses.size(), 3U);
      EXPECT_EQ(data->responses[0].frame, "node 1");  // "NONE" is no name
      EXPECT_EQ(data->excitations[0].frame, "node 3");
      EXPECT_EQ(data->motion, Motion::kAcceleration);
      EXPECT_NEAR(data->frequency_hz(kLines - 1), 60, 1e-9);
      // Digits of the file: 12 in text, 24 bits of floats.
      const double digits = single ? 1e-6 : binary ? 0 : 1e-11;
      for (int i = 0; i < kLines; ++i)
        EXPECT_LE(std::abs(data->h(i, 1) - response(2, kStep * (i + 1))),
                  digits * std::abs(data->h(i, 1)));
      EmaOptions options;
      options.max_order = 16;
      const auto found = ema(*data, options);
      ASSERT_TRUE(found.ok()) << found.diagnostics().text();
      ASSERT_EQ(found->modes.size(), 2U);
      EXPECT_NEAR(found->modes[0].frequency_hz, 8, 1e-4);
      EXPECT_NEAR(found->modes[1].frequency_hz, 21, 1e-4);
      EXPECT_NEAR(found->modes[1].shape(0).real(), -0.8, 1e-4);
    }
}

}  // namespace
}  // namespace panto
