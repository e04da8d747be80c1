// Forward dynamics of the links of a reduced model (RER-9), as floating frames: each pair of displacements is taken in the axes of one link that has
// it, its owner, so that the matrices of links that own all of theirs are constant; in other links such a pair turns by the angle between
// the two. Rates and accelerations of masters become those in ground axes at the end. Up to four independent joints, scalars are double.
//
// symbol → code
//   a_l = B_l b + C_l: displacements of a link from the coordinates b = (masters, amplitudes | slaves), owners' axes → Place, Plan
//   BᵀMB = Σ κ N, κ = 1, c_i, s_i, c_i², c_i s_i, … of the angles between owners and the link → Plan::terms, tables
//   V_x, V_y, Ω, D: velocity, angular velocity of a link and rates of its foreign pairs, per independent speed → lanes of Four
//   ẏ = W (ḃ, ω): slaves from masters and the links' angular velocities → w_
#pragma once

#include <cstring>

#include "panto/mechanics/erls/floating_plan.hpp"
#include "panto/mechanics/erls/reduced_forces.hpp"

namespace panto::erls {

class FloatingLinks {
 public:
  using Four = lanes::Four;
  using Kin = Kinematics<Planar, double>;
  using Const = Constants<Planar, double>;
  using Wrenches = std::vector<Wrench<Planar, double>>;

  explicit FloatingLinks(const Model& model) : plan_(model) {
    const FloatingPlan& p = plan_;
    w_.assign(static_cast<size_t>(p.ldw * p.slaves), 0.0);
    u_.assign(static_cast<size_t>(p.ldb * p.slaves), 0.0);
    z_.assign(static_cast<size_t>(p.ldz * (p.nb + p.slaves)) + lanes::kWidth, 0.0);
    rate_.assign(static_cast<size_t>(p.ldw), 0.0);
    force_ = rate_;
    for (std::vector<double>* v : {&x_, &x_dot_, &x_ddot_, &slave_force_})
      v->assign(static_cast<size_t>(p.masters + p.slaves), 0.0);
    turned_.assign(static_cast<size_t>(p.most_entries), 0.0);
    d_.assign(static_cast<size_t>(p.most_columns), Four{});
    lane_.assign(static_cast<size_t>(p.nb + p.slaves), Four{});
    wz_.assign(static_cast<size_t>(p.slaves), Four{});
    uz_ = wz_;
    body_vx_.assign(model.bodies.size() + 1, Four{});
    body_vy_ = body_om_ = body_vx_;
    relative_.resize(static_cast<size_t>(p.relatives));
    const int n = p.nb + lanes::kWidth, ld = lanes::padded(n);
    system_.assign(static_cast<size_t>(ld * n) + lanes::kWidth, 0.0);
    solution_.assign(static_cast<size_t>(ld), 0.0);
    pivots_.assign(static_cast<size_t>(3 * n), 0.0);
  }
  void bake(const ReducedConstants<double>& c) { plan_.bake(c); }

  // Relative angles, displacements in owners' axes and W, after place_links().
  void place(const Kin& kin) noexcept {
    const ReducedState<double>& s = kin.reduced;
    const double* x = s.x.data();
    for (const FloatingPlan::Input& in : plan_.inputs) {
      double* to = &x_[static_cast<size_t>(in.at)];
      if (in.pair) {
        const Rot2<double>& R = kin.body[static_cast<size_t>(in.body)].R;
        to[0] = R.c * x[in.at] + R.s * x[in.at + 1];
        to[1] = R.c * x[in.at + 1] - R.s * x[in.at];
      } else {
        to[0] = x[in.at];
      }
    }
    Rot2<double>* relative = relative_.data();
    for (const FloatingPlan::LinkPlan& l : plan_.links)
      for (const FloatingPlan::Place& p : l.foreign)
        *relative++ = compose_reverse(kin.body[static_cast<size_t>(p.owner_body)].R,
                                      kin.body[static_cast<size_t>(l.body)].R);
    dependence(kin);
  }

