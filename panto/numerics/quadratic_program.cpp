#include "panto/numerics/quadratic_program.hpp"

#include <Eigen/LU>
#include <Eigen/QR>
#include <IpIpoptApplication.hpp>
#include <IpSolveStatistics.hpp>
#include <IpTNLP.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "panto/base/contract.hpp"
#include "panto/numerics/ipopt_alone.hpp"

namespace panto {

namespace {

constexpr double kNone = 2e19;      // IPOPT's infinity
constexpr double kFeasible = 1e-9;  // of 1 + max|x|
constexpr int kTogether = 10;
constexpr int kExchanges = 100;  // of active limits after the interior point

double finite(double limit) { return std::clamp(limit, -kNone, kNone); }

// The program in IPOPT's terms, with the objective scaled to max|H|, max|g| = 1.
class Program : public Ipopt::TNLP {
 public:
  Program(const QuadraticProgram& p, double scale) : p_(p), scale_(scale) {}
  QuadraticOptimum out;

  bool get_nlp_info(Ipopt::Index& n, Ipopt::Index& m, Ipopt::Index& jacobian, Ipopt::Index& hessian,
                    IndexStyleEnum& style) override {
    n = static_cast<Ipopt::Index>(p_.g.size());
    m = static_cast<Ipopt::Index>(p_.c.rows());
    jacobian = n * m;
    hessian = n * (n + 1) / 2;
    style = C_STYLE;
    return true;
  }
  bool get_bounds_info(Ipopt::Index n, Ipopt::Number* low, Ipopt::Number* high, Ipopt::Index m,
                       Ipopt::Number* row_low, Ipopt::Number* row_high) override {
    for (int i = 0; i < n; ++i) {
      low[i] = finite(p_.low(i));
      high[i] = finite(p_.high(i));
    }
    for (int i = 0; i < m; ++i) {
      row_low[i] = finite(p_.row_low(i));
      row_high[i] = finite(p_.row_high(i));
    }
    return true;
  }
  bool get_starting_point(Ipopt::Index n, bool, Ipopt::Number* x, bool, Ipopt::Number*,
                          Ipopt::Number*, Ipopt::Index, bool, Ipopt::Number*) override {
    for (int i = 0; i < n; ++i) x[i] = std::clamp(0.0, p_.low(i), p_.high(i));
    return true;
  }
  bool eval_f(Ipopt::Index n, const Ipopt::Number* at, bool, Ipopt::Number& value) override {
    const Eigen::Map<const Eigen::VectorXd> x(at, n);
    value = scale_ * (0.5 * x.dot(p_.h * x) - p_.g.dot(x));
    return true;
  }
  bool eval_grad_f(Ipopt::Index n, const Ipopt::Number* at, bool,
                   Ipopt::Number* gradient) override {
    const Eigen::Map<const Eigen::VectorXd> x(at, n);
    Eigen::Map<Eigen::VectorXd>(gradient, n) = scale_ * (p_.h * x - p_.g);
    return true;
  }
  bool eval_g(Ipopt::Index n, const Ipopt::Number* at, bool, Ipopt::Index m,
              Ipopt::Number* rows) override {
    if (m > 0)
      Eigen::Map<Eigen::VectorXd>(rows, m) = p_.c * Eigen::Map<const Eigen::VectorXd>(at, n);
    return true;
  }
  bool eval_jac_g(Ipopt::Index n, const Ipopt::Number*, bool, Ipopt::Index m, Ipopt::Index,
                  Ipopt::Index* row, Ipopt::Index* column, Ipopt::Number* values) override {
    for (int i = 0, k = 0; i < m; ++i)
      for (int j = 0; j < n; ++j, ++k) {
        if (values == nullptr) {
          row[k] = i;
          column[k] = j;
        } else {
          values[k] = p_.c(i, j);
        }
      }
    return true;
  }
  bool eval_h(Ipopt::Index n, const Ipopt::Number*, bool, Ipopt::Number factor, Ipopt::Index,
              const Ipopt::Number*, bool, Ipopt::Index, Ipopt::Index* row, Ipopt::Index* column,
              Ipopt::Number* values) override {
    for (int i = 0, k = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j, ++k) {
        if (values == nullptr) {
          row[k] = i;
          column[k] = j;
        } else {
          values[k] = factor * scale_ * p_.h(i, j);
        }
      }
    return true;
  }
  void finalize_solution(Ipopt::SolverReturn, Ipopt::Index n, const Ipopt::Number* x,
                         const Ipopt::Number* below, const Ipopt::Number* above, Ipopt::Index m,
                         const Ipopt::Number*, const Ipopt::Number* rows, Ipopt::Number,
                         const Ipopt::IpoptData*, Ipopt::IpoptCalculatedQuantities*) override {
    out.x = Eigen::Map<const Eigen::VectorXd>(x, n);
    out.bound = (Eigen::Map<const Eigen::VectorXd>(above, n) -
                 Eigen::Map<const Eigen::VectorXd>(below, n)) /
                scale_;
    out.row = Eigen::VectorXd::Zero(m);
    if (m > 0) out.row = Eigen::Map<const Eigen::VectorXd>(rows, m) / scale_;
  }

