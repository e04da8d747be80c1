// The matrices of the minimal form (LIN-2) in one pose as functions of chosen parameters: what identification and updating are made of.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "panto/linear/operating_point.hpp"

namespace panto {

struct PoseMatrices {
  Eigen::MatrixXd m, d, k;  // LIN-2, d and k symmetric parts
  Eigen::MatrixXd c;        // rows of C_x that belong to z
  Eigen::MatrixXd r;        // δq = R z
  Eigen::VectorXd f;        // Rᵀ r at rest: generalised forces that nothing balances
};

class ParameterMatrices {
 public:
  // Pose: q, which loops close around. Operation kHere keeps it for every θ, kEquilibrium searches the equilibrium of each θ from it.
  // The matrices are made by the exact tangent at the nominal θ, at one point more per parameter and at a last one: where they turn out affine in θ
  // (stiffnesses, dampings, masses, inertias in a fixed pose), their sums are kept, and differences are derivatives to round-off. Otherwise
  // (lengths; poses that move with θ) every evaluation linearises the mechanism.
  static Result<ParameterMatrices> create(const Model& model, const Params& nominal, View q,
                                          std::vector<int> parameters, Operation operation);
  ParameterMatrices(ParameterMatrices&&) noexcept;
  ParameterMatrices& operator=(ParameterMatrices&&) noexcept;
  ~ParameterMatrices();
  // For another thread.
  [[nodiscard]] ParameterMatrices clone() const;

  [[nodiscard]] int size() const { return size_; }  // of z
  [[nodiscard]] int parameters() const { return static_cast<int>(parameters_.size()); }
  [[nodiscard]] bool affine() const { return affine_; }
  [[nodiscard]] const Eigen::VectorXd& pose() const { return q_; }
  [[nodiscard]] const std::vector<std::string>& independent() const { return independent_; }

  // False where the mechanism cannot be linearised at θ.
  [[nodiscard]] bool at(View theta, PoseMatrices& out);
  // ∂/∂θ of m, d, k and f. Affine: exact to round-off; otherwise central differences of fourth order, 1e-12 of the curvature.
  [[nodiscard]] bool slopes(View theta, std::vector<PoseMatrices>& out);

  // Affine: at θ = 0, and ∂/∂θ.
  [[nodiscard]] const PoseMatrices& base() const { return base_; }
  [[nodiscard]] const std::vector<PoseMatrices>& slopes() const { return slopes_; }

 private:
  ParameterMatrices() = default;
  [[nodiscard]] Diagnostics linearise(View theta, PoseMatrices& out);
  [[nodiscard]] Diagnostics probe();

  const Model* model_ = nullptr;
  Params params_;
  std::unique_ptr<Workspace> workspace_;
  std::vector<int> parameters_;
  std::vector<std::string> independent_;
  Operation operation_ = Operation::kHere;
  Eigen::VectorXd q_;
  int size_ = 0;
  bool affine_ = false;
  PoseMatrices base_;
  std::vector<PoseMatrices> slopes_;
};

}  // namespace panto
