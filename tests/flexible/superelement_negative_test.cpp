// Superelements that cannot be made are refused with id and reason.
#include <gtest/gtest.h>

#include "panto/io/load.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

std::string findings(const std::string& file, const std::string& table) {
  const test::TemporaryFolder folder;
  if (!file.empty()) folder.put("bed.modes.csv", file);
  const auto model = load(folder.put(
      "model.toml",
      "space = \"planar\"\nsuperelement = [" + table +
          "]\nbody = [{ name = \"load\", mass = 1, com = [0, 0], inertia = 1 }]\njoint = [{ name = "
          "\"bolt\", type = \"weld\", parent = \"bed.left\", child = \"load\" }]\n"));
  return model.ok() ? "" : model.diagnostics().text();
}

const std::string kBed =
    "{ name = \"bed\", modes = \"bed.modes.csv\", connect = [{ node = \"left\" }] }";

TEST(BadSuperelement, AGoodOneCompiles) {
  EXPECT_EQ(findings("omega2,left.x,left.y\n100,1,0\n200,0,1\n", kBed), "");
}
TEST(BadSuperelement, NeedsItsFile) {
  EXPECT_NE(findings("", kBed).find("error[E060"), std::string::npos) << findings("", kBed);
}
TEST(BadSuperelement, NeedsFrequencies) {
  EXPECT_NE(findings("hz,left.y\n100,1\n", kBed).find("error[E0918]"), std::string::npos);
}
TEST(BadSuperelement, RefusesNegativeStiffness) {
  EXPECT_NE(findings("omega2,left.y\n-100,1\n", kBed).find("error[E0918]"), std::string::npos);
}
TEST(BadSuperelement, NamesANodeThatIsNotThere) {
  const std::string text = findings("omega2,lefd.y\n100,1\n", kBed);
  EXPECT_NE(text.find("error[E0919]"), std::string::npos);
  EXPECT_NE(text.find("lefd"), std::string::npos) << text;
}
TEST(BadSuperelement, HasOneConnectionOfAName) {
  EXPECT_NE(findings("omega2,left.y\n100,1\n",
                     "{ name = \"bed\", modes = \"bed.modes.csv\", connect = [{ node = \"left\" }, "
                     "{ node = \"left\" }] }")
                .find("error[E0202]"),
            std::string::npos);
  EXPECT_NE(findings("omega2,left.y\n100,1\n", kBed + ", " + kBed).find("error[E0202]"),
            std::string::npos);
}

}  // namespace
}  // namespace panto
