// Force elements and actuators.
#include <fmt/format.h>

#include "panto/model/compile_internal.hpp"

namespace panto::compile_detail {
namespace {

struct ForceDims {
  Dim x, force, stiffness, damping, speed;
};

ForceDims force_dims(bool angular) {
  if (angular) {
    return {dim::kNone, dim::kTorque, dim::kAngularStiffness, dim::kAngularDamping,
            dim::kFrequency};
  }
  return {dim::kLength, dim::kForce, dim::kStiffness, dim::kDamping, dim::kSpeed};
}

}  // namespace

void Compiler::add_force(const Item& item, ForceElement element) {
  Carrier* carrier = nullptr;
  for (Carrier& c : carriers_[item.name]) {
    if (c.kind == "force") carrier = &c;
  }
  if (carrier == nullptr) {
    Carrier fresh;
    fresh.kind = "force";
    carrier = &carriers_[item.name].emplace_back(std::move(fresh));
  }
  carrier->elements.push_back(static_cast<int>(model_.forces.size()));
  model_.forces.push_back(std::move(element));
}

void Compiler::forces() {
  TextMap<int> names;
  for (const Item& item : items_["force"]) {
    const At at(item);
    if (name_ok(item) && !names.emplace(item.name, 0).second) {
      error(202, at["name"], "there is another force of this name");
    }
    ForceElement element;
    element.name = item.name;
    if (at["type"].text() != nullptr) element.type = *at["type"].text();
    element.loc = item.node->loc;
    const std::string& type = element.type;
    if (type == "spring" || type == "torsion_spring" || type == "joint_spring") {
      spring(at, element);
    } else if (type == "force" || type == "torque") {
      applied(at, element);
    } else if (type == "friction") {
      friction(at, element);
    }
  }
}

void Compiler::spring(const At& at, ForceElement element) {
  std::optional<Channel> channel;
  bool angular = false;
  if (element.type == "spring") {
    channel = distance_channel(at["between"]);
  } else if (element.type == "torsion_spring") {
    angular = true;
    if (static_cast<bool>(at["on"]) == static_cast<bool>(at["between"])) {
      error(115, at, "exactly one of \"on\" and \"between\" is needed");
    } else if (at["on"]) {
      channel = joint_channel(at["on"], true);
      if (channel && !channel->angular) {
        error(302, at["on"],
              "a torsion_spring acts on an angle; for a slide use type \"joint_spring\"");
        channel.reset();
      }
    } else {
      int a = kNoFrame, b = kNoFrame;
      if (two_places(at["between"], a, b)) {
        channel.emplace();
        channel->kind = ChannelKind::kAngle;
        channel->frame_a = b;  // the angle of the second place from the first
        channel->frame_b = a;
        channel->angular = true;
      }
    }
  } else {
    channel = joint_channel(at["on"], true);
    if (channel) angular = channel->angular;
  }
  const bool known = channel || element.type != "joint_spring";
  const ForceDims d = force_dims(angular);
  const auto dim_if_known = [&](Dim x) { return known ? std::optional<Dim>(x) : std::nullopt; };
  const char* free_key = element.type == "spring"           ? "free_length"
                         : element.type == "torsion_spring" ? "free_angle"
                                                            : "free";
  const char* preload_key = element.type == "spring" ? "initial_tension" : "preload";
  if (at["table"] && at["stiffness"]) {
    error(115, at, "give either \"stiffness\" or \"table\", not both");
  } else if (!at["table"] && !at["stiffness"] && !at["damping"] && !at[preload_key]) {
    error(115, at, "one of \"stiffness\", \"damping\" and \"table\" is needed");
  }
  element.stiffness = number(at["stiffness"], dim_if_known(d.stiffness));
  element.damping = number(at["damping"], dim_if_known(d.damping));
  element.free = number(at[free_key], dim_if_known(d.x),
                        element.type == "spring" ? Sign::kNotNegative : Sign::kAny);
  element.preload = number(at[preload_key], dim_if_known(d.force));
  if (at["table"]) {
    element.law = LawKind::kTable;
    element.table = law_table(at["table"], d.x, d.force);
  }
  if (value(element.stiffness) < 0) {
    warning(320, at["stiffness"], "a negative stiffness pushes away from the rest position");
  }
  if (value(element.damping) < 0) warning(320, at["damping"], "a negative damping feeds energy");
  if (!channel) return;
  element.channel = *channel;
  add_force(*at.item, std::move(element));
}

// `force` and `torque`: on a place one signal per component, on a coordinate one signal.
void Compiler::applied(const At& at, const ForceElement& element) {
  const bool torque = element.type == "torque";
  const At on = at["on"];
  const At values = at["value"];
  const bool is_list = values && values.node->array() != nullptr;
  const size_t given = is_list ? values.size() : 1;
  const auto component = [&](size_t i, const char* suffix) {
    return is_list ? values.element(i, suffix) : values;
  };
  const std::string* text = on.text();
  const bool names_coordinate = text != nullptr && dof_index_.contains(*text);
  const bool names_place = text != nullptr && (*text == "ground" || body_index_.contains(*text) ||
                                               frame_index_.contains(*text));
  const Dim d = torque ? dim::kTorque : dim::kForce;
  if (names_coordinate && names_place) {
    error(212, on,
          fmt::format(
              "\"{0}\" is a coordinate and a body; write {{ body = \"{0}\" }} for the body, or "
              "rename one of them",
              *text));
    return;
  }
  if (names_coordinate) {
    const auto channel = joint_channel(on, false);
    if (channel && channel->angular != torque) {
      error(302, on,
            fmt::format("\"{}\" is {}, use type \"{}\"", *text, torque ? "a slide" : "an angle",
                        torque ? "force" : "torque"));
    }
    if (given != 1)
      error(113, values, fmt::format("on a coordinate expected 1 signal, not {}", given));
    if (at["in"]) error(115, at["in"], "\"in\" has no meaning on a coordinate");
    const int course = signal(component(0, "0"), d);
    if (!channel) return;
    ForceElement e = element;
    e.law = LawKind::kApplied;
    e.channel = *channel;
    e.signal = course;
    add_force(*at.item, std::move(e));
    return;
  }
  const int a = place(on);
  const int b = place_or_ground(at["in"]);
  const bool single = planar_ && torque;
  const size_t expected = single ? 1 : (planar_ ? 2 : 3);
  if (given != expected || (!single && !is_list)) {
    error(113, values,
          fmt::format("expected {} signal{}, not {}", expected, expected == 1 ? "" : "s", given));
  }
  constexpr const char* kSuffix[] = {"x", "y", "z"};
  for (size_t i = 0; i < std::min(given, expected); ++i) {
    const int course = signal(component(i, kSuffix[i]), d);
    if (a == kNoFrame || b == kNoFrame) continue;
    ForceElement e = element;
    e.law = LawKind::kApplied;
    if (!single) e.name += fmt::format(".{}", kSuffix[i]);
    e.channel.kind = torque ? ChannelKind::kAngularRate : ChannelKind::kPointRate;
    e.channel.frame_a = a;
    e.channel.frame_b = b;
    e.channel.axis = single ? 2 : static_cast<int>(i);
    e.channel.angular = torque;
    e.signal = course;
    add_force(*at.item, std::move(e));
  }
}

void Compiler::friction(const At& at, ForceElement element) {
  const auto channel = joint_channel(at["on"], false);
  const ForceDims d = force_dims(channel && channel->angular);
  const auto dim_if_known = [&](Dim x) { return channel ? std::optional<Dim>(x) : std::nullopt; };
  element.law = LawKind::kFriction;
  element.level = number(at["level"], dim_if_known(d.force), Sign::kNotNegative);
  element.damping = number(at["damping"], dim_if_known(d.damping));
  element.speed = at["speed"] ? number(at["speed"], dim_if_known(d.speed), Sign::kPositive)
                              : add_slot(Expression::constant(1e-3));
  if (value(element.damping) < 0) warning(320, at["damping"], "a negative damping feeds energy");
  if (!channel) return;
  element.channel = *channel;
  add_force(*at.item, std::move(element));
}

void Compiler::actuators() {
  TextMap<int> names;
  for (const Item& item : items_["actuator"]) {
    const At at(item);
    if (name_ok(item) && !names.emplace(item.name, 0).second) {
      error(202, at["name"], "there is another actuator of this name");
    }
    const std::string type = at["type"].text() != nullptr ? *at["type"].text() : "";
    const bool velocity = type == "velocity";
    Actuator actuator;
    actuator.name = item.name;
    actuator.loc = item.node->loc;
    std::optional<Channel> channel;
    const int given = static_cast<int>(static_cast<bool>(at["on"])) +
                      static_cast<int>(static_cast<bool>(at["between"])) +
                      static_cast<int>(static_cast<bool>(at["of"]));
    if (given != 1) {
      error(115, at, "exactly one of \"on\", \"between\" and \"of\" is needed");
    } else if (at["of"]) {
      if (type == "torque") {
        error(405, at["of"], "along an axis of a place acts a force; use \"on\" or \"between\"");
      } else if (!at["axis"]) {
        error(115, at, "with \"of\", \"axis\" is needed");
      } else {
        channel = point_channel(at);
        if (channel && !velocity) channel->kind = ChannelKind::kPointRate;  // a force on `of` alone
      }
    } else if (at["on"]) {
      channel = joint_channel(at["on"], false);
      if (channel && type == (channel->angular ? "force" : "torque")) {
        error(302, at["on"],
              fmt::format("\"{}\" is {}, use type \"{}\"", *at["on"].text(),
                          channel->angular ? "an angle" : "a slide",
                          channel->angular ? "torque" : "force"));
      }
    } else if (type == "torque") {
      int a = kNoFrame, b = kNoFrame;
      if (!planar_) {
        error(405, at["between"], "in spatial space a torque acts on a coordinate; use \"on\"");
      } else if (two_places(at["between"], a, b)) {
        channel.emplace();
        channel->kind = ChannelKind::kAngle;
        channel->frame_a = b;  // the angle of the second place from the first
        channel->frame_b = a;
        channel->angular = true;
      }
    } else {
      channel = distance_channel(at["between"]);
    }
    if (channel) actuator.channel = *channel;
    Dim d = type == "torque" ? dim::kTorque : dim::kForce;
    const Node* order = at["order"].node;
    if (velocity && channel) {
      const bool second = order != nullptr && order->is_number() && order->number() == 2;
      d = second ? channel_dim(*channel) : channel_dim(*channel) / dim::kTime;
    }
    Input input;
    input.name = item.name;
    input.dim = d;
    const bool d_known = channel || !velocity;
    const At course = at["input"];
    input.signal = course ? signal(course, d_known ? std::optional<Dim>(d) : std::nullopt) : -1;
    if (input.signal < 0) {
      input.signal = static_cast<int>(model_.signals.size());
      model_.signals.push_back(Signal::constant(0));
      model_.signal_sources.emplace_back();
    }
    actuator.input = static_cast<int>(model_.inputs.size());
    model_.inputs.push_back(std::move(input));
    Carrier carrier;
    carrier.kind = "actuator";
    carrier.input = actuator.input;
    if (velocity) {
      velocity_drive(at, actuator);
      carrier.group = actuator.group;
    }
    carriers_[item.name].push_back(std::move(carrier));
    model_.actuators.push_back(std::move(actuator));
  }
}

// A velocity-controlled drive is a constraint row whose right-hand side is the input.
void Compiler::velocity_drive(const At& at, Actuator& actuator) {
  const Node* order_node = at["order"].node;
  const auto* written =
      order_node != nullptr ? std::get_if<std::int64_t>(&order_node->value) : nullptr;
  const double order = written != nullptr ? static_cast<double>(*written) : 0;
  if (order_node != nullptr && written == nullptr) return;  // reported by validate
  if (order != 0 && order != 1 && order != 2) {
    error(313, at["order"], fmt::format("the order must be 0, 1 or 2, it is {}", order));
    return;
  }
  ConstraintRow row;
  row.channel = actuator.channel;
  row.input = actuator.input;
  const auto need = [&](const char* key, double wanted_order, std::optional<Dim> d, Slot& slot) {
    const At k = at[key];
    if (order == wanted_order && !k) {
      error(111, at, fmt::format("missing key \"{}\", order {} needs it", key, order));
    } else if (order != wanted_order && k) {
      error(115, k, fmt::format("\"{}\" belongs to order {}", key, wanted_order));
    }
    if (k) slot = number(k, d, Sign::kPositive);
  };
  need("tau", 1, dim::kTime, row.tau);
  need("zeta", 2, dim::kNone, row.zeta);
  need("omega", 2, dim::kFrequency, row.omega);
  row.level = order == 0 ? Level::kVelocity : Level::kAcceleration;
  row.target = order == 0   ? TargetKind::kDrive0
               : order == 1 ? TargetKind::kDrive1
                            : TargetKind::kDrive2;
  if (order == 2 && row.channel.kind == ChannelKind::kCoordinate && model_.joints.size() > 0 &&
      at["on"].text() != nullptr) {
    const auto it = dof_index_.find(*at["on"].text());
    if (it != dof_index_.end() && it->second.rate_only) {
      error(208, at["on"],
            fmt::format("\"{}\" is a speed without a coordinate, which order 2 needs",
                        *at["on"].text()));
    }
  }
  actuator.group = static_cast<int>(model_.groups.size());
  model_.groups.push_back({actuator.name, "velocity", {}, actuator.loc});
  add_row(row, actuator.group);
}

}  // namespace panto::compile_detail
