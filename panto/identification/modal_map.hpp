// Natural frequencies, damping ratios and shapes of a mechanism in one pose as functions of chosen parameters: what pose selection and
// identification are made of.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "panto/linear/parameter_matrices.hpp"

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
  // As ParameterMatrices::create(): where the matrices are affine in θ an evaluation is one small eigenproblem, otherwise a linearisation.
  static Result<ModalMap> create(const Model& model, const Params& nominal, View q,
                                 std::vector<int> parameters, Operation operation);
  // For another thread.
  [[nodiscard]] ModalMap clone() const;

  [[nodiscard]] int modes() const { return matrices_.size(); }
  [[nodiscard]] int parameters() const { return matrices_.parameters(); }
  [[nodiscard]] bool affine() const { return matrices_.affine(); }
  [[nodiscard]] const Eigen::VectorXd& pose() const { return matrices_.pose(); }

  // False where there are no modes at θ: the mass matrix is not positive definite, or there is no equilibrium.
  [[nodiscard]] bool evaluate(View theta, ModalValues& values, ModalSlopes* slopes = nullptr);
  // Frequencies of many θ at once: columns of thetas (parameters x count) to columns of hz (modes x count). Closed forms for up to three
  // modes with a constant mass matrix: there errors are 1e-8 of the highest frequency at worst (coinciding ones), else round-off.
  [[nodiscard]] bool frequencies(const Eigen::MatrixXd& thetas, Eigen::MatrixXd& hz);

 private:
  explicit ModalMap(ParameterMatrices matrices) : matrices_(std::move(matrices)) {}

  ParameterMatrices matrices_;
  bool constant_mass_ = false;
  std::vector<Eigen::MatrixXd> reduced_;  // constant mass: L⁻¹ K L⁻ᵀ of base and slopes
};

}  // namespace panto
