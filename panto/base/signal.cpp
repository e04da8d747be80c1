#include "panto/base/signal.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "panto/base/contract.hpp"

namespace panto {
namespace {

// A function of time truncated after its second derivative: value a, rate d, acceleration dd.
struct Jet2 {
  double a = 0, d = 0, dd = 0;
  Jet2() = default;
  Jet2(double value) : a(value) {}  // NOLINT: a constant
  Jet2(double value, double rate, double acceleration) : a(value), d(rate), dd(acceleration) {}
  [[nodiscard]] bool is_constant() const { return d == 0 && dd == 0; }
};

Jet2 operator-(const Jet2& x) { return {-x.a, -x.d, -x.dd}; }
Jet2 operator+(const Jet2& x, const Jet2& y) { return {x.a + y.a, x.d + y.d, x.dd + y.dd}; }
Jet2 operator-(const Jet2& x, const Jet2& y) { return {x.a - y.a, x.d - y.d, x.dd - y.dd}; }
Jet2 operator*(const Jet2& x, const Jet2& y) {
  return {x.a * y.a, x.d * y.a + x.a * y.d, x.dd * y.a + 2 * x.d * y.d + x.a * y.dd};
}
Jet2 operator/(const Jet2& x, const Jet2& y) {
  const double q = x.a / y.a;
  const double qd = (x.d - q * y.d) / y.a;
  return {q, qd, (x.dd - 2 * qd * y.d - q * y.dd) / y.a};
}

// f(x) from f, f', f'' at x.a. A constant argument has derivatives 0 even where f' is infinite, as
// in sqrt(0).
Jet2 chain(const Jet2& x, double f, double f1, double f2) {
  if (x.is_constant()) return f;
  return {f, f1 * x.d, f2 * x.d * x.d + f1 * x.dd};
}

Jet2 sin(const Jet2& x) { return chain(x, std::sin(x.a), std::cos(x.a), -std::sin(x.a)); }
Jet2 cos(const Jet2& x) { return chain(x, std::cos(x.a), -std::sin(x.a), -std::cos(x.a)); }
Jet2 tan(const Jet2& x) {
  const double t = std::tan(x.a), s = 1 + t * t;
  return chain(x, t, s, 2 * t * s);
}
Jet2 asin(const Jet2& x) {
  const double r = 1 - x.a * x.a, s = 1 / std::sqrt(r);
  return chain(x, std::asin(x.a), s, x.a * s / r);
}
Jet2 acos(const Jet2& x) {
  const double r = 1 - x.a * x.a, s = 1 / std::sqrt(r);
  return chain(x, std::acos(x.a), -s, -x.a * s / r);
}
Jet2 atan(const Jet2& x) {
  const double s = 1 / (1 + x.a * x.a);
  return chain(x, std::atan(x.a), s, -2 * x.a * s * s);
}
Jet2 atan2(const Jet2& y, const Jet2& x) {
  const double angle = std::atan2(y.a, x.a);
  if (y.is_constant() && x.is_constant()) return angle;
  const double r2 = x.a * x.a + y.a * y.a;
  const double rate = (x.a * y.d - y.a * x.d) / r2;
  return {angle, rate, (x.a * y.dd - y.a * x.dd - 2 * rate * (x.a * x.d + y.a * y.d)) / r2};
}
Jet2 sqrt(const Jet2& x) {
  const double r = std::sqrt(x.a);
  return chain(x, r, 0.5 / r, -0.25 / (r * x.a));
}
Jet2 exp(const Jet2& x) {
  const double e = std::exp(x.a);
  return chain(x, e, e, e);
}
Jet2 log(const Jet2& x) { return chain(x, std::log(x.a), 1 / x.a, -1 / (x.a * x.a)); }
Jet2 tanh(const Jet2& x) {
  const double t = std::tanh(x.a), s = 1 - t * t;
  return chain(x, t, s, -2 * t * s);
}
Jet2 sinh(const Jet2& x) { return chain(x, std::sinh(x.a), std::cosh(x.a), std::sinh(x.a)); }
Jet2 cosh(const Jet2& x) { return chain(x, std::cosh(x.a), std::sinh(x.a), std::cosh(x.a)); }
Jet2 pow(const Jet2& x, const Jet2& p) {
  const double f = std::pow(x.a, p.a);
  if (p.is_constant()) {
    // A vanishing factor p or p - 1 wins over an infinite power at x = 0.
    const double f1 = p.a == 0 ? 0 : p.a * std::pow(x.a, p.a - 1);
    const double c2 = p.a * (p.a - 1);
    return chain(x, f, f1, c2 == 0 ? 0 : c2 * std::pow(x.a, p.a - 2));
  }
  if (x.a == 0 && x.is_constant() && p.a > 0) return f;  // 0^p is 0 around here
  const Jet2 g = p * log(x);                             // x^p = e^g
  return {f, f * g.d, f * (g.d * g.d + g.dd)};
}

// Second derivatives M of the natural cubic spline: M_0 = M_n = 0 and, with h_i = t_{i+1} - t_i,
// h_{i-1} M_{i-1} + 2 (h_{i-1} + h_i) M_i + h_i M_{i+1} = 6 ((y_{i+1} - y_i)/h_i - (y_i -
// y_{i-1})/h_{i-1}). Diagonally dominant: elimination without pivoting.
std::vector<double> spline_curvatures(const std::vector<double>& t, const std::vector<double>& y) {
  const size_t n = t.size();
  std::vector<double> m(n, 0.0), upper(n, 0.0);
  for (size_t i = 1; i + 1 < n; ++i) {
    const double h0 = t[i] - t[i - 1], h1 = t[i + 1] - t[i];
    const double right = 6 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0);
    const double pivot = 2 * (h0 + h1) - h0 * upper[i - 1];
    upper[i] = h1 / pivot;
    m[i] = (right - h0 * m[i - 1]) / pivot;
  }
  for (size_t i = n - 1; i-- > 1;) m[i] -= upper[i] * m[i + 1];
  return m;
}

bool all_finite(const std::vector<double>& v) {
  return std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace

Signal Signal::constant(double value) {
  Signal s;
  s.constant_ = value;
  return s;
}

Signal Signal::expression(Expression e, std::vector<double> parameters) {
  for (size_t i = 0; i < parameters.size(); ++i)
    e = e.with_value(static_cast<int>(i) + 1, parameters[i]);
  for (const Expression::Instruction& in : e.code()) {
    PANTO_EXPECT(in.op != Expression::Op::kVariable || in.variable == 0,
                 "signal: a parameter has no value");
  }
  Signal s;
  s.kind_ = Kind::kExpression;
  s.expression_ = std::move(e);
  return s;
}

Signal Signal::polynomial(std::vector<double> coefficients) {
  Signal s;
  s.kind_ = Kind::kPolynomial;
  s.a_ = std::move(coefficients);
  return s;
}

Signal Signal::table(std::vector<double> t, std::vector<double> y, bool linear) {
  PANTO_EXPECT(t.size() == y.size(), "signal table: as many times as values");
  PANTO_EXPECT(t.size() >= 2, "signal table: at least two points");
  PANTO_EXPECT(all_finite(t) && all_finite(y), "signal table: every entry finite");
  PANTO_EXPECT(std::adjacent_find(t.begin(), t.end(), std::greater_equal<>()) == t.end(),
               "signal table: times strictly increasing");
  Signal s;
  s.kind_ = Kind::kTable;
  s.linear_ = linear;
  if (!linear) s.c_ = spline_curvatures(t, y);
  s.a_ = std::move(t);
  s.b_ = std::move(y);
  return s;
}

SignalValue Signal::at(double t) const {
  switch (kind_) {
    case Kind::kConstant:
      return {constant_, 0, 0};
    case Kind::kExpression: {
      const Jet2 time[] = {{t, 1, 0}};
      const Jet2 x = expression_.evaluate<Jet2>(std::span<const Jet2>(time));
      return {x.a, x.d, x.dd};
    }
    case Kind::kPolynomial: {
      double p = 0, p1 = 0, half_p2 = 0;  // Horner for p, p' and p''/2
      for (size_t i = a_.size(); i-- > 0;) {
        half_p2 = half_p2 * t + p1;
        p1 = p1 * t + p;
        p = p * t + a_[i];
      }
      return {p, p1, 2 * half_p2};
    }
    case Kind::kTable:
      break;
  }
  if (std::isnan(t)) return {t, t, t};
  if (t < a_.front()) return {b_.front(), 0, 0};
  if (t > a_.back()) return {b_.back(), 0, 0};
  const auto last = a_.end() - 1;
  const size_t i = static_cast<size_t>(std::upper_bound(a_.begin() + 1, last, t) - a_.begin()) - 1;
  const double h = a_[i + 1] - a_[i];
  const double slope = (b_[i + 1] - b_[i]) / h;
  const double u = (t - a_[i]) / h, v = (a_[i + 1] - t) / h;
  const double value = v * b_[i] + u * b_[i + 1];
  if (linear_) return {value, slope, 0};
  const double m0 = c_[i], m1 = c_[i + 1];
  return {value + ((v * v * v - v) * m0 + (u * u * u - u) * m1) * h * h / 6,
          slope + ((3 * u * u - 1) * m1 - (3 * v * v - 1) * m0) * h / 6, v * m0 + u * m1};
}

std::vector<double> Signal::breakpoints(double t0, double t1) const {
  std::vector<double> times;
  if (kind_ != Kind::kTable) return times;
  for (size_t i = 0; i < a_.size(); ++i) {
    const bool end = i == 0 || i + 1 == a_.size();
    if ((linear_ || end) && a_[i] > t0 && a_[i] < t1) times.push_back(a_[i]);
  }
  return times;
}

}  // namespace panto
