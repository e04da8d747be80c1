#include "panto/elements/ancf_cable.hpp"

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

// r′ = 6ξ(1 − ξ) chord + (1 − ξ)(1 − 3ξ) g1 + ξ(3ξ − 2) g2 and L r″ = (6 − 12ξ) chord + (6ξ − 4) g1 + (6ξ − 2) g2, with chord = (r₂ − r₁)/L.
struct CablePoint {
  double weight;
  std::array<double, 3> first, second;
};
template <size_t n>
constexpr std::array<CablePoint, n> cable_points(const std::array<GaussPoint, n>& gauss) {
  std::array<CablePoint, n> out{};
  for (size_t i = 0; i < n; ++i) {
    const double x = gauss[i].xi;
    out[i] = {gauss[i].weight,
              {6 * x * (1 - x), (1 - x) * (1 - 3 * x), x * (3 * x - 2)},
              {6 - 12 * x, 6 * x - 4, 6 * x - 2}};
  }
  return out;
}
constexpr auto kAxialPoints = cable_points(kGauss5);
constexpr auto kBendingPoints = cable_points(kGauss3);

template <class T>
using Shape = std::array<Vec2<T>, 3>;  // chord, g1, g2
template <class P, class T>
Shape<T> shape_of(const AncfCableElement<P>& cable, const AncfCableVector<T>& e) {
  const P n = 1.0 / cable.L;
  return {Vec2<T>{n * (e[4] - e[0]), n * (e[5] - e[1])}, Vec2<T>{e[2], e[3]}, Vec2<T>{e[6], e[7]}};
}
template <class T>
Vec2<T> combined(const std::array<double, 3>& w, const Shape<T>& s) {
  return w[0] * s[0] + w[1] * s[1] + w[2] * s[2];
}
template <class T>
T cross_product(const Vec2<T>& a, const Vec2<T>& d) {
  return a.x * d.y - a.y * d.x;
}

// κ = w s^(−p), w = a × d, s = |a|²; p = 1 or 3/2. Returns s^(−p).
template <class T>
T inverse_power(CableCurvature kind, const T& s) {
  using std::sqrt;
  return kind == CableCurvature::kPerUnstretchedLength ? T(1.0 / s) : T(1.0 / (s * sqrt(s)));
}
double exponent(CableCurvature kind) {
  return kind == CableCurvature::kPerUnstretchedLength ? 1.0 : 1.5;
}

}  // namespace

template <class P>
AncfCableElement<P> make_ancf_cable(const P& length, const P& axial_stiffness,
                                    const P& bending_stiffness, const P& mass_per_length,
                                    CableCurvature curvature) {
  using element_detail::positive;
  PANTO_EXPECT(positive(length), "a cable element needs a positive length");
  PANTO_EXPECT(positive(axial_stiffness) && positive(mass_per_length),
               "a cable element needs positive axial stiffness and mass per length");
  PANTO_EXPECT(positive(P(bending_stiffness + axial_stiffness)) && !positive(P(-bending_stiffness)),
               "a cable element needs a bending stiffness of zero or more");
  return {length, axial_stiffness, bending_stiffness, mass_per_length, curvature};
}

template <class T>
AncfCableVector<T> straight_ancf_cable(const Vec2<T>& start, const Vec2<T>& direction,
                                       const T& length) noexcept {
  AncfCableVector<T> e;
  e << start.x, start.y, direction.x, direction.y, start.x + length * direction.x,
      start.y + length * direction.y, direction.x, direction.y;
  return e;
}

template <class P>
AncfCableMatrix<P> mass_matrix(const AncfCableElement<P>& cable) noexcept {
  AncfCableMatrix<P> m = AncfCableMatrix<P>::Constant(P(0.0));
  const Eigen::Matrix<P, 4, 4> h = hermite_mass(cable.L);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) m(2 * i, 2 * j) = m(2 * i + 1, 2 * j + 1) = cable.rhoA * h(i, j);
  return m;
}

template <class P>
AncfCableVector<P> gravity_load(const AncfCableElement<P>& cable, const Vec2<P>& g) noexcept {
  const std::array<P, 4> h = hermite_integral(cable.L);
  AncfCableVector<P> f;
  for (int i = 0; i < 4; ++i) {
    f[2 * i] = cable.rhoA * h[static_cast<size_t>(i)] * g.x;
    f[2 * i + 1] = cable.rhoA * h[static_cast<size_t>(i)] * g.y;
  }
  return f;
}

