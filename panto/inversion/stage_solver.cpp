#include "panto/inversion/stage_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "panto/base/contract.hpp"
#include "panto/numerics/small.hpp"

namespace panto {
namespace {
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Round-off of a row is this many units of its terms.
constexpr double kRoundOff = 16 * kEpsilon;
}  // namespace

StageSolver::StageSolver(ServoSystem& system, Formulation formulation, const NewtonOptions& options,
                         StageRule rule, double dt)
    : system_(system),
      formulation_(formulation),
      options_(options),
      rule_(std::move(rule)),
      dt_(dt),
      nv_(system.nv()),
      nl_(system.n_lambda()),
      nu_(system.nu()) {
  D2_ = rule_.D * rule_.D;
  const double frequency = options_.baumgarte > 0 ? options_.baumgarte : 0.1 / dt;
  alpha_ = frequency;
  beta_ = frequency * frequency;
  layout();
  const int s = stages(), n = local_ * s;
  values_.resize(nv_, nl_, nu_);
  states_.setZero(state_size(), s);
  w_rule_.setZero(nv_, s);
  p_ = s_ = w_rule_;
  for (Eigen::VectorXd* v : {&x_, &f_, &floor_, &dx_, &perturbed_, &hf_, &th_}) v->setZero(n);
  matrix_.setZero(n, n);
  kept_matrix_ = matrix_;
  if (options_.jacobian == JacobianKind::kBroyden) inverse_.setIdentity(n, n);
  for (Eigen::MatrixXd* m : {&jy_, &jv_, &jw_, &jr_}) m->setZero(local_, nv_);
  jmu_.setZero(local_, nl_ + nu_);
  if (formulation_ == Formulation::kProjection) {
    basis_mass_.assign(static_cast<size_t>(s), Eigen::MatrixXd::Zero(nv_ - lifted_, nv_));
  }
  pivots_.setZero(lifted_, nv_);
  pivot_column_.assign(static_cast<size_t>(lifted_), -1);
  taken_.assign(static_cast<size_t>(nv_), 0);
  target_.setZero(3 * nu_);
}

void StageSolver::layout() {
  const auto& rows = system_.rows();
  const int count = static_cast<int>(rows.size());
  const auto scale = [&](int level) {
    return level < 2 ? std::pow(dt_, std::min(level - options_.scaling, 0)) : 1.0;
  };
  std::vector<char> substituted(static_cast<size_t>(nv_), 0);
  int lifted_positions = 0;
  for (int i = 0; i < count; ++i) {
    const AlgebraicRow& row = rows[static_cast<size_t>(i)];
    const int base = static_cast<int>(row.level);
    const bool lifts = row.differentiable && base < 2;
    if (formulation_ == Formulation::kSubstitution && i >= nl_) {
      PANTO_EXPECT(row.coordinate >= 0, "only outputs that are coordinates can be substituted");
      substituted[static_cast<size_t>(row.coordinate)] = 1;
      continue;
    }
    if (!lifts || formulation_ == Formulation::kOriginal ||
        formulation_ == Formulation::kSubstitution) {
      rows_.push_back({i, base, scale(base)});
    } else if (formulation_ == Formulation::kBaumgarte) {
      rows_.push_back({i, 3, 1});
    } else {
      rows_.push_back({i, base, scale(base)});
      if (formulation_ == Formulation::kMinimalExtension && base == 0)
        rows_.push_back({i, 1, scale(1)});
      rows_.push_back({i, 2, 1});
      lifted_rows_.push_back(i);
      lifted_positions += base == 0 ? 1 : 0;
    }
  }
  lifted_ = static_cast<int>(lifted_rows_.size());
  PANTO_EXPECT(lifted_ <= nv_, "more rows than coordinates");
  // Rows on positions first: they need dummy speeds too.
  std::stable_sort(lifted_rows_.begin(), lifted_rows_.end(), [&](int a, int b) {
    return rows[static_cast<size_t>(a)].level < rows[static_cast<size_t>(b)].level;
  });
  column_.assign(static_cast<size_t>(nv_), -1);
  for (int c = 0; c < nv_; ++c)
    if (substituted[static_cast<size_t>(c)] == 0) {
      column_[static_cast<size_t>(c)] = static_cast<int>(kept_.size());
      kept_.push_back(c);
    }
  int next = static_cast<int>(kept_.size());
  if (formulation_ == Formulation::kMinimalExtension) {
    for (int i = 0; i < lifted_; ++i) dummy_w_.push_back(i);
    for (int i = 0; i < lifted_positions; ++i) dummy_v_.push_back(i);
    first_v_ = next;
    next += lifted_positions;
    first_w_ = next;
    next += lifted_;
  }
  if (formulation_ == Formulation::kProjection) {
    first_a_ = next;
    next += nv_;
  }
  first_mu_ = next;
  local_ = next + nl_ + nu_;
  const int equations = nv_ + static_cast<int>(rows_.size()) +
                        (formulation_ == Formulation::kProjection ? nv_ - lifted_ : 0);
  PANTO_EXPECT(equations == local_, "as many equations as unknowns");
}

// Full pivoting on the lifted rows; pivot_column_[i] belongs to the i-th pivot. Columns chosen before are preferred where it makes little difference.
void StageSolver::choose_dummies() noexcept {
  for (int i = 0; i < lifted_; ++i)
    pivots_.row(i) = values_.G.row(lifted_rows_[static_cast<size_t>(i)]);
  std::fill(taken_.begin(), taken_.end(), 0);
  for (int i = 0; i < lifted_; ++i) {
    double best = 0;
    int column = -1;
    for (int c = 0; c < nv_; ++c) {
      if (taken_[static_cast<size_t>(c)] != 0) continue;
      const bool before = pivot_column_[static_cast<size_t>(i)] == c;
      const double size = std::abs(pivots_(i, c)) * (before ? 4 : 1);
      if (size > best) best = size, column = c;
    }
    if (column < 0) return;  // rows that depend on each other: the Newton matrix will be singular
    taken_[static_cast<size_t>(column)] = 1;
    pivot_column_[static_cast<size_t>(i)] = column;
    for (int k = i + 1; k < lifted_; ++k)
      pivots_.row(k) -= pivots_(k, column) / pivots_(i, column) * pivots_.row(i);
  }
  for (size_t i = 0; i < dummy_w_.size(); ++i) dummy_w_[i] = pivot_column_[i];
  for (size_t i = 0; i < dummy_v_.size(); ++i) dummy_v_[i] = pivot_column_[i];
}

// P: null space of the lifted rows by Gauss-Jordan elimination, and Pᵀ M. The solution does not depend on the choice of the basis.
void StageSolver::project() noexcept {
  for (int i = 0; i < lifted_; ++i)
    pivots_.row(i) = values_.G.row(lifted_rows_[static_cast<size_t>(i)]);
  std::fill(taken_.begin(), taken_.end(), 0);
  for (int i = 0; i < lifted_; ++i) {
    int column = 0;
    double best = -1;
    for (int c = 0; c < nv_; ++c)
      if (taken_[static_cast<size_t>(c)] == 0 && std::abs(pivots_(i, c)) > best)
        best = std::abs(pivots_(i, c)), column = c;
    taken_[static_cast<size_t>(column)] = 1;
    pivot_column_[static_cast<size_t>(i)] = column;
    const double inverse = best > 0 ? 1 / pivots_(i, column) : 0;
    for (int c = 0; c < nv_; ++c) pivots_(i, c) *= inverse;
    for (int k = 0; k < lifted_; ++k) {
      if (k == i) continue;
      const double factor = pivots_(k, column);
      if (factor != 0)
        for (int c = 0; c < nv_; ++c) pivots_(k, c) -= factor * pivots_(i, c);
    }
  }
}

void StageSolver::pack(const Eigen::MatrixXd& states) noexcept {
  for (int j = 0; j < stages(); ++j) {
    double* x = x_.data() + static_cast<ptrdiff_t>(j) * local_;
    const double* y = states.data() + static_cast<ptrdiff_t>(j) * state_size();
    for (size_t i = 0; i < kept_.size(); ++i) x[i] = y[kept_[i]];
    for (size_t i = 0; i < dummy_v_.size(); ++i)
      x[static_cast<size_t>(first_v_) + i] = y[nv_ + dummy_v_[i]];
    for (size_t i = 0; i < dummy_w_.size(); ++i)
      x[static_cast<size_t>(first_w_) + i] = y[2 * nv_ + dummy_w_[i]];
    if (first_a_ >= 0) std::copy(y + 2 * nv_, y + 3 * nv_, x + first_a_);
    std::copy(y + 3 * nv_, y + state_size(), x + first_mu_);
  }
}

// Speeds and accelerations of all stages from the unknowns.
void StageSolver::unpack() noexcept {
  const int s = stages();
  for (int j = 0; j < s; ++j) {
    const double* x = x_.data() + static_cast<ptrdiff_t>(j) * local_;
    double* y = states_.data() + static_cast<ptrdiff_t>(j) * state_size();
    for (size_t i = 0; i < kept_.size(); ++i) y[kept_[i]] = x[i];
    std::copy(x + first_mu_, x + local_, y + 3 * nv_);
  }
  for (const int c : kept_) {
    for (int j = 0; j < s; ++j) {
      double v = p_(c, j);
      for (int k = 0; k < s; ++k) v += rule_.D(j, k) * states_(c, k);
      states_(nv_ + c, j) = v;
    }
    for (int j = 0; j < s; ++j) {
      double w = s_(c, j);
      for (int k = 0; k < s; ++k) w += rule_.D(j, k) * states_(nv_ + c, k);
      w_rule_(c, j) = w;
      states_(2 * nv_ + c, j) = w;
    }
  }
  for (int j = 0; j < s; ++j) {
    const double* x = x_.data() + static_cast<ptrdiff_t>(j) * local_;
    double* y = states_.data() + static_cast<ptrdiff_t>(j) * state_size();
    for (size_t i = 0; i < dummy_v_.size(); ++i)
      y[nv_ + dummy_v_[i]] = x[static_cast<size_t>(first_v_) + i];
    for (size_t i = 0; i < dummy_w_.size(); ++i)
      y[2 * nv_ + dummy_w_[i]] = x[static_cast<size_t>(first_w_) + i];
    if (first_a_ >= 0) std::copy(x + first_a_, x + first_a_ + nv_, y + 2 * nv_);
  }
}

void StageSolver::evaluate_stage(int stage, bool with_tangent) noexcept {
  const double t = t_ + rule_.nodes[stage] * dt_;
  double* y = states_.data() + static_cast<ptrdiff_t>(stage) * state_size();
  const auto n = static_cast<size_t>(nv_);
  const int z = path_->size();
  path_->at(t, 3, {target_.data(), static_cast<size_t>(3 * z)});
  const auto& rows = system_.rows();
  if (formulation_ == Formulation::kSubstitution)
    for (int i = 0, k = 0; i < nu_; ++i, ++k) {
      const int c = rows[static_cast<size_t>(nl_ + i)].coordinate;
      for (int d = 0; d < 3; ++d) y[d * nv_ + c] = target_[d * z + k];
    }
  system_.evaluate({t,
                    {y, n},
                    {y + n, n},
                    {y + 2 * n, n},
                    {y + 3 * n, static_cast<size_t>(nl_)},
                    {y + 3 * n + nl_, static_cast<size_t>(nu_)}},
                   with_tangent, values_);
  ++(with_tangent ? report_.tangents : report_.values);
  // Servo rows lack what they shall be.
  for (int i = 0, k = 0; i < nu_; ++i) {
    const AlgebraicRow& row = rows[static_cast<size_t>(nl_ + i)];
    if (row.implicit) continue;
    const int base = static_cast<int>(row.level);
    Eigen::VectorXd* g[3] = {&values_.g0, &values_.g1, &values_.g2};
    for (int level = base; level < 3; ++level)
      (*g[level])[nl_ + i] =
          row.left((*g[level])[nl_ + i] - target_[(level - base) * z + k], level);
    ++k;
  }
  double* f = f_.data() + static_cast<ptrdiff_t>(stage) * local_;
  std::copy(values_.r.data(), values_.r.data() + nv_, f);
  f += nv_;
  for (const Row& row : rows_) {
    switch (row.level) {
      case 0:
        *f = row.scale * values_.g0[row.row];
        break;
      case 1:
        *f = row.scale * values_.g1[row.row];
        break;
      case 2:
        *f = row.scale * values_.g2[row.row];
        break;
      default:
        *f = values_.g2[row.row] + 2 * alpha_ * values_.g1[row.row];
        if (rows[static_cast<size_t>(row.row)].level == Level::kPosition)
          *f += beta_ * values_.g0[row.row];
    }
    ++f;
  }
  if (formulation_ != Formulation::kProjection) return;
  Eigen::MatrixXd& pm = basis_mass_[static_cast<size_t>(stage)];
  if (with_tangent) {
    project();
    int column = 0;
    for (int c = 0; c < nv_; ++c) {
      if (taken_[static_cast<size_t>(c)] != 0) continue;
      for (int k = 0; k < nv_; ++k) {
        double sum = values_.r_w(c, k);
        for (int i = 0; i < lifted_; ++i)
          sum -= pivots_(i, c) * values_.r_w(pivot_column_[static_cast<size_t>(i)], k);
        pm(column, k) = sum;
      }
      ++column;
    }
  }
  for (int i = 0; i < nv_ - lifted_; ++i) {
    double sum = 0;
    for (int k = 0; k < nv_; ++k) sum += pm(i, k) * (w_rule_(k, stage) - y[2 * nv_ + k]);
    *f++ = sum;
  }
}

// Derivatives of a stage's rows by all unknowns.
void StageSolver::assemble_stage(int stage) noexcept {
  const auto& rows = system_.rows();
  jy_.topRows(nv_) = values_.r_y;
  jv_.topRows(nv_) = values_.r_v;
  jw_.topRows(nv_) = values_.r_w;
  jmu_.topLeftCorner(nv_, nl_) = values_.r_lambda;
  jmu_.topRightCorner(nv_, nu_) = values_.r_u;
  int at = nv_;
  for (const Row& row : rows_) {
    const int i = row.row;
    const bool own = row.level == static_cast<int>(rows[static_cast<size_t>(i)].level);
    switch (row.level) {
      case 0:
        jy_.row(at) = row.scale * values_.G.row(i);
        jv_.row(at).setZero();
        jw_.row(at).setZero();
        break;
      case 1:
        jy_.row(at) = row.scale * values_.g1_y.row(i);
        jv_.row(at) = row.scale * values_.G.row(i);
        jw_.row(at).setZero();
        break;
      case 2:
        jy_.row(at) = row.scale * values_.g2_y.row(i);
        jv_.row(at) = row.scale * values_.g2_v.row(i);
        jw_.row(at) = row.scale * values_.G.row(i);
        break;
      default: {
        jy_.row(at) = values_.g2_y.row(i) + 2 * alpha_ * values_.g1_y.row(i);
        if (rows[static_cast<size_t>(i)].level == Level::kPosition)
          jy_.row(at) += beta_ * values_.G.row(i);
        jv_.row(at) = values_.g2_v.row(i) + 2 * alpha_ * values_.G.row(i);
        jw_.row(at) = values_.G.row(i);
      }
    }
    if (own)
      jmu_.row(at).tail(nu_) = row.scale * values_.g_u.row(i);
    else
      jmu_.row(at).tail(nu_).setZero();
    ++at;
  }
  const bool projected = formulation_ == Formulation::kProjection;
  if (projected) {
    const Eigen::MatrixXd& pm = basis_mass_[static_cast<size_t>(stage)];
    const int n = nv_ - lifted_;
    jy_.bottomRows(n).setZero();
    jv_.bottomRows(n).setZero();
    jw_.bottomRows(n) = -pm;
    jr_.bottomRows(n) = pm;  // the other rows of jr_ stay zero
    jmu_.bottomRows(n).setZero();
  }
  const Eigen::MatrixXd& by_rule = projected ? jr_ : jw_;
  const int s = stages(), top = stage * local_;
  for (int k = 0; k < s; ++k) {
    const bool own = k == stage;
    const double d = rule_.D(stage, k), d2 = D2_(stage, k);
    for (size_t i = 0; i < kept_.size(); ++i) {
      const int c = kept_[i];
      double* to = &matrix_(top, k * local_ + static_cast<int>(i));
      const double *y = &jy_(0, c), *v = &jv_(0, c), *w = &by_rule(0, c);
      if (own)
        for (int r = 0; r < local_; ++r) to[r] = y[r] + d * v[r] + d2 * w[r];
      else
        for (int r = 0; r < local_; ++r) to[r] = d * v[r] + d2 * w[r];
    }
    // Coordinates whose speeds or accelerations are unknowns themselves.
    for (size_t i = 0; i < dummy_w_.size(); ++i) {
      const int c = dummy_w_[i];
      auto to = matrix_.block(top, k * local_ + column_[static_cast<size_t>(c)], local_, 1);
      if (i < dummy_v_.size()) {
        if (own)
          to = jy_.col(c);
        else
          to.setZero();
      } else {
        to = d * jv_.col(c);
        if (own) to += jy_.col(c);
      }
    }
    if (!own) continue;
    for (size_t i = 0; i < dummy_v_.size(); ++i)
      matrix_.block(top, top + first_v_ + static_cast<int>(i), local_, 1) = jv_.col(dummy_v_[i]);
    for (size_t i = 0; i < dummy_w_.size(); ++i)
      matrix_.block(top, top + first_w_ + static_cast<int>(i), local_, 1) = jw_.col(dummy_w_[i]);
    if (projected) matrix_.block(top, top + first_a_, local_, nv_) = jw_;
    matrix_.block(top, top + first_mu_, local_, nl_ + nu_) = jmu_;
  }
}

void StageSolver::evaluate(bool with_tangent) noexcept {
  unpack();
  const bool assemble = with_tangent && options_.jacobian == JacobianKind::kAnalytic;
  if (assemble && stages() > 1) matrix_.setZero();  // blocks that couple no stages
  for (int j = 0; j < stages(); ++j) {
    evaluate_stage(j, with_tangent);
    if (assemble) assemble_stage(j);
  }
}

// Round-off of each row: of its terms in the unknowns.
void StageSolver::floor_of(const Eigen::MatrixXd& matrix) noexcept {
  const Eigen::Index n = matrix.rows();
  floor_.setZero();
  for (Eigen::Index c = 0; c < n; ++c) {
    const double size = kRoundOff * std::abs(x_[c]);
    for (Eigen::Index r = 0; r < n; ++r) floor_[r] += std::abs(matrix(r, c)) * size;
  }
}

// The matrix of Newton's method by differences, at x_ with f_ known.
bool StageSolver::jacobian() noexcept {
  const Eigen::Index n = x_.size();
  perturbed_ = f_;
  for (Eigen::Index c = 0; c < n; ++c) {
    const double x = x_[c], step = std::sqrt(kEpsilon) * std::max(1.0, std::abs(x));
    x_[c] = x + step;
    evaluate(false);
    matrix_.col(c) = (f_ - perturbed_) / (x_[c] - x);
    x_[c] = x;
  }
  f_ = perturbed_;
  return matrix_.allFinite();
}

// The last step moved positions so little that the next one, its square, is below round-off (that of a unit length or angle, where coordinates are small displacements).
// Forces that enter linearly have been solved for: rows are then as small as they get, which in stiff beams is far above what their terms in the unknowns
// suggest (stress is a small difference of squares).
bool StageSolver::stands_still() const noexcept {
  if (!dummy_w_.empty() || !system_.linear_in_forces()) return false;
  double step = 0, size = 0;
  for (int j = 0; j < stages(); ++j)
    for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(kept_.size()); ++i) {
      const Eigen::Index k = j * local_ + i;
      step = std::max(step, std::abs(dx_[k]));
      size = std::max(size, std::abs(x_[k]));
    }
  constexpr double kLast = 1e-9;
  return step <= std::max(kLast * size, kRoundOff);
}

