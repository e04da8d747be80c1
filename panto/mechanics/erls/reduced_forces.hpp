// What the links of a reduced model add to the residual (RER-6): forces on a = (x, η) of each link and its wrench, and their way through the transpose of
// the velocity map to masters, amplitudes and joints.
#pragma once

#include "panto/mechanics/rigid/channel.hpp"

namespace panto::erls {

using rigid::Constants;
using rigid::Kinematics;
using rigid::Wrench;

namespace detail {

template <class P, class T>
T sum_of(const std::vector<P>& row, const std::vector<T>& x) {
  T sum(0.0);
  for (size_t i = 0; i < x.size(); ++i) sum += row[i] * x[i];
  return sum;
}

}  // namespace detail

// Inertia less gravity; sets the forces on a and the wrenches of nodes that channels use, adds to those of the links.
template <class P, class T>
void reduced_inertia_forces(Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                            std::vector<Wrench<Planar, T>>& wrench) {
  ReducedState<T>& s = kin.reduced;
  const size_t first = kin.model->bodies.size() + 1;
  for (const int node : s.used) wrench[first + static_cast<size_t>(node)] = {};
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkMatrices<P>& m = c.reduced.links[k];
    LinkState<T>& l = s.links[k];
    const auto& b = kin.body[static_cast<size_t>(s.layout.links[k].body)];
    const Vec2<T> ag{b.a.x - c.gravity.x, b.a.y - c.gravity.y};
    const T bx = b.R.c * ag.x + b.R.s * ag.y, by = b.R.c * ag.y - b.R.s * ag.x;
    const T w2 = b.w * b.w, two_w = 2.0 * b.w;
    const auto n = l.a.size();
    T *f = l.force.data(), *ga = s.work.data(), *ma = s.product.data();
    // M ä + 2 ω G ȧ in one sweep, G a and M_t a in another.
    for (size_t i = 0; i < n; ++i) f[i] = ga[i] = ma[i] = T(0.0);
    const P *M = m.M.data(), *G = m.G.data(), *Mt = m.Mt.data();
    for (size_t j = 0; j < n; ++j) {
      const T second = l.a_ddot[j], rate = two_w * l.a_dot[j], place = l.a[j];
      for (size_t i = 0; i < n; ++i) {
        f[i] += M[i] * second + G[i] * rate;
        ga[i] += G[i] * place;
        ma[i] += Mt[i] * place;
      }
      M += n;
      G += n;
      Mt += n;
    }
    T turn_inertia = T(m.inertia), torque(0.0), sxa(0.0), sya(0.0), sxd(0.0), syd(0.0), sxdd(0.0),
      sydd(0.0);
    for (size_t i = 0; i < n; ++i) {
      f[i] += m.Sx[i] * bx + m.Sy[i] * by + b.al * (m.h[i] + ga[i]) - w2 * (m.s1[i] + ma[i]);
      turn_inertia += (2.0 * m.s1[i] + ma[i]) * l.a[i];
      torque += (m.h[i] + ga[i]) * l.a_ddot[i] + two_w * (m.s1[i] + ma[i]) * l.a_dot[i];
      sxa += m.Sx[i] * l.a[i];
      sya += m.Sy[i] * l.a[i];
      sxd += m.Sx[i] * l.a_dot[i];
      syd += m.Sy[i] * l.a_dot[i];
      sxdd += m.Sx[i] * l.a_ddot[i];
      sydd += m.Sy[i] * l.a_ddot[i];
    }
    const T ox = m.moment + sxa;
    const T fx = m.mass * bx - b.al * sya + sxdd - two_w * syd - w2 * ox;
    const T fy = m.mass * by + b.al * ox + sydd + two_w * sxd - w2 * sya;
    torque += ox * by - sya * bx + b.al * turn_inertia;
    Wrench<Planar, T>& to = wrench[static_cast<size_t>(s.layout.links[k].body)];
    to.f += rotate(b.R, Vec2<T>{fx, fy});
    to.n += torque;
    l.torque = T(0.0);
  }
}

