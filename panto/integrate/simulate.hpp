// Simulation of a model: from its initial state to a run with outputs, energy and constraint audit.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/integrate/ode.hpp"

namespace panto {

struct StopEvent {
  std::string output;  // stop when this output ...
  double value = 0;    // ... crosses this value
  int direction = 0;   // +1 rising, -1 falling, 0 both
};

struct SimulationOptions {
  double until = 10;
  double dt = 0;           // fixed step; 0: variable step
  double tol = 1e-8;       // accuracy of a variable-step run, relative to 1 + |x| (adaptive.hpp)
  std::string integrator;  // "": "auto" with a variable step, "rk4" with a fixed one
  std::vector<double> at;  // report exactly at these times (instead of every `sample`)
  double sample =
      0;  // report interval; 0: every step of a fixed-step run, until / 1000 of a variable one
  std::optional<StopEvent> stop;
  std::vector<double> q, v;  // initial state; empty: assembled from the model
  bool keep_states = true;   // record q, v, a, λ too
  // Of a reduced model: its modes are computed anew where they fit worse than this (RER-11); 0: never.
  double reduction_limit = 0.02;
  std::function<bool(double fraction)>
      progress;  // called now and then; returning false stops the run, which stays valid up to there
};

struct RunStats {
  long steps = 0, evaluations = 0, jacobians = 0, repartitions = 0, rejected = 0;
  long references = 0;        // of a reduced model: how often its modes were computed anew
  double reference_jump = 0;  // largest change of a displacement by that [m, rad]
  double wall_seconds = 0, real_time_factor = 0;  // simulated seconds per second
};

// What a sensor delivered: ideal value plus bias and noise, quantised, at its own rate.
struct MeasuredSeries {
  std::string name, unit;
  std::vector<double> t, values;
};

// One simulated motion. Series are stored per channel: outputs[k][i] belongs to output_names[k] at t[i].
struct Run {
  std::string model, integrator;
  std::vector<std::string> output_names, output_units, coordinate_names, speed_names,
      multiplier_names;
  std::vector<double> t;
  std::vector<std::vector<double>> outputs, q, v, a, lambda;
  std::vector<double> kinetic, potential, entered,
      taken;  // energy [J] (ENE-1); drift = kinetic + potential - entered + taken - its value at t0
  double energy_initial = 0, energy_final = 0, energy_max_drift = 0;
  double max_position_violation = 0, max_velocity_violation = 0;
  bool complete = true;    // false: stopped early by the caller
  std::string stopped_by;  // event or caller, empty otherwise
  RunStats stats;

  std::vector<std::string> coordinate_units, speed_units, multiplier_units;
  std::vector<MeasuredSeries> measured;
  std::string model_text;             // the model file the run came from, where known
  std::vector<std::string> settings;  // name=value given on top of it
};

// Names of all integrators, with their order: the one list behind options, help and tests.
struct IntegratorInfo {
  std::string name, title;
  double order = 0;
  bool fixed_step = true, implicit = false;
};
const std::vector<IntegratorInfo>& integrators();

// Errors (assembly, unknown integrator or output, step failure) come back as diagnostics.
Result<Run> simulate(const Model& model, const Params& params, const SimulationOptions& options);

}  // namespace panto
