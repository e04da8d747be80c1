// Motion of the links of a reduced model (RER-4): displacements that beams share follow statically from the masters, and the interior modes turn with
// the links. Each link moves with a = (x, η, p), all in its own axes.
#pragma once

#include "panto/mechanics/erls/nodes.hpp"
#include "panto/mechanics/erls/reduced_state.hpp"

namespace panto::erls {

namespace detail {

// Inputs of a link from components of all, ground axes to its own.
template <class T>
void to_link(const LinkLayout& l, const Rot2<T>& R, const T* all, T* x) {
  for (const LinkLayout::Part& p : l.parts) {
    const T* e = all + p.component;
    if (p.pair) {
      const T ex = e[0], ey = e[1];
      x[p.at] = R.c * ex + R.s * ey;
      x[p.at + 1] = R.c * ey - R.s * ex;
    } else {
      x[p.at] = e[0];
    }
  }
}
// x += those of the slaves.
template <class T>
void add_slaves(const LinkLayout& l, const Rot2<T>& R, const T* all, T* x) {
  for (const LinkLayout::Part& p : l.parts) {
    if (!p.slave) continue;
    const T* e = all + p.component;
    if (p.pair) {
      const T ex = e[0], ey = e[1];
      x[p.at] += R.c * ex + R.s * ey;
      x[p.at + 1] += R.c * ey - R.s * ex;
    } else {
      x[p.at] += e[0];
    }
  }
}
// y += factor Ĵ x on the pairs.
template <class T>
void add_quarter_turn(const LinkLayout& l, const T& factor, const T* x, T* y) {
  for (const LinkLayout::Part& p : l.parts) {
    if (!p.pair) continue;
    const T ex = x[p.at], ey = x[p.at + 1];
    y[p.at] -= factor * ey;
    y[p.at + 1] += factor * ex;
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
  for (int i = 1; i < n; ++i) {
    T sum = x[i];
    for (int k = 0; k < i; ++k) sum -= a[i * n + k] * x[k];
    x[i] = sum;
  }
  for (int i = n - 1; i >= 0; --i) {
    T sum = x[i] * a[i * n + i];
    for (int k = i + 1; k < n; ++k) sum -= a[k * n + i] * x[k];
    x[i] = sum;
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

// Adds the stiffness of one link, ground axes: between slaves to the cluster's (lower triangle by rows), of slaves to masters to `cross`.
template <class P, class T>
void add_stiffness(const LinkLayout& l, const LinkMatrices<P>& m, const Rot2<T>& R, int first,
                   int n, int masters, T* a, T* cross) {
  for (const LinkLayout::Part& p : l.parts) {
    if (!p.slave) continue;
    for (const LinkLayout::Part& o : l.parts) {
      if (o.slave && o.component > p.component) continue;
      const int stride = o.slave ? n : masters;
      T* row = o.slave ? a + (p.component - first) * n + o.component - first
                       : cross + (p.component - first) * masters + o.column;
      const P* k0 = m.k.data() + o.at * m.ldx + p.at;
      if (p.pair && o.pair) {
        const P* k1 = k0 + m.ldx;
        const T t0x = R.c * k0[0] - R.s * k0[1], t0y = R.s * k0[0] + R.c * k0[1],
                t1x = R.c * k1[0] - R.s * k1[1], t1y = R.s * k1[0] + R.c * k1[1];
        row[0] += R.c * t0x - R.s * t1x;
        if (&p != &o) row[1] += R.s * t0x + R.c * t1x;
        row[stride] += R.c * t0y - R.s * t1y;
        row[stride + 1] += R.s * t0y + R.c * t1y;
      } else if (p.pair) {
        row[0] += R.c * k0[0] - R.s * k0[1];
        row[stride] += R.s * k0[0] + R.c * k0[1];
      } else if (o.pair) {
        row[0] += R.c * k0[0] - R.s * k0[m.ldx];
        row[1] += R.s * k0[0] + R.c * k0[m.ldx];
      } else {
        row[0] += k0[0];
      }
    }
  }
}

// Modal part of a pair of slaves, axes of the owner's link, per amplitudes.
template <class P, class T>
Vec2<T> shared_shape(const ReducedConstants<P>& c, int modes, int slave, const T* eta) {
  const double* row = c.shared.data() + slave * modes;
  Vec2<T> sum{T(0.0), T(0.0)};
  for (int j = 0; j < modes; ++j) {
    sum.x += row[j] * eta[j];
    sum.y += row[modes + j] * eta[j];
  }
  return sum;
}

// Slaves of all clusters at given components of masters: x <- −A⁻¹ (cross masters + x).
template <class T>
void follow(const ReducedState<T>& s, T* x) {
  const T *factor = s.factor.data(), *cross = s.cross.data();
  T* slaves = x + s.layout.masters;
  for (const Cluster& c : s.layout.clusters) {
    for (int i = 0; i < c.size; ++i) {
      T sum = slaves[c.first + i];
      for (const int m : c.masters) sum += *cross++ * x[m];
      slaves[c.first + i] = -sum;
    }
    solve_factored(c.size, factor, slaves + c.first);
    factor += c.size * c.size;
  }
}

}  // namespace detail

// Positions (RER-4): q as in Kinematics, shift from speeds to coordinates.
template <class P, class T, class Body>
void place_links(const ReducedConstants<P>& c, const T* q, int shift, const std::vector<Body>& body,
                 ReducedState<T>& s) {
  const ReducedLayout& layout = s.layout;
  const int masters = layout.masters, modes = layout.modes;
  for (int i = 0; i < masters; ++i)
    s.x[static_cast<size_t>(i)] = q[layout.master_dof[static_cast<size_t>(i)] + shift];
  for (int i = 0; i < modes; ++i) s.eta[static_cast<size_t>(i)] = q[layout.first_mode + i + shift];
  for (size_t i = static_cast<size_t>(masters); i < s.x.size(); ++i) s.x[i] = T(0.0);
  for (T& e : s.factor) e = T(0.0);
  for (T& e : s.cross) e = T(0.0);
  T *factor = s.factor.data(), *cross = s.cross.data();
  for (const Cluster& cluster : layout.clusters) {
    const auto columns = static_cast<int>(cluster.masters.size());
    for (const int k : cluster.links) {
      const LinkLayout& l = layout.links[static_cast<size_t>(k)];
      detail::add_stiffness(l, c.links[static_cast<size_t>(k)], body[static_cast<size_t>(l.body)].R,
                            masters + cluster.first, cluster.size, columns, factor, cross);
    }
    detail::factorise(cluster.size, factor);
    factor += cluster.size * cluster.size;
    cross += cluster.size * columns;
  }
  detail::follow(s, s.x.data());
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkLayout& l = layout.links[k];
    const LinkMatrices<P>& m = c.links[k];
    LinkState<T>& link = s.links[k];
    const Rot2<T>& R = body[static_cast<size_t>(l.body)].R;
    T* a = link.a.data();
    detail::to_link(l, R, s.x.data(), a);
    for (int i = 0; i < modes; ++i) a[l.nx + i] = s.eta[static_cast<size_t>(i)];
    for (size_t i = 0; i < l.foreign.size(); ++i) {
      const LinkLayout::Foreign& f = l.foreign[i];
      link.relative[i] = compose_reverse(
          body[static_cast<size_t>(layout.links[static_cast<size_t>(f.owner)].body)].R, R);
      const Vec2<T> p =
          rotate(link.relative[i], detail::shared_shape(c, modes, f.slave, s.eta.data()));
      a[f.at] = p.x;
      a[f.at + 1] = p.y;
    }
    T *spin = link.spin.data(), *swing = link.swing.data();
    for (int i = 0; i < m.ld; ++i) {
      spin[i] = T(m.h[static_cast<size_t>(i)]);
      swing[i] = T(m.s1[static_cast<size_t>(i)]);
    }
    detail::add_product(m.G, m.ld, m.n, m.n, a, spin);
    detail::add_product(m.Mt, m.ld, m.n, m.n, a, swing);
    link.inertia = m.inertia + detail::sum_of(m.s1, link.a) + detail::scalar(swing, a, m.ld);
    link.moment = {m.moment + detail::sum_of(m.Sx, link.a), detail::sum_of(m.Sy, link.a)};
    if (l.cluster < 0) continue;
    // R (Ĵ k x − k Ĵ x): what a turn of the link does to the static forces.
    T *pull = link.pull.data(), *turned = s.work.data(), *product = s.product.data();
    detail::set_zero(pull, m.ldx);
    detail::add_product(m.k, m.ldx, m.nx, m.nx, a, pull);
    detail::set_zero(turned, m.ldx);
    detail::set_zero(product, m.ldx);
    detail::add_quarter_turn(l, T(-1.0), a, turned);
    detail::add_product(m.k, m.ldx, m.nx, m.nx, turned, product);
    detail::add_quarter_turn(l, T(1.0), pull, product);
    T* turning = link.turning.data();
    for (const LinkLayout::Part& p : l.parts) {
      if (!p.slave) continue;
      if (p.pair) {
        turning[p.at] = R.c * product[p.at] - R.s * product[p.at + 1];
        turning[p.at + 1] = R.s * product[p.at] + R.c * product[p.at + 1];
      } else {
        turning[p.at] = product[p.at];
      }
    }
  }
}

// Speeds, after place_links().
template <class P, class T, class Body>
void move_links(const ReducedConstants<P>& c, const T* v, const std::vector<Body>& body,
                ReducedState<T>& s) {
  const ReducedLayout& layout = s.layout;
  const int masters = layout.masters, modes = layout.modes;
  for (int i = 0; i < masters; ++i)
    s.x_dot[static_cast<size_t>(i)] = v[layout.master_dof[static_cast<size_t>(i)]];
  for (int i = 0; i < modes; ++i) s.eta_dot[static_cast<size_t>(i)] = v[layout.first_mode + i];
  T* rate = s.x_dot.data();
  for (size_t i = static_cast<size_t>(masters); i < s.x.size(); ++i) rate[i] = T(0.0);
  for (const Cluster& cluster : layout.clusters)
    for (const int k : cluster.links) {
      const LinkLayout& l = layout.links[static_cast<size_t>(k)];
      const T* turning = s.links[static_cast<size_t>(k)].turning.data();
      const T& w = body[static_cast<size_t>(l.body)].w;
      for (const LinkLayout::Part& p : l.parts) {
        if (!p.slave) continue;
        rate[p.component] += w * turning[p.at];
        if (p.pair) rate[p.component + 1] += w * turning[p.at + 1];
      }
    }
  detail::follow(s, rate);
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkLayout& l = layout.links[k];
    LinkState<T>& link = s.links[k];
    const Body& b = body[static_cast<size_t>(l.body)];
    T *a = link.a.data(), *a_dot = link.a_dot.data();
    detail::to_link(l, b.R, rate, a_dot);
    detail::add_quarter_turn(l, T(-b.w), a, a_dot);
    for (int i = 0; i < modes; ++i) a_dot[l.nx + i] = s.eta_dot[static_cast<size_t>(i)];
    for (size_t i = 0; i < l.foreign.size(); ++i) {
      const LinkLayout::Foreign& f = l.foreign[i];
      const T w =
          body[static_cast<size_t>(layout.links[static_cast<size_t>(f.owner)].body)].w - b.w;
      const Vec2<T> p =
          rotate(link.relative[i], detail::shared_shape(c, modes, f.slave, s.eta_dot.data()));
      a_dot[f.at] = p.x - w * a[f.at + 1];
      a_dot[f.at + 1] = p.y + w * a[f.at];
    }
  }
}

// Accelerations, after move_links().
template <class P, class T, class Body>
void accelerate_links(const ReducedConstants<P>& c, const T* acc, const std::vector<Body>& body,
                      ReducedState<T>& s) {
  const ReducedLayout& layout = s.layout;
  const int masters = layout.masters, modes = layout.modes;
  for (int i = 0; i < masters; ++i)
    s.x_ddot[static_cast<size_t>(i)] = acc[layout.master_dof[static_cast<size_t>(i)]];
  for (int i = 0; i < modes; ++i) s.eta_ddot[static_cast<size_t>(i)] = acc[layout.first_mode + i];
  T* second = s.x_ddot.data();
  for (size_t i = static_cast<size_t>(masters); i < s.x.size(); ++i) second[i] = T(0.0);
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkLayout& l = layout.links[k];
    const LinkMatrices<P>& m = c.links[k];
    LinkState<T>& link = s.links[k];
    const Body& b = body[static_cast<size_t>(l.body)];
    const T w2 = b.w * b.w, two_w = 2.0 * b.w;
    const T *a = link.a.data(), *a_dot = link.a_dot.data();
    T* a_ddot = link.a_ddot.data();
    // x'' = T ẍ − 2 ω Ĵ x' − ω̇ Ĵ x + ω² x, slaves still to come.
    for (const LinkLayout::Part& p : l.parts) {
      const T* e = second + p.component;
      const int i = p.at;
      if (p.pair) {
        a_ddot[i] = two_w * a_dot[i + 1] + b.al * a[i + 1] + w2 * a[i];
        a_ddot[i + 1] = w2 * a[i + 1] - two_w * a_dot[i] - b.al * a[i];
        if (p.slave) continue;
        a_ddot[i] += b.R.c * e[0] + b.R.s * e[1];
        a_ddot[i + 1] += b.R.c * e[1] - b.R.s * e[0];
      } else {
        a_ddot[i] = p.slave ? T(0.0) : e[0];
      }
    }
    for (int i = 0; i < modes; ++i) a_ddot[l.nx + i] = s.eta_ddot[static_cast<size_t>(i)];
    for (size_t i = 0; i < l.foreign.size(); ++i) {
      const LinkLayout::Foreign& f = l.foreign[i];
      const Body& o = body[static_cast<size_t>(layout.links[static_cast<size_t>(f.owner)].body)];
      const T w = o.w - b.w, al = o.al - b.al, ww = w * w, w_2 = 2.0 * w;
      const Vec2<T> p =
          rotate(link.relative[i], detail::shared_shape(c, modes, f.slave, s.eta_ddot.data()));
      a_ddot[f.at] = p.x - w_2 * a_dot[f.at + 1] - al * a[f.at + 1] + ww * a[f.at];
      a_ddot[f.at + 1] = p.y + w_2 * a_dot[f.at] + al * a[f.at] + ww * a[f.at + 1];
    }
    if (l.cluster < 0) continue;
    // f'' = k x'' + ω̇ Ĵ f − ω² f + 2 ω Ĵ k x'
    T *rate = s.work.data(), *product = s.product.data();
    detail::set_zero(rate, m.ldx);
    detail::set_zero(product, m.ldx);
    detail::add_product(m.k, m.ldx, m.nx, m.nx, a_dot, rate);
    detail::add_product(m.k, m.ldx, m.nx, m.nx, a_ddot, product);
    const T* pull = link.pull.data();
    for (const LinkLayout::Part& p : l.parts) {
      if (!p.slave) continue;
      T* e = second + p.component;
      const int i = p.at;
      if (p.pair) {
        const T fx = product[i] - b.al * pull[i + 1] - w2 * pull[i] - two_w * rate[i + 1],
                fy = product[i + 1] + b.al * pull[i] - w2 * pull[i + 1] + two_w * rate[i];
        e[0] += b.R.c * fx - b.R.s * fy;
        e[1] += b.R.s * fx + b.R.c * fy;
      } else {
        e[0] += product[i];
      }
    }
  }
  // Masters are in the products already.
  for (int i = masters; i < layout.components(); ++i) second[i] = -second[i];
  if (layout.slaves == 0) return;
  detail::solve_slaves(s, second + masters);
  for (const Cluster& cluster : layout.clusters)
    for (const int k : cluster.links) {
      const LinkLayout& l = layout.links[static_cast<size_t>(k)];
      detail::add_slaves(l, body[static_cast<size_t>(l.body)].R, second,
                         s.links[static_cast<size_t>(k)].a_ddot.data());
    }
}

}  // namespace panto::erls
