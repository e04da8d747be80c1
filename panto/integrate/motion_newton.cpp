#include "panto/integrate/motion_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "panto/integrate/newton.hpp"

namespace panto {

namespace {

constexpr double kSameWeight = 1e-6;  // steps that differ by round-off share a matrix
constexpr double kSameTime = 1e-9;    // of a step
constexpr double kLeft = 0.1;         // error left behind, of the tolerance
constexpr double kFading = 0.5;       // of a rate seen, per step since
constexpr double kSlow = 0.1;         // corrections that shrink by less ask for a new matrix

bool same(double a, double b) { return std::abs(a - b) <= kSameWeight * std::abs(b); }

}  // namespace

MotionNewton::MotionNewton(Ode& ode, const StepperOptions& options)
    : ode_(ode),
      tolerance_(options.newton_tolerance),
      limit_(options.newton_limit),
      // So many iterations cost as much as a matrix.
      patience_(std::max(2, ode.reduced_size() / 4)),
      round_off_(Convergence::round_off(ode)),
      q_(static_cast<size_t>(ode.coordinates())),
      rates_(static_cast<size_t>(ode.independent())),
      x_dot_(static_cast<size_t>(ode.size())),
      power_(ode.with_work() ? 2 : 0),
      ahead_(ode.independent()),
      rest_(static_cast<Eigen::Index>(ode.workspace().independent_accelerations().size())) {
  const auto nv = static_cast<size_t>(ode.workspace().model().nv);
  change_.setZero(static_cast<Eigen::Index>(nv));
  shift_.assign(q_.size(), 0.0);
  for (auto* e : {&law_.step, &law_.speed, &a_, &guess_, &v_, &move_}) e->assign(nv, 0.0);
  for (auto& e : difference_) e.assign(nv, 0.0);
  for (Known* k : {&start_, &last_}) {
    k->x.resize(x_dot_.size());
    k->v.resize(nv);
    k->a.resize(nv);
    k->power.resize(power_.size());
  }
  main_.matrix = MotionMatrix::create(ode);
  side_.matrix = MotionMatrix::create(ode);
}

void MotionNewton::forget() noexcept {
  known_ = 0;
  main_.valid = false;
  main_.matrix->forget();
}

// The speeds and the power are those evaluated last.
void MotionNewton::remember(Known& at, double t, View x, View a) noexcept {
  at.t = t;
  std::copy(x.begin(), x.end(), at.x.begin());
  std::copy(ode_.speeds().begin(), ode_.speeds().end(), at.v.begin());
  std::copy(a.begin(), a.end(), at.a.begin());
  at.power = power_;
}

Status MotionNewton::begin(double t, double h, View x0, bool side) noexcept {
  h_ = h;
  on_the_side_ = side;
  const bool follows = known_ > 0 && std::abs(t - last_.t) <= kSameTime * std::abs(h) &&
                       std::equal(x0.begin(), x0.end(), last_.x.begin());
  if (follows) {
    start_ = last_;
    start_.t = t;
  } else {
    const Status status = ode_.rhs(t, x0, x_dot_);
    if (!usable(status)) return status;
    std::copy_n(x_dot_.begin() + ode_.dynamic_size(), power_.size(), power_.begin());
    remember(start_, t, x0, ode_.accelerations());
    if (!side) known_ = 0;
  }
  a_ = start_.a;
  const bool even = follows && same(h, last_h_);
  const double reach = even ? 1 : h / last_h_;
  for (size_t k = 1; k < (even ? used_ : std::min<size_t>(known_, 2)) && follows; ++k)
    for (size_t i = 0; i < a_.size(); ++i) a_[i] += reach * difference_[k][i];
  if (!even && !side) known_ = std::min<size_t>(known_, 1);
  return Status::kOk;
}

void MotionNewton::place(View x0, MutableView x1) noexcept {
  const double p = law_.position, d = law_.velocity;
  for (size_t i = 0; i < a_.size(); ++i) {
    move_[i] = law_.step[i] + p * a_[i];
    v_[i] = law_.speed[i] + d * a_[i];
  }
  std::copy_n(x0.begin(), q_.size(), q_.begin());
  ode_.workspace().move(q_, move_);
  for (size_t i = 0; i < q_.size(); ++i) q_[i] += shift_[i];
  ode_.pack(q_, v_, x1);
}

double MotionNewton::correct(Held& held, View x1) noexcept {
  const Workspace& w = ode_.workspace();
  const auto z = w.independent_speeds();
  const View follow = ode_.accelerations();
  for (size_t i = 0; i < rates_.size(); ++i)
    ahead_(static_cast<Eigen::Index>(i)) = follow[static_cast<size_t>(z[i])] - rates_[i];
  held.matrix->solve(rest_, ahead_, change_);
  double size = 0;
  const auto note = [&](double change, size_t i) {
    const auto at = static_cast<size_t>(w.coordinate_of(static_cast<int>(i)));
    for (const double e : {std::abs(law_.velocity * change) / (1 + std::abs(v_[i])),
                           std::abs(law_.position * change) / (1 + std::abs(x1[at]))})
      if (!(e <= size)) size = e;  // keeps a NaN
  };
  // Dependent speeds give start values only, unless a coordinate is the integral of one.
  if (!ode_.plain())
    for (size_t i = 0; i < a_.size(); ++i) note(follow[i] - a_[i], i);
  for (size_t i = 0; i < a_.size(); ++i) a_[i] = follow[i] + change_(static_cast<Eigen::Index>(i));
  for (size_t i = 0; i < rates_.size(); ++i) {
    const auto dof = static_cast<size_t>(z[i]);
    const double change = change_(z[i]);
    a_[dof] = rates_[i] + change;
    note(change, dof);
  }
  // Dependent coordinates start where they closed last.
  if (ode_.plain())
    for (size_t i = 0; i < q_.size(); ++i) shift_[i] += ode_.positions()[i] - x1[i];
  return size;
}

// Whether what this correction leaves behind is small enough: by its size, or by its size and the slowest rate at which corrections with this matrix
// have shrunk.
bool MotionNewton::converged(double size, double before, bool fresh, bool& renew,
                             History& history) const noexcept {
  if (size <= tolerance_) return true;
  if (before < 0) return false;
  const double rate = size / before;
  if (rate <= kSlow) {
    history.rate = std::max(rate, history.rate);
    // Power is that before the correction, and enters the work with the weight of a rate.
    const double work = ode_.with_work() ? law_.velocity : 0;
    return std::max(history.rate, work) * size <= kLeft * tolerance_;
  }
  // Corrections that shrink no more are accepted at round-off level only.
  if (rate > 0.5 && size <= round_off_ && (fresh || history.rate >= 0)) return true;
  renew = true;
  return false;
}

Status MotionNewton::solve(View x0, MutableView x1, long& iterations) noexcept {
  const double t1 = start_.t + h_;
  const auto z = ode_.workspace().independent_speeds();
  Held* held = &main_;
  History history = main_.history;
  history.rate *= kFading;
  const bool weighed = same(main_.position, law_.position) && same(main_.velocity, law_.velocity);
  bool fresh = false, renew = !main_.valid || !weighed;
  double before = -1;
  bool whole = true;  // all iterations with one matrix
  guess_ = a_;
  std::fill(shift_.begin(), shift_.end(), 0.0);
  if (!renew) held->matrix->foretell(t1);
  for (int k = 0; k < limit_; ++k) {
    ++iterations;
    place(x0, x1);
    for (size_t i = 0; i < rates_.size(); ++i) rates_[i] = a_[static_cast<size_t>(z[i])];
    if (renew) {
      if (on_the_side_) held = &side_;
      held->valid = false;
      if (!same(held->position, law_.position) || !same(held->velocity, law_.velocity))
        held->matrix->forget();
      const Status status = held->matrix->renew(t1, x1, rates_, law_.position, law_.velocity);
      if (!usable(status)) return status;
      held->valid = true;
      held->position = law_.position;
      held->velocity = law_.velocity;
      history = {-1, limit_, 0};
      fresh = true;
      renew = false;
      before = -1;
      whole = k == 0;
    }
    const Status status =
        ode_.imbalance(t1, x1, rates_, {rest_.data(), static_cast<size_t>(rest_.size())});
    const double size = usable(status) ? correct(*held, x1) : 0;
    if (!usable(status) || !std::isfinite(size)) {
      if (fresh) return usable(status) ? Status::kNotFinite : status;
      a_ = guess_;
      renew = true;
      continue;
    }
    if (converged(size, before, fresh, renew, history)) {
      if (!power_.empty()) ode_.power(power_);
      place(x0, x1);
      // A matrix is kept until the iterations it has cost beyond the best would have paid for another.
      if (whole) {
        history.least = std::min(history.least, k + 1);
        history.excess += k + 1 - history.least;
      }
      if (!on_the_side_) {
        main_.history = history;
        main_.valid = history.excess <= patience_;
      }
      return Status::kOk;
    }
    before = size;
  }
  if (!on_the_side_) main_.valid = false;
  return Status::kNotConverged;
}

void MotionNewton::commit(double t, View x) noexcept {
  if (known_ == 0) {
    difference_[0] = start_.a;
    known_ = 1;
  }
  // The difference of order n is what the sum of those below has failed to foretell: as many serve next as would have done best.
  double least = std::numeric_limits<double>::infinity();
  guess_ = a_;
  for (size_t n = 0; n < difference_.size() && n <= known_; ++n) {
    double worst = 0;
    std::vector<double>& d = difference_[n];
    for (size_t i = 0; i < d.size(); ++i) {
      const double before = d[i];
      d[i] = guess_[i];
      guess_[i] -= before;
      worst = std::max(worst, std::abs(guess_[i]));
    }
    if (n == known_ || !(worst < least)) continue;
    least = worst;
    used_ = n + 1;
  }
  known_ = std::min(known_ + 1, difference_.size());
  if (known_ == 2) used_ = 2;
  remember(last_, t, x, a_);
  last_h_ = h_;
}

}  // namespace panto
