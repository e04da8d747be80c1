// Whether zeroed displacements and rigid bodies fix where the rigid links of the beams are (ERLS-5).
#pragma once

#include "panto/base/diagnostics.hpp"
#include "panto/mechanics/workspace.hpp"

namespace panto::erls {

// False with E0519 (as many displacements must be zeroed as the rigid mechanism has degrees of freedom that no rigid body has) or E0520 (those
// zeroed do not determine the rigid motion at q).
bool check_placement(Workspace& workspace, double t, const Eigen::VectorXd& q, Diagnostics& out);

}  // namespace panto::erls
