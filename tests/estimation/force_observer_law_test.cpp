// The two stages: coupled one way only, without allocation, right derivatives for every law of forces.
#include "panto/estimation/force_observer.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/estimation/kinematic_case.hpp"
#include "validation/papers/palomba/offset_slider_crank.hpp"

namespace panto {
namespace {

constexpr double kStep = 1e-3;

std::unique_ptr<KinematicObserver> kinematic(const Model& model, const std::string& filter) {
  KinematicSettings s;
  s.filter = filter;
  s.system.top = TopState::kCombined;
  s.system.enter = 0.1;
  s.system.leave = 0.12;
  s.system.noise.top = {1e3};
  s.system.fallback_noise.top = {1e3};
  auto o = KinematicObserver::create(model, nominal(model), s, {{.name = "slider_accelerometer"}},
                                     {{.name = "crank_encoder"}});
  if (!o.ok()) throw std::runtime_error(o.diagnostics().text());
  return std::move(*o);
}

ForceSettings forces(ForceForm form, ForceLaw law) {
  ForceSettings s;
  s.form = form;
  s.measured = {{.name = "T", .sigma = 0.28}};
  s.unknown.resize(1);
  UnknownForce& f = s.unknown[0];
  f.name = "F";
  f.law = law;
  f.walk = law == ForceLaw::kColoured ? 1e4 : 30;
  f.sigma = 50;
  f.start_sigma = 50;
  f.user = [](double t, double dt, double force) {
    return force + dt * (20 * std::cos(3 * t) - 0.01 * force * std::abs(force));
  };
  s.enter = form == ForceForm::kF21 ? 0.05 : 0;
  s.leave = s.enter;
  return s;
}

struct Course {
  std::vector<double> kinematic, unknown;
};
Course run(const Model& model, const std::string& filter, const ForceSettings& settings,
           double torque_noise, bool stamps) {
  auto second = ForceObserver::create(model, nominal(model), settings);
  if (!second.ok()) throw std::runtime_error(second.diagnostics().text());
  TwoStageObserver o(kinematic(model, filter), std::move(*second));
  validation::palomba::OffsetSliderCrank crank;
  Course out;
  const std::vector<double> q0{0.5, -0.6, 0.85}, v0{6, 0, 0};
  EXPECT_EQ(o.kinematic().start(0, q0, v0, std::vector{0.0}), Status::kOk);
  EXPECT_EQ(o.start(std::vector{0.0}), Status::kOk);
  long allocated = 0;
  std::vector<double> u(1), y(1), f(1);
  for (int k = 1; k <= 1500; ++k) {
    const double t = k * kStep, th = 0.5 + 6 * t;
    crank.at(th);
    const auto n = static_cast<std::uint64_t>(k);
    u[0] = crank.slider_acceleration(6, 0) + 0.05 * normal(2, 0, n);
    y[0] = th + 0.003 * normal(2, 1, n);
    f[0] = crank.torque(6, 0, 30) + torque_noise * normal(2, 2, n);
    if (torque_noise > 1 && k % 7 == 0) f[0] = std::nan("");
    const long before = calls;
    o.step(t, u, y, f);
    if (stamps) o.step(t - 0.5, u, y, f);
    allocated += calls - before;
    EXPECT_TRUE(std::isfinite(o.force().unknown()[0]));
    out.kinematic.insert(out.kinematic.end(), o.kinematic().filter().state().begin(),
                         o.kinematic().filter().state().end());
    out.unknown.push_back(o.force().unknown()[0]);
  }
  EXPECT_EQ(allocated, 0);
  return out;
}

// Palomba's independence: the first stage is the same to the last bit whatever the force model, its tuning or the torque's noise.
TEST(TwoStages, AreCoupledOneWayOnly) {
  const auto model = test::zoo_model("slider_crank");
  for (const char* filter : {"ekf", "ss_ukf"}) {
    const Course first =
        run(*model, filter, forces(ForceForm::kF12, ForceLaw::kRandomWalk), 0.28, false);
    for (const ForceForm form : {ForceForm::kF12, ForceForm::kF21})
      for (const ForceLaw law :
           {ForceLaw::kRandomWalk, ForceLaw::kLowPass, ForceLaw::kColoured, ForceLaw::kUser}) {
        ForceSettings s = forces(form, law);
        s.motion = law == ForceLaw::kLowPass ? MotionAt::kEnd : MotionAt::kBegin;
        s.filter = law == ForceLaw::kUser ? "ekf" : "ukf";
        const Course other = run(*model, filter, s, 100, true);
        ASSERT_EQ(first.kinematic, other.kinematic);
        EXPECT_NE(first.unknown, other.unknown);
      }
  }
}

TEST(ForceLaws, HaveTheDerivativesOfTheirSteps) {
  const auto model = test::zoo_model("slider_crank");
  for (const ForceForm form : {ForceForm::kF12, ForceForm::kF21})
    for (const ForceLaw law :
         {ForceLaw::kRandomWalk, ForceLaw::kLowPass, ForceLaw::kColoured, ForceLaw::kUser})
      for (const auto& [zone, motion] :
           {std::pair{false, MotionAt::kBegin}, {false, MotionAt::kEnd}, {true, MotionAt::kEnd}}) {
        ForceSettings s = forces(form, law);
        s.motion = motion;
        s.enter = s.leave = zone ? 100 : 0;
        const auto o = ForceObserver::create(*model, nominal(*model), s);
        ASSERT_TRUE(o.ok());
        ForceSystem& f = (*o)->system();
        std::vector<double> q{0.5, -0.6, 0.85}, v{6, 0, 0}, a{3, 0, 0}, u{0, 0};
        const auto w = Workspace::create(*model, nominal(*model));
        w->choose_partition(0, q, true);
        ASSERT_EQ(w->close_positions(0, q), Status::kOk);
        ASSERT_EQ(w->close_velocities(0, {}, v), Status::kOk);
        w->close_accelerations(v, {}, {}, a);
        EXPECT_EQ(f.set_motion(0, q, v, a, u), zone ? Status::kSingular : Status::kOk);
        const int n = f.size();
        std::vector<double> x(static_cast<size_t>(n), 7.0), out(x), plus(x), minus(x);
        Eigen::MatrixXd exact(n, n);
        ASSERT_EQ(f.step(0.1, 0.01, x, out), Status::kOk);
        ASSERT_EQ(f.transition(0.1, 0.01, x, out, exact), Status::kOk);
        for (int k = 0; k < n; ++k) {
          std::vector<double> changed = x;
          changed[static_cast<size_t>(k)] += 1e-3;
          ASSERT_EQ(f.step(0.1, 0.01, changed, plus), Status::kOk);
          changed[static_cast<size_t>(k)] -= 2e-3;
          ASSERT_EQ(f.step(0.1, 0.01, changed, minus), Status::kOk);
          for (int i = 0; i < n; ++i)
            EXPECT_NEAR(exact(i, k),
                        (plus[static_cast<size_t>(i)] - minus[static_cast<size_t>(i)]) / 2e-3,
                        1e-8);
        }
      }
}

// A constant force under a low-pass law, read almost without noise: found where readings belong to the end of a step, and a decay of one step too small
// where they belong to its begin.
TEST(ForceLaws, OfALowPassDecayBeforeTheReadingOrAfterIt) {
  const auto model = test::zoo_model("slider_crank");
  for (const MotionAt motion : {MotionAt::kBegin, MotionAt::kEnd}) {
    ForceSettings s = forces(ForceForm::kF12, ForceLaw::kLowPass);
    s.filter = "ekf";
    s.motion = motion;
    s.measured[0].sigma = 1e-3;
    s.model_sigma = {1e-3};
    s.unknown[0].sigma = 1e3;
    const auto o = ForceObserver::create(*model, nominal(*model), s);
    ASSERT_TRUE(o.ok());
    std::vector<double> q{0.5, -0.6, 0.85}, v{0, 0, 0}, a{0, 0, 0};
    const auto w = Workspace::create(*model, nominal(*model));
    w->choose_partition(0, q, true);
    ASSERT_EQ(w->close_positions(0, q), Status::kOk);
    validation::palomba::OffsetSliderCrank crank;
    crank.at(q[0]);
    const std::vector<double> torque{crank.torque(0, 0, 30)};
    ASSERT_EQ((*o)->start(0, q, v, a, torque), Status::kOk);
    for (int k = 1; k <= 100; ++k) (*o)->step(k * kStep, q, v, a, torque);
    const double decay = std::exp(-20 * std::numbers::pi * kStep);
    // The reading's deviation over the lever arm, 1e-2 N, weighs 1e-10 of the force's.
    EXPECT_NEAR((*o)->unknown()[0], motion == MotionAt::kEnd ? 30 : 30 * decay, 1e-6);
  }
}

// A low-pass force without readings fades with its bandwidth; its deviation is the one given.
TEST(ForceLaws, OfALowPassHaveItsBandwidthAndItsDeviation) {
  const auto model = test::zoo_model("slider_crank");
  ForceSettings s = forces(ForceForm::kF12, ForceLaw::kLowPass);
  const auto o = ForceObserver::create(*model, nominal(*model), s);
  ASSERT_TRUE(o.ok());
  Filter& filter = (*o)->filter();
  Eigen::MatrixXd p0, p;
  (*o)->system().initial_covariance(p0);
  std::vector<double> q{0.5, -0.6, 0.85}, v{0, 0, 0}, a{0, 0, 0}, u{0, 0};
  (void)(*o)->system().set_motion(0, q, v, a, u);
  ASSERT_EQ(filter.start(0, std::vector{0.0, 10.0}, p0), Status::kOk);
  // 10 Hz: a time constant of 1/20π s.
  for (int k = 0; k < 100; ++k) ASSERT_EQ(filter.step(1e-3, {}, {}), Status::kOk);
  EXPECT_NEAR(filter.state()[1], 10 * std::exp(-20 * std::numbers::pi * 0.1), 1e-12);
  filter.covariance(p);
  EXPECT_NEAR(std::sqrt(p(1, 1)), 50, 1e-6);
}

TEST(ForceSettings, ThatCannotBeAreRefused) {
  const auto model = test::zoo_model("slider_crank");
  const auto text = [&](const ForceSettings& s) {
    return ForceObserver::create(*model, nominal(*model), s).diagnostics().text();
  };
  ForceSettings good = forces(ForceForm::kF12, ForceLaw::kRandomWalk);
  EXPECT_EQ(text(good), "");
  ForceSettings s = good;
  s.filter = "kalman";
  EXPECT_NE(text(s).find("E0801"), std::string::npos);
  s = good;
  s.unknown[0].name = "G";
  EXPECT_NE(text(s).find("E0802"), std::string::npos);
  s.unknown[0].payload = true;
  EXPECT_NE(text(s).find("E0802"), std::string::npos);
  s = good;
  s.measured[0].sigma = 0;
  EXPECT_NE(text(s).find("E0803"), std::string::npos);
  s = good;
  s.unknown[0].walk = -1;
  s.model_sigma = {1, 2, 3};
  EXPECT_NE(text(s).find("E0804"), std::string::npos);
  s = good;
  s.measured.clear();
  EXPECT_NE(text(s).find("E0805"), std::string::npos);
  s = good;
  s.unknown[0].name = "T";
  EXPECT_NE(text(s).find("named twice"), std::string::npos);
  s = good;
  s.unknown.clear();
  EXPECT_NE(text(s).find("E0805"), std::string::npos);
}

}  // namespace
}  // namespace panto
