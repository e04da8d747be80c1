// Unknown forces from a known motion (OBS-19, OBS-20): the second stage behind a kinematic observer, and both stages together. The motion comes in and
// nothing goes back, so the first stage is the same whatever is assumed of forces.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/estimation/kinematic_observer.hpp"

namespace panto {

// How an unknown force goes on by itself (OBS-20).
enum class ForceLaw : std::uint8_t {
  kRandomWalk,
  kLowPass,   // noise behind a low-pass of first order with a bandwidth; tends to zero
  kColoured,  // its rate is noise behind such a low-pass
  kUser,
};

struct UnknownForce {
  std::string
      name;  // an input of the model that is a force or torque; with payload a frame of it, "bucket.load"
  bool payload = false;  // a point mass [kg] that the frame carries: gravity and inertia
  ForceLaw law = ForceLaw::kRandomWalk;
  double walk =
      1;  // kRandomWalk, kUser: standard deviation of its change per √s; kColoured: of its rate
  double sigma = 1;          // kLowPass: its own standard deviation
  double bandwidth = 10;     // kLowPass, kColoured [Hz]
  double start_sigma = 1e3;  // standard deviation at the start
  std::function<double(double t, double dt, double force)>
      user;  // kUser: the force after dt; must not throw
  Loc loc{};
};

enum class ForceForm : std::uint8_t {
  kF12,  // measured forces from unknown ones: as many measured ones as degrees of freedom
  kF21,  // unknown forces from measured ones
};

// Which motion, and with f12 which unknown forces, the measured forces at the end of a step belong to.
enum class MotionAt : std::uint8_t {
  kBegin,  // of the step, as in the source: a low-pass then tells forces that are a step old, after its decay
  kEnd,
};

struct ForceSettings {
  std::string filter = "ss_ukf";  // as KinematicSettings
  ForceForm form = ForceForm::kF12;
  MotionAt motion = MotionAt::kBegin;
  std::vector<KinematicChannel>
      measured;  // inputs of the model that are forces or torques, with their load cells
  std::vector<UnknownForce> unknown;
  // Standard deviation of what the inverse dynamics gives, one or one per force: of measured ones (kF12), of unknown ones (kF21).
  std::vector<double> model_sigma{1.0};
  double measured_walk = 1;  // kF21: of measured forces, per √s
  // Where 1/|B⁺| of the forces to be solved for is not above `enter` they go on by themselves, until it is above `leave`.
  double enter = 0, leave = 0;
  // Points are drawn anew for the readings: what the inverse dynamics is off by must count in the same step.
  SigmaOptions sigma{.redraw = true};
  FilterOptions options;
  Loc loc{};
};

// Forces as a filter sees them: state F1 | F2 | rates of coloured ones, sensors F1.
class ForceSystem final : public System {
 public:
  // What a force is in the model: an output whose row is its lever arm; payload: outputs of the frame's acceleration along ground axes.
  struct Place {
    std::vector<int> outputs;
    bool payload = false;
  };
  // The workspace must outlive this object. sigma: of the measured forces' readings.
  ForceSystem(Workspace& workspace, std::vector<Place> measured, std::vector<double> sigma,
              std::vector<Place> unknown, const ForceSettings& settings);

  // Motion (nq, nv, nv) and the other inputs at t, from which the steps until the next call are taken. kSingular: forces go on by themselves.
  [[nodiscard]] Status set_motion(double t, View q, View v, View a, View u) noexcept;
  // F1 (kF12) or F2 (kF21) at the motion last set, of the other forces.
  void solve(View others, MutableView forces) const noexcept;
  [[nodiscard]] double margin() const { return margin_; }
  [[nodiscard]] bool in_zone() const { return zone_; }
  [[nodiscard]] int measured() const { return n1_; }
  [[nodiscard]] int unknown() const { return n2_; }
  void initial_covariance(Eigen::MatrixXd& p) const;

  [[nodiscard]] int storage() const override { return n_; }
  [[nodiscard]] int size() const override { return n_; }
  [[nodiscard]] int sensors() const override { return n1_; }
  void move(View x, View w, MutableView out) noexcept override;
  void difference(View a, View b, MutableView w) noexcept override;
  [[nodiscard]] Status settle(double, MutableView) noexcept override { return Status::kOk; }
  [[nodiscard]] Status step(double t, double dt, MutableView x, MutableView out) noexcept override;
  [[nodiscard]] Status transition(double t, double dt, MutableView x, MutableView out,
                                  Eigen::MatrixXd& f) noexcept override;
  void process_noise(double t, double dt, View x, Eigen::MatrixXd& q) noexcept override;
  [[nodiscard]] Status sense(double t, MutableView x, std::span<const int> sensors,
                             MutableView y) noexcept override;
  [[nodiscard]] Status sense_jacobian(double t, MutableView x, std::span<const int> sensors,
                                      Eigen::MatrixXd& h) noexcept override;
  [[nodiscard]] double variance(int sensor) const noexcept override;

