// Motion of the links of a reduced model (RER-4): displacements that beams share follow statically from the masters and by the interior modes; each
// link then moves with a = (x, η), its inputs in its own axes and the amplitudes.
#pragma once

#include "panto/mechanics/erls/nodes.hpp"
#include "panto/model/beam_links.hpp"

namespace panto::erls {

template <class T>
struct LinkState {
  std::vector<T> a, a_dot, a_ddot;  // n
  std::vector<T> still, pull;  // x without the modes and its static force k x, links with slaves
  std::vector<T> pull_dot;     // k times the rate of the former that the link sees
  std::vector<T> force;        // on a
  T torque{0.0};               // on the link's angle at fixed inputs, of forces on the inside
};

template <class T>
struct ReducedState {
  explicit ReducedState(const Model& model) : layout(model) {
    const auto n = static_cast<size_t>(layout.components()),
               modes = static_cast<size_t>(layout.modes);
    for (std::vector<T>* v : {&x, &x_dot, &x_ddot, &still, &still_dot, &still_ddot, &modal, &force})
      v->resize(n);
    for (std::vector<T>* v : {&eta, &eta_dot, &eta_ddot}) v->resize(modes);
    size_t most = 1, factors = 0;
    for (const Cluster& c : layout.clusters) factors += static_cast<size_t>(c.size * c.size);
    factor.resize(factors);
    for (const LinkLayout& l : layout.links) {
      LinkState<T> s;
      const auto na = static_cast<size_t>(l.nx) + modes, nx = static_cast<size_t>(l.nx);
      for (std::vector<T>* v : {&s.a, &s.a_dot, &s.a_ddot, &s.force}) v->resize(na);
      for (std::vector<T>* v : {&s.still, &s.pull, &s.pull_dot}) v->resize(nx);
      most = std::max(most, na);
      links.push_back(std::move(s));
    }
    for (std::vector<T>* v : {&work, &product}) v->resize(std::max(most, n));
    node_link.assign(model.nodes.size(), -1);
    for (size_t k = 0; k < layout.links.size(); ++k)
      for (int i = 0; i < layout.links[k].nodes; ++i)
        node_link[static_cast<size_t>(layout.links[k].first_node + i)] = static_cast<int>(k);
  }

