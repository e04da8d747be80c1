#include "panto/numerics/pencil.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "panto/base/contract.hpp"
#include "panto/numerics/dense.hpp"

namespace panto {
namespace {

// Powers of two that bring the largest entries of rows and columns of |A| + |E| near one.
void equilibrate(const Eigen::MatrixXd& size, Eigen::VectorXd& rows, Eigen::VectorXd& columns) {
  rows.setOnes(size.rows());
  columns.setOnes(size.cols());
  const auto power = [](double x) { return x > 0 ? std::exp2(-std::round(std::log2(x))) : 1.0; };
  for (int sweep = 0; sweep < 4; ++sweep) {
    for (Eigen::Index i = 0; i < size.rows(); ++i)
      rows[i] = power((size.row(i).transpose().array() * columns.array()).maxCoeff());
    for (Eigen::Index j = 0; j < size.cols(); ++j)
      columns[j] = power((size.col(j).array() * rows.array()).maxCoeff());
  }
}

// A unit of time in which entries of E and of A are alike after rows and columns have been scaled: least squares of the logarithms of
// t |E_ij| r_i c_j and |A_ij| r_i c_j, by turns. Of M ÿ + K y it is sqrt(K/M), not K/M as norms would say.
double unit_of_time(const Eigen::MatrixXd& e, const Eigen::MatrixXd& a) {
  struct Entry {
    Eigen::Index row, column;
    double size;
    bool of_e;
  };
  std::vector<Entry> entries;
  constexpr double kNoise = 1e-13, kRoundOff = 1e-15;  // of a row, of all
  const auto collect = [&](const Eigen::MatrixXd& m, bool of_e) {
    const double all = m.cwiseAbs().maxCoeff();
    for (Eigen::Index i = 0; i < m.rows(); ++i) {
      const double least = std::max(kNoise * m.row(i).cwiseAbs().maxCoeff(), kRoundOff * all);
      for (Eigen::Index j = 0; j < m.cols(); ++j)
        if (const double x = std::abs(m(i, j)); x > least)
          entries.push_back({i, j, std::log2(x), of_e});
    }
  };
  collect(e, true);
  collect(a, false);
  const auto n = static_cast<size_t>(e.rows());
  std::vector<double> rows(n, 0.0), columns(n, 0.0), sum(n), count(n);
  double time = 0;
  for (int sweep = 0; sweep < 40; ++sweep) {
    for (const bool by_row : {true, false}) {
      std::fill(sum.begin(), sum.end(), 0.0);
      std::fill(count.begin(), count.end(), 0.0);
      for (const Entry& x : entries) {
        const auto i = static_cast<size_t>(x.row), j = static_cast<size_t>(x.column);
        sum[by_row ? i : j] += x.size + (x.of_e ? time : 0.0) + (by_row ? columns[j] : rows[i]);
        ++count[by_row ? i : j];
      }
      for (size_t i = 0; i < n; ++i)
        (by_row ? rows : columns)[i] = count[i] > 0 ? -sum[i] / count[i] : 0.0;
    }
    double of_e = 0, n_e = 0;
    for (const Entry& x : entries)
      if (x.of_e) {
        of_e += x.size + rows[static_cast<size_t>(x.row)] + columns[static_cast<size_t>(x.column)];
        ++n_e;
      }
    if (n_e > 0) time = -of_e / n_e;
  }
  return std::exp2(time);
}

using Qr = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>;

// Number of pivots that count; the decision is noted.
Eigen::Index rank_of(const Qr& qr, double scale, double tolerance, PencilStructure& out) {
  const auto& r = qr.matrixQR();
  const Eigen::Index n = std::min(r.rows(), r.cols());
  Eigen::Index rank = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double pivot = std::abs(r(i, i)) / scale;
    if (pivot > tolerance) {
      ++rank;
      out.smallest_kept = std::min(out.smallest_kept, pivot);
    } else {
      out.largest_dropped = std::max(out.largest_dropped, pivot);
    }
  }
  return rank;
}

}  // namespace

PencilStructure reduce_pencil(const Eigen::MatrixXd& e, const Eigen::MatrixXd& a,
                              const Eigen::MatrixXd& b, double tolerance) {
  PANTO_EXPECT(e.rows() == e.cols() && a.rows() == e.rows() && a.cols() == e.cols() &&
                   (b.cols() == 0 || b.rows() == e.rows()),
               "square matrices of one size");
  PencilStructure out;
  const Eigen::Index n = e.rows();
  const double time = unit_of_time(e, a);
  Eigen::VectorXd rows, columns;
  equilibrate((time * e).cwiseAbs().cwiseMax(a.cwiseAbs()), rows, columns);
  out.E = rows.asDiagonal() * (time * e) * columns.asDiagonal();
  out.A = rows.asDiagonal() * a * columns.asDiagonal();
  if (b.cols() > 0)
    out.B = rows.asDiagonal() * b;
  else
    out.B.resize(n, 0);
  out.N = columns.asDiagonal();
  const double b_size = out.B.size() > 0 ? out.B.cwiseAbs().maxCoeff() : 0;
  const double scale_e = std::max(1e-300, out.E.norm() / std::sqrt(static_cast<double>(n))),
               scale_a = std::max(1e-300, out.A.norm() / std::sqrt(static_cast<double>(n)));
  while (out.E.rows() > 0) {
    const Qr qr(out.E);
    const Eigen::Index size = out.E.rows(), rank = rank_of(qr, scale_e, tolerance, out);
    if (rank == size) break;
    if (out.index > n) return out;
    const Eigen::MatrixXd q = qr.householderQ();
    const Eigen::MatrixXd qa = q.transpose() * out.A, qb = q.transpose() * out.B,
                          qe = q.transpose() * out.E;
    const Eigen::MatrixXd algebraic = qa.bottomRows(size - rank);
    if (b_size > 0)
      out.direct = std::max(out.direct, qb.bottomRows(size - rank).cwiseAbs().maxCoeff() / b_size);
    const Qr of_rows(algebraic.transpose());
    if (rank_of(of_rows, scale_a, tolerance, out) < size - rank) return out;
    const Eigen::MatrixXd all = of_rows.householderQ();
    const Eigen::MatrixXd null = all.rightCols(rank);
    out.E = qe.topRows(rank) * null;
    out.A = qa.topRows(rank) * null;
    out.B = qb.topRows(rank).eval();
    out.N = (out.N * null).eval();
    ++out.index;
  }
  out.E /= time;
  out.regular = true;
  return out;
}

std::vector<std::complex<double>> PencilStructure::values() const {
  if (E.rows() == 0) return {};
  return eigenvalues(Qr(E).solve(A));
}

}  // namespace panto
