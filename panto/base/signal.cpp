#include "panto/base/signal.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "panto/base/contract.hpp"
#include "panto/base/taylor.hpp"

namespace panto {
namespace {

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
      const Taylor2<double> time[] = {{t, 1, 0}};
      const Taylor2<double> x =
          expression_.evaluate<Taylor2<double>>(std::span<const Taylor2<double>>(time));
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
