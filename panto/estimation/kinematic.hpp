// A mechanism observed by kinematics alone (OBS-14): sensors of rates or accelerations drive its motion, sensors of positions and speeds correct it.
// Geometry is all that is read of the model; masses and forces are not.
//   state array: q | v | level, stamp, zone | s | b      w: δz | δż (second order) | δs (if estimated) | δb
// s: the derivative of z that the inputs give, ż or z̈, as a state of its own.
#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "panto/estimation/mechanism.hpp"
#include "panto/estimation/system.hpp"
#include "panto/mechanics/reduced_tangent.hpp"

namespace panto {

// How the derivative s that the inputs give becomes a state that readings correct (OBS-16).
enum class TopState : std::uint8_t {
  kNone,             // it is none
  kRandomWalk,       // from the inputs, with noise
  kNewmarkSpeed,     // from the change of the derivative below it, γ
  kNewmarkPosition,  // from the change of the coordinates, β; second order, not with kEuler
  kCombined,         // kNewmarkSpeed with the inputs in place of the last value
};

// Motion where the inputs do not determine it (OBS-17).
enum class Fallback : std::uint8_t {
  kConstant,    // the highest derivative in the state stays
  kRandomWalk,  // all of it stays
};

enum class InputHold : std::uint8_t {
  kBegin,   // readings at the start of a step count for all of it, and s is that of the start
  kLinear,  // between those at its start and its end, and s is that of the end
};

enum class KinematicJacobian : std::uint8_t {
  kExact,    // derivative of the scheme by dual numbers (OBS-15)
  kNumeric,  // central differences of the step
};

struct InputSensor {
  int output = -1;    // of the model: a rate (first order) or an acceleration (second order)
  double sigma = 0;   // standard deviation of a reading
  double period = 0;  // a reading holds for so long [s]; 0: every step has its own
  // Bias estimated as a random walk: its standard deviation at the start; 0: none.
  double bias_sigma = 0, bias_walk = 0;  // walk: per √s
};

// Variances that are added per second to z, ż and s; one number or one per independent coordinate. Of second order without s as state, and of first
// order, the last ones are not used.
struct KinematicNoise {
  std::vector<double> position{0.0}, speed{0.0}, top{0.0};
};

struct KinematicOptions {
  int order = 2;
  Scheme scheme = Scheme::kEuler;  // not kIndex3
  TopState top = TopState::kNone;
  double gamma = 1, beta = 0.5;
  InputHold hold = InputHold::kBegin;
  KinematicJacobian jacobian = KinematicJacobian::kExact;
  // The inputs determine the motion as long as 1/|S⁺| is above `enter`; then it has to rise above `leave`, and to stay there in the next step.
  double enter = 0, leave = 0;
  Fallback fallback = Fallback::kConstant;
  KinematicNoise noise;           // beside that of the inputs
  KinematicNoise fallback_noise;  // where they do not count
};

class KinematicSystem final : public ModelSystem {
 public:
  // The workspace must outlive this object and have its partition chosen. The model has constraints of position level alone; outputs of inputs and
  // sensors are channels: of `order` for inputs, of what the state holds for sensors.
  KinematicSystem(Workspace& workspace, std::vector<InputSensor> inputs,
                  std::vector<UsedSensor> sensors, const KinematicOptions& options);

  [[nodiscard]] int storage() const override { return storage_; }
  [[nodiscard]] int size() const override { return n_; }
  [[nodiscard]] int sensors() const override { return static_cast<int>(sensors_.size()); }
  [[nodiscard]] int inputs() const { return m_; }
  [[nodiscard]] int coordinates() const { return nz_; }
  [[nodiscard]] const KinematicOptions& options() const { return options_; }
  [[nodiscard]] Workspace& workspace() const { return workspace_; }
  [[nodiscard]] std::vector<std::string> names() const override;

  // Readings of the inputs at the start and the end of the next steps; NaN: none, its row is left out. A caller that holds readings gives the same twice.
  void set_inputs(View begin, View end) noexcept;

