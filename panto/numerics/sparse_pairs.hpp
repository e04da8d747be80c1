// Large sparse symmetric matrices: factors with their inertia, lowest eigenpairs.
#pragma once

#include <Eigen/SparseCore>
#include <memory>
#include <optional>

#include "panto/numerics/eigenproblems.hpp"

namespace panto {

// Not the default index: Ceres, linked into the same programs, brings instances of the default's templates that allocate in another way.
using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, Eigen::Index>;

// A = L D Lᵀ in the order of least fill (AMD), lower triangle read, by dense fronts. Without pivoting: exact inertia of definite matrices, reliable of
// shifted ones K - σ M away from an eigenvalue. Memory: 8 bytes per entry of L, and the fronts under way.
class SparseSymmetric {
 public:
  explicit SparseSymmetric(const SparseMatrix& a);
  ~SparseSymmetric();
  SparseSymmetric(SparseSymmetric&& other) noexcept;
  SparseSymmetric& operator=(SparseSymmetric&& other) noexcept;

  // False where a pivot vanished.
  [[nodiscard]] bool ok() const;
  // Pivots below zero: the negative eigenvalues of A.
  [[nodiscard]] int negative() const;
  // Smallest pivot relative to its diagonal entry: of the order of round-off where A is singular, negative where it is indefinite.
  [[nodiscard]] double weakest() const;
  [[nodiscard]] Eigen::MatrixXd solve(const Eigen::MatrixXd& b) const;
  [[nodiscard]] Eigen::VectorXd solve(const Eigen::VectorXd& b) const;
  // Non-zeros of L.
  [[nodiscard]] Eigen::Index entries() const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

// Root of the sum of squares of the terms of xᵀKx: the sum is known to the round-off of K's entries relative to this, not to their largest.
double energy_scale(const SparseMatrix& k, const Eigen::VectorXd& x);

// How many eigenvalues of K φ = ω² M φ lie below `value`; M positive definite.
int values_below(const SparseMatrix& k, const SparseMatrix& m, double value);

// The `count` lowest pairs, negative ω² first, for large models: Lanczos iteration on (K - σ M)⁻¹ (Spectra). Values of higher multiplicity, of which one
// Krylov space may hold too few copies, are counted by the inertia of K - ω² M below the last one and searched again outside the vectors found. nullopt when M is not
// positive definite, the iteration does not converge, or the count does not agree with it. Memory: two factors and 1.5 to 2 vectors per pair.
std::optional<ModalPairs> lowest_pairs(const SparseMatrix& k, const SparseMatrix& m, int count);
// The same where few entries may be zero: a factorisation in one dense front.
std::optional<ModalPairs> lowest_pairs(const Eigen::MatrixXd& k, const Eigen::MatrixXd& m,
                                       int count);

}  // namespace panto
