#include "panto/elements/beam.hpp"

#include <array>
#include <complex>

#include "panto/elements/gauss.hpp"
#include "panto/elements/hermite.hpp"
#include "panto/numerics/dual.hpp"

namespace panto {
namespace {

// Places of the axial and of the bending coordinates among the six.
constexpr std::array<int, 2> kAxial{0, 3};
constexpr std::array<int, 4> kBending{1, 2, 4, 5};

// a x of mixed scalars.
template <class P, class T>
BeamVector<T> times(const BeamMatrix<P>& a, const BeamVector<T>& x) {
  BeamVector<T> y;
  for (int i = 0; i < 6; ++i) {
    y[i] = a(i, 0) * x[0];
    for (int j = 1; j < 6; ++j) y[i] += a(i, j) * x[j];
  }
  return y;
}
// aᵀ b without conjugation.
template <class T>
T inner(const BeamVector<T>& a, const BeamVector<T>& b) {
  T s = a[0] * b[0];
  for (int i = 1; i < 6; ++i) s += a[i] * b[i];
  return s;
}

template <class P>
BeamMatrix<P> translation_mass(const BeamElement<P>& beam) {
  BeamMatrix<P> m = BeamMatrix<P>::Constant(P(0.0));
  const P axial = beam.mu * beam.L / 6.0;
  for (int i : kAxial)
    for (int j : kAxial) m(i, j) = (i == j ? 2.0 : 1.0) * axial;
  const Eigen::Matrix<P, 4, 4> h = hermite_mass(beam.L);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) m(kBending[i], kBending[j]) = beam.mu * h(i, j);
  return m;
}

}  // namespace

template <class P>
BeamElement<P> make_beam(const P& length, const P& youngs_modulus, const P& density,
                         const CrossSection<P>& section, RotaryInertia rotary) {
  using element_detail::positive;
  PANTO_EXPECT(positive(length), "a beam element needs a positive length");
  PANTO_EXPECT(positive(youngs_modulus) && positive(density),
               "a beam element needs positive Young's modulus and density");
  PANTO_EXPECT(positive(section.area) && positive(section.second_moment),
               "a beam element needs a section with positive area and second moment");
  return {length, youngs_modulus * section.area, youngs_modulus * section.second_moment,
          density * section.area,
          rotary == RotaryInertia::kIncluded ? P(density * section.second_moment) : P(0.0)};
}

template <class P>
BeamMatrix<P> mass_matrix(const BeamElement<P>& beam) noexcept {
  // ρI ∫H′H′ᵀ is the geometric stiffness of the force ρI.
  return translation_mass(beam) + geometric_stiffness(beam, beam.rhoI, beam.rhoI, beam.rhoI);
}

template <class P>
BeamMatrix<P> stiffness_matrix(const BeamElement<P>& beam) noexcept {
  BeamMatrix<P> k = BeamMatrix<P>::Constant(P(0.0));
  const P axial = beam.EA / beam.L;
  for (int i : kAxial)
    for (int j : kAxial) k(i, j) = (i == j ? 1.0 : -1.0) * axial;
  const P s = beam.EI / beam.L, f = 6.0 * s / beam.L, w = 2.0 * f / beam.L;
  Eigen::Matrix<P, 4, 4> b;
  b << w, f, -w, f,             //
      f, 4.0 * s, -f, 2.0 * s,  //
      -w, -f, w, -f,            //
      f, 2.0 * s, -f, 4.0 * s;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) k(kBending[i], kBending[j]) = b(i, j);
  return k;
}

template <class P>
BeamMatrix<P> gyroscopic_matrix(const BeamElement<P>& beam) noexcept {
  // ∫(1 − ξ)H and ∫ξH over 0 ≤ ξ ≤ 1.
  const P L = beam.L;
  const std::array<std::array<P, 4>, 2> c{{{P(7.0 / 20), L / 20.0, P(3.0 / 20), -L / 30.0},
                                           {P(3.0 / 20), L / 30.0, P(7.0 / 20), -L / 20.0}}};
  BeamMatrix<P> g = BeamMatrix<P>::Constant(P(0.0));
  for (size_t i = 0; i < 2; ++i)
    for (size_t b = 0; b < 4; ++b) {
      g(kAxial[i], kBending[b]) = -beam.mu * L * c[i][b];
      g(kBending[b], kAxial[i]) = beam.mu * L * c[i][b];
    }
  return g;
}

template <class P>
BeamMatrix<P> geometric_stiffness(const BeamElement<P>& beam, const P& force_start,
                                  const P& force_middle, const P& force_end) noexcept {
  BeamMatrix<P> k = BeamMatrix<P>::Constant(P(0.0));
  // Degree 2 + 2 + 2 = 6: four points are exact.
  for (const GaussPoint& p : kGauss4) {
    const double x = p.xi;
    const P force = (1 - x) * (1 - 2 * x) * force_start + 4 * x * (1 - x) * force_middle +
                    x * (2 * x - 1) * force_end;
    const std::array<P, 4> h = hermite_slope(beam.L, P(x));
    const P w = p.weight * beam.L * force;
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = 0; j < 4; ++j) k(kBending[i], kBending[j]) += w * h[i] * h[j];
  }
  return k;
}

