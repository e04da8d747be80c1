#include "panto/numerics/staged_lu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace panto {

namespace {
constexpr double kThreshold =
    0.2;  // accept a pivot this much below the largest for the sake of sparsity
constexpr double kRankTolerance = 1e-9;  // relative to the largest entry of the matrix
constexpr double kRoundOff = 1e-14;      // a pivot below this is not information
constexpr double kDeterioration =
    1e-3;  // pivots this much worse than at the choice ask for a new choice
}  // namespace

StagedLU::StagedLU(const RowMatrix& pattern, std::span<const int, 3> stage_end)
    : rows_(pattern.rows()), columns_(pattern.columns) {
  std::copy(stage_end.begin(), stage_end.end(), stage_end_.begin());
  const auto m = static_cast<size_t>(rows_), n = static_cast<size_t>(columns_);
  pivot_row_.resize(m);
  pivot_column_.resize(m);
  position_.assign(n, -1);
  from_.assign(n, 0);
  for (auto& f : free_) f.reserve(n);
  for (int j = 0; j < columns_; ++j)
    for (auto& f : free_) f.push_back(j);
  redundant_.reserve(m);
  work_.resize(rows_, columns_);
  row_done_.resize(m);
  column_done_.resize(n);
  lu_start_.reserve(m + 1);
  diagonal_.resize(m);
  next_.resize(m);
  const size_t full = std::min(m, n) * std::min(m, n);
  lu_column_.reserve(full);
  lu_.reserve(full);
  scatter_.resize(std::max(m, n));
  row_scale_.assign(m, 0.0);
  ratio_.resize(m);
  reference_.resize(m);
  mark_.resize(std::max(m, n));
}

void StagedLU::choose(const RowMatrix& g, std::span<const double> weight,
                      std::span<const int, 3> at_least) {
  std::fill(from_.begin(), from_.end(), 0);
  pivot(g, weight, at_least);
}

bool StagedLU::choose_rows(const RowMatrix& g) {
  for (int j = 0; j < columns_; ++j) {
    const int p = position_[j];
    from_[j] = p < 0 ? 3 : p < rank_[0] ? 0 : p < rank_[1] ? 1 : 2;
  }
  const std::array<int, 3> wanted = rank_;
  const std::vector<double> equal(static_cast<size_t>(columns_), 1.0);
  pivot(g, equal, wanted);
  return rank_ == wanted;
}

void StagedLU::pivot(const RowMatrix& g, std::span<const double> weight,
                     std::span<const int, 3> at_least) {
  work_.setZero();
  double largest = 0;
  for (int i = 0; i < rows_; ++i)
    for (int k = g.start[i]; k < g.start[i + 1]; ++k) {
      work_(i, g.column[k]) = g.value[k];
      largest = std::max(largest, std::abs(g.value[k]));
    }
  std::fill(row_done_.begin(), row_done_.end(), char{0});
  std::fill(column_done_.begin(), column_done_.end(), char{0});
  std::fill(position_.begin(), position_.end(), -1);
  redundant_.clear();
  int rank = 0;
  int row_begin = 0;
  for (int stage = 0; stage < 3; ++stage) {
    const int row_end = stage_end_[stage];
    for (;;) {
      double best = 0;
      for (int j = 0; j < columns_; ++j) {
        if (column_done_[j] || from_[j] > stage) continue;
        for (int i = row_begin; i < row_end; ++i)
          if (!row_done_[i]) best = std::max(best, std::abs(work_(i, j)) * weight[j]);
      }
      const bool insist = rank < at_least[stage];
      if (!(best > (insist ? kRoundOff : kRankTolerance) * largest * (insist ? 1e-3 : 1.0))) break;
      // Among the acceptable entries, the one that fills least (Markowitz).
      int pivot_i = -1, pivot_j = -1;
      long cost = std::numeric_limits<long>::max();
      double size = 0;
      for (int i = row_begin; i < row_end; ++i) {
        if (row_done_[i]) continue;
        long row_count = 0;
        for (int j = 0; j < columns_; ++j)
          if (!column_done_[j] && work_(i, j) != 0) ++row_count;
        for (int j = 0; j < columns_; ++j) {
          if (column_done_[j] || from_[j] > stage) continue;
          const double a = std::abs(work_(i, j)) * weight[j];
          if (a < kThreshold * best || a == 0) continue;
          long column_count = 0;
          for (int k = row_begin; k < row_end; ++k)
            if (!row_done_[k] && work_(k, j) != 0) ++column_count;
          const long c = (row_count - 1) * (column_count - 1);
          if (c < cost || (c == cost && a > size)) {
            cost = c;
            size = a;
            pivot_i = i;
            pivot_j = j;
          }
        }
      }
      pivot_row_[rank] = pivot_i;
      pivot_column_[rank] = pivot_j;
      position_[pivot_j] = rank++;
      row_done_[pivot_i] = 1;
      column_done_[pivot_j] = 1;
      const double inverse = 1 / work_(pivot_i, pivot_j);
      for (int i = row_begin; i < rows_; ++i) {
        if (row_done_[i] || work_(i, pivot_j) == 0) continue;
        const double factor = work_(i, pivot_j) * inverse;
        for (int j = 0; j < columns_; ++j)
          if (!column_done_[j]) work_(i, j) -= factor * work_(pivot_i, j);
        work_(i, pivot_j) = 0;
      }
    }
    for (int i = row_begin; i < row_end; ++i)
      if (!row_done_[i]) redundant_.push_back(i);
    rank_[stage] = rank;
    free_[stage].clear();
    for (int j = 0; j < columns_; ++j)
      if (!column_done_[j]) free_[stage].push_back(j);
    row_begin = row_end;
  }
  symbolic(g);
  fresh_ = true;
}