// Elastic forces and damping, added to the forces on a and to the rows of the amplitudes.
template <class P, class T>
void reduced_elastic_forces(Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                            std::vector<T>& r) {
  ReducedState<T>& s = kin.reduced;
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkMatrices<P>& m = c.reduced.links[k];
    LinkState<T>& l = s.links[k];
    T* f = l.force.data();
    const P* e = m.k.data();
    for (int j = 0; j < m.nx; ++j) {
      const auto at = static_cast<size_t>(j);
      const T x = m.damped ? T(l.a[at] + m.beta * l.a_dot[at]) : l.a[at];
      for (int i = 0; i < m.nx; ++i) f[i] += *e++ * x;
    }
    if (!m.damped) continue;
    e = m.M.data();
    for (int j = 0; j < m.n; ++j) {
      const T x = m.alpha * l.a_dot[static_cast<size_t>(j)];
      for (int i = 0; i < m.n; ++i) f[i] += *e++ * x;
    }
  }
  const P *stiffness = c.reduced.stiffness.data(), *damping = c.reduced.damping.data();
  T* rows = r.data() + s.layout.first_mode;
  for (int j = 0; j < s.layout.modes; ++j) {
    const T &x = s.eta[static_cast<size_t>(j)], &rate = s.eta_dot[static_cast<size_t>(j)];
    for (int i = 0; i < s.layout.modes; ++i) rows[i] += *stiffness++ * x + *damping++ * rate;
  }
}

namespace detail {

// A wrench on a node, ground axes, to its link and the inputs or the inside of it.
template <class P, class T>
void spread_node(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c, int node,
                 const Wrench<Planar, T>& w, ReducedState<T>& s, Wrench<Planar, T>& on_link) {
  const auto k = static_cast<size_t>(s.node_link[static_cast<size_t>(node)]);
  const LinkLayout& l = s.layout.links[k];
  const LinkMatrices<P>& m = c.reduced.links[k];
  LinkState<T>& link = s.links[k];
  const auto& b = kin.body[static_cast<size_t>(l.body)];
  const auto local = static_cast<size_t>(3 * (node - l.first_node));
  on_link.f += w.f;
  on_link.n +=
      w.n + moment(kin.body[kin.model->bodies.size() + 1 + static_cast<size_t>(node)].d, w.f);
  const auto component = [&](int at) -> T& {
    for (const LinkLayout::Part& p : l.parts)
      if (at >= p.at && at < p.at + (p.pair ? 2 : 1))
        return s.force[static_cast<size_t>(p.component + at - p.at)];
    return s.force[0];
  };
  const auto inside = [&](int index, const T& f) {
    const P* e = m.inside.data() + static_cast<size_t>((-2 - index) * m.n);
    for (int j = 0; j < m.n; ++j) link.force[static_cast<size_t>(j)] += e[j] * f;
  };
  const int first = l.local[local], turn = l.local[local + 2];
  if (first >= 0) {
    component(first) += w.f.x;
    component(first + 1) += w.f.y;
  } else if (first <= -2) {
    inside(first, b.R.c * w.f.x + b.R.s * w.f.y);
    inside(first - 1, b.R.c * w.f.y - b.R.s * w.f.x);
    link.torque += moment(kin.node[static_cast<size_t>(node)].u, w.f);
  }
  if (turn >= 0) component(turn) += w.n;
  if (turn <= -2) inside(turn, w.n);
}

}  // namespace detail

