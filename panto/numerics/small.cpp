#include "panto/numerics/small.hpp"

#include <cmath>
#include <utility>

namespace panto {

namespace {

// With the number of rows known to the compiler the loops unroll.
template <int N>
using Square = Eigen::Matrix<double, N, N>;

template <class Operation>
bool with_size(Eigen::Index n, const Operation& operation) noexcept {
  switch (n) {
    case 1:
      return operation.template operator()<1>(), true;
    case 2:
      return operation.template operator()<2>(), true;
    case 3:
      return operation.template operator()<3>(), true;
    case 4:
      return operation.template operator()<4>(), true;
    case 6:
      return operation.template operator()<6>(), true;
    default:
      return false;
  }
}

// N: rows, 0: `rows` of them.
template <int N>
bool eliminate_rows(Eigen::Index rows, double* a, double* b, Eigen::Index columns) noexcept {
  const Eigen::Index n = N > 0 ? N : rows;
  for (Eigen::Index j = 0; j < n; ++j) {
    Eigen::Index pivot = j;
    for (Eigen::Index i = j + 1; i < n; ++i)
      if (std::abs(a[j * n + i]) > std::abs(a[j * n + pivot])) pivot = i;
    if (!(std::abs(a[j * n + pivot]) > 0)) return false;
    if (pivot != j) {
      for (Eigen::Index k = j; k < n; ++k) std::swap(a[k * n + j], a[k * n + pivot]);
      for (Eigen::Index k = 0; k < columns; ++k) std::swap(b[k * n + j], b[k * n + pivot]);
    }
    const double inverse = 1 / a[j * n + j];
    // Column by column: entries of a column lie side by side.
    double* const factor = a + j * n;
    for (Eigen::Index i = j + 1; i < n; ++i) factor[i] *= inverse;
    const auto subtract_from = [&](double* column) {
      const double f = column[j];
      for (Eigen::Index i = j + 1; i < n; ++i) column[i] -= factor[i] * f;
    };
    for (Eigen::Index k = j + 1; k < n; ++k)
      if (a[k * n + j] != 0) subtract_from(a + k * n);
    for (Eigen::Index k = 0; k < columns; ++k) subtract_from(b + k * n);
  }
  for (Eigen::Index j = n - 1; j >= 0; --j) {
    const double inverse = 1 / a[j * n + j];
    for (Eigen::Index k = 0; k < columns; ++k) {
      const double x = b[k * n + j] * inverse;
      b[k * n + j] = x;
      for (Eigen::Index i = 0; i < j; ++i) b[k * n + i] -= a[j * n + i] * x;
    }
  }
  return true;
}

}  // namespace

void multiply(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, Eigen::MatrixXd& c) noexcept {
  const bool small = with_size(a.rows(), [&]<int N>() {
    using Map = Eigen::Map<const Square<N>>;
    Eigen::Map<Square<N>>(c.data()).noalias() = Map(a.data()).lazyProduct(Map(b.data()));
  });
  if (!small) c.noalias() = a * b;
}

void multiply_transposed(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                         Eigen::MatrixXd& c) noexcept {
  const bool small = with_size(a.rows(), [&]<int N>() {
    using Map = Eigen::Map<const Square<N>>;
    Eigen::Map<Square<N>>(c.data()).noalias() =
        Map(a.data()).lazyProduct(Map(b.data()).transpose());
  });
  if (!small) c.noalias() = a * b.transpose();
}

bool eliminate(Eigen::MatrixXd& a, Eigen::Ref<Eigen::MatrixXd> b) noexcept {
  bool regular = false;
  const bool small = with_size(
      a.rows(), [&]<int N>() { regular = eliminate_rows<N>(N, a.data(), b.data(), b.cols()); });
  return small ? regular : eliminate_rows<0>(a.rows(), a.data(), b.data(), b.cols());
}

namespace {

// Sums and differences of long columns with the processor's vectors; of short ones plainly.
constexpr Eigen::Index kLong = 16;

double product(const double* a, const double* b, Eigen::Index n) noexcept {
  if (n > kLong)
    return Eigen::Map<const Eigen::VectorXd>(a, n).dot(Eigen::Map<const Eigen::VectorXd>(b, n));
  double sum = 0;
  for (Eigen::Index i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void subtract(double s, const double* a, double* from, Eigen::Index n) noexcept {
  if (n > kLong) {
    Eigen::Map<Eigen::VectorXd>(from, n) -= s * Eigen::Map<const Eigen::VectorXd>(a, n);
    return;
  }
  for (Eigen::Index i = 0; i < n; ++i) from[i] -= s * a[i];
}

}  // namespace

bool triangularise(Eigen::Ref<Eigen::MatrixXd> a, Eigen::MatrixXd& l) noexcept {
  const Eigen::Index rows = a.rows(), n = a.cols();
  for (Eigen::Index j = 0; j < n; ++j) {
    double* const pivots = a.col(j).data() + j;
    double norm = std::sqrt(product(pivots, pivots, rows - j));
    if (!(norm > 0) || !std::isfinite(norm)) return false;
    if (pivots[0] > 0) norm = -norm;
    const double pivot = pivots[0] - norm, inverse = 1 / pivot, tau = -pivot / norm;
    const Eigen::Index below = rows - j - 1;
    for (Eigen::Index i = 1; i <= below; ++i) pivots[i] *= inverse;
    for (Eigen::Index k = j + 1; k < n; ++k) {
      double* const column = a.col(k).data() + j;
      const double s = tau * (column[0] + product(pivots + 1, column + 1, below));
      column[0] -= s;
      subtract(s, pivots + 1, column + 1, below);
    }
    pivots[0] = norm;
  }
  for (Eigen::Index j = 0; j < n; ++j)
    for (Eigen::Index i = 0; i < n; ++i) l(i, j) = i < j ? 0 : a(j, i) * (a(j, j) < 0 ? -1 : 1);
  return true;
}

}  // namespace panto
