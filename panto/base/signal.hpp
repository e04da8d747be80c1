// A function of time with its first two derivatives: constants, expressions of t, polynomials,
// sampled tables.
#pragma once

#include <string>
#include <vector>

#include "panto/base/expression.hpp"

namespace panto {

struct SignalValue {
  double value = 0, rate = 0, acceleration = 0;
};

class Signal {
 public:
  enum class Kind { kConstant, kExpression, kPolynomial, kTable };

  Signal() = default;  // constant zero
  static Signal constant(double value);
  // Variable 0 of the expression is t; variables 1.. are parameters whose values are given
  // (copied).
  static Signal expression(Expression e, std::vector<double> parameters = {});
  // c0 + c1 t + c2 t^2 + ...
  static Signal polynomial(std::vector<double> coefficients);
  // Natural cubic spline through (t_i, y_i), t strictly increasing, at least two points; constant
  // outside (rate 0).
  // linear = true: straight lines between the points; at a knot the rate of the segment to the
  // right, at the last knot to the left.
  static Signal table(std::vector<double> t, std::vector<double> y, bool linear = false);

  [[nodiscard]] Kind kind() const { return kind_; }
  // Value and exact derivatives (expressions by second-order dual numbers); does not allocate.
  [[nodiscard]] SignalValue at(double t) const;
  // Times in (t0, t1), increasing, where the signal, its rate or acceleration jumps: every knot of
  // a linear table, the two ends of a spline. The edges of step and pulse are not found.
  [[nodiscard]] std::vector<double> breakpoints(double t0, double t1) const;

 private:
  Kind kind_ = Kind::kConstant;
  double constant_ = 0;
  Expression expression_;      // parameters already replaced by their values; variable 0 is t
  std::vector<double> a_, b_;  // polynomial coefficients, or table abscissae and ordinates
  std::vector<double> c_;      // second derivatives of the spline
  bool linear_ = false;
};

}  // namespace panto
