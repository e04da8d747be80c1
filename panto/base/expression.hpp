// Arithmetic of the model file: "rho*A*L", "m*L^2/12", "2*sin(3*t)". Parsed once, evaluated for any
// scalar (double, dual numbers, complex), without allocation.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "panto/base/units.hpp"

namespace panto {

// Postfix program on a small stack.
class Expression {
 public:
  enum class Op : std::uint8_t {
    kConstant,
    kVariable,
    kAdd,
    kSub,
    kMul,
    kDiv,
    kPow,
    kPowInt,
    kNeg,
    kSin,
    kCos,
    kTan,
    kAsin,
    kAcos,
    kAtan,
    kAtan2,
    kSqrt,
    kExp,
    kLog,
    kAbs,
    kTanh,
    kSinh,
    kCosh,
    kMin,
    kMax,
    kStep,
    kPulse,
  };
  struct Instruction {
    Op op = Op::kConstant;
    int variable = -1;  // kVariable: index returned by the resolver; kPowInt: the exponent
    double number = 0;  // kConstant
  };
  static constexpr int kMaxDepth = 32;

  Expression() = default;
  static Expression constant(double value);
  static Expression variable(int index);
  // A program put together elsewhere (one expression inserted into another). nullopt when it is not a postfix program that
  // leaves one value, or needs a stack deeper than kMaxDepth.
  static std::optional<Expression> from_code(std::vector<Instruction> code);

  // Value; `variables[i]` answers the variable that the resolver numbered i.
  // An empty expression is 0.
  template <class T>
  T evaluate(std::span<const T> variables) const;

  // The same expression with one variable replaced by its value.
  [[nodiscard]] Expression with_value(int variable, double value) const;
  [[nodiscard]] bool is_constant() const;  // no variable inside
  [[nodiscard]] bool uses(int variable) const;
  [[nodiscard]] const std::vector<Instruction>& code() const { return code_; }

  friend struct ExpressionParser;

 private:
  std::vector<Instruction> code_;
};

struct ExpressionError {
  int column = 0;  // 0-based offset into the text
  std::string message;
};

struct ParsedExpression {
  Expression expression;
  // Known only if every variable's dimension is known; bare numbers alone ("2*pi") are SI of any
  // dimension: nullopt.
  std::optional<Dim> dim;
  std::optional<ExpressionError> error;
};

// What a name means: its variable number, and its dimension where known.
struct ResolvedName {
  int variable = -1;
  std::optional<Dim> dim;
};
// Returns nullopt for a name that does not exist; the parser then reports it with a suggestion from
// `known`.
using Resolver = std::function<std::optional<ResolvedName>(std::string_view)>;

// Grammar: + - * / ^ (right associative), unary minus, parentheses, constant pi (e is not one),
// names [A-Za-z_][A-Za-z0-9_.]*, functions sin cos tan asin acos atan atan2 sqrt exp log abs tanh
// sinh cosh min max, step(x): 0 below 0, else 1, pulse(x, width): 1 on [0, width), else 0.
//
// A number directly followed by a unit ("3 mm", "9.81 m/s^2", "2 kg m^2") is a quantity:
// "L/2 + 3 mm". "6 N/m" is refused where m is also a name: write "6 N m^-1" for the unit,
// "(6 N)/m" for the name.
//
// Nested deeper than 100, needing a stack deeper than kMaxDepth, or with a constant part that is
// not finite ("1/0"): an error, never a crash.
ParsedExpression parse_expression(std::string_view text, const Resolver& resolve,
                                  const std::vector<std::string>& known);

}  // namespace panto

#include "panto/base/expression_evaluate.hpp"  // IWYU pragma: export
