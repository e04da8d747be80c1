// Structures of Palomba's thesis that tests and reproductions share: the bar horn and the vibratory feeder, with the data of its digest.
#pragma once

#include <fmt/format.h>

#include "panto/reduction/mesh.hpp"
#include "panto/reduction/reduce.hpp"

namespace panto::test {

inline Plate horn_plate() {
  Plate p;
  for (const double x : {0.0, 10.5, 21.0, 31.5, 35.0, 38.5, 49.0, 59.5, 70.0})
    p.x.push_back(1e-3 * x);
  p.y = {0, 8e-3};
  for (const double y : equal_steps(16e-3, 88e-3, 14)) p.y.push_back(y);
  p.y.push_back(96e-3);
  p.y.push_back(104e-3);
  p.slots = {{31.5e-3, 38.5e-3, 16e-3, 88e-3}};
  p.material = {71.7e9, 0.33, 2810};
  p.thickness = 30e-3;
  p.state = PlaneState::kStrain;
  return p;
}
// Nodes at widths 31.5, 35 and 38.5 mm on the booster's face.
inline std::vector<std::string> horn_masters() { return {"n4", "n5", "n6"}; }

inline BeamFrame feeder_frame() {
  BeamFrame f;
  f.beams = {{"tray", equal_steps(0, 1.6, 8), 20, 6e4}, {"base", equal_steps(0, 1.6, 8), 60, 3e5}};
  f.masses = {{"exciter1", 6}, {"exciter2", 6}, {"exciter3", 6}};
  for (const char* n : {"1", "2", "4", "6", "8", "9"})
    f.springs.push_back({std::string("tray.") + n, std::string("base.") + n, 2e6});
  for (const char* n : {"2", "8"}) f.springs.push_back({std::string("base.") + n, "ground", 5e4});
  f.springs.push_back({"exciter1", "tray.2", 1.2e6});
  f.springs.push_back({"exciter2", "tray.5", 1.2e6});
  f.springs.push_back({"exciter3", "tray.8", 1.2e6});
  return f;
}
inline std::vector<std::string> feeder_masters() {
  return {"tray.2.y", "tray.5.y", "tray.8.y", "exciter1", "exciter2", "exciter3"};
}
// Equal forces in phase on the tray, opposite on the exciters, at 50 and 100 Hz.
inline std::vector<ForceTerm> feeder_force_terms() {
  std::vector<ForceTerm> out;
  for (const double hz : {50.0, 100.0}) {
    out.push_back({{"tray.2.y", "tray.5.y", "tray.8.y"}, hz, 1, 0});
    out.push_back({{"exciter1", "exciter2", "exciter3"}, hz, -1, 0});
  }
  return out;
}
inline std::vector<Harmonic> feeder_forces(const std::vector<int>& masters) {
  std::vector<Harmonic> out;
  for (const double hz : {50.0, 100.0}) {
    Harmonic h;
    h.hz = hz;
    for (size_t i = 0; i < masters.size(); ++i) h.forces.emplace_back(masters[i], i < 3 ? 1 : -1);
    out.push_back(std::move(h));
  }
  return out;
}

// A bar of 16 kg on two springs that are far softer than its elements: ω² = 2 k/m and, of a stiff bar, 6 k/m.
inline BeamFrame soft_frame(double stiffness, int elements = 80) {
  BeamFrame f;
  f.beams = {{"bar", equal_steps(0, 0.8, elements), 20, 6e4}};
  const std::string end = fmt::format("bar.{}", elements + 1);
  f.springs = {{"bar.1", "ground", stiffness}, {end, "ground", stiffness}};
  return f;
}
inline std::vector<std::string> soft_masters(int elements = 80) {
  return {"bar.1", fmt::format("bar.{}", elements + 1)};
}

// A solid in the manner of Palomba's sonotrode, whose shape is not printed: a stepped bar of the printed titanium, 8712 degrees of freedom.
inline Prism sonotrode_prism() {
  Prism p;
  p.sections = {{0, 0.04, 0.04}, {0.064, 0.04, 0.04}, {0.072, 0.022, 0.03}, {0.136, 0.022, 0.03}};
  p.across_x = 10;
  p.across_y = 10;
  p.z = equal_steps(0, 0.136, 23);
  p.material = {115e9, 0.32, 4340};
  return p;
}
// Seven nodes of the face as masters: the middle, its neighbours and the middles of the sides, pushed along the axis at the printed frequency.
inline ReduceOptions sonotrode_options(int candidates) {
  ReduceOptions o;
  ForceTerm force;
  force.hz = 19886;
  for (const char* node : {"n61", "n39", "n83", "n57", "n65", "n6", "n116"}) {
    o.masters.emplace_back(node);
    force.at.push_back(std::string(node) + ".z");
  }
  o.forces = {force};
  o.damping = 0.01;
  o.candidates = candidates;
  return o;
}

}  // namespace panto::test
