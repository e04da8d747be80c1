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
  // Time in a unit in which E and A are alike, then rows and columns.
  const double e_size = e.norm(), a_size = a.norm();
  const double time = e_size > 0 && a_size > 0 ? a_size / e_size : 1;
  Eigen::VectorXd rows, columns;
  equilibrate((time * e).cwiseAbs().cwiseMax(a.cwiseAbs()), rows, columns);
  out.E = rows.asDiagonal() * e * columns.asDiagonal();
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
  out.regular = true;
  return out;
}

std::vector<std::complex<double>> PencilStructure::values() const {
  if (E.rows() == 0) return {};
  return eigenvalues(Qr(E).solve(A));
}

}  // namespace panto
