#include "panto/inversion/path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "panto/base/contract.hpp"

namespace panto {
namespace {

double binomial(int n, int k) noexcept {
  double b = 1;
  for (int i = 1; i <= k; ++i) b = b * (n - k + i) / i;
  return std::round(b);
}

double falling(int n, int k) noexcept {  // n (n - 1) … (n - k + 1)
  double f = 1;
  for (int i = 0; i < k; ++i) f *= n - i;
  return f;
}

// E1011: what no path can be made of.
Diagnostics check(size_t size, double duration, int m) {
  Diagnostics d;
  if (size == 0) d.error(1011, {}, "path: no components");
  if (!(duration > 0) || !std::isfinite(duration))
    d.error(1011, {}, fmt::format("path: the duration must be positive, it is {} s", duration));
  if (m < 0 || m > kMostSmooth)
    d.error(1011, {}, fmt::format("path: smoothness {} is not in 0 … {}", m, kMostSmooth));
  return d;
}

Diagnostics check(const std::vector<double>& times, const std::vector<std::vector<double>>& points,
                  int m) {
  Diagnostics d = check_points(times, points);
  if (times.size() >= 2 && !points.empty())
    d.append(check(points.front().size(), times.back() - times.front(), m));
  return d;
}

}  // namespace

Transition::Transition(int m) : m_(m) {
  PANTO_EXPECT(m >= 0 && m <= kMostSmooth, "smoothness of a transition");
  for (int n = 0; n <= m; ++n) sum_.push_back(binomial(m + n, n));
  // S' = (2m+1)! / m!² τ^m (1-τ)^m, and the products of its derivatives.
  const double scale = (2 * m + 1) * binomial(2 * m, m);
  products_.assign(static_cast<size_t>(kMostDerivatives * (m + 1)), 0);
  for (int k = 1; k < kMostDerivatives; ++k)
    for (int j = std::max(0, k - 1 - m); j <= std::min(m, k - 1); ++j)
      products_[static_cast<size_t>(k * (m + 1) + j)] = ((k - 1 - j) % 2 != 0 ? -scale : scale) *
                                                        binomial(k - 1, j) * falling(m, j) *
                                                        falling(m, k - 1 - j);
}

void Transition::at(double tau, std::span<double> out) const noexcept {
  std::array<double, kMostSmooth + 1> up, down;  // powers of τ and of 1 - τ
  up[0] = down[0] = 1;
  for (size_t i = 1; i <= static_cast<size_t>(m_); ++i) {
    up[i] = up[i - 1] * tau;
    down[i] = down[i - 1] * (1 - tau);
  }
  if (!out.empty()) {
    // S(τ) = 1 - S(1 - τ): the smaller half is summed, of positive terms alone.
    const bool mirrored = tau > 0.5;
    const std::array<double, kMostSmooth + 1>&power = mirrored ? up : down,
                                           &other = mirrored ? down : up;
    double sum = 0;
    for (size_t n = sum_.size(); n-- > 0;) sum += sum_[n] * power[n];
    sum *= other[static_cast<size_t>(m_)] * (mirrored ? 1 - tau : tau);
    out[0] = mirrored ? 1 - sum : sum;
  }
  for (int k = 1; k < static_cast<int>(out.size()); ++k) {
    double sum = 0;
    for (int j = std::max(0, k - 1 - m_); j <= std::min(m_, k - 1); ++j)
      sum += products_[static_cast<size_t>(k * (m_ + 1) + j)] * up[static_cast<size_t>(m_ - j)] *
             down[static_cast<size_t>(m_ - (k - 1 - j))];
    out[static_cast<size_t>(k)] = sum;
  }
}

Path::Path(Kind kind, int m, std::vector<double> knots, std::vector<double> from,
           std::vector<double> to)
    : kind_(kind),
      size_(static_cast<int>(from.size())),
      law_(m),
      knots_(std::move(knots)),
      from_(std::move(from)),
      to_(std::move(to)) {}

Result<Path> Path::line(std::vector<double> from, std::vector<double> to, double t0,
                        double duration, int m) {
  Diagnostics d = check(from.size(), duration, m);
  if (from.size() != to.size())
    d.error(1011, {},
            fmt::format("path: {} components at the start, {} at the end", from.size(), to.size()));
  if (!d.ok()) return d;
  return Path(Kind::kLine, m, {t0, t0 + duration}, std::move(from), std::move(to));
}

Result<Path> Path::circle(std::vector<double> from, std::vector<double> centre, double t0,
                          double duration, int m, double turns) {
  Diagnostics d = check(from.size(), duration, m);
  if (from.size() < 2 || centre.size() < 2)
    d.error(1011, {}, "path: a circle needs two components or more");
  else if (!(std::hypot(from[0] - centre[0], from[1] - centre[1]) > 0))
    d.error(1011, {}, "path: the circle starts at its centre");
  if (!d.ok()) return d;
  Path p(Kind::kCircle, m, {t0, t0 + duration}, std::move(from), std::move(centre));
  p.turns_ = turns;
  return p;
}

Result<Path> Path::way_points(std::vector<double> times,
                              const std::vector<std::vector<double>>& points, int m) {
  Diagnostics d = check(times, points, m);
  if (!d.ok()) return d;
  Result<Spline> spline = Spline::at_rest(times, points, m);
  if (!spline.ok()) return spline.diagnostics();
  Path p(Kind::kSpline, m, std::move(times), points.front(), points.back());
  p.spline_ = std::move(*spline);
  return p;
}

Result<Path> Path::along(const std::vector<std::vector<double>>& points, double t0, double duration,
                         int m) {
  Diagnostics d = check(points.empty() ? 0 : points.front().size(), duration, m);
  if (!d.ok()) return d;
  Result<Curve> curve = Curve::through(points, m);
  if (!curve.ok()) return curve.diagnostics();
  Path p(Kind::kCurve, m, {t0, t0 + duration}, points.front(), points.back());
  p.curve_ = std::move(*curve);
  return p;
}

double Path::length() const {
  switch (kind_) {
    case Kind::kLine: {
      double square = 0;
      for (size_t c = 0; c < from_.size(); ++c) square += std::pow(to_[c] - from_[c], 2);
      return std::sqrt(square);
    }
    case Kind::kCircle:
      return 2 * std::numbers::pi * std::abs(turns_) *
             std::hypot(from_[0] - to_[0], from_[1] - to_[1]);
    case Kind::kCurve:
      return curve_.length();
    default:
      return 0;
  }
}

Result<Path> Path::paced(double speed) const {
  Diagnostics d;
  if (kind_ == Kind::kSpline)
    d.error(1011, {}, "path: points with times have their speed already");
  else if (!(speed > 0) || !std::isfinite(speed))
    d.error(1011, {}, fmt::format("path: the speed must be positive, it is {}", speed));
  else if (!(length() > 0))
    d.error(1011, {}, "path: a path without length has no speed");
  if (!d.ok()) return d;
  std::array<double, 2> s{};
  law_.at(0.5, s);
  Path out = *this;
  out.knots_[1] = out.knots_[0] + s[1] * length() / speed;
  return out;
}

Result<Path> Path::sampled(std::vector<double> times,
                           const std::vector<std::vector<double>>& points, int m) {
  Diagnostics d = check(times, points, m);
  if (!d.ok()) return d;
  if (static_cast<int>(times.size()) < 2 * m + 6) {
    d.error(1011, {},
            fmt::format("path: {} samples; {} are needed to judge {} derivatives", times.size(),
                        2 * m + 6, m));
    return d;
  }
  // Largest change of the m-th divided difference from one sample to the next, with every sample and with every second one.
  const auto judge = [&](size_t component, size_t stride, double& largest, double& jump) {
    std::vector<double> t, z;
    for (size_t i = 0; i < times.size(); i += stride) {
      t.push_back(times[i]);
      z.push_back(points[i][component]);
    }
    for (int k = 1; k <= m; ++k)
      for (size_t i = 0; i + static_cast<size_t>(k) < t.size(); ++i)
        z[i] = k * (z[i + 1] - z[i]) / (t[i + static_cast<size_t>(k)] - t[i]);
    largest = jump = 0;
    for (size_t i = 0; i + static_cast<size_t>(m) < t.size(); ++i) {
      largest = std::max(largest, std::abs(z[i]));
      if (i > 0) jump = std::max(jump, std::abs(z[i] - z[i - 1]));
    }
  };
  // A continuous derivative: half as large with half the spacing. A jump: as large. Noise: 2^m times as large.
  constexpr double kShrinks = 0.75, kNoise = 1e-3;
  for (size_t c = 0; c < points.front().size(); ++c) {
    double largest = 0, fine = 0, coarse = 0, unused = 0;
    judge(c, 1, largest, fine);
    judge(c, 2, unused, coarse);
    if (fine > kShrinks * coarse && fine > kNoise * largest)
      d.error(
          1012, {},
          fmt::format("path: component {}: derivative {} of the samples jumps by {:.3g} of {:.3g} "
                      "and does not settle with the spacing: noise, a kink, or too few samples",
                      c + 1, m, fine, largest));
  }
  if (!d.ok()) return d;
  return way_points(std::move(times), points, m);
}

void Path::at(double t, int orders, std::span<double> out) const noexcept {
  const auto size = static_cast<size_t>(size_);
  std::fill(out.begin(), out.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(orders) * size),
            0.0);
  if (t < begin()) {
    std::copy(from_.begin(), from_.end(), out.begin());
    return;
  }
  if (t >= end()) {
    if (kind_ != Kind::kCircle) {
      std::copy(to_.begin(), to_.end(), out.begin());
      return;
    }
    t = end();
    orders = 1;
  }
  if (kind_ == Kind::kSpline) {
    const size_t piece = spline_.piece_at(t);
    for (size_t c = 0; c < size; ++c)
      for (int k = 0; k < std::min(orders, spline_.terms()); ++k)
        out[static_cast<size_t>(k) * size + c] = spline_.derivative(piece, c, t, k);
    return;
  }
  std::array<double, kMostDerivatives> s;
  const double duration = end() - begin();
  law_.at((t - begin()) / duration, {s.data(), static_cast<size_t>(orders)});
  double unit = 1;
  for (int k = 1; k < orders; ++k) s[static_cast<size_t>(k)] *= (unit /= duration);
  if (kind_ == Kind::kLine) {
    for (size_t c = 0; c < size; ++c) {
      for (int k = 0; k < orders; ++k)
        out[static_cast<size_t>(k) * size + c] = (to_[c] - from_[c]) * s[static_cast<size_t>(k)];
      out[c] += from_[c];
    }
    return;
  }
  // Taylor coefficients of the angle, or of the arc length.
  std::array<double, kMostDerivatives> a, cosine, sine;
  const double all = kind_ == Kind::kCurve ? curve_.length() : 2 * std::numbers::pi * turns_;
  double factorial = 1;
  for (int k = 0; k < orders; ++k) {
    if (k > 0) factorial *= k;
    a[static_cast<size_t>(k)] = all * s[static_cast<size_t>(k)] / factorial;
  }
  if (kind_ == Kind::kCurve) {
    curve_.at({a.data(), static_cast<size_t>(orders)}, out);
    return;
  }
  // Of cos and sin: n c_n = -Σ j a_j s_(n-j), n s_n = Σ j a_j c_(n-j).
  cosine[0] = std::cos(a[0]);
  sine[0] = std::sin(a[0]);
  for (size_t n = 1; n < static_cast<size_t>(orders); ++n) {
    double c = 0, d = 0;
    for (size_t j = 1; j <= n; ++j) {
      c -= static_cast<double>(j) * a[j] * sine[n - j];
      d += static_cast<double>(j) * a[j] * cosine[n - j];
    }
    cosine[n] = c / static_cast<double>(n);
    sine[n] = d / static_cast<double>(n);
  }
  const double x = from_[0] - to_[0], y = from_[1] - to_[1];
  factorial = 1;
  for (size_t k = 0; k < static_cast<size_t>(orders); ++k) {
    if (k > 0) factorial *= static_cast<double>(k);
    out[k * size] = (x * cosine[k] - y * sine[k]) * factorial;
    out[k * size + 1] = (y * cosine[k] + x * sine[k]) * factorial;
  }
  out[0] += to_[0];
  out[1] += to_[1];
  for (size_t c = 2; c < size; ++c) out[c] = from_[c];
}

}  // namespace panto
