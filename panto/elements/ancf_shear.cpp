#include "panto/elements/ancf_shear.hpp"

#include <cmath>
#include <complex>

#include "panto/elements/block.hpp"
#include "panto/elements/gauss.hpp"
#include "panto/elements/hermite.hpp"
#include "panto/numerics/dual.hpp"

namespace panto {

using element_detail::Block;
using element_detail::outer;
using element_detail::put;
using element_detail::transposed;

namespace {

// a = 6ξ(1 − ξ) chord + (1 − ξ)(1 − 3ξ) g1 + ξ(3ξ − 2) g2: three vectors instead of four, and rigid translations drop out exactly.
struct AxisPoint {
  double weight, chord, g1, g2, c1, c2;
};
constexpr std::array<AxisPoint, 5> axis_points() {
  std::array<AxisPoint, 5> out{};
  for (size_t i = 0; i < 5; ++i) {
    const double x = kGauss5[i].xi;
    out[i] = {kGauss5[i].weight, 6 * x * (1 - x), (1 - x) * (1 - 3 * x), x * (3 * x - 2), 1 - x, x};
  }
  return out;
}
// Degree 8 in ξ (square of |a|²): five points are exact.
constexpr std::array<AxisPoint, 5> kAxis = axis_points();

template <class T>
struct Shape {
  Vec2<T> chord, g1, g2, c1, c2, b;
  T Ey1, Ey2;  // thickness strains of the nodes
};
template <class P, class T>
Shape<T> shape_of(const AncfShearElement<P>& beam, const AncfShearVector<T>& e) {
  const P n = 1.0 / beam.L;
  Shape<T> s;
  s.chord = {n * (e[6] - e[0]), n * (e[7] - e[1])};
  s.g1 = {e[2], e[3]};
  s.g2 = {e[8], e[9]};
  s.c1 = {e[4], e[5]};
  s.c2 = {e[10], e[11]};
  s.b = {n * (e[10] - e[4]), n * (e[11] - e[5])};
  s.Ey1 = 0.5 * dot(s.c1, s.c1) - 0.5;
  s.Ey2 = 0.5 * dot(s.c2, s.c2) - 0.5;
  return s;
}

// Gradients, strains (ELM-12) and their stresses at a point of the axis.
template <class T>
struct AtPoint {
  Vec2<T> a, c;
  Vec2<T> y1, y2;  // weight × these: derivative of the thickness strain by ∂r/∂y of the nodes
  T E0, E1, E2, Ey, ac, bc;  // ε11 = E0 + y E1 + y² E2, ε22 = Ey, 2 ε12 = ac + y bc
  T s0, s1, s2, sy, t0, t1;  // derivatives of the energy per length by them
};
template <class P, class T>
AtPoint<T> at_point(const AncfShearElement<P>& k, const Shape<T>& s, const AxisPoint& p) {
  AtPoint<T> q;
  q.a = p.chord * s.chord + p.g1 * s.g1 + p.g2 * s.g2;
  q.c = p.c1 * s.c1 + p.c2 * s.c2;
  q.E0 = 0.5 * dot(q.a, q.a) - 0.5;
  q.E1 = dot(q.a, s.b);
  q.E2 = 0.5 * dot(s.b, s.b);
  if (k.nodal_thickness) {
    q.Ey = p.c1 * s.Ey1 + p.c2 * s.Ey2;
    q.y1 = s.c1;
    q.y2 = s.c2;
  } else {
    q.Ey = 0.5 * dot(q.c, q.c) - 0.5;
    q.y1 = q.y2 = q.c;
  }
  q.ac = dot(q.a, q.c);
  q.bc = dot(s.b, q.c);
  q.s0 = k.A11 * q.E0 + k.I11 * q.E2 + k.A12 * q.Ey;
  q.s1 = k.I11 * q.E1;
  q.s2 = k.I11 * q.E0 + k.J11 * q.E2 + k.I12 * q.Ey;
  q.sy = k.A12 * q.E0 + k.I12 * q.E2 + k.A22 * q.Ey;
  q.t0 = k.A33 * q.ac;
  q.t1 = k.I33 * q.bc;
  return q;
}

// Angle of a vector Σ weights e and its gradient.
template <class P, class T>
AncfShearAngle<T> angle_of(const std::array<P, 6>& weights, const AncfShearVector<T>& e,
                           bool quarter) {
  using std::atan2;
  const Vec2<T> v = weighted(weights, e);
  const T n = 1.0 / dot(v, v);
  AncfShearAngle<T> out;
  out.value = quarter ? T(atan2(T(-v.x), v.y)) : T(atan2(v.y, v.x));
  for (int i = 0; i < 6; ++i) {
    out.gradient[2 * i] = -(weights[static_cast<size_t>(i)] * (n * v.y));
    out.gradient[2 * i + 1] = weights[static_cast<size_t>(i)] * (n * v.x);
  }
  return out;
}

}  // namespace

template <class P>
AncfShearElement<P> make_ancf_shear(const P& length, const AncfMaterial<P>& material,
                                    const CrossSection<P>& section, AncfLaw law) {
  using element_detail::positive;
  const P E = material.youngs_modulus, nu = material.poissons_ratio;
  PANTO_EXPECT(positive(length), "an ANCF element needs a positive length");
  PANTO_EXPECT(positive(E) && positive(material.density),
               "an ANCF element needs positive Young's modulus and density");
  PANTO_EXPECT(positive(P(1.0 + nu)) && !positive(P(-nu)) && positive(P(0.5 - nu)),
               "an ANCF element needs a Poisson's ratio from 0 to below 1/2");
  PANTO_EXPECT(positive(material.shear_factor), "an ANCF element needs a positive shear factor");
  PANTO_EXPECT(
      positive(section.area) && positive(section.second_moment) && positive(section.fourth_moment),
      "an ANCF element needs a section with positive moments");
  const P G = E / (2.0 * (1.0 + nu));
  P normal = E / (1.0 - nu * nu), coupling = nu * normal, shear = G;
  P normal_off = normal, coupling_off = coupling;
  switch (law) {
    case AncfLaw::kSplit:
      normal_off = E;
      coupling_off = P(0.0);
      shear = material.shear_factor * G;
      break;
    case AncfLaw::kPlaneStress:
      break;
    case AncfLaw::kPlaneStrain:
      coupling = coupling_off = E * nu / ((1.0 - 2.0 * nu) * (1.0 + nu));
      normal = normal_off = coupling + 2.0 * G;
      break;
  }
  const P& A = section.area;
  const P& I = section.second_moment;
  return {length,
          material.density * A,
          material.density * I,
          normal * A,
          coupling * A,
          normal * A,
          shear * A,
          normal_off * I,
          coupling_off * I,
          shear * I,
          normal_off * section.fourth_moment,
          law == AncfLaw::kSplit};
}

template <class T>
AncfShearVector<T> straight_ancf_shear(const Vec2<T>& start, const Vec2<T>& direction,
                                       const T& length) noexcept {
  AncfShearVector<T> e;
  e << start.x, start.y, direction.x, direction.y, -direction.y, direction.x,
      start.x + length * direction.x, start.y + length * direction.y, direction.x, direction.y,
      -direction.y, direction.x;
  return e;
}

template <class P>
AncfShearMatrix<P> mass_matrix(const AncfShearElement<P>& beam) noexcept {
  constexpr std::array<int, 4> kCubic{0, 1, 3, 4};
  constexpr std::array<int, 2> kLinear{2, 5};
  AncfShearMatrix<P> m = AncfShearMatrix<P>::Constant(P(0.0));
  const Eigen::Matrix<P, 4, 4> h = hermite_mass(beam.L);
  const P s = beam.rhoI * beam.L / 6.0;
  for (int d : {0, 1}) {
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) m(2 * kCubic[i] + d, 2 * kCubic[j] + d) = beam.rhoA * h(i, j);
    for (int i : kLinear)
      for (int j : kLinear) m(2 * i + d, 2 * j + d) = (i == j ? 2.0 : 1.0) * s;
  }
  return m;
}

