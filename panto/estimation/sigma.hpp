// Sigma-point filters (OBS-5): scaled unscented, spherical simplex, cubature; with the covariance itself or its Cholesky factor.
#pragma once

#include <cstdint>

#include "panto/estimation/filter.hpp"

namespace panto {

enum class SigmaSet : std::uint8_t {
  kUnscented,         // 2n + 1 points, weights from α, β, κ
  kSphericalSimplex,  // n + 2 points, weight w0 of the centre
  kCubature,          // 2n points of equal weight
};

struct SigmaOptions {
  SigmaSet set = SigmaSet::kUnscented;
  double alpha = 1e-3, beta = 2, kappa = 0;  // kUnscented; β must not be below α²
  double w0 = 0.5;                           // kSphericalSimplex, from 0 to below 1
  bool square_root = false;                  // carry the factor, by orthogonal transformations
  bool redraw = false;  // draw new points from the predicted covariance for the sensors
};

// Points for n unknowns: columns of c, a state's points are x ⊕ L c_i. Unscented: column 0 is the centre.
struct SigmaPoints {
  Eigen::MatrixXd c;
  Eigen::VectorXd mean, spread;  // weights of the mean; weights (>= 0) of deviations in covariances
  double centre =
      0;  // kUnscented: deviations are counted from the centre, and the mean's own deviation has this weight, β - α²
  bool from_centre = false;
};
SigmaPoints sigma_points(const SigmaOptions& options, int n);

class SigmaFilter final : public Filter {
 public:
  SigmaFilter(System& system, const FilterOptions& options, const SigmaOptions& sigma);
  void covariance(Eigen::MatrixXd& p) const noexcept override;
  [[nodiscard]] const SigmaOptions& sigma_options() const { return sigma_; }

 protected:
  [[nodiscard]] Status set_covariance(const Eigen::MatrixXd& p) override;
  [[nodiscard]] Status predict(double dt) noexcept override;
  [[nodiscard]] Status correct(std::span<const int> sensors, View y) noexcept override;
  void reframe(const Eigen::MatrixXd& change) noexcept override;
  [[nodiscard]] Eigen::MatrixXd& carried() noexcept override { return l_; }
  [[nodiscard]] Status advance(double dt, std::span<const int> sensors, View y) noexcept override;

 private:
  [[nodiscard]] MutableView point(int i) {
    return MutableView(points_).subspan(static_cast<size_t>(i) * x_.size(), x_.size());
  }
  [[nodiscard]] Status draw(View x, const Eigen::MatrixXd& factor) noexcept;
  // Deviations of the points as weighted columns of dx_: D such that their covariance is D Dᵀ; next_ becomes the mean.
  void spread() noexcept;
  void centre(double* d, Eigen::Index stride, const double* mean) const noexcept;
  // Lower factor of the sum of the first `columns` columns' squares in stack_, into l_ (QR), or p_ then l_.
  [[nodiscard]] Status condense(Eigen::Index columns) noexcept;

  SigmaOptions sigma_;
  SigmaPoints set_;
  int n_, count_, columns_;  // columns_: weighted deviations
  std::vector<double> points_, y_, w_;
  Eigen::MatrixXd l_, p_, lq_, dx_, dy_, py_, gain_, stack_, product_;
  Eigen::VectorXd root_, mean_, mean_y_, e_;  // root_: of the weights of deviations
  std::vector<int> kept_, order_;             // order_: of the points in a prediction
};

}  // namespace panto
