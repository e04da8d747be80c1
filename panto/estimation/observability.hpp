// Local observability along a motion (OBS-11): what the sensors tell of the state in a window of steps, by the condition number κ of
//   O = [H_k; H_{k+1} F_k; H_{k+2} F_{k+1} F_k; …]
// with the filter's own F and H: its Jacobians, or for sigma points their statistical linear regression. A state can be lost on one filter and
// seen by another: a constant transition hides what only the dynamics connect.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/estimation/observer.hpp"
#include "panto/estimation/readings.hpp"

namespace panto {

// log10 κ of what is not seen at all.
constexpr double kBlind = 20;

struct ObservabilityOptions {
  int blocks = 0;        // instants with readings in a window; 0: as many as there are states
  double threshold = 6;  // log10 κ above it: not observable
  std::function<void(const Filter&)> after_step;  // for what else the run is to tell
};

struct ObservableInstant {
  double t = 0;
  double log10_condition = 0;  // up to kBlind
  Eigen::VectorXd direction;   // unit change of the state that the readings show least
  int frame = 0;               // its entries: frames[frame]
};

struct Observability {
  std::vector<ObservableInstant> instants;  // those whose window was complete
  std::vector<std::vector<std::string>>
      frames;  // names of states; more than one where other independent coordinates were chosen
  double median = 0, low = 0, high = 0;  // log10 κ; low, high: 10 and 90 %
  double worst = 0, worst_time = 0;
  double blind = 0;         // share of the instants above the threshold
  bool observable = false;  // the median is not above it
  // States that are hidden, or, where all are seen, seen least: share in the directions, from the largest; those above a tenth.
  std::vector<std::pair<std::string, double>> least;
};

// Starts the observer at the model's initial state and runs it through the readings. Errors: E0805 not with this filter, E0831 readings too few or
// the filter failed before a window was complete. W0831: it failed later.
Result<Observability> observability(Observer& observer, const Readings& readings,
                                    const ObservabilityOptions& options = {});

// "not observable: the readings do not show theta (log10 of the condition number 20.0; …)".
// With the model, states as state_in_words() has them.
std::string in_words(const Observability& o, const Model* model = nullptr);

// A state of Mechanism::names() as people call it: "theta (crank angle)"; as it is where no joint has it.
std::string state_in_words(const Model& model, const std::string& state);

}  // namespace panto
