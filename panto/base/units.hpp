// Units of the model file. Inside everything is SI and radians; "30 deg", "69 GPa", "16 mm" are
// converted here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace panto {

// Exponents of kg, m, s (UNI-1). An angle is dimensionless, so rad and 1 agree.
struct Dim {
  int kg = 0, m = 0, s = 0;
  friend bool operator==(const Dim&, const Dim&) = default;
};
constexpr Dim operator*(Dim a, Dim b) { return {a.kg + b.kg, a.m + b.m, a.s + b.s}; }
constexpr Dim operator/(Dim a, Dim b) { return {a.kg - b.kg, a.m - b.m, a.s - b.s}; }

namespace dim {
inline constexpr Dim kNone{};
inline constexpr Dim kMass{1, 0, 0}, kLength{0, 1, 0}, kTime{0, 0, 1};
inline constexpr Dim kFrequency{0, 0, -1}, kSpeed{0, 1, -1}, kAcceleration{0, 1, -2};
inline constexpr Dim kForce{1, 1, -2}, kTorque{1, 2, -2}, kInertia{1, 2, 0}, kDensity{1, -3, 0},
    kPressure{1, -1, -2};
inline constexpr Dim kStiffness{1, 0, -2}, kDamping{1, 0, -1};                // N/m, N s/m
inline constexpr Dim kAngularStiffness = kTorque, kAngularDamping{1, 2, -1};  // N m/rad, N m s/rad
}  // namespace dim

struct Unit {
  double factor = 1;  // SI value of one unit
  Dim dim;
};

// "mm", "N/m", "kg m^2", "N m s/rad", "1/s", "GPa", "deg/s", "kg*m^2". Products by blank, '*' or
// '.', one or more '/', read from left to right ("N/m s" is (N/m) s), powers by '^' or a digit, at
// most 9. nullopt when a symbol is unknown.
std::optional<Unit> parse_unit(std::string_view text);
// Every symbol parse_unit knows, for suggestions.
std::vector<std::string> unit_symbols();

struct Quantity {
  double value = 0;  // SI
  Dim dim;
};
// "30 deg" -> number and unit; nullopt when the text is not <number><unit> (an expression, say).
std::optional<Quantity> parse_quantity(std::string_view text);

// "kg m^2/s^2" style name of a dimension, with common names where they exist (N, N m, Pa, N/m, Hz
// is not used: 1/s).
std::string to_string(Dim d);

}  // namespace panto
