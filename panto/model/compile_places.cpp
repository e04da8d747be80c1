// References: places, coordinates, and the channels made of them.
#include <fmt/format.h>

#include <algorithm>

#include "panto/model/compile_internal.hpp"

namespace panto::compile_detail {

int Compiler::own_frame(int body) {
  int& index = own_frames_[static_cast<size_t>(body)];
  if (index < 0) {
    index = static_cast<int>(model_.frames.size());
    Frame f;
    f.name = model_.bodies[static_cast<size_t>(body)].name;
    f.body = body;
    model_.frames.push_back(std::move(f));
  }
  return index;
}

int Compiler::frame_body(int frame) const {
  return frame < 0 ? kGround : model_.frames[static_cast<size_t>(frame)].body;
}

int Compiler::place(const At& at) {
  const int frame = rigid_place(at);
  const bool follow = following_ || ancf_of(frame_body(frame)) >= 0;
  return follow && frame >= 0 ? following(frame, at) : frame;
}

int Compiler::rigid_place(const At& at) {
  if (!at) return kNoFrame;
  if (at.node->table() != nullptr) {
    const At body = at["body"];
    if (body.text() == nullptr) return kNoFrame;  // reported by validate
    const int file_body = body_of(at);
    if (file_body == kNoFrame) {
      std::vector<std::string> known{"ground"};
      for (const auto& [name, index] : body_index_) known.push_back(name);
      error(
          205, body,
          fmt::format("body \"{}\" not found{}", *body.text(), did_you_mean(*body.text(), known)));
      return kNoFrame;
    }
    Frame f;
    f.body = kGround;
    if (file_body >= 0) {
      f.body = final_body_[static_cast<size_t>(file_body)];
      if (f.body < 0) return kNoFrame;  // its joint is reported
    }
    f.name = at.full_name();
    fill_frame(at, f);
    if (!f.has_position() && !f.has_rotation()) return f.body < 0 ? -1 : own_frame(f.body);
    model_.frames.push_back(std::move(f));
    return static_cast<int>(model_.frames.size()) - 1;
  }
  const std::string* text = at.text();
  if (text == nullptr) return kNoFrame;  // reported by validate
  if (*text == "ground") return -1;
  if (const auto it = frame_index_.find(*text); it != frame_index_.end()) {
    if (it->second == kNoFrame) return kNoFrame;
    // A frame on a body whose joint is in error belongs to no body of the model.
    const int file_body = body_of(at);
    const bool lost = file_body >= 0 && final_body_[static_cast<size_t>(file_body)] < 0;
    return lost ? kNoFrame : it->second;
  }
  if (const auto it = body_index_.find(*text); it != body_index_.end()) {
    const int body = final_body_[static_cast<size_t>(it->second)];
    return body < 0 ? kNoFrame : own_frame(body);
  }
  const size_t dot = text->find('.');
  const std::string body_name = text->substr(0, dot);
  std::vector<std::string> known{"ground"};
  for (const auto& [name, index] : body_index_) known.push_back(name);
  const bool body_exists = body_name == "ground" || body_index_.contains(body_name);
  for (const auto& [name, index] : frame_index_) {
    if (!body_exists || name.starts_with(body_name + ".")) known.push_back(name);
  }
  std::sort(known.begin(), known.end());
  if (dot != std::string::npos && body_exists) {
    error(206, at,
          fmt::format("body \"{}\" has no frame \"{}\"{}", body_name, text->substr(dot + 1),
                      did_you_mean(*text, known)));
  } else {
    error(207, at, fmt::format("place \"{}\" not found{}", *text, did_you_mean(*text, known)));
  }
  return kNoFrame;
}

bool Compiler::two_places(const At& at, int& a, int& b) {
  if (at.size() != 2) return false;
  a = place(at.element(0, "a"));
  b = place(at.element(1, "b"));
  if (a == kNoFrame || b == kNoFrame) return false;
  if (frame_body(a) == frame_body(b)) {
    error(409, at, "the two places are on the same body");
    return false;
  }
  return true;
}

std::vector<std::string> Compiler::coordinate_candidates() const {
  std::vector<std::string> known;
  for (const auto& [name, dof] : dof_index_) known.push_back(name);
  std::sort(known.begin(), known.end());
  return known;
}

std::optional<Dof> Compiler::coordinate(const At& at) {
  if (at.text() == nullptr) return std::nullopt;  // reported by validate
  return coordinate(at, *at.text());
}

std::optional<Dof> Compiler::coordinate(const At& at, const std::string& name) {
  if (const auto it = dof_index_.find(name); it != dof_index_.end()) {
    if (it->second.dof < 0) return std::nullopt;  // its joint is reported
    return it->second;
  }
  if (ancf_joints_.contains(name)) {
    error(208, at,
          fmt::format(
              "joint \"{}\" of a beam of large deformation has no coordinate; the beam starts "
              "straight, with \"angle\" and \"rate\" of its table",
              name));
    return std::nullopt;
  }
  if (const auto it = joint_coordinates_.find(name); it != joint_coordinates_.end()) {
    std::string list;
    for (const std::string& c : it->second)
      list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", c);
    error(208, at,
          list.empty()
              ? fmt::format("joint \"{}\" has no coordinate to name here", name)
              : fmt::format("joint \"{}\" has the coordinates {}; choose one", name, list));
    return std::nullopt;
  }
  error(208, at,
        fmt::format("coordinate \"{}\" not found{}", name,
                    did_you_mean(name, coordinate_candidates())));
  return std::nullopt;
}

std::optional<Channel> Compiler::coordinate_channel(const At& at, bool needs_value) {
  if (at.text() != nullptr)
    if (const auto turning = ancf_joint_channel(*at.text())) return turning;
  const auto dof = coordinate(at);
  if (!dof) return std::nullopt;
  if (dof->rate_only && needs_value) {
    error(208, at, fmt::format("\"{}\" is a speed without a coordinate of its own", *at.text()));
    return std::nullopt;
  }
  Channel c;
  c.kind = ChannelKind::kCoordinate;
  c.dof = dof->dof;
  c.angular = dof->angular;
  return c;
}

int Compiler::axis_index(const At& at, int fallback) {
  if (at.text() == nullptr) return fallback;
  const std::string& text = *at.text();
  return text == "x" ? 0 : (text == "y" ? 1 : (text == "z" ? 2 : fallback));
}

// `of`, `axis`, `in`.
std::optional<Channel> Compiler::point_channel(const At& at) {
  Channel c;
  c.kind = ChannelKind::kPoint;
  c.axis = axis_index(at["axis"], 0);
  if (planar_ && c.axis == 2) {
    error(405, at["axis"], "a plane has the axes \"x\" and \"y\"");
    return std::nullopt;
  }
  c.frame_a = place(at["of"]);
  c.frame_b = place_or_ground(at["in"]);
  if (c.frame_a == kNoFrame || c.frame_b == kNoFrame) return std::nullopt;
  return c;
}

std::optional<Channel> Compiler::distance_channel(const At& between) {
  Channel c;
  c.kind = ChannelKind::kDistance;
  if (!two_places(between, c.frame_a, c.frame_b)) return std::nullopt;
  return c;
}

std::optional<Channel> Compiler::angle_channel(const At& a, const At& b) {
  Channel c;
  c.kind = ChannelKind::kAngle;
  c.angular = true;
  c.frame_a = place(a);
  c.frame_b = place_or_ground(b);
  if (c.frame_a == kNoFrame || c.frame_b == kNoFrame) return std::nullopt;
  return c;
}

std::optional<Channel> Compiler::direction_channel(const At& at) {
  std::optional<Channel> c = angle_channel(at["of"], at["from"]);
  if (!c) return c;
  c->kind = ChannelKind::kDirection;
  c->within_turn = true;
  return c;
}

std::optional<Channel> Compiler::sum_channel(const At& terms) {
  if (!terms || terms.node->table() == nullptr) return std::nullopt;
  std::vector<Term> found;
  bool good = true;
  bool all_angles = true;
  const auto add = [&](const At& at, const std::string& name) {
    const auto dof = coordinate(at, name);
    const Slot coefficient = number(at, std::nullopt);
    if (dof && dof->rate_only) {
      error(208, at, fmt::format("\"{}\" is a speed without a coordinate of its own", name));
    }
    good = good && dof && !dof->rate_only && coefficient >= 0;
    if (!good) return;
    all_angles = all_angles && dof->angular;
    found.push_back({dof->dof, coefficient});
  };
  for (const auto& [key, node] : *terms.node->table()) {
    const At member = terms[key];
    if (node.table() == nullptr) {
      add(member, key);
      continue;
    }
    for (const auto& [last, inner] : *node.table())
      add(member[last], fmt::format("{}.{}", key, last));
  }
  if (!good || found.empty()) return std::nullopt;
  Channel c;
  c.kind = ChannelKind::kSum;
  c.first_term = static_cast<int>(model_.terms.size());
  c.terms = static_cast<int>(found.size());
  c.angular = all_angles;
  model_.terms.insert(model_.terms.end(), found.begin(), found.end());
  return c;
}

Dim Compiler::channel_dim(const Channel& c) const {
  switch (c.kind) {
    case ChannelKind::kCurvature:
      return dim::kNone / dim::kLength;
    case ChannelKind::kPoint:
    case ChannelKind::kGap:
    case ChannelKind::kDistance:
    case ChannelKind::kPointRate:
      return dim::kLength;
    case ChannelKind::kCoordinate:
    case ChannelKind::kSum:
      return c.angular ? dim::kNone : dim::kLength;
    default:
      return dim::kNone;
  }
}

// What times the rate of the channel gives a power.
Dim Compiler::force_dim(const Channel& c) const {
  return channel_dim(c) == dim::kLength ? dim::kForce : dim::kTorque;
}

}  // namespace panto::compile_detail
