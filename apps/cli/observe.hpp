// What the parts of `panto observe` share: its command line, and the way from there to an observer.
#pragma once

#include <memory>

#include "apps/cli/verbs.hpp"
#include "panto/estimation/kinematic_setup.hpp"
#include "panto/estimation/log.hpp"
#include "panto/estimation/study.hpp"

namespace panto::cli {

constexpr double kLag = 0.1;  // unless another is asked for [s]

struct ObserveArguments : ModelArguments {
  std::string log, settings, filter, sensors, outputs, restart = "never", out, view, candidates;
  double gate = 0, lag = kLag, dt = 0;
  bool live = false, tune = false, tune_sensors = false, advise = false, smooth = false,
       series = false;
  double smooth_lag = -1;
  int udp = 0, seeds = 0, threads = 0, largest = 1, spare = 0;
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

// The same for settings of a kinematic observer, whose channels may still be open.
struct AskedKinematic {
  Model model;
  KinematicSetup setup;
  std::vector<KinematicChannel> candidates;
  std::vector<int> outputs;
};
int ask(const ObserveArguments& a, AskedKinematic& asked, Diagnostics& notes);

// Noise from a log, or from the readings of a study.
int observe_tune(const ObserveArguments& a);
int observe_tune_study(const ObserveArguments& a);
// Sets of sensors ranked along the model's motion.
int observe_advise(const ObserveArguments& a);
// Through a recorded log.
int observe_log(const ObserveArguments& a);
// Beside a running machine: JSON lines in and out.
int observe_live(const ObserveArguments& a);
// The same with settings of a kinematic observer.
int observe_kinematic_advise(const ObserveArguments& a);
int observe_kinematic_log(const ObserveArguments& a);
int observe_kinematic_live(const ObserveArguments& a);

}  // namespace panto::cli
