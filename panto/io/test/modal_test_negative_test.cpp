#include <gtest/gtest.h>

#include "panto/io/modal_test.hpp"

namespace panto {
namespace {

std::string toml(const char* text) { return parse_modal_toml(text, "m.toml").diagnostics().text(); }
std::string csv(const char* text) { return parse_modal_csv(text, "m.csv").diagnostics().text(); }

TEST(BadModalTable, ValuesThatCannotBeAreAllToldWithTheirPlaces) {
  EXPECT_EQ(toml("[[mode]]\nfrequency = -3\ndamping = 1.5\n[[mode]]\nfrequency = 2\n"
                 "frequency_sigma = -1\n"),
            "m.toml:2:13: error[E0951]: mode 1: frequency -3 Hz: a measured frequency is positive\n"
            "m.toml:2:13: error[E0951]: mode 1: damping 1.5: a ratio of critical damping lies "
            "between 0 and 1 (a percentage is to be divided by 100)\n"
            "m.toml:5:13: error[E0951]: mode 2: a standard deviation must not be negative\n");
}

TEST(BadModalTable, MissingAndUnknownKeysAreNamed) {
  EXPECT_EQ(toml("[[mod]]\nfrequency = 1\n"),
            "m.toml:1:1: error[E0111]: missing [[mode]]: what was measured\n"
            "m.toml:1:3: error[E0110]: unknown key \"mod\"; did you mean \"mode\"?\n");
  EXPECT_NE(toml("[[mode]]\ndamping = 0.1\n").find("E0111"), std::string::npos);
  EXPECT_NE(toml("[[mode]]\nfrequency = \"3 m\"\n").find("m.toml:2:13: error[E03"),
            std::string::npos);
}

TEST(BadModalTable, PointsWithoutFrameDirectionOrValueAreRefused) {
  const std::string said = toml(
      "[[mode]]\nfrequency = 1\nshape = [{ direction = \"x\", value = 1 },\n"
      " { frame = \"a\", value = 1 },\n { frame = \"a\", direction = \"w\", value = 1 },\n"
      " { frame = \"a\", direction = [0, 0, 0], value = 1 },\n { frame = \"a\", direction = [1, "
      "0], "
      "value = 1 },\n { frame = \"a\", direction = \"x\" }]\n");
  for (const char* part :
       {"m.toml:3:10: error[E0111]", "m.toml:4:2: error[E0111]", "m.toml:5:29: error[E0114]",
        "m.toml:6:29: error[E0951]", "m.toml:7:29: error[E0113]", "m.toml:8:2: error[E0111]"})
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
}

TEST(BadModalTable, APointThatIsThereTwiceIsRefused) {
  EXPECT_EQ(
      toml("[[mode]]\nfrequency = 1\nshape = [{ frame = \"a\", direction = \"x\", value = 1 },\n"
           "  { frame = \"a\", direction = [2, 0, 0], value = 3 }]\n"),
      "m.toml:4:3: error[E0952]: mode 1: point \"a\" along (1, 0, 0) is there twice\n");
}

TEST(BadModalTable, RowsThatContradictEachOtherAreRefused) {
  EXPECT_EQ(csv("mode,frequency,frame,x,y,z,value\n1,10,a,1,0,0,1\n1,11,b,1,0,0,1\n"),
            "m.csv:3:1: error[E0952]: mode 1: frequency, damping or their deviations differ from "
            "those of an earlier row of this mode\n");
}

TEST(BadModalTable, ColumnsThatAreMissingOrUnknownAreNamed) {
  EXPECT_EQ(csv("mode,frequncy,frame,x,y,value\n1,10,a,1,0,1\n"),
            "m.csv:1:1: error[E0952]: column \"frequncy\" is not known here; did you mean "
            "\"frequency\"?\n"
            "m.csv:1:1: error[E0952]: column \"frequency\" is missing\n"
            "m.csv:1:1: error[E0952]: column \"z\" is missing: a shape has frame, x, y, z and "
            "value\n");
  EXPECT_NE(csv("mode,frequency [rad/s]\n1,10\n").find("must be in Hz"), std::string::npos);
}

TEST(BadModalTable, ADamagedCsvLosesNothingSilently) {
  EXPECT_EQ(csv("mode,frequency\n1,10\n2,x\n"),
            "m.csv:3:3: error[E0623]: column \"frequency\": \"x\" is not a number: the table ends "
            "here with 1 rows\n");
  EXPECT_FALSE(parse_modal_csv("mode,frequency,frame,x,y,z,value\n1,10,a,1,0,0,\n", "m.csv").ok());
}

}  // namespace
}  // namespace panto
