// A twin study: a truth that is simulated, observers of models that are somewhat wrong, and the grid of sensors, rates, errors, filters and noise
// sequences to compare them on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "panto/estimation/watch.hpp"
#include "panto/model/spec.hpp"

namespace panto {

// Where the noise of sensors comes from.
enum class NoiseStream : std::uint8_t {
  kCounter,     // Philox: depends on seed, sensor and step alone
  kSplitmix64,  // one sequence per seed, a pair of numbers per step and two sensors (Box–Muller)
};

struct SensorSet {
  std::string name;
  std::vector<SensorSettings> use;
  std::vector<Override> set;  // of truth and observer alike: another motion
  Loc loc{};
};

// What the observer's model has wrong.
struct ModelError {
  std::string name;
  std::vector<Override> set;
  Loc loc{};
};

struct StudyFilter {
  std::string name;   // in tables; default: the filter's
  std::string model;  // the observer's model; empty: the study's
  ObserverSettings settings;
  std::vector<std::string> sensors, errors;  // only with these; empty: with all
  Loc loc{};
};

struct ObserveStudy {
  std::string model;           // of the truth
  std::string observer_model;  // empty: as the truth
  std::vector<Override> truth_set, observer_set;
  std::string integrator;  // of the truth; empty: variable step, 1e-10
  double until = 10, dt = 0.005;
  std::vector<std::uint64_t> seeds{1};
  NoiseStream noise = NoiseStream::kCounter;
  std::vector<std::string>
      channels;                  // outputs to compare; empty: the model's independent coordinates
  std::vector<double> rates_hz;  // of all sensors of a set; empty: each its own
  std::vector<SensorSet> sensors;
  std::vector<ModelError> errors;
  std::vector<StudyFilter> filters;
  double diverged_above = 0.5;        // RMS error of a channel [its unit]
  Restart restart = Restart::kNever;  // of filters that fail or have lost the truth
  int watch = 100;                    // updates that the watch over the innovations looks back
  int threads = 0;                    // 0: all cores
};

// A filter and its sensors, for logs and machines.
struct FilterSetup {
  ObserverSettings settings;
  std::vector<SensorSettings> sensors;  // empty: all that the log or the model has
};

// From a study file (parsed by io): E0110 … E0115 for keys and types, E0302 … for numbers.
Result<ObserveStudy> observe_study(const ModelSpec& file);
// One table of filter settings, as in [[filter]].
ObserverSettings read_observer_settings(const class StudyReader& reader);

// From a settings file: the keys of a [[filter]], and `sensors`, names or tables as in the `use` of a study.
Result<FilterSetup> filter_setup(const ModelSpec& file);
// As such files have it: what is not the default.
Node describe(const FilterSetup& setup);
Node describe(const StudyFilter& filter);

}  // namespace panto
