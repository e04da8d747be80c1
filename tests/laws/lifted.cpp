// A planar model placed in the x-y plane of space, and the comparison of both.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "panto/mechanics/closure.hpp"
#include "tests/laws/laws.hpp"

namespace panto::laws {

namespace {

constexpr double kAgreement = 1e-9;

void lift(Channel& c) {
  if (c.kind == ChannelKind::kAngularRate) c.axis = 2;
}

bool is_angle(const Channel& c) { return c.kind == ChannelKind::kAngle; }

// In space an angle is known up to full turns; the element that acts on it must not notice.
bool angles_within_a_turn(Workspace& w, const Sample& s) {
  const auto inside = [&](const Channel& c) {
    return !is_angle(c) ||
           std::abs(w.channel(c, Order::kValue, view(s.q), {}, {})) < 0.99 * std::numbers::pi;
  };
  const Model& m = w.model();
  for (const ForceElement& e : m.forces)
    if (!inside(e.channel)) return false;
  for (const ConstraintRow& e : m.rows)
    if (!inside(e.channel)) return false;
  return true;
}

void expect_equal(const char* name, const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  ASSERT_EQ(a.size(), b.size()) << name;
  if (a.size() == 0) return;
  // What is zero in both spaces is compared as round-off of quantities of order one.
  const double scale = std::max(1e-6, std::max(a.cwiseAbs().maxCoeff(), b.cwiseAbs().maxCoeff()));
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), kAgreement * scale)
      << name << "\n planar  " << a.transpose() << "\n spatial " << b.transpose();
}

}  // namespace

Model lifted(const Model& planar) {
  Model m = planar;
  m.space = SpaceKind::kSpatial;
  for (Frame& f : m.frames) f.rotation = {-1, -1, f.rotation[0]};
  for (Body& b : m.bodies)
    for (Solid& s : b.solids) {
      // Inertias that the plane does not feel: any that make a body possible.
      if (s.kind == SolidKind::kExplicit)
        s.numbers = {s.numbers[0], s.numbers[0], s.numbers[0], -1, -1, -1};
      if (s.kind == SolidKind::kCylinder) s.axis = 2;
    }
  for (ConstraintRow& r : m.rows) lift(r.channel);
  for (ForceElement& e : m.forces) lift(e.channel);
  for (Actuator& e : m.actuators) lift(e.channel);
  for (Output& e : m.outputs) lift(e.channel);
  for (Condition& e : m.initial) lift(e.channel);
  return m;
}

void planar_equals_spatial(const Model& planar, const Sample& s) {
  const Model spatial = lifted(planar);
  const auto p = Workspace::create(planar, nominal(planar)),
             w = Workspace::create(spatial, nominal(spatial));
  if (!angles_within_a_turn(*p, s)) return;
  Residual a, b;
  p->residual(s.point(), true, a);
  w->residual(s.point(), true, b);
  expect_equal("r", a.r, b.r);
  expect_equal("phi_dot", a.phi_dot, b.phi_dot);
  expect_equal("phi_ddot", a.phi_ddot, b.phi_ddot);
  const double length = p->length();
  EXPECT_LT((a.phi - b.phi).norm(), kAgreement * length);
  ASSERT_EQ(a.y.size(), b.y.size());
  for (Eigen::Index i = 0; i < a.y.size(); ++i) {
    const Output& o = planar.outputs[static_cast<size_t>(i)];
    double difference = a.y(i) - b.y(i);
    if (o.kind == OutputKind::kChannel && o.order == Order::kValue && is_angle(o.channel))
      difference = std::remainder(difference, 2 * std::numbers::pi);
    EXPECT_NEAR(difference, 0, kAgreement * (1 + std::abs(a.y(i)))) << "output " << o.name;
  }
  const Energy ea = p->energy(view(s.q), view(s.v)), eb = w->energy(view(s.q), view(s.v));
  const double energy = 1e-9 + ea.kinetic + std::abs(ea.potential);
  EXPECT_NEAR(ea.kinetic, eb.kinetic, kAgreement * energy);
  EXPECT_NEAR(ea.potential, eb.potential, kAgreement * energy);

  Eigen::VectorXd acceleration_a, acceleration_b, lambda_a, lambda_b;
  ASSERT_EQ(p->forward_dynamics(s.point(), acceleration_a, lambda_a), Status::kOk);
  ASSERT_EQ(w->forward_dynamics(s.point(), acceleration_b, lambda_b), Status::kOk);
  expect_equal("a", acceleration_a, acceleration_b);
  expect_equal("lambda", lambda_a, lambda_b);
  Sample solved = s;
  solved.a = acceleration_a;
  solved.lambda = lambda_a;
  std::vector<JointReaction> ra, rb;
  p->reactions(solved.point(), ra);
  w->reactions(solved.point(), rb);
  ASSERT_EQ(ra.size(), rb.size());
  double scale = 1e-9;
  for (const JointReaction& r : ra)
    for (size_t k = 0; k < 3; ++k)
      scale = std::max({scale, std::abs(r.force[k]), std::abs(r.torque[k])});
  for (size_t i = 0; i < ra.size(); ++i)
    for (size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(ra[i].force[k], rb[i].force[k], kAgreement * scale) << planar.joints[i].name;
  for (size_t i = 0; i < ra.size(); ++i)
    EXPECT_NEAR(ra[i].torque[2], rb[i].torque[2], kAgreement * scale) << planar.joints[i].name;
}

}  // namespace panto::laws
