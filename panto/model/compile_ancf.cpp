// Beams of large deformation (ANCF-1): where the undeformed beam lies, what its joints hold, names of its coordinates.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/model/compile_internal.hpp"

namespace panto::compile_detail {
namespace {

using Op = Expression::Op;
using Code = std::vector<Expression::Instruction>;

}  // namespace

int Compiler::ancf_of(int body) const {
  for (size_t i = 0; i < model_.beams.size(); ++i)
    if (model_.beams[i].body == body && model_.beams[i].ancf()) return static_cast<int>(i);
  return -1;
}

bool Compiler::is_ancf(int file_body) const {
  const At at = At(items_.at("body")[static_cast<size_t>(file_body)])["ancf"];
  return planar_ && at && at.node->table() != nullptr;
}

void Compiler::ancf(const At& at, Body& out, int body_index, const std::string& name) {
  Beam b;
  b.kind = at["element"].text() != nullptr && *at["element"].text() == "shear"
               ? BeamKind::kAncfShear
               : BeamKind::kAncfCable;
  std::vector<Slot> x;
  const bool good = beam_material(at, body_index, name, b, x);
  if (b.kind == BeamKind::kAncfShear) {
    b.poissons_ratio = number(at["poisson"], dim::kNone, Sign::kNotNegative);
    if (b.poissons_ratio >= 0 && !(value(b.poissons_ratio) < 0.5))
      error(308, at["poisson"], "Poisson's ratio is below one half");
    b.shear_factor = number(at["shear_factor"], dim::kNone, Sign::kPositive);
    if (const std::string* law = at["law"].text())
      b.law = *law == "plane_strain"   ? AncfLaw::kPlaneStrain
              : *law == "plane_stress" ? AncfLaw::kPlaneStress
                                       : AncfLaw::kSplit;
  } else {
    for (const char* key : {"poisson", "shear_factor", "law", "perpendicular"})
      if (at[key]) error(115, at[key], "only an element with shear has it: element = \"shear\"");
    if (at["curvature"].text() != nullptr && *at["curvature"].text() == "stretched")
      b.curvature = CableCurvature::kPerStretchedLength;
  }
  if (b.kind == BeamKind::kAncfShear && at["curvature"])
    error(115, at["curvature"], "only a cable has it");
  b.first_node = static_cast<int>(model_.ancf_nodes.size());
  b.nodes = static_cast<int>(x.size());
  const int index = static_cast<int>(model_.beams.size());
  beam_frame(at, body_index, name, "start", -1);
  beam_frame(at, body_index, name, "end", b.length);
  for (size_t i = 0; i < x.size(); ++i) {
    AncfNode n;
    n.name = fmt::format("{}.n{}", name, i + 1);
    n.beam = index;
    n.x = x[i];
    const Slot place = i == 0 ? -1 : x[i];
    n.frame = beam_frame(at, body_index, name, fmt::format("n{}", i + 1), place);
    // Number of the node now, of its carrier when all nodes are known.
    ancf_axis_frames_.emplace_back(
        beam_frame(at, body_index, name, fmt::format("n{}.axis", i + 1), place),
        b.first_node + static_cast<int>(i));
    if (good) model_.ancf_nodes.push_back(std::move(n));
  }
  if (!good) return;
  out.loc = at.item->node->loc;
  std::vector<NodeMass> masses;
  for (int i = 0; i < b.nodes; ++i) {
    AncfNode& n = model_.ancf_nodes[static_cast<size_t>(b.first_node + i)];
    masses.push_back({&n.mass, &n.inertia});
  }
  lumped(at["lumped"], masses);
  for (int i = 0; i + 1 < b.nodes; ++i) model_.ancf_elements.push_back({index, b.first_node + i});
  ancf_at_.insert_or_assign(index, at);
  model_.beams.push_back(std::move(b));
}

void Compiler::finish_axis_frames() {
  for (const auto& [frame, node] : ancf_axis_frames_)
    if (node < static_cast<int>(model_.ancf_nodes.size()))
      model_.frames[static_cast<size_t>(frame)].node = model_.axis_carrier(node);
}

int Compiler::ancf_node_at(int frame, bool on_axis) const {
  const Frame& f = model_.frames[static_cast<size_t>(frame)];
  const Beam& b = model_.beams[static_cast<size_t>(ancf_of(f.body))];
  const double tolerance = 1e-9 * value(b.length);
  if (on_axis && std::abs(value(f.position[1])) > tolerance) return -1;
  for (int n = b.first_node; n < b.first_node + b.nodes; ++n)
    if (std::abs(value(model_.ancf_nodes[static_cast<size_t>(n)].x) - value(f.position[0])) <=
        tolerance)
      return n;
  return -1;
}

// A joint of the file that carries an ANCF beam: where the undeformed beam lies, and what is held.
void Compiler::ancf_joint(const Item& item, Joint& joint, int body) {
  const At at(item);
  const int beam = ancf_of(body);
  if (beam < 0) return;  // reported
  const At table = ancf_at_.at(beam);
  const std::string type = at["type"].text() != nullptr ? *at["type"].text() : "";
  if (type != "revolute" && type != "weld" && type != "free") {
    error(414, at["type"],
          fmt::format("a joint of type \"{}\" does not carry a beam of large deformation; it is "
                      "pinned (\"revolute\"), welded or free",
                      type));
    return;
  }
  const int parent = place(at["parent"]), child = rigid_place(at["child"]);
  if (parent == kNoFrame || child == kNoFrame) return;
  const int node = ancf_node_at(child, true);
  if (node < 0) {
    error(412, at["child"],
          "joints hold beams at their nodes; add the position to the beam's \"nodes\"");
    return;
  }
  const bool grounded = frame_body(parent) == kGround && type != "free";
  const Slot own_angle = number(table["angle"], dim::kNone);
  const auto own_place = numbers<2>(table["at"], dim::kLength, {"x", "y"});
  if (grounded && table["at"])
    error(115, table["at"], "the joint to the ground says where the beam is");
  Frame f;
  f.name = item.name + ".undeformed";
  f.rotation[0] = own_angle;
  f.position = {own_place[0], own_place[1], -1};
  if (grounded && parent >= 0) {
    const Frame& p = model_.frames[static_cast<size_t>(parent)];
    f.position = p.position;
    f.rotation[0] = p.rotation[0] < 0 ? own_angle
                    : own_angle < 0   ? p.rotation[0]
                                      : add_slot(combined(Op::kAdd, p.rotation[0], own_angle));
  }
  AncfNode& n = model_.ancf_nodes[static_cast<size_t>(node)];
  if (grounded && n.x >= 0 && value(n.x) > 0) {
    // The origin lies x before the node.
    const auto along = [&](Op op) {
      Code code = f.rotation[0] >= 0 ? model_.slots[static_cast<size_t>(f.rotation[0])].code()
                                     : Code{{Op::kConstant, -1, 0.0}};
      code.push_back({op});
      const Code& x = model_.slots[static_cast<size_t>(n.x)].code();
      code.insert(code.end(), x.begin(), x.end());
      code.push_back({Op::kMul});
      return add_slot(std::move(code));
    };
    for (size_t k = 0; k < 2; ++k) {
      const Slot offset = along(k == 0 ? Op::kCos : Op::kSin);
      f.position[k] = add_slot(combined(Op::kSub, f.position[k], offset));
    }
  }
  if (f.has_position() || f.has_rotation()) {
    joint.parent_frame = static_cast<int>(model_.frames.size());
    model_.frames.push_back(std::move(f));
  }
  const int section = following(child, at["child"]);
  AncfJoint& known = ancf_joints_[item.name];
  known.section = section;
  known.parent = parent;
  known.node = node;
  if (type == "free") return;
  if (grounded) {
    n.place = {kHeld, kHeld};
    if (type == "weld") {
      const bool shear = model_.beams[static_cast<size_t>(beam)].kind == BeamKind::kAncfShear;
      if (shear) {
        n.section[0] = kHeld;
      } else {
        n.axis[1] = kHeld;
      }
    }
    return;
  }
  const int group = static_cast<int>(model_.groups.size());
  model_.groups.push_back({item.name, type, {}, item.node->loc});
  const auto row = [&](ChannelKind kind, int axis) {
    ConstraintRow r;
    r.channel.kind = kind;
    r.channel.frame_a = section;
    r.channel.frame_b = parent;
    r.channel.axis = axis;
    r.channel.angular = kind == ChannelKind::kAngle;
    add_row(r, group);
  };
  row(ChannelKind::kGap, 0);
  row(ChannelKind::kGap, 1);
  if (type == "weld") row(ChannelKind::kAngle, 0);
}

// Sections that stay perpendicular to the axis.
void Compiler::perpendicular_sections() {
  for (const auto& [beam, table] : ancf_at_) {
    const Beam& b = model_.beams[static_cast<size_t>(beam)];
    const At list = table["perpendicular"];
    if (!list || list.size() == 0) continue;
    const int group = static_cast<int>(model_.groups.size());
    model_.groups.push_back({b.name + ".perpendicular", "perpendicular", {}, list.loc()});
    for (size_t i = 0; i < list.size(); ++i) {
      const At entry = list.element(i, std::to_string(i));
      const auto* written = std::get_if<std::int64_t>(&entry.node->value);
      if (written == nullptr || *written < 1 || *written > b.nodes) {
        error(413, entry, fmt::format("the beam has the nodes 1 to {}", b.nodes));
        continue;
      }
      const int node = b.first_node + static_cast<int>(*written) - 1;
      ConstraintRow r;
      r.channel.kind = ChannelKind::kAngle;
      r.channel.frame_a = following(model_.ancf_nodes[static_cast<size_t>(node)].frame, entry);
      const auto axis = std::find_if(ancf_axis_frames_.begin(), ancf_axis_frames_.end(),
                                     [&](const auto& f) { return f.second == node; });
      r.channel.frame_b = axis->first;
      r.channel.angular = true;
      add_row(r, group);
    }
  }
}

// Coordinates of the nodes: what no joint holds, and their speeds at the start.
void Compiler::ancf_layout() {
  for (AncfNode& n : model_.ancf_nodes) {
    const Beam& b = model_.beams[static_cast<size_t>(n.beam)];
    const auto name = [&](std::array<int, 2>& dofs, const char* suffix, bool gradient) {
      for (size_t k = 0; k < 2; ++k) {
        if (dofs[k] == kHeld) {
          dofs[k] = -1;
          continue;
        }
        dofs[k] = model_.nv++;
        ++model_.nq;
        const std::string coordinate = fmt::format("{}.{}{}", n.name, suffix, k == 0 ? "x" : "y");
        model_.elastic.push_back({gradient});
        angular_.push_back(gradient);
        model_.coordinate_names.push_back(coordinate);
        model_.speed_names.push_back(coordinate + "_dot");
        dof_index_.emplace(coordinate, Dof{dofs[k], gradient, false, false});
        dof_index_.emplace(coordinate + "_dot", Dof{dofs[k], gradient, false, true});
      }
    };
    name(n.place, "u", false);
    name(n.axis, "a", true);
    if (b.kind == BeamKind::kAncfShear) name(n.section, "c", true);
  }
  model_.limits.resize(static_cast<size_t>(model_.nv));
  for (const auto& [beam, table] : ancf_at_) initial_rate(beam, table["rate"]);
}

// The straight beam turns about the node that its joint holds: ẏ = ω (x - x₀), and gradients by ω.
void Compiler::initial_rate(int beam, const At& at) {
  const Slot rate = number(at, dim::kFrequency);
  if (rate < 0) return;
  const Beam& b = model_.beams[static_cast<size_t>(beam)];
  Slot origin = -1;
  for (const auto& [name, joint] : ancf_joints_)
    if (model_.ancf_nodes[static_cast<size_t>(joint.node)].beam == beam)
      origin = model_.ancf_nodes[static_cast<size_t>(joint.node)].x;
  const auto condition = [&](int dof, Slot value) {
    if (dof < 0) return;
    Condition c;
    c.channel.dof = dof;
    c.channel.angular = angular_[static_cast<size_t>(dof)];
    c.order = Order::kRate;
    c.value = value;
    c.guess = true;
    c.name = model_.speed_names[static_cast<size_t>(dof)];
    c.loc = at.loc();
    model_.initial.push_back(std::move(c));
  };
  Code minus = model_.slots[static_cast<size_t>(rate)].code();
  minus.push_back({Op::kNeg});
  const Slot back = add_slot(std::move(minus));
  for (int i = b.first_node; i < b.first_node + b.nodes; ++i) {
    const AncfNode& n = model_.ancf_nodes[static_cast<size_t>(i)];
    Code across = combined(Op::kSub, n.x, origin);
    const Code& turn = model_.slots[static_cast<size_t>(rate)].code();
    across.insert(across.end(), turn.begin(), turn.end());
    across.push_back({Op::kMul});
    condition(n.place[1], add_slot(std::move(across)));
    condition(n.axis[1], rate);
    condition(n.section[0], back);
  }
}

std::vector<Expression::Instruction> Compiler::combined(Expression::Op op, Slot a, Slot b) const {
  const auto code = [&](Slot s) {
    return s >= 0 ? model_.slots[static_cast<size_t>(s)].code() : Code{{Op::kConstant, -1, 0.0}};
  };
  Code out = code(a);
  const Code second = code(b);
  out.insert(out.end(), second.begin(), second.end());
  out.push_back({op});
  return out;
}

// What turns in the joint of an ANCF beam: the section there against the parent's place.
std::optional<Channel> Compiler::ancf_joint_channel(const std::string& name) const {
  const auto it = ancf_joints_.find(name);
  if (it == ancf_joints_.end()) return std::nullopt;
  Channel c;
  c.kind = ChannelKind::kAngle;
  c.frame_a = it->second.section;
  c.frame_b = it->second.parent;
  c.angular = true;
  return c;
}

}  // namespace panto::compile_detail
