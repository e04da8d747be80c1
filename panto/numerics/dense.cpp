#include "panto/numerics/dense.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>

#include "panto/base/contract.hpp"

namespace panto {

struct MinimumNorm::Impl {
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> cod;
  Eigen::Index rows = 0, columns = 0;
};

MinimumNorm::MinimumNorm(double tolerance) : impl_(std::make_unique<Impl>()) {
  impl_->cod.setThreshold(tolerance);
}
MinimumNorm::~MinimumNorm() = default;
MinimumNorm::MinimumNorm(MinimumNorm&&) noexcept = default;
MinimumNorm& MinimumNorm::operator=(MinimumNorm&&) noexcept = default;

void MinimumNorm::compute(const Eigen::MatrixXd& a) {
  impl_->rows = a.rows();
  impl_->columns = a.cols();
  if (a.size() > 0) impl_->cod.compute(a);
}

int MinimumNorm::rank() const {
  return impl_->rows * impl_->columns > 0 ? static_cast<int>(impl_->cod.rank()) : 0;
}

Eigen::VectorXd MinimumNorm::solve(const Eigen::VectorXd& b) const {
  PANTO_EXPECT(b.size() == impl_->rows, "right side belongs to another matrix");
  if (rank() == 0) return Eigen::VectorXd::Zero(impl_->columns);
  return impl_->cod.solve(b);
}

Eigen::MatrixXd MinimumNorm::null_space() const {
  const Eigen::Index n = impl_->columns, r = rank();
  if (r == 0) return Eigen::MatrixXd::Identity(n, n);
  // A P = Q [T 0; 0 0] Z: the last rows of Z, permuted back.
  const Eigen::MatrixXd z = impl_->cod.matrixZ();
  return impl_->cod.colsPermutation() * z.bottomRows(n - r).transpose();
}

Eigen::VectorXd damped_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                     double damping) {
  PANTO_EXPECT(damping > 0, "damping must be positive");
  if (a.rows() < a.cols()) {
    Eigen::MatrixXd s = a * a.transpose();
    s.diagonal().array() += damping;
    return a.transpose() * s.llt().solve(b);
  }
  Eigen::MatrixXd s = a.transpose() * a;
  s.diagonal().array() += damping;
  return s.llt().solve(a.transpose() * b);
}

bool invert(const Eigen::MatrixXd& a, Eigen::MatrixXd& inverse) {
  if (a.rows() == 0) {
    inverse.resize(0, 0);
    return true;
  }
  const Eigen::PartialPivLU<Eigen::MatrixXd> lu(a);
  if (!(lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0)) return false;
  inverse = lu.inverse();
  return inverse.allFinite();
}

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& a) {
  if (a.size() == 0) return {};
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

std::vector<std::complex<double>> eigenvalues(const Eigen::MatrixXd& a) {
  if (a.size() == 0) return {};
  const Eigen::VectorXcd values = Eigen::EigenSolver<Eigen::MatrixXd>(a, false).eigenvalues();
  std::vector<std::complex<double>> sorted(values.data(), values.data() + values.size());
  std::sort(sorted.begin(), sorted.end(), [](const auto& x, const auto& y) {
    return x.real() != y.real() ? x.real() > y.real() : x.imag() > y.imag();
  });
  return sorted;
}

}  // namespace panto
