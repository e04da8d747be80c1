// IDA on the stabilised index-2 form (INT-9; Gear, Gupta and Leimkuhler 1985) of the full equations of motion, in q, v, λ, μ, ν:
//   q̇ = N (v + Gᵀ μ) + q ν,   r(t, q, v, v̇, λ) = 0,   φ = 0,   φ̇ = 0,   φ̈ = 0,   |quaternion|² = 1.
// φ: position rows; φ̇: position and velocity rows; φ̈: acceleration rows only. μ holds the position rows, ν (one per quaternion) the unit
// length; both vanish on the solution. Rows that follow from others at the start are left out. The energy integrals ride along.
// Jacobian exact up to terms multiplied by μ and the gradient of the energy integrals, which nothing depends on.
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <cmath>

#include "panto/integrate/adaptive.hpp"
#include "panto/integrate/motion_matrix.hpp"
#include "panto/integrate/own_solver.hpp"
#include "panto/integrate/sparse_system.hpp"
#include "panto/integrate/stepper.hpp"

namespace panto {

namespace {

// Multipliers are outside the error test and enter the motion through h λ: their iteration needs less accuracy than q and v.
constexpr double kMultiplierSlack = 1e3;
constexpr double kSmallest = 1e-12;

// rates = N(q) w and the matrix of ∂(N(q) w)/∂q for one quaternion: q̇ = ½ Ω(w) q.
void omega(const double* w, double m[4][4]) {
  const double full[4][4] = {{0, -w[0], -w[1], -w[2]},
                             {w[0], 0, w[2], -w[1]},
                             {w[1], -w[2], 0, w[0]},
                             {w[2], w[1], -w[0], 0}};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) m[i][j] = 0.5 * full[i][j];
}

class Ida final : public Adaptive {
 public:
  Ida(Ode& ode, double tol, bool beams)
      : ode_(ode),
        model_(ode.workspace().model()),
        beams_(beams),
        tol_(step_tolerance(tol, kSmallest)) {
    SUNContext_Create(nullptr, &context_);
    scalars_ = scalar_coordinates(model_);
    for (size_t j = 0; j < model_.joints.size(); ++j)
      if (model_.joints[j].type == JointType::kSpherical) balls_.push_back(static_cast<int>(j));
    q_.resize(static_cast<size_t>(model_.nq));
    rates_.resize(q_.size());
    w_.resize(static_cast<size_t>(model_.nv));
    lambda_.resize(model_.rows.size());
    u_.resize(model_.inputs.size());
    u_rate_.resize(model_.inputs.size());
    x_dot_.resize(static_cast<size_t>(ode.size()));
  }
  ~Ida() override {
    release();
    SUNContext_Free(&context_);
  }

