// CVODE on the independent-coordinate equation: Adams with functional iteration ("cvode"), BDF with the exact Jacobian ("cvode_bdf"), and
// "auto", which begins with Adams and changes to BDF when stiffness, not accuracy, limits the step.
//
// Stiffness is judged from what it does: functional iteration converges only while h |λ| stays below about one, and the higher Adams orders are
// stable on ever shorter steps, so that a stiff mechanism makes the corrector fail and the order fall. When more than kFailureRate of
// kWatch steps failed, or the order is kLowOrder or less, the eigenvalues of the Jacobian decide: if the largest is well damped and h |λ| is
// of order one, stability limits the step, and BDF takes over for the rest of the run. Undamped stiffness (a high natural frequency)
// stays with Adams, since BDF would have to follow the oscillation too, at lower order.
//
// Close to a singular position, where every choice of independent coordinates is poor, an error e of the dependent coordinates makes an
// acceleration error of order e / s², s being the distance to it, and e itself grows like 1 / s. Error control answers this noise with smaller
// steps, which only bring it closer, and gets stuck. So the neighbourhood is crossed in one long step of high order whose stages lie
// on both sides of the position (collocation.hpp). CVODE starts again behind it.
#include <cvode/cvode.h>
#include <cvode/cvode_ls.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

#include <cmath>
#include <complex>
#include <memory>
#include <vector>

#include "panto/integrate/adaptive.hpp"
#include "panto/integrate/collocation.hpp"
#include "panto/integrate/motion_matrix.hpp"
#include "panto/integrate/own_solver.hpp"
#include "panto/integrate/sparse_system.hpp"
#include "panto/integrate/stability.hpp"
#include "panto/integrate/stepper.hpp"

namespace panto {

namespace {

constexpr int kWatch = 100;            // steps between looks at stiffness
constexpr double kFailureRate = 0.05;  // corrector failures per step
constexpr int kLowOrder = 4;           // Adams' higher orders are stable on shorter steps only
constexpr double kSmallestAdams = 1e-14, kSmallestBdf = 1e-13;
constexpr double kNear = 0.45,
                 kLinear = 0.3;  // conditioning of a crossing; how far p may be from 1
constexpr int kRestarts = 3;     // attempts to go on after a failed step

class Cvode final : public Adaptive {
 public:
  Cvode(Ode& ode, double tol, bool stiff, bool automatic, bool beams)
      : ode_(ode), tol_(tol), stiff_(stiff), automatic_(automatic), beams_(beams) {
    SUNContext_Create(nullptr, &context_);
    y_ = N_VNew_Serial(ode.size(), context_);
    dense_ = N_VNew_Serial(ode.size(), context_);
    tolerance_ = N_VNew_Serial(ode.size(), context_);
  }
  ~Cvode() override {
    release();
    N_VDestroy(tolerance_);
    N_VDestroy(dense_);
    N_VDestroy(y_);
    SUNContext_Free(&context_);
  }

  Status start(double t, View x) override {
    std::copy(x.begin(), x.end(), N_VGetArrayPointer(y_));
    t_ = previous_ = t;
    local_ = step_tolerance(tol_, stiff_ ? kSmallestBdf : kSmallestAdams);
    double* a = N_VGetArrayPointer(tolerance_);
    for (int i = 0; i < ode_.size(); ++i) a[i] = local_;
    if (ode_.with_work()) {
      const Status status = ode_.project(t, values());
      if (!usable(status)) return status;
      const Energy e = ode_.workspace().energy(ode_.positions(), ode_.speeds());
      for (int i = ode_.dynamic_size(); i < ode_.size(); ++i)
        a[i] = local_ * (1 + std::abs(e.kinetic) + std::abs(e.potential));
    }
    return begin();
  }

