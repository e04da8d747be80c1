// Local minima of a modal fit: Ceres and IPOPT, on one scaling of the parameters.
#include <IpIpoptApplication.hpp>
#include <IpSolveStatistics.hpp>
#include <IpTNLP.hpp>
#include <cmath>

#include "panto/base/contract.hpp"
#include "panto/identification/modal_fit.hpp"
#include "panto/numerics/least_squares.hpp"

namespace panto {

namespace {

// θ_i = exp(x_i) where the bounds are positive, else low + x (high - low).
class Scaling {
 public:
  explicit Scaling(const Bounds& b) : bounds_(b) {}
  [[nodiscard]] bool logarithmic(Eigen::Index i) const { return bounds_.low(i) > 0; }
  [[nodiscard]] double x(Eigen::Index i, double theta) const {
    return logarithmic(i) ? std::log(theta)
                          : (theta - bounds_.low(i)) / (bounds_.high(i) - bounds_.low(i));
  }
  [[nodiscard]] double theta(Eigen::Index i, double x) const {
    const double value =
        logarithmic(i) ? std::exp(x) : bounds_.low(i) + x * (bounds_.high(i) - bounds_.low(i));
    return std::clamp(value, bounds_.low(i), bounds_.high(i));
  }
  [[nodiscard]] double slope(Eigen::Index i, double theta) const {
    return logarithmic(i) ? theta : bounds_.high(i) - bounds_.low(i);
  }
  [[nodiscard]] Eigen::VectorXd low() const { return x(bounds_.low); }
  [[nodiscard]] Eigen::VectorXd high() const { return x(bounds_.high); }
  [[nodiscard]] Eigen::VectorXd theta(const double* x) const {
    return Eigen::VectorXd::NullaryExpr(bounds_.low.size(),
                                        [&](Eigen::Index i) { return theta(i, x[i]); });
  }
  [[nodiscard]] Eigen::VectorXd x(const Eigen::VectorXd& theta) const {
    return Eigen::VectorXd::NullaryExpr(theta.size(), [&](Eigen::Index i) {
      return x(i, std::clamp(theta(i), bounds_.low(i), bounds_.high(i)));
    });
  }

 private:
  const Bounds& bounds_;
};

View view_of(const Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }

LocalMinimum by_least_squares(ModalFit& fit, const Scaling& scaling, const Eigen::VectorXd& x) {
  const auto residuals = [&](const Eigen::VectorXd& at, Eigen::VectorXd& r, Eigen::MatrixXd* j) {
    const Eigen::VectorXd theta = scaling.theta(at.data());
    if (!fit.evaluate(view_of(theta), r, j)) return false;
    if (j == nullptr) return true;
    for (Eigen::Index i = 0; i < j->cols(); ++i) j->col(i) *= scaling.slope(i, theta(i));
    return true;
  };
  const LeastSquaresMinimum end =
      minimise(residuals, scaling.low(), scaling.high(), x, {1e-15, 1e-12, 1e-13});
  return {end.converged, scaling.theta(end.x.data()), end.cost, end.iterations};
}

// min ½ Σ r² over x within bounds: the minimisers of sqrt(Σ r²), which is not smooth where the fit is exact.
class Program : public Ipopt::TNLP {
 public:
  Program(ModalFit& fit, const Scaling& scaling, const Eigen::VectorXd& start)
      : fit_(fit), scaling_(scaling), best_(start) {}
  [[nodiscard]] const Eigen::VectorXd& best() const { return best_; }
  [[nodiscard]] double cost() const { return cost_; }

