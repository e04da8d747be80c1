// Continuous extended Kalman filter of Kalman and Bucy (OBS-6), state and covariance by the trapezoidal rule, readings held over a step. For comparison with
// the discrete filters, which are more accurate and more robust.
#pragma once

#include <Eigen/Core>

#include "panto/estimation/filter.hpp"
#include "panto/estimation/mechanism.hpp"

namespace panto {

class ContinuousEkf final : public Filter {
 public:
  // inertial: derivatives of the accelerations from the inertia terms alone, as published (Sanjurjo et al., eqs. 6 to 8); else exact.
  // densities: of acceleration noise, as in MechanismOptions. Biases of sensors may be among the states, forces may not.
  ContinuousEkf(Mechanism& mechanism, const FilterOptions& options, std::vector<double> densities,
                bool inertial);
  void covariance(Eigen::MatrixXd& p) const noexcept override { p = p_; }
  [[nodiscard]] bool keep_predictions() override { return false; }

 protected:
  [[nodiscard]] Status set_covariance(const Eigen::MatrixXd& p) override;
  [[nodiscard]] Status predict(double) noexcept override { return Status::kBadArgument; }
  [[nodiscard]] Status correct(std::span<const int>, View) noexcept override {
    return Status::kBadArgument;
  }
  void reframe(const Eigen::MatrixXd& change) noexcept override;
  [[nodiscard]] Eigen::MatrixXd& carried() noexcept override { return p_; }
  [[nodiscard]] Status advance(double dt, std::span<const int> sensors, View y) noexcept override;

 private:
  // Sensors that the gate leaves, with their readings, judged where the rates of the start lead to; then h_ and information_ of those.
  [[nodiscard]] Status choose(double dt, std::span<const int> sensors, View y) noexcept;
  // Fc and f at x; rate_now_ holds the accelerations that the inertial terms are taken at, then f.
  [[nodiscard]] Status evaluate(double t, MutableView x) noexcept;
  void rates(View x) noexcept;
  // P of the end of the step from F, H there: a Newton correction of the implicit equation, and how large it was, relative to P.
  [[nodiscard]] Status covariance_step(double h, double& change) noexcept;
  void covariance_rate(const Eigen::MatrixXd& p, Eigen::MatrixXd& rate) noexcept;

  Mechanism& mechanism_;
  bool inertial_;
  int n_, motion_;  // states; coordinates and speeds among them, which come first
  std::vector<int> used_;
  std::vector<double> reading_;
  Eigen::MatrixXd p_, p1_, rate_, constant_, f_, f_motion_, h_, noise_, information_, left_,
      closed_, product_, both_, smith_, square_;
  Eigen::VectorXd rate_start_, rate_now_, residual_, w_, e_, weight_;
  std::vector<double> y_, step_;
};

}  // namespace panto
