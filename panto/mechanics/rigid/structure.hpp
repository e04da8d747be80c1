// What depends on what: paths to the ground, the pattern of M and G, and the colouring that lets columns share a dual number's lane.
#pragma once

#include <vector>

#include "panto/model/model.hpp"
#include "panto/numerics/staged_lu.hpp"

namespace panto::rigid {

struct Structure {
  explicit Structure(const Model& model);

  std::vector<int> dof_joint;   // speed -> joint
  std::vector<int> dof_parent;  // speed -> next speed on the way to the ground, -1
  std::vector<int> mass_start;  // packed M: row of speed j holds M(j, j), M(j, dof_parent(j)), ...
  std::vector<std::vector<int>> row_dofs;  // constraint row -> speeds it involves, ascending
  RowMatrix g_pattern;

  // Speeds on which each equation depends, and the colour (lane) of each speed.
  std::vector<std::vector<int>> r_dofs, y_dofs;
  std::vector<int> colour, colour_with_outputs;
  int colours = 0, colours_with_outputs = 0;
};

}  // namespace panto::rigid
