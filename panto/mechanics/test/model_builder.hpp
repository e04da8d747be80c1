// Models made by hand, number by number, for tests that need channels in roles no model file offers. Every number is a parameter θ.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "panto/mechanics/workspace.hpp"

namespace panto::test {

class ModelBuilder {
 public:
  Model model;

  explicit ModelBuilder(SpaceKind space) { model.space = space; }

  Slot number(double value) {
    ParameterInfo p;
    p.name = "p" + std::to_string(model.parameters.size());
    p.value = value;
    model.parameters.push_back(p);
    model.slots.push_back(Expression::variable(static_cast<int>(model.parameters.size()) - 1));
    return static_cast<Slot>(model.slots.size()) - 1;
  }
  std::array<Slot, 3> numbers(double x, double y) { return {number(x), number(y), -1}; }
  std::array<Slot, 3> numbers(double x, double y, double z) {
    return {number(x), number(y), number(z)};
  }
  void gravity(double x, double y) { model.gravity = numbers(x, y); }
  void gravity(double x, double y, double z) { model.gravity = numbers(x, y, z); }

  // A frame on a body; planar: angle is rotation[0]. spatial: rpy.
  int frame(int body, std::vector<double> at, std::vector<double> turn = {}) {
    Frame f;
    f.name = "frame" + std::to_string(model.frames.size());
    f.body = body;
    for (size_t i = 0; i < at.size(); ++i) f.position[i] = number(at[i]);
    for (size_t i = 0; i < turn.size(); ++i) f.rotation[i] = number(turn[i]);
    model.frames.push_back(f);
    return static_cast<int>(model.frames.size()) - 1;
  }

  static Solid massless() { return {}; }
  Solid bar(double mass, double length) {
    Solid s;
    s.kind = SolidKind::kBar;
    s.mass = number(mass);
    s.numbers[0] = number(length);
    return s;
  }
  Solid point_mass(double mass, std::vector<double> at) {
    Solid s;
    s.kind = SolidKind::kPointMass;
    s.mass = number(mass);
    for (size_t i = 0; i < at.size(); ++i) s.at[i] = number(at[i]);
    return s;
  }
  Solid solid(double mass, std::vector<double> com, std::vector<double> inertia) {
    Solid s;
    s.mass = number(mass);
    for (size_t i = 0; i < com.size(); ++i) s.at[i] = number(com[i]);
    for (size_t i = 0; i < inertia.size(); ++i) s.numbers[i] = number(inertia[i]);
    return s;
  }

  // A body on a new joint; returns its index.
  int body(const std::string& name, JointType type, int parent, int parent_frame, int child_frame,
           std::vector<Solid> solids, std::array<double, 3> axis = {0, 0, 1}) {
    const int index = model.n_bodies();
    Body b;
    b.name = name;
    b.solids = std::move(solids);
    model.bodies.push_back(b);
    Joint j;
    j.name = name + "_joint";
    j.type = type;
    j.parent = parent;
    j.parent_frame = parent_frame;
    j.child_frame = child_frame;
    j.axis = axis;
    j.q = model.nq;
    j.v = model.nv;
    j.nv = type == JointType::kWeld ? 0 : type == JointType::kSpherical ? 3 : 1;
    j.nq = type == JointType::kSpherical ? 4 : j.nv;
    j.spec = index;
    model.nq += j.nq;
    model.nv += j.nv;
    for (int k = 0; k < j.nq; ++k)
      model.coordinate_names.push_back(j.nq == 1 ? name : name + ".q" + std::to_string(k));
    for (int k = 0; k < j.nv; ++k) {
      model.speed_names.push_back(j.nv == 1 ? name + "_dot" : name + ".w" + std::to_string(k));
      model.limits.emplace_back();
    }
    model.joints.push_back(j);
    FileJoint f;
    f.name = name;
    f.first = index;
    model.file_joints.push_back(f);
    return index;
  }
  // A frame of a body that is not made yet: the child frame of its own joint.
  [[nodiscard]] int next_body() const { return model.n_bodies(); }

