// A filter that follows a machine by whatever readings arrive: sensors of different rates, missing, late and out of order. Late readings are put in
// their place by going back to the snapshot before them and repeating what came after (fixed lag), so that the estimate is the one that readings
// in order would have given.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "panto/estimation/watch.hpp"

namespace panto {

struct TrackerOptions {
  double lag = 0.1;  // readings that are older than the newest by more than this [s] are left out
  double dt = 0;     // longest step [s]; 0: shortest period of the sensors, at most 10 ms
  Restart restart = Restart::kNever;
  std::vector<int> outputs;  // of the model, estimated beside the state
  int window = 100;          // updates that the watch over the innovations looks back
  int events = 1024;  // different times of readings that can be kept; beyond, the lag is shorter
  std::function<void(bool arrived)>
      after_step;  // after every step of the filter; arrived: at the time of readings
};

// What is estimated: coordinates and speeds that were independent at the start, forces, biases, outputs.
struct EstimatedQuantity {
  std::string name, unit;
};

struct Estimate {
  double t = 0;
  std::vector<double> value, sigma;  // as Tracker::quantities(); NaN: not known
  // Per sensor; NaN: no reading at t, or left out by the gate.
  std::vector<double> innovation, innovation_sigma;
  double nis = 0;  // of the readings used
  int used = 0;
};

// What became of a sensor's readings.
struct SensorRecord {
  std::string name, unit;
  long readings = 0, missing = 0;  // arrived; empty or not finite
  long used = 0, rejected = 0;     // rejected: by the gate
  long late = 0;                   // arrived after newer ones, and used
  long dropped = 0, repeated = 0;  // older than the lag; second ones of the same time
  // Innovations of those used: root mean square, mean and mean square in standard deviations (0 and 1 are right), and correlation with the next one.
  double rms = 0, mean = 0, nis = 0, correlation = 0;
};

enum class Arrival : std::uint8_t {
  kNew,
  kLate,
  kTooOld,
  kJump,    // too far ahead: a clock that was set, not a pause
  kFailed,  // the filter could not follow: status()
};

class Tracker {
 public:
  using Sink = std::function<void(const Estimate&)>;
  static constexpr double kMostSteps = 1e5;  // between two readings

  // The observer must outlive the tracker. sink: called once per time of readings, in the order of time, when no reading can change it any more.
  Tracker(Observer& observer, const TrackerOptions& options, Sink sink = {});

  // The model's initial state at t.
  [[nodiscard]] Status start(double t);
  // Readings y of the observer's sensors and inputs u of the model (each all of them, or empty) stamped t, which is finite. NaN: none. Without a sink
  // no allocation.
  Arrival push(double t, View y, View u);
  // Readings can no longer change anything.
  void finish();

  [[nodiscard]] bool started() const { return started_; }
  // Of the newest reading.
  [[nodiscard]] double time() const { return now_; }
  [[nodiscard]] const std::vector<EstimatedQuantity>& quantities() const { return quantities_; }
  // At time(), with the innovations there.
  void present(Estimate& out);
  [[nodiscard]] Estimate estimate() const;  // of the right size
  // Value and sigma of the quantities at another state with covariance p and inputs u, in the present free entries.
  void evaluate(double t, View x, const Eigen::MatrixXd& p, View u, Estimate& out);

  [[nodiscard]] Status status() const { return status_; }
  // Counts, and the innovations of readings that are no longer in the lag.
  [[nodiscard]] std::vector<SensorRecord> sensors() const;
  [[nodiscard]] double mean_nis() const {
    return used_ > 0 ? nis_ / static_cast<double>(used_) : 0;
  }
  [[nodiscard]] long updates() const { return updates_; }
  [[nodiscard]] long steps() const { return steps_; }
  [[nodiscard]] double step_seconds() const { return seconds_; }
  [[nodiscard]] int restarts() const { return restarts_; }
  // How often the innovations were too large for two windows, and since when the first time.
  [[nodiscard]] int diverged() const { return diverged_; }
  [[nodiscard]] double diverged_at() const { return diverged_at_; }

 private:
  struct Event {
    double t = 0, nis = 0;
    int used = 0, rejected = 0;
    std::vector<double> y, u, u_after, e, s;  // e, s: innovation and its variance per sensor
    Snapshot after;
  };
  struct Sums {
    SensorRecord record;
    double square = 0, normal = 0, normal_square = 0, product = 0, last = 0;
    long pairs = 0;
  };

  [[nodiscard]] Status process(size_t k);
  void commit_first();
  void start_again();
  void evaluate(Estimate& out);
  void evaluate_copy(double t, Estimate& out);
  void describe(const Event& event, Estimate& out) const;
  [[nodiscard]] const std::vector<double>& inputs_before(size_t k) const;

  Observer& observer_;
  Mechanism& mechanism_;
  MotionSystem& system_;  // what the filter's state is of
  TrackerOptions options_;
  Sink sink_;
  std::vector<EstimatedQuantity> quantities_;
  std::vector<int> positions_, speeds_;  // dofs that are reported

  bool started_ = false, settled_ = false;  // settled_: base_ is after readings
  double now_ = 0;
  Status status_ = Status::kOk;
  std::vector<Event> events_;
  std::vector<int> order_, free_;  // events in the lag by time; unused ones
  Snapshot base_, aside_;          // after what has left the lag
  std::vector<double> base_u_, x_, y_, readings_, memory_;
  std::vector<int> sensors_used_;
  Eigen::MatrixXd p_, dq_, dv_, h_, mass_, change_;
  Eigen::VectorXd row_;
  Estimate estimate_;

  std::vector<Sums> sums_;
  double nis_ = 0, seconds_ = 0, diverged_at_ = 0;
  long used_ = 0, updates_ = 0, steps_ = 0;
  int restarts_ = 0, diverged_ = 0;
  InnovationWatch watch_;
  bool alarm_ = false;
};

// Outputs of the model by name; none: all that are no sensors. E0802: there is no such output.
Result<std::vector<int>> outputs_named(const Model& model, const std::vector<std::string>& names);

// Standard deviations beyond which a good reading lies with probability 1 - p: the gate of FilterOptions for this p.
double gate_of(double probability);

}  // namespace panto
