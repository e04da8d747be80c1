// Outputs and sensors.
#include <fmt/format.h>

#include <algorithm>

#include "panto/model/compile_internal.hpp"

namespace panto::compile_detail {
namespace {

Dim rate_dim(Dim d, Order order) {
  if (order == Order::kRate) return d / dim::kTime;
  if (order == Order::kAcceleration) return d / (dim::kTime * dim::kTime);
  return d;
}

// What `type` of an output means: base channel and how often it is differentiated.
struct Meaning {
  std::string_view type, base;
  Order order;
};
constexpr Meaning kMeanings[] = {
    {"coordinate", "coordinate", Order::kValue},
    {"joint", "joint", Order::kValue},
    {"speed", "coordinate", Order::kRate},
    {"coordinate_acceleration", "coordinate", Order::kAcceleration},
    {"position", "position", Order::kValue},
    {"velocity", "position", Order::kRate},
    {"acceleration", "position", Order::kAcceleration},
    {"distance", "distance", Order::kValue},
    {"distance_rate", "distance", Order::kRate},
    {"angle", "angle", Order::kValue},
    {"angle_rate", "angle", Order::kRate},
    {"direction", "direction", Order::kValue},
    {"direction_rate", "direction", Order::kRate},
    {"angular_velocity", "angular", Order::kRate},
    {"angular_acceleration", "angular", Order::kAcceleration},
    {"combination", "combination", Order::kValue},
    {"combination_rate", "combination", Order::kRate},
    {"displacement", "displacement", Order::kValue},
    {"curvature", "curvature", Order::kValue},
    {"strain", "strain", Order::kValue},
};

}  // namespace

void Compiler::outputs() {
  for (const Item& item : items_["output"]) {
    const At at(item);
    name_ok(item);
    const std::string type = at["type"].text() != nullptr ? *at["type"].text() : "";
    Output out;
    out.name = item.name;
    out.loc = item.node->loc;
    bool good = true;
    if (type == "kinetic_energy" || type == "potential_energy") {
      out.kind = type == "kinetic_energy" ? OutputKind::kKinetic : OutputKind::kPotential;
      out.dim = dim::kTorque;
    } else if (type == "force_of") {
      good = force_output(at, out);
    } else if (type == "input_of") {
      good = false;
      const At of = at["of"];
      const auto it = of.text() != nullptr ? carriers_.find(*of.text()) : carriers_.end();
      std::vector<std::string> known;
      for (const Input& input : model_.inputs) known.push_back(input.name);
      if (it != carriers_.end()) {
        for (const Carrier& c : it->second) {
          if (c.input < 0) continue;
          out.kind = OutputKind::kInput;
          out.index = c.input;
          out.dim = model_.inputs[static_cast<size_t>(c.input)].dim;
          good = true;
        }
      }
      if (!good && of.text() != nullptr) {
        error(209, of,
              fmt::format("actuator \"{}\" not found{}", *of.text(),
                          did_you_mean(*of.text(), known)));
      }
    } else {
      good = channel_output(at, type, out);
    }
    if (good) {
      add_output(item, std::move(out));
    } else {
      output_index_.emplace(item.name, -1);
    }
  }
  if (items_["output"].empty()) default_outputs();
  for (const Item& item : items_["sensor"]) sensor(item);
}

void Compiler::add_output(const Item& item, Output out) {
  const int index = static_cast<int>(model_.outputs.size());
  if (!output_index_.emplace(item.name, index).second) {
    error(202, At(item)["name"], "there is another output or sensor of this name");
  }
  model_.outputs.push_back(std::move(out));
}

bool Compiler::channel_output(const At& at, const std::string& type, Output& out) {
  const auto meaning = std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                    [&](const Meaning& m) { return m.type == type; });
  if (meaning == std::end(kMeanings)) return false;  // reported by validate
  const std::string_view base = meaning->base;
  out.order = meaning->order;
  std::optional<Channel> channel;
  if (base == "coordinate") {
    channel = coordinate_channel(at["of"], out.order == Order::kValue);
  } else if (base == "joint") {
    channel = joint_channel(at["of"], true);
  } else if (base == "displacement") {
    channel = displacement_channel(at);
  } else if (base == "curvature" || base == "strain") {
    channel = beam_channel(at, base == "strain" ? ChannelKind::kStrain : ChannelKind::kCurvature);
  } else if (base == "position") {
    channel = point_channel(at);
  } else if (base == "distance") {
    channel = distance_channel(at["between"]);
  } else if (base == "angle") {
    channel = angle_channel(at["of"], at["from"]);
  } else if (base == "direction") {
    channel = direction_channel(at);
  } else if (base == "angular") {
    Channel c;
    c.kind = ChannelKind::kAngularRate;
    c.angular = true;
    c.axis = axis_index(at["axis"], 2);
    if (planar_ && c.axis != 2) {
      error(405, at["axis"], "in a plane everything turns about \"z\"");
    }
    c.frame_a = place(at["of"]);
    c.frame_b = place_or_ground(at["in"]);
    if (c.frame_a != kNoFrame && c.frame_b != kNoFrame) channel = c;
  } else {
    channel = sum_channel(at["terms"]);
    out.offset =
        number(at["offset"], channel ? std::optional(channel_dim(*channel)) : std::nullopt);
  }
  if (!channel) return false;
  out.channel = *channel;
  out.angle = channel->angular;
  out.dim = rate_dim(channel_dim(*channel), out.order);
  return true;
}

