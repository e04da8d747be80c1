#include "panto/io/csv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace panto {
namespace {

TEST(Csv, AnEmptyTextIsRefused) {
  const auto table = parse_csv("", "run.csv");
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.diagnostics().text(),
            "run.csv:1:1: error[E0625]: the table is empty: no header line\n");
}

TEST(Csv, ATextWithoutHeaderIsRefused) {
  const auto table = parse_csv("1,2\n3,4\n", "run.csv");
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(
      table.diagnostics().text(),
      "run.csv:1:1: error[E0625]: the first line must name the columns, found the number 1\n");
}

TEST(Csv, AHeaderAloneIsRefused) { EXPECT_FALSE(parse_csv("t [s],x\n", "run.csv").ok()); }

TEST(Csv, TwoColumnsOfOneNameAreRefused) {
  const auto table = parse_csv("t,x,x\n1,2,3\n", "run.csv");
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.diagnostics().items().at(0).id, 625);
}

TEST(Csv, NamesAndUnitsComeFromTheHeader) {
  const auto table = parse_csv("# a comment\nt [s],\"x, left [mm] [m]\",y\r\n0,1,2\r\n", "a.csv");
  ASSERT_TRUE(table.ok()) << table.diagnostics().text();
  ASSERT_EQ(table->columns.size(), 3U);
  EXPECT_EQ(table->columns[0].name, "t");
  EXPECT_EQ(table->columns[0].unit, "s");
  EXPECT_EQ(table->columns[1].name, "x, left [mm]");
  EXPECT_EQ(table->columns[1].unit, "m");
  EXPECT_EQ(table->columns[2].unit, "");
  EXPECT_EQ(table->comments.at(0), "a comment");
  EXPECT_EQ(table->find("y"), 2);
  EXPECT_EQ(table->find("z"), -1);
}

TEST(Csv, WhatIsWrittenReadsBackBitForBit) {
  SeriesTable table;
  table.columns.push_back({"t", "s", {0, 0.1, 1.0 / 3}});
  table.columns.push_back({"odd \"name\", with\nline", "", {1e-300, -M_PI, 5e20}});
  table.columns.push_back({"gap", "m", {1, std::numeric_limits<double>::quiet_NaN(), 3}});
  const auto back = parse_csv(csv_text(table), "a.csv");
  ASSERT_TRUE(back.ok()) << back.diagnostics().text();
  for (size_t j = 0; j < 2; ++j) {
    EXPECT_EQ(back->columns[j].name, table.columns[j].name);
    EXPECT_EQ(back->columns[j].values, table.columns[j].values);
  }
  EXPECT_TRUE(std::isnan(back->columns[2].values[1]));
}

TEST(Csv, RowsBeforeDamageSurvive) {
  const auto table = parse_csv("t,x\n0,1\n1,2\n2,abc\n3,4\n", "a.csv");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->rows(), 2U);
  EXPECT_EQ(table.diagnostics().text(),
            "a.csv:4:3: warning[W0623]: column \"x\": \"abc\" is not a number: the table ends here "
            "with 2 rows\n");
}

TEST(Csv, AShortRowEndsTheTable) {
  const auto table = parse_csv("t,x,y\n0,1,2\n1,2\n", "a.csv");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->rows(), 1U);
  EXPECT_EQ(table.diagnostics().items().at(0).id, 624);
}

}  // namespace
}  // namespace panto
