#include "panto/inversion/feedback/motion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "panto/numerics/dense.hpp"
#include "panto/numerics/small.hpp"

namespace panto {

Diagnostics MotionSolver::check(const ServoSystem& system) {
  Diagnostics d;
  for (int i = 0; i < system.n_lambda(); ++i) {
    const AlgebraicRow& row = system.rows()[static_cast<size_t>(i)];
    if (!row.differentiable && row.level != Level::kAcceleration)
      d.error(1053, {},
              fmt::format("\"{}\" follows its input without delay: accelerations depend on the "
                          "input's rate, and feedback cannot give that; give the drive order = 1",
                          row.name));
  }
  return d;
}

MotionSolver::MotionSolver(ServoSystem& system) : system_(system) {
  const int nv = system.nv(), nl = system.n_lambda(), nu = system.nu();
  zero_.assign(static_cast<size_t>(std::max({nv, nl, nu})), 0.0);
  values_.resize(nv, nl, nu);
  left_.resize(nv + nl, nv + nl);
  right_.resize(nv + nl, 1 + nu);
}

Status MotionSolver::solve(double t, View y, View v) noexcept {
  const int nv = system_.nv(), nl = system_.n_lambda(), nu = system_.nu();
  const auto zeros = [&](int n) { return View{zero_.data(), static_cast<size_t>(n)}; };
  system_.evaluate({t, y, v, zeros(nv), zeros(nl), zeros(nu)}, true, values_);
  left_.topLeftCorner(nv, nv) = values_.r_w;
  left_.topRightCorner(nv, nl) = values_.r_lambda;
  left_.bottomLeftCorner(nl, nv) = values_.G.topRows(nl);
  left_.bottomRightCorner(nl, nl).setZero();
  right_.col(0).head(nv) = -values_.r;
  right_.col(0).tail(nl) = -values_.g2.head(nl);
  right_.topRightCorner(nv, nu) = -values_.r_u;
  for (int i = 0; i < nl; ++i) {
    if (system_.rows()[static_cast<size_t>(i)].level == Level::kAcceleration)
      right_.row(nv + i).tail(nu) = -values_.g_u.row(i);
    else
      right_.row(nv + i).tail(nu).setZero();
  }
  if (!eliminate(left_, right_)) return Status::kSingular;
  return right_.allFinite() ? Status::kOk : Status::kNotFinite;
}

void MotionSolver::motion(View u, MutableView w, MutableView lambda) const noexcept {
  const int nv = system_.nv(), nl = system_.n_lambda();
  for (int i = 0; i < nv + nl; ++i) {
    double x = right_(i, 0);
    for (size_t k = 0; k < u.size(); ++k) x += right_(i, static_cast<Eigen::Index>(k) + 1) * u[k];
    (i < nv ? w[static_cast<size_t>(i)] : lambda[static_cast<size_t>(i - nv)]) = x;
  }
}

Result<LinearMotion> linearise_motion(ServoSystem& system, double t, View y, View v, View u) {
  Diagnostics d = MotionSolver::check(system);
  if (!d.ok()) return d;
  const int nv = system.nv(), nl = system.n_lambda(), nu = system.nu();
  MotionSolver solver(system);
  const auto singular = [&] {
    d.error(1054, {},
            fmt::format("t = {:.6g} s: the equations of motion do not determine the accelerations "
                        "(rows that depend on each other, or a coordinate without mass)",
                        t));
    return d;
  };
  if (solver.solve(t, y, v) != Status::kOk) return singular();
  std::vector<double> w(static_cast<size_t>(nv)), lambda(static_cast<size_t>(nl));
  solver.motion(u, w, lambda);
  ServoValues x;
  x.resize(nv, nl, nu);
  system.evaluate({t, y, v, w, lambda, u}, true, x);
  Eigen::MatrixXd left(nv + nl, nv + nl), right(nv + nl, 2 * nv + nu);
  left << x.r_w, x.r_lambda, x.G.topRows(nl), Eigen::MatrixXd::Zero(nl, nl);
  right.topRows(nv) << -x.r_y, -x.r_v, -x.r_u;
  // Rows on positions and speeds that hold at all times: what remains of them is the space of motions.
  std::vector<int> positions, speeds;
  for (int i = 0; i < nl; ++i) {
    const Level level = system.rows()[static_cast<size_t>(i)].level;
    right.row(nv + i) << -x.g2_y.row(i), -x.g2_v.row(i), Eigen::RowVectorXd::Zero(nu);
    if (level == Level::kAcceleration)
      right.row(nv + i).tail(nu) = -x.g_u.row(i);
    else
      speeds.push_back(i);
    if (level == Level::kPosition) positions.push_back(i);
  }
  if (!eliminate(left, right) || !right.allFinite()) return singular();

  LinearMotion out;
  Eigen::MatrixXd rows =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(positions.size() + speeds.size()), 2 * nv);
  Eigen::Index at = 0;
  for (const int i : positions) rows.row(at++).head(nv) = x.G.row(i);
  for (const int i : speeds) {
    rows.row(at).head(nv) = x.g1_y.row(i);
    rows.row(at++).tail(nv) = x.G.row(i);
  }
  if (rows.rows() == 0) {
    out.T.setIdentity(2 * nv, 2 * nv);
  } else {
    MinimumNorm decomposition(1e-10);
    decomposition.compute(rows);
    out.T = decomposition.null_space();
  }
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2 * nv, 2 * nv), b = Eigen::MatrixXd::Zero(2 * nv, nu);
  a.topRightCorner(nv, nv).setIdentity();
  a.bottomRows(nv) = right.topLeftCorner(nv, 2 * nv);
  b.bottomRows(nv) = right.topRightCorner(nv, nu);
  out.A = out.T.transpose() * a * out.T;
  out.B = out.T.transpose() * b;
  return out;
}

}  // namespace panto
