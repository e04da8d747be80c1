// What the parts of `panto observe` share: its command line, and the way from there to an observer.
#pragma once

#include <memory>

#include "apps/cli/verbs.hpp"
#include "panto/estimation/log.hpp"

namespace panto::cli {

struct ObserveArguments : ModelArguments {
  std::string log, filter = "ukf", sensors, outputs, restart = "never", out, view;
  double gate = 0, lag = 0.1, dt = 0;
  bool live = false;
  int udp = 0, seeds = 0, threads = 0;
  std::string bind = "127.0.0.1";
};

// A sensor of the command line: "encoder", or "theta=0.01" with its standard deviation.
std::vector<SensorSettings> sensors_of(const std::string& text, std::string& message);
std::vector<std::string> names_of(const std::vector<SensorSettings>& sensors);
// E0802 where one is not of the model. Empty text: all outputs that are no sensors.
std::vector<int> outputs_of(const std::string& text, const Model& model, Diagnostics& notes);
ObserverSettings settings_of(const ObserveArguments& a);
Restart restart_of(const std::string& name);

// Through a recorded log.
int observe_log(const ObserveArguments& a);
// Beside a running machine: JSON lines in and out.
int observe_live(const ObserveArguments& a);

}  // namespace panto::cli
