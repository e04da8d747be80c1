// A small run with every kind of content, for the tests of result files.
#pragma once

#include <cmath>

#include "panto/integrate/simulate.hpp"

namespace panto {

inline Run example_run() {
  Run run;
  run.model = "example";
  run.integrator = "cvode";
  run.output_names = {"theta", "pin/x, \"left\"", "."};
  run.output_units = {"rad", "m", ""};
  run.coordinate_names = {"theta", "beta"};
  run.coordinate_units = {"rad", "m"};
  run.speed_names = {"theta_dot", "beta_dot"};
  run.speed_units = {"rad/s", "m/s"};
  run.multiplier_names = {"pin: x"};
  run.multiplier_units = {"N"};
  run.outputs.resize(3);
  run.q.resize(2);
  run.v.resize(2);
  run.a.resize(2);
  run.lambda.resize(1);
  for (int i = 0; i <= 100; ++i) {
    const double t = i / 10.0;
    run.t.push_back(t);
    for (size_t k = 0; k < 3; ++k) run.outputs[k].push_back(std::sin(t + static_cast<double>(k)));
    for (size_t k = 0; k < 2; ++k) {
      run.q[k].push_back(std::cos(t * static_cast<double>(k + 1)));
      run.v[k].push_back(t / 3);
      run.a[k].push_back(1.0 / 3);
    }
    run.lambda[0].push_back(-t);
    run.kinetic.push_back(t * t);
    run.potential.push_back(7 - t * t);
    run.entered.push_back(0.5 * t);
    run.taken.push_back(0.5 * t + 1e-9 * t);
  }
  run.energy_initial = 7;
  run.energy_final = 7;
  run.energy_max_drift = 1e-8;
  run.max_position_violation = 1e-14;
  run.max_velocity_violation = 2e-14;
  run.stats.steps = 123;
  run.stats.evaluations = 456;
  run.stats.wall_seconds = 0.25;
  run.measured.push_back({"gyro", "rad/s", {0, 1, 2}, {0.125, 0.25, 0.5}});
  run.model_text = "space = \"planar\"\n";
  run.settings = {"L=2"};
  return run;
}

}  // namespace panto
