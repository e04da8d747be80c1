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

}  // namespace panto
