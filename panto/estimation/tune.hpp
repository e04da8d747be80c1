// Noise of a filter from recorded readings (OBS-12): the one under which the innovations are most likely. For the right noise they are also white.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/estimation/observer.hpp"
#include "panto/estimation/readings.hpp"

namespace panto {

struct TuneOptions {
  bool sensors = false;                  // also the standard deviations of the sensors
  int threads = 0;                       // 0: all
  std::function<bool(double)> progress;  // share of a round of runs done; false ends the search
};

// What the innovations e of a run say. With the right noise e/√s are independent, of variance 1.
struct InnovationTest {
  int count = 0;  // readings
  double log_likelihood = 0;
  double nis = 0;                       // eᵀ S⁻¹ e per reading, expected 1
  std::vector<double> autocorrelation;  // lag 1, 2, …; mean over the sensors
  double inside = 0;  // share of the sensors' autocorrelations within ± 1.96/√N, expected 0.95
  // Of all sensors together (Ljung and Box); p: probability of a larger one if they are white.
  double ljung_box = 0, p_value = 0;
};

// The observer started at the model's initial state and run through the readings. kOk, or what ended it.
[[nodiscard]] Status test_innovations(Observer& observer, const Readings& readings,
                                      InnovationTest& out);

// One run of the search.
struct TunePoint {
  std::string varied;                // "start", "all", a speed or a sensor
  double factor = 1;                 // of its noise density (its standard deviation) at the start
  std::vector<double> noise, sigma;  // of all speeds, all sensors
  double log_likelihood = 0;         // -∞: the filter failed
  double nis = 0, lag1 = 0;
};

struct Tuning {
  std::vector<double>
      noise;  // density of acceleration noise, or force walk of a filter with forces; per independent speed
  std::vector<double> sigma;        // per sensor
  std::vector<std::string> speeds;  // their names
  // Standard deviation of ln(noise) and, where varied, of ln(sigma), from the curvature of the log-likelihood; infinite where that is flat.
  std::vector<double> noise_error, sigma_error;
  InnovationTest chosen, start;
  std::vector<TunePoint> points;  // in the order of the search
  bool complete = true;
};

// Common factor of all speeds' noise from 1e-6 to 1e6, then, where there are several speeds or sensors to vary, one after the other until nothing is
// gained. Gate and adaptation of the filter are off: all points must count the same readings. Start: the settings, automatic ones where they are silent.
// Errors: those of Observer; E0805 not with this filter; E0833 readings that do not fit, or no noise with which the filter passes through them. W0833: best at the edge.
Result<Tuning> tune(const Model& model, const Params& params, const ObserverSettings& settings,
                    const std::vector<SensorSettings>& sensors, const Readings& readings,
                    const TuneOptions& options = {});

// Settings with this noise of the accelerations, or of the forces of a filter that estimates them.
ObserverSettings with_noise(ObserverSettings settings, const std::vector<double>& noise);

}  // namespace panto
