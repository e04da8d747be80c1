// The equations of motion (EOM-2, EOM-3, EOM-4) of a rigid tree with loops, as one residual over any scalar:
//   r = M a + k - Q - Gᵀ λ - B u,   φ and its first two time derivatives,   y.
// Cost linear in bodies, elements and depth.
#pragma once

#include <limits>
#include <type_traits>

#include "panto/mechanics/ancf/forces.hpp"
#include "panto/mechanics/erls/beam_forces.hpp"
#include "panto/mechanics/erls/floating.hpp"
#include "panto/mechanics/erls/reduced_forces.hpp"
#include "panto/mechanics/rigid/channel.hpp"
#include "panto/mechanics/rigid/structure.hpp"

namespace panto::rigid {

template <class T>
struct Arguments {
  double t = 0;
  const T* q = nullptr;
  const T* v = nullptr;
  const T* a = nullptr;
  const T* lambda = nullptr;  // nullptr: zero
  const T* u = nullptr;       // inputs, nullptr: zero
  const double* u_rate = nullptr;
};

template <class S, class T>
struct Equations {
  using Vec = typename S::template Vec<T>;
  using Ang = typename S::template Ang<T>;

  Kinematics<S, T> kin;
  std::vector<Wrench<S, T>>
      wrench;  // per body and node (Kinematics index): inertia (TREE-2) minus applied forces
  std::vector<SignalAt<T>> signal;
  std::vector<T> force;  // per force element: force on its channel
  // results
  std::vector<T> r, phi, phi_dot, phi_ddot, y;
  // Takes the place of the links' own equations in forces(), which then leaves what acts on the joints in r; the forces added to the speeds go with it.
  erls::FloatingLinks* floating = nullptr;
  const double* floating_added = nullptr;

  explicit Equations(const Model& m)
      : kin(m),
        wrench(kin.body.size()),
        signal(m.signals.size()),
        force(m.forces.size()),
        r(static_cast<size_t>(m.nv)),
        phi(m.rows.size()),
        phi_dot(m.rows.size()),
        phi_ddot(m.rows.size()),
        y(m.outputs.size()) {
    for (int k = 0; k < m.n_rows(); ++k) coincidence_.push_back(starts_coincidence(m, k));
    triple_.assign(y.size(), 0);
    for (size_t i = 0; i + 2 < y.size(); ++i) triple_[i] = starts_triple(&m.outputs[i]) ? 1 : 0;
  }

  // Constants have changed: what was evaluated last is no longer known.
  void forget() {
    kin.known = false;
    signal_t_ = std::numeric_limits<double>::quiet_NaN();
  }

  template <class P>
  void signals_at(const Constants<S, P>& c, double t) {
    if constexpr (std::is_same_v<T, double>) {
      if (t == signal_t_) return;
      signal_t_ = t;
    }
    for (size_t i = 0; i < signal.size(); ++i) {
      const auto s = c.signal(*kin.model, static_cast<int>(i), t);
      signal[i] = {T(s.value), T(s.rate), T(s.acceleration)};
    }
  }

  // Position-level target of a row.
  template <class P>
  T target(const Constants<S, P>& c, const ConstraintRow& row) const {
    return row.target == TargetKind::kSignal ? signal[static_cast<size_t>(row.signal)].value
                                             : T(c[row.constant]);
  }

  // Everything: kinematics, r, φ, φ', φ''. placed: positions and time are those of the last evaluation.
  template <class P>
  void evaluate(const Constants<S, P>& c, const Arguments<T>& x, bool placed = false) {
    if (!placed) {
      signals_at(c, x.t);
      kin.positions(c, x.q);
    }
    kin.velocities(c, x.v);
    kin.accelerations(c, x.a);
    forces(c, x);
  }

  // The same, when the kinematics is already there.
  template <class P>
  void forces(const Constants<S, P>& c, const Arguments<T>& x) {
    const Model& m = *kin.model;
    for (T& e : r) e = T(0.0);
    inertia_wrenches(c);
    if constexpr (S::kPlanar) {
      if (kin.reduced.layout.active) {
        if (!floating) erls::reduced_elastic_forces(kin, c);
      } else if (!kin.node.empty()) {
        erls::elastic_forces(kin, c, wrench, r);
      }
      if (!kin.ancf_node.empty()) ancf::elastic_forces(kin, c, r);
    }
    if (!floating) constraints(c, x);  // there without multipliers, and the rows are known
    for (size_t i = 0; i < m.forces.size(); ++i) force_element(c, static_cast<int>(i));
    for (const Actuator& actuator : m.actuators) {
      if (actuator.group >= 0 || !x.u) continue;
      const auto ch = evaluate_channel<Depth::kValue>(kin, c, actuator.channel);
      apply(c, actuator.channel, ch.gradient, -x.u[actuator.input]);
    }
    backward(c);
  }