template <class P, class T>
T strain_energy(const AncfCableElement<P>& cable, const AncfCableVector<T>& e) noexcept {
  using std::sqrt;
  const Shape<T> s = shape_of(cable, e);
  T axial(0.0), bending(0.0);
  for (const CablePoint& p : kAxialPoints) {
    const Vec2<T> a = combined(p.first, s);
    const T strain = sqrt(dot(a, a)) - 1.0;
    axial += p.weight * strain * strain;
  }
  for (const CablePoint& p : kBendingPoints) {
    const Vec2<T> a = combined(p.first, s), d = combined(p.second, s);
    const T k = cross_product(a, d) * inverse_power(cable.curvature, dot(a, a));
    bending += p.weight * k * k;
  }
  // d is L r″, so κ is k/L.
  return 0.5 * (cable.EA * cable.L * axial + cable.EI / cable.L * bending);
}

template <class P, class T>
AncfCableVector<T> elastic_force(const AncfCableElement<P>& cable,
                                 const AncfCableVector<T>& e) noexcept {
  using std::sqrt;
  const Shape<T> s = shape_of(cable, e);
  const P axial = cable.EA * cable.L, bending = cable.EI / cable.L;
  const double power = exponent(cable.curvature);
  Shape<T> f{};
  for (const CablePoint& p : kAxialPoints) {
    const Vec2<T> a = combined(p.first, s);
    const Vec2<T> n = T(p.weight * axial * (1.0 - 1.0 / sqrt(dot(a, a)))) * a;
    for (size_t i = 0; i < 3; ++i) f[i] += p.first[i] * n;
  }
  for (const CablePoint& p : kBendingPoints) {
    const Vec2<T> a = combined(p.first, s), d = combined(p.second, s);
    const T length2 = dot(a, a), w = cross_product(a, d);
    const T scale = inverse_power(cable.curvature, length2);
    const T moment = p.weight * bending * w * scale * scale;  // weight EI κ ∂κ/∂w
    const T shrink = 2.0 * power * w / length2;
    const Vec2<T> na = moment * Vec2<T>{d.y - shrink * a.x, -(d.x + shrink * a.y)};
    const Vec2<T> nd = moment * Vec2<T>{-a.y, a.x};
    for (size_t i = 0; i < 3; ++i) f[i] += p.first[i] * na + p.second[i] * nd;
  }
  const P n = 1.0 / cable.L;
  AncfCableVector<T> out;
  out << -n * f[0].x, -n * f[0].y, f[1].x, f[1].y, n * f[0].x, n * f[0].y, f[2].x, f[2].y;
  return out;
}

AncfCableMatrix<double> elastic_tangent(const AncfCableElement<double>& cable,
                                        const AncfCableVector<double>& e) noexcept {
  const Shape<double> s = shape_of(cable, e);
  const double axial = cable.EA * cable.L, bending = cable.EI / cable.L;
  const double power = exponent(cable.curvature);
  const Block one(1, 0, 0, 1), quarter(0, 1, -1, 0), zero = Block::Zero();
  // Products of chord, g1, g2: 00 01 02 11 12 22.
  std::array<Block, 6> h{zero, zero, zero, zero, zero, zero};
  for (const CablePoint& p : kAxialPoints) {
    const Vec2<double> a = combined(p.first, s);
    const double inverse = 1.0 / std::sqrt(dot(a, a)), w = p.weight * axial;
    const Block haa = (w * (1.0 - inverse)) * one + (w * inverse * inverse * inverse) * outer(a, a);
    for (size_t i = 0, pair = 0; i < 3; ++i)
      for (size_t j = i; j < 3; ++j, ++pair) h[pair] += (p.first[i] * p.first[j]) * haa;
  }
  for (const CablePoint& p : kBendingPoints) {
    const Vec2<double> a = combined(p.first, s), d = combined(p.second, s);
    const double length2 = dot(a, a), w = cross_product(a, d), over = 1.0 / length2;
    const double scale = inverse_power(cable.curvature, length2), shrink = 2.0 * power * over;
    // κ = w s^(−p): weight EI (∇κ ∇κᵀ + κ ∇²κ), with ∇w = (wa, wd) and ∂²w/∂a∂d = (0 1; −1 0).
    const Vec2<double> wa{d.y, -d.x}, wd{-a.y, a.x};
    const Vec2<double> ka = scale * (wa - (shrink * w) * a), kd = scale * wd;
    const double weight = p.weight * bending, c = weight * w * scale * scale, cs = c * shrink;
    const Block a_wa = outer(a, wa);
    const Block haa = weight * outer(ka, ka) - cs * (a_wa + transposed(a_wa)) - (cs * w) * one +
                      (2.0 * cs * w * (power + 1.0) * over) * outer(a, a);
    const Block had = weight * outer(ka, kd) - cs * outer(a, wd) + c * quarter;
    const Block hda = transposed(had), hdd = weight * outer(kd, kd);
    for (size_t i = 0, pair = 0; i < 3; ++i)
      for (size_t j = i; j < 3; ++j, ++pair)
        h[pair] += (p.first[i] * p.first[j]) * haa + (p.first[i] * p.second[j]) * had +
                   (p.second[i] * p.first[j]) * hda + (p.second[i] * p.second[j]) * hdd;
  }
  // From chord = (r₂ − r₁)/L to the nodal vectors r₁, g₁, r₂, g₂.
  const double n = 1.0 / cable.L;
  AncfCableMatrix<double> k;
  put(k, 0, 0, (n * n) * h[0]);
  put(k, 0, 2, -(n * n) * h[0]);
  put(k, 2, 2, (n * n) * h[0]);
  put(k, 0, 1, -n * h[1]);
  put(k, 2, 1, n * h[1]);
  put(k, 0, 3, -n * h[2]);
  put(k, 2, 3, n * h[2]);
  put(k, 1, 1, h[3]);
  put(k, 1, 3, h[4]);
  put(k, 3, 3, h[5]);
  return k;
}

