// Forces from a motion, against closed forms: the offset slider-crank in one coordinate, a payload by the weight it adds.
#include "panto/estimation/force_observer.hpp"
#include "tests/estimation/kinematic_case.hpp"
#include "validation/papers/palomba/offset_slider_crank.hpp"

namespace panto {
namespace {

using test::view;

std::unique_ptr<ForceObserver> made(const Model& model, const ForceSettings& s) {
  auto o = ForceObserver::create(model, nominal(model), s);
  if (!o.ok()) throw std::runtime_error(o.diagnostics().text());
  return std::move(*o);
}

ForceSettings slider_crank(ForceForm form) {
  ForceSettings s;
  s.form = form;
  s.measured = {{.name = "T", .sigma = 0.28}};
  s.unknown.resize(1);
  s.unknown[0].name = "F";
  return s;
}

// q, v, a of the whole mechanism at θ.
struct Motion {
  std::vector<double> q = std::vector<double>(3), v = q, a = q;
  Motion(const Model& model, double th, double rate, double acceleration) {
    validation::palomba::OffsetSliderCrank crank;
    crank.at(th);
    const auto w = Workspace::create(model, nominal(model));
    q = {th, crank.phi - th, crank.slider};
    w->choose_partition(0, q, true);
    EXPECT_EQ(w->close_positions(0, q), Status::kOk);
    v[0] = rate;
    EXPECT_EQ(w->close_velocities(0, {}, v), Status::kOk);
    a[0] = acceleration;
    w->close_accelerations(v, {}, {}, a);
  }
};

TEST(SliderCrankForces, AreThoseOfTheOneCoordinateEquation) {
  const auto model = test::zoo_model("slider_crank");
  const auto f12 = made(*model, slider_crank(ForceForm::kF12)),
             f21 = made(*model, slider_crank(ForceForm::kF21));
  validation::palomba::OffsetSliderCrank crank;
  for (int k = 0; k < 60; ++k) {
    const double th = 0.21 * k - 3, rate = 8 * std::sin(0.3 * k), acceleration = 40 * std::cos(k),
                 force = 50 * std::sin(0.7 * k);
    crank.at(th);
    const Motion m(*model, th, rate, acceleration);
    const std::vector<double> none(2, 0.0);
    ASSERT_EQ(f12->system().set_motion(0, m.q, m.v, m.a, none), Status::kOk);
    double torque = 0, back = 0;
    f12->system().solve(std::vector{force}, MutableView(&torque, 1));
    const double printed = crank.torque(rate, acceleration, force);
    EXPECT_NEAR(torque, printed, 1e-10 * (1 + std::abs(printed)));
    EXPECT_NEAR(f12->system().margin(), 1, 1e-14);
    ASSERT_EQ(f21->system().set_motion(0, m.q, m.v, m.a, none), Status::kOk);
    f21->system().solve(std::vector{printed}, MutableView(&back, 1));
    EXPECT_NEAR(f21->system().margin(), std::abs(crank.x1), 1e-12);
    // Near the dead centres 1/|x'| magnifies the round-off.
    EXPECT_NEAR(back, force, 1e-10 * (1 + 1 / std::abs(crank.x1)));
  }
}

// f21 is singular at the dead centres: there the force goes on by itself, and nothing becomes infinite.
TEST(SliderCrankForces, GoOnByThemselvesAtDeadCentres) {
  const auto model = test::zoo_model("slider_crank");
  ForceSettings s = slider_crank(ForceForm::kF21);
  s.enter = 0.03;
  s.leave = 0.04;
  s.measured_walk = 1e3;  // the torque is what its readings say
  const auto o = made(*model, s);
  validation::palomba::OffsetSliderCrank crank;
  const double force = 30, rate = 6;
  int entered = 0;
  bool zone = false;
  for (int k = 0; k <= 2000; ++k) {
    const double t = 1e-3 * k, th = 0.5 + rate * t;
    crank.at(th);
    const Motion m(*model, th, rate, 0);
    const double torque = crank.torque(rate, 0, force);
    if (k == 0) {
      ASSERT_EQ(o->start(0, m.q, m.v, m.a, std::vector{torque}), Status::kOk);
      continue;
    }
    const ForceReport& r = o->step(t, m.q, m.v, m.a, std::vector{torque});
    ASSERT_EQ(r.status, Status::kOk);
    if (r.zone && !zone) ++entered;
    zone = r.zone;
    ASSERT_TRUE(std::isfinite(o->unknown()[0]));
    // What the filter of the torque leaves, over the smallest lever arm.
    if (t > 0.01) {
      EXPECT_NEAR(o->unknown()[0], force, 0.01) << t;
    }
  }
  EXPECT_EQ(entered, 3);
}

TEST(Payload, IsFoundByTheForcesThatHoldIt) {
  const auto model = test::zoo_model("excavator");
  ForceSettings s;
  for (const char* name : {"F1", "F2", "F3"}) s.measured.push_back({.name = name, .sigma = 1});
  s.unknown.resize(1);
  s.unknown[0].name = "bucket.load";
  s.unknown[0].payload = true;
  const auto o = made(*model, s);
  const auto w = Workspace::create(*model, nominal(*model));
  const auto start = assemble(*w);
  ASSERT_TRUE(start.ok());
  // The same arm with 500 kg more in the bucket, in motion: forces by inverse dynamics of that model.
  Model loaded = *model;
  Solid mass;
  mass.kind = SolidKind::kPointMass;
  const auto number = [&](double value) {
    loaded.slots.push_back(Expression::constant(value));
    return static_cast<Slot>(loaded.slots.size() - 1);
  };
  mass.mass = number(500);
  mass.at = {number(0.7), number(0.25), -1};
  loaded.bodies[2].solids.push_back(mass);
  const auto heavy = Workspace::create(loaded, nominal(loaded));
  const std::vector<double> q(start->q.begin(), start->q.end()), v{0.2, -0.3, 0.5}, a{0.7, 1.1, -2};
  Point p;
  p.q = q;
  p.v = v;
  p.a = a;
  std::vector<double> u(model->inputs.size(), 0.0);
  p.u = u;
  InverseDynamics found;
  ASSERT_EQ(inverse_dynamics(*heavy, p, std::vector{0, 1, 2}, found), Status::kOk);
  ASSERT_EQ(o->system().set_motion(0, q, v, a, u), Status::kOk);
  std::vector<double> forces(3);
  o->system().solve(std::vector{500.0}, forces);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(forces[static_cast<size_t>(i)], found.u(i), 1e-9 * std::abs(found.u(i)));
}

}  // namespace
}  // namespace panto