  ReducedLayout layout;
  // Components of all inputs, ground axes: as they are, and without what the modes add to slaves (modal).
  std::vector<T> x, x_dot, x_ddot, still, still_dot, still_ddot, modal;
  std::vector<T> eta, eta_dot, eta_ddot;
  std::vector<T>
      factor;  // per cluster L D Lᵀ of the stiffness of the slaves, inverse of D on the diagonal
  std::vector<T> force;  // on the inputs
  std::vector<LinkState<T>> links;
  std::vector<T> work, product;
  std::vector<int> node_link;
  std::vector<int> used;  // nodes that channels look at
};

namespace detail {

template <class P, class T>
void multiply(const std::vector<P>& m, int rows, int columns, const T* x, T* y) {
  const P* entry = m.data();
  for (int i = 0; i < rows; ++i) y[i] = T(0.0);
  for (int j = 0; j < columns; ++j) {
    const T xj = x[j];
    for (int i = 0; i < rows; ++i) y[i] += *entry++ * xj;
  }
}
// Inputs of a link from components of all, ground axes to its own.
template <class T>
void to_link(const LinkLayout& l, const Rot2<T>& R, const T* all, T* x) {
  for (const LinkLayout::Part& p : l.parts) {
    const T* e = all + p.component;
    if (p.pair) {
      x[p.at] = R.c * e[0] + R.s * e[1];
      x[p.at + 1] = R.c * e[1] - R.s * e[0];
    } else {
      x[p.at] = e[0];
    }
  }
}
// y += factor Ĵ x on the pairs.
template <class T>
void add_quarter_turn(const LinkLayout& l, const T& factor, const T* x, T* y) {
  for (const LinkLayout::Part& p : l.parts) {
    if (!p.pair) continue;
    y[p.at] -= factor * x[p.at + 1];
    y[p.at + 1] += factor * x[p.at];
  }
}
// y -= factor x on the pairs: Ĵ twice.
template <class T>
void take_pairs(const LinkLayout& l, const T& factor, const T* x, T* y) {
  for (const LinkLayout::Part& p : l.parts) {
    if (!p.pair) continue;
    y[p.at] -= factor * x[p.at];
    y[p.at + 1] -= factor * x[p.at + 1];
  }
}
// all -= force on slaves, link axes to ground.
template <class T>
void take_on_slaves(const LinkLayout& l, const Rot2<T>& R, const T* f, T* all) {
  for (const LinkLayout::Part& p : l.parts) {
    if (!p.slave) continue;
    T* e = all + p.component;
    if (p.pair) {
      e[0] -= R.c * f[p.at] - R.s * f[p.at + 1];
      e[1] -= R.s * f[p.at] + R.c * f[p.at + 1];
    } else {
      e[0] -= f[p.at];
    }
  }
}

template <class T>
void factorise(int n, T* a) {  // lower triangle by rows
  for (int i = 0; i < n; ++i) {
    T* row = a + i * n;
    for (int j = 0; j < i; ++j)
      for (int k = 0; k < j; ++k) row[j] -= row[k] * a[j * n + k];
    T s = row[i];
    for (int j = 0; j < i; ++j) {
      const T l = row[j] * a[j * n + j];
      s -= l * row[j];
      row[j] = l;
    }
    row[i] = 1.0 / s;
  }
}
template <class T>
void solve_factored(int n, const T* a, T* x) {
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < i; ++k) x[i] -= a[i * n + k] * x[k];
  for (int i = n - 1; i >= 0; --i) {
    x[i] = x[i] * a[i * n + i];
    for (int k = i + 1; k < n; ++k) x[i] -= a[k * n + i] * x[k];
  }
}
// Slaves of all clusters: x <- (stiffness of the slaves)⁻¹ x; x from the first slave.
template <class T>
void solve_slaves(const ReducedState<T>& s, T* x) {
  const T* factor = s.factor.data();
  for (const Cluster& c : s.layout.clusters) {
    solve_factored(c.size, factor, x + c.first);
    factor += c.size * c.size;
  }
}

// Adds the stiffness between the slaves of one link, ground axes, to the cluster's, lower triangle by rows.
template <class P, class T>
void add_stiffness(const LinkLayout& l, const LinkMatrices<P>& m, const Rot2<T>& R, int first,
                   int n, T* a) {
  const auto k = [&](int i, int j) -> const P& { return m.k[static_cast<size_t>(j * m.nx + i)]; };
  for (const LinkLayout::Part& p : l.parts) {
    if (!p.slave) continue;
    for (const LinkLayout::Part& o : l.parts) {
      if (!o.slave || o.component > p.component) continue;
      T* row = a + (p.component - first) * n + o.component - first;
      if (p.pair && o.pair) {
        const T t0x = R.c * k(p.at, o.at) - R.s * k(p.at + 1, o.at),
                t0y = R.s * k(p.at, o.at) + R.c * k(p.at + 1, o.at),
                t1x = R.c * k(p.at, o.at + 1) - R.s * k(p.at + 1, o.at + 1),
                t1y = R.s * k(p.at, o.at + 1) + R.c * k(p.at + 1, o.at + 1);
        row[0] += R.c * t0x - R.s * t1x;
        if (&p != &o) row[1] += R.s * t0x + R.c * t1x;
        row[n] += R.c * t0y - R.s * t1y;
        row[n + 1] += R.s * t0y + R.c * t1y;
      } else if (p.pair) {
        row[0] += R.c * k(p.at, o.at) - R.s * k(p.at + 1, o.at);
        row[n] += R.s * k(p.at, o.at) + R.c * k(p.at + 1, o.at);
      } else if (o.pair) {
        row[0] += R.c * k(p.at, o.at) - R.s * k(p.at, o.at + 1);
        row[1] += R.s * k(p.at, o.at) + R.c * k(p.at, o.at + 1);
      } else {
        row[0] += k(p.at, o.at);
      }
    }
  }
}

// Amplitudes times the modal part of a shared displacement, axes of the owner's link.
template <class P, class T>
Vec2<T> shared_shape(const ReducedConstants<P>& c, const ReducedLayout& layout, const LinkInput& in,
                     const T* eta) {
  const auto modes = static_cast<size_t>(layout.modes);
  const double* row = c.shared.data() + static_cast<size_t>(in.at - layout.masters) * modes;
  Vec2<T> sum{T(0.0), T(0.0)};
  for (size_t j = 0; j < modes; ++j) sum.x += row[j] * eta[j];
  if (in.pair)
    for (size_t j = 0; j < modes; ++j) sum.y += row[modes + j] * eta[j];
  return sum;
}

}  // namespace detail

