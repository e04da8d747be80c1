// Generalised-α (INT-7; Chung and Hulbert 1993; on Lie groups Brüls and Cardona 2010) in independent coordinates:
//   (1 - αm) â₁ + αm â₀ = (1 - αf) a₁ + αf a₀,
//   q₁ = q₀ moved by h v₀ + h² ((½ - β) â₀ + β â₁),   v₁ = v₀ + h ((1 - γ) â₀ + γ â₁),
// αm = (2ρ - 1)/(ρ + 1), αf = ρ/(ρ + 1), γ = ½ + αf - αm, β = ¼ (γ + ½)². The unknowns are â of the independent speeds; the entries of â of
// dependent speeds follow the same law, which only serves velocity-controlled coordinates and start values.
// â(t) approximates a(t + (αm - αf) h); started as such, the method is of second order from the first step on (Arnold and Brüls 2007).
#include <algorithm>
#include <cmath>

#include "panto/integrate/families.hpp"
#include "panto/integrate/newton.hpp"

namespace panto {

namespace {

class GeneralisedAlpha final : public Stepper {
 public:
  GeneralisedAlpha(Ode& ode, const StepperOptions& options)
      : Stepper(ode),
        tolerance_(options.newton_tolerance),
        limit_(options.newton_limit),
        starter_(make_radau("radau5", ode, options)),
        f0_(next_.size()),
        f1_(next_.size()),
        early_(next_.size()),
        matrix_(ode.independent(), ode.independent()),
        residual_(ode.independent()),
        correction_(ode.independent()),
        lu_(ode.independent()) {
    const double rho = options.rho_infinity;
    alpha_m_ = (2 * rho - 1) / (rho + 1);
    alpha_f_ = rho / (rho + 1);
    gamma_ = 0.5 + alpha_f_ - alpha_m_;
    beta_ = 0.25 * (gamma_ + 0.5) * (gamma_ + 0.5);
    const auto nv = static_cast<size_t>(ode.workspace().model().nv);
    q0_.resize(static_cast<size_t>(ode.coordinates()));
    q_.resize(q0_.size());
    for (auto* v : {&v0_, &v_, &a0_, &hat0_, &hat1_, &hat_, &move_}) v->assign(nv, 0.0);
    ode.prepare_derivatives();
  }
  void reset() noexcept override { started_ = false; }

 protected:
  Status advance(double t, double h, View x0, MutableView x1) noexcept override {
    Status status = ode_.rhs(t, x0, f0_);
    if (!usable(status)) return status;
    const auto copy = [](View from, std::vector<double>& to) {
      std::copy(from.begin(), from.end(), to.begin());
    };
    copy(ode_.positions(), q0_);
    copy(ode_.speeds(), v0_);
    copy(ode_.accelerations(), a0_);
    if (started_) {
      copy(hat_, hat0_);
    } else {
      // a(t - d) = 2 a(t) - a(t + d) + O(d²), d = (αf - αm) h.
      const double d = (alpha_f_ - alpha_m_) * h;
      hat0_ = a0_;
      if (d != 0) {
        status = starter_->trial(t, d, x0, early_);
        if (!usable(status)) return status;
        status = ode_.rhs(t + d, early_, f1_);
        if (!usable(status)) return status;
        for (size_t i = 0; i < hat0_.size(); ++i) hat0_[i] = 2 * a0_[i] - ode_.accelerations()[i];
      }
    }
    hat1_ = a0_;

    const auto z = ode_.workspace().independent_speeds();
    const int nz = ode_.independent(), np = ode_.reduced_size() - nz;
    bool renew = true;
    convergence_.start();
    for (int k = 0; k < limit_; ++k) {
      ++iterations_;
      place(h, x1);
      if (renew) {
        status = ode_.linearise(t + h, x1);
        if (!usable(status)) return status;
        factor(h, np);
        renew = false;
      }
      status = ode_.rhs(t + h, x1, f1_);
      if (!usable(status)) return status;
      const View a1 = ode_.accelerations();
      double size = 0;
      const auto note = [&](size_t i, double change) {
        const double relative = std::abs(h * gamma_ * change) / (1 + std::abs(v_[i]));
        if (!(relative <= size)) size = relative;  // keeps a NaN
      };
      for (size_t i = 0; i < hat1_.size(); ++i)
        move_[i] =
            ((1 - alpha_f_) * a1[i] + alpha_f_ * a0_[i] - alpha_m_ * hat0_[i]) / (1 - alpha_m_) -
            hat1_[i];
      for (int i = 0; i < nz; ++i)
        residual_(i) = move_[static_cast<size_t>(z[static_cast<size_t>(i)])];
      correction_ = lu_.solve(residual_);
      for (int i = 0; i < nz; ++i)
        move_[static_cast<size_t>(z[static_cast<size_t>(i)])] = correction_(i);
      for (size_t i = 0; i < hat1_.size(); ++i) {
        hat1_[i] += move_[i];
        note(i, move_[i]);
      }
      const auto verdict = convergence_.judge(size, tolerance_);
      if (verdict == Convergence::Verdict::kFailed) return Status::kNotFinite;
      if (verdict == Convergence::Verdict::kSlow) renew = true;
      if (verdict == Convergence::Verdict::kDone) {
        place(h, x1);
        for (auto i = static_cast<size_t>(ode_.dynamic_size()); i < x1.size(); ++i)
          x1[i] = x0[i] + 0.5 * h * (f0_[i] + f1_[i]);
        return Status::kOk;
      }
    }
    return Status::kNotConverged;
  }

