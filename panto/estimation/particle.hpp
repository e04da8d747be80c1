// Bootstrap particle filter (OBS-8) on any System: the state's distribution as weighted samples, no linearisation and no Gaussian assumption; costs
// as many steps of the system as there are particles. The reference for the other filters.
#pragma once

#include <cstdint>

#include "panto/estimation/filter.hpp"

namespace panto {

struct ParticleOptions {
  int particles = 1000;
  std::uint64_t seed = 1;  // the same seed gives the same run
  // When particles are drawn anew, each moves a random share of the standard deviation, so that copies part; the cloud is drawn together by
  // √(1 - jitter²) before, so that its mean and covariance stay. 0: none; must be below 1.
  double jitter = 0.05;
};

class ParticleFilter final : public Filter {
 public:
  ParticleFilter(System& system, const FilterOptions& options, const ParticleOptions& particle);
  // Of the weighted particles, in the tangent space at their mean.
  void covariance(Eigen::MatrixXd& p) const noexcept override { p = p_; }
  [[nodiscard]] bool keep_predictions() override { return false; }
  // 1 / Σ W² after the last readings, before particles were drawn anew.
  [[nodiscard]] double effective() const { return effective_; }

 protected:
  [[nodiscard]] Eigen::MatrixXd& carried() noexcept override { return cloud_; }
  [[nodiscard]] Status set_covariance(const Eigen::MatrixXd& p) override;
  [[nodiscard]] Status predict(double dt) noexcept override;
  [[nodiscard]] Status correct(std::span<const int> sensors, View y) noexcept override;
  void reframe(const Eigen::MatrixXd& change) noexcept override;
  [[nodiscard]] Status advance(double dt, std::span<const int> sensors, View y) noexcept override;

 private:
  [[nodiscard]] MutableView particle(int i) {
    return particles_.subspan(static_cast<size_t>(i) * x_.size(), x_.size());
  }
  // w_ = factor z with new standard normal z for particle i; all draws of one time share `draws_`.
  void draw(const Eigen::MatrixXd& factor, int i) noexcept;
  // Weights from log weights; a particle that cannot exist has none.
  [[nodiscard]] Status weigh() noexcept;
  // next_ and p_ from the particles.
  [[nodiscard]] Status summarise(double t) noexcept;
  // Systematic resampling, then the jitter.
  [[nodiscard]] Status resample(double t) noexcept;

  [[nodiscard]] std::uint64_t draws() const { return static_cast<std::uint64_t>(draws_.front()); }

  ParticleOptions particle_;
  int n_, count_;
  double effective_ = 0;
  // All that is carried from step to step: particles, their log weights, how often was drawn; and views of these.
  Eigen::MatrixXd cloud_;
  MutableView particles_, log_weight_, draws_;
  std::vector<double> spare_, weight_, w_, reading_;
  std::vector<int> kept_;
  Eigen::MatrixXd p_, l_, y_, spread_;  // y_: readings of the particles, a column each
  Eigen::VectorXd z_, mean_, e_;
};

}  // namespace panto
