#include "panto/estimation/ekf.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "panto/numerics/small.hpp"

namespace panto {

namespace {

// A reading shrinks the factor to √(r/s) along φ, which must be more than round-off of 1.
constexpr double kLeast = 1e-28;

}  // namespace

Ekf::Ekf(System& system, const FilterOptions& options, int iterations)
    : Filter(system, options), iterations_(iterations), y_(static_cast<size_t>(system.sensors())) {
  const int n = system.size();
  for (auto* m : {&l_, &f_, &product_, &corrected_, &noise_}) m->setZero(n, n);
  stack_.setZero(2 * n, n);
  h_.setZero(std::max(1, system.sensors()), n);
  for (auto* v : {&gain_, &phi_, &w_, &total_}) v->setZero(n);
  at_.resize(x_.size());
}

Status Ekf::set_covariance(const Eigen::MatrixXd& p) {
  return cholesky(p, l_) ? Status::kOk : Status::kBadArgument;
}

void Ekf::covariance(Eigen::MatrixXd& p) const noexcept {
  p.resize(l_.rows(), l_.rows());
  multiply_transposed(l_, l_, p);
}

// F P Fᵀ + Q = [F L, L_Q] [F L, L_Q]ᵀ.
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
  multiply(f_, l_, product_);
  if (keep_) multiply_transposed(l_, product_, prediction_.cross);
  noise_factor(q_, noise_);
  const Eigen::Index n = l_.rows();
  const double factor = std::sqrt(process_factor_);
  for (Eigen::Index j = 0; j < n; ++j)
    for (Eigen::Index k = 0; k < n; ++k) {
      stack_(k, j) = product_(j, k);
      stack_(n + k, j) = factor * noise_(j, k);
    }
  if (!triangularise(stack_, l_)) return Status::kSingular;
  if (keep_) {
    std::copy(next_.begin(), next_.end(), prediction_.x.begin());
    covariance(prediction_.p);
  }
  return Status::kOk;
}

// Readings one after the other, which for independent sensors is the same as all at once: every solve is a division. With φ = Lᵀ h
// and s = r + φᵀφ the factor of (I - K h) P (I - K h)ᵀ + r K Kᵀ is L - K φᵀ / (1 + √(r/s)) (Potter).
Status Ekf::correct(std::span<const int> sensors, View y) noexcept {
  std::copy(next_.begin(), next_.end(), at_.begin());
  total_.setZero();
  const Eigen::Index n = l_.rows();
  for (int iteration = 0; iteration < iterations_; ++iteration) {
    const bool last = iteration + 1 == iterations_;
    Status status = system_.sense(t_, at_, sensors, y_);
    if (status != Status::kOk) return status;
    status = system_.sense_jacobian(t_, at_, sensors, h_);
    if (status != Status::kOk) return status;
    corrected_ = l_;
    w_.setZero();
    for (size_t i = 0; i < sensors.size(); ++i) {
      const int sensor = sensors[i];
      const auto at = static_cast<Eigen::Index>(i);
      const double r = variance_[static_cast<size_t>(sensor)];
      double s = r;
      // Expected at the prediction by the line through the present point, plus what earlier readings have changed.
      double e = system_.innovation(sensor, y[i], y_[i]);
      for (Eigen::Index k = 0; k < n; ++k) {
        double phi = 0;
        for (Eigen::Index j = 0; j < n; ++j) phi += corrected_(j, k) * h_(at, j);
        phi_(k) = phi;
        s += phi * phi;
        e += h_(at, k) * (total_(k) - w_(k));
      }
      if (!(r > kLeast * s) || !std::isfinite(s)) return Status::kSingular;
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
      gain_.setZero();
      for (Eigen::Index j = 0; j < n; ++j)
        for (Eigen::Index k = 0; k < n; ++k) gain_(k) += corrected_(k, j) * phi_(j);
      for (Eigen::Index k = 0; k < n; ++k) {
        gain_(k) /= s;
        w_(k) += e * gain_(k);
      }
      const double shrink = 1 / (1 + std::sqrt(r / s));
      for (Eigen::Index j = 0; j < n; ++j) {
        const double share = shrink * phi_(j);
        for (Eigen::Index k = 0; k < n; ++k) corrected_(k, j) -= share * gain_(k);
      }
      if (last) adapt(sensor, e, s);
    }
    total_ = w_;
    system_.move(next_, {w_.data(), static_cast<size_t>(w_.size())}, at_);
    if (last) break;
  }
  std::copy(at_.begin(), at_.end(), next_.begin());
  std::swap(l_, corrected_);
  return Status::kOk;
}

void Ekf::reframe(const Eigen::MatrixXd& change) noexcept {
  multiply(change, l_, product_);
  std::swap(l_, product_);
}

}  // namespace panto
