// Nonlinear least squares within bounds.
#pragma once

#include <Eigen/Core>
#include <functional>

namespace panto {

// r(x) and, where `jacobian` is asked for, ∂r/∂x. False where there is no value; the number of residuals stays.
using ResidualFunction = std::function<bool(const Eigen::VectorXd& x, Eigen::VectorXd& residual,
                                            Eigen::MatrixXd* jacobian)>;

struct LeastSquaresTolerances {
  double cost = 1e-16, gradient = 1e-14, step = 1e-12;  // relative, but for the gradient
  int iterations = 200;
};

struct LeastSquaresMinimum {
  bool converged = false;
  Eigen::VectorXd x;
  double cost = 0;  // ½ |r|²
  int iterations = 0;
};

// A local minimum of ½ |r(x)|², low ≤ x ≤ high, by Levenberg–Marquardt steps (Ceres). Not converged, x the start: r has no value there.
LeastSquaresMinimum minimise(const ResidualFunction& residuals, const Eigen::VectorXd& low,
                             const Eigen::VectorXd& high, const Eigen::VectorXd& start,
                             const LeastSquaresTolerances& tolerances = {});

}  // namespace panto
