#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/model/schema.hpp"

namespace panto {
namespace {

std::string_view type_name(const Node& node) {
  struct Namer {
    std::string_view operator()(const std::monostate&) const { return "nothing"; }
    std::string_view operator()(const bool&) const { return "true or false"; }
    std::string_view operator()(const std::int64_t&) const { return "a number"; }
    std::string_view operator()(const double&) const { return "a number"; }
    std::string_view operator()(const std::string&) const { return "a text"; }
    std::string_view operator()(const Node::Array&) const { return "a list"; }
    std::string_view operator()(const Node::Table&) const { return "a table"; }
  };
  return std::visit(Namer{}, node.value);
}

std::vector<std::string> split(std::string_view words) {
  std::vector<std::string> out;
  while (!words.empty()) {
    const size_t bar = words.find('|');
    out.emplace_back(words.substr(0, bar));
    words = bar == std::string_view::npos ? std::string_view() : words.substr(bar + 1);
  }
  return out;
}

std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += fmt::format("{}\"{}\"", out.empty() ? "" : ", ", w);
  return out;
}

// What a finding is about: `joint "elbow": parent.at`.
struct Label {
  std::string head;  // the item; empty: the file itself
  std::string path;  // the key in it

  [[nodiscard]] Label operator/(std::string_view key) const {
    return {head, path.empty() ? std::string(key) : fmt::format("{}.{}", path, key)};
  }
  // In front of a message.
  [[nodiscard]] std::string text() const {
    std::string out = head.empty() ? "" : head + ": ";
    if (!path.empty()) out += path + ": ";
    return out;
  }
};

class Validator {
 public:
  explicit Validator(Diagnostics& d) : diagnostics_(d) {}

  void run(const Node& root) {
    if (const Node* space = root.find("space"); space != nullptr && space->text() != nullptr) {
      if (*space->text() == "planar") space_ = InSpace::kPlanar;
      if (*space->text() == "spatial") space_ = InSpace::kSpatial;
    }
    table(root, *find_schema_table("model"), {});
  }

 private:
  // A finding about the value at `node`, described by `label` ("joint \"elbow\": axis").
  void error(int id, const Loc& loc, const Label& label, const std::string& message) {
    diagnostics_.error(id, loc, label.text() + message);
  }

  void wrong_type(const Node& node, const Label& label, std::string_view expected) {
    error(112, node.loc, label, fmt::format("expected {}, not {}", expected, type_name(node)));
  }

  // --- tables ---------------------------------------------------------------------------------

  void table(const Node& node, const SchemaTable& schema, const Label& label) {
    const Node::Table* members = node.table();
    if (members == nullptr) {
      wrong_type(node, label, fmt::format("a table ({})", schema.doc));
      return;
    }
    const SchemaVariant* variant = nullptr;
    bool any_variant = false;  // the type is missing or wrong: every variant's keys are let through
    if (!schema.variants.empty()) {
      variant = chosen_variant(node, schema, label);
      any_variant = variant == nullptr;
    }
    for (const auto& [key, member] : *members) {
      if (schema.item && key == "repeat") {
        if (member.text() == nullptr) wrong_type(member, label / key, "a text \"i = 0..N\"");
        continue;
      }
      const SchemaKey* found = find_key(schema, variant, any_variant, key);
      if (found != nullptr) {
        if (found->type == KeyType::kChoice && *found->choices == '\0') continue;  // `type`
        if (!any_variant) in_space(*found, member, label);
        value(member, *found, label / key);
      } else if (*schema.open != '\0') {
        open_member(member, schema, label / key);
      } else {
        unknown_key(key, member, schema, variant, any_variant, label);
      }
    }
    required(node, schema.keys, label);
    if (variant != nullptr) required(node, variant->keys, label);
  }

