// A smooth curve through points, run through by arc length.
#pragma once

#include "panto/inversion/spline.hpp"

namespace panto {

class Curve {
 public:
  Curve() = default;
  // With m continuous derivatives by its arc length. E1011: neighbouring points that coincide, a curve that turns back on itself.
  static Result<Curve> through(const std::vector<std::vector<double>>& points, int m);

  [[nodiscard]] int size() const { return spline_.size(); }
  [[nodiscard]] double length() const { return arc_.back(); }
  // The point at arc length σ and its derivatives by time, where σ goes as Σ arc[k] τ^k: out[k * size() + i], as many as there are coefficients (SRV-25, SRV-26).
  // Does not allocate.
  void at(std::span<const double> arc, std::span<double> out) const noexcept;

 private:
  [[nodiscard]] double speed(size_t piece, double x) const noexcept;
  [[nodiscard]] double length(size_t piece, double from, double to) const noexcept;
  // Intervals so short that length() is exact to round-off.
  [[nodiscard]] bool divide(size_t piece, double from, double to, int depth);
  [[nodiscard]] double parameter_at(double arc) const noexcept;

  Spline spline_;
  std::vector<double> parameter_, arc_;  // ends of the intervals
};

}  // namespace panto
