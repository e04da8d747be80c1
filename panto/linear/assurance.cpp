#include "panto/linear/assurance.hpp"

namespace panto {

Eigen::MatrixXd modal_assurance(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  Eigen::MatrixXd mac = (a.transpose() * b).cwiseAbs2();
  const Eigen::VectorXd aa = a.colwise().squaredNorm(), bb = b.colwise().squaredNorm();
  for (Eigen::Index i = 0; i < mac.rows(); ++i)
    for (Eigen::Index j = 0; j < mac.cols(); ++j) {
      const double norm = aa(i) * bb(j);
      mac(i, j) = norm > 0 ? mac(i, j) / norm : 0;
    }
  return mac;
}

}  // namespace panto