  // φ, φ', φ'', and the forces of the multipliers where x has them, after the kinematics.
  template <class P>
  void constraints(const Constants<S, P>& c, const Arguments<T>& x) {
    for (size_t i = 0; i < coincidence_.size();) {
      if (coincidence_[i]) {
        coincidence(x, i);
        i += S::kDim;
      } else {
        constraint(c, x, static_cast<int>(i++));
      }
    }
  }

  // Adds force f on a channel to the accumulated wrenches, with the sign of the left side: pass minus the applied force.
  template <class P>
  void apply(const Constants<S, P>& c, const Channel& channel, const Gradient<S, T>& g,
             const T& f) {
    if (channel.kind == ChannelKind::kCoordinate) {
      r[static_cast<size_t>(channel.dof)] += f;
    } else if (channel.kind == ChannelKind::kSum) {
      for (int k = channel.first_term; k < channel.first_term + channel.terms; ++k) {
        const Term& term = kin.model->terms[static_cast<size_t>(k)];
        r[static_cast<size_t>(term.dof)] += c[term.coefficient] * f;
      }
    } else {
      if (g.a > 0) add(wrench[static_cast<size_t>(g.a)], f, g.on_a);
      if (g.b > 0) add(wrench[static_cast<size_t>(g.b)], f, g.on_b);
      if constexpr (S::kPlanar)
        if (on_beam(channel.kind))
          wrench[static_cast<size_t>(c.beams.elements[static_cast<size_t>(channel.element)].body)]
              .n += f * moment_on_link(kin, g);
    }
  }

  // Outputs (EOM-4), after evaluate().
  template <class P>
  void outputs(const Constants<S, P>& c, const Arguments<T>& x) {
    kin.show(c);
    for (size_t i = 0; i < y.size(); ++i) {
      if (triple_[i] == 0) {
        y[i] = output(c, x, static_cast<int>(i));
        continue;
      }
      const Output* o = &kin.model->outputs[i];
      const auto ch = evaluate_channel<Depth::kAcceleration>(kin, c, o[0].channel);
      y[i] = ch.value + c[o[0].offset];
      y[i + 1] = ch.rate + c[o[1].offset];
      y[i + 2] = ch.acceleration + c[o[2].offset];
      i += 2;
    }
  }

  // One of them, after as much of the motion as it reads, and Kinematics::show().
  template <class P>
  T output(const Constants<S, P>& c, const Arguments<T>& x, int index) const {
    const Output& o = kin.model->outputs[static_cast<size_t>(index)];
    T value(0.0);
    switch (o.kind) {
      case OutputKind::kChannel: {
        if (o.order == Order::kValue) {
          value = evaluate_channel<Depth::kValue>(kin, c, o.channel).value;
        } else if (o.order == Order::kRate) {
          value = evaluate_channel<Depth::kRate>(kin, c, o.channel).rate;
        } else {
          value = evaluate_channel<Depth::kAcceleration>(kin, c, o.channel).acceleration;
        }
        if (o.minus_gravity) {
          // The acceleration itself along an axis that turns, not the derivative of the velocity along it.
          const FrameState<S, T>&fa = kin.frame(o.channel.frame_a),
                              &fb = kin.frame(o.channel.frame_b);
          const BodyState<S, T>&A = kin.body[static_cast<size_t>(fa.body)],
                             &B = kin.body[static_cast<size_t>(fb.body)];
          const Vec e = axis_of(kin.rotation(fb), o.channel.axis);
          value -= dot(e, c.gravity) + dot(spin(B.w, e), A.v + spin(A.w, fa.r));
        }
        break;
      }
      case OutputKind::kForceElement:
        value = force[static_cast<size_t>(o.index)];
        break;
      case OutputKind::kMultiplier:
        if (x.lambda) value = x.lambda[o.index];
        break;
      case OutputKind::kInput:
        if (x.u) value = x.u[o.index];
        break;
      case OutputKind::kKinetic:
        value = kinetic_energy(c);
        break;
      case OutputKind::kPotential:
        value = potential_energy(c);
        break;
    }
    return value + c[o.offset];
  }