  void pack(View q, View v, MutableView x) const noexcept override;
  [[nodiscard]] View q(View x) const override { return x.first(at(nq_)); }
  [[nodiscard]] View v(View x) const override { return x.subspan(at(nq_), at(nv_)); }
  // s of the independent coordinates; empty where it is no state.
  [[nodiscard]] View top(View x) const { return x.subspan(at(at_top_), at(nt_)); }
  void set_top(View s, MutableView x) const noexcept {
    std::copy_n(s.begin(), nt_, x.begin() + at_top_);
  }
  // Of inputs, then of sensors.
  [[nodiscard]] View biases(View x) const { return x.subspan(at(at_bias_), at(nbu_ + nby_)); }
  // The last step to x was taken without the inputs.
  [[nodiscard]] bool in_zone(View x) const { return x[at(at_level_ + 2)] != 0; }
  // What the inputs at the end of the step say at x: s (nz), and 1/|S⁺| in margin. kSingular: they do not determine it.
  [[nodiscard]] Status from_inputs(double t, MutableView x, MutableView s, double& margin) noexcept;
  // All accelerations (nv) at x: from s, or, where it is no state, from the inputs.
  [[nodiscard]] Status accelerations(double t, MutableView x, MutableView a) noexcept;
  // P0 from standard deviations of z, ż and s (one number or one each); biases from their sensors.
  void initial_covariance(View coordinates, View speeds, View top, Eigen::MatrixXd& p) const;

  [[nodiscard]] Status outputs(double t, MutableView x, std::span<const int> outputs,
                               MutableView y) noexcept override;
  [[nodiscard]] Status outputs_jacobian(double t, MutableView x, std::span<const int> outputs,
                                        Eigen::MatrixXd& h) noexcept override;
  void move(View x, View w, MutableView out) noexcept override;
  void difference(View a, View b, MutableView w) noexcept override;
  [[nodiscard]] Status settle(double t, MutableView x) noexcept override;
  [[nodiscard]] Status step(double t, double dt, MutableView x, MutableView out) noexcept override;
  void reserve_points(int count) override;
  [[nodiscard]] Status step_point(int i, double t, double dt, MutableView x,
                                  MutableView out) noexcept override;
  [[nodiscard]] Status transition(double t, double dt, MutableView x, MutableView out,
                                  Eigen::MatrixXd& f) noexcept override;
  void process_noise(double t, double dt, View x, Eigen::MatrixXd& q) noexcept override;
  [[nodiscard]] Status sense(double t, MutableView x, std::span<const int> sensors,
                             MutableView y) noexcept override;
  [[nodiscard]] Status sense_jacobian(double t, MutableView x, std::span<const int> sensors,
                                      Eigen::MatrixXd& h) noexcept override;
  [[nodiscard]] double variance(int sensor) const noexcept override;
  [[nodiscard]] double innovation(int sensor, double reading,
                                  double expected) const noexcept override;
  [[nodiscard]] bool worn() const noexcept override { return worn_; }
  [[nodiscard]] Status reframe(double t, MutableView x, Eigen::MatrixXd& change) noexcept override;
  [[nodiscard]] Status whole(double t, MutableView x, Eigen::MatrixXd& b) noexcept override;
  void adopt(const Eigen::MatrixXd& b, MutableView x, Eigen::MatrixXd& change) noexcept override;
  [[nodiscard]] int memory() const override { return 2 + nz_ + static_cast<int>(defect_.size()); }
  void forget() noexcept override;
  void remember(MutableView out) const noexcept override;
  bool recall(double t, View memory, MutableView x, Eigen::MatrixXd& change) noexcept override;
  void unsettle(MutableView x) const noexcept override {
    x[at(at_level_)] = 0;
    workspace_.forget_pose();
  }

