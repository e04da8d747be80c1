// Extended Kalman filter (OBS-4) on any System: the mean moves by the system's step, the covariance by its transition. With the step and the transition
// of a Mechanism it is the direct filter (Euler, constant or exact transition) or the indirect, error-state one (trapezoidal or index-3 plant).
#pragma once

#include "panto/estimation/filter.hpp"

namespace panto {

class Ekf final : public Filter {
 public:
  // iterations: of the update, with the sensors taken linear anew at every corrected state (iterated filter).
  Ekf(System& system, const FilterOptions& options, int iterations = 1);
  void covariance(Eigen::MatrixXd& p) const noexcept override;

 protected:
  [[nodiscard]] Status set_covariance(const Eigen::MatrixXd& p) override;
  [[nodiscard]] Status predict(double dt) noexcept override;
  [[nodiscard]] Status correct(std::span<const int> sensors, View y) noexcept override;
  void reframe(const Eigen::MatrixXd& change) noexcept override;
  [[nodiscard]] Eigen::MatrixXd& carried() noexcept override { return l_; }

 private:
  int iterations_;
  // P = L Lᵀ: definite whatever the round-off. Triangular after a prediction, full after readings.
  Eigen::MatrixXd l_, f_, h_, product_, corrected_, noise_, stack_;
  Eigen::VectorXd gain_, phi_, w_, total_;
  std::vector<double> y_, at_;
};

}  // namespace panto
