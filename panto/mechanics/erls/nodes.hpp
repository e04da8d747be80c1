// Motion of the nodes of beams: that of the point of the rigid link plus the elastic displacement (ERLS-1). A node is a body after those of the
// tree: R, p, w, v, al, a are those of its section, d is its place on the link, without displacement.
#pragma once

#include <type_traits>

#include "panto/model/beam_constants.hpp"

namespace panto::erls {

// Elastic displacement and its rate, ground axes.
template <class T>
struct NodeState {
  Vec2<T> u{}, u_dot{};
  T turn{0.0}, turn_dot{0.0};
  Vec2<T> u_ddot{};  // of reduced models
  T turn_ddot{0.0};
  Rot2<T> R{};  // by `turn`, kept for double only
};

namespace detail {
template <class T>
T entry(const T* x, int first, int dof) {
  return dof >= 0 ? x[dof + first] : T(0.0);
}
template <class Body>
const Body& link_of(const Model& m, const std::vector<Body>& body, const BeamNode& n) {
  return body[static_cast<size_t>(m.beams[static_cast<size_t>(n.beam)].body + 1)];
}
}  // namespace detail

template <class P, class T, class Body>
void place_nodes(const Model& m, const BeamConstants<P>& c, const T* q, std::vector<Body>& body,
                 std::vector<NodeState<T>>& node) {
  const int shift = m.joint_nq() - m.joint_nv();
  for (size_t i = 0; i < node.size(); ++i) {
    const BeamNode& n = m.nodes[i];
    const Body& link = detail::link_of(m, body, n);
    Body& b = body[m.bodies.size() + 1 + i];
    NodeState<T>& s = node[i];
    s.u = {detail::entry(q, shift, n.dof[0]), detail::entry(q, shift, n.dof[1])};
    [[maybe_unused]] const T before = s.turn;
    s.turn = detail::entry(q, shift, n.dof[2]);
    b.d = {link.R.c * c.nodes[i].x, link.R.s * c.nodes[i].x};
    b.p = link.p + b.d + s.u;
    b.angle = link.angle + s.turn;
    if (n.dof[2] < 0) {
      b.R = link.R;
    } else if constexpr (std::is_same_v<T, double>) {
      // While loops are closed, displacements stay.
      if (s.turn != before) s.R = turn(s.turn);
      b.R = compose(link.R, s.R);
    } else {
      b.R = compose(link.R, turn(s.turn));
    }
  }
}

template <class T, class Body>
void move_nodes(const Model& m, const T* v, std::vector<Body>& body,
                std::vector<NodeState<T>>& node) {
  for (size_t i = 0; i < node.size(); ++i) {
    const BeamNode& n = m.nodes[i];
    const Body& link = detail::link_of(m, body, n);
    Body& b = body[m.bodies.size() + 1 + i];
    NodeState<T>& s = node[i];
    s.u_dot = {detail::entry(v, 0, n.dof[0]), detail::entry(v, 0, n.dof[1])};
    s.turn_dot = detail::entry(v, 0, n.dof[2]);
    b.v = link.v + spin(link.w, b.d) + s.u_dot;
    b.w = link.w + s.turn_dot;
  }
}

template <class T, class Body>
void accelerate_nodes(const Model& m, const T* a, std::vector<Body>& body) {
  for (size_t i = 0; i < m.nodes.size(); ++i) {
    const BeamNode& n = m.nodes[i];
    const Body& link = detail::link_of(m, body, n);
    Body& b = body[m.bodies.size() + 1 + i];
    b.a = link.a + spin(link.al, b.d) + centripetal(link.w, b.d) +
          Vec2<T>{detail::entry(a, 0, n.dof[0]), detail::entry(a, 0, n.dof[1])};
    b.al = link.al + detail::entry(a, 0, n.dof[2]);
  }
}

}  // namespace panto::erls
