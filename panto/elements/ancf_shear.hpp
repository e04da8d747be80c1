// Planar shear-deformable beam of two nodes in absolute nodal coordinates: Omar and Shabana (2001), elastic forces by continuum mechanics
// (ELM-10). Twelve coordinates e, per node r, ∂r/∂x, ∂r/∂y (global axes); x along the straight reference axis, y across it.
//
// paper symbol → code → unit
//   e → e → m (r), 1 (gradients)
//   a = ∂r/∂x on the axis, b = ∂²r/∂x∂y, c = ∂r/∂y → a, b, c → 1, 1/m, 1
//   λ + 2G, λ, G or their reduced kin, times A, I, I₄ → A11, A12, A22, A33, I11, I12, I33, J11 → N, N m², N m⁴
//   ξ = x/L, y → xi, y → 1, m
#pragma once

#include <Eigen/Core>
#include <array>

#include "panto/elements/section.hpp"
#include "panto/spatial/vec.hpp"

namespace panto {

// Stress and strain in the plane, and where Poisson's ratio couples them. The section stretches evenly, so it cannot become the trapezoid that coupled
// strains want in bending: the bending stiffness of kPlaneStress is EI/(1 − ν²), that of kPlaneStrain EI (1 − ν)/((1 + ν)(1 − 2ν)), on any mesh
// (Poisson locking). Between sections turned against each other the interpolated ∂r/∂y is too short, which the plain laws count as thickness strain: thin
// beams on coarse meshes are too stiff (thickness locking). kSplit does neither (ELM-14).
enum class AncfLaw {
  kSplit,  // coupling (plane stress) on the axis only, E off the axis: bending stiffness EI, axial stiffness EA
  kPlaneStress,  // E/(1 − ν²), ν E/(1 − ν²) everywhere
  kPlaneStrain,  // λ + 2G, λ everywhere: the plain element of the literature
};

template <class P>
struct AncfMaterial {
  P youngs_modulus{}, poissons_ratio{}, density{};
  P shear_factor{5.0 / 6.0};  // used by kSplit; the plain laws take the continuum's, 1
};

template <class P>
struct AncfShearElement {
  P L{};
  P rhoA{}, rhoI{};
  P A11{}, A12{}, A22{}, A33{};  // axis: normal, coupling, thickness, shear
  P I11{}, I12{}, I33{}, J11{};  // off the axis
  bool nodal_thickness = false;  // thickness strain linear between its values at the nodes
};

template <class T>
using AncfShearVector = Eigen::Vector<T, 12>;
template <class T>
using AncfShearMatrix = Eigen::Matrix<T, 12, 12>;

// Throws std::logic_error unless length, Young's modulus, density, section and shear factor are positive and 0 ≤ ν < ½.
template <class P>
AncfShearElement<P> make_ancf_shear(const P& length, const AncfMaterial<P>& material,
                                    const CrossSection<P>& section, AncfLaw law = AncfLaw::kSplit);

// Coordinates of the undeformed element from start along the unit vector direction.
template <class T>
AncfShearVector<T> straight_ancf_shear(const Vec2<T>& start, const Vec2<T>& direction,
                                       const T& length) noexcept;

// Constant; there are no velocity-dependent inertia forces (ELM-11).
template <class P>
AncfShearMatrix<P> mass_matrix(const AncfShearElement<P>& beam) noexcept;
template <class P>
AncfShearVector<P> gravity_load(const AncfShearElement<P>& beam, const Vec2<P>& g) noexcept;

// U(e), ∂U/∂e (to be added to the residual) and ∂²U/∂e² (symmetric), exact by five points along the axis and moments of the section (ELM-13).
// T holds P: double and double, double and dual, dual and dual.
template <class P, class T>
T strain_energy(const AncfShearElement<P>& beam, const AncfShearVector<T>& e) noexcept;
template <class P, class T>
AncfShearVector<T> elastic_force(const AncfShearElement<P>& beam,
                                 const AncfShearVector<T>& e) noexcept;
AncfShearMatrix<double> elastic_tangent(const AncfShearElement<double>& beam,
                                        const AncfShearVector<double>& e) noexcept;

// Weights of the six nodal vectors (r, ∂r/∂x, ∂r/∂y of both nodes) in the position, in ∂r/∂x and in ∂r/∂y at (ξ, y) (ELM-10). They are the Jacobians:
// velocity and acceleration have the same weights on ė and ë, a force f at the point has the generalised force weight × f.
template <class P>
std::array<P, 6> position_weights(const AncfShearElement<P>& beam, const P& xi,
                                  const P& y) noexcept;
template <class P>
std::array<P, 6> axis_weights(const AncfShearElement<P>& beam, const P& xi, const P& y) noexcept;
template <class P>
std::array<P, 6> section_weights(const AncfShearElement<P>& beam, const P& xi) noexcept;
// Σ weightᵢ eᵢ
template <class P, class T>
Vec2<T> weighted(const std::array<P, 6>& weights, const AncfShearVector<T>& e) noexcept {
  Vec2<T> r{weights[0] * e[0], weights[0] * e[1]};
  for (int i = 1; i < 6; ++i) {
    r.x += weights[static_cast<size_t>(i)] * e[2 * i];
    r.y += weights[static_cast<size_t>(i)] * e[2 * i + 1];
  }
  return r;
}

// An angle and its gradient by e: a torque m has the generalised force m × gradient, the rate of the angle is gradient · ė (ELM-15).
template <class T>
struct AncfShearAngle {
  T value{};
  AncfShearVector<T> gradient;
};
// Of the cross section's normal: zero where ∂r/∂y points along global y.
template <class P, class T>
AncfShearAngle<T> section_angle(const AncfShearElement<P>& beam, const AncfShearVector<T>& e,
                                const P& xi) noexcept;
// Of the tangent of the axis.
template <class P, class T>
AncfShearAngle<T> axis_angle(const AncfShearElement<P>& beam, const AncfShearVector<T>& e,
                             const P& xi) noexcept;

}  // namespace panto
