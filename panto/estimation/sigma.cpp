#include "panto/estimation/sigma.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "panto/base/contract.hpp"
#include "panto/numerics/small.hpp"

namespace panto {

SigmaPoints sigma_points(const SigmaOptions& o, int n) {
  SigmaPoints s;
  const double nd = n;
  switch (o.set) {
    case SigmaSet::kUnscented: {
      PANTO_EXPECT(o.alpha > 0 && o.beta >= o.alpha * o.alpha && nd + o.kappa > 0,
                   "unscented points: alpha > 0, beta >= alpha^2, n + kappa > 0");
      const double scale = o.alpha * o.alpha * (nd + o.kappa);  // n + λ
      s.c.setZero(n, 2 * n + 1);
      s.mean.setConstant(2 * n + 1, 1 / (2 * scale));
      s.mean(0) = (scale - nd) / scale;
      s.spread = s.mean;
      s.spread(0) = 0;
      for (int i = 0; i < n; ++i) {
        s.c(i, 1 + i) = std::sqrt(scale);
        s.c(i, 1 + n + i) = -std::sqrt(scale);
      }
      // Σ Wc (d - m)(d - m)ᵀ = Σ_{i>0} W d dᵀ + (β - α²) m mᵀ with d from the centre: no negative weight is left.
      s.from_centre = true;
      s.centre = o.beta - o.alpha * o.alpha;
      break;
    }
    case SigmaSet::kSphericalSimplex: {
      PANTO_EXPECT(o.w0 >= 0 && o.w0 < 1, "simplex points: 0 <= w0 < 1");
      const double w = (1 - o.w0) / (nd + 1);
      s.c.setZero(n, n + 2);
      s.c(0, 1) = -1 / std::sqrt(2 * w);
      s.c(0, 2) = 1 / std::sqrt(2 * w);
      for (int j = 2; j <= n; ++j) {
        const double r = 1 / std::sqrt(j * (j + 1) * w);
        for (int i = 1; i <= j; ++i) s.c(j - 1, i) = -r;
        s.c(j - 1, j + 1) = j * r;
      }
      s.mean.setConstant(n + 2, w);
      s.mean(0) = o.w0;
      s.spread = s.mean;
      break;
    }
    case SigmaSet::kCubature: {
      s.c.setZero(n, 2 * n);
      for (int i = 0; i < n; ++i) {
        s.c(i, i) = std::sqrt(nd);
        s.c(i, n + i) = -std::sqrt(nd);
      }
      s.mean.setConstant(2 * n, 1 / (2 * nd));
      s.spread = s.mean;
      break;
    }
  }
  return s;
}

SigmaFilter::SigmaFilter(System& system, const FilterOptions& options, const SigmaOptions& sigma)
    : Filter(system, options),
      sigma_(sigma),
      set_(sigma_points(sigma, system.size())),
      n_(system.size()),
      count_(static_cast<int>(set_.c.cols())),
      columns_(count_ + (set_.from_centre ? 1 : 0)) {
  const auto m = static_cast<Eigen::Index>(std::max(1, system.sensors()));
  system.reserve_points(count_);
  // Neighbours differ in the last entries alone where they can: systems find what depends on the first ones unchanged.
  order_.resize(static_cast<size_t>(count_));
  std::iota(order_.begin(), order_.end(), 0);
  const auto first = [&](int i) {
    int r = 0;
    while (r < n_ && set_.c(r, i) == 0) ++r;
    return r;
  };
  std::stable_sort(order_.begin() + 1, order_.end(),
                   [&](int a, int b) { return first(a) > first(b); });
  points_.assign(static_cast<size_t>(2 * count_) * x_.size(), 0.0);
  w_.assign(static_cast<size_t>(n_), 0.0);
  y_.assign(static_cast<size_t>(m), 0.0);
  for (auto* a : {&l_, &p_, &lq_, &product_}) a->setZero(n_, n_);
  dx_.setZero(n_, columns_);
  dy_.setZero(m, columns_);
  py_.setZero(m, m);
  gain_.setZero(n_, m);
  stack_.setZero(n_ + columns_ + m, n_);
  mean_.setZero(n_);
  mean_y_.setZero(m);
  e_.setZero(m);
  root_ = set_.spread.cwiseSqrt();
  kept_.reserve(static_cast<size_t>(m));
}

Status SigmaFilter::set_covariance(const Eigen::MatrixXd& p) {
  p_ = p;
  return cholesky(p, l_) ? Status::kOk : Status::kBadArgument;
}

void SigmaFilter::covariance(Eigen::MatrixXd& p) const noexcept {
  p.resize(n_, n_);
  p.noalias() = l_ * l_.transpose();
}

Status SigmaFilter::draw(View x, const Eigen::MatrixXd& factor) noexcept {
  double* w = w_.data();
  for (int i = 0; i < count_; ++i) {
    const double* c = set_.c.col(i).data();
    std::fill(w_.begin(), w_.end(), 0.0);
    for (int k = 0; k < n_; ++k) {
      if (c[k] == 0) continue;
      const double* column = factor.col(k).data();
      for (int r = k; r < n_; ++r) w[r] += column[r] * c[k];
    }
    system_.move(x, w_, point(i));
  }
  return Status::kOk;
}

// d_i from point 0; mean m = Σ W d. Columns √W (d_i - m), or, from the centre, √W d_i and √(β - α²) m.
void SigmaFilter::spread() noexcept {
  mean_.setZero();
  dx_.col(0).setZero();
  double* mean = mean_.data();
  for (int i = 1; i < count_; ++i) {
    double* d = dx_.col(i).data();
    system_.difference(point(i), point(0), {d, static_cast<size_t>(n_)});
    const double w = set_.mean(i);
    for (int r = 0; r < n_; ++r) mean[r] += w * d[r];
  }
  centre(dx_.data(), n_, mean);
  system_.move(point(0), {mean, static_cast<size_t>(n_)}, next_);
}

// Columns of deviations from point 0 with their mean, weighted.
void SigmaFilter::centre(double* d, Eigen::Index stride, const double* mean) const noexcept {
  if (!set_.from_centre) {
    for (int i = 0; i < count_; ++i, d += stride)
      for (Eigen::Index r = 0; r < stride; ++r) d[r] = root_(i) * (d[r] - mean[r]);
    return;
  }
  for (int i = 0; i < count_; ++i, d += stride)
    for (Eigen::Index r = 0; r < stride; ++r) d[r] *= root_(i);
  const double w = std::sqrt(set_.centre);
  for (Eigen::Index r = 0; r < stride; ++r) d[r] = w * mean[r];
}

Status SigmaFilter::condense(Eigen::Index columns) noexcept {
  auto rows = stack_.topRows(columns);
  if (sigma_.square_root) return triangularise(rows, l_) ? Status::kOk : Status::kSingular;
  for (int j = 0; j < n_; ++j)
    for (int i = j; i < n_; ++i) {
      const double *a = rows.col(i).data(), *b = rows.col(j).data();
      double sum = 0;
      for (Eigen::Index k = 0; k < columns; ++k) sum += a[k] * b[k];
      p_(i, j) = p_(j, i) = sum;
    }
  return cholesky(p_, l_) ? Status::kOk : Status::kSingular;
}

Status SigmaFilter::predict(double dt) noexcept {
  Status status = system_.settle(t_, x_);
  if (status == Status::kOk) status = draw(x_, l_);
  if (status != Status::kOk) return status;
  if (dt > 0) {
    for (const int i : order_) {
      const MutableView after = point(count_ + i);
      status = system_.step_point(i, t_, dt, point(i), after);
      if (status != Status::kOk) return status;
    }
    std::copy(points_.begin() + points_.size() / 2, points_.end(), points_.begin());
    system_.process_noise(t_, dt, x_, q_);
    q_ *= process_factor_;
  } else {
    q_.setZero();
  }
  spread();
  return Status::kOk;
}

Status SigmaFilter::advance(double dt, std::span<const int> sensors, View y) noexcept {
  Status status = predict(dt);
  if (status != Status::kOk) return status;
  noise_factor(q_, lq_);
  const auto columns = static_cast<Eigen::Index>(columns_);
  const bool predicted_covariance = keep_ || sensors.empty() || sigma_.redraw;
  if (predicted_covariance) {
    stack_.topRows(columns) = dx_.transpose();
    stack_.middleRows(columns, n_) = lq_.transpose();
    if (keep_) {
      // Cov(x, prediction) = L c W dᵀ; the centre adds nothing, its c is zero.
      prediction_.cross.setZero();
      for (int i = 0; i < count_; ++i) {
        if (set_.spread(i) == 0) continue;
        product_.col(0).noalias() = l_ * set_.c.col(i);
        prediction_.cross.noalias() +=
            std::sqrt(set_.spread(i)) * product_.col(0) * dx_.col(i).transpose();
      }
    }
    status = condense(columns + n_);
    if (status != Status::kOk) return status;
    if (keep_) {
      std::copy(next_.begin(), next_.end(), prediction_.x.begin());
      prediction_.p.noalias() = l_ * l_.transpose();
    }
  }
  if (sensors.empty()) return Status::kOk;
  if (sigma_.redraw) {
    status = system_.settle(t_ + dt, next_);
    if (status == Status::kOk) status = draw(next_, l_);
    if (status != Status::kOk) return status;
    lq_.setZero();
    spread();
  }
  t_ += dt;
  status = correct(sensors, y);
  t_ -= dt;
  return status;
}

Status SigmaFilter::correct(std::span<const int> sensors, View y) noexcept {
  const auto m = static_cast<Eigen::Index>(sensors.size());
  const auto columns = static_cast<Eigen::Index>(columns_);
  // What the points read, from point 0.
  mean_y_.setZero();
  dy_.col(0).setZero();
  for (int i = 0; i < count_; ++i) {
    const Status status = system_.sense(t_, point(i), sensors, y_);
    if (status != Status::kOk) return status;
    for (Eigen::Index k = 0; k < m; ++k) {
      const double value = y_[static_cast<size_t>(k)];
      if (i == 0) {
        e_(k) = value;
      } else {
        dy_(k, i) = value - e_(k);
        mean_y_(k) += set_.mean(i) * dy_(k, i);
      }
    }
  }
  centre(dy_.data(), dy_.rows(), mean_y_.data());

  // Readings that pass the gate move to the front.
  kept_.clear();
  Eigen::Index used = 0;
  for (Eigen::Index k = 0; k < m; ++k) {
    const int sensor = sensors[static_cast<size_t>(k)];
    const double r = variance_[static_cast<size_t>(sensor)], s = dy_.row(k).squaredNorm() + r,
                 e = system_.innovation(sensor, y[static_cast<size_t>(k)], e_(k) + mean_y_(k));
    if (!std::isfinite(e) || !std::isfinite(s)) return Status::kNotFinite;
    if (!note(sensor, e, s)) continue;
    adapt(sensor, e, s);
    dy_.row(used) = dy_.row(k);
    e_(used) = e;
    kept_.push_back(sensor);
    ++used;
  }
  const auto noise = [&](Eigen::Index k) {
    return variance_[static_cast<size_t>(kept_[static_cast<size_t>(k)])];
  };
  if (used > 0) {
    // Py = Dy Dyᵀ + R = L Lᵀ, and the whitened innovation L⁻¹ e.
    for (Eigen::Index k = 0; k < used; ++k) {
      for (Eigen::Index l = 0; l <= k; ++l) {
        double sum = k == l ? noise(k) : 0;
        for (Eigen::Index i = 0; i < columns; ++i) sum += dy_(k, i) * dy_(l, i);
        for (Eigen::Index j = 0; j < l; ++j) sum -= py_(k, j) * py_(l, j);
        if (k != l) {
          py_(k, l) = sum / py_(l, l);
        } else if (sum > 0) {
          py_(k, k) = std::sqrt(sum);
        } else {
          return Status::kSingular;
        }
      }
      for (Eigen::Index j = 0; j < k; ++j) e_(k) -= py_(k, j) * e_(j);
      e_(k) /= py_(k, k);
      innovations_.nis += e_(k) * e_(k);
      innovations_.log_determinant += 2 * std::log(py_(k, k));
    }
    // Whitened gain G = Pxy L⁻ᵀ, in place of which comes K = G L⁻¹; the correction is G L⁻¹ e.
    for (Eigen::Index r = 0; r < n_; ++r) {
      double correction = 0;
      for (Eigen::Index k = 0; k < used; ++k) {
        double sum = 0;
        for (Eigen::Index i = 0; i < columns; ++i) sum += dx_(r, i) * dy_(k, i);
        for (Eigen::Index j = 0; j < k; ++j) sum -= gain_(r, j) * py_(k, j);
        gain_(r, k) = sum / py_(k, k);
        correction += gain_(r, k) * e_(k);
      }
      mean_(r) = correction;
      for (Eigen::Index k = used; k-- > 0;) {
        double sum = gain_(r, k);
        for (Eigen::Index j = k + 1; j < used; ++j) sum -= gain_(r, j) * py_(j, k);
        gain_(r, k) = sum / py_(k, k);
      }
    }
    system_.move(next_, {mean_.data(), static_cast<size_t>(n_)}, next_);
    // P⁺ = (D - K Dy)(D - K Dy)ᵀ + Q + K R Kᵀ, a sum of squares.
    for (Eigen::Index i = 0; i < columns; ++i)
      for (Eigen::Index k = 0; k < used; ++k)
        for (Eigen::Index r = 0; r < n_; ++r) dx_(r, i) -= gain_(r, k) * dy_(k, i);
    for (Eigen::Index k = 0; k < used; ++k) {
      const double root = std::sqrt(noise(k));
      for (Eigen::Index r = 0; r < n_; ++r) stack_(columns + n_ + k, r) = root * gain_(r, k);
    }
  }
  stack_.topRows(columns) = dx_.transpose();
  stack_.middleRows(columns, n_) = lq_.transpose();
  return condense(columns + n_ + used);
}

void SigmaFilter::reframe(const Eigen::MatrixXd& change) noexcept {
  product_.noalias() = change * l_;
  stack_.topRows(n_) = product_.transpose();
  (void)condense(n_);
}

}  // namespace panto
