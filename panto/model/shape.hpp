// What a viewer draws of a body; no part of the mechanics. Its literal numbers are constants, not θ.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace panto {

using Slot = int;  // index of a physical number; -1: absent, reads as zero

enum class ShapeKind : std::uint8_t { kBar, kBox, kCylinder, kSphere, kPolygon };
struct Shape {
  ShapeKind kind = ShapeKind::kBar;
  // kBar: length, width, height (the last two may be absent). kBox: size x y z. kCylinder: length, radius. kSphere: radius.
  std::array<Slot, 3> numbers{-1, -1, -1};
  std::vector<Slot> x, y;  // kPolygon: corners
  // As those of a frame. The bar starts there, all others are centred.
  std::array<Slot, 3> position{-1, -1, -1}, rotation{-1, -1, -1};
  int axis = 0;       // kCylinder: 0 x, 1 y, 2 z
  std::string color;  // "#rrggbb" or empty
};

}  // namespace panto
