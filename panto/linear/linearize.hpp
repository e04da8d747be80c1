// Small motions about an operating point, from the exact tangent of the equations of motion (EOM-2..4), closed loops included.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "panto/linear/operating_point.hpp"

namespace panto {

// All matrices with their names. δq are tangent directions (one per speed), so ball joints need no special care.
struct LinearModel {
  std::vector<std::string> coordinates;  // of δq: nv names
  std::vector<std::string> independent;  // of z: coordinates that are free
  std::vector<std::string> states;       // of x = (z, w): "theta", …, then "theta_dot", …
  std::vector<std::string> inputs, outputs, output_units, rows;

  // Descriptor form:  M δa + D δv + K δq = B δu + Gᵀ δλ,  G δq = 0 (position rows, which come first).       (LIN-1)
  // K holds the geometric stiffness of springs under load, of gravity and of the constraint forces, -∂(Gᵀλ)/∂q.
  Eigen::MatrixXd M, D, K, B, G;
  int position_rows = 0;

  // Minimal form:  δq = R z,  M_z z̈ + D_z ż + K_z z = B_z δu.                                              (LIN-2)
  // R has unit rows at the independent coordinates. Empty matrices where drives act on speeds or accelerations.
  Eigen::MatrixXd R, M_z, D_z, K_z, B_z;

  // State space:  ẋ = A x + B_x δu + B_rate δu̇,  δy = C_x x + D_x δu + D_rate δu̇.                          (LIN-3)
  // The rates act only through velocity-controlled drives of order 0.
  Eigen::MatrixXd A, B_x, B_rate, C_x, D_x, D_rate;
  // ∂y/∂z̈ with positions and speeds held: which accelerations an output reads, that C_x has replaced by forces.
  // Empty where M_z is.
  Eigen::MatrixXd C_a;

  [[nodiscard]] bool second_order() const { return M_z.rows() == R.cols(); }
};

// Names of the tangent directions δq: of the coordinate, or "joint.rx" where a joint has several.
std::vector<std::string> tangent_names(const Model& model);

struct LinearizeOptions {
  // The independent coordinates that the workspace uses now, so that matrices of several points belong to one set of states; otherwise the
  // best conditioned ones at the point.
  bool keep_independent = false;
};

// Fails where the pose is singular, or the kept coordinates are (E0508): there the tangent does not tell how the mechanism moves.
Result<LinearModel> linearize(Workspace& workspace, const OperatingPoint& point,
                              const LinearizeOptions& options = {});

}  // namespace panto
