// Piecewise polynomials through points.
#pragma once

#include <span>
#include <vector>

#include "panto/base/diagnostics.hpp"

namespace panto {

class Spline {
 public:
  Spline() = default;
  // Degree 2m + 1, derivatives 1 … 2m continuous, 1 … m zero at both ends: smallest ∫ (z^(m+1))² of all curves at rest there (SRV-22).
  static Result<Spline> at_rest(std::vector<double> knots,
                                const std::vector<std::vector<double>>& points, int m);
  // Odd degree of at least m + 1, m continuous derivatives or more; the first and the last pieces are one polynomial each, as many as the degree lets
  // no condition at the ends be needed. Through few points a single polynomial.
  static Result<Spline> open(std::vector<double> knots,
                             const std::vector<std::vector<double>>& points, int m);

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int terms() const { return terms_; }
  [[nodiscard]] const std::vector<double>& knots() const { return knots_; }
  [[nodiscard]] size_t piece_at(double x) const noexcept;
  // Coefficients of (x - knot)^k in a piece.
  [[nodiscard]] const double* coefficients(size_t piece, size_t component) const noexcept {
    return pieces_.data() +
           (piece * static_cast<size_t>(size_) + component) * static_cast<size_t>(terms_);
  }
  // Derivative k of a component in a piece.
  [[nodiscard]] double derivative(size_t piece, size_t component, double x, int k) const noexcept;

 private:
  // Derivatives 1 … continuous are so at all inner knots, one more at the first and the last `joined` of them; 1 … still are zero at both ends.
  static Result<Spline> solve(std::vector<double> knots,
                              const std::vector<std::vector<double>>& points, int degree,
                              int continuous, int joined, int still);
  int size_ = 0, terms_ = 0;
  std::vector<double> knots_, pieces_;
};

// Two or more points for as many increasing knots, of one size and finite: E1011.
Diagnostics check_points(const std::vector<double>& knots,
                         const std::vector<std::vector<double>>& points);

}  // namespace panto