template <class P>
AncfShearVector<P> gravity_load(const AncfShearElement<P>& beam, const Vec2<P>& g) noexcept {
  const std::array<P, 4> h = hermite_integral(beam.L);
  const P o(0.0);
  AncfShearVector<P> f;
  f << h[0] * g.x, h[0] * g.y, h[1] * g.x, h[1] * g.y, o, o, h[2] * g.x, h[2] * g.y, h[3] * g.x,
      h[3] * g.y, o, o;
  for (int i = 0; i < 12; ++i) f[i] *= beam.rhoA;
  return f;
}

template <class P, class T>
T strain_energy(const AncfShearElement<P>& beam, const AncfShearVector<T>& e) noexcept {
  const Shape<T> s = shape_of(beam, e);
  T u(0.0);
  for (const AxisPoint& p : kAxis) {
    const AtPoint<T> q = at_point(beam, s, p);
    // The energy is quadratic in the strains: half of stress times strain.
    u += 0.5 * p.weight *
         (q.s0 * q.E0 + q.s1 * q.E1 + q.s2 * q.E2 + q.sy * q.Ey + q.t0 * q.ac + q.t1 * q.bc);
  }
  return beam.L * u;
}

template <class P, class T>
AncfShearVector<T> elastic_force(const AncfShearElement<P>& beam,
                                 const AncfShearVector<T>& e) noexcept {
  const Shape<T> s = shape_of(beam, e);
  Vec2<T> chord, g1, g2, c1, c2, b;
  for (const AxisPoint& p : kAxis) {
    const AtPoint<T> q = at_point(beam, s, p);
    const Vec2<T> na = p.weight * (q.s0 * q.a + q.s1 * s.b + q.t0 * q.c);
    const Vec2<T> nb = p.weight * (q.s1 * q.a + q.s2 * s.b + q.t1 * q.c);
    const Vec2<T> nc = q.t0 * q.a + q.t1 * s.b;
    chord += p.chord * na;
    g1 += p.g1 * na;
    g2 += p.g2 * na;
    c1 += p.weight * p.c1 * (nc + q.sy * q.y1);
    c2 += p.weight * p.c2 * (nc + q.sy * q.y2);
    b += nb;
  }
  // The length of integration cancels the 1/L of chord and b.
  const P& L = beam.L;
  AncfShearVector<T> f;
  f << -chord.x, -chord.y, L * g1.x, L * g1.y, L * c1.x - b.x, L * c1.y - b.y, chord.x, chord.y,
      L * g2.x, L * g2.y, L * c2.x + b.x, L * c2.y + b.y;
  return f;
}

