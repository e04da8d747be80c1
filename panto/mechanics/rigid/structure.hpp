// What depends on what: paths to the ground, the pattern of M and G, and the colouring that lets columns share a dual number's lane.
#pragma once

#include <vector>

#include "panto/model/model.hpp"
#include "panto/numerics/staged_lu.hpp"

namespace panto::rigid {

// True where row i starts a coincidence of two points: rows for every axis in turn, kGap between the same frames, target zero.
bool starts_coincidence(const Model& model, int row);

// Whether a place of the channel follows a node of a beam.
bool follows_node(const Model& model, const Channel& channel);

// A coincidence and where its derivatives stand in G. Each entry is a speed on the way from one of the points to the body both hang on.
struct Coincidence {
  struct Entry {
    int dof = 0, body = 0;  // body: Kinematics index
    int offset = 0;         // place in each of the rows
  };
  int row = 0, frame_a = -1, frame_b = -1;
  std::vector<Entry> on_a, on_b;
};

struct Structure {
  explicit Structure(const Model& model);

  std::vector<int> dof_joint;   // speed -> joint
  std::vector<int> dof_parent;  // speed -> next speed on the way to the ground, -1
  std::vector<int> mass_start;  // packed M: row of speed j holds M(j, j), M(j, dof_parent(j)), ...
  std::vector<std::vector<int>> row_dofs;  // constraint row -> speeds it involves, ascending
  RowMatrix g_pattern;
  std::vector<Coincidence> coincidences;
  std::vector<size_t> single_rows;  // those of no coincidence

  // Speeds on which each equation depends, by accelerations too, and the colour (lane) of each speed.
  std::vector<std::vector<int>> r_dofs, y_dofs;
  std::vector<int> colour;
  int colours = 0;
  // The same without what ANCF elements couple: their masses are constant, and they have tangents of their own. For derivatives by q and v.
  std::vector<std::vector<int>> state_dofs;
  std::vector<int> state_colour, state_colour_with_outputs;
  int state_colours = 0, state_colours_with_outputs = 0;
};

}  // namespace panto::rigid