template <class P>
Eigen::Matrix<P, 2, 6> displacement_rows(const BeamElement<P>& beam, const P& xi) noexcept {
  const std::array<P, 4> h = hermite(beam.L, xi);
  const P o(0.0);
  Eigen::Matrix<P, 2, 6> n;
  n << P(1.0 - xi), o, o, xi, o, o,  //
      o, h[0], h[1], o, h[2], h[3];
  return n;
}

template <class P>
BeamRow<P> slope_row(const BeamElement<P>& beam, const P& xi) noexcept {
  const std::array<P, 4> h = hermite_slope(beam.L, xi);
  BeamRow<P> r;
  r << P(0.0), h[0], h[1], P(0.0), h[2], h[3];
  return r;
}

template <class P>
BeamRow<P> curvature_row(const BeamElement<P>& beam, const P& xi) noexcept {
  const std::array<P, 4> h = hermite_curvature(beam.L, xi);
  BeamRow<P> r;
  r << P(0.0), h[0], h[1], P(0.0), h[2], h[3];
  return r;
}

template <class P>
BeamRow<P> strain_row(const BeamElement<P>& beam, const P& xi, const P& y) noexcept {
  BeamRow<P> r = curvature_row(beam, xi);
  for (int i = 0; i < 6; ++i) r[i] = -y * r[i];
  r[0] = -1.0 / beam.L;
  r[3] = 1.0 / beam.L;
  return r;
}

template <class P>
BeamMatrices<P> beam_matrices(const BeamElement<P>& beam) noexcept {
  const P one(1.0);
  return {mass_matrix(beam),
          stiffness_matrix(beam),
          gyroscopic_matrix(beam),
          translation_mass(beam),
          geometric_stiffness(beam, one, one, one),
          beam.L,
          beam.EA};
}

template <class P, class T>
BeamForce<T> inertia_force(const BeamMatrices<P>& m, const BeamMotion<T>& motion,
                           LinkTerms terms) noexcept {
  const T& w = motion.omega;
  const T& w_dot = motion.omega_dot;
  // c: accelerations that N interpolates, g: those that J N does; both in link axes.
  const BeamVector<T> v = to_local(motion.R, motion.u_dot);
  const BeamVector<T> jv = quarter_turn(v);
  BeamVector<T> c = to_local(motion.R, BeamVector<T>(motion.r_ddot + motion.u_ddot)), g;
  for (int i = 0; i < 6; ++i) {
    c[i] -= 2.0 * w * jv[i];
    g[i] = 2.0 * w * v[i];
  }
  BeamForce<T> out;
  if (terms == LinkTerms::kFirst) {
    out.nodal = to_global(motion.R, BeamVector<T>(times(m.M, c) + times(m.G, g)));
    out.link = T(0.0);
    return out;
  }
  const BeamVector<T> d = to_local(motion.R, motion.u);
  const BeamVector<T> jd = quarter_turn(d), jjd = quarter_turn(jd);
  for (int i = 0; i < 6; ++i) {
    c[i] += w * w * jjd[i] - w_dot * jd[i];
    g[i] += w_dot * d[i] - 2.0 * w * w * jd[i];  // 2ω ḋ, ḋ = T u̇ − ω Ĵ d
  }
  const BeamVector<T> md = times(m.M_translation, d), gd = times(m.G, d);
  BeamVector<T> f = times(m.M, c) + times(m.G, g);
  for (int i = 0; i < 6; ++i) f[i] -= w * w * md[i];  // centripetal
  out.nodal = to_global(motion.R, f);
  out.link = inner(g, md) + inner(c, gd) - inner(jd, f);  // M symmetric, G antisymmetric
  return out;
}

template <class P, class T>
BeamForce<T> elastic_force(const BeamMatrices<P>& m, const Rot2<T>& R, const BeamVector<T>& u,
                           LinkTerms terms, BeamStrain strain) noexcept {
  const BeamVector<T> d = to_local(R, u);
  BeamVector<T> f = times(m.K, d);
  if (strain == BeamStrain::kStiffening) {
    const BeamVector<T> kd = times(m.unit_tension, d);
    const T shortening = 0.5 * inner(d, kd);  // ½∫u_y′² dx
    const T tension = m.EA / m.L * (d[3] - d[0] + shortening);
    for (int i : kBending) f[i] += tension * kd[i];
    f[0] -= m.EA / m.L * shortening;
    f[3] += m.EA / m.L * shortening;
  }
  BeamForce<T> out;
  out.nodal = to_global(R, f);
  out.link = terms == LinkTerms::kComplete ? T(-inner(f, quarter_turn(d))) : T(0.0);
  return out;
}