// Positions (RER-4): q as in Kinematics, shift from speeds to coordinates.
template <class P, class T, class Body>
void place_links(const ReducedConstants<P>& c, const T* q, int shift, const std::vector<Body>& body,
                 ReducedState<T>& s) {
  const ReducedLayout& layout = s.layout;
  const int masters = layout.masters;
  for (int i = 0; i < masters; ++i) {
    const auto at = static_cast<size_t>(i);
    s.x[at] = s.still[at] = q[layout.master_dof[at] + shift];
  }
  for (int i = 0; i < layout.modes; ++i)
    s.eta[static_cast<size_t>(i)] = q[layout.first_mode + i + shift];
  for (size_t i = static_cast<size_t>(masters); i < s.still.size(); ++i) s.still[i] = T(0.0);
  for (T& e : s.factor) e = T(0.0);
  T* factor = s.factor.data();
  for (size_t i = static_cast<size_t>(masters); i < s.force.size(); ++i) s.force[i] = T(0.0);
  for (const Cluster& cluster : layout.clusters) {
    for (const int k : cluster.links) {
      const LinkLayout& l = layout.links[static_cast<size_t>(k)];
      const LinkMatrices<P>& m = c.links[static_cast<size_t>(k)];
      const Rot2<T>& R = body[static_cast<size_t>(l.body)].R;
      detail::to_link(l, R, s.still.data(), s.work.data());
      detail::multiply(m.k, m.nx, m.nx, s.work.data(), s.product.data());
      detail::take_on_slaves(l, R, s.product.data(), s.force.data());
      detail::add_stiffness(l, m, R, masters + cluster.first, cluster.size, factor);
    }
    detail::factorise(cluster.size, factor);
    factor += cluster.size * cluster.size;
  }
  if (layout.slaves > 0) detail::solve_slaves(s, s.force.data() + masters);
  for (const LinkInput& in : layout.inputs) {
    if (in.owner < 0) continue;
    const auto at = static_cast<size_t>(in.at);
    const Vec2<T> shape = detail::shared_shape(c, layout, in, s.eta.data());
    if (in.pair) {
      const Vec2<T> psi = rotate(
          body[static_cast<size_t>(layout.links[static_cast<size_t>(in.owner)].body)].R, shape);
      s.modal[at] = psi.x;
      s.modal[at + 1] = psi.y;
    } else {
      s.modal[at] = shape.x;
    }
  }
  for (size_t i = static_cast<size_t>(masters); i < s.x.size(); ++i) {
    s.still[i] = s.force[i];
    s.x[i] = s.still[i] + s.modal[i];
  }
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkLayout& l = layout.links[k];
    LinkState<T>& link = s.links[k];
    const Rot2<T>& R = body[static_cast<size_t>(l.body)].R;
    detail::to_link(l, R, s.x.data(), link.a.data());
    for (size_t i = 0; i < s.eta.size(); ++i) link.a[static_cast<size_t>(l.nx) + i] = s.eta[i];
  }
  for (const Cluster& cluster : layout.clusters)
    for (const int k : cluster.links) {
      const LinkLayout& l = layout.links[static_cast<size_t>(k)];
      const LinkMatrices<P>& m = c.links[static_cast<size_t>(k)];
      LinkState<T>& link = s.links[static_cast<size_t>(k)];
      detail::to_link(l, body[static_cast<size_t>(l.body)].R, s.still.data(), link.still.data());
      detail::multiply(m.k, m.nx, m.nx, link.still.data(), link.pull.data());
    }
}

