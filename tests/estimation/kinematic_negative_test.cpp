// Bad readings: dropouts, what is not a number, saturated and frozen channels, stamps that repeat or go back. The observer goes on with what is left.
#include "panto/estimation/kinematic_observer.hpp"
#include "tests/estimation/kinematic_case.hpp"

namespace panto {
namespace {

constexpr double kStep = 1e-3;
const double kNone = std::nan("");

struct Arm {
  std::unique_ptr<Model> model = test::zoo_model("two_link");
  std::unique_ptr<KinematicObserver> observer;
  std::vector<double> q = std::vector<double>(2), v = q, a = q;

  explicit Arm(const std::string& filter = "ss_ukf", double hold = 0.005, int frozen = 5) {
    KinematicSettings s;
    s.filter = filter;
    s.system.top = TopState::kRandomWalk;
    s.system.noise.top = {1.0};
    s.system.fallback_noise.speed = {1.0};
    s.system.fallback_noise.top = {1e3};
    s.options.gate = 6;
    std::vector<KinematicChannel> inputs{{.name = "a1"}, {.name = "a2"}};
    for (KinematicChannel& c : inputs) {
      c.sigma = 0.05;
      c.lower = -50;
      c.upper = 50;
      c.frozen_after = frozen;
      c.hold = hold;
    }
    std::vector<KinematicChannel> sensors{{.name = "encoder1", .sigma = 2e-3},
                                          {.name = "encoder2", .sigma = 2e-3}};
    auto o = KinematicObserver::create(*model, nominal(*model), s, inputs, sensors);
    if (!o.ok()) throw std::runtime_error(o.diagnostics().text());
    observer = std::move(*o);
    EXPECT_EQ(observer->start(0, std::vector{0.0, 0.0}), Status::kOk);
  }
  // The arm swings: θ1 = 0.3 sin 3t, θ2 = 0.4 sin 5t.
  static std::vector<double> angles(double t) {
    return {0.3 * std::sin(3 * t), 0.4 * std::sin(5 * t)};
  }
  static std::vector<double> inputs(double t) {
    const double w1 = 0.9 * std::cos(3 * t), s1 = -2.7 * std::sin(3 * t),
                 s2 = -10 * std::sin(5 * t), th2 = 0.4 * std::sin(5 * t);
    return {0.25 * s1, 0.3 * s1 * std::cos(th2) + 0.3 * w1 * w1 * std::sin(th2) + 0.2 * (s1 + s2)};
  }
  double error(double t) {
    observer->motion(q, v, a);
    for (const auto* list : {&q, &v, &a})
      for (const double e : *list) EXPECT_TRUE(std::isfinite(e));
    const auto th = angles(t);
    return std::max(std::abs(q[0] - th[0]), std::abs(q[1] - th[1]));
  }
};

std::vector<double> noisy(std::vector<double> y, double sigma, std::uint64_t stream, int k) {
  for (size_t i = 0; i < y.size(); ++i)
    y[i] += sigma * normal(9, stream + i, static_cast<std::uint64_t>(k));
  return y;
}

TEST(BadReadings, AreNoticedAndTheRestIsUsed) {
  for (const char* filter : {"ekf", "ukf", "ss_ukf", "sr_ckf"}) {
    Arm arm(filter);
    double worst = 0;
    for (int k = 1; k <= 3000; ++k) {
      const double t = k * kStep;
      auto u = noisy(Arm::inputs(t), 0.05, 0, k), y = noisy(Arm::angles(t), 2e-3, 4, k);
      if (k >= 500 && k < 503) u[0] = kNone;                                    // a short dropout
      if (k >= 700 && k < 760) u[0] = u[1] = kNone;                             // a long one
      if (k >= 900 && k < 930) u[1] = std::numeric_limits<double>::infinity();  // not a number
      if (k >= 1100 && k < 1120) u[0] = 50;                                     // saturated
      if (k >= 1300 && k < 1330) u[1] = 1.25;                                   // frozen
      if (k >= 1500 && k < 1600) y[0] = y[1] = kNone;
      if (k >= 1700 && k < 1710) y[0] = -std::numeric_limits<double>::infinity();
      if (k == 1900) y[1] += 1;  // an outlier
      const KinematicReport& r = arm.observer->step(t, u, y);
      EXPECT_EQ(r.stamp, Stamp::kGood);
      EXPECT_EQ(r.status, Status::kOk) << filter << " " << k;
      worst = std::max(worst, arm.error(t));
      if (k == 501) {
        EXPECT_EQ(r.inputs[0], Reading::kHeld);
        EXPECT_EQ(r.inputs[1], Reading::kUsed);
      }
      if (k == 750) {
        EXPECT_EQ(r.inputs[0], Reading::kNone);
        EXPECT_TRUE(r.zone);
      }
      if (k == 910) {
        EXPECT_EQ(r.inputs[1], Reading::kNotFinite);
      }
      if (k == 1110) {
        EXPECT_EQ(r.inputs[0], Reading::kSaturated);
      }
      if (k == 1320) {
        EXPECT_EQ(r.inputs[1], Reading::kFrozen);
      }
      if (k == 1550) {
        EXPECT_EQ(r.sensors[0], Reading::kNone);
      }
      if (k == 1705) {
        EXPECT_EQ(r.sensors[0], Reading::kNotFinite);
      }
      if (k == 1900) {
        EXPECT_EQ(r.sensors[1], Reading::kRejected);
      }
    }
    EXPECT_LT(worst, 0.03) << filter;
    EXPECT_EQ(arm.observer->counts().restarts, 0) << filter;
    EXPECT_EQ(arm.observer->counts().bad_inputs[0], 20) << filter;
    EXPECT_EQ(arm.observer->counts().bad_inputs[1], 30 + 26) << filter;
    EXPECT_EQ(arm.observer->counts().bad_sensors[0], 10) << filter;
  }
}

TEST(BadStamps, AreNoticedAndChangeNothing) {
  Arm good, bad;
  for (int k = 1; k <= 300; ++k) {
    const double t = k * kStep;
    const auto u = noisy(Arm::inputs(t), 0.05, 0, k), y = noisy(Arm::angles(t), 2e-3, 4, k);
    good.observer->step(t, u, y);
    bad.observer->step(t, u, y);
    const std::vector<double> wrong{7.0, -7.0};
    EXPECT_EQ(bad.observer->step(t, wrong, wrong).stamp, Stamp::kRepeated);
    EXPECT_EQ(bad.observer->step(t - 0.01, wrong, wrong).stamp, Stamp::kBackward);
    EXPECT_EQ(bad.observer->step(kNone, wrong, wrong).stamp, Stamp::kJump);
    EXPECT_EQ(bad.observer->step(t + 1e6, wrong, wrong).stamp, Stamp::kJump);
  }
  EXPECT_EQ(bad.observer->counts().repeated, 300);
  EXPECT_EQ(bad.observer->counts().backward, 300);
  EXPECT_EQ(bad.observer->counts().jumps, 600);
  EXPECT_EQ(std::vector<double>(good.observer->filter().state().begin(),
                                good.observer->filter().state().end()),
            std::vector<double>(bad.observer->filter().state().begin(),
                                bad.observer->filter().state().end()));
}

// All is rubbish for a while, and huge: numbers stay numbers, and the observer finds back.
TEST(BadReadings, OfAnySizeLeaveNumbers) {
  for (const char* filter : {"ekf", "ukf", "ss_ukf", "ckf"}) {
    Arm arm(filter, 0, 0);
    for (int k = 1; k <= 4000; ++k) {
      const double t = k * kStep;
      auto u = noisy(Arm::inputs(t), 0.05, 0, k), y = noisy(Arm::angles(t), 2e-3, 4, k);
      if (k > 1000 && k < 1100) {
        u = {49 * std::sin(k), -49 * std::cos(7 * k)};
        y = {1e300 * std::cos(k), 1e200};
      }
      arm.observer->step(t, u, y);
      const double e = arm.error(t);
      if (k == 4000) {
        EXPECT_LT(e, 0.02) << filter;
      }
    }
  }
}

TEST(Settings, ThatCannotBeAreRefused) {
  const auto model = test::zoo_model("two_link");
  const std::vector<KinematicChannel> inputs{{.name = "a1"}, {.name = "a2"}},
      sensors{{.name = "encoder1"}, {.name = "encoder2"}};
  const auto text = [&](const KinematicSettings& s, const std::vector<KinematicChannel>& u,
                        const std::vector<KinematicChannel>& y, const Model& m) {
    return KinematicObserver::create(m, nominal(m), s, u, y).diagnostics().text();
  };
  EXPECT_EQ(text({}, inputs, sensors, *model), "");
  KinematicSettings s;
  s.filter = "error_ekf";
  EXPECT_NE(text(s, inputs, sensors, *model).find("E0801"), std::string::npos);
  EXPECT_NE(text({}, {{.name = "a7"}}, sensors, *model).find("E0802"), std::string::npos);
  EXPECT_NE(text({}, {}, {}, *model).find("E0802"), std::string::npos);
  EXPECT_NE(text({}, inputs, {{.name = "theta1"}}, *model).find("E0803"), std::string::npos);
  EXPECT_NE(text({}, {{.name = "encoder1"}}, sensors, *model).find("E0805"), std::string::npos);
  s = {};
  s.system.order = 1;
  EXPECT_NE(
      text(s, {{.name = "theta1_dot", .sigma = 1}}, {{.name = "theta2_dot", .sigma = 1}}, *model)
          .find("what the state does not hold"),
      std::string::npos);
  s = {};
  s.system.top = TopState::kNewmarkPosition;
  EXPECT_NE(text(s, inputs, sensors, *model).find("E0805"), std::string::npos);
  s = {};
  s.system.leave = -1;
  s.system.noise.top = {1, 2, 3};
  s.sigma_speeds = {0};
  EXPECT_NE(text(s, inputs, sensors, *model).find("E0804"), std::string::npos);
  EXPECT_NE(text({}, {{.name = "slider_accelerometer"}}, {{.name = "crank_encoder"}},
                 *test::zoo_model("slider_crank_kkf"))
                .find("without its drivers"),
            std::string::npos);
  EXPECT_NE(text({}, inputs, sensors, *test::zoo_model("gantry_crane")).find("velocity-controlled"),
            std::string::npos);
}

}  // namespace
}  // namespace panto
