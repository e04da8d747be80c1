// What a run keeps: outputs, states, energies and the constraint audit at the report times.
#pragma once

#include "panto/integrate/simulate.hpp"

namespace panto {

class Recorder {
 public:
  Recorder(const Model& model, const SimulationOptions& options, Ode& ode, Run& run);

  // Adds the state x at t; a time already recorded last is not repeated. run.energy_initial must be known.
  [[nodiscard]] Status record(double t, View x);
  // Energy and constraints only, at the end of a run that reports elsewhere.
  [[nodiscard]] Status audit(double t, View x);
  // Value of output `index` at (t, x), for events.
  [[nodiscard]] Status output(int index, double t, View x, double& value);

 private:
  [[nodiscard]] Status evaluate(double t, View x);  // point_ and y_
  Energy examine(double t, View x);                 // the audit at point_

  const Model& model_;
  Ode& ode_;
  Run& run_;
  bool keep_states_, needs_multipliers_;
  Point point_;
  std::vector<double> x_dot_, y_;
  Eigen::VectorXd minimum_norm_, unused_;
};

}  // namespace panto
