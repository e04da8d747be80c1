#include "panto/estimation/filter.hpp"

#include <algorithm>
#include <cmath>

namespace panto {

bool cholesky(const Eigen::MatrixXd& p, Eigen::MatrixXd& l) noexcept {
  const Eigen::Index n = p.rows();
  for (Eigen::Index j = 0; j < n; ++j) {
    double d = p(j, j);
    for (Eigen::Index k = 0; k < j; ++k) d -= l(j, k) * l(j, k);
    if (!(d > 0) || !std::isfinite(d)) return false;
    const double root = std::sqrt(d);
    for (Eigen::Index i = j + 1; i < n; ++i) {
      double s = p(i, j);
      for (Eigen::Index k = 0; k < j; ++k) s -= l(i, k) * l(j, k);
      l(i, j) = s / root;
    }
    l(j, j) = root;
    for (Eigen::Index i = 0; i < j; ++i) l(i, j) = 0;
  }
  return true;
}

void noise_factor(const Eigen::MatrixXd& q, Eigen::MatrixXd& l) noexcept {
  const Eigen::Index n = q.rows();
  l.setZero();
  for (Eigen::Index j = 0; j < n; ++j) {
    double d = q(j, j);
    for (Eigen::Index k = 0; k < j; ++k) d -= l(j, k) * l(j, k);
    if (!(d > 1e-14 * q(j, j))) continue;
    l(j, j) = std::sqrt(d);
    for (Eigen::Index i = j + 1; i < n; ++i) {
      double s = q(i, j);
      for (Eigen::Index k = 0; k < j; ++k) s -= l(i, k) * l(j, k);
      l(i, j) = s / l(j, j);
    }
  }
}

Filter::Filter(System& system, const FilterOptions& options)
    : system_(system),
      options_(options),
      x_(static_cast<size_t>(system.storage()), 0.0),
      next_(x_.size(), 0.0),
      measured_(system.sensors() - system.constraints()) {
  const auto m = static_cast<size_t>(system.sensors());
  innovations_.sensor.reserve(m);
  innovations_.value.reserve(m);
  innovations_.variance.reserve(m);
  variance_.reserve(m);
  for (int i = 0; i < system.sensors(); ++i) variance_.push_back(system.variance(i));
  q_.setZero(system.size(), system.size());
  change_ = q_;
  all_sensors_.reserve(m);
  all_y_.reserve(m);
}

bool Filter::keep_predictions() {
  keep_ = true;
  prediction_.x.assign(x_.size(), 0.0);
  prediction_.correction.assign(static_cast<size_t>(system_.size()), 0.0);
  prediction_.p.setZero(system_.size(), system_.size());
  prediction_.cross = prediction_.p;
  return true;
}

Status Filter::start(double t, View x, const Eigen::MatrixXd& p) {
  t_ = t;
  std::copy(x.begin(), x.end(), x_.begin());
  system_.forget();
  process_factor_ = 1;
  for (int i = 0; i < system_.sensors(); ++i)
    variance_[static_cast<size_t>(i)] = system_.variance(i);
  const Eigen::Index n = system_.size();
  if (p.rows() != n || p.cols() != n || !p.allFinite() || !p.isApprox(p.transpose(), 1e-9))
    return Status::kBadArgument;
  const Status settled = system_.settle(t, x_);
  return settled == Status::kOk ? set_covariance(p) : settled;
}

Snapshot Filter::snapshot() {
  Snapshot s;
  s.x.resize(x_.size());
  s.variance.resize(variance_.size());
  s.memory.resize(static_cast<size_t>(system_.memory()));
  s.carried = carried();
  save(s);
  return s;
}

void Filter::save(Snapshot& to) noexcept {
  system_.unsettle(x_);
  to.t = t_;
  to.process_factor = process_factor_;
  std::copy(x_.begin(), x_.end(), to.x.begin());
  std::copy(variance_.begin(), variance_.end(), to.variance.begin());
  to.carried = carried();
  system_.remember(to.memory);
}

void Filter::restore(const Snapshot& from) noexcept {
  t_ = from.t;
  process_factor_ = from.process_factor;
  std::copy(from.x.begin(), from.x.end(), x_.begin());
  std::copy(from.variance.begin(), from.variance.end(), variance_.begin());
  carried() = from.carried;
  if (system_.recall(t_, from.memory, x_, change_)) reframe(change_);
}

Status Filter::advance(double dt, std::span<const int> sensors, View y) noexcept {
  Status status = predict(dt);
  if (status == Status::kOk && !sensors.empty()) {
    t_ += dt;
    status = correct(sensors, y);
    t_ -= dt;
  }
  return status;
}

Status Filter::step(double dt, std::span<const int> sensors, View y) noexcept {
  innovations_.count = innovations_.rejected = 0;
  innovations_.nis = innovations_.log_determinant = 0;
  innovations_.sensor.clear();
  innovations_.value.clear();
  innovations_.variance.clear();
  if (system_.constraints() > 0) {
    all_sensors_.assign(sensors.begin(), sensors.end());
    all_y_.assign(y.begin(), y.end());
    for (int i = measured_; i < system_.sensors(); ++i) {
      all_sensors_.push_back(i);
      all_y_.push_back(0);
    }
    sensors = all_sensors_;
    y = all_y_;
  }
  Status status = advance(dt, sensors, y);
  if (status != Status::kOk) return status;
  status = system_.settle(t_ + dt, next_);
  if (status != Status::kOk) return status;
  for (double e : next_)
    if (!std::isfinite(e)) return Status::kNotFinite;
  if (keep_) system_.difference(next_, prediction_.x, prediction_.correction);
  std::swap(x_, next_);
  t_ += dt;
  changed_ = system_.worn();
  if (changed_) {
    status = system_.reframe(t_, x_, change_);
    if (status == Status::kOk) reframe(change_);
    ++reframed_;
  }
  if (options_.adapt_process > 0 && innovations_.count > 0) {
    const double excess = innovations_.nis / innovations_.count - 1;
    process_factor_ = std::clamp(
        process_factor_ * std::exp(options_.adapt_process * std::clamp(excess, -1.0, 10.0)), 1e-4,
        1e6);
  }
  return status;
}

bool Filter::note(int sensor, double value, double s) noexcept {
  if (constraint(sensor)) return true;
  if (options_.gate > 0 && value * value > options_.gate * options_.gate * s) {
    ++innovations_.rejected;
    return false;
  }
  ++innovations_.count;
  innovations_.sensor.push_back(sensor);
  innovations_.value.push_back(value);
  innovations_.variance.push_back(s);
  return true;
}

void Filter::adapt(int sensor, double value, double s) noexcept {
  if (options_.adapt_sensors <= 0 || constraint(sensor)) return;
  // E e² = s = (state's part) + r: what e² leaves beside the state's part is the sensor's.
  double& r = variance_[static_cast<size_t>(sensor)];
  const double from_state = s - r, floor = 0.01 * system_.variance(sensor);
  r += options_.adapt_sensors * (std::max(value * value - from_state, floor) - r);
}

}  // namespace panto