  Status start(double t, View x) override {
    t_ = previous_ = t;
    const Status status = ode_.rhs(t, x, x_dot_);
    if (!usable(status)) return status;
    lay_out();
    if (!memory_) create();
    double *y = N_VGetArrayPointer(y_), *p = N_VGetArrayPointer(p_),
           *a = N_VGetArrayPointer(tolerance_), *id = N_VGetArrayPointer(id_);
    std::fill(y, y + n_, 0.0);
    std::fill(p, p + n_, 0.0);
    const View q = ode_.positions(), v = ode_.speeds(), acc = ode_.accelerations(),
               lambda = ode_.multipliers();
    std::copy(q.begin(), q.end(), y);
    std::copy(v.begin(), v.end(), y + at_v_);
    std::copy_n(x_dot_.begin(), model_.nq, p);
    std::copy(acc.begin(), acc.end(), p + at_v_);
    double force = 1;
    for (size_t i = 0; i < rows_.size(); ++i) {
      y[at_lambda_ + static_cast<int>(i)] = lambda[static_cast<size_t>(rows_[i])];
      force = std::max(force, std::abs(lambda[static_cast<size_t>(rows_[i])]));
    }
    const Energy e = ode_.workspace().energy(q, v);
    for (int k = 0; k < n_work_; ++k) {
      const auto from = static_cast<size_t>(ode_.dynamic_size() + k);
      y[at_work_ + k] = x[from];
      p[at_work_ + k] = x_dot_[from];
    }
    for (int i = 0; i < n_; ++i) {
      const bool differential = i < at_lambda_ || i >= at_work_;
      id[i] = differential ? 1 : 0;
      a[i] = i < at_lambda_ ? tol_
             : i < at_mu_   ? kMultiplierSlack * tol_ * force
             : i < at_work_ ? kMultiplierSlack * tol_
                            : tol_ * (1 + std::abs(e.kinetic) + std::abs(e.potential));
    }
    // Implicit Euler begins: its error h² a / 2 within the tolerance. Much shorter steps would drown the multipliers in round-off / h.
    double largest = 1;
    for (const double value : acc) largest = std::max(largest, std::abs(value));
    first_step_ = std::sqrt(tol_ / largest);
    if (begun_) {
      counts_ = counts();
      IDASetInitStep(memory_, first_step_);
      return IDAReInit(memory_, t, y_, p_) == IDA_SUCCESS ? Status::kOk : Status::kIntegratorFailed;
    }
    if (IDAInit(memory_, &Ida::residual, t, y_, p_) != IDA_SUCCESS)
      return Status::kIntegratorFailed;
    begun_ = true;
    IDASetErrHandlerFn(memory_, &Ida::silent, nullptr);
    IDASetUserData(memory_, this);
    IDASVtolerances(memory_, tol_, tolerance_);
    IDASetId(memory_, id_);
    IDASetSuppressAlg(memory_, SUNTRUE);
    if (beams_) {
      IDAWFtolerances(memory_, &Ida::weigh);
      IDASetMaxOrd(memory_, kBeamOrder);
      IDASetLinearSolver(memory_, own_->solver, own_->matrix);
    } else {
      IDASetLinearSolver(memory_, linear_, matrix_);
    }
    IDASetJacFn(memory_, beams_ ? &Ida::system : &Ida::jacobian);
    IDASetMaxNonlinIters(memory_, 6);
    IDASetInitStep(memory_, first_step_);
    return Status::kOk;
  }

  Status step(double limit) override {
    IDASetStopTime(memory_, limit);
    const int flag = IDASolve(memory_, limit, &t_, y_, p_, IDA_ONE_STEP);
    if (flag < 0) {
      char* name = IDAGetReturnFlagName(flag);
      failure_ = name;
      free(name);  // NOLINT: allocated by SUNDIALS with malloc
      return Status::kIntegratorFailed;
    }
    ++counts_.steps;
    double h = 0;
    IDAGetLastStep(memory_, &h);
    previous_ = t_ - h;
    return Status::kOk;
  }

  double previous() const override { return previous_; }
  double time() const override { return t_; }

  Status at(double t, MutableView x) override {
    const double* y = N_VGetArrayPointer(y_);
    if (t != t_) {
      if (IDAGetDky(memory_, t, 0, dense_) != IDA_SUCCESS) return Status::kBadArgument;
      y = N_VGetArrayPointer(dense_);
    }
    const auto nq = static_cast<size_t>(model_.nq), nv = static_cast<size_t>(model_.nv);
    ode_.pack({y, nq}, {y + at_v_, nv}, x);
    for (int k = 0; k < n_work_; ++k)
      x[static_cast<size_t>(ode_.dynamic_size() + k)] = y[at_work_ + k];
    if (ode_.worn()) {
      const Status chosen = ode_.repartition(t, x);
      if (!usable(chosen)) return chosen;
      if (chosen == Status::kRepartition) ++counts_.repartitions;
    }
    return usable(ode_.project(t, x)) ? Status::kOk : Status::kIntegratorFailed;
  }

  std::string method() const override { return "ida"; }
  std::string failure() const override { return failure_; }
  Counts counts() const override {
    Counts c = counts_;
    long errors = 0, convergence = 0, evaluations = 0;
    if (begun_) {
      IDAGetNumResEvals(memory_, &evaluations);
      IDAGetNumErrTestFails(memory_, &errors);
      IDAGetNumNonlinSolvConvFails(memory_, &convergence);
    }
    c.evaluations += evaluations;
    c.rejected += errors + convergence;
    return c;
  }

 private:
  // Independent rows and the places of the unknowns.
  void lay_out() {
    const auto redundant = ode_.workspace().redundant_rows();
    std::vector<int> rows;
    for (int i = 0; i < model_.n_rows(); ++i)
      if (std::find(redundant.begin(), redundant.end(), i) == redundant.end()) rows.push_back(i);
    if (memory_ && rows != rows_) release();
    rows_ = rows;
    n_position_ = n_moving_ = 0;
    for (const int i : rows_) {
      n_position_ += i < model_.n_position_rows;
      n_moving_ += i < model_.n_position_rows + model_.n_velocity_rows;
    }
    at_v_ = model_.nq;
    at_lambda_ = at_v_ + model_.nv;
    at_mu_ = at_lambda_ + static_cast<int>(rows_.size());
    at_nu_ = at_mu_ + n_position_;
    at_work_ = at_nu_ + static_cast<int>(balls_.size());
    n_work_ = ode_.with_work() ? 2 : 0;
    n_ = at_work_ + n_work_;
  }