template <class P>
std::array<P, 4> position_weights(const AncfCableElement<P>& cable, const P& xi) noexcept {
  return hermite(cable.L, xi);
}
template <class P>
std::array<P, 4> axis_weights(const AncfCableElement<P>& cable, const P& xi) noexcept {
  return hermite_slope(cable.L, xi);
}
template <class P>
std::array<P, 4> bending_weights(const AncfCableElement<P>& cable, const P& xi) noexcept {
  return hermite_curvature(cable.L, xi);
}

template <class P, class T>
AncfCableAngle<T> axis_angle(const AncfCableElement<P>& cable, const AncfCableVector<T>& e,
                             const P& xi) noexcept {
  using std::atan2;
  const std::array<P, 4> weights = axis_weights(cable, xi);
  const Vec2<T> v = weighted(weights, e);
  const T n = 1.0 / dot(v, v);
  AncfCableAngle<T> out;
  out.value = atan2(v.y, v.x);
  for (int i = 0; i < 4; ++i) {
    out.gradient[2 * i] = -(weights[static_cast<size_t>(i)] * (n * v.y));
    out.gradient[2 * i + 1] = weights[static_cast<size_t>(i)] * (n * v.x);
  }
  return out;
}

template <class P, class T>
T axial_strain(const AncfCableElement<P>& cable, const AncfCableVector<T>& e,
               const P& xi) noexcept {
  using std::sqrt;
  const Vec2<T> a = weighted(axis_weights(cable, xi), e);
  return sqrt(dot(a, a)) - 1.0;
}
template <class P, class T>
T curvature(const AncfCableElement<P>& cable, const AncfCableVector<T>& e, const P& xi) noexcept {
  const Vec2<T> a = weighted(axis_weights(cable, xi), e),
                d = weighted(bending_weights(cable, xi), e);
  return cross_product(a, d) * inverse_power(cable.curvature, dot(a, a));
}

#define PANTO_CABLE_OF(P)                                                                        \
  template AncfCableElement<P> make_ancf_cable(const P&, const P&, const P&, const P&,           \
                                               CableCurvature);                                  \
  template AncfCableVector<P> straight_ancf_cable(const Vec2<P>&, const Vec2<P>&,                \
                                                  const P&) noexcept;                            \
  template AncfCableMatrix<P> mass_matrix(const AncfCableElement<P>&) noexcept;                  \
  template AncfCableVector<P> gravity_load(const AncfCableElement<P>&, const Vec2<P>&) noexcept; \
  template std::array<P, 4> position_weights(const AncfCableElement<P>&, const P&) noexcept;     \
  template std::array<P, 4> axis_weights(const AncfCableElement<P>&, const P&) noexcept;         \
  template std::array<P, 4> bending_weights(const AncfCableElement<P>&, const P&) noexcept;
#define PANTO_CABLE_ON(P, T)                                                                \
  template T strain_energy(const AncfCableElement<P>&, const AncfCableVector<T>&) noexcept; \
  template AncfCableVector<T> elastic_force(const AncfCableElement<P>&,                     \
                                            const AncfCableVector<T>&) noexcept;            \
  template T axial_strain(const AncfCableElement<P>&, const AncfCableVector<T>&,            \
                          const P&) noexcept;                                               \
  template T curvature(const AncfCableElement<P>&, const AncfCableVector<T>&, const P&) noexcept;
#define PANTO_CABLE_ANGLE(P, T)                                                                \
  template AncfCableAngle<T> axis_angle(const AncfCableElement<P>&, const AncfCableVector<T>&, \
                                        const P&) noexcept;

// Complex numbers are the independent oracle of the tests.
using Complex = std::complex<double>;
PANTO_CABLE_OF(double)
PANTO_CABLE_OF(Dual)
PANTO_CABLE_OF(Complex)
PANTO_CABLE_ON(double, double)
PANTO_CABLE_ON(double, Dual)
PANTO_CABLE_ON(Dual, Dual)
PANTO_CABLE_ON(double, Complex)
PANTO_CABLE_ON(Complex, Complex)
PANTO_CABLE_ANGLE(double, double)
PANTO_CABLE_ANGLE(double, Dual)
PANTO_CABLE_ANGLE(Dual, Dual)

}  // namespace panto
