#include <gtest/gtest.h>

#include <random>

#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "tests/laws/laws.hpp"

namespace panto::laws {

Point Sample::point() const {
  Point p;
  p.t = t;
  p.q = view(q);
  p.v = view(v);
  p.a = view(a);
  p.lambda = view(lambda);
  p.u = view(u);
  p.u_rate = view(u_rate);
  return p;
}

std::vector<Sample> samples(const Model& model, int count, unsigned seed) {
  const auto workspace = Workspace::create(model, nominal(model));
  const auto start = assemble(*workspace);
  std::vector<Sample> result;
  if (!start) {
    ADD_FAILURE() << "cannot be assembled: " << start.diagnostics().text();
    return result;
  }
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto random = [&](Eigen::Index n, double size) {
    Eigen::VectorXd x(n);
    for (double& e : x) e = size * uniform(generator);
    return x;
  };
  for (int tries = 0; static_cast<int>(result.size()) < count && tries < 20 * count; ++tries) {
    Sample s;
    s.t = 0.25 * (1 + uniform(generator));
    s.q = start->q;
    Closure closure(*workspace, s.t);
    // A few steps along the possible motions, each followed by closing the loops.
    bool closed = closure.solve(s.q).converged;
    for (int k = 0; k < 3 && closed; ++k) {
      Eigen::MatrixXd g;
      workspace->constraint_jacobian(s.t, view(s.q), g);
      MinimumNorm rows(1e-8);
      rows.compute(g * closure.dof_scale().asDiagonal());
      const Eigen::MatrixXd free = rows.null_space();
      Eigen::VectorXd step = closure.dof_scale().cwiseProduct(free * random(free.cols(), 0.3));
      step.tail(model.nv - model.joint_nv()) *= 0.01;  // beams bend little
      workspace->move(view(s.q), view(step));
      closed = closure.solve(s.q).converged;
    }
    if (!closed) continue;
    s.u = random(model.nu(), 1);
    s.u_rate = random(model.nu(), 1);
    s.a = random(model.nv, 1);
    s.lambda = random(model.n_rows(), 1);
    // Speeds: the random ones, corrected by the least change that satisfies the velocity rows.
    s.v = random(model.nv, 1).cwiseProduct(closure.dof_scale());
    const int npv = model.n_position_rows + model.n_velocity_rows;
    Eigen::MatrixXd g;
    workspace->constraint_jacobian(s.t, view(s.q), g);
    MinimumNorm rows(1e-8);
    rows.compute(g.topRows(npv));
    for (int k = 0; k < 3; ++k) {
      Residual residual;
      workspace->residual(s.point(), false, residual);
      s.v -= rows.solve(residual.phi_dot);
    }
    Residual residual;
    workspace->residual(s.point(), false, residual);
    const double worst = npv > 0 ? residual.phi_dot.cwiseAbs().maxCoeff() : 0;
    // Drivers that contradict the loops away from the start, or a pose next to a singular one.
    if (worst > 1e-11 * (1 + s.v.norm())) continue;
    if (!residual.r.allFinite() || s.v.norm() > 1e3) continue;
    result.push_back(std::move(s));
  }
  EXPECT_EQ(static_cast<int>(result.size()), count) << "too few consistent motions found";
  return result;
}

}  // namespace panto::laws
