#include <gtest/gtest.h>

#include "panto/io/frequency_data.hpp"
#include "panto/io/uff.hpp"

namespace panto::uff {
namespace {

std::string said(const std::string& text) { return parse(text, "a.uff").diagnostics().text(); }

std::string function(
    const std::string& head = "    58", const std::string& kind = "         5",
    const std::string& count = "         2",
    const std::string& data = "  1.00000E+00  0.00000E+00  1.00000E+00  0.00000E+00\n") {
  return "    -1\n" + head + "\nNONE\nNONE\nNONE\nNONE\nNONE\n" +
         "    4         0    0         0 NONE               1   3 NONE               7  -2\n" +
         kind + count +
         "         1  1.00000E+01  5.00000E-01  0.00000E+00\n"
         "        18    0    0    0 Frequency            Hz                  \n"
         "        12    0    0    0 Acceleration         m/s^2               \n"
         "        13    0    0    0 Force                N                   \n"
         "         0    0    0    0 NONE                 NONE                \n" +
         data + "    -1\n";
}

TEST(BadUff, TextThatIsNoUniversalFileIsRefused) {
  EXPECT_EQ(said(""),
            "a.uff:1:1: error[E0953]: no dataset: a universal file has datasets between lines \"   "
            " -1\"\n");
  EXPECT_NE(said("hello\n").find("no dataset"), std::string::npos);
}

TEST(BadUff, ADatasetThatDoesNotEndIsToldWithItsFirstByte) {
  EXPECT_EQ(
      said("    -1\n   151\nname\n    -1\n    -1\n    15\n         1         0         0       "
           "  0  0.00000E+00  0.00000E+00  0.00000E+00\n"),
      "a.uff:8:1: error[E0953]: dataset 15 (from byte 26): the file ends within the dataset\n");
}

TEST(BadUff, NodesWithoutCoordinatesAreRefused) {
  EXPECT_EQ(said("    -1\n    15\n         1         0         0         0\n    -1\n"),
            "a.uff:3:1: error[E0953]: dataset 15 (from byte 0): node 1: three coordinates are "
            "needed\n");
  EXPECT_NE(
      said("    -1\n    15\n         1         0         0         0  0.00000E+00  0.00000E+00\n"
           "    -1\n")
          .find("three coordinates are needed"),
      std::string::npos);
}

TEST(BadUff, FunctionsAtNodesWithoutCoordinatesAreNamed) {
  const std::string text =
      "    -1\n    15\n         1         0         0         0  0.00000E+00  0.00000E+00  "
      "0.00000E+00\n    -1\n" +
      function();
  EXPECT_EQ(said(text),
            "a.uff:12:1: warning[W0954]: node 7 has no coordinates: dataset 15 does not list it\n");
}

TEST(BadUff, AllBrokenDatasetsAreToldAndTheGoodOnesDoNotHideThem) {
  EXPECT_EQ(
      said("    -1\n    15\n        1x         0         0         0  0.00000E+00  0.00000E+00  "
           "0.00000E+00\n    -1\n" +
           function() + function("    58", "         5", "         3") +
           function("    58", "         7")),
      "a.uff:3:1: error[E0953]: dataset 15 (from byte 0): node label: \"1x\" is no whole "
      "number\n"
      "a.uff:33:1: error[E0953]: dataset 58 (from byte 623): 6 numbers are expected in this "
      "line\n"
      "a.uff:43:1: error[E0953]: dataset 58 (from byte 1145): ordinate data type 7 is not "
      "among 2, 4, 5, 6\n");
}

TEST(BadUff, CountsBeyondTheFileDoNotAllocate) {
  EXPECT_NE(said(function("    58", "         5", "2000000000")).find("bytes left"),
            std::string::npos);
  EXPECT_NE(said(function("    58", "         5", "        -5")).find("-5 values"),
            std::string::npos);
  EXPECT_NE(
      said(function("    58b     1     2          11          32", "         6", "        10"))
          .find("are not followed by"),
      std::string::npos);
}

TEST(BadUff, BinaryNumbersOfOtherMachinesAreRefused) {
  EXPECT_NE(said(function("    58b     1     1          11          32")).find("VAX"),
            std::string::npos);
  EXPECT_NE(said(function("    58b     7     2          11          32")).find("byte ordering"),
            std::string::npos);
}

TEST(BadUff, UnitsMustBePositive) {
  EXPECT_NE(
      said("    -1\n   164\n         1SI                           2\n  "
           "0.00000000000000000D+00  1.00000000000000000D+00  1.00000000000000000D+00\n    -1\n")
          .find("must be positive"),
      std::string::npos);
}

TEST(BadUff, AFileWithoutResponsesOrWithTwoOfOnePairIsRefused) {
  const auto none = frequency_data(*parse("    -1\n   151\na\n    -1\n", "a.uff"));
  EXPECT_EQ(none.diagnostics().text(),
            "a.uff: error[E0956]: holds no frequency response (dataset 58 of type 4)\n");
  const auto twice = frequency_data(*parse(function() + function(), "a.uff"));
  EXPECT_EQ(twice.diagnostics().text(),
            "a.uff:23:1: error[E0956]: the response node 1:z to node 7:-y is there twice\n");
}

}  // namespace
}  // namespace panto::uff
