// Loop closures and drivers: rows of the constraints.
#include <fmt/format.h>

#include <algorithm>

#include "panto/model/compile_internal.hpp"

namespace panto::compile_detail {

void Compiler::add_row(ConstraintRow row, int group) {
  row.group = group;
  model_.groups[static_cast<size_t>(group)].rows.push_back(static_cast<int>(model_.rows.size()));
  model_.rows.push_back(row);
}

void Compiler::loops() {
  TextMap<int> names;
  for (const Item& item : items_["loop"]) {
    const At at(item);
    if (name_ok(item) && !names.emplace(item.name, 0).second) {
      error(202, at["name"], "there is another loop of this name");
    }
    ConstraintGroup group;
    group.name = item.name;
    if (at["type"].text() != nullptr) group.type = *at["type"].text();
    group.loc = item.node->loc;
    loop(item, group);
  }
  perpendicular_sections();
}

void Compiler::loop(const Item& item, ConstraintGroup& group) {
  const At at(item);
  const std::string type = group.type;
  const int index = static_cast<int>(model_.groups.size());
  model_.groups.push_back(std::move(group));
  Carrier carrier;
  carrier.kind = "loop";
  carrier.group = index;
  carriers_[item.name].push_back(std::move(carrier));
  if (type == "coupling") {
    const auto sum = sum_channel(at["terms"]);
    const Slot offset = number(at["offset"], std::nullopt);
    if (!sum) return;
    ConstraintRow row;
    row.channel = *sum;
    row.constant = offset;
    add_row(row, index);
  } else if (type == "gear" || type == "rack") {
    gear(at, index);
  } else if (!type.empty()) {
    place_rows(at, type, index);
  }
}

void Compiler::place_rows(const At& at, const std::string& type, int group) {
  int a = kNoFrame, b = kNoFrame;
  const bool good = two_places(at["between"], a, b);
  const Slot length = type == "distance" ? number(at["length"], dim::kLength, Sign::kPositive) : -1;
  if (!good) return;
  const auto row = [&](ChannelKind kind, int axis, int axis_b = 0) {
    ConstraintRow r;
    r.channel.kind = kind;
    r.channel.frame_a = a;
    r.channel.frame_b = b;
    r.channel.axis = axis;
    r.channel.axis_b = axis_b;
    r.channel.angular = kind == ChannelKind::kAngle;
    r.constant = length;
    add_row(r, group);
  };
  const int axes = planar_ ? 2 : 3;
  const auto origins_coincide = [&] {
    for (int axis = 0; axis < axes; ++axis) row(ChannelKind::kGap, axis);
  };
  const auto orientation = [&] {
    if (planar_) return row(ChannelKind::kAngle, 0);
    row(ChannelKind::kAxisDot, 0, 1);
    row(ChannelKind::kAxisDot, 0, 2);
    row(ChannelKind::kAxisDot, 1, 2);
  };
  if (type == "distance") {
    row(ChannelKind::kDistance, 0);
  } else if (type == "pin" || type == "spherical") {
    origins_coincide();
  } else if (type == "slider") {
    for (int axis = 1; axis < axes; ++axis) row(ChannelKind::kPoint, axis);
    if (!at["turn"].flag(false)) orientation();
  } else if (type == "weld") {
    origins_coincide();
    orientation();
  } else if (type == "revolute") {
    origins_coincide();
    row(ChannelKind::kAxisDot, 0, 2);
    row(ChannelKind::kAxisDot, 1, 2);
  } else if (type == "universal") {
    origins_coincide();
    row(ChannelKind::kAxisDot, 0, 1);
  }
}

// b - ratio a = offset, for gears and racks.
void Compiler::gear(const At& at, int group) {
  const bool rack = at["radius"] || at["pinion"];
  const At joints = at["joints"];
  if (!rack && joints && joints.size() != 2) {
    error(113, joints, fmt::format("expected 2 coordinates, not {}", joints.size()));
    return;
  }
  const At first = rack ? at["pinion"] : joints.element(0, "a");
  const At second = rack ? at["slider"] : joints.element(1, "b");
  const auto a = coordinate_channel(first, true);
  const auto b = coordinate_channel(second, true);
  if (rack && a && !a->angular) error(302, first, "the pinion must be an angle");
  if (rack && b && b->angular) error(302, second, "the slider must be a slide");
  std::optional<Dim> ratio_dim, offset_dim;
  if (rack) {
    ratio_dim = offset_dim = dim::kLength;
  } else if (a && b) {
    offset_dim = channel_dim(*b);
    ratio_dim = channel_dim(*b) / channel_dim(*a);
  }
  const At ratio_at = at[rack ? "radius" : "ratio"];
  const Slot ratio = number(ratio_at, ratio_dim);
  const Slot offset = number(at["offset"], offset_dim);
  if (a && b && a->dof == b->dof) {
    error(409, rack ? at : joints, "the two coordinates are the same");
    return;
  }
  if (!a || !b || ratio < 0) return;
  for (const auto& [channel, where] : {std::pair{&*a, &first}, {&*b, &second}})
    if (channel->kind != ChannelKind::kCoordinate)
      return error(208, *where, "the joint of a beam of large deformation has no coordinate");
  std::vector<Expression::Instruction> minus = model_.slots[static_cast<size_t>(ratio)].code();
  minus.push_back({Expression::Op::kNeg});
  ConstraintRow row;
  row.channel.kind = ChannelKind::kSum;
  row.channel.first_term = static_cast<int>(model_.terms.size());
  row.channel.terms = 2;
  row.channel.angular = b->angular;
  model_.terms.push_back({b->dof, add_slot(Expression::constant(1))});
  model_.terms.push_back({a->dof, add_slot(std::move(minus))});
  row.constant = offset;
  add_row(row, group);
}

void Compiler::drivers() {
  TextMap<int> names;
  for (const Item& item : items_["driver"]) {
    const At at(item);
    if (name_ok(item) && !names.emplace(item.name, 0).second) {
      error(202, at["name"], "there is another driver of this name");
    }
    const int given = static_cast<int>(static_cast<bool>(at["on"])) +
                      static_cast<int>(static_cast<bool>(at["between"])) +
                      static_cast<int>(static_cast<bool>(at["of"]));
    std::optional<Channel> channel;
    if (given != 1) {
      error(115, at, "exactly one of \"on\", \"between\" and \"of\" is needed");
    } else if (at["on"]) {
      channel = joint_channel(at["on"], true);
    } else if (at["between"]) {
      channel = distance_channel(at["between"]);
    } else if (!at["axis"]) {
      error(115, at, "with \"of\", \"axis\" is needed");
    } else {
      channel = point_channel(at);
    }
    const int course =
        signal(at["motion"], channel ? std::optional(channel_dim(*channel)) : std::nullopt);
    const int group = static_cast<int>(model_.groups.size());
    model_.groups.push_back({item.name, "driver", {}, item.node->loc});
    Carrier carrier;
    carrier.kind = "driver";
    carrier.group = group;
    carriers_[item.name].push_back(std::move(carrier));
    if (!channel) continue;
    ConstraintRow row;
    row.channel = *channel;
    row.target = TargetKind::kSignal;
    row.signal = course;
    add_row(row, group);
  }
}

void Compiler::sort_rows() {
  std::vector<int> order(model_.rows.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return model_.rows[static_cast<size_t>(a)].level < model_.rows[static_cast<size_t>(b)].level;
  });
  std::vector<ConstraintRow> rows;
  std::vector<int> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[static_cast<size_t>(order[i])] = static_cast<int>(i);
    rows.push_back(model_.rows[static_cast<size_t>(order[i])]);
  }
  model_.rows = std::move(rows);
  for (ConstraintRow& row : model_.rows)
    for (const int frame : {row.channel.frame_a, row.channel.frame_b})
      if (row.channel.kind == ChannelKind::kAngle && ancf_of(frame_body(frame)) >= 0)
        row.channel.within_turn = true;
  for (ConstraintGroup& group : model_.groups) {
    for (int& row : group.rows) row = place[static_cast<size_t>(row)];
  }
  for (const ConstraintRow& row : model_.rows) {
    model_.n_position_rows += row.level == Level::kPosition;
    model_.n_velocity_rows += row.level == Level::kVelocity;
    model_.n_acceleration_rows += row.level == Level::kAcceleration;
  }
}

}  // namespace panto::compile_detail
