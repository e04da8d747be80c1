#include "panto/integrate/sparse_system.hpp"

#include <algorithm>

#include "panto/integrate/stepper.hpp"

namespace panto {

namespace {

size_t index(int i) { return static_cast<size_t>(i); }

}  // namespace

SparseOdeSystem::SparseOdeSystem(Ode& ode)
    : ode_(ode),
      blocks_(ode),
      factors_(blocks_),
      speed_(index(ode.workspace().model().nv)),
      step_(speed_.size()) {}

Status SparseOdeSystem::linearise(double t, View x, View x_dot, double gamma) noexcept {
  return blocks_.renew(t, x, x_dot.subspan(index(ode_.coordinates()), index(ode_.independent())),
                       gamma);
}

void SparseOdeSystem::solve(MutableView b) noexcept {
  Workspace& w = ode_.workspace();
  const auto z = w.independent_speeds();
  const auto nq = index(ode_.coordinates());
  std::fill(speed_.begin(), speed_.end(), 0.0);
  std::fill(step_.begin(), step_.end(), 0.0);
  for (size_t i = 0; i < z.size(); ++i) {
    speed_[index(z[i])] = b[nq + i];
    step_[index(z[i])] = b[index(w.coordinate_of(z[i]))];
  }
  w.complete(Level::kVelocity, {}, speed_);
  w.complete(Level::kVelocity, {}, step_);
  factors_.solve_shifted(blocks_, step_.data(), speed_.data());
  for (int i = 0; i < blocks_.speeds(); ++i)
    b[index(w.coordinate_of(i))] += factors_.shift * speed_[index(i)];
  for (size_t i = 0; i < z.size(); ++i) b[nq + i] = speed_[index(z[i])];
}

SparseFullSystem::SparseFullSystem(Ode& ode)
    : blocks_(ode), factors_(blocks_), g_(ode.workspace().constraint_rows()) {
  const auto nv = index(ode.workspace().model().nv);
  push_.resize(nv);
  multipliers_.resize(index(g_.rows()));
  if (g_.rows() > 0) gram_.emplace(blocks_);
}

bool SparseFullSystem::factor(const Point& at, double c, const Workspace& workspace) noexcept {
  c_ = c;
  blocks_.renew(at, 1 / c);
  g_.value = workspace.constraint_rows().value;
  if (gram_) {
    blocks_.border_unit(gram_->tangent, gram_->values);
    if (!gram_->lu.factor(gram_->values)) return false;
  }
  return factors_.factor(blocks_, 1 / c);
}

void SparseFullSystem::add_reactions(const double* multipliers, double* out) const noexcept {
  for (int row = 0; row < g_.rows(); ++row)
    for (int k = g_.start[index(row)]; k < g_.start[index(row) + 1]; ++k)
      out[g_.column[index(k)]] += g_.value[index(k)] * multipliers[row];
}

double SparseFullSystem::row_times(int row, const double* x) const noexcept {
  double sum = 0;
  for (int k = g_.start[index(row)]; k < g_.start[index(row) + 1]; ++k)
    sum += g_.value[index(k)] * x[g_.column[index(k)]];
  return sum;
}

// G Gᵀ δμ = c b_μ - G b_q - b_λ;  (M + C/c + K/c²) δv - Gᵀ δλ/c = b_v/c - K (b_q + Gᵀδμ)/c²,  G δv = b_λ;  δq = (b_q + δv + Gᵀδμ)/c.
void SparseFullSystem::solve(double* dq, double* dv, double* dlambda, double* dmu,
                             const std::vector<int>& rows) noexcept {
  const auto nv = static_cast<Eigen::Index>(push_.size());
  std::copy_n(dq, nv, push_.begin());
  if (gram_) {
    gram_->column.setZero();
    for (size_t i = 0; i < rows.size(); ++i)
      gram_->column(nv + rows[i]) = c_ * dmu[i] - row_times(rows[i], dq) - dlambda[i];
    gram_->lu.solve(gram_->column.data(), 1);
    std::fill(multipliers_.begin(), multipliers_.end(), 0.0);
    for (size_t i = 0; i < rows.size(); ++i) {
      dmu[i] = gram_->column(nv + rows[i]);
      multipliers_[index(rows[i])] = dmu[i];
    }
    add_reactions(multipliers_.data(), push_.data());
  }
  Eigen::VectorXd& column = factors_.column;
  column.setZero();
  blocks_.multiply(0, dv, 1 / (c_ * c_), push_.data(), column.data());
  for (Eigen::Index i = 0; i < nv; ++i) column(i) += dv[i] / c_;
  for (size_t i = 0; i < rows.size(); ++i) column(nv + rows[i]) = dlambda[i];
  factors_.lu.solve(column.data(), 1);
  for (Eigen::Index i = 0; i < nv; ++i) {
    dv[i] = column(i);
    dq[i] = (push_[static_cast<size_t>(i)] + column(i)) / c_;
  }
  for (size_t i = 0; i < rows.size(); ++i) dlambda[i] = c_ * column(nv + rows[i]);
}

}  // namespace panto
