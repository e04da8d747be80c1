// Topology: which joint carries which body, parents before children, compound joints as chains of primitive ones.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <queue>

#include "panto/model/compile_internal.hpp"

namespace panto::compile_detail {
namespace {

using Axis = std::array<double, 3>;
constexpr Axis kX{1, 0, 0}, kY{0, 1, 0}, kZ{0, 0, 1};

struct Primitive {
  JointType type;
  Axis axis;
  const char* suffix;  // of the coordinate's name
};

// The chain that a joint of the file stands for; `axis` is the user's.
std::vector<Primitive> chain(std::string_view type, bool planar, const Axis& axis) {
  using J = JointType;
  if (type == "revolute") return {{J::kRevolute, axis, ""}};
  if (type == "prismatic") return {{J::kPrismatic, axis, ""}};
  if (type == "cylindrical")
    return {{J::kRevolute, axis, ".angle"}, {J::kPrismatic, axis, ".slide"}};
  if (type == "universal") return {{J::kRevolute, kX, ".angle1"}, {J::kRevolute, kY, ".angle2"}};
  if (type == "spherical") return {{J::kSpherical, kZ, ""}};
  if (type == "planar" || (type == "free" && planar)) {
    return {{J::kPrismatic, kX, ".x"}, {J::kPrismatic, kY, ".y"}, {J::kRevolute, kZ, ".angle"}};
  }
  if (type == "free") {
    return {{J::kPrismatic, kX, ".x"},
            {J::kPrismatic, kY, ".y"},
            {J::kPrismatic, kZ, ".z"},
            {J::kSpherical, kZ, ""}};
  }
  return {{J::kWeld, kZ, ""}};
}

std::string type_of(const Item& item) {
  const Node* type = item.node->find("type");
  return type != nullptr && type->text() != nullptr ? *type->text() : "";
}

}  // namespace

int Compiler::body_of(const At& place) {
  std::string_view name;
  if (place.text() != nullptr) {
    name = *place.text();
    // "crank.end" is a place on "crank"; the connection "base.left" of a superelement is a body.
    if (const auto it = body_index_.find(name); it != body_index_.end()) return it->second;
    name = name.substr(0, name.find('.'));
  } else if (const At body = place["body"]; body.text() != nullptr) {
    name = *body.text();
  } else {
    return kNoFrame;
  }
  if (name == "ground") return kGround;
  const auto it = body_index_.find(name);
  return it == body_index_.end() ? kNoFrame : it->second;
}

void Compiler::tree() {
  for (const Item& item : items_["body"]) {
    const int index = static_cast<int>(final_body_.size());
    final_body_.push_back(-1);
    if (!name_ok(item)) continue;
    if (item.name == "ground") {
      error(211, At(item)["name"], "\"ground\" is the name of the fixed body");
    } else if (!body_index_.emplace(item.name, index).second) {
      error(202, At(item)["name"], "there is another body of this name");
    }
  }
  const std::deque<Item>& joints = items_["joint"];
  const size_t nb = final_body_.size();
  std::vector<int> parents(joints.size(), kNoFrame), children(joints.size(), kNoFrame);
  std::vector<int> joint_of_body(nb, -1);
  const Node* list = spec_.root.find("joint");
  bool child_unknown =
      list != nullptr && list->array() == nullptr;  // then a missing joint is no news
  TextMap<int> names;
  for (size_t i = 0; i < joints.size(); ++i) {
    const Item& item = joints[i];
    const At at(item);
    bool good = name_ok(item);
    if (good && !names.emplace(item.name, 0).second) {
      error(202, at["name"], "there is another joint of this name");
      good = false;
    }
    for (const char* word : {"points", "velocities", "guess"}) {
      if (item.name == word)
        error(211, at["name"], fmt::format("\"{}\" is a word of `initial`", word));
    }
    const int parent = body_of(at["parent"]);
    const int child = body_of(at["child"]);
    if (child == kNoFrame) child_unknown = true;
    if (child == kGround) {
      error(408, at["child"], "the ground cannot be carried by a joint; exchange parent and child");
      good = false;
      child_unknown = true;
    } else if (child >= 0 && child == parent) {
      error(401, at["child"], "the joint connects a body with itself");
      good = false;
      child_unknown = true;
    } else if (child >= 0) {
      int& carrier = joint_of_body[static_cast<size_t>(child)];
      if (carrier >= 0) {
        error(404, at["child"],
              fmt::format("body \"{}\" already hangs on joint \"{}\"; make one of the two a loop",
                          items_["body"][static_cast<size_t>(child)].name,
                          joints[static_cast<size_t>(carrier)].name));
        good = false;
      } else {
        carrier = static_cast<int>(i);
      }
    }
    if (good && child >= 0 && !type_of(item).empty()) {
      parents[i] =
          parent == kNoFrame ? kGround : parent;  // an unknown parent is reported with its place
      children[i] = child;
    } else {
      if (child >= 0 && joint_of_body[static_cast<size_t>(child)] == static_cast<int>(i)) {
        joint_of_body[static_cast<size_t>(child)] = -1;
        child_unknown = true;
      }
      if (!item.name.empty()) name_coordinates(item, false, 0, 0);
    }
    if (child == kNoFrame && at["child"]) place(at["child"]);
    if (parent == kNoFrame && at["parent"] && children[i] < 0) place(at["parent"]);
  }
  for (size_t b = 0; b < nb && !child_unknown; ++b) {
    const Item& item = items_["body"][b];
    const auto it = body_index_.find(item.name);
    if (joint_of_body[b] < 0 && it != body_index_.end() && it->second == static_cast<int>(b)) {
      error(403, At(item),
            "the body hangs on no joint; add one, of type \"free\" if nothing guides it");
    }
  }
  if (nb == 0) {
    diagnostics_.error(410, spec_.root.loc, "the model has no body");
  }
  const std::vector<size_t> order = order_joints(parents, children);
  std::vector<bool> placed(joints.size(), false);
  for (const size_t i : order) {
    placed[i] = true;
    add_joint(joints[i], parents[i], children[i]);
  }
  report_tree_cycles(parents, children, joint_of_body, placed);
  model_.limits.resize(static_cast<size_t>(model_.nv));
  own_frames_.assign(model_.bodies.size(), -1);
}

// Parents before children, otherwise in file order. Bodies without a joint count as fixed, so that the rest is checked.
std::vector<size_t> Compiler::order_joints(const std::vector<int>& parents,
                                           const std::vector<int>& children) {
  const size_t nb = final_body_.size();
  std::vector<std::vector<size_t>> carried(nb);
  std::vector<bool> has_joint(nb, false);
  for (const int c : children) {
    if (c >= 0) has_joint[static_cast<size_t>(c)] = true;
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < parents.size(); ++i) {
    if (children[i] < 0) continue;
    const int p = parents[i];
    if (p >= 0 && has_joint[static_cast<size_t>(p)]) {
      carried[static_cast<size_t>(p)].push_back(i);
    } else {
      ready.push(i);
    }
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    order.push_back(i);
    for (const size_t k : carried[static_cast<size_t>(children[i])]) ready.push(k);
  }
  return order;
}

void Compiler::report_tree_cycles(const std::vector<int>& parents, const std::vector<int>& children,
                                  const std::vector<int>& joint_of_body,
                                  const std::vector<bool>& placed) {
  const std::deque<Item>& joints = items_["joint"];
  std::vector<bool> seen = placed;
  for (size_t i = 0; i < joints.size(); ++i) {
    if (children[i] < 0) continue;
    if (!placed[i]) name_coordinates(joints[i], false, 0, 0);
    std::vector<size_t> path;
    size_t k = i;
    while (!seen[k]) {
      seen[k] = true;
      path.push_back(k);
      k = static_cast<size_t>(joint_of_body[static_cast<size_t>(parents[k])]);
    }
    const auto start = std::find(path.begin(), path.end(), k);
    if (start == path.end()) continue;
    std::string names;
    for (auto it = path.rbegin(); it.base() != start; ++it) {
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", joints[*it].name);
    }
    error(
        402, At(joints[k]),
        fmt::format("the joints {} carry each other in a circle; hang the first body on the ground "
                    "and make the last joint a loop",
                    names));
  }
}

void Compiler::add_joint(const Item& item, int parent, int child) {
  const At at(item);
  const std::string type = type_of(item);
  const bool slides = type == "prismatic";
  const auto direction = axis(at["axis"], slides ? kX : kZ);
  const bool ancf = is_ancf(child);  // its nodes move, not its body
  const std::vector<Primitive> parts =
      ancf ? chain("weld", planar_, kZ) : chain(type, planar_, direction.value_or(kZ));

  FileJoint file_joint{item.name, type, static_cast<int>(model_.joints.size()),
                       static_cast<int>(parts.size()), item.node->loc};
  const int spec_index = static_cast<int>(model_.file_joints.size());
  int carrier = parent >= 0 && !ancf ? final_body_[static_cast<size_t>(parent)] : kGround;
  const int first_q = model_.nq, first_v = model_.nv;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Primitive& part = parts[i];
    Joint j;
    j.name = item.name + part.suffix;
    j.type = part.type;
    j.parent = carrier;
    j.axis = part.axis;
    j.q = model_.nq;
    j.v = model_.nv;
    j.nq = part.type == JointType::kWeld ? 0 : (part.type == JointType::kSpherical ? 4 : 1);
    j.nv = part.type == JointType::kSpherical ? 3 : j.nq;
    j.spec = spec_index;
    model_.nq += j.nq;
    model_.nv += j.nv;
    for (int k = 0; k < j.nv; ++k) angular_.push_back(part.type != JointType::kPrismatic);
    carrier = static_cast<int>(model_.joints.size());
    model_.joints.push_back(std::move(j));
    Body b;
    b.loc = item.node->loc;
    const bool last = i + 1 == parts.size();
    b.name = last ? items_["body"][static_cast<size_t>(child)].name
                  : fmt::format("{}.link{}", item.name, i + 1);
    if (last) b.loc = items_["body"][static_cast<size_t>(child)].node->loc;
    model_.bodies.push_back(std::move(b));
  }
  final_body_[static_cast<size_t>(child)] = carrier;
  if (ancf) {
    joint_index_.emplace(item.name, spec_index);
    joint_coordinates_[item.name];
  } else {
    name_coordinates(item, true, first_v, first_q);
  }
  placed_joints_.emplace_back(&item, spec_index);
  model_.file_joints.push_back(std::move(file_joint));
}

