// Planar gradient-deficient ANCF beam of two nodes ("cable"): axial and bending stiffness, no shear (ELM-16). Eight coordinates e, per node r and
// ∂r/∂x (global axes); x is the arc length of the straight, unstretched element.
//
// paper symbol → code → unit
//   e → e → m (r), 1 (∂r/∂x);  r′, r″ → a, d → 1, 1/m;  ε = |r′| − 1, κ → strain, curvature → 1, 1/m
//   EA, EI, ρA → EA, EI, rhoA → N, N m², kg/m;  ξ = x/L → xi → 1
#pragma once

#include <Eigen/Core>
#include <array>

#include "panto/elements/section.hpp"
#include "panto/spatial/vec.hpp"

namespace panto {

// What bends: the turn of the tangent per unstretched length, (r′ × r″)/|r′|² (Gerstmayr and Irschik 2008, the strain of geometrically exact beams), or
// per stretched length, (r′ × r″)/|r′|³ (the geometric curvature, Berzeri and Shabana 2000). They differ by the factor 1 + ε (ELM-17).
enum class CableCurvature { kPerUnstretchedLength, kPerStretchedLength };

template <class P>
struct AncfCableElement {
  P L{}, EA{}, EI{}, rhoA{};
  CableCurvature curvature = CableCurvature::kPerUnstretchedLength;
};

template <class T>
using AncfCableVector = Eigen::Vector<T, 8>;
template <class T>
using AncfCableMatrix = Eigen::Matrix<T, 8, 8>;

// Throws std::logic_error unless all four are positive (a rope without bending stiffness: EI = 0 is allowed).
template <class P>
AncfCableElement<P> make_ancf_cable(
    const P& length, const P& axial_stiffness, const P& bending_stiffness, const P& mass_per_length,
    CableCurvature curvature = CableCurvature::kPerUnstretchedLength);

// Coordinates of the undeformed element from start along the unit vector direction.
template <class T>
AncfCableVector<T> straight_ancf_cable(const Vec2<T>& start, const Vec2<T>& direction,
                                       const T& length) noexcept;

// Constant, without rotary inertia; no velocity-dependent inertia forces.
template <class P>
AncfCableMatrix<P> mass_matrix(const AncfCableElement<P>& cable) noexcept;
template <class P>
AncfCableVector<P> gravity_load(const AncfCableElement<P>& cable, const Vec2<P>& g) noexcept;

// U(e), ∂U/∂e (to be added to the residual) and ∂²U/∂e² (symmetric) of the energy by quadrature: five points for the axial part, three for bending
// (ELM-18, ELM-19). Force and tangent are the exact derivatives of that sum. Not finite where |r′| = 0. T holds P.
template <class P, class T>
T strain_energy(const AncfCableElement<P>& cable, const AncfCableVector<T>& e) noexcept;
template <class P, class T>
AncfCableVector<T> elastic_force(const AncfCableElement<P>& cable,
                                 const AncfCableVector<T>& e) noexcept;
AncfCableMatrix<double> elastic_tangent(const AncfCableElement<double>& cable,
                                        const AncfCableVector<double>& e) noexcept;

// Weights of the four nodal vectors (r, ∂r/∂x of both nodes) in r, r′ and r″ at ξ; they are the Jacobians, as those of the shear-deformable element.
template <class P>
std::array<P, 4> position_weights(const AncfCableElement<P>& cable, const P& xi) noexcept;
template <class P>
std::array<P, 4> axis_weights(const AncfCableElement<P>& cable, const P& xi) noexcept;
template <class P>
std::array<P, 4> bending_weights(const AncfCableElement<P>& cable, const P& xi) noexcept;
// Σ weightᵢ eᵢ
template <class P, class T>
Vec2<T> weighted(const std::array<P, 4>& weights, const AncfCableVector<T>& e) noexcept {
  Vec2<T> r{weights[0] * e[0], weights[0] * e[1]};
  for (int i = 1; i < 4; ++i) {
    r.x += weights[static_cast<size_t>(i)] * e[2 * i];
    r.y += weights[static_cast<size_t>(i)] * e[2 * i + 1];
  }
  return r;
}

// Angle of the tangent and its gradient by e: a torque m has the generalised force m × gradient.
template <class T>
struct AncfCableAngle {
  T value{};
  AncfCableVector<T> gradient;
};
template <class P, class T>
AncfCableAngle<T> axis_angle(const AncfCableElement<P>& cable, const AncfCableVector<T>& e,
                             const P& xi) noexcept;

// |r′| − 1 and κ at ξ.
template <class P, class T>
T axial_strain(const AncfCableElement<P>& cable, const AncfCableVector<T>& e, const P& xi) noexcept;
template <class P, class T>
T curvature(const AncfCableElement<P>& cable, const AncfCableVector<T>& e, const P& xi) noexcept;

}  // namespace panto
