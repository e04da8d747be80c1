// A virtual test rig: hammer, accelerometers and analyser on a model, for frequency responses as a test of the machine would give (docs/theory/ema.md, EMA-9 … EMA-12).
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/linear/operating_point.hpp"
#include "panto/model/frequency_data.hpp"
#include "panto/model/model.hpp"

namespace panto {

// Defaults: the test of the manipulator in Palomba's thesis, Table 4.7. What is not told there: peak and length of the pulse, the force window.
struct ImpactOptions {
  std::vector<MeasuredPoint> accelerometers;  // frames or bodies, directions of the ground
  std::vector<MeasuredPoint> hammer;          // where it hits; empty: at every accelerometer
  bool body_axes = false;  // directions are those of the body that carries the point, in the pose
  double sample_rate_hz = 2048;
  double duration_s = 16;                // of a record; with the rate: a number of samples
  int averages = 3;                      // hits at each point
  double peak_n = 100, pulse_s = 0.002;  // of a hit, sin²; both vary from hit to hit by 10 %
  double trigger_n = 5.72, pretrigger_s = 0.01;
  double window_end = 0.9;       // of the exponential window, at the end of the record; 1: none
  double force_window_s = 0.05;  // after the trigger the force channel is cut; 0: never
  double noise =
      0;  // of every channel, standard deviation relative to the root mean square of its record
  // Modes that grow slowly are taken as free: friction holds the machine where it is. false: such a pose is refused.
  bool hold = false;
  // Ratios of the vibrating modes, ascending; further ones take the last. Empty: as the model damps them.
  std::vector<double> damping;
  double from_hz = 0, to_hz = 0;  // lines that are kept; to_hz 0: up to the rate / 2.56
  std::uint64_t seed = 1;
  int threads = 0;                                // 0: all cores
  std::function<bool(double fraction)> progress;  // false stops
};

struct ImpactTest {
  FrequencyData data;                                // H1 with coherence
  Eigen::MatrixXcd exact;                            // as data.h: the model's own at these lines
  ModalTest modes;                                   // of the model, up to the last line: the truth
  std::map<std::string, Eigen::Vector3d> positions;  // of the points in the pose [m]
  Eigen::VectorXd time, force, response;  // of the first hit and accelerometer, with windows
  double error = 0;                       // |data.h - exact| / |exact|, root mean square of all
  bool complete = true;
};

// Small motions about the pose of the model (its initial one, or the equilibrium from there), damped mode by mode. Errors: E0963 settings that no rig has, a pose
// that is not stable, a hit that does not trigger; E0970 a point that the model does not have; what linearisation finds.
// Warnings: W0964 modes still ring at the end of the record; W0965 the model's damping couples modes, which is left out.
Result<ImpactTest> impact_test(const Model& model, const Params& params, Operation operation,
                               const ImpactOptions& options);

}  // namespace panto
