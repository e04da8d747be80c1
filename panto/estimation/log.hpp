// Recorded readings of a machine and the run of an observer through them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "panto/estimation/readings.hpp"
#include "panto/estimation/tracker.hpp"

namespace panto {

struct LogSample {
  double t = 0, value = 0;  // value NaN: missing
  long arrival = 0;         // place in the record: what came before what
  int line = 0;             // of the file; 0: none
};

struct LogSeries {
  std::string name;
  std::vector<LogSample> samples;  // in the order of arrival
};

struct SensorLog {
  std::string file;                // for messages
  std::vector<LogSeries> sensors;  // named as outputs of the model
  std::vector<LogSeries> inputs;   // named as its inputs
};

struct LogOptions : TrackerOptions {
  // Estimates also from readings up to this much later [s], infinite: from all. Readings are then sorted first, and there is no restart.
  std::optional<double> smooth;
  // Share of the readings that is done; false: stop there.
  std::function<bool(double)> progress;
};

struct LogSummary {
  std::vector<SensorRecord> sensors;
  std::vector<EstimatedQuantity> quantities;
  double begin = 0, end = 0, dt = 0;
  long updates = 0, steps = 0;
  double nis = 0;  // mean per reading; 1 is right
  double step_seconds = 0;
  int restarts = 0, diverged = 0;
  bool complete = true;
};

// Sends the sensors of the log that the observer has, and the inputs, through its filter. Errors: E0812 a clock that goes back by more than the lag or jumps
// ahead, E0813 the filter failed, E0815 no reading, E0805 a filter that cannot be smoothed. Warnings: W0816 innovations that are too large for too
// long, W0835 smoothed states that the mechanism cannot take.
Result<LogSummary> run_log(Observer& observer, const SensorLog& log, const LogOptions& options,
                           const Tracker::Sink& sink);

// The same readings in the order of time, for tune(). Of readings with the same stamp the first of each sensor. Errors: E0812, E0815.
Result<Readings> readings_of(Observer& observer, const SensorLog& log, const LogOptions& options);

// Estimates as columns, for files.
struct EstimateColumn {
  std::string name, unit;
  std::vector<double> value, sigma;
};
struct WordColumn {
  std::string name;
  std::vector<std::string> words;
};
struct EstimateSeries {
  std::string model, filter;
  std::vector<double> t, nis;
  std::vector<EstimateColumn> estimates, innovations;  // innovations: per sensor
  // Of kinematic observers: 1 where the inputs did not determine the motion, and what became of readings.
  std::vector<double> zone;
  std::vector<WordColumn> readings;

  void add(const Estimate& e);
  // Names and units of the columns.
  void label(const LogSummary& summary);
};

}  // namespace panto
