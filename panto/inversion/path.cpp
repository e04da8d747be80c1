#include "panto/inversion/path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "panto/base/contract.hpp"
#include "panto/numerics/sparse_lu.hpp"

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
  Diagnostics d;
  if (times.size() < 2 || times.size() != points.size()) {
    d.error(1011, {},
            fmt::format("path: {} times for {} points; two or more are needed", times.size(),
                        points.size()));
    return d;
  }
  d.append(check(points.front().size(), times.back() - times.front(), m));
  for (size_t i = 0; i < times.size(); ++i) {
    if (i > 0 && !(times[i] > times[i - 1]))
      d.error(1011, {},
              fmt::format("path: times must increase, {} s follows {} s", times[i], times[i - 1]));
    if (points[i].size() != points.front().size())
      d.error(1011, {},
              fmt::format("path: point {} has {} components, the first has {}", i + 1,
                          points[i].size(), points.front().size()));
    if (!std::all_of(points[i].begin(), points[i].end(), [](double x) { return std::isfinite(x); }))
      d.error(1011, {}, fmt::format("path: point {} is not finite", i + 1));
  }
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

// Pieces of degree 2m + 1 in the unit of each piece's length. Through both ends of every piece, derivatives 1 … 2m continuous between pieces,
// derivatives 1 … m zero at the two ends: as many equations as coefficients, in a band.
Result<Path> Path::way_points(std::vector<double> times,
                              const std::vector<std::vector<double>>& points, int m) {
  Diagnostics d = check(times, points, m);
  if (!d.ok()) return d;
  const auto size = points.front().size(), pieces = times.size() - 1;
  const int order = 2 * m + 2;
  const int n = static_cast<int>(pieces) * order;
  RowMatrix a;
  a.columns = n;
  std::vector<double> right(static_cast<size_t>(n) * size, 0.0);
  const auto length = [&](size_t piece) { return times[piece + 1] - times[piece]; };
  // h_unit^k times derivative k of a piece, at its begin or its end.
  const auto add = [&](size_t piece, int k, bool at_end, double unit, double factor) {
    const double scale = factor * std::pow(unit / length(piece), k);
    for (int p = k; p < (at_end ? order : k + 1); ++p) {
      a.column.push_back(static_cast<int>(piece) * order + p);
      a.value.push_back(scale * falling(p, k));
    }
  };
  const auto close = [&] { a.start.push_back(static_cast<int>(a.column.size())); };
  const auto through = [&](size_t piece, bool at_end) {
    for (size_t c = 0; c < size; ++c)
      right[c * static_cast<size_t>(n) + a.start.size() - 1] = points[piece + (at_end ? 1 : 0)][c];
    add(piece, 0, at_end, 1, 1);
    close();
  };
  for (int k = 1; k <= m; ++k) add(0, k, false, length(0), 1), close();
  for (size_t i = 0; i < pieces; ++i) {
    through(i, false);
    through(i, true);
    if (i + 1 == pieces) break;
    const double unit = std::min(length(i), length(i + 1));
    for (int k = 1; k <= 2 * m; ++k) {
      add(i, k, true, unit, 1);
      add(i + 1, k, false, unit, -1);
      close();
    }
  }
  for (int k = 1; k <= m; ++k) add(pieces - 1, k, true, length(pieces - 1), 1), close();

  SparseLU lu(a);
  const bool regular = lu.factor(a.value);
  if (regular) lu.solve(right.data(), static_cast<int>(size));
  if (!regular ||
      !std::all_of(right.begin(), right.end(), [](double x) { return std::isfinite(x); })) {
    d.error(1011, {}, fmt::format("path: no spline with {} derivatives through the points", m));
    return d;
  }
  Path p(Kind::kSpline, m, std::move(times), points.front(), points.back());
  p.pieces_.resize(right.size());
  for (size_t i = 0; i < pieces; ++i)
    for (size_t c = 0; c < size; ++c) {
      double scale = 1;
      for (int k = 0; k < order; ++k) {
        p.pieces_[(i * size + c) * static_cast<size_t>(order) + static_cast<size_t>(k)] =
            right[c * static_cast<size_t>(n) + i * static_cast<size_t>(order) +
                  static_cast<size_t>(k)] *
            scale;
        scale /= p.knots_[i + 1] - p.knots_[i];
      }
    }
  return p;
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
    const auto after = std::upper_bound(knots_.begin() + 1, knots_.end() - 1, t);
    const auto piece = static_cast<size_t>(after - knots_.begin()) - 1;
    const double x = t - knots_[piece];
    const int terms = 2 * law_.smoothness() + 2;
    for (size_t c = 0; c < size; ++c) {
      const double* a = pieces_.data() + (piece * size + c) * static_cast<size_t>(terms);
      for (int k = 0; k < orders && k < terms; ++k) {
        double sum = 0;
        for (int p = terms - 1; p >= k; --p) sum = sum * x + a[p] * falling(p, k);
        out[static_cast<size_t>(k) * size + c] = sum;
      }
    }
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
  // Taylor coefficients of cos and sin of the angle: n c_n = -Σ j a_j s_(n-j), n s_n = Σ j a_j c_(n-j).
  std::array<double, kMostDerivatives> a, cosine, sine;
  double factorial = 1;
  for (int k = 0; k < orders; ++k) {
    if (k > 0) factorial *= k;
    a[static_cast<size_t>(k)] =
        2 * std::numbers::pi * turns_ * s[static_cast<size_t>(k)] / factorial;
  }
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
