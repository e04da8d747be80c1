// How alike mode shapes are.
#pragma once

#include <Eigen/Core>

namespace panto {

// Modal assurance criterion (IDN-8) of the columns of a and b: |aᵀb|² / (aᵀa bᵀb); 0 for columns of zeros.
Eigen::MatrixXd modal_assurance(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

}  // namespace panto
