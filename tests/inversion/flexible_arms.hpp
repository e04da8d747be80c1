// The zoo's flexible arms with other numbers of elements and drives, their outputs and paths (Drücker, 2022, Sections 2.4.5 and 6.4 to 6.5).
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <optional>
#include <string>

#include "panto/inversion/redefine.hpp"
#include "panto/io/load.hpp"
#include "panto/model/compile.hpp"

namespace panto::inversion_test {

// So many elements; the first section free or perpendicular to the beam, driven by speed or torque (Table 2.1).
inline Result<Model> flexible_arm(int elements, bool perpendicular = false, bool torque = false) {
  Result<ModelSpec> spec = load_spec("flexible_arm");
  if (!spec.ok()) return spec.diagnostics();
  Node& root = spec->root;
  Node& beam = *std::get<Node::Array>(root.find("body")->value)[0].find("ancf");
  beam.set("elements", elements);
  if (perpendicular) beam.set("perpendicular", Node::Array{1});
  for (Node& output : std::get<Node::Array>(root.find("output")->value))
    if (*output.find("name")->text() == "tip_angle")
      output.set("of", fmt::format("link.n{}.axis", elements + 1));
  if (torque) {
    Node& drive = std::get<Node::Array>(root.find("actuator")->value)[0];
    drive.set("type", "torque");
    drive.set("input", 0);
  }
  return compile(*spec);
}

inline Result<Model> flexible_two_link(int elements) {
  Result<ModelSpec> spec = load_spec("flexible_two_link");
  if (!spec.ok()) return spec.diagnostics();
  std::get<Node::Array>(spec->root.find("body")->value)[1].find("ancf")->set("elements", elements);
  return compile(*spec);
}

// The direction of the tip as seen from the drive; with a rigid link it is the angle of the driven section (6.62).
inline ServoChoice tip_direction() { return {{"atan2(tip_y, tip_x)"}, {}, {"drive"}, {}}; }
inline Redefinition driven_section(std::optional<double> weight = {}) {
  Redefinition how;
  how.rigid = {"theta"};
  how.weight = weight;
  return how;
}
inline Path one_link_swing() { return *Path::line({0}, {std::numbers::pi / 6}, 0, 1, 4); }

// (6.65), (6.66).
inline ServoChoice tip_position() { return {{"tip_x", "tip_y"}, {}, {"shoulder", "elbow"}, {}}; }
inline Redefinition straight_links(std::optional<double> weight = {}) {
  Redefinition how;
  how.rigid = {"L1*cos(alpha) + L2*cos(section_angle)", "L1*sin(alpha) + L2*sin(section_angle)"};
  how.weight = weight;
  return how;
}
inline Path two_link_circle() {
  return *Path::circle({2 * std::cos(std::numbers::pi / 9), 0}, {1.7, 0}, 0, 3, 4);
}

}  // namespace panto::inversion_test
