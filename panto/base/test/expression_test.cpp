#include "panto/base/expression.hpp"

#include <ceres/jet.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <numbers>
#include <random>
#include <stdexcept>

namespace panto {
namespace {

constexpr double kPi = std::numbers::pi;

// x = 0 and y = 1 have no known dimension; the others are known.
std::optional<ResolvedName> resolve(std::string_view name) {
  if (name == "x") return ResolvedName{0, std::nullopt};
  if (name == "y") return ResolvedName{1, std::nullopt};
  if (name == "L") return ResolvedName{2, dim::kLength};
  if (name == "m") return ResolvedName{3, dim::kMass};
  if (name == "phi") return ResolvedName{4, dim::kNone};
  if (name == "arm.length") return ResolvedName{5, dim::kLength};
  return std::nullopt;
}

ParsedExpression parse(std::string_view text) {
  return parse_expression(text, resolve, {"x", "y", "L", "m", "phi", "arm.length"});
}

constexpr std::array<double, 6> kValues = {0.7, -1.3, 2.0, 3.0, 0.4, 5.0};

double value(std::string_view text) {
  const ParsedExpression p = parse(text);
  if (p.error) throw std::runtime_error(std::string(text) + ": " + p.error->message);
  return p.expression.evaluate<double>(kValues);
}

std::string error_of(std::string_view text) {
  const ParsedExpression p = parse(text);
  return p.error ? p.error->message : "(no error)";
}

int column_of(std::string_view text) {
  const ParsedExpression p = parse(text);
  return p.error ? p.error->column : -1;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

#define EXPECT_ERROR(text, column, part)                                           \
  EXPECT_TRUE(contains(error_of(text), part)) << (text) << ": " << error_of(text); \
  EXPECT_EQ(column_of(text), column) << (text)

TEST(ExpressionErrors, EmptyTextIsNamedEmpty) {
  EXPECT_ERROR("", 0, "empty");
  EXPECT_ERROR("  \t", 0, "empty");
  EXPECT_ERROR("2*()", 3, "nothing between");
}

TEST(ExpressionErrors, AnUnknownNameGetsASuggestion) {
  EXPECT_ERROR("2*ph", 2, "unknown name \"ph\"; did you mean \"phi\"?");
  EXPECT_ERROR("arm.lenght", 0, "did you mean \"arm.length\"?");
  EXPECT_ERROR("1 + sine", 4, "did you mean \"sin\"?");
  EXPECT_ERROR("sinn(x)", 0, "unknown function \"sinn\"; did you mean \"sin\"?");
  EXPECT_ERROR("zzzzzz", 0, "unknown name \"zzzzzz\"");
  EXPECT_FALSE(contains(error_of("zzzzzz"), "did you mean"));
}

TEST(ExpressionErrors, ANameUsedAsTheWrongKindIsExplained) {
  EXPECT_ERROR("x(2)", 0, "\"x\" is not a function");
  EXPECT_ERROR("sin", 0, "needs its argument");
  EXPECT_ERROR("e^x", 0, "write exp(1)");
}

TEST(ExpressionErrors, AMissingParenthesisIsNamed) {
  EXPECT_ERROR("(x+1", 4, "missing \")\"");
  EXPECT_ERROR("sin(x", 5, "missing \")\"");
  EXPECT_ERROR("x+1)", 3, "there is no \"(\"");
}

TEST(ExpressionErrors, AnUnexpectedCharacterIsShownWithItsColumn) {
  EXPECT_ERROR("x $ 2", 2, "unexpected character \"$\"");
  EXPECT_ERROR("x \xe2\x88\x92 2", 2, "unexpected byte 0xE2");
  EXPECT_ERROR(std::string_view("\0", 1), 0, "unexpected byte 0x00");
  EXPECT_ERROR("x * / 2", 4, "unexpected \"/\"");
  EXPECT_ERROR("x**2", 1, "written with \"^\"");
  EXPECT_ERROR("x +", 3, "ends where");
  EXPECT_ERROR("x, y", 1, "outside the arguments");
}

TEST(ExpressionErrors, TheWrongNumberOfArgumentsIsCounted) {
  EXPECT_ERROR("sin(x, y)", 0, "sin() takes 1 argument, not 2");
  EXPECT_ERROR("2*atan2(x)", 2, "atan2() takes 2 arguments, not 1");
  EXPECT_ERROR("sin()", 0, "not 0");
  EXPECT_ERROR("max(1,2,3,4)", 0, "not 4");
}

TEST(ExpressionErrors, TrailingTextIsRefused) {
  EXPECT_ERROR("x y", 2, "unexpected \"y\": an operator is missing");
  EXPECT_ERROR("x 2", 2, "unexpected \"2\"");
  EXPECT_ERROR("1.2.3", 3, "unexpected");
  EXPECT_ERROR("(x)(y)", 3, "unexpected \"(\"");
}

TEST(ExpressionErrors, ConstantsThatAreNotFiniteAreRefused) {
  EXPECT_ERROR("1/0", 1, "division by zero");
  EXPECT_ERROR("x/(2-2)", 1, "division by zero");
  EXPECT_ERROR("sqrt(-1)", 0, "not finite");
  EXPECT_ERROR("log(0)", 0, "not finite");
  EXPECT_ERROR("1e999", 0, "out of range");
}

TEST(ExpressionErrors, DeepNestingIsRefused) {
  const auto nested = [](int n) { return std::string(n, '(') + "x" + std::string(n, ')'); };
  EXPECT_EQ(value(nested(100)), kValues[0]);
  EXPECT_TRUE(contains(error_of(nested(101)), "nested deeper than 100"));
  EXPECT_TRUE(contains(error_of(std::string(1000, '-') + "x"), "nested deeper than 100"));
}

TEST(ExpressionErrors, AHundredThousandParenthesesAreRefusedAtOnce) {
  const std::string text(100000, '(');
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(contains(error_of(text), "nested deeper than 100"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200));
}

TEST(ExpressionErrors, AStackDeeperThanTheLimitIsRefused) {
  const auto chain = [](int values) {
    std::string text = "x";
    for (int i = 1; i < values; ++i) text = "x+(" + text + ")";
    return text;
  };
  EXPECT_NEAR(value(chain(Expression::kMaxDepth)), 32 * 0.7, 1e-12);  // round-off of 32 sums
  EXPECT_TRUE(
      contains(error_of(chain(Expression::kMaxDepth + 1)), "more than 32 intermediate values"));
}

TEST(ExpressionErrors, RandomTextNeverCrashesAndAcceptedTextEvaluates) {
  std::mt19937 random(7);
  const std::vector<std::string> pieces = {"x", "L",  "2", ".5", "1e3", " mm",  "sin(",  "max(",
                                           "(", ")",  ",", "+",  "-",   "*",    "/",     "^",
                                           " ", "pi", "N", "/m", "$",   "\xff", "step(", "phi"};
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (unsigned n = random() % 9; n > 0; --n) text += pieces[random() % pieces.size()];
    const ParsedExpression p = parse(text);
    if (p.error) {
      ASSERT_FALSE(p.error->message.empty());
      ASSERT_GE(p.error->column, 0);
      ASSERT_LE(p.error->column, static_cast<int>(text.size()));
      continue;
    }
    ++accepted;
    ASSERT_FALSE(p.expression.code().empty()) << text;
    ASSERT_NO_THROW(p.expression.evaluate<double>(kValues)) << text;
  }
  EXPECT_GT(accepted, 100);
}

TEST(Expression, OperatorsHaveTheUsualPrecedence) {
  EXPECT_EQ(value("1+2*3"), 7);
  EXPECT_EQ(value("(1+2)*3"), 9);
  EXPECT_EQ(value("8/4/2"), 1);
  EXPECT_EQ(value("8-4-2"), 2);
  EXPECT_EQ(value("2^3^2"), 512);
  EXPECT_EQ(value("-2^2"), -4);
  EXPECT_EQ(value("2^-1"), 0.5);
  EXPECT_EQ(value("2*-3"), -6);
  EXPECT_EQ(value("--3"), 3);
  EXPECT_EQ(value("m*L^2/12"), 1);
}

TEST(Expression, FunctionsGiveTheValuesOfTheStandardLibrary) {
  const double x = kValues[0], y = kValues[1];
  EXPECT_DOUBLE_EQ(value("sin(x)"), std::sin(x));
  EXPECT_DOUBLE_EQ(value("cos(x)"), std::cos(x));
  EXPECT_DOUBLE_EQ(value("tan(x)"), std::tan(x));
  EXPECT_DOUBLE_EQ(value("asin(x)"), std::asin(x));
  EXPECT_DOUBLE_EQ(value("acos(x)"), std::acos(x));
  EXPECT_DOUBLE_EQ(value("atan(x)"), std::atan(x));
  EXPECT_DOUBLE_EQ(value("atan2(y, x)"), std::atan2(y, x));
  EXPECT_DOUBLE_EQ(value("sqrt(x)"), std::sqrt(x));
  EXPECT_DOUBLE_EQ(value("exp(x)"), std::exp(x));
  EXPECT_DOUBLE_EQ(value("log(x)"), std::log(x));
  EXPECT_DOUBLE_EQ(value("abs(y)"), 1.3);
  EXPECT_DOUBLE_EQ(value("tanh(x)"), std::tanh(x));
  EXPECT_DOUBLE_EQ(value("sinh(x)"), std::sinh(x));
  EXPECT_DOUBLE_EQ(value("cosh(x)"), std::cosh(x));
  EXPECT_DOUBLE_EQ(value("min(x, y)"), y);
  EXPECT_DOUBLE_EQ(value("max(x, y)"), x);
  EXPECT_DOUBLE_EQ(value("x^2.5"), std::pow(x, 2.5));
  EXPECT_DOUBLE_EQ(value("x^100"), std::pow(x, 100.0));
  EXPECT_DOUBLE_EQ(value("y^3"), y * y * y);
  EXPECT_DOUBLE_EQ(value("pi"), kPi);
  EXPECT_DOUBLE_EQ(value("arm.length"), 5);
}

TEST(Expression, StepAndPulseIncludeTheirLeftEdgeOnly) {
  EXPECT_EQ(value("step(x-x)"), 1);
  EXPECT_EQ(value("step(y)"), 0);
  EXPECT_EQ(value("pulse(x-x, 1)"), 1);
  EXPECT_EQ(value("pulse(x, 1)"), 1);
  EXPECT_EQ(value("pulse(x, x)"), 0);
  EXPECT_EQ(value("pulse(y, 1)"), 0);
}

TEST(Expression, AnEmptyExpressionIsZero) {
  EXPECT_EQ(Expression().evaluate<double>({}), 0);
  EXPECT_TRUE(Expression().is_constant());
}

TEST(Expression, ConstantsAreFoldedToOneInstruction) {
  const ParsedExpression p = parse("2*pi*sqrt(9)^2 - max(1, 3 mm)");
  ASSERT_FALSE(p.error) << p.error->message;
  EXPECT_EQ(p.expression.code().size(), 1u);
  EXPECT_TRUE(p.expression.is_constant());
  EXPECT_FALSE(parse("2*x").expression.is_constant());
}

TEST(Expression, ASmallIntegerExponentBecomesAnIntegerPower) {
  const auto code = parse("x^(4/2)").expression.code();
  ASSERT_EQ(code.size(), 2u);
  EXPECT_EQ(code[1].op, Expression::Op::kPowInt);
  EXPECT_EQ(code[1].variable, 2);
  EXPECT_EQ(parse("x^0.5").expression.code().back().op, Expression::Op::kPow);
}

TEST(Expression, UsesReportsVariablesAndNotExponents) {
  const Expression e = parse("x^3 + L").expression;
  EXPECT_TRUE(e.uses(0));
  EXPECT_TRUE(e.uses(2));
  EXPECT_FALSE(e.uses(3));
}

TEST(Expression, AVariableCanBeReplacedByItsValue) {
  const Expression e = parse("x + L").expression.with_value(2, 10);
  EXPECT_FALSE(e.uses(2));
  EXPECT_EQ(e.evaluate<double>(std::array{1.0}), 11);
}

TEST(Expression, ConstantAndVariableBuildTheirExpressions) {
  EXPECT_EQ(Expression::constant(3).evaluate<double>({}), 3);
  EXPECT_EQ(Expression::variable(1).evaluate<double>(kValues), kValues[1]);
  EXPECT_THROW(Expression::variable(-1), std::logic_error);
}

TEST(Expression, AMissingVariableIsMisuse) {
  EXPECT_THROW((void)parse("L").expression.evaluate<double>(std::array{1.0}), std::logic_error);
}

TEST(ExpressionUnits, ANumberTakesTheUnitBehindIt) {
  EXPECT_EQ(value("L/2 + 3 mm"), 1.003);
  EXPECT_EQ(value("3mm"), 0.003);
  EXPECT_EQ(value("9.81 m/s^2 * 2 s"), 19.62);
  EXPECT_DOUBLE_EQ(value("3 mm^2"), 3e-6);
  EXPECT_DOUBLE_EQ(value("(3 mm)^2"), 9e-6);
  EXPECT_EQ(value("2 kg m^2 / 4"), 0.5);
  EXPECT_DOUBLE_EQ(value("sin(30 deg)"), 0.5);
  EXPECT_EQ(value("6 N m^-1"), 6);
  EXPECT_EQ(value("(6 N)/m"), 2);
  EXPECT_EQ(value("6 s/min(2, 3)"), 3);
  EXPECT_DOUBLE_EQ(value("6 s/x*x"), 6);
}

TEST(ExpressionUnits, AnAmbiguousUnitIsRefused) {
  EXPECT_ERROR("6 N/m", 4, "is a unit and a name");
  EXPECT_ERROR("3 mm^x", 4, "exponent of a unit must be an integer");
  EXPECT_ERROR("3 mm^2^2", 6, "is the number to be raised");
  EXPECT_ERROR("3 mm^12", 4, "at most 9");
}

TEST(ExpressionUnits, AnUnknownUnitIsExplained) {
  EXPECT_ERROR("3 Mpa", 2, "unknown unit \"Mpa\"; did you mean");
  EXPECT_ERROR("2 pi", 2, "a product is written with \"*\"");
  EXPECT_ERROR("2x", 1, "a product is written with \"*\"");
  EXPECT_ERROR("2*kPa", 2, "a unit stands directly after a number");
}

std::string dim_of(std::string_view text) {
  const ParsedExpression p = parse(text);
  if (p.error) return p.error->message;
  return p.dim ? to_string(*p.dim) : "unknown";
}

TEST(ExpressionDimensions, FollowTheArithmetic) {
  EXPECT_EQ(dim_of("m*L^2/12"), "kg m^2");
  EXPECT_EQ(dim_of("L/2 + 3 mm"), "m");
  EXPECT_EQ(dim_of("-L"), "m");
  EXPECT_EQ(dim_of("2*phi"), "1");
  EXPECT_EQ(dim_of("1/L"), "1/m");
  EXPECT_EQ(dim_of("sqrt(L^2 + arm.length^2)"), "m");
  EXPECT_EQ(dim_of("sqrt(L)"), "unknown");
  EXPECT_EQ(dim_of("atan2(L, arm.length)"), "1");
  EXPECT_EQ(dim_of("abs(L)"), "m");
  EXPECT_EQ(dim_of("max(L, 3 mm)"), "m");
  EXPECT_EQ(dim_of("step(L - 1)"), "1");
  EXPECT_EQ(dim_of("sin(L/arm.length)"), "1");
  EXPECT_EQ(dim_of("2^phi"), "1");
  EXPECT_EQ(dim_of("phi^0.5"), "1");
  EXPECT_EQ(dim_of("L^-2"), "1/m^2");
}

TEST(ExpressionDimensions, ABareNumberInASumTakesTheOtherDimension) {
  EXPECT_EQ(dim_of("L + 1"), "m");
  EXPECT_EQ(dim_of("1 + 2*3 - L"), "m");
  EXPECT_EQ(dim_of("min(1, L)"), "m");
}

TEST(ExpressionDimensions, BareNumbersAloneFitAnyDimension) {
  EXPECT_EQ(dim_of("0.5"), "unknown");
  EXPECT_EQ(dim_of("2*pi*sqrt(2)"), "unknown");
}

TEST(ExpressionDimensions, OneUnknownDimensionMakesTheResultUnknown) {
  EXPECT_EQ(dim_of("x*L"), "unknown");
  EXPECT_EQ(dim_of("L + x"), "unknown");
  EXPECT_EQ(dim_of("sin(x)"), "unknown");
  EXPECT_EQ(dim_of("atan2(x, L)"), "unknown");
  EXPECT_EQ(dim_of("phi^x"), "unknown");
}

TEST(ExpressionDimensions, ContradictionsAreErrorsThatNameBothSides) {
  EXPECT_ERROR("L + m", 2, "a sum joins different dimensions: \"m\" and \"kg\"");
  EXPECT_ERROR("L - 3 s", 2, "a difference joins different dimensions: \"m\" and \"s\"");
  EXPECT_ERROR("x*(L + m)", 5, "\"m\" and \"kg\"");
  EXPECT_ERROR("max(L, m)", 0, "max() joins different dimensions");
  EXPECT_ERROR("2*sin(L)", 2, "sin() needs a dimensionless argument, this has the dimension \"m\"");
  EXPECT_ERROR("exp(3 s)", 0, "exp() needs a dimensionless argument");
  EXPECT_ERROR("L^0.5", 1, "integer constant");
  EXPECT_ERROR("L^phi", 1, "integer constant");
  EXPECT_ERROR("2^L", 1, "an exponent must be dimensionless");
  EXPECT_ERROR("(L^1000)^1000", 8, "too large");
}

struct Smooth {
  const char* text;
  double (*derivative)(double x);  // by hand
};

const Smooth kSmooth[] = {
    {"x^3 - 2*x", [](double x) { return 3 * x * x - 2; }},
    {"1/x^2", [](double x) { return -2 / (x * x * x); }},
    {"sin(3*x)*cos(x)",
     [](double x) { return 3 * std::cos(3 * x) * std::cos(x) - std::sin(3 * x) * std::sin(x); }},
    {"tan(x)", [](double x) { return 1 / (std::cos(x) * std::cos(x)); }},
    {"asin(x/2)", [](double x) { return 0.5 / std::sqrt(1 - x * x / 4); }},
    {"acos(x/2)", [](double x) { return -0.5 / std::sqrt(1 - x * x / 4); }},
    {"atan(x)", [](double x) { return 1 / (1 + x * x); }},
    {"atan2(x, 2)", [](double x) { return 2 / (x * x + 4); }},
    {"atan2(x, -2)", [](double x) { return -2 / (x * x + 4); }},
    {"atan2(2, x)", [](double x) { return -2 / (x * x + 4); }},
    {"atan2(-2, x)", [](double x) { return 2 / (x * x + 4); }},
    {"sqrt(x + 3)", [](double x) { return 0.5 / std::sqrt(x + 3); }},
    {"exp(-x^2)", [](double x) { return -2 * x * std::exp(-x * x); }},
    {"log(x + 3)", [](double x) { return 1 / (x + 3); }},
    {"abs(x)", [](double x) { return x < 0 ? -1.0 : 1.0; }},
    {"tanh(x)", [](double x) { return 1 / (std::cosh(x) * std::cosh(x)); }},
    {"sinh(x)", [](double x) { return std::cosh(x); }},
    {"cosh(x)", [](double x) { return std::sinh(x); }},
    {"min(x, 2*x)", [](double x) { return x < 0 ? 2.0 : 1.0; }},
    {"max(x, 2*x)", [](double x) { return x < 0 ? 1.0 : 2.0; }},
    {"x*step(x)", [](double x) { return x < 0 ? 0.0 : 1.0; }},
    {"x*pulse(x, 1)", [](double x) { return x < 0 ? 0.0 : 1.0; }},
    {"(x + 3)^2.5", [](double x) { return 2.5 * std::pow(x + 3, 1.5); }},
    {"2^x", [](double x) { return std::log(2.0) * std::pow(2, x); }},
};

// Round-off of a few operations; the condition of the functions above at these points is below 10.
constexpr double kRoundOff = 1e-14;

TEST(ExpressionDerivatives, TheComplexStepGivesTheAnalyticDerivative) {
  for (const Smooth& s : kSmooth) {
    const Expression e = parse(s.text).expression;
    for (const double x : {-0.9, -0.3, 0.3, 0.9}) {
      const std::complex<double> at(x, 1e-30);
      const std::complex<double> f = e.evaluate<std::complex<double>>({&at, 1});
      const double exact = s.derivative(x);
      EXPECT_NEAR(f.imag() / 1e-30, exact, kRoundOff * (1 + std::abs(exact)))
          << s.text << " at " << x;
      const double value_there = e.evaluate<double>({&x, 1});
      EXPECT_NEAR(f.real(), value_there, kRoundOff * (1 + std::abs(value_there)))
          << s.text << " at " << x;
    }
  }
}

TEST(ExpressionDerivatives, DualNumbersGiveTheAnalyticDerivative) {
  using Jet = ceres::Jet<double, 1>;
  for (const Smooth& s : kSmooth) {
    const Expression e = parse(s.text).expression;
    for (const double x : {-0.9, -0.3, 0.3, 0.9}) {
      const Jet at(x, 0);
      const double exact = s.derivative(x);
      EXPECT_NEAR(e.evaluate<Jet>({&at, 1}).v[0], exact, kRoundOff * (1 + std::abs(exact)))
          << s.text << " at " << x;
    }
  }
}

TEST(ExpressionDerivatives, DualNumbersGiveTheGradientInSeveralVariables) {
  using Jet = ceres::Jet<double, 2>;
  const std::array<Jet, 2> at = {Jet(2.0, 0), Jet(-3.0, 1)};
  const Jet f = parse("x^2*y + max(x, y)").expression.evaluate<Jet>(at);
  EXPECT_DOUBLE_EQ(f.a, -10);
  EXPECT_DOUBLE_EQ(f.v[0], -11);  // 2 x y + 1
  EXPECT_DOUBLE_EQ(f.v[1], 4);    // x^2
}

TEST(ExpressionFromCode, TakesAProgramThatLeavesOneValue) {
  using Op = Expression::Op;
  const auto e = Expression::from_code({{Op::kVariable, 0, 0}, {Op::kConstant, -1, 3}, {Op::kMul}});
  ASSERT_TRUE(e);
  const double x = 4;
  EXPECT_DOUBLE_EQ(e->evaluate<double>({&x, 1}), 12);
}

TEST(ExpressionFromCode, RefusesWhatIsNoProgram) {
  using Op = Expression::Op;
  EXPECT_FALSE(Expression::from_code({}));
  EXPECT_FALSE(Expression::from_code({{Op::kMul}}));
  EXPECT_FALSE(Expression::from_code({{Op::kConstant, -1, 1}, {Op::kAdd}}));
  EXPECT_FALSE(Expression::from_code({{Op::kConstant, -1, 1}, {Op::kConstant, -1, 1}}));
  EXPECT_FALSE(Expression::from_code({{Op::kVariable, -1, 0}}));
  std::vector<Expression::Instruction> deep(Expression::kMaxDepth + 1);
  deep.resize(deep.size() + Expression::kMaxDepth, {Op::kAdd});
  EXPECT_FALSE(Expression::from_code(deep));
}

}  // namespace
}  // namespace panto
