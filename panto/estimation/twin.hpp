// Runs a twin study: truth by simulation, readings with noise, every filter of the grid on them, errors against the truth (OBS-7).
#pragma once

#include <functional>
#include <map>

#include "panto/estimation/study.hpp"
#include "panto/estimation/tune.hpp"

namespace panto {

// One run of one filter on one noise sequence.
struct TwinRow {
  std::string filter, sensors, error_level;
  double rate_hz = 0;  // 0: sensors at rates of their own
  std::uint64_t seed = 0;
  std::vector<double> rmse;  // per channel, over all steps
  double coverage95 =
      0;  // share of steps with the truth inside the filter's own 95 % interval, mean of the channels
  double nees =
      0;  // eᵀ P⁻¹ e / n of coordinates and speeds, mean of the second half: 1 is consistent, NaN: not known
  double nis_mean = 0;    // normalised innovations squared per reading: 1 is consistent
  double whiteness = 0;   // autocorrelation of the normalised innovations at lag 1
  long rejected = 0;      // readings left out by the gate
  bool diverged = false;  // failed, or error above the study's limit
  // How often the innovations, or a step that failed, showed that the filter had lost the truth; when first (NaN: never); restarts.
  int lost = 0, restarts = 0;
  double lost_at = 0;
  Status status = Status::kOk;  // of the step that failed
  double us_per_step = 0;
};

// The same over all sequences; those that diverged are counted and left out.
struct TwinCell {
  std::string filter, sensors, error_level;
  double rate_hz = 0;
  int runs = 0, diverged = 0, failed = 0, lost = 0;  // lost: runs in which the filter was
  std::vector<double> rmse_mean, rmse_std;           // per channel
  double coverage95 = 0, nees = 0, nis_mean = 0, whiteness = 0, us_per_step = 0;
};

// Course of one run, for plots.
struct TwinSeries {
  size_t row = 0;
  std::vector<double> t;
  std::vector<std::vector<double>> truth, estimate, sigma;  // per channel
  std::vector<std::string> sensors;
  std::vector<std::vector<double>> innovation_t, innovation, innovation_sigma;  // per sensor
};

struct TwinResult {
  std::string model;
  std::vector<std::string> channels, units;
  std::vector<TwinRow> rows;
  std::vector<TwinCell> cells;
  std::vector<TwinSeries> series;
  bool complete = true;  // false: stopped by the caller
  double seconds = 0;
};

struct TwinOptions {
  bool series = false;  // keep the course of the first sequence of every cell
  std::function<bool(double fraction)> progress;  // returning false stops
};

// How models are found by name: io's load(), or a folder of a study's own.
using ModelLoader =
    std::function<Result<Model>(const std::string& name, const std::vector<Override>& set)>;

// Errors: those of models and observers, E0809 a channel that the models do not have.
Result<TwinResult> run_twin(const ObserveStudy& study, const ModelLoader& load,
                            const TwinOptions& options = {});

// Noise of a filter of a study, found on the readings of the first noise sequence at the first rate.
struct TunedFilter {
  StudyFilter filter;  // with the noise that was found, for its sensors and error alone
  std::string sensors, error_level;
  double rate_hz = 0;
  Tuning tuning;
};
struct TunedStudy {
  std::string model;
  std::vector<TunedFilter> filters;
  bool complete = true;
};
// Every filter with every set of sensors and error that it is meant for. Errors: those of run_twin(), and of tune() where it fails for all; W0805, W0833 where
// it fails for one.
Result<TunedStudy> tune(const ObserveStudy& study, const ModelLoader& load,
                        const TuneOptions& options = {});

// Noise of a sequence: [step][sensor], standard normal, steps from 1 on.
std::vector<std::vector<double>> noise_sequence(NoiseStream stream, std::uint64_t seed, int steps,
                                                int sensors);

}  // namespace panto
