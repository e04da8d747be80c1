#include "panto/updating/poly_reference.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <numbers>

#include "panto/base/contract.hpp"

namespace panto {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::VectorXcd;

// M of EMA-3: what is left of the normal equations when the numerators are eliminated. Its blocks are those of the coefficients α_0 … α_p.
MatrixXcd reduced_normal_equations(const Eigen::VectorXd& angle, const MatrixXcd& h, int outputs,
                                   int references, int order) {
  const Index lines = h.rows(), n = order + 1, m = references;
  // Powers z^0 … z^p per line: the sums below are Toeplitz, so that differences of exponents are all they need.
  MatrixXcd powers(lines, n);
  for (Index k = 0; k < lines; ++k)
    for (Index r = 0; r < n; ++r) powers(k, r) = std::polar(1.0, angle(k) * static_cast<double>(r));
  const auto toeplitz = [&](const VectorXcd& up, const VectorXcd& down, Index r, Index s) {
    return s >= r ? up(s - r) : down(r - s);  // Σ conj(z^r) z^s data
  };
  // R = Σ conj(z^r) z^s.
  const VectorXcd ones = powers.colwise().sum();
  MatrixXcd R(n, n);
  for (Index r = 0; r < n; ++r)
    for (Index s = 0; s < n; ++s) R(r, s) = s >= r ? ones(s - r) : std::conj(ones(r - s));
  R.diagonal().array() += 1e-14 * R(0, 0).real();
  const Eigen::LLT<MatrixXcd> llt(R);
  const MatrixXcd up = powers.transpose() * h;  // Σ z^d H
  const MatrixXcd down = powers.adjoint() * h;  // Σ z^-d H
  // T = Σ_o Σ conj(z^r H_oi) z^s H_oj.
  MatrixXcd products(lines, m * m);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < m; ++j)
      products.col(i * m + j) = (h.middleCols(i * outputs, outputs).conjugate().array() *
                                 h.middleCols(j * outputs, outputs).array())
                                    .rowwise()
                                    .sum();
  const MatrixXcd products_up = powers.transpose() * products;
  const MatrixXcd products_down = powers.adjoint() * products;
  MatrixXcd M(n * m, n * m);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < m; ++j)
      for (Index r = 0; r < n; ++r)
        for (Index s = 0; s < n; ++s)
          M(r * m + i, s * m + j) =
              toeplitz(products_up.col(i * m + j), products_down.col(i * m + j), r, s);
  // M -= Σ_o S_oᴴ R⁻¹ S_o with S_o = Σ conj(z^r) z^s H_oj, all outputs in one product.
  MatrixXcd S(n, n * m), stacked(n * outputs, n * m);
  for (int o = 0; o < outputs; ++o) {
    for (Index j = 0; j < m; ++j)
      for (Index r = 0; r < n; ++r)
        for (Index s = 0; s < n; ++s)
          S(r, s * m + j) = toeplitz(up.col(j * outputs + o), down.col(j * outputs + o), r, s);
    stacked.middleRows(o * n, n) = llt.matrixL().solve(S);
  }
  M.noalias() -= stacked.adjoint() * stacked;
  return M;
}

}  // namespace

std::vector<OrderPole> poly_reference_poles(const Eigen::VectorXd& frequency_hz, const MatrixXcd& h,
                                            int outputs, int references, int max_order) {
  const Index lines = frequency_hz.size(), m = references;
  PANTO_EXPECT(h.rows() == lines && h.cols() == Index{outputs} * references && max_order >= 1 &&
                   lines > max_order + 1,
               "shape of the responses");
  // The band with one more line on the whole circle: an even grid makes the powers orthogonal.
  const double first = frequency_hz(0);
  const double span = (frequency_hz(lines - 1) - first) * static_cast<double>(lines) /
                      static_cast<double>(lines - 1);
  const double circle = 2 * std::numbers::pi;
  const Eigen::VectorXd angle = (frequency_hz.array() - first) * (circle / span);
  MatrixXcd M = reduced_normal_equations(angle, h, outputs, references, max_order);
  // M_ff α_f = -M_f0 for α_1 … α_n: leading blocks of one factor serve all orders. A shift of round-off size keeps exact data definite.
  const Index size = m * max_order;
  MatrixXcd F = M.bottomRightCorner(size, size);
  F.diagonal().array() += 1e-14 * M.diagonal().real().maxCoeff();
  const Eigen::LLT<MatrixXcd> llt(F);
  const MatrixXcd L = llt.matrixL();
  const MatrixXcd y = L.triangularView<Eigen::Lower>().solve(-M.bottomLeftCorner(size, m));
  std::vector<OrderPole> out;
  for (int order = 1; order <= max_order; ++order) {
    const Index n = m * order;
    const MatrixXcd alpha =
        L.topLeftCorner(n, n).triangularView<Eigen::Lower>().adjoint().solve(y.topRows(n));
    if (!alpha.allFinite()) continue;
    // Companion matrix of the transposed reversed polynomial: eigenvalues 1/z, last block of the eigenvectors the participation (EMA-4).
    MatrixXcd companion = MatrixXcd::Zero(n, n);
    for (int r = 0; r < order; ++r)
      companion.block(0, r * m, m, m) = -alpha.middleRows(r * m, m).transpose();
    for (Index i = m; i < n; ++i) companion(i, i - m) = 1;
    const Eigen::ComplexEigenSolver<MatrixXcd> eigen(companion);
    if (eigen.info() != Eigen::Success) continue;
    for (Index k = 0; k < n; ++k) {
      const Complex w = eigen.eigenvalues()(k);
      if (!(std::abs(w) > 1)) continue;  // unstable
      const Complex log_z = -std::log(w);
      double turn = log_z.imag() / circle;
      turn -= std::floor(turn);
      const double f = first + turn * span;
      const Complex s(span * log_z.real(), circle * f);
      if (f > frequency_hz(lines - 1)) continue;
      VectorXcd participation = eigen.eigenvectors().col(k).tail(m);
      participation.normalize();
      out.push_back({order, s, participation});
    }
  }
  return out;
}

}  // namespace panto
