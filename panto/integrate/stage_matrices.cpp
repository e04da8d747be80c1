#include "panto/integrate/stage_matrices.hpp"

#include "panto/integrate/stepper.hpp"

namespace panto {

using Complex = std::complex<double>;

StageMatrices::StageMatrices(Ode& ode) : ode_(ode), blocks_(ode), real_(blocks_), pair_(blocks_) {
  // Pivots are chosen here, for the mass matrix, so that steps need not allocate.
  (void)real_.factor(blocks_, 0.0);
  (void)pair_.factor(blocks_, Complex(0));
}

Status StageMatrices::linearise(double t, View x, View rates, double h) noexcept {
  return blocks_.renew(t, x, rates, h);
}

bool StageMatrices::factor(double h, double real, Complex pair) noexcept {
  return real_.factor(blocks_, h * real) && pair_.factor(blocks_, h * pair);
}

void StageMatrices::solve(const Eigen::MatrixXd& rest, Eigen::MatrixXd& change) noexcept {
  const auto z = ode_.workspace().independent_accelerations();
  real_.column.setZero();
  pair_.column.setZero();
  for (size_t i = 0; i < z.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    real_.column(z[i]) = -rest(k, 0);
    pair_.column(z[i]) = {-rest(k, 1), -rest(k, 2)};
  }
  real_.lu.solve(real_.column.data(), 1);
  pair_.lu.solve(pair_.column.data(), 1);
  const Eigen::Index n = change.rows();
  change.col(0) = real_.column.head(n);
  change.col(1) = pair_.column.head(n).real();
  change.col(2) = pair_.column.head(n).imag();
}

}  // namespace panto
