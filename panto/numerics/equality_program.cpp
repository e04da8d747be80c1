#include "panto/numerics/equality_program.hpp"

#include <IpIpoptApplication.hpp>
#include <IpSolveStatistics.hpp>
#include <IpTNLP.hpp>
#include <algorithm>
#include <limits>

#include "panto/base/contract.hpp"
#include "panto/numerics/ipopt_alone.hpp"

namespace panto {
namespace {

using Ipopt::Index;
using Ipopt::Number;

class Program : public Ipopt::TNLP {
 public:
  Program(const EqualityProgram& p, double tolerance) : p_(p), tolerance_(tolerance) {
    good_ = p_.equations(p_.start, c_, &derivatives_);
    for (const SparseEntry& e : p_.hessian)
      PANTO_EXPECT(e.row >= e.column, "the lower triangle of H");
  }
  Eigen::VectorXd x;
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();
  double left = kUnknown;
  bool stopped = false;
  [[nodiscard]] bool good() const { return good_; }

  bool get_nlp_info(Index& n, Index& m, Index& jacobian, Index& hessian,
                    IndexStyleEnum& style) override {
    n = static_cast<Index>(p_.start.size());
    m = static_cast<Index>(c_.size());
    jacobian = static_cast<Index>(derivatives_.size());
    hessian = static_cast<Index>(p_.hessian.size()) + (p_.held > 0 ? n : 0);
    style = C_STYLE;
    return true;
  }
  bool get_bounds_info(Index n, Number* low, Number* high, Index m, Number* row_low,
                       Number* row_high) override {
    constexpr double kNone = 2e19;  // IPOPT's infinity
    std::fill(low, low + n, -kNone);
    std::fill(high, high + n, kNone);
    std::fill(row_low, row_low + m, 0.0);
    std::fill(row_high, row_high + m, 0.0);
    return true;
  }
  bool get_starting_point(Index n, bool, Number* to, bool, Number*, Number*, Index, bool,
                          Number*) override {
    std::copy_n(p_.start.data(), n, to);
    return true;
  }
  bool eval_f(Index n, const Number* at, bool, Number& value) override {
    const Eigen::Map<const Eigen::VectorXd> y(at, n);
    value = 0.5 * y.dot(times(y)) - p_.g.dot(y);
    return true;
  }
  bool eval_grad_f(Index n, const Number* at, bool, Number* gradient) override {
    const Eigen::Map<const Eigen::VectorXd> y(at, n);
    Eigen::Map<Eigen::VectorXd>(gradient, n) = times(y) - p_.g;
    return true;
  }
  bool eval_g(Index n, const Number* at, bool, Index m, Number* rows) override {
    const bool finite = p_.equations(Eigen::Map<const Eigen::VectorXd>(at, n), c_, nullptr);
    std::copy_n(c_.data(), m, rows);
    return finite;
  }
  bool eval_jac_g(Index n, const Number* at, bool, Index, Index count, Index* row, Index* column,
                  Number* values) override {
    if (values == nullptr) {
      for (Index k = 0; k < count; ++k) {
        row[k] = derivatives_[static_cast<size_t>(k)].row;
        column[k] = derivatives_[static_cast<size_t>(k)].column;
      }
      return true;
    }
    const bool finite = p_.equations(Eigen::Map<const Eigen::VectorXd>(at, n), c_, &derivatives_);
    PANTO_EXPECT(static_cast<Index>(derivatives_.size()) == count, "derivatives in fixed places");
    for (Index k = 0; k < count; ++k) values[k] = derivatives_[static_cast<size_t>(k)].value;
    return finite;
  }
  bool eval_h(Index n, const Number*, bool, Number factor, Index, const Number*, bool, Index,
              Index* row, Index* column, Number* values) override {
    for (size_t k = 0; k < p_.hessian.size(); ++k) {
      if (values == nullptr) {
        row[k] = p_.hessian[k].row;
        column[k] = p_.hessian[k].column;
      } else {
        values[k] = factor * p_.hessian[k].value;
      }
    }
    for (Index i = 0; p_.held > 0 && i < n; ++i) {
      const size_t k = p_.hessian.size() + static_cast<size_t>(i);
      if (values == nullptr)
        row[k] = column[k] = i;
      else
        values[k] = factor * p_.held;
    }
    return true;
  }
  bool intermediate_callback(Ipopt::AlgorithmMode mode, Index iteration, Number, Number, Number,
                             Number, Number step, Number, Number, Number share, Index,
                             const Ipopt::IpoptData*, Ipopt::IpoptCalculatedQuantities*) override {
    stopped = p_.go_on && !p_.go_on();
    if (stopped) return false;
    const bool full = mode == Ipopt::RegularMode && iteration > 0 && share == 1;
    const double falls = full && last_ > 0 ? step / last_ : full && iteration == 1 ? 0 : kUnknown;
    // The sum of the steps to come when they go on to fall like the last two; after ones that were cut short nothing is known.
    const double ratio = std::max(falls, falls_);
    left = iteration > 1 && ratio < 1 ? step * ratio / (1 - ratio) : kUnknown;
    last_ = full ? step : 0;
    falls_ = falls;
    if (left <= tolerance_) return false;
    // Steps that no longer fall are round-off.
    if (iteration == 0 || step < smallest_ / 2) {
      smallest_ = iteration == 0 ? kUnknown : step;
      fell_ = iteration;
      largest_ = 0;
    }
    largest_ = std::max(largest_, step);
    constexpr int kPatience = 12;
    if (iteration - fell_ < kPatience) return true;
    left = largest_;
    return false;
  }
  void finalize_solution(Ipopt::SolverReturn, Index n, const Number* at, const Number*,
                         const Number*, Index, const Number*, const Number*, Number,
                         const Ipopt::IpoptData*, Ipopt::IpoptCalculatedQuantities*) override {
    x = Eigen::Map<const Eigen::VectorXd>(at, n);
  }

