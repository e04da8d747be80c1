// Inverse dynamics along a motion: some coordinates are prescribed over time, the loops give the others, r = 0 gives the inputs.
#pragma once

#include <functional>

#include "panto/base/diagnostics.hpp"
#include "panto/mechanics/workspace.hpp"

namespace panto {

// Samples of one coordinate. Empty rate or acceleration: differentiated from the samples (numerics/differentiate.hpp).
struct PrescribedCoordinate {
  std::string name;  // as in Model::coordinate_names
  std::vector<double> value, rate, acceleration;
};

struct PrescribedMotion {
  std::vector<double> t;  // strictly increasing
  std::vector<PrescribedCoordinate> coordinates;
};

struct InverseMotion {
  std::vector<double> t;
  std::vector<int> inputs;                   // which inputs were solved for
  std::vector<std::vector<double>> efforts;  // per input of `inputs`, per time
  std::vector<std::vector<double>> q, v, a;  // per coordinate or speed, per time
  double max_residual = 0;  // largest generalised force that no input could produce
};

// `inputs`: indices of the inputs to solve for; the others follow the model's signals. Bad input (E0631 … E0634): unknown coordinates, too few of
// them to determine the motion, unsuitable samples; E0635: a time at which the loops cannot follow. A motion that the inputs cannot produce is
// returned with the least-squares efforts and a warning W0636. `progress` is called at every time with the fraction done; false ends the answer there.
Result<InverseMotion> inverse_motion(Workspace& workspace, const PrescribedMotion& motion,
                                     std::span<const int> inputs,
                                     const std::function<bool(double)>& progress = {});

}  // namespace panto