  void commit(double, View) noexcept override {
    hat_ = hat1_;
    started_ = true;
  }

 private:
  // x at the end of the step from hat1_.
  void place(double h, MutableView x1) noexcept {
    for (size_t i = 0; i < v_.size(); ++i) {
      move_[i] = h * v0_[i] + h * h * ((0.5 - beta_) * hat0_[i] + beta_ * hat1_[i]);
      v_[i] = v0_[i] + h * ((1 - gamma_) * hat0_[i] + gamma_ * hat1_[i]);
    }
    q_ = q0_;
    ode_.workspace().move(q_, move_);
    ode_.pack(q_, v_, x1);
  }

  // ∂(right side)/∂â: I - c (h² β ∂a/∂z + h γ ∂a/∂ż), c = (1 - αf)/(1 - αm).
  void factor(double h, int np) noexcept {
    const Workspace& w = ode_.workspace();
    const auto zp = w.independent_positions();
    const auto z = w.independent_speeds();
    const double c = (1 - alpha_f_) / (1 - alpha_m_);
    const Eigen::MatrixXd& j = ode_.reduced_jacobian();
    for (int k = 0; k < ode_.independent(); ++k) {
      const auto at = std::lower_bound(zp.begin(), zp.end(), z[static_cast<size_t>(k)]);
      const auto position = static_cast<int>(at - zp.begin());
      for (int i = 0; i < ode_.independent(); ++i)
        matrix_(i, k) = (i == k ? 1 : 0) -
                        c * (h * h * beta_ * j(np + i, position) + h * gamma_ * j(np + i, np + k));
    }
    lu_.compute(matrix_);
  }

  double tolerance_;
  int limit_;
  double alpha_m_ = 0, alpha_f_ = 0, gamma_ = 0, beta_ = 0;
  StepperPointer starter_;
  Convergence convergence_;
  bool started_ = false;
  std::vector<double> f0_, f1_, early_, q0_, q_, v0_, v_, a0_, hat0_, hat1_, hat_, move_;
  Eigen::MatrixXd matrix_;
  Eigen::VectorXd residual_, correction_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
};

}  // namespace

StepperPointer make_generalised_alpha(std::string_view name, Ode& ode,
                                      const StepperOptions& options) {
  if (name == "generalised_alpha") return std::make_unique<GeneralisedAlpha>(ode, options);
  return nullptr;
}

}  // namespace panto
