// Dense decompositions of small matrices, behind functions so that only this module compiles them.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <memory>
#include <vector>

namespace panto {

// Complete orthogonal decomposition of A (any shape and rank): minimum-norm least-squares solutions and the null space.
// Pivots below `tolerance` times the largest one count as zero. Cost rows * columns * min(rows, columns).
class MinimumNorm {
 public:
  explicit MinimumNorm(double tolerance = 1e-10);
  ~MinimumNorm();
  MinimumNorm(MinimumNorm&&) noexcept;
  MinimumNorm& operator=(MinimumNorm&&) noexcept;

  void compute(const Eigen::MatrixXd& a);
  [[nodiscard]] int rank() const;
  // Of all x that minimise |A x - b|, the shortest.
  [[nodiscard]] Eigen::VectorXd solve(const Eigen::VectorXd& b) const;
  // Orthonormal basis of { x : A x = 0 } (columns - rank columns).
  [[nodiscard]] Eigen::MatrixXd null_space() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// x that minimises |A x - b|^2 + damping |x|^2, damping > 0.
Eigen::VectorXd damped_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                     double damping);

// a⁻¹ by elimination with row exchanges, for matrices of more than a handful of rows (else numerics/small). False: a is singular or not finite.
[[nodiscard]] bool invert(const Eigen::MatrixXd& a, Eigen::MatrixXd& inverse);

struct SymmetricEigen {
  Eigen::VectorXd values;   // ascending
  Eigen::MatrixXd vectors;  // orthonormal columns
};
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& a);

// Eigenvalues of a square matrix, by decreasing real part, then decreasing imaginary part.
std::vector<std::complex<double>> eigenvalues(const Eigen::MatrixXd& a);

}  // namespace panto
