// L D Lᵀ of large sparse symmetric matrices, multifrontal: columns with one pattern are eliminated together in dense fronts, so that nearly all work is in
// products of dense matrices (Duff and Reid 1983; Liu, SIAM Review 34 (1992)).
#include <Eigen/Dense>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "panto/base/contract.hpp"
#include "panto/numerics/sparse_pairs.hpp"

namespace panto {
namespace {

using Index = Eigen::Index;

constexpr Index kPanel = 48;  // columns eliminated before the rest of a front is updated
constexpr Index kChunk = 96;  // columns of an update, of which only the lower triangle is wanted
constexpr Index kSmall = 8;   // fronts up to this width are merged whatever it costs
constexpr double kPadding = 0.2;  // share of zeros that merging two fronts may store

// A group of columns with their common rows below.
struct Front {
  Index first = 0, width = 0;
  std::vector<Index> rows;
  Eigen::MatrixXd l;  // width + rows.size() rows; unit lower triangle on top
};

// parent of every column in the elimination tree; column k of `a` holds the pattern of row k too.
std::vector<Index> elimination_tree(const SparseMatrix& a) {
  const auto n = static_cast<size_t>(a.cols());
  std::vector<Index> parent(n, -1), ancestor(n, -1);
  for (Index i = 0; i < a.cols(); ++i)
    for (SparseMatrix::InnerIterator e(a, i); e && e.row() < i; ++e)
      for (Index k = e.row(); k != -1 && k < i;) {
        const Index next = ancestor[static_cast<size_t>(k)];
        ancestor[static_cast<size_t>(k)] = i;
        if (next == -1) parent[static_cast<size_t>(k)] = i;
        k = next;
      }
  return parent;
}

// Place of every column when each subtree stands together, before its root.
std::vector<Index> post_order(const std::vector<Index>& parent) {
  const size_t n = parent.size();
  std::vector<Index> child(n, -1), sibling(n, -1), place(n, 0), stack;
  for (size_t k = n; k-- > 0;)
    if (parent[k] >= 0) {
      sibling[k] = child[static_cast<size_t>(parent[k])];
      child[static_cast<size_t>(parent[k])] = static_cast<Index>(k);
    }
  Index next = 0;
  for (size_t root = 0; root < n; ++root) {
    if (parent[root] >= 0) continue;
    stack.push_back(static_cast<Index>(root));
    while (!stack.empty()) {
      const auto k = static_cast<size_t>(stack.back());
      if (child[k] >= 0) {
        stack.push_back(child[k]);
        child[k] = sibling[static_cast<size_t>(child[k])];
      } else {
        place[k] = next++;
        stack.pop_back();
      }
    }
  }
  return place;
}

// Entries of every column of L, by the subtrees of its rows.
std::vector<Index> column_counts(const SparseMatrix& a, const std::vector<Index>& parent) {
  const auto n = static_cast<size_t>(a.cols());
  std::vector<Index> count(n, 1), mark(n, -1);
  for (Index i = 0; i < a.cols(); ++i) {
    mark[static_cast<size_t>(i)] = i;
    for (SparseMatrix::InnerIterator e(a, i); e && e.row() < i; ++e)
      for (auto k = static_cast<size_t>(e.row()); mark[k] != i;
           k = static_cast<size_t>(parent[k])) {
        mark[k] = i;
        ++count[k];
      }
  }
  return count;
}

// Neighbouring columns with one pattern, and fronts merged with the next where that stores few zeros.
std::vector<Front> fronts_of(const std::vector<Index>& parent, const std::vector<Index>& count) {
  struct Part {
    Index first, width, below;
    double entries;
  };
  std::vector<Part> parts;
  const auto n = static_cast<Index>(parent.size());
  const auto trapezium = [](Index width, Index below) {
    return 0.5 * static_cast<double>(width) * static_cast<double>(width + 1) +
           static_cast<double>(width) * static_cast<double>(below);
  };
  for (Index j = 0; j < n;) {
    Index end = j + 1;
    while (end < n && parent[static_cast<size_t>(end - 1)] == end &&
           count[static_cast<size_t>(end - 1)] == count[static_cast<size_t>(end)] + 1)
      ++end;
    const Index below = count[static_cast<size_t>(end - 1)] - 1;
    Part p{j, end - j, below, trapezium(end - j, below)};
    while (!parts.empty()) {
      const Part& before = parts.back();
      const Index up = parent[static_cast<size_t>(p.first - 1)];
      if (up < p.first || up >= end) break;
      const Index width = before.width + p.width;
      const double entries = before.entries + p.entries, stored = trapezium(width, below);
      if (width > kSmall && stored - entries > kPadding * stored) break;
      p = {before.first, width, below, entries};
      parts.pop_back();
    }
    parts.push_back(p);
    j = end;
  }
  std::vector<Front> out(parts.size());
  for (size_t s = 0; s < parts.size(); ++s) {
    out[s].first = parts[s].first;
    out[s].width = parts[s].width;
  }
  return out;
}

// Eliminates the first `width` columns of the lower triangle f; pivots to d. False: one vanished.
bool eliminate(Eigen::MatrixXd& f, Index width, double* d) {
  const Index n = f.rows();
  for (Index from = 0; from < width; from += kPanel) {
    const Index to = std::min(from + kPanel, width);
    for (Index j = from; j < to; ++j) {
      const double pivot = f(j, j);
      if (!std::isfinite(pivot) || pivot == 0) return false;
      d[j] = pivot;
      f.col(j).tail(n - j - 1) /= pivot;
      for (Index k = j + 1; k < to; ++k)
        f.col(k).tail(n - k) -= (pivot * f(k, j)) * f.col(j).tail(n - k);
    }
    const Index left = n - to;
    if (left == 0) continue;
    const auto l = f.block(to, from, left, to - from);
    const Eigen::MatrixXd scaled =
        l * Eigen::Map<const Eigen::VectorXd>(d + from, to - from).asDiagonal();
    for (Index at = 0; at < left; at += kChunk) {
      const Index some = std::min(kChunk, left - at);
      f.block(to + at, to + at, left - at, some).noalias() -=
          scaled.bottomRows(left - at) * l.middleRows(at, some).transpose();
    }
  }
  return true;
}

}  // namespace

struct SparseSymmetric::Factors {
  bool ok = true;
  std::vector<Index> place;  // of every row in the order of elimination
  std::vector<Front> fronts;
  Eigen::VectorXd d, diagonal;  // pivots and diagonal of A, in that order