 private:
  const QuadraticProgram& p_;
  double scale_;
};

double size_of_forces(const QuadraticProgram& p, const Eigen::VectorXd& x) {
  return std::max((p.h * x).lpNorm<Eigen::Infinity>() + p.g.lpNorm<Eigen::Infinity>(),
                  std::numeric_limits<double>::min());
}

// -1 held at the lower limit, 1 at the upper one, 0 free.
struct Active {
  std::vector<int> bounds, rows;
};

int side(double value, double low, double high, double multiplier, double scale) {
  if (high == low) return multiplier < 0 ? -1 : 1;
  // At an interior point's end the product of both is the same small number: the larger one tells.
  const double force = std::abs(multiplier) / scale;
  if (multiplier < 0 && value - low < force) return -1;
  if (multiplier > 0 && high - value < force) return 1;
  return 0;
}

// Minimum with these limits as equations: [H_ff C_afᵀ; C_af 0].
QuadraticOptimum with(const QuadraticProgram& p, const Active& active) {
  const Eigen::Index n = p.g.size();
  QuadraticOptimum out;
  out.x = Eigen::VectorXd::Zero(n);
  std::vector<Eigen::Index> free, held;
  for (Eigen::Index i = 0; i < n; ++i) {
    const int at = active.bounds[static_cast<size_t>(i)];
    if (at == 0)
      free.push_back(i);
    else
      out.x(i) = at < 0 ? p.low(i) : p.high(i);
  }
  for (Eigen::Index i = 0; i < p.c.rows(); ++i)
    if (active.rows[static_cast<size_t>(i)] != 0) held.push_back(i);
  const auto nf = static_cast<Eigen::Index>(free.size()),
             nh = static_cast<Eigen::Index>(held.size());
  out.row = Eigen::VectorXd::Zero(p.c.rows());
  if (nf + nh > 0) {
    Eigen::MatrixXd k = Eigen::MatrixXd::Zero(nf + nh, nf + nh);
    Eigen::VectorXd right(nf + nh);
    k.topLeftCorner(nf, nf) = p.h(free, free);
    right.head(nf) = (p.g - p.h * out.x)(free);
    for (Eigen::Index r = 0; r < nh; ++r) {
      const Eigen::Index row = held[static_cast<size_t>(r)];
      for (Eigen::Index i = 0; i < nf; ++i)
        k(nf + r, i) = k(i, nf + r) = p.c(row, free[static_cast<size_t>(i)]);
      right(nf + r) =
          (active.rows[static_cast<size_t>(row)] < 0 ? p.row_low(row) : p.row_high(row)) -
          p.c.row(row).dot(out.x);
    }
    // Rank-revealing: H may be singular, held rows may depend on each other. One refinement.
    const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver(k);
    Eigen::VectorXd x = solver.solve(right);
    x += solver.solve(right - k * x);
    out.x(free) = x.head(nf);
    for (Eigen::Index r = 0; r < nh; ++r) out.row(held[static_cast<size_t>(r)]) = x(nf + r);
  }
  out.bound = p.g - p.h * out.x;
  if (p.c.rows() > 0) out.bound -= p.c.transpose() * out.row;
  // What is left where nothing is held is round-off, and belongs to the residual.
  Eigen::VectorXd bound = Eigen::VectorXd::Zero(n);
  for (Eigen::Index i = 0; i < n; ++i)
    if (active.bounds[static_cast<size_t>(i)] != 0) bound(i) = out.bound(i);
  out.bound = bound;
  return out;
}

// From the limits that the interior point found active: those with multipliers of the wrong sign are let go, violated ones are held, until none is left.
void polish(const QuadraticProgram& p, QuadraticOptimum& best) {
  const double force = size_of_forces(p, best.x);
  Active active;
  for (Eigen::Index i = 0; i < p.g.size(); ++i)
    active.bounds.push_back(side(best.x(i), p.low(i), p.high(i), best.bound(i), force));
  for (Eigen::Index i = 0; i < p.c.rows(); ++i)
    active.rows.push_back(
        side(p.c.row(i).dot(best.x), p.row_low(i), p.row_high(i), best.row(i), force));
  for (int turn = 0; turn < kExchanges; ++turn) {
    QuadraticOptimum next = with(p, active);
    next.kkt = kkt_residual(p, next);
    if (next.x.allFinite() && next.kkt < best.kkt) {
      next.iterations = best.iterations;
      next.solved = best.solved;
      best = next;
    }
    // All that is wrong is exchanged at once; where that goes in circles, the worst alone.
    const double near = 1e-12 * (1 + next.x.lpNorm<Eigen::Infinity>());
    int* worst = nullptr;
    int change = 0;
    double most = 0;
    bool exchanged = false;
    const auto exchange = [&](int& at, double value, double low, double high, double multiplier) {
      if (low == high) return;
      int next_side = at;
      double wrong = 0;
      if (at != 0 && multiplier * at < 0) {
        next_side = 0;
        wrong = std::abs(multiplier) / force;
      } else if (at == 0 && (value < low - near || value > high + near)) {
        next_side = value < low ? -1 : 1;
        wrong = std::max(low - value, value - high);
      }
      if (next_side == at) return;
      exchanged = true;
      if (turn < kTogether) {
        at = next_side;
      } else if (wrong > most) {
        most = wrong;
        worst = &at;
        change = next_side;
      }
    };
    for (Eigen::Index i = 0; i < p.g.size(); ++i)
      exchange(active.bounds[static_cast<size_t>(i)], next.x(i), p.low(i), p.high(i),
               next.bound(i));
    for (Eigen::Index i = 0; i < p.c.rows(); ++i)
      exchange(active.rows[static_cast<size_t>(i)], p.c.row(i).dot(next.x), p.row_low(i),
               p.row_high(i), next.row(i));
    if (worst != nullptr) *worst = change;
    if (!exchanged) break;
  }
}

}  // namespace

double kkt_residual(const QuadraticProgram& p, const QuadraticOptimum& at) {
  const double force = size_of_forces(p, at.x), length = 1 + at.x.lpNorm<Eigen::Infinity>();
  Eigen::VectorXd left = p.h * at.x - p.g + at.bound;
  if (p.c.rows() > 0) left += p.c.transpose() * at.row;
  double worst = left.lpNorm<Eigen::Infinity>() / force;
  const auto limit = [&](double value, double low, double high, double multiplier) {
    worst = std::max({worst, (low - value) / length, (value - high) / length});
    // A limit that is not there cannot hold anything.
    const double distance = multiplier < 0 ? value - low : high - value;
    const double product = std::isfinite(distance) ? std::min(1.0, std::abs(distance) / length) : 1;
    worst = std::max(worst, std::abs(multiplier) / force * product);
  };
  for (Eigen::Index i = 0; i < at.x.size(); ++i) limit(at.x(i), p.low(i), p.high(i), at.bound(i));
  for (Eigen::Index i = 0; i < p.c.rows(); ++i)
    limit(p.c.row(i).dot(at.x), p.row_low(i), p.row_high(i), at.row(i));
  return worst;
}

QuadraticOptimum minimise(const QuadraticProgram& p) {
  const Eigen::Index n = p.g.size();
  PANTO_EXPECT(
      n > 0 && p.h.rows() == n && p.h.cols() == n && p.low.size() == n && p.high.size() == n,
      "H, g and the bounds belong together");
  PANTO_EXPECT(p.c.rows() == 0 || (p.c.cols() == n && p.row_low.size() == p.c.rows() &&
                                   p.row_high.size() == p.c.rows()),
               "each row has a lower and an upper limit");
  QuadraticOptimum none;
  none.x = p.low.cwiseMax(Eigen::VectorXd::Zero(n)).cwiseMin(p.high);
  if ((p.low.array() > p.high.array()).any()) return none;
  const double size = std::max(
      {p.h.cwiseAbs().maxCoeff(), p.g.cwiseAbs().maxCoeff(), std::numeric_limits<double>::min()});
  const std::lock_guard lock(ipopt_alone());
  const Ipopt::SmartPtr<Ipopt::IpoptApplication> solver = IpoptApplicationFactory();
  const auto options = solver->Options();
  options->SetIntegerValue("print_level", 0);
  options->SetStringValue("sb", "yes");
  options->SetStringValue("hessian_constant", "yes");
  options->SetStringValue("jac_c_constant", "yes");
  options->SetStringValue("jac_d_constant", "yes");
  options->SetStringValue("mehrotra_algorithm", "yes");
  options->SetStringValue("nlp_scaling_method", "none");
  options->SetNumericValue("bound_relax_factor", 0);
  options->SetNumericValue("tol", 1e-10);
  options->SetIntegerValue("max_iter", 200);
  if (solver->Initialize("") != Ipopt::Solve_Succeeded) return none;
  const Ipopt::SmartPtr<Program> program = new Program(p, 1 / size);
  const Ipopt::ApplicationReturnStatus status = solver->OptimizeTNLP(program);
  QuadraticOptimum out = program->out;
  if (out.x.size() != n || !out.x.allFinite()) return none;
  out.iterations = IsValid(solver->Statistics()) ? solver->Statistics()->IterationCount() : 0;
  out.kkt = kkt_residual(p, out);
  out.solved = status != Ipopt::Infeasible_Problem_Detected;
  polish(p, out);
  // Rounding may leave a bound by the last place.
  out.x = out.x.cwiseMax(p.low).cwiseMin(p.high);
  double beyond = 0;
  for (Eigen::Index i = 0; i < p.c.rows(); ++i) {
    const double value = p.c.row(i).dot(out.x);
    beyond = std::max({beyond, p.row_low(i) - value, value - p.row_high(i)});
  }
  const double scale = 1 + out.x.lpNorm<Eigen::Infinity>();
  out.solved = out.solved && beyond <= kFeasible * scale && out.kkt < 1e-4;
  return out;
}

}  // namespace panto