  Status step(double limit) override {
    const double conditioning = ode_.workspace().conditioning();
    best_ = std::max(best_, conditioning);
    if (conditioning > kNear * best_) tried_ = best_;
    const bool near = conditioning < kNear * best_ && conditioning < 0.7 * tried_ && !crossed_;
    if (ode_.worn() || near) {
      const long before = counts_.repartitions;
      const Status status = choose_again();
      if (status != Status::kOk) return status;
      if (near && counts_.repartitions == before && last_step_ > 0) {
        tried_ = conditioning;
        return cross(limit);
      }
    }
    crossed_ = false;
    if (automatic_ && !stiff_ && counts_.steps >= next_look_) {
      const Status status = look_for_stiffness();
      if (status != Status::kOk) return status;
    }
    for (int attempt = 0;; ++attempt) {
      CVodeSetStopTime(memory_, limit);
      const int flag = CVode(memory_, limit, y_, &t_, CV_ONE_STEP);
      if (flag >= 0) {
        ++counts_.steps;
        CVodeGetLastStep(memory_, &last_step_);
        previous_ = t_ - last_step_;
        return Status::kOk;
      }
      failure_ = describe(flag);
      if (attempt == kRestarts) return Status::kIntegratorFailed;
      // A position where the old choice of coordinates fails may be passable with another, from order one.
      const Status status = choose_again();
      if (status != Status::kOk) return status;
      if (const Status begun = begin(); begun != Status::kOk) return begun;
    }
  }

  double previous() const override { return previous_; }
  double time() const override { return t_; }

  Status at(double t, MutableView x) override {
    const double* from = N_VGetArrayPointer(y_);
    if (t != t_ && crossed_)
      return collocation_->step(previous_, t - previous_, crossing_start_, x);
    if (t != t_) {
      if (CVodeGetDky(memory_, t, 0, dense_) != CV_SUCCESS) return Status::kBadArgument;
      from = N_VGetArrayPointer(dense_);
    }
    std::copy(from, from + ode_.size(), x.begin());
    return usable(ode_.project(t, x)) ? Status::kOk : Status::kIntegratorFailed;
  }

  std::string method() const override { return stiff_ ? "cvode_bdf" : "cvode"; }
  std::string failure() const override { return failure_; }
  Counts counts() const override {
    Counts c = counts_;
    long errors = 0, convergence = 0;
    if (memory_) {
      CVodeGetNumErrTestFails(memory_, &errors);
      CVodeGetNumNonlinSolvConvFails(memory_, &convergence);
    }
    c.rejected += errors + convergence;
    return c;
  }

 private:
  MutableView values() { return {N_VGetArrayPointer(y_), static_cast<size_t>(ode_.size())}; }

  static int rhs(realtype t, N_Vector y, N_Vector f, void* self) {
    Ode& ode = static_cast<Cvode*>(self)->ode_;
    const auto n = static_cast<size_t>(ode.size());
    return usable(ode.rhs(t, {N_VGetArrayPointer(y), n}, {N_VGetArrayPointer(f), n})) ? 0 : 1;
  }

  static int jacobian(realtype t, N_Vector y, N_Vector, SUNMatrix j, void* self, N_Vector, N_Vector,
                      N_Vector) {
    auto& me = *static_cast<Cvode*>(self);
    const auto n = static_cast<size_t>(me.ode_.size());
    ++me.counts_.jacobians;
    if (!usable(me.ode_.jacobian(t, {N_VGetArrayPointer(y), n}, me.jacobian_))) return 1;
    std::copy_n(me.jacobian_.data(), n * n, SUNDenseMatrix_Data(j));
    return 0;
  }

  static void silent(int, const char*, const char*, char*, void*) {}

  // Made where CVODE asks for a new Jacobian; another γ alone takes new factors only.
  static int system(realtype t, N_Vector y, N_Vector f, SUNMatrix, booleantype kept,
                    booleantype* renewed, realtype gamma, void* self, N_Vector, N_Vector,
                    N_Vector) {
    auto& me = *static_cast<Cvode*>(self);
    const auto n = static_cast<size_t>(me.ode_.size());
    *renewed = kept == SUNFALSE;
    if (*renewed) {
      ++me.counts_.jacobians;
      if (!usable(me.sparse_->linearise(t, {N_VGetArrayPointer(y), n}, {N_VGetArrayPointer(f), n},
                                        gamma)))
        return 1;
    }
    return me.sparse_->factor(gamma) ? 0 : 1;
  }

  static void solve(void* self, double* b) {
    auto& me = *static_cast<Cvode*>(self);
    me.sparse_->solve({b, static_cast<size_t>(me.ode_.size())});
  }

