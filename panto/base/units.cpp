#include "panto/base/units.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>

namespace panto {
namespace {

struct Symbol {
  std::string_view name;
  double factor;
  Dim dim;
};

constexpr double kDegree = std::numbers::pi / 180;
constexpr Dim kPower{1, 2, -3};

constexpr Symbol kSymbols[] = {
    {"kg", 1, dim::kMass},
    {"g", 1e-3, dim::kMass},
    {"t", 1e3, dim::kMass},
    {"m", 1, dim::kLength},
    {"mm", 1e-3, dim::kLength},
    {"cm", 1e-2, dim::kLength},
    {"km", 1e3, dim::kLength},
    {"um", 1e-6, dim::kLength},
    {"in", 0.0254, dim::kLength},
    {"s", 1, dim::kTime},
    {"ms", 1e-3, dim::kTime},
    {"us", 1e-6, dim::kTime},
    {"min", 60, dim::kTime},
    {"h", 3600, dim::kTime},
    {"N", 1, dim::kForce},
    {"kN", 1e3, dim::kForce},
    {"mN", 1e-3, dim::kForce},
    {"Pa", 1, dim::kPressure},
    {"kPa", 1e3, dim::kPressure},
    {"MPa", 1e6, dim::kPressure},
    {"GPa", 1e9, dim::kPressure},
    {"J", 1, dim::kTorque},
    {"W", 1, kPower},
    {"Hz", 1, dim::kFrequency},
    {"kHz", 1e3, dim::kFrequency},
    {"MHz", 1e6, dim::kFrequency},
    {"rad", 1, dim::kNone},
    {"mrad", 1e-3, dim::kNone},
    {"deg", kDegree, dim::kNone},
    {"rpm", 6 * kDegree, dim::kFrequency},
};

constexpr int kMaxExponent = 9;

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

const Symbol* find_symbol(std::string_view name) {
  for (const Symbol& s : kSymbols) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

// One symbol with its exponent, or the digit 1; consumes it.
std::optional<Unit> parse_factor(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && is_letter(text[n])) ++n;
  if (n == 0) {
    if (text.empty() || text[0] != '1') return std::nullopt;
    text.remove_prefix(1);
    return Unit{};
  }
  const Symbol* symbol = find_symbol(text.substr(0, n));
  if (symbol == nullptr) return std::nullopt;
  text.remove_prefix(n);

  int exponent = 1;
  std::string_view behind = text;
  skip_blanks(behind);
  const bool caret = !behind.empty() && behind[0] == '^';
  if (caret) {
    text = behind.substr(1);
    skip_blanks(text);
  }
  if (caret || (!text.empty() && is_digit(text[0]))) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (failure != std::errc() || exponent == 0 || std::abs(exponent) > kMaxExponent) {
      return std::nullopt;
    }
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  Unit u;
  for (int i = 0; i < std::abs(exponent); ++i) {
    u.factor *= symbol->factor;
    u.dim = u.dim * symbol->dim;
  }
  return exponent < 0 ? Unit{1 / u.factor, dim::kNone / u.dim} : u;
}

// value * factor; where the factor is one over a whole number (mm, cm^2, ms) the division by that
// number is used, so that "7 mm" is the double nearest to 0.007.
double to_si(double value, double factor) {
  if (factor < 1) {
    const double inverse = std::round(1 / factor);
    if (std::abs(inverse * factor - 1) < 1e-14)
      return value / inverse;  // round-off of a few powers
  }
  return value * factor;
}

}  // namespace

std::optional<Unit> parse_unit(std::string_view text) {
  skip_blanks(text);
  std::optional<Unit> result = parse_factor(text);
  if (!result) return std::nullopt;
  while (true) {
    const size_t before = text.size();
    skip_blanks(text);
    if (text.empty()) break;
    bool divide = false;
    if (text[0] == '/' || text[0] == '*' || text[0] == '.') {
      divide = text[0] == '/';
      text.remove_prefix(1);
      skip_blanks(text);
    } else if (text.size() == before) {
      return std::nullopt;  // two factors run together
    }
    const std::optional<Unit> next = parse_factor(text);
    if (!next) return std::nullopt;
    result->factor = divide ? result->factor / next->factor : result->factor * next->factor;
    result->dim = divide ? result->dim / next->dim : result->dim * next->dim;
  }
  if (!std::isnormal(result->factor)) return std::nullopt;
  return result;
}

std::optional<Quantity> parse_quantity(std::string_view text) {
  skip_blanks(text);
  const size_t sign = !text.empty() && text[0] == '-' ? 1 : 0;
  if (text.size() <= sign || (!is_digit(text[sign]) && text[sign] != '.')) return std::nullopt;
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  skip_blanks(text);
  bool has_symbol = false;  // "5 1" is a slip, not five ones
  for (const char c : text) has_symbol = has_symbol || is_letter(c);
  if (!has_symbol) return std::nullopt;
  const std::optional<Unit> unit = parse_unit(text);
  if (!unit) return std::nullopt;
  const double value = to_si(number, unit->factor);
  if (!std::isfinite(value)) return std::nullopt;
  return Quantity{value, unit->dim};
}

std::vector<std::string> unit_symbols() {
  std::vector<std::string> names;
  for (const Symbol& s : kSymbols) names.emplace_back(s.name);
  return names;
}

std::string to_string(Dim d) {
  struct Named {
    Dim dim;
    const char* name;
  };
  static constexpr Named kNames[] = {
      {dim::kForce, "N"},
      {dim::kTorque, "N m"},
      {dim::kPressure, "Pa"},
      {dim::kStiffness, "N/m"},
      {dim::kDamping, "N s/m"},
      {dim::kAngularDamping, "N m s"},
      {kPower, "W"},
  };
  for (const Named& n : kNames) {
    if (n.dim == d) return n.name;
  }
  struct Base {
    const char* name;
    int exponent;
  };
  const Base bases[] = {{"kg", d.kg}, {"m", d.m}, {"s", d.s}};
  std::string numerator, denominator;
  for (const Base& b : bases) {
    if (b.exponent == 0) continue;
    std::string power = b.name;
    if (std::abs(b.exponent) != 1) power += fmt::format("^{}", std::abs(b.exponent));
    if (b.exponent > 0) {
      if (!numerator.empty()) numerator += ' ';
      numerator += power;
    } else {
      denominator += '/';
      denominator += power;
    }
  }
  return (numerator.empty() ? "1" : numerator) + denominator;
}

}  // namespace panto
