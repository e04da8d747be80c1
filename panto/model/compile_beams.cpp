// Flexible beams: sections and nodes, which displacements the joints share or hold, which are zeroed to place the rigid links (ERLS-5).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/model/compile_internal.hpp"

namespace panto::compile_detail {
namespace {

constexpr std::array<const char*, 3> kDisplacements{"ux", "uy", "turn"};
constexpr double kSamePlace = 1e-9;  // of the beam's length

// Number of a displacement "n2.ux" of a beam, 3 (node - 1) + axis; -1: there is none.
int displacement_number(const std::string& text, int nodes) {
  for (int i = 0; i < nodes; ++i)
    for (size_t axis = 0; axis < 3; ++axis)
      if (text == fmt::format("n{}.{}", i + 1, kDisplacements[axis]))
        return 3 * i + static_cast<int>(axis);
  return -1;
}

}  // namespace

// Two places that a joint or loop holds together.
struct Compiler::Connection {
  At at;
  int parent = -1, child = -1;  // frames, -1: own frame of the body
  int parent_body = kGround, child_body = kGround;
  bool turns = true;    // otherwise rotations are shared too
  bool slides = false;  // along a rigid guide
  bool free = false;    // nothing is held together
  int dof = -1;         // of a revolute joint
};

int Compiler::beam_of(int body) const {
  for (size_t i = 0; i < model_.beams.size(); ++i)
    if (model_.beams[i].body == body && !model_.beams[i].ancf()) return static_cast<int>(i);
  return -1;
}

int Compiler::node_at(int frame, bool on_axis) const {
  const Frame& f = model_.frames[static_cast<size_t>(frame)];
  const int index = beam_of(f.body);
  if (index < 0) return -1;
  const Beam& b = model_.beams[static_cast<size_t>(index)];
  const double tolerance = kSamePlace * value(b.length);
  if (on_axis && std::abs(value(f.position[1])) > tolerance) return -1;
  for (int n = b.first_node; n < b.first_node + b.nodes; ++n)
    if (std::abs(value(model_.nodes[static_cast<size_t>(n)].x) - value(f.position[0])) <= tolerance)
      return n;
  return -1;
}

bool Compiler::beam_section(const At& at, Beam& out) {
  const At circle = at["circle"], tube = at["tube"], rectangle = at["rectangle"], area = at["area"],
           moment = at["second_moment"];
  const int given = static_cast<int>(static_cast<bool>(circle)) +
                    static_cast<int>(static_cast<bool>(tube)) +
                    static_cast<int>(static_cast<bool>(rectangle)) +
                    static_cast<int>(static_cast<bool>(area) || static_cast<bool>(moment));
  if (given != 1) {
    error(115, at,
          "a beam has one section: \"circle\", \"tube\", \"rectangle\", or \"area\" and "
          "\"second_moment\"");
    return false;
  }
  const auto pair = [&](const At& list) {
    for (size_t i = 0; i < std::min<size_t>(list.size(), 2); ++i)
      out.numbers[i] = number(list.element(i, std::to_string(i)), dim::kLength, Sign::kPositive);
  };
  if (circle) {
    out.section = SectionKind::kCircle;
    out.numbers[0] = number(circle, dim::kLength, Sign::kPositive);
    return out.numbers[0] >= 0;
  }
  if (tube) {
    out.section = SectionKind::kTube;
    pair(tube);
    if (out.numbers[0] >= 0 && out.numbers[1] >= 0 &&
        !(value(out.numbers[0]) > value(out.numbers[1]))) {
      error(308, tube, "the outer diameter must exceed the inner one");
      return false;
    }
  } else if (rectangle) {
    out.section = SectionKind::kRectangle;
    pair(rectangle);
  } else {
    out.section = SectionKind::kGiven;
    const Dim area_dim = dim::kLength * dim::kLength;
    out.numbers[0] = number(area, area_dim, Sign::kPositive);
    out.numbers[1] = number(moment, area_dim * area_dim, Sign::kPositive);
    if (!area || !moment) error(115, at, "\"area\" and \"second_moment\" go together");
  }
  return out.numbers[0] >= 0 && out.numbers[1] >= 0;
}

// Positions of all nodes, from the origin to the end; empty: reported.
std::vector<Slot> Compiler::beam_nodes(const At& at, Slot length) {
  const At elements = at["elements"], inner = at["nodes"];
  std::vector<Slot> x{add_slot(Expression::constant(0))};
  if (elements && inner) {
    error(115, at, "give either \"elements\" or \"nodes\", not both");
    return {};
  }
  if (inner) {
    double before = 0;
    for (size_t i = 0; i < inner.size(); ++i) {
      const At entry = inner.element(i, std::to_string(i));
      const Slot s = number(entry, dim::kLength);
      if (s < 0) return {};
      if (!(value(s) > before && value(s) < value(length))) {
        error(412, entry,
              fmt::format("nodes stand in order between the ends, 0 and {} m; this one, at {} m, "
                          "would leave an element without length",
                          value(length), value(s)));
        return {};
      }
      before = value(s);
      x.push_back(s);
    }
  } else {
    const auto* written = elements ? std::get_if<std::int64_t>(&elements.node->value) : nullptr;
    if (elements && written == nullptr) return {};  // reported by validate
    const std::int64_t count = written != nullptr ? *written : 4;
    if (count < 1 || count > 10000) {
      error(313, elements, fmt::format("a beam has 1 to 10000 elements, not {}", count));
      return {};
    }
    for (std::int64_t i = 1; i < count; ++i) {
      std::vector<Expression::Instruction> code = model_.slots[static_cast<size_t>(length)].code();
      code.push_back(
          {Expression::Op::kConstant, -1, static_cast<double>(i) / static_cast<double>(count)});
      code.push_back({Expression::Op::kMul});
      x.push_back(add_slot(std::move(code)));
    }
  }
  x.push_back(length);
  return x;
}

// What beams of all kinds have: length, section, material and nodes; false: reported.
bool Compiler::beam_material(const At& at, int body_index, const std::string& name, Beam& b,
                             std::vector<Slot>& x) {
  for (const char* key :
       {"mass", "com", "inertia", "bar", "point_mass", "box", "cylinder", "sphere"})
    if (const At other = At(*at.item)[key])
      error(115, other, "a beam carries masses at its nodes only; use its key \"lumped\"");
  b.name = name;
  b.body = body_index;
  b.loc = at.loc();
  b.length = number(at["length"], dim::kLength, Sign::kPositive);
  const bool section = beam_section(at, b);
  b.youngs_modulus = number(at["E"], dim::kPressure, Sign::kPositive);
  Solid mass;
  mass_or_density(at, mass);
  b.mass = mass.mass;
  b.density = mass.density;
  if (b.mass >= 0 && !(value(b.mass) > 0)) error(304, at["mass"], "must be positive");
  if (b.length >= 0) x = beam_nodes(at, b.length);
  return section && b.youngs_modulus >= 0 && (b.mass >= 0 || b.density >= 0) && !x.empty() &&
         body_index >= 0;
}

// Names exist even if the beam does not, so that one slip gives one message.
int Compiler::beam_frame(const At& at, int body_index, const std::string& name,
                         const std::string& suffix, Slot x) {
  Frame f;
  f.name = fmt::format("{}.{}", name, suffix);
  f.body = body_index;
  f.position[0] = x;
  add_frame(std::move(f), at);
  return static_cast<int>(model_.frames.size()) - 1;
}

void Compiler::beam(const At& at, Body& out, int body_index, const std::string& name) {
  Beam b;
  std::vector<Slot> x;
  const bool good = beam_material(at, body_index, name, b, x);
  if (const At damping = at["damping"]) {
    b.alpha = number(damping["alpha"], dim::kFrequency, Sign::kNotNegative);
    b.beta = number(damping["beta"], dim::kTime, Sign::kNotNegative);
  }
  b.first_terms = at["terms"].text() != nullptr && *at["terms"].text() == "first";
  b.stiffening = at["strain"].text() != nullptr && *at["strain"].text() == "stiffening";
  b.rotary = at["rotary"].flag(false);
  b.first_node = static_cast<int>(model_.nodes.size());
  b.nodes = static_cast<int>(x.size());
  beam_frame(at, body_index, name, "start", -1);
  beam_frame(at, body_index, name, "end", b.length);
  const int index = static_cast<int>(model_.beams.size());
  for (size_t i = 0; i < x.size(); ++i) {
    BeamNode n;
    n.name = fmt::format("{}.n{}", name, i + 1);
    n.beam = index;
    n.x = x[i];
    n.frame = beam_frame(at, body_index, name, fmt::format("n{}", i + 1), i == 0 ? -1 : x[i]);
    if (good) model_.nodes.push_back(std::move(n));
  }
  if (!good) return;
  out.loc = at.item->node->loc;
  std::vector<NodeMass> masses;
  for (int i = 0; i < b.nodes; ++i) {
    BeamNode& n = model_.nodes[static_cast<size_t>(b.first_node + i)];
    masses.push_back({&n.mass, &n.inertia});
  }
  lumped(at["lumped"], masses);
  for (int i = 0; i + 1 < b.nodes; ++i) model_.elements.push_back({index, b.first_node + i});
  if (at["zeroed"]) zeroed_[index] = at["zeroed"].node;
  model_.beams.push_back(std::move(b));
}

void Compiler::lumped(const At& at, const std::vector<NodeMass>& nodes) {
  for (size_t i = 0; i < at.size(); ++i) {
    const At entry = at.element(i, std::to_string(i));
    if (entry.node->table() == nullptr) continue;  // reported by validate
    const At which = entry["node"];
    const auto* written = which ? std::get_if<std::int64_t>(&which.node->value) : nullptr;
    const Slot mass = number(entry["mass"], dim::kMass, Sign::kNotNegative),
               inertia = number(entry["inertia"], dim::kInertia, Sign::kNotNegative);
    if (written == nullptr) continue;
    if (*written < 1 || *written > static_cast<std::int64_t>(nodes.size())) {
      error(413, which, fmt::format("the beam has the nodes 1 to {}", nodes.size()));
      continue;
    }
    const NodeMass& n = nodes[static_cast<size_t>(*written - 1)];
    if (*n.mass >= 0 || *n.inertia >= 0) {
      error(413, which, fmt::format("node {} has a mass already", *written));
      continue;
    }
    *n.mass = mass;
    *n.inertia = inertia;
  }
}

// Which displacements are coordinates.
void Compiler::elastic_layout() {
  if (model_.nodes.empty()) return;
  elastic_group_.resize(3 * model_.nodes.size());
  for (size_t i = 0; i < elastic_group_.size(); ++i) elastic_group_[i] = static_cast<int>(i);
  elastic_hold_.assign(elastic_group_.size(), NodeHold::kFree);
  for (int b = 0; b < model_.n_bodies(); ++b)
    if (beam_of(b) < 0) own_frame(b);  // the check of the placement looks at rigid bodies
  for (const auto& [item, index] : placed_joints_) {
    if (ancf_joints_.contains(item->name)) continue;
    const FileJoint& file_joint = model_.file_joints[static_cast<size_t>(index)];
    const Joint &first = model_.joints[static_cast<size_t>(file_joint.first)],
                &last = model_.joints[static_cast<size_t>(file_joint.first + file_joint.count - 1)];
    Connection c{At(*item)};
    c.parent = first.parent_frame;
    c.parent_body = first.parent;
    c.child = last.child_frame;
    c.child_body = file_joint.first + file_joint.count - 1;
    c.turns = file_joint.type == "revolute" || file_joint.type == "free";
    c.slides = file_joint.type == "prismatic";
    c.free = file_joint.type == "free";
    if (file_joint.type == "revolute") c.dof = first.v;
    connect(c);
  }
  for (const Item& item : items_["loop"]) {
    const At at(item);
    const std::string type = at["type"].text() != nullptr ? *at["type"].text() : "";
    if (!at["between"]) continue;
    for (const ConstraintGroup& g : model_.groups) {
      if (g.name != item.name || g.rows.empty()) continue;
      const Channel& ch = model_.rows[static_cast<size_t>(g.rows[0])].channel;
      Connection c{at};
      c.parent = ch.frame_b;
      c.child = ch.frame_a;
      c.parent_body = frame_body(ch.frame_b);
      c.child_body = frame_body(ch.frame_a);
      c.turns = type != "weld";
      if (type != "pin" && type != "weld" &&
          (beam_of(c.parent_body) >= 0 || beam_of(c.child_body) >= 0)) {
        error(414, at,
              fmt::format("a loop of type \"{}\" does not act on a beam; pin the beam to a rigid "
                          "body and guide that",
                          type));
        continue;
      }
      connect(c);
    }
  }
  place_links();
  read_reduction();
  name_displacements();
  name_amplitudes();
}

void Compiler::connect(const Connection& c) {
  const auto node = [&](int frame, int body) {
    if (beam_of(body) < 0) return -1;
    if (frame < 0) return model_.beams[static_cast<size_t>(beam_of(body))].first_node;
    const int n = node_at(frame, true);
    if (n < 0)
      error(412, c.at,
            fmt::format("place \"{}\" is at no node of the beam; joints and loops hold nodes: add "
                        "the position to its \"nodes\"",
                        model_.frames[static_cast<size_t>(frame)].name));
    return n < 0 ? kNoFrame : n;
  };
  const int parent = node(c.parent, c.parent_body), child = node(c.child, c.child_body);
  if (parent == kNoFrame || child == kNoFrame || (parent < 0 && child < 0)) return;
  if (c.dof >= 0) joint_nodes_[c.dof] = {child, parent};
  const auto hold = [&](int n, NodeHold how, size_t axes) {
    for (size_t axis = 0; axis < axes; ++axis) {
      NodeHold& h =
          elastic_hold_[static_cast<size_t>(elastic_group_[static_cast<size_t>(3 * n) + axis])];
      if (h == NodeHold::kFree) h = how;
    }
  };
  if (c.free) {
    if (child >= 0) hold(child, NodeHold::kPlaced, 3);
    return;
  }
  if (c.slides && parent >= 0) {
    error(414, c.at, "a slide along a beam is not available; beams are joined by pins and welds");
    return;
  }
  if (parent >= 0 && child >= 0) {
    for (size_t axis = 0; axis < (c.turns ? 2 : 3); ++axis) {
      const int a = elastic_group_[static_cast<size_t>(3 * parent) + axis],
                b = elastic_group_[static_cast<size_t>(3 * child) + axis];
      const NodeHold h =
          std::max(elastic_hold_[static_cast<size_t>(a)], elastic_hold_[static_cast<size_t>(b)]);
      for (int& g : elastic_group_)
        if (g == a || g == b) g = std::min(a, b);
      elastic_hold_[static_cast<size_t>(std::min(a, b))] = h;
    }
  } else {
    hold(std::max(parent, child), NodeHold::kPinned, c.turns ? 2 : 3);
  }
}

// Zeroes what the file lists, and rotations at joints for the rest: actuated ones first, then those of coordinates wanted independent, then
// from the ground outward, until as many are placed as the rigid mechanism has degrees of freedom.
void Compiler::place_links() {
  int wanted = model_.joint_nv(), placed = 0;
  for (const ConstraintRow& row : model_.rows)
    wanted -= row.level == Level::kPosition && row.target == TargetKind::kConstant &&
                      ancf_of(frame_body(row.channel.frame_a)) < 0 &&
                      ancf_of(frame_body(row.channel.frame_b)) < 0
                  ? 1
                  : 0;
  for (const auto& [index, list] : zeroed_) {
    const Beam& b = model_.beams[static_cast<size_t>(index)];
    const auto* entries = list->array();
    if (entries == nullptr) continue;
    for (const Node& entry : *entries) {
      if (entry.text() == nullptr) continue;
      const int number = displacement_number(*entry.text(), b.nodes);
      const auto report = [&](const std::string& text) {
        diagnostics_.error(413, entry.loc,
                           fmt::format("body \"{}\": beam.zeroed: {}", b.name, text));
      };
      if (number < 0) {
        report(
            fmt::format("\"{}\" is no displacement of the beam; they are \"n1.ux\", \"n1.uy\", "
                        "\"n1.turn\" to \"n{}.turn\"",
                        *entry.text(), b.nodes));
        continue;
      }
      NodeHold& h = elastic_hold_[static_cast<size_t>(
          elastic_group_[static_cast<size_t>(3 * b.first_node + number)])];
      if (h != NodeHold::kFree) {
        report(fmt::format("\"{}\" is held already, by a joint or loop, or listed twice",
                           *entry.text()));
        continue;
      }
      h = NodeHold::kPlaced;
      ++placed;
    }
  }
  std::vector<int> order;
  const auto propose = [&](const std::string* name) {
    if (name == nullptr) return;
    const auto it = dof_index_.find(*name);
    if (it != dof_index_.end() && it->second.dof >= 0) order.push_back(it->second.dof);
  };
  for (const char* kind : {"actuator", "driver"})
    for (const Item& item : items_[kind]) propose(At(item)["on"].text());
  const At preferred = At(root_)["independent"];
  for (size_t i = 0; i < preferred.size(); ++i)
    propose(preferred.element(i, std::to_string(i)).text());
  for (int v = 0; v < model_.nv; ++v) order.push_back(v);
  std::vector<bool> seen(static_cast<size_t>(model_.nv), false);
  for (const int dof : order) {
    if (placed >= wanted) break;
    if (seen[static_cast<size_t>(dof)]) continue;
    seen[static_cast<size_t>(dof)] = true;
    const auto it = joint_nodes_.find(dof);
    const int child = it != joint_nodes_.end() ? it->second[0] : -1;
    if (child <
        0) {  // a rigid body is where its coordinates are, a free beam is placed by its joint
      ++placed;
      continue;
    }
    const int beam = model_.nodes[static_cast<size_t>(child)].beam;
    if (zeroed_.contains(beam)) continue;
    NodeHold& h =
        elastic_hold_[static_cast<size_t>(elastic_group_[static_cast<size_t>(3 * child + 2)])];
    if (h != NodeHold::kFree) continue;
    h = NodeHold::kPlaced;
    ++placed;
  }
}

void Compiler::name_displacements() {
  std::vector<int> dof(elastic_group_.size(), -1), slave(dof);
  int slaves = 0;
  for (size_t n = 0; n < model_.nodes.size(); ++n)
    for (size_t axis = 0; axis < 3; ++axis) {
      BeamNode& node = model_.nodes[n];
      const auto group = static_cast<size_t>(elastic_group_[3 * n + axis]);
      node.hold[axis] = elastic_hold_[group];
      if (node.hold[axis] != NodeHold::kFree) continue;
      if (reduced_ && !masters_.contains(static_cast<int>(group))) {
        if (slave[group] < 0) slave[group] = slaves++;
        node.slave[axis] = slave[group];
        continue;
      }
      if (dof[group] < 0) {
        dof[group] = model_.nv++;
        ++model_.nq;
        const std::string name = fmt::format("{}.{}", node.name, kDisplacements[axis]);
        model_.elastic.push_back({axis == 2});
        angular_.push_back(axis == 2);
        model_.coordinate_names.push_back(name);
        model_.speed_names.push_back(name + "_dot");
        dof_index_.emplace(name, Dof{dof[group], axis == 2, false, false});
        dof_index_.emplace(name + "_dot", Dof{dof[group], axis == 2, false, true});
      }
      node.dof[axis] = dof[group];
    }
  model_.limits.resize(static_cast<size_t>(model_.nv));
}

// The twin of a place on a beam that follows the node there.
int Compiler::following(int frame, const At& at) {
  const bool large = ancf_of(frame_body(frame)) >= 0;
  if (!large && beam_of(frame_body(frame)) < 0) return frame;
  if (model_.frames[static_cast<size_t>(frame)].node >= 0) return frame;
  if (followers_.size() <= static_cast<size_t>(frame))
    followers_.resize(model_.frames.size(), kNoFrame);
  const int known = followers_[static_cast<size_t>(frame)];
  if (known >= 0) return known;
  Frame f = model_.frames[static_cast<size_t>(frame)];
  const int node = large ? ancf_node_at(frame, false) : node_at(frame, false);
  f.node = large && node >= 0 ? model_.section_carrier(node) : node;
  if (f.node < 0) {
    error(412, at,
          fmt::format("place \"{}\" is at no node of the beam; add its position to the beam's "
                      "\"nodes\"",
                      f.name));
    return kNoFrame;
  }
  model_.frames.push_back(std::move(f));
  followers_.resize(model_.frames.size(), kNoFrame);
  const int twin = static_cast<int>(model_.frames.size()) - 1;
  followers_[static_cast<size_t>(frame)] = twin;
  followers_[static_cast<size_t>(twin)] = twin;
  return twin;
}

// What turns in a joint: the coordinate of the rigid links and the rotations of the beams' sections there.
std::optional<Channel> Compiler::joint_channel(const At& at, bool needs_value) {
  auto c = coordinate_channel(at, needs_value);
  if (!c) return c;
  const auto it = joint_nodes_.find(c->dof);
  if (it == joint_nodes_.end()) return c;
  for (const int node : it->second)
    if (node >= 0 && model_.nodes[static_cast<size_t>(node)].slave[2] >= 0)
      return turning_channel(at, c->dof);
  std::vector<Term> terms;
  for (size_t side = 0; side < 2; ++side) {
    const int node = it->second[side];
    const int dof = node < 0 ? -1 : model_.nodes[static_cast<size_t>(node)].dof[2];
    if (dof >= 0) terms.push_back({dof, add_slot(Expression::constant(side == 0 ? 1 : -1))});
  }
  if (terms.empty()) return c;
  terms.push_back({c->dof, add_slot(Expression::constant(1))});
  c->kind = ChannelKind::kSum;
  c->dof = -1;
  c->first_term = static_cast<int>(model_.terms.size());
  c->terms = static_cast<int>(terms.size());
  model_.terms.insert(model_.terms.end(), terms.begin(), terms.end());
  return c;
}

std::optional<Channel> Compiler::displacement_channel(const At& at) {
  const int frame = rigid_place(at["of"]);
  if (frame == kNoFrame) return std::nullopt;
  if (beam_of(frame_body(frame)) < 0 && ancf_of(frame_body(frame)) < 0) {
    error(405, at["of"], "only places on beams are displaced");
    return std::nullopt;
  }
  Channel c;
  c.axis = axis_index(at["axis"], 0);
  c.frame_a = following(frame, at["of"]);
  c.frame_b = frame;
  if (c.frame_a == kNoFrame) return std::nullopt;
  c.angular = c.axis == 2;
  c.kind = c.angular ? ChannelKind::kAngle : ChannelKind::kPoint;
  return c;
}

std::optional<Channel> Compiler::beam_channel(const At& at, ChannelKind kind) {
  Channel c;
  c.kind = kind;
  c.x = number(at["x"], dim::kLength);
  c.height = kind == ChannelKind::kStrain ? number(at["height"], dim::kLength) : -1;
  const std::string* name = at["of"].text();
  if (name == nullptr || c.x < 0) return std::nullopt;
  const auto it = std::find_if(model_.beams.begin(), model_.beams.end(),
                               [&](const Beam& b) { return b.name == *name; });
  if (it == model_.beams.end()) {
    std::vector<std::string> known;
    for (const Beam& b : model_.beams) known.push_back(b.name);
    // A beam with errors is reported there.
    if (!body_index_.contains(*name) || diagnostics_.ok())
      error(205, at["of"],
            fmt::format("beam \"{}\" not found{}", *name, did_you_mean(*name, known)));
    return std::nullopt;
  }
  if (it->ancf()) {
    error(405, at["of"], "curvature and strain are measured on beams of small deformation");
    return std::nullopt;
  }
  if (!(value(c.x) >= 0 && value(c.x) <= value(it->length) * (1 + kSamePlace))) {
    error(313, at["x"], fmt::format("the beam extends from 0 to {} m", value(it->length)));
    return std::nullopt;
  }
  int node = it->first_node;
  while (node + 2 < it->first_node + it->nodes &&
         value(model_.nodes[static_cast<size_t>(node) + 1].x) <= value(c.x))
    ++node;
  const auto element = std::find_if(model_.elements.begin(), model_.elements.end(),
                                    [&](const BeamSpan& s) { return s.node == node; });
  c.element = static_cast<int>(element - model_.elements.begin());
  return c;
}

}  // namespace panto::compile_detail
