// Products and solves of matrices with a handful of rows: a fraction of the cost of general routines, nothing allocated.
#pragma once

#include <Eigen/Core>

namespace panto {

// c = a b of square matrices; c is another matrix than both.
void multiply(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, Eigen::MatrixXd& c) noexcept;
// c = a bᵀ of square matrices; c is another matrix than both.
void multiply_transposed(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                         Eigen::MatrixXd& c) noexcept;
// b <- a⁻¹ b by elimination with row exchanges; a is used up. False: a is singular.
[[nodiscard]] bool eliminate(Eigen::MatrixXd& a, Eigen::Ref<Eigen::MatrixXd> b) noexcept;
// L, lower triangular with a positive diagonal, such that L Lᵀ = aᵀ a, by Householder reflections; the rows of a (at least as many as columns) are used
// up. Accurate to round-off of a, not of its square. False: a has a rank below its columns, or is not finite.
[[nodiscard]] bool triangularise(Eigen::Ref<Eigen::MatrixXd> a, Eigen::MatrixXd& l) noexcept;

}  // namespace panto
