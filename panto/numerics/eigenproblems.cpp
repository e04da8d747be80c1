#include "panto/numerics/eigenproblems.hpp"

#include <Spectra/GenEigsSolver.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "panto/base/contract.hpp"
#include "panto/numerics/spectra_product.hpp"

namespace panto {

std::optional<ModalPairs> symmetric_pairs(const Eigen::MatrixXd& k, const Eigen::MatrixXd& m) {
  PANTO_EXPECT(k.rows() == k.cols() && m.rows() == k.rows() && m.cols() == k.cols(),
               "K and M must be square and of one size");
  ModalPairs out;
  if (k.rows() == 0) return out;
  const Eigen::LLT<Eigen::MatrixXd> cholesky(m);
  if (cholesky.info() != Eigen::Success) return std::nullopt;
  Eigen::MatrixXd s = cholesky.matrixL().solve(k);
  s = cholesky.matrixL().solve(s.transpose()).eval();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(0.5 * (s + s.transpose()));
  if (solver.info() != Eigen::Success) return std::nullopt;
  out.values = solver.eigenvalues();
  out.largest = out.values.cwiseAbs().maxCoeff();
  out.vectors = cholesky.matrixU().solve(solver.eigenvectors());
  return out;
}

std::optional<Eigen::MatrixXd> inverse_factor(const Eigen::MatrixXd& m) {
  const Eigen::LLT<Eigen::MatrixXd> cholesky(m);
  if (cholesky.info() != Eigen::Success) return std::nullopt;
  return Eigen::MatrixXd(cholesky.matrixL().solve(Eigen::MatrixXd::Identity(m.rows(), m.cols())));
}

namespace {

template <int N>
void small_values(const std::vector<Eigen::MatrixXd>& a, const Eigen::MatrixXd& weights,
                  Eigen::MatrixXd& values) {
  using Matrix = Eigen::Matrix<double, N, N>;
  const std::vector<Matrix> parts(a.begin(), a.end());
  Eigen::SelfAdjointEigenSolver<Matrix> solver;
  for (Eigen::Index j = 0; j < weights.cols(); ++j) {
    Matrix sum = parts[0];
    for (size_t k = 1; k < parts.size(); ++k)
      sum.noalias() += weights(static_cast<Eigen::Index>(k) - 1, j) * parts[k];
    solver.computeDirect(sum, Eigen::EigenvaluesOnly);
    values.col(j) = solver.eigenvalues();
  }
}

}  // namespace

void small_symmetric_values(const std::vector<Eigen::MatrixXd>& a, const Eigen::MatrixXd& weights,
                            Eigen::MatrixXd& values) {
  PANTO_EXPECT(!a.empty() && a[0].rows() >= 1 && a[0].rows() <= 3, "matrices of 1 to 3 rows");
  PANTO_EXPECT(weights.rows() + 1 == static_cast<Eigen::Index>(a.size()), "one weight per matrix");
  values.resize(a[0].rows(), weights.cols());
  if (a[0].rows() == 3) return small_values<3>(a, weights, values);
  if (a[0].rows() == 2) return small_values<2>(a, weights, values);
  values =
      (weights.transpose() *
       Eigen::VectorXd::NullaryExpr(
           weights.rows(), [&](Eigen::Index k) { return a[static_cast<size_t>(k) + 1](0, 0); }))
          .transpose()
          .array() +
      a[0](0, 0);
}

namespace {

constexpr int kDenseValues = 150;  // rows up to which all eigenvalues of a matrix cost little

}  // namespace

ComplexPairs state_pairs(const Eigen::MatrixXd& a) {
  PANTO_EXPECT(a.rows() == a.cols(), "A must be square");
  ComplexPairs out;
  if (a.rows() == 0) return out;
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(a);
  const Eigen::VectorXcd& values = solver.eigenvalues();
  const Eigen::MatrixXcd vectors = solver.eigenvectors();
  std::vector<int> order(static_cast<size_t>(values.size()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int i, int j) {
    if (values(i).real() != values(j).real()) return values(i).real() > values(j).real();
    return values(i).imag() > values(j).imag();
  });
  out.values.resize(values.size());
  out.vectors.resize(vectors.rows(), vectors.cols());
  for (size_t i = 0; i < order.size(); ++i) {
    out.values(static_cast<Eigen::Index>(i)) = values(order[i]);
    out.vectors.col(static_cast<Eigen::Index>(i)) = vectors.col(order[i]).normalized();
  }
  return out;
}

Eigen::VectorXcd largest_values(const Eigen::MatrixXd& a, int count) {
  PANTO_EXPECT(a.rows() == a.cols(), "A must be square");
  PANTO_EXPECT(count > 0 && count < kDenseValues / 4, "few values");
  if (a.rows() == 0) return {};
  if (a.rows() > kDenseValues) {
    const SpectraProduct<Eigen::MatrixXd> product(a);
    Spectra::GenEigsSolver<const SpectraProduct<Eigen::MatrixXd>> solver(product, count, 4 * count);
    solver.init();
    solver.compute(Spectra::SortRule::LargestMagn, 100, 1e-8);
    if (solver.info() == Spectra::CompInfo::Successful) return solver.eigenvalues();
  }
  return a.eigenvalues();
}

Eigen::VectorXcd largest_values(int n, const std::function<void(const double*, double*)>& product,
                                int count) {
  PANTO_EXPECT(count > 0 && 4 * count < n, "few values");
  struct Operation {
    using Scalar = double;
    int n;
    const std::function<void(const double*, double*)>& product;
    [[nodiscard]] Eigen::Index rows() const { return n; }
    [[nodiscard]] Eigen::Index cols() const { return n; }
    void perform_op(const double* x, double* y) const { product(x, y); }
  };
  const Operation operation{n, product};
  Spectra::GenEigsSolver<const Operation> solver(operation, count, 4 * count);
  solver.init();
  solver.compute(Spectra::SortRule::LargestMagn, 100, 1e-4);
  if (solver.info() != Spectra::CompInfo::Successful) return {};
  return solver.eigenvalues();
}

std::vector<std::complex<double>> pencil_values(const Eigen::MatrixXd& a, const Eigen::MatrixXd& e,
                                                double largest) {
  PANTO_EXPECT(a.rows() == a.cols() && e.rows() == a.rows() && e.cols() == a.cols(),
               "A and E must be square and of one size");
  std::vector<std::complex<double>> out;
  if (a.rows() == 0) return out;
  Eigen::GeneralizedEigenSolver<Eigen::MatrixXd> solver(a, e, false);
  const auto alphas = solver.alphas();
  const auto betas = solver.betas();
  for (Eigen::Index i = 0; i < betas.size(); ++i)
    if (std::abs(betas(i)) * largest > std::abs(alphas(i))) out.push_back(alphas(i) / betas(i));
  std::sort(out.begin(), out.end(), [](const auto& x, const auto& y) {
    return x.real() != y.real() ? x.real() > y.real() : x.imag() > y.imag();
  });
  return out;
}

}  // namespace panto
