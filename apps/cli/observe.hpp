// What the parts of `panto observe` share: its command line, and the way from there to an observer.
#pragma once

#include <memory>

#include "apps/cli/verbs.hpp"
#include "panto/estimation/log.hpp"
#include "panto/estimation/study.hpp"

namespace panto::cli {

struct ObserveArguments : ModelArguments {
  std::string log, settings, filter, sensors, outputs, restart = "never", out, view;
  double gate = 0, lag = 0.1, dt = 0;
  bool live = false;
  int udp = 0, seeds = 0, threads = 0;
  std::string bind = "127.0.0.1";
};

// What the command line names: the model, the filter with its sensors, outputs to estimate.
struct Asked {
  Model model;
  FilterSetup setup;
  std::vector<int> outputs;
};
// Exit code: kOk, or that of what was said. Notes of the model and the settings go to `notes`.
int ask(const ObserveArguments& a, Asked& asked, Diagnostics& notes);

// The LOG, and the sensors that it has where none are named.
Result<SensorLog> read_log(const ObserveArguments& a, Asked& asked, Diagnostics& notes);
SensorSettings sensor_named(const std::string& name);
Restart restart_of(const std::string& name);

// Through a recorded log.
int observe_log(const ObserveArguments& a);
// Beside a running machine: JSON lines in and out.
int observe_live(const ObserveArguments& a);

}  // namespace panto::cli
