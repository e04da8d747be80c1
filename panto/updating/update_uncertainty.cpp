#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "panto/updating/updater.hpp"

namespace panto::update_run {

// Of the right-hand sides of UPD-5, by frequencies and readings.
Eigen::VectorXd Updater::scatter_of(const Outcome& found) const {
  Eigen::VectorXd scatter(found.equations.d.size());
  Eigen::Index row = 0;
  for (size_t k = 0; k < readings_.size(); ++k)
    for (size_t i = 0; i < readings_[k].omega.size(); ++i, ++row) {
      const PoseReadings& r = readings_[k];
      const ExpandedShape& s = found.shapes[k][i];
      const double square = r.omega[i] * r.omega[i], scale = study_.relative ? 1 / square : 1;
      const PoseMatrices& m = after_[k].matrices;
      const double by_frequency = 2 * scale * r.omega[i] * s.z.dot(m.m * s.z) * r.omega_sigma[i];
      // Errors of shapes enter linearly and, where the model is right, as squares: e = aᵀδy + δyᵀ B δy. The gradient at hand, g = a + 2 B δy, has |a|² + 4 σ² |B|² in the mean; the variance
      // is σ² |a|² + 2 σ⁴ |B|².
      const Eigen::MatrixXd balance = scale * (square * m.m - m.k);
      const double variance = std::pow(r.shape_sigma[i], 2);
      const double squares =
          2 * variance * variance * (s.slope.transpose() * balance * s.slope).squaredNorm();
      const double by_shape =
          4 * variance * (s.z.transpose() * balance * s.slope).squaredNorm() - squares;
      scatter(row) = std::sqrt(by_frequency * by_frequency + std::max(by_shape, squares));
    }
  return scatter;
}

// UPD-13: scatter of frequencies and shapes, carried through the equations with the limits that hold kept.
void Updater::covariance(const Outcome& found) {
  out_.covariance =
      Eigen::MatrixXd::Constant(count(), count(), std::numeric_limits<double>::quiet_NaN());
  const UpdatingEquations& e = found.equations;
  const Eigen::VectorXd scatter =
      study_.method == UpdateMethod::kSensitivity ? found.scatter : scatter_of(found);
  for (const PoseReadings& r : readings_)
    for (size_t i = 0; i < r.omega.size(); ++i)
      if (r.weights[i] > 0 && !(r.omega_sigma[i] > 0)) return;
  std::vector<Eigen::Index> free;
  for (Eigen::Index h = 0; h < count(); ++h)
    if (!at_bound(h, found.chi(h))) free.push_back(h);
  out_.covariance.setZero();
  if (free.empty()) return;
  const Eigen::MatrixXd wa = (e.weights.asDiagonal() * e.a)(Eigen::all, free);
  const double lambda = std::max(found.lambda, 1e-22 * wa.squaredNorm());
  const Eigen::MatrixXd penalty = e.omega(Eigen::all, free);
  const Eigen::MatrixXd h = wa.transpose() * wa + lambda * penalty.transpose() * penalty;
  const Eigen::MatrixXd gain = h.ldlt().solve(wa.transpose()) * e.weights.asDiagonal();
  const Eigen::MatrixXd part = gain * scatter.cwiseAbs2().asDiagonal() * gain.transpose();
  for (size_t i = 0; i < free.size(); ++i)
    for (size_t j = 0; j < free.size(); ++j)
      out_.covariance(free[i], free[j]) =
          part(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
}

// Every mode once without: predicted from the others.
void Updater::leave_out(const Outcome& found) {
  size_t listed = 0;
  for (size_t k = 0; k < readings_.size(); ++k)
    for (size_t i = 0; i < readings_[k].omega.size(); ++i, ++listed) {
      std::vector<PoseReadings> others = readings_;
      others[k].weights[i] = 0;
      UpdateEngine own = engine_->clone();
      const Outcome without = study_.method == UpdateMethod::kSensitivity
                                  ? by_sensitivities(own, others)
                                  : by_program(own, before_, others, found.lambda);
      std::vector<PoseState> states;
      if (!without.ok || !own.evaluate(without.chi, false, states)) continue;
      const int mode = own.pair(states[k], readings_[k]).modes[i];
      out_.modes[listed].left_out_hz =
          std::sqrt(std::max(0.0, states[k].pairs.values(mode))) / kTurn;
    }
}

}  // namespace panto::update_run
