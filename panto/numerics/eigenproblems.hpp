// Eigenproblems of vibration and control: symmetric pairs, state matrices with their vectors, matrix pencils.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <functional>
#include <optional>
#include <vector>

namespace panto {

struct ModalPairs {
  Eigen::VectorXd values;   // ω², ascending
  Eigen::MatrixXd vectors;  // columns with φᵀ M φ = 1
  double largest =
      0;  // |ω²| of all pairs, the scale of round-off; estimated where few were asked for
};

// K φ = ω² M φ with K symmetric and M symmetric positive definite; nullopt when M is not.
std::optional<ModalPairs> symmetric_pairs(const Eigen::MatrixXd& k, const Eigen::MatrixXd& m);

// L⁻¹ of M = L Lᵀ; nullopt when M is not positive definite.
std::optional<Eigen::MatrixXd> inverse_factor(const Eigen::MatrixXd& m);

// Eigenvalues of many small symmetric matrices A_0 + Σ_k w_k A_k (up to 3 x 3), ascending: columns of `weights` to columns of `values`.
// Closed forms: round-off relative to the largest value, its square root where values coincide.
void small_symmetric_values(const std::vector<Eigen::MatrixXd>& a, const Eigen::MatrixXd& weights,
                            Eigen::MatrixXd& values);

struct ComplexPairs {
  Eigen::VectorXcd values;   // by decreasing real part, then decreasing imaginary part
  Eigen::MatrixXcd vectors;  // columns of norm 1
};
// A x = s x.
ComplexPairs state_pairs(const Eigen::MatrixXd& a);

// Eigenvalues of A of largest magnitude: all of them up to 150 rows; of a larger matrix at least `count` by Arnoldi iteration, a few dozen products
// with A, or all should that not converge.
Eigen::VectorXcd largest_values(const Eigen::MatrixXd& a, int count);
// The same of a large matrix that is known only by its products y = A x (n numbers each). Empty: the iteration did not converge.
Eigen::VectorXcd largest_values(int n, const std::function<void(const double*, double*)>& product,
                                int count);

// Finite s for which A - s E loses rank (QZ). Values beyond `largest` in magnitude count as infinite.
std::vector<std::complex<double>> pencil_values(const Eigen::MatrixXd& a, const Eigen::MatrixXd& e,
                                                double largest);

}  // namespace panto
