// What the links of a reduced model add to the residual (RER-6): forces on a = (x, η, p) of each link and its wrench, and their way through the transpose
// of the velocity map to masters, amplitudes and joints.
#pragma once

#include "panto/mechanics/rigid/channel.hpp"

namespace panto::erls {

using rigid::Constants;
using rigid::Kinematics;
using rigid::Wrench;

namespace detail {

// No wrenches on nodes.
template <class T>
void clear_nodes(const Kinematics<Planar, T>& kin, std::vector<Wrench<Planar, T>>& wrench) {
  Wrench<Planar, T>* on_node = wrench.data() + kin.model->bodies.size() + 1;
  for (const int node : kin.reduced.used) on_node[node] = {};
  for (const int node : kin.reduced.turned) on_node[node] = {};
}

}  // namespace detail

// Inertia less gravity; sets the forces on a and the wrenches of nodes that forces use, adds to those of the links.
template <class P, class T>
void reduced_inertia_forces(Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                            std::vector<Wrench<Planar, T>>& wrench) {
  ReducedState<T>& s = kin.reduced;
  detail::clear_nodes(kin, wrench);
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkMatrices<P>& m = c.reduced.links[k];
    const LinkState<T>& l = s.links[k];
    const auto& b = kin.body[static_cast<size_t>(s.layout.links[k].body)];
    const Vec2<T> ag{b.a.x - c.gravity.x, b.a.y - c.gravity.y};
    const T bx = b.R.c * ag.x + b.R.s * ag.y, by = b.R.c * ag.y - b.R.s * ag.x;
    const T w2 = b.w * b.w, two_w = 2.0 * b.w, minus_w2 = -w2;
    T* f = s.force.link[k].data();
    const T *a_dot = l.a_dot.data(), *a_ddot = l.a_ddot.data(), *ga = l.spin.data(),
            *ma = l.swing.data();
    const int n = m.n, ld = m.ld;
    detail::set_zero(f, ld);
    detail::add_product(m.G, ld, n, n, a_dot, f);
    T torque = detail::scalar(ga, a_ddot, ld) + two_w * detail::scalar(ma, a_dot, ld);
    if constexpr (std::is_same_v<T, double> && std::is_same_v<P, double>) {
      lanes::combine(two_w, f, b.al, ga, f, ld);
      lanes::add(minus_w2, ma, f, ld);
      lanes::add(bx, m.Sx.data(), f, ld);
      lanes::add(by, m.Sy.data(), f, ld);
    } else {
      for (int i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(i);
        f[i] = two_w * f[i] + b.al * ga[i] - w2 * ma[i] + m.Sx[at] * bx + m.Sy[at] * by;
      }
    }
    detail::add_product(m.M, ld, n, n, a_ddot, f);
    const T sxd = detail::sum_of(m.Sx, l.a_dot), syd = detail::sum_of(m.Sy, l.a_dot),
            sxdd = detail::sum_of(m.Sx, l.a_ddot), sydd = detail::sum_of(m.Sy, l.a_ddot);
    const T &ox = l.moment.x, &sya = l.moment.y;
    const T fx = m.mass * bx - b.al * sya + sxdd - two_w * syd - w2 * ox;
    const T fy = m.mass * by + b.al * ox + sydd + two_w * sxd - w2 * sya;
    torque += ox * by - sya * bx + b.al * l.inertia;
    Wrench<Planar, T>& to = wrench[static_cast<size_t>(s.layout.links[k].body)];
    to.f += rotate(b.R, Vec2<T>{fx, fy});
    to.n += torque;
    s.force.torque[k] = T(0.0);
  }
}

// Elastic forces and damping, added to the forces on a.
template <class P, class T>
void reduced_elastic_forces(Kinematics<Planar, T>& kin, const Constants<Planar, P>& c) {
  ReducedState<T>& s = kin.reduced;
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkMatrices<P>& m = c.reduced.links[k];
    LinkState<T>& l = s.links[k];
    T* f = s.force.link[k].data();
    detail::add_product(m.K, m.ld, m.n, m.n, l.a.data(), f);
    if (m.damped) detail::add_product(m.C, m.ld, m.n, m.n, l.a_dot.data(), f);
  }
}

