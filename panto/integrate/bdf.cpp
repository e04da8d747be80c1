// Backward differentiation formulae (INT-5) of order 1 to 6 on the times actually visited: the derivative at the new time of the polynomial through
// the last k + 1 states. The first k - 1 steps are taken by radau5 in halves, whose error h^6 does not spoil the order.
// The past is kept as full coordinates and speeds, so that it can be re-expressed in other independent coordinates.
#include <algorithm>
#include <array>
#include <cmath>

#include "panto/integrate/families.hpp"
#include "panto/integrate/motion_newton.hpp"
#include "panto/integrate/newton.hpp"

namespace panto {

namespace {

constexpr int kMaxOrder = 6;

class Bdf final : public Stepper {
 public:
  Bdf(Ode& ode, const StepperOptions& options, int order)
      : Stepper(ode),
        order_(order),
        starter_(make_radau("radau5", ode, options)),
        c_(next_.size()),
        half_(next_.size()) {
    if (ode.plain()) {
      motion_ = std::make_unique<MotionNewton>(ode, options);
    } else {
      newton_ = std::make_unique<NewtonSolver>(ode, options);
    }
    for (Past& p : past_) {
      p.x.resize(next_.size());
      p.v.resize(static_cast<size_t>(ode.workspace().model().nv));
    }
  }
  void reset() noexcept override {
    count_ = 0;
    if (motion_) motion_->forget();
  }

 protected:
  Status advance(double t, double h, View x0, MutableView x1) noexcept override {
    if (count_ == 0 || std::abs(past(0).t - t) > 1e-9 * std::abs(h)) {
      count_ = 0;
      const Status status = ode_.project(t, [&] {
        std::copy(x0.begin(), x0.end(), half_.begin());
        return MutableView(half_);
      }());
      if (!usable(status)) return status;
      remember(t, x0);
    }
    starting_ = count_ < order_;
    if (starting_) {
      const Status status = starter_->trial(t, 0.5 * h, x0, half_);
      if (!usable(status)) return status;
      return starter_->trial(t + 0.5 * h, 0.5 * h, half_, x1);
    }
    // Derivatives of the Lagrange polynomials of the nodes t + h, t, ... at t + h.
    const double t1 = t + h;
    double s = 0;
    for (int i = 0; i < order_; ++i) s += 1 / (t1 - node(i, t));
    for (int i = 0; i < order_; ++i) {
      double& weight = weight_[static_cast<size_t>(i)];
      weight = 1 / (node(i, t) - t1);
      for (int j = 0; j < order_; ++j)
        if (j != i) weight *= (t1 - node(j, t)) / (node(i, t) - node(j, t));
    }
    return motion_ ? by_accelerations(t, h, s, x0, x1) : by_states(t, h, s, x0, x1);
  }

  void commit(double t, View x) noexcept override {
    remember(t, x);
    if (motion_ && !starting_) motion_->commit(t, x);
  }

  void repartitioned(double) noexcept override {
    for (int i = 0; i < count_; ++i)
      ode_.pack(View(past(i).x).first(static_cast<size_t>(ode_.coordinates())), past(i).v,
                past(i).x);
    if (motion_) motion_->forget();
  }

 private:
  // s v1 + Σ w v = a1 and s q1 + Σ w q = v1; as s + Σ w = 0, differences from the newest state will do.
  Status by_accelerations(double t, double h, double s, View x0, MutableView x1) noexcept {
    Status status = motion_->begin(t, h, x0, side_);
    if (!usable(status)) return status;
    MotionNewton::Law& law = motion_->law();
    law.velocity = 1 / s;
    law.position = 1 / (s * s);
    const View v0 = motion_->speeds();
    const Workspace& w = ode_.workspace();
    for (size_t e = 0; e < v0.size(); ++e) {
      const auto at = static_cast<size_t>(w.coordinate_of(static_cast<int>(e)));
      double speed = 0, place = 0;
      for (int i = 1; i < order_; ++i) {
        const double weight = weight_[static_cast<size_t>(i)];
        speed += weight * (past(i).v[e] - v0[e]);
        place += weight * (past(i).x[at] - x0[at]);
      }
      law.speed[e] = v0[e] - speed / s;
      law.step[e] = (law.speed[e] - place) / s;
    }
    status = motion_->solve(x0, x1, iterations_);
    const View power = motion_->power();
    for (size_t i = 0; i < power.size(); ++i) {
      const auto at = static_cast<size_t>(ode_.dynamic_size()) + i;
      double sum = power[i];
      for (int k = 0; k < order_; ++k) sum -= weight_[static_cast<size_t>(k)] * past(k).x[at];
      x1[at] = sum / s;
    }
    return status;
  }

  Status by_states(double t, double h, double s, View x0, MutableView x1) noexcept {
    std::fill(c_.begin(), c_.end(), 0.0);
    for (int i = 0; i < order_; ++i)
      for (size_t e = 0; e < c_.size(); ++e)
        c_[e] += weight_[static_cast<size_t>(i)] * past(i).x[e];
    // Start on the straight line through the last two states.
    const double reach = order_ > 1 ? h / (t - node(1, t)) : 0;
    for (size_t e = 0; e < c_.size(); ++e)
      x1[e] = x0[e] + (order_ > 1 ? reach * (x0[e] - past(1).x[e]) : 0);
    return newton_->solve(t + h, s, c_, x1, iterations_);
  }

  struct Past {
    double t = 0;
    std::vector<double> x, v;
  };
  Past& past(int age) {
    return past_[static_cast<size_t>((newest_ + kMaxOrder - age) % kMaxOrder)];
  }
  // The newest time is the caller's, which may differ from the remembered one by round-off.
  double node(int age, double t) { return age == 0 ? t : past(age).t; }
  // x is closed and was the last to be closed.
  void remember(double t, View x) noexcept {
    newest_ = (newest_ + 1) % kMaxOrder;
    count_ = std::min(count_ + 1, order_);
    Past& p = past(0);
    p.t = t;
    std::copy(x.begin(), x.end(), p.x.begin());
    const View v = ode_.speeds();
    std::copy(v.begin(), v.end(), p.v.begin());
  }

  int order_;
  std::unique_ptr<MotionNewton> motion_;  // where the ode is plain
  std::unique_ptr<NewtonSolver> newton_;  // where it is not
  StepperPointer starter_;
  std::array<Past, kMaxOrder> past_;
  std::array<double, kMaxOrder> weight_{};
  int newest_ = 0, count_ = 0;
  bool starting_ = true;
  std::vector<double> c_, half_;
};

}  // namespace

StepperPointer make_bdf(std::string_view name, Ode& ode, const StepperOptions& options) {
  if (name.size() != 4 || !name.starts_with("bdf")) return nullptr;
  const int order = name[3] - '0';
  if (order < 1 || order > kMaxOrder) return nullptr;
  return std::make_unique<Bdf>(ode, options, order);
}

}  // namespace panto
