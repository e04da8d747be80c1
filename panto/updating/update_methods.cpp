#include <algorithm>
#include <cmath>

#include "panto/updating/updater.hpp"

namespace panto::update_run {
namespace {

constexpr double kConverged = 1e-10;  // change of χ from one iteration to the next
constexpr int kIterations = 30;

}  // namespace

bool Updater::limits(UpdateEngine& engine, const Eigen::VectorXd& chi, UpdatingEquations& e) const {
  e.omega = omega_;
  e.low = low_;
  e.high = high_;
  Eigen::VectorXd forces;
  Eigen::MatrixXd slopes;
  if (!engine.unbalanced(chi, forces, slopes)) return false;
  const Eigen::Index constraints = c_.rows(), rows = constraints + forces.size();
  e.c.resize(rows, count());
  e.row_low.resize(rows);
  e.row_high.resize(rows);
  e.c << c_, slopes;
  e.row_low.head(constraints) = row_low_;
  e.row_high.head(constraints) = row_high_;
  for (Eigen::Index i = 0; i < forces.size(); ++i) {
    const double friction = friction_[static_cast<size_t>(i)],
                 held = forces(i) - slopes.row(i).dot(chi);
    e.row_low(constraints + i) = -friction - held;
    e.row_high(constraints + i) = friction - held;
  }
  return true;
}

// UPD-5 at the state of χ_k, for χ itself.
void Updater::equations(const UpdateEngine& engine, const std::vector<PoseState>& states,
                        const std::vector<PoseReadings>& readings, const Eigen::VectorXd& chi,
                        UpdatingEquations& e,
                        std::vector<std::vector<ExpandedShape>>& shapes) const {
  Eigen::Index rows = 0;
  for (const PoseReadings& r : readings) rows += static_cast<Eigen::Index>(r.omega.size());
  e.a.resize(rows, count());
  e.d.resize(rows);
  e.weights.resize(rows);
  Eigen::Index row = 0;
  shapes.clear();
  for (size_t k = 0; k < states.size(); ++k) {
    const PoseState& s = states[k];
    const PoseReadings& r = readings[k];
    shapes.push_back(engine.shapes(s, r, engine.pair(s, r)));
    for (size_t i = 0; i < r.omega.size(); ++i, ++row) {
      const Eigen::VectorXd& z = shapes.back()[i].z;
      const double square = r.omega[i] * r.omega[i];
      const double scale = study_.relative ? 1 / square : 1;
      for (Eigen::Index h = 0; h < count(); ++h) {
        const PoseMatrices& d = s.slopes[static_cast<size_t>(h)];
        e.a(row, h) = scale * (square * z.dot(d.m * z) - z.dot(d.k * z));
      }
      e.d(row) = -scale * (square * z.dot(s.matrices.m * z) - z.dot(s.matrices.k * z)) +
                 e.a.row(row).dot(chi);
      e.weights(row) = r.weights[i];
    }
  }
}

// lambda < 0: the study's own, or the L-curve's.
Outcome Updater::by_program(UpdateEngine& engine, const std::vector<PoseState>& first,
                            const std::vector<PoseReadings>& readings, double lambda) const {
  Outcome out;
  out.chi = Eigen::VectorXd::Zero(count());
  bool linear = engine.affine();
  for (const PoseReadings& r : readings)
    for (const Eigen::VectorXd& y : r.shapes) linear = linear && y.size() > 0;
  const int most = study_.iterations > 0 ? study_.iterations : (linear ? 1 : kIterations);
  std::vector<PoseState> states = first;
  for (int turn = 0; turn < most; ++turn) {
    if (turn > 0 && !engine.evaluate(out.chi, true, states)) return out;
    if (turn == 0 || !engine.affine_balances())
      if (!limits(engine, out.chi, out.equations)) return out;
    equations(engine, states, readings, out.chi, out.equations, out.shapes);
    if (turn == 0) {
      out.curve = l_curve(out.equations);
      out.lambda = lambda >= 0             ? lambda
                   : study_.lambda >= 0    ? study_.lambda
                   : out.curve.corner >= 0 ? out.curve.lambda[static_cast<size_t>(out.curve.corner)]
                                           : 0;
    }
    out.solution = study_.as_printed ? solve_as_printed(out.equations, out.lambda)
                                     : solve(out.equations, out.lambda);
    out.infeasible = !out.solution.solved;
    if (out.infeasible) return out;
    const double moved = (out.solution.chi - out.chi).lpNorm<Eigen::Infinity>();
    out.chi = out.solution.chi;
    out.iterations = turn + 1;
    out.converged = linear || moved <= kConverged;
    if (moved <= kConverged) break;
  }
  out.ok = true;
  return out;
}

Outcome Updater::by_sensitivities(UpdateEngine& engine,
                                  const std::vector<PoseReadings>& readings) const {
  Outcome out;
  SensitivityProblem p;
  p.engine = &engine;
  p.readings = &readings;
  p.mac_weight = study_.mac_weight;
  p.omega = omega_;
  p.low = low_;
  p.high = high_;
  out.chi = Eigen::VectorXd::Zero(count());
  Eigen::VectorXd residual;
  Eigen::MatrixXd jacobian;
  if (!sensitivity_residuals(p, out.chi, residual, &jacobian)) return out;
  if (!limits(engine, out.chi, out.equations)) return out;
  out.equations.a = jacobian;
  out.equations.d = -residual;
  out.equations.weights = Eigen::VectorXd::Ones(residual.size());
  const double start = (jacobian.transpose() * residual).lpNorm<Eigen::Infinity>();
  out.curve = l_curve(out.equations);
  p.lambda = out.lambda = study_.lambda >= 0 ? study_.lambda
                          : out.curve.corner >= 0
                              ? out.curve.lambda[static_cast<size_t>(out.curve.corner)]
                              : 0;
  const SensitivityMinimum end = minimise(p, out.chi);
  out.chi = end.chi;
  out.converged = end.converged;
  out.iterations = end.iterations;
  out.solution.chi = end.chi;
  if (!sensitivity_residuals(p, out.chi, residual, &jacobian, &out.scatter)) return out;
  out.equations.a = jacobian;
  out.equations.d = jacobian * out.chi - residual;
  out.solution.objective = residual.squaredNorm() + out.lambda * (omega_ * out.chi).squaredNorm();
  // Stationarity within the bounds, relative to the gradient at the start or what balances at the end.
  const Eigen::VectorXd data = jacobian.transpose() * residual,
                        prior = out.lambda * omega_.transpose() * (omega_ * out.chi);
  const double size =
      std::max({start, data.lpNorm<Eigen::Infinity>(), prior.lpNorm<Eigen::Infinity>(), 1e-300});
  for (Eigen::Index h = 0; h < count(); ++h) {
    const double g = data(h) + prior(h);
    if (at_bound(h, out.chi(h)) && g * (out.chi(h) - 0.5 * (low_(h) + high_(h))) <= 0) continue;
    out.solution.kkt = std::max(out.solution.kkt, std::abs(g) / size);
  }
  std::vector<PoseState> states;
  if (!engine.evaluate(out.chi, false, states)) return out;
  for (size_t k = 0; k < states.size(); ++k)
    out.shapes.push_back(
        engine.shapes(states[k], readings[k], engine.pair(states[k], readings[k])));
  out.ok = true;
  return out;
}

}  // namespace panto::update_run
