// A mechanism as a filter sees it (OBS-1, OBS-2, OBS-3): the state is the independent coordinates and speeds of the model, if wanted also generalised forces
// at them and the biases of sensors; sensors are outputs of the model.
//   state array: q | v | a | level, stamp, reference | f | b      w: δz | δż | δ of the added states
#pragma once

#include <Eigen/LU>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "panto/estimation/system.hpp"
#include "panto/mechanics/reduced_tangent.hpp"
#include "panto/mechanics/references.hpp"

namespace panto {

enum class Scheme : std::uint8_t {
  kEuler,        // z + h ż, ż + h z̈
  kTrapezoidal,  // in independent coordinates
  kRungeKutta4,
  kIndex3,  // trapezoidal rule in all coordinates with multipliers, then speeds and accelerations projected by the mass (OBS-9)
};

enum class TransitionJacobian : std::uint8_t {
  kConstant,     // [I hI; 0 I]
  kFirstOrder,   // I + h ∂ẋ/∂x
  kSecondOrder,  // as kFirstOrder, with h²/2 ∂z̈ in the rows of z
  kExact,        // derivative of the scheme itself
};

// Which terms of ∂R/∂z count in the rows of sensors and in inertial_derivative().
enum class RateTerms : std::uint8_t {
  kAll,
  kDiagonal  // ∂R_i/∂z_i alone, as one published program has it
};

enum class NoiseForm : std::uint8_t {
  kVanLoan,   // s [h³/3 h²/2; h²/2 h]
  kDiagonal,  // s diag(h³/3, h²/2), as printed in one paper; ruins consistency
};

struct UsedSensor {
  int output = -1;      // of the model
  double sigma = 0;     // standard deviation of a reading
  bool circle = false;  // an angle that is read modulo a turn
  // Bias estimated as a random walk: its standard deviation at the start; 0: none.
  double bias_sigma = 0, bias_walk = 0;  // walk: per √s
};

struct InputNoise {
  int input = -1;      // of the model; must be a force or a torque
  double density = 0;  // spectral density of the input, unit² s
};

struct MechanismOptions {
  Scheme scheme = Scheme::kEuler;
  TransitionJacobian jacobian = TransitionJacobian::kConstant;
  RateTerms rate_terms = RateTerms::kAll;
  NoiseForm noise_form = NoiseForm::kVanLoan;
  // Spectral density of white acceleration noise, per independent speed ((rad/s²)² s or (m/s²)² s); one number: for all.
  std::vector<double> acceleration_noise{0.0};
  std::vector<InputNoise> input_noise;
  // Generalised forces at the independent speeds as random walks; their noise is a variance of δz̈ per second.
  bool forces = false;
  std::vector<double> force_walk{0.0};
  // Of a reduced mechanism: its modes are changed for those of another reference where theirs fit worse than this (RER-11); 0: never.
  double reduction_limit = 0.02;
  double fixed_point_tolerance =
      1e-13;  // of the trapezoidal iteration; unscented points differ by little, and their weights are large
};

class Index3Plant;

class Mechanism final : public MotionSystem {
 public:
  // The workspace must outlive this object, be of the observer's parameters, and have its partition chosen.
  Mechanism(Workspace& workspace, std::vector<UsedSensor> sensors, const MechanismOptions& options);
  ~Mechanism() override;

  [[nodiscard]] int storage() const override { return storage_; }
  [[nodiscard]] int size() const override { return n_; }
  [[nodiscard]] int sensors() const override { return static_cast<int>(sensors_.size()); }
  // g: independent coordinates; w starts with g changes of coordinates and nz of speeds.
  [[nodiscard]] int coordinates() const { return np_; }
  [[nodiscard]] int speeds() const { return nz_; }
  [[nodiscard]] Workspace& workspace() const { return workspace_; }
  [[nodiscard]] const UsedSensor& sensor(int i) const { return sensors_[static_cast<size_t>(i)]; }
  [[nodiscard]] std::vector<std::string> names() const override;

