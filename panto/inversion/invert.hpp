// From a model, a choice of outputs and actuators, and a path to inputs, checked by a simulation of the plant with these inputs.
#pragma once

#include <functional>
#include <optional>

#include "panto/inversion/analysis.hpp"
#include "panto/inversion/redefine.hpp"
#include "panto/inversion/stable_inversion.hpp"

namespace panto {

struct InputLimit {
  std::string actuator;
  double lower = -1e300, upper = 1e300;
};

enum class InvertMethod : std::uint8_t {
  kForward,  // step by step, as a controller would
  kStable,   // the whole horizon at once: before, on and after the path
};

struct InvertOptions {
  InvertMethod method = InvertMethod::kForward;
  InverseOptions inverse;  // `dt` is the cycle of the result for every method
  StableOptions stable;
  double until = 0;  // end of the run; 0: a quarter beyond the end of the path, or as `stable` says
  bool verify = true;    // simulate the plant with the inputs
  double tol = 1e-10;    // of that simulation, with variable step
  bool force = false;    // integrate all the same: non-minimum phase, beyond a singular decoupling
  std::string expected;  // said of zeros where a step then fails
  std::vector<InputLimit> limits;
  std::function<bool(double)> progress;  // fraction done, at every step; false stops
};

// kStable: whether `until` and the horizon after a path that ends then [s] agree, or are not both given.
bool end_agrees(const InvertOptions& options, double path_end);

struct CycleTimes {
  double mean = 0, worst = 0;  // seconds per step
  long cycles = 0, over = 0;   // over: longer than the step itself
};

struct Inversion {
  std::string model;
  std::vector<std::string> outputs, inputs, coordinates;
  std::vector<std::string> output_units, input_units, coordinate_units;
  ServoAnalysis analysis;
  std::vector<double> t;
  // By row: desired and simulated outputs, inputs, coordinates and their speeds and accelerations as the inverse model has them.
  std::vector<std::vector<double>> desired, achieved, u, y, v, w;
  std::vector<double> tracking_max,
      tracking_rms;      // of achieved - desired, per output; empty without verification
  bool complete = true;  // false: stopped on the way, and not verified
  int most_iterations = 0;
  long not_converged = 0;
  double largest_residual = 0;
  CycleTimes times;
  std::vector<std::vector<double>>
      plant;  // all outputs of the model, simulated; empty without verification
  std::optional<RedefinedOutput> redefined;  // where other outputs are followed than were asked for
  std::optional<StableReport> stable;        // of kStable: t begins before the path does
};

// Names and units of what an inversion holds.
void describe(const Model& model, const ModelServo& servo, Inversion& inversion);

// The path that stays where the outputs are in the model's initial pose.
Result<Path> path_at_rest(ModelServo& servo);
// The rest there, and what can be said about it.
struct AnalysedRest {
  Rest rest;
  std::vector<double> outputs;  // of the rows that follow a path
  ServoAnalysis analysis;
};
Result<AnalysedRest> analyse_at_rest(ModelServo& servo);
// The same where a path begins.
Result<AnalysedRest> analyse_at_rest(ServoSystem& servo, const Path& path);

// An output over time from those of the model, by row.
std::vector<double> course_of(const ServoOutput& output,
                              const std::vector<std::vector<double>>& of_model);

// kForward: from t = 0, which must not lie after the beginning of the path. Errors: those of ModelServo, InverseModel and judge(); E1024 where a step fails, E1025
// where the decoupling becomes singular on the way, with their times.
// Warnings beside the result: W1033, W1034, W1041 (a limit is exceeded: which, when, by how much), W1042 (steps that did not converge),
// W1043 (the plant does not follow), W1044 (it could not be simulated).
// kStable: those of invert_stably().
Result<Inversion> invert(const Model& model, const Params& params, const ServoChoice& choice,
                         const Path& path, const InvertOptions& options);
// Any servo system, of matrices or of code: the same without units. The plant is its equations, solved for accelerations, in Runge-Kutta steps of a tenth of the cycle
// (`tol` does not count); W1044 also where accelerations depend on rates of inputs.
Result<Inversion> invert(ServoSystem& system, const Path& path, const InvertOptions& options);

}  // namespace panto