  // Rates of a, after the speeds of the bodies.
  void move(Kin& kin, const Const& c, const double* v) noexcept {
    ReducedState<double>& s = kin.reduced;
    const FloatingPlan& plan = plan_;
    double *rate = rate_.data(), *x_dot = x_dot_.data();
    for (const FloatingPlan::Input& in : plan.inputs) {
      if (in.slave) continue;
      const double* x = &x_[static_cast<size_t>(in.at)];
      if (in.pair) {
        const auto& b = kin.body[static_cast<size_t>(in.body)];
        const double ux = v[plan.master_dof[in.at]], uy = v[plan.master_dof[in.at + 1]];
        x_dot[in.at] = rate[in.at] = b.R.c * ux + b.R.s * uy + b.w * x[1];
        x_dot[in.at + 1] = rate[in.at + 1] = b.R.c * uy - b.R.s * ux - b.w * x[0];
      } else {
        x_dot[in.at] = rate[in.at] = v[plan.master_dof[in.at]];
      }
    }
    const double* eta = v + plan.first_mode;
    for (size_t l = 0; l < plan.links.size(); ++l)
      rate[static_cast<size_t>(plan.ldb) + l] = kin.body[static_cast<size_t>(plan.links[l].body)].w;
    for (int i = 0; i < plan.slaves; ++i)
      x_dot[plan.masters + i] = lanes::dot(&w_[static_cast<size_t>(i * plan.ldw)], rate, plan.ldw);
    const Rot2<double>* relative = relative_.data();
    for (size_t k = 0; k < plan.links.size(); ++k) {
      const FloatingPlan::LinkPlan& l = plan.links[k];
      const double* a = s.links[k].a.data();
      double* to = s.links[k].a_dot.data();
      const double w = kin.body[static_cast<size_t>(l.body)].w;
      for (const FloatingPlan::Place& p : l.own) {
        to[p.at] = x_dot[p.component];
        if (p.pair) to[p.at + 1] = x_dot[p.component + 1];
      }
      for (int i = 0; i < plan.modes; ++i) to[l.nx + i] = eta[i];
      for (const FloatingPlan::Place& p : l.foreign) {
        const Rot2<double> R = *relative++;
        const double turn = kin.body[static_cast<size_t>(p.owner_body)].w - w;
        const auto turned = [&](int at, double ex, double ey) {
          to[at] = R.c * ex - R.s * ey - turn * a[at + 1];
          to[at + 1] = R.s * ex + R.c * ey + turn * a[at];
        };
        turned(p.at, x_dot[p.component], x_dot[p.component + 1]);
        if (p.modal < 0) continue;
        const double* shape = c.reduced.shared.data() + p.shape;
        double ex = 0, ey = 0;
        for (int i = 0; i < plan.modes; ++i) {
          ex += shape[i] * eta[i];
          ey += shape[plan.modes + i] * eta[i];
        }
        turned(p.modal, ex, ey);
      }
    }
  }

