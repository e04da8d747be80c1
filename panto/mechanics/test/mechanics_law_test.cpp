// The laws on models made for it: every joint, every channel in every role, every force law, every kind of constraint target.
#include <gtest/gtest.h>

#include <cmath>

#include "panto/mechanics/closure.hpp"
#include "panto/mechanics/test/four_bar.hpp"
#include "tests/laws/laws.hpp"

namespace panto {
namespace {

using test::ModelBuilder;
using enum ChannelKind;

Signal wave(double amplitude, double frequency) {
  const auto parsed =
      parse_expression(std::to_string(amplitude) + "*sin(" + std::to_string(frequency) + "*t)",
                       [](std::string_view) {
                         return ResolvedName{0, std::nullopt};
                       },
                       {"t"});
  return Signal::expression(parsed.expression);
}

// Four-bar with offsets and turned frames, springs, dampers, friction, a table, applied forces, actuators.
ModelBuilder planar_four_bar(bool driven) {
  ModelBuilder b(SpaceKind::kPlanar);
  b.gravity(0.3, -9.81);
  const int child1 = b.frame(b.next_body(), {-0.1, 0.05}, {0.2});
  const int crank =
      b.body("crank", JointType::kRevolute, kGround, b.frame(kGround, {0.1, 0.2}, {0.3}), child1,
             {b.bar(1.2, 1), b.point_mass(0.3, {0.5, 0.1})});
  const int coupler = b.body("coupler", JointType::kRevolute, crank, b.frame(crank, {1, 0}), -1,
                             {b.solid(2.1, {0.9, 0.2}, {0.7})});
  const int rocker =
      b.body("rocker", JointType::kRevolute, kGround, b.frame(kGround, {4, 0}, {-0.2}),
             b.frame(b.next_body(), {0.05, 0}), {b.bar(4, std::sqrt(13.0))});
  const int slider = b.body(
      "slider", JointType::kPrismatic, coupler, b.frame(coupler, {0.5, 0.1}, {0.4}),
      b.frame(b.next_body(), {0.02, 0.01}, {0.1}), {b.solid(0.5, {0.1, 0}, {0.02})}, {0.6, 0.8, 0});
  const int tip = b.frame(coupler, {2, 0}), end = b.frame(rocker, {std::sqrt(13.0), 0});
  const int on_slider = b.frame(slider, {0.1, 0.2}, {0.5}),
            anchor = b.frame(kGround, {1, 3}, {0.7});
  b.pin("pin", tip, end);
  if (driven) {
    ConstraintRow& r = b.row(b.group("motor", "driver"), b.coordinate(0));
    r.target = TargetKind::kSignal;
    r.signal = b.signal(wave(0.2, 3));
  }
  // springs and dampers on every kind of channel
  const auto spring = [&](const char* name, const Channel& c) {
    ForceElement& f = b.force(name, LawKind::kSpringDamper, c);
    f.stiffness = b.number(12);
    f.damping = b.number(0.7);
    f.free = b.number(0.3);
    f.preload = b.number(1.5);
  };
  spring("distance", ModelBuilder::between(kDistance, on_slider, anchor));
  spring("point", ModelBuilder::between(kPoint, on_slider, end, 1));
  spring("gap", ModelBuilder::between(kGap, on_slider, anchor, 0));
  spring("angle", ModelBuilder::between(kAngle, on_slider, anchor));
  spring("direction", ModelBuilder::between(kDirection, on_slider, end));
  spring("coordinate", b.coordinate(1));
  spring("sum", b.sum({{0, 1.0}, {2, -0.5}}));
  ForceElement& table =
      b.force("table", LawKind::kTable, ModelBuilder::between(kDistance, on_slider, end));
  b.model.tables.push_back(Signal::table({-5, -1, 0, 0.5, 2, 5}, {-9, -4, 0, 3, 5, 11}));
  table.table = 0;
  table.damping = b.number(0.2);
  table.free = b.number(1);
  ForceElement& friction = b.force("friction", LawKind::kFriction, b.coordinate(3));
  friction.level = b.number(0.8);
  friction.speed = b.number(0.1);
  friction.damping = b.number(0.05);
  ForceElement& applied =
      b.force("applied", LawKind::kApplied, ModelBuilder::between(kPointRate, tip, on_slider, 1));
  applied.signal = b.signal(wave(3, 2));
  ForceElement& torque =
      b.force("torque", LawKind::kApplied, ModelBuilder::between(kAngularRate, end, -1));
  torque.signal = b.signal(wave(1, 5));
  b.actuator("motor torque", b.coordinate(0), 1);
  b.actuator("cylinder", ModelBuilder::between(kDistance, on_slider, anchor), 2);
  b.actuator("thruster", ModelBuilder::between(kPointRate, end, end, 0), 2);

  // every channel as output, at every order
  for (const Order order : {Order::kValue, Order::kRate, Order::kAcceleration}) {
    b.output("coordinate", b.coordinate(3), order);
    b.output("point", ModelBuilder::between(kPoint, on_slider, end, 0), order);
    b.output("gap", ModelBuilder::between(kGap, on_slider, end, 1), order);
    b.output("distance", ModelBuilder::between(kDistance, tip, anchor), order);
    b.output("angle", ModelBuilder::between(kAngle, on_slider, end), order);
    b.output("direction", ModelBuilder::between(kDirection, on_slider, anchor), order);
    b.output("relative direction", ModelBuilder::between(kDirection, tip, on_slider), order);
    b.output("sum", b.sum({{1, 2.0}, {2, -1.0}}), order);
    if (order == Order::kValue) continue;
    b.output("velocity", ModelBuilder::between(kPointRate, tip, on_slider, 1), order);
    b.output("spin", ModelBuilder::between(kAngularRate, on_slider, -1), order);
  }
  Output& accelerometer =
      b.output("accelerometer", ModelBuilder::between(kPointRate, on_slider, on_slider, 0),
               Order::kAcceleration);
  accelerometer.minus_gravity = true;
  accelerometer.offset = b.number(0.1);
  const auto special = [&](OutputKind kind, int index) {
    Output o;
    o.name = "special";
    o.kind = kind;
    o.index = index;
    b.model.outputs.push_back(o);
  };
  for (int i = 0; i < static_cast<int>(b.model.forces.size()); ++i)
    special(OutputKind::kForceElement, i);
  for (int i = 0; i < b.model.n_rows(); ++i) special(OutputKind::kMultiplier, i);
  special(OutputKind::kInput, 1);
  special(OutputKind::kKinetic, -1);
  special(OutputKind::kPotential, -1);
  b.guess(b.coordinate(0), driven ? 0 : 0.4);
  b.guess(b.coordinate(1), 1.2);
  b.guess(b.coordinate(2), 2.6);
  return b;
}

TEST(Planar, FourBarWithEverythingObeysTheLaws) { laws::all(planar_four_bar(false).model, 5, 11); }

TEST(Planar, DrivenFourBarObeysTheLaws) { laws::all(planar_four_bar(true).model, 5, 12); }

TEST(Planar, VelocityControlledActuatorsOfEachOrderObeyTheLaws) {
  ModelBuilder b(SpaceKind::kPlanar);
  b.gravity(0, -9.81);
  int parent = kGround, frame = -1;
  for (int i = 0; i < 4; ++i) {
    parent =
        b.body("link" + std::to_string(i), i == 2 ? JointType::kPrismatic : JointType::kRevolute,
               parent, frame, -1, {b.bar(1 + i, 1)},
               i == 2 ? std::array<double, 3>{1, 0, 0} : std::array<double, 3>{0, 0, 1});
    frame = b.frame(parent, {1, 0.1});
  }
  const auto drive = [&](const char* name, const Channel& c, TargetKind kind, Level level) {
    const int g = b.group(name, "velocity");
    const int input = b.input(name, 0.5);
    ConstraintRow& r = b.row(g, c, level);
    r.target = kind;
    r.input = input;
    r.tau = b.number(0.2);
    r.zeta = b.number(0.7);
    r.omega = b.number(9);
    Actuator a;
    a.name = name;
    a.channel = c;
    a.input = input;
    a.group = g;
    b.model.actuators.push_back(a);
  };
  drive("order0", ModelBuilder::between(kGap, frame, -1, 1), TargetKind::kDrive0, Level::kVelocity);
  drive("order1", b.coordinate(1), TargetKind::kDrive1, Level::kAcceleration);
  drive("order2", b.coordinate(2), TargetKind::kDrive2, Level::kAcceleration);
  b.initial("link0", b.coordinate(0), 0.5);
  b.initial("link1", b.coordinate(1), -0.8);
  b.initial("link3", b.coordinate(3), 0.9);
  b.output("tip", ModelBuilder::between(kPoint, frame, -1, 0), Order::kAcceleration);
  laws::all(b.model, 5, 13);
}

// A spatial tree with every primitive joint, offset and turned frames, a massless link.
struct SpatialTree : ModelBuilder {
  std::vector<int> frames;
  SpatialTree() : ModelBuilder(SpaceKind::kSpatial) {
    gravity(0.4, -0.3, -9.81);
    const double s = 1 / std::sqrt(3.0);
    const int base = body(
        "base", JointType::kRevolute, kGround, frame(kGround, {0.1, 0.2, 0.3}, {0.3, -0.2, 0.5}),
        frame(next_body(), {-0.1, 0.05, 0.02}, {0.1, 0.2, -0.3}),
        {solid(3, {0.1, 0.2, 0.3}, {0.5, 0.6, 0.7, 0.05, -0.03, 0.02})}, {s, s, s});
    const int slide =
        body("slide", JointType::kPrismatic, base, frame(base, {0.4, 0, 0.1}, {0, 0.7, 0}),
             frame(next_body(), {0.05, 0.1, 0}), {bar(1, 0.8)}, {0, 0.6, 0.8});
    const int carrier =
        body("carrier", JointType::kRevolute, slide, frame(slide, {0.8, 0, 0}), -1, {}, {1, 0, 0});
    const int ball = body("ball", JointType::kSpherical, carrier, frame(carrier, {0.1, 0.3, 0}),
                          frame(next_body(), {0, 0.1, 0}, {0.2, 0.1, 0}),
                          {solid(2, {0.3, -0.1, 0.05}, {0.2, 0.25, 0.3, 0.01, 0.02, -0.01}),
                           point_mass(0.4, {0.2, 0.2, 0.1})});
    const int welded = body("welded", JointType::kWeld, ball,
                            frame(ball, {0.2, 0.1, 0.3}, {0.5, 0, 0}), -1, {bar(0.5, 0.4)});
    const int wrist = body("wrist", JointType::kRevolute, welded, frame(welded, {0.3, 0, 0}), -1,
                           {solid(0.7, {0, 0.2, 0.1}, {0.05, 0.06, 0.04})}, {0, 1, 0});
    const int other = body("other", JointType::kSpherical, kGround, frame(kGround, {1.2, 0.5, 0.2}),
                           -1, {solid(1.1, {0.2, 0.1, -0.2}, {0.1, 0.12, 0.14})});
    for (int k : {base, slide, carrier, ball, welded, wrist, other})
      frames.push_back(frame(k, {0.2, -0.1, 0.15}, {0.3, 0.1, -0.4}));
    frames.push_back(frame(kGround, {-0.5, 0.7, 0.4}, {0.1, -0.6, 0.2}));
  }
  [[nodiscard]] int at(size_t i) const { return frames[i]; }
  void all_outputs() {
    for (const Order order : {Order::kValue, Order::kRate, Order::kAcceleration}) {
      output("coordinate", coordinate(1), order);
      output("point", between(kPoint, at(5), at(1), 2), order);
      output("point_in_ground", between(kPoint, at(3), at(7), 1), order);
      output("gap", between(kGap, at(5), at(6), 1), order);
      output("distance", between(kDistance, at(4), at(6)), order);
      output("angle", between(kAngle, at(5), at(0)), order);
      output("direction", between(kDirection, at(5), at(3)), order);
      output("axis", between(kAxisDot, at(5), at(6), 2, 0), order);
      output("sum", sum({{0, 2.0}, {2, -1.0}}), order);
      if (order == Order::kValue) continue;
      output("velocity", between(kPointRate, at(4), at(5), 2), order);
      output("spin", between(kAngularRate, at(3), at(6), 1), order);
      output("ball speed", coordinate(4), order);
    }
    Output& o = output("accelerometer", between(kPointRate, at(5), at(5), 1), Order::kAcceleration);
    o.minus_gravity = true;
    for (const OutputKind kind : {OutputKind::kKinetic, OutputKind::kPotential}) {
      Output e;
      e.name = "energy";
      e.kind = kind;
      model.outputs.push_back(e);
    }
  }
  void all_forces() {
    const auto spring = [&](const char* name, const Channel& c) {
      ForceElement& f = force(name, LawKind::kSpringDamper, c);
      f.stiffness = number(7);
      f.damping = number(0.4);
      f.free = number(0.2);
      f.preload = number(0.5);
    };
    spring("coordinate", coordinate(0));
    spring("point", between(kPoint, at(5), at(6), 1));
    spring("gap", between(kGap, at(3), at(6), 2));
    spring("distance", between(kDistance, at(5), at(7)));
    spring("angle", between(kAngle, at(1), at(6)));
    spring("direction", between(kDirection, at(4), at(6)));
    spring("axis", between(kAxisDot, at(4), at(6), 0, 1));
    spring("sum", sum({{1, 1.0}, {2, 0.3}}));
    const auto rate = [&](const char* name, const Channel& c) {
      ForceElement& f = force(name, LawKind::kFriction, c);
      f.level = number(0.6);
      f.speed = number(0.5);
      f.damping = number(0.1);
    };
    rate("velocity", between(kPointRate, at(5), at(0), 0));
    rate("spin", between(kAngularRate, at(3), at(3), 2));
    rate("ball", coordinate(5));
    actuator("point", between(kPoint, at(3), at(0), 0), 1);
    actuator("axis", between(kAxisDot, at(3), at(6), 1, 1), 1);
    actuator("spin", between(kAngularRate, at(6), at(5), 0), 1);
    actuator("ball", coordinate(3), 1);
  }
};

TEST(Spatial, TreeWithEveryJointObeysTheLaws) {
  SpatialTree t;
  t.all_outputs();
  t.all_forces();
  laws::all(t.model, 5, 21);
}

// Each kind of channel as a constraint (holding its initial value), with all forces and outputs.
class ConstrainedTree : public testing::TestWithParam<ChannelKind> {};

TEST_P(ConstrainedTree, ObeysTheLaws) {
  SpatialTree t;
  t.all_forces();
  t.all_outputs();
  const ChannelKind kind = GetParam();
  Channel c = ModelBuilder::between(kind, t.at(5), t.at(6), 1, 2);
  if (kind == kCoordinate) c = t.coordinate(2);
  if (kind == kSum) c = t.sum({{0, 1.0}, {1, -2.0}, {2, 0.5}});
  const int g = t.group("hold");
  if (rate_only(kind)) {
    ConstraintRow& r = t.row(g, c, Level::kVelocity);
    r.target = TargetKind::kDrive0;
    r.input = t.input("rate", 0.1);
  } else {
    ConstraintRow& r = t.row(g, c);
    r.constant = t.number(kind == kCoordinate || kind == kSum ? 0.1 : 0.5);
  }
  Output multiplier;
  multiplier.name = "multiplier";
  multiplier.kind = OutputKind::kMultiplier;
  multiplier.index = 0;
  t.model.outputs.push_back(multiplier);
  laws::all(t.model, 4, 31);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ConstrainedTree,
                         testing::Values(kCoordinate, kPoint, kGap, kDistance, kAngle, kDirection,
                                         kAxisDot, kSum, kPointRate, kAngularRate));

TEST(Planar, MasslessCouplerThatTheLoopCarriesObeysTheLaws) {
  test::FourBar b;
  b.model.bodies[1].solids.clear();
  b.guess(b.theta, 0.3);
  b.guess(b.beta, 1.2);
  b.guess(b.gamma, 2.5);
  laws::all(b.model, 3, 14);
}

TEST(Spatial, MotionWithoutInertiaIsSingularNotInfinite) {
  // Three axes meet in a point and carry only two inertias.
  ModelBuilder b(SpaceKind::kSpatial);
  const int one = b.body("one", JointType::kRevolute, kGround, -1, -1, {}, {1, 0, 0});
  b.body("two", JointType::kSpherical, one, -1, -1, {b.solid(1, {0.1, 0.2, 0}, {1, 2, 2.5})});
  const auto w = Workspace::create(b.model, nominal(b.model));
  const Eigen::VectorXd v = Eigen::VectorXd::Constant(4, 0.5);
  Eigen::VectorXd q(5), a(4), lambda;
  q << 0.3, 0.5, 0.5, -0.5, 0.5;
  w->choose_partition(0, view(q));
  ASSERT_EQ(w->close_positions(0, view(q)), Status::kOk);
  EXPECT_EQ(w->accelerations(0, view(v), {}, {}, view(a)), Status::kSingular);
  Point p;
  p.q = view(q);
  p.v = view(v);
  EXPECT_EQ(w->forward_dynamics(p, a, lambda), Status::kSingular);
}

// A redundant loop: two coincident pins and a coupling that follows from them.
TEST(Spatial, RedundantRowsObeyTheLaws) {
  ModelBuilder b(SpaceKind::kSpatial);
  b.gravity(0, -9.81, -1);
  const int crank =
      b.body("crank", JointType::kRevolute, kGround, -1, -1, {b.bar(1, 1)}, {0, 0, 1});
  const int coupler = b.body("coupler", JointType::kRevolute, crank, b.frame(crank, {1, 0, 0}), -1,
                             {b.bar(2, 2)}, {0, 0, 1});
  const int rocker = b.body("rocker", JointType::kRevolute, kGround, b.frame(kGround, {2, 0, 0}),
                            -1, {b.bar(1, 1)}, {0, 0, 1});
  const int tip = b.frame(coupler, {2, 0, 0}), end = b.frame(rocker, {1, 0, 0});
  b.pin("first", tip, end);
  b.pin("again", tip, end);
  b.guess(b.coordinate(0), 1);
  b.guess(b.coordinate(1), -1);
  b.guess(b.coordinate(2), 1);
  laws::all(b.model, 3, 41);
}

}  // namespace
}  // namespace panto
