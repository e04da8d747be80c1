// Derivatives of the residual. State directions by dual numbers, eight at a time, columns that never meet in an equation sharing a lane
// (structure.hpp); a, λ and u enter linearly and are read off M, G and B; θ by dual constants.
#include <algorithm>

#include "panto/mechanics/rigid/rigid_workspace.hpp"

namespace panto::rigid {

namespace {

void clear(std::vector<Dual>& x) {
  for (Dual& e : x) e.v.setZero();
}

}  // namespace

template <class S>
void RigidWorkspace<S>::seed_point(const Point& x) {
  if (!dual_) dual_ = std::make_unique<DualScratch>(model_);
  DualScratch& d = *dual_;
  const auto copy = [](View from, std::vector<Dual>& to) {
    for (size_t i = 0; i < to.size(); ++i) to[i] = Dual(i < from.size() ? from[i] : 0.0);
  };
  copy(x.q, d.q);
  copy(x.v, d.v);
  copy(x.a, d.a);
  copy(x.lambda, d.lambda);
  copy(x.u, d.u);
}

template <class S>
template <class P>
void RigidWorkspace<S>::sweep(const Constants<S, P>& c, const Point& x, bool placed) {
  DualScratch& d = *dual_;
  Arguments<Dual> p;
  p.t = x.t;
  p.q = d.q.data();
  p.v = d.v.data();
  p.a = d.a.data();
  p.lambda = d.lambda.data();
  p.u = d.u.data();
  p.u_rate = x.u_rate.empty() ? nullptr : x.u_rate.data();
  d.eq.evaluate(c, p, placed);
}

template <class S>
void RigidWorkspace<S>::tangent(const Point& x, const Blocks& blocks, Tangent& out) {
  seed_point(x);
  if (blocks.q || blocks.v) tangent_state(x, blocks, out);
  if (blocks.a || blocks.lambda || blocks.u) tangent_linear(x, blocks, out);
  if (!blocks.theta.empty()) tangent_theta(x, blocks, out);
}

template <class S>
void RigidWorkspace<S>::tangent_state(const Point& x, const Blocks& blocks, Tangent& out) {
  DualScratch& d = *dual_;
  const int nv = model_.nv, np = model_.n_position_rows, npv = np + model_.n_velocity_rows,
            m = model_.n_rows();
  const auto ny = static_cast<int>(model_.outputs.size());
  const std::vector<int>& colour =
      blocks.y ? structure_.state_colour_with_outputs : structure_.state_colour;
  const int colours = blocks.y ? structure_.state_colours_with_outputs : structure_.state_colours;
  if (blocks.q) {
    clear(out.r_q, nv, nv);
    clear(out.phi_q, np, nv);
    clear(out.phi_dot_q, npv, nv);
    clear(out.phi_ddot_q, m, nv);
    if (blocks.y) clear(out.y_q, ny, nv);
  }
  if (blocks.v) {
    clear(out.r_v, nv, nv);
    clear(out.phi_dot_v, npv, nv);
    clear(out.phi_ddot_v, m, nv);
    if (blocks.y) clear(out.y_v, ny, nv);
  }
  // Lane l of the whole sweep: colour l for δq, then colour l - colours for v.
  const int lanes = (blocks.q ? colours : 0) + (blocks.v ? colours : 0);
  const int first_v = blocks.q ? colours : 0;
  for (int base = 0; base < lanes; base += kDualLanes) {
    if (base > 0) {
      clear(d.q);
      clear(d.v);
    }
    const auto lane_of = [&](int dof, bool position) {
      const int lane = colour[static_cast<size_t>(dof)] + (position ? 0 : first_v) - base;
      return (position ? blocks.q : blocks.v) && lane >= 0 && lane < kDualLanes ? lane : -1;
    };
    for (const Joint& j : model_.joints) {
      if (j.type == JointType::kSpherical) {
        // q̇ = ½ q ⊗ (0, ω): the columns of N.
        const double w = d.q[static_cast<size_t>(j.q)].a, qx = d.q[static_cast<size_t>(j.q) + 1].a,
                     qy = d.q[static_cast<size_t>(j.q) + 2].a,
                     qz = d.q[static_cast<size_t>(j.q) + 3].a;
        const double n[3][4] = {{-qx, w, qz, -qy}, {-qy, -qz, w, qx}, {-qz, qy, -qx, w}};
        for (int k = 0; k < 3; ++k) {
          if (const int lane = lane_of(j.v + k, true); lane >= 0)
            for (int e = 0; e < 4; ++e) d.q[static_cast<size_t>(j.q + e)].v[lane] += 0.5 * n[k][e];
          if (const int lane = lane_of(j.v + k, false); lane >= 0)
            d.v[static_cast<size_t>(j.v + k)].v[lane] = 1;
        }
      } else if (j.nv == 1) {
        if (const int lane = lane_of(j.v, true); lane >= 0)
          d.q[static_cast<size_t>(j.q)].v[lane] = 1;
        if (const int lane = lane_of(j.v, false); lane >= 0)
          d.v[static_cast<size_t>(j.v)].v[lane] = 1;
      }
    }
    for (int dof = model_.joint_nv(); dof < nv; ++dof) {
      if (const int lane = lane_of(dof, true); lane >= 0)
        d.q[static_cast<size_t>(coordinate_of(dof))].v[lane] = 1;
      if (const int lane = lane_of(dof, false); lane >= 0)
        d.v[static_cast<size_t>(dof)].v[lane] = 1;
    }
    sweep(c_, x);
    const auto gather = [&](const std::vector<Dual>& from, int rows,
                            const std::vector<std::vector<int>>& dofs, bool position,
                            Eigen::MatrixXd& to) {
      for (int i = 0; i < rows; ++i)
        for (int dof : dofs[static_cast<size_t>(i)])
          if (const int lane = lane_of(dof, position); lane >= 0)
            to(i, dof) = from[static_cast<size_t>(i)].v[lane];
    };
    if (blocks.q) {
      gather(d.eq.r, nv, structure_.state_dofs, true, out.r_q);
      gather(d.eq.phi, np, structure_.row_dofs, true, out.phi_q);
      gather(d.eq.phi_dot, npv, structure_.row_dofs, true, out.phi_dot_q);
      gather(d.eq.phi_ddot, m, structure_.row_dofs, true, out.phi_ddot_q);
    }
    if (blocks.v) {
      gather(d.eq.r, nv, structure_.state_dofs, false, out.r_v);
      gather(d.eq.phi_dot, npv, structure_.row_dofs, false, out.phi_dot_v);
      gather(d.eq.phi_ddot, m, structure_.row_dofs, false, out.phi_ddot_v);
    }
    if (blocks.y) {
      Arguments<Dual> p;
      p.lambda = d.lambda.data();
      p.u = d.u.data();
      d.eq.outputs(c_, p);
      if (blocks.q) gather(d.eq.y, ny, structure_.y_dofs, true, out.y_q);
      if (blocks.v) gather(d.eq.y, ny, structure_.y_dofs, false, out.y_v);
    }
  }
  clear(d.q);
  clear(d.v);
  if constexpr (S::kPlanar) {
    if (model_.ancf_elements.empty()) return;
    set_positions(x.q);
    const auto add = [nv](double* to) {
      return [to, nv](int i, int j, double k) {
        if (to) to[i + j * nv] += k;
      };
    };
    ancf::element_tangents(eq_.kin, c_, add(blocks.q ? out.r_q.data() : nullptr),
                           add(blocks.v ? out.r_v.data() : nullptr));
  }
}

template <class S>
void RigidWorkspace<S>::tangent_linear(const Point& x, const Blocks& blocks, Tangent& out) {
  const int nv = model_.nv, m = model_.n_rows(), nu = model_.nu();
  set_positions(x.q);
  if (blocks.a) {
    mass_known_ = false;
    evaluate_mass();
    mass_.dense(out.r_a);
  }
  if (blocks.a || blocks.lambda) {
    jacobian();
    clear(out.phi_ddot_a, m, nv);
    for (int i = 0; i < m; ++i)
      for (int k = g_.start[static_cast<size_t>(i)]; k < g_.start[static_cast<size_t>(i) + 1]; ++k)
        out.phi_ddot_a(i, g_.column[static_cast<size_t>(k)]) = g_.value[static_cast<size_t>(k)];
  }
  if (blocks.lambda) out.r_lambda = -out.phi_ddot_a.transpose();
  if (blocks.u) {
    clear(out.r_u, nv, nu);
    for (const Actuator& actuator : model_.actuators) {
      if (actuator.group >= 0) continue;
      auto column = out.r_u.col(actuator.input);
      channel(actuator.channel, Order::kValue, x.q, {}, {column.data(), static_cast<size_t>(nv)});
      column = -column;
    }
    clear(out.phi_dot_u, model_.n_position_rows + model_.n_velocity_rows, nu);
    clear(out.phi_ddot_u, m, nu);
    for (int i = 0; i < m; ++i) {
      const ConstraintRow& row = model_.rows[static_cast<size_t>(i)];
      if (row.target == TargetKind::kDrive0) out.phi_dot_u(i, row.input) = -1;
      if (row.target == TargetKind::kDrive1) out.phi_ddot_u(i, row.input) = -1 / c_[row.tau];
      if (row.target == TargetKind::kDrive2)
        out.phi_ddot_u(i, row.input) = -c_[row.omega] * c_[row.omega];
    }
  }
  if (!blocks.y) return;
  // Output rows by dual numbers: one column per lane.
  DualScratch& d = *dual_;
  const auto ny = static_cast<int>(model_.outputs.size());
  const auto columns = [&](std::vector<Dual>& seeds, Eigen::MatrixXd& to) {
    const auto n = static_cast<int>(seeds.size());
    to.setZero(ny, n);
    for (int base = 0; base < n; base += kDualLanes) {
      clear(seeds);
      const int count = std::min(kDualLanes, n - base);
      for (int k = 0; k < count; ++k) seeds[static_cast<size_t>(base + k)].v[k] = 1;
      sweep(c_, x);
      Arguments<Dual> p;
      p.lambda = d.lambda.data();
      p.u = d.u.data();
      d.eq.outputs(c_, p);
      for (int i = 0; i < ny; ++i)
        for (int k = 0; k < count; ++k) to(i, base + k) = d.eq.y[static_cast<size_t>(i)].v[k];
    }
    clear(seeds);
  };
  if (blocks.a) columns(d.a, out.y_a);
  if (blocks.lambda) columns(d.lambda, out.y_lambda);
  if (blocks.u) columns(d.u, out.y_u);
}

template <class S>
void RigidWorkspace<S>::tangent_theta(const Point& x, const Blocks& blocks, Tangent& out) {
  DualScratch& d = *dual_;
  const int nv = model_.nv, np = model_.n_position_rows, npv = np + model_.n_velocity_rows,
            m = model_.n_rows();
  const auto ny = static_cast<int>(model_.outputs.size()),
             n = static_cast<int>(blocks.theta.size());
  out.r_theta.setZero(nv, n);
  out.phi_theta.setZero(np, n);
  out.phi_dot_theta.setZero(npv, n);
  out.phi_ddot_theta.setZero(m, n);
  if (blocks.y) out.y_theta.setZero(ny, n);
  std::vector<Dual> theta(static_cast<size_t>(params_.values.size()));
  for (int base = 0; base < n; base += kDualLanes) {
    const int count = std::min(kDualLanes, n - base);
    for (size_t i = 0; i < theta.size(); ++i)
      theta[i] = Dual(params_.values(static_cast<Eigen::Index>(i)));
    for (int k = 0; k < count; ++k)
      theta[static_cast<size_t>(blocks.theta[static_cast<size_t>(base + k)])].v[k] = 1;
    const auto constants = bake<S, Dual>(model_, std::span<const Dual>(theta), &shapes_);
    sweep(constants, x);
    const auto scatter = [&](const std::vector<Dual>& from, int rows, Eigen::MatrixXd& to) {
      for (int i = 0; i < rows; ++i)
        for (int k = 0; k < count; ++k) to(i, base + k) = from[static_cast<size_t>(i)].v[k];
    };
    scatter(d.eq.r, nv, out.r_theta);
    scatter(d.eq.phi, np, out.phi_theta);
    scatter(d.eq.phi_dot, npv, out.phi_dot_theta);
    scatter(d.eq.phi_ddot, m, out.phi_ddot_theta);
    if (blocks.y) {
      Arguments<Dual> p;
      p.lambda = d.lambda.data();
      p.u = d.u.data();
      d.eq.outputs(constants, p);
      scatter(d.eq.y, ny, out.y_theta);
    }
  }
}

template <class S>
void RigidWorkspace<S>::along(const Point& x, Level level, const Eigen::MatrixXd& dq,
                              const Eigen::MatrixXd& dv, const Eigen::MatrixXd& da,
                              std::span<const int> outputs, DirectionalTangent& out) {
  seed_point(x);
  DualScratch& d = *dual_;
  const bool all = level == Level::kAcceleration;
  const auto npv = static_cast<Eigen::Index>(model_.n_position_rows + model_.n_velocity_rows),
             ny = static_cast<Eigen::Index>(outputs.size()), columns = dq.cols();
  out.phi_dot.resize(npv, columns);
  if (out.y.rows() < ny || out.y.cols() != columns) out.y.resize(ny, columns);
  if (all) {
    out.r.resize(model_.nv, columns);
    out.phi_ddot.resize(model_.n_rows(), columns);
  }
  Arguments<Dual> p;
  p.lambda = d.lambda.data();
  p.u = d.u.data();
  bool still = false;  // the positions are there, with all their derivatives zero
  for (Eigen::Index base = 0; base < columns; base += kDualLanes) {
    const auto count = static_cast<int>(std::min<Eigen::Index>(kDualLanes, columns - base));
    const bool moves = (dq.middleCols(base, count).array() != 0).any(), placed = still && !moves;
    still = !moves;
    for (const Joint& j : model_.joints) {
      const auto q = static_cast<size_t>(j.q), v = static_cast<size_t>(j.v);
      for (int l = 0; l < count; ++l) {
        const Eigen::Index column = base + l;
        for (int k = 0; k < j.nv; ++k) {
          d.v[v + static_cast<size_t>(k)].v[l] = dv(j.v + k, column);
          d.a[v + static_cast<size_t>(k)].v[l] = da.cols() > 0 ? da(j.v + k, column) : 0.0;
        }
        if (j.type == JointType::kSpherical) {
          const double w = d.q[q].a, qx = d.q[q + 1].a, qy = d.q[q + 2].a, qz = d.q[q + 3].a,
                       a = 0.5 * dq(j.v, column), b = 0.5 * dq(j.v + 1, column),
                       c = 0.5 * dq(j.v + 2, column);
          d.q[q].v[l] = -qx * a - qy * b - qz * c;
          d.q[q + 1].v[l] = w * a - qz * b + qy * c;
          d.q[q + 2].v[l] = qz * a + w * b - qx * c;
          d.q[q + 3].v[l] = -qy * a + qx * b + w * c;
        } else if (j.nv == 1) {
          d.q[q].v[l] = dq(j.v, column);
        }
      }
    }
    for (int dof = model_.joint_nv(); dof < model_.nv; ++dof)
      for (int l = 0; l < count; ++l) {
        d.q[static_cast<size_t>(coordinate_of(dof))].v[l] = dq(dof, base + l);
        d.v[static_cast<size_t>(dof)].v[l] = dv(dof, base + l);
        d.a[static_cast<size_t>(dof)].v[l] = da.cols() > 0 ? da(dof, base + l) : 0.0;
      }
    if (all) {
      sweep(c_, x, placed);
    } else {
      d.eq.signals_at(c_, x.t);
      if (!placed) d.eq.kin.positions(c_, d.q.data());
      // Rows alone: links of a reduced model where one of them looks at its nodes.
      d.eq.kin.velocities(c_, d.v.data(), ny > 0 || !d.eq.kin.reduced.accelerated.empty());
    }
    for (Eigen::Index i = 0; i < npv; ++i) {
      const Dual rate = all ? d.eq.phi_dot[static_cast<size_t>(i)]
                            : evaluate_channel<Depth::kRate>(
                                  d.eq.kin, c_, model_.rows[static_cast<size_t>(i)].channel)
                                  .rate;
      for (int l = 0; l < count; ++l) out.phi_dot(i, base + l) = rate.v[l];
    }
    if (ny > 0) d.eq.kin.show(c_);
    for (Eigen::Index i = 0; i < ny; ++i) {
      const Dual value = d.eq.output(c_, p, outputs[static_cast<size_t>(i)]);
      for (int l = 0; l < count; ++l) out.y(i, base + l) = value.v[l];
    }
    if (!all) continue;
    for (Eigen::Index i = 0; i < out.r.rows(); ++i)
      for (int l = 0; l < count; ++l) out.r(i, base + l) = d.eq.r[static_cast<size_t>(i)].v[l];
    for (Eigen::Index i = 0; i < out.phi_ddot.rows(); ++i)
      for (int l = 0; l < count; ++l)
        out.phi_ddot(i, base + l) = d.eq.phi_ddot[static_cast<size_t>(i)].v[l];
  }
  if constexpr (S::kPlanar)
    if (all && !model_.ancf_elements.empty()) {
      set_positions(x.q);
      const auto add = [&](const Eigen::MatrixXd& by) {
        return [&](int i, int j, double k) {
          for (Eigen::Index l = 0; l < columns; ++l) out.r(i, l) += k * by(j, l);
        };
      };
      ancf::element_tangents(eq_.kin, c_, add(dq), add(dv));
    }
  clear(d.q);
  clear(d.v);
  clear(d.a);
}

// δq, δv and δa move together, so that one set of lanes serves all three.
template <class S>
void RigidWorkspace<S>::step_tangent(const Point& x, double position, double velocity,
                                     RowMatrix& out) {
  if (out.columns == 0) {
    out.columns = model_.nv;
    for (const std::vector<int>& dofs : structure_.r_dofs) {
      out.column.insert(out.column.end(), dofs.begin(), dofs.end());
      out.start.push_back(static_cast<int>(out.column.size()));
    }
    out.value.assign(out.column.size(), 0.0);
  }
  seed_point(x);
  DualScratch& d = *dual_;
  const int *colour = structure_.colour.data(), *start = out.start.data(),
            *column = out.column.data();
  for (int base = 0; base < structure_.colours; base += kDualLanes) {
    const auto lane_of = [&](int dof) {
      const int lane = colour[dof] - base;
      return lane >= 0 && lane < kDualLanes ? lane : -1;
    };
    clear(d.q);
    clear(d.v);
    clear(d.a);
    for (int dof = 0; dof < model_.nv; ++dof)
      if (const int lane = lane_of(dof); lane >= 0) {
        d.q[static_cast<size_t>(coordinate_of(dof))].v[lane] = position;
        d.v[static_cast<size_t>(dof)].v[lane] = velocity;
        d.a[static_cast<size_t>(dof)].v[lane] = 1;
      }
    sweep(c_, x);
    for (int i = 0; i < model_.nv; ++i) {
      const Dual& r = d.eq.r[static_cast<size_t>(i)];
      for (int k = start[i]; k < start[i + 1]; ++k)
        if (const int lane = lane_of(column[k]); lane >= 0)
          out.value[static_cast<size_t>(k)] = r.v[lane];
    }
  }
  clear(d.q);
  clear(d.v);
  clear(d.a);
  if constexpr (S::kPlanar) {
    if (model_.ancf_elements.empty()) return;
    set_positions(x.q);
    const auto add = [&](double factor) {
      return [&, factor](int i, int j, double k) {
        const auto at = std::lower_bound(column + start[i], column + start[i + 1], j) - column;
        out.value[static_cast<size_t>(at)] += factor * k;
      };
    };
    ancf::element_tangents(eq_.kin, c_, add(position), add(velocity));
  }
}

template void RigidWorkspace<Planar>::step_tangent(const Point&, double, double, RowMatrix&);
template void RigidWorkspace<Spatial>::step_tangent(const Point&, double, double, RowMatrix&);
template void RigidWorkspace<Planar>::along(const Point&, Level, const Eigen::MatrixXd&,
                                            const Eigen::MatrixXd&, const Eigen::MatrixXd&,
                                            std::span<const int>, DirectionalTangent&);
template void RigidWorkspace<Spatial>::along(const Point&, Level, const Eigen::MatrixXd&,
                                             const Eigen::MatrixXd&, const Eigen::MatrixXd&,
                                             std::span<const int>, DirectionalTangent&);
template void RigidWorkspace<Planar>::seed_point(const Point&);
template void RigidWorkspace<Planar>::tangent(const Point&, const Blocks&, Tangent&);
template void RigidWorkspace<Planar>::tangent_state(const Point&, const Blocks&, Tangent&);
template void RigidWorkspace<Planar>::tangent_linear(const Point&, const Blocks&, Tangent&);
template void RigidWorkspace<Planar>::tangent_theta(const Point&, const Blocks&, Tangent&);
template void RigidWorkspace<Spatial>::seed_point(const Point&);
template void RigidWorkspace<Spatial>::tangent(const Point&, const Blocks&, Tangent&);
template void RigidWorkspace<Spatial>::tangent_state(const Point&, const Blocks&, Tangent&);
template void RigidWorkspace<Spatial>::tangent_linear(const Point&, const Blocks&, Tangent&);
template void RigidWorkspace<Spatial>::tangent_theta(const Point&, const Blocks&, Tangent&);

}  // namespace panto::rigid
