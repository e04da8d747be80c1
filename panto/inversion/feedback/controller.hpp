// Feedback around an inverse model: the inverse gives inputs and the motion that belongs to them, a law corrects what the plant does instead
// (two degrees of freedom). A step neither allocates, throws nor locks.
#pragma once

#include <memory>
#include <string>

#include "panto/inversion/feedback/motion.hpp"
#include "panto/inversion/invert.hpp"

namespace panto {

// What shall be at an instant, as the inverse model has it, and what is seen of the plant there.
struct Wanted {
  double t = 0;
  View y, v, w, u, z;
};
struct Seen {
  View y, v, z;
};

// A desired motion: a column per instant.
struct DesiredMotion {
  std::vector<double> t;
  Eigen::MatrixXd y, v, w, u, z;
  [[nodiscard]] double dt() const { return t.size() > 1 ? t[1] - t[0] : 0; }
  [[nodiscard]] Wanted at(size_t k) const;
};
DesiredMotion desired_motion(const Inversion& inversion);
// The inverse model of any servo system, from rest at t = 0. Errors: those of InverseModel, E1024.
Result<DesiredMotion> desired_motion(ServoSystem& system, const Path& path,
                                     const InverseOptions& options, double until);

struct LqrSettings {
  Eigen::MatrixXd Q, R;  // of (δy, δv) in all coordinates, and of δu
  enum class Where : std::uint8_t { kEnd, kStart, kPath } at = Where::kEnd;
  int samples =
      20;  // kPath: linearised so often along the motion, gains between them by straight lines
};
struct SlidingSettings {
  Eigen::MatrixXd rate, position;  // Θ, Λ of σ = Θ (v - v_d) + Λ (y - y_d), a row per input (FB-5)
  Eigen::VectorXd reach, layer;  // κ, Φ
};
struct PidSettings {
  Eigen::MatrixXd p, i, d;  // inputs x outputs
  double filter = 0;        // time constant of the derivative; 0: two cycles
};
enum class Law : std::uint8_t { kNone, kLqr, kSliding, kPid };
const char* to_string(Law law);
struct FeedbackSettings {
  std::string name;
  Law law = Law::kNone;
  LqrSettings lqr;
  SlidingSettings sliding;
  PidSettings pid;
  Loc loc;
};

// Gains over time: (u rows, 2 nv columns) each.
struct GainSchedule {
  std::vector<double> t;  // increasing; one entry: constant
  std::vector<Eigen::MatrixXd> F;
  // Of A - B F at every entry; the frozen loop there.
  std::vector<std::vector<std::complex<double>>> poles;
  double residual = 0;  // largest, of the Riccati equations
};
// At every entry the minimum of (FB-3). E1051 no input moves a mode that does not decay, E1052 the weights do not see one, E1055 weights that do not fit, E1053, E1054.
Result<GainSchedule> lqr_gains(ServoSystem& system, const DesiredMotion& motion,
                               const LqrSettings& settings);

// Settings made ready for a system and a motion: to be shared by threads.
struct FeedbackDesign {
  FeedbackSettings settings;
  GainSchedule gains;
  double dt = 0;  // cycle
};
// Errors of lqr_gains(); E1055: sizes, gains that are not positive; E1056: the inputs do not move the sliding surface at the motion, with the time.
Result<FeedbackDesign> design_feedback(ServoSystem& system, const DesiredMotion& motion,
                                       const FeedbackSettings& settings, double dt);

struct ActuatorLimits {
  std::vector<double> lower, upper;  // empty: none
};

class Controller {
 public:
  // The design and, for the sliding mode, the system (not shared by threads) must outlive the controller.
  static std::unique_ptr<Controller> create(const FeedbackDesign& design, ServoSystem& system,
                                            ActuatorLimits limits = {});
  virtual ~Controller() = default;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  virtual void start() noexcept {}
  // The inputs of a cycle, inside the limits. Other than kOk: u is as the cycle before.
  [[nodiscard]] Status step(const Wanted& wanted, const Seen& seen, MutableView u) noexcept;
  // Whether the last cycle would have exceeded a limit of input i.
  [[nodiscard]] bool saturated(int i) const { return saturated_[static_cast<size_t>(i)] != 0; }
  // Whether the law is added to the inputs of the inverse model.
  [[nodiscard]] virtual bool adds_feedforward() const { return true; }

 protected:
  Controller(int inputs, ActuatorLimits limits);
  [[nodiscard]] virtual Status law(const Wanted& wanted, const Seen& seen,
                                   MutableView u) noexcept = 0;
  // What the actuators take of what law() asked for.
  virtual void taken(View asked, View given) noexcept { (void)asked, (void)given; }

 private:
  ActuatorLimits limits_;
  std::vector<double> asked_;
  std::vector<char> saturated_;
};

}  // namespace panto
