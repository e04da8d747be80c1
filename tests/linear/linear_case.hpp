// A model in a pose, linearised, for tests.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <memory>

#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/linear/modes.hpp"
#include "panto/model/compile.hpp"

namespace panto::test {

struct LinearCase {
  std::unique_ptr<Model> model;  // its address stays: the workspace refers to it
  std::unique_ptr<Workspace> workspace;
  OperatingPoint point;
  LinearModel linear;
  Modes modes;

  [[nodiscard]] std::vector<double> frequencies() const {
    std::vector<double> out;
    for (const Mode& m : modes.list) out.push_back(m.frequency_hz);
    return out;
  }
};

inline LinearCase linearised(const Result<Model>& model, Operation operation,
                             const std::vector<PoseValue>& pose = {}) {
  LinearCase c;
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  const auto posed = with_pose(*model, pose);
  if (!posed.ok()) throw std::runtime_error(posed.diagnostics().text());
  c.model = std::make_unique<Model>(pose.empty() ? *model : *posed);
  c.workspace = Workspace::create(*c.model, nominal(*c.model));
  const auto point = operating_point(*c.workspace, operation);
  if (!point.ok()) throw std::runtime_error(point.diagnostics().text());
  c.point = *point;
  const auto linear = linearize(*c.workspace, c.point);
  if (!linear.ok()) throw std::runtime_error(linear.diagnostics().text());
  c.linear = *linear;
  const auto found = modes(*c.workspace, c.point, c.linear);
  if (!found.ok()) throw std::runtime_error(found.diagnostics().text());
  c.modes = *found;
  return c;
}

inline Result<Model> model_of(const std::string& text) {
  const auto spec = parse_model_text(text, "test.toml");
  if (!spec.ok()) return spec.diagnostics();
  return compile(*spec);
}

// δ with q1 = q0 moved by δ: turns of ball joints in the axes of the child.
inline Eigen::VectorXd step_between(const Model& model, const Eigen::VectorXd& q0,
                                    const Eigen::VectorXd& q1) {
  Eigen::VectorXd step(model.nv);
  for (const ScalarCoordinate& e : scalar_coordinates(model)) step(e.v) = q1(e.q) - q0(e.q);
  for (const Joint& j : model.joints) {
    if (j.type != JointType::kSpherical) continue;
    const auto quaternion = [&](const Eigen::VectorXd& q) {
      return Eigen::Quaterniond(q(j.q), q(j.q + 1), q(j.q + 2), q(j.q + 3)).normalized();
    };
    const Eigen::AngleAxisd turn(quaternion(q0).conjugate() * quaternion(q1));
    const double angle = std::remainder(turn.angle(), 2 * M_PI);
    step.segment<3>(j.v) = angle * turn.axis();
  }
  return step;
}

}  // namespace panto::test
