#include "panto/numerics/least_squares.hpp"

#include <ceres/ceres.h>

#include <limits>
#include <vector>

namespace panto {
namespace {

constexpr int kRounds = 20;  // with other parameters held
// What a round must take off the cost to be followed by another one; a cost that is round-off, of the first one, needs none.
constexpr double kGain = 1e-3, kExact = 1e-20;

class Cost : public ceres::CostFunction {
 public:
  Cost(const ResidualFunction& residuals, Eigen::Index count, Eigen::Index unknowns)
      : residuals_(residuals), unknowns_(unknowns) {
    set_num_residuals(static_cast<int>(count));
    mutable_parameter_block_sizes()->push_back(static_cast<int>(unknowns));
  }
  bool Evaluate(const double* const* x, double* residuals, double** jacobians) const override {
    const bool slopes = jacobians != nullptr && jacobians[0] != nullptr;
    const Eigen::VectorXd at = Eigen::Map<const Eigen::VectorXd>(x[0], unknowns_);
    if (!residuals_(at, r_, slopes ? &j_ : nullptr) || r_.size() != num_residuals()) return false;
    Eigen::Map<Eigen::VectorXd>(residuals, r_.size()) = r_;
    if (!slopes) return true;
    for (Eigen::Index i = 0; i < j_.rows(); ++i)
      Eigen::Map<Eigen::RowVectorXd>(jacobians[0] + i * unknowns_, unknowns_) = j_.row(i);
    return true;
  }

 private:
  const ResidualFunction& residuals_;
  Eigen::Index unknowns_;
  mutable Eigen::VectorXd r_;
  mutable Eigen::MatrixXd j_;
};

}  // namespace

LeastSquaresMinimum minimise(const ResidualFunction& residuals, const Eigen::VectorXd& low,
                             const Eigen::VectorXd& high, const Eigen::VectorXd& start,
                             const LeastSquaresTolerances& tolerances) {
  LeastSquaresMinimum out;
  out.x = start;
  Eigen::VectorXd r;
  if (!residuals(start, r, nullptr)) return out;
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.logging_type = ceres::SILENT;
  options.max_num_iterations = tolerances.iterations;
  options.function_tolerance = tolerances.cost;
  options.gradient_tolerance = tolerances.gradient;
  options.parameter_tolerance = tolerances.step;
  // Steps are cut at the bounds one by one, which stalls beside a bound that holds: what is pushed against its bound is held there, and the others go on.
  std::vector<int> held;
  const double first = 0.5 * r.squaredNorm();
  double before = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= kRounds; ++round) {
    ceres::Problem problem;
    problem.AddParameterBlock(out.x.data(), static_cast<int>(out.x.size()));
    for (int i = 0; i < out.x.size(); ++i) {
      problem.SetParameterLowerBound(out.x.data(), i, low(i));
      problem.SetParameterUpperBound(out.x.data(), i, high(i));
    }
    if (!held.empty())
      problem.SetManifold(out.x.data(),  // NOLINTNEXTLINE: owned
                          new ceres::SubsetManifold(static_cast<int>(out.x.size()), held));
    problem.AddResidualBlock(new Cost(residuals, r.size(), start.size()), nullptr,
                             out.x.data());  // NOLINT: owned
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem, &summary);
    out.converged = summary.IsSolutionUsable() && summary.termination_type == ceres::CONVERGENCE;
    out.cost = summary.final_cost;
    out.iterations += static_cast<int>(summary.iterations.size());
    if (out.cost <= kExact * first || out.cost > (1 - kGain) * before) break;
    before = out.cost;
    Eigen::MatrixXd j;
    if (!out.converged || !residuals(out.x, r, &j)) break;
    const Eigen::VectorXd gradient = j.transpose() * r;
    std::vector<int> pushed;
    for (int i = 0; i < out.x.size(); ++i)
      if ((out.x(i) <= low(i) && gradient(i) > 0) || (out.x(i) >= high(i) && gradient(i) < 0))
        pushed.push_back(i);
    if (pushed == held || static_cast<Eigen::Index>(pushed.size()) == out.x.size()) break;
    held = std::move(pushed);
  }
  return out;
}

}  // namespace panto
