// A kinematic or two-stage observer fed with readings by name, its estimates with their uncertainty, and its run through recorded readings.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "panto/estimation/kinematic_setup.hpp"
#include "panto/estimation/log.hpp"

namespace panto {

constexpr int kReadingKinds = 7;
// "none", "used", "held", "not_finite", "saturated", "frozen", "rejected".
std::string_view name_of(Reading reading);

std::string_view name_of(Stamp stamp);  // "good", "repeated", "backward", "jump"

enum class ChannelRole : std::uint8_t { kInput, kSensor, kForce };
std::string_view name_of(ChannelRole role);  // "input", "sensor", "force"

// What became of a channel's readings.
struct ChannelRecord {
  std::string name, unit;
  ChannelRole role = ChannelRole::kInput;
  std::array<long, kReadingKinds> count{};  // by Reading
  // Sensors: innovations of those used, root mean square and mean square in standard deviations (1 is right).
  double rms = 0, nis = 0;

  [[nodiscard]] long of(Reading r) const { return count[static_cast<size_t>(r)]; }
};

struct KinematicEstimate : Estimate {
  bool zone = false;              // the inputs did not determine the motion
  bool force_zone = false;        // the forces could not be solved for
  bool restarted = false;         // the filter was started again
  std::vector<Reading> readings;  // as KinematicTracker::channels()
};

class KinematicTracker {
 public:
  // A setup that is complete. Outputs: of the model, estimated beside the motion. Errors: those of KinematicObserver and ForceObserver; E0805 an output
  // that kinematics alone does not give.
  static Result<std::unique_ptr<KinematicTracker>> create(const Model& model, const Params& params,
                                                          const KinematicSetup& setup,
                                                          std::vector<int> outputs);

  [[nodiscard]] const std::vector<ChannelRecord>& channels() const { return channels_; }
  [[nodiscard]] const std::vector<EstimatedQuantity>& quantities() const { return quantities_; }
  [[nodiscard]] const Model& model() const { return observer().model(); }
  [[nodiscard]] int forces() const { return nf_; }  // unknown ones

  // Readings of all channels; NaN: none. At the model's initial state, or at these coordinates and speeds.
  [[nodiscard]] Status start(double t, View readings);
  [[nodiscard]] Status start(double t, View q, View v, View readings);
  // To the readings stamped t. A stamp that is not kGood does nothing but count. Does not allocate.
  Stamp push(double t, View readings) noexcept;
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] double time() const { return observer().time(); }

  [[nodiscard]] KinematicEstimate estimate() const;  // of the right size
  // Reads the system at the estimate: loops are then closed from another start, and what follows differs by round-off from what would have without.
  void present(KinematicEstimate& out) noexcept;
  // Of the last push: coordinates, speeds and accelerations (nq, nv, nv), unknown forces.
  [[nodiscard]] View q() const { return q_; }
  [[nodiscard]] View v() const { return v_; }
  [[nodiscard]] View a() const { return a_; }
  [[nodiscard]] View unknown() const { return both_ ? both_->force().unknown() : View{}; }
  [[nodiscard]] const KinematicCounts& counts() const { return observer().counts(); }
  [[nodiscard]] std::vector<ChannelRecord> records() const;
  [[nodiscard]] double mean_nis() const {
    return used_ > 0 ? nis_ / static_cast<double>(used_) : 0;
  }

 private:
  KinematicTracker() = default;
  [[nodiscard]] KinematicObserver& observer() const { return both_ ? both_->kinematic() : *alone_; }
  [[nodiscard]] Status begin(Status first, View readings);
  void take_motion() noexcept;
  void describe(const Model& model, const std::vector<UnknownForce>& unknown);

  std::unique_ptr<KinematicObserver> alone_;
  std::unique_ptr<TwoStageObserver> both_;
  std::vector<ChannelRecord> channels_;
  std::vector<double> squares_, normal_squares_;  // of innovations, per sensor
  std::vector<EstimatedQuantity> quantities_;
  std::vector<int> positions_, speeds_;  // dofs that are reported
  std::vector<int> outputs_;             // those without accelerations first
  size_t ni_ = 0, ns_ = 0;               // inputs, sensors; then measured forces
  size_t slow_ = 0;                      // outputs without accelerations
  int nf_ = 0, order_ = 2;
  bool started_ = false, top_ = false;
  std::vector<double> q_, v_, a_, x_, y_, sigma_;
  Eigen::MatrixXd p_, whole_, h_;
  Eigen::VectorXd row_;
  double nis_ = 0;
  long used_ = 0;
};

struct KinematicLogSummary {
  std::vector<ChannelRecord> channels;
  std::vector<EstimatedQuantity> quantities;
  KinematicCounts counts;
  double begin = 0, end = 0;
  double zone_share = 0;  // of the steps
  double nis = 0;         // mean per reading; 1 is right
  double step_seconds = 0;
  bool complete = true;
};

// Sends the readings of the log through a tracker that is not started, in the order of their arrival. Errors: E0810 no column of a channel, E0813 the
// filter cannot be started, E0815 no reading. progress: share done; false: stop there.
Result<KinematicLogSummary> run_log(KinematicTracker& tracker, const SensorLog& log,
                                    const std::function<void(const KinematicEstimate&)>& sink,
                                    const std::function<bool(double)>& progress = {});

// Outputs that kinematics alone gives, of those named; none: all that are no sensors. E0802, E0805.
Result<std::vector<int>> kinematic_outputs(const Model& model, int order,
                                           const std::vector<std::string>& names);

// Adds an estimate with what became of the readings; label: names and units.
void add(EstimateSeries& series, const KinematicEstimate& estimate);
void label(EstimateSeries& series, const KinematicTracker& tracker);

}  // namespace panto