 private:
  static size_t at(int i) { return static_cast<size_t>(i); }
  [[nodiscard]] bool settled(View x) const { return x[at(at_level_)] != 0; }
  [[nodiscard]] bool present(View x) const { return settled(x) && x[at(at_level_ + 1)] == stamp_; }
  [[nodiscard]] size_t speed_at(int i) const {
    return at(nq_ + workspace_.independent_speeds()[at(i)]);
  }
  // First order without s as state: the speeds of a state are what the present inputs say.
  [[nodiscard]] bool speeds_by_inputs() const { return options_.order == 1 && nt_ == 0; }
  // Loops and speeds closed, and the workspace at x.
  [[nodiscard]] Status close(double t, MutableView x) noexcept;
  // s and its residuals at x from readings u; after close(). False: not determined, and margin_ is zero.
  [[nodiscard]] bool solve(View x, View u) noexcept;
  void find_basis() noexcept;
  [[nodiscard]] bool solve_pose(View u) noexcept;
  void solve_normal(double* b) const noexcept;
  // close() and solve(); kSingular where the zone begins.
  [[nodiscard]] Status stage(double t, MutableView x, View u) noexcept;
  // (all speeds, s) at x, after solve().
  void store(View x, std::vector<double>& k) const noexcept;
  void advance(View x, double h, const std::vector<double>& k, MutableView out) noexcept;
  [[nodiscard]] bool in_zone_from(double t, double dt, View x) noexcept;
  // Readings at a share of the step.
  [[nodiscard]] View inputs_at(double share) noexcept;
  [[nodiscard]] Status scheme(double t, double dt, MutableView x, MutableView out) noexcept;
  void fall_back(double dt, View x, MutableView out) noexcept;
  [[nodiscard]] Status predict_top(double t, double dt, View x, MutableView out) noexcept;
  [[nodiscard]] Point point(double t, View x) noexcept;
  [[nodiscard]] int entry_of(int output) const noexcept;
  [[nodiscard]] int place_of(int output) const noexcept;
  void find_plain() noexcept;
  // a_ with its independent entries s, after close().
  void fill_accelerations(View x, View s) noexcept;
  // A = ∂(ż, s)/∂(z, ż, input biases), after solve() at x.
  [[nodiscard]] Status derivative(double t, View x, Eigen::MatrixXd& a) noexcept;
  // First rows: outputs by (z, ż) with the highest derivative of z fixed at s.
  void rows_at(double t, View x, View s, std::span<const int> outputs,
               Eigen::MatrixXd& rows) noexcept;
  // da_ = ∂a/∂(z, ż) with the independent entries fixed, after motion_.velocities() at p.
  void acceleration_rows(const Point& p) noexcept;
  [[nodiscard]] Status numeric_transition(double t, double dt, View x, View out,
                                          Eigen::MatrixXd& f) noexcept;
  [[nodiscard]] Status exact_transition(double t, double dt, MutableView x, MutableView out,
                                        Eigen::MatrixXd& f) noexcept;
  void add_noise(const KinematicNoise& noise, double dt, Eigen::MatrixXd& q) const noexcept;
  // How everything follows w at x: motion_, da_, basis_, a_; then rows of w for other independent speeds.
  [[nodiscard]] Status prepare_frame(double t, MutableView x) noexcept;
  void frame_rows(std::span<const int> dofs, Eigen::MatrixXd& rows) const noexcept;

  Workspace& workspace_;
  std::vector<InputSensor> inputs_;
  std::vector<UsedSensor> sensors_;
  KinematicOptions options_;
  std::vector<int> input_bias_, sensor_bias_;  // -> bias state, -1: none
  std::vector<int> plain_;  // sensor -> place in a state that it reads as it is, -1: none
  std::vector<Slot> sensor_offset_;
  int nq_, nv_, nz_, m_;
  int base_ = 0, nt_ = 0, nbu_ = 0, nby_ = 0, n_ = 0, storage_ = 0;
  int at_level_ = 0, at_top_ = 0, at_bias_ = 0;
  ReducedTangent motion_;
  bool worn_ = false;
  bool near_ = false;  // the workspace has been closed since the start
  // basis_ is R at pose_q_, closed last; weight_, S and what follows from it are those there.
  bool basis_known_ = false, pose_known_ = false;
  double pose_margin_ = 0;
  std::vector<double> pose_q_;
  double best_conditioning_ = 0, stamp_ = 0, margin_ = 0;
  enum class Zone : std::uint8_t { kDecide, kOutside, kInside } forced_ = Zone::kDecide;

  std::vector<double> begin_, end_, between_;  // inputs
  std::vector<double> s_, first_s_, a_, rest_, step_, row_;
  std::vector<double> basis_, input_rows_, normal_, weight_,
      residual_;                // R by columns; lower factor of SᵀWS by rows
  std::vector<double> defect_;  // of points: closed coordinates minus their start in the last step
  std::vector<double> stage_, k1_, k2_, k3_, k4_, plus_, minus_, w_, w_minus_;
  std::vector<double> noise_q_;  // coordinates that noise_pinv_ belongs to
  bool noise_known_ = false, noise_zone_ = false;
  Eigen::MatrixXd s_matrix_, pinv_, noise_pinv_, noise_map_;
  Eigen::MatrixXd first_, last_, left_, product_, total_, rows_, more_rows_, da_, none_, by_top_,
      frame_;
  DirectionalTangent along_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_, frame_lu_, top_lu_;
  std::vector<int> outputs_, input_outputs_, dofs_;
};

}  // namespace panto
