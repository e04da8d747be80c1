#include "panto/integrate/stage_matrices.hpp"

#include "panto/integrate/stepper.hpp"

namespace panto {

using Complex = std::complex<double>;

StageMatrices::StageMatrices(Ode& ode)
    : ode_(ode),
      saddle_(ode.workspace()),
      mass_(saddle_.tangent()),
      damped_(mass_),
      stiff_(mass_),
      rest_(ode.workspace().independent_accelerations().size()),
      real_(saddle_.pattern()),
      pair_(saddle_.pattern()) {
  real_.tangent.resize(mass_.value.size());
  pair_.tangent.resize(mass_.value.size());
  // Pivots are chosen here, for the mass matrix, so that steps need not allocate.
  (void)factor(real_, 0.0);
  (void)factor(pair_, Complex(0));
}

template <class Scalar>
bool StageMatrices::factor(Factors<Scalar>& factors, Scalar eigenvalue) noexcept {
  for (size_t i = 0; i < mass_.value.size(); ++i) {
    const double m = mass_.value[i];
    factors.tangent[i] =
        m + eigenvalue * ((damped_.value[i] - m) + eigenvalue * (stiff_.value[i] - m));
  }
  saddle_.fill(ode_.workspace(), factors.tangent, factors.values);
  return factors.lu.factor(factors.values);
}

Status StageMatrices::renew(double t, View x, View rates, double h, double real,
                            Complex pair) noexcept {
  Point at;
  const Status status = balanced_point(ode_, t, x, rates, rest_, at);
  if (!usable(status)) return status;
  Workspace& w = ode_.workspace();
  w.step_tangent(at, 0, 0, mass_);
  w.step_tangent(at, 0, h, damped_);
  w.step_tangent(at, h * h, 0, stiff_);
  ode_.count_linearisation();
  return factor(real_, real) && factor(pair_, pair) ? status : Status::kSingular;
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