  const SchemaVariant* chosen_variant(const Node& node, const SchemaTable& schema,
                                      const Label& label) {
    const Node* type = node.find("type");
    if (type == nullptr) return nullptr;  // reported as a missing key
    if (type->text() == nullptr) {
      wrong_type(*type, label / "type", "a text");
      return nullptr;
    }
    std::vector<std::string> names;
    for (const SchemaVariant& v : schema.variants) {
      if (space_ == InSpace::kBoth || v.where == InSpace::kBoth || v.where == space_) {
        names.emplace_back(v.type);
      }
    }
    const SchemaVariant* variant = find_schema_variant(schema, *type->text());
    if (variant == nullptr) {
      const std::string suggestion = did_you_mean(*type->text(), names);
      error(114, type->loc, label,
            fmt::format("unknown type \"{}\"{}", *type->text(),
                        suggestion.empty() ? "; there are " + listed(names) : suggestion));
    } else if (!fits(variant->where)) {
      error(405, type->loc, label,
            fmt::format("type \"{}\" is not available in {} space; there are {}", variant->type,
                        space_name(), listed(names)));
    }
    return variant;
  }

  static const SchemaKey* find_in(std::span<const SchemaKey> keys, std::string_view name) {
    const auto it =
        std::find_if(keys.begin(), keys.end(), [&](const SchemaKey& k) { return k.name == name; });
    return it == keys.end() ? nullptr : &*it;
  }

  static const SchemaKey* find_key(const SchemaTable& schema, const SchemaVariant* variant,
                                   bool any_variant, std::string_view name) {
    if (const SchemaKey* k = find_in(schema.keys, name)) return k;
    if (variant != nullptr) return find_in(variant->keys, name);
    if (any_variant) {
      for (const SchemaVariant& v : schema.variants) {
        if (const SchemaKey* k = find_in(v.keys, name)) return k;
      }
    }
    return nullptr;
  }

  void unknown_key(const std::string& key, const Node& member, const SchemaTable& schema,
                   const SchemaVariant* variant, bool any_variant, const Label& label) {
    std::vector<std::string> names;
    for (const SchemaKey& k : schema.keys) names.emplace_back(k.name);
    if (variant != nullptr) {
      for (const SchemaKey& k : variant->keys) names.emplace_back(k.name);
    } else if (any_variant) {
      for (const SchemaVariant& v : schema.variants) {
        for (const SchemaKey& k : v.keys) names.emplace_back(k.name);
      }
    }
    if (schema.item) names.emplace_back("repeat");
    const std::string of_type =
        variant != nullptr ? fmt::format(" for type \"{}\"", variant->type) : "";
    error(110, member.key_loc, label,
          fmt::format("unknown key \"{}\"{}{}", key, of_type, did_you_mean(key, names)));
  }

  void required(const Node& node, std::span<const SchemaKey> keys, const Label& label) {
    for (const SchemaKey& k : keys) {
      if (!k.required || node.find(k.name) != nullptr || !fits(k.where)) continue;
      const std::string choices =
          *k.choices != '\0' ? fmt::format(" ({})", listed(split(k.choices))) : "";
      error(111, node.loc, label, fmt::format("missing key \"{}\"{}", k.name, choices));
    }
  }

  void open_member(const Node& member, const SchemaTable& schema, const Label& label) {
    if (std::string_view(schema.name) != "parameters" && member.table() != nullptr) {
      if (std::string_view(schema.name) == "orientation") {
        wrong_type(member, label, "a number");
      } else {
        table(member, *find_schema_table("orientation"), label);
      }
      return;
    }
    number(member, label);
  }

  [[nodiscard]] bool fits(InSpace where) const {
    return space_ == InSpace::kBoth || where == InSpace::kBoth || where == space_;
  }
  [[nodiscard]] std::string_view space_name() const {
    return space_ == InSpace::kPlanar ? "planar" : "spatial";
  }

  void in_space(const SchemaKey& key, const Node& member, const Label& label) {
    if (fits(key.where)) return;
    const std::string_view name = key.name;
    const std::string hint =
        name == "angle" ? "; use `rpy`" : (name == "rpy" ? "; use `angle`" : "");
    error(405, member.key_loc, label,
          fmt::format("key \"{}\" is not available in {} space{}", key.name, space_name(), hint));
  }

