// What ANCF beams add to the residual and the energies (ANCF-3, ANCF-4). The mass matrix is constant, hence no velocity-dependent inertia.
#pragma once

#include "panto/mechanics/rigid/channel.hpp"

namespace panto::ancf {

using rigid::Constants;
using rigid::Kinematics;
using rigid::Wrench;

// Over dual coordinates, derivatives of the elements' forces are left to element_tangents().
template <class P, class T>
inline constexpr bool kOwnTangents = std::is_same_v<P, double>&& requires(T x) {
  x.v;
};

namespace detail {

// Speeds of r, ∂r/∂x of the first node, then of the second.
inline std::array<const std::array<int, 2>*, 4> axis_dofs(const Model& m, int node) {
  const AncfNode &a = m.ancf_nodes[static_cast<size_t>(node)],
                 &b = m.ancf_nodes[static_cast<size_t>(node) + 1];
  return {&a.place, &a.axis, &b.place, &b.axis};
}

// Nodal vectors of an element as its kernel takes them.
template <class Vector, class T>
Vector nodal_vectors(const Kinematics<Planar, T>& kin, int node) {
  Vector e;
  constexpr int kSize = Vector::RowsAtCompileTime / 2;
  for (int k = 0; k < 2; ++k) {
    const NodeState<T>& s = kin.ancf_node[static_cast<size_t>(node + k)];
    if constexpr (kSize == 6) {
      e.template segment<6>(6 * k) << s.r.x, s.r.y, s.axis.x, s.axis.y, s.section.x, s.section.y;
    } else {
      e.template segment<4>(4 * k) << s.r.x, s.r.y, s.axis.x, s.axis.y;
    }
  }
  return e;
}
// Speed of each entry of them, -1: held.
inline std::array<int, 12> element_dofs(const Model& m, int node, bool shear) {
  std::array<int, 12> out{};
  size_t at = 0;
  for (int k = 0; k < 2; ++k) {
    const AncfNode& n = m.ancf_nodes[static_cast<size_t>(node + k)];
    for (const auto* dofs : {&n.place, &n.axis, &n.section}) {
      if (dofs == &n.section && !shear) continue;
      out[at++] = (*dofs)[0];
      out[at++] = (*dofs)[1];
    }
  }
  return out;
}

// r, ∂r/∂x of both nodes, r from the origin of the ground.
template <class P, class T>
std::array<Vec2<T>, 4> axis_vectors(const Kinematics<Planar, T>& kin,
                                    const ElementConstants<P>& e) {
  const auto& link = kin.body[static_cast<size_t>(e.body)];
  const NodeState<T>&a = kin.ancf_node[static_cast<size_t>(e.node_a)],
        &b = kin.ancf_node[static_cast<size_t>(e.node_a) + 1];
  const Vec2<T> origin = to_local(link.R, link.p);
  return {a.r + origin, a.axis, b.r + origin, b.axis};
}
// What a turning ground adds to the second derivative of a nodal vector; all in the axes of the undeformed beam.
template <class P, class T>
Vec2<T> turning(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                const ElementConstants<P>& e, const Vec2<T>& vector, const Vec2<T>& rate) {
  const auto& R = kin.body[static_cast<size_t>(e.body)].R;
  return to_local(R, c.ancf.rotation.acceleration(rotate(R, vector), rotate(R, rate)));
}

// Σ over pairs of nodal vectors: mass times product(i, j) of r, ∂r/∂x of both nodes (0 … 3) and ∂r/∂y of both (4, 5).
template <class T, class P, class Product>
T sum_of_products(const ElementConstants<P>& e, const Product& product) {
  T sum(0.0);
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j) sum += e.mass[4 * i + j] * product(i, j);
  if (e.shear) sum += e.section_mass * (product(4, 4) + product(4, 5) + product(5, 5));
  return sum;
}

template <class T>
void add(std::vector<T>& r, const std::array<int, 2>& dofs, const Vec2<T>& f) {
  if (dofs[0] >= 0) r[static_cast<size_t>(dofs[0])] += f.x;
  if (dofs[1] >= 0) r[static_cast<size_t>(dofs[1])] += f.y;
}

}  // namespace detail

