// Radau IIA (INT-6) with three stages, order 5. The stage system is decoupled by the eigenvectors of A⁻¹ into one real and one complex system of the
// reduced size (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.8), whose transformation T is used here. Models with many coordinates
// are solved for the accelerations of the stages with sparse matrices (INT-15).
#include <algorithm>
#include <cmath>
#include <complex>

#include "panto/integrate/families.hpp"
#include "panto/integrate/motion_matrix.hpp"
#include "panto/integrate/newton.hpp"
#include "panto/integrate/stage_matrices.hpp"

namespace panto {

namespace {

using Complex = std::complex<double>;

constexpr double kSqrt6 = 2.449489742783178098197284;
constexpr double kNode[3] = {(4 - kSqrt6) / 10, (4 + kSqrt6) / 10, 1};
constexpr double kWeight[3] = {(16 - kSqrt6) / 36, (16 + kSqrt6) / 36, 1.0 / 9};
constexpr double kA[3][3] = {
    {(88 - 7 * kSqrt6) / 360, (296 - 169 * kSqrt6) / 1800, (3 * kSqrt6 - 2) / 225},
    {(296 + 169 * kSqrt6) / 1800, (88 + 7 * kSqrt6) / 360, (-3 * kSqrt6 - 2) / 225},
    {kWeight[0], kWeight[1], kWeight[2]}};
constexpr double kT[3][3] = {
    {9.1232394870892942792e-02, -0.14125529502095420843, -3.0029194105147424492e-02},
    {0.24171793270710701896, 0.20412935229379993199, 0.38294211275726193779},
    {0.96604818261509293619, 1, 0}};
constexpr double kTInverse[3][3] = {
    {4.3255798900631553510, 0.33919925181580986954, 0.54177053993587487119},
    {-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196},
    {-0.50287263494578687595, 2.5719269498556054292, -0.59603920482822492497}};

// Eigenvalues of A⁻¹: one real, one complex pair.
struct Eigenvalues {
  double real;
  Complex pair;
  Eigenvalues() {
    const double c = std::cbrt(9.0), d = c * (c - 1);
    const Complex inverse((12 - d) / 60, c * (c + 1) * std::sqrt(3.0) / 60);
    real = 30 / (6 + d);
    pair = std::conj(1.0 / inverse);
    pair = {pair.real(), std::abs(pair.imag())};
  }
};

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

// On the accelerations a_i of the stages, where every coordinate is the integral of a speed: v_i = v0 + h Σ A_ij a_j, q_i = q0 moved by
// h c_i v0 + h² Σ (A²)_ij a_j. No matrix of the size n x n is made.
class Radau5OnMotion final : public Stepper {
 public:
  Radau5OnMotion(Ode& ode, const StepperOptions& options)
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
    for (auto* e : {&v0_, &v_, &move_, &last_v_, &last_a_}) e->resize(static_cast<size_t>(nv));
    last_x_.resize(next_.size());
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
  void reset() noexcept override { follows_ = main_.valid = false; }