  // Accelerations of a while b and the amplitudes have none, the slaves following; after move() and the accelerations of the bodies.
  void accelerate(Kin& kin, const Const& c) noexcept {
    ReducedState<double>& s = kin.reduced;
    const FloatingPlan& plan = plan_;
    double *second = x_ddot_.data(), *product = s.product.data(), *rate = s.work.data();
    for (int i = plan.masters; i < plan.masters + plan.slaves; ++i) second[i] = 0;
    for (size_t k = 0; k < plan.links.size(); ++k) {
      const FloatingPlan::LinkPlan& l = plan.links[k];
      const LinkMatrices<double>& m = c.reduced.links[k];
      LinkState<double>& link = s.links[k];
      const auto& b = kin.body[static_cast<size_t>(l.body)];
      const double *a = link.a.data(), *a_dot = link.a_dot.data();
      double* to = link.a_ddot.data();
      lanes::clear(to, m.ld);
      for (const FloatingPlan::Place& p : l.foreign) {
        const auto& o = kin.body[static_cast<size_t>(p.owner_body)];
        const double w = o.w - b.w, al = o.al - b.al, ww = w * w, w2 = 2 * w;
        const auto turned = [&](int at) {
          to[at] = ww * a[at] - w2 * a_dot[at + 1] - al * a[at + 1];
          to[at + 1] = ww * a[at + 1] + w2 * a_dot[at] + al * a[at];
        };
        turned(p.at);
        if (p.modal >= 0) turned(p.modal);
      }
      if (l.cluster < 0) continue;
      // f'' = k x'' + ω̇ Ĵ f − ω² f + 2 ω Ĵ k x', ground axes
      lanes::clear(rate, m.ldx);
      lanes::clear(product, m.ldx);
      lanes::add_product(m.k.data(), m.ldx, m.ldx, m.nx, a_dot, rate);
      if (!l.foreign.empty()) lanes::add_product(m.k.data(), m.ldx, m.ldx, m.nx, to, product);
      const double *pull = link.pull.data(), w2 = b.w * b.w, two_w = 2 * b.w;
      for (const FloatingPlan::Place& p : l.slaves) {
        double* e = second + p.component;
        const int i = p.at;
        if (!p.pair) {
          e[0] -= product[i];
          continue;
        }
        const double fx = product[i] - b.al * pull[i + 1] - w2 * pull[i] - two_w * rate[i + 1],
                     fy = product[i + 1] + b.al * pull[i] - w2 * pull[i + 1] + two_w * rate[i];
        e[0] -= b.R.c * fx - b.R.s * fy;
        e[1] -= b.R.s * fx + b.R.c * fy;
      }
    }
    if (plan.slaves == 0) return;
    detail::solve_slaves(s, second + plan.masters);
    for (const FloatingPlan::Input& in : plan.inputs)
      if (in.slave && in.pair) {
        const Rot2<double>& R = kin.body[static_cast<size_t>(in.body)].R;
        const double ex = second[in.at], ey = second[in.at + 1];
        second[in.at] = R.c * ex + R.s * ey;
        second[in.at + 1] = R.c * ey - R.s * ex;
      }
    const Rot2<double>* relative = relative_.data();
    for (size_t k = 0; k < plan.links.size(); ++k) {
      const FloatingPlan::LinkPlan& l = plan.links[k];
      double* to = s.links[k].a_ddot.data();
      for (const FloatingPlan::Place& p : l.own)
        if (p.slave) {
          to[p.at] = second[p.component];
          if (p.pair) to[p.at + 1] = second[p.component + 1];
        }
      for (const FloatingPlan::Place& p : l.foreign) {
        const Rot2<double>& R = *relative++;
        if (!p.slave) continue;
        const double ex = second[p.component], ey = second[p.component + 1];
        to[p.at] += R.c * ex - R.s * ey;
        to[p.at + 1] += R.s * ex + R.c * ey;
      }
    }
  }

  // All forces on a, inertia less gravity and elastic ones, and the links' wrenches.
  void forces(Kin& kin, const Const& c, Wrenches& wrench) const noexcept {
    ReducedState<double>& s = kin.reduced;
    const size_t first = kin.model->bodies.size() + 1;
    for (const int node : s.used) wrench[first + static_cast<size_t>(node)] = {};
    for (size_t k = 0; k < s.links.size(); ++k) {
      const LinkMatrices<double>& m = c.reduced.links[k];
      const auto body = static_cast<size_t>(plan_.links[k].body);
      const auto& b = kin.body[body];
      const Vec2<double> ag{b.a.x - c.gravity.x, b.a.y - c.gravity.y};
      const LinkMotion motion{b.w, b.al, b.R.c * ag.x + b.R.s * ag.y, b.R.c * ag.y - b.R.s * ag.x};
      double* f = s.force.link[k].data();
      Wrench<Planar, double> w;
      switch (m.ld / lanes::kWidth) {
        case 1:
          w = link_forces<1>(m, s.links[k], motion, f);
          break;
        case 2:
          w = link_forces<2>(m, s.links[k], motion, f);
          break;
        case 3:
          w = link_forces<3>(m, s.links[k], motion, f);
          break;
        default:
          w = link_forces<4>(m, s.links[k], motion, f);
          break;
      }
      wrench[body].f += rotate(b.R, w.f);
      wrench[body].n += w.n;
      s.force.torque[k] = 0;
    }
  }

