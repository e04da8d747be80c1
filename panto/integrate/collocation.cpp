#include "panto/integrate/collocation.hpp"

#include <algorithm>
#include <boost/math/special_functions/legendre.hpp>
#include <cmath>

#include "panto/integrate/stepper.hpp"

namespace panto {

namespace {
constexpr int kIterations = 30;
constexpr double kTolerance = 1e-15, kNoise = 1e-9, kRough = 1e-3;  // of the rates, relative
}  // namespace

Collocation::Collocation(Ode& ode) : ode_(ode), stage_(static_cast<size_t>(ode.size())) {
  // Nodes: zeros of the Legendre polynomial, moved to [0, 1].
  const auto zeros =
      boost::math::legendre_p_zeros<double>(static_cast<int>(kStages));  // the positive ones
  for (size_t i = 0; i < zeros.size(); ++i) {
    nodes_[kStages / 2 + i] = 0.5 * (1 + zeros[i]);
    nodes_[kStages / 2 - 1 - i] = 0.5 * (1 - zeros[i]);
  }
  // a_ij and b_j: integrals of Lagrange polynomial j from 0 to c_i and to 1, from its coefficients.
  for (size_t j = 0; j < kStages; ++j) {
    std::array<double, kStages + 1> c{1.0};
    for (size_t k = 0, degree = 0; k < kStages; ++k) {
      if (k == j) continue;
      const double d = 1 / (nodes_[j] - nodes_[k]);
      ++degree;
      for (size_t p = degree; p > 0; --p) c[p] = d * (c[p - 1] - nodes_[k] * c[p]);
      c[0] *= -d * nodes_[k];
    }
    const auto integral = [&c](double x) {
      double sum = 0, power = x;
      for (size_t p = 0; p < kStages; ++p, power *= x)
        sum += c[p] * power / static_cast<double>(p + 1);
      return sum;
    };
    for (size_t i = 0; i < kStages; ++i) a_[i][j] = integral(nodes_[i]);
    weights_[j] = integral(1);
  }
  for (size_t i = 0; i < kStages; ++i) {
    rate_[i].resize(stage_.size());
    next_[i].resize(stage_.size());
  }
}

Status Collocation::step(double t, double h, View x0, MutableView x1) noexcept {
  const size_t n = stage_.size();
  if (const Status s = ode_.rhs(t, x0, rate_[0]); !usable(s)) return s;
  for (size_t i = 1; i < kStages; ++i) rate_[i] = rate_[0];
  double before = HUGE_VAL;
  for (int iteration = 0;; ++iteration) {
    double change = 0, size = 0;
    for (size_t i = 0; i < kStages; ++i) {
      for (size_t k = 0; k < n; ++k) {
        double sum = 0;
        for (size_t j = 0; j < kStages; ++j) sum += a_[i][j] * rate_[j][k];
        stage_[k] = x0[k] + h * sum;
      }
      if (const Status s = ode_.rhs(t + nodes_[i] * h, stage_, next_[i]); !usable(s)) return s;
      for (size_t k = 0; k < n; ++k) {
        change = std::max(change, std::abs(next_[i][k] - rate_[i][k]));
        size = std::max(size, std::abs(next_[i][k]));
      }
    }
    rate_.swap(next_);
    if (!std::isfinite(change)) return Status::kNotFinite;
    // Converged, or as far as round-off lets it; a stage that happens to lie at a singular position is noisy.
    if (change <= kTolerance * size || (change < kNoise * size && change >= 0.5 * before)) break;
    if (iteration == kIterations) {
      if (change < kRough * size) break;
      return Status::kNotConverged;
    }
    before = change;
  }
  for (size_t k = 0; k < n; ++k) {
    double sum = 0;
    for (size_t j = 0; j < kStages; ++j) sum += weights_[j] * rate_[j][k];
    x1[k] = x0[k] + h * sum;
  }
  const Status closed = ode_.project(t + h, x1);
  return usable(closed) ? Status::kOk : closed;
}

}  // namespace panto
