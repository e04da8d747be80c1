// What a viewer draws: the shapes of bodies.
#include <fmt/format.h>

#include <algorithm>

#include "panto/model/compile_internal.hpp"

namespace panto::compile_detail {
namespace {

constexpr std::array<const char*, 3> kXyz{"x", "y", "z"};

// The keys that a type has besides its place and colour; a '!' marks those it needs, a '?' those it needs in space.
struct ShapeKeys {
  std::string_view type;
  ShapeKind kind;
  std::array<std::string_view, 3> keys;
};
constexpr ShapeKeys kShapes[] = {
    {"bar", ShapeKind::kBar, {"!length", "width", "height"}},
    {"box", ShapeKind::kBox, {"!size", "", ""}},
    {"cylinder", ShapeKind::kCylinder, {"?length", "!radius", "axis"}},
    {"sphere", ShapeKind::kSphere, {"!radius", "", ""}},
    {"polygon", ShapeKind::kPolygon, {"!x", "!y", ""}},
};
constexpr std::string_view kOfSomeType[] = {"length", "width", "height", "radius",
                                            "size",   "x",     "y",      "axis"};

bool is_color(const std::string& text) {
  return text.size() == 7 && text[0] == '#' &&
         text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
}

}  // namespace

void Compiler::shapes(const Item& item, Body& out) {
  const At at = At(item)["shape"];
  if (!at) return;
  if (at.node->array() == nullptr) return shape(at, out);
  for (size_t i = 0; i < at.size(); ++i) shape(at.element(i, std::to_string(i)), out);
}

void Compiler::shape(const At& at, Body& out) {
  if (at.node == nullptr || at.node->table() == nullptr || at["type"].text() == nullptr)
    return;  // reported by validate
  const std::string& type = *at["type"].text();
  const auto* found = std::find_if(std::begin(kShapes), std::end(kShapes),
                                   [&](const ShapeKeys& k) { return k.type == type; });
  const bool none = type == "none";
  if (!none && found == std::end(kShapes)) return;  // reported by validate
  for (const std::string_view key : kOfSomeType) {
    bool known = false;
    for (size_t i = 0; !none && i < found->keys.size(); ++i) {
      std::string_view wanted = found->keys[i];
      const bool needed = wanted.starts_with('!') || (wanted.starts_with('?') && !planar_);
      if (wanted.starts_with('!') || wanted.starts_with('?')) wanted.remove_prefix(1);
      if (wanted != key) continue;
      known = true;
      if (needed && !at[key])
        error(111, at, fmt::format("missing key \"{}\", type \"{}\" needs it", key, type));
    }
    if (!known && at[key]) error(110, at[key], fmt::format("type \"{}\" has no such key", type));
  }
  if (none) {
    out.hidden = true;
    return;
  }
  Shape s;
  s.kind = found->kind;
  const auto length = [&](const char* key, size_t i) {
    s.numbers[i] = drawn_number(at[key], dim::kLength, Sign::kPositive);
  };
  switch (s.kind) {
    case ShapeKind::kBar:
      length("length", 0);
      length("width", 1);
      length("height", 2);
      break;
    case ShapeKind::kBox:
      for (size_t i = 0; i < std::min<size_t>(at["size"].size(), 3); ++i)
        s.numbers[i] = drawn_number(at["size"].element(i, kXyz[i]), dim::kLength, Sign::kPositive);
      break;
    case ShapeKind::kCylinder:
      length("length", 0);
      length("radius", 1);
      s.axis = planar_ ? 2 : axis_index(at["axis"], 0);
      break;
    case ShapeKind::kSphere:
      length("radius", 0);
      break;
    case ShapeKind::kPolygon: {
      const At x = at["x"], y = at["y"];
      if (x && y && x.size() != y.size()) {
        error(113, y, fmt::format("has {} entries, \"x\" has {}", y.size(), x.size()));
      } else if (x && y && x.size() < 3) {
        error(113, x, fmt::format("a polygon has at least 3 corners, not {}", x.size()));
      }
      for (size_t i = 0; i < x.size(); ++i)
        s.x.push_back(drawn_number(x.element(i, std::to_string(i)), dim::kLength));
      for (size_t i = 0; i < y.size(); ++i)
        s.y.push_back(drawn_number(y.element(i, std::to_string(i)), dim::kLength));
      break;
    }
  }
  const auto three = [&](const At& list, Dim d) {
    std::array<Slot, 3> slots{-1, -1, -1};
    for (size_t i = 0; i < std::min<size_t>(list.size(), 3); ++i)
      slots[i] = drawn_number(list.element(i, kXyz[i]), d);
    return slots;
  };
  s.position = three(at["at"], dim::kLength);
  if (planar_) {
    s.rotation[0] = drawn_number(at["angle"], dim::kNone);
  } else {
    s.rotation = three(at["rpy"], dim::kNone);
  }
  if (const std::string* color = at["color"].text()) {
    if (is_color(*color)) {
      s.color = *color;
    } else {
      error(114, at["color"], fmt::format("\"{}\" is no colour; write \"#rrggbb\"", *color));
    }
  }
  out.shapes.push_back(std::move(s));
}

}  // namespace panto::compile_detail
