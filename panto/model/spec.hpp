// The editable description of a mechanism: a tree of values that mirrors the model file and knows the place of each.
// Files (TOML, URDF) and programs (C++, Python) build the same tree; schema.hpp says what it may contain.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "panto/base/diagnostics.hpp"

namespace panto {

// One value of a model description.
struct Node {
  using Array = std::vector<Node>;
  using Table = std::vector<std::pair<std::string, Node>>;  // in file order

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table> value;
  Loc loc;      // of the value
  Loc key_loc;  // of its key, for members of tables

  Node() = default;
  Node(double number) : value(number) {}                          // NOLINT: literals read well
  Node(int number) : value(static_cast<std::int64_t>(number)) {}  // NOLINT
  Node(const char* text) : value(std::string(text)) {}            // NOLINT
  Node(std::string text) : value(std::move(text)) {}              // NOLINT
  Node(bool flag) : value(flag) {}                                // NOLINT
  Node(Array items) : value(std::move(items)) {}                  // NOLINT
  Node(Table members) : value(std::move(members)) {}              // NOLINT

  [[nodiscard]] bool is_number() const {
    return std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value);
  }
  [[nodiscard]] double number() const;  // requires is_number()
  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&value); }
  [[nodiscard]] const Array* array() const { return std::get_if<Array>(&value); }
  [[nodiscard]] const Table* table() const { return std::get_if<Table>(&value); }
  // Member of a table, or nullptr.
  [[nodiscard]] const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
  // Sets (or adds) a member of a table; an empty node becomes a table.
  Node& set(std::string_view key, Node member);
};

struct ModelSpec {
  Node root{Node::Table{}};
  std::string file;         // where it came from; empty when built in code
  std::string source_text;  // the file's text, so that copy_back can keep comments and layout
};

// name=value pairs of the command line. A value is a number, a quantity or an expression.
struct Override {
  std::string name;
  std::string value;
};

}  // namespace panto
