// One interface for all filters: start at a state with its covariance, then step after step forward, each with the readings that
// have arrived, if any. A step neither allocates, throws nor locks.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "panto/estimation/system.hpp"

namespace panto {

struct FilterOptions {
  // A reading further from its expectation than this many standard deviations is left out; 0: none is.
  double gate = 0;
  // Process noise follows the innovations: multiplied in every update by exp(rate (NIS / readings - 1)); 0: stays.
  double adapt_process = 0;
  // Sensor variances follow the innovations, with this share of the new one in every update; 0: stay.
  double adapt_sensors = 0;
};

// What the readings of one step said.
struct Innovations {
  int count = 0;               // readings used
  int rejected = 0;            // left out by the gate
  double nis = 0;              // eᵀ S⁻¹ e of those used
  double log_determinant = 0;  // of S
  std::vector<int> sensor;     // per reading used
  std::vector<double> value, variance;
};

// What a smoother needs of one step, in the free entries before a change: the prediction, its covariance, the covariance of old state and
// prediction, and what the readings changed, state ⊖ prediction.
struct Prediction {
  std::vector<double> x, correction;
  Eigen::MatrixXd p, cross;
};

// A filter at one instant, to go back to.
struct Snapshot {
  double t = 0, process_factor = 1;
  std::vector<double> x, variance, memory;  // memory: of the system
  Eigen::MatrixXd carried;                  // covariance, or what the filter has in its place
};

class Filter {
 public:
  // The system must outlive the filter.
  Filter(System& system, const FilterOptions& options);
  virtual ~Filter() = default;
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  // kBadArgument: p is not symmetric positive definite.
  [[nodiscard]] Status start(double t, View x, const Eigen::MatrixXd& p);
  // To time() + dt, then corrected by the readings y of `sensors` there. kOk, or: kNotFinite, kSingular (covariance lost its definiteness, or the
  // mechanism is at a dead point), kNotConverged: the state is the last good one, and the filter should be started again.
  // dt = 0: corrected alone.
  [[nodiscard]] Status step(double dt, std::span<const int> sensors, View y) noexcept;

  // Snapshots: sized once, then neither save() nor restore() allocates. Going on after save() and going on after restore() of it give the same
  // numbers to the last bit, unless other independent coordinates were chosen in between.
  [[nodiscard]] Snapshot snapshot();
  void save(Snapshot& to) noexcept;
  void restore(const Snapshot& from) noexcept;

  [[nodiscard]] double time() const { return t_; }
  [[nodiscard]] View state() const { return x_; }
  [[nodiscard]] System& system() const { return system_; }
  virtual void covariance(Eigen::MatrixXd& p) const noexcept = 0;
  [[nodiscard]] const Innovations& innovations() const { return innovations_; }
  [[nodiscard]] double process_factor() const { return process_factor_; }
  [[nodiscard]] double sensor_variance(int i) const { return variance_[static_cast<size_t>(i)]; }
  // How often other independent coordinates were chosen.
  [[nodiscard]] int reframed() const { return reframed_; }
  // Whether the last step did, and T of it: w_new = T w_old.
  [[nodiscard]] bool changed() const { return changed_; }
  [[nodiscard]] const Eigen::MatrixXd& change() const { return change_; }

  // Keeps the last prediction for smoothers; not all filters can (false).
  [[nodiscard]] virtual bool keep_predictions();
  [[nodiscard]] const Prediction& prediction() const { return prediction_; }

 protected:
  [[nodiscard]] virtual Status set_covariance(const Eigen::MatrixXd& p) = 0;
  [[nodiscard]] virtual Status predict(double dt) noexcept = 0;
  [[nodiscard]] virtual Status correct(std::span<const int> sensors, View y) noexcept = 0;
  // The same state in other free entries: P <- T P Tᵀ.
  virtual void reframe(const Eigen::MatrixXd& change) noexcept = 0;
  // The covariance, its factor, or the points that stand for it.
  [[nodiscard]] virtual Eigen::MatrixXd& carried() noexcept = 0;
  // Both at once, for filters that cannot part them.
  [[nodiscard]] virtual Status advance(double dt, std::span<const int> sensors, View y) noexcept;

  [[nodiscard]] bool constraint(int sensor) const noexcept { return sensor >= measured_; }
  // Notes one innovation with its variance s. False: the gate leaves it out. Constraints pass unnoted.
  bool note(int sensor, double value, double s) noexcept;
  void adapt(int sensor, double value, double s) noexcept;

  System& system_;
  FilterOptions options_;
  double t_ = 0;
  std::vector<double> x_, next_;
  Innovations innovations_;
  Prediction prediction_;
  bool keep_ = false;
  double process_factor_ = 1;
  std::vector<double> variance_;
  Eigen::MatrixXd q_, change_;

 private:
  int reframed_ = 0;
  bool changed_ = false;
  int measured_;  // sensors before the constraints
  // The readings of a step with the constraints behind them.
  std::vector<int> all_sensors_;
  std::vector<double> all_y_;
};

// Lower Cholesky factor of the symmetric p into l. False: not positive definite. l may be p.
[[nodiscard]] bool cholesky(const Eigen::MatrixXd& p, Eigen::MatrixXd& l) noexcept;
// The same of a positive semidefinite q: an entry without noise of its own has a zero column.
void noise_factor(const Eigen::MatrixXd& q, Eigen::MatrixXd& l) noexcept;

}  // namespace panto