  // Wrenches of nodes and forces on a to b, slaves eliminated, and to the links' wrenches; r: what acts on speeds directly, less `added`.
  void gather(Kin& kin, const Const& c, Wrenches& wrench, const double* r,
              const double* added) noexcept {
    ReducedState<double>& s = kin.reduced;
    const FloatingPlan& plan = plan_;
    const size_t first = kin.model->bodies.size() + 1;
    for (const int node : s.used) {
      const auto k = static_cast<size_t>(s.node_link[static_cast<size_t>(node)]);
      detail::spread_node(kin, c, node, wrench[first + static_cast<size_t>(node)], s.force,
                          wrench[static_cast<size_t>(plan.links[k].body)]);
    }
    double *force = force_.data(), *on = slave_force_.data(), *torque = force + plan.ldb;
    lanes::clear(force, plan.ldw);
    for (int i = 0; i < plan.slaves; ++i) on[plan.masters + i] = 0;
    for (const FloatingPlan::Input& in : plan.inputs) {
      if (in.slave) continue;
      const double fx = direct(plan.master_dof[in.at], r, added);
      if (in.pair) {
        const double fy = direct(plan.master_dof[in.at + 1], r, added);
        const Rot2<double>& R = kin.body[static_cast<size_t>(in.body)].R;
        const double *x = &x_[static_cast<size_t>(in.at)], gx = R.c * fx + R.s * fy,
                     gy = R.c * fy - R.s * fx;
        on[in.at] = gx;
        on[in.at + 1] = gy;
        torque[in.link] += x[0] * gy - x[1] * gx;
      } else {
        on[in.at] = fx;
      }
    }
    double* amplitude = force + plan.masters;
    for (int i = 0; i < plan.modes; ++i) amplitude[i] = direct(plan.first_mode + i, r, added);
    const Rot2<double>* relative = relative_.data();
    for (size_t k = 0; k < plan.links.size(); ++k) {
      const FloatingPlan::LinkPlan& l = plan.links[k];
      const double *f = s.force.link[k].data(), *a = s.links[k].a.data();
      for (const FloatingPlan::Place& p : l.own) {
        on[p.component] += f[p.at];
        if (p.pair) on[p.component + 1] += f[p.at + 1];
      }
      for (int i = 0; i < plan.modes; ++i) amplitude[i] += f[l.nx + i];
      torque[k] += s.force.torque[k];
      for (const FloatingPlan::Place& p : l.foreign) {
        const Rot2<double> R = *relative++;
        const double fx = f[p.at], fy = f[p.at + 1];
        double turn = a[p.at] * fy - a[p.at + 1] * fx;
        on[p.component] += R.c * fx + R.s * fy;
        on[p.component + 1] += R.c * fy - R.s * fx;
        if (p.modal >= 0) {
          const double mx = f[p.modal], my = f[p.modal + 1], gx = R.c * mx + R.s * my,
                       gy = R.c * my - R.s * mx;
          const double* shape = c.reduced.shared.data() + p.shape;
          for (int i = 0; i < plan.modes; ++i)
            amplitude[i] += shape[i] * gx + shape[plan.modes + i] * gy;
          turn += a[p.modal] * my - a[p.modal + 1] * mx;
        }
        torque[k] -= turn;
        torque[p.owner] += turn;
      }
    }
    for (int i = 0; i < plan.masters; ++i) force[i] += on[i];
    for (int i = 0; i < plan.slaves; ++i)
      lanes::add(on[plan.masters + i], &w_[static_cast<size_t>(i * plan.ldw)], force, plan.ldw);
    for (size_t k = 0; k < plan.links.size(); ++k)
      wrench[static_cast<size_t>(plan.links[k].body)].n += torque[k];
  }

