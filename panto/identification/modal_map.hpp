// Natural frequencies, damping ratios and shapes of a mechanism in one pose as functions of chosen parameters: what pose selection and
// identification are made of.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "panto/linear/operating_point.hpp"

namespace panto {

// Modes in ascending frequency, as modes() has them (MOD-1).
struct ModalValues {
  Eigen::VectorXd
      hz;  // an unstable mode counts as -growth/(2π), so that frequencies stay continuous
  Eigen::VectorXd damping;  // φᵀ D φ / (2 ω), 0 for rigid modes
  Eigen::MatrixXd shapes;   // outputs x modes: what each output reads per unit of the mode
};
// modes x parameters. Exact for affine maps (IDN-1, IDN-2); where frequencies coincide, one of the possible ones.
struct ModalSlopes {
  Eigen::MatrixXd hz, damping;
};

class ModalMap {
 public:
  // Pose: q, which loops close around. Operation kHere keeps it for every θ, kEquilibrium searches the equilibrium of each θ from it.
  // The matrices of the minimal form (LIN-2) are made at the nominal θ, at one point more per parameter and at a last one: where they turn out
  // affine in θ (stiffnesses, dampings, masses, inertias in a fixed pose), their sums are kept and an evaluation is one small eigenproblem.
  // Otherwise (lengths; poses that move with θ) every evaluation linearises the mechanism.
  static Result<ModalMap> create(const Model& model, const Params& nominal, View q,
                                 std::vector<int> parameters, Operation operation);
  ModalMap(ModalMap&&) noexcept;
  ModalMap& operator=(ModalMap&&) noexcept;
  ~ModalMap();
  // For another thread.
  [[nodiscard]] ModalMap clone() const;

  [[nodiscard]] int modes() const { return modes_; }
  [[nodiscard]] int parameters() const { return static_cast<int>(parameters_.size()); }
  [[nodiscard]] bool affine() const { return affine_; }
  [[nodiscard]] const Eigen::VectorXd& pose() const { return q_; }

  // False where there are no modes at θ: the mass matrix is not positive definite, or there is no equilibrium.
  [[nodiscard]] bool evaluate(View theta, ModalValues& values, ModalSlopes* slopes = nullptr);
  // Frequencies of many θ at once: columns of thetas (parameters x count) to columns of hz (modes x count). Closed forms for up to three
  // modes with a constant mass matrix: there errors are 1e-8 of the highest frequency at worst (coinciding ones), else round-off.
  [[nodiscard]] bool frequencies(const Eigen::MatrixXd& thetas, Eigen::MatrixXd& hz);

 private:
  ModalMap() = default;
  struct Matrices {
    Eigen::MatrixXd m, d, k, c;  // LIN-2; rows of C_x that belong to z
  };
  [[nodiscard]] Diagnostics linearise(View theta, Matrices& out);
  [[nodiscard]] bool matrices(View theta, Matrices& out);
  [[nodiscard]] bool slopes_of_matrices(View theta, std::vector<Matrices>& out);
  [[nodiscard]] Diagnostics probe();

  const Model* model_ = nullptr;
  Params params_;
  std::unique_ptr<Workspace> workspace_;
  std::vector<int> parameters_;
  Operation operation_ = Operation::kHere;
  Eigen::VectorXd q_;
  int modes_ = 0;
  bool affine_ = false, constant_mass_ = false;
  Matrices base_;                         // affine: at θ = 0
  std::vector<Matrices> slopes_;          // affine: ∂/∂θ
  std::vector<Eigen::MatrixXd> reduced_;  // constant mass: L⁻¹ K L⁻ᵀ of base and slopes
};

}  // namespace panto
