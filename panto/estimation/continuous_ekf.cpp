#include "panto/estimation/continuous_ekf.hpp"

#include <algorithm>
#include <cmath>

namespace panto {

namespace {

constexpr double kConverged = 1e-9;  // of a correction
constexpr int kIterations = 30;

View view(const Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }

}  // namespace

ContinuousEkf::ContinuousEkf(Mechanism& mechanism, const FilterOptions& options,
                             std::vector<double> densities, bool inertial)
    : Filter(mechanism, options), mechanism_(mechanism), inertial_(inertial), n_(mechanism.size()) {
  const int np = mechanism.coordinates(), nz = mechanism.speeds();
  for (auto* m : {&p_, &p1_, &rate_, &constant_, &f_, &noise_, &information_, &left_, &product_})
    m->setZero(n_, n_);
  h_.setZero(std::max(1, mechanism.sensors()), n_);
  for (int i = 0; i < nz; ++i)
    noise_(np + i, np + i) = densities[densities.size() == 1 ? 0 : static_cast<size_t>(i)];
  for (auto* v : {&rate_start_, &rate_now_, &residual_, &w_}) v->setZero(n_);
  e_.setZero(h_.rows());
  weight_.setZero(h_.rows());
  lyapunov_.setIdentity(n_ * n_, n_ * n_);
  right_.setZero(n_ * n_);
  solution_ = right_;
  left_.setIdentity();
  lu_.compute(left_);
  lyapunov_lu_.compute(lyapunov_);
  y_.resize(static_cast<size_t>(h_.rows()));
  step_.resize(static_cast<size_t>(n_));
}

Status ContinuousEkf::set_covariance(const Eigen::MatrixXd& p) {
  if (!cholesky(p, product_)) return Status::kBadArgument;
  p_ = p;
  return Status::kOk;
}

void ContinuousEkf::covariance_rate(const Eigen::MatrixXd& p, Eigen::MatrixXd& rate) noexcept {
  product_.noalias() = f_ * p;
  rate = product_ + product_.transpose() + process_factor_ * noise_;
  product_.noalias() = p * information_;
  rate.noalias() -= product_ * p;
}

// rate_now_: accelerations that the inertial terms are taken at; then f(x).
Status ContinuousEkf::evaluate(double t, MutableView x) noexcept {
  const auto np = static_cast<size_t>(mechanism_.coordinates());
  const Status moving = inertial_
                            ? mechanism_.inertial_derivative(t, x, view(rate_now_).subspan(np), f_)
                            : mechanism_.derivative(t, x, f_);
  if (moving == Status::kOk) mechanism_.rates(x, {rate_now_.data(), static_cast<size_t>(n_)});
  return moving;
}

// P = C + h (F P + P Fᵀ + N - P S P): Newton, each correction D from D - h (A D + D Aᵀ) = residual with A = F - P S.
Status ContinuousEkf::covariance_step(double h) noexcept {
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    covariance_rate(p1_, rate_);
    rate_ = constant_ + h * rate_ - p1_;
    product_.noalias() = -p1_ * information_;
    product_ += f_;
    lyapunov_.setIdentity();
    for (int c = 0; c < n_; ++c)
      for (int r = 0; r < n_; ++r) {
        const int row = c * n_ + r;
        right_(row) = rate_(r, c);
        for (int k = 0; k < n_; ++k) {
          lyapunov_(row, c * n_ + k) -= h * product_(r, k);
          lyapunov_(row, k * n_ + r) -= h * product_(c, k);
        }
      }
    lyapunov_lu_.compute(lyapunov_);
    solution_ = lyapunov_lu_.solve(right_);
    if (!solution_.allFinite()) return Status::kNotFinite;
    double change = 0, size = 0;
    for (int c = 0; c < n_; ++c)
      for (int r = 0; r < n_; ++r) {
        p1_(r, c) += solution_(c * n_ + r);
        change = std::max(change, std::abs(solution_(c * n_ + r)));
        size = std::max(size, std::abs(p1_(r, c)));
      }
    if (change <= 1e-12 * size) {
      rate_ = 0.5 * (p1_ + p1_.transpose());
      p1_ = rate_;
      return Status::kOk;
    }
  }
  return Status::kNotConverged;
}

