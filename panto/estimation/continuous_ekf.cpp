#include "panto/estimation/continuous_ekf.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "panto/numerics/small.hpp"

namespace panto {

namespace {

constexpr double kConverged = 1e-9;  // of a correction of the state
constexpr double kNear = 1e-6;       // of a correction after which derivatives stay as they are
constexpr double kQuadratic =
    1e-7;  // of a correction of the covariance, relative: the next is its square
constexpr int kIterations = 30, kDoublings = 40;

View view(const Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }

}  // namespace

ContinuousEkf::ContinuousEkf(Mechanism& mechanism, const FilterOptions& options,
                             std::vector<double> densities, bool inertial)
    : Filter(mechanism, options),
      mechanism_(mechanism),
      inertial_(inertial),
      n_(mechanism.size()),
      motion_(mechanism.motion()) {
  const int np = mechanism.coordinates(), nz = mechanism.speeds();
  for (auto* m :
       {&p_, &p1_, &rate_, &constant_, &f_, &noise_, &information_, &left_, &closed_, &product_})
    m->setZero(n_, n_);
  f_motion_.setZero(motion_, motion_);
  h_.setZero(std::max(1, mechanism.sensors()), n_);
  used_.reserve(static_cast<size_t>(h_.rows()));
  reading_.resize(static_cast<size_t>(h_.rows()));
  for (int i = 0; i < nz; ++i)
    noise_(np + i, np + i) = densities[densities.size() == 1 ? 0 : static_cast<size_t>(i)];
  for (int i = 0; i < mechanism.sensors(); ++i)
    if (const int b = mechanism.bias_of(i); b >= 0)
      noise_(motion_ + b, motion_ + b) = std::pow(mechanism.sensor(i).bias_walk, 2);
  for (auto* v : {&rate_start_, &rate_now_, &residual_, &w_}) v->setZero(n_);
  e_.setZero(h_.rows());
  weight_.setZero(h_.rows());
  both_.setZero(n_, 2 * n_);
  for (auto* m : {&smith_, &square_}) m->setZero(n_, n_);
  y_.resize(static_cast<size_t>(h_.rows()));
  step_.resize(static_cast<size_t>(n_));
}

Status ContinuousEkf::set_covariance(const Eigen::MatrixXd& p) {
  if (!cholesky(p, product_)) return Status::kBadArgument;
  p_ = p;
  return Status::kOk;
}

// rate = F P + P Fᵀ + N - P S P, and closed_ = F - P S
void ContinuousEkf::covariance_rate(const Eigen::MatrixXd& p, Eigen::MatrixXd& rate) noexcept {
  multiply(p, information_, product_);
  multiply(product_, p, rate);
  closed_ = f_ - product_;
  multiply(f_, p, product_);
  for (int c = 0; c < n_; ++c)
    for (int r = 0; r < n_; ++r)
      rate(r, c) = product_(r, c) + product_(c, r) + process_factor_ * noise_(r, c) - rate(r, c);
}

// f(x) of a state with its accelerations.
void ContinuousEkf::rates(View x) noexcept {
  rate_now_.setZero();
  mechanism_.rates(x, {rate_now_.data(), static_cast<size_t>(motion_)});
}

Status ContinuousEkf::choose(double dt, std::span<const int> sensors, View y) noexcept {
  used_.clear();
  information_.setZero();
  if (sensors.empty()) return Status::kOk;
  // Where the state is likely to be, for the gate.
  if (options_.gate > 0) {
    Status status = mechanism_.sense(t_ + dt, next_, sensors, y_);
    if (status == Status::kOk) status = mechanism_.sense_jacobian(t_ + dt, next_, sensors, h_);
    if (status != Status::kOk) return status;
  }
  for (size_t i = 0; i < sensors.size(); ++i) {
    const auto row = h_.row(static_cast<Eigen::Index>(i));
    if (options_.gate > 0) {
      const double e = mechanism_.innovation(sensors[i], y[i], y_[i]);
      w_.noalias() = p_ * row.transpose();
      const double s = row.dot(w_) + variance_[static_cast<size_t>(sensors[i])];
      if (e * e > options_.gate * options_.gate * s) {
        (void)note(sensors[i], e, s);
        continue;
      }
    }
    reading_[used_.size()] = y[i];
    used_.push_back(sensors[i]);
  }
  if (used_.empty()) return Status::kOk;
  // The sensors are taken linear at the start of the step.
  Status status = mechanism_.sense(t_, x_, used_, y_);
  if (status == Status::kOk) status = mechanism_.sense_jacobian(t_, x_, used_, h_);
  if (status != Status::kOk) return status;
  for (size_t k = 0; k < used_.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    weight_(i) = 1 / (variance_[static_cast<size_t>(used_[k])] * dt);
    information_.noalias() += weight_(i) * h_.row(i).transpose() * h_.row(i);
  }
  return Status::kOk;
}

// rate_now_: accelerations that the inertial terms are taken at; then f(x).
Status ContinuousEkf::evaluate(double t, MutableView x) noexcept {
  const auto np = static_cast<size_t>(mechanism_.coordinates());
  const Status moving =
      inertial_
          ? mechanism_.inertial_derivative(
                t, x, view(rate_now_).subspan(np, static_cast<size_t>(motion_) - np), f_motion_)
          : mechanism_.derivative(t, x, f_motion_);
  if (moving != Status::kOk) return moving;
  f_.topLeftCorner(motion_, motion_) = f_motion_;  // biases stay as they are
  rates(x);
  return moving;
}

// P = C + h (F P + P Fᵀ + N - P S P): one Newton correction D, from D - h (A D + D Aᵀ) = residual with A = F - P S. With L = I - h A that is
// D = L⁻¹ residual L⁻ᵀ + B D Bᵀ, B = h L⁻¹ A: a sum of powers of B, twice as many with every doubling (Smith).
Status ContinuousEkf::covariance_step(double h, double& change) noexcept {
  covariance_rate(p1_, rate_);
  for (int c = 0; c < n_; ++c)
    for (int r = 0; r < n_; ++r) {
      left_(r, c) = (r == c ? 1 : 0) - h * closed_(r, c);
      both_(r, c) = h * closed_(r, c);
      both_(r, n_ + c) = constant_(r, c) + h * rate_(r, c) - p1_(r, c);
    }
  product_ = left_;
  if (!eliminate(left_, both_)) return Status::kSingular;
  smith_ = both_.leftCols(n_);
  rate_ = both_.rightCols(n_).transpose();  // (L⁻¹ residual)ᵀ, then L⁻¹ of it
  if (!eliminate(product_, rate_)) return Status::kSingular;
  for (int doubling = 0;; ++doubling) {
    const double size = smith_.cwiseAbs().maxCoeff();
    if (!std::isfinite(size) || doubling == kDoublings) return Status::kNotConverged;
    if (size * size * n_ * n_ <= 1e-4) break;  // the next correction corrects the rest
    multiply(smith_, rate_, product_);
    multiply_transposed(product_, smith_, square_);
    rate_ += square_;
    multiply(smith_, smith_, square_);
    std::swap(smith_, square_);
  }
  change = 0;
  double size = 0;
  for (int c = 0; c < n_; ++c)
    for (int r = 0; r < n_; ++r) {
      product_(r, c) = 0.5 * (rate_(r, c) + rate_(c, r));
      change = std::max(change, std::abs(product_(r, c)));
      size = std::max(size, std::abs(p1_(r, c)));
    }
  if (!std::isfinite(change)) return Status::kNotFinite;
  p1_ += product_;
  change /= size;
  return Status::kOk;
}

Status ContinuousEkf::advance(double dt, std::span<const int> sensors, View y) noexcept {
  if (dt == 0) {  // readings count by the time they are held
    std::copy(x_.begin(), x_.end(), next_.begin());
    return Status::kOk;
  }
  const double h = 0.5 * dt, t = t_ + dt;
  Status status = mechanism_.accelerations(t_, x_);
  if (status != Status::kOk) return status;
  rates(x_);
  status = evaluate(t_, x_);
  if (status != Status::kOk) return status;
  rate_start_ = rate_now_;
  w_ = dt * rate_start_;
  mechanism_.move(x_, view(w_), next_);
  status = choose(dt, sensors, y);
  if (status != Status::kOk) return status;
  const auto m = static_cast<Eigen::Index>(used_.size());
  covariance_rate(p_, rate_);
  constant_ = p_ + h * rate_;
  p1_ = p_;
  double correction = 1, change = 1;
  for (int iteration = 0;; ++iteration) {
    if (iteration == kIterations) return Status::kNotConverged;
    const bool moved = correction > kNear;
    if (moved) {
      status = evaluate(t, next_);
    } else {
      status = mechanism_.accelerations(t, next_);
      rates(next_);
    }
    if (status == Status::kOk && m > 0) status = mechanism_.sense(t, next_, used_, y_);
    // P follows from F and H: once it has converged with them, it stays.
    if (status == Status::kOk && (moved || change > kQuadratic))
      status = covariance_step(h, change);
    if (status != Status::kOk) return status;
    // ẋ = f + K e, K = P Hᵀ Σ⁻¹
    for (int c = 0; c < n_; ++c)
      for (int r = 0; r < n_; ++r) left_(r, c) = (r == c ? 1 : 0) - h * f_(r, c);
    for (Eigen::Index i = 0; i < m; ++i) {
      const auto k = static_cast<size_t>(i);
      e_(i) = mechanism_.innovation(used_[k], reading_[k], y_[k]);
      for (int r = 0; r < n_; ++r) {
        double gain = 0;
        for (int c = 0; c < n_; ++c) gain += p1_(r, c) * h_(i, c);
        gain *= weight_(i);
        rate_now_(r) += e_(i) * gain;
        for (int c = 0; c < n_; ++c) left_(r, c) += h * gain * h_(i, c);
      }
    }
    mechanism_.difference(next_, x_, step_);
    for (int i = 0; i < n_; ++i)
      residual_(i) = h * (rate_start_(i) + rate_now_(i)) - step_[static_cast<size_t>(i)];
    w_ = residual_;
    if (!eliminate(left_, w_)) return Status::kSingular;
    correction = w_.cwiseAbs().maxCoeff();
    if (!std::isfinite(correction)) return Status::kNotFinite;
    if (correction <= kConverged && change <= kQuadratic) break;
    mechanism_.move(next_, view(w_), next_);
  }
  for (Eigen::Index i = 0; i < m; ++i) {
    const int sensor = used_[static_cast<size_t>(i)];
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
