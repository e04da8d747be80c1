// Mass properties of bodies and the frames on them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/model/compile_internal.hpp"

namespace panto::compile_detail {
namespace {

constexpr std::array<const char*, 3> kXyz{"x", "y", "z"};
constexpr std::array<const char*, 3> kRpy{"roll", "pitch", "yaw"};
constexpr std::array<const char*, 6> kTensor{"xx", "yy", "zz", "xy", "xz", "yz"};

// A symmetric 3x3 matrix has no negative eigenvalue if and only if no principal minor is negative. `tolerance` is relative
// to the largest entry; it covers the round-off of tensors that are given with a few digits.
bool positive_semidefinite(const double m[6], double tolerance) {
  const double xx = m[0], yy = m[1], zz = m[2], xy = m[3], xz = m[4], yz = m[5];
  double scale = 0;
  for (int i = 0; i < 6; ++i) scale = std::max(scale, std::abs(m[i]));
  if (scale == 0) return true;
  const double e1 = -tolerance * scale, e2 = e1 * scale, e3 = e2 * scale;
  const double determinant =
      xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
  return xx >= e1 && yy >= e1 && zz >= e1 && xx * yy - xy * xy >= e2 && xx * zz - xz * xz >= e2 &&
         yy * zz - yz * yz >= e2 && determinant >= e3;
}

}  // namespace

void Compiler::bodies() {
  const std::deque<Item>& items = items_["body"];
  for (size_t i = 0; i < items.size(); ++i) {
    const auto it = body_index_.find(items[i].name);
    const bool first = it != body_index_.end() && it->second == static_cast<int>(i);
    const int index = first ? final_body_[i] : -1;
    Body unplaced;  // of a body with errors: its numbers are checked all the same
    Body& out = index >= 0 ? model_.bodies[static_cast<size_t>(index)] : unplaced;
    body(items[i], out);
    shapes(items[i], out);
    if (!first) continue;
    if (const At b = At(items[i])["bar"]; b && b.node->table() != nullptr) {
      bar(b, out, index, items[i].name);
    }
    if (const At b = At(items[i])["beam"]; b && b.node->table() != nullptr && planar_) {
      beam(b, out, index, items[i].name);
    }
    if (const At b = At(items[i])["ancf"]; b && b.node->table() != nullptr && planar_) {
      ancf(b, out, index, items[i].name);
    }
  }
}

void Compiler::body(const Item& item, Body& out) {
  const At at(item);
  explicit_solid(at, out);
  const auto point = [&](const At& p) {
    Solid s;
    s.kind = SolidKind::kPointMass;
    s.mass = number(p["mass"], dim::kMass, Sign::kNotNegative);
    s.at = numbers<3>(p["at"], dim::kLength, kXyz);
    out.solids.push_back(s);
  };
  if (const At p = at["point_mass"]; p && p.node->array() != nullptr) {
    for (size_t i = 0; i < p.size(); ++i) point(p.element(i, std::to_string(i)));
  } else if (p) {
    point(p);
  }
  if (const At b = at["box"]) {
    Solid s;
    s.kind = SolidKind::kBox;
    mass_or_density(b, s);
    s.at = numbers<3>(b["at"], dim::kLength, kXyz);
    for (size_t i = 0; i < std::min<size_t>(b["size"].size(), 3); ++i) {
      s.numbers[i] = number(b["size"].element(i, kXyz[i]), dim::kLength, Sign::kPositive);
    }
    out.solids.push_back(s);
  }
  if (const At c = at["cylinder"]) {
    Solid s;
    s.kind = SolidKind::kCylinder;
    mass_or_density(c, s);
    s.at = numbers<3>(c["at"], dim::kLength, kXyz);
    s.numbers[0] = number(c["length"], dim::kLength, Sign::kPositive);
    s.numbers[1] = number(c["radius"], dim::kLength, Sign::kPositive);
    s.axis = planar_ ? 2 : axis_index(c["axis"], 0);
    out.solids.push_back(s);
  }
  if (const At b = at["sphere"]) {
    Solid s;
    s.kind = SolidKind::kSphere;
    mass_or_density(b, s);
    s.at = numbers<3>(b["at"], dim::kLength, kXyz);
    s.numbers[0] = number(b["radius"], dim::kLength, Sign::kPositive);
    out.solids.push_back(s);
  }
}

void Compiler::explicit_solid(const At& at, Body& out) {
  const At mass = at["mass"], com = at["com"], inertia = at["inertia"];
  if (!mass && !com && !inertia) return;
  Solid s;
  s.mass = number(mass, dim::kMass, Sign::kNotNegative);
  s.at = numbers<3>(com, dim::kLength, kXyz);
  if (com && !mass) error(115, com, "\"com\" belongs to a \"mass\", which is missing");
  if (inertia && inertia.node->array() == nullptr) {
    s.numbers[0] = number(inertia, dim::kInertia);
  } else {
    s.numbers = numbers<6>(inertia, dim::kInertia, kTensor);
  }
  const bool complete = planar_ || inertia.size() == 3 || inertia.size() == 6;
  if (inertia && complete) check_inertia(inertia, s);
  out.solids.push_back(s);
}

// The inertia of a rigid body is ∫ (|r|² 1 − r rᵀ) dm, so Σ = tr(I)/2 1 − I = ∫ r rᵀ dm has no negative eigenvalue: this is
// the triangle inequality of the principal moments.
void Compiler::check_inertia(const At& at, const Solid& s) {
  double m[6];
  for (size_t i = 0; i < 6; ++i) m[i] = value(s.numbers[i]);
  if (planar_) {
    if (m[0] < 0) error(305, at, fmt::format("the inertia must not be negative, it is {}", m[0]));
    return;
  }
  constexpr double kTolerance = 1e-6;  // a thin rod given as [0, I, I(1 ± 1e-7)] is meant
  if (!positive_semidefinite(m, 1e-12)) {
    error(305, at, "the inertia tensor is not positive");
    return;
  }
  const double half = (m[0] + m[1] + m[2]) / 2;
  const double sigma[6] = {half - m[0], half - m[1], half - m[2], -m[3], -m[4], -m[5]};
  if (!positive_semidefinite(sigma, kTolerance)) {
    error(
        306, at,
        "no body has this inertia: the largest principal moment exceeds the sum of the other two");
  }
}

void Compiler::mass_or_density(const At& at, Solid& out) {
  const At mass = at["mass"], density = at["density"];
  if (static_cast<bool>(mass) == static_cast<bool>(density)) {
    error(115, at,
          mass ? "give either \"mass\" or \"density\", not both"
               : "one of \"mass\" and \"density\" is needed");
  }
  out.mass = number(mass, dim::kMass, Sign::kNotNegative);
  out.density = number(density, dim::kDensity, Sign::kPositive);
}

void Compiler::bar(const At& at, Body& out, int body_index, const std::string& name) {
  Solid s;
  s.kind = SolidKind::kBar;
  mass_or_density(at, s);
  s.numbers[0] = number(at["length"], dim::kLength, Sign::kPositive);
  s.numbers[1] = number(at["width"], dim::kLength, Sign::kPositive);
  s.numbers[2] = number(at["height"], dim::kLength, Sign::kPositive);
  const bool section = at["width"] && at["height"];
  if (at["density"] && !section) {
    error(115, at, "with \"density\", \"width\" and \"height\" are needed");
  } else if (!at["density"] && (at["width"] || at["height"])) {
    error(115, at, "\"width\" and \"height\" belong to \"density\"");
  }
  const Slot length = s.numbers[0];
  out.solids.push_back(s);

  Frame start, mid, end;
  start.name = name + ".start";
  mid.name = name + ".mid";
  end.name = name + ".end";
  start.body = mid.body = end.body = body_index;
  if (length >= 0) {
    std::vector<Expression::Instruction> half = model_.slots[static_cast<size_t>(length)].code();
    half.push_back({Expression::Op::kConstant, -1, 0.5});
    half.push_back({Expression::Op::kMul});
    mid.position[0] = add_slot(std::move(half));
    end.position[0] = length;
  }
  for (Frame* f : {&start, &mid, &end}) add_frame(std::move(*f), at);
}

void Compiler::frames() {
  finish_axis_frames();
  for (Item& item : items_["frame"]) {
    const At at(item);
    if (!name_ok(item)) continue;
    const std::string* body_name = at["body"].text();
    if (body_name == nullptr) continue;
    item.path = fmt::format("{}.{}", *body_name, item.name);
    const int file_body = body_of(at);
    if (file_body == kNoFrame) {
      std::vector<std::string> known{"ground"};
      for (const auto& [name, index] : body_index_) known.push_back(name);
      error(205, at["body"],
            fmt::format("body \"{}\" not found{}", *body_name, did_you_mean(*body_name, known)));
      frame_index_.emplace(item.path, kNoFrame);
      continue;
    }
    Frame f;
    f.name = item.path;
    f.body = file_body >= 0 ? final_body_[static_cast<size_t>(file_body)] : kGround;
    fill_frame(at, f);
    add_frame(std::move(f), at["name"]);
  }
}

void Compiler::fill_frame(const At& at, Frame& f) {
  f.position = numbers<3>(at["at"], dim::kLength, kXyz);
  if (planar_) {
    f.rotation[0] = number(at["angle"], dim::kNone);
  } else {
    f.rotation = numbers<3>(at["rpy"], dim::kNone, kRpy);
  }
}

void Compiler::add_frame(Frame f, const At& at) {
  const int index = static_cast<int>(model_.frames.size());
  if (!frame_index_.emplace(f.name, index).second) {
    error(202, at, fmt::format("there is another frame \"{}\"", f.name));
    return;
  }
  model_.frames.push_back(std::move(f));
}

}  // namespace panto::compile_detail
