#include "panto/numerics/block_chain.hpp"

#include <algorithm>
#include <cmath>

#include "panto/base/contract.hpp"
#include "panto/numerics/small.hpp"

namespace panto {
namespace {

using Block = Eigen::Ref<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

// Row k changed places with row exchanges[k].
void exchange(const std::vector<Eigen::Index>& exchanges, Eigen::Index first, Eigen::Index count,
              Eigen::Index offset, Block m) {
  for (Eigen::Index j = 0; j < m.cols(); ++j)
    for (Eigen::Index k = first; k < first + count; ++k)
      std::swap(m(k - offset, j), m(exchanges[static_cast<size_t>(k)] - offset, j));
}

// L (unit lower, below the diagonal) and U of a block with at least as many rows as columns, which begins in row `offset` of its matrix; by halves of the columns.
void factor(Block m, Eigen::Index offset, std::vector<Eigen::Index>& exchanges) {
  const Eigen::Index rows = m.rows(), n = m.cols();
  constexpr Eigen::Index kFew = 6;
  if (n > kFew) {
    const Eigen::Index half = n / 2;
    factor(m.leftCols(half), offset, exchanges);
    Block right = m.rightCols(n - half);
    exchange(exchanges, offset, half, offset, right);
    m.topLeftCorner(half, half)
        .triangularView<Eigen::UnitLower>()
        .solveInPlace(right.topRows(half));
    right.bottomRows(rows - half).noalias() -=
        m.bottomLeftCorner(rows - half, half) * right.topRows(half);
    factor(right.bottomRows(rows - half), offset + half, exchanges);
    exchange(exchanges, offset + half, n - half, offset, m.leftCols(half));
    return;
  }
  for (Eigen::Index j = 0; j < n; ++j) {
    Eigen::Index pivot = 0;
    m.col(j).tail(rows - j).cwiseAbs().maxCoeff(&pivot);
    pivot += j;
    exchanges.push_back(offset + pivot);
    if (pivot != j) m.row(j).swap(m.row(pivot));
    if (m(j, j) == 0) continue;
    m.col(j).tail(rows - j - 1) /= m(j, j);
    for (Eigen::Index k = j + 1; k < n; ++k)
      m.col(k).tail(rows - j - 1) -= m(j, k) * m.col(j).tail(rows - j - 1);
  }
}

// Columns of `from` by number.
Eigen::MatrixXd columns(const Eigen::MatrixXd& from, const std::vector<int>& numbers) {
  return from(Eigen::all, numbers);
}

}  // namespace

// Own rows make x_dependent = c - E x_free. The others, in (further, free) of x_i and free of x_(i+1), become L U: of L and U what rows are eliminated by, without what
// is handed on.
struct BlockChain::Stage {
  Eigen::Index size = 0, known = 0, own = 0, further = 0, free = 0;
  std::vector<int> dependent, independent;  // of the known unknowns
  Eigen::MatrixXd inverse, E;
  Eigen::MatrixXd by_dependent, by_next;  // other rows, by dependent unknowns of x_i and x_(i+1)
  Eigen::MatrixXd lower, upper;           // by x_i: below the diagonal L, above U; U by x_(i+1)
  Eigen::Index carried = 0, next = 0;
  std::vector<Eigen::Index> exchanges;
};

BlockChain::BlockChain() = default;
BlockChain::~BlockChain() = default;
BlockChain::BlockChain(BlockChain&&) noexcept = default;
BlockChain& BlockChain::operator=(BlockChain&&) noexcept = default;

void BlockChain::clear() {
  count_ = 0;
  carried_.resize(0, 0);
  regular_ = true;
}

void BlockChain::stage(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, Eigen::Index own) {
  if (!regular_) return;
  if (count_ == stages_.size()) stages_.push_back(std::make_unique<Stage>());
  Stage* s = stages_[count_].get();
  s->size = a.cols();
  s->known = count_ == 0 ? a.cols() : next_.cols();
  s->own = own;
  s->further = s->size - s->known;
  s->free = s->known - own;
  PANTO_EXPECT(s->free >= 0 && s->further >= 0 && own <= a.rows(), "rows of a block's own");
  // Which unknowns the own rows give: Gauss' elimination with the largest entry left.
  Eigen::MatrixXd left = a.topLeftCorner(own, s->known);
  std::vector<char> taken(static_cast<size_t>(s->known), 0);
  s->dependent.clear();
  s->independent.clear();
  s->exchanges.clear();
  const double size = own > 0 ? left.cwiseAbs().maxCoeff() : 0;
  constexpr double kZero = 1e-14;
  for (Eigen::Index k = 0; k < own; ++k) {
    Eigen::Index row = 0, column = 0;
    const double best = left.bottomRows(own - k).cwiseAbs().maxCoeff(&row, &column);
    if (!(best > kZero * size)) {
      regular_ = false;
      return;
    }
    left.row(k).swap(left.row(k + row));
    taken[static_cast<size_t>(column)] = 1;
    const Eigen::VectorXd factors = left.col(column).tail(own - k - 1) / left(k, column);
    left.bottomRows(own - k - 1).noalias() -= factors * left.row(k);
    left.col(column).tail(own - k - 1).setZero();
  }
  for (int k = 0; k < static_cast<int>(s->known); ++k)
    (taken[static_cast<size_t>(k)] != 0 ? s->dependent : s->independent).push_back(k);
  const Eigen::MatrixXd rows = a.topLeftCorner(own, s->known);
  s->inverse = Eigen::MatrixXd::Identity(own, own);
  Eigen::MatrixXd by_dependent = columns(rows, s->dependent);
  regular_ = eliminate(by_dependent, s->inverse);
  if (!regular_) return;
  s->E.noalias() = s->inverse * columns(rows, s->independent);
  if (count_ > 0) finish(*s);
  if (!regular_) return;

  const Eigen::Index others = a.rows() - own;
  s->carried = carried_.rows();
  PANTO_EXPECT(b.cols() > 0 || others + s->carried == s->further + s->free,
               "as many equations as unknowns");
  if (others + s->carried < s->further + s->free || others < s->further) {
    regular_ = false;
    return;
  }
  const Eigen::MatrixXd on_known = a.bottomLeftCorner(others, s->known);
  s->by_dependent = columns(on_known, s->dependent);
  ahead_.resize(others + s->carried, s->further + s->free);
  ahead_.topLeftCorner(others, s->further) = a.bottomRightCorner(others, s->further);
  ahead_.topRightCorner(others, s->free) = columns(on_known, s->independent);
  ahead_.topRightCorner(others, s->free).noalias() -= s->by_dependent * s->E;
  ahead_.bottomLeftCorner(s->carried, s->further).setZero();
  if (s->carried > 0) ahead_.bottomRightCorner(s->carried, s->free) = carried_;
  next_ = b.bottomRows(others);
  ++count_;
  if (b.cols() == 0) {
    Stage none;
    finish(none);
  }
}

// The last stage, now that it is known which unknowns of the next block are free.
void BlockChain::finish(const Stage& next) {
  Stage& s = *stages_[count_ - 1];
  const Eigen::Index others = next_.rows(), rows = ahead_.rows(), left = s.further + s.free;
  s.next = next.free;
  work_.resize(rows, left + s.next);
  work_.leftCols(left) = ahead_;
  s.by_next = columns(next_, next.dependent);
  work_.topRightCorner(others, s.next) = columns(next_, next.independent);
  if (next.own > 0) work_.topRightCorner(others, s.next).noalias() -= s.by_next * next.E;
  work_.bottomRightCorner(s.carried, s.next).setZero();
  // Each pivot is compared with its own column.
  const Eigen::VectorXd sizes = work_.leftCols(left).colwise().norm();
  // Further unknowns are in the other rows alone.
  const auto reduce = [&](Eigen::Index first, Eigen::Index count, Eigen::Index end) {
    factor(work_.block(first, first, end - first, count), first, s.exchanges);
    const Eigen::Index after = work_.cols() - first - count;
    Block beside = work_.block(first, first + count, end - first, after);
    exchange(s.exchanges, first, count, first, beside);
    exchange(s.exchanges, first, count, first, work_.block(first, 0, end - first, first));
    work_.block(first, first, count, count)
        .triangularView<Eigen::UnitLower>()
        .solveInPlace(beside.topRows(count));
    beside.bottomRows(end - first - count).noalias() -=
        work_.block(first + count, first, end - first - count, count) * beside.topRows(count);
  };
  reduce(0, s.further, others);
  reduce(s.further, s.free, rows);
  constexpr double kZero = 1e-14;
  for (Eigen::Index k = 0; k < left; ++k)
    if (!(std::abs(work_(k, k)) > kZero * sizes[k])) regular_ = false;
  s.lower = work_.leftCols(left);
  s.upper = work_.topRightCorner(left, s.next);
  carried_ = work_.bottomRightCorner(rows - left, s.next);
}

std::vector<Eigen::VectorXd> BlockChain::solve(const std::vector<Eigen::VectorXd>& right) const {
  PANTO_EXPECT(right.size() == count_, "a right-hand side per stage");
  const size_t n = count_;
  std::vector<Eigen::VectorXd> x(n), given(n);
  for (size_t i = 0; i < n; ++i) given[i] = stages_[i]->inverse * right[i].head(stages_[i]->own);
  Eigen::VectorXd carried;
  for (size_t i = 0; i < n; ++i) {
    const Stage& s = *stages_[i];
    const Eigen::Index others = right[i].size() - s.own, left = s.further + s.free;
    Eigen::VectorXd all(others + s.carried);
    all.head(others) = right[i].tail(others);
    all.head(others).noalias() -= s.by_dependent * given[i];
    if (i + 1 < n) all.head(others).noalias() -= s.by_next * given[i + 1];
    all.tail(s.carried) = carried;
    exchange(s.exchanges, 0, left, 0, all);
    s.lower.topRows(left).triangularView<Eigen::UnitLower>().solveInPlace(all.head(left));
    carried = all.tail(all.size() - left);
    carried.noalias() -= s.lower.bottomRows(carried.size()) * all.head(left);
    x[i] = all.head(left);
  }
  Eigen::VectorXd after;  // free unknowns of the block behind
  for (size_t i = n; i-- > 0;) {
    const Stage& s = *stages_[i];
    const Eigen::Index left = s.further + s.free;
    Eigen::VectorXd all = std::move(x[i]);
    if (i + 1 < n) all.noalias() -= s.upper * after;
    s.lower.topRows(left).triangularView<Eigen::Upper>().solveInPlace(all);
    after = all.tail(s.free);
    x[i].resize(s.size);
    x[i].tail(s.further) = all.head(s.further);
    const Eigen::VectorXd follow = given[i] - s.E * after;
    for (size_t k = 0; k < s.dependent.size(); ++k)
      x[i][s.dependent[k]] = follow[static_cast<Eigen::Index>(k)];
    for (size_t k = 0; k < s.independent.size(); ++k)
      x[i][s.independent[k]] = after[static_cast<Eigen::Index>(k)];
  }
  return x;
}

}  // namespace panto