namespace detail {

// A wrench on a node, ground axes, to its link and to a of it.
template <class P, class T>
void spread_node(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c, int node,
                 const Wrench<Planar, T>& w, ReducedForce<T>& force, Wrench<Planar, T>& on_link) {
  const ReducedState<T>& s = kin.reduced;
  const auto k = static_cast<size_t>(s.node_link[static_cast<size_t>(node)]);
  const LinkLayout& l = s.layout.links[k];
  const LinkMatrices<P>& m = c.reduced.links[k];
  const auto& b = kin.body[static_cast<size_t>(l.body)];
  on_link.f += w.f;
  on_link.n +=
      w.n + moment(kin.body[kin.model->bodies.size() + 1 + static_cast<size_t>(node)].d, w.f);
  const T fx = b.R.c * w.f.x + b.R.s * w.f.y, fy = b.R.c * w.f.y - b.R.s * w.f.x;
  const P* row = m.E.data() + static_cast<size_t>(3 * (node - l.first_node) * m.n);
  T* f = force.link[k].data();
  for (int j = 0; j < m.n; ++j) f[j] += row[j] * fx + row[m.n + j] * fy + row[2 * m.n + j] * w.n;
  force.torque[k] += moment(kin.node[static_cast<size_t>(node)].u, w.f);
}
// The wrenches of all nodes.
template <class P, class T>
void spread_nodes(Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                  std::vector<Wrench<Planar, T>>& wrench) {
  ReducedState<T>& s = kin.reduced;
  const size_t first = kin.model->bodies.size() + 1;
  const auto link = [&s](int node) {
    return static_cast<size_t>(s.node_link[static_cast<size_t>(node)]);
  };
  const auto on_link = [&](size_t k) -> Wrench<Planar, T>& {
    return wrench[static_cast<size_t>(s.layout.links[k].body)];
  };
  for (const int node : s.used)
    spread_node(kin, c, node, wrench[first + static_cast<size_t>(node)], s.force,
                on_link(link(node)));
  for (const int node : s.turned) {
    const size_t k = link(node);
    const T n = wrench[first + static_cast<size_t>(node)].n;
    on_link(k).n += n;
    const LinkMatrices<P>& m = c.reduced.links[k];
    const int row = 3 * (node - s.layout.links[k].first_node) + 2, size = m.n;
    const P* turn = m.E.data() + static_cast<size_t>(row * size);
    T* f = s.force.link[k].data();
    for (int j = 0; j < size; ++j) f[j] += turn[j] * n;
  }
}

}  // namespace detail

// Forces on a of all links to the rows of masters and amplitudes; on_link(body, torque) takes what turns the links. Uses up the forces on the inputs.
template <class P, class T, class OnLink>
void gather_links(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                  ReducedForce<T>& force, T* r, const OnLink& on_link) {
  const ReducedState<T>& s = kin.reduced;
  const ReducedLayout& layout = s.layout;
  const int modes = layout.modes;
  T *amplitude = r + layout.first_mode, *input = force.input.data();
  for (T& e : force.input) e = T(0.0);
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkLayout& l = layout.links[k];
    const LinkState<T>& link = s.links[k];
    const Rot2<T>& R = kin.body[static_cast<size_t>(l.body)].R;
    const T *f = force.link[k].data(), *a = link.a.data();
    T torque = force.torque[k];
    for (const LinkLayout::Part& p : l.parts) {
      T* to = input + p.component;
      if (p.pair) {
        to[0] += R.c * f[p.at] - R.s * f[p.at + 1];
        to[1] += R.s * f[p.at] + R.c * f[p.at + 1];
        torque += a[p.at + 1] * f[p.at] - a[p.at] * f[p.at + 1];
      } else {
        to[0] += f[p.at];
      }
    }
    for (int i = 0; i < modes; ++i) amplitude[i] += f[l.nx + i];
    for (size_t i = 0; i < l.foreign.size(); ++i) {
      const LinkLayout::Foreign& e = l.foreign[i];
      const T fx = f[e.at], fy = f[e.at + 1], turn = a[e.at] * fy - a[e.at + 1] * fx;
      const Rot2<T>& relative = link.relative[i];
      const T gx = relative.c * fx + relative.s * fy, gy = relative.c * fy - relative.s * fx;
      const double* shape = c.reduced.shared.data() + static_cast<size_t>(e.slave * modes);
      for (int j = 0; j < modes; ++j) amplitude[j] += shape[j] * gx + shape[modes + j] * gy;
      torque -= turn;
      on_link(layout.links[static_cast<size_t>(e.owner)].body, turn);
    }
    on_link(l.body, torque);
  }
  // λ = A⁻¹ f on the slaves, then −(∂F/∂(masters, angles))ᵀ λ.
  if (layout.slaves > 0) {
    T* lambda = input + layout.masters;
    detail::solve_slaves(s, lambda);
    const T* cross = s.cross.data();
    for (const Cluster& cluster : layout.clusters) {
      for (int i = 0; i < cluster.size; ++i)
        for (const int master : cluster.masters)
          input[master] -= *cross++ * lambda[cluster.first + i];
      for (const int k : cluster.links) {
        const LinkLayout& l = layout.links[static_cast<size_t>(k)];
        const T* turning = s.links[static_cast<size_t>(k)].turning.data();
        T torque(0.0);
        for (const LinkLayout::Part& p : l.parts) {
          if (!p.slave) continue;
          torque -= turning[p.at] * input[p.component];
          if (p.pair) torque -= turning[p.at + 1] * input[p.component + 1];
        }
        on_link(l.body, torque);
      }
    }
  }
  for (int i = 0; i < layout.masters; ++i) r[layout.master_dof[static_cast<size_t>(i)]] += input[i];
}

