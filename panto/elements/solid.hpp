// Linear elastic continuum elements with displacement nodes: plane quadrilateral of four nodes, brick of eight (ELM-21).
//
// symbol → code → unit
//   E, ν, ρ → ElasticMaterial → Pa, 1, kg/m³;  t → thickness → m
//   x, y (z) of the nodes → rows of `nodes` → m
//   nodal displacements: node by node, x, y (z) each → m
#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace panto {

struct ElasticMaterial {
  double youngs_modulus = 0, poisson = 0, density = 0;
};

enum class PlaneState : std::uint8_t { kStress, kStrain };

// Consistent mass and stiffness.
template <int N>
struct SolidMatrices {
  Eigen::Matrix<double, N, N> M, K;
};
using QuadMatrices = SolidMatrices<8>;
using BrickMatrices = SolidMatrices<24>;

// Nodes counter-clockwise. Two Gauss points per direction: exact for parallelograms. Linear shape functions are too stiff in bending: an element of
// length l and height h carries about 1 + (l/h)²/2 times the bending stiffness, so that bending takes several elements over the height.
// Throws std::logic_error where the element is not convex, or material and thickness are not those of an elastic body (E, ρ, t > 0, -1 < ν < ½).
QuadMatrices quad_matrices(const Eigen::Matrix<double, 4, 2>& nodes,
                           const ElasticMaterial& material, double thickness, PlaneState state);

// Nodes of the lower face counter-clockwise seen from above, then those of the upper face. Two Gauss points per direction.
BrickMatrices brick_matrices(const Eigen::Matrix<double, 8, 3>& nodes,
                             const ElasticMaterial& material);

}  // namespace panto
