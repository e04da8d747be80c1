// A mechanism observed by kinematics alone, for tests.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "panto/estimation/kinematic.hpp"
#include "tests/estimation/observer_case.hpp"

namespace panto::test {

struct KinematicCase {
  std::unique_ptr<Model> model;
  std::unique_ptr<Workspace> workspace;
  std::unique_ptr<KinematicSystem> system;
  Eigen::VectorXd q, v;
  std::vector<double> x;

  KinematicCase(const Model& source, const std::vector<std::string>& inputs, double input_sigma,
                const std::vector<std::string>& sensors, double sensor_sigma,
                const KinematicOptions& options, double input_bias = 0, double sensor_bias = 0)
      : model(std::make_unique<Model>(source)) {
    workspace = Workspace::create(*model, nominal(*model));
    const auto start = assemble(*workspace);
    if (!start.ok()) throw std::runtime_error(start.diagnostics().text());
    q = start->q;
    v = start->v;
    workspace->choose_partition(0, view(q), true);
    std::vector<InputSensor> u;
    for (const std::string& name : inputs) {
      InputSensor e;
      e.output = find_output(*model, name);
      e.sigma = input_sigma;
      e.bias_sigma = input_bias;
      u.push_back(e);
    }
    std::vector<UsedSensor> y;
    for (const std::string& name : sensors) {
      UsedSensor e;
      e.output = find_output(*model, name);
      e.sigma = sensor_sigma;
      e.bias_sigma = sensor_bias;
      y.push_back(e);
    }
    system = std::make_unique<KinematicSystem>(*workspace, u, y, options);
    x.resize(static_cast<size_t>(system->storage()));
    system->pack(view(q), view(v), x);
  }
};

}  // namespace panto::test