  // The mass matrix over (b, independent joints) and its factor. basis: R of the joints, nz columns `stride` apart. False: not definite.
  [[nodiscard]] bool factor(const Kin& kin, const Const& c, const double* basis, int stride, int nz,
                            double tolerance) noexcept {
    nz_ = nz;
    const FloatingPlan& plan = plan_;
    bodies(kin, basis, stride);
    const auto columns = static_cast<size_t>(plan.nb + plan.slaves);
    for (size_t j = 0; j < columns; ++j) lane_[j] = Four{};
    for (Four& e : zz_) e = Four{};
    rigid(kin, c);
    std::memcpy(z_.data(), plan.constant.data(), plan.constant.size() * sizeof(double));
    const Rot2<double>* relative = relative_.data();
    for (size_t k = 0; k < plan.links.size(); ++k) {
      link(kin, c, k, relative);
      relative += plan.links[k].foreign.size();
    }
    eliminate();
    const int nb = plan.nb, n = nb + nz, ld = lanes::padded(n);
    for (int j = 0; j < nb; ++j) {
      double* to = &system_[static_cast<size_t>(j * ld)];
      lanes::copy(&z_[static_cast<size_t>(j * plan.ldz)], to, plan.ldb);
      lanes::clear(to + ld - lanes::kWidth, lanes::kWidth);
      std::memcpy(to + nb, &lane_[static_cast<size_t>(j)], sizeof(Four));
    }
    for (int j = 0; j < nz; ++j) {
      double* to = &system_[static_cast<size_t>((nb + j) * ld)];
      lanes::clear(to, ld);
      std::memcpy(to + nb, &zz_[j], sizeof(Four));
    }
    return lanes::factor(system_.data(), n, ld, tolerance, pivots_.data());
  }

  // Accelerations; r: forces on the joints, left sides; a has those of the joints at zero independent ones.
  void solve(const Kin& kin, const double* r, const double* basis, int stride, int joints,
             double* a) noexcept {
    const FloatingPlan& plan = plan_;
    const int nb = plan.nb, n = nb + nz_, ld = lanes::padded(n);
    double* x = solution_.data();
    for (int i = 0; i < nb; ++i) x[i] = -force_[static_cast<size_t>(i)];
    for (int z = 0; z < nz_; ++z) {
      const double* column = basis + z * stride;
      double sum = 0;
      for (int i = 0; i < joints; ++i) sum -= column[i] * r[i];
      x[nb + z] = sum;
    }
    for (int i = n; i < ld; ++i) x[i] = 0;
    lanes::solve(system_.data(), n, ld, pivots_.data(), x);
    for (int z = 0; z < nz_; ++z) {
      const double *column = basis + z * stride, e = x[nb + z];
      for (int i = 0; i < joints; ++i) a[i] += column[i] * e;
    }
    for (int i = 0; i < plan.modes; ++i) a[plan.first_mode + i] = x[plan.masters + i];
    for (const FloatingPlan::Input& in : plan.inputs) {
      if (in.slave) continue;
      if (!in.pair) {
        a[plan.master_dof[in.at]] = x[in.at];
        continue;
      }
      const auto& b = kin.body[static_cast<size_t>(in.body)];
      const Four& turn = body_om_[static_cast<size_t>(in.body)];
      double al = b.al;
      for (int z = 0; z < nz_; ++z) al += turn[z] * x[nb + z];
      const double *e = &x_[static_cast<size_t>(in.at)], *rate = &x_dot_[static_cast<size_t>(in.at)],
                   w2 = b.w * b.w, two_w = 2 * b.w;
      const double ex = x[in.at] - al * e[1] - two_w * rate[1] - w2 * e[0],
                   ey = x[in.at + 1] + al * e[0] + two_w * rate[0] - w2 * e[1];
      a[plan.master_dof[in.at]] = b.R.c * ex - b.R.s * ey;
      a[plan.master_dof[in.at + 1]] = b.R.s * ex + b.R.c * ey;
    }
  }

 private:
  struct LinkMotion {
    double w, al, bx, by;  // bx, by: acceleration of the origin less gravity, link axes
  };
  static double direct(int dof, const double* r, const double* added) {
    return r[dof] - added[dof];
  }
  static Four all(double e) { return Four{e, e, e, e}; }
  static Four load(const double* x) {
    Four out;
    std::memcpy(&out, x, sizeof(Four));
    return out;
  }

