// The flexible one-link arm of the zoo in the four cases of Table 6.2 and with any number of elements.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"

namespace panto::validation::drucker2022 {

struct ArmCase {
  bool perpendicular = false;  // the first section stays normal to the beam
  bool torque = false;         // in place of the speed of the first section
  double stiffer = 1;          // factor on Young's modulus
};
// Relative degrees 4, 3, 2, 1.
inline constexpr ArmCase kArmCases[] = {{false, true}, {false, false}, {true, true}, {true, false}};

inline Result<Model> flexible_arm(int elements, const ArmCase& c = {}) {
  std::ifstream in(zoo_folder() + "/flexible_arm/model.toml");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto put = [&](const char* from, const std::string& to) {
    text = std::regex_replace(text, std::regex(from), to);
  };
  put("elements = [0-9]+",
      fmt::format("elements = {}{}", elements, c.perpendicular ? ", perpendicular = [1]" : ""));
  put("link\\.n5\\.axis", fmt::format("link.n{}.axis", elements + 1));
  put("E = \"12 MPa\"", fmt::format("E = \"{} MPa\"", 12 * c.stiffer));
  if (c.torque)
    put("type = \"velocity\", on = \"theta\", input = \"[^\"]*\"",
        "type = \"torque\", on = \"theta\", input = 0");
  const Result<ModelSpec> spec = parse_model_text(text, "flexible_arm.toml");
  if (!spec.ok()) return spec.diagnostics();
  return compile(*spec);
}

}  // namespace panto::validation::drucker2022
