// Radau IIA (INT-6) with three stages, order 5. The stage system is decoupled by the eigenvectors of A⁻¹ into one real and one complex system of the
// reduced size (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.8), whose transformation T is used here. Models with many coordinates
// are solved for the accelerations of the stages with sparse matrices (INT-15).
#include <algorithm>
#include <cmath>
#include <complex>

#include "panto/integrate/families.hpp"
#include "panto/integrate/motion_matrix.hpp"
#include "panto/integrate/newton.hpp"
#include "panto/integrate/radau_motion.hpp"
#include "panto/integrate/radau_table.hpp"

namespace panto {

namespace {

using namespace radau;  // NOLINT: its table

class Radau5 final : public Stepper {
 public:
  Radau5(Ode& ode, const StepperOptions& options)
      : Stepper(ode),
        tolerance_(options.newton_tolerance),
        limit_(options.newton_limit),
        real_(ode),
        complex_(ode),
        x_(next_.size()),
        f_(next_.size()) {
    ode.prepare_derivatives();
    for (int i = 0; i < 3; ++i) {
      z_[i].setZero(ode.dynamic_size());
      w_[i] = r_[i] = z_[i];
      reduced_[i].setZero(ode.reduced_size());
    }
    stage_f_.setZero(ode.size(), 3);
    right_.setZero(ode.reduced_size());
    solution_.setZero(ode.reduced_size(), 3);
  }

 protected:
  Status advance(double t, double h, View x0, MutableView x1) noexcept override {
    const int n = ode_.dynamic_size();
    const size_t m = static_cast<size_t>(ode_.reduced_size());
    const double gamma = eigen_.real / h;
    const Complex pair = eigen_.pair / h;
    for (int i = 0; i < 3; ++i) {
      z_[i].setZero();
      w_[i].setZero();
    }
    bool renew = true;
    convergence_.start();
    for (int k = 0; k < limit_; ++k) {
      ++iterations_;
      if (renew) {
        // First at the start of the step, later at its present end.
        std::copy(x0.begin(), x0.end(), x_.begin());
        for (int i = 0; i < n; ++i) x_[static_cast<size_t>(i)] += z_[2](i);
        const Status status = ode_.linearise(k == 0 ? t : t + h, x_);
        if (!usable(status)) return status;
        real_.factor(ode_, gamma);
        complex_.factor(ode_, pair);
        renew = false;
      }
      for (int s = 0; s < 3; ++s) {
        std::copy(x0.begin(), x0.end(), x_.begin());
        for (int i = 0; i < n; ++i) x_[static_cast<size_t>(i)] += z_[s](i);
        const Status status = ode_.rhs(t + kNode[s] * h, x_, f_);
        if (!usable(status)) return status;
        std::copy(f_.begin(), f_.end(), stage_f_.col(s).data());
      }
      for (int s = 0; s < 3; ++s) {
        r_[s] = kTInverse[s][0] * stage_f_.col(0).head(n) +
                kTInverse[s][1] * stage_f_.col(1).head(n) +
                kTInverse[s][2] * stage_f_.col(2).head(n);
      }
      r_[0] -= gamma * w_[0];
      r_[1] -= pair.real() * w_[1] - pair.imag() * w_[2];
      r_[2] -= pair.imag() * w_[1] + pair.real() * w_[2];
      for (int s = 0; s < 3; ++s)
        ode_.reduce({r_[s].data(), static_cast<size_t>(n)}, {reduced_[s].data(), m});
      solution_.col(0) = real_.solve_reduced(reduced_[0]);
      right_.real() = reduced_[1];
      right_.imag() = reduced_[2];
      const auto& c = complex_.solve_reduced(right_);
      solution_.col(1) = c.real();
      solution_.col(2) = c.imag();
      for (int s = 0; s < 3; ++s) r_[s].noalias() += ode_.columns() * solution_.col(s);
      w_[0] += r_[0] / gamma;
      const Complex inverse = 1.0 / pair;
      w_[1] += inverse.real() * r_[1] - inverse.imag() * r_[2];
      w_[2] += inverse.imag() * r_[1] + inverse.real() * r_[2];
      double size = 0;
      for (int s = 0; s < 3; ++s)
        for (int i = 0; i < n; ++i) {
          const double z = kT[s][0] * w_[0](i) + kT[s][1] * w_[1](i) + kT[s][2] * w_[2](i);
          const double relative =
              std::abs(z - z_[s](i)) / (1 + std::abs(x0[static_cast<size_t>(i)] + z));
          if (!(relative <= size)) size = relative;  // keeps a NaN
          z_[s](i) = z;
        }
      const auto verdict = convergence_.judge(size, tolerance_);
      if (verdict == Convergence::Verdict::kFailed) return Status::kNotFinite;
      if (verdict == Convergence::Verdict::kSlow) renew = true;
      if (verdict == Convergence::Verdict::kDone) {
        for (int i = 0; i < n; ++i)
          x1[static_cast<size_t>(i)] = x0[static_cast<size_t>(i)] + z_[2](i);
        for (int i = n; i < ode_.size(); ++i) {
          double sum = 0;
          for (int s = 0; s < 3; ++s) sum += kWeight[s] * stage_f_(i, s);
          x1[static_cast<size_t>(i)] = x0[static_cast<size_t>(i)] + h * sum;
        }
        return Status::kOk;
      }
    }
    return Status::kNotConverged;
  }

 private:
  double tolerance_;
  int limit_;
  Eigenvalues eigen_;
  ShiftedSolver<double> real_;
  ShiftedSolver<Complex> complex_;
  Convergence convergence_;
  std::vector<double> x_, f_;
  Eigen::VectorXd z_[3], w_[3], r_[3], reduced_[3];
  Eigen::VectorXcd right_;
  Eigen::MatrixXd stage_f_, solution_;
};

}  // namespace

StepperPointer make_radau(std::string_view name, Ode& ode, const StepperOptions& options) {
  if (name != "radau5") return nullptr;
  if (MotionMatrix::large(ode)) return make_sparse_radau(ode, options);
  return std::make_unique<Radau5>(ode, options);
}

StepperPointer make_sparse_radau(Ode& ode, const StepperOptions& options) {
  return std::make_unique<RadauOnMotion>(ode, options);
}

}  // namespace panto
