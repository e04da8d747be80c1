// Motion of the nodes of ANCF beams (ANCF-1, ANCF-2). Two carriers per node move like bodies after those of the tree: one turns with the section, its twin with
// the tangent of the axis (of a cable both with the axis); d is the place on the undeformed beam. Whatever acts on a frame acts through them.
#pragma once

#include "panto/base/expression_evaluate.hpp"
#include "panto/mechanics/ancf/constants.hpp"

namespace panto::ancf {

// Nodal vectors in the axes of the undeformed beam.
template <class T>
struct NodeState {
  Vec2<T> r{}, axis{}, section{};
};

namespace detail {

template <class T>
Vec2<T> pair(const T* x, int shift, const std::array<int, 2>& dof) {
  return {dof[0] >= 0 ? x[dof[0] + shift] : T(0.0), dof[1] >= 0 ? x[dof[1] + shift] : T(0.0)};
}
template <class T>
Vec2<T> to_local(const Rot2<T>& R, const Vec2<T>& v) {
  return rotate(Rot2<T>{R.c, -R.s}, v);
}
inline bool turns_with_section(const Model& m, const AncfNode& n, int twin) {
  return twin == 0 && m.beams[static_cast<size_t>(n.beam)].kind == BeamKind::kAncfShear;
}
// Speeds of the gradient that a carrier turns with.
inline const std::array<int, 2>& gradient_dofs(const Model& m, const AncfNode& n, int twin) {
  return turns_with_section(m, n, twin) ? n.section : n.axis;
}
template <class T>
const Vec2<T>& gradient(const Model& m, const AncfNode& n, int twin, const NodeState<T>& s) {
  return turns_with_section(m, n, twin) ? s.section : s.axis;
}

// f(node, link, carrier, twin) for the carriers that move.
template <class Body, class F>
void for_carriers(const Model& m, const std::vector<char>& moves, std::vector<Body>& body,
                  const F& f) {
  for (size_t i = 0; i < m.ancf_nodes.size(); ++i) {
    const AncfNode& n = m.ancf_nodes[i];
    const Body& link = body[static_cast<size_t>(m.beams[static_cast<size_t>(n.beam)].body) + 1];
    const auto first =
        static_cast<size_t>(m.n_bodies() + 1 + m.section_carrier(static_cast<int>(i)));
    for (int twin = 0; twin < 2; ++twin)
      if (moves[2 * i + static_cast<size_t>(twin)])
        f(i, link, body[first + static_cast<size_t>(twin)], twin);
  }
}

}  // namespace detail

// Carriers (0, 1, … of the ANCF nodes) that equations and outputs look at: those with a lumped mass and those of channels.
inline std::vector<char> carriers_in_use(const Model& m) {
  std::vector<char> used(2 * m.ancf_nodes.size(), 0);
  for (size_t i = 0; i < m.ancf_nodes.size(); ++i)
    used[2 * i] = m.ancf_nodes[i].mass >= 0 || m.ancf_nodes[i].inertia >= 0;
  const auto note = [&](const Channel& c) {
    for (const int frame : {c.frame_a, c.frame_b}) {
      const int node = frame < 0 ? -1 : m.frames[static_cast<size_t>(frame)].node;
      if (node >= 0 && m.ancf_node_of(node) >= 0)
        used[static_cast<size_t>(node - m.section_carrier(0))] = 1;
    }
  };
  for (const ConstraintRow& row : m.rows) note(row.channel);
  for (const ForceElement& f : m.forces) note(f.channel);
  for (const Actuator& a : m.actuators) note(a.channel);
  for (const Output& o : m.outputs) note(o.channel);
  return used;
}

template <class P, class T, class Body>
void place_nodes(const Model& m, const BeamConstants<P>& c, const T* q,
                 const std::vector<char>& moves, std::vector<Body>& body,
                 std::vector<NodeState<T>>& node) {
  using std::sqrt;
  const int shift = m.joint_nq() - m.joint_nv();
  for (size_t i = 0; i < node.size(); ++i) {
    const AncfNode& n = m.ancf_nodes[i];
    NodeState<T>& s = node[i];
    s.r = detail::pair(q, shift, n.place);
    s.r.x += c.nodes[i].x;
    s.axis = detail::pair(q, shift, n.axis);
    s.axis.x += 1.0;
    s.section = detail::pair(q, shift, n.section);
    s.section.y += 1.0;
  }
  detail::for_carriers(m, moves, body, [&](size_t i, const Body& link, Body& b, int twin) {
    const AncfNode& n = m.ancf_nodes[i];
    const bool section = detail::turns_with_section(m, n, twin);
    const Vec2<T>& g = detail::gradient(m, n, twin, node[i]);
    const Vec2<T> x = section ? Vec2<T>{g.y, -g.x} : g;  // along the axis of a straight beam
    const T scale = 1.0 / sqrt(dot(x, x));
    b.d = {link.R.c * c.nodes[i].x, link.R.s * c.nodes[i].x};
    b.p = link.p + rotate(link.R, node[i].r);
    b.R = compose(link.R, Rot2<T>{scale * x.x, scale * x.y});
    b.angle = link.angle + expression_detail::arc_tangent(x.y, x.x);
  });
}

template <class T, class Body>
void move_nodes(const Model& m, const T* v, const std::vector<char>& moves, std::vector<Body>& body,
                const std::vector<NodeState<T>>& node) {
  detail::for_carriers(m, moves, body, [&](size_t i, const Body& link, Body& b, int twin) {
    const AncfNode& n = m.ancf_nodes[i];
    const Vec2<T>& g = detail::gradient(m, n, twin, node[i]);
    b.v = rotate(link.R, detail::pair(v, 0, n.place));
    b.w = moment(g, detail::pair(v, 0, detail::gradient_dofs(m, n, twin))) / dot(g, g);
  });
}

template <class T, class Body>
void accelerate_nodes(const Model& m, const T* v, const T* a, const std::vector<char>& moves,
                      std::vector<Body>& body, const std::vector<NodeState<T>>& node) {
  detail::for_carriers(m, moves, body, [&](size_t i, const Body& link, Body& b, int twin) {
    const AncfNode& n = m.ancf_nodes[i];
    const Vec2<T>& g = detail::gradient(m, n, twin, node[i]);
    const std::array<int, 2>& dofs = detail::gradient_dofs(m, n, twin);
    b.a = rotate(link.R, detail::pair(a, 0, n.place));
    b.al = (moment(g, detail::pair(a, 0, dofs)) - 2.0 * b.w * dot(g, detail::pair(v, 0, dofs))) /
           dot(g, g);
  });
}

// A force and a moment on a carrier (0, 1, … of the ANCF nodes) as generalised forces: add(speed, value).
template <class T, class Add>
void spread(const Model& m, const Rot2<T>& link, const std::vector<NodeState<T>>& node, int carrier,
            const T& torque, const Vec2<T>& force, const Add& add) {
  const auto i = static_cast<size_t>(carrier / 2);
  const AncfNode& n = m.ancf_nodes[i];
  const Vec2<T> f = detail::to_local(link, force);
  const Vec2<T>& g = detail::gradient(m, n, carrier % 2, node[i]);
  const T turning = torque / dot(g, g);
  const std::array<int, 2>& dofs = detail::gradient_dofs(m, n, carrier % 2);
  if (n.place[0] >= 0) add(n.place[0], f.x);
  if (n.place[1] >= 0) add(n.place[1], f.y);
  if (dofs[0] >= 0) add(dofs[0], -turning * g.y);
  if (dofs[1] >= 0) add(dofs[1], turning * g.x);
}

}  // namespace panto::ancf
