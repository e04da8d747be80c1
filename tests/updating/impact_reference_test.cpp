// The virtual test rig against responses that are computed another way: matrices of the linear model, solved line by line.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <numbers>

#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/linear/linearize.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/model/compile.hpp"
#include "panto/updating/expansion.hpp"
#include "panto/updating/impact.hpp"

namespace panto {
namespace {

// Rayleigh damping decouples the modes: α = 2 1/s and β = 1e-4 s leave nothing after 8 s.
constexpr const char* kCantilever = R"toml(
space = "planar"
parameters = { E = "70 GPa" }
body = [{ name = "rod", beam = { length = "0.8 m", circle = "10 mm", E = "E", density = 2700, elements = 3, damping = { alpha = 2, beta = 1e-4 } } }]
joint = [{ name = "clamp", type = "weld", parent = "ground", child = "rod" }]
)toml";

Model cantilever() {
  const auto spec = parse_model_text(kCantilever, "rod.toml");
  auto model = compile(*spec, {});
  if (!model) throw std::runtime_error(model.diagnostics().text());
  return std::move(*model);
}

ImpactOptions options() {
  ImpactOptions o;
  o.accelerometers = {{"rod.n2", {0, 1, 0}}, {"rod.end", {0, 1, 0}}, {"rod.end", {1, 0, 0}}};
  o.hammer = {{"rod.end", {0, 1, 0}}};
  o.sample_rate_hz = 1024;
  o.duration_s = 8;
  o.window_end = 1;
  o.averages = 2;
  o.pulse_s = 0.004;
  o.to_hz = 250;
  return o;
}

// s² C (s² M + s D + K)⁻¹ Cᵀ at the lines, s = σ + 2πi f.
Eigen::MatrixXcd solved(const Model& given, const ImpactOptions& o, const Eigen::VectorXd& hz,
                        double sigma) {
  const Model model = with_body_frames(given);
  const auto workspace = Workspace::create(model, nominal(model));
  const auto point = operating_point(*workspace, Operation::kHere);
  const auto linear = linearize(*workspace, *point);
  const Eigen::MatrixXd c = point_rows(*workspace, view(point->q), linear->R, o.accelerometers),
                        b = point_rows(*workspace, view(point->q), linear->R, o.hammer);
  Eigen::MatrixXcd out(hz.size(), c.rows() * b.rows());
  for (Eigen::Index i = 0; i < hz.size(); ++i) {
    const std::complex<double> s(sigma, 2 * std::numbers::pi * hz(i));
    const Eigen::MatrixXcd system = s * s * linear->M_z + s * linear->D_z + linear->K_z;
    const Eigen::MatrixXcd h =
        s * s *
        (c.cast<std::complex<double>>() *
         system.partialPivLu().solve(b.transpose().cast<std::complex<double>>()));
    out.row(i) = h.reshaped().transpose();
  }
  return out;
}

double difference(const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b) {
  return (a - b).norm() / b.norm();
}

TEST(Impact, ResponsesWithoutNoiseAreThoseOfTheLinearModel) {
  const Model model = cantilever();
  const ImpactOptions o = options();
  const auto test = impact_test(model, nominal(model), Operation::kHere, o);
  ASSERT_TRUE(test.ok()) << test.diagnostics().text();
  EXPECT_EQ(test.diagnostics().text(), "");
  EXPECT_EQ(test->data.frequency_hz.size(), 2001);
  EXPECT_NEAR(test->data.frequency_hz(1), 0.125, 1e-12);
  const Eigen::MatrixXcd h = solved(model, o, test->data.frequency_hz.tail(2000), 0);
  EXPECT_LT(difference(test->exact.bottomRows(2000), h), 1e-9);
  // What the low-pass lets through above half of the rate: (774/410)^-12 = 5e-4 of a pulse that is a hundredth there.
  EXPECT_LT(difference(test->data.h.bottomRows(2000), h), 1e-4);
  EXPECT_GT(test->data.coherence.bottomRows(1900).minCoeff(), 1 - 1e-6);  // above 12.5 Hz
  ASSERT_EQ(test->modes.modes.size(), 3U);
  EXPECT_NEAR(test->positions.at("rod.end").x(), 0.8, 1e-12);
}

TEST(Impact, AnExponentialWindowIsAShiftOfTheFrequency) {
  const Model model = cantilever();
  ImpactOptions o = options();
  o.duration_s = 2;  // the first mode rings: exp(-2.4)
  const auto plain = impact_test(model, nominal(model), Operation::kHere, o);
  ASSERT_TRUE(plain.ok());
  EXPECT_NE(plain.diagnostics().text().find("W0964"), std::string::npos);
  o.window_end = 1e-4;
  const auto test = impact_test(model, nominal(model), Operation::kHere, o);
  ASSERT_TRUE(test.ok()) << test.diagnostics().text();
  EXPECT_EQ(test.diagnostics().text(), "");
  EXPECT_NEAR(test->data.window_decay, std::log(1e4) / 2, 1e-12);
  const auto lines = test->data.frequency_hz.size() - 1;
  const Eigen::MatrixXcd h =
      solved(model, o, test->data.frequency_hz.tail(lines), test->data.window_decay);
  EXPECT_LT(difference(test->data.h.bottomRows(lines), h), 2e-4);
  EXPECT_GT(plain->error, 10 * test->error);
}

TEST(Impact, AveragesLowerTheNoiseByTheRootOfTheirNumber) {
  const Model model = cantilever();
  ImpactOptions o = options();
  o.noise = 0.05;
  o.averages = 4;
  const auto few = impact_test(model, nominal(model), Operation::kHere, o);
  o.averages = 36;
  const auto many = impact_test(model, nominal(model), Operation::kHere, o);
  ASSERT_TRUE(few.ok() && many.ok());
  // 6,000 values of noise each; hits differ by 10 %.
  EXPECT_NEAR(few->error / many->error, 3, 0.3);
  EXPECT_LT(few->data.coherence.mean(), many->data.coherence.maxCoeff());
}

TEST(Impact, DoesNotDependOnThreads) {
  const Model model = cantilever();
  ImpactOptions o = options();
  o.noise = 0.01;
  o.hammer.clear();
  o.threads = 1;
  const auto one = impact_test(model, nominal(model), Operation::kHere, o);
  o.threads = 2;
  const auto two = impact_test(model, nominal(model), Operation::kHere, o);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->data.excitations.size(), 3U);
  EXPECT_EQ(one->data.h, two->data.h);
  o.seed = 2;
  EXPECT_NE(impact_test(model, nominal(model), Operation::kHere, o)->data.h, one->data.h);
}

