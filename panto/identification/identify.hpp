// Parameters of a mechanism from measured natural frequencies (and damping ratios, and shapes) in one or more poses.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/identification/study.hpp"
#include "panto/model/model.hpp"

namespace panto {

struct IdentifiedParameter {
  std::string name;
  double value = 0, start = 0, low = 0, high = 0;  // low, high: bounds
  double std = 0;           // standard deviation (IDN-9); infinite where the data do not tell
  double from = 0, to = 0;  // 95 % confidence interval
  bool bounds_hit = false;
};

// A distinct local minimum.
struct Solution {
  Eigen::VectorXd theta;
  double cost = 0;        // Σ ((model - measured) / σ)²
  double error_hz = 0;    // sqrt(Σ (model - measured)²) of the frequencies
  int hits = 0;           // of how many starts
  bool explains = false;  // the data as well as the best one, within their uncertainty (95 %)
  bool bounds_hit = false;
};

struct FittedMode {
  std::string pose;
  int mode = 0;  // of the model, from 1
  double measured_hz = 0, fitted_hz = 0, sigma_hz = 0;
  double measured_damping = -1, fitted_damping = 0;  // -1: not measured
  double assurance = 1;                              // MAC, where a shape was measured
};

// Spread of the result over simulated measurements, relative to the truth.
struct SimulatedError {
  std::string name;
  double truth = 0, mean = 0, std = 0, worst = 0;
};

struct Identification {
  std::vector<IdentifiedParameter> parameters;
  double cost = 0, error_hz = 0;
  // All distinct minima: first those that explain the data, nearest to the start first (the first one is reported), then the others by cost.
  std::vector<Solution> solutions;
  int starts = 0, converged = 0;
  bool complete =
      true;  // false: ended by the caller; `starts` and `repeats` are those that were made
  double unseen =
      0;  // expected number of further minima that no start has found (IDN-10); infinite: too few starts
  std::vector<FittedMode> modes;
  Eigen::MatrixXd correlation;  // of the estimated parameters
  double condition =
      0;  // of the sensitivities to relative changes: large means, some combination is not seen
  bool sigma_assumed = false;  // 0.1 % of each frequency, for want of better
  std::vector<SimulatedError> errors;
  int repeats = 0;
  Params params;  // the whole θ with the identified values

  // Several parameter sets fit equally well.
  [[nodiscard]] int equivalent() const;
};

// Errors: E0701 unknown parameter, E0703 value zero without bounds, E0710 impossible measurements, E0711 more parameters than measurements, E0712 a mode or an output that the model does not have,
// E0713 a pose that cannot be reached or leaves joint limits, E0718 no start converged.
// Warnings: W0714 not unique, W0715 hardly identifiable, W0716 at a bound, W0717 no sigma given.
Result<Identification> identify(const Model& model, const Params& params,
                                const IdentifyStudy& study,
                                const std::function<bool(double)>& progress = {});

}  // namespace panto
