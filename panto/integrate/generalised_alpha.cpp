// Generalised-α (INT-7; Chung and Hulbert 1993; on Lie groups Brüls and Cardona 2010) in independent coordinates:
//   (1 - αm) â₁ + αm â₀ = (1 - αf) a₁ + αf a₀,
//   q₁ = q₀ moved by h v₀ + h² ((½ - β) â₀ + β â₁),   v₁ = v₀ + h ((1 - γ) â₀ + γ â₁),
// αm = (2ρ - 1)/(ρ + 1), αf = ρ/(ρ + 1), γ = ½ + αf - αm, β = ¼ (γ + ½)². The unknowns are a₁ of the independent speeds; the entries of â of
// dependent speeds follow the same law, which only serves velocity-controlled coordinates and start values.
// â(t) approximates a(t + (αm - αf) h); started as such, the method is of second order from the first step on (Arnold and Brüls 2007).
#include <algorithm>

#include "panto/integrate/families.hpp"
#include "panto/integrate/motion_newton.hpp"

namespace panto {

namespace {

class GeneralisedAlpha final : public Stepper {
 public:
  GeneralisedAlpha(Ode& ode, const StepperOptions& options)
      : Stepper(ode),
        motion_(ode, options),
        starter_(make_implicit("trapezoidal", ode, options)),
        f_(next_.size()),
        early_(next_.size()) {
    const double rho = options.rho_infinity;
    alpha_m_ = (2 * rho - 1) / (rho + 1);
    alpha_f_ = rho / (rho + 1);
    gamma_ = 0.5 + alpha_f_ - alpha_m_;
    beta_ = 0.25 * (gamma_ + 0.5) * (gamma_ + 0.5);
    const auto nv = static_cast<size_t>(ode.workspace().model().nv);
    for (auto* v : {&hat_, &hat0_, &hat1_}) v->assign(nv, 0.0);
  }
  void reset() noexcept override {
    started_ = false;
    motion_.forget();
  }

 protected:
  Status advance(double t, double h, View x0, MutableView x1) noexcept override {
    Status status = motion_.begin(t, h, x0, side_);
    if (!usable(status)) return status;
    const View v0 = motion_.speeds(), a0 = motion_.accelerations();
    if (started_) {
      hat0_ = hat_;
    } else {
      // a(t - d) = 2 a(t) - a(t + d) + O(d²), d = (αf - αm) h.
      const double d = (alpha_f_ - alpha_m_) * h;
      std::copy(a0.begin(), a0.end(), hat0_.begin());
      if (d != 0) {
        status = starter_->trial(t, d, x0, early_);
        if (!usable(status)) return status;
        status = ode_.rhs(t + d, early_, f_);
        if (!usable(status)) return status;
        for (size_t i = 0; i < hat0_.size(); ++i) hat0_[i] = 2 * a0[i] - ode_.accelerations()[i];
      }
    }
    // â₁ = c a₁ + e, in hat1_ first e.
    const double c = (1 - alpha_f_) / (1 - alpha_m_);
    MotionNewton::Law& law = motion_.law();
    law.velocity = h * gamma_ * c;
    law.position = h * h * beta_ * c;
    for (size_t i = 0; i < hat1_.size(); ++i) {
      const double e = (alpha_f_ * a0[i] - alpha_m_ * hat0_[i]) / (1 - alpha_m_);
      law.speed[i] = v0[i] + h * ((1 - gamma_) * hat0_[i] + gamma_ * e);
      law.step[i] = h * v0[i] + h * h * ((0.5 - beta_) * hat0_[i] + beta_ * e);
      hat1_[i] = e;
    }
    status = motion_.solve(x0, x1, iterations_);
    if (!usable(status)) return status;
    const View a1 = motion_.solution();
    for (size_t i = 0; i < hat1_.size(); ++i) hat1_[i] += c * a1[i];
    const View before = motion_.power_before(), power = motion_.power();
    const auto work = static_cast<size_t>(ode_.dynamic_size());
    for (size_t i = 0; i < power.size(); ++i)
      x1[work + i] = x0[work + i] + 0.5 * h * (before[i] + power[i]);
    return Status::kOk;
  }

  void commit(double t, View x) noexcept override {
    hat_ = hat1_;
    started_ = true;
    motion_.commit(t, x);
  }
  void repartitioned(double) noexcept override { motion_.forget(); }

 private:
  double alpha_m_ = 0, alpha_f_ = 0, gamma_ = 0, beta_ = 0;
  MotionNewton motion_;
  StepperPointer starter_;
  bool started_ = false;
  std::vector<double> f_, early_, hat_, hat0_, hat1_;
};

}  // namespace

StepperPointer make_generalised_alpha(std::string_view name, Ode& ode,
                                      const StepperOptions& options) {
  if (name == "generalised_alpha") return std::make_unique<GeneralisedAlpha>(ode, options);
  return nullptr;
}

}  // namespace panto