template <class P>
BeamMatrix<P> erls_gyroscopic_matrix(const BeamMatrices<P>& m, const Rot2<P>& R,
                                     const P& omega) noexcept {
  BeamMatrix<P> a = m.G;
  // M Ĵ: columns of M exchanged in pairs.
  for (int n : {0, 3}) {
    a.col(n) -= m.M.col(n + 1);
    a.col(n + 1) += m.M.col(n);
  }
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i < 6; ++i) a(i, j) *= omega;
  return to_global(R, a);
}

template <class P, class T>
T kinetic_energy(const BeamMatrices<P>& m, const Rot2<T>& R, const T& omega,
                 const BeamVector<T>& r_dot, const BeamVector<T>& u,
                 const BeamVector<T>& u_dot) noexcept {
  // v = R (N c + ω J N d), c = T (ṙ + u̇) − ω Ĵ d.
  const BeamVector<T> d = to_local(R, u), jd = quarter_turn(d);
  BeamVector<T> c = to_local(R, BeamVector<T>(r_dot + u_dot)), wd;
  for (int i = 0; i < 6; ++i) {
    c[i] -= omega * jd[i];
    wd[i] = omega * d[i];
  }
  return 0.5 * inner(c, times(m.M, c)) + inner(c, times(m.G, wd)) +
         0.5 * inner(wd, times(m.M_translation, wd));
}

template <class P, class T>
T strain_energy(const BeamMatrices<P>& m, const Rot2<T>& R, const BeamVector<T>& u,
                BeamStrain strain) noexcept {
  const BeamVector<T> d = to_local(R, u);
  T energy = 0.5 * inner(d, times(m.K, d));
  if (strain == BeamStrain::kStiffening) {
    const T shortening = 0.5 * inner(d, times(m.unit_tension, d));
    energy += m.EA / m.L * shortening * (d[3] - d[0] + 0.5 * shortening);
  }
  return energy;
}

template <class P>
BeamVector<P> gravity_load(const BeamElement<P>& beam, const Vec2<P>& g) noexcept {
  const std::array<P, 4> h = hermite_integral(beam.L);
  BeamVector<P> f;
  f << 0.5 * beam.mu * beam.L * g.x, beam.mu * h[0] * g.y, beam.mu * h[1] * g.y,
      0.5 * beam.mu * beam.L * g.x, beam.mu * h[2] * g.y, beam.mu * h[3] * g.y;
  return f;
}

#define PANTO_BEAM_OF(P)                                                                       \
  template BeamElement<P> make_beam(const P&, const P&, const P&, const CrossSection<P>&,      \
                                    RotaryInertia);                                            \
  template BeamMatrix<P> mass_matrix(const BeamElement<P>&) noexcept;                          \
  template BeamMatrix<P> stiffness_matrix(const BeamElement<P>&) noexcept;                     \
  template BeamMatrix<P> gyroscopic_matrix(const BeamElement<P>&) noexcept;                    \
  template BeamMatrix<P> geometric_stiffness(const BeamElement<P>&, const P&, const P&,        \
                                             const P&) noexcept;                               \
  template Eigen::Matrix<P, 2, 6> displacement_rows(const BeamElement<P>&, const P&) noexcept; \
  template BeamRow<P> slope_row(const BeamElement<P>&, const P&) noexcept;                     \
  template BeamRow<P> curvature_row(const BeamElement<P>&, const P&) noexcept;                 \
  template BeamRow<P> strain_row(const BeamElement<P>&, const P&, const P&) noexcept;          \
  template BeamMatrices<P> beam_matrices(const BeamElement<P>&) noexcept;                      \
  template BeamMatrix<P> erls_gyroscopic_matrix(const BeamMatrices<P>&, const Rot2<P>&,        \
                                                const P&) noexcept;                            \
  template BeamVector<P> gravity_load(const BeamElement<P>&, const Vec2<P>&) noexcept;
#define PANTO_BEAM_ON(P, T)                                                                  \
  template BeamForce<T> inertia_force(const BeamMatrices<P>&, const BeamMotion<T>&,          \
                                      LinkTerms) noexcept;                                   \
  template BeamForce<T> elastic_force(const BeamMatrices<P>&, const Rot2<T>&,                \
                                      const BeamVector<T>&, LinkTerms, BeamStrain) noexcept; \
  template T kinetic_energy(const BeamMatrices<P>&, const Rot2<T>&, const T&,                \
                            const BeamVector<T>&, const BeamVector<T>&,                      \
                            const BeamVector<T>&) noexcept;                                  \
  template T strain_energy(const BeamMatrices<P>&, const Rot2<T>&, const BeamVector<T>&,     \
                           BeamStrain) noexcept;

// Complex numbers are the independent oracle of the tests.
using Complex = std::complex<double>;
PANTO_BEAM_OF(double)
PANTO_BEAM_OF(Dual)
PANTO_BEAM_OF(Complex)
PANTO_BEAM_ON(double, double)
PANTO_BEAM_ON(double, Dual)
PANTO_BEAM_ON(Dual, Dual)
PANTO_BEAM_ON(double, Complex)
PANTO_BEAM_ON(Complex, Complex)

}  // namespace panto
