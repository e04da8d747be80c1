// The linear algebra of updating: a few equations, many parameters, bounds, and a penalty on change.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace panto {

// A χ ≈ d with weights, penalty |Ω χ|², low ≤ χ ≤ high, row_low ≤ C χ ≤ row_high.
struct UpdatingEquations {
  Eigen::MatrixXd a;
  Eigen::VectorXd d, weights;
  Eigen::MatrixXd omega;
  Eigen::VectorXd low, high;
  Eigen::MatrixXd c;
  Eigen::VectorXd row_low, row_high;
};

// |W (A χ - d)| and |Ω χ| of the unconstrained problem over λ; corner: largest curvature in logarithms (UPD-9).
struct LCurve {
  std::vector<double> lambda, residual, size;
  int corner = -1;  // -1: no data
};
LCurve l_curve(const UpdatingEquations& equations);

struct UpdatingSolution {
  bool solved = false;
  Eigen::VectorXd chi;
  Eigen::VectorXd bound, row;  // multipliers, positive at upper limits
  double objective = 0;        // of UPD-6
  double kkt = 0;              // of the program that was solved
};
// UPD-7: the constrained minimum of UPD-6. λ = 0 counts as 1e-22 of the equations' size, so that of many minima the smallest change is found.
UpdatingSolution solve(const UpdatingEquations& equations, double lambda);
// UPD-10: the point of the constraints that is nearest to the unconstrained minimum.
UpdatingSolution solve_as_printed(const UpdatingEquations& equations, double lambda);

// Resolution of the unconstrained problem: diagonal of (AᵀW²A + λΩᵀΩ)⁻¹ AᵀW²A. 1: the data alone tell, 0: only the penalty does.
Eigen::VectorXd resolution(const UpdatingEquations& equations, double lambda);

// Parameters whose columns of W A are zero within 1e-9 of the largest, over their ranges; groups whose columns are parallel (|cos| > 0.999).
struct Identifiability {
  std::vector<int> unmovable;
  std::vector<std::vector<int>> collinear;
  int rank = 0;  // of W A, singular values above 1e-9 of the largest
};
Identifiability identifiability(const UpdatingEquations& equations);

// UPD-12: ξ = α/(2ω) + β ω/2 by least squares within bounds. omega [rad/s].
struct RayleighBounds {
  double alpha_low, alpha_high, beta_low, beta_high;
};
struct RayleighFit {
  double alpha = 0, beta = 0;
  double squares = 0;      // Σ (ξ_fit - ξ)²
  Eigen::VectorXd ratios;  // fitted
  bool solved = false;
};
RayleighFit fit_rayleigh(const Eigen::VectorXd& omega, const Eigen::VectorXd& ratios,
                         const RayleighBounds& bounds);
// Without bounds.
RayleighFit fit_rayleigh(const Eigen::VectorXd& omega, const Eigen::VectorXd& ratios);

}  // namespace panto