// Speeds, after place_links().
template <class P, class T, class Body>
void move_links(const ReducedConstants<P>& c, const T* v, const std::vector<Body>& body,
                ReducedState<T>& s) {
  const ReducedLayout& layout = s.layout;
  const int masters = layout.masters;
  for (int i = 0; i < masters; ++i) {
    const auto at = static_cast<size_t>(i);
    s.x_dot[at] = s.still_dot[at] = v[layout.master_dof[at]];
  }
  for (int i = 0; i < layout.modes; ++i)
    s.eta_dot[static_cast<size_t>(i)] = v[layout.first_mode + i];
  for (size_t i = static_cast<size_t>(masters); i < s.x.size(); ++i)
    s.still_dot[i] = s.force[i] = T(0.0);
  for (const Cluster& cluster : layout.clusters)
    for (const int k : cluster.links) {
      const LinkLayout& l = layout.links[static_cast<size_t>(k)];
      const LinkMatrices<P>& m = c.links[static_cast<size_t>(k)];
      const LinkState<T>& link = s.links[static_cast<size_t>(k)];
      const Body& b = body[static_cast<size_t>(l.body)];
      // f' = ω Ĵ f + k x', x' = T ẋ − ω Ĵ x with the slaves at rest.
      detail::to_link(l, b.R, s.still_dot.data(), s.work.data());
      detail::add_quarter_turn(l, T(-b.w), link.still.data(), s.work.data());
      detail::multiply(m.k, m.nx, m.nx, s.work.data(), s.product.data());
      detail::add_quarter_turn(l, b.w, link.pull.data(), s.product.data());
      detail::take_on_slaves(l, b.R, s.product.data(), s.force.data());
    }
  if (layout.slaves > 0) detail::solve_slaves(s, s.force.data() + masters);
  for (const LinkInput& in : layout.inputs) {
    if (in.owner < 0) continue;
    const auto at = static_cast<size_t>(in.at);
    const Vec2<T> shape = detail::shared_shape(c, layout, in, s.eta_dot.data());
    s.still_dot[at] = s.force[at];
    if (in.pair) {
      const Body& b = body[static_cast<size_t>(layout.links[static_cast<size_t>(in.owner)].body)];
      const Vec2<T> rate = rotate(b.R, shape);
      s.still_dot[at + 1] = s.force[at + 1];
      s.x_dot[at] = s.still_dot[at] + rate.x - b.w * s.modal[at + 1];
      s.x_dot[at + 1] = s.still_dot[at + 1] + rate.y + b.w * s.modal[at];
    } else {
      s.x_dot[at] = s.still_dot[at] + shape.x;
    }
  }
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkLayout& l = layout.links[k];
    LinkState<T>& link = s.links[k];
    const Body& b = body[static_cast<size_t>(l.body)];
    detail::to_link(l, b.R, s.x_dot.data(), link.a_dot.data());
    detail::add_quarter_turn(l, T(-b.w), link.a.data(), link.a_dot.data());
    for (size_t i = 0; i < s.eta.size(); ++i)
      link.a_dot[static_cast<size_t>(l.nx) + i] = s.eta_dot[i];
  }
}

