// Least squares on a few columns, private to this folder's sources.
#pragma once

#include <Eigen/QR>

namespace panto {

// Orthonormal columns that span those of a, and their coefficients.
struct Projection {
  explicit Projection(const Eigen::MatrixXd& a)
      : scale(a.colwise().norm().cwiseMax(1e-300).cwiseInverse()), qr(a * scale.asDiagonal()) {
    q = qr.householderQ() * Eigen::MatrixXd::Identity(a.rows(), a.cols());
  }
  [[nodiscard]] Eigen::MatrixXd without(const Eigen::MatrixXd& b) const {
    return b - q * (q.transpose() * b);
  }
  [[nodiscard]] Eigen::MatrixXd solve(const Eigen::MatrixXd& b) const {
    return scale.asDiagonal() * Eigen::MatrixXd(qr.solve(b));
  }
  // (AᵀA)⁻¹ by R⁻¹ of the scaled columns.
  [[nodiscard]] Eigen::MatrixXd inverse_gram() const {
    const Eigen::MatrixXd r = qr.matrixQR().topRows(qr.cols()).triangularView<Eigen::Upper>();
    const Eigen::MatrixXd inverse =
        r.triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(qr.cols(), qr.cols()));
    return scale.asDiagonal() * (inverse * inverse.transpose()) * scale.asDiagonal();
  }
  Eigen::VectorXd scale;
  Eigen::HouseholderQR<Eigen::MatrixXd> qr;
  Eigen::MatrixXd q;
};

}  // namespace panto