bool StageSolver::converged() const noexcept {
  for (Eigen::Index i = 0; i < f_.size(); ++i)
    if (!(std::abs(f_[i]) <= options_.tolerance + floor_[i])) return false;
  return true;
}

// dx_ = matrix_⁻¹ f_.
bool StageSolver::solve_linear() noexcept {
  floor_of(matrix_);
  dx_ = f_;
  ++report_.factorisations;
  return eliminate(matrix_, dx_) && dx_.allFinite();
}

Status StageSolver::solve(double t, const Path& path, const Eigen::MatrixXd& p,
                          const Eigen::MatrixXd& s, Eigen::MatrixXd& states) noexcept {
  path_ = &path;
  t_ = t;
  p_ = p;
  s_ = s;
  states_ = states;
  const bool analytic = options_.jacobian == JacobianKind::kAnalytic,
             broyden = options_.jacobian == JacobianKind::kBroyden;
  if (formulation_ == Formulation::kMinimalExtension) {
    // Rows at the guess decide which speeds and accelerations are unknowns of their own.
    const auto n = static_cast<size_t>(nv_);
    const double* y = states_.data();
    system_.evaluate({t + rule_.nodes[0] * dt_,
                      {y, n},
                      {y + n, n},
                      {y + 2 * n, n},
                      {y + 3 * n, static_cast<size_t>(nl_)},
                      {y + 3 * n + nl_, static_cast<size_t>(nu_)}},
                     true, values_);
    choose_dummies();
  }
  pack(states_);
  report_.iterations = 0;
  Status status = Status::kNotConverged;
  // The projection needs the rows' directions: at the guess, and with exact derivatives at every iterate.
  evaluate(analytic || formulation_ == Formulation::kProjection);
  while (true) {
    report_.residual = f_.cwiseAbs().maxCoeff();
    if (report_.iterations == 0) report_.first_residual = report_.residual;
    if (!std::isfinite(report_.residual)) {
      status = Status::kNotFinite;
      break;
    }
    if (report_.iterations > 0 && converged()) {
      status = Status::kOk;
      break;
    }
    if (report_.iterations == options_.iterations) break;
    if (broyden) {
      const bool afresh = !have_inverse_ || (report_.iterations == 0 && options_.restart > 0 &&
                                             steps_ % options_.restart == 0);
      if (afresh) {
        if (!jacobian()) {
          status = Status::kNotFinite;
          break;
        }
        floor_of(matrix_);
        inverse_.setIdentity();
        ++report_.factorisations;
        if (!eliminate(matrix_, inverse_)) {
          status = Status::kSingular;
          break;
        }
        have_inverse_ = true;
      }
      dx_.noalias() = inverse_ * f_;
    } else {
      if (!analytic && !jacobian()) {
        status = Status::kNotFinite;
        break;
      }
      kept_matrix_ = matrix_;
      if (!solve_linear()) {
        status = Status::kSingular;
        break;
      }
    }
    x_ -= dx_;
    ++report_.iterations;
    if (options_.iterations == 1) {  // linear implicit: the iterate is the answer
      unpack();
      status = dx_.allFinite() ? Status::kOk : Status::kNotFinite;
      break;
    }
    evaluate(false);
    if (broyden) {
      // J + f χᵀ / χᵀχ with χ = -dx (SRV-13), carried over to the inverse by Sherman and Morrison.
      const double square = dx_.squaredNorm();
      hf_.noalias() = inverse_ * f_;
      th_.noalias() = inverse_.transpose() * dx_;
      const double denominator = square - dx_.dot(hf_);
      if (std::abs(denominator) > 1e-12 * square) {
        th_ /= denominator;
        inverse_.noalias() += hf_ * th_.transpose();
      }
    } else if (analytic) {
      if (converged() || (stands_still() && f_.allFinite())) {
        report_.residual = f_.cwiseAbs().maxCoeff();
        status = Status::kOk;
        break;
      }
      evaluate(true);
    }
  }
  ++steps_;
  states = states_;
  return status;
}

}  // namespace panto