// `of` a force, actuator, driver or loop.
bool Compiler::force_output(const At& at, Output& out) {
  const At of = at["of"];
  if (of.text() == nullptr) return false;
  const auto it = carriers_.find(*of.text());
  if (it == carriers_.end()) {
    if (diagnostics_.ok()) {
      std::vector<std::string> known;
      for (const auto& [name, list] : carriers_) known.push_back(name);
      std::sort(known.begin(), known.end());
      error(209, of,
            fmt::format("there is no force, actuator, driver or loop \"{}\"{}", *of.text(),
                        did_you_mean(*of.text(), known)));
    } else {
      for (const char* kind : {"force", "actuator", "driver", "loop"}) {
        for (const Item& item : items_[kind]) {
          if (item.name == *of.text()) return false;  // in error itself
        }
      }
      std::vector<std::string> known;
      for (const char* kind : {"force", "actuator", "driver", "loop"}) {
        for (const Item& item : items_[kind]) known.push_back(item.name);
      }
      error(209, of,
            fmt::format("there is no force, actuator, driver or loop \"{}\"{}", *of.text(),
                        did_you_mean(*of.text(), known)));
    }
    return false;
  }
  if (it->second.size() > 1) {
    error(212, of,
          fmt::format("\"{}\" names a {} and a {}; rename one of them", *of.text(),
                      it->second[0].kind, it->second[1].kind));
    return false;
  }
  const Carrier& carrier = it->second[0];
  const std::vector<int>* parts = &carrier.elements;
  out.kind = OutputKind::kForceElement;
  if (carrier.group >= 0) {
    parts = &model_.groups[static_cast<size_t>(carrier.group)].rows;
    out.kind = OutputKind::kMultiplier;
  } else if (carrier.input >= 0) {
    out.kind = OutputKind::kInput;
    out.index = carrier.input;
    out.dim = model_.inputs[static_cast<size_t>(carrier.input)].dim;
    return true;
  }
  if (parts->empty()) return false;  // in error itself
  const At component = at["component"];
  size_t which = 0;
  if (component && component.node->is_number()) {
    const double c = component.node->number();
    if (!(c >= 0 && c < static_cast<double>(parts->size()))) {
      error(313, component,
            fmt::format("\"{}\" has {} component{}, counted from 0", *of.text(), parts->size(),
                        parts->size() == 1 ? "" : "s"));
      return false;
    }
    which = static_cast<size_t>(c);
  } else if (parts->size() > 1) {
    error(111, at,
          fmt::format("missing key \"component\": \"{}\" has {}, counted from 0", *of.text(),
                      parts->size()));
    return false;
  }
  out.index = (*parts)[which];
  const auto index = static_cast<size_t>(out.index);
  const Channel& c = out.kind == OutputKind::kMultiplier ? model_.rows[index].channel
                                                         : model_.forces[index].channel;
  out.dim = force_dim(c);
  return true;
}

void Compiler::sensor(const Item& item) {
  const At at(item);
  name_ok(item);
  const std::string type = at["type"].text() != nullptr ? *at["type"].text() : "";
  Output out;
  out.name = item.name;
  out.loc = item.node->loc;
  bool good = false;
  if (type == "encoder") {
    good = channel_output(at, "joint", out);
  } else if (type == "angle" || type == "direction" || type == "position" || type == "distance") {
    good = channel_output(at, type, out);
  } else if (type == "force") {
    good = force_output(at, out);
  } else if (type == "strain_gauge") {
    good = channel_output(at, "strain", out);
  } else if (type == "gyroscope") {
    good = channel_output(at, "angular_velocity", out);
    out.channel.frame_b = out.channel.frame_a;
  } else if (type == "accelerometer") {
    good = channel_output(at, "acceleration", out);
    out.channel.kind = ChannelKind::kPointRate;
    out.channel.frame_b = out.channel.frame_a;
    out.minus_gravity = true;
  }
  const std::optional<Dim> d = good ? std::optional<Dim>(out.dim) : std::nullopt;
  Sensor s;
  s.type = type;
  s.rate = number(at["rate"], dim::kFrequency, Sign::kPositive);
  s.noise = number(at["noise"], d, Sign::kNotNegative);
  s.bias = number(at["bias"], d);
  s.quantum = number(at["quantisation"], d, Sign::kNotNegative);
  if (!good) return;
  s.output = static_cast<int>(model_.outputs.size());
  add_output(item, std::move(out));
  model_.sensors.push_back(std::move(s));
}

void Compiler::default_outputs() {
  std::vector<bool> taken;
  const auto is_sensor = [&](const std::string& name) {
    const auto& sensors = items_["sensor"];
    return std::any_of(sensors.begin(), sensors.end(),
                       [&](const Item& s) { return s.name == name; });
  };
  const auto add = [&](const std::string& name, int dof, Order order) {
    if (is_sensor(name)) return;
    Output out;
    out.name = name;
    out.channel.dof = dof;
    out.channel.angular = angular_[static_cast<size_t>(dof)];
    out.order = order;
    out.angle = out.channel.angular;
    out.dim = rate_dim(channel_dim(out.channel), order);
    output_index_.emplace(name, static_cast<int>(model_.outputs.size()));
    model_.outputs.push_back(std::move(out));
  };
  for (const Joint& j : model_.joints) {
    if (j.nq != 1) continue;  // the components of a quaternion are no channels
    add(model_.coordinate_names[static_cast<size_t>(j.q)], j.v, Order::kValue);
  }
  for (int i = model_.joint_nv(); i < model_.nv; ++i) {
    const int q = i - model_.joint_nv() + model_.joint_nq();
    add(model_.coordinate_names[static_cast<size_t>(q)], i, Order::kValue);
  }
  for (int i = 0; i < model_.nv; ++i)
    add(model_.speed_names[static_cast<size_t>(i)], i, Order::kRate);
}

}  // namespace panto::compile_detail