// Forces on a of all links and on the inputs to the rows of masters and amplitudes; on_link(body, torque) takes what turns the links.
template <class P, class T, class OnLink>
void gather_links(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                  ReducedState<T>& s, T* r, const OnLink& on_link) {
  const ReducedLayout& layout = s.layout;
  T* amplitude = r + layout.first_mode;
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkLayout& l = layout.links[k];
    LinkState<T>& link = s.links[k];
    const Rot2<T>& R = kin.body[static_cast<size_t>(l.body)].R;
    const T *f = link.force.data(), *a = link.a.data();
    T torque = link.torque;
    for (const LinkLayout::Part& p : l.parts) {
      T* to = s.force.data() + p.component;
      if (p.pair) {
        to[0] += R.c * f[p.at] - R.s * f[p.at + 1];
        to[1] += R.s * f[p.at] + R.c * f[p.at + 1];
        torque += a[p.at + 1] * f[p.at] - a[p.at] * f[p.at + 1];
      } else {
        to[0] += f[p.at];
      }
    }
    for (int i = 0; i < layout.modes; ++i) amplitude[i] += f[l.nx + i];
    on_link(l.body, torque);
  }
  if (layout.slaves > 0) {
    // Modal part of the slaves.
    for (const LinkInput& in : layout.inputs) {
      if (in.owner < 0) continue;
      const auto modes = static_cast<size_t>(layout.modes), at = static_cast<size_t>(in.at);
      const double* shape =
          c.reduced.shared.data() + static_cast<size_t>(in.at - layout.masters) * modes;
      Vec2<T> f{s.force[at], T(0.0)};
      if (in.pair) {
        const int body = layout.links[static_cast<size_t>(in.owner)].body;
        const Rot2<T>& R = kin.body[static_cast<size_t>(body)].R;
        const T gx = s.force[at], gy = s.force[at + 1];
        f = {R.c * gx + R.s * gy, R.c * gy - R.s * gx};
        on_link(body, T(s.modal[at] * gy - s.modal[at + 1] * gx));
        for (size_t j = 0; j < modes; ++j) amplitude[j] += shape[modes + j] * f.y;
      }
      for (size_t j = 0; j < modes; ++j) amplitude[j] += shape[j] * f.x;
    }
    // Static part: λ = A⁻¹ f, then −(∂F/∂(masters, angles))ᵀ λ.
    detail::solve_slaves(s, s.force.data() + layout.masters);
    for (const Cluster& cluster : layout.clusters)
      for (const int k : cluster.links) {
        const LinkLayout& l = layout.links[static_cast<size_t>(k)];
        const LinkMatrices<P>& m = c.reduced.links[static_cast<size_t>(k)];
        const LinkState<T>& link = s.links[static_cast<size_t>(k)];
        const Rot2<T>& R = kin.body[static_cast<size_t>(l.body)].R;
        T *x = s.work.data(), *p = s.product.data();
        detail::to_link(l, R, s.force.data(), x);
        for (const LinkLayout::Part& part : l.parts)
          if (!part.slave) {
            x[part.at] = T(0.0);
            if (part.pair) x[part.at + 1] = T(0.0);
          }
        detail::multiply(m.k, m.nx, m.nx, x, p);
        T torque(0.0);
        for (const LinkLayout::Part& part : l.parts) {
          if (part.pair) {
            const T *f = link.pull.data() + part.at, *y = link.still.data() + part.at;
            // λ · Ĵ f − p · Ĵ x
            torque -= x[part.at + 1] * f[0] - x[part.at] * f[1];
            torque += p[part.at + 1] * y[0] - p[part.at] * y[1];
          }
          if (part.slave) continue;
          T* to = s.force.data() + part.component;
          if (part.pair) {
            to[0] -= R.c * p[part.at] - R.s * p[part.at + 1];
            to[1] -= R.s * p[part.at] + R.c * p[part.at + 1];
          } else {
            to[0] -= p[part.at];
          }
        }
        on_link(l.body, torque);
      }
  }
  for (int i = 0; i < layout.masters; ++i)
    r[layout.master_dof[static_cast<size_t>(i)]] += s.force[static_cast<size_t>(i)];
}

// Clears the forces on the inputs; before nodes are spread and links gathered.
template <class T>
void clear_inputs(ReducedState<T>& s) {
  for (T& e : s.force) e = T(0.0);
}