AncfShearMatrix<double> elastic_tangent(const AncfShearElement<double>& beam,
                                        const AncfShearVector<double>& e) noexcept {
  const Shape<double> s = shape_of(beam, e);
  const Vec2<double>& b = s.b;
  const Block one(1, 0, 0, 1), zero = Block::Zero(), b_b = outer(b, b);
  // Sums over the points: products of chord, g1, g2 (00 01 02 11 12 22), of each with b, with c1 and c2, and of b, c1, c2 among themselves.
  std::array<Block, 6> aa{zero, zero, zero, zero, zero, zero};
  std::array<Block, 3> ab{zero, zero, zero}, ac1{zero, zero, zero}, ac2{zero, zero, zero};
  Block bb = zero, bc1 = zero, bc2 = zero, c11 = zero, c12 = zero, c22 = zero;
  for (const AxisPoint& p : kAxis) {
    const AtPoint<double> q = at_point(beam, s, p);
    const Block a_a = outer(q.a, q.a), c_c = outer(q.c, q.c), a_b = outer(q.a, b),
                c_a = outer(q.c, q.a);
    const Block haa = q.s0 * one + beam.A11 * a_a + beam.I11 * b_b + beam.A33 * c_c;
    const Block hab = q.s1 * one + beam.I11 * (a_b + transposed(a_b));
    const Block hac = q.t0 * one + beam.A33 * c_a;
    const Block hbc = q.t1 * one + beam.I33 * outer(q.c, b);
    const Block hcc = beam.A33 * a_a + beam.I33 * b_b;
    const double w = p.weight, w1 = w * p.c1, w2 = w * p.c2;
    aa[0] += (w * p.chord * p.chord) * haa;
    aa[1] += (w * p.chord * p.g1) * haa;
    aa[2] += (w * p.chord * p.g2) * haa;
    aa[3] += (w * p.g1 * p.g1) * haa;
    aa[4] += (w * p.g1 * p.g2) * haa;
    aa[5] += (w * p.g2 * p.g2) * haa;
    const Block hac1 = p.c1 * (hac + beam.A12 * outer(q.a, q.y1)),
                hac2 = p.c2 * (hac + beam.A12 * outer(q.a, q.y2));
    const std::array<double, 3> wa{w * p.chord, w * p.g1, w * p.g2};
    for (size_t i = 0; i < 3; ++i) {
      ab[i] += wa[i] * hab;
      ac1[i] += wa[i] * hac1;
      ac2[i] += wa[i] * hac2;
    }
    bb += w * (q.s2 * one + beam.I11 * a_a + beam.J11 * b_b + beam.I33 * c_c);
    bc1 += w1 * (hbc + beam.I12 * outer(b, q.y1));
    bc2 += w2 * (hbc + beam.I12 * outer(b, q.y2));
    c11 += (w1 * p.c1) * (hcc + beam.A22 * outer(q.y1, q.y1));
    c12 += (w1 * p.c2) * (hcc + beam.A22 * outer(q.y1, q.y2));
    c22 += (w2 * p.c2) * (hcc + beam.A22 * outer(q.y2, q.y2));
    // Second derivative of the thickness strain: of each node by itself, or of the vector between them.
    if (beam.nodal_thickness) {
      c11 += (w1 * q.sy) * one;
      c22 += (w2 * q.sy) * one;
    } else {
      c11 += (w1 * p.c1 * q.sy) * one;
      c12 += (w1 * p.c2 * q.sy) * one;
      c22 += (w2 * p.c2 * q.sy) * one;
    }
  }
  // From chord = (r₂ − r₁)/L and b = (c₂ − c₁)/L to nodal vectors, times the length of integration.
  const double L = beam.L, n = 1.0 / L;
  // Nodal vectors: 0 r, 1 ∂r/∂x, 2 ∂r/∂y of the first node, 3, 4, 5 of the second.
  AncfShearMatrix<double> k;
  put(k, 0, 0, n * aa[0]);
  put(k, 0, 3, -n * aa[0]);
  put(k, 3, 3, n * aa[0]);
  put(k, 0, 1, -aa[1]);
  put(k, 3, 1, aa[1]);
  put(k, 0, 4, -aa[2]);
  put(k, 3, 4, aa[2]);
  put(k, 1, 1, L * aa[3]);
  put(k, 1, 4, L * aa[4]);
  put(k, 4, 4, L * aa[5]);
  put(k, 0, 2, n * ab[0] - ac1[0]);
  put(k, 3, 2, ac1[0] - n * ab[0]);
  put(k, 0, 5, -n * ab[0] - ac2[0]);
  put(k, 3, 5, ac2[0] + n * ab[0]);
  put(k, 1, 2, L * ac1[1] - ab[1]);
  put(k, 1, 5, L * ac2[1] + ab[1]);
  put(k, 4, 2, L * ac1[2] - ab[2]);
  put(k, 4, 5, L * ac2[2] + ab[2]);
  put(k, 2, 2, L * c11 + n * bb - bc1 - transposed(bc1));
  put(k, 2, 5, L * c12 - n * bb - bc2 + transposed(bc1));
  put(k, 5, 5, L * c22 + n * bb + bc2 + transposed(bc2));
  return k;
}