  // Weights of INT-18.
  static int weigh(N_Vector y, N_Vector weight, void* self) {
    auto& me = *static_cast<Cvode*>(self);
    double h = 0;
    CVodeGetCurrentStep(me.memory_, &h);
    if (!(h > 0)) h = me.first_step_;
    const double *x = N_VGetArrayPointer(y), *a = N_VGetArrayPointer(me.tolerance_);
    double* w = N_VGetArrayPointer(weight);
    for (int i = 0; i < me.ode_.size(); ++i) {
      const double unit = i >= me.ode_.coordinates() && i < me.ode_.dynamic_size() ? h : 1;
      w[i] = unit / (a[i] + me.local_ * unit * std::abs(x[i]));
    }
    return 0;
  }

  // (Re)starts at the values of y_.
  Status begin() {
    if (beams_ && stiff_) {
      const Status status = choose_first_step();
      if (!usable(status)) return status;
    }
    if (memory_) {
      counts_ = counts();
      if (beams_ && stiff_) CVodeSetInitStep(memory_, first_step_);
      return CVodeReInit(memory_, t_, y_) == CV_SUCCESS ? Status::kOk : Status::kIntegratorFailed;
    }
    memory_ = CVodeCreate(stiff_ ? CV_BDF : CV_ADAMS, context_);
    CVodeSetErrHandlerFn(memory_, &Cvode::silent, nullptr);
    if (CVodeInit(memory_, &Cvode::rhs, t_, y_) != CV_SUCCESS) return Status::kIntegratorFailed;
    CVodeSetUserData(memory_, this);
    CVodeSVtolerances(memory_, local_, tolerance_);
    if (stiff_ && beams_) {
      if (!sparse_) sparse_ = std::make_unique<SparseOdeSystem>(ode_);
      own_ = std::make_unique<OwnSolver>(context_, this, &Cvode::solve);
      CVodeSetLinearSolver(memory_, own_->solver, own_->matrix);
      CVodeSetLinSysFn(memory_, &Cvode::system);
      CVodeWFtolerances(memory_, &Cvode::weigh);
      CVodeSetInitStep(memory_, first_step_);
      CVodeSetMaxOrd(memory_, kBeamOrder);
    } else if (stiff_) {
      matrix_ = SUNDenseMatrix(ode_.size(), ode_.size(), context_);
      linear_ = SUNLinSol_Dense(y_, matrix_, context_);
      CVodeSetLinearSolver(memory_, linear_, matrix_);
      CVodeSetJacFn(memory_, &Cvode::jacobian);
    } else {
      nonlinear_ = SUNNonlinSol_FixedPoint(y_, 0, context_);
      CVodeSetNonlinearSolver(memory_, nonlinear_);
    }
    return Status::kOk;
  }

  // Implicit Euler begins: its error h² a / 2 within the tolerance.
  Status choose_first_step() {
    rates_.resize(static_cast<size_t>(ode_.size()));
    const Status status = ode_.rhs(t_, values(), rates_);
    if (!usable(status)) return status;
    double largest = 1;
    for (int i = ode_.coordinates(); i < ode_.dynamic_size(); ++i)
      largest = std::max(largest, std::abs(rates_[static_cast<size_t>(i)]));
    first_step_ = std::sqrt(local_ / largest);
    return Status::kOk;
  }

  void release() {
    if (memory_) CVodeFree(&memory_);
    own_.reset();
    memory_ = nullptr;
    if (linear_) SUNLinSolFree(linear_);
    if (matrix_) SUNMatDestroy(matrix_);
    if (nonlinear_) SUNNonlinSolFree(nonlinear_);
    linear_ = nullptr;
    matrix_ = nullptr;
    nonlinear_ = nullptr;
  }

  Status choose_again() {
    const Status status = ode_.repartition(t_, values());
    if (status == Status::kOk) return Status::kOk;
    if (status != Status::kRepartition) {
      failure_ = "the mechanism changed its mobility";
      return status;
    }
    ++counts_.repartitions;
    return begin();
  }

