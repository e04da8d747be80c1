// A function of time truncated after its second derivative, over any base scalar: exact rates and
// accelerations of expressions, also with dual numbers inside (derivatives by parameters).
#pragma once

#include <cmath>
#include <complex>

#include "panto/base/expression.hpp"

namespace panto {

namespace taylor_detail {
using std::acos;
using std::asin;
using std::atan;
using std::atan2;
using std::cos;
using std::cosh;
using std::exp;
using std::log;
using std::pow;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;

// Zero with all its infinitesimal parts.
inline bool is_zero(double x) { return x == 0; }
inline bool is_zero(const std::complex<double>& x) { return x == 0.0; }
template <class B>
requires requires(const B& x) { x.v; }
bool is_zero(const B& x) { return x.a == 0.0 && x.v.isZero(0.0); }

// A function of time truncated after its second derivative: value a, rate d, acceleration dd.
template <class B>
struct Taylor2 {
  B a{0.0}, d{0.0}, dd{0.0};
  Taylor2() = default;
  Taylor2(double value) : a(value) {}  // NOLINT: a constant
  Taylor2(const B& value, const B& rate, const B& acceleration)
      : a(value), d(rate), dd(acceleration) {}
  // A constant in time (its value may still depend on parameters).
  static Taylor2 constant(const B& value) { return {value, B(0.0), B(0.0)}; }
  [[nodiscard]] bool is_constant() const { return is_zero(d) && is_zero(dd); }
};

template <class B>
Taylor2<B> operator-(const Taylor2<B>& x) {
  return {-x.a, -x.d, -x.dd};
}
template <class B>
Taylor2<B> operator+(const Taylor2<B>& x, const Taylor2<B>& y) {
  return {x.a + y.a, x.d + y.d, x.dd + y.dd};
}
template <class B>
Taylor2<B> operator-(const Taylor2<B>& x, const Taylor2<B>& y) {
  return {x.a - y.a, x.d - y.d, x.dd - y.dd};
}
template <class B>
Taylor2<B> operator*(const Taylor2<B>& x, const Taylor2<B>& y) {
  return {x.a * y.a, x.d * y.a + x.a * y.d, x.dd * y.a + 2.0 * x.d * y.d + x.a * y.dd};
}
template <class B>
Taylor2<B> operator/(const Taylor2<B>& x, const Taylor2<B>& y) {
  const B q = x.a / y.a;
  const B qd = (x.d - q * y.d) / y.a;
  return {q, qd, (x.dd - 2.0 * qd * y.d - q * y.dd) / y.a};
}

// f(x) from f, f', f'' at x.a. A constant argument has derivatives 0.0 even where f' is infinite, as
// in sqrt(0.0).
template <class B>
Taylor2<B> chain(const Taylor2<B>& x, const B& f, const B& f1, const B& f2) {
  if (x.is_constant()) return Taylor2<B>::constant(f);
  return {f, f1 * x.d, f2 * x.d * x.d + f1 * x.dd};
}

template <class B>
Taylor2<B> sin(const Taylor2<B>& x) {
  return chain(x, sin(x.a), cos(x.a), -sin(x.a));
}
template <class B>
Taylor2<B> cos(const Taylor2<B>& x) {
  return chain(x, cos(x.a), -sin(x.a), -cos(x.a));
}
template <class B>
Taylor2<B> tan(const Taylor2<B>& x) {
  const B t = tan(x.a), s = 1.0 + t * t;
  return chain(x, t, s, 2.0 * t * s);
}
template <class B>
Taylor2<B> asin(const Taylor2<B>& x) {
  const B r = 1.0 - x.a * x.a, s = 1.0 / sqrt(r);
  return chain(x, asin(x.a), s, x.a * s / r);
}
template <class B>
Taylor2<B> acos(const Taylor2<B>& x) {
  const B r = 1.0 - x.a * x.a, s = 1.0 / sqrt(r);
  return chain(x, acos(x.a), -s, -x.a * s / r);
}
template <class B>
Taylor2<B> atan(const Taylor2<B>& x) {
  const B s = 1.0 / (1.0 + x.a * x.a);
  return chain(x, atan(x.a), s, -2.0 * x.a * s * s);
}
template <class B>
Taylor2<B> atan2(const Taylor2<B>& y, const Taylor2<B>& x) {
  const B angle = expression_detail::arc_tangent(y.a, x.a);
  if (y.is_constant() && x.is_constant()) return Taylor2<B>::constant(angle);
  const B r2 = x.a * x.a + y.a * y.a;
  const B rate = (x.a * y.d - y.a * x.d) / r2;
  return {angle, rate, (x.a * y.dd - y.a * x.dd - 2.0 * rate * (x.a * x.d + y.a * y.d)) / r2};
}
template <class B>
Taylor2<B> sqrt(const Taylor2<B>& x) {
  const B r = sqrt(x.a);
  return chain(x, r, 0.5 / r, -0.25 / (r * x.a));
}
template <class B>
Taylor2<B> exp(const Taylor2<B>& x) {
  const B e = exp(x.a);
  return chain(x, e, e, e);
}
template <class B>
Taylor2<B> log(const Taylor2<B>& x) {
  return chain(x, log(x.a), 1.0 / x.a, -1.0 / (x.a * x.a));
}
template <class B>
Taylor2<B> tanh(const Taylor2<B>& x) {
  const B t = tanh(x.a), s = 1.0 - t * t;
  return chain(x, t, s, -2.0 * t * s);
}
template <class B>
Taylor2<B> sinh(const Taylor2<B>& x) {
  return chain(x, sinh(x.a), cosh(x.a), sinh(x.a));
}
template <class B>
Taylor2<B> cosh(const Taylor2<B>& x) {
  return chain(x, cosh(x.a), sinh(x.a), cosh(x.a));
}
template <class B>
Taylor2<B> pow(const Taylor2<B>& x, const Taylor2<B>& p) {
  const B f = pow(x.a, p.a);
  if (p.is_constant()) {
    // A vanishing factor p or p - 1.0 wins over an infinite power at x = 0.
    const B f1 = p.a == B(0.0) ? B(0.0) : p.a * pow(x.a, p.a - 1.0);
    const B c2 = p.a * (p.a - 1.0);
    return chain(x, f, f1, c2 == B(0.0) ? B(0.0) : c2 * pow(x.a, p.a - 2.0));
  }
  if (x.a == B(0.0) && x.is_constant() && expression_detail::real_part(p.a) > 0)
    return Taylor2<B>::constant(f);  // 0^p is 0 around here
  const Taylor2<B> g = p * log(x);   // x^p = e^g
  return {f, f * g.d, f * (g.d * g.d + g.dd)};
}

}  // namespace taylor_detail

using taylor_detail::Taylor2;

}  // namespace panto
