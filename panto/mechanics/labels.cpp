#include "panto/mechanics/labels.hpp"

#include <array>
#include <cstdio>
#include <numbers>

namespace panto {

namespace {

constexpr std::array<const char*, 3> kAxes{"x", "y", "z"};

std::string text_of(double value, const char* unit) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.4g %s", value, unit);
  return buffer.data();
}

}  // namespace

bool is_length(const Channel& c) {
  switch (c.kind) {
    case ChannelKind::kPoint:
    case ChannelKind::kGap:
    case ChannelKind::kDistance:
    case ChannelKind::kPointRate:
      return true;
    case ChannelKind::kCoordinate:
    case ChannelKind::kSum:
      return !c.angular;
    default:
      return false;
  }
}

std::string group_label(const Model& model, int group) {
  const ConstraintGroup& g = model.groups[static_cast<size_t>(group)];
  const char* what = "loop";
  if (!g.rows.empty()) {
    const TargetKind target = model.rows[static_cast<size_t>(g.rows[0])].target;
    if (target == TargetKind::kSignal) {
      what = "driver";
    } else if (target != TargetKind::kConstant) {
      what = "actuator";
    }
  }
  return std::string(what) + " \"" + g.name + "\"";
}

std::string row_component(const Model& model, int row) {
  const Channel& c = model.rows[static_cast<size_t>(row)].channel;
  switch (c.kind) {
    case ChannelKind::kCoordinate:
      return model.speed_names[static_cast<size_t>(c.dof)];
    case ChannelKind::kPoint:
    case ChannelKind::kGap:
      return kAxes[static_cast<size_t>(c.axis)];
    case ChannelKind::kDistance:
      return "distance";
    case ChannelKind::kAngle:
      return "angle";
    case ChannelKind::kDirection:
      return "direction";
    case ChannelKind::kAxisDot:
      return std::string("axes ") + kAxes[static_cast<size_t>(c.axis)] + " and " +
             kAxes[static_cast<size_t>(c.axis_b)];
    case ChannelKind::kSum:
      return "sum";
    case ChannelKind::kPointRate:
      return std::string("velocity ") + kAxes[static_cast<size_t>(c.axis)];
    case ChannelKind::kAngularRate:
      return std::string("angular velocity ") + kAxes[static_cast<size_t>(c.axis)];
    case ChannelKind::kCurvature:
      return "curvature";
    case ChannelKind::kStrain:
      return "strain";
  }
  return {};
}

std::string angle_text(double radians) { return text_of(radians * 180 / std::numbers::pi, "deg"); }
std::string length_text(double metres) { return text_of(1e3 * metres, "mm"); }

std::string quantity_text(const Channel& c, double value, Order order) {
  if (order == Order::kRate) return text_of(value, is_length(c) ? "m/s" : "rad/s");
  return is_length(c) ? length_text(value) : angle_text(value);
}

}  // namespace panto