  template <int B>
  static Wrench<Planar, double> link_forces(const LinkMatrices<double>& m,
                                            const LinkState<double>& l, const LinkMotion& o,
                                            double* to) noexcept {
    const double *a = l.a.data(), *a_dot = l.a_dot.data(), *a_ddot = l.a_ddot.data(),
                 w2 = o.w * o.w, two_w = 2 * o.w;
    Four f[B], sums[6] = {};
    for (int b = 0; b < B; ++b) {
      const int at = lanes::kWidth * b;
      const Four spin = load(l.spin.data() + at), swing = load(l.swing.data() + at),
                 sx = load(m.Sx.data() + at), sy = load(m.Sy.data() + at), rate = load(a_dot + at),
                 second = load(a_ddot + at);
      f[b] = o.al * spin - w2 * swing + o.bx * sx + o.by * sy;
      sums[0] += spin * second + two_w * (swing * rate);
      sums[1] += sx * second - two_w * (sy * rate);
      sums[2] += sy * second + two_w * (sx * rate);
    }
    const auto add = [&](const double* entry, const double* x, double factor) {
      for (int j = 0; j < m.n; ++j, entry += B * lanes::kWidth) {
        const Four e = all(factor * x[j]);
        for (int b = 0; b < B; ++b) f[b] += load(entry + lanes::kWidth * b) * e;
      }
    };
    add(m.M.data(), a_ddot, 1);
    add(m.K.data(), a, 1);
    add(m.G.data(), a_dot, two_w);
    if (m.damped) add(m.C.data(), a_dot, 1);
    for (int b = 0; b < B; ++b) std::memcpy(to + lanes::kWidth * b, &f[b], sizeof(Four));
    const auto sum = [](const Four& e) { return (e[0] + e[1]) + (e[2] + e[3]); };
    const double ox = l.moment.x, oy = l.moment.y;
    return {sum(sums[0]) + o.al * l.inertia + ox * o.by - oy * o.bx,
            {sum(sums[1]) + m.mass * o.bx - o.al * oy - w2 * ox,
             sum(sums[2]) + m.mass * o.by + o.al * ox - w2 * oy}};
  }

  // W = −A⁻¹ ∂F/∂(masters, angles), rows of slaves, all in owners' axes.
  void dependence(const Kin& kin) noexcept {
    const ReducedState<double>& s = kin.reduced;
    const FloatingPlan& plan = plan_;
    const double *factor = s.factor.data(), *cross = s.cross.data();
    const int ld = plan.ldw, angles = plan.ldb;
    for (const FloatingPlan::ClusterPlan& cluster : plan.clusters) {
      const int size = cluster.size;
      double* w = w_.data() + cluster.first * ld;
      for (int i = 0; i < size; ++i) {
        double* row = w + i * ld;
        lanes::clear(row, ld);
        for (const int master : cluster.masters) row[master] = *cross++;
        for (const FloatingPlan::Input& in : cluster.pairs) {
          const Rot2<double>& R = kin.body[static_cast<size_t>(in.body)].R;
          const double qx = row[in.at], qy = row[in.at + 1];
          const double* u = s.x.data() + in.at;
          row[angles + in.link] += qy * u[0] - qx * u[1];
          row[in.at] = qx * R.c + qy * R.s;
          row[in.at + 1] = qy * R.c - qx * R.s;
        }
      }
      for (const int k : cluster.links) {
        const double* turning = s.links[static_cast<size_t>(k)].turning.data();
        for (const FloatingPlan::Place& p : plan.links[static_cast<size_t>(k)].slaves) {
          double* to = w + (p.component - plan.masters - cluster.first) * ld + angles + k;
          to[0] += turning[p.at];
          if (p.pair) to[ld] += turning[p.at + 1];
        }
      }
      for (int i = 1; i < size; ++i)
        for (int k = 0; k < i; ++k) lanes::add(-factor[i * size + k], w + k * ld, w + i * ld, ld);
      for (int i = size - 1; i >= 0; --i) {
        double* row = w + i * ld;
        lanes::scale(-factor[i * size + i], row, ld);
        for (int k = i + 1; k < size; ++k) lanes::add(-factor[k * size + i], w + k * ld, row, ld);
      }
      factor += size * size;
    }
    for (const FloatingPlan::Input& in : plan.inputs) {
      if (!in.slave || !in.pair) continue;
      const Rot2<double>& R = kin.body[static_cast<size_t>(in.body)].R;
      double *first = w_.data() + (in.at - plan.masters) * ld, *second = first + ld;
      lanes::turn(R.c, R.s, first, second, ld);
      first[angles + in.link] += x_[static_cast<size_t>(in.at) + 1];
      second[angles + in.link] -= x_[static_cast<size_t>(in.at)];
    }
  }

