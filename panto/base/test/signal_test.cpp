#include "panto/base/signal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace panto {
namespace {

Expression of_time(std::string_view text) {
  const ParsedExpression p =
      parse_expression(text,
                       [](std::string_view name) -> std::optional<ResolvedName> {
                         if (name == "t") return ResolvedName{0, std::nullopt};
                         if (name == "A") return ResolvedName{1, std::nullopt};
                         if (name == "w") return ResolvedName{2, std::nullopt};
                         return std::nullopt;
                       },
                       {"t", "A", "w"});
  if (p.error) throw std::runtime_error(p.error->message);
  return p.expression;
}

TEST(Signal, IsZeroByDefault) {
  const SignalValue v = Signal().at(3);
  EXPECT_EQ(v.value, 0);
  EXPECT_EQ(v.rate, 0);
  EXPECT_EQ(v.acceleration, 0);
}

TEST(Signal, AConstantDoesNotMove) {
  const Signal s = Signal::constant(4);
  EXPECT_EQ(s.kind(), Signal::Kind::kConstant);
  EXPECT_EQ(s.at(1).value, 4);
  EXPECT_EQ(s.at(1).rate, 0);
  EXPECT_EQ(s.at(1).acceleration, 0);
}

TEST(Signal, AnExpressionTakesItsParameters) {
  const Signal s = Signal::expression(of_time("A*sin(w*t)"), {2, 3});
  EXPECT_EQ(s.kind(), Signal::Kind::kExpression);
  const SignalValue v = s.at(0.4);
  EXPECT_DOUBLE_EQ(v.value, 2 * std::sin(1.2));
  EXPECT_DOUBLE_EQ(v.rate, 6 * std::cos(1.2));
  EXPECT_DOUBLE_EQ(v.acceleration, -18 * std::sin(1.2));
}

TEST(Signal, AParameterWithoutValueIsMisuse) {
  EXPECT_THROW(Signal::expression(of_time("A*sin(w*t)"), {2}), std::logic_error);
}

struct Case {
  const char* text;
  double (*value)(double);
  double (*rate)(double);
  double (*acceleration)(double);
};

double sq(double x) { return x * x; }

const Case kCases[] = {
    {"t^3 - t", [](double t) { return t * t * t - t; }, [](double t) { return 3 * t * t - 1; },
     [](double t) { return 6 * t; }},
    {"1/(1 + t)", [](double t) { return 1 / (1 + t); }, [](double t) { return -1 / sq(1 + t); },
     [](double t) { return 2 / (sq(1 + t) * (1 + t)); }},
    {"cos(t^2)", [](double t) { return std::cos(t * t); },
     [](double t) { return -2 * t * std::sin(t * t); },
     [](double t) { return -2 * std::sin(t * t) - 4 * t * t * std::cos(t * t); }},
    {"tan(t)", [](double t) { return std::tan(t); }, [](double t) { return 1 / sq(std::cos(t)); },
     [](double t) { return 2 * std::tan(t) / sq(std::cos(t)); }},
    {"asin(t)", [](double t) { return std::asin(t); },
     [](double t) { return 1 / std::sqrt(1 - t * t); },
     [](double t) { return t / std::pow(1 - t * t, 1.5); }},
    {"acos(t)", [](double t) { return std::acos(t); },
     [](double t) { return -1 / std::sqrt(1 - t * t); },
     [](double t) { return -t / std::pow(1 - t * t, 1.5); }},
    {"atan(t)", [](double t) { return std::atan(t); }, [](double t) { return 1 / (1 + t * t); },
     [](double t) { return -2 * t / sq(1 + t * t); }},
    {"atan2(sin(t^2), cos(t^2))", [](double t) { return t * t; }, [](double t) { return 2 * t; },
     [](double) { return 2.0; }},
    {"sqrt(1 + t)", [](double t) { return std::sqrt(1 + t); },
     [](double t) { return 0.5 / std::sqrt(1 + t); },
     [](double t) { return -0.25 / std::pow(1 + t, 1.5); }},
    {"exp(-2*t)", [](double t) { return std::exp(-2 * t); },
     [](double t) { return -2 * std::exp(-2 * t); }, [](double t) { return 4 * std::exp(-2 * t); }},
    {"log(1 + t)", [](double t) { return std::log(1 + t); }, [](double t) { return 1 / (1 + t); },
     [](double t) { return -1 / sq(1 + t); }},
    {"abs(-t)", [](double t) { return t; }, [](double) { return 1.0; }, [](double) { return 0.0; }},
    {"tanh(t)", [](double t) { return std::tanh(t); },
     [](double t) { return 1 / sq(std::cosh(t)); },
     [](double t) { return -2 * std::tanh(t) / sq(std::cosh(t)); }},
    {"sinh(2*t)", [](double t) { return std::sinh(2 * t); },
     [](double t) { return 2 * std::cosh(2 * t); }, [](double t) { return 4 * std::sinh(2 * t); }},
    {"cosh(2*t)", [](double t) { return std::cosh(2 * t); },
     [](double t) { return 2 * std::sinh(2 * t); }, [](double t) { return 4 * std::cosh(2 * t); }},
    {"t^2.5", [](double t) { return std::pow(t, 2.5); },
     [](double t) { return 2.5 * std::pow(t, 1.5); }, [](double t) { return 3.75 * std::sqrt(t); }},
    {"(1 + t)^t", [](double t) { return std::pow(1 + t, t); },
     [](double t) { return std::pow(1 + t, t) * (std::log(1 + t) + t / (1 + t)); },
     [](double t) {
       const double g = std::log(1 + t) + t / (1 + t);
       return std::pow(1 + t, t) * (g * g + 1 / (1 + t) + 1 / sq(1 + t));
     }},
    {"max(t^2, -1)*step(t)", [](double t) { return t * t; }, [](double t) { return 2 * t; },
     [](double) { return 2.0; }},
};

TEST(Signal, ExpressionsHaveTheDerivativesOfTheirClosedForms) {
  const auto tolerance = [](double x) {
    return 1e-14 * (1 + std::abs(x));
  };  // round-off of a few operations
  for (const Case& c : kCases) {
    const Signal s = Signal::expression(of_time(c.text));
    for (const double t : {0.1, 0.35, 0.8}) {
      const SignalValue v = s.at(t);
      EXPECT_NEAR(v.value, c.value(t), tolerance(c.value(t))) << c.text << " at " << t;
      EXPECT_NEAR(v.rate, c.rate(t), tolerance(c.rate(t))) << c.text << " at " << t;
      EXPECT_NEAR(v.acceleration, c.acceleration(t), tolerance(c.acceleration(t)))
          << c.text << " at " << t;
    }
  }
}

TEST(Signal, AConstantInsideAnExpressionHasNoDerivativeEvenWhereTheFunctionIsSteep) {
  const SignalValue v = Signal::expression(of_time("t + sqrt(A)"), {0}).at(2);
  EXPECT_EQ(v.value, 2);
  EXPECT_EQ(v.rate, 1);
  EXPECT_EQ(v.acceleration, 0);
}

TEST(Signal, APowerStartsSmoothlyAtZero) {
  const SignalValue v = Signal::expression(of_time("t^2.5 + t^100")).at(0);
  EXPECT_EQ(v.value, 0);
  EXPECT_EQ(v.rate, 0);
  EXPECT_EQ(v.acceleration, 0);
}

TEST(Signal, APolynomialHasExactDerivatives) {
  const Signal s = Signal::polynomial({1, -2, 3, 4});  // 1 - 2t + 3t^2 + 4t^3
  EXPECT_EQ(s.kind(), Signal::Kind::kPolynomial);
  const SignalValue v = s.at(2);
  EXPECT_EQ(v.value, 41);
  EXPECT_EQ(v.rate, 58);
  EXPECT_EQ(v.acceleration, 54);
  EXPECT_EQ(Signal::polynomial({}).at(5).value, 0);
}

TEST(SignalTable, BadTablesAreMisuse) {
  EXPECT_THROW(Signal::table({0}, {1}), std::logic_error);
  EXPECT_THROW(Signal::table({}, {}), std::logic_error);
  EXPECT_THROW(Signal::table({0, 1}, {1}), std::logic_error);
  EXPECT_THROW(Signal::table({0, 0}, {1, 2}), std::logic_error);
  EXPECT_THROW(Signal::table({1, 0}, {1, 2}), std::logic_error);
  EXPECT_THROW(Signal::table({0, std::nan("")}, {1, 2}), std::logic_error);
}

const std::vector<double> kTimes = {0, 0.5, 0.8, 2, 2.1, 3};
const std::vector<double> kData = {1, -1, 4, 0, 0.5, 2};

TEST(SignalTable, ASplineReproducesItsData) {
  const Signal s = Signal::table(kTimes, kData);
  EXPECT_EQ(s.kind(), Signal::Kind::kTable);
  for (size_t i = 0; i < kTimes.size(); ++i) EXPECT_EQ(s.at(kTimes[i]).value, kData[i]) << i;
}

TEST(SignalTable, ASplineIsContinuousWithItsFirstTwoDerivatives) {
  const Signal s = Signal::table(kTimes, kData);
  for (size_t i = 1; i + 1 < kTimes.size(); ++i) {
    const SignalValue left = s.at(std::nextafter(kTimes[i], -1)), right = s.at(kTimes[i]);
    // One spacing of doubles to the left; the third derivative here is below 1e4.
    EXPECT_NEAR(left.value, right.value, 1e-12) << i;
    EXPECT_NEAR(left.rate, right.rate, 1e-11) << i;
    EXPECT_NEAR(left.acceleration, right.acceleration, 1e-10) << i;
  }
}

TEST(SignalTable, TheDerivativesOfASplineAreThoseOfItsValue) {
  const Signal s = Signal::table(kTimes, kData);
  const double h = 1e-4;
  for (const double t : {0.2, 0.6, 1.1, 2.05, 2.7}) {
    // Truncation: h^2/6 times the third derivative (below 1e4) for the value, none for the rate of
    // a cubic; round-off divided by h.
    EXPECT_NEAR((s.at(t + h).value - s.at(t - h).value) / (2 * h), s.at(t).rate, 1e-4) << t;
    EXPECT_NEAR((s.at(t + h).rate - s.at(t - h).rate) / (2 * h), s.at(t).acceleration, 1e-8) << t;
  }
}

TEST(SignalTable, ANaturalSplineIsStraightAtItsEnds) {
  const Signal s = Signal::table(kTimes, kData);
  EXPECT_EQ(s.at(0).acceleration, 0);
  EXPECT_EQ(s.at(3).acceleration, 0);
}

TEST(SignalTable, ThreePointsGiveTheSplineWorkedByHand) {
  // Points (0,0) (1,1) (2,0): 4 M = 6 (-1 - 1), M = -3; value at 1/2: 1/2 + (1/8 - 1/2)(-3)/6 =
  // 11/16.
  const Signal s = Signal::table({0, 1, 2}, {0, 1, 0});
  EXPECT_DOUBLE_EQ(s.at(1).acceleration, -3);
  EXPECT_DOUBLE_EQ(s.at(0.5).value, 11.0 / 16);
  EXPECT_NEAR(s.at(1).rate, 0, 1e-15);
}

TEST(SignalTable, ASplineConvergesToAFunctionWithFourthOrder) {
  // sin has no curvature at 0 and pi, so the natural ends are exact and the error falls as h^4.
  const auto worst = [](int n) {
    std::vector<double> t, y;
    for (int i = 0; i <= n; ++i) {
      t.push_back(std::numbers::pi * i / n);
      y.push_back(std::sin(t.back()));
    }
    const Signal s = Signal::table(t, y);
    double e = 0;
    for (int i = 0; i <= 1000; ++i) {
      const double x = t.back() * i / 1000;
      e = std::max(e, std::abs(s.at(x).value - std::sin(x)));
    }
    return e;
  };
  EXPECT_NEAR(std::log2(worst(20) / worst(40)), 4, 0.1);
}

TEST(SignalTable, TwoPointsGiveAStraightLine) {
  const SignalValue v = Signal::table({1, 3}, {2, 8}).at(2);
  EXPECT_EQ(v.value, 5);
  EXPECT_EQ(v.rate, 3);
  EXPECT_EQ(v.acceleration, 0);
}

TEST(SignalTable, IsConstantOutside) {
  for (const bool linear : {false, true}) {
    const Signal s = Signal::table(kTimes, kData, linear);
    EXPECT_EQ(s.at(-1).value, 1);
    EXPECT_EQ(s.at(-1).rate, 0);
    EXPECT_EQ(s.at(4).value, 2);
    EXPECT_EQ(s.at(4).rate, 0);
    EXPECT_EQ(s.at(4).acceleration, 0);
    EXPECT_EQ(s.at(std::numeric_limits<double>::infinity()).value, 2);
  }
}

TEST(SignalTable, ALinearTableHasStraightSegments) {
  const Signal s = Signal::table({0, 1, 3}, {0, 2, 0}, true);
  EXPECT_EQ(s.at(0.5).value, 1);
  EXPECT_EQ(s.at(0.5).rate, 2);
  EXPECT_EQ(s.at(1).rate, -1);  // the segment to the right
  EXPECT_EQ(s.at(2).value, 1);
  EXPECT_EQ(s.at(3).rate, -1);
  EXPECT_EQ(s.at(2).acceleration, 0);
}

TEST(Signal, ATimeThatIsNotANumberIsNotHidden) {
  EXPECT_TRUE(std::isnan(Signal::table({0, 1}, {0, 1}).at(std::nan("")).value));
}

TEST(Signal, BreakpointsAreTheKnotsStrictlyInside) {
  const std::vector<double> inside = {0.5, 0.8, 2};
  EXPECT_EQ(Signal::table(kTimes, kData, true).breakpoints(0, 2.1), inside);
  const std::vector<double> ends = {0, 3};
  EXPECT_EQ(Signal::table(kTimes, kData).breakpoints(-1, 4), ends);
  EXPECT_TRUE(Signal::table(kTimes, kData).breakpoints(0, 3).empty());
  EXPECT_TRUE(Signal::constant(1).breakpoints(-1, 4).empty());
}

}  // namespace
}  // namespace panto