template <class P>
std::array<P, 6> position_weights(const AncfShearElement<P>& beam, const P& xi,
                                  const P& y) noexcept {
  const std::array<P, 4> h = hermite(beam.L, xi);
  return {h[0], h[1], y * (1.0 - xi), h[2], h[3], y * xi};
}
template <class P>
std::array<P, 6> axis_weights(const AncfShearElement<P>& beam, const P& xi, const P& y) noexcept {
  const std::array<P, 4> h = hermite_slope(beam.L, xi);
  return {h[0], h[1], -y / beam.L, h[2], h[3], y / beam.L};
}
template <class P>
std::array<P, 6> section_weights(const AncfShearElement<P>&, const P& xi) noexcept {
  const P o(0.0);
  return {o, o, 1.0 - xi, o, o, xi};
}

template <class P, class T>
AncfShearAngle<T> section_angle(const AncfShearElement<P>& beam, const AncfShearVector<T>& e,
                                const P& xi) noexcept {
  return angle_of(section_weights(beam, xi), e, true);
}
template <class P, class T>
AncfShearAngle<T> axis_angle(const AncfShearElement<P>& beam, const AncfShearVector<T>& e,
                             const P& xi) noexcept {
  return angle_of(axis_weights(beam, xi, P(0.0)), e, false);
}