Status ContinuousEkf::advance(double dt, std::span<const int> sensors, View y) noexcept {
  if (dt == 0) {  // readings count by the time they are held
    std::copy(x_.begin(), x_.end(), next_.begin());
    return Status::kOk;
  }
  const double h = 0.5 * dt, t = t_ + dt;
  const auto m = static_cast<Eigen::Index>(sensors.size());
  // Rates at the start of the step; the sensors are taken linear there.
  Status status = mechanism_.accelerations(t_, x_);
  if (status != Status::kOk) return status;
  mechanism_.rates(x_, {rate_now_.data(), static_cast<size_t>(n_)});
  status = evaluate(t_, x_);
  if (status != Status::kOk) return status;
  rate_start_ = rate_now_;
  information_.setZero();
  if (m > 0) {
    status = mechanism_.sense(t_, x_, sensors, y_);
    if (status == Status::kOk) status = mechanism_.sense_jacobian(t_, x_, sensors, h_);
    if (status != Status::kOk) return status;
    for (Eigen::Index i = 0; i < m; ++i) {
      weight_(i) = 1 / (variance_[static_cast<size_t>(sensors[static_cast<size_t>(i)])] * dt);
      information_.noalias() += weight_(i) * h_.row(i).transpose() * h_.row(i);
    }
  }
  covariance_rate(p_, rate_);
  constant_ = p_ + h * rate_;
  p1_ = p_;
  w_ = dt * rate_start_;
  mechanism_.move(x_, view(w_), next_);
  for (int iteration = 0;; ++iteration) {
    if (iteration == kIterations) return Status::kNotConverged;
    status = evaluate(t, next_);
    if (status == Status::kOk && m > 0) status = mechanism_.sense(t, next_, sensors, y_);
    if (status == Status::kOk) status = covariance_step(h);
    if (status != Status::kOk) return status;
    // ẋ = f + K e, K = P Hᵀ Σ⁻¹
    left_.setIdentity();
    left_ -= h * f_;
    for (Eigen::Index i = 0; i < m; ++i) {
      const auto k = static_cast<size_t>(i);
      e_(i) = mechanism_.innovation(sensors[k], y[k], y_[k]);
      w_.noalias() = weight_(i) * p1_ * h_.row(i).transpose();
      rate_now_ += e_(i) * w_;
      left_.noalias() += h * w_ * h_.row(i);
    }
    mechanism_.difference(next_, x_, step_);
    for (int i = 0; i < n_; ++i)
      residual_(i) = h * (rate_start_(i) + rate_now_(i)) - step_[static_cast<size_t>(i)];
    lu_.compute(left_);
    w_ = lu_.solve(residual_);
    if (!w_.allFinite()) return Status::kNotFinite;
    if (w_.cwiseAbs().maxCoeff() <= kConverged) break;
    mechanism_.move(next_, view(w_), next_);
  }
  for (Eigen::Index i = 0; i < m; ++i) {
    const int sensor = sensors[static_cast<size_t>(i)];
    w_.noalias() = p1_ * h_.row(i).transpose();
    const double s = h_.row(i).dot(w_) + variance_[static_cast<size_t>(sensor)];
    (void)note(sensor, e_(i), s);
    innovations_.nis += e_(i) * e_(i) / s;
    innovations_.log_determinant += std::log(s);
  }
  if (!cholesky(p1_, product_)) return Status::kSingular;
  p_ = p1_;
  return Status::kOk;
}

void ContinuousEkf::reframe(const Eigen::MatrixXd& change) noexcept {
  product_.noalias() = change * p_;
  p_.noalias() = product_ * change.transpose();
}

}  // namespace panto