 private:
  [[nodiscard]] Eigen::VectorXd times(const Eigen::VectorXd& y) const {
    Eigen::VectorXd out = Eigen::VectorXd::Zero(y.size());
    for (const SparseEntry& e : p_.hessian) {
      out[e.row] += e.value * y[e.column];
      if (e.row != e.column) out[e.column] += e.value * y[e.row];
    }
    return out;
  }

  const EqualityProgram& p_;
  const double tolerance_;
  double last_ = 0;  // step, where it was taken in full
  double falls_ = kUnknown;
  double smallest_ = kUnknown, largest_ = 0;  // steps, the largest since the smallest
  Index fell_ = 0;                            // its iteration
  Eigen::VectorXd c_;
  std::vector<SparseEntry> derivatives_;
  bool good_ = false;
};

}  // namespace

EqualityOptimum minimise(const EqualityProgram& p, int iterations, double tolerance) {
  PANTO_EXPECT(p.start.size() > 0 && p.g.size() == p.start.size(),
               "g and the start belong together");
  EqualityOptimum out;
  const Ipopt::SmartPtr<Program> program = new Program(p, tolerance);
  if (!program->good()) return out;
  const std::lock_guard lock(ipopt_alone());
  const Ipopt::SmartPtr<Ipopt::IpoptApplication> solver = IpoptApplicationFactory();
  const auto options = solver->Options();
  options->SetIntegerValue("print_level", 0);
  options->SetStringValue("sb", "yes");
  options->SetStringValue("hessian_constant", "yes");
  options->SetStringValue("nlp_scaling_method", "none");
  // Ends by its steps alone.
  constexpr double kNever = 1e-100;
  for (const char* name : {"tol", "constr_viol_tol", "dual_inf_tol", "compl_inf_tol"})
    options->SetNumericValue(name, kNever);
  options->SetIntegerValue("acceptable_iter", 0);
  options->SetIntegerValue("max_iter", iterations);
  if (solver->Initialize("") != Ipopt::Solve_Succeeded) return out;
  const bool exact = solver->OptimizeTNLP(program) == Ipopt::Solve_Succeeded;
  out.stopped = program->stopped;
  out.left = exact ? 0 : program->left;
  out.solved = out.left <= tolerance && program->x.allFinite();
  out.iterations = IsValid(solver->Statistics()) ? solver->Statistics()->IterationCount() : 0;
  if (program->x.size() > 0) out.x = program->x;
  return out;
}

}  // namespace panto
