// Explicit methods: euler (INT-1), semi_implicit_euler (INT-2), rk4 (INT-3).
#include <algorithm>

#include "panto/integrate/families.hpp"

namespace panto {

namespace {

class Euler final : public Stepper {
 public:
  explicit Euler(Ode& ode) : Stepper(ode), f_(next_.size()) {}

 protected:
  Status advance(double t, double h, View x0, MutableView x1) noexcept override {
    const Status status = ode_.rhs(t, x0, f_);
    if (!usable(status)) return status;
    for (size_t i = 0; i < f_.size(); ++i) x1[i] = x0[i] + h * f_[i];
    return Status::kOk;
  }

 private:
  std::vector<double> f_;
};

// Speeds first, then coordinates with the new speeds: symplectic for conservative mechanisms without loops.
class SemiImplicitEuler final : public Stepper {
 public:
  explicit SemiImplicitEuler(Ode& ode)
      : Stepper(ode),
        f_(next_.size()),
        q_(static_cast<size_t>(ode.coordinates())),
        v_(static_cast<size_t>(ode.workspace().model().nv)) {}

 protected:
  Status advance(double t, double h, View x0, MutableView x1) noexcept override {
    Status status = ode_.rhs(t, x0, f_);
    if (!usable(status)) return status;
    const size_t nq = q_.size();
    std::copy_n(x0.begin(), nq, x1.begin());
    for (size_t i = nq; i < f_.size(); ++i) x1[i] = x0[i] + h * f_[i];
    status = ode_.unpack(t, x1, q_, v_);
    if (!usable(status)) return status;
    ode_.workspace().coordinate_rates(q_, v_, {f_.data(), nq});
    for (size_t i = 0; i < nq; ++i) x1[i] = q_[i] + h * f_[i];
    return Status::kOk;
  }

 private:
  std::vector<double> f_, q_, v_;
};

class RungeKutta4 final : public Stepper {
 public:
  explicit RungeKutta4(Ode& ode)
      : Stepper(ode), f_(next_.size()), sum_(next_.size()), x_(next_.size()) {}

 protected:
  Status advance(double t, double h, View x0, MutableView x1) noexcept override {
    constexpr double kNode[4] = {0, 0.5, 0.5, 1}, kWeight[4] = {1, 2, 2, 1};
    std::copy(x0.begin(), x0.end(), x_.begin());
    std::fill(sum_.begin(), sum_.end(), 0.0);
    for (int stage = 0; stage < 4; ++stage) {
      if (stage > 0)
        for (size_t i = 0; i < f_.size(); ++i) x_[i] = x0[i] + kNode[stage] * h * f_[i];
      const Status status = ode_.rhs(t + kNode[stage] * h, x_, f_);
      if (!usable(status)) return status;
      for (size_t i = 0; i < f_.size(); ++i) sum_[i] += kWeight[stage] * f_[i];
    }
    for (size_t i = 0; i < f_.size(); ++i) x1[i] = x0[i] + h / 6 * sum_[i];
    return Status::kOk;
  }

 private:
  std::vector<double> f_, sum_, x_;
};

}  // namespace

StepperPointer make_explicit(std::string_view name, Ode& ode, const StepperOptions&) {
  if (name == "euler") return std::make_unique<Euler>(ode);
  if (name == "semi_implicit_euler") return std::make_unique<SemiImplicitEuler>(ode);
  if (name == "rk4") return std::make_unique<RungeKutta4>(ode);
  return nullptr;
}

}  // namespace panto
