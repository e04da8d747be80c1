#include "panto/integrate/motion_saddle.hpp"

#include <utility>

#include "panto/integrate/stepper.hpp"

namespace panto {

MotionSaddle::MotionSaddle(Workspace& workspace) {
  const Model& model = workspace.model();
  const std::vector<double> q(static_cast<size_t>(model.nq), 0.0),
      v(static_cast<size_t>(model.nv), 0.0), u(model.inputs.size(), 0.0);
  Point x;
  x.q = q;
  x.v = x.a = v;
  x.u = x.u_rate = u;
  workspace.step_tangent(x, 0, 0, tangent_);
  const RowMatrix& g = workspace.constraint_rows();
  std::vector<std::vector<std::pair<int, int>>> columns(static_cast<size_t>(model.nv));
  for (int j = 0; j < g.rows(); ++j)
    for (int k = g.start[static_cast<size_t>(j)]; k < g.start[static_cast<size_t>(j) + 1]; ++k)
      columns[static_cast<size_t>(g.column[static_cast<size_t>(k)])].emplace_back(j, k);
  pattern_.columns = model.nv + g.rows();
  in_columns_.resize(g.column.size());
  const auto end_row = [&] { pattern_.start.push_back(static_cast<int>(pattern_.column.size())); };
  for (int i = 0; i < model.nv; ++i) {
    const auto at = static_cast<size_t>(i);
    pattern_.column.insert(pattern_.column.end(), tangent_.column.begin() + tangent_.start[at],
                           tangent_.column.begin() + tangent_.start[at + 1]);
    for (const auto& [row, entry] : columns[at]) {
      in_columns_[static_cast<size_t>(entry)] = static_cast<int>(pattern_.column.size());
      pattern_.column.push_back(model.nv + row);
    }
    end_row();
  }
  for (int j = 0; j < g.rows(); ++j) {
    const auto at = static_cast<size_t>(j);
    pattern_.column.insert(pattern_.column.end(), g.column.begin() + g.start[at],
                           g.column.begin() + g.start[at + 1]);
    pattern_.column.push_back(model.nv + j);
    end_row();
  }
}

Status balanced_point(Ode& ode, double t, View x, View rates, MutableView rest,
                      Point& point) noexcept {
  const Status status = ode.imbalance(t, x, rates, rest);
  if (!usable(status)) return status;
  point.t = ode.inside_window(t);
  point.q = ode.positions();
  point.v = ode.speeds();
  point.a = ode.accelerations();
  point.lambda = ode.balancing_multipliers();
  point.u = ode.inputs();
  point.u_rate = ode.input_rates();
  return status;
}

}  // namespace panto
