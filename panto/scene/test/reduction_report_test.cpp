// The report of a reduction: a curve per ranking in every panel of errors.
#include "panto/scene/reduction_report.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "panto/reduction/mesh.hpp"

namespace panto::scene {
namespace {

template <class P>
const P* panel(const Report& r, const std::string& title) {
  for (const Panel& p : r.panels)
    if (const P* found = std::get_if<P>(&p); found != nullptr && found->title == title)
      return found;
  return nullptr;
}

LinearSystem tray() {
  BeamFrame frame;
  frame.beams = {{"tray", equal_steps(0, 0.8, 6), 20, 6e4}};
  frame.springs = {{"tray.2", "ground", 2e5}, {"tray.6", "ground", 2e5}};
  return *beam_frame(frame, "tray");
}

TEST(ReductionReport, ShowsErrorsOverSizeForEveryRanking) {
  const LinearSystem system = tray();
  ReduceOptions o;
  o.masters = {"tray.1.y", "tray.7.y"};
  o.modes = {3, 4};
  o.forces = {{{"tray.1.y"}, 30, 1, 0}};
  o.tolerance = 0.02;
  const auto r = reduce(system, o);
  ASSERT_TRUE(r.ok()) << r.diagnostics().text();
  const Report report = report_of_reduction(system, *r, o);
  EXPECT_EQ(report.title, "Reduction of tray");

  const auto* sizes = panel<TablePanel>(report, "Size needed");
  ASSERT_NE(sizes, nullptr);
  ASSERT_EQ(sizes->rows.size(), 3u);
  EXPECT_EQ(std::get<std::string>(sizes->rows[0][0]), "IMR");
  EXPECT_EQ(std::get<double>(sizes->rows[0][1]), r->rankings[0].needed);

  for (const char* title : {"Truncation error", "Gain error", "1 - MAC"}) {
    const auto* plot = panel<PlotPanel>(report, title);
    ASSERT_NE(plot, nullptr) << title;
    EXPECT_TRUE(plot->y_log);
    ASSERT_EQ(plot->series.size(), 4u) << title;  // IMR, SBE, EBR and what is allowed
    EXPECT_EQ(plot->series[3].name, "allowed");
    for (const Series& s : plot->series) {
      ASSERT_EQ(s.x.size(), s.values.size()) << title << s.name;
      EXPECT_TRUE(std::is_sorted(s.x.begin(), s.x.end()));
      for (const double v : s.values) EXPECT_TRUE(std::isnan(v) || v > 0);
    }
  }
  // What is drawn is what was computed.
  const auto* epsilon = panel<PlotPanel>(report, "Truncation error");
  EXPECT_DOUBLE_EQ(epsilon->series[0].values[0], 100 * r->rankings[0].points[0].epsilon);
  EXPECT_DOUBLE_EQ(epsilon->series[3].values[0], 2);
  ASSERT_NE(panel<TablePanel>(report, "Modes of the reduced model"), nullptr);
  const auto* bars = panel<BarsPanel>(report, "Interior modes that matter most");
  ASSERT_NE(bars, nullptr);
  EXPECT_EQ(bars->series[0].values[0], 1);
}

TEST(ReductionReport, LeavesOutWhatWasNotAsked) {
  const LinearSystem system = tray();
  ReduceOptions o;
  o.masters = {"tray.1.y", "tray.7.y"};
  o.keep = 2;
  const auto r = reduce(system, o);
  ASSERT_TRUE(r.ok()) << r.diagnostics().text();
  const Report report = report_of_reduction(system, *r, o);
  EXPECT_EQ(panel<PlotPanel>(report, "Gain error"), nullptr);
  EXPECT_EQ(panel<TablePanel>(report, "Modes of the reduced model"), nullptr);
}

}  // namespace
}  // namespace panto::scene