// Inertia less gravity, of lumped masses and elements; sets the wrenches of the carriers.
template <class P, class T>
void inertia_forces(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                    std::vector<Wrench<Planar, T>>& wrench, std::vector<T>& r) {
  const Model& m = *kin.model;
  for (size_t i = 0; i < m.ancf_nodes.size(); ++i) {
    const auto at = static_cast<size_t>(m.n_bodies() + 1 + m.section_carrier(static_cast<int>(i)));
    const NodeConstants<P>& n = c.ancf.nodes[i];
    const auto& b = kin.body[at];
    wrench[at] = wrench[at + 1] = {};
    if (m.ancf_nodes[i].mass < 0 && m.ancf_nodes[i].inertia < 0) continue;
    wrench[at] = {n.inertia * b.al, n.mass * (b.a - c.gravity)};
    if (c.ancf.rotation.turns) wrench[at].f += n.mass * c.ancf.rotation.acceleration(b.p, b.v);
  }
  for (const ElementConstants<P>& e : c.ancf.elements) {
    const auto dofs = detail::axis_dofs(m, e.node_a);
    const Vec2<T> g = detail::to_local(kin.body[static_cast<size_t>(e.body)].R,
                                       Vec2<T>{T(c.gravity.x), T(c.gravity.y)});
    std::array<Vec2<T>, 4> a;
    for (size_t i = 0; i < 4; ++i) a[i] = detail::pair(kin.a, 0, *dofs[i]);
    if (c.ancf.rotation.turns && !kOwnTangents<P, T>) {
      const auto x = detail::axis_vectors(kin, e);
      for (size_t i = 0; i < 4; ++i)
        a[i] += detail::turning(kin, c, e, x[i], detail::pair(kin.v, 0, *dofs[i]));
    }
    for (size_t i = 0; i < 4; ++i) {
      Vec2<T> f = -e.weight[i] * g;
      for (size_t j = 0; j < 4; ++j) f += e.mass[4 * i + j] * a[j];
      detail::add(r, *dofs[i], f);
    }
    if (!e.shear) continue;
    const AncfNode &na = m.ancf_nodes[static_cast<size_t>(e.node_a)],
                   &nb = m.ancf_nodes[static_cast<size_t>(e.node_a) + 1];
    Vec2<T> sa = detail::pair(kin.a, 0, na.section), sb = detail::pair(kin.a, 0, nb.section);
    if (c.ancf.rotation.turns && !kOwnTangents<P, T>) {
      const auto at = static_cast<size_t>(e.node_a);
      sa +=
          detail::turning(kin, c, e, kin.ancf_node[at].section, detail::pair(kin.v, 0, na.section));
      sb += detail::turning(kin, c, e, kin.ancf_node[at + 1].section,
                            detail::pair(kin.v, 0, nb.section));
    }
    sa = e.section_mass * sa;
    sb = e.section_mass * sb;
    detail::add(r, na.section, sa + 0.5 * sb);
    detail::add(r, nb.section, 0.5 * sa + sb);
  }
}

template <class P, class T>
void elastic_forces(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                    std::vector<T>& r) {
  if constexpr (kOwnTangents<P, T>) return;
  for (const ElementConstants<P>& e : c.ancf.elements) {
    const std::array<int, 12> dofs = detail::element_dofs(*kin.model, e.node_a, e.shear);
    const auto scatter = [&](const auto& f) {
      for (int i = 0; i < f.size(); ++i)
        if (const int dof = dofs[static_cast<size_t>(i)]; dof >= 0)
          r[static_cast<size_t>(dof)] += f[i];
    };
    if (e.shear) {
      scatter(
          elastic_force(e.with_shear, detail::nodal_vectors<AncfShearVector<T>>(kin, e.node_a)));
    } else {
      scatter(elastic_force(e.cable, detail::nodal_vectors<AncfCableVector<T>>(kin, e.node_a)));
    }
  }
}

// Derivatives of the elements' forces by coordinates and, on a turning ground, by speeds: by_q(row, column, value), by_v(row, column, value).
// What acts on carriers, lumped masses among it, is not in them.
template <class ByQ, class ByV>
void element_tangents(const Kinematics<Planar, double>& kin, const Constants<Planar, double>& c,
                      const ByQ& by_q, const ByV& by_v) {
  const Model& m = *kin.model;
  for (const ElementConstants<double>& e : c.ancf.elements) {
    const std::array<int, 12> dofs = detail::element_dofs(m, e.node_a, e.shear);
    const auto scatter = [&](const auto& k) {
      for (int j = 0; j < k.cols(); ++j) {
        const int column = dofs[static_cast<size_t>(j)];
        for (int i = 0; column >= 0 && i < k.rows(); ++i)
          if (const int row = dofs[static_cast<size_t>(i)]; row >= 0) by_q(row, column, k(i, j));
      }
    };
    if (e.shear) {
      scatter(elastic_tangent(e.with_shear,
                              detail::nodal_vectors<AncfShearVector<double>>(kin, e.node_a)));
    } else {
      scatter(
          elastic_tangent(e.cable, detail::nodal_vectors<AncfCableVector<double>>(kin, e.node_a)));
    }
    if (!c.ancf.rotation.turns) continue;
    const auto axis = detail::axis_dofs(m, e.node_a);
    const auto couple = [&](const std::array<int, 2>& to, const std::array<int, 2>& from,
                            double mass) {
      for (size_t l = 0; l < 2; ++l) {
        const Vec2<double> unit{l == 0 ? 1.0 : 0.0, l == 0 ? 0.0 : 1.0}, none{};
        const Vec2<double> q = detail::turning(kin, c, e, unit, none),
                           v = detail::turning(kin, c, e, none, unit);
        for (size_t k = 0; k < 2; ++k) {
          if (to[k] < 0 || from[l] < 0) continue;
          by_q(to[k], from[l], mass * (k == 0 ? q.x : q.y));
          by_v(to[k], from[l], mass * (k == 0 ? v.x : v.y));
        }
      }
    };
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = 0; j < 4; ++j) couple(*axis[i], *axis[j], e.mass[4 * i + j]);
    if (!e.shear) continue;
    for (size_t i = 0; i < 2; ++i)
      for (size_t j = 0; j < 2; ++j)
        couple(m.ancf_nodes[static_cast<size_t>(e.node_a) + i].section,
               m.ancf_nodes[static_cast<size_t>(e.node_a) + j].section,
               (i == j ? 1.0 : 0.5) * e.section_mass);
  }
}