// Wrenches of the nodes that forces use, and all forces on the links.
template <class P, class T>
void gather_reduced(Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                    std::vector<Wrench<Planar, T>>& wrench, std::vector<T>& r) {
  detail::spread_nodes(kin, c, wrench);
  gather_links(kin, c, kin.reduced.force, r.data(),
               [&](int body, const T& torque) { wrench[static_cast<size_t>(body)].n += torque; });
}

template <class P, class T>
T reduced_kinetic_energy(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c) {
  T sum(0.0);
  const ReducedState<T>& s = kin.reduced;
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkMatrices<P>& m = c.reduced.links[k];
    const LinkState<T>& l = s.links[k];
    const auto& b = kin.body[static_cast<size_t>(s.layout.links[k].body)];
    const T vx = b.R.c * b.v.x + b.R.s * b.v.y, vy = b.R.c * b.v.y - b.R.s * b.v.x;
    const T &ox = l.moment.x, &oy = l.moment.y;
    const T px = detail::sum_of(m.Sx, l.a_dot), py = detail::sum_of(m.Sy, l.a_dot);
    T mixed(0.0);
    for (size_t i = 0; i < l.spin.size(); ++i) mixed += l.spin[i] * l.a_dot[i];
    sum += 0.5 * m.mass * (vx * vx + vy * vy) + vx * (px - b.w * oy) + vy * (py + b.w * ox) +
           0.5 * (b.w * b.w) * l.inertia + b.w * mixed +
           0.5 * detail::quadratic(m.M, m.ld, m.n, l.a_dot, l.a_dot);
  }
  return sum;
}

// Strain energy and gravity.
template <class P, class T>
T reduced_potential_energy(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c) {
  T sum(0.0);
  const ReducedState<T>& s = kin.reduced;
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkMatrices<P>& m = c.reduced.links[k];
    const LinkState<T>& l = s.links[k];
    const auto& b = kin.body[static_cast<size_t>(s.layout.links[k].body)];
    sum += 0.5 * detail::quadratic(m.K, m.ld, m.n, l.a, l.a);
    const Vec2<T> centre = rotate(b.R, l.moment);
    sum -= m.mass * dot(b.p, c.gravity) + dot(centre, c.gravity);
  }
  return sum;
}

template <class P, class T>
T reduced_damping_power(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c) {
  T sum(0.0);
  const ReducedState<T>& s = kin.reduced;
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkMatrices<P>& m = c.reduced.links[k];
    const std::vector<T>& rate = s.links[k].a_dot;
    if (m.damped) sum += detail::quadratic(m.C, m.ld, m.n, rate, rate);
  }
  return sum;
}

}  // namespace panto::erls
