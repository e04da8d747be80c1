#include "panto/mechanics/erls/floating.hpp"

#include <algorithm>
#include <cstring>

namespace panto::erls {

namespace {

using lanes::Four;

struct LinkMotion {
  double w, al, bx, by;  // bx, by: acceleration of the origin less gravity, link axes
};

double on_speed(int dof, const double* r, const double* added) { return r[dof] - added[dof]; }
Four all(double e) { return Four{e, e, e, e}; }
Four load(const double* x) {
  Four out;
  std::memcpy(&out, x, sizeof(Four));
  return out;
}
void store(const Four& e, double* x) { std::memcpy(x, &e, sizeof(Four)); }
// y += x, any number.
void add_all(const double* x, double* y, int n) {
  if (n == lanes::kWidth) return store(load(y) + load(x), y);
  int i = 0;
  for (; i + lanes::kWidth <= n; i += lanes::kWidth) store(load(y + i) + load(x + i), y + i);
  for (; i < n; ++i) y[i] += x[i];
}
// y += s x + t z
void add_both(double s, const double* x, double t, const double* z, double* y, int n) {
  if (n == lanes::kWidth) return store(load(y) + (all(s) * load(x) + all(t) * load(z)), y);
  int i = 0;
  for (; i + lanes::kWidth <= n; i += lanes::kWidth)
    store(load(y + i) + (all(s) * load(x + i) + all(t) * load(z + i)), y + i);
  for (; i < n; ++i) y[i] += s * x[i] + t * z[i];
}

template <int B>
Wrench<Planar, double> link_forces(const LinkMatrices<double>& m, const LinkState<double>& l,
                                   const LinkMotion& o, double* to) noexcept {
  const double *a = l.a.data(), *a_dot = l.a_dot.data(), *a_ddot = l.a_ddot.data(), w2 = o.w * o.w,
               two_w = 2 * o.w;
  Four f[B], sums[3] = {};
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
  const double *mass = m.M.data(), *stiffness = m.K.data(), *turning = m.G.data(),
               *damping = m.damped ? m.C.data() : nullptr;
  const int n = m.n;
  if (damping) {
    for (int j = 0; j < n; ++j) {
      const Four e0 = all(a_ddot[j]), e1 = all(a[j]), e3 = all(a_dot[j]), e2 = two_w * e3;
      for (int b = 0; b < B; ++b) {
        const int at = lanes::kWidth * (j * B + b);
        f[b] += load(mass + at) * e0;
        f[b] += load(stiffness + at) * e1;
        f[b] += load(turning + at) * e2;
        f[b] += load(damping + at) * e3;
      }
    }
  } else {
    for (int j = 0; j < n; ++j) {
      const Four e0 = all(a_ddot[j]), e1 = all(a[j]), e2 = all(two_w * a_dot[j]);
      for (int b = 0; b < B; ++b) {
        const int at = lanes::kWidth * (j * B + b);
        f[b] += load(mass + at) * e0;
        f[b] += load(stiffness + at) * e1;
        f[b] += load(turning + at) * e2;
      }
    }
  }
  for (int b = 0; b < B; ++b) std::memcpy(to + lanes::kWidth * b, &f[b], sizeof(Four));
  const double ox = l.moment.x, oy = l.moment.y;
  return {lanes::detail::sum_of(sums[0]) + o.al * l.inertia + ox * o.by - oy * o.bx,
          {lanes::detail::sum_of(sums[1]) + m.mass * o.bx - o.al * oy - w2 * ox,
           lanes::detail::sum_of(sums[2]) + m.mass * o.by + o.al * ox - w2 * oy}};
}

// q = v_x S_x + v_y S_y + ω h + Σ D M of a link's foreign components.
template <int B>
void momenta(const LinkMatrices<double>& m, const double* spin, const int* component, int count,
             const double* speed, double* q) noexcept {
  Four sum[B];
  for (int b = 0; b < B; ++b) {
    const int at = lanes::kWidth * b;
    sum[b] = all(speed[0]) * load(m.Sx.data() + at) + all(speed[1]) * load(m.Sy.data() + at) +
             all(speed[2]) * load(spin + at);
  }
  const double* mass = m.M.data();
  for (int k = 0; k < count; ++k) {
    const double* column = mass + component[k] * (B * lanes::kWidth);
    const Four e = all(speed[3 + k]);
    for (int b = 0; b < B; ++b) sum[b] += e * load(column + lanes::kWidth * b);
  }
  for (int b = 0; b < B; ++b) store(sum[b], q + lanes::kWidth * b);
}

}  // namespace

bool FloatingLinks::fits(const ReducedLayout& layout) {
  return layout.active && layout.masters + layout.modes <= kWidest &&
         std::all_of(layout.links.begin(), layout.links.end(),
                     [](const LinkLayout& l) { return l.n <= kWidest; });
}

std::shared_ptr<const FloatingPlan> FloatingLinks::baked(const ReducedConstants<double>& c) const {
  auto plan = std::make_shared<FloatingPlan>(*plan_);
  plan->bake(c);
  return plan;
}

FloatingLinks::FloatingLinks(const Model& model) : plan_(std::make_shared<FloatingPlan>(model)) {
  const FloatingPlan& p = *plan_;
  const auto room = [](int n) { return std::vector<double>(static_cast<size_t>(n), 0.0); };
  w_ = room(p.ldw * p.slaves);
  u_ = room(p.ldb * p.slaves);
  z_ = room(p.ldz * (kSpeeds + p.nb + p.slaves) + lanes::kWidth);
  rate_ = force_ = room(p.ldw);
  x_ = x_dot_ = x_ddot_ = slave_force_ = room(p.masters + p.slaves);
  turned_ = room(p.most_entries);
  body_ = room(3 * lanes::kWidth * static_cast<int>(model.bodies.size() + 1));
  outers_ = 2 * lanes::padded(p.slaves) + lanes::kWidth * static_cast<int>(p.solids.size());
  for (const FloatingPlan::LinkPlan& l : p.links)
    outers_ += lanes::padded(3 + static_cast<int>(l.turning.size()));
  momentum_ = speed_ = room(outers_ * kSpeeds);
  link_turn_ = room((p.ldw - p.ldb) * kSpeeds);
  wz_ = uz_ = room(lanes::padded(p.slaves) * kSpeeds);
  relative_.resize(static_cast<size_t>(p.relatives));
  const int n = p.nb + kSpeeds, ld = lanes::padded(n);
  system_ = room(ld * n + 2 * lanes::kWidth);
  solution_ = room(ld);
  pivots_ = room(3 * n);
}

void FloatingLinks::place(const Kin& kin) noexcept {
  const ReducedState<double>& s = kin.reduced;
  const double* x = s.x.data();
  for (const FloatingPlan::Input& in : plan_->inputs) {
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
  for (const FloatingPlan::LinkPlan& l : plan_->links)
    for (const FloatingPlan::Place& p : l.foreign)
      *relative++ = compose_reverse(kin.body[static_cast<size_t>(p.owner_body)].R,
                                    kin.body[static_cast<size_t>(l.body)].R);
  dependence(kin);
}

void FloatingLinks::move(Kin& kin, const Const& c, const double* v) noexcept {
  ReducedState<double>& s = kin.reduced;
  const FloatingPlan& plan = *plan_;
  double *rate = rate_.data(), *x_dot = x_dot_.data();
  for (const FloatingPlan::Input& in : plan.inputs) {
    if (in.slave) continue;
    const double* x = &x_[static_cast<size_t>(in.at)];
    if (in.pair) {
      const auto& b = kin.body[static_cast<size_t>(in.body)];
      const double ux = v[plan.master_dof[static_cast<size_t>(in.at)]],
                   uy = v[plan.master_dof[static_cast<size_t>(in.at) + 1]];
      x_dot[in.at] = rate[in.at] = b.R.c * ux + b.R.s * uy + b.w * x[1];
      x_dot[in.at + 1] = rate[in.at + 1] = b.R.c * uy - b.R.s * ux - b.w * x[0];
    } else {
      x_dot[in.at] = rate[in.at] = v[plan.master_dof[static_cast<size_t>(in.at)]];
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

void FloatingLinks::accelerate(Kin& kin, const Const& c) noexcept {
  ReducedState<double>& s = kin.reduced;
  const FloatingPlan& plan = *plan_;
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

void FloatingLinks::forces(Kin& kin, const Const& c, Wrenches& wrench) const noexcept {
  ReducedState<double>& s = kin.reduced;
  const size_t first = kin.model->bodies.size() + 1;
  for (const int node : s.used) wrench[first + static_cast<size_t>(node)] = {};
  for (size_t k = 0; k < s.links.size(); ++k) {
    const LinkMatrices<double>& m = c.reduced.links[k];
    const auto body = static_cast<size_t>(plan_->links[k].body);
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

void FloatingLinks::gather(Kin& kin, const Const& c, Wrenches& wrench, const double* r,
                           const double* added) noexcept {
  ReducedState<double>& s = kin.reduced;
  const FloatingPlan& plan = *plan_;
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
    const double fx = on_speed(plan.master_dof[static_cast<size_t>(in.at)], r, added);
    if (in.pair) {
      const double fy = on_speed(plan.master_dof[static_cast<size_t>(in.at) + 1], r, added);
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
  for (int i = 0; i < plan.modes; ++i) amplitude[i] = on_speed(plan.first_mode + i, r, added);
  const Rot2<double>* relative = relative_.data();
  for (size_t k = 0; k < plan.links.size(); ++k) {
    const FloatingPlan::LinkPlan& l = plan.links[k];
    const double *f = s.force.link[k].data(), *a = s.links[k].a.data();
    for (const FloatingPlan::Place& p : l.own) {
      on[p.component] += f[p.at];
      if (p.pair) on[p.component + 1] += f[p.at + 1];
    }
    add_all(f + l.nx, amplitude, plan.modes);
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
        add_both(gx, shape, gy, shape + plan.modes, amplitude, plan.modes);
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

bool FloatingLinks::factor(const Kin& kin, const Const& c, const double* basis, int stride, int nz,
                           double tolerance) noexcept {
  nz_ = nz;
  const FloatingPlan& plan = *plan_;
  const int nb = plan.nb, ldz = plan.ldz;
  bodies(kin, basis, stride);
  double* z = z_.data();
  lanes::clear(z, nz * ldz);
  lanes::copy(plan.constant.data(), z + kSpeeds * ldz, static_cast<int>(plan.constant.size()));
  outer_ = 0;
  rigid(kin, c);
  const Rot2<double>* relative = relative_.data();
  for (size_t k = 0; k < plan.links.size(); ++k) {
    link(kin, c, k, relative);
    relative += plan.links[k].foreign.size();
  }
  switch (plan.ldb / lanes::kWidth) {
    case 1:
      eliminate<1>();
      break;
    case 2:
      eliminate<2>();
      break;
    case 3:
      eliminate<3>();
      break;
    default:
      eliminate<4>();
      break;
  }
  // Columns (independent joints, b), rows alike.
  const int n = nb + nz, ld = lanes::padded(n);
  double* system = system_.data();
  for (int j = 0; j < n; ++j) {
    double* to = system + j * ld;
    const double* from = z + (j < nz ? j : kSpeeds - nz + j) * ldz;
    // Whole groups: what is beyond the last row is zero or comes with the next column.
    for (int i = 0; i < nb; i += lanes::kWidth) store(load(from + i), to + nz + i);
    for (int i = n; i < ld; ++i) to[i] = 0;
  }
  for (int j = 0; j < nz; ++j)
    for (int i = j; i < nz; ++i)
      system[j * ld + i] = lanes::dot(&momentum_[static_cast<size_t>(i * outers_)],
                                      &speed_[static_cast<size_t>(j * outers_)], outers_);
  return lanes::factor(system, n, ld, tolerance, pivots_.data());
}

void FloatingLinks::solve(const Kin& kin, const double* r, const double* basis, int stride,
                          int joints, double* a) noexcept {
  const FloatingPlan& plan = *plan_;
  const int nb = plan.nb, nz = nz_, n = nb + nz, ld = lanes::padded(n);
  double *z = solution_.data(), *x = z + nz;
  for (int k = 0; k < nz; ++k) {
    const double* column = basis + k * stride;
    double sum = 0;
    for (int i = 0; i < joints; ++i) sum -= column[i] * r[i];
    z[k] = sum;
  }
  for (int i = 0; i < nb; ++i) x[i] = -force_[static_cast<size_t>(i)];
  for (int i = n; i < ld; ++i) z[i] = 0;
  lanes::solve(system_.data(), n, ld, pivots_.data(), z);
  for (int k = 0; k < nz; ++k) {
    const double *column = basis + k * stride, e = z[k];
    for (int i = 0; i < joints; ++i) a[i] += column[i] * e;
  }
  for (int i = 0; i < plan.modes; ++i) a[plan.first_mode + i] = x[plan.masters + i];
  for (const FloatingPlan::Input& in : plan.inputs) {
    if (in.slave) continue;
    if (!in.pair) {
      a[plan.master_dof[static_cast<size_t>(in.at)]] = x[in.at];
      continue;
    }
    const auto& b = kin.body[static_cast<size_t>(in.body)];
    const double* turn = &body_[static_cast<size_t>(in.body) * 3 * lanes::kWidth];
    double al = b.al;
    for (int k = 0; k < nz; ++k) al += turn[k] * z[k];
    const double *e = &x_[static_cast<size_t>(in.at)], *rate = &x_dot_[static_cast<size_t>(in.at)],
                 w2 = b.w * b.w, two_w = 2 * b.w;
    const double ex = x[in.at] - al * e[1] - two_w * rate[1] - w2 * e[0],
                 ey = x[in.at + 1] + al * e[0] + two_w * rate[0] - w2 * e[1];
    const int* dof = &plan.master_dof[static_cast<size_t>(in.at)];
    a[dof[0]] = b.R.c * ex - b.R.s * ey;
    a[dof[1]] = b.R.s * ex + b.R.c * ey;
  }
}

// W = −A⁻¹ ∂F/∂(masters, angles), rows of slaves, all in owners' axes.
void FloatingLinks::dependence(const Kin& kin) noexcept {
  const ReducedState<double>& s = kin.reduced;
  const FloatingPlan& plan = *plan_;
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

// Motion of the bodies per independent speed: ω, v_x, v_y.
void FloatingLinks::bodies(const Kin& kin, const double* basis, int stride) noexcept {
  const auto* columns = kin.column.data();
  const auto* body = kin.body.data();
  double *all_bodies = body_.data(), *to = all_bodies;
  for (const rigid::Link& j : kin.link) {
    to += 3 * lanes::kWidth;
    ++body;
    const double* parent = all_bodies + 3 * lanes::kWidth * j.parent;
    Four w = load(parent), x = load(parent + lanes::kWidth) - w * all(body->d.y),
         y = load(parent + 2 * lanes::kWidth) + w * all(body->d.x);
    for (int k = j.v; k < j.v + j.nv; ++k) {
      double lane[lanes::kWidth] = {};
      for (int z = 0; z < nz_; ++z) lane[z] = basis[z * stride + k];
      const Four e = load(lane);
      w += e * all(columns[k].w);
      x += e * all(columns[k].v.x);
      y += e * all(columns[k].v.y);
    }
    store(w, to);
    store(x, to + lanes::kWidth);
    store(y, to + 2 * lanes::kWidth);
  }
}

// Bodies that are no beams.
void FloatingLinks::rigid(const Kin& kin, const Const& c) noexcept {
  for (const int i : plan_->solids) {
    const auto& k = c.bodies[static_cast<size_t>(i)];
    const Vec2<double> com = rotate(kin.body[static_cast<size_t>(i) + 1].R, k.com);
    const double* own = &body_[static_cast<size_t>(i + 1) * 3 * lanes::kWidth];
    for (int z = 0; z < nz_; ++z, ++own) {
      double *speed = &speed_[static_cast<size_t>(z * outers_ + outer_)],
             *momentum = &momentum_[static_cast<size_t>(z * outers_ + outer_)];
      speed[2] = own[0];
      speed[0] = own[lanes::kWidth] - own[0] * com.y;
      speed[1] = own[2 * lanes::kWidth] + own[0] * com.x;
      momentum[0] = k.mass * speed[0];
      momentum[1] = k.mass * speed[1];
      momentum[2] = k.inertia * speed[2];
    }
    outer_ += lanes::kWidth;
  }
}

// Its part of the columns of the independent joints, and of the others what turns with foreign pairs.
void FloatingLinks::link(const Kin& kin, const Const& c, size_t index,
                         const Rot2<double>* relative) noexcept {
  const FloatingPlan& plan = *plan_;
  const FloatingPlan::LinkPlan& l = plan.links[index];
  const LinkMatrices<double>& m = c.reduced.links[index];
  const LinkState<double>& s = kin.reduced.links[index];
  const Rot2<double> R = kin.body[static_cast<size_t>(l.body)].R;
  const double *a = s.a.data(), *sx = m.Sx.data(), *sy = m.Sy.data(), *spin = s.spin.data();
  if (!l.foreign.empty()) {
    l.evaluate(relative, turned_.data());
    const int *to = l.to.data(), count = static_cast<int>(l.to.size());
    double* z = z_.data() + kSpeeds * plan.ldz;
    const double* from = turned_.data();
    for (int i = 0; i < count; ++i) z[to[i]] += from[i];
  }
  const int *component = l.turning.data(), count = static_cast<int>(l.turning.size()),
            modes = plan.modes, groups = m.ld / lanes::kWidth;
  const double ox = s.moment.x, oy = s.moment.y;
  const double* own = &body_[static_cast<size_t>(l.body) * 3 * lanes::kWidth];
  for (int z = 0; z < nz_; ++z, ++own) {
    // Link axes: velocity of the origin, ω, rates of foreign components.
    double *speed = &speed_[static_cast<size_t>(z * outers_ + outer_)],
           *momentum = &momentum_[static_cast<size_t>(z * outers_ + outer_)], q[kWidest];
    const double w = own[0], gx = own[lanes::kWidth], gy = own[2 * lanes::kWidth],
                 vx = R.c * gx + R.s * gy, vy = R.c * gy - R.s * gx;
    double px = m.mass * vx - oy * w, py = m.mass * vy + ox * w,
           turn = s.inertia * w + ox * vy - oy * vx;
    speed[0] = vx;
    speed[1] = vy;
    speed[2] = w;
    link_turn_[static_cast<size_t>(z * (plan.ldw - plan.ldb)) + index] = w;
    double* d = speed + 3;
    for (const FloatingPlan::Place& p : l.foreign) {
      const double rate = body_[static_cast<size_t>(p.owner_body * 3 * lanes::kWidth + z)] - w;
      *d++ = -a[p.at + 1] * rate;
      *d++ = a[p.at] * rate;
      if (p.modal < 0) continue;
      *d++ = -a[p.modal + 1] * rate;
      *d++ = a[p.modal] * rate;
    }
    switch (groups) {
      case 1:
        momenta<1>(m, spin, component, count, speed, q);
        break;
      case 2:
        momenta<2>(m, spin, component, count, speed, q);
        break;
      case 3:
        momenta<3>(m, spin, component, count, speed, q);
        break;
      default:
        momenta<4>(m, spin, component, count, speed, q);
        break;
    }
    for (int k = 0; k < count; ++k) {
      const int at = component[k];
      const double rate = speed[3 + k];
      px += sx[at] * rate;
      py += sy[at] * rate;
      turn += spin[at] * rate;
      momentum[3 + k] = q[at];
    }
    momentum[0] = px;
    momentum[1] = py;
    momentum[2] = turn;
    // Bᵀ q
    double *to = z_.data() + z * plan.ldz, *amplitude = to + plan.masters;
    for (const FloatingPlan::Place& p : l.own) {
      to[p.row] += q[p.at];
      if (p.pair) to[p.row + 1] += q[p.at + 1];
    }
    add_all(q + l.nx, amplitude, modes);
    const Rot2<double>* turned = relative;
    for (const FloatingPlan::Place& p : l.foreign) {
      const Rot2<double> r = *turned++;
      const double x = q[p.at], y = q[p.at + 1];
      to[p.row] += r.c * x + r.s * y;
      to[p.row + 1] += r.c * y - r.s * x;
      if (p.modal < 0) continue;
      const double mx = q[p.modal], my = q[p.modal + 1];
      const double* shape = c.reduced.shared.data() + p.shape;
      add_both(r.c * mx + r.s * my, shape, r.c * my - r.s * mx, shape + modes, amplitude, modes);
    }
  }
  outer_ += lanes::padded(3 + count);
}

// M̃ = M + Wᵀ U + Uᵀ W, U = M_y· + ½ M_yy W; B groups of rows of b.
template <int B>
void FloatingLinks::eliminate() noexcept {
  const FloatingPlan& plan = *plan_;
  constexpr int ldb = B * lanes::kWidth;
  const int ldw = plan.ldw, nz = nz_, ldy = lanes::padded(plan.slaves), angles = ldw - ldb;
  double *u = u_.data(), *z = z_.data();
  const double* w = w_.data();
  for (int k = 0; k < nz; ++k)
    for (int y = 0; y < plan.slaves; ++y)
      wz_[static_cast<size_t>(k * ldy + y)] =
          lanes::dot(w + y * ldw + ldb, &link_turn_[static_cast<size_t>(k * angles)], angles);
  // to (b rows) += Σ_y p_y U_y + q_y W_y
  const auto add = [&](const FloatingPlan::ClusterPlan& cluster, const double* p, int p_stride,
                       const double* q, int q_stride, double* to) {
    Four sum[B];
    std::memcpy(sum, to, sizeof(sum));
    const double *uy = u + cluster.first * ldb, *wy = w + cluster.first * ldw;
    for (int y = 0; y < cluster.size; ++y, p += p_stride, q += q_stride, uy += ldb, wy += ldw) {
      const Four f = all(*p), g = all(*q);
      for (int b = 0; b < B; ++b) {
        sum[b] += f * load(uy + lanes::kWidth * b);
        sum[b] += g * load(wy + lanes::kWidth * b);
      }
    }
    std::memcpy(to, sum, sizeof(sum));
  };
  for (const FloatingPlan::ClusterPlan& cluster : plan.clusters) {
    const int first = cluster.first, size = cluster.size;
    for (int y = first; y < first + size; ++y) {
      const double *from = z + (kSpeeds + plan.nb + y) * plan.ldz, *yy = from + ldb + first;
      Four sum[B];
      std::memcpy(sum, from, sizeof(sum));
      for (int k = 0; k < size; ++k) {
        const Four e = all(0.5 * yy[k]);
        for (int b = 0; b < B; ++b) sum[b] += e * load(w + (first + k) * ldw + lanes::kWidth * b);
      }
      std::memcpy(u + y * ldb, sum, sizeof(sum));
      for (int k = 0; k < nz; ++k) {
        double half = 0;
        const double* other = &wz_[static_cast<size_t>(k * ldy + first)];
        for (int i = 0; i < size; ++i) half += yy[i] * other[i];
        uz_[static_cast<size_t>(k * ldy + y)] = z[k * plan.ldz + ldb + y] + 0.5 * half;
      }
    }
    for (const int j : cluster.masters)
      add(cluster, w + first * ldw + j, ldw, u + first * ldb + j, ldb,
          z + (kSpeeds + j) * plan.ldz);
    for (int k = 0; k < nz; ++k)
      add(cluster, &wz_[static_cast<size_t>(k * ldy + first)], 1,
          &uz_[static_cast<size_t>(k * ldy + first)], 1, z + k * plan.ldz);
  }
  for (int k = 0; k < nz; ++k) {
    const double *wk = &wz_[static_cast<size_t>(k * ldy)], *uk = &uz_[static_cast<size_t>(k * ldy)];
    double *momentum = &momentum_[static_cast<size_t>(k * outers_ + outer_)],
           *speed = &speed_[static_cast<size_t>(k * outers_ + outer_)];
    lanes::copy(uk, momentum, ldy);
    lanes::copy(wk, momentum + ldy, ldy);
    lanes::copy(wk, speed, ldy);
    lanes::copy(uk, speed + ldy, ldy);
  }
}

}  // namespace panto::erls
