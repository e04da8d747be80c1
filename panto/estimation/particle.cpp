#include "panto/estimation/particle.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "panto/base/contract.hpp"
#include "panto/numerics/random.hpp"

namespace panto {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr int kMeanPasses = 3;  // on a manifold the mean is where the mean difference vanishes

}  // namespace

ParticleFilter::ParticleFilter(System& system, const FilterOptions& options,
                               const ParticleOptions& particle)
    : Filter(system, options), particle_(particle), n_(system.size()), count_(particle.particles) {
  PANTO_EXPECT(count_ > 1 && particle.jitter >= 0 && particle.jitter < 1,
               "at least two particles, jitter from 0 to below 1");
  const auto count = static_cast<size_t>(count_), m = static_cast<size_t>(system.sensors());
  const size_t numbers = count * x_.size();
  cloud_.setZero(1, static_cast<Eigen::Index>(numbers + count + 1));
  const MutableView all(cloud_.data(), numbers + count + 1);
  particles_ = all.first(numbers);
  log_weight_ = all.subspan(numbers, count);
  draws_ = all.last(1);
  spare_.assign(numbers, 0.0);
  weight_.assign(count, 0.0);
  w_.assign(static_cast<size_t>(n_), 0.0);
  reading_.assign(m, 0.0);
  kept_.reserve(m);
  p_.setZero(n_, n_);
  l_ = p_;
  y_.setZero(static_cast<Eigen::Index>(m), count_);
  spread_.setZero(y_.rows(), y_.rows());
  z_.setZero(n_);
  mean_ = z_;
  e_.setZero(y_.rows());
}

void ParticleFilter::draw(const Eigen::MatrixXd& factor, int i) noexcept {
  const auto first = draws() * static_cast<std::uint64_t>(n_);
  for (int k = 0; k < n_; ++k)
    z_(k) = normal(particle_.seed, static_cast<std::uint64_t>(i),
                   first + static_cast<std::uint64_t>(k));
  for (int r = 0; r < n_; ++r) {
    double sum = 0;
    for (int k = 0; k <= r; ++k) sum += factor(r, k) * z_(k);
    w_[static_cast<size_t>(r)] = sum;
  }
}

Status ParticleFilter::set_covariance(const Eigen::MatrixXd& p) {
  if (!cholesky(p, l_)) return Status::kBadArgument;
  p_ = p;
  draws_.front() = 0;
  for (int i = 0; i < count_; ++i) {
    draw(l_, i);
    system_.move(x_, w_, particle(i));
  }
  draws_.front() += 1;
  std::fill(log_weight_.begin(), log_weight_.end(), 0.0);
  return weigh();
}

Status ParticleFilter::predict(double dt) noexcept {
  for (int i = 0; i < count_; ++i) {
    double& weight = log_weight_[static_cast<size_t>(i)];
    if (weight == kNever) continue;
    const MutableView x = particle(i), out = MutableView(spare_).first(x.size());
    Status status = system_.step(t_, dt, x, out);
    if (status == Status::kOk) {
      system_.process_noise(t_, dt, x, q_);
      q_ *= process_factor_;
      noise_factor(q_, l_);
      draw(l_, i);
      system_.move(out, w_, x);
      status = system_.settle(t_ + dt, x);
    }
    if (status != Status::kOk) weight = kNever;
  }
  draws_.front() += 1;
  return weigh();
}

Status ParticleFilter::weigh() noexcept {
  const double most = *std::max_element(log_weight_.begin(), log_weight_.end());
  if (!std::isfinite(most)) return Status::kSingular;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < weight_.size(); ++i) {
    log_weight_[i] -= most;
    weight_[i] = std::exp(log_weight_[i]);
    sum += weight_[i];
  }
  for (double& w : weight_) {
    w /= sum;
    squares += w * w;
  }
  effective_ = 1 / squares;
  return Status::kOk;
}