  // Motion of the bodies per independent speed.
  void bodies(const Kin& kin, const double* basis, int stride) noexcept {
    const auto* columns = kin.column.data();
    size_t i = 0;
    for (const rigid::Link& j : kin.link) {
      ++i;
      const auto parent = static_cast<size_t>(j.parent);
      const Vec2<double>& d = kin.body[i].d;
      Four w = body_om_[parent], x = body_vx_[parent] - w * all(d.y),
           y = body_vy_[parent] + w * all(d.x);
      for (int k = j.v; k < j.v + j.nv; ++k) {
        Four e = {};
        for (int z = 0; z < nz_; ++z) e[z] = basis[z * stride + k];
        w += e * all(columns[k].w);
        x += e * all(columns[k].v.x);
        y += e * all(columns[k].v.y);
      }
      body_om_[i] = w;
      body_vx_[i] = x;
      body_vy_[i] = y;
    }
  }
  void add_outer(const Four& momentum, const Four& rate) noexcept {
    for (int z = 0; z < nz_; ++z) zz_[z] += momentum * all(rate[z]);
  }
  // Bodies that are no beams.
  void rigid(const Kin& kin, const Const& c) noexcept {
    for (const int i : plan_.solids) {
      const auto at = static_cast<size_t>(i) + 1;
      const auto& k = c.bodies[static_cast<size_t>(i)];
      const Vec2<double> com = rotate(kin.body[at].R, k.com);
      const Four w = body_om_[at], x = body_vx_[at] - w * all(com.y),
                 y = body_vy_[at] + w * all(com.x);
      add_outer(all(k.mass) * x, x);
      add_outer(all(k.mass) * y, y);
      add_outer(all(k.inertia) * w, w);
    }
  }

  void link(const Kin& kin, const Const& c, size_t index, const Rot2<double>* relative) noexcept {
    const FloatingPlan& plan = plan_;
    const FloatingPlan::LinkPlan& l = plan.links[index];
    const LinkMatrices<double>& m = c.reduced.links[index];
    const LinkState<double>& s = kin.reduced.links[index];
    const auto body = static_cast<size_t>(l.body);
    const Rot2<double>& R = kin.body[body].R;
    const double* a = s.a.data();
    if (!l.foreign.empty()) {
      l.evaluate(relative, turned_.data());
      const int *to = l.to.data(), count = static_cast<int>(l.to.size());
      double* z = z_.data();
      const double* from = turned_.data();
      for (int i = 0; i < count; ++i) z[to[i]] += from[i];
    }
    // Link axes. Rates of the foreign pairs per independent speed, then momenta.
    const Four w = body_om_[body], gx = body_vx_[body], gy = body_vy_[body],
               vx = all(R.c) * gx + all(R.s) * gy, vy = all(R.c) * gy - all(R.s) * gx;
    const double ox = s.moment.x, oy = s.moment.y;
    Four px = all(m.mass) * vx - all(oy) * w, py = all(m.mass) * vy + all(ox) * w,
         turning = all(s.inertia) * w + all(ox) * vy - all(oy) * vx;
    const double *sx = m.Sx.data(), *sy = m.Sy.data(), *spin = s.spin.data();
    Four* q = d_.data();
    for (int j = 0; j < m.n; ++j) q[j] = all(sx[j]) * vx + all(sy[j]) * vy + all(spin[j]) * w;
    const auto each = [&](const auto& f) {
      for (const FloatingPlan::Place& p : l.foreign) {
        const Four turn = body_om_[static_cast<size_t>(p.owner_body)] - w;
        f(p.at, -all(a[p.at + 1]) * turn);
        f(p.at + 1, all(a[p.at]) * turn);
        if (p.modal < 0) continue;
        f(p.modal, -all(a[p.modal + 1]) * turn);
        f(p.modal + 1, all(a[p.modal]) * turn);
      }
    };
    each([&](int k, const Four& rate) {
      px += all(sx[k]) * rate;
      py += all(sy[k]) * rate;
      turning += all(spin[k]) * rate;
      const double* column = m.M.data() + k * m.ld;
      for (int j = 0; j < m.n; ++j) q[j] += all(column[j]) * rate;
    });
    add_outer(px, vx);
    add_outer(py, vy);
    add_outer(turning, w);
    each([&](int k, const Four& rate) { add_outer(q[k], rate); });
    // Bᵀ q
    Four *to = lane_.data(), *amplitude = to + plan.masters;
    for (const FloatingPlan::Place& p : l.own) {
      to[p.lane] += q[p.at];
      if (p.pair) to[p.lane + 1] += q[p.at + 1];
    }
    for (int i = 0; i < plan.modes; ++i) amplitude[i] += q[l.nx + i];
    for (const FloatingPlan::Place& p : l.foreign) {
      const Rot2<double> r = *relative++;
      const auto back = [&](int at, Four& x, Four& y) {
        x = all(r.c) * q[at] + all(r.s) * q[at + 1];
        y = all(r.c) * q[at + 1] - all(r.s) * q[at];
      };
      Four x, y;
      back(p.at, x, y);
      to[p.lane] += x;
      to[p.lane + 1] += y;
      if (p.modal < 0) continue;
      back(p.modal, x, y);
      const double* shape = c.reduced.shared.data() + p.shape;
      for (int i = 0; i < plan.modes; ++i)
        amplitude[i] += all(shape[i]) * x + all(shape[plan.modes + i]) * y;
    }
  }

