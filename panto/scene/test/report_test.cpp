// Reports as JSON and as a page. The scenes of real mechanisms are tested in tests/scene.
#include "panto/scene/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "panto/scene/run_report.hpp"
#include "panto/scene/test/decode.hpp"

namespace panto::scene {
namespace {

using nlohmann::json;

const std::string kPage =
    "<!doctype html><html><body><!--PANTOGRAPH-REPORT--><script>run()</script></body></html>";

Series series(std::string name, std::string unit, std::vector<double> values) {
  Series s;
  s.name = std::move(name);
  s.unit = std::move(unit);
  s.values = std::move(values);
  return s;
}

panto::Run small_run() {
  panto::Run run;
  run.model = "swing";
  run.t = {0, 0.5, 1};
  run.output_names = {"theta", "tip_x", "omega"};
  run.output_units = {"rad", "m", "rad/s"};
  run.outputs = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}};
  run.kinetic = {0, 1, 2};
  run.potential = {5, 4, 3.5};
  run.entered = {0, 0, 0.5};
  run.taken = {0, 0, 0};
  run.measured = {{"gyro", "rad/s", {0, 1}, {6.1, 7.9}}};
  return run;
}

// What a page would find in the script element.
json report_in(const std::string& html) {
  const std::string begin = "<script type=\"application/json\" id=\"report\">";
  const size_t from = html.find(begin) + begin.size();
  return json::parse(html.substr(from, html.find("</script>", from) - from));
}

TEST(Report, HasTheAgreedFrame) {
  Report r;
  r.title = "Title";
  r.model = "m";
  r.notes = {"a note"};
  const json j = json::parse(to_json(r));
  EXPECT_EQ(j["format"], "pantograph-report");
  EXPECT_EQ(j["version"], 1);
  EXPECT_EQ(j["title"], "Title");
  EXPECT_EQ(j["notes"], json({"a note"}));
  EXPECT_FALSE(j.contains("scene"));
  EXPECT_FALSE(j.contains("modes"));
  EXPECT_EQ(j["motions"], json::array());
  EXPECT_EQ(j["panels"], json::array());
}

TEST(Report, TextsCannotLeaveTheirScript) {
  for (const std::string title :
       {"</script><script>alert(1)</script>", "<!--<script>", "</SCRIPT >", "a < b </ \\ \"x\""}) {
    Report r;
    r.title = title;
    const Result<std::string> html = to_html(r, kPage);
    ASSERT_TRUE(html.ok());
    // Two script elements and no more: the report and the page's own.
    size_t ends = 0;
    for (size_t p = html->find("</script>"); p != std::string::npos;
         p = html->find("</script>", p + 1))
      ++ends;
    EXPECT_EQ(ends, 2u) << *html;
    EXPECT_EQ(html->find("<!--"), std::string::npos);
    EXPECT_EQ(report_in(*html)["title"], title);
  }
}

TEST(Report, PagesAreBoundAsChapters) {
  Report one, two;
  one.title = "One </script>";
  two.title = "Two";
  const std::string a = *to_html(one, kPage), b = *to_html(two, kPage);
  const Result<std::string> bound = bind_pages("Book", {{"a", "", a}, {"b", "Second", b}}, kPage);
  ASSERT_TRUE(bound.ok()) << bound.diagnostics().text();
  const json book = report_in(*bound);
  EXPECT_EQ(book["title"], "Book");
  ASSERT_EQ(book["chapters"].size(), 2U);
  EXPECT_EQ(book["chapters"][0], report_in(a));
  EXPECT_EQ(book["chapters"][1]["title"], "Second");
  // What is bound already stays in its chapters.
  const json again = report_in(*bind_pages("More", {{"c", "", *bound}, {"b", "", b}}, kPage));
  ASSERT_EQ(again["chapters"].size(), 3U);
  EXPECT_EQ(again["chapters"][1]["title"], "Second");
}

TEST(Report, WhatIsNoPageIsNotBound) {
  for (const char* html :
       {"", "<html></html>", "<script type=\"application/json\" id=\"report\">[1</script>",
        "<script type=\"application/json\" id=\"report\">{}</script>"}) {
    const Result<std::string> bound = bind_pages("Book", {{"a.html", "", html}}, kPage);
    ASSERT_FALSE(bound.ok());
    EXPECT_NE(bound.diagnostics().text().find("a.html: error[E1104]"), std::string::npos)
        << bound.diagnostics().text();
  }
}

