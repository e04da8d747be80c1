// Updating by sensitivities of frequencies and MAC (UPD-11), Levenberg–Marquardt within bounds (Ceres).
#include <cmath>

#include "panto/numerics/least_squares.hpp"
#include "panto/updating/engine.hpp"

namespace panto {

bool sensitivity_residuals(const SensitivityProblem& p, const Eigen::VectorXd& chi,
                           Eigen::VectorXd& residual, Eigen::MatrixXd* jacobian,
                           Eigen::VectorXd* scatter) {
  std::vector<PoseState> states;
  if (!p.engine->evaluate(chi, jacobian != nullptr, states)) return false;
  std::vector<double> values, deviations;
  std::vector<Eigen::RowVectorXd> slopes;
  for (size_t k = 0; k < states.size(); ++k) {
    const PoseState& s = states[k];
    const PoseReadings& readings = (*p.readings)[k];
    const ModePairing pairing = p.engine->pair(s, readings);
    const Eigen::VectorXd& square = s.pairs.values;
    const Eigen::MatrixXd& phi = s.pairs.vectors;
    for (size_t i = 0; i < readings.omega.size(); ++i) {
      const int mode = pairing.modes[i];
      const double w = readings.weights[i], measured = readings.omega[i];
      const double omega = std::copysign(std::sqrt(std::abs(square(mode))), square(mode));
      values.push_back(w * (omega / measured - 1));
      deviations.push_back(w * std::abs(omega) / (measured * measured) * readings.omega_sigma[i]);
      const Eigen::VectorXd& y = readings.shapes[i];
      std::vector<Eigen::Index> read;
      for (Eigen::Index j = 0; j < y.size(); ++j)
        if (std::isfinite(y(j))) read.push_back(j);
      const Eigen::VectorXd value = y(read), seen = (s.rows * phi.col(mode))(read);
      // c = √MAC; residual 1/c - 1.
      const double product = value.dot(seen), norm = value.norm() * seen.norm();
      const double c = read.empty() || !(norm > 0) ? 1 : std::max(std::abs(product) / norm, 1e-6);
      const bool shaped = !read.empty() && p.mac_weight > 0;
      const double sign = product < 0 ? -1 : 1;
      if (shaped) {
        values.push_back(w * p.mac_weight * (1 / c - 1));
        const Eigen::VectorXd by_reading =
            sign * seen / std::max(norm, 1e-300) - c * value / value.squaredNorm();
        deviations.push_back(w * p.mac_weight / (c * c) * by_reading.norm() *
                             readings.shape_sigma[i]);
      }
      if (jacobian == nullptr) continue;
      Eigen::RowVectorXd row(chi.size()), mac_row(chi.size());
      for (Eigen::Index h = 0; h < chi.size(); ++h) {
        const PoseMatrices& d = s.slopes[static_cast<size_t>(h)];
        const Eigen::VectorXd force = d.k * phi.col(mode) - square(mode) * (d.m * phi.col(mode));
        row(h) = w * phi.col(mode).dot(force) / (2 * std::max(std::abs(omega), 1e-9) * measured);
        if (!shaped) continue;
        // φ' = Σ_j φ_j φ_jᵀ (K' - ω² M') φ / (ω² - ω_j²) - ½ φ φᵀ M' φ; the last part leaves MAC as it is.
        Eigen::VectorXd part = phi.transpose() * force;
        for (Eigen::Index j = 0; j < part.size(); ++j) {
          const double gap = square(mode) - square(j);
          part(j) = j != mode && std::abs(gap) > 1e-12 * s.pairs.largest ? part(j) / gap : 0;
        }
        const Eigen::VectorXd moved = (s.rows * (phi * part))(read);
        const double slope = sign * (value.dot(moved) / norm -
                                     product * seen.dot(moved) / (norm * seen.squaredNorm()));
        mac_row(h) = -w * p.mac_weight * slope / (c * c);
      }
      slopes.push_back(row);
      if (shaped) slopes.push_back(mac_row);
    }
  }
  const auto vector = [](const std::vector<double>& v) {
    return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
  };
  residual = vector(values);
  if (scatter != nullptr) *scatter = vector(deviations);
  if (jacobian != nullptr) {
    jacobian->resize(residual.size(), chi.size());
    for (size_t i = 0; i < slopes.size(); ++i)
      jacobian->row(static_cast<Eigen::Index>(i)) = slopes[i];
  }
  return residual.allFinite();
}

SensitivityMinimum minimise(const SensitivityProblem& p, const Eigen::VectorXd& start) {
  const Eigen::MatrixXd penalty = std::sqrt(p.lambda) * p.omega;
  const auto residuals = [&](const Eigen::VectorXd& chi, Eigen::VectorXd& r, Eigen::MatrixXd* j) {
    Eigen::VectorXd data;
    Eigen::MatrixXd slopes;
    if (!sensitivity_residuals(p, chi, data, j != nullptr ? &slopes : nullptr)) return false;
    r.resize(data.size() + penalty.rows());
    r << data, penalty * chi;
    if (j == nullptr) return true;
    j->resize(r.size(), chi.size());
    *j << slopes, penalty;
    return true;
  };
  const LeastSquaresMinimum end = minimise(residuals, p.low, p.high, start);
  return {end.converged, end.x, end.iterations};
}

}  // namespace panto
