// The product with a matrix as Spectra wants it. Private to the sources that iterate with it.
#pragma once

#include <Eigen/Core>

namespace panto {

template <class Matrix>
class SpectraProduct {
 public:
  using Scalar = double;
  explicit SpectraProduct(const Matrix& m) : m_(m) {}
  [[nodiscard]] Eigen::Index rows() const { return m_.rows(); }
  [[nodiscard]] Eigen::Index cols() const { return m_.cols(); }
  void perform_op(const double* x, double* y) const {
    Eigen::Map<Eigen::VectorXd>(y, m_.rows()) =
        m_ * Eigen::Map<const Eigen::VectorXd>(x, m_.rows());
  }

 private:
  const Matrix& m_;
};

}  // namespace panto