  // --- values ---------------------------------------------------------------------------------

  void value(const Node& node, const SchemaKey& key, const Label& label) {
    switch (key.type) {
      case KeyType::kNumber:
        return number(node, label);
      case KeyType::kVector:
      case KeyType::kFreeVector:
        return vector(node, key, label);
      case KeyType::kWhole:
        if (!std::holds_alternative<std::int64_t>(node.value)) {
          wrong_type(node, label, "a whole number");
        }
        return;
      case KeyType::kFlag:
        if (!std::holds_alternative<bool>(node.value)) wrong_type(node, label, "true or false");
        return;
      case KeyType::kText:
      case KeyType::kName:
      case KeyType::kBody:
      case KeyType::kCoordinate:
      case KeyType::kForce:
      case KeyType::kActuator:
        if (node.text() == nullptr) wrong_type(node, label, "a text");
        return;
      case KeyType::kChoice:
        return choice(node, key, label);
      case KeyType::kDirection:
        return direction(node, label);
      case KeyType::kPlace:
      case KeyType::kTarget:
        return place(node, label);
      case KeyType::kPlaces:
        return places(node, label);
      case KeyType::kCoordinates:
        return texts(node, label);
      case KeyType::kNames:
        if (node.text() == nullptr) texts(node, label);
        return;
      case KeyType::kTerms:
        return terms(node, label);
      case KeyType::kSignal:
        return signal(node, label);
      case KeyType::kSignals:
        if (const auto* items = node.array()) {
          for (const Node& item : *items) signal(item, label);
          if (items->empty()) wrong_length(node, label, "at least 1 signal");
        } else {
          signal(node, label);
        }
        return;
      case KeyType::kTable:
        return table(node, *find_schema_table(key.table), label);
      case KeyType::kTables:
      case KeyType::kTableOrList:
        return tables(node, key, label);
    }
  }

  void number(const Node& node, const Label& label) {
    if (node.is_number()) {
      if (!std::isfinite(node.number())) {
        error(303, node.loc, label, "the number is not finite");
      }
    } else if (node.text() == nullptr) {
      wrong_type(node, label, "a number, a quantity or an expression");
    }
  }

  void wrong_length(const Node& node, const Label& label, std::string_view expected) {
    error(113, node.loc, label,
          fmt::format("expected {}, not {}", expected,
                      node.array() != nullptr ? node.array()->size() : 1));
  }

  void vector(const Node& node, const SchemaKey& key, const Label& label) {
    const std::array<int, 2> lengths = space_ == InSpace::kPlanar ? key.planar : key.spatial;
    const bool known = space_ != InSpace::kBoth && lengths[0] > 0;
    const bool single = key.planar[0] == 1 && space_ != InSpace::kSpatial;
    const auto* items = node.array();
    if (items == nullptr) {
      if (!single) return wrong_type(node, label, "a list of numbers");
      return number(node, label);
    }
    for (const Node& item : *items) {
      const std::string* text = item.text();
      if (key.type == KeyType::kFreeVector && text != nullptr && *text == "free") continue;
      number(item, label);
    }
    const int n = static_cast<int>(std::min<size_t>(items->size(), 1000));
    if (known && n != lengths[0] && n != lengths[1]) {
      const std::string expected =
          lengths[1] > 0 ? fmt::format("{} or {} numbers", lengths[0], lengths[1])
                         : fmt::format("{} number{}", lengths[0], lengths[0] == 1 ? "" : "s");
      wrong_length(node, label, expected + fmt::format(" in {} space", space_name()));
    }
  }

  void choice(const Node& node, const SchemaKey& key, const Label& label) {
    const std::vector<std::string> words = split(key.choices);
    const std::string* text = node.text();
    if (text == nullptr) return wrong_type(node, label, "one of " + listed(words));
    if (std::find(words.begin(), words.end(), *text) != words.end()) return;
    error(
        114, node.loc, label,
        fmt::format("\"{}\" is not one of {}{}", *text, listed(words), did_you_mean(*text, words)));
  }