 private:
  void column(const Place& place, Eigen::MatrixXd& b, int j) noexcept;
  [[nodiscard]] bool solved(bool first) const {
    return !zone_ && first == (settings_.form == ForceForm::kF12);
  }
  // The measured forces of a step belong to the unknown ones at its end, not at its begin.
  [[nodiscard]] bool at_end() const { return settings_.motion == MotionAt::kEnd; }

  Workspace& workspace_;
  std::vector<Place> measured_, unknown_;
  std::vector<double> sigma_;
  ForceSettings settings_;
  std::vector<int> colour_;  // of an unknown force -> state of its rate, -1: none
  int nv_, nz_, n1_, n2_, n_ = 0;
  bool zone_ = false;
  double margin_ = 0;
  Residual residual_;
  std::vector<double> basis_, row_, u_, q_, v_, a_;
  // B1, B2 by independent speeds; forces to solve for = offset + gain · others.
  Eigen::MatrixXd b1_, b2_, pinv_, normal_, gain_;
  Eigen::VectorXd effort_, offset_;
  Eigen::LLT<Eigen::MatrixXd> llt_;
};

struct ForceReport {
  Status status = Status::kOk;
  bool zone = false;  // the forces could not be solved for
  std::vector<Reading> measured;
};

class ForceObserver {
 public:
  // Errors: E0801 unknown filter, E0802 no such input or frame, E0803 a measured force without noise, E0804 settings, E0805 numbers of forces that
  // cannot be solved.
  static Result<std::unique_ptr<ForceObserver>> create(const Model& model, const Params& params,
                                                       const ForceSettings& settings);

  [[nodiscard]] ForceSystem& system() { return *system_; }
  [[nodiscard]] Filter& filter() { return *filter_; }
  // Readings of the measured forces there; those that are none start at zero.
  [[nodiscard]] Status start(double t, View q, View v, View a, View forces);
  // Motion at t, readings of the measured forces stamped t; NaN: none. Does not allocate.
  const ForceReport& step(double t, View q, View v, View a, View forces) noexcept;
  [[nodiscard]] const ForceReport& report() const { return report_; }
  [[nodiscard]] View measured() const {
    return filter_->state().first(static_cast<size_t>(system_->measured()));
  }
  [[nodiscard]] View unknown() const {
    return filter_->state().subspan(static_cast<size_t>(system_->measured()),
                                    static_cast<size_t>(system_->unknown()));
  }
  // Standard deviations of the unknown forces.
  void unknown_sigma(MutableView sigma) noexcept;

 private:
  ForceObserver() = default;
  [[nodiscard]] Status set_motion(double t, View q, View v, View a) noexcept;
  ForceSettings settings_;
  std::unique_ptr<Model> model_;  // with the rows of forces as outputs
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<ForceSystem> system_;
  std::unique_ptr<Filter> filter_;
  Eigen::MatrixXd p0_, p_;
  std::vector<double> u_, u_rate_, q_, v_, a_, values_;  // q_, v_, a_: at the last step
  std::vector<int> used_;
  std::vector<ReadingWatch> watch_;
  ForceReport report_;
};

// Motion from kinematics, then forces. Inputs, sensors, forces of a step have one stamp.
class TwoStageObserver {
 public:
  TwoStageObserver(std::unique_ptr<KinematicObserver> kinematic,
                   std::unique_ptr<ForceObserver> force);
  [[nodiscard]] KinematicObserver& kinematic() { return *kinematic_; }
  [[nodiscard]] ForceObserver& force() { return *force_; }
  // The kinematic observer has been started.
  [[nodiscard]] Status start(View forces);
  // Does not allocate. The forces are left as they are where the stamp is bad.
  void step(double t, View u, View y, View forces) noexcept;
  [[nodiscard]] View q() const { return q_; }
  [[nodiscard]] View v() const { return v_; }
  [[nodiscard]] View a() const { return a_; }

 private:
  std::unique_ptr<KinematicObserver> kinematic_;
  std::unique_ptr<ForceObserver> force_;
  std::vector<double> q_, v_, a_;
};

}  // namespace panto
