// The report of a linearised mechanism: mode shapes that move, frequencies, strained elements, frequency responses.
#pragma once

#include "panto/linear/modes.hpp"
#include "panto/scene/report.hpp"

namespace panto::scene {

// dx dy dz rx ry rz of every body per unit of δq along `shape`, in world axes, then the displacements of nodes of beams: what a report's mode holds.
std::vector<double> mode_displacements(Workspace& workspace, const Eigen::VectorXd& q,
                                       const Eigen::VectorXd& shape);

Report report_of_modes(Workspace& workspace, const OperatingPoint& point,
                       const panto::Modes& modes);

}  // namespace panto::scene