  void direction(const Node& node, const Label& label) {
    const std::vector<std::string> words =
        space_ == InSpace::kPlanar ? split("x|y") : split("x|y|z");
    if (const std::string* text = node.text()) {
      if (std::find(words.begin(), words.end(), *text) == words.end()) {
        error(114, node.loc, label, fmt::format("\"{}\" is not one of {}", *text, listed(words)));
      }
    } else if (const auto* items = node.array()) {
      for (const Node& item : *items) number(item, label);
      if (space_ != InSpace::kBoth && items->size() != words.size()) {
        wrong_length(node, label,
                     fmt::format("{} numbers in {} space", words.size(), space_name()));
      }
    } else {
      wrong_type(node, label, fmt::format("one of {} or a list of numbers", listed(words)));
    }
  }

  void place(const Node& node, const Label& label) {
    if (node.text() != nullptr) return;
    if (node.table() == nullptr) {
      return wrong_type(node, label, "a place, \"body.frame\" or { body = …, at = … }");
    }
    table(node, *find_schema_table("place"), label);
  }

  void places(const Node& node, const Label& label) {
    const auto* items = node.array();
    if (items == nullptr) return wrong_type(node, label, "a list of two places");
    if (items->size() != 2) wrong_length(node, label, "2 places");
    for (const Node& item : *items) place(item, label);
  }

  void texts(const Node& node, const Label& label) {
    const auto* items = node.array();
    if (items == nullptr) return wrong_type(node, label, "a list of names");
    for (const Node& item : *items) {
      if (item.text() == nullptr) wrong_type(item, label, "a name");
    }
  }

  void terms(const Node& node, const Label& label) {
    const auto* members = node.table();
    if (members == nullptr) return wrong_type(node, label, "a table { coordinate = coefficient }");
    if (members->empty()) {
      error(113, node.loc, label, "expected at least 1 term");
    }
    for (const auto& [key, member] : *members) {
      // A dotted coordinate, unquoted, is a table in a table: base.x = 1.
      if (const auto* inner = member.table()) {
        for (const auto& [last, number_node] : *inner) {
          number(number_node, label / key / last);
        }
      } else {
        number(member, label / key);
      }
    }
  }

  void signal(const Node& node, const Label& label) {
    if (node.table() == nullptr) {
      if (node.is_number() || node.text() != nullptr) return number(node, label);
      return wrong_type(node, label, "a number, an expression of t or a table");
    }
    table(node, *find_schema_table("signal"), label);
    int sources = 0;
    for (const char* key : {"polynomial", "table", "csv"}) sources += node.find(key) != nullptr;
    if (sources != 1) {
      error(115, node.loc, label,
            "a signal needs exactly one of \"polynomial\", \"table\", \"csv\"");
    }
  }

  void tables(const Node& node, const SchemaKey& key, const Label& label) {
    const SchemaTable& schema = *find_schema_table(key.table);
    if (key.type == KeyType::kTableOrList && node.table() != nullptr) {
      return table(node, schema, label);
    }
    const auto* items = node.array();
    if (items == nullptr) {
      const std::string hint =
          schema.item && node.table() != nullptr
              ? fmt::format("; write [[{}]] or {} = [{{ … }}]", schema.name, schema.name)
              : "";
      error(112, node.loc, label,
            fmt::format("expected a list of tables, not {}{}", type_name(node), hint));
      return;
    }
    for (size_t i = 0; i < items->size(); ++i) {
      const Node& item = (*items)[i];
      const Node* name = item.find("name");
      Label item_label = label;
      if (schema.item) {
        const bool named = name != nullptr && name->text() != nullptr;
        item_label = {named ? fmt::format("{} \"{}\"", schema.name, *name->text())
                            : fmt::format("{} {}", schema.name, i + 1),
                      ""};
      }
      table(item, schema, item_label);
    }
  }

  Diagnostics& diagnostics_;
  InSpace space_ = InSpace::kBoth;  // kBoth: not known
};

}  // namespace

void validate(const Node& root, Diagnostics& diagnostics) { Validator(diagnostics).run(root); }

}  // namespace panto
