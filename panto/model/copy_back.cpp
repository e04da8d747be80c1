#include "panto/model/copy_back.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "panto/base/contract.hpp"
#include "panto/model/number_text.hpp"
#include "panto/model/write_toml.hpp"

namespace panto {
namespace {

// The node at a pointer "/body/0/bar/mass"; nullptr if there is none.
const Node* node_at(const Node& root, std::string_view pointer) {
  const Node* node = &root;
  while (!pointer.empty() && node != nullptr) {
    pointer.remove_prefix(1);
    const size_t slash = pointer.find('/');
    std::string part(pointer.substr(0, slash));
    pointer = slash == std::string_view::npos ? std::string_view() : pointer.substr(slash);
    if (const auto* items = node->array()) {
      const size_t index = std::strtoul(part.c_str(), nullptr, 10);
      node = index < items->size() ? &(*items)[index] : nullptr;
      continue;
    }
    for (size_t p = part.find('~'); p != std::string::npos; p = part.find('~', p + 1)) {
      part.replace(p, 2, part.substr(p, 2) == "~1" ? "/" : "~");
    }
    node = node->find(part);
  }
  return node;
}

// A value as it will stand in the file: a number, or a text in quotes.
struct Replacement {
  std::string number;
  std::string text;
  bool is_text = false;
};

std::optional<double> literal_value(const Node& node) {
  if (node.is_number()) return node.number();
  if (node.text() == nullptr) return std::nullopt;
  const auto literal = parse_literal(*node.text());
  return literal ? std::optional<double>(literal->value) : std::nullopt;
}

// nullopt: the node already has that value.
std::optional<Replacement> replacement(const Node& node, double value) {
  const auto now = literal_value(node);
  if (now && *now == value) return std::nullopt;
  Replacement r;
  if (node.text() != nullptr) {
    const auto literal = parse_literal(*node.text());
    if (literal && !literal->unit.empty()) {
      r.is_text = true;
      r.text = fmt::format("{} {}", shortest_in_unit(value, literal->unit), literal->unit);
      return r;
    }
  }
  r.number = shortest(value);
  return r;
}

Replacement replacement(const std::string& text) {
  Replacement r;
  const auto literal = parse_literal(text);
  r.is_text = !literal || !literal->unit.empty();
  if (r.is_text) {
    r.text = text;
  } else {
    r.number = shortest(literal->value);
  }
  return r;
}

struct Change {
  const Node* node;
  Replacement with;
};

std::vector<Change> changes(const ModelSpec& spec, const Model& model, const Params& theta) {
  PANTO_EXPECT(static_cast<size_t>(theta.values.size()) == model.parameters.size(),
               "θ belongs to another model");
  std::vector<Change> out;
  for (const AppliedOverride& o : model.overrides) {
    const Node* node = o.pointer.empty() ? nullptr : node_at(spec.root, o.pointer);
    if (node != nullptr) out.push_back({node, replacement(o.value)});
  }
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    const double value = theta.values[static_cast<Eigen::Index>(i)];
    PANTO_EXPECT(std::isfinite(value),
                 "parameter \"" + model.parameters[i].name + "\" is not finite");
    const Node* node = node_at(spec.root, model.parameters[i].pointer);
    PANTO_EXPECT(node != nullptr, "the model was compiled from another description");
    if (auto r = replacement(*node, value)) out.push_back({node, std::move(*r)});
  }
  return out;
}

// Offset of a line and column (columns count characters, not bytes).
size_t offset_of(std::string_view text, const std::vector<size_t>& lines, const Loc& loc) {
  PANTO_EXPECT(loc.line >= 1 && static_cast<size_t>(loc.line) <= lines.size(),
               "the description does not belong to its text");
  size_t p = lines[static_cast<size_t>(loc.line) - 1];
  for (int column = 1; column < loc.column && p < text.size(); ++column) {
    ++p;
    while (p < text.size() && (static_cast<unsigned char>(text[p]) & 0xC0) == 0x80) ++p;
  }
  return p;
}

// End of the value that starts at `p`: a quoted text, or a number.
size_t end_of_value(std::string_view text, size_t p) {
  const char quote = text[p];
  if (quote != '"' && quote != '\'')
    return std::min(text.find_first_of(" \t\r\n,]}#", p), text.size());
  const std::string fence(3, quote);
  if (text.substr(p, 3) == fence) {
    const size_t end = text.find(fence, p + 3);
    return end == std::string_view::npos ? text.size() : end + 3;
  }
  for (size_t k = p + 1; k < text.size(); ++k) {
    if (quote == '"' && text[k] == '\\') {
      ++k;
    } else if (text[k] == quote) {
      return k + 1;
    }
  }
  return text.size();
}

}  // namespace

std::string copy_back(const ModelSpec& spec, const Model& model, const Params& theta) {
  if (spec.source_text.empty()) return write_toml(with_parameters(spec, model, theta).root);
  const std::string_view text = spec.source_text;
  std::vector<size_t> lines{0};
  for (size_t p = text.find('\n'); p != std::string_view::npos; p = text.find('\n', p + 1)) {
    lines.push_back(p + 1);
  }
  struct Edit {
    size_t begin, end;
    std::string with;
  };
  std::vector<Edit> edits;
  for (const Change& change : changes(spec, model, theta)) {
    const size_t begin = offset_of(text, lines, change.node->loc);
    const std::string with =
        change.with.is_text ? fmt::format("\"{}\"", change.with.text) : change.with.number;
    edits.push_back({begin, end_of_value(text, begin), with});
  }
  std::sort(edits.begin(), edits.end(),
            [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  std::string out;
  size_t done = 0;
  for (const Edit& e : edits) {
    if (e.begin < done) continue;  // the same value twice
    out += text.substr(done, e.begin - done);
    out += e.with;
    done = e.end;
  }
  out += text.substr(done);
  return out;
}

ModelSpec with_parameters(const ModelSpec& spec, const Model& model, const Params& theta) {
  ModelSpec out = spec;
  out.source_text.clear();
  for (const Change& change : changes(out, model, theta)) {
    Node& node = const_cast<Node&>(*change.node);  // owned by `out`
    if (change.with.is_text) {
      node.value = change.with.text;
    } else {
      node.value = std::strtod(change.with.number.c_str(), nullptr);
    }
  }
  return out;
}

}  // namespace panto