  // At a singular position the conditioning goes to zero like a power p of the time left, p = 1 (SNG-2): its logarithmic rate at two instants gives p and
  // that time. Anything else is no such position, or still too far away.
  Status cross(double limit) {
    if (!collocation_) collocation_ = std::make_unique<Collocation>(ode_);
    const View x = values();
    crossing_start_.assign(x.begin(), x.end());
    crossed_ = true;
    const double probe = 0.5 * last_step_;
    double c[3] = {ode_.workspace().conditioning()};
    Status status = Status::kOk;
    for (int k = 1; k < 3 && usable(status); ++k) {
      status = collocation_->step(t_, k * probe, crossing_start_, values());
      c[k] = ode_.workspace().conditioning();
    }
    std::copy(crossing_start_.begin(), crossing_start_.end(), values().begin());
    if (!usable(status)) return step(limit);
    const double first = std::log(c[0] / c[1]) / probe, second = std::log(c[1] / c[2]) / probe;
    const double power = probe / (1 / first - 1 / second);
    if (!(second > first && first > 0 && std::abs(power - 1) < kLinear)) return step(limit);
    const double end = std::min(t_ + probe + 2 / first, limit);
    status = collocation_->step(t_, end - t_, crossing_start_, values());
    if (!usable(status)) {  // CVODE may still find a way
      std::copy(crossing_start_.begin(), crossing_start_.end(), values().begin());
      return step(limit);
    }
    previous_ = t_;
    t_ = end;
    ++counts_.steps;
    return begin();
  }

  Status look_for_stiffness() {
    next_look_ = counts_.steps + kWatch;
    const long failures = counts().rejected - seen_failures_;
    seen_failures_ += failures;
    int order = 0;
    CVodeGetLastOrder(memory_, &order);
    if ((failures < kFailureRate * kWatch && order > kLowOrder) || ode_.reduced_size() == 0)
      return Status::kOk;
    Eigen::VectorXcd fast;
    if (!usable(fast_eigenvalues(ode_, t_, values(), fast))) return Status::kOk;
    std::complex<double> largest;
    for (const std::complex<double>& e : fast)
      if (std::abs(e) > std::abs(largest)) largest = e;
    const double size = std::abs(largest);
    const bool damped = largest.real() < -0.5 * size;
    if (!damped || last_step_ * size < 0.2) return Status::kOk;
    counts_ = counts();
    release();
    stiff_ = true;
    const std::vector<double> x(values().begin(), values().end());
    return start(t_, x);
  }

  static std::string describe(int flag) {
    switch (flag) {
      case CV_TOO_MUCH_ACC:
        return "the tolerance is below round-off";
      case CV_ERR_FAILURE:
        return "the error test failed at the smallest step";
      case CV_CONV_FAILURE:
        return "the corrector did not converge at the smallest step";
      case CV_RHSFUNC_FAIL:
      case CV_FIRST_RHSFUNC_ERR:
      case CV_REPTD_RHSFUNC_ERR:
      case CV_UNREC_RHSFUNC_ERR:
        return "the equations of motion could not be evaluated";
      default: {
        char* name = CVodeGetReturnFlagName(flag);
        std::string text = name;
        free(name);  // NOLINT: allocated by SUNDIALS with malloc
        return text;
      }
    }
  }

  Ode& ode_;
  double tol_, local_ = 0;
  bool stiff_, automatic_, beams_;
  SUNContext context_ = nullptr;
  void* memory_ = nullptr;
  N_Vector y_ = nullptr, dense_ = nullptr, tolerance_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver linear_ = nullptr;
  SUNNonlinearSolver nonlinear_ = nullptr;
  Eigen::MatrixXd jacobian_;
  std::unique_ptr<SparseOdeSystem> sparse_;  // of beams of many elements, in place of the matrix
  std::unique_ptr<OwnSolver> own_;
  std::vector<double> rates_;
  double first_step_ = 0;
  double t_ = 0, previous_ = 0, last_step_ = 0;
  long next_look_ = kWatch, seen_failures_ = 0;
  bool crossed_ = false;         // the last step was a crossing
  double best_ = 0, tried_ = 0;  // conditioning: best so far, at the last attempt to cross
  std::unique_ptr<Collocation> collocation_;
  std::vector<double> crossing_start_;
  Counts counts_;
  std::string failure_;
};

}  // namespace

std::unique_ptr<Adaptive> make_cvode(std::string_view name, Ode& ode, double tol) {
  const bool beams = MotionMatrix::many_vibrations(ode);
  if (name == "cvode") return std::make_unique<Cvode>(ode, tol, false, false, false);
  if (name == "cvode_bdf") return std::make_unique<Cvode>(ode, tol, true, false, beams);
  if (name == "auto" && !beams) return std::make_unique<Cvode>(ode, tol, false, true, false);
  return nullptr;
}

}  // namespace panto