TEST(Report, BytesThatAreNoTextAreReplaced) {
  Report r;
  r.title = "a\xff\xfe";
  EXPECT_EQ(json::parse(to_json(r))["title"], "a\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Report, APageWithoutItsMarkerIsRefused) {
  for (const char* page : {"", "<html></html>"}) {
    const Result<std::string> html = to_html(Report{}, page);
    ASSERT_FALSE(html.ok());
    EXPECT_NE(html.diagnostics().text().find("E0640"), std::string::npos);
  }
}

TEST(Report, TheBuiltPageHasTheMarker) {
  if (page().empty()) GTEST_SKIP() << "built without the page";
  EXPECT_TRUE(to_html(Report{}).ok());
}

TEST(Report, WritesEveryKindOfPanel) {
  Report r;
  PlotPanel plot;
  plot.title = "p";
  plot.note = "n";
  plot.group = "g";
  plot.x_values = {0, 1};
  plot.y_log = plot.cursor = true;
  plot.series = {series("a", "m", {1, NAN})};
  plot.series[0].ghost = plot.series[0].hidden = plot.series[0].points = true;
  plot.series[0].low = {0, 1};
  plot.series[0].high = {2, 3};
  plot.series[0].x = {0.5, 1.5};
  FrfPanel frf;
  frf.frequency_hz = {1, 2};
  frf.series = {{"h", "m/N", {1, 2}, {-90, -180}}};
  MatrixPanel matrix;
  matrix.rows = {"r"};
  matrix.columns = {"c", "d"};
  matrix.values = {{0, 1}};
  TablePanel table;
  table.columns = {{"name", ""}, {"value", "m"}};
  table.rows = {{std::string("x"), 0.1}, {Cell{}, MarkedText{"bad", Mark::kBad}}};
  ScatterPanel scatter;
  scatter.equal = true;
  scatter.series = {{"poles", {1}, {2}, Marker::kCross}};
  BarsPanel bars;
  bars.unit = "N";
  bars.categories = {"a"};
  bars.series = {{"s", {1}, {0}, {2}}};
  TextPanel text;
  text.text = "words";
  r.panels = {plot, frf, matrix, table, scatter, bars, text};
  const json p = json::parse(to_json(r))["panels"];
  std::vector<std::string> kinds;
  for (const json& x : p) kinds.push_back(x["kind"]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"plot", "frf", "matrix", "table", "scatter", "bars",
                                             "text"}));
  EXPECT_EQ(p[0]["note"], "n");
  EXPECT_EQ(p[0]["group"], "g");
  EXPECT_EQ(p[0]["x"]["data"]["type"], "f8");
  EXPECT_EQ(p[0]["yscale"], "log");
  EXPECT_EQ(p[0]["cursor"], true);
  const json& s = p[0]["series"][0];
  EXPECT_EQ(s["motion"], 1);
  EXPECT_EQ(s["hidden"], true);
  EXPECT_EQ(s["points"], true);
  EXPECT_EQ(test::decode<double>(s["x"]["data"]), (std::vector<double>{0.5, 1.5}));
  EXPECT_TRUE(std::isnan(test::decode<float>(s["data"]["data"])[1]));
  EXPECT_EQ(s["data"]["n"], 2);
  EXPECT_EQ(p[1]["series"][0]["phase_deg"]["n"], 2);
  EXPECT_EQ(p[2]["values"], json({{0, 1}}));
  EXPECT_EQ(p[3]["rows"][1], json({nullptr, {{"text", "bad"}, {"mark", "bad"}}}));
  EXPECT_EQ(p[4]["series"][0]["mark"], "cross");
  EXPECT_EQ(p[5]["series"][0]["high"], json({2.0}));
  EXPECT_EQ(p[6]["text"], "words");
}

TEST(Report, WritesModes) {
  Report r;
  r.modes.emplace();
  r.modes->pose = {0, 0, 0};
  r.modes->list = {{1.5, 0.02, "mode 1", {1, 2, 3, 4, 5, 6}, {}}};
  const json m = json::parse(to_json(r))["modes"];
  EXPECT_EQ(m["list"][0]["label"], "mode 1");
  EXPECT_EQ(m["list"][0]["shape"]["n"], 6);
  EXPECT_FALSE(m["list"][0].contains("shape_imag"));
}

TEST(RunReport, GroupsOutputsByUnitAndShowsReadingsAsPoints) {
  const panto::Run run = small_run();
  const json p = json::parse(to_json(report_of_run({run})))["panels"];
  EXPECT_EQ(p[0]["series"][0]["name"], "theta");
  EXPECT_EQ(p[1]["series"][0]["unit"], "m");
  ASSERT_EQ(p[2]["series"].size(), 2u);
  EXPECT_EQ(p[2]["series"][1]["name"], "gyro measured");
  EXPECT_EQ(p[2]["series"][1]["points"], true);
  EXPECT_EQ(p[2]["series"][1]["x"]["n"], 2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(p[i]["cursor"], true);
}

TEST(RunReport, EnergyDriftIsTheBalance) {
  const panto::Run run = small_run();
  const json p = json::parse(to_json(report_of_run({run})))["panels"];
  EXPECT_EQ(p[3]["title"], "Energy");
  EXPECT_EQ(p[4]["title"], "Energy drift");
  EXPECT_EQ(test::decode<float>(p[4]["series"][0]["data"]["data"]), (std::vector<float>{0, 0, 0}));
}

TEST(RunReport, MoreThanEightSeriesAreHiddenAtFirst) {
  panto::Run run = small_run();
  run.output_names.clear();
  run.output_units.assign(11, "m");
  run.outputs.assign(11, {1, 2, 3});
  for (int i = 0; i < 11; ++i) run.output_names.push_back("x" + std::to_string(i));
  const json s = json::parse(to_json(report_of_run({run})))["panels"][0]["series"];
  ASSERT_EQ(s.size(), 11u);
  EXPECT_FALSE(s[7].contains("hidden"));
  EXPECT_EQ(s[8]["hidden"], true);
}

TEST(RunReport, ASecondRunIsLaidOverTheFirst) {
  const panto::Run run = small_run();
  panto::Run other = small_run();
  other.t = {0, 1, 2};
  other.output_names[1] = "something_else";
  const Recorded second{other};
  const json p = json::parse(to_json(report_of_run({run}, &second)))["panels"];
  ASSERT_EQ(p[0]["series"].size(), 2u);
  EXPECT_EQ(p[0]["series"][1]["name"], "theta");
  EXPECT_EQ(p[0]["series"][1]["motion"], 1);
  EXPECT_EQ(test::decode<double>(p[0]["series"][1]["x"]["data"]), other.t);
  EXPECT_EQ(p[1]["series"].size(), 1u);
}

TEST(RunReport, AnEmptyRunGivesAReport) {
  const panto::Run run;
  EXPECT_TRUE(json::parse(to_json(report_of_run({run}))).is_object());
}

}  // namespace
}  // namespace panto::scene