  bool get_nlp_info(Ipopt::Index& n, Ipopt::Index& m, Ipopt::Index& jacobian, Ipopt::Index& hessian,
                    IndexStyleEnum& style) override {
    n = static_cast<Ipopt::Index>(best_.size());
    m = jacobian = 0;
    hessian = n * (n + 1) / 2;
    style = C_STYLE;
    return true;
  }
  bool get_bounds_info(Ipopt::Index n, Ipopt::Number* low, Ipopt::Number* high, Ipopt::Index,
                       Ipopt::Number*, Ipopt::Number*) override {
    Eigen::Map<Eigen::VectorXd>(low, n) = scaling_.low();
    Eigen::Map<Eigen::VectorXd>(high, n) = scaling_.high();
    return true;
  }
  bool get_starting_point(Ipopt::Index, bool, Ipopt::Number* x, bool, Ipopt::Number*,
                          Ipopt::Number*, Ipopt::Index, bool, Ipopt::Number*) override {
    Eigen::Map<Eigen::VectorXd>(x, best_.size()) = best_;
    return true;
  }
  bool eval_f(Ipopt::Index, const Ipopt::Number* x, bool, Ipopt::Number& value) override {
    if (!fit_.evaluate(view_of(scaling_.theta(x)), r_)) return false;
    value = 0.5 * r_.squaredNorm();
    return true;
  }
  bool eval_grad_f(Ipopt::Index, const Ipopt::Number* x, bool, Ipopt::Number* gradient) override {
    const Eigen::VectorXd theta = scaling_.theta(x);
    if (!fit_.evaluate(view_of(theta), r_, &j_)) return false;
    for (Eigen::Index i = 0; i < theta.size(); ++i)
      gradient[i] = j_.col(i).dot(r_) * scaling_.slope(i, theta(i));
    return true;
  }
  bool eval_g(Ipopt::Index, const Ipopt::Number*, bool, Ipopt::Index, Ipopt::Number*) override {
    return true;
  }
  bool eval_jac_g(Ipopt::Index, const Ipopt::Number*, bool, Ipopt::Index, Ipopt::Index,
                  Ipopt::Index*, Ipopt::Index*, Ipopt::Number*) override {
    return true;
  }
  void finalize_solution(Ipopt::SolverReturn, Ipopt::Index n, const Ipopt::Number* x,
                         const Ipopt::Number*, const Ipopt::Number*, Ipopt::Index,
                         const Ipopt::Number*, const Ipopt::Number*, Ipopt::Number value,
                         const Ipopt::IpoptData*, Ipopt::IpoptCalculatedQuantities*) override {
    best_ = Eigen::Map<const Eigen::VectorXd>(x, n);
    cost_ = value;
  }

 private:
  ModalFit& fit_;
  const Scaling& scaling_;
  Eigen::VectorXd best_;
  double cost_ = 0;
  Eigen::VectorXd r_;
  Eigen::MatrixXd j_;
};

LocalMinimum by_interior_point(ModalFit& fit, const Scaling& scaling, const Eigen::VectorXd& x) {
  const Ipopt::SmartPtr<Ipopt::IpoptApplication> solver = IpoptApplicationFactory();
  solver->Options()->SetIntegerValue("print_level", 0);
  solver->Options()->SetStringValue("sb", "yes");
  solver->Options()->SetStringValue("hessian_approximation", "limited-memory");
  solver->Options()->SetNumericValue("tol", 1e-9);
  solver->Options()->SetIntegerValue("max_iter", 500);
  LocalMinimum out;
  if (solver->Initialize("") != Ipopt::Solve_Succeeded) return out;
  const Ipopt::SmartPtr<Program> program = new Program(fit, scaling, x);
  const Ipopt::ApplicationReturnStatus status = solver->OptimizeTNLP(program);
  out.theta = scaling.theta(program->best().data());
  out.cost = program->cost();
  out.iterations = IsValid(solver->Statistics()) ? solver->Statistics()->IterationCount() : 0;
  out.converged = status == Ipopt::Solve_Succeeded || status == Ipopt::Solved_To_Acceptable_Level ||
                  status == Ipopt::Search_Direction_Becomes_Too_Small;
  return out;
}

}  // namespace

LocalMinimum minimise(ModalFit& fit, const Bounds& bounds, const Eigen::VectorXd& start,
                      IdentifyMethod method) {
  PANTO_EXPECT(start.size() == fit.parameters() && bounds.low.size() == start.size() &&
                   bounds.high.size() == start.size(),
               "one start and two bounds per parameter");
  const Scaling scaling(bounds);
  const Eigen::VectorXd x = scaling.x(start);
  return method == IdentifyMethod::kLeastSquares ? by_least_squares(fit, scaling, x)
                                                 : by_interior_point(fit, scaling, x);
}

}  // namespace panto
