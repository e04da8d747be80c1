#include "panto/inversion/internal_modes.hpp"

#include <algorithm>
#include <cmath>

#include "panto/numerics/dense.hpp"
#include "panto/numerics/eigenproblems.hpp"
#include "panto/numerics/pencil.hpp"

namespace panto {
namespace {

using Complex = std::complex<double>;

// Columns of norm one.
Eigen::MatrixXd normalised(Eigen::MatrixXd m) {
  for (Eigen::Index k = 0; k < m.cols(); ++k)
    if (const double norm = m.col(k).norm(); norm > 0) m.col(k) /= norm;
  return m;
}

Eigen::MatrixXd side_by_side(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  Eigen::MatrixXd out(std::max(a.rows(), b.rows()), a.cols() + b.cols());
  if (a.cols() > 0) out.leftCols(a.cols()) = a;
  if (b.cols() > 0) out.rightCols(b.cols()) = b;
  return out;
}

// Orthonormal rows, orthogonal to the rows of `a` and to the columns of `b`, of which none counts as the sum of others however like they are.
Eigen::MatrixXd complement(Eigen::MatrixXd a, const Eigen::MatrixXd& b) {
  for (Eigen::Index i = 0; i < a.rows(); ++i) a.row(i) /= std::max(a.row(i).norm(), 1e-300);
  MinimumNorm of_rows(1e-9), of_columns(0);
  of_rows.compute(a);
  const Eigen::MatrixXd left =
      a.rows() > 0 ? of_rows.null_space() : Eigen::MatrixXd::Identity(a.cols(), a.cols());
  if (b.cols() == 0) return left.transpose();
  of_columns.compute(b.transpose() * left);
  return (left * of_columns.null_space()).transpose();
}

// Rows that read the amplitudes of the columns of `wanted` in a sum of columns of both.
Eigen::MatrixXd amplitudes(const Eigen::MatrixXd& wanted, const Eigen::MatrixXd& others) {
  const Eigen::MatrixXd all = side_by_side(wanted, others);
  MinimumNorm decomposition(1e-12);
  decomposition.compute(all);
  Eigen::MatrixXd rows(wanted.cols(), all.rows());
  for (Eigen::Index k = 0; k < all.rows(); ++k)
    rows.col(k) = decomposition.solve(Eigen::VectorXd::Unit(all.rows(), k)).head(wanted.cols());
  return rows;
}

// Components that tell the columns of `modes` apart: Gauss elimination with the largest entry left, positions twice as welcome as speeds.
std::vector<int> telling(Eigen::MatrixXd modes) {
  std::vector<int> chosen;
  const Eigen::Index half = modes.rows() / 2;
  for (Eigen::Index k = 0; k < modes.cols(); ++k) {
    Eigen::Index row = 0, column = 0;
    double best = -1;
    for (Eigen::Index j = k; j < modes.cols(); ++j)
      for (Eigen::Index i = 0; i < modes.rows(); ++i) {
        const double size = std::abs(modes(i, j)) * (i < half ? 2 : 1);
        if (size > best) best = size, row = i, column = j;
      }
    chosen.push_back(static_cast<int>(row));
    modes.col(k).swap(modes.col(column));
    for (Eigen::Index j = k + 1; j < modes.cols(); ++j)
      modes.col(j) -= modes(row, j) / modes(row, k) * modes.col(k);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

EndConditions clamps(const Eigen::MatrixXd& kept_out, const std::vector<int>& chosen) {
  EndConditions out;
  out.clamped = chosen.empty() ? telling(kept_out) : chosen;
  const Eigen::Index n = static_cast<Eigen::Index>(out.clamped.size());
  out.rows.setZero(n, kept_out.rows());
  for (Eigen::Index i = 0; i < n; ++i) out.rows(i, out.clamped[static_cast<size_t>(i)]) = 1;
  if (n == 0) return out;
  MinimumNorm rank(1e-8);
  rank.compute(out.rows * kept_out);
  if (n != kept_out.cols() || rank.rank() != n) out.rows.resize(0, kept_out.rows());
  return out;
}

// Equations of motion and rows as accelerations, by (w, λ, u): where they are singular, combinations of them contain positions and speeds alone, and
// combinations of λ and u act on no acceleration.
void demands(const ServoSystem& system, const ServoValues& v, double frequency,
             std::vector<Eigen::RowVectorXd>& rows, Eigen::MatrixXd& idle) {
  const int n = system.nv(), nl = system.n_lambda(), nu = system.nu(), size = n + nl + nu;
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(size, size), d = Eigen::MatrixXd::Zero(size, 2 * n);
  k.topRows(n) << v.r_w, v.r_lambda, v.r_u;
  d.topRows(n) << v.r_y, v.r_v * frequency;
  for (int i = 0; i < nl + nu; ++i) {
    const AlgebraicRow& row = system.rows()[static_cast<size_t>(i)];
    if (row.level == Level::kAcceleration || row.differentiable) {
      k.row(n + i).head(n) = v.G.row(i);
      d.row(n + i) << v.g2_y.row(i), v.g2_v.row(i) * frequency;
    } else if (row.level == Level::kVelocity) {
      d.row(n + i) << v.g1_y.row(i), v.G.row(i) * frequency;
    } else {
      d.row(n + i).head(n) = v.G.row(i);
    }
    k.row(n + i).tail(nu) = v.g_u.row(i);
  }
  // Rows and columns of like size, so that the tolerance means the same for all of them.
  Eigen::VectorXd row_scale = Eigen::VectorXd::Ones(size), column_scale = row_scale;
  for (int sweep = 0; sweep < 3; ++sweep) {
    for (int i = 0; i < size; ++i)
      if (const double norm = k.row(i).norm(); norm > 0) k.row(i) /= norm, row_scale[i] /= norm;
    for (int i = 0; i < size; ++i)
      if (const double norm = k.col(i).norm(); norm > 0) k.col(i) /= norm, column_scale[i] /= norm;
  }
  MinimumNorm left(1e-9), right(1e-9);
  left.compute(k.transpose());
  right.compute(k);
  const Eigen::MatrixXd combinations = left.null_space().transpose() * row_scale.asDiagonal() * d;
  for (Eigen::Index i = 0; i < combinations.rows(); ++i) rows.emplace_back(combinations.row(i));
  idle = (column_scale.asDiagonal() * right.null_space()).bottomRows(nl + nu);
  idle = normalised(idle);
}

}  // namespace

Eigen::MatrixXd InternalModes::basis() const {
  return side_by_side(side_by_side(decaying_basis, neutral_basis), growing_basis);
}

InternalModes internal_modes(ServoSystem& system, double t, const Rest& rest, double marginal) {
  InternalModes out;
  const ServoPencil p = servo_pencil(system, t, rest);
  const PencilStructure s = reduce_pencil(p.E, p.A, Eigen::MatrixXd(p.E.rows(), 0));
  const Eigen::Index n = p.nv, size = s.E.rows();
  Eigen::MatrixXd a(size, size);
  MinimumNorm inverse(1e-14);
  if (size > 0) inverse.compute(s.E);
  for (Eigen::Index k = 0; k < size; ++k) a.col(k) = inverse.solve(s.A.col(k));
  const ComplexPairs pairs = state_pairs(a);
  double frequency = 0;
  for (Eigen::Index k = 0; k < size; ++k)
    frequency += std::log(std::max(std::abs(pairs.values[k]), 1e-3)) / static_cast<double>(size);
  out.frequency = size > 0 ? std::exp(frequency) : 1;
  const auto collect = [&](int kind, std::vector<Complex>& zeros, Eigen::MatrixXd& basis) {
    std::vector<Eigen::Index> members;
    for (Eigen::Index k = 0; k < size; ++k) {
      const Complex z = pairs.values[k];
      const double bound = marginal * std::abs(z);
      const int of = z.real() > bound ? 1 : z.real() < -bound ? -1 : 0;
      if (of == kind && z.imag() >= 0) members.push_back(k);
    }
    std::sort(members.begin(), members.end(), [&](Eigen::Index i, Eigen::Index k) {
      const auto rate = [&](Eigen::Index m) {
        return kind == 0 ? std::abs(pairs.values[m]) : std::abs(pairs.values[m].real());
      };
      return rate(i) < rate(k);
    });
    std::vector<Eigen::VectorXd> columns;
    for (const Eigen::Index k : members) {
      const Eigen::VectorXcd x = s.N.cast<Complex>() * pairs.vectors.col(k);
      Eigen::VectorXcd d(2 * n);
      d << x.head(n), x.segment(n, n) / out.frequency;
      zeros.push_back(pairs.values[k]);
      columns.push_back(d.real());
      if (pairs.values[k].imag() > 0) {
        zeros.push_back(std::conj(pairs.values[k]));
        columns.push_back(d.imag());
      }
    }
    basis.resize(2 * n, static_cast<Eigen::Index>(columns.size()));
    for (size_t k = 0; k < columns.size(); ++k)
      basis.col(static_cast<Eigen::Index>(k)) = columns[k];
    basis = normalised(basis);
  };
  collect(-1, out.decaying, out.decaying_basis);
  collect(0, out.neutral, out.neutral_basis);
  collect(1, out.growing, out.growing_basis);

  // Rows on positions bind both, those on speeds the speeds alone.
  ServoValues values;
  values.resize(p.nv, p.n_lambda, p.nu);
  const std::vector<double> still(static_cast<size_t>(n), 0.0);
  const auto view = [](const Eigen::VectorXd& x) {
    return View{x.data(), static_cast<size_t>(x.size())};
  };
  system.evaluate({t, view(rest.y), still, still, view(rest.lambda), view(rest.u)}, true, values);
  std::vector<Eigen::RowVectorXd> rows;
  for (size_t i = 0; i < system.rows().size(); ++i) {
    const AlgebraicRow& row = system.rows()[i];
    const auto r = static_cast<Eigen::Index>(i);
    if (!row.differentiable || row.level == Level::kAcceleration) continue;
    Eigen::RowVectorXd d = Eigen::RowVectorXd::Zero(2 * n);
    if (row.level == Level::kPosition) {
      d.head(n) = values.G.row(r);
      rows.push_back(d);
      d.setZero();
    }
    d.head(n) = values.g1_y.row(r);
    d.tail(n) = values.G.row(r) * out.frequency;
    rows.push_back(d);
  }
  demands(system, values, out.frequency, rows, out.idle);
  out.rows.resize(static_cast<Eigen::Index>(rows.size()), 2 * n);
  for (size_t i = 0; i < rows.size(); ++i) out.rows.row(static_cast<Eigen::Index>(i)) = rows[i];
  return out;
}

EndConditions leave_along_growing(const InternalModes& modes) {
  return {complement(modes.rows, modes.growing_basis), {}, {}};
}

EndConditions arrive_along_decaying(const InternalModes& modes) {
  return {amplitudes(modes.growing_basis, side_by_side(modes.decaying_basis, modes.neutral_basis)),
          modes.idle.transpose(),
          {}};
}

EndConditions rest_of_neutral(const InternalModes& modes) {
  if (modes.neutral_basis.cols() == 0) return {};
  return {amplitudes(modes.neutral_basis, side_by_side(modes.decaying_basis, modes.growing_basis)),
          {},
          {}};
}

EndConditions clamp_begin(const InternalModes& modes, const std::vector<int>& chosen) {
  EndConditions out = clamps(side_by_side(modes.decaying_basis, modes.neutral_basis), chosen);
  const Eigen::MatrixXd hidden = complement(modes.rows, modes.basis());
  if (out.rows.rows() == 0 && modes.size() > modes.growing_basis.cols()) return out;
  Eigen::MatrixXd rows(out.rows.rows() + hidden.rows(), modes.rows.cols());
  rows << out.rows, hidden;
  out.rows = rows;
  return out;
}

EndConditions clamp_end(const InternalModes& modes, const std::vector<int>& chosen) {
  EndConditions out = clamps(modes.growing_basis, chosen);
  out.forces = modes.idle.transpose();
  return out;
}

}  // namespace panto