// Wrenches of the carriers to the rows of their coordinates.
template <class T>
void gather_nodes(const Kinematics<Planar, T>& kin, const std::vector<Wrench<Planar, T>>& wrench,
                  std::vector<T>& r) {
  const Model& m = *kin.model;
  const auto first = static_cast<size_t>(m.n_bodies() + 1 + m.section_carrier(0));
  for (int k = 0; k < 2 * static_cast<int>(m.ancf_nodes.size()); ++k) {
    if (!kin.carrier_moves[static_cast<size_t>(k)]) continue;  // nothing acts on it
    const Wrench<Planar, T>& w = wrench[first + static_cast<size_t>(k)];
    const Beam& beam = m.beams[static_cast<size_t>(m.ancf_nodes[static_cast<size_t>(k / 2)].beam)];
    spread(m, kin.body[static_cast<size_t>(beam.body) + 1].R, kin.ancf_node, k, w.n, w.f,
           [&](int dof, const T& value) { r[static_cast<size_t>(dof)] += value; });
  }
}

template <class P, class T>
T kinetic_energy(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c) {
  const Model& m = *kin.model;
  T sum(0.0);
  for (size_t i = 0; i < m.ancf_nodes.size(); ++i) {
    const auto& b =
        kin.body[static_cast<size_t>(m.n_bodies() + 1 + m.section_carrier(static_cast<int>(i)))];
    sum += 0.5 * c.ancf.nodes[i].mass * dot(b.v, b.v) + 0.5 * c.ancf.nodes[i].inertia * (b.w * b.w);
  }
  for (const ElementConstants<P>& e : c.ancf.elements) {
    std::array<Vec2<T>, 6> v;
    const auto dofs = detail::axis_dofs(m, e.node_a);
    for (size_t i = 0; i < 4; ++i) v[i] = detail::pair(kin.v, 0, *dofs[i]);
    for (size_t k = 0; k < 2; ++k)
      v[4 + k] = detail::pair(kin.v, 0, m.ancf_nodes[static_cast<size_t>(e.node_a) + k].section);
    sum += 0.5 * detail::sum_of_products<T>(e, [&](size_t i, size_t j) { return dot(v[i], v[j]); });
  }
  return sum;
}

// Strain energy, gravity and the turning ground.
template <class P, class T>
T potential_energy(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c) {
  const Model& m = *kin.model;
  T sum(0.0);
  for (size_t i = 0; i < m.ancf_nodes.size(); ++i) {
    const auto& b =
        kin.body[static_cast<size_t>(m.n_bodies() + 1 + m.section_carrier(static_cast<int>(i)))];
    sum -= c.ancf.nodes[i].mass * dot(b.p, c.gravity);
    if (c.ancf.rotation.turns) sum += c.ancf.nodes[i].mass * c.ancf.rotation.potential(b.p);
  }
  for (const ElementConstants<P>& e : c.ancf.elements) {
    sum +=
        e.shear
            ? strain_energy(e.with_shear, detail::nodal_vectors<AncfShearVector<T>>(kin, e.node_a))
            : strain_energy(e.cable, detail::nodal_vectors<AncfCableVector<T>>(kin, e.node_a));
    const auto& R = kin.body[static_cast<size_t>(e.body)].R;
    const auto axis = detail::axis_vectors(kin, e);
    std::array<Vec2<T>, 6> x;
    for (size_t i = 0; i < 4; ++i) {
      x[i] = rotate(R, axis[i]);
      sum -= e.weight[i] * dot(x[i], c.gravity);
    }
    if (!c.ancf.rotation.turns) continue;
    for (size_t k = 0; k < 2; ++k)
      x[4 + k] = rotate(R, kin.ancf_node[static_cast<size_t>(e.node_a) + k].section);
    sum -= 0.5 * detail::sum_of_products<T>(e, [&](size_t i, size_t j) {
             return T(c.ancf.rotation.along * (x[i].x * x[j].x) +
                      c.ancf.rotation.across * (x[i].y * x[j].y));
           });
  }
  return sum;
}

}  // namespace panto::ancf