// A link that is free to turn: its rigid motion has no stiffness, and no pole in accelerations.
TEST(Impact, FreeMachinesAndAxesOfBodies) {
  const auto model = load("single_flexible_link");
  ASSERT_TRUE(model.ok());
  const auto turned = with_pose(*model, {{"theta", 0.5}});
  ASSERT_TRUE(turned.ok());
  ImpactOptions o = options();
  o.accelerometers = {{"link.n3", {0, 1, 0}}, {"link.end", {0, 1, 0}}};
  o.hammer = {{"link.end", {0, 1, 0}}};
  o.damping = {0.02};
  o.sample_rate_hz = 512;
  o.to_hz = 150;
  o.pulse_s = 0.008;
  o.body_axes = true;
  const auto across = impact_test(*turned, nominal(*turned), Operation::kHere, o);
  ASSERT_TRUE(across.ok()) << across.diagnostics().text();
  EXPECT_NEAR(across->data.responses[0].direction.x(), -std::sin(0.5), 1e-12);
  EXPECT_NEAR(across->data.responses[0].direction.y(), std::cos(0.5), 1e-12);
  o.body_axes = false;
  const auto straight = impact_test(*model, nominal(*model), Operation::kHere, o);
  ASSERT_TRUE(straight.ok());
  // Without gravity the pose does not matter.
  EXPECT_LT(difference(across->exact, straight->exact), 1e-9);
  EXPECT_TRUE(straight->data.h.allFinite());
  // At rest the tip moves as the rigid link: L²/J per force, as long as nothing bends (J = ρ A L³/3 = m L²/3; m = 910 · 0.09² kg).
  EXPECT_NEAR(straight->exact(0, 1).real(), 3 / (910 * 0.09 * 0.09), 1e-6);
}

}  // namespace
}  // namespace panto
