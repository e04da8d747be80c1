// What the inputs say of the motion, against the closed forms of the mechanisms: Palomba's (2.23) and (2.24), and accelerometers that turn.
#include "tests/estimation/kinematic_case.hpp"

namespace panto {
namespace {

using test::KinematicCase;
using test::view;

// Round-off, beside what the lever arm of the slider magnifies.
constexpr double kTolerance = 1e-12;

struct SliderCrank {
  double l1 = 0.1, l2 = 0.25;
  [[nodiscard]] double theta2(double th1) const { return std::acos(-l1 / l2 * std::cos(th1)); }
  // (2.23) outside the singular zone.
  [[nodiscard]] double acceleration(double th1, double rate, double a) const {
    const double th2 = theta2(th1), k = -l1 * std::sin(th1) / (l2 * std::sin(th2));
    return (std::sin(th2) * a + (l2 * k * k + l1 * std::cos(th2 - th1)) * rate * rate) /
           (l1 * std::sin(th2 - th1));
  }
};

TEST(SliderCrankInputs, GiveTheCrankAccelerationOfPalombasEquation) {
  const SliderCrank exact;
  KinematicOptions options;
  options.top = TopState::kCombined;
  KinematicCase c(*test::zoo_model("slider_crank_inline"), {"slider_accelerometer"}, 0.03,
                  {"crank_encoder"}, 0.003, options);
  int compared = 0;
  for (int k = 0; k < 200; ++k) {
    const double th = -3.1 + 0.031 * k, rate = 12.56 + 1.256 * std::sin(0.3 * k),
                 a = 20 * std::sin(0.7 * k);
    const double th2 = exact.theta2(th);
    if (std::abs(std::sin(th2 - th)) < std::sin(0.08)) continue;
    c.q(0) = th;
    c.q(1) = th2 - th;
    c.q(2) = exact.l1 * std::sin(th) + exact.l2 * std::sin(th2);
    c.v.setZero();
    c.v(0) = rate;
    c.system->pack(view(c.q), view(c.v), c.x);
    c.system->set_inputs(std::vector{a}, std::vector{a});
    double s = 0, margin = 0;
    ASSERT_EQ(c.system->from_inputs(0, c.x, MutableView(&s, 1), margin), Status::kOk);
    const double printed = exact.acceleration(th, rate, a);
    EXPECT_NEAR(s, printed, kTolerance * (1 + std::abs(printed)) / std::abs(std::sin(th2 - th)));
    EXPECT_NEAR(margin, std::abs(exact.l1 * std::sin(th2 - th) / std::sin(th2)), 1e-12);
    // One Euler step with gamma = 1: the discrete equations of the test.
    std::vector<double> out(c.x.size());
    c.x[c.x.size() - 1] = 0.7;
    ASSERT_EQ(c.system->step(0, 1e-3, c.x, out), Status::kOk);
    EXPECT_NEAR(out[0], th + 1e-3 * rate, 1e-14);
    EXPECT_NEAR(out[3], rate + 1e-3 * printed, kTolerance * (1 + std::abs(printed)));
    // A difference of speeds by the step: their round-off, a thousand times.
    EXPECT_NEAR(c.system->top(out)[0], printed, 10 * kTolerance * (1 + std::abs(printed)));
    ++compared;
  }
  EXPECT_GT(compared, 150);
}

TEST(TwoLinkInputs, GiveTheJointAccelerationsOfPalombasEquation) {
  KinematicCase c(*test::zoo_model("two_link"), {"a1", "a2"}, 0.05, {"encoder1", "encoder2"}, 0.003,
                  {});
  const double l1 = 0.3, d1 = 0.25, d2 = 0.2;
  for (int k = 0; k < 100; ++k) {
    const double th2 = -3 + 0.06 * k, w1 = 4 * std::sin(0.4 * k), w2 = 5 * std::cos(0.9 * k),
                 a1 = 3 * std::sin(1.3 * k), a2 = 30 * std::cos(0.2 * k);
    c.q << 0.3 * k, th2;
    c.v << w1, w2;
    c.system->pack(view(c.q), view(c.v), c.x);
    c.system->set_inputs(std::vector{a1, a2}, std::vector{a1, a2});
    std::vector<double> s(2);
    double margin = 0;
    ASSERT_EQ(c.system->from_inputs(0, c.x, s, margin), Status::kOk);
    // (2.24)
    const double s2 =
        -a1 * (l1 * std::cos(th2) + d2) / (d1 * d2) + (a2 - l1 * std::sin(th2) * w1 * w1) / d2;
    EXPECT_NEAR(s[0], a1 / d1, kTolerance * (1 + std::abs(a1 / d1)));
    EXPECT_NEAR(s[1], s2, kTolerance * (1 + std::abs(s2)));
  }
}

// Rate of the slider y' = L1 sin(θ2 - θ1)/sin θ2 ... θ1': a model of first order.
TEST(SliderCrankInputs, OfVelocityGiveTheCrankSpeed) {
  const SliderCrank exact;
  KinematicOptions options;
  options.order = 1;
  KinematicCase c(*test::zoo_model("slider_crank_inline"), {"slider_v"}, 0.03, {"crank_encoder"},
                  0.003, options);
  for (int k = 0; k < 30; ++k) {
    const double th = 0.1 * k - 1.2, u = std::cos(k), th2 = exact.theta2(th);
    c.q << th, th2 - th, exact.l1 * std::sin(th) + exact.l2 * std::sin(th2);
    c.system->pack(view(c.q), view(c.v), c.x);
    c.system->set_inputs(std::vector{u}, std::vector{u});
    double s = 0, margin = 0;
    ASSERT_EQ(c.system->from_inputs(0, c.x, MutableView(&s, 1), margin), Status::kOk);
    const double slope = -exact.l1 * std::sin(th2 - th) / std::sin(th2);
    // dy/dθ1 = L1 cos θ1 + L2 cos θ2 K
    const double y1 = exact.l1 * std::cos(th) - exact.l1 * std::sin(th) / std::tan(th2);
    EXPECT_NEAR(std::abs(slope), std::abs(y1), 1e-14);
    EXPECT_NEAR(s, u / y1, kTolerance * (1 + std::abs(u / y1)));
    // The state is z alone, and its speed is what the input says.
    EXPECT_EQ(c.system->size(), 1);
    EXPECT_NEAR(c.system->v(c.x)[0], u / y1, kTolerance * (1 + std::abs(u / y1)));
  }
}

// More inputs than unknowns: the weighted least squares solution, here of two sensors that disagree.
TEST(TwoLinkInputs, ThatAreRedundantCountByTheirNoise) {
  const auto source = test::zoo_model("two_link");
  KinematicCase c(*source, {"a1", "a2", "a1"}, 0.05, {"encoder1", "encoder2"}, 0.003, {});
  const auto workspace = Workspace::create(*source, nominal(*source));
  workspace->choose_partition(0, view(c.q), true);
  std::vector<InputSensor> inputs(3);
  for (int i = 0; i < 3; ++i)
    inputs[static_cast<size_t>(i)].output = find_output(*source, i == 1 ? "a2" : "a1");
  inputs[0].sigma = 0.1;
  inputs[1].sigma = 1;
  inputs[2].sigma = 0.2;
  KinematicSystem system(*workspace, inputs, {}, {});
  std::vector<double> x(static_cast<size_t>(system.storage())), s(2);
  system.pack(view(c.q), view(c.v), x);
  const std::vector<double> u{1.0, 2.0, 2.0};
  system.set_inputs(u, u);
  double margin = 0;
  ASSERT_EQ(system.from_inputs(0, x, s, margin), Status::kOk);
  EXPECT_NEAR(s[0], (4 * 1.0 + 1 * 2.0) / 5 / 0.25, 1e-12);
  // Without a reading of the first, the third stands alone; without both nothing is known.
  const double none = std::nan("");
  const std::vector<double> less{none, 2.0, 2.0}, least{none, 2.0, none};
  system.set_inputs(less, less);
  ASSERT_EQ(system.from_inputs(0, x, s, margin), Status::kOk);
  EXPECT_NEAR(s[0], 2.0 / 0.25, 1e-12);
  system.set_inputs(least, least);
  EXPECT_EQ(system.from_inputs(0, x, s, margin), Status::kSingular);
  EXPECT_EQ(margin, 0);
}

// Gravity: an accelerometer at rest reads it, and the observer does not take it for motion.
TEST(ExcavatorInputs, OfAnArmAtRestSayThatItRests) {
  KinematicCase c(*test::zoo_model("excavator"), {"a1", "a2", "a3"}, 0.03, {"boom_encoder"}, 0.006,
                  {});
  std::vector<double> u(3), s(3);
  // Readings of the true arm, at rest.
  std::vector<double> zero(3, 0.0);
  Point p;
  p.q = view(c.q);
  p.v = p.a = zero;
  const std::vector<int> outputs{find_output(*c.model, "a1"), find_output(*c.model, "a2"),
                                 find_output(*c.model, "a3")};
  c.workspace->readings(p, outputs, u);
  EXPECT_GT(std::abs(u[0]), 1);
  c.system->set_inputs(u, u);
  double margin = 0;
  ASSERT_EQ(c.system->from_inputs(0, c.x, s, margin), Status::kOk);
  for (const double e : s) EXPECT_NEAR(e, 0, 1e-12);
}

}  // namespace
}  // namespace panto