  void pack(View q, View v, MutableView x) const noexcept override;
  [[nodiscard]] View q(View x) const override { return x.first(static_cast<size_t>(nq_)); }
  [[nodiscard]] View v(View x) const override {
    return x.subspan(static_cast<size_t>(nq_), static_cast<size_t>(nv_));
  }
  [[nodiscard]] View a(View x) const {
    return x.subspan(static_cast<size_t>(nq_ + nv_), static_cast<size_t>(nv_));
  }
  [[nodiscard]] int motion() const override { return np_ + nz_; }
  [[nodiscard]] View forces(View x) const override {
    return x.subspan(static_cast<size_t>(at_force_), static_cast<size_t>(nf_));
  }
  // Bias state of a sensor, -1: none.
  [[nodiscard]] int bias_of(int sensor) const { return bias_of_[static_cast<size_t>(sensor)]; }
  [[nodiscard]] View biases(View x) const override {
    return x.subspan(static_cast<size_t>(at_bias_), static_cast<size_t>(nb_));
  }
  [[nodiscard]] Status outputs(double t, MutableView x, std::span<const int> outputs,
                               MutableView y) noexcept override;
  [[nodiscard]] Status outputs_jacobian(double t, MutableView x, std::span<const int> outputs,
                                        Eigen::MatrixXd& h) noexcept override;
  // ∂(δq, δv)/∂w at x, then a row per added state (2 nv + their number, size()).
  [[nodiscard]] Status whole(double t, MutableView x, Eigen::MatrixXd& b) noexcept override;
  void adopt(const Eigen::MatrixXd& b, MutableView x, Eigen::MatrixXd& change) noexcept override;
  // Inputs at t.
  [[nodiscard]] View inputs(double t) noexcept {
    inputs_at(t);
    return u_;
  }
  // A = ∂(ż, z̈)/∂(z, ż) at x.
  [[nodiscard]] Status derivative(double t, MutableView x, Eigen::MatrixXd& a) noexcept;
  // The same from the inertia terms alone: -M̄⁻¹ 2Γ(z̈) and -M̄⁻¹ Γ(ż), Γ the connection of the reduced mass (OBS-6); stiffness, damping and the
  // change of direction of gravity are left out. Γ(z̈) at the given independent accelerations.
  [[nodiscard]] Status inertial_derivative(double t, MutableView x, View accelerations,
                                           Eigen::MatrixXd& a) noexcept;
  // x settled with its accelerations.
  [[nodiscard]] Status accelerations(double t, MutableView x) noexcept { return accelerate(t, x); }
  // (ż, z̈) of a state settled with its accelerations.
  void rates(View x, MutableView rate) const noexcept;
  // References of a reduced mechanism (RER-8). A step changes between those that are there, states and covariances with it, without allocating; where
  // none fits, it goes on with the one in use and says so by wants_reference(): between steps, add_reference() makes one with the links at q, and the
  // next step changes to it. False: there are no modes.
  [[nodiscard]] bool wants_reference() const noexcept { return wants_reference_; }
  bool add_reference(View q);
  // The model's own, which coordinates from outside are in.
  void first_reference() noexcept;
  // P0 (size x size) from standard deviations of coordinates, speeds and forces (one number or one each); biases from their sensors.
  void initial_covariance(View coordinates, View speeds, View forces, Eigen::MatrixXd& p) const;
  // Inputs from outside instead of the model's signals, held until the next call; NaN, and all where empty: the model's. For states that are not
  // settled yet.
  void set_inputs(View u) noexcept;
  [[nodiscard]] Status state_jacobian(double t, MutableView x, Eigen::MatrixXd& dq,
                                      Eigen::MatrixXd& dv) noexcept override;

  void move(View x, View w, MutableView out) noexcept override;
  void difference(View a, View b, MutableView w) noexcept override;
  [[nodiscard]] Status settle(double t, MutableView x) noexcept override;
  [[nodiscard]] Status step(double t, double dt, MutableView x, MutableView out) noexcept override {
    return step_point(0, t, dt, x, out);
  }
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
  [[nodiscard]] bool worn() const noexcept override { return worn_ || next_reference_ >= 0; }
  [[nodiscard]] Status reframe(double t, MutableView x, Eigen::MatrixXd& change) noexcept override;
  [[nodiscard]] int memory() const override {
    return static_cast<int>(trend_.size() + defect_.size() + watched_.size()) + 3 + np_ + nz_;
  }
  void forget() noexcept override;
  void remember(MutableView out) const noexcept override;
  bool recall(double t, View memory, MutableView x, Eigen::MatrixXd& change) noexcept override;
  void unsettle(MutableView x) const noexcept override {
    set_done(x, Done::kNothing);
    workspace_.forget_pose();
  }