  // ---- channels
  [[nodiscard]] Channel coordinate(int dof) const {
    Channel c;
    c.dof = dof;
    for (const Joint& j : model.joints)
      if (dof >= j.v && dof < j.v + j.nv) c.angular = j.type != JointType::kPrismatic;
    return c;
  }
  static Channel between(ChannelKind kind, int a, int b, int axis = 0, int axis_b = 0) {
    Channel c;
    c.kind = kind;
    c.frame_a = a;
    c.frame_b = b;
    c.axis = axis;
    c.axis_b = axis_b;
    c.angular = kind == ChannelKind::kAngle || kind == ChannelKind::kAngularRate;
    return c;
  }
  Channel sum(const std::vector<std::pair<int, double>>& terms, bool angular = true) {
    Channel c;
    c.kind = ChannelKind::kSum;
    c.first_term = static_cast<int>(model.terms.size());
    c.terms = static_cast<int>(terms.size());
    c.angular = angular;
    for (const auto& [dof, coefficient] : terms) model.terms.push_back({dof, number(coefficient)});
    return c;
  }

  // ---- constraints: rows must be added in order of level
  int group(const std::string& name, const std::string& type = "pin", int line = 0) {
    ConstraintGroup g;
    g.name = name;
    g.type = type;
    if (line > 0) g.loc = {"model.toml", line, 1};
    model.groups.push_back(g);
    return static_cast<int>(model.groups.size()) - 1;
  }
  ConstraintRow& row(int to_group, const Channel& channel, Level level = Level::kPosition) {
    ConstraintRow r;
    r.level = level;
    r.channel = channel;
    r.group = to_group;
    model.groups[static_cast<size_t>(to_group)].rows.push_back(model.n_rows());
    (level == Level::kPosition   ? model.n_position_rows
     : level == Level::kVelocity ? model.n_velocity_rows
                                 : model.n_acceleration_rows)++;
    model.rows.push_back(r);
    return model.rows.back();
  }
  // The origins of a and b coincide.
  void pin(const std::string& name, int a, int b, int line = 0) {
    const int g = group(name, "pin", line);
    for (int axis = 0; axis < (model.space == SpaceKind::kPlanar ? 2 : 3); ++axis)
      row(g, between(ChannelKind::kGap, a, b, axis));
  }
  int signal(Signal s) {
    model.signals.push_back(std::move(s));
    model.signal_sources.emplace_back();
    return static_cast<int>(model.signals.size()) - 1;
  }

  // ---- forces, actuators, outputs
  ForceElement& force(const std::string& name, LawKind law, const Channel& channel) {
    ForceElement f;
    f.name = name;
    f.law = law;
    f.channel = channel;
    model.forces.push_back(f);
    return model.forces.back();
  }
  int input(const std::string& name, double value = 0) {
    Input i;
    i.name = name;
    i.signal = signal(Signal::constant(value));
    model.inputs.push_back(i);
    return model.nu() - 1;
  }
  int actuator(const std::string& name, const Channel& channel, double value = 0) {
    Actuator a;
    a.name = name;
    a.channel = channel;
    a.input = input(name, value);
    model.actuators.push_back(a);
    return a.input;
  }
  Output& output(const std::string& name, const Channel& channel, Order order = Order::kValue) {
    Output o;
    o.name = name;
    o.channel = channel;
    o.order = order;
    model.outputs.push_back(o);
    return model.outputs.back();
  }

  // ---- initial state
  Condition& initial(const std::string& name, const Channel& channel, double value, int line = 0) {
    Condition c;
    c.channel = channel;
    c.value = number(value);
    c.name = name;
    if (line > 0) c.loc = {"model.toml", line, 1};
    model.initial.push_back(c);
    return model.initial.back();
  }
  void guess(const Channel& channel, double value) {
    initial("guess", channel, value).guess = true;
  }
  Condition& rate(const std::string& name, const Channel& channel, double value, int line = 0) {
    Condition& c = initial(name, channel, value, line);
    c.order = Order::kRate;
    return c;
  }
};

}  // namespace panto::test