 protected:
  Status advance(double t, double h, View x0, MutableView x1) noexcept override {
    Status status = begin(t, h, x0);
    if (!usable(status)) return status;
    Held& held = side_ ? beside_ : main_;
    if (side_ || !held.valid || std::abs(held.h - h) > kSameStep * std::abs(h)) {
      status = renew(held, t, h, x0);
      if (!usable(status)) return status;
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
  void commit(double t, View x) noexcept override {
    follows_ = true;
    last_t_ = t;
    std::copy(x.begin(), x.end(), last_x_.begin());
    std::copy(ode_.speeds().begin(), ode_.speeds().end(), last_v_.begin());
    for (size_t i = 0; i < last_a_.size(); ++i) last_a_[i] = a_(static_cast<Eigen::Index>(i), 2);
  }
  void repartitioned(double) noexcept override { reset(); }

 private:
  static constexpr double kSameStep = 1e-6;  // steps that differ by round-off share matrices
  static constexpr int kPatience = 1;
  struct Held {
    StageMatrices matrices;
    bool valid = false;
    double h = 0;
    int least = 0;  // iterations of the first step
  };

  // Speeds at the start of the step, and the accelerations there as a guess of those of the stages: those of the step taken last if it ended in this state.
  Status begin(double t, double h, View x0) noexcept {
    shift_.setZero();
    if (follows_ && std::abs(t - last_t_) <= kSameStep * std::abs(h) &&
        std::equal(x0.begin(), x0.end(), last_x_.begin())) {
      v0_ = last_v_;
      for (size_t i = 0; i < v0_.size(); ++i)
        a_.row(static_cast<Eigen::Index>(i)).setConstant(last_a_[i]);
    } else {
      const Status status = ode_.rhs(t, x0, f_);
      if (!usable(status)) return status;
      std::copy(ode_.speeds().begin(), ode_.speeds().end(), v0_.begin());
      for (size_t i = 0; i < v0_.size(); ++i)
        a_.row(static_cast<Eigen::Index>(i)).setConstant(ode_.accelerations()[i]);
    }
    take_rates(0);
    return Status::kOk;
  }
  Status renew(Held& held, double t, double h, View x) noexcept {
    held.h = h;
    held.least = 0;
    return held.matrices.renew(t, x, rates_, h, 1 / eigen_.real, 1.0 / eigen_.pair);
  }
  void take_rates(int stage) noexcept {
    const auto z = ode_.workspace().independent_speeds();
    for (size_t i = 0; i < rates_.size(); ++i) rates_[i] = a_(z[i], stage);
  }
  // Columns of `to`: those of `from` weighted by a row of the matrix.
  static void combine(const double (&weight)[3][3], const Eigen::MatrixXd& from,
                      Eigen::MatrixXd& to) noexcept {
    for (int s = 0; s < 3; ++s)
      to.col(s) =
          weight[s][0] * from.col(0) + weight[s][1] * from.col(1) + weight[s][2] * from.col(2);
  }
  // What accelerations, or their changes, make of speeds and coordinates.
  void sum(const Eigen::MatrixXd& a, double h) noexcept {
    combine(kA, a, by_speed_);
    by_speed_ *= h;
    combine(square_, a, by_step_);
    by_step_ *= h * h;
  }
  void place(int s, double h, View x0, MutableView x) noexcept {
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
  // Largest relative change of an independent coordinate or speed of a stage.
  double size_of_change(double h) noexcept {
    const Workspace& w = ode_.workspace();
    const auto z = w.independent_speeds();
    sum(change_, h);
    double size = 0;
    for (int s = 0; s < 3; ++s)
      for (size_t i = 0; i < z.size(); ++i) {
        const double q = x_[s][static_cast<size_t>(w.coordinate_of(z[i]))],
                     v = x_[s][q_.size() + i];
        for (const double e : {std::abs(by_speed_(z[i], s)) / (1 + std::abs(v)),
                               std::abs(by_step_(z[i], s)) / (1 + std::abs(q))})
          if (!(e <= size)) size = e;  // keeps a NaN
      }
    return size;
  }

  double tolerance_;
  int limit_;
  Eigenvalues eigen_;
  Held main_, beside_;  // of steps taken, and of trials
  Convergence convergence_;
  bool follows_ = false;
  double last_t_ = 0;
  double square_[3][3] = {};  // A²
  double power_[3][2] = {};   // in and out, of the stages
  std::vector<double> f_, q_, rates_, v0_, v_, move_;
  std::vector<double> last_x_, last_v_, last_a_;  // where the step taken last ended
  std::vector<double> x_[3];
  Eigen::MatrixXd a_;  // of the stages
  Eigen::MatrixXd by_speed_, by_step_, change_, mixed_, rest_, mixed_rest_;
  Eigen::MatrixXd shift_;  // from where the law puts dependent coordinates to where they close
};

}  // namespace

StepperPointer make_radau(std::string_view name, Ode& ode, const StepperOptions& options) {
  if (name != "radau5") return nullptr;
  if (MotionMatrix::large(ode)) return make_sparse_radau(ode, options);
  return std::make_unique<Radau5>(ode, options);
}

StepperPointer make_sparse_radau(Ode& ode, const StepperOptions& options) {
  return std::make_unique<Radau5OnMotion>(ode, options);
}

}  // namespace panto