 private:
  // How far the dependent part of a state agrees with the free entries.
  enum class Done : std::uint8_t { kNothing, kVelocities, kAccelerations };
  [[nodiscard]] Done done(View x) const {
    return static_cast<Done>(static_cast<int>(x[static_cast<size_t>(at_level_)]));
  }
  void set_done(MutableView x, Done d) const;
  [[nodiscard]] int reference(View x) const {
    return static_cast<int>(x[static_cast<size_t>(at_level_ + 2)]);
  }
  // Whether the modes still fit the links of x.
  void watch(View x) noexcept;
  // The workspace holds the factors and kinematics of this state.
  [[nodiscard]] bool present(View x) const;
  [[nodiscard]] Status close(double t, MutableView x) noexcept;       // to kVelocities
  [[nodiscard]] Status accelerate(double t, MutableView x) noexcept;  // to kAccelerations
  [[nodiscard]] Status trapezoidal(int point, double t, double dt, MutableView x,
                                   MutableView out) noexcept;
  [[nodiscard]] Status trapezoidal_newton(int point, double t, double dt, MutableView x,
                                          MutableView out) noexcept;
  void place(double dt, View x, MutableView out) noexcept;
  // Distance of a point from point 0 [of coordinates, after dt].
  [[nodiscard]] double distance(double dt, View x) const noexcept;
  void guess(int point, View x) noexcept;
  void keep_guesses(int point, double dt, View x, View out) noexcept;
  void forget_guesses() noexcept;
  [[nodiscard]] Status runge_kutta(double t, double dt, MutableView x, MutableView out) noexcept;
  // out = x moved by h (ż, z̈) given for all speeds.
  void advance(View x, double h, View speed, View acceleration, MutableView out) noexcept;
  void bend(double dt, View x, MutableView out) noexcept;
  // Entry of w that an output is, -1: it is none.
  [[nodiscard]] int free_entry(int output) const noexcept;
  [[nodiscard]] Point point(double t, View x) noexcept;
  [[nodiscard]] Status diagonal_rates(double t, MutableView x, std::span<const int> outputs,
                                      Eigen::MatrixXd& h) noexcept;
  void inputs_at(double t) noexcept;
  // Rᵀ (M c + k) for independent speeds w at the pose of reduced_mass(): quadratic in w.
  void convective(const Eigen::VectorXd& w, Eigen::VectorXd& out) noexcept;
  void change_amplitudes() noexcept;
  // Forces and their rows of the change of coordinates: their work stays.
  void carry_forces(MutableView x, Eigen::MatrixXd& change) noexcept;
  // RᵀMR at x, factorised.
  [[nodiscard]] Status reduced_mass(View x) noexcept;

  Workspace& workspace_;
  std::vector<UsedSensor> sensors_;
  std::vector<int> bias_of_;  // sensor -> bias state, -1: none
  MechanismOptions options_;
  int nq_, nv_, np_, nz_, nf_, nb_ = 0, n_ = 0, storage_ = 0, at_level_ = 0, at_force_ = 0,
                               at_bias_ = 0;
  ReducedTangent motion_;
  bool worn_ = false, outside_inputs_ = false;
  References* references_ = nullptr;
  int next_reference_ = -1;  // to change to at the end of the step
  bool wants_reference_ = false;
  std::vector<double> watched_;  // joints when the modes were last looked at
  bool near_ = false;            // the workspace has been closed since the start
  double best_conditioning_ = 0;
  double stamp_ = 0;  // of the state that the workspace was last closed at
  // Of the last trapezoidal step, first guesses of the next: change of acceleration, coordinates beside what the rule gives the dependent ones (of
  // point 0, then of the others minus those of point 0); how much an iteration shrinks the error. first_: state of point 0.
  std::vector<double> trend_, defect_, first_, bend_;
  double contraction_ = 1;
  std::vector<double> step_, u_, u_rate_, outside_u_, lambda_, force_, speed_, acceleration_;
  std::vector<double> k1_, k2_, k3_, k4_, stage_, old_q_, old_v_;
  std::vector<int> outputs_, old_positions_, old_speeds_;
  Eigen::MatrixXd a0_, a1_, left_, product_, mass_, basis_, mass_basis_, reduced_, noise_, h_,
      h_force_;
  Eigen::MatrixXd gamma_;
  Eigen::MatrixXd all_, map_,
      mapped_;  // ∂(δq, δv)/∂w; of amplitudes and their rates by (δq, δv), and by w
  Eigen::VectorXd residual_, correction_, added_, gamma_w_;
  Eigen::LLT<Eigen::MatrixXd> llt_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_, force_lu_;
  std::unique_ptr<Index3Plant> index3_;
};

}  // namespace panto
