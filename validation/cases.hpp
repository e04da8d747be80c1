// Reproductions of published results: each case computes what a source printed and sets it beside the printed value.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"

namespace panto::validation {

// One quantity. The band is absolute, in `unit`; each case's file says how it was chosen, before any run.
struct Row {
  std::string quantity;
  double printed = 0, computed = 0;
  std::string unit;
  double band = 0;
  std::string note;  // where the values differ: why

  [[nodiscard]] bool reproduced() const { return std::abs(computed - printed) <= band; }
  [[nodiscard]] const char* verdict() const { return reproduced() ? "reproduced" : "differs"; }
};

struct Case {
  const char *key, *item, *title;
  Result<std::vector<Row>> (*run)();
  std::span<const char* const> assumed{};  // data that the source does not print
  bool slow = false;  // more than some minutes: `make validate` runs it, the tests do not
};

// All cases, by key and item. A new one: a function in papers/<key>/, declared and listed in cases.cpp.
std::span<const Case> cases();

// Those of "key" or "key:item"; E0201 with a suggestion when there is none.
Result<std::vector<const Case*>> cases_of(const std::string& what);

inline std::string name_of(const Case& c) { return std::string(c.key) + ":" + c.item; }

}  // namespace panto::validation
