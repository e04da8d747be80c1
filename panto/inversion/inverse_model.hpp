// The inverse model in real time: called once per cycle it delivers the inputs that make the outputs follow their path, and the motion of the whole
// mechanism that belongs to it. Fixed step, bounded iterations, nothing allocated after start.
#pragma once

#include <array>
#include <memory>

#include "panto/inversion/stage_solver.hpp"

namespace panto {

enum class InverseScheme : std::uint8_t { kBdf, kRadau5 };
enum class StartUp : std::uint8_t {
  kCollocation,  // one block by a polynomial through the first steps: of the order of the method
  kRest,  // as if everything had been at rest before: first order where a derivative of the path jumps
};

struct InverseOptions {
  double dt = 0.01;
  InverseScheme scheme = InverseScheme::kBdf;
  int order = 4;  // of BDF, 1 … 6; 1: implicit Euler
  Formulation formulation = Formulation::kProjection;
  StartUp start_up = StartUp::kCollocation;
  // Iterate from an extrapolation; false: go on with speeds, forces and inputs of the step before.
  bool predict = true;
  NewtonOptions newton;
};

// Coefficients α_0 … α_k of ẋ_n ≈ Σ α_i x_(n-i) / Δt (SRV-11).
std::vector<double> bdf_coefficients(int order);
// A⁻¹ / Δt and nodes of Radau IIA of order 5 (SRV-12).
StageRule radau5_rule(double dt);

// At rest with the outputs where the path is at time t: y, λ, u.
struct Rest {
  Eigen::VectorXd y, lambda, u;
  double residual = 0;
  int iterations = 0;
};
// E1021: there is none near the guess, or the outputs are out of reach; the row that is left is named.
Result<Rest> rest_at(ServoSystem& system, const Path& path, double t, View guess = {});

class InverseModel {
 public:
  // E1002: the path has another number of components than there are outputs. E1007: options that cannot be. The system must outlive the model.
  static Result<std::unique_ptr<InverseModel>> create(ServoSystem& system, Path path,
                                                      const InverseOptions& options);

  // From rest at the beginning of the path, or at t where the path still holds still. E1021, E1022.
  Diagnostics start(double t);
  // From a motion that obeys the rows on positions and speeds: E1022 where it does not. λ and u of that instant are the solver's first guess only.
  Diagnostics start(double t, View y, View v, View lambda, View u);
  // One cycle: from t() to t() + dt. kNotConverged: the iterations ran out, the last iterate stands; fatal: nothing has changed.
  [[nodiscard]] Status step() noexcept;

  [[nodiscard]] double t() const { return t_; }
  [[nodiscard]] View y() const { return part(0, nv_); }
  [[nodiscard]] View v() const { return part(nv_, nv_); }
  [[nodiscard]] View w() const { return part(2 * nv_, nv_); }
  [[nodiscard]] View lambda() const { return part(3 * nv_, nl_); }
  [[nodiscard]] View u() const { return part(3 * nv_ + nl_, nu_); }
  [[nodiscard]] const NewtonReport& report() const { return solver_->report(); }
  [[nodiscard]] const ServoSystem& system() const { return system_; }
  [[nodiscard]] const Path& path() const { return path_; }
  [[nodiscard]] const InverseOptions& options() const { return options_; }
  [[nodiscard]] const StageSolver& solver() const { return *solver_; }

 private:
  InverseModel(ServoSystem& system, Path path, const InverseOptions& options);
  [[nodiscard]] View part(int first, int n) const {
    return {state_.data() + first, static_cast<size_t>(n)};
  }
  Diagnostics start_up();
  void push() noexcept;  // state_ becomes the newest of the history

  ServoSystem& system_;
  Path path_;
  InverseOptions options_;
  int nv_, nl_, nu_;
  std::unique_ptr<StageSolver> solver_;
  std::vector<double> alpha_;  // BDF
  std::array<Eigen::MatrixXd, 2>
      extrapolation_;  // Radau: to the stages from those of one or two steps before
  double t_ = 0, t0_ = 0;
  long steps_ = 0;
  Eigen::VectorXd state_;
  Eigen::MatrixXd history_;  // columns: states, newest first
  int known_ = 0;            // columns that are usable
  Eigen::MatrixXd p_, s_, stages_;
  std::array<Eigen::MatrixXd, 2> previous_;  // stages of the last steps, newest first
  int have_stages_ = 0;
  Eigen::MatrixXd first_;         // states of the first steps, found by start()
  Eigen::MatrixXd start_speeds_;  // after them: speeds of the history, newest first
  int replayed_ = 0;
};

}  // namespace panto