// Registers the names of a joint's coordinates and speeds; of a joint with errors too, so that they are not reported as unknown.
void Compiler::name_coordinates(const Item& item, bool exists, int first_dof, int first_q) {
  std::vector<std::string>& names = joint_coordinates_[item.name];
  joint_index_.emplace(item.name, exists ? static_cast<int>(model_.file_joints.size()) : -1);
  int dof = first_dof;
  int q = first_q;
  const auto add = [&](const std::string& coordinate, const std::string& speed, bool angular,
                       bool rate_only) {
    if (!rate_only) names.push_back(coordinate);
    const int index = exists ? dof++ : -1;
    bool fresh = dof_index_.emplace(speed, Dof{index, angular, rate_only, true}).second;
    if (!rate_only) {
      fresh = dof_index_.emplace(coordinate, Dof{index, angular, false, false}).second && fresh;
    }
    if (!fresh && exists) {
      error(202, At(item)["name"],
            fmt::format("its coordinate \"{}\" or speed \"{}\" has the name of another", coordinate,
                        speed));
    }
    if (exists) model_.speed_names.push_back(speed);
  };
  for (const Primitive& part : chain(type_of(item), planar_, kZ)) {
    const std::string name = item.name + part.suffix;
    if (part.type == JointType::kWeld) continue;
    if (part.type == JointType::kSpherical) {
      for (const char* w : {".wx", ".wy", ".wz"}) add(name + w, name + w, true, true);
      for (const char* c : {".qw", ".qx", ".qy", ".qz"}) {
        if (exists) model_.coordinate_names.push_back(name + c);
      }
      q += 4;
    } else {
      add(name, name + "_dot", part.type == JointType::kRevolute, false);
      if (exists) model_.coordinate_names.push_back(name);
      ++q;
    }
  }
}