#define PANTO_SHEAR_OF(P)                                                                          \
  template AncfShearElement<P> make_ancf_shear(const P&, const AncfMaterial<P>&,                   \
                                               const CrossSection<P>&, AncfLaw);                   \
  template AncfShearVector<P> straight_ancf_shear(const Vec2<P>&, const Vec2<P>&,                  \
                                                  const P&) noexcept;                              \
  template AncfShearMatrix<P> mass_matrix(const AncfShearElement<P>&) noexcept;                    \
  template AncfShearVector<P> gravity_load(const AncfShearElement<P>&, const Vec2<P>&) noexcept;   \
  template std::array<P, 6> position_weights(const AncfShearElement<P>&, const P&,                 \
                                             const P&) noexcept;                                   \
  template std::array<P, 6> axis_weights(const AncfShearElement<P>&, const P&, const P&) noexcept; \
  template std::array<P, 6> section_weights(const AncfShearElement<P>&, const P&) noexcept;
#define PANTO_SHEAR_ON(P, T)                                                                \
  template T strain_energy(const AncfShearElement<P>&, const AncfShearVector<T>&) noexcept; \
  template AncfShearVector<T> elastic_force(const AncfShearElement<P>&,                     \
                                            const AncfShearVector<T>&) noexcept;
#define PANTO_SHEAR_ANGLE(P, T)                                                                   \
  template AncfShearAngle<T> section_angle(const AncfShearElement<P>&, const AncfShearVector<T>&, \
                                           const P&) noexcept;                                    \
  template AncfShearAngle<T> axis_angle(const AncfShearElement<P>&, const AncfShearVector<T>&,    \
                                        const P&) noexcept;

// Complex numbers are the independent oracle of the tests.
using Complex = std::complex<double>;
PANTO_SHEAR_OF(double)
PANTO_SHEAR_OF(Dual)
PANTO_SHEAR_OF(Complex)
PANTO_SHEAR_ON(double, double)
PANTO_SHEAR_ON(double, Dual)
PANTO_SHEAR_ON(Dual, Dual)
PANTO_SHEAR_ON(double, Complex)
PANTO_SHEAR_ON(Complex, Complex)
PANTO_SHEAR_ANGLE(double, double)
PANTO_SHEAR_ANGLE(double, Dual)
PANTO_SHEAR_ANGLE(Dual, Dual)

}  // namespace panto
