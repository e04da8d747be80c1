#include "panto/io/urdf.hpp"

#include <console_bridge/console.h>
#include <fmt/format.h>
#include <urdf_parser/urdf_parser.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>

#include "panto/io/toml.hpp"

namespace panto {
namespace {

constexpr int kMaxXmlNesting = 100;

using Matrix = std::array<std::array<double, 3>, 3>;

Matrix rotation(const urdf::Rotation& r) {
  const double w = r.w, x = r.x, y = r.y, z = r.z;
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
           {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
           {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      for (size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

Matrix transposed(const Matrix& a) {
  Matrix c{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) c[i][j] = a[j][i];
  }
  return c;
}

// Roll, pitch, yaw with R = Rz(yaw) Ry(pitch) Rx(roll).
std::array<double, 3> rpy(const Matrix& r) {
  const double cos_pitch = std::hypot(r[0][0], r[1][0]);
  const double pitch = std::atan2(-r[2][0], cos_pitch);
  if (cos_pitch < 1e-12) return {std::atan2(-r[1][2], r[1][1]), pitch, 0};
  return {std::atan2(r[2][1], r[2][2]), pitch, std::atan2(r[1][0], r[0][0])};
}

// A rotation that takes z to the given direction.
Matrix z_to(const urdf::Vector3& axis) {
  const double n = std::sqrt(axis.x * axis.x + axis.y * axis.y + axis.z * axis.z);
  const std::array<double, 3> z{axis.x / n, axis.y / n, axis.z / n};
  if (z[2] > 1 - 1e-12) return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const std::array<double, 3> help =
      std::abs(z[0]) < 0.9 ? std::array<double, 3>{1, 0, 0} : std::array<double, 3>{0, 1, 0};
  std::array<double, 3> y{z[1] * help[2] - z[2] * help[1], z[2] * help[0] - z[0] * help[2],
                          z[0] * help[1] - z[1] * help[0]};
  const double ny = std::hypot(y[0], y[1], y[2]);
  for (double& c : y) c /= ny;
  const std::array<double, 3> x{y[1] * z[2] - y[2] * z[1], y[2] * z[0] - y[0] * z[2],
                                y[0] * z[1] - y[1] * z[0]};
  return {{{x[0], y[0], z[0]}, {x[1], y[1], z[1]}, {x[2], y[2], z[2]}}};
}

// The parser reports through a global logger; this one collects while it exists. One at a time.
class Collector : public console_bridge::OutputHandler {
 public:
  Collector() : lock_(mutex()) { console_bridge::useOutputHandler(this); }
  ~Collector() override { console_bridge::restorePreviousOutputHandler(); }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  void log(const std::string& text, console_bridge::LogLevel level, const char* /*file*/,
           int /*line*/) override {
    if (level >= console_bridge::CONSOLE_BRIDGE_LOG_ERROR) errors.push_back(text);
  }
  std::vector<std::string> errors;

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  std::unique_lock<std::mutex> lock_;
};

// Deep nesting would exhaust the stack of the recursive parser.
bool too_deep(std::string_view xml) {
  int depth = 0;
  for (size_t p = xml.find('<'); p != std::string_view::npos; p = xml.find('<', p + 1)) {
    const char next = p + 1 < xml.size() ? xml[p + 1] : '\0';
    if (next == '/') {
      --depth;
    } else if (next != '!' && next != '?') {
      const size_t end = xml.find('>', p);
      const bool closed = end != std::string_view::npos && xml[end - 1] == '/';
      if (!closed && ++depth > kMaxXmlNesting) return true;
    }
  }
  return false;
}

class Builder {
 public:
  Builder(const urdf::ModelInterface& robot, const std::string& file, Diagnostics& out)
      : robot_(robot), file_(file), out_(out) {}

  Node run() {
    Node root{Node::Table{}};
    root.set("name", name_of(robot_.getName()));
    root.set("space", "spatial");
    root.set("gravity", vector({0, 0, -9.81}));
    const std::string& root_link = robot_.getRoot()->name;
    if (root_link == "world" || root_link == "ground") bodies_[root_link] = "ground";
    for (const auto& [name, link] : robot_.links_) {
      if (bodies_.contains(name)) continue;
      bodies_[name] =
          unique(name_of(name) == "ground" ? "ground_link" : name_of(name), body_names_);
    }
    // Parents before children, in the order of the tree.
    add_link(*robot_.getRoot());
    if (bodies_[root_link] != "ground") {
      Node weld{Node::Table{}};
      weld.set("name", unique(bodies_[root_link] + "_base", joint_names_));
      weld.set("type", "weld");
      weld.set("parent", "ground");
      weld.set("child", bodies_[root_link]);
      joint_list_.insert(joint_list_.begin(), weld);
    }
    root.set("body", std::move(body_list_));
    root.set("joint", std::move(joint_list_));
    if (!loop_list_.empty()) root.set("loop", std::move(loop_list_));
    if (!force_list_.empty()) root.set("force", std::move(force_list_));
    locate(root);
    return root;
  }

 private:
  static std::string name_of(const std::string& urdf_name) {
    std::string out = urdf_name.empty() ? "unnamed" : urdf_name;
    for (char& c : out) {
      const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                        static_cast<unsigned char>(c) >= 0x80;
      if (!good) c = '_';
    }
    return out;
  }
  static std::string unique(std::string name, std::map<std::string, int>& taken) {
    while (!taken.emplace(name, 0).second) name += "_";
    return name;
  }
  static Node vector(std::initializer_list<double> numbers) {
    Node::Array out;
    for (const double x : numbers) out.emplace_back(x);
    return out;
  }
  static Node vector(const std::array<double, 3>& a) { return vector({a[0], a[1], a[2]}); }
  static Node vector(const urdf::Vector3& a) { return vector({a.x, a.y, a.z}); }
  void locate(Node& node) {
    node.loc.file = node.key_loc.file = file_;
    if (auto* items = std::get_if<Node::Array>(&node.value)) {
      for (Node& item : *items) locate(item);
    } else if (auto* members = std::get_if<Node::Table>(&node.value)) {
      for (auto& [key, member] : *members) locate(member);
    }
  }
  void unsupported(const std::string& message) { out_.error(121, Loc{file_, 0, 0}, message); }

  void add_link(const urdf::Link& root) {
    std::vector<const urdf::Link*> open{&root};
    while (!open.empty()) {
      const urdf::Link& link = *open.back();
      open.pop_back();
      if (bodies_[link.name] != "ground") body_list_.push_back(body(link));
      for (const auto& joint : link.child_joints) add_joint(*joint);
      for (auto it = link.child_links.rbegin(); it != link.child_links.rend(); ++it) {
        open.push_back(it->get());
      }
    }
  }

  Node body(const urdf::Link& link) {
    Node out{Node::Table{}};
    out.set("name", bodies_[link.name]);
    if (link.inertial) {
      const urdf::Inertial& in = *link.inertial;
      // URDF gives the tensor in the axes of the inertial frame: I_body = R I Rᵀ.
      const Matrix r = rotation(in.origin.rotation);
      const Matrix i{
          {{in.ixx, in.ixy, in.ixz}, {in.ixy, in.iyy, in.iyz}, {in.ixz, in.iyz, in.izz}}};
      const Matrix t = r * i * transposed(r);
      out.set("mass", in.mass);
      out.set("com", vector(in.origin.position));
      out.set("inertia", vector({t[0][0], t[1][1], t[2][2], t[0][1], t[0][2], t[1][2]}));
    }
    if (link.visual && link.visual->geometry) {
      if (auto s = shape(*link.visual)) out.set("shape", *s);
    }
    return out;
  }

  std::optional<Node> shape(const urdf::Visual& visual) {
    Node out{Node::Table{}};
    const urdf::Geometry& geometry = *visual.geometry;
    if (const auto* box = dynamic_cast<const urdf::Box*>(&geometry)) {
      out.set("type", "box");
      out.set("size", vector(box->dim));
    } else if (const auto* cylinder = dynamic_cast<const urdf::Cylinder*>(&geometry)) {
      out.set("type", "cylinder");
      out.set("axis", "z");
      out.set("length", cylinder->length);
      out.set("radius", cylinder->radius);
    } else if (const auto* sphere = dynamic_cast<const urdf::Sphere*>(&geometry)) {
      out.set("type", "sphere");
      out.set("radius", sphere->radius);
    } else {
      return std::nullopt;  // meshes are not drawn
    }
    out.set("at", vector(visual.origin.position));
    out.set("rpy", vector(rpy(rotation(visual.origin.rotation))));
    return out;
  }

  void add_joint(const urdf::Joint& joint) {
    const std::string name = unique(name_of(joint.name), joint_names_);
    Node out{Node::Table{}};
    out.set("name", name);
    const urdf::Pose& origin = joint.parent_to_joint_origin_transform;
    Matrix turn = rotation(origin.rotation);
    Node child = bodies_[joint.child_link_name];
    const char* type = nullptr;
    bool has_axis = false;
    switch (joint.type) {
      case urdf::Joint::REVOLUTE:
      case urdf::Joint::CONTINUOUS:
        type = "revolute";
        has_axis = true;
        break;
      case urdf::Joint::PRISMATIC:
        type = "prismatic";
        has_axis = true;
        break;
      case urdf::Joint::FIXED:
        type = "weld";
        break;
      case urdf::Joint::FLOATING:
        type = "free";
        break;
      case urdf::Joint::PLANAR: {
        // Moves in the plane normal to the axis; ours in the plane of x and y.
        type = "planar";
        const Matrix align = z_to(joint.axis);
        turn = turn * align;
        Node on_child{Node::Table{}};
        on_child.set("body", bodies_[joint.child_link_name]);
        on_child.set("rpy", vector(rpy(align)));
        child = on_child;
        break;
      }
      default:
        unsupported(fmt::format("joint \"{}\": this type of joint is not known", joint.name));
        return;
    }
    out.set("type", type);
    Node parent{Node::Table{}};
    parent.set("body", bodies_[joint.parent_link_name]);
    parent.set("at", vector(origin.position));
    parent.set("rpy", vector(rpy(turn)));
    out.set("parent", parent);
    out.set("child", child);
    if (has_axis) out.set("axis", vector(joint.axis));
    const bool limited =
        joint.type == urdf::Joint::REVOLUTE || joint.type == urdf::Joint::PRISMATIC;
    if (limited && joint.limits && joint.limits->lower < joint.limits->upper) {
      out.set("range", vector({joint.limits->lower, joint.limits->upper}));
    }
    joint_list_.push_back(out);
    if (has_axis) add_forces(joint, name);
    if (joint.mimic && has_axis) add_mimic(joint, name);
  }

  void add_forces(const urdf::Joint& joint, const std::string& name) {
    if (!joint.dynamics) return;
    const double damping = joint.dynamics->damping, friction = joint.dynamics->friction;
    if (damping == 0 && friction == 0) return;
    Node out{Node::Table{}};
    out.set("name", name + (friction != 0 ? "_friction" : "_damping"));
    out.set("type", friction != 0 ? "friction" : "joint_spring");
    out.set("on", name);
    if (friction != 0) out.set("level", friction);
    if (damping != 0) out.set("damping", damping);
    force_list_.push_back(out);
  }

  // q = multiplier q_other + offset.
  void add_mimic(const urdf::Joint& joint, const std::string& name) {
    if (!robot_.getJoint(joint.mimic->joint_name)) {
      unsupported(fmt::format("joint \"{}\" mimics \"{}\", which does not exist", joint.name,
                              joint.mimic->joint_name));
      return;
    }
    Node out{Node::Table{}};
    out.set("name", name + "_mimic");
    out.set("type", "gear");
    out.set("joints", Node::Array{name_of(joint.mimic->joint_name), name});
    out.set("ratio", joint.mimic->multiplier);
    out.set("offset", joint.mimic->offset);
    loop_list_.push_back(out);
  }

  const urdf::ModelInterface& robot_;
  const std::string& file_;
  Diagnostics& out_;
  std::map<std::string, std::string> bodies_;  // URDF name -> ours
  std::map<std::string, int> body_names_, joint_names_;
  Node::Array body_list_, joint_list_, loop_list_, force_list_;
};

const std::string* text_member(const Node& table, std::string_view key) {
  const Node* member = table.find(key);
  return member != nullptr ? member->text() : nullptr;
}

std::string body_of_place(const Node* place) {
  if (place == nullptr) return {};
  if (const std::string* text = place->text()) return text->substr(0, text->find('.'));
  const std::string* body = text_member(*place, "body");
  return body != nullptr ? *body : std::string();
}

// Lists are appended, everything else is set.
void merge(Node& into, const Node& from) {
  for (const auto& [key, member] : *from.table()) {
    Node* existing = into.find(key);
    auto* list = existing != nullptr ? std::get_if<Node::Array>(&existing->value) : nullptr;
    if (key == "joint" && list != nullptr && member.array() != nullptr && !list->empty()) {
      // The weld of the root comes first; a joint that carries the same body takes its place.
      const std::string root = body_of_place(list->front().find("child"));
      const std::string* type = text_member(list->front(), "type");
      const std::string* parent = text_member(list->front(), "parent");
      const bool weld =
          type != nullptr && *type == "weld" && parent != nullptr && *parent == "ground";
      const bool replaced =
          std::any_of(member.array()->begin(), member.array()->end(),
                      [&](const Node& j) { return body_of_place(j.find("child")) == root; });
      if (weld && replaced) list->erase(list->begin());
    }
    const bool items = list != nullptr && member.array() != nullptr && key != "gravity";
    if (items) {
      list->insert(list->end(), member.array()->begin(), member.array()->end());
    } else {
      into.set(key, member);
    }
  }
}

}  // namespace

Result<ModelSpec> parse_urdf_text(std::string_view xml, const std::string& file) {
  Diagnostics diagnostics;
  const Loc loc{file, 0, 0};
  if (xml.size() > kMaxModelBytes) {
    diagnostics.error(102, loc,
                      fmt::format("the file has {} MB, the limit is {} MB", xml.size() >> 20,
                                  kMaxModelBytes >> 20));
    return diagnostics;
  }
  if (xml.find('\0') != std::string_view::npos) {
    diagnostics.error(104, loc, "the file is not text");
    return diagnostics;
  }
  if (too_deep(xml)) {
    diagnostics.error(103, loc, fmt::format("elements are nested deeper than {}", kMaxXmlNesting));
    return diagnostics;
  }
  Collector collector;
  urdf::ModelInterfaceSharedPtr robot;
  try {
    robot = urdf::parseURDF(std::string(xml));
  } catch (const std::exception& e) {
    collector.errors.emplace_back(e.what());
  }
  if (!robot || !robot->getRoot()) {
    if (collector.errors.empty()) collector.errors.emplace_back("the file holds no robot");
    for (const std::string& e : collector.errors) diagnostics.error(120, loc, e);
    return diagnostics;
  }
  ModelSpec spec;
  spec.file = file;
  spec.root = Builder(*robot, file, diagnostics).run();
  if (!diagnostics.ok()) return diagnostics;
  return spec;
}

Result<ModelSpec> read_urdf_file(const std::string& path) {
  Diagnostics diagnostics;
  std::error_code failure;
  const Loc loc{path, 0, 0};
  if (!std::filesystem::is_regular_file(path, failure)) {
    diagnostics.error(105, loc, "the file does not exist, or is not a regular file");
    return diagnostics;
  }
  if (std::filesystem::file_size(path, failure) > kMaxModelBytes) {
    diagnostics.error(102, loc, fmt::format("the file is larger than {} MB", kMaxModelBytes >> 20));
    return diagnostics;
  }
  std::ifstream in(path, std::ios::binary);
  const std::string xml((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  Result<ModelSpec> spec = parse_urdf_text(xml, path);
  const std::string beside = std::filesystem::path(path).replace_extension(".loops.toml").string();
  if (!std::filesystem::exists(beside, failure)) return spec;
  const Result<ModelSpec> more = read_model_file(beside);
  if (!more || !spec) {
    diagnostics.append(spec.diagnostics());
    diagnostics.append(more.diagnostics());
    return diagnostics;
  }
  merge(spec->root, more->root);
  return spec;
}

}  // namespace panto
