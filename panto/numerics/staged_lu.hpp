// Rank-revealing choice of dependent unknowns and a sparse LU on that choice, for constraint matrices whose rows come in
// stages (position, velocity, acceleration level): the leading blocks of one factorisation solve every stage.
#pragma once

#include <Eigen/Core>
#include <array>
#include <span>
#include <vector>

#include "panto/base/status.hpp"

namespace panto {

// Sparse matrix by rows, pattern fixed.
struct RowMatrix {
  int columns = 0;
  std::vector<int> start{0};  // rows + 1
  std::vector<int> column;
  std::vector<double> value;
  [[nodiscard]] int rows() const { return static_cast<int>(start.size()) - 1; }
};

class StagedLU {
 public:
  // Rows [0, stage_end[0]) belong to stage 0, and so on; stage_end[2] = rows. Allocates everything that later calls need.
  StagedLU(const RowMatrix& pattern, std::span<const int, 3> stage_end);

  // Chooses pivots (row, column) with full pivoting inside each stage, relaxed by kThreshold in favour of sparsity. A column's entries are
  // weighted by `weight` (prefer small weights to stay independent). Rank: pivots below rank_tolerance times the largest entry end a stage;
  // rows left over are redundant. Cost rows * columns * rank; no allocation.
  // at_least: ranks to insist on while pivots stay above round-off (a mechanism keeps its generic rank through a singular position).
  void choose(const RowMatrix& g, std::span<const double> weight, std::span<const int, 3> at_least);
  // Chooses rows again, and the order of the pivots; the columns of every stage stay. False where they cannot: g has lost rank in them, and
  // the choice is another one. After choose().
  bool choose_rows(const RowMatrix& g);

  // Factorises the chosen block of g. kRepartition: a pivot fell far below its value at the choice (the factors are still usable
  // unless the matrix is singular to round-off, when the pivot is replaced by a round-off sized one).
  [[nodiscard]] Status factor(const RowMatrix& g) noexcept;

  // Number of pivots of stages 0..stage.
  [[nodiscard]] int rank(int stage) const { return rank_[static_cast<size_t>(stage)]; }
  [[nodiscard]] int rank() const { return rank_[2]; }
  [[nodiscard]] std::span<const int> pivot_rows() const {
    return {pivot_row_.data(), static_cast<size_t>(rank())};
  }
  [[nodiscard]] std::span<const int> pivot_columns() const {
    return {pivot_column_.data(), static_cast<size_t>(rank())};
  }
  // Columns that are not pivots of stages 0..stage, ascending.
  [[nodiscard]] std::span<const int> free_columns(int stage) const {
    const auto& f = free_[static_cast<size_t>(stage)];
    return {f.data(), f.size()};
  }
  [[nodiscard]] std::span<const int> redundant_rows() const { return redundant_; }
  // Smallest pivot of the last factor(), relative to the largest entry its row ever had.
  [[nodiscard]] double conditioning() const { return conditioning_; }

  // Takes the pivots of the last factor() as the standard that later ones are measured by.
  void accept_wear() noexcept;

  // x (indexed by pivot) = A^-1 b for the leading block of stages 0..stage. In place.
  void solve(int stage, double* x) const noexcept;
  // x = A^-T b, in place.
  void solve_transposed(int stage, double* x) const noexcept;

 private:
  // Columns may be pivots from stage from_[column] on.
  void pivot(const RowMatrix& g, std::span<const double> weight, std::span<const int, 3> at_least);
  void symbolic(const RowMatrix& g);
  // A pivot of row `row` just found, and the status it asks for.
  [[nodiscard]] Status judge(int i, int row, double row_max, double& pivot) noexcept;
  // Small ones are dense, r by r: loops of known length, without a list of columns.
  template <int R>
  [[nodiscard]] Status factor_dense(const RowMatrix& g) noexcept;
  template <int R>
  void solve_dense(double* x) const noexcept;
  static constexpr int kDense = 4;

  int rows_ = 0, columns_ = 0;
  std::array<int, 3> stage_end_{}, rank_{};
  std::vector<int> pivot_row_, pivot_column_, position_,
      from_;  // position_: column -> pivot index or -1
  std::array<std::vector<int>, 3> free_;
  std::vector<int> redundant_;
  Eigen::MatrixXd work_;  // Schur complement during choose()
  std::vector<char> row_done_, column_done_;
  // Combined LU, row i holds L (columns < i), then U (columns >= i), ascending.
  std::vector<int> lu_start_, lu_column_, diagonal_, next_;
  std::vector<double> lu_, scatter_, ratio_,
      reference_;  // pivot ratios now and at their best since the choice
  std::vector<double>
      row_scale_;  // largest entry of each row seen so far: a row may vanish as a whole
  std::vector<char> mark_;
  std::array<int, kDense * kDense> gather_{};  // dense: places in RowMatrix::value, -1 none
  std::array<double, kDense> inverse_{};  // dense: of the pivots, for solves wait for divisions
  bool fresh_ = false;                    // the next factor() records reference_
  double conditioning_ = 0;
};

}  // namespace panto
