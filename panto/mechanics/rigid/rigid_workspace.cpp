#include "panto/mechanics/rigid/rigid_workspace.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "panto/base/contract.hpp"

namespace panto::rigid {

namespace {

// Position rows, relative to the mechanism's length. Newton goes on to round-off as long as it gains: near a singular position
// what is left of φ is magnified by the inverse of the distance to it.
constexpr double kClosureTolerance = 1e-12, kClosureRoundOff = 2.5e-16;
constexpr double kWorthwhile =
    1.2;  // a new partition must be this much better conditioned than the old one
constexpr double kRedundantTolerance =
    1e-6;  // a redundant row further off than this is no longer redundant
constexpr int kClosureIterations = 20;
constexpr size_t kDenseSpeeds = 500;  // up to so many, reduced_mass() has its memory from the start
constexpr double kMassless =
    1e-13;  // a pivot of the mass matrix this far below its diagonal entry is round-off

int body_index(const Model& m, int frame) {
  return frame < 0 ? 0 : m.frames[static_cast<size_t>(frame)].body + 1;
}

std::array<int, 3> stage_ends(const Model& m) {
  return {m.n_position_rows, m.n_position_rows + m.n_velocity_rows, m.n_rows()};
}

// Lowest body (Kinematics index) on which both bodies hang.
int meeting_point(const Model& m, int a, int b) {
  while (a != b) {
    int& later = a > b ? a : b;
    later = m.joints[static_cast<size_t>(later - 1)].parent + 1;
  }
  return a;
}

}  // namespace

template <class S>
RigidWorkspace<S>::RigidWorkspace(const Model& model, const Params& params)
    : Workspace(model),
      structure_(model),
      shapes_(model.reduction.shapes),
      eq_(model),
      mass_(model, structure_),
      g_(structure_.g_pattern),
      lu_(g_, stage_ends(model)),
      old_lu_(g_, stage_ends(model)),
      weight_(static_cast<size_t>(model.nv), 1.0) {
  for (const ConstraintRow& row : model.rows) {
    driven_ = driven_ || row.target == TargetKind::kSignal || row.target == TargetKind::kDrive0;
    const Channel& ch = row.channel;
    const bool one_sided = rate_only(ch.kind) || on_beam(ch.kind) || follows_node(model, ch);
    stop_.push_back(one_sided ? 0
                              : meeting_point(model, body_index(model, ch.frame_a),
                                              body_index(model, ch.frame_b)));
  }
  // Displacements of ERLS beams stay independent; nodes of ANCF beams go where a row wants them.
  for (int d = model.joint_nv(); d < model.nv; ++d) weight_[static_cast<size_t>(d)] = 1e-3;
  for (const AncfNode& n : model.ancf_nodes)
    for (const auto& dofs : {n.place, n.axis, n.section})
      for (int d : dofs)
        if (d >= 0) weight_[static_cast<size_t>(d)] = 1e3;
  for (int c : g_.column) displacements_move_ = displacements_move_ || c >= model.joint_nv();
  for (int d : model.preferred) weight_[static_cast<size_t>(d)] = 0.1;
  const auto nv = static_cast<size_t>(model.nv), m = model.rows.size();
  closed_q_.resize(static_cast<size_t>(model.nq));
  target_rate_.resize(m);
  row_.assign(nv, 0.0);
  zero_.assign(std::max(nv, m), 0.0);
  bias_.resize(nv);
  particular_.resize(nv);
  force_.resize(nv);
  right_.resize(std::max(nv, m));
  added_.assign(nv, 0.0);
  const auto moving = static_cast<size_t>(model.joint_nv());
  if (displacements_move_) {
    const auto ne = static_cast<Eigen::Index>(model.elastic.size()),
               n = static_cast<Eigen::Index>(moving + m);
    elastic_columns_.setZero(ne, n);
    saddle_.setIdentity(n, n);
    saddle_right_.setZero(n);
    saddle_solution_.setZero(n);
    saddle_lu_.compute(saddle_);
  }
  free_entry_.resize(nv * m);
  basis_.resize(nv * moving);
  mass_basis_.resize(nv * moving);
  if (displacements_move_ && nv <= kDenseSpeeds) basis_.resize(nv * nv);
  reduced_.resize(moving * moving);
  reduced_force_.resize(nv);
  if (mass_.beams() && mass_.beams()->full()) {
    const auto padded = static_cast<size_t>(lanes::padded(model.nv));
    full_.resize(padded * padded);
    full_right_.resize(padded);
    full_pivots_.resize(3 * nv);
  }
  if (model.reduction.active())
    node_scratch_ = std::make_unique<erls::ReducedForce<double>>(eq_.kin.reduced.layout);
  if constexpr (S::kPlanar) {
    const erls::ReducedState<double>& s = eq_.kin.reduced;
    if (erls::FloatingLinks::fits(s.layout) && mass_.beams()->full() && !displacements_move_ &&
        s.accelerated.empty()) {
      floating_ = std::make_unique<erls::FloatingLinks>(model);
      last_v_.resize(nv);
      last_a_.resize(nv);
      last_u_.resize(model.inputs.size());
      last_u_rate_.resize(model.inputs.size());
    }
  }
  set_parameters(params);
}

template <class S>
void RigidWorkspace<S>::set_parameters(const Params& params) {
  PANTO_EXPECT(static_cast<size_t>(params.values.size()) == model_.parameters.size(),
               "parameters belong to another model");
  params_ = params;
  c_ = bake<S, double>(
      model_,
      std::span<const double>(params.values.data(), static_cast<size_t>(params.values.size())),
      &shapes_);
  length_ = 0;
  for (const auto& f : c_.frames) length_ = std::max(length_, std::sqrt(dot(f.r, f.r)));
  if (length_ == 0) length_ = 1;
  eq_.forget();
  mass_.bake(c_);
  if (floating_) floating_->use(floating_->baked(c_.reduced));
  floating_last_ = false;
  forget_pose();
  bake_references();
}

template <class S>
Arguments<double> RigidWorkspace<S>::arguments(const Point& x) {
  Arguments<double> p;
  p.t = x.t;
  p.q = x.q.data();
  p.v = x.v.data();
  p.a = x.a.data();
  p.lambda = x.lambda.empty() ? nullptr : x.lambda.data();
  p.u = x.u.empty() ? nullptr : x.u.data();
  p.u_rate = x.u_rate.empty() ? nullptr : x.u_rate.data();
  return p;
}

template <class S>
void RigidWorkspace<S>::set_positions(View q) {
  eq_.kin.positions(c_, q.data());
}

template <class S>
void RigidWorkspace<S>::evaluate_mass() noexcept {
  eq_.kin.place_reduced(c_);
  mass_.evaluate(eq_.kin, c_);
}

template <class S>
void RigidWorkspace<S>::residual(const Point& x, bool with_outputs, Residual& out) {
  const Arguments<double> p = arguments(x);
  eq_.evaluate(c_, p);
  const auto map = [](const std::vector<double>& s, int n) {
    return Eigen::Map<const Eigen::VectorXd>(s.data(), n);
  };
  out.r = map(eq_.r, model_.nv);
  out.phi = map(eq_.phi, model_.n_position_rows);
  out.phi_dot = map(eq_.phi_dot, model_.n_position_rows + model_.n_velocity_rows);
  out.phi_ddot = map(eq_.phi_ddot, model_.n_rows());
  if (with_outputs) {
    eq_.outputs(c_, p);
    out.y = map(eq_.y, static_cast<int>(model_.outputs.size()));
  }
}

template <class S>
void RigidWorkspace<S>::mass_matrix(View q, Eigen::MatrixXd& mass) {
  set_positions(q);
  mass_known_ = false;
  evaluate_mass();
  mass_.dense(mass);
}

template <class S>
void RigidWorkspace<S>::constraint_jacobian(double t, View q, Eigen::MatrixXd& g) {
  eq_.signals_at(c_, t);
  set_positions(q);
  jacobian();
  g.setZero(model_.n_rows(), model_.nv);
  for (int i = 0; i < g_.rows(); ++i)
    for (int k = g_.start[static_cast<size_t>(i)]; k < g_.start[static_cast<size_t>(i) + 1]; ++k)
      g(i, g_.column[static_cast<size_t>(k)]) = g_.value[static_cast<size_t>(k)];
}

template <class S>
void RigidWorkspace<S>::outputs(const Point& x, MutableView y) {
  const Arguments<double> p = arguments(x);
  eq_.evaluate(c_, p);
  eq_.outputs(c_, p);
  std::copy(eq_.y.begin(), eq_.y.end(), y.begin());
}

template <class S>
Energy RigidWorkspace<S>::energy(View q, View v) {
  set_positions(q);
  eq_.kin.velocities(c_, v.data());
  return {eq_.kinetic_energy(c_), eq_.potential_energy(c_)};
}

template <class S>
void RigidWorkspace<S>::convective_forces(View v, MutableView out) noexcept {
  const auto gravity = c_.gravity;
  c_.gravity = {};
  eq_.kin.velocities(c_, v.data());
  eq_.kin.accelerations(c_, zero_.data());
  if (lu_.rank(2) > 0) {
    eq_.constraints(c_, Arguments<double>{});
    for (double& e : eq_.phi_ddot) e = -e;
    std::fill(particular_.begin(), particular_.end(), 0.0);
    complete(Level::kAcceleration, eq_.phi_ddot, particular_);
    eq_.kin.accelerations(c_, particular_.data());
  }
  eq_.inertia(c_);
  c_.gravity = gravity;
  std::copy(eq_.r.begin(), eq_.r.end(), out.begin());
}

template <class S>
void RigidWorkspace<S>::readings(const Point& x, std::span<const int> outputs,
                                 MutableView y) noexcept {
  Level level = Level::kPosition;
  for (int i : outputs) level = std::max(level, level_of(i));
  const Arguments<double> p = arguments(x);
  if (level == Level::kAcceleration) {
    eq_.evaluate(c_, p);
  } else {
    eq_.kin.positions(c_, p.q);
    if (level == Level::kVelocity) eq_.kin.velocities(c_, p.v);
  }
  eq_.kin.show(c_);
  for (size_t i = 0; i < outputs.size(); ++i) y[i] = eq_.output(c_, p, outputs[i]);
}

template <class S>
void RigidWorkspace<S>::power(const Point& x, double& entering, double& taken) {
  const Arguments<double> p = arguments(x);
  eq_.evaluate(c_, p);
  eq_.kin.show(c_);
  eq_.power(c_, p, entering, taken);
}

template <class S>
void RigidWorkspace<S>::last_power(View u, View lambda, double& entering, double& taken) noexcept {
  Arguments<double> p;
  p.u = u.empty() ? nullptr : u.data();
  p.lambda = lambda.empty() ? nullptr : lambda.data();
  eq_.kin.show(c_);
  eq_.power(c_, p, entering, taken);
}

template <class S>
void RigidWorkspace<S>::reactions(const Point& x, std::vector<JointReaction>& out) {
  eq_.evaluate(c_, arguments(x));
  out.resize(model_.joints.size());
  for (size_t i = 0; i < model_.joints.size(); ++i) {
    const Joint& j = model_.joints[i];
    const auto& w = eq_.wrench[i + 1];
    auto n = w.n;
    if (j.child_frame >= 0)
      n -= moment(rotate(eq_.kin.body[i + 1].R, c_.frames[static_cast<size_t>(j.child_frame)].r),
                  w.f);
    if constexpr (S::kPlanar) {
      out[i] = {{w.f.x, w.f.y, 0}, {0, 0, n}};
    } else {
      out[i] = {{w.f.x, w.f.y, w.f.z}, {n.x, n.y, n.z}};
    }
  }
}

template <class S>
double RigidWorkspace<S>::channel(const Channel& ch, Order order, View q, View v,
                                  MutableView gradient) {
  set_positions(q);
  if (ch.frame_a >= 0) eq_.kin.place_frame(c_, ch.frame_a);
  if (ch.frame_b >= 0) eq_.kin.place_frame(c_, ch.frame_b);
  if (!v.empty()) eq_.kin.velocities(c_, v.data());
  eq_.kin.show(c_);
  ChannelValue<S, double> value = order == Order::kValue
                                      ? evaluate_channel<Depth::kValue>(eq_.kin, c_, ch)
                                      : evaluate_channel<Depth::kRate>(eq_.kin, c_, ch);
  if (!gradient.empty()) gradient_row(ch, value.gradient, gradient);
  return order == Order::kValue ? value.value : value.rate;
}

template <class S>
void RigidWorkspace<S>::gradient_row(const Channel& ch, const Gradient<S, double>& gradient,
                                     MutableView row) const noexcept {
  std::fill(row.begin(), row.end(), 0.0);
  if (ch.kind == ChannelKind::kCoordinate) {
    row[static_cast<size_t>(ch.dof)] = 1;
  } else if (ch.kind == ChannelKind::kSum) {
    for (int k = ch.first_term; k < ch.first_term + ch.terms; ++k)
      row[static_cast<size_t>(model_.terms[static_cast<size_t>(k)].dof)] +=
          c_[model_.terms[static_cast<size_t>(k)].coefficient];
  } else {
    project(gradient.a, gradient.on_a, 0, row.data());
    project(gradient.b, gradient.on_b, 0, row.data());
    project_on_link(ch, gradient, row.data());
  }
}

template <class S>
void RigidWorkspace<S>::project_on_link(const Channel& ch, const Gradient<S, double>& gradient,
                                        double* row) const noexcept {
  if constexpr (S::kPlanar)
    if (on_beam(ch.kind))
      project(c_.beams.elements[static_cast<size_t>(ch.element)].body,
              {moment_on_link(eq_.kin, gradient), {}}, 0, row);
}

namespace {

template <class S, class R, class V>
FramePose pose(const R& rot, const V& p) {
  if constexpr (S::kPlanar) {
    return {{p.x, p.y, 0}, {rot.c, rot.s, 0, -rot.s, rot.c, 0, 0, 0, 1}};
  } else {
    return {{p.x, p.y, p.z},
            {rot.x.x, rot.x.y, rot.x.z, rot.y.x, rot.y.y, rot.y.z, rot.z.x, rot.z.y, rot.z.z}};
  }
}

}  // namespace

template <class S>
FramePose RigidWorkspace<S>::frame_pose(View q, int frame) {
  set_positions(q);
  if (frame >= 0) eq_.kin.place_frame(c_, frame);
  const auto& f = eq_.kin.frame(frame);
  return pose<S>(eq_.kin.rotation(f), eq_.kin.body[static_cast<size_t>(f.body)].p + f.r);
}

template <class S>
FramePose RigidWorkspace<S>::body_pose(View q, int body) {
  set_positions(q);
  const auto& b = eq_.kin.body[static_cast<size_t>(body + 1)];
  return pose<S>(b.R, b.p);
}

template <class S>
void RigidWorkspace<S>::body_poses(View q, std::vector<FramePose>& out) {
  set_positions(q);
  out.resize(model_.bodies.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const auto& b = eq_.kin.body[i + 1];
    out[i] = pose<S>(b.R, b.p);
  }
}

template <class S>
void RigidWorkspace<S>::project(int body, const Wrench<S, double>& w, int stop,
                                double* row) const noexcept {
  if (body < 0) return;
  auto n = w.n;
  const auto f = w.f;
  const Link* links = eq_.kin.link.data();
  const BodyState<S, double>* bodies = eq_.kin.body.data();
  const Column<S, double>* columns = eq_.kin.column.data();
  if constexpr (S::kPlanar) {
    const int carrier = body - model_.n_bodies() - 1;
    if (model_.ancf_node_of(carrier) >= 0) {
      const Beam& beam = model_.beams[static_cast<size_t>(
          model_.ancf_nodes[static_cast<size_t>(model_.ancf_node_of(carrier))].beam)];
      ancf::spread(model_, bodies[beam.body + 1].R, eq_.kin.ancf_node,
                   carrier - model_.section_carrier(0), n, f,
                   [row](int dof, double value) { row[dof] += value; });
      return;
    }
    if (carrier >= 0 && model_.reduction.active()) {
      project_node(carrier, n, f, row);
      return;
    }
    if (carrier >= 0) {  // a node: its displacements, then its link
      const BeamNode& node = model_.nodes[static_cast<size_t>(carrier)];
      if (node.dof[0] >= 0) row[node.dof[0]] += f.x;
      if (node.dof[1] >= 0) row[node.dof[1]] += f.y;
      if (node.dof[2] >= 0) row[node.dof[2]] += n;
      n += moment(bodies[body].d, f);
      body = model_.beams[static_cast<size_t>(node.beam)].body + 1;
    }
  }
  for (int b = body; b != stop;) {
    const Link& j = links[b - 1];
    for (int k = j.v; k < j.v + j.nv; ++k) row[k] += inner(columns[k].w, n) + dot(columns[k].v, f);
    n += moment(bodies[b].d, f);
    b = j.parent;
  }
}

// A node of a reduced model: through the transpose of the velocity map (RER-6).
template <class S>
void RigidWorkspace<S>::project_node(int node, const typename S::template Ang<double>& n,
                                     const typename S::template Vec<double>& f,
                                     double* row) const noexcept {
  if constexpr (S::kPlanar) {
    const erls::ReducedState<double>& s = eq_.kin.reduced;
    erls::ReducedForce<double>& force = *node_scratch_;
    force.clear();
    Wrench<S, double> on_link;
    erls::detail::spread_node(eq_.kin, c_, node, {n, f}, force, on_link);
    project(s.layout.links[static_cast<size_t>(s.node_link[static_cast<size_t>(node)])].body,
            on_link, 0, row);
    erls::gather_links(eq_.kin, c_, force, row, [&](int body, double torque) {
      project(body, {torque, {}}, 0, row);
    });
  }
}

template <class S>
void RigidWorkspace<S>::node_motion(View q, View v, MutableView u, MutableView u_dot) {
  if constexpr (S::kPlanar) {
    set_positions(q);
    eq_.kin.velocities(c_, v.data());
    for (size_t i = 0; i < model_.nodes.size(); ++i) {
      erls::NodeState<double>& s = eq_.kin.node[i];
      if (model_.reduction.active()) {
        erls::place_node(model_, c_.beams, c_.reduced, eq_.kin.reduced, static_cast<int>(i),
                         eq_.kin.body, s);
        erls::move_node(model_, c_.reduced, eq_.kin.reduced, static_cast<int>(i), eq_.kin.body, s);
      }
      const double value[3] = {s.u.x, s.u.y, s.turn}, rate[3] = {s.u_dot.x, s.u_dot.y, s.turn_dot};
      std::copy(value, value + 3, u.begin() + static_cast<std::ptrdiff_t>(3 * i));
      std::copy(rate, rate + 3, u_dot.begin() + static_cast<std::ptrdiff_t>(3 * i));
    }
  }
}

template <class S>
void RigidWorkspace<S>::coincidence_jacobian(const Coincidence& c) noexcept {
  using Vec = typename S::template Vec<double>;
  const BodyState<S, double>* bodies = eq_.kin.body.data();
  const Column<S, double>* columns = eq_.kin.column.data();
  double *phi = eq_.phi.data() + c.row, *g = g_.value.data();
  const int *start = g_.start.data() + c.row, x = start[0], y = start[1],
            z = S::kPlanar ? 0 : start[2];
  const auto point = [&](int frame) {
    const FrameState<S, double>& f = eq_.kin.frame(frame);
    return bodies[f.body].p + f.r;
  };
  // Motion of the point per unit speed: that of the joint's body, carried to the point.
  const auto side = [&](const std::vector<Coincidence::Entry>& entries, const Vec& p, double sign) {
    for (const Coincidence::Entry& e : entries) {
      const Column<S, double>& s = columns[e.dof];
      const Vec v = s.v + spin(s.w, p - bodies[e.body].p);
      g[x + e.offset] = sign * v.x;
      g[y + e.offset] = sign * v.y;
      if constexpr (!S::kPlanar) g[z + e.offset] = sign * v.z;
    }
  };
  const Vec a = point(c.frame_a), b = point(c.frame_b);
  side(c.on_a, a, 1);
  side(c.on_b, b, -1);
  phi[0] = a.x - b.x;
  phi[1] = a.y - b.y;
  if constexpr (!S::kPlanar) phi[2] = a.z - b.z;
}

template <class S>
void RigidWorkspace<S>::jacobian() noexcept {
  forget_pose();
  for (const Coincidence& c : structure_.coincidences) coincidence_jacobian(c);
  for (const size_t i : structure_.single_rows) {
    const ConstraintRow& row = model_.rows[i];
    const Channel& ch = row.channel;
    const int begin = g_.start[i], end = g_.start[i + 1];
    const auto value = evaluate_channel<Depth::kValue>(eq_.kin, c_, ch);
    if (row.level == Level::kPosition)
      eq_.phi[i] = nearest_turn(ch, value.value - eq_.target(c_, row));
    if (ch.kind == ChannelKind::kCoordinate) {
      g_.value[static_cast<size_t>(begin)] = 1;
      continue;
    }
    const int* column = g_.column.data();
    double* scratch = row_.data();
    for (int k = begin; k < end; ++k) scratch[column[k]] = 0;
    if (ch.kind == ChannelKind::kSum) {
      for (int k = ch.first_term; k < ch.first_term + ch.terms; ++k)
        scratch[model_.terms[static_cast<size_t>(k)].dof] +=
            c_[model_.terms[static_cast<size_t>(k)].coefficient];
    } else {
      project(value.gradient.a, value.gradient.on_a, stop_[i], scratch);
      project(value.gradient.b, value.gradient.on_b, stop_[i], scratch);
      project_on_link(ch, value.gradient, scratch);
    }
    for (int k = begin; k < end; ++k) g_.value[static_cast<size_t>(k)] = scratch[column[k]];
  }
}

template <class S>
void RigidWorkspace<S>::inputs_at(double t, MutableView u, MutableView u_rate) const noexcept {
  for (size_t i = 0; i < model_.inputs.size(); ++i) {
    const int s = model_.inputs[i].signal;
    const SignalValue value = s >= 0 ? c_.signals[static_cast<size_t>(s)].at(t) : SignalValue{};
    u[i] = value.value;
    u_rate[i] = value.rate;
  }
}

template <class S>
void RigidWorkspace<S>::choose_partition(double t, View q, bool renew) noexcept {
  eq_.signals_at(c_, t);
  set_positions(q);
  jacobian();
  const bool had_one = chosen_ && !renew;
  if (had_one) {
    (void)lu_.factor(g_);
    old_lu_ = lu_;  // same capacities: no allocation
  }
  lu_.choose(g_, weight_, generic_rank_);
  for (int s = 0; s < 3; ++s)
    generic_rank_[static_cast<size_t>(s)] =
        std::max(generic_rank_[static_cast<size_t>(s)], lu_.rank(s));
  (void)lu_.factor(g_);  // fresh factors cannot ask for a new choice
  chosen_ = true;
  // At a singular position every choice is poor: changing it gains nothing and costs an integrator its history.
  if (had_one && old_lu_.rank() == lu_.rank() &&
      lu_.conditioning() < kWorthwhile * old_lu_.conditioning()) {
    lu_ = old_lu_;
    lu_.accept_wear();
  }
  find_free_entries();
}

template <class S>
bool RigidWorkspace<S>::keep_partition(double t, View q) {
  eq_.signals_at(c_, t);
  set_positions(q);
  jacobian();
  const bool kept = lu_.choose_rows(g_);
  (void)lu_.factor(g_);
  find_free_entries();
  return kept;
}

// Where the columns of the independent accelerations stand in G, pivot row by pivot row.
template <class S>
void RigidWorkspace<S>::find_free_entries() noexcept {
  size_t at = 0;
  for (int z : lu_.free_columns(2))
    for (int row : lu_.pivot_rows()) {
      int entry = -1;
      for (int k = g_.start[static_cast<size_t>(row)]; k < g_.start[static_cast<size_t>(row) + 1];
           ++k)
        if (g_.column[static_cast<size_t>(k)] == z) entry = k;
      free_entry_[at++] = entry;
    }
}

template <class S>
Status RigidWorkspace<S>::close_positions(double t, MutableView q) noexcept {
  const int rank = lu_.rank(0);
  eq_.signals_at(c_, t);
  if (closed_ && t == closed_t_ && std::equal(q.begin(), q.end(), closed_q_.begin())) {
    set_positions(q);
    return closed_status_;
  }
  forget_pose();
  Status status = Status::kOk;
  double before = std::numeric_limits<double>::infinity();
  const int *rows = lu_.pivot_rows().data(), *columns = lu_.pivot_columns().data();
  const double* phi = eq_.phi.data();
  double *right = right_.data(), *step = particular_.data();
  for (int iteration = 0;; ++iteration) {
    normalise(q);
    set_positions(q);
    if (model_.rows.empty()) break;
    jacobian();
    double worst = 0;
    for (int i = 0; i < rank; ++i) {
      right[i] = -phi[rows[i]];
      worst = std::max(worst, std::abs(right[i]));
    }
    if (!std::isfinite(worst)) return Status::kNotFinite;
    status = lu_.factor(g_);
    if (fatal(status)) return status;
    if (worst <= kClosureRoundOff * length_) break;
    if (worst <= kClosureTolerance * length_ && worst > 0.1 * before) break;
    before = worst;
    if (iteration == kClosureIterations) return Status::kNotConverged;
    lu_.solve(0, right);
    std::fill(particular_.begin(), particular_.end(), 0.0);
    for (int i = 0; i < rank; ++i) step[columns[i]] = right[i];
    move(q, particular_);
  }
  for (int i : lu_.redundant_rows())
    if (i < model_.n_position_rows &&
        std::abs(eq_.phi[static_cast<size_t>(i)]) > kRedundantTolerance * length_)
      status = Status::kRepartition;
  closed_ = true;
  closed_status_ = status;
  closed_t_ = t;
  std::copy(q.begin(), q.end(), closed_q_.begin());
  return status;
}

template <class S>
Status RigidWorkspace<S>::hold_positions(double t, View q) noexcept {
  eq_.signals_at(c_, t);
  set_positions(q);
  forget_pose();
  if (model_.rows.empty()) return Status::kOk;
  jacobian();
  return lu_.factor(g_);
}

template <class S>
Status RigidWorkspace<S>::close_velocities(double t, View u, MutableView v) noexcept {
  (void)t;
  const int rank = lu_.rank(1);
  if (rank == 0) return Status::kOk;
  if (driven_) {
    for (size_t i = 0; i < model_.rows.size(); ++i) {
      const ConstraintRow& row = model_.rows[i];
      target_rate_[i] =
          row.target == TargetKind::kSignal ? eq_.signal[static_cast<size_t>(row.signal)].rate
          : row.target == TargetKind::kDrive0 && !u.empty() ? u[static_cast<size_t>(row.input)]
                                                            : 0;
    }
  }
  complete(Level::kVelocity, driven_ ? View(target_rate_) : View(), v);
  bool finite = true;
  for (int i = 0; i < rank; ++i) finite = finite && std::isfinite(right_[static_cast<size_t>(i)]);
  return finite ? Status::kOk : Status::kNotFinite;
}

template <class S>
Status RigidWorkspace<S>::accelerations(double t, View v, View u, View u_rate,
                                        MutableView a) noexcept {
  if constexpr (S::kPlanar)
    if (floating_ && static_cast<int>(lu_.free_columns(2).size() - model_.elastic.size()) <=
                         erls::FloatingLinks::kJoints)
      return floating_accelerations(t, v, u, u_rate, a);
  return general_accelerations(t, v, u, u_rate, a);
}

// Bodies and links at zero independent accelerations, then the links as floating frames.
template <class S>
Status RigidWorkspace<S>::floating_accelerations(double t, View v, View u, View u_rate,
                                                 MutableView a) noexcept {
  if constexpr (S::kPlanar) {
    const auto nj = model_.joint_nv(), rank = lu_.rank(2),
               nz = static_cast<int>(lu_.free_columns(2).size() - model_.elastic.size());
    const int *columns = lu_.pivot_columns().data(), *free = lu_.free_columns(2).data(),
              *entry = free_entry_.data();
    double *right = right_.data(), *out = a.data();
    const double* g = g_.value.data();
    auto& kin = eq_.kin;
    erls::FloatingLinks& links = *floating_;
    floating_last_ = true;
    last_t_ = t;
    std::copy(v.begin(), v.end(), last_v_.begin());
    std::copy(u.begin(), u.end(), last_u_.begin());
    std::copy(u_rate.begin(), u_rate.end(), last_u_rate_.begin());
    if (!floating_known_) {
      links.clear_directions(nz);
      for (int z = 0; z < nz; ++z) {
        links.set_direction(free[z], z, 1);
        bool moves = false;
        for (int i = 0; i < rank; ++i, ++entry) {
          moves |= *entry >= 0;
          right[i] = *entry >= 0 ? -g[*entry] : 0;
        }
        if (!moves) continue;
        lu_.solve(2, right);
        for (int i = 0; i < rank; ++i) links.set_direction(columns[i], z, right[i]);
      }
      links.place(kin, c_);
    }
    if (!kin.reduced.used.empty()) {
      links.lend(kin);
      kin.reduced.placed = true;
      kin.place_used(c_);
      kin.reduced.placed = false;  // in part
    }
    kin.velocities(c_, v.data(), false);
    links.move(kin, c_, v.data());
    for (const int i : kin.reduced.moved)
      erls::move_node(model_, c_.reduced, kin.reduced, i, kin.body,
                      kin.node[static_cast<size_t>(i)]);
    Arguments<double> x;
    x.t = t;
    x.u = u.empty() ? nullptr : u.data();
    x.u_rate = u_rate.empty() ? nullptr : u_rate.data();
    kin.accelerations(c_, zero_.data(), false);
    for (int i = 0; i < nj; ++i) out[i] = 0;
    if (rank > 0) {
      add_dependent(x, out);
      kin.accelerations(c_, out, false);
    }
    links.accelerate(kin, c_);
    eq_.floating = &links;
    eq_.floating_added = added_.data();
    eq_.forces(c_, x);
    eq_.floating = nullptr;
    double* r = eq_.r.data();
    for (int i = 0; i < nj; ++i) r[i] -= added_[static_cast<size_t>(i)];
    if (!links.factor(kMassless)) return Status::kSingular;
    links.solve(kin, r, nj, out);
    floating_known_ = closed_ && std::equal(closed_q_.begin(), closed_q_.end(), kin.at.begin());
    return lanes::finite(out, model_.nv) ? Status::kOk : Status::kNotFinite;
  } else {
    return general_accelerations(t, v, u, u_rate, a);
  }
}

template <class S>
void RigidWorkspace<S>::general() noexcept {
  if (!floating_last_) return;
  // The basis is laid out anew.
  floating_known_ = mass_known_ = false;
  (void)general_accelerations(last_t_, last_v_, last_u_, last_u_rate_, last_a_);
}

template <class S>
Status RigidWorkspace<S>::general_accelerations(double t, View v, View u, View u_rate,
                                                MutableView a) noexcept {
  floating_last_ = false;
  const auto nv = static_cast<size_t>(model_.nv);
  eq_.kin.velocities(c_, v.data());
  eq_.kin.accelerations(c_, zero_.data());
  Arguments<double> x;
  x.t = t;
  x.u = u.empty() ? nullptr : u.data();
  x.u_rate = u_rate.empty() ? nullptr : u_rate.data();
  eq_.forces(c_, x);
  if (!mass_known_) evaluate_mass();
  double *bias = bias_.data(), *out = a.data();
  const double *r = eq_.r.data(), *added = added_.data();
  for (size_t i = 0; i < nv; ++i) bias[i] = r[i] - added[i];

  if (lu_.rank(2) == 0 && !mass_.beams()) {
    if (!mass_known_ && !mass_.factorise()) return Status::kSingular;
    for (size_t i = 0; i < nv; ++i) out[i] = -bias[i];
    mass_.solve(out);
  } else if (displacements_move_ ? !saddle_accelerations(out) : !reduced_accelerations(out)) {
    return Status::kSingular;
  }
  mass_known_ = closed_ && std::equal(closed_q_.begin(), closed_q_.end(), eq_.kin.at.begin());
  for (size_t i = 0; i < nv; ++i)
    if (!std::isfinite(out[i])) return Status::kNotFinite;
  return Status::kOk;
}

template <class S>
void RigidWorkspace<S>::add_dependent(const Arguments<double>& x, double* a) noexcept {
  const int rank = lu_.rank(2), *rows = lu_.pivot_rows().data(),
            *columns = lu_.pivot_columns().data();
  double* right = right_.data();
  eq_.constraints(c_, x);
  const double* phi_ddot = eq_.phi_ddot.data();
  for (int i = 0; i < rank; ++i) right[i] = -phi_ddot[rows[i]];
  lu_.solve(2, right);
  for (int i = 0; i < rank; ++i) a[columns[i]] = right[i];
}

template <class S>
void RigidWorkspace<S>::close_accelerations(View v, View u, View u_rate, MutableView a) noexcept {
  eq_.kin.velocities(c_, v.data());
  if (lu_.rank(2) > 0) {
    // Constraint rows at the independent accelerations alone: what the dependent ones must make up for.
    for (const int i : lu_.pivot_columns()) a[static_cast<size_t>(i)] = 0;
    eq_.kin.accelerations(c_, a.data());
    Arguments<double> x;
    x.u = u.empty() ? nullptr : u.data();
    x.u_rate = u_rate.empty() ? nullptr : u_rate.data();
    add_dependent(x, a.data());
  }
  eq_.kin.accelerations(c_, a.data());
}

template <class S>
Status RigidWorkspace<S>::imbalance(double t, View v, View u, View u_rate, MutableView a,
                                    MutableView lambda, MutableView rest) noexcept {
  close_accelerations(v, u, u_rate, a);
  Arguments<double> x;
  x.t = t;
  x.u = u.empty() ? nullptr : u.data();
  x.u_rate = u_rate.empty() ? nullptr : u_rate.data();
  eq_.forces(c_, x);
  double *r = force_.data(), *multiplier = right_.data();
  for (size_t i = 0; i < force_.size(); ++i) r[i] = eq_.r[i] - added_[i];
  // λ leaves nothing of the dependent entries; what it takes from the others is Rᵀ.
  const int rank = lu_.rank(2), *rows = lu_.pivot_rows().data(),
            *columns = lu_.pivot_columns().data();
  std::fill(lambda.begin(), lambda.end(), 0.0);
  for (int i = 0; i < rank; ++i) multiplier[i] = r[columns[i]];
  if (rank > 0) lu_.solve_transposed(2, multiplier);
  for (int i = 0; i < rank; ++i) {
    const auto at = static_cast<size_t>(rows[i]);
    lambda[at] = multiplier[i];
    for (int k = g_.start[at]; k < g_.start[at + 1]; ++k)
      r[g_.column[static_cast<size_t>(k)]] -= g_.value[static_cast<size_t>(k)] * multiplier[i];
  }
  bool finite = true;
  const auto free = lu_.free_columns(2);
  for (size_t i = 0; i < free.size(); ++i) {
    rest[i] = r[free[i]];
    finite = finite && std::isfinite(rest[i]);
  }
  return finite ? Status::kOk : Status::kNotFinite;
}

template <class S>
void RigidWorkspace<S>::loop_accelerations(View v, MutableView a) noexcept {
  eq_.kin.velocities(c_, v.data());
  eq_.kin.accelerations(c_, zero_.data());
  std::fill(a.begin(), a.end(), 0.0);
  if (lu_.rank(2) > 0) add_dependent({}, a.data());
}

template <class S>
double RigidWorkspace<S>::closed_output(int output) noexcept {
  eq_.kin.show(c_);
  return eq_.output(c_, {}, output);
}

template <class S>
void RigidWorkspace<S>::output_row(int output, MutableView row) noexcept {
  eq_.kin.show(c_);
  const Channel& ch = model_.outputs[static_cast<size_t>(output)].channel;
  gradient_row(ch, evaluate_channel<Depth::kValue>(eq_.kin, c_, ch).gradient, row);
}

// Where rows look at elastic coordinates: those are eliminated first, their block of M is sparse; what is left are the accelerations of the joints
// and the multipliers. With B the coupling to the joints and W = M_uu⁻¹ [Bᵀ G_uᵀ].
template <class S>
bool RigidWorkspace<S>::saddle_accelerations(double* a) noexcept {
  using Index = Eigen::Index;
  BeamMass& beams = *mass_.beams();
  const auto nj = static_cast<Index>(model_.joint_nv()), ne = elastic_columns_.rows(),
             rank = static_cast<Index>(lu_.rank(2));
  const int* rows = lu_.pivot_rows().data();
  const bool coupled = beams.coupled();
  // f(column, value) for the entries of a row of G.
  const auto entries = [&](Index i, const auto& f) {
    for (auto k = static_cast<size_t>(g_.start[static_cast<size_t>(rows[i])]);
         k < static_cast<size_t>(g_.start[static_cast<size_t>(rows[i]) + 1]); ++k)
      f(static_cast<Index>(g_.column[k]), g_.value[k]);
  };
  if (!mass_known_) {
    beams.spill();
    if (!beams.factorise(kMassless)) return false;
    saddle_.setZero();
    mass_.place_joints(saddle_);
    beams.add_turning(saddle_);
    elastic_columns_.setZero();
    for (Index e = 0; e < ne && coupled; ++e)
      for (Index j = 0; j < nj; ++j)
        elastic_columns_(e, j) = beams.coupling(static_cast<size_t>(e))[j];
    for (Index i = 0; i < rank; ++i)
      entries(i, [&](Index column, double g) {
        if (column >= nj) elastic_columns_(column - nj, nj + i) = g;
      });
    for (Index j = coupled ? 0 : nj; j < nj + rank; ++j)
      beams.solve(elastic_columns_.col(j).data());
    for (Index e = 0; e < ne && coupled; ++e)
      for (Index j = 0; j < nj; ++j)
        for (Index k = 0; k < nj + rank; ++k)
          saddle_(j, k) += (k < nj ? -1 : 1) * beams.coupling(static_cast<size_t>(e))[j] *
                           elastic_columns_(e, k);
    for (Index i = 0; i < rank; ++i)
      entries(i, [&](Index column, double g) {
        if (column < nj) {
          saddle_(nj + i, column) += g;
          saddle_(column, nj + i) -= g;
        } else {
          for (Index k = 0; k < nj + rank; ++k)
            saddle_(nj + i, k) += (k < nj ? -g : g) * elastic_columns_(column - nj, k);
        }
      });
    for (Index i = nj + rank; i < saddle_.rows(); ++i) saddle_(i, i) = 1;
    saddle_lu_.compute(saddle_);
  }
  for (Index i = 0; i < nj + ne; ++i) a[i] = -bias_[static_cast<size_t>(i)];
  beams.solve(a + nj);
  saddle_right_.setZero();
  for (Index j = 0; j < nj; ++j) saddle_right_(j) = a[j];
  for (Index e = 0; e < ne && coupled; ++e)
    for (Index j = 0; j < nj; ++j)
      saddle_right_(j) -= beams.coupling(static_cast<size_t>(e))[j] * a[nj + e];
  for (Index i = 0; i < rank; ++i) {
    saddle_right_(nj + i) = -eq_.phi_ddot[static_cast<size_t>(rows[i])];
    entries(i, [&](Index column, double g) {
      if (column >= nj) saddle_right_(nj + i) -= g * a[column];
    });
  }
  saddle_solution_ = saddle_lu_.solve(saddle_right_);
  for (Index j = 0; j < nj; ++j) a[j] = saddle_solution_(j);
  for (Index k = coupled ? 0 : nj; k < nj + rank; ++k) {
    const double factor = (k < nj ? -1 : 1) * saddle_solution_(k);
    for (Index e = 0; e < ne; ++e) a[nj + e] += factor * elastic_columns_(e, k);
  }
  return saddle_solution_.allFinite();
}

// The displacements of beams, last of the unknowns, are eliminated first where no row looks at them: their block of M is sparse, and
// they move nothing else. With B their coupling to the other unknowns, which then see RᵀMR - Bᵀ M_uu⁻¹ B.
template <class S>
bool RigidWorkspace<S>::reduced_accelerations(double* a) noexcept {
  const auto nv = static_cast<size_t>(model_.nv), rank = static_cast<size_t>(lu_.rank(2));
  const int *rows = lu_.pivot_rows().data(), *columns = lu_.pivot_columns().data(),
            *free = lu_.free_columns(2).data(), *entry = free_entry_.data();
  BeamMass* beams = mass_.beams();
  const size_t ne = beams ? model_.elastic.size() : 0, nj = nv - ne,
               nz = lu_.free_columns(2).size() - ne;
  double *right = right_.data(), *force = force_.data(), *reduced = reduced_.data(),
         *z_force = reduced_force_.data();
  const double *bias = bias_.data(), *phi_ddot = eq_.phi_ddot.data(), *g = g_.value.data();
  // Particular solution c, kept in a: dependent accelerations with the independent ones at zero.
  for (size_t i = 0; i < rank; ++i) right[i] = -phi_ddot[rows[i]];
  lu_.solve(2, right);
  for (size_t i = 0; i < nv; ++i) a[i] = 0;
  for (size_t i = 0; i < rank; ++i) a[columns[i]] = right[i];
  mass_.multiply(a, force, beams != nullptr);
  for (size_t i = 0; i < nv; ++i) force[i] += bias[i];
  if (beams && beams->full()) return full_accelerations(a);
  if (!mass_known_) {
    if (beams && !beams->factorise(kMassless)) return false;
    // R, M R and RᵀMR; of the displacements' part of M R, B, comes M_uu⁻¹ B in R.
    for (size_t z = 0; z < nz; ++z) {
      double *column = &basis_[z * nv], *product = &mass_basis_[z * nv];
      for (size_t i = 0; i < nv; ++i) column[i] = 0;
      column[free[z]] = 1;
      for (size_t i = 0; i < rank; ++i, ++entry) right[i] = *entry >= 0 ? -g[*entry] : 0;
      lu_.solve(2, right);
      for (size_t i = 0; i < rank; ++i) column[columns[i]] = right[i];
      mass_.multiply(column, product, beams != nullptr);
      if (beams) {
        for (size_t i = nj; i < nv; ++i) column[i] = product[i];
        beams->solve(column + nj);
      }
      for (size_t y = 0; y <= z; ++y) {
        const double* other = &basis_[y * nv];
        double sum = 0;
        for (size_t i = 0; i < nj; ++i) sum += other[i] * product[i];
        for (size_t i = nj; i < nv; ++i) sum -= other[i] * product[i];
        reduced[z * nz + y] = sum;
      }
    }
    // Its factors L D Lᵀ, L by rows and the inverse of D on the diagonal.
    for (size_t i = 0; i < nz; ++i) {
      double* row = reduced + i * nz;
      for (size_t j = 0; j < i; ++j)
        for (size_t k = 0; k < j; ++k) row[j] -= row[k] * reduced[j * nz + k];
      double s = row[i];
      for (size_t j = 0; j < i; ++j) {
        const double l = row[j] * reduced[j * nz + j];
        s -= l * row[j];
        row[j] = l;
      }
      if (!(s > kMassless * row[i])) return false;
      row[i] = 1 / s;
    }
  }
  // -Rᵀ(M c + bias), solved for.
  for (size_t i = 0; i < nz; ++i) {
    const double *column = &basis_[i * nv], *row = reduced + i * nz;
    double f = 0;
    for (size_t k = 0; k < nj; ++k) f -= column[k] * force[k];
    for (size_t k = nj; k < nv; ++k) f += column[k] * force[k];
    for (size_t k = 0; k < i; ++k) f -= row[k] * z_force[k];
    z_force[i] = f;
  }
  if (beams) {
    beams->solve(force + nj);
    for (size_t k = nj; k < nv; ++k) a[k] = -force[k];
  }
  for (size_t i = nz; i-- > 0;) {
    double s = z_force[i] * reduced[i * nz + i];
    for (size_t k = i + 1; k < nz; ++k) s -= reduced[k * nz + i] * z_force[k];
    z_force[i] = s;
    const double* column = &basis_[i * nv];
    for (size_t k = 0; k < nj; ++k) a[k] += column[k] * z_force[i];
    for (size_t k = nj; k < nv; ++k) a[k] -= column[k] * z_force[i];
  }
  return true;
}

// Where M of the elastic coordinates is dense: RᵀMR over (independent joints, elastic coordinates), all at once. force_ is M c + bias, c in a.
template <class S>
bool RigidWorkspace<S>::full_accelerations(double* a) noexcept {
  const auto ne = static_cast<int>(model_.elastic.size()), nv = model_.nv, nj = nv - ne,
             nz = static_cast<int>(lu_.free_columns(2).size()) - ne, rank = lu_.rank(2),
             n = nz + ne, ld = lanes::padded(n);
  const int *columns = lu_.pivot_columns().data(), *free = lu_.free_columns(2).data(),
            *entry = free_entry_.data();
  const BeamMass& beams = *mass_.beams();
  double *right = right_.data(), *force = force_.data(), *system = full_.data(),
         *solution = full_right_.data();
  const double* g = g_.value.data();
  if (!mass_known_) {
    for (int z = 0; z < nz; ++z) {
      double *column = &basis_[static_cast<size_t>(z * nv)],
             *product = &mass_basis_[static_cast<size_t>(z * nv)], *to = system + z * ld;
      for (int i = 0; i < nv; ++i) column[i] = 0;
      column[free[z]] = 1;
      for (int i = 0; i < rank; ++i, ++entry) right[i] = *entry >= 0 ? -g[*entry] : 0;
      lu_.solve(2, right);
      for (int i = 0; i < rank; ++i) column[columns[i]] = right[i];
      mass_.multiply(column, product, true);
      lanes::clear(to, ld);
      for (int y = 0; y <= z; ++y) {
        const double* other = &basis_[static_cast<size_t>(y * nv)];
        double sum = 0;
        for (int i = 0; i < nj; ++i) sum += other[i] * product[i];
        system[y * ld + z] = sum;
      }
      for (int i = 0; i < ne; ++i) to[nz + i] = product[nj + i];
    }
    for (int j = 0; j < ne; ++j) {
      const double* from = beams.block_column(j);
      double* to = system + (nz + j) * ld;
      lanes::clear(to, ld);
      for (int i = j; i < ne; ++i) to[nz + i] = from[i];
    }
    if (!lanes::factor(system, n, ld, kMassless, full_pivots_.data())) return false;
  }
  for (int z = 0; z < nz; ++z) {
    const double* column = &basis_[static_cast<size_t>(z * nv)];
    double sum = 0;
    for (int i = 0; i < nj; ++i) sum -= column[i] * force[i];
    solution[z] = sum;
  }
  for (int i = 0; i < ne; ++i) solution[nz + i] = -force[nj + i];
  for (int i = n; i < ld; ++i) solution[i] = 0;
  lanes::solve(system, n, ld, full_pivots_.data(), solution);
  for (int z = 0; z < nz; ++z) {
    const double* column = &basis_[static_cast<size_t>(z * nv)];
    for (int i = 0; i < nj; ++i) a[i] += column[i] * solution[z];
  }
  for (int i = 0; i < ne; ++i) a[nj + i] = solution[nz + i];
  return true;
}

template <class S>
void RigidWorkspace<S>::set_added_forces(View force) noexcept {
  for (size_t i = 0; i < added_.size(); ++i) added_[i] = i < force.size() ? force[i] : 0.0;
}

template <class S>
void RigidWorkspace<S>::reduced_mass(Eigen::MatrixXd& mass) noexcept {
  general();
  if (lu_.rank(2) == 0) {
    mass_.dense(mass);
    return;
  }
  if (displacements_move_) {
    const auto free = lu_.free_columns(2);
    const auto n = static_cast<Eigen::Index>(free.size()),
               nv = static_cast<Eigen::Index>(model_.nv);
    basis_.resize(static_cast<size_t>(nv * n));  // of large models on the first call
    const Eigen::Map<Eigen::MatrixXd> r(basis_.data(), nv, n);
    mass.resize(n, n);
    for (Eigen::Index j = 0; j < n; ++j) {
      double* column = basis_.data() + j * nv;
      std::fill_n(column, nv, 0.0);
      column[free[static_cast<size_t>(j)]] = 1;
      complete(Level::kAcceleration, {}, {column, static_cast<size_t>(nv)});
      mass_.multiply(column, force_.data());
      for (Eigen::Index i = 0; i <= j; ++i) {
        double sum = 0;
        for (Eigen::Index k = 0; k < nv; ++k) sum += r(k, i) * force_[static_cast<size_t>(k)];
        mass(i, j) = mass(j, i) = sum;
      }
    }
    return;
  }
  // From R and M R of the unknowns that move others; the displacements of beams are the last ones.
  const auto nz = static_cast<Eigen::Index>(lu_.free_columns(2).size()),
             ne = static_cast<Eigen::Index>(model_.elastic.size()),
             nv = static_cast<Eigen::Index>(model_.nv), moving = nz - ne, nj = nv - ne;
  const Eigen::Map<const Eigen::MatrixXd> r(basis_.data(), nv, moving),
      product(mass_basis_.data(), nv, moving);
  mass.setZero(nz, nz);
  for (Eigen::Index j = 0; j < moving; ++j) {
    for (Eigen::Index i = 0; i <= j; ++i) {
      double sum = 0;
      for (Eigen::Index k = 0; k < nj; ++k) sum += r(k, i) * product(k, j);
      mass(i, j) = mass(j, i) = sum;
    }
    for (Eigen::Index k = 0; k < ne; ++k)
      mass(moving + k, j) = mass(j, moving + k) = product(nj + k, j);
  }
  if (ne > 0) mass_.beams()->place_block(moving, mass);
}

template <class S>
void RigidWorkspace<S>::multipliers(View a, MutableView lambda) noexcept {
  std::fill(lambda.begin(), lambda.end(), 0.0);
  const auto rank = static_cast<size_t>(lu_.rank(2));
  if (rank == 0) return;
  const double *inertia = force_.data(), *bias = bias_.data();
  if (floating_last_) {
    // The residual at these accelerations.
    Arguments<double> x;
    x.t = last_t_;
    x.u = last_u_.empty() ? nullptr : last_u_.data();
    x.u_rate = last_u_rate_.empty() ? nullptr : last_u_rate_.data();
    std::copy(a.begin(), a.end(), last_a_.begin());
    eq_.kin.velocities(c_, last_v_.data());
    eq_.kin.accelerations(c_, last_a_.data());
    eq_.forces(c_, x);
    for (size_t i = 0; i < force_.size(); ++i) force_[i] = eq_.r[i] - added_[i];
    bias = zero_.data();
  } else {
    mass_.multiply(a.data(), force_.data());
  }
  for (size_t i = 0; i < rank; ++i) {
    const auto at = static_cast<size_t>(lu_.pivot_columns()[i]);
    right_[i] = inertia[at] + bias[at];
  }
  lu_.solve_transposed(2, right_.data());
  for (size_t i = 0; i < rank; ++i) lambda[static_cast<size_t>(lu_.pivot_rows()[i])] = right_[i];
}

template <class S>
void RigidWorkspace<S>::null_space(Eigen::MatrixXd& r) const {
  const auto rank = static_cast<size_t>(lu_.rank(1));
  const auto free = lu_.free_columns(1);
  r.setZero(model_.nv, static_cast<Eigen::Index>(free.size()));
  std::vector<double> right(rank);
  for (size_t z = 0; z < free.size(); ++z) {
    for (size_t i = 0; i < rank; ++i) {
      const auto at = static_cast<size_t>(lu_.pivot_rows()[i]);
      right[i] = 0;
      for (auto k = static_cast<size_t>(g_.start[at]); k < static_cast<size_t>(g_.start[at + 1]);
           ++k)
        if (g_.column[k] == free[z]) right[i] -= g_.value[k];
    }
    lu_.solve(1, right.data());
    const auto column = static_cast<Eigen::Index>(z);
    r(free[z], column) = 1;
    for (size_t i = 0; i < rank; ++i) r(lu_.pivot_columns()[i], column) = right[i];
  }
}

template <class S>
void RigidWorkspace<S>::complete(Level level, View b, MutableView x) noexcept {
  const int stage = static_cast<int>(level), rank = lu_.rank(stage);
  const int *rows = lu_.pivot_rows().data(), *columns = lu_.pivot_columns().data(),
            *start = g_.start.data(), *column = g_.column.data();
  const double* g = g_.value.data();
  double *right = right_.data(), *out = x.data();
  for (int i = 0; i < rank; ++i) out[columns[i]] = 0;
  for (int i = 0; i < rank; ++i) {
    const int at = rows[i];
    double sum = b.empty() ? 0 : b[static_cast<size_t>(at)];
    for (int k = start[at]; k < start[at + 1]; ++k) sum -= g[k] * out[column[k]];
    right[i] = sum;
  }
  lu_.solve(stage, right);
  for (int i = 0; i < rank; ++i) out[columns[i]] = right[i];
}

template <class S>
void RigidWorkspace<S>::violation(double t, View q, View v, View u, double& position,
                                  double& velocity) {
  Arguments<double> x;
  x.t = t;
  x.q = q.data();
  x.v = v.data();
  x.a = zero_.data();
  x.u = u.empty() ? nullptr : u.data();
  eq_.evaluate(c_, x);
  position = velocity = 0;
  for (int i = 0; i < model_.n_position_rows; ++i)
    position = std::max(position, std::abs(eq_.phi[static_cast<size_t>(i)]));
  for (int i = 0; i < model_.n_position_rows + model_.n_velocity_rows; ++i)
    velocity = std::max(velocity, std::abs(eq_.phi_dot[static_cast<size_t>(i)]));
}

template <class S>
Status RigidWorkspace<S>::forward_dynamics(const Point& x, Eigen::VectorXd& a,
                                           Eigen::VectorXd& lambda) {
  Point at = x;
  at.a = View(zero_.data(), static_cast<size_t>(model_.nv));
  at.lambda = {};
  Residual r;
  residual(at, false, r);
  Eigen::MatrixXd mass, g;
  mass_known_ = false;
  evaluate_mass();
  mass_.dense(mass);
  constraint_jacobian(x.t, x.q, g);
  SaddleSolver saddle(model_.nv, model_.n_rows());
  return saddle.solve(mass, g, -r.r, -r.phi_ddot, a, lambda);
}

template class RigidWorkspace<Planar>;
template class RigidWorkspace<Spatial>;

}  // namespace panto::rigid
