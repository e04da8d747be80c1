// Products and factors of matrices whose columns are padded with zeros to whole groups of four numbers: the processor's vectors without preparation.
#pragma once

#include <cstring>

namespace panto::lanes {

inline constexpr int kWidth = 4;
[[nodiscard]] constexpr int padded(int n) { return (n + kWidth - 1) / kWidth * kWidth; }

using Four [[gnu::vector_size(kWidth * sizeof(double))]] = double;

namespace detail {

// y += m x, B groups of rows, n columns of m `stride` apart.
template <int B>
inline void add_product(const double* m, int stride, int n, const double* x, double* y) noexcept {
  Four sum[B];
  for (int b = 0; b < B; ++b) std::memcpy(&sum[b], y + kWidth * b, sizeof(Four));
  for (int j = 0; j < n; ++j, m += stride) {
    const double e = x[j];
    const Four s = {e, e, e, e};
    for (int b = 0; b < B; ++b) {
      Four c;
      std::memcpy(&c, m + kWidth * b, sizeof(Four));
      sum[b] += c * s;
    }
  }
  for (int b = 0; b < B; ++b) std::memcpy(y + kWidth * b, &sum[b], sizeof(Four));
}

}  // namespace detail

// y += m x: `rows` (padded) of y, n columns of m `stride` apart.
inline void add_product(const double* m, int rows, int stride, int n, const double* x,
                        double* y) noexcept {
  for (; rows > 3 * kWidth; rows -= 3 * kWidth, m += 3 * kWidth, y += 3 * kWidth)
    detail::add_product<3>(m, stride, n, x, y);
  if (rows == kWidth)
    detail::add_product<1>(m, stride, n, x, y);
  else if (rows == 2 * kWidth)
    detail::add_product<2>(m, stride, n, x, y);
  else if (rows > 0)
    detail::add_product<3>(m, stride, n, x, y);
}

// y += s x
inline void add(double s, const double* x, double* y, int rows) noexcept {
  const Four factor = {s, s, s, s};
  for (int i = 0; i < rows; i += kWidth) {
    Four a, b;
    std::memcpy(&a, x + i, sizeof(Four));
    std::memcpy(&b, y + i, sizeof(Four));
    b += factor * a;
    std::memcpy(y + i, &b, sizeof(Four));
  }
}

// y = s x + t z
inline void combine(double s, const double* x, double t, const double* z, double* y,
                    int rows) noexcept {
  const Four f = {s, s, s, s}, g = {t, t, t, t};
  for (int i = 0; i < rows; i += kWidth) {
    Four a, b;
    std::memcpy(&a, x + i, sizeof(Four));
    std::memcpy(&b, z + i, sizeof(Four));
    b = f * a + g * b;
    std::memcpy(y + i, &b, sizeof(Four));
  }
}

[[nodiscard]] inline double dot(const double* x, const double* y, int rows) noexcept {
  Four sum = {0, 0, 0, 0};
  for (int i = 0; i < rows; i += kWidth) {
    Four a, b;
    std::memcpy(&a, x + i, sizeof(Four));
    std::memcpy(&b, y + i, sizeof(Four));
    sum += a * b;
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

inline void clear(double* x, int rows) noexcept {
  const Four zero = {0, 0, 0, 0};
  for (int i = 0; i < rows; i += kWidth) std::memcpy(x + i, &zero, sizeof(Four));
}

// L D Lᵀ of the lower triangle of n columns, `stride` (padded) apart: L strictly below the diagonal, zeros elsewhere; pivots: D, then its inverse (2 n).
// False: a pivot falls below `tolerance` times its diagonal entry.
[[nodiscard]] inline bool factor(double* a, int n, int stride, double tolerance,
                                 double* pivots) noexcept {
  for (int j = 0; j < n; ++j) {
    double* column = a + j * stride;
    const int from = j / kWidth * kWidth;
    const double diagonal = column[j];
    for (int k = 0; k < j; ++k) {
      const double* other = a + k * stride;
      add(-other[j] * pivots[k], other + from, column + from, stride - from);
    }
    const double pivot = column[j];
    if (!(pivot > tolerance * diagonal)) return false;
    pivots[j] = pivot;
    pivots[n + j] = 1 / pivot;
    for (int i = from; i <= j; ++i) column[i] = 0;
    clear(column, from);
    combine(pivots[n + j], column + from, 0, column + from, column + from, stride - from);
  }
  return true;
}
// x (padded) <- (L D Lᵀ)⁻¹ x
inline void solve(const double* a, int n, int stride, const double* pivots, double* x) noexcept {
  for (int j = 0; j < n; ++j) {
    const int from = j / kWidth * kWidth;
    add(-x[j], a + j * stride + from, x + from, stride - from);
  }
  for (int j = n - 1; j >= 0; --j) {
    const int from = j / kWidth * kWidth;
    x[j] = x[j] * pivots[n + j] - dot(a + j * stride + from, x + from, stride - from);
  }
}

}  // namespace panto::lanes
