#include "panto/updating/equations.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>

#include "panto/base/contract.hpp"
#include "panto/numerics/quadratic_program.hpp"

namespace panto {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTiny = 1e-22;      // λ that stands for 0, of the equations' size
constexpr double kUnmovable = 1e-9;  // of the largest column
constexpr double kParallel = 0.999;
constexpr int kPoints = 61;  // of the L-curve, from 1e-10 to 1e2 of the equations' size

Eigen::MatrixXd weighted(const UpdatingEquations& e) { return e.weights.asDiagonal() * e.a; }
Eigen::VectorXd weighted_right(const UpdatingEquations& e) { return e.weights.cwiseProduct(e.d); }

// λ at which penalty and data count alike.
double scale_of(const UpdatingEquations& e) {
  const double data = weighted(e).squaredNorm(), penalty = e.omega.squaredNorm();
  return data > 0 && penalty > 0 ? data / penalty : 1;
}
double effective(const UpdatingEquations& e, double lambda) {
  return lambda > 0 ? lambda : kTiny * scale_of(e);
}

Eigen::VectorXd unconstrained(const UpdatingEquations& e, double lambda) {
  // Stacked, not squared: the condition counts once.
  const Eigen::Index m = e.a.rows(), p = e.omega.rows(), n = e.a.cols();
  Eigen::MatrixXd stacked(m + p, n);
  stacked << weighted(e), std::sqrt(lambda) * e.omega;
  Eigen::VectorXd right = Eigen::VectorXd::Zero(m + p);
  right.head(m) = weighted_right(e);
  return stacked.completeOrthogonalDecomposition().solve(right);
}

double objective(const UpdatingEquations& e, double lambda, const Eigen::VectorXd& chi) {
  return (weighted(e) * chi - weighted_right(e)).squaredNorm() +
         lambda * (e.omega * chi).squaredNorm();
}

// The limits of the equations; their objective is still to come.
QuadraticProgram within_limits(const UpdatingEquations& e) {
  QuadraticProgram p;
  p.low = e.low;
  p.high = e.high;
  p.c = e.c;
  p.row_low = e.row_low;
  p.row_high = e.row_high;
  return p;
}

UpdatingSolution take(const QuadraticOptimum& at) {
  UpdatingSolution out;
  out.solved = at.solved;
  out.chi = at.x;
  out.bound = at.bound;
  out.row = at.row;
  out.kkt = at.kkt;
  return out;
}

}  // namespace

LCurve l_curve(const UpdatingEquations& e) {
  LCurve out;
  const double size = weighted_right(e).norm();
  if (!(size > 0)) return out;
  const double scale = scale_of(e);
  for (int i = 0; i < kPoints; ++i) {
    const double lambda = scale * std::pow(10.0, -10 + 12.0 * i / (kPoints - 1));
    const Eigen::VectorXd chi = unconstrained(e, lambda);
    out.lambda.push_back(lambda);
    out.residual.push_back((weighted(e) * chi - weighted_right(e)).norm());
    out.size.push_back((e.omega * chi).norm());
  }
  // Curvature of (log residual, log size), parameter log λ, central differences. Residuals that are round-off tell nothing.
  double best = -kInfinity;
  for (size_t i = 1; i + 1 < out.lambda.size(); ++i) {
    if (out.residual[i - 1] < 1e-12 * size || !(out.size[i + 1] > 0)) continue;
    const auto first = [&](const std::vector<double>& v) {
      return 0.5 * (std::log(v[i + 1]) - std::log(v[i - 1]));
    };
    const auto second = [&](const std::vector<double>& v) {
      return std::log(v[i + 1]) - 2 * std::log(v[i]) + std::log(v[i - 1]);
    };
    const double x = first(out.residual), y = first(out.size), xx = second(out.residual),
                 yy = second(out.size), speed = std::hypot(x, y);
    if (!(speed > 1e-6)) continue;
    const double curvature = (x * yy - xx * y) / (speed * speed * speed);
    if (curvature > best) {
      best = curvature;
      out.corner = static_cast<int>(i);
    }
  }
  if (out.corner < 0) out.corner = 0;
  return out;
}

UpdatingSolution solve(const UpdatingEquations& e, double given) {
  const double lambda = effective(e, given);
  const Eigen::MatrixXd wa = weighted(e);
  QuadraticProgram p = within_limits(e);
  p.h = wa.transpose() * wa + lambda * e.omega.transpose() * e.omega;
  p.g = wa.transpose() * weighted_right(e);
  UpdatingSolution out;
  const Eigen::VectorXd free = unconstrained(e, lambda);
  const auto within = [](const Eigen::VectorXd& x, const Eigen::VectorXd& low,
                         const Eigen::VectorXd& high) {
    return (x.array() >= low.array()).all() && (x.array() <= high.array()).all();
  };
  if (free.allFinite() && within(free, e.low, e.high) &&
      (e.c.rows() == 0 || within(e.c * free, e.row_low, e.row_high))) {
    // No limit matters: the optimum is that of the stacked equations, whose condition is not squared.
    QuadraticOptimum at;
    at.solved = true;
    at.x = free;
    at.bound = Eigen::VectorXd::Zero(free.size());
    at.row = Eigen::VectorXd::Zero(e.c.rows());
    at.kkt = kkt_residual(p, at);
    out = take(at);
  } else {
    out = take(minimise(p));
  }
  out.objective = objective(e, lambda, out.chi);
  return out;
}

