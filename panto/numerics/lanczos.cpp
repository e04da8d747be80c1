#include "panto/numerics/lanczos.hpp"

#include <Eigen/Dense>
#include <cmath>

#include "panto/base/contract.hpp"

namespace panto {

std::vector<double> lanczos_weights(int points, int degree, int order, int at) {
  PANTO_EXPECT(order >= 1 && order <= degree && degree < points && at >= 0 && at < points,
               "1 <= order <= degree < points, a sample of the window");
  // Powers of the distance from `at`, in half windows: the derivative there is a coefficient, and columns are of one size.
  const double half = 0.5 * (points - 1);
  Eigen::MatrixXd powers(points, degree + 1);
  for (int k = 0; k < points; ++k)
    for (int j = 0; j <= degree; ++j) powers(k, j) = std::pow((k - at) / half, j);
  const Eigen::MatrixXd inverse = powers.completeOrthogonalDecomposition().pseudoInverse();
  double factor = std::pow(half, -order);
  for (int j = 2; j <= order; ++j) factor *= j;
  std::vector<double> w;
  w.reserve(static_cast<size_t>(points));
  for (int k = 0; k < points; ++k) w.push_back(factor * inverse(order, k));
  return w;
}

std::vector<double> lanczos(std::span<const double> y, double h, int order, int points,
                            int degree) {
  const auto n = static_cast<int>(y.size()), half = points / 2;
  PANTO_EXPECT(points % 2 == 1 && points <= n && h > 0, "an odd window that the samples fill");
  std::vector<double> out(y.size());
  std::vector<double> w = lanczos_weights(points, degree, order, half);
  const double scale = std::pow(h, -order);
  const auto apply = [&](int first) {
    double sum = 0;
    for (int k = 0; k < points; ++k)
      sum += w[static_cast<size_t>(k)] * y[static_cast<size_t>(first + k)];
    return scale * sum;
  };
  for (int i = half; i < n - half; ++i) out[static_cast<size_t>(i)] = apply(i - half);
  for (int i = 0; i < half; ++i) {
    w = lanczos_weights(points, degree, order, i);
    out[static_cast<size_t>(i)] = apply(0);
    w = lanczos_weights(points, degree, order, points - 1 - i);
    out[static_cast<size_t>(n - 1 - i)] = apply(n - points);
  }
  return out;
}

CausalLanczos::CausalLanczos(int points, int degree, int order, double h)
    : weights_(lanczos_weights(points, degree, order, points - 1)),
      samples_(static_cast<size_t>(points), 0.0) {
  PANTO_EXPECT(h > 0, "a positive step");
  const double scale = std::pow(h, -order);
  for (double& e : weights_) e *= scale;
}

double CausalLanczos::next(double y) noexcept {
  samples_[next_] = y;
  next_ = (next_ + 1) % samples_.size();
  if (count_ < samples_.size()) ++count_;
  if (!ready()) return 0;
  double sum = 0;
  for (size_t k = 0; k < samples_.size(); ++k)
    sum += weights_[k] * samples_[(next_ + k) % samples_.size()];
  return sum;
}

}  // namespace panto