  // r = M a + k minus gravity's forces alone, after the kinematics.
  template <class P>
  void inertia(const Constants<S, P>& c) {
    for (T& e : r) e = T(0.0);
    inertia_wrenches(c);
    backward(c);
  }

  template <class P>
  T kinetic_energy(const Constants<S, P>& c) const {
    T sum(0.0);
    for (size_t i = 0; i < c.bodies.size(); ++i) {
      const BodyState<S, T>& b = kin.body[i + 1];
      const Vec v = b.v + spin(b.w, rotate(b.R, c.bodies[i].com));
      sum += 0.5 * c.bodies[i].mass * dot(v, v);
      if constexpr (S::kPlanar) {
        sum += 0.5 * c.bodies[i].inertia * (b.w * b.w);
      } else {
        const Vec3<T> w = transpose_times(b.R, b.w);
        sum += 0.5 * dot(w, c.bodies[i].inertia * w);
      }
    }
    if constexpr (S::kPlanar) {
      if (kin.reduced.layout.active) {
        sum += erls::reduced_kinetic_energy(kin, c);
      } else if (!kin.node.empty()) {
        sum += erls::beam_kinetic_energy(kin, c);
      }
      if (!kin.ancf_node.empty()) sum += ancf::kinetic_energy(kin, c);
    }
    return sum;
  }

  // Gravity, linear springs and beams. The work of tables, friction, dampers and applied forces is integrated by power().
  template <class P>
  T potential_energy(const Constants<S, P>& c) const {
    T sum(0.0);
    for (size_t i = 0; i < c.bodies.size(); ++i) {
      const BodyState<S, T>& b = kin.body[i + 1];
      sum -= c.bodies[i].mass * dot(b.p + rotate(b.R, c.bodies[i].com), c.gravity);
    }
    for (const ForceElement& e : kin.model->forces) {
      if (e.law != LawKind::kSpringDamper) continue;
      const T x = evaluate_channel<Depth::kValue>(kin, c, e.channel).value - c[e.free];
      sum += 0.5 * c[e.stiffness] * (x * x) + c[e.preload] * x;
    }
    if constexpr (S::kPlanar) {
      if (kin.reduced.layout.active) {
        sum += erls::reduced_potential_energy(kin, c);
      } else if (!kin.node.empty()) {
        sum += erls::beam_potential_energy(kin, c);
      }
      if (!kin.ancf_node.empty()) sum += ancf::potential_energy(kin, c);
    }
    return sum;
  }

  // Power that enters (applied forces, actuators, drivers) and power that dampers, friction and tabulated springs take out. After evaluate().
  template <class P>
  void power(const Constants<S, P>& c, const Arguments<T>& x, T& entering, T& taken) const {
    const Model& m = *kin.model;
    entering = T(0.0);
    taken = T(0.0);
    for (size_t i = 0; i < m.forces.size(); ++i) {
      const ForceElement& e = m.forces[i];
      const auto ch = evaluate_channel<Depth::kRate>(kin, c, e.channel);
      if (e.law == LawKind::kApplied) {
        entering += force[i] * ch.rate;
      } else if (e.law == LawKind::kSpringDamper) {
        taken += c[e.damping] * (ch.rate * ch.rate);
      } else {
        taken -= force[i] * ch.rate;
      }
    }
    for (const Actuator& actuator : m.actuators)
      if (actuator.group < 0 && x.u)
        entering +=
            x.u[actuator.input] * evaluate_channel<Depth::kRate>(kin, c, actuator.channel).rate;
    if constexpr (S::kPlanar) {
      if (kin.reduced.layout.active) {
        taken += erls::reduced_damping_power(kin, c);
      } else if (!kin.node.empty()) {
        taken += erls::damping_power(kin, c);
      }
    }
    for (size_t i = 0; i < m.rows.size(); ++i)
      if (m.rows[i].target != TargetKind::kConstant && x.lambda)
        entering += x.lambda[i] * evaluate_channel<Depth::kRate>(kin, c, m.rows[i].channel).rate;
  }

 private:
  template <class P>
  static constexpr bool kPlain = std::is_same_v<T, double>&& std::is_same_v<P, double>;

  std::vector<char> coincidence_;                               // per row: starts a coincidence
  std::vector<char> triple_;                                    // per output: starts a triple
  double signal_t_ = std::numeric_limits<double>::quiet_NaN();  // that the signals belong to

