// Closed forms: pendulum, double pendulum by its Lagrangian, reactions at rest and in motion.
#include <gtest/gtest.h>

#include <cmath>

#include "panto/mechanics/closure.hpp"
#include "panto/mechanics/test/model_builder.hpp"

namespace panto {
namespace {

using test::ModelBuilder;
constexpr double kRoundOff = 1e-13;
constexpr double kG = 9.81;

struct Forward {
  Eigen::VectorXd a, lambda;
};
Forward forward(Workspace& w, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  Point p;
  p.q = view(q);
  p.v = view(v);
  Forward f;
  EXPECT_EQ(w.forward_dynamics(p, f.a, f.lambda), Status::kOk);
  return f;
}

// Bars from the ground pivot, angles from the x axis, gravity along -y, in either space.
ModelBuilder chain(SpaceKind space, const std::vector<double>& mass,
                   const std::vector<double>& length) {
  ModelBuilder b(space);
  b.gravity(0, -kG);
  int parent = kGround, frame = -1;
  for (size_t i = 0; i < mass.size(); ++i) {
    parent = b.body("link" + std::to_string(i), JointType::kRevolute, parent, frame, -1,
                    {b.bar(mass[i], length[i])});
    frame = b.frame(parent, {length[i], 0});
  }
  return b;
}

class EitherSpace : public testing::TestWithParam<SpaceKind> {};
INSTANTIATE_TEST_SUITE_P(Spaces, EitherSpace,
                         testing::Values(SpaceKind::kPlanar, SpaceKind::kSpatial));

TEST_P(EitherSpace, BarPendulumFallsAsItsClosedForm) {
  const double m = 2.5, l = 1.3;
  const ModelBuilder b = chain(GetParam(), {m}, {l});
  const auto w = Workspace::create(b.model, nominal(b.model));
  for (const double angle : {-1.4, 0.0, 0.7, 2.9}) {
    const Eigen::VectorXd q = Eigen::VectorXd::Constant(1, angle),
                          v = Eigen::VectorXd::Constant(1, 2);
    EXPECT_NEAR(forward(*w, q, v).a(0), -1.5 * kG / l * std::cos(angle), kRoundOff * 20);
    const Energy e = w->energy(view(q), view(v));
    EXPECT_NEAR(e.kinetic, m * l * l / 6 * 4, kRoundOff * 10);
    EXPECT_NEAR(e.potential, m * kG * l / 2 * std::sin(angle), kRoundOff * 20);
  }
}

// e·(p̈ - g) with the axes of the bar: -l ω² along it, l α across, and gravity's parts.
TEST_P(EitherSpace, AccelerometersOnATurningBarReadTheirDirections) {
  const double l = 1.3, rate = 3, acceleration = -2;
  ModelBuilder b = chain(GetParam(), {2.5}, {l});
  const int end = b.frame(0, {l, 0});
  for (const int axis : {0, 1}) {
    Output& o = b.output("accelerometer" + std::to_string(axis),
                         ModelBuilder::between(ChannelKind::kPointRate, end, end, axis),
                         Order::kAcceleration);
    o.minus_gravity = true;
  }
  const auto w = Workspace::create(b.model, nominal(b.model));
  for (const double angle : {-1.4, 0.0, 0.7, 2.9}) {
    const std::vector<double> q{angle}, v{rate}, a{acceleration};
    Point p;
    p.q = q;
    p.v = v;
    p.a = a;
    std::vector<double> y(2), closed{acceleration}, row(1);
    w->readings(p, std::vector{0, 1}, y);
    EXPECT_NEAR(y[0], -l * rate * rate + kG * std::sin(angle), kRoundOff * 20);
    EXPECT_NEAR(y[1], l * acceleration + kG * std::cos(angle), kRoundOff * 20);
    // The same by kinematics alone.
    std::vector<double> pose = q;
    w->choose_partition(0, pose);
    ASSERT_EQ(w->close_positions(0, pose), Status::kOk);
    w->close_accelerations(v, {}, {}, closed);
    EXPECT_DOUBLE_EQ(w->closed_output(0), y[0]);
    EXPECT_DOUBLE_EQ(w->closed_output(1), y[1]);
    w->output_row(1, row);
    EXPECT_NEAR(row[0], l, kRoundOff);
  }
}

TEST_P(EitherSpace, DoublePendulumFollowsItsLagrangian) {
  const double m1 = 1.7, m2 = 0.9, l1 = 1.1, l2 = 1.6;
  const ModelBuilder b = chain(GetParam(), {m1, m2}, {l1, l2});
  const auto w = Workspace::create(b.model, nominal(b.model));
  for (int k = 0; k < 20; ++k) {
    const double q1 = 0.7 * k - 3, q2 = 2 - 0.9 * k, v1 = 1.5 - 0.2 * k, v2 = 0.3 * k - 2;
    // Absolute angles t1 = q1, t2 = q1 + q2 in L = T - V, then q2 = t2 - t1.
    const double i1 = m1 * l1 * l1 / 3 + m2 * l1 * l1, i2 = m2 * l2 * l2 / 3, c = m2 * l1 * l2 / 2;
    const double t1 = q1, t2 = q1 + q2, s1 = v1, s2 = v1 + v2;
    Eigen::Matrix2d mass;
    mass << i1, c * std::cos(t2 - t1), c * std::cos(t2 - t1), i2;
    Eigen::Vector2d force(c * std::sin(t2 - t1) * s2 * s2 - (m1 / 2 + m2) * kG * l1 * std::cos(t1),
                          -c * std::sin(t2 - t1) * s1 * s1 - m2 / 2 * kG * l2 * std::cos(t2));
    const double det = mass(0, 0) * mass(1, 1) - mass(0, 1) * mass(1, 0);
    const double a1 = (mass(1, 1) * force(0) - mass(0, 1) * force(1)) / det,
                 a2 = (mass(0, 0) * force(1) - mass(1, 0) * force(0)) / det;
    const Eigen::VectorXd q = Eigen::Vector2d(q1, q2), v = Eigen::Vector2d(v1, v2);
    const Forward f = forward(*w, q, v);
    const double scale = 1 + std::abs(a1) + std::abs(a2);
    EXPECT_NEAR(f.a(0), a1, kRoundOff * scale);
    EXPECT_NEAR(f.a(1), a2 - a1, 10 * kRoundOff * scale);
    Eigen::MatrixXd m;
    w->mass_matrix(view(q), m);
    Eigen::Matrix2d to_absolute;
    to_absolute << 1, 0, 1, 1;
    EXPECT_LT((m - to_absolute.transpose() * mass * to_absolute).norm(), kRoundOff * 20);
    const Energy e = w->energy(view(q), view(v));
    EXPECT_NEAR(e.kinetic,
                0.5 * i1 * s1 * s1 + 0.5 * i2 * s2 * s2 + c * std::cos(t2 - t1) * s1 * s2,
                kRoundOff * 30);
  }
}

TEST_P(EitherSpace, HangingPendulumPullsOnItsPivotWithItsWeight) {
  const ModelBuilder b = chain(GetParam(), {2}, {1.5});
  const auto w = Workspace::create(b.model, nominal(b.model));
  const Eigen::VectorXd q = Eigen::VectorXd::Constant(1, -M_PI / 2),
                        zero = Eigen::VectorXd::Zero(1);
  Point p;
  p.q = view(q);
  p.v = p.a = view(zero);
  std::vector<JointReaction> r;
  w->reactions(p, r);
  EXPECT_NEAR(r[0].force[0], 0, kRoundOff * 20);
  EXPECT_NEAR(r[0].force[1], 2 * kG, kRoundOff * 20);
  EXPECT_NEAR(r[0].torque[2], 0, kRoundOff * 20);
  // Held out horizontally, the pivot must also carry the moment.
  p.q = view(zero);
  w->reactions(p, r);
  EXPECT_NEAR(r[0].force[1], 2 * kG, kRoundOff * 20);
  EXPECT_NEAR(r[0].torque[2], 2 * kG * 0.75, kRoundOff * 20);
}

TEST_P(EitherSpace, SpringDamperAndAppliedForceActAlongTheirChannel) {
  ModelBuilder b(GetParam());
  const int cart = b.body("cart", JointType::kPrismatic, kGround, -1, -1,
                          {b.solid(4, {0, 0}, {1, 1, 1})}, {1, 0, 0});
  (void)cart;
  ForceElement& spring = b.force("spring", LawKind::kSpringDamper, b.coordinate(0));
  spring.stiffness = b.number(100);
  spring.damping = b.number(3);
  spring.free = b.number(0.2);
  spring.preload = b.number(5);
  const auto w = Workspace::create(b.model, nominal(b.model));
  const Eigen::VectorXd q = Eigen::VectorXd::Constant(1, 0.5), v = Eigen::VectorXd::Constant(1, -2);
  EXPECT_NEAR(forward(*w, q, v).a(0), -(100 * 0.3 + 3 * -2 + 5) / 4, kRoundOff * 10);
}

// Newton and Euler for each bar of a moving four-bar, with accelerations differentiated by hand.
TEST_P(EitherSpace, EveryBodyOfAMovingFourBarIsInBalance) {
  const std::vector<double> mass{1, 2, 4}, length{1, 2, std::sqrt(13.0)};
  ModelBuilder b = chain(GetParam(), {mass[0], mass[1]}, {length[0], length[1]});
  const int rocker = b.body("rocker", JointType::kRevolute, kGround, b.frame(kGround, {4, 0}), -1,
                            {b.bar(mass[2], length[2])});
  const int group = b.group("pin");
  const int tip = 1, end = b.frame(rocker, {length[2], 0});
  for (int axis : {0, 1}) b.row(group, ModelBuilder::between(ChannelKind::kGap, tip, end, axis));
  const auto w = Workspace::create(b.model, nominal(b.model));
  Eigen::VectorXd q = Eigen::Vector3d(0.3, 1.4, 2.5);
  w->choose_partition(0, view(q));
  ASSERT_FALSE(fatal(w->close_positions(0, view(q))));
  Eigen::VectorXd v = Eigen::Vector3d(3, 1, -2);
  ASSERT_FALSE(fatal(w->close_velocities(0, {}, view(v))));
  const Forward f = forward(*w, q, v);
  Point p;
  p.q = view(q);
  p.v = view(v);
  p.a = view(f.a);
  p.lambda = view(f.lambda);
  std::vector<JointReaction> r;
  w->reactions(p, r);

  const double angle[3] = {q(0), q(0) + q(1), q(2)}, spin[3] = {v(0), v(0) + v(1), v(2)},
               turn[3] = {f.a(0), f.a(0) + f.a(1), f.a(2)};
  using V = Eigen::Vector2d;
  const auto along = [&](int i, double s) {
    return V(s * V(std::cos(angle[i]), std::sin(angle[i])));
  };
  // Acceleration of the point at s on bar i relative to its pivot.
  const auto relative = [&](int i, double s) {
    const V d = along(i, s);
    return V(turn[i] * V(-d.y(), d.x()) - spin[i] * spin[i] * d);
  };
  const auto cross = [](const V& a, const V& c) { return a.x() * c.y() - a.y() * c.x(); };
  const V pivot[3] = {V::Zero(), relative(0, length[0]), V::Zero()};
  const V pin(f.lambda(0), f.lambda(1));  // on the coupler's tip, minus on the rocker's end
  const auto force = [&](int i) { return V(r[size_t(i)].force[0], r[size_t(i)].force[1]); };
  for (int i = 0; i < 3; ++i) {
    V sum = force(i) + V(0, -mass[size_t(i)] * kG);
    double moment = r[size_t(i)].torque[2] - cross(along(i, 0.5 * length[size_t(i)]), force(i));
    if (i == 0) {  // the coupler pushes back at the crank's end
      sum -= force(1);
      moment -= r[1].torque[2] + cross(along(0, 0.5 * length[0]), force(1));
    } else {
      const V push = i == 1 ? pin : V(-pin);
      sum += push;
      moment += cross(along(i, 0.5 * length[size_t(i)]), push);
    }
    const V com = pivot[i] + relative(i, 0.5 * length[size_t(i)]);
    EXPECT_LT((sum - mass[size_t(i)] * com).norm(), 1e-11) << "bar " << i;
    EXPECT_NEAR(moment, mass[size_t(i)] * length[size_t(i)] * length[size_t(i)] / 12 * turn[i],
                1e-11);
  }
}

TEST(Spatial, FreeRigidBodyFollowsEulersEquations) {
  ModelBuilder b(SpaceKind::kSpatial);
  b.body("top", JointType::kSpherical, kGround, -1, -1, {b.solid(1, {0, 0, 0}, {1, 2, 3})});
  const auto w = Workspace::create(b.model, nominal(b.model));
  const Eigen::VectorXd q = Eigen::Vector4d(0.5, -0.5, 0.5, 0.5), v = Eigen::Vector3d(0.3, -2, 1.1);
  const Forward f = forward(*w, q, v);
  EXPECT_NEAR(f.a(0), (2 - 3) * v(1) * v(2) / 1.0, kRoundOff * 10);
  EXPECT_NEAR(f.a(1), (3 - 1) * v(2) * v(0) / 2.0, kRoundOff * 10);
  EXPECT_NEAR(f.a(2), (1 - 2) * v(0) * v(1) / 3.0, kRoundOff * 10);
}

TEST(Spatial, MoveTurnsQuaternionsAboutBodyAxes) {
  ModelBuilder b(SpaceKind::kSpatial);
  b.body("ball", JointType::kSpherical, kGround, -1, -1, {b.solid(1, {0, 0, 0}, {1, 1, 1})});
  const auto w = Workspace::create(b.model, nominal(b.model));
  Eigen::VectorXd q = Eigen::Vector4d(1, 0, 0, 0);
  const Eigen::VectorXd about_z = Eigen::Vector3d(0, 0, M_PI / 2),
                        about_x = Eigen::Vector3d(M_PI / 2, 0, 0);
  w->move(view(q), view(about_z));
  w->move(view(q), view(about_x));
  // Columns: body x along world y, body y along world z, body z along world x.
  const FramePose pose = w->body_pose(view(q), 0);
  const std::array<double, 9> expected{0, 1, 0, 0, 0, 1, 1, 0, 0};
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(pose.axes[i], expected[i], kRoundOff);
  // Its rate of change is coordinate_rates.
  const Eigen::VectorXd spin = Eigen::Vector3d(0.2, -0.4, 0.7);
  Eigen::VectorXd rate(4), plus = q, minus = q;
  w->coordinate_rates(view(q), view(spin), view(rate));
  const Eigen::VectorXd forward_step = 1e-6 * spin, back_step = -1e-6 * spin;
  w->move(view(plus), view(forward_step));
  w->move(view(minus), view(back_step));
  EXPECT_LT(((plus - minus) / 2e-6 - rate).norm(), 1e-9);  // truncation of the difference
}

}  // namespace
}  // namespace panto
