// Evaluation of an Expression for any scalar: double, dual numbers (member `a` is the value),
// std::complex<double>. Branches look at the real part only, so that a complex step or a dual part
// never changes the branch.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <span>

#include "panto/base/contract.hpp"
#include "panto/base/expression.hpp"

namespace panto {
namespace expression_detail {

inline double real_part(double x) { return x; }
inline double real_part(const std::complex<double>& x) { return x.real(); }
template <class T>
requires requires(const T& x) { x.a; }
double real_part(const T& x) { return real_part(x.a); }

template <class T>
T arc_tangent(const T& y, const T& x) {
  using std::atan2;
  return atan2(y, x);
}

// Analytic continuation of atan2 off the real axis; the quadrant is that of the real parts.
inline std::complex<double> arc_tangent(const std::complex<double>& y,
                                        const std::complex<double>& x) {
  constexpr double pi = std::numbers::pi;
  if (std::abs(x.real()) >= std::abs(y.real())) {
    const double turn = x.real() >= 0 ? 0 : (std::signbit(y.real()) ? -pi : pi);
    return std::atan(y / x) + turn;
  }
  return (y.real() > 0 ? pi / 2 : -pi / 2) - std::atan(x / y);
}

// x^n by repeated squaring: analytic for every x, exact in the sign of x.
template <class T>
T integer_power(const T& x, int n) {
  T result(1.0);
  T square = x;
  for (int k = n < 0 ? -n : n; k > 0; k /= 2) {
    if (k % 2 == 1) result = result * square;
    if (k > 1) square = square * square;
  }
  return n < 0 ? T(1.0) / result : result;
}

}  // namespace expression_detail

template <class T>
T Expression::evaluate(std::span<const T> variables) const {
  using expression_detail::real_part;
  using std::acos, std::asin, std::atan, std::cos, std::cosh, std::exp, std::log, std::pow,
      std::sin, std::sinh, std::sqrt, std::tan, std::tanh;
  if (code_.empty()) return T(0.0);
  std::array<T, kMaxDepth> stack;
  // Number of values on the stack; the parser guarantees 1 <= top <= kMaxDepth after each
  // instruction.
  size_t top = 0;
  for (const Instruction& in : code_) {
    switch (in.op) {
      case Op::kConstant:
        stack[top++] = T(in.number);
        continue;
      case Op::kVariable:
        PANTO_EXPECT(static_cast<size_t>(in.variable) < variables.size(),
                     "expression: a variable has no value");
        stack[top++] = variables[static_cast<size_t>(in.variable)];
        continue;
      default:
        break;
    }
    T& x = stack[top - 1];
    switch (in.op) {
      case Op::kNeg:
        x = -x;
        continue;
      case Op::kPowInt:
        x = expression_detail::integer_power(x, in.variable);
        continue;
      case Op::kSin:
        x = sin(x);
        continue;
      case Op::kCos:
        x = cos(x);
        continue;
      case Op::kTan:
        x = tan(x);
        continue;
      case Op::kAsin:
        x = asin(x);
        continue;
      case Op::kAcos:
        x = acos(x);
        continue;
      case Op::kAtan:
        x = atan(x);
        continue;
      case Op::kSqrt:
        x = sqrt(x);
        continue;
      case Op::kExp:
        x = exp(x);
        continue;
      case Op::kLog:
        x = log(x);
        continue;
      case Op::kTanh:
        x = tanh(x);
        continue;
      case Op::kSinh:
        x = sinh(x);
        continue;
      case Op::kCosh:
        x = cosh(x);
        continue;
      case Op::kAbs:
        if (real_part(x) < 0) x = -x;
        continue;
      case Op::kStep:
        x = T(real_part(x) < 0 ? 0.0 : 1.0);
        continue;
      default:
        break;
    }
    --top;
    T& a = stack[top - 1];
    const T& b = stack[top];
    switch (in.op) {
      case Op::kAdd:
        a = a + b;
        continue;
      case Op::kSub:
        a = a - b;
        continue;
      case Op::kMul:
        a = a * b;
        continue;
      case Op::kDiv:
        a = a / b;
        continue;
      case Op::kPow:
        a = pow(a, b);
        continue;
      case Op::kAtan2:
        a = expression_detail::arc_tangent(a, b);
        continue;
      case Op::kMin:
        if (real_part(b) < real_part(a)) a = b;
        continue;
      case Op::kMax:
        if (real_part(b) > real_part(a)) a = b;
        continue;
      case Op::kPulse:
        a = T(real_part(a) >= 0 && real_part(a) < real_part(b) ? 1.0 : 0.0);
        continue;
      default:
        break;
    }
  }
  return stack[0];
}

}  // namespace panto
