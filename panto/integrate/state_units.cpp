#include "panto/integrate/state_units.hpp"

#include "panto/mechanics/labels.hpp"

namespace panto {

void describe_states(const Model& model, Run& run) {
  run.coordinate_units.assign(static_cast<size_t>(model.nq), "");
  run.speed_units.assign(static_cast<size_t>(model.nv), "");
  run.multiplier_units.clear();
  for (const Joint& j : model.joints) {
    const bool slides = j.type == JointType::kPrismatic;
    const bool quaternion = j.type == JointType::kSpherical;
    for (int i = j.q; i < j.q + j.nq; ++i)
      run.coordinate_units[static_cast<size_t>(i)] = quaternion ? "1" : slides ? "m" : "rad";
    for (int i = j.v; i < j.v + j.nv; ++i)
      run.speed_units[static_cast<size_t>(i)] = slides ? "m/s" : "rad/s";
  }
  for (const ScalarCoordinate& e : scalar_coordinates(model)) {
    run.coordinate_units[static_cast<size_t>(e.q)] = e.angular ? "rad" : "m";
    run.speed_units[static_cast<size_t>(e.v)] = e.angular ? "rad/s" : "m/s";
  }
  for (const ConstraintRow& row : model.rows) {
    const bool on_slide = row.channel.kind == ChannelKind::kCoordinate &&
                          run.speed_units[static_cast<size_t>(row.channel.dof)] == "m/s";
    run.multiplier_units.emplace_back(on_slide || is_length(row.channel) ? "N" : "N m");
  }
}

std::string unit_of(const Output& output) {
  if (output.angle && output.dim == dim::kNone) return "rad";
  if (output.angle && output.dim == dim::kFrequency) return "rad/s";
  if (output.angle && output.dim == Dim{0, 0, -2}) return "rad/s^2";
  return to_string(output.dim);
}

}  // namespace panto
