// What beams add to the residual (ERLS-2): wrenches on their nodes, which do work on the displacements and carry over to the rigid link, and
// moments on the link.
#pragma once

#include "panto/mechanics/rigid/channel.hpp"

namespace panto::erls {

using rigid::Constants;
using rigid::Kinematics;
using rigid::Wrench;

namespace detail {

template <class T>
BeamVector<T> displacements(const Kinematics<Planar, T>& kin, int node) {
  const NodeState<T>&a = kin.node[static_cast<size_t>(node)],
        &b = kin.node[static_cast<size_t>(node) + 1];
  BeamVector<T> u;
  u << a.u.x, a.u.y, a.turn, b.u.x, b.u.y, b.turn;
  return u;
}
template <class T>
BeamVector<T> displacement_rates(const Kinematics<Planar, T>& kin, int node) {
  const NodeState<T>&a = kin.node[static_cast<size_t>(node)],
        &b = kin.node[static_cast<size_t>(node) + 1];
  BeamVector<T> u;
  u << a.u_dot.x, a.u_dot.y, a.turn_dot, b.u_dot.x, b.u_dot.y, b.turn_dot;
  return u;
}
template <class P, class T>
void add_force(const ElementConstants<P>& e, const BeamForce<T>& f,
               std::vector<Wrench<Planar, T>>& wrench) {
  for (int k = 0; k < 2; ++k) {
    Wrench<Planar, T>& w = wrench[static_cast<size_t>(e.a + k)];
    w.f.x += f.nodal[3 * k];
    w.f.y += f.nodal[3 * k + 1];
    w.n += f.nodal[3 * k + 2];
  }
  wrench[static_cast<size_t>(e.body)].n += f.link;
}
// ḋ = T u̇ − ω Ĵ d in ground axes: the rate of displacement that an observer on the link sees (ERLS-3).
template <class T>
BeamVector<T> seen_rates(const Kinematics<Planar, T>& kin, int node, const T& omega) {
  const BeamVector<T> u = displacements(kin, node), turned = quarter_turn(u);
  BeamVector<T> rate = displacement_rates(kin, node);
  for (int i = 0; i < 6; ++i) rate[i] -= omega * turned[i];
  return rate;
}
template <class T>
Vec2<T> seen_rate(const NodeState<T>& s, const T& omega) {
  return s.u_dot - spin(omega, s.u);
}
template <class P, class T>
BeamVector<T> product(const BeamMatrix<P>& m, const BeamVector<T>& x) {
  BeamVector<T> y;
  for (int i = 0; i < 6; ++i) {
    T sum(0.0);
    for (int j = 0; j < 6; ++j) sum += m(i, j) * x[j];
    y[i] = sum;
  }
  return y;
}
template <class T>
T scalar_product(const BeamVector<T>& x, const BeamVector<T>& y) {
  T sum(0.0);
  for (int i = 0; i < 6; ++i) sum += x[i] * y[i];
  return sum;
}
// C ḋ of one element, link axes: C = α M + β K.
template <class P, class T>
BeamVector<T> damping_force(const ElementConstants<P>& e, const BeamVector<T>& rate) {
  const BeamVector<T> m = product(e.matrices.M, rate), k = product(e.matrices.K, rate);
  BeamVector<T> f;
  for (int i = 0; i < 6; ++i) f[i] = e.alpha * m[i] + e.beta * k[i];
  return f;
}

}  // namespace detail

// Inertia less gravity, of lumped masses and elements; sets the wrenches of the nodes.
template <class P, class T>
void inertia_forces(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                    std::vector<Wrench<Planar, T>>& wrench) {
  const size_t first = kin.model->bodies.size() + 1;
  for (size_t i = 0; i < kin.node.size(); ++i) {
    const NodeConstants<P>& n = c.beams.nodes[i];
    const auto& b = kin.body[first + i];
    wrench[first + i] = {n.inertia * b.al, n.mass * (b.a - c.gravity)};
  }
  for (const ElementConstants<P>& e : c.beams.elements) {
    const auto &link = kin.body[static_cast<size_t>(e.body)],
               &a = kin.body[static_cast<size_t>(e.a)], &b = kin.body[static_cast<size_t>(e.b)];
    BeamMotion<T> motion;
    motion.R = link.R;
    motion.omega = link.w;
    motion.omega_dot = link.al;
    // The kernel adds r̈ and ü: here the nodes' whole acceleration.
    motion.r_ddot << a.a.x - c.gravity.x, a.a.y - c.gravity.y, a.al, b.a.x - c.gravity.x,
        b.a.y - c.gravity.y, b.al;
    motion.u = detail::displacements(kin, e.node_a);
    motion.u_dot = detail::displacement_rates(kin, e.node_a);
    motion.u_ddot = BeamVector<T>::Constant(T(0.0));
    detail::add_force(e, inertia_force(e.matrices, motion, e.terms), wrench);
  }
}

// Elastic forces, and damping by what the link sees: on the displacements and on the link's angle, with which d = T u turns. Strain does not
// depend on rigid motion, so nothing goes through Sᵀ (ERLS-3).
template <class P, class T>
void elastic_forces(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                    std::vector<Wrench<Planar, T>>& wrench, std::vector<T>& r) {
  const Model& m = *kin.model;
  for (const ElementConstants<P>& e : c.beams.elements) {
    const auto& link = kin.body[static_cast<size_t>(e.body)];
    const BeamVector<T> u = detail::displacements(kin, e.node_a);
    BeamForce<T> f = elastic_force(e.matrices, link.R, u, e.terms, e.strain);
    if (e.damped) {
      const BeamVector<T> rate = to_local(link.R, detail::seen_rates(kin, e.node_a, link.w));
      const BeamVector<T> damping = to_global(link.R, detail::damping_force(e, rate));
      for (int i = 0; i < 6; ++i) f.nodal[i] += damping[i];
      f.link -= detail::scalar_product(quarter_turn(u), damping);
    }
    for (int k = 0; k < 2; ++k) {
      const auto& dof = m.nodes[static_cast<size_t>(e.node_a + k)].dof;
      for (size_t i = 0; i < 3; ++i)
        if (dof[i] >= 0) r[static_cast<size_t>(dof[i])] += f.nodal[3 * k + static_cast<int>(i)];
    }
    wrench[static_cast<size_t>(e.body)].n += f.link;
  }
  for (size_t i = 0; i < kin.node.size(); ++i) {
    const BeamNode& n = m.nodes[i];
    const Beam& beam = m.beams[static_cast<size_t>(n.beam)];
    if (beam.alpha < 0 || (n.mass < 0 && n.inertia < 0)) continue;
    const NodeConstants<P>& k = c.beams.nodes[i];
    const NodeState<T>& s = kin.node[i];
    const auto link = static_cast<size_t>(beam.body + 1);
    const Vec2<T> f = (k.alpha * k.mass) * detail::seen_rate(s, kin.body[link].w);
    if (n.dof[0] >= 0) r[static_cast<size_t>(n.dof[0])] += f.x;
    if (n.dof[1] >= 0) r[static_cast<size_t>(n.dof[1])] += f.y;
    if (n.dof[2] >= 0) r[static_cast<size_t>(n.dof[2])] += k.alpha * k.inertia * s.turn_dot;
    wrench[link].n -= moment(s.u, f);
  }
}

// Wrenches of the nodes to the rows of their displacements and, at their places on it, to the rigid link: Sᵀ of ERLS-2.
template <class T>
void gather_nodes(const Kinematics<Planar, T>& kin, std::vector<Wrench<Planar, T>>& wrench,
                  std::vector<T>& r) {
  const Model& m = *kin.model;
  const size_t first = m.bodies.size() + 1;
  for (size_t i = 0; i < kin.node.size(); ++i) {
    const BeamNode& n = m.nodes[i];
    const Wrench<Planar, T>& w = wrench[first + i];
    if (n.dof[0] >= 0) r[static_cast<size_t>(n.dof[0])] += w.f.x;
    if (n.dof[1] >= 0) r[static_cast<size_t>(n.dof[1])] += w.f.y;
    if (n.dof[2] >= 0) r[static_cast<size_t>(n.dof[2])] += w.n;
    Wrench<Planar, T>& link =
        wrench[static_cast<size_t>(m.beams[static_cast<size_t>(n.beam)].body + 1)];
    link.f += w.f;
    link.n += w.n + moment(kin.body[first + i].d, w.f);
  }
}

template <class P, class T>
T beam_kinetic_energy(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c) {
  T sum(0.0);
  const size_t first = kin.model->bodies.size() + 1;
  for (size_t i = 0; i < kin.node.size(); ++i) {
    const auto& b = kin.body[first + i];
    sum +=
        0.5 * c.beams.nodes[i].mass * dot(b.v, b.v) + 0.5 * c.beams.nodes[i].inertia * (b.w * b.w);
  }
  for (const ElementConstants<P>& e : c.beams.elements) {
    const auto &link = kin.body[static_cast<size_t>(e.body)],
               &a = kin.body[static_cast<size_t>(e.a)], &b = kin.body[static_cast<size_t>(e.b)];
    BeamVector<T> rate, u = detail::displacements(kin, e.node_a);
    rate << a.v.x, a.v.y, a.w, b.v.x, b.v.y, b.w;
    const BeamVector<T> none = BeamVector<T>::Constant(T(0.0));
    if (e.terms == LinkTerms::kFirst) u = none;
    sum += kinetic_energy(e.matrices, link.R, link.w, rate, u, none);
  }
  return sum;
}

// Strain energy and gravity.
template <class P, class T>
T beam_potential_energy(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c) {
  T sum(0.0);
  const size_t first = kin.model->bodies.size() + 1;
  for (size_t i = 0; i < kin.node.size(); ++i)
    sum -= c.beams.nodes[i].mass * dot(kin.body[first + i].p, c.gravity);
  for (const ElementConstants<P>& e : c.beams.elements) {
    const auto &link = kin.body[static_cast<size_t>(e.body)],
               &a = kin.body[static_cast<size_t>(e.a)], &b = kin.body[static_cast<size_t>(e.b)];
    const BeamVector<T> u = detail::displacements(kin, e.node_a);
    sum += strain_energy(e.matrices, link.R, u, e.strain);
    sum -= 0.5 * e.mass * dot(link.p + a.d + link.p + b.d, c.gravity);
    BeamVector<T> g;
    g << T(c.gravity.x), T(c.gravity.y), T(0.0), T(c.gravity.x), T(c.gravity.y), T(0.0);
    sum -= detail::scalar_product(to_local(link.R, u),
                                  detail::product(e.matrices.M_translation, to_local(link.R, g)));
  }
  return sum;
}

// Power that damping takes: ḋᵀ C ḋ.
template <class P, class T>
T damping_power(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c) {
  T sum(0.0);
  for (const ElementConstants<P>& e : c.beams.elements) {
    if (!e.damped) continue;
    const auto& link = kin.body[static_cast<size_t>(e.body)];
    const BeamVector<T> rate = to_local(link.R, detail::seen_rates(kin, e.node_a, link.w));
    sum += detail::scalar_product(rate, detail::damping_force(e, rate));
  }
  for (size_t i = 0; i < kin.node.size(); ++i) {
    const NodeConstants<P>& k = c.beams.nodes[i];
    const NodeState<T>& s = kin.node[i];
    const Beam& beam = kin.model->beams[static_cast<size_t>(kin.model->nodes[i].beam)];
    const Vec2<T> rate = detail::seen_rate(s, kin.body[static_cast<size_t>(beam.body + 1)].w);
    sum += k.alpha * (k.mass * dot(rate, rate) + k.inertia * (s.turn_dot * s.turn_dot));
  }
  return sum;
}

}  // namespace panto::erls
