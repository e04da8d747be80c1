#include "panto/model/number_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace panto {

std::optional<Literal> parse_literal(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  if (text.empty()) return std::nullopt;
  const char first = text[text[0] == '-' && text.size() > 1 ? 1 : 0];
  if (!(first >= '0' && first <= '9') && first != '.') return std::nullopt;
  Literal out;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out.value);
  if (failure != std::errc() || !std::isfinite(out.value)) return std::nullopt;
  if (end == text.data() + text.size()) return out;
  const auto quantity = parse_quantity(text);
  if (!quantity || !std::isfinite(quantity->value)) return std::nullopt;
  out.value = quantity->value;
  out.dim = quantity->dim;
  out.unit = text.substr(static_cast<size_t>(end - text.data()));
  while (!out.unit.empty() && blank(out.unit.front())) out.unit.remove_prefix(1);
  return out;
}

std::string shortest(double value) { return fmt::format("{}", value); }

std::string shortest_in_unit(double si, std::string_view unit) {
  const auto parsed = parse_unit(unit);
  if (!parsed) return shortest(si);
  const double start = si / parsed->factor;
  // The round-off of the division and of the way back is a few ulps: one of the neighbours is usually exact.
  double below = start, above = start;
  for (int i = 0; i < 4; ++i) {
    for (const double candidate : {below, above}) {
      const auto back = parse_quantity(fmt::format("{} {}", candidate, unit));
      if (back && back->value == si) return shortest(candidate);
    }
    below = std::nextafter(below, -std::numeric_limits<double>::infinity());
    above = std::nextafter(above, std::numeric_limits<double>::infinity());
  }
  return shortest(start);
}

}  // namespace panto
