#include "panto/mechanics/workspace.hpp"

#include <algorithm>
#include <cmath>

#include "panto/mechanics/rigid/rigid_workspace.hpp"

namespace panto {

std::unique_ptr<Workspace> Workspace::create(const Model& model, const Params& params) {
  if (model.space == SpaceKind::kPlanar)
    return std::make_unique<rigid::RigidWorkspace<Planar>>(model, params);
  return std::make_unique<rigid::RigidWorkspace<Spatial>>(model, params);
}

Workspace::Workspace(const Model& model)
    : model_(model), dof_coordinate_(static_cast<size_t>(model.nv), 0) {
  for (const Joint& j : model.joints) {
    for (int k = 0; k < j.nv; ++k) dof_coordinate_[static_cast<size_t>(j.v + k)] = j.q;
    turns_ = turns_ || j.type == JointType::kSpherical;
  }
  for (int k = model.joint_nv(); k < model.nv; ++k)
    dof_coordinate_[static_cast<size_t>(k)] = k - model.joint_nv() + model.joint_nq();
}

void Workspace::coordinate_rates(View q, View v, MutableView q_dot) const noexcept {
  for (const Joint& j : model_.joints) {
    if (j.type == JointType::kSpherical) {
      const double *u = &q[static_cast<size_t>(j.q)], *w = &v[static_cast<size_t>(j.v)];
      double* r = &q_dot[static_cast<size_t>(j.q)];
      r[0] = 0.5 * (-u[1] * w[0] - u[2] * w[1] - u[3] * w[2]);
      r[1] = 0.5 * (u[0] * w[0] + u[2] * w[2] - u[3] * w[1]);
      r[2] = 0.5 * (u[0] * w[1] + u[3] * w[0] - u[1] * w[2]);
      r[3] = 0.5 * (u[0] * w[2] + u[1] * w[1] - u[2] * w[0]);
    } else if (j.nv == 1) {
      q_dot[static_cast<size_t>(j.q)] = v[static_cast<size_t>(j.v)];
    }
  }
  for (int k = model_.joint_nv(); k < model_.nv; ++k)
    q_dot[static_cast<size_t>(coordinate_of(k))] = v[static_cast<size_t>(k)];
}

void Workspace::move(MutableView q, View step) const noexcept {
  if (!turns_) {
    for (size_t i = 0; i < dof_coordinate_.size(); ++i) q[i] += step[i];
    return;
  }
  for (const Joint& j : model_.joints) {
    if (j.type == JointType::kSpherical) {
      double* u = &q[static_cast<size_t>(j.q)];
      const double* s = &step[static_cast<size_t>(j.v)];
      const double angle = std::sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
      const double c = std::cos(0.5 * angle),
                   k = angle > 1e-8 ? std::sin(0.5 * angle) / angle : 0.5;
      const double x = k * s[0], y = k * s[1], z = k * s[2];
      const double r[4] = {
          u[0] * c - u[1] * x - u[2] * y - u[3] * z, u[0] * x + u[1] * c + u[2] * z - u[3] * y,
          u[0] * y - u[1] * z + u[2] * c + u[3] * x, u[0] * z + u[1] * y - u[2] * x + u[3] * c};
      std::copy(r, r + 4, u);
    } else if (j.nv == 1) {
      q[static_cast<size_t>(j.q)] += step[static_cast<size_t>(j.v)];
    }
  }
  for (int k = model_.joint_nv(); k < model_.nv; ++k)
    q[static_cast<size_t>(coordinate_of(k))] += step[static_cast<size_t>(k)];
}

void Workspace::difference(View a, View b, MutableView step) const noexcept {
  if (!turns_) {
    for (size_t i = 0; i < dof_coordinate_.size(); ++i) step[i] = a[i] - b[i];
    return;
  }
  for (const Joint& j : model_.joints) {
    if (j.type == JointType::kSpherical) {
      const double *p = &a[static_cast<size_t>(j.q)], *u = &b[static_cast<size_t>(j.q)];
      double* s = &step[static_cast<size_t>(j.v)];
      // Conjugate of u times p, on the half sphere of the shorter turn.
      double w = u[0] * p[0] + u[1] * p[1] + u[2] * p[2] + u[3] * p[3];
      const double sign = w < 0 ? -1 : 1;
      w *= sign;
      s[0] = sign * (u[0] * p[1] - u[1] * p[0] - u[2] * p[3] + u[3] * p[2]);
      s[1] = sign * (u[0] * p[2] + u[1] * p[3] - u[2] * p[0] - u[3] * p[1]);
      s[2] = sign * (u[0] * p[3] - u[1] * p[2] + u[2] * p[1] - u[3] * p[0]);
      const double sine = std::sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
      const double k = sine > 1e-8 ? 2 * std::atan2(sine, w) / sine : 2;
      for (int i = 0; i < 3; ++i) s[i] *= k;
    } else if (j.nv == 1) {
      step[static_cast<size_t>(j.v)] = a[static_cast<size_t>(j.q)] - b[static_cast<size_t>(j.q)];
    }
  }
  for (int k = model_.joint_nv(); k < model_.nv; ++k) {
    const auto c = static_cast<size_t>(coordinate_of(k));
    step[static_cast<size_t>(k)] = a[c] - b[c];
  }
}

Level Workspace::level_of(int output) const noexcept {
  const Output& o = model_.outputs[static_cast<size_t>(output)];
  switch (o.kind) {
    case OutputKind::kChannel:
      return o.order == Order::kValue  ? Level::kPosition
             : o.order == Order::kRate ? Level::kVelocity
                                       : Level::kAcceleration;
    case OutputKind::kInput:
      return Level::kPosition;
    case OutputKind::kKinetic:
      return Level::kVelocity;
    case OutputKind::kPotential:
      return Level::kPosition;
    default:
      return Level::kAcceleration;
  }
}

void Workspace::normalise(MutableView q) const noexcept {
  if (!turns_) return;
  for (const Joint& j : model_.joints) {
    if (j.type != JointType::kSpherical) continue;
    double* u = &q[static_cast<size_t>(j.q)];
    const double n = 1 / std::sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3]);
    for (int k = 0; k < 4; ++k) u[k] *= n;
  }
}

}  // namespace panto