std::optional<Axis> Compiler::axis(const At& at, Axis fallback) {
  if (!at) return fallback;
  if (const std::string* text = at.text()) {
    if (*text == "x") return kX;
    if (*text == "y") return kY;
    return kZ;  // anything else is reported by validate
  }
  Axis a{0, 0, 0};
  for (size_t i = 0; i < std::min<size_t>(at.size(), 3); ++i) {
    const auto v = constant(at.element(i, std::to_string(i)), dim::kNone);
    if (!v) return std::nullopt;
    a[i] = *v;
  }
  const double length = std::hypot(a[0], a[1], a[2]);
  if (at.size() > 0 && !(length > 0 && std::isfinite(length))) {
    error(310, at, "the axis has no length");
    return std::nullopt;
  }
  for (double& x : a) x /= length;
  return a;
}

// Frames and ranges of the joints, when all places exist.
void Compiler::joint_frames() {
  const auto frame_at = [&](const At& at) {
    const int f = place(at);
    if (f < 0) return -1;
    const Frame& frame = model_.frames[static_cast<size_t>(f)];
    return frame.has_position() || frame.has_rotation() ? f : -1;
  };
  for (const auto& [item, index] : placed_joints_) {
    const At at(*item);
    const FileJoint& file_joint = model_.file_joints[static_cast<size_t>(index)];
    Joint& first = model_.joints[static_cast<size_t>(file_joint.first)];
    Joint& last = model_.joints[static_cast<size_t>(file_joint.first + file_joint.count - 1)];
    if (const int body = file_joint.first; ancf_of(body) >= 0) {
      ancf_joint(*item, first, body);
      continue;
    }
    if (const int carrier = first.parent; carrier >= 0 && ancf_of(carrier) >= 0) {
      error(414, at["parent"],
            "a beam of large deformation carries no joints; give the other body a joint of type "
            "\"free\" and close a loop of type \"pin\" or \"weld\" with the beam");
      continue;
    }
    first.parent_frame = frame_at(at["parent"]);
    last.child_frame = frame_at(at["child"]);
    const At range = at["range"];
    if (range.size() != 2 || first.nv != 1) continue;
    const Dim d = angular_[static_cast<size_t>(first.v)] ? dim::kNone : dim::kLength;
    Limits& limits = model_.limits[static_cast<size_t>(first.v)];
    limits.lower = number(range.element(0, "lower"), d);
    limits.upper = number(range.element(1, "upper"), d);
    if (limits.lower >= 0 && limits.upper >= 0 && !(value(limits.lower) < value(limits.upper))) {
      error(308, range, "the lower limit must be below the upper one");
    }
  }
}

}  // namespace panto::compile_detail
