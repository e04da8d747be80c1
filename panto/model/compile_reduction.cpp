// Reduction of the displacements of beams (RER-1): which are masters, which interior modes are kept, and where those are computed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/model/beam_links.hpp"
#include "panto/model/compile_internal.hpp"

namespace panto::compile_detail {
namespace {

constexpr std::array<const char*, 3> kDisplacements{"ux", "uy", "turn"};

}  // namespace

void Compiler::read_reduction() {
  const At at = At(root_)["reduction"];
  if (!at || at.node->table() == nullptr) return;
  reduced_ = true;
  for (const Beam& b : model_.beams)
    if (!b.ancf() && (b.first_terms || b.stiffening))
      error(
          933, at,
          fmt::format("beam \"{}\" has {}; reduced are beams with complete terms and linear strain",
                      b.name, b.first_terms ? "terms \"first\"" : "strain \"stiffening\""));
  std::vector<std::string> known;
  for (size_t n = 0; n < model_.nodes.size(); ++n)
    for (size_t axis = 0; axis < 3; ++axis)
      if (elastic_hold_[static_cast<size_t>(elastic_group_[3 * n + axis])] == NodeHold::kFree)
        known.push_back(fmt::format("{}.{}", model_.nodes[n].name, kDisplacements[axis]));
  const At masters = at["masters"];
  for (size_t i = 0; i < masters.size(); ++i) {
    const At entry = masters.element(i, std::to_string(i));
    const std::string* name = entry.text();
    if (name == nullptr) continue;  // reported by validate
    int group = -1;
    for (size_t n = 0; n < model_.nodes.size(); ++n)
      for (size_t axis = 0; axis < 3; ++axis)
        if (*name == fmt::format("{}.{}", model_.nodes[n].name, kDisplacements[axis]))
          group = elastic_group_[3 * n + axis];
    if (group < 0 || elastic_hold_[static_cast<size_t>(group)] != NodeHold::kFree) {
      error(931, entry,
            group < 0 ? fmt::format("\"{}\" is no displacement of a beam{}", *name,
                                    did_you_mean(*name, known))
                      : fmt::format("\"{}\" is held at zero, it cannot be a master", *name));
    } else if (!masters_.insert(group).second) {
      error(931, entry, fmt::format("\"{}\" is a master already", *name));
    }
  }
  for (size_t n = 0; n < model_.nodes.size(); ++n) {
    const auto x = elastic_group_[3 * n], y = elastic_group_[3 * n + 1];
    const auto kind = [&](int group) {
      return elastic_hold_[static_cast<size_t>(group)] != NodeHold::kFree ? 0
             : masters_.contains(group)                                   ? 1
                                                                          : 2;
    };
    if (kind(x) == kind(y)) continue;
    const std::string& name = model_.nodes[n].name;
    error(932, masters,
          kind(x) == 0 || kind(y) == 0
              ? fmt::format("only one of \"{0}.ux\" and \"{0}.uy\" is held; reduced models have "
                            "both or none held",
                            name)
              : fmt::format("\"{0}.ux\" and \"{0}.uy\" are masters together or not at all: a pair "
                            "turns with its link",
                            name));
    break;
  }
  Reduction& r = model_.reduction;
  const At modes = at["modes"], lowest = at["lowest"];
  if (modes && lowest) error(934, lowest, "give \"modes\" or \"lowest\", not both");
  for (const double value : constants(modes, dim::kNone)) {
    const auto whole = static_cast<int>(std::lround(value));
    if (!(std::abs(value - whole) < 1e-9) || whole < 1 ||
        std::find(r.modes.begin(), r.modes.end(), whole) != r.modes.end()) {
      error(934, modes, fmt::format("modes are different whole numbers from 1, not {}", value));
    } else {
      r.modes.push_back(whole);
    }
  }
  if (const auto count = lowest ? constant(lowest, dim::kNone) : std::nullopt)
    for (int i = 1; i <= static_cast<int>(*count); ++i) r.modes.push_back(i);
}

void Compiler::name_amplitudes() {
  if (!reduced_) return;
  Reduction& r = model_.reduction;
  r.first_mode = model_.nv;
  for (const int mode : r.modes) {
    const std::string name = fmt::format("eta{}", mode);
    const int dof = model_.nv++;
    ++model_.nq;
    model_.elastic.push_back({false});
    angular_.push_back(false);
    model_.coordinate_names.push_back(name);
    model_.speed_names.push_back(name + "_dot");
    dof_index_.emplace(name, Dof{dof, false, false, false});
    dof_index_.emplace(name + "_dot", Dof{dof, false, false, true});
  }
  model_.limits.resize(static_cast<size_t>(model_.nv));
}

// Angles of the links of all beams, from the initial values of the coordinates, guessed ones too; what is not given counts as zero.
std::vector<double> Compiler::initial_link_angles() const {
  std::vector<double> q(static_cast<size_t>(model_.nv), 0.0), body(model_.bodies.size(), 0.0), out;
  for (const Condition& c : model_.initial)
    if (c.channel.kind == ChannelKind::kCoordinate && c.order == Order::kValue)
      q[static_cast<size_t>(c.channel.dof)] = value(c.value);
  const auto turned = [&](int frame) {
    return frame < 0 ? 0.0 : value(model_.frames[static_cast<size_t>(frame)].rotation[0]);
  };
  for (size_t i = 0; i < model_.joints.size(); ++i) {
    const Joint& j = model_.joints[i];
    body[i] = (j.parent == kGround ? 0.0 : body[static_cast<size_t>(j.parent)]) +
              turned(j.parent_frame) - turned(j.child_frame);
    if (j.type == JointType::kRevolute) body[i] += q[static_cast<size_t>(j.v)];
  }
  out.reserve(model_.beams.size());
  for (const Beam& b : model_.beams) out.push_back(body[static_cast<size_t>(b.body)]);
  return out;
}

void Compiler::reduction_basis() {
  const At at = At(root_)["reduction"];
  if (!at) return;
  if (!reduced_) {
    error(930, at, "the model has no beam of small deformation, there is nothing to reduce");
    return;
  }
  std::vector<double> reference = initial_link_angles();
  const At given = at["reference"];
  if (given && given.node->table() != nullptr) {
    std::vector<std::string> known;
    for (const Beam& b : model_.beams)
      if (!b.ancf()) known.push_back(b.name);
    for (const auto& [key, node] : *given.node->table()) {
      const auto it = std::find(known.begin(), known.end(), key);
      if (it == known.end()) {
        error(935, given[key],
              fmt::format("beam \"{}\" not found{}", key, did_you_mean(key, known)));
        continue;
      }
      for (size_t i = 0; i < model_.beams.size(); ++i)
        if (model_.beams[i].name == key)
          if (const auto angle = constant(given[key], dim::kNone)) reference[i] = *angle;
    }
  }
  if (!diagnostics_.ok()) return;
  int slaves = 0;
  for (const BeamNode& n : model_.nodes)
    for (const int s : n.slave) slaves = std::max(slaves, s + 1);
  for (const int mode : model_.reduction.modes)
    if (mode > slaves)
      return error(934, at,
                   fmt::format("there are {} interior modes, as many as displacements that are no "
                               "masters; mode {} is not one of them",
                               slaves, mode));
  if (!erls::renew_basis(model_, reference))
    error(936, at,
          "with the masters held, the other displacements can move without strain; add masters");
}

// Angle between the sections of the beams at a joint, when one of their rotations is no coordinate.
std::optional<Channel> Compiler::turning_channel(const At& at, int dof) {
  const auto joint = std::find_if(model_.joints.begin(), model_.joints.end(),
                                  [&](const Joint& j) { return j.nv > 0 && j.v == dof; });
  const auto body = static_cast<int>(joint - model_.joints.begin());
  const std::array<int, 2> nodes = joint_nodes_.at(dof);
  const auto side = [&](int frame, int node, int on) {
    if (node >= 0)
      return following(frame >= 0 ? frame : model_.nodes[static_cast<size_t>(node)].frame, at);
    return frame >= 0 || on == kGround ? frame : own_frame(on);
  };
  Channel c;
  c.kind = ChannelKind::kAngle;
  c.angular = true;
  c.frame_a = side(joint->child_frame, nodes[0], body);
  c.frame_b = side(joint->parent_frame, nodes[1], joint->parent);
  if (c.frame_a == kNoFrame || c.frame_b == kNoFrame) return std::nullopt;
  return c;
}

}  // namespace panto::compile_detail
