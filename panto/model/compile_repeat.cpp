// Expansion of `repeat`: an item written once for every whole number of a range.
#include <fmt/format.h>

#include <cmath>

#include "panto/model/compile_internal.hpp"
#include "panto/model/schema.hpp"

namespace panto::compile_detail {
namespace {

// Limits that no mechanism meets and that keep a slip of the pen (0..1e9) from filling the memory.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION  // keeps the runs of a fuzzer short
constexpr long kMaxRepeats = 1'000;
constexpr size_t kMaxExpanded = 10'000;
#else
constexpr long kMaxRepeats = 100'000;
constexpr size_t kMaxExpanded = 1'000'000;  // values in all expanded items
#endif

size_t size_of(const Node& node) {
  size_t n = 1;
  if (const auto* items = node.array()) {
    for (const Node& item : *items) n += size_of(item);
  } else if (const auto* members = node.table()) {
    for (const auto& [key, member] : *members) n += size_of(member) + key.size() / 32;
  } else if (const auto* text = node.text()) {
    n += text->size() / 32;
  }
  return n;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

bool is_identifier(std::string_view s) {
  if (s.empty() || (s[0] >= '0' && s[0] <= '9')) return false;
  for (const char c : s) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!good) return false;
  }
  return true;
}

}  // namespace

void Compiler::expand_items() {
  for (const SchemaTable& table : schema_tables()) {
    if (!table.item) continue;
    items_.try_emplace(table.name);
    const Node* node = spec_.root.find(table.name);
    if (node != nullptr && node->array() != nullptr) expand_list(table.name, *node);
  }
}

void Compiler::expand_list(const std::string& kind, const Node& list) {
  const Node::Array& nodes = *list.array();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    if (node.table() == nullptr) continue;  // reported by validate
    const std::string pointer = fmt::format("/{}/{}", kind, i);
    if (node.find("repeat") != nullptr) {
      expand_repeat(kind, node, pointer);
      continue;
    }
    const Node* name = node.find("name");
    Item item;
    item.kind = kind;
    if (name != nullptr && name->text() != nullptr) item.name = *name->text();
    item.node = &node;
    item.path = item.name;
    item.pointer = pointer;
    items_[kind].push_back(std::move(item));
  }
}

void Compiler::expand_repeat(const std::string& kind, const Node& node,
                             const std::string& pointer) {
  const Node& repeat = *node.find("repeat");
  if (repeat.text() == nullptr) return;  // reported by validate
  const std::string what = fmt::format("{}: repeat", kind);
  const std::string_view text = *repeat.text();
  const size_t equals = text.find('=');
  const size_t dots = text.find("..");
  const std::string variable(trimmed(text.substr(0, equals)));
  if (equals == std::string_view::npos || dots == std::string_view::npos || dots < equals ||
      !is_identifier(variable)) {
    diagnostics_.error(406, repeat.loc,
                       fmt::format("{}: expected \"i = first..last\", not \"{}\"", what, text));
    return;
  }
  if (variable == "t" || variable == "pi" || named_index_.contains(variable)) {
    diagnostics_.error(
        211, repeat.loc,
        fmt::format("{}: \"{}\" already has a meaning; use another letter", what, variable));
    return;
  }
  const auto first = whole(text.substr(equals + 1, dots - equals - 1), "", 0, repeat, what);
  const auto last = whole(text.substr(dots + 2), "", 0, repeat, what);
  if (!first || !last) return;
  if (*last - *first + 1 > kMaxRepeats) {
    diagnostics_.error(407, repeat.loc,
                       fmt::format("{}: {} items are too many, the limit is {}", what,
                                   *last - *first + 1, kMaxRepeats));
    return;
  }
  const size_t size = size_of(node);
  for (long k = *first; k <= *last; ++k) {
    expanded_size_ += size;
    if (expanded_size_ > kMaxExpanded) {
      if (!expansion_stopped_) {
        diagnostics_.error(407, repeat.loc, fmt::format("{}: the model becomes too large", what));
      }
      expansion_stopped_ = true;
      return;
    }
    Node copy = node;
    const auto index = static_cast<double>(k);
    if (!substitute(copy, variable, index, kind)) return;
    const Node& kept = expanded_.emplace_back(std::move(copy));
    const Node* name = kept.find("name");
    Item item;
    item.kind = kind;
    if (name != nullptr && name->text() != nullptr) item.name = *name->text();
    item.node = &kept;
    item.path = item.name;
    item.pointer = pointer;
    item.variable = variable;
    item.index = index;
    items_[kind].push_back(std::move(item));
  }
}

