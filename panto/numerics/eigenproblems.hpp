// Eigenproblems of vibration and control: symmetric pairs, state matrices with their vectors, matrix pencils.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <optional>
#include <vector>

namespace panto {

struct ModalPairs {
  Eigen::VectorXd values;   // ω², ascending
  Eigen::MatrixXd vectors;  // columns with φᵀ M φ = 1
};

// K φ = ω² M φ with K symmetric and M symmetric positive definite; nullopt when M is not.
std::optional<ModalPairs> symmetric_pairs(const Eigen::MatrixXd& k, const Eigen::MatrixXd& m);

// L⁻¹ of M = L Lᵀ; nullopt when M is not positive definite.
std::optional<Eigen::MatrixXd> inverse_factor(const Eigen::MatrixXd& m);

// Eigenvalues of many small symmetric matrices A_0 + Σ_k w_k A_k (up to 3 x 3), ascending: columns of `weights` to columns of `values`.
// Closed forms: round-off relative to the largest value, its square root where values coincide.
void small_symmetric_values(const std::vector<Eigen::MatrixXd>& a, const Eigen::MatrixXd& weights,
                            Eigen::MatrixXd& values);

// The `count` pairs nearest to ω² = shift (in ascending order), by Lanczos iteration on (K - shift M)⁻¹ with sparse factors.
// For large models: the cost is that of one sparse factorisation and a few solves. nullopt when the iteration does not converge.
std::optional<ModalPairs> nearest_pairs(const Eigen::MatrixXd& k, const Eigen::MatrixXd& m,
                                        int count, double shift);

struct ComplexPairs {
  Eigen::VectorXcd values;   // by decreasing real part, then decreasing imaginary part
  Eigen::MatrixXcd vectors;  // columns of norm 1
};
// A x = s x.
ComplexPairs state_pairs(const Eigen::MatrixXd& a);

// Finite s for which A - s E loses rank (QZ). Values beyond `largest` in magnitude count as infinite.
std::vector<std::complex<double>> pencil_values(const Eigen::MatrixXd& a, const Eigen::MatrixXd& e,
                                                double largest);

}  // namespace panto
