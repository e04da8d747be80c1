// From what accelerometers read to the coordinates of the model, and back.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "panto/mechanics/workspace.hpp"
#include "panto/model/modal_test.hpp"

namespace panto {

enum class ExpansionMethod : std::uint8_t {
  kShapeFunctions,  // points read the shape functions of their beam (ELM-1)
  kSpline,  // a natural cubic spline along each beam first, read at its nodes: for modes with more waves than the mesh has elements
};

// Where frames are sought: -1 where the model has none of this name.
int find_frame(const Model& model, const std::string& name);
std::vector<std::string> frame_names(const Model& model);
// The model with a frame at the origin of every body, named like the body.
Model with_body_frames(const Model& model);

// Rows C of UPD-1: what each point reads per unit of z, δq = R z, at the pose q. A point on a beam between its nodes follows the beam's shape functions, any other
// point its body.
Eigen::MatrixXd point_rows(Workspace& workspace, View q, const Eigen::MatrixXd& r,
                           const std::vector<MeasuredPoint>& points);

// Splines of UPD-2 along the beams: rows and readings at nodes that replace those of the points on a beam. Readings are linear: y' = matrix y.
struct PointSplines {
  Eigen::MatrixXd rows;    // per unit of z
  Eigen::MatrixXd matrix;  // of y
};
PointSplines spline_rows(Workspace& workspace, View q, const Eigen::MatrixXd& r,
                         const std::vector<MeasuredPoint>& points, const Eigen::MatrixXd& rows);

// What a measured shape is expanded with: modes of the model at hand, and how far it may be trusted.
struct ExpansionBasis {
  Eigen::VectorXd squares;   // ω²
  Eigen::MatrixXd modes;     // columns with φᵀ M φ = 1
  double model_error = 0.2;  // share by which K and M may be wrong
};
struct ExpandedShape {
  Eigen::VectorXd z;      // zᵀ M z = 1, M of the basis
  Eigen::MatrixXd slope;  // ∂z/∂y
  double misfit = 0;      // |C z - y| / |y|
};
// UPD-1: min |(C z - y)/σ|² + |M^-½ (K - ω² M) z|² / (ε ω² a)², a the amplitude √(zᵀMz): what the points do not tell is filled in by the model's balance of
// forces, to the extent ε that it may be wrong; the smaller σ, the less of it. NaN in y: not measured. σ > 0, in the units of y.
ExpandedShape expand(const Eigen::MatrixXd& rows, const Eigen::VectorXd& y, double sigma,
                     double omega, const ExpansionBasis& basis);

// The real shape nearest to a complex one: turned by the phase that leaves the smallest imaginary part. NaN stay.
Eigen::VectorXd real_shape(const Eigen::VectorXcd& shape);

// ---- equivalent rigid-link system (planar beams) --------------------------------------------------------------------------------------
// Displacements x, y (ground axes) and turn of all nodes of beams from the pose q, loops closed: linear (3 nodes x nz) and exact for finite z (UPD-3).
Eigen::MatrixXd nodal_rows(Workspace& workspace, View q, const Eigen::MatrixXd& r);
bool nodal_displacements(Workspace& workspace, View q, const Eigen::MatrixXd& r,
                         const Eigen::VectorXd& z, Eigen::VectorXd& out);

struct ErlsShape {
  Eigen::VectorXd linear;  // least squares on nodal_rows()
  Eigen::VectorXd exact;   // such that nodal_displacements() are these, as nearly as possible
  double difference = 0;   // |exact - linear| / |exact|: proportional to the amplitude
};
// Coordinates of the system from finite physical displacements of its nodes. Not converged: exact has no entries.
ErlsShape to_erls(Workspace& workspace, View q, const Eigen::MatrixXd& r,
                  const Eigen::VectorXd& displacements);

}  // namespace panto
