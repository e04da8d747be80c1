#include <nlohmann/json.hpp>

#include "panto/model/schema.hpp"

namespace panto {
namespace {

using Json = nlohmann::ordered_json;

Json reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }
Json array_of(const Json& items) { return {{"type", "array"}, {"items", items}}; }
Json either(std::initializer_list<Json> options) {
  Json out;
  out["anyOf"] = Json::array();
  for (const Json& o : options) out["anyOf"].push_back(o);
  return out;
}

Json choices(std::string_view words) {
  Json out = Json::array();
  while (!words.empty()) {
    const size_t bar = words.find('|');
    out.push_back(std::string(words.substr(0, bar)));
    words = bar == std::string_view::npos ? std::string_view() : words.substr(bar + 1);
  }
  return {{"type", "string"}, {"enum", out}};
}

// The shortest and longest of the permitted lengths; which one it is depends on the space.
void set_lengths(Json& array, const SchemaKey& key) {
  int low = 0, high = 0;
  for (const int n : {key.planar[0], key.planar[1], key.spatial[0], key.spatial[1]}) {
    if (n == 0) continue;
    low = low == 0 ? n : std::min(low, n);
    high = std::max(high, n);
  }
  if (low == 0) return;
  array["minItems"] = low;
  array["maxItems"] = high;
}

Json type_of(const SchemaKey& key) {
  Json text{{"type", "string"}};
  switch (key.type) {
    case KeyType::kNumber:
      return reference("number");
    case KeyType::kVector:
    case KeyType::kFreeVector: {
      Json array = array_of(reference("number"));
      set_lengths(array, key);
      return key.planar[0] == 1 ? either({reference("number"), array}) : array;
    }
    case KeyType::kWhole:
      return {{"type", "integer"}};
    case KeyType::kFlag:
      return {{"type", "boolean"}};
    case KeyType::kText:
    case KeyType::kName:
    case KeyType::kBody:
    case KeyType::kCoordinate:
    case KeyType::kForce:
    case KeyType::kActuator:
      return text;
    case KeyType::kChoice:
      return choices(key.choices);
    case KeyType::kDirection:
      return either({choices("x|y|z"), array_of(reference("number"))});
    case KeyType::kPlace:
    case KeyType::kTarget:
      return either({text, reference("place")});
    case KeyType::kPlaces: {
      Json array = array_of(either({text, reference("place")}));
      array["minItems"] = 2;
      array["maxItems"] = 2;
      return array;
    }
    case KeyType::kCoordinates:
      return array_of(text);
    case KeyType::kNames:
      return either({text, array_of(text)});
    case KeyType::kTerms:
      return {{"type", "object"}, {"minProperties", 1}};
    case KeyType::kSignal:
      return either({reference("number"), reference("signal")});
    case KeyType::kSignals:
      return either({reference("number"), reference("signal"),
                     array_of(either({reference("number"), reference("signal")}))});
    case KeyType::kTable:
      return reference(key.table);
    case KeyType::kTables:
      return array_of(reference(key.table));
    case KeyType::kTableOrList:
      return either({reference(key.table), array_of(reference(key.table))});
  }
  return {};
}

std::string description(const SchemaKey& key) {
  std::string out = key.doc;
  if (*key.unit != '\0') out += std::string(" [") + key.unit + "]";
  if (*key.fallback != '\0') out += std::string("; default ") + key.fallback;
  if (key.where == InSpace::kPlanar) out += "; planar only";
  if (key.where == InSpace::kSpatial) out += "; spatial only";
  return out;
}

const char* type_words(KeyType type) {
  switch (type) {
    case KeyType::kNumber:
      return "number";
    case KeyType::kVector:
      return "list of numbers";
    case KeyType::kFreeVector:
      return "list of numbers or \"free\"";
    case KeyType::kWhole:
      return "whole number";
    case KeyType::kFlag:
      return "true or false";
    case KeyType::kText:
      return "text";
    case KeyType::kName:
      return "name";
    case KeyType::kChoice:
      return "word";
    case KeyType::kDirection:
      return "\"x\", \"y\", \"z\" or list of numbers";
    case KeyType::kBody:
      return "body";
    case KeyType::kPlace:
      return "place";
    case KeyType::kPlaces:
      return "two places";
    case KeyType::kCoordinate:
      return "coordinate";
    case KeyType::kCoordinates:
      return "list of coordinates";
    case KeyType::kNames:
      return "name or list of names";
    case KeyType::kTarget:
      return "place or coordinate";
    case KeyType::kForce:
      return "force, actuator, driver or loop";
    case KeyType::kActuator:
      return "actuator";
    case KeyType::kTerms:
      return "table of numbers";
    case KeyType::kSignal:
      return "signal";
    case KeyType::kSignals:
      return "signal or list of signals";
    case KeyType::kTable:
      return "table";
    case KeyType::kTables:
      return "list of tables";
    case KeyType::kTableOrList:
      return "table or list of tables";
  }
  return "";
}

const char* space_words(InSpace where) {
  return where == InSpace::kPlanar ? "planar" : where == InSpace::kSpatial ? "spatial" : "both";
}

// What the reference pages say about a key beyond the standard words of a schema.
void add_page_entries(Json& property, const SchemaKey& key) {
  property["x-type"] = type_words(key.type);
  const auto add = [&](const char* name, std::string_view text) {
    if (!text.empty()) property[name] = text;
  };
  add("x-unit", key.unit);
  add("x-default", key.fallback);
  add("x-table", key.table);
  if (key.where != InSpace::kBoth) add("x-space", space_words(key.where));
  if (key.required && key.where != InSpace::kBoth) property["x-required"] = true;
  if (property["description"] != key.doc) add("x-meaning", key.doc);
}

void add_keys(Json& object, std::span<const SchemaKey> keys) {
  for (const SchemaKey& key : keys) {
    if (key.type == KeyType::kChoice && *key.choices == '\0')
      continue;  // the type, set by the variant
    Json property = type_of(key);
    // In draft 7 whatever stands beside $ref is ignored.
    if (property.contains("$ref")) property = Json{{"allOf", Json::array({property})}};
    property["description"] = description(key);
    add_page_entries(property, key);
    object["properties"][key.name] = property;
    if (key.required && key.where == InSpace::kBoth) object["required"].push_back(key.name);
  }
}

Json object_of(const SchemaTable& table, const SchemaVariant* variant) {
  Json out{{"type", "object"}};
  out["description"] = variant != nullptr ? variant->doc : table.doc;
  if (variant != nullptr && variant->where != InSpace::kBoth)
    out["x-space"] = space_words(variant->where);
  out["properties"] = Json::object();
  if (variant != nullptr) {
    out["properties"]["type"] = {{"const", variant->type}};
    out["required"].push_back("type");
  }
  add_keys(out, table.keys);
  if (variant != nullptr) add_keys(out, variant->keys);
  if (table.item) {
    out["properties"]["repeat"] = {
        {"type", "string"},
        {"description", "\"i = 0..N\": write the item once for every whole number i"},
        {"x-type", "text"}};
  }
  if (*table.open == '\0') {
    out["additionalProperties"] = false;
  } else {
    const bool nested =
        std::string_view(table.name) == "initial" || std::string_view(table.name) == "guess";
    Json value =
        nested ? either({reference("number"), reference("orientation")}) : reference("number");
    if (value.contains("$ref")) value = Json{{"allOf", Json::array({value})}};
    value["description"] = table.open;
    out["additionalProperties"] = value;
  }
  return out;
}

}  // namespace

std::string json_schema() {
  const auto tables = schema_tables();
  Json out{
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"title", "Pantograph model file"},
      {"description", "Bare numbers are SI and radians; a text is a quantity or an expression."}};
  const Json whole = object_of(tables[0], nullptr);
  for (const auto& [key, value] : whole.items()) {
    if (key != "description") out[key] = value;
  }
  Json& definitions = out["definitions"];
  definitions["number"] = {
      {"type", Json::array({"number", "string"})},
      {"description",
       "number, quantity (\"16 mm\") or expression of the parameters (\"rho*A*L\")"}};
  for (const SchemaTable& table : tables.subspan(1)) {
    if (table.variants.empty()) {
      definitions[table.name] = object_of(table, nullptr);
      continue;
    }
    Json& variants = definitions[table.name]["oneOf"];
    for (const SchemaVariant& v : table.variants) variants.push_back(object_of(table, &v));
  }
  return out.dump(2) + "\n";
}

}  // namespace panto
