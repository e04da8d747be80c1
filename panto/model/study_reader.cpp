#include "panto/model/study_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/base/expression.hpp"

namespace panto {

void StudyReader::error(int id, const Loc& at, const std::string& message) const {
  out_.error(id, at, label_.empty() ? message : label_ + ": " + message);
}

bool StudyReader::keys(std::initializer_list<const char*> known) const {
  return keys(std::vector<std::string>(known.begin(), known.end()));
}

bool StudyReader::keys(const std::vector<std::string>& known) const {
  const Node::Table* members = node_.table();
  if (members == nullptr) {
    error(112, node_.loc, "expected a table");
    return false;
  }
  for (const auto& [key, member] : *members)
    if (std::find(known.begin(), known.end(), key) == known.end())
      error(110, member.key_loc,
            fmt::format("unknown key \"{}\"{}", key, did_you_mean(key, known)));
  return true;
}

bool StudyReader::quantity(const Node& node, const std::string& key, const Dim* dim,
                           double& value) const {
  if (node.is_number()) {
    value = node.number();
    if (std::isfinite(value)) return true;
    error(303, node.loc, key + ": the number is not finite");
    return false;
  }
  std::optional<Dim> found;
  const std::string* text = node.text();
  bool readable = false;
  if (text != nullptr) {
    if (const auto read = parse_quantity(*text)) {
      value = read->value;
      found = read->dim;
      readable = true;
    } else {
      const ParsedExpression parsed = parse_expression(
          *text, [](std::string_view) { return std::optional<ResolvedName>{}; }, {});
      if (!parsed.error) {
        value = parsed.expression.evaluate<double>({});
        found = parsed.dim;
        readable = std::isfinite(value);
      }
    }
  }
  if (!readable) {
    error(112, node.loc, key + ": expected a number or a quantity such as \"30 deg\"");
    return false;
  }
  if (dim != nullptr && found && *found != *dim) {
    error(302, node.loc,
          fmt::format("{}: \"{}\" is in {}, expected {}", key, *text, to_string(*found),
                      to_string(*dim)));
    return false;
  }
  return true;
}

bool StudyReader::number(std::string_view key, const Dim* dim, double& value) const {
  const Node* node = find(key);
  return node != nullptr && quantity(*node, std::string(key), dim, value);
}

std::vector<double> StudyReader::numbers(std::string_view key, const Dim* dim) const {
  std::vector<double> out;
  const Node* node = find(key);
  if (node == nullptr) return out;
  double value = 0;
  if (node->array() == nullptr) {
    if (quantity(*node, std::string(key), dim, value)) out.push_back(value);
    return out;
  }
  out.reserve(node->array()->size());
  for (const Node& item : *node->array())
    if (quantity(item, std::string(key), dim, value)) out.push_back(value);
  if (node->array()->empty()) error(113, node->loc, fmt::format("{}: the list is empty", key));
  return out;
}

void StudyReader::whole(std::string_view key, int least, int& value) const {
  const Node* node = find(key);
  if (node == nullptr) return;
  const auto* n = std::get_if<std::int64_t>(&node->value);
  if (n == nullptr || *n < least || *n > 100000000) {
    error(112, node->loc, fmt::format("{}: expected a whole number from {} on", key, least));
  } else {
    value = static_cast<int>(*n);
  }
}

void StudyReader::flag(std::string_view key, bool& value) const {
  const Node* node = find(key);
  if (node == nullptr) return;
  if (const auto* b = std::get_if<bool>(&node->value))
    value = *b;
  else
    error(112, node->loc, fmt::format("{}: expected true or false", key));
}

void StudyReader::seed(std::string_view key, std::uint64_t& value) const {
  auto number = static_cast<int>(value);
  whole(key, 0, number);
  value = static_cast<std::uint64_t>(number);
}

void StudyReader::unknown_word(std::string_view key, const std::string& given,
                               const std::vector<std::string>& known) const {
  error(114, find(key)->loc,
        fmt::format("{}: \"{}\" is not one of \"{}\"{}", key, given, fmt::join(known, "\", \""),
                    did_you_mean(given, known)));
}

std::string StudyReader::name(const char* kind, size_t number) const {
  const Node* given = find("name");
  return given != nullptr && given->text() != nullptr ? *given->text()
                                                      : fmt::format("{} {}", kind, number + 1);
}

std::string StudyReader::model(const ModelSpec& file) const {
  const std::string* name = text("model");
  if (find("model") == nullptr)
    error(111, {file.file, 1, 1}, "missing key \"model\": the name of a model, or its file");
  return name != nullptr ? *name : "";
}

const std::string* StudyReader::text(std::string_view key) const {
  const Node* node = find(key);
  if (node == nullptr) return nullptr;
  if (node->text() == nullptr) error(112, node->loc, fmt::format("{}: expected a text", key));
  return node->text();
}

std::vector<std::string> StudyReader::texts(std::string_view key) const {
  std::vector<std::string> out;
  const Node* node = find(key);
  if (node == nullptr) return out;
  if (node->text() != nullptr) return {*node->text()};
  if (node->array() == nullptr) {
    error(112, node->loc, fmt::format("{}: expected a text or a list of texts", key));
    return out;
  }
  for (const Node& item : *node->array()) {
    if (item.text() != nullptr)
      out.push_back(*item.text());
    else
      error(112, item.loc, fmt::format("{}: expected a text", key));
  }
  return out;
}

const Node::Array* StudyReader::list(std::string_view key, const char* of) const {
  const Node* node = find(key);
  if (node == nullptr) return nullptr;
  if (node->array() == nullptr)
    error(112, node->loc, fmt::format("{}: expected a list of {}", key, of));
  return node->array();
}

std::vector<std::pair<std::string, double>> StudyReader::named(const Node& node,
                                                               const std::string& key) const {
  std::vector<std::pair<std::string, double>> out;
  if (node.table() == nullptr) {
    error(112, node.loc, key + ": expected a table name = value");
    return out;
  }
  for (const auto& [name, member] : *node.table()) {
    if (member.table() != nullptr) {
      for (const auto& [last, value] : named(member, key + "." + name))
        out.emplace_back(name + "." + last, value);
      continue;
    }
    double value = 0;
    if (quantity(member, key + "." + name, nullptr, value)) out.emplace_back(name, value);
  }
  return out;
}

std::vector<Override> StudyReader::settings(std::string_view key) const {
  std::vector<Override> out;
  if (const Node* node = find(key)) add_settings(*node, "", std::string(key), out);
  return out;
}

void StudyReader::add_settings(const Node& node, const std::string& prefix, const std::string& key,
                               std::vector<Override>& out) const {
  if (node.table() == nullptr) {
    error(112, node.loc, key + ": expected a table name = value");
    return;
  }
  for (const auto& [name, member] : *node.table()) {
    if (member.table() != nullptr) {
      add_settings(member, prefix + name + ".", key, out);
    } else if (member.text() != nullptr) {
      out.push_back({prefix + name, *member.text()});
    } else if (member.is_number()) {
      out.push_back({prefix + name, fmt::format("{}", member.number())});
    } else {
      error(112, member.loc, key + ": expected a number, a quantity or an expression");
    }
  }
}

}  // namespace panto