UpdatingSolution solve_as_printed(const UpdatingEquations& e, double given) {
  const double lambda = effective(e, given);
  QuadraticProgram p = within_limits(e);
  p.g = unconstrained(e, lambda);
  p.h = Eigen::MatrixXd::Identity(p.g.size(), p.g.size());
  UpdatingSolution out;
  if (e.c.rows() == 0) {
    QuadraticOptimum at;
    at.solved = true;
    at.x = p.g.cwiseMax(e.low).cwiseMin(e.high);
    at.bound = p.g - at.x;
    at.kkt = kkt_residual(p, at);
    out = take(at);
  } else {
    out = take(minimise(p));
  }
  out.objective = objective(e, lambda, out.chi);
  return out;
}

Eigen::VectorXd resolution(const UpdatingEquations& e, double given) {
  const double lambda = effective(e, given);
  const Eigen::Index m = e.a.rows(), p = e.omega.rows(), n = e.a.cols();
  Eigen::MatrixXd stacked(m + p, n), right = Eigen::MatrixXd::Zero(m + p, n);
  stacked << weighted(e), std::sqrt(lambda) * e.omega;
  right.topRows(m) = weighted(e);
  return stacked.completeOrthogonalDecomposition().solve(right).diagonal();
}

Identifiability identifiability(const UpdatingEquations& e) {
  Identifiability out;
  Eigen::MatrixXd a = weighted(e);
  for (Eigen::Index j = 0; j < a.cols(); ++j)
    if (std::isfinite(e.high(j) - e.low(j))) a.col(j) *= e.high(j) - e.low(j);
  const Eigen::VectorXd norm = a.colwise().norm();
  const double largest = norm.size() > 0 ? norm.maxCoeff() : 0;
  std::vector<int> movable;
  for (Eigen::Index j = 0; j < norm.size(); ++j)
    (norm(j) > kUnmovable * largest ? movable : out.unmovable).push_back(static_cast<int>(j));
  std::vector<bool> taken(static_cast<size_t>(norm.size()), false);
  for (size_t i = 0; i < movable.size(); ++i) {
    if (taken[static_cast<size_t>(movable[i])]) continue;
    std::vector<int> group{movable[i]};
    for (size_t k = i + 1; k < movable.size(); ++k) {
      const double cosine = std::abs(a.col(movable[i]).dot(a.col(movable[k]))) /
                            (norm(movable[i]) * norm(movable[k]));
      if (cosine > kParallel && !taken[static_cast<size_t>(movable[k])]) {
        group.push_back(movable[k]);
        taken[static_cast<size_t>(movable[k])] = true;
      }
    }
    if (group.size() > 1) out.collinear.push_back(std::move(group));
  }
  const Eigen::VectorXd singular = Eigen::JacobiSVD<Eigen::MatrixXd>(a).singularValues();
  for (const double s : singular) out.rank += s > 1e-9 * singular(0) ? 1 : 0;
  return out;
}

RayleighFit fit_rayleigh(const Eigen::VectorXd& omega, const Eigen::VectorXd& ratios,
                         const RayleighBounds& b) {
  PANTO_EXPECT(omega.size() == ratios.size(), "one ratio per frequency");
  RayleighFit out;
  if (omega.size() < 2 || !(omega.array() > 0).all()) return out;
  // In units in which α and β count alike at the middle frequency.
  const double middle = std::sqrt(omega.minCoeff() * omega.maxCoeff());
  Eigen::MatrixXd a(omega.size(), 2);
  a.col(0) = (0.5 * middle) * omega.cwiseInverse();
  a.col(1) = (0.5 / middle) * omega;
  Eigen::VectorXd x = a.colPivHouseholderQr().solve(ratios);
  Eigen::VectorXd low(2), high(2);
  low << b.alpha_low / middle, b.beta_low * middle;
  high << b.alpha_high / middle, b.beta_high * middle;
  out.solved = true;
  if ((x.array() < low.array()).any() || (x.array() > high.array()).any()) {
    QuadraticProgram p;
    p.h = a.transpose() * a;
    p.g = a.transpose() * ratios;
    p.low = low;
    p.high = high;
    const QuadraticOptimum at = minimise(p);
    out.solved = at.solved;
    x = at.x;
  }
  out.alpha = x(0) * middle;
  out.beta = x(1) / middle;
  out.ratios = a * x;
  out.squares = (out.ratios - ratios).squaredNorm();
  return out;
}

RayleighFit fit_rayleigh(const Eigen::VectorXd& omega, const Eigen::VectorXd& ratios) {
  return fit_rayleigh(omega, ratios, {-kInfinity, kInfinity, -kInfinity, kInfinity});
}

}  // namespace panto
