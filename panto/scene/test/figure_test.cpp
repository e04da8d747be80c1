#include "panto/scene/figure.hpp"

#include <gtest/gtest.h>

#include <cmath>

// Fontconfig keeps what it knows about fonts until the process ends, which the leak checker of the sanitizers would report.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: its name is given
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig"; }  // NOLINT

namespace panto::scene {
namespace {

Report example() {
  Report r;
  for (const auto& [title, unit, names] :
       {std::tuple{"Angles", "rad", std::vector<std::string>{"theta", "beta"}},
        std::tuple{"Positions", "m", std::vector<std::string>{"pin_x"}}}) {
    PlotPanel p;
    p.title = title;
    p.group = "Outputs";
    for (int i = 0; i <= 20000; ++i) p.x_values.push_back(i * 5e-4);
    for (const std::string& name : names) {
      Series s;
      s.name = name;
      s.unit = unit;
      for (const double t : p.x_values)
        s.values.push_back(std::sin(3 * t + static_cast<double>(p.series.size())));
      p.series.push_back(std::move(s));
    }
    r.panels.emplace_back(std::move(p));
  }
  return r;
}

std::vector<PlotPanel> chosen(const Report& r, const std::vector<std::string>& names) {
  const auto plots = plots_of(r, names);
  EXPECT_TRUE(plots.ok()) << plots.diagnostics().text();
  return plots.ok() ? *plots : std::vector<PlotPanel>();
}

unsigned big_endian(const std::string& bytes, size_t at) {
  unsigned out = 0;
  for (size_t i = 0; i < 4; ++i) out = out << 8U | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

// Elements that are opened and closed in pairs; enough to see that the text is XML.
bool balanced(const std::string& xml) {
  std::vector<std::string> open;
  for (size_t p = xml.find('<'); p != std::string::npos; p = xml.find('<', p + 1)) {
    const size_t end = xml.find('>', p);
    if (end == std::string::npos) return false;
    if (xml[p + 1] == '?' || xml[p + 1] == '!') continue;
    const bool closing = xml[p + 1] == '/';
    const size_t from = p + (closing ? 2 : 1);
    const std::string name = xml.substr(from, xml.find_first_of(" \n/>", from) - from);
    if (closing) {
      if (open.empty() || open.back() != name) return false;
      open.pop_back();
    } else if (xml[end - 1] != '/') {
      open.push_back(name);
    }
  }
  return open.empty();
}

TEST(Figure, SvgIsXmlThatNamesAxesUnitsAndSeries) {
  const std::string svg = figure(chosen(example(), {}), FigureFormat::kSvg);
  EXPECT_TRUE(balanced(svg));
  EXPECT_EQ(svg.substr(0, 5), "<?xml");
  for (const char* word : {"t [s]", "theta [rad]", "beta [rad]", "pin_x [m]", "<title>Angles"})
    EXPECT_NE(svg.find(word), std::string::npos) << word;
  // Curves of 20001 points are thinned for paper.
  EXPECT_LT(svg.size(), 700000u);
}

TEST(Figure, LinesDifferInTheirDashes) {
  const std::string svg = figure(chosen(example(), {"theta", "beta"}), FigureFormat::kSvg);
  EXPECT_NE(svg.find("stroke-dasharray"), std::string::npos);
}

TEST(Figure, PngHasItsSignatureAndTheWidthOfAPage) {
  const std::string png = figure(chosen(example(), {}), FigureFormat::kPng);
  ASSERT_GT(png.size(), 1000u);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_NEAR(big_endian(png, 16), 170 / 25.4 * 240, 3);
  const std::string one = figure(chosen(example(), {"pin_x"}), FigureFormat::kPng);
  EXPECT_LT(big_endian(one, 20), big_endian(png, 20));
}

TEST(Figure, TheSameDataGiveTheSameBytes) {
  const auto plots = chosen(example(), {"theta"});
  EXPECT_TRUE(figure(plots, FigureFormat::kSvg) == figure(plots, FigureFormat::kSvg));
  EXPECT_TRUE(figure(plots, FigureFormat::kPng) == figure(plots, FigureFormat::kPng));
}

TEST(Figure, ShowsTheOutputsThatAreAskedFor) {
  const auto plots = chosen(example(), {"pin_x", "beta"});
  ASSERT_EQ(plots.size(), 2u);
  EXPECT_EQ(plots[0].series.size(), 1u);
  EXPECT_EQ(plots[0].series[0].name, "beta");
}

TEST(Figure, UnknownOutputsAreNamedWithASuggestion) {
  const auto plots = plots_of(example(), {"thet", "pin_x"});
  ASSERT_FALSE(plots.ok());
  EXPECT_NE(plots.diagnostics().text().find(
                "error[E0641]: there is no output \"thet\" to plot; did you mean \"theta\"?"),
            std::string::npos)
      << plots.diagnostics().text();
  EXPECT_FALSE(plots_of(Report{}, {}).ok());
}

TEST(Figure, OddDataAreDrawn) {
  Report r = example();
  auto& plot = std::get<PlotPanel>(r.panels[0]);
  plot.series[0].values.assign(plot.x_values.size(), NAN);
  plot.series[1].values.assign(plot.x_values.size(), 0);
  plot.series[1].name = "a < b & c";
  EXPECT_TRUE(balanced(figure(chosen(r, {}), FigureFormat::kSvg)));
  plot.series[1].values.assign(plot.x_values.size(), 1e12);
  plot.y_log = true;
  EXPECT_TRUE(balanced(figure(chosen(r, {}), FigureFormat::kSvg)));
  plot.x_values.clear();
  EXPECT_TRUE(balanced(figure(chosen(r, {}), FigureFormat::kSvg)));
}

TEST(Ticks, AreRoundNumbersInside) {
  EXPECT_EQ(ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(ticks(-1.05, 1.05, 5), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  const std::vector<double> small = ticks(0, 0.003, 3);
  ASSERT_EQ(small.size(), 4u);
  EXPECT_DOUBLE_EQ(small[3], 0.003);
  EXPECT_TRUE(ticks(1, 1, 5).empty());
}

}  // namespace
}  // namespace panto::scene
