#include "panto/estimation/index3.hpp"

#include <algorithm>
#include <limits>

#include "panto/base/contract.hpp"

namespace panto {

namespace {

constexpr double kConverged = 1e-10;  // of a correction of coordinates
constexpr int kIterations = 30;
constexpr double kSlow = 0.1;  // corrections that shrink less than this ask for new factors

MutableView view(Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }
void copy(View from, Eigen::VectorXd& to) { std::copy(from.begin(), from.end(), to.data()); }
void copy(const Eigen::VectorXd& from, MutableView to) {
  std::copy(from.data(), from.data() + from.size(), to.begin());
}

}  // namespace

Index3Plant::Index3Plant(Workspace& workspace) : workspace_(workspace), nv_(workspace.model().nv) {
  const Model& m = workspace.model();
  PANTO_EXPECT(m.n_velocity_rows + m.n_acceleration_rows == 0,
               "index-3 plant: velocity-controlled inputs");
  const auto redundant = workspace.redundant_rows();
  for (int i = 0; i < m.n_position_rows; ++i)
    if (std::find(redundant.begin(), redundant.end(), i) == redundant.end()) rows_.push_back(i);
  nc_ = static_cast<int>(rows_.size());
  q_.setZero(m.nq);
  q0_ = q_;
  for (auto* x : {&v_, &v0_, &a_, &a0_, &step_, &zero_}) x->setZero(nv_);
  lambda_.setZero(m.n_rows());
  right_.setZero(nv_ + nc_);
  solution_ = right_;
  left_.setIdentity(nv_ + nc_, nv_ + nc_);
  lu_.compute(left_);
  mass_.setZero(nv_, nv_);
  g_.setZero(m.n_rows(), nv_);
  for (const Joint& j : m.joints)
    if (j.type == JointType::kSpherical) q_(j.q) = 1;
  Point x;
  x.q = view(q_);
  x.v = x.a = view(zero_);
  workspace_.residual(x, false, residual_);
  workspace_.tangent(x, blocks_, tangent_);
}

// Last rows and columns of the saddle matrix from g_.
void Index3Plant::border() noexcept {
  for (int i = 0; i < nc_; ++i) {
    left_.row(nv_ + i).head(nv_) = g_.row(rows_[static_cast<size_t>(i)]);
    left_.col(nv_ + i).head(nv_) = -g_.row(rows_[static_cast<size_t>(i)]).transpose();
  }
}

bool Index3Plant::linearise(const Point& x, double h) noexcept {
  workspace_.tangent(x, blocks_, tangent_);
  left_.setZero();
  left_.topLeftCorner(nv_, nv_) =
      tangent_.r_a + (h / 2) * tangent_.r_v + (h * h / 4) * tangent_.r_q;
  g_ = tangent_.phi_ddot_a;
  border();
  lu_.compute(left_);
  return left_.allFinite();
}

Status Index3Plant::step(double t, double h, View u, View u_rate, View added, MutableView q,
                         MutableView v, MutableView a) noexcept {
  copy(q, q0_);
  copy(v, v0_);
  copy(a, a0_);
  q_ = q0_;
  lambda_.setZero();
  step_ = h * v0_ + 0.5 * h * h * a0_;
  workspace_.move(view(q_), view(step_));
  Point x;
  x.t = t + h;
  x.q = view(q_);
  x.v = view(v_);
  x.a = view(a_);
  x.lambda = view(lambda_);
  x.u = u;
  x.u_rate = u_rate;
  const double scale = h * h / 4;
  double before = std::numeric_limits<double>::infinity(), change = before;
  for (int iteration = 0;; ++iteration) {
    if (iteration == kIterations) return Status::kNotConverged;
    workspace_.difference(view(q_), view(q0_), view(step_));
    v_ = (2 / h) * step_ - v0_;
    a_ = (4 / (h * h)) * step_ - (4 / h) * v0_ - a0_;
    // The factors of the first iteration serve as long as corrections shrink well.
    const bool renew = iteration == 0 || change > kSlow * before;
    if (renew && !linearise(x, h)) return Status::kNotFinite;
    workspace_.residual(x, false, residual_);
    for (int i = 0; i < nv_; ++i)
      right_(i) = -scale * (residual_.r(i) - added[static_cast<size_t>(i)]);
    for (int i = 0; i < nc_; ++i) right_(nv_ + i) = -residual_.phi(rows_[static_cast<size_t>(i)]);
    solution_ = lu_.solve(right_);
    if (!solution_.allFinite()) return Status::kNotFinite;
    step_ = solution_.head(nv_);
    workspace_.move(view(q_), view(step_));
    for (int i = 0; i < nc_; ++i)
      lambda_(rows_[static_cast<size_t>(i)]) += solution_(nv_ + i) / scale;
    before = change;
    change = step_.cwiseAbs().maxCoeff();
    if (change <= kConverged) break;
  }
  workspace_.normalise(view(q_));
  workspace_.difference(view(q_), view(q0_), view(step_));
  v_ = (2 / h) * step_ - v0_;
  a_ = (4 / (h * h)) * step_ - (4 / h) * v0_ - a0_;
  // Projections, with the mass as metric.
  x.a = view(zero_);
  workspace_.residual(x, false, residual_);
  workspace_.constraint_jacobian(t + h, view(q_), g_);
  workspace_.mass_matrix(view(q_), mass_);
  left_.topLeftCorner(nv_, nv_) = mass_;
  border();
  lu_.compute(left_);
  right_.head(nv_).noalias() = mass_ * v_;
  // φ̇ = G v + what drivers prescribe; the latter is φ̇ of the residual minus G v.
  for (int i = 0; i < nc_; ++i)
    right_(nv_ + i) =
        left_.row(nv_ + i).head(nv_).dot(v_) - residual_.phi_dot(rows_[static_cast<size_t>(i)]);
  solution_ = lu_.solve(right_);
  v_ = solution_.head(nv_);
  workspace_.residual(x, false, residual_);
  right_.head(nv_).noalias() = mass_ * a_;
  for (int i = 0; i < nc_; ++i)
    right_(nv_ + i) = -residual_.phi_ddot(rows_[static_cast<size_t>(i)]);
  solution_ = lu_.solve(right_);
  a_ = solution_.head(nv_);
  if (!v_.allFinite() || !a_.allFinite()) return Status::kNotFinite;
  copy(q_, q);
  copy(v_, v);
  copy(a_, a);
  return Status::kOk;
}

}  // namespace panto
