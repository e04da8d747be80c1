#include "panto/base/units.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace panto {
namespace {

constexpr double kPi = std::numbers::pi;

void expect_unit(const char* text, double factor, Dim d) {
  const auto u = parse_unit(text);
  ASSERT_TRUE(u) << text;
  EXPECT_DOUBLE_EQ(u->factor, factor) << text;
  EXPECT_EQ(to_string(u->dim), to_string(d)) << text;
}

TEST(Units, UnknownOrMalformedTextIsRefused) {
  for (const char* text : {"",     " ",  "x",   "mmm", "KG",  "m/",    "/s",
                           "m//s", "m*", "m.",  "m^",  "m^x", "m^1.5", "m^10",
                           "m2kg", "2",  "m 2", "(m)", "g0",  "%",     "m^99999999999",
                           "N-m",  "_"}) {
    EXPECT_FALSE(parse_unit(text)) << '"' << text << '"';
  }
}

TEST(Units, EverySymbolHasItsSiFactorAndDimension) {
  expect_unit("kg", 1, dim::kMass);
  expect_unit("g", 1e-3, dim::kMass);
  expect_unit("t", 1000, dim::kMass);
  expect_unit("m", 1, dim::kLength);
  expect_unit("mm", 1e-3, dim::kLength);
  expect_unit("cm", 1e-2, dim::kLength);
  expect_unit("km", 1e3, dim::kLength);
  expect_unit("um", 1e-6, dim::kLength);
  expect_unit("in", 0.0254, dim::kLength);
  expect_unit("s", 1, dim::kTime);
  expect_unit("ms", 1e-3, dim::kTime);
  expect_unit("us", 1e-6, dim::kTime);
  expect_unit("min", 60, dim::kTime);
  expect_unit("h", 3600, dim::kTime);
  expect_unit("N", 1, dim::kForce);
  expect_unit("kN", 1e3, dim::kForce);
  expect_unit("mN", 1e-3, dim::kForce);
  expect_unit("Pa", 1, dim::kPressure);
  expect_unit("kPa", 1e3, dim::kPressure);
  expect_unit("MPa", 1e6, dim::kPressure);
  expect_unit("GPa", 1e9, dim::kPressure);
  expect_unit("J", 1, dim::kTorque);
  expect_unit("W", 1, dim::kTorque / dim::kTime);
  expect_unit("Hz", 1, dim::kFrequency);
  expect_unit("kHz", 1e3, dim::kFrequency);
  expect_unit("MHz", 1e6, dim::kFrequency);
  expect_unit("rad", 1, dim::kNone);
  expect_unit("mrad", 1e-3, dim::kNone);
  expect_unit("deg", kPi / 180, dim::kNone);
  expect_unit("rpm", 2 * kPi / 60, dim::kFrequency);
  expect_unit("1", 1, dim::kNone);
}

TEST(Units, EveryListedSymbolIsParsed) {
  const auto symbols = unit_symbols();
  EXPECT_EQ(symbols.size(), 30u);
  for (const std::string& s : symbols) EXPECT_TRUE(parse_unit(s)) << s;
}

TEST(Units, ProductsQuotientsAndPowersCombine) {
  expect_unit("N/m", 1, dim::kStiffness);
  expect_unit("kg m^2", 1, dim::kInertia);
  expect_unit("kg*m^2", 1, dim::kInertia);
  expect_unit("kg.m2", 1, dim::kInertia);
  expect_unit("  kg * m ^2", 1, dim::kInertia);
  expect_unit("N m s/rad", 1, dim::kAngularDamping);
  expect_unit("1/s", 1, dim::kFrequency);
  expect_unit("s^-1", 1, dim::kFrequency);
  expect_unit("deg/s", kPi / 180, dim::kFrequency);
  expect_unit("kg/m/s^2", 1, dim::kPressure);
  expect_unit("N/mm^2", 1e6, dim::kPressure);
  expect_unit("g/cm^3", 1000, dim::kDensity);
  expect_unit("km/h", 1 / 3.6, dim::kSpeed);
}

TEST(Units, ASlashDividesByTheNextFactorOnly) {
  expect_unit("N/m s", 1, dim::kForce / dim::kLength * dim::kTime);
}

TEST(Units, AQuantityIsANumberAndAUnit) {
  const auto angle = parse_quantity("30 deg");
  ASSERT_TRUE(angle);
  EXPECT_DOUBLE_EQ(angle->value, kPi / 6);
  EXPECT_EQ(angle->dim, dim::kNone);
  const auto modulus = parse_quantity("-6.9e1GPa");
  ASSERT_TRUE(modulus);
  EXPECT_EQ(modulus->value, -69e9);
  EXPECT_EQ(modulus->dim, dim::kPressure);
  const auto rate = parse_quantity("5 1/s");
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->value, 5);
  EXPECT_EQ(rate->dim, dim::kFrequency);
}

TEST(Units, MillimetresGiveTheNearestDouble) {
  EXPECT_EQ(parse_quantity("16 mm")->value, 0.016);
  EXPECT_EQ(parse_quantity("7 mm")->value, 0.007);
  EXPECT_EQ(parse_quantity("1.1 ms")->value, 0.0011);
  EXPECT_EQ(parse_quantity("3 cm^2")->value, 0.0003);
}

TEST(Units, TextThatIsNotNumberAndUnitIsNoQuantity) {
  for (const char* text : {"", "-", ".", "30", "5 1", "mm", "L/2", "2*3 mm", "3 mm + 1 mm", "inf m",
                           "nan m", "1e999 m", "3 /s", "1/s", "0x10 m", "- 3 mm", "1e308 km"}) {
    EXPECT_FALSE(parse_quantity(text)) << '"' << text << '"';
  }
}

TEST(Units, CommonDimensionsHaveTheirCommonNames) {
  EXPECT_EQ(to_string(dim::kNone), "1");
  EXPECT_EQ(to_string(dim::kMass), "kg");
  EXPECT_EQ(to_string(dim::kFrequency), "1/s");
  EXPECT_EQ(to_string(dim::kAcceleration), "m/s^2");
  EXPECT_EQ(to_string(dim::kForce), "N");
  EXPECT_EQ(to_string(dim::kTorque), "N m");
  EXPECT_EQ(to_string(dim::kInertia), "kg m^2");
  EXPECT_EQ(to_string(dim::kDensity), "kg/m^3");
  EXPECT_EQ(to_string(dim::kPressure), "Pa");
  EXPECT_EQ(to_string(dim::kStiffness), "N/m");
  EXPECT_EQ(to_string(dim::kDamping), "N s/m");
  EXPECT_EQ(to_string(dim::kAngularDamping), "N m s");
}

TEST(Units, TheNameOfADimensionParsesBackToIt) {
  for (int kg = -2; kg <= 2; ++kg) {
    for (int m = -3; m <= 3; ++m) {
      for (int s = -4; s <= 4; ++s) {
        const Dim d{kg, m, s};
        const auto u = parse_unit(to_string(d));
        ASSERT_TRUE(u) << to_string(d);
        EXPECT_EQ(u->dim, d) << to_string(d);
        EXPECT_EQ(u->factor, 1) << to_string(d);
      }
    }
  }
}

}  // namespace
}  // namespace panto