// Pattern of L and U for the chosen order, row by row: pattern of row i of A plus the U patterns of the rows it eliminates with.
void StagedLU::symbolic(const RowMatrix& g) {
  const int r = rank();
  lu_start_.assign(1, 0);
  lu_column_.clear();
  for (int i = 0; i < r; ++i) {
    std::fill(mark_.begin(), mark_.begin() + r, char{0});
    const int row = pivot_row_[i];
    for (int k = g.start[row]; k < g.start[row + 1]; ++k)
      if (const int p = position_[g.column[k]]; p >= 0) mark_[p] = 1;
    if (r <= kDense) {
      for (int j = 0; j < r; ++j) gather_[i * r + j] = -1;
      for (int k = g.start[row]; k < g.start[row + 1]; ++k)
        if (const int p = position_[g.column[k]]; p >= 0) gather_[i * r + p] = k;
      std::fill(mark_.begin(), mark_.begin() + r, char{1});
    }
    mark_[i] = 1;
    for (int k = 0; k < i; ++k) {
      if (!mark_[k]) continue;
      for (int j = diagonal_[k] + 1; j < lu_start_[k + 1]; ++j) mark_[lu_column_[j]] = 1;
    }
    for (int j = 0; j < r; ++j) {
      if (!mark_[j]) continue;
      if (j == i) diagonal_[i] = static_cast<int>(lu_column_.size());
      lu_column_.push_back(j);
    }
    lu_start_.push_back(static_cast<int>(lu_column_.size()));
  }
  lu_.assign(lu_column_.size(), 0.0);
}

inline Status StagedLU::judge(int i, int row, double row_max, double& pivot) noexcept {
  if (!std::isfinite(pivot)) return Status::kNotFinite;
  double& scale = row_scale_[row];
  scale = std::max(scale, row_max);
  const double ratio = scale > 0 ? std::abs(pivot) / scale : 0;
  ratio_[i] = ratio;
  if (fresh_ || ratio > reference_[i]) reference_[i] = ratio;
  conditioning_ = std::min(conditioning_, ratio);
  if (ratio < kRoundOff) {
    const double tiny = kRoundOff * (scale > 0 ? scale : 1.0);
    pivot = std::copysign(tiny, pivot);
  }
  return ratio < kDeterioration * reference_[i] ? Status::kRepartition : Status::kOk;
}

template <int R>
Status StagedLU::factor_dense(const RowMatrix& g) noexcept {
  Status status = Status::kOk;
  double a[R][R];
  const double* value = g.value.data();
  const int *gather = gather_.data(), *start = g.start.data();
  for (int i = 0; i < R; ++i) {
    const int row = pivot_row_[i];
    double row_max = 0;
    for (int k = start[row]; k < start[row + 1]; ++k)
      row_max = std::max(row_max, std::abs(value[k]));
    for (int j = 0; j < R; ++j) a[i][j] = gather[j] < 0 ? 0 : value[gather[j]];
    gather += R;
    for (int e = 0; e < i; ++e) {
      a[i][e] *= inverse_[static_cast<size_t>(e)];
      for (int j = e + 1; j < R; ++j) a[i][j] -= a[i][e] * a[e][j];
    }
    const Status s = judge(i, row, row_max, a[i][i]);
    if (s == Status::kNotFinite) return s;
    if (s != Status::kOk) status = s;
    inverse_[static_cast<size_t>(i)] = 1 / a[i][i];
  }
  std::copy_n(&a[0][0], R * R, lu_.data());
  fresh_ = false;
  return status;
}

