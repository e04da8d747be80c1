// One step of the inverse model: its equations at the stages of an implicit rule, solved together by Newton's method. Positions of the stages are the
// unknowns; speeds and accelerations follow from them by the rule (SRV-10), so that nothing is solved for twice. Does not allocate.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "panto/inversion/path.hpp"
#include "panto/inversion/servo_system.hpp"

namespace panto {

// How the rows on positions enter (docs/theory/inversion.md): the index of the equations that are solved.
enum class Formulation : std::uint8_t {
  kOriginal,    // as stated                                                               (SRV-3)
  kProjection,  // rows and their second derivatives, motion along the rows left out        (SRV-4)
  kSubstitution,  // outputs that are coordinates are put in                                  (SRV-5)
  kMinimalExtension,  // rows and their derivatives, with dummy speeds and accelerations          (SRV-6)
  kBaumgarte,  // second derivatives with a stable remainder                               (SRV-7)
};
enum class JacobianKind : std::uint8_t { kAnalytic, kFiniteDifference, kBroyden };

struct NewtonOptions {
  JacobianKind jacobian = JacobianKind::kAnalytic;
  int restart = 10;  // Broyden: finite differences afresh every so many steps; 0: only at the first
  int iterations = 10;       // at most; 1: linear implicit, nothing is checked then
  double tolerance = 1e-12;  // of every row as scaled, on top of its round-off
  int scaling = 2;  // rows on positions count Δt^-scaling, those on speeds Δt^(1-scaling)
  double baumgarte =
      0;  // natural frequency [rad/s] of the remainder, critically damped; 0: 1/(10 Δt)
};

// V = D Y + P, W = D V + S at the stages t + c_i Δt, where P and S come from what is known before the step.
struct StageRule {
  Eigen::VectorXd nodes;  // c
  Eigen::MatrixXd D;      // with 1/Δt
};

struct NewtonReport {
  int iterations = 0;
  double first_residual = 0, residual = 0;  // largest row of the guess, and left, as scaled
  long values = 0, tangents = 0, factorisations = 0;  // since the beginning
};

class StageSolver {
 public:
  // The system must outlive the solver.
  StageSolver(ServoSystem& system, Formulation formulation, const NewtonOptions& options,
              StageRule rule, double dt);

  [[nodiscard]] const StageRule& rule() const { return rule_; }
  [[nodiscard]] int stages() const { return static_cast<int>(rule_.nodes.size()); }
  // A state is y, v, w, λ, u one after the other.
  [[nodiscard]] int state_size() const { return 3 * nv_ + nl_ + nu_; }
  [[nodiscard]] int unknowns() const { return local_; }

  // States of the stages of the step that begins at t; on entry a guess. P, S: nv x stages. kNotConverged: the last iterate stands.
  [[nodiscard]] Status solve(double t, const Path& path, const Eigen::MatrixXd& p,
                             const Eigen::MatrixXd& s, Eigen::MatrixXd& states) noexcept;
  [[nodiscard]] const NewtonReport& report() const { return report_; }
  // The matrix of the last iteration with an analytic or finite-difference Jacobian.
  [[nodiscard]] const Eigen::MatrixXd& newton_matrix() const { return kept_matrix_; }

 private:
  struct Row {
    int row = 0, level = 0;  // level 3: Baumgarte's combination
    double scale = 1;
  };
  void layout();
  void choose_dummies() noexcept;
  void pack(const Eigen::MatrixXd& states) noexcept;
  void unpack() noexcept;  // x_ -> states_ by the rule
  void evaluate(bool with_tangent) noexcept;
  void evaluate_stage(int stage, bool with_tangent) noexcept;
  void assemble_stage(int stage) noexcept;
  void project() noexcept;
  void floor_of(const Eigen::MatrixXd& matrix) noexcept;
  [[nodiscard]] bool jacobian() noexcept;
  [[nodiscard]] bool converged() const noexcept;
  [[nodiscard]] bool stands_still() const noexcept;
  [[nodiscard]] bool solve_linear() noexcept;

  ServoSystem& system_;
  Formulation formulation_;
  NewtonOptions options_;
  StageRule rule_;
  double dt_;
  int nv_, nl_, nu_, local_ = 0, lifted_ = 0;
  Eigen::MatrixXd D2_;
  std::vector<Row> rows_;           // algebraic rows of a stage, after the nv equations of motion
  std::vector<int> lifted_rows_;    // rows that are also demanded as accelerations
  std::vector<int> kept_, column_;  // coordinates that are unknowns; column of a coordinate or -1
  std::vector<int> dummy_v_,
      dummy_w_;  // minimal extension: coordinates with speeds, accelerations of their own
  int first_v_ = 0, first_w_ = 0, first_a_ = -1, first_mu_ = 0;
  double alpha_ = 0, beta_ = 0;

  const Path* path_ = nullptr;
  double t_ = 0;
  int steps_ = 0;
  Eigen::MatrixXd p_, s_, states_, w_rule_;  // w_rule_: v̇ by the rule, where it is not w
  Eigen::VectorXd x_, f_, floor_, dx_, perturbed_;
  Eigen::MatrixXd matrix_, kept_matrix_, inverse_;
  ServoValues values_;
  Eigen::MatrixXd jy_, jv_, jw_, jr_, jmu_;  // of a stage's rows; jr_: by v̇ of the rule
  std::vector<Eigen::MatrixXd> basis_mass_;  // projection: Pᵀ M by stage
  Eigen::MatrixXd pivots_;
  std::vector<int> pivot_column_;
  std::vector<char> taken_;
  Eigen::VectorXd target_, hf_, th_;
  NewtonReport report_;
  bool have_inverse_ = false;
};

}  // namespace panto