// Accelerations, after move_links().
template <class P, class T, class Body>
void accelerate_links(const ReducedConstants<P>& c, const T* acc, const std::vector<Body>& body,
                      ReducedState<T>& s) {
  const ReducedLayout& layout = s.layout;
  const int masters = layout.masters;
  for (int i = 0; i < masters; ++i) {
    const auto at = static_cast<size_t>(i);
    s.x_ddot[at] = s.still_ddot[at] = acc[layout.master_dof[at]];
  }
  for (int i = 0; i < layout.modes; ++i)
    s.eta_ddot[static_cast<size_t>(i)] = acc[layout.first_mode + i];
  for (size_t i = static_cast<size_t>(masters); i < s.x.size(); ++i)
    s.still_ddot[i] = s.force[i] = T(0.0);
  // x'' = T ẍ − 2 ω Ĵ T ẋ − ω̇ Ĵ x + ω² Ĵ Ĵ x
  const auto seen = [&](const LinkLayout& l, const Body& b, const T* rate, const T* second,
                        const T* x, T* out) {
    detail::to_link(l, b.R, second, out);
    detail::to_link(l, b.R, rate, s.product.data());
    detail::add_quarter_turn(l, T(-2.0 * b.w), s.product.data(), out);
    detail::add_quarter_turn(l, T(-b.al), x, out);
    detail::take_pairs(l, T(b.w * b.w), x, out);
  };
  for (const Cluster& cluster : layout.clusters)
    for (const int k : cluster.links) {
      const LinkLayout& l = layout.links[static_cast<size_t>(k)];
      const LinkMatrices<P>& m = c.links[static_cast<size_t>(k)];
      LinkState<T>& link = s.links[static_cast<size_t>(k)];
      const Body& b = body[static_cast<size_t>(l.body)];
      detail::to_link(l, b.R, s.still_dot.data(), s.work.data());
      detail::add_quarter_turn(l, T(-b.w), link.still.data(), s.work.data());
      detail::multiply(m.k, m.nx, m.nx, s.work.data(), link.pull_dot.data());
      // f'' = ω̇ Ĵ f + ω² Ĵ Ĵ f + 2 ω Ĵ k x' + k x''
      seen(l, b, s.still_dot.data(), s.still_ddot.data(), link.still.data(), s.work.data());
      detail::multiply(m.k, m.nx, m.nx, s.work.data(), s.product.data());
      detail::add_quarter_turn(l, b.al, link.pull.data(), s.product.data());
      detail::take_pairs(l, T(b.w * b.w), link.pull.data(), s.product.data());
      detail::add_quarter_turn(l, T(2.0 * b.w), link.pull_dot.data(), s.product.data());
      detail::take_on_slaves(l, b.R, s.product.data(), s.force.data());
    }
  if (layout.slaves > 0) detail::solve_slaves(s, s.force.data() + masters);
  for (const LinkInput& in : layout.inputs) {
    if (in.owner < 0) continue;
    const auto at = static_cast<size_t>(in.at);
    const Vec2<T> second = detail::shared_shape(c, layout, in, s.eta_ddot.data());
    if (in.pair) {
      const Body& b = body[static_cast<size_t>(layout.links[static_cast<size_t>(in.owner)].body)];
      const Vec2<T> rate = rotate(b.R, detail::shared_shape(c, layout, in, s.eta_dot.data()));
      const Vec2<T> psi{s.modal[at], s.modal[at + 1]};
      const Vec2<T> sum =
          rotate(b.R, second) + spin(T(2.0 * b.w), rate) + spin(b.al, psi) + centripetal(b.w, psi);
      s.x_ddot[at] = s.force[at] + sum.x;
      s.x_ddot[at + 1] = s.force[at + 1] + sum.y;
    } else {
      s.x_ddot[at] = s.force[at] + second.x;
    }
  }
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkLayout& l = layout.links[k];
    LinkState<T>& link = s.links[k];
    const Body& b = body[static_cast<size_t>(l.body)];
    seen(l, b, s.x_dot.data(), s.x_ddot.data(), link.a.data(), link.a_ddot.data());
    for (size_t i = 0; i < s.eta.size(); ++i)
      link.a_ddot[static_cast<size_t>(l.nx) + i] = s.eta_ddot[i];
  }
}

