#include "panto/estimation/ekf.hpp"

#include <algorithm>
#include <cmath>

#include "panto/numerics/small.hpp"

namespace panto {

Ekf::Ekf(System& system, const FilterOptions& options, int iterations)
    : Filter(system, options), iterations_(iterations), y_(static_cast<size_t>(system.sensors())) {
  const int n = system.size();
  for (auto* m : {&p_, &f_, &product_, &corrected_}) m->setZero(n, n);
  h_.setZero(std::max(1, system.sensors()), n);
  for (auto* v : {&gain_, &ph_, &w_, &total_}) v->setZero(n);
  at_.resize(x_.size());
}

Status Ekf::set_covariance(const Eigen::MatrixXd& p) {
  if (!cholesky(p, product_)) return Status::kBadArgument;
  p_ = p;
  return Status::kOk;
}

Status Ekf::predict(double dt) noexcept {
  if (dt == 0) {
    const Status settled = system_.settle(t_, x_);
    std::copy(x_.begin(), x_.end(), next_.begin());
    return settled;
  }
  Status status = system_.step(t_, dt, x_, next_);
  if (status != Status::kOk) return status;
  status = system_.transition(t_, dt, x_, next_, f_);
  if (status != Status::kOk) return status;
  system_.process_noise(t_, dt, x_, q_);
  multiply_transposed(p_, f_, product_);
  if (keep_) prediction_.cross = product_;
  multiply(f_, product_, p_);
  p_ += process_factor_ * q_;
  if (!cholesky(p_, product_)) return Status::kSingular;
  if (keep_) {
    std::copy(next_.begin(), next_.end(), prediction_.x.begin());
    prediction_.p = p_;
  }
  return Status::kOk;
}

// Readings one after the other, which for independent sensors is the same as all at once: every solve is a division. Joseph's form.
Status Ekf::correct(std::span<const int> sensors, View y) noexcept {
  std::copy(next_.begin(), next_.end(), at_.begin());
  total_.setZero();
  const Eigen::Index n = p_.rows();
  for (int iteration = 0; iteration < iterations_; ++iteration) {
    const bool last = iteration + 1 == iterations_;
    Status status = system_.sense(t_, at_, sensors, y_);
    if (status != Status::kOk) return status;
    status = system_.sense_jacobian(t_, at_, sensors, h_);
    if (status != Status::kOk) return status;
    corrected_ = p_;
    w_.setZero();
    for (size_t i = 0; i < sensors.size(); ++i) {
      const int sensor = sensors[i];
      const auto at = static_cast<Eigen::Index>(i);
      const double r = variance_[static_cast<size_t>(sensor)];
      double s = r;
      // Expected at the prediction by the line through the present point, plus what earlier readings have changed.
      double e = system_.innovation(sensor, y[i], y_[i]);
      for (Eigen::Index k = 0; k < n; ++k) {
        ph_(k) = 0;
        for (Eigen::Index j = 0; j < n; ++j) ph_(k) += corrected_(k, j) * h_(at, j);
        s += h_(at, k) * ph_(k);
        e += h_(at, k) * (total_(k) - w_(k));
      }
      if (!(s > 0) || !std::isfinite(s)) return Status::kSingular;
      if (!std::isfinite(e)) return Status::kNotFinite;
      if (last) {
        if (!note(sensor, e, s)) continue;
        if (!constraint(sensor)) {
          innovations_.nis += e * e / s;
          innovations_.log_determinant += std::log(s);
        }
      } else if (options_.gate > 0 && !constraint(sensor) &&
                 e * e > options_.gate * options_.gate * s) {
        continue;
      }
      for (Eigen::Index k = 0; k < n; ++k) {
        gain_(k) = ph_(k) / s;
        w_(k) += e * gain_(k);
      }
      // (I - K h) P (I - K h)ᵀ + r K Kᵀ: the left factor, then the right one.
      for (Eigen::Index j = 0; j < n; ++j)
        for (Eigen::Index k = 0; k < n; ++k) corrected_(k, j) -= gain_(k) * ph_(j);
      for (Eigen::Index k = 0; k < n; ++k) {
        double left = 0;
        for (Eigen::Index j = 0; j < n; ++j) left += corrected_(k, j) * h_(at, j);
        ph_(k) = r * gain_(k) - left;
      }
      for (Eigen::Index j = 0; j < n; ++j)
        for (Eigen::Index k = 0; k < n; ++k) corrected_(k, j) += ph_(k) * gain_(j);
      if (last) adapt(sensor, e, s);
    }
    total_ = w_;
    system_.move(next_, {w_.data(), static_cast<size_t>(w_.size())}, at_);
    if (last) break;
  }
  std::copy(at_.begin(), at_.end(), next_.begin());
  for (Eigen::Index j = 0; j < n; ++j)
    for (Eigen::Index k = 0; k < n; ++k) p_(k, j) = 0.5 * (corrected_(k, j) + corrected_(j, k));
  return cholesky(p_, product_) ? Status::kOk : Status::kSingular;
}

void Ekf::reframe(const Eigen::MatrixXd& change) noexcept {
  product_.noalias() = change * p_;
  p_.noalias() = product_ * change.transpose();
}

}  // namespace panto
