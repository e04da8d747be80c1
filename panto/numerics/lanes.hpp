// Products and factors of matrices whose columns are padded with zeros to whole groups of four numbers: the processor's vectors without preparation.
#pragma once

#include <cstring>
#include <utility>

namespace panto::lanes {

inline constexpr int kWidth = 4;
[[nodiscard]] constexpr int padded(int n) { return (n + kWidth - 1) / kWidth * kWidth; }

using Four [[gnu::vector_size(kWidth * sizeof(double))]] = double;

// Sums of the entries of each.
[[nodiscard]] inline Four sums(const Four (&e)[kWidth]) noexcept {
  const Four a = __builtin_shufflevector(e[0], e[1], 0, 4, 2, 6) +
                 __builtin_shufflevector(e[0], e[1], 1, 5, 3, 7),
             b = __builtin_shufflevector(e[2], e[3], 0, 4, 2, 6) +
                 __builtin_shufflevector(e[2], e[3], 1, 5, 3, 7);
  return __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
}

// f with 0 .. N - 1 as constants.
template <int N, class F>
[[gnu::always_inline]] inline void each(const F& f) noexcept {
  [&f]<int... I>(std::integer_sequence<int, I...>) { (f.template operator()<I>(), ...); }
  (std::make_integer_sequence<int, N>{});
}
template <int I>
[[nodiscard]] inline Four spread(const Four& e) noexcept {
  return __builtin_shufflevector(e, e, I, I, I, I);
}

namespace detail {

// y += m x, B groups of rows, n columns of m `stride` apart, entries of x `apart`.
template <int B>
inline void add_product(const double* m, int stride, int n, const double* x, double* y,
                        int apart) noexcept {
  Four sum[B];
  for (int b = 0; b < B; ++b) std::memcpy(&sum[b], y + kWidth * b, sizeof(Four));
  for (int j = 0; j < n; ++j, m += stride, x += apart) {
    const double e = *x;
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

// y = s x + t z + u v
inline void combine(double s, const double* x, double t, const double* z, double u, const double* v,
                    double* y, int rows) noexcept {
  const Four f = {s, s, s, s}, g = {t, t, t, t}, h = {u, u, u, u};
  for (int i = 0; i < rows; i += kWidth) {
    Four a, b, c;
    std::memcpy(&a, x + i, sizeof(Four));
    std::memcpy(&b, z + i, sizeof(Four));
    std::memcpy(&c, v + i, sizeof(Four));
    c = f * a + g * b + h * c;
    std::memcpy(y + i, &c, sizeof(Four));
  }
}

// y += s x + t z
inline void add_two(double s, const double* x, double t, const double* z, double* y,
                    int rows) noexcept {
  const Four f = {s, s, s, s}, g = {t, t, t, t};
  for (int i = 0; i < rows; i += kWidth) {
    Four a, b, c;
    std::memcpy(&a, x + i, sizeof(Four));
    std::memcpy(&b, z + i, sizeof(Four));
    std::memcpy(&c, y + i, sizeof(Four));
    c += f * a;
    c += g * b;
    std::memcpy(y + i, &c, sizeof(Four));
  }
}

// (x, y) <- (c x + s y, c y - s x)
inline void turn(double c, double s, double* x, double* y, int rows) noexcept {
  const Four f = {c, c, c, c}, g = {s, s, s, s};
  for (int i = 0; i < rows; i += kWidth) {
    Four a, b;
    std::memcpy(&a, x + i, sizeof(Four));
    std::memcpy(&b, y + i, sizeof(Four));
    const Four first = f * a + g * b, second = f * b - g * a;
    std::memcpy(x + i, &first, sizeof(Four));
    std::memcpy(y + i, &second, sizeof(Four));
  }
}

// y = (or, with kAdd, y +=) Σ f_k x_k of four vectors
template <bool kAdd>
inline void combine_four(const double* x0, double f0, const double* x1, double f1, const double* x2,
                         double f2, const double* x3, double f3, double* y, int rows) noexcept {
  const Four g0 = {f0, f0, f0, f0}, g1 = {f1, f1, f1, f1}, g2 = {f2, f2, f2, f2},
             g3 = {f3, f3, f3, f3};
  for (int i = 0; i < rows; i += kWidth) {
    Four sum = {0, 0, 0, 0}, e;
    if (kAdd) std::memcpy(&sum, y + i, sizeof(Four));
    std::memcpy(&e, x0 + i, sizeof(Four));
    sum += g0 * e;
    std::memcpy(&e, x1 + i, sizeof(Four));
    sum += g1 * e;
    std::memcpy(&e, x2 + i, sizeof(Four));
    sum += g2 * e;
    std::memcpy(&e, x3 + i, sizeof(Four));
    sum += g3 * e;
    std::memcpy(y + i, &sum, sizeof(Four));
  }
}

inline void scale(double s, double* x, int rows) noexcept {
  const Four f = {s, s, s, s};
  for (int i = 0; i < rows; i += kWidth) {
    Four a;
    std::memcpy(&a, x + i, sizeof(Four));
    a *= f;
    std::memcpy(x + i, &a, sizeof(Four));
  }
}

inline void copy(const double* x, double* y, int rows) noexcept {
  for (int i = 0; i < rows; i += kWidth) {
    Four a;
    std::memcpy(&a, x + i, sizeof(Four));
    std::memcpy(y + i, &a, sizeof(Four));
  }
}

// y = a0 + a1 c + a2 s + a3 (c² − s²) + a4 2 c s
inline void harmonics(const double* a0, const double* a1, const double* a2, const double* a3,
                      const double* a4, double c, double s, int rows, double* y) noexcept {
  const double c2 = c * c - s * s, s2 = 2 * c * s;
  const Four k1 = {c, c, c, c}, k2 = {s, s, s, s}, k3 = {c2, c2, c2, c2}, k4 = {s2, s2, s2, s2};
  for (int i = 0; i < rows; i += kWidth) {
    Four sum, e;
    std::memcpy(&sum, a0 + i, sizeof(Four));
    std::memcpy(&e, a1 + i, sizeof(Four));
    sum += k1 * e;
    std::memcpy(&e, a2 + i, sizeof(Four));
    sum += k2 * e;
    std::memcpy(&e, a3 + i, sizeof(Four));
    sum += k3 * e;
    std::memcpy(&e, a4 + i, sizeof(Four));
    sum += k4 * e;
    std::memcpy(y + i, &sum, sizeof(Four));
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

// Of any number.
[[nodiscard]] inline bool finite(const double* x, int rows) noexcept {
  Four sum = {0, 0, 0, 0};
  int i = 0;
  for (; i + kWidth <= rows; i += kWidth) {
    Four a;
    std::memcpy(&a, x + i, sizeof(Four));
    sum += 0 * a;
  }
  double rest = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  for (; i < rows; ++i) rest += 0 * x[i];
  return rest == 0;
}

inline void clear(double* x, int rows) noexcept {
  const Four zero = {0, 0, 0, 0};
  for (int i = 0; i < rows; i += kWidth) std::memcpy(x + i, &zero, sizeof(Four));
}

// Rows to columns.
inline void transpose(Four (&e)[kWidth]) noexcept {
  const Four a = __builtin_shufflevector(e[0], e[1], 0, 4, 2, 6),
             b = __builtin_shufflevector(e[0], e[1], 1, 5, 3, 7),
             c = __builtin_shufflevector(e[2], e[3], 0, 4, 2, 6),
             d = __builtin_shufflevector(e[2], e[3], 1, 5, 3, 7);
  e[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  e[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  e[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  e[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

namespace detail {

[[nodiscard]] inline double sum_of(const Four& e) { return (e[0] + e[1]) + (e[2] + e[3]); }

// C columns from 4 I of a factor whose columns have G groups, after `first` others; fill(column) gives them, from the group of the diagonal down.
template <int G, int I, int C, class Fill>
[[nodiscard]] inline bool factor_panel(double* a, int first, double tolerance, double* pivots,
                                       double* inverse, const Fill& fill) noexcept {
  constexpr int kStride = G * kWidth, kFrom = I * kWidth, kGroups = G - I;
  Four column[C][kGroups];
  fill(column);
  double diagonal[C];
  each<C>([&]<int J>() { diagonal[J] = column[J][0][J]; });
  const int earlier = first + kFrom;
  double* l = a + kFrom;
  for (int k = 0; k < earlier; ++k, l += kStride) {
    Four left[kGroups];
    each<kGroups>([&]<int B>() { std::memcpy(&left[B], l + kWidth * B, sizeof(Four)); });
    const Four scaled = left[0] * pivots[k];
    each<C>([&]<int J>() {
      const Four f = spread<J>(scaled);
      each<kGroups>([&]<int B>() { column[J][B] -= f * left[B]; });
    });
  }
  bool definite = true;
  each<C>([&]<int J>() {
    const double pivot = column[J][0][J], e = 1 / pivot;
    definite &= pivot > tolerance * diagonal[J];
    pivots[earlier + J] = pivot;
    inverse[earlier + J] = e;
    constexpr Four kBelow = {0, J < 1 ? 1.0 : 0.0, J < 2 ? 1.0 : 0.0, J < 3 ? 1.0 : 0.0};
    Four left[kGroups];
    each<kGroups>([&]<int B>() { left[B] = column[J][B] * e; });
    left[0] *= kBelow;
    each<kGroups>([&]<int B>() { std::memcpy(l + kWidth * B, &left[B], sizeof(Four)); });
    each<C - 1 - J>([&]<int K>() {
      constexpr int kLater = J + 1 + K;
      const Four f = spread<kLater>(column[J][0]);
      each<kGroups>([&]<int B>() { column[kLater][B] -= f * left[B]; });
    });
    l += kStride;
  });
  return definite;
}
template <int G, int I, class Fill>
[[nodiscard]] inline bool factor_panels(double* a, int first, int n, double tolerance,
                                        double* pivots, double* inverse,
                                        const Fill& fill) noexcept {
  const auto panel = [&]<int C>() {
    return factor_panel<G, I, C>(a, first, tolerance, pivots, inverse, fill);
  };
  if constexpr (I + 1 < G) {
    return panel.template operator()<kWidth>() &&
           factor_panels<G, I + 1>(a, first, n, tolerance, pivots, inverse, fill);
  } else {
    switch (n - I * kWidth) {
      case 1:
        return panel.template operator()<1>();
      case 2:
        return panel.template operator()<2>();
      case 3:
        return panel.template operator()<3>();
      default:
        return panel.template operator()<kWidth>();
    }
  }
}
template <int G, int I>
inline void solve_down(const double* a, int n, double* x) noexcept {
  constexpr int kStride = G * kWidth, kFrom = I * kWidth, kGroups = G - I;
  const int end = n < kFrom + kWidth ? n : kFrom + kWidth;
  for (int j = kFrom; j < end; ++j) {
    const Four s = {x[j], x[j], x[j], x[j]};
    for (int b = 0; b < kGroups; ++b) {
      Four e, to;
      std::memcpy(&e, a + j * kStride + kFrom + kWidth * b, sizeof(Four));
      std::memcpy(&to, x + kFrom + kWidth * b, sizeof(Four));
      to -= e * s;
      std::memcpy(x + kFrom + kWidth * b, &to, sizeof(Four));
    }
  }
  if constexpr (I + 1 < G) solve_down<G, I + 1>(a, n, x);
}
template <int G, int I>
inline void solve_up(const double* a, int n, const double* inverse, double* x) noexcept {
  if constexpr (I + 1 < G) solve_up<G, I + 1>(a, n, inverse, x);
  constexpr int kStride = G * kWidth, kFrom = I * kWidth, kGroups = G - I;
  const int end = n < kFrom + kWidth ? n : kFrom + kWidth;
  for (int j = end - 1; j >= kFrom; --j) {
    Four sum = {0, 0, 0, 0};
    for (int b = 0; b < kGroups; ++b) {
      Four e, from;
      std::memcpy(&e, a + j * kStride + kFrom + kWidth * b, sizeof(Four));
      std::memcpy(&from, x + kFrom + kWidth * b, sizeof(Four));
      sum += e * from;
    }
    x[j] = x[j] * inverse[j] - sum_of(sum);
  }
}

}  // namespace detail

// y = m x: `rows` rows of m, `stride` apart, whole groups of them there and in y; `columns` (padded) of them.
inline void rows_times(const double* m, int stride, int rows, const double* x, int columns,
                       double* y) noexcept {
  for (int i = 0; i < rows; i += kWidth, m += kWidth * stride) {
    Four sum[kWidth] = {};
    for (int j = 0; j < columns; j += kWidth) {
      Four e;
      std::memcpy(&e, x + j, sizeof(Four));
      each<kWidth>([&]<int K>() {
        Four row;
        std::memcpy(&row, m + K * stride + j, sizeof(Four));
        sum[K] += row * e;
      });
    }
    const Four all = sums(sum);
    std::memcpy(y + i, &all, sizeof(Four));
  }
}

// L D Lᵀ of the lower triangle of n columns, `stride` (padded) apart: L strictly below the diagonal, zeros in the rest of the diagonal's group; pivots: D,
// its inverse, and room (3 n).
// False: a pivot falls below `tolerance` times its diagonal entry.
[[nodiscard]] inline bool factor(double* a, int n, int stride, double tolerance,
                                 double* pivots) noexcept {
  const auto fixed = [&]<int G>() {
    const auto given = [a]<int C, int K>(Four(&column)[C][K]) {
      constexpr int kFrom = (G - K) * kWidth;
      for (int j = 0; j < C; ++j)
        std::memcpy(column[j], a + (kFrom + j) * G * kWidth + kFrom, sizeof(column[j]));
    };
    return detail::factor_panels<G, 0>(a, 0, n, tolerance, pivots, pivots + n, given);
  };
  switch (stride / kWidth) {
    case 1:
      return fixed.template operator()<1>();
    case 2:
      return fixed.template operator()<2>();
    case 3:
      return fixed.template operator()<3>();
    case 4:
      return fixed.template operator()<4>();
    default:
      break;
  }
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
  const auto fixed = [&]<int G>() {
    detail::solve_down<G, 0>(a, n, x);
    detail::solve_up<G, 0>(a, n, pivots + n, x);
  };
  switch (stride / kWidth) {
    case 1:
      return fixed.template operator()<1>();
    case 2:
      return fixed.template operator()<2>();
    case 3:
      return fixed.template operator()<3>();
    case 4:
      return fixed.template operator()<4>();
    default:
      break;
  }
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