// Value of an expression that must be a whole number; the parameters in it become structural.
std::optional<long> Compiler::whole(std::string_view text, const std::string& variable,
                                    double index, const Node& at, const std::string& what) {
  const int n = static_cast<int>(named_.size());
  const Resolver resolve = [&](std::string_view name) -> std::optional<ResolvedName> {
    if (!variable.empty() && name == variable) return ResolvedName{n, std::nullopt};
    const auto it = named_index_.find(name);
    if (it == named_index_.end()) return std::nullopt;
    return ResolvedName{it->second, std::nullopt};
  };
  const ParsedExpression parsed = parse_expression(text, resolve, named_names_);
  if (parsed.error) {
    diagnostics_.error(301, at.loc, fmt::format("{}: {}", what, parsed.error->message));
    return std::nullopt;
  }
  std::vector<double> values(named_.size() + 1, index);
  for (size_t i = 0; i < named_.size(); ++i) values[i] = named_[i].value;
  for (const Expression::Instruction& in : parsed.expression.code()) {
    if (in.op != Expression::Op::kVariable || in.variable >= n) continue;
    if (named_[static_cast<size_t>(in.variable)].bad) return std::nullopt;
    named_[static_cast<size_t>(in.variable)].structural = true;
  }
  const double value = parsed.expression.evaluate<double>(values);
  if (!(std::abs(value) < 1e9) ||
      std::abs(value - std::round(value)) > 1e-9 * (1 + std::abs(value))) {
    diagnostics_.error(
        309, at.loc,
        fmt::format("{}: \"{}\" must be a whole number, it is {}", what, trimmed(text), value));
    return std::nullopt;
  }
  return std::lround(value);
}

// Replaces {expression} in every text and key of an expanded item.
bool Compiler::substitute(Node& node, const std::string& variable, double index,
                          const std::string& what) {
  if (auto* text = std::get_if<std::string>(&node.value)) {
    return substitute_text(*text, node, variable, index, what);
  }
  if (auto* items = std::get_if<Node::Array>(&node.value)) {
    for (Node& item : *items) {
      if (!substitute(item, variable, index, what)) return false;
    }
  } else if (auto* members = std::get_if<Node::Table>(&node.value)) {
    for (auto& [key, member] : *members) {
      if (key == "repeat") continue;
      if (!substitute_text(key, member, variable, index, what)) return false;
      if (!substitute(member, variable, index, what)) return false;
    }
  }
  return true;
}

bool Compiler::substitute_text(std::string& text, const Node& at, const std::string& variable,
                               double index, const std::string& what) {
  size_t open = text.find('{');
  if (open == std::string::npos) return true;
  std::string out;
  size_t done = 0;
  while (open != std::string::npos) {
    const size_t close = text.find('}', open);
    if (close == std::string::npos) {
      diagnostics_.error(406, at.loc, fmt::format("{}: \"{}\" has no closing brace", what, text));
      return false;
    }
    const std::string_view inside = std::string_view(text).substr(open + 1, close - open - 1);
    const auto value = whole(inside, variable, index, at, what);
    if (!value) return false;
    out += text.substr(done, open - done);
    out += std::to_string(*value);
    done = close + 1;
    open = text.find('{', done);
  }
  text = out + text.substr(done);
  return true;
}

}  // namespace panto::compile_detail
