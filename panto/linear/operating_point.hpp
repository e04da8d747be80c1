// Where a mechanism is linearised: an equilibrium that was searched, a pose as it is, a steady motion, a point of a run.
#pragma once

#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/mechanics/workspace.hpp"

namespace panto {

// A coordinate ("theta") or a speed ("theta_dot") asked for by name.
struct PoseValue {
  std::string name;
  double value = 0;
};

// The model with these values as its initial ones. Its own initial positions become guesses, so that loops may close around what was asked
// for; its own initial speeds stay unless one is asked for.
Result<Model> with_pose(const Model& model, const std::vector<PoseValue>& pose);

enum class Operation : std::uint8_t {
  kEquilibrium,  // at rest, forces balanced; searched from the initial pose
  kHere,         // at rest in the initial pose; what does not balance is reported as `residual`
  kSteady,  // constant speeds (the initial ones), forces balanced; searched from the initial pose: a spinning governor
};

struct OperatingPoint {
  double t = 0;
  Eigen::VectorXd q, v, a, lambda, u, u_rate;
  double residual = 0;  // largest generalised force left along the directions that are free to move
};

// Point of `workspace`'s model at time t (inputs and drivers are frozen there). q: start here, at rest, instead of the initial state.
Result<OperatingPoint> operating_point(Workspace& workspace, Operation operation, double t = 0,
                                       View q = {});

// A point of a motion: accelerations and multipliers follow from the equations of motion.
Result<OperatingPoint> point_of_motion(Workspace& workspace, double t, View q, View v);

}  // namespace panto
