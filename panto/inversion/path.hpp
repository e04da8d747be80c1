// Desired outputs as functions of time with derivatives of any order: transitions from rest to rest, lines, circles and curves through way-points by arc length,
// splines through way-points at given times, sampled data. Before the first and after the last instant a motion holds still.
#pragma once

#include <span>
#include <vector>

#include "panto/inversion/curve.hpp"

namespace panto {

// Derivatives that can be asked for: 0 … kMostDerivatives - 1.
inline constexpr int kMostDerivatives = 24;
// Largest m of transitions and splines: beyond, the alternating sums of splines lose more than half of the digits.
inline constexpr int kMostSmooth = 12;

// The polynomial S of degree 2m + 1 from 0 at τ = 0 to 1 at τ = 1 whose derivatives 1 … m vanish at both ends (SRV-20): C^m when held outside.
class Transition {
 public:
  explicit Transition(int m);
  // S, S', … at 0 <= τ <= 1, as many as `out` takes.
  void at(double tau, std::span<double> out) const noexcept;
  [[nodiscard]] int smoothness() const { return m_; }

 private:
  int m_;
  std::vector<double> sum_;       // of S = τ^(m+1) Σ_n C(m+n, n) (1-τ)^n: all positive
  std::vector<double> products_;  // of derivative k: row k, of τ^(m-j) (1-τ)^(m-k+1+j)
};

class Path {
 public:
  // From `from` to `to` in [t0, t0 + duration] along a line, C^m.
  static Result<Path> line(std::vector<double> from, std::vector<double> to, double t0,
                           double duration, int m);
  // `turns` times around the circle through `from`: the first two components, arc length from rest to rest, C^m; further components stay (SRV-21).
  static Result<Path> circle(std::vector<double> from, std::vector<double> centre, double t0,
                             double duration, int m, double turns = 1);
  // Through points[i] at times[i]: at rest up to derivative m at both ends, C^2m between, smallest ∫ (z^(m+1))² of all such curves (SRV-22).
  static Result<Path> way_points(std::vector<double> times,
                                 const std::vector<std::vector<double>>& points, int m);
  // Along a smooth curve through points, arc length from rest to rest, C^m: only the points at the ends have a time (SRV-24).
  static Result<Path> along(const std::vector<std::vector<double>>& points, double t0,
                            double duration, int m);
  // The same line, circle or curve, from the same beginning, so fast that `speed` is the largest by arc length (SRV-26).
  [[nodiscard]] Result<Path> paced(double speed) const;
  // Of a line, circle or curve: the Euclidean one in the units of the outputs.
  [[nodiscard]] double length() const;
  // Way-points with times through samples of a motion from rest to rest. E1012 where they are not those of a motion with m continuous derivatives: the jumps of
  // the m-th difference quotient do not shrink with the spacing (SRV-23). At least 2m + 6 samples.
  static Result<Path> sampled(std::vector<double> times,
                              const std::vector<std::vector<double>>& points, int m);

  [[nodiscard]] int size() const { return size_; }
  // Continuous derivatives, for all time.
  [[nodiscard]] int smoothness() const { return law_.smoothness(); }
  [[nodiscard]] double begin() const { return knots_.front(); }
  [[nodiscard]] double end() const { return knots_.back(); }
  // Derivatives 0 … orders - 1 of all components: out[k * size() + i] = z_i^(k)(t), where one jumps the value to the right. Does not allocate.
  void at(double t, int orders, std::span<double> out) const noexcept;

 private:
  enum class Kind { kLine, kCircle, kSpline, kCurve };
  Path(Kind kind, int m, std::vector<double> knots, std::vector<double> from,
       std::vector<double> to);
  Kind kind_;
  int size_;
  Transition law_;
  std::vector<double> knots_;  // but for kSpline: begin and end
  std::vector<double> from_,
      to_;  // kSpline, kCurve: first and last point; kCircle: start and centre
  double turns_ = 1;
  Spline spline_;
  Curve curve_;
};

}  // namespace panto
