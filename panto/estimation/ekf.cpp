#include "panto/estimation/ekf.hpp"

#include <algorithm>
#include <cmath>

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
    std::copy(x_.begin(), x_.end(), next_.begin());
    return Status::kOk;
  }
  Status status = system_.step(t_, dt, x_, next_);
  if (status != Status::kOk) return status;
  status = system_.transition(t_, dt, x_, next_, f_);
  if (status != Status::kOk) return status;
  system_.process_noise(t_, dt, x_, q_);
  product_.noalias() = p_ * f_.transpose();
  if (keep_) prediction_.cross = product_;
  p_.noalias() = f_ * product_;
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
      const auto row = h_.row(static_cast<Eigen::Index>(i));
      ph_.noalias() = corrected_ * row.transpose();
      const double r = variance_[static_cast<size_t>(sensor)], s = row.dot(ph_) + r;
      if (!(s > 0) || !std::isfinite(s)) return Status::kSingular;
      // Expected at the prediction by the line through the present point, plus what earlier readings have changed.
      const double e = system_.innovation(sensor, y[i], y_[i]) + row.dot(total_) - row.dot(w_);
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
      gain_ = ph_ / s;
      w_ += e * gain_;
      // (I - K h) P (I - K h)ᵀ + r K Kᵀ
      f_.setIdentity();
      f_.noalias() -= gain_ * row;
      product_.noalias() = f_ * corrected_;
      corrected_.noalias() = product_ * f_.transpose();
      corrected_.noalias() += r * gain_ * gain_.transpose();
      if (last) adapt(sensor, e, s);
    }
    total_ = w_;
    system_.move(next_, {w_.data(), static_cast<size_t>(w_.size())}, at_);
    if (last) break;
  }
  std::copy(at_.begin(), at_.end(), next_.begin());
  p_ = 0.5 * (corrected_ + corrected_.transpose());
  return cholesky(p_, product_) ? Status::kOk : Status::kSingular;
}

void Ekf::reframe(const Eigen::MatrixXd& change) noexcept {
  product_.noalias() = change * p_;
  p_.noalias() = product_ * change.transpose();
}

}  // namespace panto
