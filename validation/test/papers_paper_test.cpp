// Every reproduction runs, and every row is reproduced, or known to differ and says why.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "validation/cases.hpp"
#include "validation/support.hpp"

namespace panto::validation {
namespace {

// Lines "item | quantity" of a source's rows that are known to differ.
std::set<std::string> known_to_differ(const std::string& key) {
  std::set<std::string> out;
  std::ifstream file(folder() + "/papers/" + key + "/differs.txt");
  for (std::string line; std::getline(file, line);) out.insert(line);
  return out;
}

class Papers : public ::testing::TestWithParam<Case> {};

TEST_P(Papers, AreReproducedOrExplained) {
  const auto rows = GetParam().run();
  ASSERT_TRUE(rows.ok()) << rows.diagnostics().text();
  EXPECT_FALSE(rows->empty());
  const std::string item = std::string(GetParam().item) + " | ";
  const std::set<std::string> known = known_to_differ(GetParam().key);
  std::set<std::string> lines;
  for (const Row& r : *rows) {
    const std::string line = item + r.quantity;
    EXPECT_TRUE(r.reproduced() || known.contains(line))
        << line << ": not known to differ; printed " << r.printed << ", computed " << r.computed
        << ", band " << r.band;
    EXPECT_TRUE(r.reproduced() || !r.note.empty()) << line << ": the note says why it differs";
    EXPECT_FALSE(r.quantity.empty());
    EXPECT_GT(r.band, 0) << r.quantity;
    EXPECT_TRUE(lines.insert(line).second) << line << ": the name of two rows";
  }
  for (const std::string& line : known)
    EXPECT_TRUE(!line.starts_with(item) || lines.contains(line))
        << line << ": there is no such row";
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

TEST(Cases, KnownDifferencesAreRowsOfCases) {
  std::set<std::string> items;
  for (const Case& c : cases()) items.insert(name_of(c));
  for (const auto& source : std::filesystem::directory_iterator(folder() + "/papers")) {
    const std::string key = source.path().filename().string();
    for (const std::string& line : known_to_differ(key))
      EXPECT_TRUE(items.contains(key + ":" + line.substr(0, line.find(" | "))))
          << key << ": " << line;
  }
}

}  // namespace
}  // namespace panto::validation
