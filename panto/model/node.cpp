#include <algorithm>

#include "panto/base/contract.hpp"
#include "panto/model/spec.hpp"

namespace panto {

double Node::number() const {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(&value);
  PANTO_EXPECT(real != nullptr, "the node is not a number");
  return *real;
}

const Node* Node::find(std::string_view key) const {
  const Table* members = table();
  if (members == nullptr) return nullptr;
  const auto it = std::find_if(members->begin(), members->end(),
                               [&](const auto& member) { return member.first == key; });
  return it == members->end() ? nullptr : &it->second;
}

Node* Node::find(std::string_view key) {
  return const_cast<Node*>(static_cast<const Node*>(this)->find(key));
}

Node& Node::set(std::string_view key, Node member) {
  if (std::holds_alternative<std::monostate>(value)) value = Table{};
  auto* members = std::get_if<Table>(&value);
  PANTO_EXPECT(members != nullptr, "a member can be set in a table only");
  if (Node* old = find(key)) {
    *old = std::move(member);
    return *old;
  }
  return members->emplace_back(std::string(key), std::move(member)).second;
}

}  // namespace panto
