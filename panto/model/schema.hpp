// What a model file may contain: one static table that drives the validation of files and of models built in code,
// the JSON Schema for editors, and the reference pages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "panto/base/diagnostics.hpp"
#include "panto/base/units.hpp"
#include "panto/model/spec.hpp"

namespace panto {

enum class KeyType : std::uint8_t {
  kNumber,       // number, quantity or expression of the parameters
  kVector,       // list of numbers
  kFreeVector,   // list whose entries may be "free"
  kWhole,        // whole number
  kFlag,         // true or false
  kText,         // any text
  kName,         // name that the item gets
  kChoice,       // one of the words in `choices`
  kDirection,    // "x", "y", "z" or a list of numbers
  kBody,         // name of a body, or "ground"
  kPlace,        // text or a table of kind "place"
  kPlaces,       // two places
  kCoordinate,   // name of a coordinate (or speed)
  kCoordinates,  // list of such names
  kTarget,       // place or coordinate
  kForce,        // name of a force, actuator, driver or loop
  kActuator,     // name of an actuator
  kNames,        // text, or list of texts
  kTerms,        // table: coordinate = coefficient
  kSignal,       // number, expression of t, or a table of kind "signal"
  kSignals,      // signal, or list of signals
  kTable,        // table of kind `table`
  kTables,       // list of tables of kind `table`
  kTableOrList,  // one such table or a list of them
};

enum class InSpace : std::uint8_t { kBoth, kPlanar, kSpatial };

struct SchemaKey {
  const char* name = "";
  KeyType type = KeyType::kNumber;
  const char* doc = "";
  const char* unit = "";  // "m", "rad", "N or N m"; empty: dimension follows from the use, or none
  bool required = false;
  const char* fallback = "";    // value when absent, as written in a file
  const char* choices = "";     // kChoice: words separated by '|'
  const char* table = "";       // kTable, kTables, kTableOrList: kind of the table
  std::array<int, 2> planar{};  // kVector: permitted numbers of entries; 0, 0: any
  std::array<int, 2> spatial{};
  InSpace where = InSpace::kBoth;
};

// The keys that a value of `type` adds to a table.
struct SchemaVariant {
  const char* type = "";
  const char* doc = "";
  std::span<const SchemaKey> keys{};
  InSpace where = InSpace::kBoth;
};

struct SchemaTable {
  const char* name = "";
  const char* doc = "";
  std::span<const SchemaKey> keys{};
  std::span<const SchemaVariant> variants{};  // empty, or chosen by the key `type`
  bool item = false;                          // element of a list at top level: may have `repeat`
  const char* open = "";                      // any further key is permitted; says what it holds
};

// All kinds of table; the first, "model", is the whole file.
std::span<const SchemaTable> schema_tables();
// nullptr if there is no such kind.
const SchemaTable* find_schema_table(std::string_view name);
const SchemaVariant* find_schema_variant(const SchemaTable& table, std::string_view type);

// Checks keys, types, lengths and choices of a whole description; reports every finding. References, units and values
// are the business of compile().
void validate(const Node& root, Diagnostics& diagnostics);

// JSON Schema (draft 7) of the model file, as kept in schemas/model.schema.json.
std::string json_schema();

}  // namespace panto
