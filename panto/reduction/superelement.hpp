// A reduced system as a part of a mechanism: its modes and what they move at the masters (RED-13).
#pragma once

#include "panto/reduction/craig_bampton.hpp"

namespace panto {

struct SuperelementModes {
  std::vector<std::string> masters;
  Eigen::VectorXd omega2;   // ascending, 0 of rigid modes [1/s²]
  Eigen::VectorXd damping;  // modal, uᵀCu [1/s]; empty without C
  Eigen::MatrixXd shapes;   // masters x modes, of modal mass 1 kg
};

// All modes of the reduced system: another set of coordinates, nothing is lost. `rigid`: how many of them cost no strain energy.
// W0920, and no value, where C couples modes: what it says cannot be told mode by mode.
Result<SuperelementModes> superelement_modes(const ReducedSystem& system, int rigid);

}  // namespace panto
