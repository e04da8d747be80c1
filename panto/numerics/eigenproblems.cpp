#include "panto/numerics/eigenproblems.hpp"

#include <Spectra/MatOp/SparseSymMatProd.h>
#include <Spectra/MatOp/SymShiftInvert.h>
#include <Spectra/SymGEigsShiftSolver.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "panto/base/contract.hpp"

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

std::optional<ModalPairs> nearest_pairs(const Eigen::MatrixXd& k, const Eigen::MatrixXd& m,
                                        int count, double shift) {
  PANTO_EXPECT(count > 0 && count < k.rows(), "fewer pairs than the matrices have");
  const Eigen::SparseMatrix<double> sparse_k = k.sparseView(), sparse_m = m.sparseView();
  using Invert = Spectra::SymShiftInvert<double, Eigen::Sparse, Eigen::Sparse>;
  using Product = Spectra::SparseSymMatProd<double>;
  Invert invert(sparse_k, sparse_m);
  Product product(sparse_m);
  const int kept = std::min(static_cast<int>(k.rows()), std::max(2 * count + 10, 20));
  try {
    Spectra::SymGEigsShiftSolver<Invert, Product, Spectra::GEigsMode::ShiftInvert> solver(
        invert, product, count, kept, shift);
    solver.init();
    solver.compute(Spectra::SortRule::LargestMagn, 1000, 1e-12, Spectra::SortRule::SmallestAlge);
    if (solver.info() != Spectra::CompInfo::Successful) return std::nullopt;
    ModalPairs out{solver.eigenvalues(), solver.eigenvectors()};
    for (Eigen::Index i = 0; i < out.vectors.cols(); ++i) {
      const double norm = out.vectors.col(i).dot(sparse_m * out.vectors.col(i));
      out.vectors.col(i) /= std::sqrt(norm);
    }
    return out;
  } catch (const std::exception&) {  // the factorisation failed: the shift is an eigenvalue
    return std::nullopt;
  }
}

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
