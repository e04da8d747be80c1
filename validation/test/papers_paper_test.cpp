// Every reproduction runs, and every row is reproduced or says why not.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "validation/cases.hpp"

namespace panto::validation {
namespace {

class Papers : public ::testing::TestWithParam<Case> {};

TEST_P(Papers, AreReproducedOrExplained) {
  const auto rows = GetParam().run();
  ASSERT_TRUE(rows.ok()) << rows.diagnostics().text();
  EXPECT_FALSE(rows->empty());
  for (const Row& r : *rows) {
    EXPECT_TRUE(r.reproduced() || !r.note.empty())
        << r.quantity << ": printed " << r.printed << ", computed " << r.computed << ", band "
        << r.band;
    EXPECT_FALSE(r.quantity.empty());
    EXPECT_GT(r.band, 0) << r.quantity;
  }
}

std::vector<Case> quick() {
  std::vector<Case> out;
  std::copy_if(cases().begin(), cases().end(), std::back_inserter(out),
               [](const Case& c) { return !c.slow; });
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, Papers, ::testing::ValuesIn(quick()), [](const auto& one) {
  std::string name = std::string(one.param.key) + "_" + one.param.item;
  for (char& c : name)
    if (c == '-' || c == '.') c = '_';
  return name;
});

TEST(Cases, HaveDistinctNamesInOrder) {
  std::vector<std::string> names;
  for (const Case& c : cases()) names.push_back(std::string(c.key) + ":" + c.item);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

}  // namespace
}  // namespace panto::validation
