#include "panto/inversion/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "panto/elements/gauss.hpp"
#include "panto/inversion/path.hpp"

namespace panto {
namespace {

constexpr auto kMost = static_cast<size_t>(kMostDerivatives);

}  // namespace

Result<Curve> Curve::through(const std::vector<std::vector<double>>& points, int m) {
  Diagnostics d;
  std::vector<double> chord{0};
  for (size_t i = 1; i < points.size(); ++i) {
    double square = 0;
    for (size_t c = 0; c < std::min(points[i].size(), points[i - 1].size()); ++c)
      square += std::pow(points[i][c] - points[i - 1][c], 2);
    if (square == 0)
      d.error(1011, {}, fmt::format("path: points {} and {} are the same", i, i + 1));
    chord.push_back(chord.back() + std::sqrt(square));
  }
  if (!d.ok()) return d;
  Result<Spline> spline = Spline::open(chord, points, m);
  if (!spline.ok()) return spline.diagnostics();
  Curve curve;
  curve.spline_ = std::move(*spline);
  curve.parameter_ = {0};
  curve.arc_ = {0};
  for (size_t i = 0; i + 1 < chord.size(); ++i)
    if (!curve.divide(i, chord[i], chord[i + 1], 0)) {
      d.error(1011, {},
              fmt::format("path: the curve turns back between points {} and {}: it would have to "
                          "stop there; give times, or points that lead around",
                          i + 1, i + 2));
      return d;
    }
  return curve;
}

double Curve::speed(size_t piece, double x) const noexcept {
  double square = 0;
  for (size_t c = 0; c < static_cast<size_t>(size()); ++c)
    square += std::pow(spline_.derivative(piece, c, x, 1), 2);
  return std::sqrt(square);
}

double Curve::length(size_t piece, double from, double to) const noexcept {
  double sum = 0;
  for (const GaussPoint& g : kGauss5) sum += g.weight * speed(piece, from + g.xi * (to - from));
  return sum * (to - from);
}

bool Curve::divide(size_t piece, double from, double to, int depth) {
  constexpr int kDeepest = 16;
  constexpr double kSlowest = 1e-3, kRoundOff = 1e-14;
  const double middle = (from + to) / 2, whole = length(piece, from, to),
               halves = length(piece, from, middle) + length(piece, middle, to);
  if (!(speed(piece, middle) > kSlowest) || depth == kDeepest) return false;
  if (std::abs(whole - halves) <= kRoundOff * halves) {
    parameter_.push_back(to);
    arc_.push_back(arc_.back() + halves);
    return true;
  }
  return divide(piece, from, middle, depth + 1) && divide(piece, middle, to, depth + 1);
}

double Curve::parameter_at(double arc) const noexcept {
  const auto after = std::upper_bound(arc_.begin() + 1, arc_.end() - 1, arc);
  const auto i = static_cast<size_t>(after - arc_.begin()) - 1;
  const double from = parameter_[i], to = parameter_[i + 1];
  const size_t piece = spline_.piece_at((from + to) / 2);
  double x = from + (to - from) * std::clamp((arc - arc_[i]) / (arc_[i + 1] - arc_[i]), 0.0, 1.0);
  for (int k = 0; k < 8; ++k) {
    const double step = (arc_[i] + length(piece, from, x) - arc) / speed(piece, x);
    x = std::clamp(x - step, from, to);
    if (std::abs(step) <= 1e-15 * parameter_.back()) break;
  }
  return x;
}

void Curve::at(std::span<const double> arc, std::span<double> out) const noexcept {
  const size_t orders = arc.size(), n = static_cast<size_t>(size());
  const double p = parameter_at(std::clamp(arc[0], 0.0, length()));
  const size_t piece = spline_.piece_at(p);
  // Coefficients by the parameter x: of the components, of the squared speed, of one over the speed.
  const auto taylor = [&](size_t c, size_t j) {
    if (j >= static_cast<size_t>(spline_.terms())) return 0.0;
    double factorial = 1;
    for (size_t i = 2; i <= j; ++i) factorial *= static_cast<double>(i);
    return spline_.derivative(piece, c, p, static_cast<int>(j)) / factorial;
  };
  std::array<double, kMost> square{}, inverse{};
  std::array<double, kMost + 1> own{};
  for (size_t c = 0; c < n; ++c) {
    for (size_t j = 0; j <= orders; ++j) own[j] = taylor(c, j);
    for (size_t j = 0; j < orders; ++j)
      for (size_t i = 0; i <= j; ++i)
        square[j] += static_cast<double>((i + 1) * (j - i + 1)) * own[i + 1] * own[j - i + 1];
  }
  inverse[0] = 1 / std::sqrt(square[0]);
  for (size_t j = 1; j < orders; ++j) {
    double sum = 0;
    for (size_t i = 1; i <= j; ++i)
      sum += (static_cast<double>(i) / 2 - static_cast<double>(j)) * square[i] * inverse[j - i];
    inverse[j] = sum / (static_cast<double>(j) * square[0]);
  }
  // x(τ) from |c'(x)| ẋ = σ̇, one coefficient after the other; power[j][k]: coefficient k of x^j.
  std::array<std::array<double, kMost>, kMost> power{};
  std::array<double, kMost> rate{};
  rate[0] = inverse[0];
  for (size_t k = 1; k < orders; ++k) {
    double sum = 0;
    for (size_t i = 0; i < k; ++i) sum += static_cast<double>(i + 1) * arc[i + 1] * rate[k - 1 - i];
    power[1][k] = sum / static_cast<double>(k);
    for (size_t j = 2; j <= k; ++j)
      for (size_t i = 1; i + j <= k + 1; ++i) power[j][k] += power[1][i] * power[j - 1][k - i];
    for (size_t j = 1; j <= k; ++j) rate[k] += inverse[j] * power[j][k];
  }
  for (size_t c = 0; c < n; ++c) {
    for (size_t j = 0; j < orders; ++j) own[j] = taylor(c, j);
    out[c] = own[0];
    double factorial = 1;
    for (size_t k = 1; k < orders; ++k) {
      factorial *= static_cast<double>(k);
      double sum = 0;
      for (size_t j = 1; j <= k; ++j) sum += own[j] * power[j][k];
      out[k * n + c] = factorial * sum;
    }
  }
}

}  // namespace panto