  explicit Factors(const SparseMatrix& a);
  template <class Vectors>
  void solve(Vectors& x) const;
};

SparseSymmetric::Factors::Factors(const SparseMatrix& a) {
  const Index n = a.cols();
  SparseMatrix full = a.selfadjointView<Eigen::Lower>();
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, Index> permutation(n);
  {
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, Index> inverse;
    Eigen::AMDOrdering<Index>()(full, inverse);
    if (inverse.size() > 0)
      permutation = inverse.inverse();
    else
      permutation.setIdentity();
  }
  SparseMatrix c;
  c = full.twistedBy(permutation);
  std::vector<Index> parent = elimination_tree(c);
  {
    const std::vector<Index> post = post_order(parent);
    std::vector<Index> moved(parent.size(), -1);
    for (size_t k = 0; k < parent.size(); ++k)
      if (parent[k] >= 0)
        moved[static_cast<size_t>(post[k])] = post[static_cast<size_t>(parent[k])];
    parent = std::move(moved);
    for (Index i = 0; i < n; ++i) {
      Index& to = permutation.indices()(i);
      to = post[static_cast<size_t>(to)];
    }
    c = full.twistedBy(permutation);
  }
  place.assign(permutation.indices().data(), permutation.indices().data() + n);
  fronts = fronts_of(parent, column_counts(c, parent));
  d.resize(n);
  diagonal = c.diagonal();

  std::vector<size_t> front_of(static_cast<size_t>(n));
  for (size_t s = 0; s < fronts.size(); ++s)
    for (Index j = 0; j < fronts[s].width; ++j)
      front_of[static_cast<size_t>(fronts[s].first + j)] = s;
  std::vector<std::vector<size_t>> children(fronts.size());
  std::vector<Eigen::MatrixXd> updates(fronts.size());
  std::vector<Index> local(static_cast<size_t>(n), -1);
  Eigen::MatrixXd f;
  for (size_t s = 0; s < fronts.size(); ++s) {
    Front& front = fronts[s];
    const Index end = front.first + front.width;
    for (Index j = 0; j < front.width; ++j) local[static_cast<size_t>(front.first + j)] = j;
    const auto take = [&](Index row) {
      Index& at = local[static_cast<size_t>(row)];
      if (row >= end && at < 0) {
        at = 0;
        front.rows.push_back(row);
      }
    };
    for (Index j = front.first; j < end; ++j)
      for (SparseMatrix::InnerIterator e(c, j); e; ++e) take(e.row());
    for (const size_t child : children[s])
      for (const Index row : fronts[child].rows) take(row);
    std::sort(front.rows.begin(), front.rows.end());
    for (size_t k = 0; k < front.rows.size(); ++k)
      local[static_cast<size_t>(front.rows[k])] = front.width + static_cast<Index>(k);
    const auto below = static_cast<Index>(front.rows.size()), size = front.width + below;

    f.setZero(size, size);
    for (Index j = 0; j < front.width; ++j)
      for (SparseMatrix::InnerIterator e(c, front.first + j); e; ++e)
        if (e.row() >= front.first + j) f(local[static_cast<size_t>(e.row())], j) += e.value();
    for (const size_t child : children[s]) {
      const std::vector<Index>& rows = fronts[child].rows;
      const Eigen::MatrixXd& u = updates[child];
      for (size_t b = 0; b < rows.size(); ++b) {
        double* column = &f(0, local[static_cast<size_t>(rows[b])]);
        for (size_t i = b; i < rows.size(); ++i)
          column[local[static_cast<size_t>(rows[i])]] +=
              u(static_cast<Index>(i), static_cast<Index>(b));
      }
      updates[child].resize(0, 0);
    }
    ok = eliminate(f, front.width, d.data() + front.first);
    for (Index j = 0; j < front.width; ++j) local[static_cast<size_t>(front.first + j)] = -1;
    for (const Index row : front.rows) local[static_cast<size_t>(row)] = -1;
    if (!ok) return;
    front.l = f.leftCols(front.width);
    if (below > 0) {
      updates[s] = f.bottomRightCorner(below, below);
      children[front_of[static_cast<size_t>(front.rows.front())]].push_back(s);
    }
  }
}

template <class Vectors>
void SparseSymmetric::Factors::solve(Vectors& x) const {
  Vectors some;
  const auto gathered = [&](const Front& front) {
    some.resize(static_cast<Index>(front.rows.size()), x.cols());
    for (size_t k = 0; k < front.rows.size(); ++k)
      some.row(static_cast<Index>(k)) = x.row(front.rows[k]);
  };
  for (const Front& front : fronts) {
    auto own = x.middleRows(front.first, front.width);
    front.l.topRows(front.width).template triangularView<Eigen::UnitLower>().solveInPlace(own);
    if (front.rows.empty()) continue;
    some.noalias() = front.l.bottomRows(static_cast<Index>(front.rows.size())) * own;
    for (size_t k = 0; k < front.rows.size(); ++k)
      x.row(front.rows[k]) -= some.row(static_cast<Index>(k));
  }
  x.array().colwise() /= d.array();
  for (size_t s = fronts.size(); s-- > 0;) {
    const Front& front = fronts[s];
    auto own = x.middleRows(front.first, front.width);
    if (!front.rows.empty()) {
      gathered(front);
      own.noalias() -= front.l.bottomRows(some.rows()).transpose() * some;
    }
    front.l.topRows(front.width)
        .transpose()
        .template triangularView<Eigen::UnitUpper>()
        .solveInPlace(own);
  }
}

SparseSymmetric::SparseSymmetric(const SparseMatrix& a) {
  PANTO_EXPECT(a.rows() == a.cols(), "a square matrix");
  factors_ = std::make_unique<Factors>(a);
}
SparseSymmetric::~SparseSymmetric() = default;
SparseSymmetric::SparseSymmetric(SparseSymmetric&& other) noexcept = default;
SparseSymmetric& SparseSymmetric::operator=(SparseSymmetric&& other) noexcept = default;

bool SparseSymmetric::ok() const { return factors_->ok; }

int SparseSymmetric::negative() const {
  return static_cast<int>((factors_->d.array() < 0).count());
}

double SparseSymmetric::weakest() const {
  if (!ok()) return 0;
  double least = 1;
  for (Index i = 0; i < factors_->d.size(); ++i)
    least = std::min(least, factors_->d(i) / std::abs(factors_->diagonal(i)));
  return least;
}

Eigen::MatrixXd SparseSymmetric::solve(const Eigen::MatrixXd& b) const {
  Eigen::MatrixXd x(b.rows(), b.cols()), out(b.rows(), b.cols());
  for (Index i = 0; i < b.rows(); ++i) x.row(factors_->place[static_cast<size_t>(i)]) = b.row(i);
  factors_->solve(x);
  for (Index i = 0; i < b.rows(); ++i) out.row(i) = x.row(factors_->place[static_cast<size_t>(i)]);
  return out;
}

Eigen::VectorXd SparseSymmetric::solve(const Eigen::VectorXd& b) const {
  Eigen::VectorXd x(b.size()), out(b.size());
  for (Index i = 0; i < b.size(); ++i) x(factors_->place[static_cast<size_t>(i)]) = b(i);
  factors_->solve(x);
  for (Index i = 0; i < b.size(); ++i) out(i) = x(factors_->place[static_cast<size_t>(i)]);
  return out;
}

Index SparseSymmetric::entries() const {
  Index out = 0;
  for (const Front& f : factors_->fronts) out += f.l.size() - f.width * (f.width - 1) / 2;
  return out;
}

}  // namespace panto