Status StagedLU::factor(const RowMatrix& g) noexcept {
  const int r = rank();
  conditioning_ = 1;
  switch (r) {
    case 1:
      return factor_dense<1>(g);
    case 2:
      return factor_dense<2>(g);
    case 3:
      return factor_dense<3>(g);
    case kDense:
      return factor_dense<kDense>(g);
    default:
      break;
  }
  Status status = Status::kOk;
  for (int i = 0; i < r; ++i) {
    for (int k = lu_start_[i]; k < lu_start_[i + 1]; ++k) scatter_[lu_column_[k]] = 0;
    const int row = pivot_row_[i];
    double row_max = 0;
    for (int k = g.start[row]; k < g.start[row + 1]; ++k) {
      row_max = std::max(row_max, std::abs(g.value[k]));
      if (const int p = position_[g.column[k]]; p >= 0) scatter_[p] = g.value[k];
    }
    for (int k = lu_start_[i]; k < diagonal_[i]; ++k) {
      const int e = lu_column_[k];
      const double l = scatter_[e] / lu_[diagonal_[e]];
      lu_[k] = l;
      for (int j = diagonal_[e] + 1; j < lu_start_[e + 1]; ++j)
        scatter_[lu_column_[j]] -= l * lu_[j];
    }
    for (int k = diagonal_[i]; k < lu_start_[i + 1]; ++k) lu_[k] = scatter_[lu_column_[k]];
    const Status s = judge(i, row, row_max, lu_[diagonal_[i]]);
    if (s == Status::kNotFinite) return s;
    if (s != Status::kOk) status = s;
  }
  fresh_ = false;
  return status;
}

void StagedLU::accept_wear() noexcept { reference_ = ratio_; }

template <int R>
void StagedLU::solve_dense(double* x) const noexcept {
  const double* lu = lu_.data();
  double y[R];
  for (int i = 0; i < R; ++i) {
    y[i] = x[i];
    for (int j = 0; j < i; ++j) y[i] -= lu[i * R + j] * y[j];
  }
  for (int i = R - 1; i >= 0; --i) {
    for (int j = i + 1; j < R; ++j) y[i] -= lu[i * R + j] * y[j];
    y[i] *= inverse_[static_cast<size_t>(i)];
    x[i] = y[i];
  }
}

void StagedLU::solve(int stage, double* x) const noexcept {
  const int r = rank_[stage];
  if (r == rank()) {
    switch (r) {
      case 1:
        return solve_dense<1>(x);
      case 2:
        return solve_dense<2>(x);
      case 3:
        return solve_dense<3>(x);
      case kDense:
        return solve_dense<kDense>(x);
      default:
        break;
    }
  }
  for (int i = 0; i < r; ++i) {
    double s = x[i];
    for (int k = lu_start_[i]; k < diagonal_[i]; ++k) s -= lu_[k] * x[lu_column_[k]];
    x[i] = s;
  }
  for (int i = r - 1; i >= 0; --i) {
    double s = x[i];
    for (int k = diagonal_[i] + 1; k < lu_start_[i + 1]; ++k)
      if (lu_column_[k] < r) s -= lu_[k] * x[lu_column_[k]];
    x[i] = s / lu_[diagonal_[i]];
  }
}

void StagedLU::solve_transposed(int stage, double* x) const noexcept {
  const int r = rank_[stage];
  for (int i = 0; i < r; ++i) {
    x[i] /= lu_[diagonal_[i]];
    for (int k = diagonal_[i] + 1; k < lu_start_[i + 1]; ++k)
      if (lu_column_[k] < r) x[lu_column_[k]] -= lu_[k] * x[i];
  }
  for (int i = r - 1; i >= 0; --i)
    for (int k = lu_start_[i]; k < diagonal_[i]; ++k) x[lu_column_[k]] -= lu_[k] * x[i];
}

}  // namespace panto
