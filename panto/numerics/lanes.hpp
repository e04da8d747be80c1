// Products and factors of matrices whose columns are padded with zeros to whole groups of four numbers: the processor's vectors without preparation.
#pragma once

#include <utility>

namespace panto::lanes {

inline constexpr int kWidth = 4;
[[nodiscard]] constexpr int padded(int n) { return (n + kWidth - 1) / kWidth * kWidth; }

using Four [[gnu::vector_size(kWidth * sizeof(double))]] = double;

namespace detail {

// The same at any address of doubles.
using Loose
    [[gnu::vector_size(kWidth * sizeof(double)), gnu::aligned(sizeof(double)), gnu::may_alias]] =
        double;
inline const Loose& at(const double* p) noexcept { return *reinterpret_cast<const Loose*>(p); }
inline Loose& at(double* p) noexcept { return *reinterpret_cast<Loose*>(p); }

// y += m x, a group of rows per B, n columns of m `stride` apart, entries of x `apart`.
template <int... B>
inline void add_product(std::integer_sequence<int, B...> /*groups*/, const double* m, int stride,
                        int n, const double* x, double* y, int apart) noexcept {
  Four sum[] = {at(y + kWidth * B)...};
  for (int j = 0; j < n; ++j, m += stride, x += apart) {
    const double e = *x;
    const Four s = {e, e, e, e};
    ((sum[B] += at(m + kWidth * B) * s), ...);
  }
  ((at(y + kWidth * B) = sum[B]), ...);
}
template <int Groups>
inline void add_product(const double* m, int stride, int n, const double* x, double* y,
                        int apart) noexcept {
  add_product(std::make_integer_sequence<int, Groups>(), m, stride, n, x, y, apart);
}

}  // namespace detail

// y += m x: `rows` (padded) of y, n columns of m `stride` apart, entries of x `apart`.
inline void add_product(const double* m, int rows, int stride, int n, const double* x, double* y,
                        int apart = 1) noexcept {
  for (; rows > 4 * kWidth; rows -= 4 * kWidth, m += 4 * kWidth, y += 4 * kWidth)
    detail::add_product<4>(m, stride, n, x, y, apart);
  switch (rows / kWidth) {
    case 1:
      detail::add_product<1>(m, stride, n, x, y, apart);
      break;
    case 2:
      detail::add_product<2>(m, stride, n, x, y, apart);
      break;
    case 3:
      detail::add_product<3>(m, stride, n, x, y, apart);
      break;
    case 4:
      detail::add_product<4>(m, stride, n, x, y, apart);
      break;
    default:
      break;
  }
}

// y += s x
inline void add(double s, const double* x, double* y, int rows) noexcept {
  const Four factor = {s, s, s, s};
  for (int i = 0; i < rows; i += kWidth) {
    detail::at(y + i) += factor * detail::at(x + i);
  }
}

// y = s x + t z
inline void combine(double s, const double* x, double t, const double* z, double* y,
                    int rows) noexcept {
  const Four f = {s, s, s, s}, g = {t, t, t, t};
  for (int i = 0; i < rows; i += kWidth) {
    detail::at(y + i) = f * detail::at(x + i) + g * detail::at(z + i);
  }
}

// y = s x + t z + u v
inline void combine(double s, const double* x, double t, const double* z, double u, const double* v,
                    double* y, int rows) noexcept {
  const Four f = {s, s, s, s}, g = {t, t, t, t}, h = {u, u, u, u};
  for (int i = 0; i < rows; i += kWidth) {
    detail::at(y + i) = f * detail::at(x + i) + g * detail::at(z + i) + h * detail::at(v + i);
  }
}

inline void scale(double s, double* x, int rows) noexcept {
  const Four f = {s, s, s, s};
  for (int i = 0; i < rows; i += kWidth) {
    detail::at(x + i) *= f;
  }
}

inline void copy(const double* x, double* y, int rows) noexcept {
  for (int i = 0; i < rows; i += kWidth) {
    detail::at(y + i) = detail::at(x + i);
  }
}

// y = a0 + a1 c + a2 s + a3 (c² − s²) + a4 2 c s
inline void harmonics(const double* a0, const double* a1, const double* a2, const double* a3,
                      const double* a4, double c, double s, int rows, double* y) noexcept {
  const double c2 = c * c - s * s, s2 = 2 * c * s;
  const Four k1 = {c, c, c, c}, k2 = {s, s, s, s}, k3 = {c2, c2, c2, c2}, k4 = {s2, s2, s2, s2};
  for (int i = 0; i < rows; i += kWidth) {
    detail::at(y + i) = detail::at(a0 + i) + k1 * detail::at(a1 + i) + k2 * detail::at(a2 + i) +
                        k3 * detail::at(a3 + i) + k4 * detail::at(a4 + i);
  }
}

[[nodiscard]] inline double dot(const double* x, const double* y, int rows) noexcept {
  Four sum = {0, 0, 0, 0};
  for (int i = 0; i < rows; i += kWidth) {
    sum += detail::at(x + i) * detail::at(y + i);
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

inline void clear(double* x, int rows) noexcept {
  const Four zero = {0, 0, 0, 0};
  for (int i = 0; i < rows; i += kWidth) detail::at(x + i) = zero;
}

// L D Lᵀ of the lower triangle of n columns, `stride` (padded) apart: L strictly below the diagonal, zeros elsewhere; pivots: D, its inverse, and room
// (3 n).
// False: a pivot falls below `tolerance` times its diagonal entry.
[[nodiscard]] inline bool factor(double* a, int n, int stride, double tolerance,
                                 double* pivots) noexcept {
  for (int j = 0; j < n; ++j) {
    double* column = a + j * stride;
    const int from = j / kWidth * kWidth;
    const double diagonal = column[j];
    double* factors = pivots + 2 * n;
    for (int k = 0; k < j; ++k) factors[k] = -a[k * stride + j] * pivots[k];
    add_product(a + from, stride - from, stride, j, factors, column + from);
    const double pivot = column[j];
    if (!(pivot > tolerance * diagonal)) return false;
    pivots[j] = pivot;
    pivots[n + j] = 1 / pivot;
    for (int i = from; i <= j; ++i) column[i] = 0;
    clear(column, from);
    scale(pivots[n + j], column + from, stride - from);
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
