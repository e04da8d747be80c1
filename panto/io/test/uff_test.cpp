#include "panto/io/uff.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "tests/source_dir.hpp"
#include "tests/temporary_folder.hpp"

namespace panto::uff {
namespace {

// A file as programs of modal testing write it: header, units of foot and pound-force, nodes, a trace, a mode, functions of several kinds. Columns, widths and the
// units are those of the published definitions (dataset 164 is their example).
std::string foreign() {
  std::stringstream out;
  out << std::ifstream(PANTO_SOURCE_DIR "/panto/io/test/foreign.uff", std::ios::binary).rdbuf();
  return out.str();
}

TEST(Uff, AFileOfAnotherProgramIsReadInSiUnits) {
  const auto file = parse(foreign(), "a.uff");
  ASSERT_TRUE(file.ok()) << file.diagnostics().text();
  EXPECT_EQ(file.diagnostics().text(),
            "a.uff: warning[W0955]: datasets that are not read here: 18; directions are taken "
            "along the axes of the ground\n");
  EXPECT_EQ(file->header->model, "frame of a bicycle");
  ASSERT_EQ(file->nodes.size(), 2U);
  // Six digits of the file.
  EXPECT_NEAR(file->nodes[0].position.x(), 1, 1e-6);
  EXPECT_NEAR(file->nodes[1].position.z(), 2, 1e-6);
  ASSERT_EQ(file->traces.size(), 1U);
  EXPECT_EQ(file->traces[0].nodes, (std::vector<int>{2, 5, 6, 3, 4, 1, 2, 3, 0}));
  ASSERT_EQ(file->shapes.size(), 1U);
  EXPECT_EQ(file->shapes[0].reals[1], 100);
  EXPECT_NEAR(file->shapes[0].values(0, 0).real(), 1, 1e-6);
  EXPECT_NEAR(file->shapes[0].values(0, 1).imag(), -1, 1e-6);
}

TEST(Uff, FunctionsKeepTheirPointsAndAreInSiUnits) {
  const auto file = parse(foreign(), "a.uff");
  ASSERT_TRUE(file.ok()) << file.diagnostics().text();
  ASSERT_EQ(file->functions.size(), 3U);
  const Function& f = file->functions[0];
  EXPECT_EQ(f.id[1], "-1");
  EXPECT_EQ(f.response_name, "Frame");
  EXPECT_EQ(f.response_node, 1);
  EXPECT_EQ(f.response_direction, 3);
  EXPECT_EQ(f.reference_node, 7);
  EXPECT_EQ(f.reference_direction, -2);
  ASSERT_EQ(f.x.size(), 5);
  EXPECT_DOUBLE_EQ(f.x(4), 12);
  // 1 ft/s² per lbf = 0.3048 m/s² per 4.4482216 N; 14.5939 of them are 1/kg: a slug is 14.5939 kg.
  EXPECT_NEAR(f.y(0).real(), 1, 1e-6);
  EXPECT_NEAR(f.y(1).imag() / f.y(1).real(), 1.61988 / 1.66101, 1e-9);
  const Function& g = file->functions[1];
  EXPECT_EQ(g.x(1), 3.5);
  EXPECT_NEAR(g.y(1).imag(), -4 * 0.3048 / 4.4482216152605, 1e-9);
  const Function& t = file->functions[2];
  EXPECT_EQ(t.x(2), 0.2);
  EXPECT_EQ(t.y(2).real(), 0.5);
}

Function example() {
  Function f;
  f.id = {"a", "", "c", "", "exponential"};
  f.response_name = "tip";
  f.response_node = 3;
  f.response_direction = -2;
  f.reference_node = 11;
  f.reference_direction = 1;
  f.abscissa = {.specific_type = 18, .label = "Frequency", .unit = "Hz"};
  f.numerator = {.specific_type = 12, .label = "Acceleration", .unit = "m/s^2"};
  f.denominator = {.specific_type = 13, .label = "Force", .unit = "N"};
  f.x = Eigen::VectorXd::LinSpaced(7, 1, 2.5);
  f.y = Eigen::VectorXcd(7);
  for (int i = 0; i < 7; ++i)
    f.y(i) = std::complex<double>(std::sqrt(i + 2.0), -std::exp(5.0 * i - 10)) / 3.0;
  // Bytes of an end mark within binary numbers.
  std::uint64_t mark = 0;
  for (const char c : {'\n', ' ', ' ', ' ', ' ', '-', '1', '\n'})
    mark = mark << 8U | static_cast<unsigned char>(c);
  f.y(3) = {std::bit_cast<double>(mark), std::bit_cast<double>(__builtin_bswap64(mark))};
  return f;
}

void expect_same(const Function& a, const Function& b, double tolerance) {
  EXPECT_EQ(a.id[0], b.id[0]);
  EXPECT_EQ(a.response_name, b.response_name);
  EXPECT_EQ(a.response_node, b.response_node);
  EXPECT_EQ(a.response_direction, b.response_direction);
  EXPECT_EQ(a.reference_node, b.reference_node);
  EXPECT_EQ(a.numerator.unit, b.numerator.unit);
  EXPECT_LE((a.x - b.x).cwiseAbs().maxCoeff(), 1e-15);
  ASSERT_EQ(a.y.size(), b.y.size());
  for (Eigen::Index i = 0; i < a.y.size(); ++i) {
    EXPECT_LE(std::abs(a.y(i).real() - b.y(i).real()), tolerance * std::abs(b.y(i).real()));
    EXPECT_LE(std::abs(a.y(i).imag() - b.y(i).imag()), tolerance * std::abs(b.y(i).imag()));
  }
}

TEST(Uff, FunctionsReadBackFromTextAndFromBothByteOrders) {
  for (const bool even : {true, false})
    for (const bool is_complex : {true, false})
      for (const Format format : {Format::kText, Format::kLittleEndian, Format::kBigEndian}) {
        File file;
        Function f = example();
        f.even = even;
        f.is_complex = is_complex;
        if (!is_complex) f.y.imag().setZero();
        file.functions = {f, f};
        const auto back = parse(text(file, format), "b.uff");
        ASSERT_TRUE(back.ok()) << back.diagnostics().text();
        ASSERT_EQ(back->functions.size(), 2U);
        // Text has 13 significant digits, binary all bits.
        expect_same(back->functions[1], f, format == Format::kText ? 1e-12 : 0);
      }
}

TEST(Uff, ASingleAbscissaOfBinaryDoublesIsUnderstood) {
  File file;
  Function f = example();
  f.even = false;
  file.functions = {f};
  std::string bytes = text(file, Format::kLittleEndian);
  // Rewrites the abscissae (double) as floats.
  const size_t size = 24 * 7, from = bytes.size() - 7 - size;
  std::string data;
  for (int i = 0; i < 7; ++i) {
    const auto x = std::bit_cast<std::uint32_t>(static_cast<float>(f.x(i)));
    for (unsigned k = 0; k < 4; ++k) data += static_cast<char>(x >> (8 * k) & 0xFFU);
    data += bytes.substr(from + 24 * static_cast<size_t>(i) + 8, 16);
  }
  bytes = bytes.substr(0, from) + data + "    -1\n";
  const auto back = parse(bytes, "b.uff");
  ASSERT_TRUE(back.ok()) << back.diagnostics().text();
  expect_same(back->functions[0], f, 0);
}

TEST(Uff, NodesTracesAndShapesReadBack) {
  File file;
  file.header = Header{"m", "d", "c", "w"};
  file.nodes = {{.label = 4, .color = 2, .position = {0.125, -2, 3e-4}}};
  file.traces = {
      {.number = 1, .color = 3, .name = "beam", .nodes = {1, 2, 3, 4, 5, 6, 7, 8, 0, 9}}};
  Shape s;
  s.is_complex = true;
  s.analysis_type = 3;
  s.integers = {1, 2};
  s.reals = {-0.5, 62.5, 1, 0, 1, 0};
  s.nodes = {4, 9};
  s.values = Eigen::MatrixXcd(2, 3);
  s.values << std::complex<double>(1, 0.5), 2, 3, -1, 0, std::complex<double>(0, -0.25);
  file.shapes = {s};
  const test::TemporaryFolder folder;
  ASSERT_TRUE(write(file, folder.path("c.uff")).ok());
  const auto back = read(folder.path("c.uff"));
  ASSERT_TRUE(back.ok()) << back.diagnostics().text();
  EXPECT_EQ(back->header->description, "d");
  EXPECT_EQ(back->units->length, 1);
  EXPECT_EQ(back->nodes.at(0).position, file.nodes[0].position);
  EXPECT_EQ(back->traces.at(0).nodes, file.traces[0].nodes);
  EXPECT_EQ(back->traces.at(0).name, "beam");
  EXPECT_EQ(back->shapes.at(0).values, s.values);
  EXPECT_EQ(back->shapes.at(0).reals, s.reals);
  // Node 9 of the shape has no coordinates while node 4 has.
  EXPECT_NE(back.diagnostics().text().find("warning[W0954]: node 9"), std::string::npos);
}

TEST(Uff, LineEndsOfWindowsAreUnderstood) {
  std::string text = foreign();
  for (size_t p = 0; (p = text.find('\n', p)) != std::string::npos; p += 2) text.insert(p, "\r");
  const auto file = parse(text, "a.uff");
  ASSERT_TRUE(file.ok()) << file.diagnostics().text();
  EXPECT_EQ(file->functions.size(), 3U);
}

}  // namespace
}  // namespace panto::uff