  void create() {
    for (N_Vector* v : {&y_, &p_, &tolerance_, &id_, &dense_}) *v = N_VNew_Serial(n_, context_);
    if (beams_) {
      if (!sparse_) sparse_ = std::make_unique<SparseFullSystem>(ode_);
      own_ = std::make_unique<OwnSolver>(context_, this, &Ida::solve);
    } else {
      matrix_ = SUNDenseMatrix(n_, n_, context_);
      linear_ = SUNLinSol_Dense(y_, matrix_, context_);
    }
    memory_ = IDACreate(context_);
    begun_ = false;
  }

  void release() {
    if (!memory_) return;
    counts_ = counts();
    IDAFree(&memory_);
    own_.reset();
    if (linear_) SUNLinSolFree(linear_);
    if (matrix_) SUNMatDestroy(matrix_);
    linear_ = nullptr;
    matrix_ = nullptr;
    for (N_Vector v : {y_, p_, tolerance_, id_, dense_}) N_VDestroy(v);
    memory_ = nullptr;
    begun_ = false;
  }

  static void silent(int, const char*, const char*, char*, void*) {}

  // The point of (t, y, y'): unit quaternions, all multipliers, inputs.
  Point point(double t, const double* y, const double* p) {
    Workspace& w = ode_.workspace();
    std::copy_n(y, model_.nq, q_.begin());
    w.normalise(q_);
    std::fill(lambda_.begin(), lambda_.end(), 0.0);
    for (size_t i = 0; i < rows_.size(); ++i)
      lambda_[static_cast<size_t>(rows_[i])] = y[at_lambda_ + static_cast<int>(i)];
    w.inputs_at(t, u_, u_rate_);
    Point x;
    x.t = t;
    x.q = q_;
    x.v = {y + at_v_, static_cast<size_t>(model_.nv)};
    x.a = {p + at_v_, static_cast<size_t>(model_.nv)};
    x.lambda = lambda_;
    x.u = u_;
    x.u_rate = u_rate_;
    return x;
  }

  static int residual(realtype t, N_Vector yv, N_Vector pv, N_Vector rv, void* self) {
    return static_cast<Ida*>(self)->residual_at(t, N_VGetArrayPointer(yv), N_VGetArrayPointer(pv),
                                                N_VGetArrayPointer(rv));
  }

  int residual_at(double t, const double* y, const double* p, double* r) {
    Workspace& w = ode_.workspace();
    t = ode_.inside_window(t);
    const Point x = point(t, y, p);
    if (n_work_ > 0) {
      double entering = 0, taken = 0;
      w.power(x, entering, taken);
      r[at_work_] = p[at_work_] - entering;
      r[at_work_ + 1] = p[at_work_ + 1] - taken;
    }
    w.residual(x, false, residual_);
    if (!residual_.r.allFinite()) return 1;
    std::copy(x.v.begin(), x.v.end(), w_.begin());
    if (n_position_ > 0 && beams_) {
      if (fatal(w.hold_positions(t, q_))) return 1;
      const RowMatrix& g = w.constraint_rows();
      for (int i = 0; i < n_position_; ++i) {
        const auto row = static_cast<size_t>(rows_[static_cast<size_t>(i)]);
        for (auto k = static_cast<size_t>(g.start[row]); k < static_cast<size_t>(g.start[row + 1]);
             ++k)
          w_[static_cast<size_t>(g.column[k])] += g.value[k] * y[at_mu_ + i];
      }
    } else if (n_position_ > 0) {
      w.constraint_jacobian(t, q_, g_);
      for (int i = 0; i < n_position_; ++i)
        for (int j = 0; j < model_.nv; ++j)
          w_[static_cast<size_t>(j)] += g_(rows_[static_cast<size_t>(i)], j) * y[at_mu_ + i];
    }
    w.coordinate_rates(q_, w_, rates_);
    for (int i = 0; i < model_.nq; ++i) r[i] = p[i] - rates_[static_cast<size_t>(i)];
    std::copy_n(residual_.r.data(), model_.nv, r + at_v_);
    // Rows: first their own level (φ̇ or φ̈), in the places of λ; then φ in the places of μ.
    for (int i = 0; i < static_cast<int>(rows_.size()); ++i) {
      const int row = rows_[static_cast<size_t>(i)];
      r[at_lambda_ + i] = i < n_moving_ ? residual_.phi_dot(row) : residual_.phi_ddot(row);
      if (i < n_position_) r[at_mu_ + i] = residual_.phi(row);
    }
    for (size_t b = 0; b < balls_.size(); ++b) {
      const int at = model_.joints[static_cast<size_t>(balls_[b])].q,
                nu = at_nu_ + static_cast<int>(b);
      double length = -1;
      for (int e = at; e < at + 4; ++e) {
        length += y[e] * y[e];
        r[e] -= q_[static_cast<size_t>(e)] * y[nu];
      }
      r[nu] = 0.5 * length;
    }
    return 0;
  }

