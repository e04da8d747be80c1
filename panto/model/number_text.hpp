// Numbers as people write them in a model file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "panto/base/units.hpp"

namespace panto {

struct Literal {
  double value = 0;        // SI
  std::optional<Dim> dim;  // absent: a bare number, which fits any dimension
  std::string_view unit;   // as written; empty for a bare number
};

// "2.5", "16 mm", "-30 deg"; nullopt for anything else, an expression say, and for numbers that are not finite.
std::optional<Literal> parse_literal(std::string_view text);

// The shortest text that reads back as the same double.
std::string shortest(double value);

// The shortest number x such that "x unit" reads back as `si`, or within an ulp of it where no double does.
std::string shortest_in_unit(double si, std::string_view unit);

}  // namespace panto
