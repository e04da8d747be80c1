#include "panto/integrate/radau_motion.hpp"

#include <algorithm>
#include <cmath>

namespace panto {

using radau::kA;
using radau::kNode;
using radau::kSqrt6;
using radau::kT;
using radau::kTInverse;
using radau::kWeight;

namespace {

constexpr double kSameStep = 1e-6;  // steps that differ by round-off share matrices
constexpr int kPatience = 1;
// Of the embedded formula (Hairer and Wanner, IV.8), without the real eigenvalue.
constexpr double kEmbedded[3] = {-(13 + 7 * kSqrt6) / 3, (-13 + 7 * kSqrt6) / 3, -1.0 / 3};

}  // namespace

RadauOnMotion::RadauOnMotion(Ode& ode, const StepperOptions& options)
    : Stepper(ode),
      tolerance_(options.newton_tolerance),
      limit_(options.newton_limit),
      main_{StageMatrices(ode)},
      beside_{StageMatrices(ode)},
      convergence_(Convergence::round_off(ode)),
      f_(next_.size()),
      q_(static_cast<size_t>(ode.coordinates())),
      rates_(static_cast<size_t>(ode.independent())) {
  const Eigen::Index nv = ode.workspace().model().nv,
                     na = static_cast<Eigen::Index>(
                         ode.workspace().independent_accelerations().size());
  for (auto* e : {&v0_, &a0_, &v_, &move_, &last_v_, &last_a_, &error_step_, &error_speed_})
    e->resize(static_cast<size_t>(nv));
  last_x_.resize(next_.size());
  start_x_.resize(next_.size());
  for (auto* m : {&a_, &mixed_, &change_, &by_speed_, &by_step_}) m->setZero(nv, 3);
  for (auto* m : {&rest_, &mixed_rest_}) m->setZero(na, 3);
  shift_.setZero(ode.coordinates(), 3);
  for (auto& x : x_) x.resize(next_.size());
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      square_[i][j] = 0;
      for (int k = 0; k < 3; ++k) square_[i][j] += kA[i][k] * kA[k][j];
    }
}

Status RadauOnMotion::advance(double t, double h, View x0, MutableView x1) noexcept {
  Status status = begin(t, h, x0);
  if (!usable(status)) return status;
  Held& held = side_ ? beside_ : main_;
  if (side_ || !held.valid) {
    status = renew(held, t, h, x0);
    if (!usable(status)) return status;
  } else if (std::abs(held.h - h) > kSameStep * std::abs(h)) {
    held.h = h;
    if (!held.matrices.factor(h, 1 / eigen_.real, 1.0 / eigen_.pair)) return Status::kSingular;
  }
  held.valid = false;
  const auto na = static_cast<size_t>(rest_.rows());
  convergence_.start();
  for (int k = 0; k < limit_; ++k) {
    ++iterations_;
    sum(a_, h);
    for (int s = 0; s < 3; ++s) {
      MutableView x(x_[s]);
      place(s, h, x0, x);
      take_rates(s);
      status = ode_.imbalance(t + kNode[s] * h, x, rates_, {rest_.col(s).data(), na});
      if (!usable(status)) return status;
      if (ode_.with_work()) ode_.power({power_[s], 2});
      // Dependent accelerations follow from the others, dependent coordinates start where they closed last.
      for (Eigen::Index i = 0; i < a_.rows(); ++i)
        a_(i, s) = ode_.accelerations()[static_cast<size_t>(i)];
      for (Eigen::Index i = 0; i < shift_.rows(); ++i)
        shift_(i, s) += ode_.positions()[static_cast<size_t>(i)] - x[static_cast<size_t>(i)];
    }
    combine(kTInverse, rest_, mixed_rest_);
    held.matrices.solve(mixed_rest_, mixed_);
    combine(kT, mixed_, change_);
    a_ += change_;
    const auto verdict = convergence_.judge(size_of_change(h), tolerance_);
    if (verdict == Convergence::Verdict::kFailed) return Status::kNotFinite;
    if (verdict == Convergence::Verdict::kDone) {
      sum(a_, h);
      place(2, h, x0, x1);
      for (size_t i = 0, at = static_cast<size_t>(ode_.dynamic_size()); at + i < x1.size(); ++i) {
        x1[at + i] = x0[at + i];
        for (int s = 0; s < 3; ++s) x1[at + i] += h * kWeight[s] * power_[s][i];
      }
      // Kept until it costs more iterations than when it was new.
      if (held.least == 0) held.least = k + 1;
      held.valid = k + 1 <= held.least + kPatience;
      if (!side_) {
        std::copy(x0.begin(), x0.end(), start_x_.begin());
        start_t_ = t;
        step_ = h;
      }
      return Status::kOk;
    }
    if (verdict == Convergence::Verdict::kSlow) {
      take_rates(2);
      status = renew(held, t + h, h, x_[2]);
      if (!usable(status)) return status;
      convergence_.start();
    }
  }
  return Status::kNotConverged;
}

void RadauOnMotion::commit(double t, View x) noexcept {
  follows_ = true;
  last_t_ = t;
  std::copy(x.begin(), x.end(), last_x_.begin());
  std::copy(ode_.speeds().begin(), ode_.speeds().end(), last_v_.begin());
  for (size_t i = 0; i < last_a_.size(); ++i) last_a_[i] = a_(static_cast<Eigen::Index>(i), 2);
}