  // Value, rate and acceleration of one channel, one after the other: one evaluation gives all three.
  static bool starts_triple(const Output* o) {
    const auto same = [](const Channel& a, const Channel& b) {
      return a.kind == b.kind && a.dof == b.dof && a.frame_a == b.frame_a &&
             a.frame_b == b.frame_b && a.axis == b.axis && a.axis_b == b.axis_b &&
             a.first_term == b.first_term && a.terms == b.terms && a.element == b.element &&
             a.x == b.x && a.height == b.height;
    };
    for (int k = 0; k < 3; ++k)
      if (o[k].kind != OutputKind::kChannel || o[k].order != static_cast<Order>(k) ||
          o[k].minus_gravity || !same(o[k].channel, o[0].channel))
        return false;
    return true;
  }

  static void add(Wrench<S, T>& w, const T& f, const Wrench<S, T>& g) {
    w.n += f * g.n;
    w.f += f * g.f;
  }

  template <class P>
  void inertia_wrenches(const Constants<S, P>& c) {
    for (size_t i = 0; i < c.bodies.size(); ++i) {
      const BodyConstants<S, P>& k = c.bodies[i];
      const BodyState<S, T>& b = kin.body[i + 1];
      Wrench<S, T>& w = wrench[i + 1];
      if (kin.model->bodies[i].solids.empty()) {
        w = {};
        continue;
      }
      const Vec com = rotate(b.R, k.com);
      w.f = k.mass * (b.a + spin(b.al, com) + centripetal(b.w, com) - c.gravity);
      w.n = moment(com, w.f);
      if constexpr (S::kPlanar) {
        w.n += k.inertia * b.al;
      } else {
        const Vec3<T> omega = transpose_times(b.R, b.w), alpha = transpose_times(b.R, b.al);
        w.n += b.R * (k.inertia * alpha + cross(omega, k.inertia * omega));
      }
    }
    wrench[0] = {};
    if constexpr (S::kPlanar) {
      if (kin.reduced.layout.active) {
        if constexpr (kPlain<P>) {
          if (floating) {
            floating->forces(kin, c, wrench);
          } else {
            erls::reduced_inertia_forces(kin, c, wrench);
          }
        } else {
          erls::reduced_inertia_forces(kin, c, wrench);
        }
      } else if (!kin.node.empty()) {
        erls::inertia_forces(kin, c, wrench);
      }
      if (!kin.ancf_node.empty()) ancf::inertia_forces(kin, c, wrench, r);
    }
  }

  // The rows of two coinciding points together: what constraint() does, as one vector.
  void coincidence(const Arguments<T>& x, size_t i) {
    const Channel& ch = kin.model->rows[i].channel;
    const FrameState<S, T>&fa = kin.frame(ch.frame_a), &fb = kin.frame(ch.frame_b);
    Vec value{}, rate{}, acceleration{};
    const auto side = [&](const FrameState<S, T>& f, auto sign) {
      const BodyState<S, T>& b = kin.body[static_cast<size_t>(f.body)];
      sign(value, b.p + f.r);
      if (f.body == 0) return;
      sign(rate, b.v + spin(b.w, f.r));
      sign(acceleration, b.a + spin(b.al, f.r) + centripetal(b.w, f.r));
    };
    side(fa, [](Vec& sum, const Vec& e) { sum += e; });
    side(fb, [](Vec& sum, const Vec& e) { sum -= e; });
    const auto store = [i](std::vector<T>& to, const Vec& e) {
      to[i] = e.x;
      to[i + 1] = e.y;
      if constexpr (!S::kPlanar) to[i + 2] = e.z;
    };
    store(phi, value);
    store(phi_dot, rate);
    store(phi_ddot, acceleration);
    if (!x.lambda) return;
    Vec f;
    f.x = x.lambda[i];
    f.y = x.lambda[i + 1];
    if constexpr (!S::kPlanar) f.z = x.lambda[i + 2];
    Wrench<S, T>&on_a = wrench[static_cast<size_t>(fa.body)],
              &on_b = wrench[static_cast<size_t>(fb.body)];
    on_a.f -= f;
    on_a.n -= moment(fa.r, f);
    on_b.f += f;
    on_b.n += moment(fb.r, f);
  }

