// Motion of single nodes of a reduced model: rows of E times a of their link, which turns with it.
#pragma once

#include "panto/mechanics/erls/reduced_motion.hpp"

namespace panto::erls {

namespace detail {

// Displacement of a node in link axes, of any of a, a_dot, a_ddot.
template <class T>
struct NodeValue {
  Vec2<T> u{T(0.0), T(0.0)};
  T turn{0.0};
};
template <class P, class T>
NodeValue<T> node_value(const ReducedConstants<P>& c, const ReducedState<T>& s, int node,
                        std::vector<T> LinkState<T>::*which) {
  const auto k = static_cast<size_t>(s.node_link[static_cast<size_t>(node)]);
  const LinkMatrices<P>& m = c.links[k];
  const T* a = (s.links[k].*which).data();
  const P* row = m.E.data() + static_cast<size_t>(3 * (node - s.layout.links[k].first_node) * m.n);
  NodeValue<T> out;
  for (int j = 0; j < m.n; ++j) {
    out.u.x += row[j] * a[j];
    out.u.y += row[m.n + j] * a[j];
    out.turn += row[2 * m.n + j] * a[j];
  }
  return out;
}

}  // namespace detail

template <class P, class T, class Body>
void place_node(const Model& m, const BeamConstants<P>& beams, const ReducedConstants<P>& c,
                const ReducedState<T>& s, int node, std::vector<Body>& body, NodeState<T>& out) {
  const auto i = static_cast<size_t>(node);
  const Body& link = detail::link_of(m, body, m.nodes[i]);
  Body& b = body[m.bodies.size() + 1 + i];
  const auto value = detail::node_value(c, s, node, &LinkState<T>::a);
  out.u = rotate(link.R, value.u);
  out.turn = value.turn;
  b.d = {link.R.c * beams.nodes[i].x, link.R.s * beams.nodes[i].x};
  b.p = link.p + b.d + out.u;
  b.angle = link.angle + out.turn;
  b.R = compose(link.R, turn(out.turn));
}

template <class P, class T, class Body>
void move_node(const Model& m, const ReducedConstants<P>& c, const ReducedState<T>& s, int node,
               std::vector<Body>& body, NodeState<T>& out) {
  const auto i = static_cast<size_t>(node);
  const Body& link = detail::link_of(m, body, m.nodes[i]);
  Body& b = body[m.bodies.size() + 1 + i];
  const auto rate = detail::node_value(c, s, node, &LinkState<T>::a_dot);
  out.u_dot = rotate(link.R, rate.u) + spin(link.w, out.u);
  out.turn_dot = rate.turn;
  b.v = link.v + spin(link.w, b.d) + out.u_dot;
  b.w = link.w + out.turn_dot;
}

template <class P, class T, class Body>
void accelerate_node(const Model& m, const ReducedConstants<P>& c, const ReducedState<T>& s,
                     int node, std::vector<Body>& body, NodeState<T>& out) {
  const auto i = static_cast<size_t>(node);
  const Body& link = detail::link_of(m, body, m.nodes[i]);
  Body& b = body[m.bodies.size() + 1 + i];
  const auto second = detail::node_value(c, s, node, &LinkState<T>::a_ddot);
  // u̇ − ω × u: the rate that the link sees, in ground axes.
  out.u_ddot = rotate(link.R, second.u) + spin(T(2.0 * link.w), out.u_dot - spin(link.w, out.u)) +
               spin(link.al, out.u) + centripetal(link.w, out.u);
  out.turn_ddot = second.turn;
  b.a = link.a + spin(link.al, b.d) + centripetal(link.w, b.d) + out.u_ddot;
  b.al = link.al + out.turn_ddot;
}

}  // namespace panto::erls