// ---- nodes of channels --------------------------------------------------------------------------------------------------

namespace detail {

// Displacement of a node in link axes (inside) or ground axes (inputs), of any of a, a_dot, a_ddot with x, x_dot, x_ddot.
template <class P, class T>
struct NodeValue {
  Vec2<T> u{T(0.0), T(0.0)};
  T turn{0.0};
  bool inside = false;  // u is in link axes
};
template <class P, class T>
NodeValue<P, T> node_value(const ReducedConstants<P>& c, const ReducedState<T>& s, int node,
                           const std::vector<T>& a, const std::vector<T>& x) {
  const auto k = static_cast<size_t>(s.node_link[static_cast<size_t>(node)]);
  const LinkLayout& l = s.layout.links[k];
  const LinkMatrices<P>& m = c.links[k];
  const auto local = static_cast<size_t>(3 * (node - l.first_node));
  const auto row = [&](int index) {
    T sum(0.0);
    const P* e = m.inside.data() + static_cast<size_t>((-2 - index) * m.n);
    for (size_t j = 0; j < a.size(); ++j) sum += e[j] * a[j];
    return sum;
  };
  const auto component = [&](int at) -> const T& {
    for (const LinkLayout::Part& p : l.parts)
      if (at >= p.at && at < p.at + (p.pair ? 2 : 1))
        return x[static_cast<size_t>(p.component + at - p.at)];
    return x[0];
  };
  NodeValue<P, T> out;
  const int first = l.local[local], turn = l.local[local + 2];
  if (first >= 0) {
    out.u = {component(first), component(first + 1)};
  } else if (first <= -2) {
    out.inside = true;
    out.u = {row(first), row(first - 1)};
  }
  if (turn >= 0) out.turn = component(turn);
  if (turn <= -2) out.turn = row(turn);
  return out;
}
template <class T>
const LinkState<T>& link_of_node(const ReducedState<T>& s, int node) {
  return s.links[static_cast<size_t>(s.node_link[static_cast<size_t>(node)])];
}

}  // namespace detail

template <class P, class T, class Body>
void place_node(const Model& m, const BeamConstants<P>& beams, const ReducedConstants<P>& c,
                const ReducedState<T>& s, int node, std::vector<Body>& body, NodeState<T>& out) {
  const auto i = static_cast<size_t>(node);
  const Body& link = detail::link_of(m, body, m.nodes[i]);
  Body& b = body[m.bodies.size() + 1 + i];
  const auto value = detail::node_value(c, s, node, detail::link_of_node(s, node).a, s.x);
  out.u = value.inside ? rotate(link.R, value.u) : value.u;
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
  const auto rate = detail::node_value(c, s, node, detail::link_of_node(s, node).a_dot, s.x_dot);
  out.u_dot = rate.inside ? rotate(link.R, rate.u) + spin(link.w, out.u) : rate.u;
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
  const auto second =
      detail::node_value(c, s, node, detail::link_of_node(s, node).a_ddot, s.x_ddot);
  // u̇ − ω × u: the rate that the link sees, in ground axes.
  out.u_ddot = second.inside ? rotate(link.R, second.u) +
                                   spin(T(2.0 * link.w), out.u_dot - spin(link.w, out.u)) +
                                   spin(link.al, out.u) + centripetal(link.w, out.u)
                             : second.u;
  out.turn_ddot = second.turn;
  b.a = link.a + spin(link.al, b.d) + centripetal(link.w, b.d) + out.u_ddot;
  b.al = link.al + out.turn_ddot;
}

}  // namespace panto::erls
