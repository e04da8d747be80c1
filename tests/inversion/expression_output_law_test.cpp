// Outputs that are expressions of others: their derivatives are those of the outputs they are made of.
#include <gtest/gtest.h>

#include "panto/inversion/model_servo.hpp"
#include "panto/io/load.hpp"

namespace panto {
namespace {

struct At {
  std::vector<double> y, v, w;
};

ServoValues values(ModelServo& servo, const At& at, bool tangent) {
  ServoValues out;
  out.resize(servo.nv(), servo.n_lambda(), servo.nu());
  const std::vector<double> lambda(static_cast<size_t>(servo.n_lambda()), 0.0),
      u(static_cast<size_t>(servo.nu()), 0.0);
  servo.evaluate({0, at.y, at.v, at.w, lambda, u}, tangent, out);
  return out;
}

TEST(ExpressionOutputLaw, DerivativesAgreeWithDifferences) {
  const Result<Model> model = load("flexible_two_link");
  ASSERT_TRUE(model.ok());
  const auto servo = ModelServo::create(
      *model, nominal(*model),
      {{"tip_x*cos(alpha) + L1*sin(section_angle)^2", "atan2(tip_y, tip_x) + 0.3*alpha"},
       {},
       {"shoulder", "elbow"},
       {}});
  ASSERT_TRUE(servo.ok()) << servo.diagnostics().text();
  ModelServo& s = **servo;
  const auto n = static_cast<size_t>(s.nv());
  At at{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  s.guess(at.y);
  for (size_t i = 0; i < n; ++i) {
    at.y[i] += 0.05 * std::sin(3.0 * static_cast<double>(i));
    at.v[i] = std::cos(2.0 * static_cast<double>(i));
    at.w[i] = std::sin(1.0 + static_cast<double>(i));
  }
  const ServoValues mid = values(s, at, true);
  constexpr double kStep = 1e-6;
  const auto moved = [&](std::vector<double> At::*of, size_t i, double by) {
    At other = at;
    (other.*of)[i] += by;
    return values(s, other, false);
  };
  const Eigen::Index first = s.n_lambda();
  for (Eigen::Index row = first; row < first + 2; ++row) {
    double scale = mid.g2_y.row(row).cwiseAbs().maxCoeff();
    for (size_t i = 0; i < n; ++i) {
      const auto c = static_cast<Eigen::Index>(i);
      const ServoValues y0 = moved(&At::y, i, -kStep), y1 = moved(&At::y, i, kStep),
                        v0 = moved(&At::v, i, -kStep), v1 = moved(&At::v, i, kStep),
                        w0 = moved(&At::w, i, -kStep), w1 = moved(&At::w, i, kStep);
      const auto slope = [&](double a, double b) { return (b - a) / (2 * kStep); };
      // Truncation and round-off of central differences.
      EXPECT_NEAR(slope(y0.g0[row], y1.g0[row]), mid.G(row, c), 1e-8);
      EXPECT_NEAR(slope(y0.g1[row], y1.g1[row]), mid.g1_y(row, c), 1e-7 * scale);
      EXPECT_NEAR(slope(v0.g1[row], v1.g1[row]), mid.G(row, c), 1e-8 * scale);
      EXPECT_NEAR(slope(y0.g2[row], y1.g2[row]), mid.g2_y(row, c), 1e-7 * scale);
      EXPECT_NEAR(slope(v0.g2[row], v1.g2[row]), mid.g2_v(row, c), 1e-7 * scale);
      EXPECT_NEAR(slope(w0.g2[row], w1.g2[row]), mid.G(row, c), 1e-8 * scale);
    }
  }
  // ġ and g̈ along a motion.
  const auto on_the_way = [&](double t) {
    At other = at;
    for (size_t i = 0; i < n; ++i) {
      other.y[i] += t * at.v[i] + t * t / 2 * at.w[i];
      other.v[i] += t * at.w[i];
    }
    return values(s, other, false);
  };
  const ServoValues before = on_the_way(-1e-4), after = on_the_way(1e-4);
  for (Eigen::Index row = first; row < first + 2; ++row) {
    EXPECT_NEAR((after.g0[row] - before.g0[row]) / 2e-4, mid.g1[row], 1e-5);
    EXPECT_NEAR((after.g1[row] - before.g1[row]) / 2e-4, mid.g2[row],
                1e-5 * std::abs(mid.g2[row]) + 1e-4);
  }
}

TEST(ExpressionOutputLaw, HaveUnitsAndValuesOfTheirOwn) {
  const Result<Model> model = load("flexible_two_link");
  ASSERT_TRUE(model.ok());
  const auto made = [&](const std::string& text) {
    return ModelServo::create(*model, nominal(*model), {{text}, {}, {"shoulder"}, {}});
  };
  const auto angle = made("0.2*alpha + 0.8*section_angle");
  ASSERT_TRUE(angle.ok()) << angle.diagnostics().text();
  EXPECT_TRUE((*angle)->outputs()[0].angle);
  const auto length = made("tip_x - L1");
  ASSERT_TRUE(length.ok()) << length.diagnostics().text();
  EXPECT_EQ((*length)->outputs()[0].dim, dim::kLength);
  EXPECT_DOUBLE_EQ((*length)->outputs()[0].value(std::vector<double>{1.75}), 0.75);
  for (const char* text : {"tip_x + alpha", "tip_x + ", "2*L1", "kinetic*2", "tip_z + tip_x"}) {
    const auto bad = made(text);
    ASSERT_FALSE(bad.ok()) << text;
    const int id = bad.diagnostics().items()[0].id;
    EXPECT_TRUE(id == 1006 || id == 1004) << text << ": " << bad.diagnostics().text();
  }
  EXPECT_EQ(made("tip_z").diagnostics().items()[0].id, 1003);
}

}  // namespace
}  // namespace panto
