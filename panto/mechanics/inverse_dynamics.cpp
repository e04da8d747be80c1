#include <algorithm>
#include <cmath>

#include "panto/base/contract.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"

namespace panto {

namespace {
constexpr double kRankTolerance = 1e-10;
constexpr double kProducible = 1e-9;  // what is left, relative to the forces of the motion
}  // namespace

// r is linear in λ and u (INV-1): r(λ, u) = r(0, u0) - Gᵀ λ + r_u u. Inputs of velocity-controlled drives do not enter r; they follow from the
// motion by their own row.
Status inverse_dynamics(Workspace& workspace, const Point& motion, std::span<const int> actuators,
                        InverseDynamics& out) {
  const Model& m = workspace.model();
  PANTO_EXPECT(motion.q.size() == static_cast<size_t>(m.nq) &&
                   motion.v.size() == static_cast<size_t>(m.nv) &&
                   motion.a.size() == static_cast<size_t>(m.nv),
               "motion belongs to another model");
  out.u.setZero(m.nu());
  std::copy(motion.u.begin(), motion.u.end(), out.u.data());
  for (int i : actuators) {
    PANTO_EXPECT(i >= 0 && i < m.nu(), "no such input");
    out.u(i) = 0;
  }
  Point at = motion;
  at.lambda = {};
  at.u = view(out.u);
  Residual residual;
  workspace.residual(at, false, residual);
  Blocks blocks;
  blocks.q = blocks.v = blocks.a = false;
  blocks.lambda = blocks.u = true;
  Tangent tangent;
  workspace.tangent(at, blocks, tangent);

  std::vector<int> forces;
  for (int i : actuators) {
    bool drive = false;
    for (int k = 0; k < m.n_rows(); ++k) {
      const ConstraintRow& row = m.rows[static_cast<size_t>(k)];
      if (row.input != i) continue;
      drive = true;
      out.u(i) = row.target == TargetKind::kDrive0
                     ? -residual.phi_dot(k) / tangent.phi_dot_u(k, i)
                     : -residual.phi_ddot(k) / tangent.phi_ddot_u(k, i);
    }
    if (!drive) forces.push_back(i);
  }

  const auto rows = static_cast<Eigen::Index>(m.n_rows()),
             columns = static_cast<Eigen::Index>(forces.size());
  Eigen::MatrixXd a(m.nv, rows + columns);
  a.leftCols(rows) = tangent.r_lambda;
  for (Eigen::Index k = 0; k < columns; ++k)
    a.col(rows + k) = tangent.r_u.col(forces[static_cast<size_t>(k)]);
  MinimumNorm solver(kRankTolerance);
  solver.compute(a);
  Eigen::VectorXd x = solver.solve(-residual.r);
  x -= solver.solve(residual.r + a * x);  // one refinement
  out.lambda = x.head(rows);
  for (Eigen::Index k = 0; k < columns; ++k) out.u(forces[static_cast<size_t>(k)]) = x(rows + k);
  out.residual = (residual.r + a * x).norm();
  if (!std::isfinite(out.residual)) return Status::kNotFinite;
  const double scale = residual.r.norm();
  return out.residual > kProducible * scale + 1e-300 ? Status::kSingular : Status::kOk;
}

}  // namespace panto
