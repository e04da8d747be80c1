// Planar Euler–Bernoulli beam of two nodes with axial stiffness, nodal coordinates (x, y, rotation) per node (ELM-2): the element of
// equivalent rigid-link systems (ERLS), whose elastic displacements u live on a moving rigid link.
//
// paper symbol (Palomba, ch. 4) → code → unit
//   L, EA, EI, μ = ρA, ρI → L, EA, EI, mu, rhoI → m, N, N m², kg/m, kg m
//   R, ω, ω̇ link rotation, its speed and acceleration → R, omega, omega_dot → 1, rad/s, rad/s²
//   T = blockdiag(Rᵀ, 1, Rᵀ, 1) → to_local(R, ·), Tᵀ → to_global(R, ·)
//   r, u rigid and elastic nodal coordinates, global axes → r, u → m, rad
//   M, K, G = ∫μ NᵀJN dx, J = (0 −1; 1 0), link axes → BeamMatrices → kg, N/m, kg (and their rotational kin)
#pragma once

#include <Eigen/Core>

#include "panto/elements/section.hpp"
#include "panto/spatial/space.hpp"

namespace panto {

template <class P>
struct BeamElement {
  P L{}, EA{}, EI{}, mu{};
  P rhoI{};  // rotary inertia per length; zero: neglected
};

enum class RotaryInertia { kNeglected, kIncluded };

// Throws std::logic_error unless length, Young's modulus, density and section are positive.
template <class P>
BeamElement<P> make_beam(const P& length, const P& youngs_modulus, const P& density,
                         const CrossSection<P>& section,
                         RotaryInertia rotary = RotaryInertia::kNeglected);

// ---- in link axes -----------------------------------------------------------------------------------------------------

template <class P>
using BeamMatrix = Eigen::Matrix<P, 6, 6>;
template <class P>
using BeamVector = Eigen::Vector<P, 6>;
template <class P>
using BeamRow = Eigen::RowVector<P, 6>;

// Consistent mass, rotary inertia included if the element has it (ELM-3).
template <class P>
BeamMatrix<P> mass_matrix(const BeamElement<P>& beam) noexcept;
template <class P>
BeamMatrix<P> stiffness_matrix(const BeamElement<P>& beam) noexcept;
// G = ∫μ NᵀJN dx, antisymmetric: a frame that turns at ω sees the inertia force 2ω G ḋ (ELM-5).
template <class P>
BeamMatrix<P> gyroscopic_matrix(const BeamElement<P>& beam) noexcept;
// Stiffness of an axial force (tension positive), quadratic along the element through its values at start, middle and end (ELM-8).
template <class P>
BeamMatrix<P> geometric_stiffness(const BeamElement<P>& beam, const P& force_start,
                                  const P& force_middle, const P& force_end) noexcept;

// Consistent load of the gravity g, both in link axes: M (g, 0, g, 0) (ELM-7).
template <class P>
BeamVector<P> gravity_load(const BeamElement<P>& beam, const Vec2<P>& g) noexcept;

// Rows that give, times the nodal coordinates in link axes, the displacement (x and y), slope, curvature, and the axial strain at height y above the
// neutral axis, u′ − y v″ (ELM-1, ELM-4); 0 ≤ xi ≤ 1.
template <class P>
Eigen::Matrix<P, 2, 6> displacement_rows(const BeamElement<P>& beam, const P& xi) noexcept;
template <class P>
BeamRow<P> slope_row(const BeamElement<P>& beam, const P& xi) noexcept;
template <class P>
BeamRow<P> curvature_row(const BeamElement<P>& beam, const P& xi) noexcept;
template <class P>
BeamRow<P> strain_row(const BeamElement<P>& beam, const P& xi, const P& y) noexcept;

// ---- between link and global axes -------------------------------------------------------------------------------------

template <class T>
BeamVector<T> to_local(const Rot2<T>& R, const BeamVector<T>& v) noexcept {
  BeamVector<T> d;
  for (int n : {0, 3}) {
    d[n] = R.c * v[n] + R.s * v[n + 1];
    d[n + 1] = R.c * v[n + 1] - R.s * v[n];
    d[n + 2] = v[n + 2];
  }
  return d;
}
template <class T>
BeamVector<T> to_global(const Rot2<T>& R, const BeamVector<T>& d) noexcept {
  return to_local(Rot2<T>{R.c, -R.s}, d);
}
// Tᵀ A T
template <class T>
BeamMatrix<T> to_global(const Rot2<T>& R, const BeamMatrix<T>& a) noexcept {
  BeamMatrix<T> half, full;
  for (int j = 0; j < 6; ++j) half.col(j) = to_global(R, BeamVector<T>(a.col(j)));
  for (int i = 0; i < 6; ++i)
    full.row(i) = to_global(R, BeamVector<T>(half.row(i).transpose())).transpose();
  return full;
}
// Ĵ d: what d changes by per angle when turned with its nodes; rotations stay.
template <class T>
BeamVector<T> quarter_turn(const BeamVector<T>& d) noexcept {
  BeamVector<T> j;
  j << -d[1], d[0], T(0.0), -d[4], d[3], T(0.0);
  return j;
}

// ---- on a moving link -------------------------------------------------------------------------------------------------

// What depends on parameters only; kept by the caller between evaluations.
template <class P>
struct BeamMatrices {
  BeamMatrix<P> M, K, G;
  BeamMatrix<P> M_translation;  // without rotary inertia
  BeamMatrix<P> unit_tension;   // geometric stiffness of the force 1
  P L{}, EA{};
};
template <class P>
BeamMatrices<P> beam_matrices(const BeamElement<P>& beam) noexcept;

// Link-frame motion and global nodal vectors. r_ddot is the acceleration of the rigid link's nodes (ẍ, ÿ, ω̇ each) less gravity (gx, gy, 0): the
// gravity load is then part of the inertia force (ELM-7).
template <class T>
struct BeamMotion {
  Rot2<T> R;
  T omega{}, omega_dot{};
  BeamVector<T> r_ddot, u, u_dot, u_ddot;
};

// Generalised force: on the nodes (work of δr and δu, global axes), and what is left for the link's angle at fixed u.
template <class T>
struct BeamForce {
  BeamVector<T> nodal;
  T link{};
};

enum class LinkTerms {
  kFirst,     // without products with u, as Palomba (4.10), (4.21): M (r̈ + ü) + 2 M_G u̇
  kComplete,  // all of the moving frame: conserves energy, softens and stiffens with ω²
};

enum class BeamStrain {
  kLinear,
  kStiffening,  // bending shortens: mean axial strain (Δu_x + ½∫u_y′² dx)/L, so a tension stiffens (ELM-20)
};

// Inertia force (ELM-6), to be added to the residual. T holds P: double and double, double and dual, dual and dual.
template <class P, class T>
BeamForce<T> inertia_force(const BeamMatrices<P>& m, const BeamMotion<T>& motion,
                           LinkTerms terms) noexcept;
// Elastic force (ELM-6), to be added to the residual; link is zero in kFirst.
template <class P, class T>
BeamForce<T> elastic_force(const BeamMatrices<P>& m, const Rot2<T>& R, const BeamVector<T>& u,
                           LinkTerms terms, BeamStrain strain = BeamStrain::kLinear) noexcept;
// M_G = ω Tᵀ (G − M Ĵ) T (ELM-5), for those who assemble matrices.
template <class P>
BeamMatrix<P> erls_gyroscopic_matrix(const BeamMatrices<P>& m, const Rot2<P>& R,
                                     const P& omega) noexcept;
// Whose Lagrange's equations kComplete is (ELM-9).
template <class P, class T>
T kinetic_energy(const BeamMatrices<P>& m, const Rot2<T>& R, const T& omega,
                 const BeamVector<T>& r_dot, const BeamVector<T>& u,
                 const BeamVector<T>& u_dot) noexcept;
template <class P, class T>
T strain_energy(const BeamMatrices<P>& m, const Rot2<T>& R, const BeamVector<T>& u,
                BeamStrain strain = BeamStrain::kLinear) noexcept;

}  // namespace panto