  template <class P>
  void constraint(const Constants<S, P>& c, const Arguments<T>& x, int index) {
    const auto i = static_cast<size_t>(index);
    const ConstraintRow& row = kin.model->rows[i];
    const auto ch = evaluate_channel<Depth::kAcceleration>(kin, c, row.channel);
    if (x.lambda) apply(c, row.channel, ch.gradient, -x.lambda[i]);
    phi[i] = ch.value;
    phi_dot[i] = ch.rate;
    phi_ddot[i] = ch.acceleration;
    const auto input = [&] { return x.u ? x.u[row.input] : T(0.0); };
    switch (row.target) {
      case TargetKind::kConstant:
        phi[i] = nearest_turn(row.channel, T(phi[i] - c[row.constant]));
        break;
      case TargetKind::kSignal: {
        const SignalAt<T>& s = signal[static_cast<size_t>(row.signal)];
        phi[i] = nearest_turn(row.channel, T(phi[i] - s.value));
        phi_dot[i] -= s.rate;
        phi_ddot[i] -= s.acceleration;
        break;
      }
      case TargetKind::kDrive0:
        phi_dot[i] -= input();
        if (x.u_rate) phi_ddot[i] -= x.u_rate[row.input];
        break;
      case TargetKind::kDrive1:
        phi_ddot[i] -= (input() - ch.rate) / c[row.tau];
        break;
      case TargetKind::kDrive2: {
        const P w = c[row.omega];
        phi_ddot[i] += (2.0 * c[row.zeta] * w) * ch.rate + (w * w) * (ch.value - input());
        break;
      }
    }
  }

  template <class P>
  void force_element(const Constants<S, P>& c, int index) {
    using std::tanh;
    const auto i = static_cast<size_t>(index);
    const ForceElement& e = kin.model->forces[i];
    const auto ch = evaluate_channel<Depth::kRate>(kin, c, e.channel);
    T f(0.0);
    switch (e.law) {
      case LawKind::kSpringDamper:
        f = -(c[e.stiffness] * (ch.value - c[e.free]) + c[e.damping] * ch.rate + c[e.preload]);
        break;
      case LawKind::kTable: {
        const T x = ch.value - c[e.free];
        f = -(table_value(kin.model->tables[static_cast<size_t>(e.table)], x) +
              c[e.damping] * ch.rate + c[e.preload]);
        break;
      }
      case LawKind::kApplied:
        f = signal[static_cast<size_t>(e.signal)].value;
        break;
      case LawKind::kFriction:
        f = -(c[e.level] * tanh(ch.rate / c[e.speed]) + c[e.damping] * ch.rate);
        break;
    }
    force[i] = f;
    apply(c, e.channel, ch.gradient, -f);
  }

  // A table of doubles seen by any scalar: value plus slope times the infinitesimal part.
  static T table_value(const Signal& table, const T& x) {
    if constexpr (std::is_same_v<T, double>) {
      return table.at(x).value;
    } else if constexpr (requires { x.a; }) {
      const SignalValue s = table.at(x.a);
      return s.value + s.rate * (x - x.a);
    } else {
      const SignalValue s = table.at(x.real());
      return s.value + s.rate * (x - x.real());
    }
  }

  // Projects the accumulated wrenches on the joints, from the tips inward (TREE-3).
  template <class P>
  void backward([[maybe_unused]] const Constants<S, P>& c) {
    if constexpr (S::kPlanar) {
      if (kin.reduced.layout.active) {
        if constexpr (kPlain<P>) {
          if (floating) {
            floating->gather(kin, c, wrench, r.data(), floating_added);
          } else {
            erls::gather_reduced(kin, c, wrench, r);
          }
        } else {
          erls::gather_reduced(kin, c, wrench, r);
        }
      } else if (!kin.node.empty()) {
        erls::gather_nodes(kin, wrench, r);
      }
      if (!kin.ancf_node.empty()) ancf::gather_nodes(kin, wrench, r);
    }
    const Wrench<S, T>* w = wrench.data() + kin.link.size() + 1;
    const BodyState<S, T>* b = kin.body.data() + kin.link.size() + 1;
    const Column<S, T>* columns = kin.column.data();
    T* sum = r.data();
    for (auto j = kin.link.rbegin(); j != kin.link.rend(); ++j) {
      --w, --b;
      for (int k = j->v; k < j->v + j->nv; ++k) {
        if (j->turns()) sum[k] += inner(columns[k].w, w->n);
        if (j->shifts()) sum[k] += dot(columns[k].v, w->f);
      }
      if (j->parent == 0) continue;
      Wrench<S, T>& parent = wrench[static_cast<size_t>(j->parent)];
      parent.f += w->f;
      parent.n += w->n + moment(b->d, w->f);
    }
  }
};

}  // namespace panto::rigid