// Wrenches of the nodes that channels use, and all forces on the links.
template <class P, class T>
void gather_reduced(Kinematics<Planar, T>& kin, const Constants<Planar, P>& c,
                    std::vector<Wrench<Planar, T>>& wrench, std::vector<T>& r) {
  ReducedState<T>& s = kin.reduced;
  clear_inputs(s);
  const size_t first = kin.model->bodies.size() + 1;
  for (const int node : s.used) {
    const auto body =
        s.layout.links[static_cast<size_t>(s.node_link[static_cast<size_t>(node)])].body;
    detail::spread_node(kin, c, node, wrench[first + static_cast<size_t>(node)], s,
                        wrench[static_cast<size_t>(body)]);
  }
  gather_links(kin, c, s, r.data(),
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
    const T ox = m.moment + detail::sum_of(m.Sx, l.a), oy = detail::sum_of(m.Sy, l.a);
    const T px = detail::sum_of(m.Sx, l.a_dot), py = detail::sum_of(m.Sy, l.a_dot);
    T inertia = m.inertia + 2.0 * detail::sum_of(m.s1, l.a), mixed = detail::sum_of(m.h, l.a_dot),
      relative(0.0);
    for (size_t j = 0; j < l.a.size(); ++j)
      for (size_t i = 0; i < l.a.size(); ++i) {
        const size_t at = j * l.a.size() + i;
        inertia += l.a[i] * (m.Mt[at] * l.a[j]);
        mixed += l.a_dot[i] * (m.G[at] * l.a[j]);
        relative += l.a_dot[i] * (m.M[at] * l.a_dot[j]);
      }
    sum += 0.5 * m.mass * (vx * vx + vy * vy) + vx * (px - b.w * oy) + vy * (py + b.w * ox) +
           0.5 * (b.w * b.w) * inertia + b.w * mixed + 0.5 * relative;
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
    for (int j = 0; j < m.nx; ++j)
      for (int i = 0; i < m.nx; ++i)
        sum += 0.5 * l.a[static_cast<size_t>(i)] *
               (m.k[static_cast<size_t>(j * m.nx + i)] * l.a[static_cast<size_t>(j)]);
    const Vec2<T> centre =
        rotate(b.R, Vec2<T>{m.moment + detail::sum_of(m.Sx, l.a), detail::sum_of(m.Sy, l.a)});
    sum -= m.mass * dot(b.p, c.gravity) + dot(centre, c.gravity);
  }
  for (size_t j = 0; j < s.eta.size(); ++j)
    for (size_t i = 0; i < s.eta.size(); ++i)
      sum += 0.5 * s.eta[i] * (c.reduced.stiffness[j * s.eta.size() + i] * s.eta[j]);
  return sum;
}

template <class P, class T>
T reduced_damping_power(const Kinematics<Planar, T>& kin, const Constants<Planar, P>& c) {
  T sum(0.0);
  const ReducedState<T>& s = kin.reduced;
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkMatrices<P>& m = c.reduced.links[k];
    const std::vector<T>& rate = s.links[k].a_dot;
    if (!m.damped) continue;
    for (size_t j = 0; j < rate.size(); ++j)
      for (size_t i = 0; i < rate.size(); ++i)
        sum += m.alpha * (rate[i] * (m.M[j * rate.size() + i] * rate[j]));
    const auto nx = static_cast<size_t>(m.nx);
    for (size_t j = 0; j < nx; ++j)
      for (size_t i = 0; i < nx; ++i) sum += m.beta * (rate[i] * (m.k[j * nx + i] * rate[j]));
  }
  for (size_t j = 0; j < s.eta.size(); ++j)
    for (size_t i = 0; i < s.eta.size(); ++i)
      sum += s.eta_dot[i] * (c.reduced.damping[j * s.eta.size() + i] * s.eta_dot[j]);
  return sum;
}

}  // namespace panto::erls
