// Small structures made in code: plates with slots, prisms of stepped section, frames of beams and springs.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "panto/elements/solid.hpp"
#include "panto/reduction/system.hpp"

namespace panto {

// A rectangle of the mesh without material.
struct PlateSlot {
  double x_from = 0, x_to = 0, y_from = 0, y_to = 0;
};

// Lines of the mesh, ascending; slots begin and end on them. Nodes "n1", "n2", …: x runs fastest, nodes without an element are left out.
// Sets "x_min", "x_max", "y_min", "y_max": the sides.
struct Plate {
  std::vector<double> x, y;
  std::vector<PlateSlot> slots;
  ElasticMaterial material;
  double thickness = 0;
  PlaneState state = PlaneState::kStress;
};
// E0910 where lines do not ascend, or nothing is left. Round-off of K is measured on its rigid motions (RED-15), that of a prism too.
Result<LinearSystem> plate(const Plate& plate);

// Sections along z: the rectangle width x height, from z of this one to that of the next, interpolated linearly between them. Two sections at one z
// are not possible: give a step a length.
struct PrismSection {
  double z = 0, width = 0, height = 0;
};
// Nodes "n1", …: x runs fastest, then y, then z. Sets "z_min", "z_max": the end faces.
struct Prism {
  std::vector<PrismSection> sections;
  int across_x = 1, across_y = 1;  // elements
  std::vector<double> z;           // mesh planes, ascending from the first to the last section
  ElasticMaterial material;
};
// E0910 as well where a section changes nothing, for it and its neighbours lie between two planes; W0922 where it is on no plane.
Result<LinearSystem> prism(const Prism& prism);

// Equal steps from `from` to `to`, both included.
std::vector<double> equal_steps(double from, double to, int steps);

// Plane frame of horizontal Euler–Bernoulli beams in bending, point masses, and springs between heights y.
struct FrameBeam {
  std::string name;
  std::vector<double> x;  // nodes
  double mass_per_length = 0, bending_stiffness = 0;
};
struct FrameMass {
  std::string name;
  double mass = 0;
};
// Between two places: a mass ("exciter"), a node of a beam ("tray.5", from 1) or the ground ("ground").
struct FrameSpring {
  std::string from, to;
  double stiffness = 0;
};
struct BeamFrame {
  std::vector<FrameBeam> beams;
  std::vector<FrameMass> masses;
  std::vector<FrameSpring> springs;
};
// Degrees of freedom "tray.5.y", "tray.5.r" and "exciter.y". E0910 for numbers that are not positive, E0904 for places that are not there.
Result<LinearSystem> beam_frame(const BeamFrame& frame, const std::string& name);

}  // namespace panto
