#include "panto/integrate/newton.hpp"

#include <algorithm>
#include <cmath>

namespace panto {

double Convergence::round_off(const Ode& ode) {
  return kRoundOff * std::max(1.0, std::pow(ode.independent() / 300.0, 2));
}

Convergence::Verdict Convergence::judge(double correction, double tolerance) noexcept {
  if (!std::isfinite(correction)) return Verdict::kFailed;
  if (correction <= tolerance) return Verdict::kDone;
  const double before = previous_;
  previous_ = correction;
  if (before < 0) return Verdict::kContinue;
  if (correction > 0.5 * before && correction <= round_off_) return Verdict::kDone;
  return correction > 0.1 * before ? Verdict::kSlow : Verdict::kContinue;
}

NewtonSolver::NewtonSolver(Ode& ode, const StepperOptions& options)
    : ode_(ode),
      tolerance_(options.newton_tolerance),
      limit_(options.newton_limit),
      shifted_(ode),
      f_(static_cast<size_t>(ode.size())),
      residual_(ode.dynamic_size()),
      reduced_(ode.reduced_size()),
      correction_(ode.dynamic_size()) {
  ode.prepare_derivatives();
}

Status NewtonSolver::solve(double t, double s, View c, MutableView x, long& iterations) noexcept {
  const int n = ode_.dynamic_size();
  bool renew = true;
  convergence_.start();
  for (int k = 0; k < limit_; ++k) {
    ++iterations;
    if (renew) {
      const Status status = ode_.linearise(t, x);
      if (!usable(status)) return status;
      shifted_.factor(ode_, s);
      renew = false;
    }
    const Status status = ode_.rhs(t, x, f_);
    if (!usable(status)) return status;
    for (int i = 0; i < n; ++i) {
      const auto e = static_cast<size_t>(i);
      residual_(i) = f_[e] - c[e] - s * x[e];
    }
    ode_.reduce({residual_.data(), static_cast<size_t>(n)},
                {reduced_.data(), static_cast<size_t>(reduced_.size())});
    correction_ = residual_;
    correction_.noalias() += ode_.columns() * shifted_.solve_reduced(reduced_);
    double size = 0;
    for (int i = 0; i < n; ++i) {
      const double step = correction_(i) / s;
      double& e = x[static_cast<size_t>(i)];
      e += step;
      const double relative = std::abs(step) / (1 + std::abs(e));
      if (!(relative <= size)) size = relative;  // keeps a NaN
    }
    for (size_t i = static_cast<size_t>(n); i < x.size(); ++i) x[i] = (f_[i] - c[i]) / s;
    switch (convergence_.judge(size, tolerance_)) {
      case Convergence::Verdict::kDone:
        return Status::kOk;
      case Convergence::Verdict::kFailed:
        return Status::kNotFinite;
      case Convergence::Verdict::kSlow:
        renew = true;
        break;
      case Convergence::Verdict::kContinue:
        break;
    }
  }
  return Status::kNotConverged;
}

}  // namespace panto
