#include "panto/model/schema.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/source_dir.hpp"

namespace panto {
namespace {

TEST(Schema, NamesAreUniqueAndReferencesExist) {
  std::set<std::string> kinds;
  for (const SchemaTable& t : schema_tables()) {
    EXPECT_TRUE(kinds.insert(t.name).second) << t.name;
    std::vector<std::span<const SchemaKey>> lists{t.keys};
    for (const SchemaVariant& v : t.variants) lists.push_back(v.keys);
    for (size_t i = 0; i < lists.size(); ++i) {
      std::set<std::string> names;
      if (i > 0) {
        for (const SchemaKey& k : lists[0]) names.insert(k.name);
      }
      for (const SchemaKey& k : lists[i]) {
        EXPECT_TRUE(names.insert(k.name).second) << t.name << "." << k.name;
        EXPECT_NE(std::string(k.doc), "") << t.name << "." << k.name;
        EXPECT_TRUE(*k.table == '\0' || find_schema_table(k.table) != nullptr) << k.table;
      }
    }
  }
}

TEST(Schema, EveryUnitIsKnown) {
  const auto check = [](std::span<const SchemaKey> keys) {
    for (const SchemaKey& k : keys) {
      std::string_view unit = k.unit;
      while (!unit.empty()) {
        const size_t bar = unit.find(" or ");
        EXPECT_TRUE(parse_unit(unit.substr(0, bar))) << k.name << " " << unit;
        unit = bar == std::string_view::npos ? std::string_view() : unit.substr(bar + 4);
      }
    }
  };
  for (const SchemaTable& t : schema_tables()) {
    check(t.keys);
    for (const SchemaVariant& v : t.variants) check(v.keys);
  }
}

// The file is regenerated with PANTO_UPDATE=1.
TEST(Schema, TheFileInTheTreeIsTheGeneratedOne) {
  const std::string path = PANTO_SOURCE_DIR "/schemas/model.schema.json";
  if (std::getenv("PANTO_UPDATE") != nullptr) std::ofstream(path) << json_schema();
  std::ifstream in(path);
  ASSERT_TRUE(in) << path;
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), json_schema()) << "regenerate it: PANTO_UPDATE=1 model_schema_test";
}

TEST(Schema, IsJsonWithADefinitionPerKind) {
  const auto json = nlohmann::json::parse(json_schema());
  for (const SchemaTable& t : schema_tables().subspan(1)) {
    EXPECT_TRUE(json["definitions"].contains(t.name)) << t.name;
  }
  EXPECT_EQ(json["definitions"]["joint"]["oneOf"].size(), 8u);
  EXPECT_EQ(json["additionalProperties"], false);
}

}  // namespace
}  // namespace panto
