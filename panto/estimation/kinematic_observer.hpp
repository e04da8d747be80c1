// An observer by kinematics alone that runs on real readings: sensors and filter by name, what is wrong with a reading is noticed and left out, singular
// poses are crossed and counted. Never gives a number that is not one.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/estimation/kinematic.hpp"
#include "panto/estimation/observer.hpp"

namespace panto {

// A sensor in use, and how its failures show.
struct KinematicChannel {
  std::string name;  // a sensor or output of the model
  double sigma =
      0;  // standard deviation of a reading; 0: the model's `noise`, or of its `quantisation`
  double period = 0;  // time between its readings [s]; 0: the model's `rate`, or every step
  double bias_sigma = 0, bias_walk = 0;  // bias estimated, where bias_sigma > 0
  // A reading at or beyond these limits is saturated.
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  int frozen_after = 0;  // equal readings in a row that show a dead channel; 0: not watched
  double hold = 0;  // inputs: the last good reading stands in for so long [s], at least its period
  Loc loc{};
};

// Names of the filters that run on kinematics and forces: "ekf" and the sigma-point filters of filters().
std::vector<std::string> kinematic_filters();

// filter: one of kinematic_filters(); the transition of "ekf" is system.jacobian.
struct KinematicSettings {
  std::string filter = "ss_ukf";
  KinematicOptions system;
  // Standard deviations at the start; one, or one per independent coordinate.
  std::vector<double> sigma_coordinates{0.1}, sigma_speeds{1.0}, sigma_top{10.0};
  SigmaOptions sigma;
  FilterOptions options;
  double dt = 0.01;           // longest step [s]; longer pauses are divided
  double longest_pause = 10;  // [s]; a stamp further ahead is a clock that was set
  // Readings in a row of one sensor that the gate left out: started again, with larger deviations every time.
  int lost_after = 20;
  Loc loc{};
};

// What became of a reading.
enum class Reading : std::uint8_t {
  kNone,  // none came (NaN)
  kUsed,
  kHeld,  // an input: none or a bad one came, the last good one stands in
  kNotFinite,
  kSaturated,
  kFrozen,
  kRejected,  // by the gate
};

// What there is to remember of a channel's readings.
struct ReadingWatch {
  double last = 0;
  int equal = 0, rejected = 0;  // in a row
  [[nodiscard]] Reading judge(const KinematicChannel& c, double reading) noexcept;
};

enum class Stamp : std::uint8_t {
  kGood,
  kRepeated,  // nothing was done
  kBackward,  // nothing was done
  kJump,      // too far ahead or not finite: nothing was done
};

struct KinematicReport {
  Stamp stamp = Stamp::kGood;
  Status status =
      Status::kOk;         // of the filter; not kOk: it was started again at its last good state
  bool restarted = false;  // for that, or because it was lost
  bool zone = false;       // the inputs did not determine the motion
  std::vector<Reading> inputs, sensors;
};

struct KinematicCounts {
  long steps = 0, repeated = 0, backward = 0, jumps = 0, restarts = 0;
  long crossings = 0;                         // how often the singular zone was entered
  std::vector<long> bad_inputs, bad_sensors;  // not finite, saturated, frozen
};

class KinematicObserver {
 public:
  // Errors: E0801 unknown filter, E0802 unknown sensor, E0803 sensor without noise, E0804 settings, E0805 a model or a sensor that kinematics alone
  // cannot use.
  static Result<std::unique_ptr<KinematicObserver>> create(
      const Model& model, const Params& params, const KinematicSettings& settings,
      const std::vector<KinematicChannel>& inputs, const std::vector<KinematicChannel>& sensors);

  [[nodiscard]] KinematicSystem& system() { return *system_; }
  [[nodiscard]] Filter& filter() { return *filter_; }
  [[nodiscard]] const Model& model() const { return workspace_->model(); }

  // At the model's initial state, or at these coordinates and speeds; u: readings of the inputs there.
  [[nodiscard]] Status start(double t, View u);
  [[nodiscard]] Status start(double t, View q, View v, View u);
  // Readings of all inputs and sensors stamped t; NaN: none. Does not allocate.
  const KinematicReport& step(double t, View u, View y) noexcept;

  [[nodiscard]] double time() const { return filter_->time(); }
  [[nodiscard]] const KinematicReport& report() const { return report_; }
  [[nodiscard]] const KinematicCounts& counts() const { return counts_; }
  // Coordinates, speeds and accelerations (nq, nv, nv) at the estimate; accelerations of a first-order model, and where nothing is known of them, are zero.
  void motion(MutableView q, MutableView v, MutableView a) noexcept;

 private:
  KinematicObserver() = default;
  [[nodiscard]] Status advance(double t, View y) noexcept;
  void restart(double t) noexcept;

  KinematicSettings settings_;
  std::vector<KinematicChannel> inputs_, sensors_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<KinematicSystem> system_;
  std::unique_ptr<Filter> filter_;
  Eigen::VectorXd q_, v_;
  Eigen::MatrixXd p0_, doubtful_;
  double doubt_ = 1;
  std::vector<double> x_, before_, now_, between_begin_, between_end_, good_, good_time_, values_;
  std::vector<int> used_;
  std::vector<ReadingWatch> input_watch_, sensor_watch_;
  KinematicReport report_;
  KinematicCounts counts_;
};

}  // namespace panto
