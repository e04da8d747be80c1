#include "panto/integrate/ode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "panto/base/contract.hpp"
#include "panto/mechanics/reduced_tangent.hpp"

namespace panto {

namespace {

// Dependent pivots this much smaller than their best since the choice amplify errors of the independent coordinates by as much.
constexpr double kWorn = 0.1;

// Columns of 2 N for a quaternion: q̇ = ½ Σ w_k axis(k).
double quaternion_axis(const double* u, int k, int e) {
  switch (4 * k + e) {
    case 0:
      return -u[1];
    case 1:
      return u[0];
    case 2:
      return u[3];
    case 3:
      return -u[2];
    case 4:
      return -u[2];
    case 5:
      return -u[3];
    case 6:
      return u[0];
    case 7:
      return u[1];
    case 8:
      return -u[3];
    case 9:
      return u[2];
    case 10:
      return -u[1];
    default:
      return u[0];
  }
}

MutableView view(double* data, int n) { return {data, static_cast<size_t>(n)}; }

}  // namespace

struct Ode::Derivatives {
  explicit Derivatives(Workspace& workspace) : motion(workspace) {}
  ReducedTangent motion;
  Eigen::MatrixXd columns, reduced;
};

Ode::Ode(Workspace& workspace, bool with_work) : workspace_(workspace), with_work_(with_work) {
  const Model& m = workspace.model();
  nq_ = m.nq;
  nv_ = m.nv;
  np_ = static_cast<int>(workspace.independent_positions().size());
  nz_ = static_cast<int>(workspace.independent_speeds().size());
  na_ = static_cast<int>(workspace.independent_accelerations().size());
  const auto nv = static_cast<size_t>(nv_);
  q_.resize(static_cast<size_t>(nq_));
  v_.assign(nv, 0.0);
  a_.assign(nv, 0.0);
  lambda_.assign(m.rows.size(), 0.0);
  u_.assign(m.inputs.size(), 0.0);
  u_rate_.assign(m.inputs.size(), 0.0);
  dof_coordinate_.resize(nv);
  dof_component_.assign(nv, -1);
  for (const Joint& j : m.joints)
    for (int k = 0; k < j.nv; ++k) {
      dof_coordinate_[static_cast<size_t>(j.v + k)] = j.q;
      if (j.type == JointType::kSpherical) dof_component_[static_cast<size_t>(j.v + k)] = k;
      plain_ = plain_ && j.type != JointType::kSpherical;
    }
  plain_ = plain_ && np_ == nz_;
  for (const ScalarCoordinate& e : scalar_coordinates(m))
    dof_coordinate_[static_cast<size_t>(e.v)] = e.q;
  for (const ConstraintRow& row : m.rows) driven_ = driven_ || row.target != TargetKind::kConstant;
  old_positions_.reserve(nv);
  old_speeds_.reserve(nv);
  best_conditioning_ = workspace.conditioning();
  window_begin_ = -std::numeric_limits<double>::infinity();
  window_end_ = std::numeric_limits<double>::infinity();
}

Ode::~Ode() = default;

void Ode::set_window(double begin, double end) {
  PANTO_EXPECT(begin < end, "empty time window");
  window_begin_ = begin;
  window_end_ = std::nextafter(end, begin);
}

double Ode::inside_window(double t) const noexcept {
  return std::clamp(t, window_begin_, window_end_);
}

void Ode::watch() noexcept {
  const double now = workspace_.conditioning();
  best_conditioning_ = std::max(best_conditioning_, now);
  worn_ = worn_ || now < kWorn * best_conditioning_;
}

Status Ode::close(double t, View x) noexcept {
  std::copy_n(x.begin(), nq_, q_.begin());
  const Status closed = workspace_.close_positions(t, q_);
  if (closed != Status::kOk && closed != Status::kRepartition) return closed;
  if (closed == Status::kRepartition) worn_ = true;
  watch();
  workspace_.inputs_at(t, u_, u_rate_);
  const auto z = workspace_.independent_speeds();
  for (size_t i = 0; i < z.size(); ++i)
    v_[static_cast<size_t>(z[i])] = x[static_cast<size_t>(nq_) + i];
  const Status moving = workspace_.close_velocities(t, u_, v_);
  return moving == Status::kOk ? closed : moving;
}

Status Ode::evaluate(double t, View x) noexcept {
  ++evaluations_;
  const Status closed = close(t, x);
  if (closed != Status::kOk && closed != Status::kRepartition) return closed;
  const Status accelerated = workspace_.accelerations(t, v_, u_, u_rate_, a_);
  return accelerated == Status::kOk ? closed : accelerated;
}

Status Ode::rhs(double t, View x, MutableView x_dot) noexcept {
  t = inside_window(t);
  const Status status = evaluate(t, x);
  if (status != Status::kOk && status != Status::kRepartition) return status;
  if (with_work_ && driven_) workspace_.multipliers(a_, lambda_);
  fill_rates(x_dot);
  return status;
}

void Ode::fill_rates(MutableView x_dot) noexcept {
  workspace_.coordinate_rates(q_, v_, x_dot.first(static_cast<size_t>(nq_)));
  const auto z = workspace_.independent_speeds();
  for (size_t i = 0; i < z.size(); ++i)
    x_dot[static_cast<size_t>(nq_) + i] = a_[static_cast<size_t>(z[i])];
  if (!with_work_) return;
  const auto at = static_cast<size_t>(nq_ + nz_);
  workspace_.last_power(u_, lambda_, x_dot[at], x_dot[at + 1]);
}

Status Ode::imbalance(double t, View x, View rates, MutableView rest) noexcept {
  t = inside_window(t);
  ++evaluations_;
  const Status closed = close(t, x);
  if (closed != Status::kOk && closed != Status::kRepartition) return closed;
  const auto z = workspace_.independent_speeds();
  for (size_t i = 0; i < z.size(); ++i) a_[static_cast<size_t>(z[i])] = rates[i];
  const Status status = workspace_.imbalance(t, v_, u_, u_rate_, a_, lambda_, rest);
  return status == Status::kOk ? closed : status;
}

void Ode::power(MutableView in_and_out) noexcept {
  workspace_.last_power(u_, lambda_, in_and_out[0], in_and_out[1]);
}

View Ode::multipliers() noexcept {
  workspace_.multipliers(a_, lambda_);
  return lambda_;
}

void Ode::prepare_derivatives() {
  if (d_) return;
  d_ = std::make_unique<Derivatives>(workspace_);
  d_->columns.setZero(dynamic_size(), reduced_size());
  d_->reduced.setZero(reduced_size(), reduced_size());
}

const Eigen::MatrixXd& Ode::columns() const { return d_->columns; }
const Eigen::MatrixXd& Ode::reduced_jacobian() const { return d_->reduced; }
const ReducedTangent& Ode::motion() const { return d_->motion; }

Status Ode::linearise(double t, View x) noexcept {
  t = inside_window(t);
  ++linearisations_;
  Derivatives& d = *d_;
  const Status status = evaluate(t, x);
  if (status != Status::kOk && status != Status::kRepartition) return status;
  workspace_.multipliers(a_, lambda_);
  Point point;
  point.t = t;
  point.q = q_;
  point.v = v_;
  point.a = a_;
  point.lambda = lambda_;
  point.u = u_;
  point.u_rate = u_rate_;
  const Status linear = d.motion.accelerations(point);
  if (linear != Status::kOk) return linear;
  const Eigen::MatrixXd &dq = d.motion.dq(), &dv = d.motion.dv(), &da = d.motion.da();
  const auto zv = workspace_.independent_speeds();
  const int m = reduced_size();

  // Rows of F: δq̇ = N δv + (∂N/∂q δq) v, then the independent accelerations.
  Eigen::MatrixXd& f = d.columns;
  for (int dof = 0; dof < nv_; ++dof) {
    const int at = dof_coordinate_[static_cast<size_t>(dof)],
              axis = dof_component_[static_cast<size_t>(dof)];
    if (axis < 0) {
      f.row(at) = dv.row(dof);
    } else if (axis == 0) {
      const double* u = &q_[static_cast<size_t>(at)];
      const double* w = &v_[static_cast<size_t>(dof)];
      for (int j = 0; j < m; ++j) {
        double du[4], sum[4] = {0, 0, 0, 0};
        for (int e = 0; e < 4; ++e) {
          du[e] = 0;
          for (int k = 0; k < 3; ++k) du[e] += 0.5 * quaternion_axis(u, k, e) * dq(dof + k, j);
        }
        for (int e = 0; e < 4; ++e) {
          for (int k = 0; k < 3; ++k)
            sum[e] += 0.5 * (quaternion_axis(u, k, e) * dv(dof + k, j) +
                             quaternion_axis(du, k, e) * w[k]);
          f(at + e, j) = sum[e];
        }
      }
    }
  }
  for (int i = 0; i < nz_; ++i) f.row(nq_ + i) = da.row(zv[static_cast<size_t>(i)]);
  for (int j = 0; j < m; ++j)
    reduce({f.col(j).data(), static_cast<size_t>(dynamic_size())},
           view(d.reduced.col(j).data(), m));
  return d.reduced.allFinite() ? status : Status::kNotFinite;
}

void Ode::reduce(View x_step, MutableView w) const noexcept {
  const auto zp = workspace_.independent_positions();
  for (size_t i = 0; i < zp.size(); ++i) {
    const auto dof = static_cast<size_t>(zp[i]);
    const auto at = static_cast<size_t>(dof_coordinate_[dof]);
    const int axis = dof_component_[dof];
    if (axis < 0) {
      w[i] = x_step[at];
    } else {
      // N⁺ = 4 Nᵀ on the unit sphere.
      double sum = 0;
      for (int e = 0; e < 4; ++e)
        sum += quaternion_axis(&q_[at], axis, e) * x_step[at + static_cast<size_t>(e)];
      w[i] = 2 * sum;
    }
  }
  for (size_t i = 0; i < static_cast<size_t>(nz_); ++i)
    w[static_cast<size_t>(np_) + i] = x_step[static_cast<size_t>(nq_) + i];
}

Status Ode::jacobian(double t, View x, Eigen::MatrixXd& jacobian) noexcept {
  prepare_derivatives();
  const Status status = linearise(t, x);
  if (status != Status::kOk && status != Status::kRepartition) return status;
  jacobian.setZero(size(), size());
  const int n = dynamic_size();
  const Eigen::MatrixXd& f = d_->columns;
  const auto zp = workspace_.independent_positions();
  for (int j = 0; j < np_; ++j) {
    const auto dof = static_cast<size_t>(zp[static_cast<size_t>(j)]);
    const int at = dof_coordinate_[dof], axis = dof_component_[dof];
    if (axis < 0) {
      jacobian.col(at).head(n) = f.col(j);
    } else {
      for (int e = 0; e < 4; ++e)
        jacobian.col(at + e).head(n) +=
            2 * quaternion_axis(&q_[static_cast<size_t>(at)], axis, e) * f.col(j);
    }
  }
  jacobian.block(0, nq_, n, nz_) = f.rightCols(nz_);
  return status;
}

Status Ode::project(double t, MutableView x) noexcept {
  const Status status = close(inside_window(t), x);
  if (status != Status::kOk && status != Status::kRepartition) return status;
  std::copy(q_.begin(), q_.end(), x.begin());
  return status;
}

void Ode::pack(View q, View v, MutableView x) const noexcept {
  std::copy(q.begin(), q.end(), x.begin());
  const auto z = workspace_.independent_speeds();
  for (size_t i = 0; i < z.size(); ++i)
    x[static_cast<size_t>(nq_) + i] = v[static_cast<size_t>(z[i])];
}

Status Ode::unpack(double t, View x, MutableView q, MutableView v) noexcept {
  const Status status = close(inside_window(t), x);
  if (status != Status::kOk && status != Status::kRepartition) return status;
  std::copy(q_.begin(), q_.end(), q.begin());
  std::copy(v_.begin(), v_.end(), v.begin());
  return status;
}

Status Ode::repartition(double t, MutableView x, bool renew) noexcept {
  t = inside_window(t);
  const Status closed = close(t, x);
  if (closed != Status::kOk && closed != Status::kRepartition) return closed;
  const auto copy = [](std::span<const int> from, std::vector<int>& to) {
    to.assign(from.begin(), from.end());
  };
  copy(workspace_.independent_positions(), old_positions_);
  copy(workspace_.independent_speeds(), old_speeds_);
  workspace_.choose_partition(t, q_, renew);
  const auto zp = workspace_.independent_positions(), zv = workspace_.independent_speeds();
  if (static_cast<int>(zp.size()) != np_ || static_cast<int>(zv.size()) != nz_ ||
      static_cast<int>(workspace_.independent_accelerations().size()) != na_)
    return Status::kSingular;
  worn_ = false;
  best_conditioning_ = workspace_.conditioning();
  pack(q_, v_, x);
  const bool same = std::equal(zp.begin(), zp.end(), old_positions_.begin()) &&
                    std::equal(zv.begin(), zv.end(), old_speeds_.begin());
  return same ? Status::kOk : Status::kRepartition;
}

}  // namespace panto
