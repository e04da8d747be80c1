// Which sensors to fit: sets of candidates ranked by what a filter would know of the mechanism with them, along its own motion.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/estimation/observer.hpp"

namespace panto {

// All sets of `smallest` to `largest` of n things; empty: more than 10000.
std::vector<std::vector<int>> subsets(int n, int smallest, int largest);

struct PlacementOptions {
  int largest_set = 1;                   // sets of 1 to so many sensors
  double dt = 0.005;                     // step of the motion and of the filter
  double until = 0;                      // 0: the model's
  double threshold = 6;                  // log10 of the condition number above it: not observable
  int threads = 0;                       // 0: all
  std::function<bool(double)> progress;  // share done; false ends the study
};

struct RankedSet {
  std::vector<std::string> sensors;
  // Local observability along the motion: log10 of the condition number, share of the motion above the threshold, states that are hidden or seen least.
  bool observable = false;
  double median = 0, worst = 0, blind = 0;
  std::vector<std::string> least;
  // Covariance of the filter, second half of the motion: RMS standard deviation of each independent coordinate, mean trace of their block, and RMS of
  // the deviations as shares of those at the start, by which sets are ranked.
  std::vector<std::pair<std::string, double>> deviations;
  double trace = 0, share = 0;
  std::string failure;  // why the filter stopped; empty: it did not
};

struct Placement {
  std::vector<RankedSet> sets;  // best first: observable ones before others, failed ones last
  bool complete = true;
};

// Readings are those of the model's motion without noise, each sensor at its rate, so that the filter stays on the motion and its covariance is the
// expected one. Candidates: none for all sensors of the model. Errors: those of Observer and observability(); E0832 no candidates, too many sets, no steps.
Result<Placement> rank_sensors(const Model& model, const Params& params,
                               const ObserverSettings& settings,
                               std::vector<SensorSettings> candidates,
                               const PlacementOptions& options = {});

}  // namespace panto