Status RadauOnMotion::begin(double t, double h, View x0) noexcept {
  shift_.setZero();
  if (follows_ && std::abs(t - last_t_) <= kSameStep * std::abs(h) &&
      std::equal(x0.begin(), x0.end(), last_x_.begin())) {
    v0_ = last_v_;
    a0_ = last_a_;
  } else {
    const Status status = ode_.rhs(t, x0, f_);
    if (!usable(status)) return status;
    std::copy(ode_.speeds().begin(), ode_.speeds().end(), v0_.begin());
    std::copy(ode_.accelerations().begin(), ode_.accelerations().end(), a0_.begin());
  }
  for (size_t i = 0; i < a0_.size(); ++i) a_.row(static_cast<Eigen::Index>(i)).setConstant(a0_[i]);
  take_rates(0);
  return Status::kOk;
}

Status RadauOnMotion::renew(Held& held, double t, double h, View x) noexcept {
  held.h = h;
  held.least = 0;
  const Status status = held.matrices.linearise(t, x, rates_, h);
  if (!usable(status)) return status;
  return held.matrices.factor(h, 1 / eigen_.real, 1.0 / eigen_.pair) ? status : Status::kSingular;
}

void RadauOnMotion::take_rates(int stage) noexcept {
  const auto z = ode_.workspace().independent_speeds();
  for (size_t i = 0; i < rates_.size(); ++i) rates_[i] = a_(z[i], stage);
}

void RadauOnMotion::combine(const double (&weight)[3][3], const Eigen::MatrixXd& from,
                            Eigen::MatrixXd& to) noexcept {
  for (int s = 0; s < 3; ++s)
    to.col(s) =
        weight[s][0] * from.col(0) + weight[s][1] * from.col(1) + weight[s][2] * from.col(2);
}

void RadauOnMotion::sum(const Eigen::MatrixXd& a, double h) noexcept {
  combine(kA, a, by_speed_);
  by_speed_ *= h;
  combine(square_, a, by_step_);
  by_step_ *= h * h;
}

void RadauOnMotion::place(int s, double h, View x0, MutableView x) noexcept {
  for (size_t i = 0; i < v_.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    v_[i] = v0_[i] + by_speed_(row, s);
    move_[i] = h * kNode[s] * v0_[i] + by_step_(row, s);
  }
  std::copy_n(x0.begin(), q_.size(), q_.begin());
  ode_.workspace().move(q_, move_);
  for (size_t i = 0; i < q_.size(); ++i) q_[i] += shift_(static_cast<Eigen::Index>(i), s);
  ode_.pack(q_, v_, x);
}

double RadauOnMotion::size_of_change(double h) noexcept {
  const Workspace& w = ode_.workspace();
  const auto z = w.independent_speeds();
  sum(change_, h);
  double size = 0;
  for (int s = 0; s < 3; ++s)
    for (size_t i = 0; i < z.size(); ++i) {
      const double q = x_[s][static_cast<size_t>(w.coordinate_of(z[i]))], v = x_[s][q_.size() + i];
      for (const double e : {std::abs(by_speed_(z[i], s)) / (1 + std::abs(v)),
                             std::abs(by_step_(z[i], s)) / (1 + std::abs(q))})
        if (!(e <= size)) size = e;  // keeps a NaN
    }
  return size;
}

void RadauOnMotion::estimate(View v, View a) noexcept {
  const double gamma = 1 / eigen_.real, h = step_;
  for (size_t i = 0; i < v.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    double step = h * v[i], speed = h * a[i];
    for (int s = 0; s < 3; ++s) {
      step += kEmbedded[s] * (h * kNode[s] * v0_[i] + by_step_(row, s));
      speed += kEmbedded[s] * by_speed_(row, s);
    }
    error_step_[i] = gamma * step;
    error_speed_[i] = gamma * speed;
  }
  main_.matrices.solve_shifted(error_step_.data(), error_speed_.data());
}

double RadauOnMotion::norm_of_estimate() const noexcept {
  const Workspace& w = ode_.workspace();
  double squares = 0;
  for (const int z : w.independent_speeds()) {
    const auto i = static_cast<size_t>(z);
    const double q = last_x_[static_cast<size_t>(w.coordinate_of(z))];
    const double step = error_step_[i] / (1 + std::abs(q)),
                 speed = step_ * error_speed_[i] / (1 + step_ * std::abs(last_v_[i]));
    squares += step * step + speed * speed;
  }
  return std::sqrt(squares / (2 * std::max<double>(1, static_cast<double>(rates_.size()))));
}

double RadauOnMotion::error(bool again) noexcept {
  estimate(v0_, a0_);
  if (!again) return norm_of_estimate();
  const auto z = ode_.workspace().independent_speeds();
  std::vector<double>& x = x_[0];
  std::copy(start_x_.begin(), start_x_.end(), x.begin());
  for (size_t i = 0; i < z.size(); ++i) {
    x[static_cast<size_t>(ode_.workspace().coordinate_of(z[i]))] +=
        error_step_[static_cast<size_t>(z[i])];
    x[q_.size() + i] += error_speed_[static_cast<size_t>(z[i])];
  }
  if (!usable(ode_.rhs(start_t_, x, f_))) return norm_of_estimate();
  estimate(ode_.speeds(), ode_.accelerations());
  return norm_of_estimate();
}

}  // namespace panto
