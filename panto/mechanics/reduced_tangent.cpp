#include "panto/mechanics/reduced_tangent.hpp"

#include <algorithm>

namespace panto {

namespace {

MutableView column(Eigen::MatrixXd& a, int j) {
  return {a.col(j).data(), static_cast<size_t>(a.rows())};
}

}  // namespace

ReducedTangent::ReducedTangent(Workspace& workspace)
    : workspace_(workspace),
      nv_(workspace.model().nv),
      np_(static_cast<int>(workspace.independent_positions().size())),
      nz_(static_cast<int>(workspace.independent_speeds().size())),
      na_(static_cast<int>(workspace.independent_accelerations().size())),
      m_(np_ + nz_) {
  const Model& model = workspace.model();
  dq_.setZero(nv_, m_);
  dv_.setZero(nv_, m_);
  da_.setZero(nv_, m_);
  b_.setZero(model.n_rows(), m_);
  mass_.setZero(nv_, nv_);
  force_.setZero(nv_, m_);
  basis_.setZero(nv_, na_);
  mass_basis_.setZero(nv_, na_);
  reduced_mass_.setIdentity(na_, na_);
  reduced_force_.setZero(na_, m_);
  none_.resize(nv_, 0);
  still_.setZero(nv_, na_);
  unit_.setZero(model.n_rows());
  lever_.setZero(nv_);
  lever_mass_.setZero(na_);
  llt_.compute(reduced_mass_);
  // One evaluation at any pose allocates the dual numbers.
  std::vector<double> q(static_cast<size_t>(model.nq), 0.0), v(static_cast<size_t>(nv_), 0.0),
      lambda(model.rows.size(), 0.0), u(model.inputs.size(), 0.0);
  for (const Joint& j : model.joints)
    if (j.type == JointType::kSpherical) q[static_cast<size_t>(j.q)] = 1;
  Point x;
  x.q = q;
  x.v = x.a = v;
  x.lambda = lambda;
  x.u = x.u_rate = u;
  workspace_.along(x, Level::kAcceleration, dq_, dv_, none_, {}, along_);
}

// δq along the independent directions: G δq = 0 on position rows.
void ReducedTangent::positions() noexcept {
  const auto zp = workspace_.independent_positions();
  dq_.setZero();
  for (int j = 0; j < np_; ++j) {
    dq_(zp[static_cast<size_t>(j)], j) = 1;
    workspace_.complete(Level::kPosition, {}, column(dq_, j));
  }
}

// δv: G δv = -(∂φ̇/∂q) δq on position and velocity rows.
void ReducedTangent::velocities(const Point& x) noexcept {
  positions();
  const auto zv = workspace_.independent_speeds();
  dv_.setZero();
  if (workspace_.model().n_rows() > 0) {
    workspace_.along(x, Level::kVelocity, dq_, dv_, none_, {}, along_);
    b_.topRows(along_.phi_dot.rows()) = -along_.phi_dot;
  }
  for (int j = 0; j < m_; ++j) {
    if (j >= np_) dv_(zv[static_cast<size_t>(j - np_)], j) = 1;
    workspace_.complete(Level::kVelocity, column(b_, j), column(dv_, j));
  }
}

// δa = c + R δz̈ with G c = -(∂φ̈/∂q δq + ∂φ̈/∂v δv) and Rᵀ (∂r/∂q δq + ∂r/∂v δv + M δa) = 0: the multipliers' change drops out.
Status ReducedTangent::accelerations(const Point& x) noexcept {
  velocities(x);
  const auto za = workspace_.independent_accelerations();
  workspace_.along(x, Level::kAcceleration, dq_, dv_, none_, {}, along_);
  workspace_.mass_matrix(x.q, mass_);
  force_ = along_.r;
  da_.setZero();
  if (workspace_.model().n_rows() > 0) {
    b_ = -along_.phi_ddot;
    for (int j = 0; j < m_; ++j)
      workspace_.complete(Level::kAcceleration, column(b_, j), column(da_, j));
    // Column by column: products of large matrices allocate.
    for (int j = 0; j < m_; ++j) force_.col(j).noalias() += mass_ * da_.col(j);
  }
  if (na_ == 0) return Status::kOk;
  basis_.setZero();
  for (int j = 0; j < na_; ++j) {
    basis_(za[static_cast<size_t>(j)], j) = 1;
    workspace_.complete(Level::kAcceleration, {}, column(basis_, j));
  }
  for (int j = 0; j < na_; ++j) mass_basis_.col(j).noalias() = mass_ * basis_.col(j);
  reduced_mass_.noalias() = basis_.transpose() * mass_basis_;
  llt_.compute(reduced_mass_);
  if (llt_.info() != Eigen::Success) return Status::kSingular;
  reduced_force_.noalias() = basis_.transpose() * force_;
  reduced_force_ *= -1;  // a negated factor would be a temporary
  llt_.solveInPlace(reduced_force_);
  da_.noalias() += basis_ * reduced_force_;
  return da_.allFinite() ? Status::kOk : Status::kNotFinite;
}

void ReducedTangent::reserve_outputs(int count) {
  along_.y.resize(count, m_);
  by_acceleration_ = along_;
  by_acceleration_.r.resize(nv_, na_);
  by_acceleration_.phi_dot.resize(along_.phi_dot.rows(), na_);
  by_acceleration_.phi_ddot.resize(along_.phi_ddot.rows(), na_);
  by_acceleration_.y.resize(count, na_);
}

void ReducedTangent::lever(int row) noexcept {
  unit_.setZero();
  unit_(row) = 1;
  lever_.setZero();
  workspace_.complete(Level::kAcceleration, {unit_.data(), static_cast<size_t>(unit_.size())},
                      {lever_.data(), static_cast<size_t>(nv_)});
  lever_mass_.noalias() = lever_.transpose() * mass_basis_;
}

// Multipliers: Gᵀ δλ = ∂r/∂q δq + ∂r/∂v δv + M δa, so δλ_i = xᵀ of it where G x = e_i and the independent entries of x are zero.
void ReducedTangent::outputs(const Point& x, Level level, std::span<const int> outputs,
                             Eigen::MatrixXd& y) noexcept {
  const auto rows = static_cast<Eigen::Index>(outputs.size());
  if (y.rows() < rows || y.cols() != m_) y.resize(rows, m_);
  // Channels of positions by their gradients, times δq.
  const auto placed = [this](int output) {
    const Output& o = workspace_.model().outputs[static_cast<size_t>(output)];
    return o.kind == OutputKind::kChannel && o.order == Order::kValue && !o.minus_gravity;
  };
  if (std::all_of(outputs.begin(), outputs.end(), placed)) {
    for (Eigen::Index i = 0; i < rows; ++i) {
      workspace_.output_row(outputs[static_cast<size_t>(i)],
                            {lever_.data(), static_cast<size_t>(nv_)});
      y.row(i).noalias() = lever_.transpose() * dq_;
    }
    return;
  }
  workspace_.along(x, level, dq_, dv_, level == Level::kAcceleration ? da_ : none_, outputs,
                   along_);
  y.topRows(rows) = along_.y.topRows(rows);
  if (level != Level::kAcceleration) return;
  for (Eigen::Index i = 0; i < rows; ++i) {
    const Output& o =
        workspace_.model().outputs[static_cast<size_t>(outputs[static_cast<size_t>(i)])];
    if (o.kind != OutputKind::kMultiplier) continue;
    lever(o.index);
    y.row(i).noalias() = lever_.transpose() * force_;
    if (na_ > 0) y.row(i).noalias() += lever_mass_ * reduced_force_;
  }
}

void ReducedTangent::outputs_by_acceleration(const Point& x, std::span<const int> outputs,
                                             Eigen::MatrixXd& y) noexcept {
  workspace_.along(x, Level::kAcceleration, still_, still_, basis_, outputs, by_acceleration_);
  const auto rows = static_cast<Eigen::Index>(outputs.size());
  if (y.rows() < rows || y.cols() != na_) y.resize(rows, na_);
  y.topRows(rows) = by_acceleration_.y.topRows(rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const Output& o =
        workspace_.model().outputs[static_cast<size_t>(outputs[static_cast<size_t>(i)])];
    if (o.kind != OutputKind::kMultiplier) continue;
    lever(o.index);
    y.row(i) = lever_mass_;
  }
}

}  // namespace panto
