#include "panto/inversion/spline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/numerics/sparse_lu.hpp"

namespace panto {
namespace {

double falling(int n, int k) noexcept {  // n (n - 1) … (n - k + 1)
  double f = 1;
  for (int i = 0; i < k; ++i) f *= n - i;
  return f;
}

}  // namespace

Diagnostics check_points(const std::vector<double>& knots,
                         const std::vector<std::vector<double>>& points) {
  Diagnostics d;
  if (knots.size() < 2 || knots.size() != points.size()) {
    d.error(1011, {},
            fmt::format("path: {} times for {} points; two or more are needed", knots.size(),
                        points.size()));
    return d;
  }
  for (size_t i = 0; i < knots.size(); ++i) {
    if (i > 0 && !(knots[i] > knots[i - 1]))
      d.error(1011, {},
              fmt::format("path: times must increase, {} s follows {} s", knots[i], knots[i - 1]));
    if (points[i].size() != points.front().size())
      d.error(1011, {},
              fmt::format("path: point {} has {} components, the first has {}", i + 1,
                          points[i].size(), points.front().size()));
    if (!std::all_of(points[i].begin(), points[i].end(), [](double x) { return std::isfinite(x); }))
      d.error(1011, {}, fmt::format("path: point {} is not finite", i + 1));
  }
  return d;
}

Result<Spline> Spline::at_rest(std::vector<double> knots,
                               const std::vector<std::vector<double>>& points, int m) {
  return solve(std::move(knots), points, 2 * m + 1, 2 * m, 0, m);
}

Result<Spline> Spline::open(std::vector<double> knots,
                            const std::vector<std::vector<double>>& points, int m) {
  const int pieces = static_cast<int>(points.size()) - 1, half = std::max(1, (m + 1) / 2);
  const int degree = std::min(2 * half + 1, pieces);
  const int joined = degree == pieces ? pieces : half;
  return solve(std::move(knots), points, degree, degree - 1, joined, 0);
}

// Pieces in the unit of each piece's length: as many equations as coefficients, in a band.
Result<Spline> Spline::solve(std::vector<double> knots,
                             const std::vector<std::vector<double>>& points, int degree,
                             int continuous, int joined, int still) {
  Diagnostics d = check_points(knots, points);
  if (!d.ok()) return d;
  const auto size = points.front().size(), pieces = knots.size() - 1;
  const int order = degree + 1;
  const int n = static_cast<int>(pieces) * order;
  RowMatrix a;
  a.columns = n;
  std::vector<double> right(static_cast<size_t>(n) * size, 0.0);
  const auto length = [&](size_t piece) { return knots[piece + 1] - knots[piece]; };
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
  for (int k = 1; k <= still; ++k) add(0, k, false, length(0), 1), close();
  for (size_t i = 0; i < pieces; ++i) {
    through(i, false);
    through(i, true);
    if (i + 1 == pieces) break;
    const double unit = std::min(length(i), length(i + 1));
    const bool one =
        i < static_cast<size_t>(joined) || i + 1 + static_cast<size_t>(joined) >= pieces;
    for (int k = 1; k <= continuous + (one ? 1 : 0); ++k) {
      add(i, k, true, unit, 1);
      add(i + 1, k, false, unit, -1);
      close();
    }
  }
  for (int k = 1; k <= still; ++k) add(pieces - 1, k, true, length(pieces - 1), 1), close();

  SparseLU lu(a);
  const bool regular = lu.factor(a.value);
  if (regular) lu.solve(right.data(), static_cast<int>(size));
  if (!regular ||
      !std::all_of(right.begin(), right.end(), [](double x) { return std::isfinite(x); })) {
    d.error(1011, {}, fmt::format("path: no spline of degree {} through the points", degree));
    return d;
  }
  Spline s;
  s.size_ = static_cast<int>(size);
  s.terms_ = order;
  s.knots_ = std::move(knots);
  s.pieces_.resize(right.size());
  for (size_t i = 0; i < pieces; ++i)
    for (size_t c = 0; c < size; ++c) {
      double scale = 1;
      for (int k = 0; k < order; ++k) {
        s.pieces_[(i * size + c) * static_cast<size_t>(order) + static_cast<size_t>(k)] =
            right[c * static_cast<size_t>(n) + i * static_cast<size_t>(order) +
                  static_cast<size_t>(k)] *
            scale;
        scale /= s.knots_[i + 1] - s.knots_[i];
      }
    }
  return s;
}

size_t Spline::piece_at(double x) const noexcept {
  const auto after = std::upper_bound(knots_.begin() + 1, knots_.end() - 1, x);
  return static_cast<size_t>(after - knots_.begin()) - 1;
}

double Spline::derivative(size_t piece, size_t component, double x, int k) const noexcept {
  const double* a = coefficients(piece, component);
  double sum = 0;
  for (int p = terms_ - 1; p >= k; --p) sum = sum * (x - knots_[piece]) + a[p] * falling(p, k);
  return sum;
}

}  // namespace panto