Status ParticleFilter::correct(std::span<const int> sensors, View y) noexcept {
  const auto m = static_cast<Eigen::Index>(sensors.size());
  for (int i = 0; i < count_; ++i) {
    double& weight = log_weight_[static_cast<size_t>(i)];
    if (weight == kNever) continue;
    if (system_.sense(t_, particle(i), sensors, reading_) != Status::kOk) weight = kNever;
    for (Eigen::Index k = 0; k < m; ++k) y_(k, i) = reading_[static_cast<size_t>(k)];
    if (!y_.col(i).head(m).allFinite()) weight = kNever;
  }
  const Status exist = weigh();
  if (exist != Status::kOk) return exist;
  const auto reference = std::max_element(weight_.begin(), weight_.end()) - weight_.begin();
  // Mean and covariance of what was expected, from the reading of one particle: angles do not jump.
  kept_.clear();
  Eigen::Index used = 0;
  for (Eigen::Index k = 0; k < m; ++k) {
    const int sensor = sensors[static_cast<size_t>(k)];
    const double from = y_(k, reference);
    double mean = 0, square = 0;
    for (int i = 0; i < count_; ++i) {
      if (log_weight_[static_cast<size_t>(i)] == kNever) continue;
      y_(k, i) = system_.innovation(sensor, y_(k, i), from);
      mean += weight_[static_cast<size_t>(i)] * y_(k, i);
    }
    for (int i = 0; i < count_; ++i) {
      const double weight = weight_[static_cast<size_t>(i)];
      if (weight > 0) square += weight * (y_(k, i) - mean) * (y_(k, i) - mean);
    }
    const double s = square + variance_[static_cast<size_t>(sensor)],
                 e = system_.innovation(sensor, y[static_cast<size_t>(k)], from + mean);
    if (!std::isfinite(e)) return Status::kNotFinite;
    if (!note(sensor, e, s)) continue;
    // Kept rows move to the front, as deviations from the mean.
    for (int i = 0; i < count_; ++i) y_(used, i) = y_(k, i) - mean;
    kept_.push_back(sensor);
    e_(used) = e;
    ++used;
  }
  if (used == 0) return Status::kOk;
  auto spread = spread_.topLeftCorner(used, used);
  spread.setZero();
  for (int i = 0; i < count_; ++i) {
    const double weight = weight_[static_cast<size_t>(i)];
    if (weight > 0)
      for (Eigen::Index c = 0; c < used; ++c)
        for (Eigen::Index r = c; r < used; ++r) spread(r, c) += weight * y_(r, i) * y_(c, i);
  }
  for (Eigen::Index k = 0; k < used; ++k)
    spread(k, k) += variance_[static_cast<size_t>(kept_[static_cast<size_t>(k)])];
  // Likelihood of the readings as measured, each with its own noise.
  for (int i = 0; i < count_; ++i) {
    double& weight = log_weight_[static_cast<size_t>(i)];
    if (weight == kNever) continue;
    for (Eigen::Index k = 0; k < used; ++k) {
      const int sensor = kept_[static_cast<size_t>(k)];
      const double e = system_.innovation(sensor, e_(k), y_(k, i));
      weight -= 0.5 * e * e / variance_[static_cast<size_t>(sensor)];
    }
  }
  for (Eigen::Index k = 0; k < used; ++k) adapt(kept_[static_cast<size_t>(k)], e_(k), spread(k, k));
  Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(spread);
  if (llt.info() != Eigen::Success) return Status::kSingular;
  auto white = e_.head(used);
  for (Eigen::Index k = 0; k < used; ++k)
    innovations_.log_determinant += 2 * std::log(spread(k, k));
  spread.triangularView<Eigen::Lower>().solveInPlace(white);
  innovations_.nis += white.squaredNorm();
  return weigh();
}

Status ParticleFilter::summarise(double t) noexcept {
  const auto best = std::max_element(weight_.begin(), weight_.end()) - weight_.begin();
  const MutableView reference = particle(static_cast<int>(best));
  std::copy(reference.begin(), reference.end(), next_.begin());
  for (int pass = 0; pass < kMeanPasses; ++pass) {
    const bool last = pass + 1 == kMeanPasses;
    mean_.setZero();
    if (last) p_.setZero();
    for (int i = 0; i < count_; ++i) {
      const double weight = weight_[static_cast<size_t>(i)];
      if (weight == 0) continue;
      system_.difference(particle(i), next_, w_);
      for (int k = 0; k < n_; ++k) z_(k) = w_[static_cast<size_t>(k)];
      mean_ += weight * z_;
      if (last) p_.noalias() += weight * z_ * z_.transpose();
    }
    if (last) break;
    system_.move(next_, {mean_.data(), static_cast<size_t>(n_)}, next_);
    const Status status = system_.settle(t, next_);
    if (status != Status::kOk) return status;
  }
  p_.noalias() -= mean_ * mean_.transpose();
  for (int c = 0; c < n_; ++c)
    for (int r = 0; r < c; ++r) p_(r, c) = p_(c, r);
  if (!p_.allFinite()) return Status::kNotFinite;
  // All weight on too few particles.
  return cholesky(p_, l_) ? Status::kOk : Status::kSingular;
}

Status ParticleFilter::resample(double t) noexcept {
  const auto size = static_cast<std::ptrdiff_t>(x_.size());
  const double start = uniform(particle_.seed, static_cast<std::uint64_t>(count_), draws());
  double sum = weight_[0];
  int from = 0;
  for (int i = 0; i < count_; ++i) {
    const double place = (start + i) / count_;
    while (place > sum && from + 1 < count_) sum += weight_[static_cast<size_t>(++from)];
    std::copy_n(particle(from).begin(), size, spare_.begin() + i * size);
  }
  std::copy(spare_.begin(), spare_.end(), particles_.begin());
  std::fill(log_weight_.begin(), log_weight_.end(), 0.0);
  if (particle_.jitter > 0) {
    noise_factor(p_, l_);
    l_ *= particle_.jitter;
    const double together = std::sqrt(1 - particle_.jitter * particle_.jitter);
    for (int i = 0; i < count_; ++i) {
      system_.difference(particle(i), next_, {mean_.data(), static_cast<size_t>(n_)});
      draw(l_, i);
      for (int k = 0; k < n_; ++k) w_[static_cast<size_t>(k)] += together * mean_(k);
      system_.move(next_, w_, particle(i));
      if (system_.settle(t, particle(i)) != Status::kOk)
        log_weight_[static_cast<size_t>(i)] = kNever;
    }
  }
  draws_.front() += 1;
  const double before = effective_;
  const Status status = weigh();
  effective_ = before;
  return status;
}

Status ParticleFilter::advance(double dt, std::span<const int> sensors, View y) noexcept {
  const double t = t_ + dt;
  Status status = Filter::advance(dt, sensors, y);
  if (status == Status::kOk) status = summarise(t);
  if (status == Status::kOk && effective_ < 0.5 * count_) status = resample(t);
  return status;
}

// Particles are settled: what the new free entries are is in them.
void ParticleFilter::reframe(const Eigen::MatrixXd& change) noexcept {
  l_.noalias() = change * p_;
  p_.noalias() = l_ * change.transpose();
}

}  // namespace panto