  // The same with sparse factors, made at once.
  static int system(realtype t, realtype cj, N_Vector yv, N_Vector pv, N_Vector, SUNMatrix,
                    void* self, N_Vector, N_Vector, N_Vector) {
    auto& me = *static_cast<Ida*>(self);
    ++me.counts_.jacobians;
    t = me.ode_.inside_window(t);
    const Point x = me.point(t, N_VGetArrayPointer(yv), N_VGetArrayPointer(pv));
    if (fatal(me.ode_.workspace().hold_positions(t, me.q_))) return 1;
    me.cj_ = cj;
    return me.sparse_->factor(x, cj, me.ode_.workspace()) ? 0 : 1;
  }

  static void solve(void* self, double* b) {
    const auto& me = *static_cast<Ida*>(self);
    me.sparse_->solve(b, b + me.at_v_, b + me.at_lambda_, b + me.at_mu_, me.rows_);
    for (int k = 0; k < me.n_work_; ++k) b[me.at_work_ + k] /= me.cj_;
  }

  // Weights of INT-18.
  static int weigh(N_Vector yv, N_Vector weight, void* self) {
    const auto& me = *static_cast<Ida*>(self);
    double h = 0;
    IDAGetCurrentStep(me.memory_, &h);
    if (!(h > 0)) h = me.first_step_;
    const double *y = N_VGetArrayPointer(yv), *a = N_VGetArrayPointer(me.tolerance_);
    double* w = N_VGetArrayPointer(weight);
    for (int i = 0; i < me.n_; ++i) {
      const double unit = i >= me.at_v_ && i < me.at_lambda_ ? h : 1;
      w[i] = unit / (a[i] + me.tol_ * unit * std::abs(y[i]));
    }
    return 0;
  }

  static int jacobian(realtype t, realtype cj, N_Vector yv, N_Vector pv, N_Vector, SUNMatrix j,
                      void* self, N_Vector, N_Vector, N_Vector) {
    auto& me = *static_cast<Ida*>(self);
    Eigen::Map<Eigen::MatrixXd> matrix(SUNDenseMatrix_Data(j), me.n_, me.n_);
    return me.jacobian_at(t, cj, N_VGetArrayPointer(yv), N_VGetArrayPointer(pv), matrix);
  }

