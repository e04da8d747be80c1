// Initial state, preferred coordinates, run defaults.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/model/compile_internal.hpp"

namespace panto::compile_detail {
namespace {

using Op = Expression::Op;
using Code = std::vector<Expression::Instruction>;

Code binary(Op op, Code a, const Code& b) {
  a.insert(a.end(), b.begin(), b.end());
  a.push_back({op});
  return a;
}

}  // namespace

void Compiler::initial() {
  const At at = At(root_)["initial"];
  if (!at || at.node->table() == nullptr) return;
  conditions(at, false);
  points(at["points"], Order::kValue, false);
  points(at["velocities"], Order::kRate, false);
  const At guess = at["guess"];
  if (!guess || guess.node->table() == nullptr) return;
  conditions(guess, true);
  points(guess["points"], Order::kValue, true);
}

void Compiler::conditions(const At& at, bool guess) {
  for (const auto& [key, node] : *at.node->table()) {
    if (key == "points" || (!guess && (key == "velocities" || key == "guess"))) continue;
    const At member = at[key];
    if (node.table() != nullptr) {
      joint_condition(member, key, guess);
    } else {
      condition(member, key, guess);
    }
  }
}

void Compiler::condition(const At& at, const std::string& name, bool guess) {
  const auto dof = coordinate(at, name);
  const bool speed = dof && dof->speed;
  if (speed && guess) {
    error(208, at, fmt::format("\"{}\" is a speed; only coordinates can be guessed", name));
    return;
  }
  std::optional<Dim> d;
  if (dof) {
    d = dof->angular ? dim::kNone : dim::kLength;
    if (speed) d = *d / dim::kTime;
  }
  const Slot value = number(at, d);
  if (!dof || value < 0) return;
  Condition c;
  c.channel.dof = dof->dof;
  c.channel.angular = dof->angular;
  c.order = speed ? Order::kRate : Order::kValue;
  c.value = value;
  c.guess = guess;
  c.name = name;
  c.loc = at.node->key_loc;
  model_.initial.push_back(std::move(c));
}

// "ball" = { rpy = […] }, and base.x = 1, which TOML reads as base = { x = 1 }.
void Compiler::joint_condition(const At& at, const std::string& joint, bool guess) {
  if (!joint_coordinates_.contains(joint)) {
    std::vector<std::string> known;
    for (const auto& [name, list] : joint_coordinates_) known.push_back(name);
    std::sort(known.begin(), known.end());
    error(208, at, fmt::format("joint \"{}\" not found{}", joint, did_you_mean(joint, known)));
    return;
  }
  bool turned = false;
  for (const auto& [key, node] : *at.node->table()) {
    if (key == "rpy" || key == "quaternion") {
      turned = true;
    } else if (node.table() == nullptr) {
      condition(at[key], fmt::format("{}.{}", joint, key), guess);
    }
  }
  if (turned) orientation(at, joint, guess);
}

void Compiler::orientation(const At& at, const std::string& joint, bool guess) {
  if (at["rpy"] && at["quaternion"]) {
    error(115, at, "give either \"rpy\" or \"quaternion\", not both");
    return;
  }
  const auto it = joint_index_.find(joint);
  if (it == joint_index_.end() || it->second < 0) return;  // reported
  const FileJoint& file_joint = model_.file_joints[static_cast<size_t>(it->second)];
  const int index = file_joint.first + file_joint.count - 1;
  if (model_.joints[static_cast<size_t>(index)].type != JointType::kSpherical) {
    error(405, at,
          fmt::format("joint \"{}\" has no orientation to set; give its coordinates", joint));
    return;
  }
  InitialOrientation o;
  o.joint = index;
  o.guess = guess;
  o.name = joint;
  o.loc = at.loc();
  if (const At quaternion = at["quaternion"]) {
    o.quaternion = numbers<4>(quaternion, dim::kNone, {"w", "x", "y", "z"});
    double square = 0;
    for (const Slot s : o.quaternion) square += value(s) * value(s);
    if (quaternion.size() == 4 && !(square > 0))
      error(310, quaternion, "the quaternion has no length");
  } else {
    const auto angles = numbers<3>(at["rpy"], dim::kNone, {"roll", "pitch", "yaw"});
    if (std::any_of(angles.begin(), angles.end(), [](Slot s) { return s < 0; }))
      return;  // reported
    // q = q_z(yaw) q_y(pitch) q_x(roll)
    const auto half = [&](size_t i, Op op) {
      Code code = model_.slots[static_cast<size_t>(angles[i])].code();
      code.push_back({Op::kConstant, -1, 0.5});
      code.push_back({Op::kMul});
      code.push_back({op});
      return code;
    };
    const Code cr = half(0, Op::kCos), sr = half(0, Op::kSin);
    const Code cp = half(1, Op::kCos), sp = half(1, Op::kSin);
    const Code cy = half(2, Op::kCos), sy = half(2, Op::kSin);
    const auto product = [](const Code& a, const Code& b, const Code& c) {
      return binary(Op::kMul, binary(Op::kMul, a, b), c);
    };
    const Code parts[4] = {binary(Op::kAdd, product(cr, cp, cy), product(sr, sp, sy)),
                           binary(Op::kSub, product(sr, cp, cy), product(cr, sp, sy)),
                           binary(Op::kAdd, product(cr, sp, cy), product(sr, cp, sy)),
                           binary(Op::kSub, product(cr, cp, sy), product(sr, sp, cy))};
    for (size_t i = 0; i < 4; ++i) {
      auto e = Expression::from_code(parts[i]);
      if (!e) return error(312, at, "the expressions of the angles are too deep");
      o.quaternion[i] = add_slot(std::move(*e));
    }
  }
  model_.orientations.push_back(std::move(o));
}

void Compiler::points(const At& at, Order order, bool guess) {
  constexpr const char* kAxes[] = {"x", "y", "z"};
  const Dim d = order == Order::kValue ? dim::kLength : dim::kSpeed;
  for (size_t i = 0; i < at.size(); ++i) {
    const At point = at.element(i, std::to_string(i));
    if (point.node->table() == nullptr) continue;  // reported by validate
    const int frame = place(point["of"]);
    const At wanted = point["at"];
    for (size_t k = 0; k < std::min<size_t>(wanted.size(), planar_ ? 2 : 3); ++k) {
      const At entry = wanted.element(k, kAxes[k]);
      if (entry.text() != nullptr && *entry.text() == "free") continue;
      Condition c;
      c.channel.kind = ChannelKind::kPoint;
      c.channel.frame_a = frame;
      c.channel.axis = static_cast<int>(k);
      c.order = order;
      c.guess = guess;
      c.loc = entry.loc();
      c.value = number(entry, d);
      if (frame == kNoFrame || c.value < 0) continue;
      c.name = fmt::format(
          "{} {}", frame < 0 ? "ground" : model_.frames[static_cast<size_t>(frame)].name, kAxes[k]);
      model_.initial.push_back(std::move(c));
    }
  }
}

void Compiler::preferred() {
  const At at = At(root_)["independent"];
  for (size_t i = 0; i < at.size(); ++i) {
    const auto dof = coordinate(at.element(i, std::to_string(i)));
    if (dof) model_.preferred.push_back(dof->dof);
  }
}

void Compiler::run_defaults() {
  const At at = At(root_)["simulation"];
  const auto positive = [&](const char* key, Dim d, double& out) {
    const auto v = constant(at[key], d);
    if (!v) return;
    out = *v;
    if (!(out > 0)) error(304, at[key], fmt::format("must be positive, it is {}", out));
  };
  positive("until", dim::kTime, model_.run.until);
  positive("dt", dim::kTime, model_.run.dt);
  positive("tol", dim::kNone, model_.run.tol);
  if (at["integrator"].text() != nullptr) model_.run.integrator = *at["integrator"].text();
}

}  // namespace panto::compile_detail
