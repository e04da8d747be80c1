#include "panto/linear/operating_point.hpp"

#include <algorithm>

#include "panto/base/contract.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"

namespace panto {

namespace {

std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> names;
  for (const ScalarCoordinate& e : scalar_coordinates(model)) {
    names.push_back(model.coordinate_names[static_cast<size_t>(e.q)]);
    names.push_back(model.speed_names[static_cast<size_t>(e.v)]);
  }
  return names;
}

bool same_coordinate(const Channel& c, int dof) {
  return c.kind == ChannelKind::kCoordinate && c.dof == dof;
}

}  // namespace

Result<Model> with_pose(const Model& model, const std::vector<PoseValue>& pose) {
  Diagnostics d;
  Model out = model;
  for (Condition& c : out.initial)
    if (c.order == Order::kValue) c.guess = true;
  for (InitialOrientation& o : out.orientations) o.guess = true;
  for (const PoseValue& wanted : pose) {
    const auto known = scalar_coordinates(model);
    const auto found = std::find_if(known.begin(), known.end(), [&](const ScalarCoordinate& e) {
      return model.coordinate_names[static_cast<size_t>(e.q)] == wanted.name ||
             model.speed_names[static_cast<size_t>(e.v)] == wanted.name;
    });
    if (found == known.end()) {
      d.error(506, {},
              "pose: \"" + wanted.name + "\" is no coordinate or speed of " + model.name +
                  did_you_mean(wanted.name, names_of(model)));
      continue;
    }
    Condition c;
    c.channel.kind = ChannelKind::kCoordinate;
    c.channel.dof = found->v;
    c.channel.angular = found->angular;
    c.order = model.coordinate_names[static_cast<size_t>(found->q)] == wanted.name ? Order::kValue
                                                                                   : Order::kRate;
    c.value = static_cast<Slot>(out.slots.size());
    c.name = wanted.name;
    out.slots.push_back(Expression::constant(wanted.value));
    std::erase_if(out.initial, [&](const Condition& old) {
      return old.order == c.order && same_coordinate(old.channel, c.channel.dof);
    });
    out.initial.push_back(std::move(c));
  }
  if (!d.ok()) return d;
  return out;
}

Result<OperatingPoint> operating_point(Workspace& workspace, Operation operation, double t,
                                       View q) {
  const Model& model = workspace.model();
  PANTO_EXPECT(q.empty() || operation != Operation::kSteady, "a steady motion needs its speeds");
  AssembledState start;
  Diagnostics notes;
  EquilibriumOptions options;
  options.q = q;
  if (q.empty()) {
    Result<AssembledState> assembled = assemble(workspace, t);
    if (!assembled.ok()) return assembled.diagnostics();
    notes = assembled.diagnostics();
    start = std::move(*assembled);
    options.q = view(start.q);
  }
  options.stability = false;
  options.search = operation != Operation::kHere;
  if (operation == Operation::kSteady) options.v = view(start.v);
  const Result<Equilibrium> rest = equilibrium(workspace, t, options);
  if (!rest.ok()) return rest.diagnostics();
  OperatingPoint point;
  point.t = t;
  point.q = rest->q;
  point.v = rest->v;
  point.a = Eigen::VectorXd::Zero(model.nv);
  point.lambda = rest->lambda;
  point.u.resize(model.nu());
  point.u_rate.resize(model.nu());
  workspace.inputs_at(t, view(point.u), view(point.u_rate));
  point.u_rate.setZero();
  point.residual = rest->residual;
  return {std::move(point), std::move(notes)};
}

Result<OperatingPoint> point_of_motion(Workspace& workspace, double t, View q, View v) {
  const Model& model = workspace.model();
  OperatingPoint point;
  point.t = t;
  point.q = Eigen::Map<const Eigen::VectorXd>(q.data(), static_cast<Eigen::Index>(q.size()));
  point.v = Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
  point.u.resize(model.nu());
  point.u_rate.resize(model.nu());
  workspace.inputs_at(t, view(point.u), view(point.u_rate));
  Point x;
  x.t = t;
  x.q = view(point.q);
  x.v = view(point.v);
  x.u = view(point.u);
  x.u_rate = view(point.u_rate);
  const Status status = workspace.forward_dynamics(x, point.a, point.lambda);
  if (status == Status::kSingular || status == Status::kNotFinite) {
    Diagnostics d;
    d.error(507, {},
            "no accelerations at t = " + std::to_string(t) +
                " s: the mass matrix is singular in the directions free to move");
    return d;
  }
  return point;
}

}  // namespace panto
