// Before a kinematic observer is used: whether its inputs determine the motion and its sensors the state along an expected motion (OBS-21), and which
// sensors to fit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/estimation/kinematic_observer.hpp"
#include "panto/integrate/simulate.hpp"

namespace panto {

struct KinematicCheckOptions {
  int samples = 300;  // poses of the motion that are looked at, evenly
  double share =
      0.2;  // 1/|S⁺| below this share of its median: the inputs do not determine the motion, where `enter` is not given
  double threshold = 6;  // log10 of the condition number above it: not observable
};

// A part of the motion where the inputs do not determine it.
struct FailingPoses {
  double from = 0, to = 0, worst = 0;  // times [s]
  double margin = 0;                   // 1/|S⁺| at the worst
  std::vector<double> q;               // coordinates there
};

struct KinematicCheck {
  int degrees_of_freedom = 0, inputs = 0, sensors = 0;
  int states = 0;  // that the next state or a reading depends on
  double median_margin = 0, least_margin = 0;
  std::vector<FailingPoses> failing;
  double failing_share = 0;  // of the motion
  // Thresholds that keep the observer out of them: enter is the one used here, leave a quarter more.
  double enter = 0, leave = 0;
  // Rank and condition number of the observability matrix of the poses that do not fail.
  int least_rank = 0;
  double median = 0, worst = 0, worst_time = 0;  // log10 κ
  bool exists = false, observable = false;
  // Standard deviations that a filter has in the second half of the motion, by its covariance alone: root mean square of every state.
  std::vector<std::pair<std::string, double>> deviations;
};

// The motion is a run of this model or of one with the same coordinates (with drivers, say). Errors: those of KinematicObserver; E0841 a motion of other
// coordinates, or with fewer than three poses.
Result<KinematicCheck> check_kinematic(const Model& model, const Params& params,
                                       const KinematicSettings& settings,
                                       const std::vector<KinematicChannel>& inputs,
                                       const std::vector<KinematicChannel>& sensors,
                                       const Run& motion,
                                       const KinematicCheckOptions& options = {});

// "the inputs do not determine the motion near theta1 = 1.57 (0.12 … 0.14 s) …".
std::string in_words(const KinematicCheck& check, const Model& model);

struct AdvisedSet {
  std::vector<std::string> inputs, sensors;
  KinematicCheck check;
};
struct KinematicAdvice {
  int degrees_of_freedom = 0;
  std::string needed;  // in words: how many sensors of which kind
  std::vector<AdvisedSet>
      sets;  // best first: those that exist nowhere failing and are observable by the deviation of the coordinates, then the others
};
// Sets of candidates (none: all sensors and outputs of the model that can be used and have noise): inputs of the settings' order, as many as degrees
// of freedom and up to `spare` more; positions, up to as many. E0842: no candidates that could do, or too many sets.
Result<KinematicAdvice> advise_kinematic(const Model& model, const Params& params,
                                         const KinematicSettings& settings,
                                         std::vector<KinematicChannel> candidates,
                                         const Run& motion, int spare = 0,
                                         const KinematicCheckOptions& options = {});

}  // namespace panto
