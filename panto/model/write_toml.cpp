#include "panto/model/write_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/base/contract.hpp"

namespace panto {
namespace {

bool bare(const std::string& key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string key_text(const std::string& key) { return bare(key) ? key : quoted(key); }

std::string number_text(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  std::string out = fmt::format("{}", x);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string inline_text(const Node& node);

struct Writer {
  std::string operator()(const std::monostate&) const { return "\"\""; }
  std::string operator()(const bool& b) const { return b ? "true" : "false"; }
  std::string operator()(const std::int64_t& i) const { return fmt::format("{}", i); }
  std::string operator()(const double& d) const { return number_text(d); }
  std::string operator()(const std::string& s) const { return quoted(s); }
  std::string operator()(const Node::Array& items) const {
    std::string out;
    for (const Node& item : items) out += (out.empty() ? "" : ", ") + inline_text(item);
    return "[" + out + "]";
  }
  std::string operator()(const Node::Table& members) const {
    if (members.empty()) return "{}";
    std::string out;
    for (const auto& [key, member] : members) {
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", key_text(key), inline_text(member));
    }
    return "{ " + out + " }";
  }
};

std::string inline_text(const Node& node) { return std::visit(Writer{}, node.value); }

bool is_table_list(const Node& node) {
  const auto* items = node.array();
  return items != nullptr && !items->empty() &&
         std::all_of(items->begin(), items->end(),
                     [](const Node& n) { return n.table() != nullptr; });
}

}  // namespace

std::string write_toml(const Node& root) {
  const Node::Table* members = root.table();
  PANTO_EXPECT(members != nullptr, "a model description is a table");
  std::string out, sections;
  for (const auto& [key, member] : *members) {
    if (is_table_list(member)) {
      out += key_text(key) + " = [\n";
      for (const Node& item : *member.array()) out += "  " + inline_text(item) + ",\n";
      out += "]\n";
    } else if (member.table() != nullptr) {
      // Sections come last: a key after a header would belong to it.
      sections += fmt::format("\n[{}]\n", key_text(key));
      for (const auto& [name, value] : *member.table()) {
        sections += fmt::format("{} = {}\n", key_text(name), inline_text(value));
      }
    } else {
      out += fmt::format("{} = {}\n", key_text(key), inline_text(member));
    }
  }
  return out + sections;
}

}  // namespace panto