  int jacobian_at(double t, double cj, const double* y, const double* p,
                  Eigen::Map<Eigen::MatrixXd>& j) {
    Workspace& w = ode_.workspace();
    ++counts_.jacobians;
    t = ode_.inside_window(t);
    const Point x = point(t, y, p);
    w.tangent(x, blocks_, tangent_);
    if (!tangent_.r_q.allFinite()) return 1;
    const int nv = model_.nv, rows = static_cast<int>(rows_.size());
    j.setZero();
    for (int i = 0; i < model_.nq; ++i) j(i, i) = cj;
    for (int k = 0; k < n_work_; ++k) j(at_work_ + k, at_work_ + k) = cj;
    // Speeds, multipliers.
    for (int i = 0; i < nv; ++i) {
      for (int k = 0; k < nv; ++k)
        j(at_v_ + i, at_v_ + k) = tangent_.r_v(i, k) + cj * tangent_.r_a(i, k);
      for (int k = 0; k < rows; ++k)
        j(at_v_ + i, at_lambda_ + k) = tangent_.r_lambda(i, rows_[static_cast<size_t>(k)]);
    }
    for (int i = 0; i < rows; ++i) {
      const int row = rows_[static_cast<size_t>(i)];
      for (int k = 0; k < nv; ++k)
        j(at_lambda_ + i, at_v_ + k) =
            i < n_moving_ ? tangent_.phi_dot_v(row, k)
                          : tangent_.phi_ddot_v(row, k) + cj * tangent_.phi_ddot_a(row, k);
    }
    // -N and -N Gᵀ in the first rows; derivatives by directions δq become derivatives by coordinates through N⁺.
    const auto by_coordinate = [&](int dof, int column, double factor) {
      for (int i = 0; i < nv; ++i) j(at_v_ + i, column) += factor * tangent_.r_q(i, dof);
      for (int i = 0; i < rows; ++i) {
        const int row = rows_[static_cast<size_t>(i)];
        j(at_lambda_ + i, column) +=
            factor * (i < n_moving_ ? tangent_.phi_dot_q(row, dof) : tangent_.phi_ddot_q(row, dof));
        if (i < n_position_) j(at_mu_ + i, column) += factor * tangent_.phi_q(row, dof);
      }
    };
    const auto by_speed = [&](int coordinate, int dof, double factor) {
      j(coordinate, at_v_ + dof) -= factor;
      for (int i = 0; i < n_position_; ++i)
        j(coordinate, at_mu_ + i) -=
            factor * tangent_.phi_ddot_a(rows_[static_cast<size_t>(i)], dof);
    };
    int ball = 0;
    for (const Joint& joint : model_.joints) {
      if (joint.type == JointType::kSpherical) {
        const double *u = &q_[static_cast<size_t>(joint.q)], *speed = y + at_v_ + joint.v;
        double m[4][4];
        for (int k = 0; k < 3; ++k) {
          double unit[3] = {0, 0, 0};
          unit[k] = 1;
          omega(unit, m);
          for (int e = 0; e < 4; ++e) {
            double n = 0;  // N(e, k)
            for (int f = 0; f < 4; ++f) n += m[e][f] * u[f];
            by_speed(joint.q + e, joint.v + k, n);
            by_coordinate(joint.v + k, joint.q + e, 4 * n);
          }
        }
        omega(speed, m);
        const int nu = at_nu_ + ball++;
        for (int e = 0; e < 4; ++e) {
          double rate = 0;
          for (int f = 0; f < 4; ++f) rate += m[e][f] * u[f];
          for (int f = 0; f < 4; ++f) j(joint.q + e, joint.q + f) -= m[e][f] - rate * u[f];
          j(joint.q + e, nu) = -u[e];
          j(nu, joint.q + e) = y[joint.q + e];
        }
      }
    }
    for (const ScalarCoordinate& e : scalars_) {
      by_speed(e.q, e.v, 1);
      by_coordinate(e.v, e.q, 1);
    }
    return 0;
  }

  Ode& ode_;
  const Model& model_;
  bool beams_;
  double tol_;  // of a step
  double first_step_ = 0, cj_ = 1;
  SUNContext context_ = nullptr;
  void* memory_ = nullptr;
  bool begun_ = false;
  N_Vector y_ = nullptr, p_ = nullptr, tolerance_ = nullptr, id_ = nullptr, dense_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver linear_ = nullptr;
  std::unique_ptr<SparseFullSystem> sparse_;  // of beams of many elements, in place of the matrix
  std::unique_ptr<OwnSolver> own_;
  std::vector<int> rows_, balls_;
  std::vector<ScalarCoordinate> scalars_;
  int n_position_ = 0, n_moving_ = 0, n_work_ = 0, n_ = 0;
  int at_v_ = 0, at_lambda_ = 0, at_mu_ = 0, at_nu_ = 0, at_work_ = 0;
  std::vector<double> q_, rates_, w_, lambda_, u_, u_rate_, x_dot_;
  Residual residual_;
  Tangent tangent_;
  Blocks blocks_;
  Eigen::MatrixXd g_;
  double t_ = 0, previous_ = 0;
  Counts counts_;
  std::string failure_;
};

}  // namespace

std::unique_ptr<Adaptive> make_ida(std::string_view name, Ode& ode, double tol) {
  if (name == "ida") return std::make_unique<Ida>(ode, tol, MotionMatrix::many_vibrations(ode));
  return nullptr;
}

}  // namespace panto
