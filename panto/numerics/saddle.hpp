// Constrained accelerations by Gauss's principle (LOOP-6), for constraint matrices of any rank.
#pragma once

#include <Eigen/Core>
#include <memory>

#include "panto/base/status.hpp"

namespace panto {

// Solves  M a - Gᵀ λ = f,  G a = b  with M symmetric (n x n), positive definite where G a = 0, and G (m x n) possibly rank deficient:
// with M = L Lᵀ and A = G L⁻ᵀ, a = L⁻ᵀ (w0 + A⁺ (b - A w0)), λ of minimum norm. Rank-revealing: complete orthogonal decomposition.
class SaddleSolver {
 public:
  SaddleSolver(int n, int m);
  ~SaddleSolver();
  SaddleSolver(SaddleSolver&&) noexcept;
  SaddleSolver& operator=(SaddleSolver&&) noexcept;

  // kSingular: M is not positive definite on the null space of G. kInconsistent: b is not in the range of G (a satisfies it in the least-squares sense).
  [[nodiscard]] Status solve(const Eigen::MatrixXd& mass, const Eigen::MatrixXd& g,
                             const Eigen::VectorXd& f, const Eigen::VectorXd& b, Eigen::VectorXd& a,
                             Eigen::VectorXd& lambda);
  [[nodiscard]] int rank() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace panto
