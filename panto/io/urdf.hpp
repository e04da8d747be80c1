// Robot descriptions in URDF: spatial trees. What URDF cannot say is added in a TOML file beside it.
#pragma once

#include <string>
#include <string_view>

#include "panto/base/diagnostics.hpp"
#include "panto/model/spec.hpp"

namespace panto {

// Links become bodies, joints become tree joints (fixed, revolute, continuous, prismatic, floating, planar) with origin, axis
// and range; damping and friction become force items "<joint>_damping", mimic becomes a gear loop "<joint>_mimic"; boxes,
// cylinders and spheres of the visuals become shapes. A root link called "world" is the ground; any other root is welded to
// it. Gravity is 9.81 m/s² along −z. Characters that names cannot have become "_". Errors: E0102, E0103, E0105, E0120, E0121.
// Messages name the file without a line, which the parser does not keep.
Result<ModelSpec> parse_urdf_text(std::string_view xml, const std::string& file);

// arm.urdf, and arm.loops.toml beside it if it exists: its lists are appended, its tables and values set. A joint in it that
// carries the root link replaces the weld.
Result<ModelSpec> read_urdf_file(const std::string& path);

}  // namespace panto