  // M̃ = M + Wᵀ U + Uᵀ W, U = M_y· + ½ M_yy W.
  void eliminate() noexcept {
    const FloatingPlan& plan = plan_;
    const int ldb = plan.ldb, ldw = plan.ldw, nb = plan.nb;
    double *u = u_.data(), *z = z_.data();
    const double* w = w_.data();
    for (int y = 0; y < plan.slaves; ++y) {
      Four sum = {};
      for (size_t k = 0; k < plan.links.size(); ++k)
        sum += all(w[y * ldw + ldb + static_cast<int>(k)]) *
               body_om_[static_cast<size_t>(plan.links[k].body)];
      wz_[static_cast<size_t>(y)] = sum;
    }
    for (const FloatingPlan::ClusterPlan& cluster : plan.clusters) {
      const int first = cluster.first, size = cluster.size;
      for (int y = first; y < first + size; ++y) {
        const double *from = z + (nb + y) * plan.ldz, *yy = from + ldb + first;
        double* to = u + y * ldb;
        lanes::clear(to, ldb);
        lanes::add_product(w + first * ldw, ldb, ldw, size, yy, to);
        lanes::combine(1, from, 0.5, to, to, ldb);
        Four sum = {};
        for (int k = 0; k < size; ++k) sum += all(yy[k]) * wz_[static_cast<size_t>(first + k)];
        uz_[static_cast<size_t>(y)] = lane_[static_cast<size_t>(nb + y)] + 0.5 * sum;
      }
      for (int y = first; y < first + size; ++y) {
        const double *wy = w + y * ldw, *uy = u + y * ldb;
        const Four wz = wz_[static_cast<size_t>(y)], uz = uz_[static_cast<size_t>(y)];
        for (const int j : cluster.masters) {
          const int from = j / lanes::kWidth * lanes::kWidth;
          double* to = z + j * plan.ldz + from;
          lanes::add_two(wy[j], uy + from, uy[j], wy + from, to, ldb - from);
          lane_[static_cast<size_t>(j)] += all(wy[j]) * uz + all(uy[j]) * wz;
        }
        for (const int j : cluster.others) lane_[static_cast<size_t>(j)] += all(uy[j]) * wz;
        add_outer(uz, wz);
        add_outer(wz, uz);
      }
    }
  }

  FloatingPlan plan_;
  int nz_ = 0;
  std::vector<double> w_, u_, z_, rate_, force_, x_, x_dot_, x_ddot_, slave_force_, turned_;
  std::vector<Four> d_, lane_, wz_, uz_, body_vx_, body_vy_, body_om_;
  Four zz_[lanes::kWidth] = {};
  std::vector<Rot2<double>> relative_;
  std::vector<double> system_, solution_, pivots_;
};

}  // namespace panto::erls
