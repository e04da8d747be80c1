#include "panto/mechanics/closure.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "panto/mechanics/labels.hpp"

namespace panto {

namespace {

constexpr double kConverged = 1e-10;  // of the scaled rows; polishing goes on to round-off
constexpr double kRoundOff = 1e-16;
constexpr double kRankTolerance = 1e-9;
constexpr double kLargestStep = 0.5;  // rad, or lengths
constexpr double kChord = 1e-5;       // below this error the last decomposition still serves

}  // namespace

Closure::Closure(Workspace& workspace, double t) : workspace_(workspace), t_(t) {
  const Model& m = workspace.model();
  dof_scale_.setOnes(m.nv);
  mobility.setOnes(m.nv);
  zero_.setZero(m.nv);
  for (const ScalarCoordinate& e : scalar_coordinates(m))
    if (!e.angular) dof_scale_(e.v) = workspace.length();
  row_scale_.resize(m.n_rows());
  for (int i = 0; i < m.n_rows(); ++i)
    row_scale_(i) = scale_of(m.rows[static_cast<size_t>(i)].channel);
}

double Closure::scale_of(const Channel& c) const {
  return is_length(c) ? 1 / workspace_.length() : 1.0;
}

Eigen::VectorXd Closure::rows(const Eigen::VectorXd& q) {
  const Model& m = workspace_.model();
  const int np = m.n_position_rows;
  Eigen::VectorXd r(np + static_cast<int>(wanted.size()));
  Point at;
  at.t = t_;
  at.q = view(q);
  at.v = at.a = view(zero_);
  workspace_.residual(at, false, residual_);
  r.head(np) = residual_.phi.cwiseProduct(row_scale_.head(np));
  for (size_t i = 0; i < wanted.size(); ++i) {
    const WantedValue& w = wanted[i];
    double e = workspace_.channel(w.channel, Order::kValue, view(q), {}, {}) - w.value;
    if (w.channel.kind == ChannelKind::kAngle || w.channel.within_turn)
      e = std::remainder(e, 2 * std::numbers::pi);
    r(np + static_cast<int>(i)) = e * scale_of(w.channel);
  }
  return r;
}

Eigen::MatrixXd Closure::jacobian(const Eigen::VectorXd& q) {
  const Model& m = workspace_.model();
  const int np = m.n_position_rows;
  Eigen::MatrixXd a(np + static_cast<int>(wanted.size()), m.nv);
  workspace_.constraint_jacobian(t_, view(q), g_);
  a.topRows(np) = row_scale_.head(np).asDiagonal() * g_.topRows(np);
  Eigen::VectorXd gradient(m.nv);
  for (size_t i = 0; i < wanted.size(); ++i) {
    workspace_.channel(wanted[i].channel, Order::kValue, view(q), {}, view(gradient));
    a.row(np + static_cast<int>(i)) = scale_of(wanted[i].channel) * gradient.transpose();
  }
  return a * dof_scale_.asDiagonal();
}

double Closure::step_size(const Eigen::VectorXd& step) const {
  double largest = 0;
  for (const Joint& j : workspace_.model().joints)
    if (j.nv > 0) largest = std::max(largest, step.segment(j.v, j.nv).norm());
  for (int k = workspace_.model().joint_nv(); k < workspace_.model().nv; ++k)
    largest = std::max(largest, std::abs(step(k)));
  return largest;
}

ClosureResult Closure::solve(Eigen::VectorXd& q, int max_iterations) {
  ClosureResult result;
  Eigen::VectorXd weight =
      Eigen::VectorXd::Ones(workspace_.model().n_position_rows + static_cast<int>(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i)
    weight(workspace_.model().n_position_rows + static_cast<int>(i)) = wanted[i].weight;

  workspace_.normalise(view(q));
  Eigen::VectorXd r = rows(q), trial_q, trial_r;
  Eigen::MatrixXd a;
  MinimumNorm newton(kRankTolerance);
  double damping = 0;
  bool reusable = false;
  int stalled = 0;
  for (;; ++result.iterations) {
    result.error = r.size() > 0 ? r.cwiseAbs().maxCoeff() : 0;
    result.finite = std::isfinite(result.error);
    result.converged = result.error <= kConverged;
    if (!result.finite || result.error <= kRoundOff || stalled >= 8 ||
        result.iterations >= max_iterations)
      break;
    const Eigen::VectorXd right = -r.cwiseProduct(weight);
    const bool reused = reusable && result.error < kChord;
    if (!reused) {
      a = weight.asDiagonal() * jacobian(q) * mobility.asDiagonal();
      if (!a.allFinite()) {
        result.finite = false;
        break;
      }
      newton.compute(a);
      reusable = true;
    }
    const double before = right.squaredNorm();
    bool descended = false;
    for (int attempt = 0; attempt < 12 && !descended; ++attempt) {
      Eigen::VectorXd step =
          damping > 0 ? damped_least_squares(a, right, damping) : newton.solve(right);
      step = step.cwiseProduct(mobility);
      const double size = step_size(step);
      if (size == 0) break;
      if (size > kLargestStep) step *= kLargestStep / size;
      step = step.cwiseProduct(dof_scale_);
      trial_q = q;
      workspace_.move(view(trial_q), view(step));
      trial_r = rows(trial_q);
      const double after = trial_r.cwiseProduct(weight).squaredNorm();
      descended = after < before;
      if (descended) {
        stalled = after > (1 - 1e-6) * before ? stalled + 1 : 0;
        damping = damping > 1e-8 ? 0.1 * damping : 0;
      } else if (reused || result.error < 1e-12) {
        break;  // try the true derivative first; or round-off
      } else {
        damping = std::max(10 * damping, 1e-6);
      }
    }
    if (!descended) {
      if (!reused || result.error < 1e-12) break;
      reusable = false;
      continue;
    }
    q = trial_q;
    r = trial_r;
  }
  workspace_.normalise(view(q));
  return result;
}

}  // namespace panto
