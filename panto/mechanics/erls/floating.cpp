#include "panto/mechanics/erls/floating.hpp"

#include <algorithm>
#include <cstring>

namespace panto::erls {

namespace {

using lanes::Four;
constexpr int kBias = FloatingLinks::kJoints;  // its lane
constexpr Four kLast = {0, 0, 0, 1};

size_t at(int i) { return static_cast<size_t>(i); }
Four all(double e) { return Four{e, e, e, e}; }
Four load(const double* x) {
  Four out;
  std::memcpy(&out, x, sizeof(Four));
  return out;
}
void store(const Four& e, double* x) { std::memcpy(x, &e, sizeof(Four)); }

// f(groups) with the number as a constant.
template <class F>
void with_groups(int groups, const F& f) {
  switch (groups) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    default:
      return f.template operator()<4>();
  }
}

// f(n) with usual numbers, of slaves in a cluster of one pin and of two and of modes, as constants.
template <class F>
void with_size(int n, const F& f) {
  switch (n) {
    case 2:
      return f.template operator()<2>(2);
    case 4:
      return f.template operator()<4>(4);
    default:
      return f.template operator()<0>(n);
  }
}
// As their namesakes in detail.
template <int N>
void factorise(int n, double* a) noexcept {
  if constexpr (N == 0) {
    detail::factorise(n, a);
  } else {
    lanes::each<N>([&]<int I>() {
      double* row = a + I * N;
      lanes::each<I>(
          [&]<int J>() { lanes::each<J>([&]<int K>() { row[J] -= row[K] * a[J * N + K]; }); });
      double s = row[I];
      lanes::each<I>([&]<int J>() {
        const double l = row[J] * a[J * N + J];
        s -= l * row[J];
        row[J] = l;
      });
      row[I] = 1 / s;
    });
  }
}
template <int N>
void solve_factored(int n, const double* a, double* x) noexcept {
  if constexpr (N == 0) {
    detail::solve_factored(n, a, x);
  } else {
    lanes::each<N>([&]<int I>() { lanes::each<I>([&]<int K>() { x[I] -= a[I * N + K] * x[K]; }); });
    lanes::each<N>([&]<int J>() {
      constexpr int I = N - 1 - J;
      x[I] *= a[I * N + I];
      lanes::each<J>([&]<int K>() { x[I] -= a[(I + 1 + K) * N + I] * x[I + 1 + K]; });
    });
  }
}
// Rows w <- -(L D L^T)^-1 w, G groups of columns.
template <int G, int N>
void solve_rows(int n, const double* factor, double* w, int ld) noexcept {
  if constexpr (N == 0) {
    const auto add = [&](double e, int from, int to) {
      lanes::add(e, w + from * ld, w + to * ld, G * lanes::kWidth);
    };
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < i; ++k) add(-factor[i * n + k], k, i);
    for (int i = n - 1; i >= 0; --i) {
      lanes::scale(-factor[i * n + i], w + i * ld, G * lanes::kWidth);
      for (int k = i + 1; k < n; ++k) add(-factor[k * n + i], k, i);
    }
  } else {
    Four row[N][G];
    lanes::each<N>([&]<int I>() {
      lanes::each<G>([&]<int B>() { row[I][B] = load(w + I * ld + lanes::kWidth * B); });
      lanes::each<I>([&]<int K>() {
        const Four e = all(factor[I * N + K]);
        lanes::each<G>([&]<int B>() { row[I][B] -= e * row[K][B]; });
      });
    });
    lanes::each<N>([&]<int J>() {
      constexpr int I = N - 1 - J;
      const Four inverse = all(-factor[I * N + I]);
      lanes::each<G>([&]<int B>() { row[I][B] *= inverse; });
      lanes::each<J>([&]<int K>() {
        const Four e = all(factor[(I + 1 + K) * N + I]);
        lanes::each<G>([&]<int B>() { row[I][B] -= e * row[I + 1 + K][B]; });
      });
      lanes::each<G>([&]<int B>() { store(row[I][B], w + I * ld + lanes::kWidth * B); });
    });
  }
}

// h + G a, s1 + M_t a, G ȧ, K a + C ȧ.
template <int B, bool kDamped>
void weigh(const LinkMatrices<double>& m, const double* a, const double* a_dot, Four (&spin)[B],
           Four (&swing)[B], Four (&turning)[B], Four (&force)[B]) noexcept {
  lanes::each<B>([&]<int I>() {
    spin[I] = load(m.h.data() + lanes::kWidth * I);
    swing[I] = load(m.s1.data() + lanes::kWidth * I);
    turning[I] = force[I] = Four{};
  });
  const double *g = m.G.data(), *mass = m.Mt.data(), *k = m.K.data(), *c = m.C.data();
  const double* const end = a + m.n;
  for (size_t from = 0; a < end; ++a, ++a_dot, from += B * lanes::kWidth) {
    const Four e = all(*a), rate = all(*a_dot);
    lanes::each<B>([&]<int I>() {
      constexpr int kPlace = lanes::kWidth * I;
      const Four column = load(g + from + kPlace);
      spin[I] += column * e;
      turning[I] += column * rate;
      swing[I] += load(mass + from + kPlace) * e;
      force[I] += load(k + from + kPlace) * e;
      if constexpr (kDamped) force[I] += load(c + from + kPlace) * rate;
    });
  }
}

// S_x v_x + S_y v_y + h ω + Σ M d over what moves: momenta of a per independent joint; in the last lane, with accelerations, forces, f added.
template <int C>
void momenta(const LinkMatrices<double>& m, const double* spin, const double* f, const int* moving,
             const Four* d, const Four& vx, const Four& vy, const Four& w, Four* out) noexcept {
  const double* column[C > 0 ? C : 1];
  for (int k = 0; k < C; ++k) column[k] = m.M.data() + moving[k] * m.ld;
  const double *sx = m.Sx.data(), *sy = m.Sy.data();
  const auto row = [&](int i) {
    Four sum = all(f[i]) * kLast;
    sum += all(sx[i]) * vx;
    sum += all(sy[i]) * vy;
    sum += all(spin[i]) * w;
    lanes::each<C>([&]<int K>() { sum += all(column[K][i]) * d[K]; });
    out[i] = sum;
  };
  for (int i = 0; i < m.n; i += 2) {  // an odd number is padded
    row(i);
    row(i + 1);
  }
}

// Entries at the terms κ to where they stand.
template <int T>
void evaluate(const FloatingPlan::LinkPlan& l, const Four* kappa, double* z) noexcept {
  const double* table = l.table.data();
  const int *to = l.to.data(), *const added = to + l.sets, *const end = to + l.to.size();
  Four known[T > 0 ? T : 1];
  lanes::each<T>([&]<int I>() { known[I] = kappa[I]; });
  const auto next = [&] {
    Four sum = load(table);
    table += lanes::kWidth;
    lanes::each<T>([&]<int I>() { sum += load(table + lanes::kWidth * I) * known[I]; });
    const int terms = T > 0 ? T : l.terms();
    for (int t = T; t < terms; ++t) sum += load(table + lanes::kWidth * t) * kappa[t];
    table += terms * lanes::kWidth;
    return sum;
  };
  for (; to < added; to += lanes::kWidth) {
    const Four e = next();
    for (int k = 0; k < lanes::kWidth; ++k) z[to[k]] = e[k];
  }
  for (; to < end; to += lanes::kWidth) {
    const Four e = next();
    for (int k = 0; k < lanes::kWidth; ++k) z[to[k]] += e[k];
  }
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

void FloatingLinks::use(std::shared_ptr<const FloatingPlan> plan) noexcept {
  plan_ = std::move(plan);
  std::copy(plan_->constant.begin(), plan_->constant.end(), z_.begin());
}

FloatingLinks::FloatingLinks(const Model& model)
    : plan_(std::make_shared<FloatingPlan>(model)), model_(model) {
  const FloatingPlan& p = *plan_;
  const auto room = [](int n) { return std::vector<double>(at(n), 0.0); };
  z_ = p.constant;
  w_ = room(p.ldw * lanes::padded(p.slaves));
  u_ = room(p.ldb * p.slaves);
  int factors = 0;
  for (const FloatingPlan::ClusterPlan& c : p.clusters) factors += c.size * c.size;
  factor_ = room(factors);
  x_ = x_dot_ = x_ddot_ = room(p.ldk);
  rate_ = room(p.ldw);
  turns_.resize(at(p.angles));
  links_.resize(p.links.size());
  body_.assign(3 * (model.bodies.size() + 1), Four{});
  on_.assign(at(p.ldk), Four{});
  pull_.assign(at(p.angles), Four{});
  eta_ = room(lanes::padded(p.modes));
  bias_ = room(p.ldb);
  directions_.assign(at(model.joint_nv()), Four{});
  system_ = room(p.ldb * (kJoints + p.nb));
  solution_ = room(p.ldb);
  pivots_ = inverse_ = room(kJoints + p.nb);
}

void FloatingLinks::clear_directions(int joints) noexcept {
  nz_ = joints;
  for (Four& e : directions_) e = Four{};
}

void FloatingLinks::place(const Kin& kin, const Const& c) noexcept {
  const FloatingPlan& plan = *plan_;
  const double* q = kin.q + model_.joint_nq() - model_.joint_nv();
  double* eta = eta_.data();
  std::copy_n(q + plan.first_mode, plan.modes, eta);
  known_ = false;
  for (const FloatingPlan::Input& in : plan.inputs) {
    if (in.slave) continue;
    double* to = &x_[at(in.at)];
    if (in.pair) {
      const Rot2<double>& R = kin.body[at(in.body)].R;
      const double ux = q[in.dof[0]], uy = q[in.dof[1]];
      to[0] = R.c * ux + R.s * uy;
      to[1] = R.c * uy - R.s * ux;
    } else {
      to[0] = q[in.dof[0]];
    }
  }
  for (const FloatingPlan::LinkPlan& l : plan.links) {
    if (l.foreign.empty()) continue;
    const size_t pairs = l.foreign.size();
    Four kappa[2 * FloatingPlan::kMostPairs * (FloatingPlan::kMostPairs + 1)], *term = kappa;
    for (const FloatingPlan::Foreign& f : l.foreign) {
      const Rot2<double> R = compose_reverse(kin.body[at(f.owner_body)].R, kin.body[at(l.body)].R);
      Turn& turn = turns_[at(f.angle)];
      turn.c = R.c;
      turn.s = R.s;
      *term++ = all(R.c);
      *term++ = all(R.s);
      *term++ = all(R.c * R.c);
      *term++ = all(R.c * R.s);
    }
    for (size_t i = 0; i < pairs; ++i)
      for (size_t j = i + 1; j < pairs; ++j) {
        const Turn &t = turns_[at(l.foreign[i].angle)], &u = turns_[at(l.foreign[j].angle)];
        *term++ = all(t.c * u.c);
        *term++ = all(t.c * u.s);
        *term++ = all(t.s * u.c);
        *term++ = all(t.s * u.s);
      }
    if (pairs == 1) {
      evaluate<4>(l, kappa, z_.data());
    } else if (pairs == 2) {
      evaluate<12>(l, kappa, z_.data());
    } else {
      evaluate<0>(l, kappa, z_.data());
    }
  }
  slaves();
  for (size_t k = 0; k < links_.size(); ++k) {
    const FloatingPlan::LinkPlan& l = plan.links[k];
    const LinkMatrices<double>& m = c.reduced.links[k];
    Link& link = links_[k];
    double* a = link.a;
    for (const FloatingPlan::Own& o : l.own) {
      a[o.at] = x_[at(o.component)];
      if (o.pair) a[o.at + 1] = x_[at(o.component) + 1];
    }
    for (int i = 0; i < plan.modes; i += lanes::kWidth) store(load(eta + i), a + l.nx + i);
    for (const FloatingPlan::Foreign& f : l.foreign) {
      const Turn& t = turns_[at(f.angle)];
      const double* x = &x_[at(f.component)];
      a[f.at] = t.c * x[0] - t.s * x[1];
      a[f.at + 1] = t.s * x[0] + t.c * x[1];
      if (f.modal < 0) continue;
      const Vec2<double> p = detail::shared_shape(c.reduced, plan.modes, f.shape / plan.modes, eta);
      a[f.modal] = t.c * p.x - t.s * p.y;
      a[f.modal + 1] = t.s * p.x + t.c * p.y;
    }
    for (const FloatingPlan::Foreign& f : l.foreign) {
      if (!f.slave) continue;
      Turn& t = turns_[at(f.angle)];
      const double* stiffness = m.k.data() + f.at * m.ldx;
      t.fx = lanes::dot(stiffness, a, m.ldx);
      t.fy = lanes::dot(stiffness + m.ldx, a, m.ldx);
    }
  }
  dependence(c);
  bodies(kin);
  along_joints(kin);
}

// Static slaves of all clusters, owners' axes, and the factors of their stiffness.
inline void FloatingLinks::slaves() noexcept {
  const FloatingPlan& plan = *plan_;
  double *factor = factor_.data(), *x = &x_[at(plan.ldb)];
  const double* row = z_.data() + plan.still;
  lanes::rows_times(row, plan.ldk, plan.slaves, x_.data(), plan.ldm, x);
  for (int i = 0; i < plan.slaves; i += lanes::kWidth) store(-load(x + i), x + i);
  for (const FloatingPlan::ClusterPlan& cluster : plan.clusters) {
    with_size(cluster.size, [&]<int N>(int n) {
      const int size = N > 0 ? N : n;
      const auto copy = [&](int i) {
        for (int j = 0; j <= i; ++j)
          factor[i * size + j] = row[i * plan.ldk + plan.ldb + cluster.first + j];
      };
      lanes::each<N>([&]<int I>() { copy(I); });
      for (int i = N; i < n; ++i) copy(i);
      factorise<N>(n, factor);
      solve_factored<N>(n, factor, x + cluster.first);
    });
    row += cluster.size * plan.ldk;
    factor += cluster.size * cluster.size;
  }
}

// W = −A⁻¹ ∂F/∂(masters, angles), F the static forces on the slaves.
inline void FloatingLinks::dependence(const Const& c) noexcept {
  const FloatingPlan& plan = *plan_;
  const int ld = plan.ldw;
  for (int i = 0; i < plan.slaves; ++i) {
    double* row = &w_[at(i * ld)];
    lanes::clear(row, plan.ldf);
    lanes::copy(z_.data() + plan.still + i * plan.ldk, row + plan.ldf, plan.ldm);
  }
  for (size_t k = 0; k < links_.size(); ++k) {
    const FloatingPlan::LinkPlan& l = plan.links[k];
    if (!l.follows && (l.foreign.empty() || l.slaves.empty())) continue;
    const LinkMatrices<double>& m = c.reduced.links[k];
    const Link& link = links_[k];
    for (const FloatingPlan::Foreign& f : l.foreign) {
      const auto column = [&](int component) -> double& {
        return w_[at((component - plan.ldb) * ld + f.angle)];
      };
      // k times the quarter turn of the pair.
      const double *k0 = m.k.data() + f.at * m.ldx, *k1 = k0 + m.ldx, *a = link.a + f.at;
      alignas(32) double g[kWidest];
      for (int i = 0; i < m.ldx; i += lanes::kWidth)
        store(all(a[0]) * load(k1 + i) - all(a[1]) * load(k0 + i), g + i);
      for (const FloatingPlan::Own& o : l.slaves) {
        column(o.component) += g[o.at];
        if (o.pair) column(o.component + 1) += g[o.at + 1];
      }
      for (const FloatingPlan::Foreign& s : l.foreign) {
        if (!s.slave) continue;
        const Turn& t = turns_[at(s.angle)];
        double gx = g[s.at], gy = g[s.at + 1];
        if (&s == &f) {
          gx += t.fy;
          gy -= t.fx;
        }
        column(s.component) += t.c * gx + t.s * gy;
        column(s.component + 1) += t.c * gy - t.s * gx;
      }
    }
  }
  const double* factor = factor_.data();
  for (const FloatingPlan::ClusterPlan& cluster : plan.clusters) {
    const int size = cluster.size;
    double* w = &w_[at(cluster.first * ld)];
    for (int from = 0; from < plan.ldf + plan.ldm; from += 4 * lanes::kWidth)
      with_groups(
          std::min(plan.ldf + plan.ldm - from, 4 * lanes::kWidth) / lanes::kWidth, [&]<int G>() {
            with_size(size, [&]<int N>(int n) { solve_rows<G, N>(n, factor, w + from, ld); });
          });
    factor += size * size;
  }
}

// Motion of the bodies per independent joint: ω, v_x, v_y.
inline void FloatingLinks::bodies(const Kin& kin) noexcept {
  const Four* directions = directions_.data();
  const auto* columns = kin.column.data();
  const auto* body = kin.body.data();
  Four *all_bodies = body_.data(), *to = all_bodies;
  for (const rigid::Link& j : kin.link) {
    to += 3;
    ++body;
    const Four* parent = all_bodies + 3 * j.parent;
    Four w = parent[0], x = parent[1] - w * all(body->d.y), y = parent[2] + w * all(body->d.x);
    for (int k = j.v; k < j.v + j.nv; ++k) {
      const Four& e = directions[k];
      w += e * all(columns[k].w);
      x += e * all(columns[k].v.x);
      y += e * all(columns[k].v.y);
    }
    to[0] = w;
    to[1] = x;
    to[2] = y;
  }
}

// Rates per independent joint: of the links, link axes, and of what moves in them while masters and amplitudes are held.
inline void FloatingLinks::along_joints(const Kin& kin) noexcept {
  const FloatingPlan& plan = *plan_;
  Four *rate = pull_.data(), *on = on_.data();  // rate: of the angles
  const Four* bodies_moving = body_.data();
  const Turn* turns = turns_.data();
  for (size_t k = 0; k < links_.size(); ++k) {
    const FloatingPlan::LinkPlan& l = plan.links[k];
    const Four* body = bodies_moving + 3 * l.body;
    const Rot2<double>& R = kin.body[at(l.body)].R;
    Link& link = links_[k];
    link.w = body[0];
    link.vx = all(R.c) * body[1] + all(R.s) * body[2];
    link.vy = all(R.c) * body[2] - all(R.s) * body[1];
    for (const FloatingPlan::Foreign& f : l.foreign)
      rate[f.angle] = bodies_moving[3 * f.owner_body] - body[0];
  }
  Four* slave = on + plan.ldb;
  for (const FloatingPlan::ClusterPlan& cluster : plan.clusters)
    for (int i = cluster.first; i < cluster.first + cluster.size; ++i) {
      const double* w = w_.data() + i * plan.ldw;
      Four sum = {};
      for (const int angle : cluster.angles) sum += all(w[angle]) * rate[angle];
      slave[i] = sum;
    }
  for (size_t k = 0; k < links_.size(); ++k) {
    const FloatingPlan::LinkPlan& l = plan.links[k];
    Link& link = links_[k];
    Four* d = link.d;
    for (const FloatingPlan::Foreign& f : l.foreign) {
      const Turn& t = turns[f.angle];
      const Four turn = rate[f.angle];
      Four x = -turn * all(link.a[f.at + 1]), y = turn * all(link.a[f.at]);
      if (f.slave) {
        const Four* e = on + f.component;
        x += all(t.c) * e[0] - all(t.s) * e[1];
        y += all(t.s) * e[0] + all(t.c) * e[1];
      }
      *d++ = x;
      *d++ = y;
      if (f.modal < 0) continue;
      *d++ = -turn * all(link.a[f.modal + 1]);
      *d++ = turn * all(link.a[f.modal]);
    }
    for (const FloatingPlan::Own& o : l.slaves) {
      *d++ = on[o.component];
      if (o.pair) *d++ = on[o.component + 1];
    }
  }
}

void FloatingLinks::lend(Kin& kin) const noexcept {
  ReducedState<double>& s = kin.reduced;
  for (const int node : s.used) {
    const int k = s.node_link[at(node)];
    std::vector<double>& a = s.links[at(k)].a;
    std::copy_n(links_[at(k)].a, a.size(), a.begin());
  }
}

void FloatingLinks::move(Kin& kin, const Const& c, const double* v) noexcept {
  const FloatingPlan& plan = *plan_;
  double *rate = rate_.data(), *x_dot = x_dot_.data();
  for (const FloatingPlan::Input& in : plan.inputs) {
    if (in.slave) continue;
    const double* x = &x_[at(in.at)];
    if (in.pair) {
      const auto& b = kin.body[at(in.body)];
      const double ux = v[in.dof[0]], uy = v[in.dof[1]];
      x_dot[in.at] = rate[plan.ldf + in.at] = b.R.c * ux + b.R.s * uy + b.w * x[1];
      x_dot[in.at + 1] = rate[plan.ldf + in.at + 1] = b.R.c * uy - b.R.s * ux - b.w * x[0];
    } else {
      x_dot[in.at] = rate[plan.ldf + in.at] = v[in.dof[0]];
    }
  }
  for (const FloatingPlan::LinkPlan& l : plan.links)
    for (const FloatingPlan::Foreign& f : l.foreign)
      rate[f.angle] = turns_[at(f.angle)].rate =
          kin.body[at(f.owner_body)].w - kin.body[at(l.body)].w;
  lanes::rows_times(w_.data(), plan.ldw, plan.slaves, rate, plan.ldf + plan.ldm, x_dot + plan.ldb);
  double* eta = eta_.data();
  std::copy_n(v + plan.first_mode, plan.modes, eta);
  for (size_t k = 0; k < links_.size(); ++k) {
    const FloatingPlan::LinkPlan& l = plan.links[k];
    const double* a = links_[k].a;
    double* to = links_[k].a_dot;
    for (const FloatingPlan::Own& o : l.own) {
      to[o.at] = x_dot[o.component];
      if (o.pair) to[o.at + 1] = x_dot[o.component + 1];
    }
    for (int i = 0; i < plan.modes; i += lanes::kWidth) store(load(eta + i), to + l.nx + i);
    for (const FloatingPlan::Foreign& f : l.foreign) {
      const Turn& t = turns_[at(f.angle)];
      const auto turned = [&](int i, double ex, double ey) {
        to[i] = t.c * ex - t.s * ey - t.rate * a[i + 1];
        to[i + 1] = t.s * ex + t.c * ey + t.rate * a[i];
      };
      turned(f.at, x_dot[f.component], x_dot[f.component + 1]);
      if (f.modal < 0) continue;
      const Vec2<double> p = detail::shared_shape(c.reduced, plan.modes, f.shape / plan.modes, eta);
      turned(f.modal, p.x, p.y);
    }
  }
  for (const int node : kin.reduced.moved) {
    const int k = kin.reduced.node_link[at(node)];
    std::vector<double>& to = kin.reduced.links[at(k)].a_dot;
    std::copy_n(links_[at(k)].a_dot, to.size(), to.begin());
  }
}

void FloatingLinks::accelerate(const Kin& kin, const Const& c) noexcept {
  const FloatingPlan& plan = *plan_;
  double* second = x_ddot_.data();
  lanes::clear(second + plan.ldb, lanes::padded(plan.slaves));
  const auto* bodies = kin.body.data();
  for (size_t k = 0; k < links_.size(); ++k) {
    const FloatingPlan::LinkPlan& l = plan.links[k];
    if (l.foreign.empty()) continue;
    const LinkMatrices<double>& m = c.reduced.links[k];
    Link& link = links_[k];
    const double *a = link.a, *a_dot = link.a_dot, *stiffness = m.k.data();
    Four* d = link.d;
    with_groups(m.ldx / lanes::kWidth, [&]<int B>() {
      Four product[B] = {};
      for (const FloatingPlan::Foreign& f : l.foreign) {
        Turn& t = turns_[at(f.angle)];
        t.second = bodies[f.owner_body].al - bodies[l.body].al;
        const double square = t.rate * t.rate, twice = 2 * t.rate;
        const auto turned = [&](int i) {
          d[0][kBias] = square * a[i] - twice * a_dot[i + 1] - t.second * a[i + 1];
          d[1][kBias] = square * a[i + 1] + twice * a_dot[i] + t.second * a[i];
          d += 2;
        };
        turned(f.at);
        const double *k0 = stiffness + f.at * m.ldx, *k1 = k0 + m.ldx;
        const Four x = all(d[-2][kBias]), y = all(d[-1][kBias]);
        for (int i = 0; i < B; ++i)
          product[i] += x * load(k0 + lanes::kWidth * i) + y * load(k1 + lanes::kWidth * i);
        if (f.modal >= 0) turned(f.modal);
      }
      if (!l.follows && l.slaves.empty()) return;
      // f'' = k a'' + ω̇ Ĵ f − ω² f + 2 ω Ĵ k a' with ω the rate of the link against the owner's
      alignas(32) double force[B * lanes::kWidth];
      for (int i = 0; i < B; ++i) store(product[i], force + lanes::kWidth * i);
      for (const FloatingPlan::Own& o : l.slaves) {
        second[o.component] -= force[o.at];
        if (o.pair) second[o.component + 1] -= force[o.at + 1];
      }
      for (const FloatingPlan::Foreign& f : l.foreign) {
        if (!f.slave) continue;
        const Turn& t = turns_[at(f.angle)];
        const double *k0 = stiffness + f.at * m.ldx, square = t.rate * t.rate, twice = 2 * t.rate,
                     rx = lanes::dot(k0, a_dot, B * lanes::kWidth),
                     ry = lanes::dot(k0 + m.ldx, a_dot, B * lanes::kWidth),
                     fx = force[f.at] + t.second * t.fy - square * t.fx + twice * ry,
                     fy = force[f.at + 1] - t.second * t.fx - square * t.fy - twice * rx;
        second[f.component] -= t.c * fx + t.s * fy;
        second[f.component + 1] -= t.c * fy - t.s * fx;
      }
    });
  }
  const double* factor = factor_.data();
  for (const FloatingPlan::ClusterPlan& cluster : plan.clusters) {
    with_size(cluster.size, [&]<int N>(int n) {
      solve_factored<N>(n, factor, second + plan.ldb + cluster.first);
    });
    factor += cluster.size * cluster.size;
  }
  for (size_t k = 0; k < links_.size(); ++k) {
    const FloatingPlan::LinkPlan& l = plan.links[k];
    Four* d = links_[k].d;
    for (const FloatingPlan::Foreign& f : l.foreign) {
      if (f.slave) {
        const Turn& t = turns_[at(f.angle)];
        const double ex = second[f.component], ey = second[f.component + 1];
        d[0][kBias] += t.c * ex - t.s * ey;
        d[1][kBias] += t.s * ex + t.c * ey;
      }
      d += f.modal >= 0 ? 4 : 2;
    }
    for (const FloatingPlan::Own& o : l.slaves) {
      (*d++)[kBias] = second[o.component];
      if (o.pair) (*d++)[kBias] = second[o.component + 1];
    }
  }
}

void FloatingLinks::forces(Kin& kin, const Const& c, Wrenches& wrench) noexcept {
  ReducedState<double>& s = kin.reduced;
  detail::clear_nodes(kin, wrench);
  for (size_t k = 0; k < links_.size(); ++k) {
    const FloatingPlan::LinkPlan& l = plan_->links[k];
    const LinkMatrices<double>& m = c.reduced.links[k];
    Link& link = links_[k];
    const auto body = at(l.body);
    const auto& b = kin.body[body];
    const Vec2<double> ag{b.a.x - c.gravity.x, b.a.y - c.gravity.y};
    link.vx[kBias] = b.R.c * ag.x + b.R.s * ag.y;
    link.vy[kBias] = b.R.c * ag.y - b.R.s * ag.x;
    link.w[kBias] = b.al;
    const double w2 = b.w * b.w, two_w = 2 * b.w;
    double* to = s.force.link[k].data();
    // Along x, y: S a; inertia; Coriolis torque. S ȧ along x, y.
    Four sums[4] = {}, rates[2] = {};
    with_groups(l.groups, [&]<int B>() {
      Four spin[B], swing[B], turning[B], f[B];
      if (m.damped) {
        weigh<B, true>(m, link.a, link.a_dot, spin, swing, turning, f);
      } else {
        weigh<B, false>(m, link.a, link.a_dot, spin, swing, turning, f);
      }
      lanes::each<B>([&]<int I>() {
        constexpr int kPlace = lanes::kWidth * I;
        const Four a = load(link.a + kPlace), rate = load(link.a_dot + kPlace),
                   sx = load(m.Sx.data() + kPlace), sy = load(m.Sy.data() + kPlace);
        sums[0] += sx * a;
        sums[1] += sy * a;
        sums[2] += (load(m.s1.data() + kPlace) + swing[I]) * a;
        sums[3] += swing[I] * rate;
        rates[0] += sx * rate;
        rates[1] += sy * rate;
        store(spin[I], link.spin + kPlace);
        store(f[I] - w2 * swing[I] + two_w * turning[I], to + kPlace);
      });
    });
    const Four sum = lanes::sums(sums);
    link.ox = m.moment + sum[0];
    link.oy = sum[1];
    link.inertia = m.inertia + sum[2];
    const Vec2<double> force{-two_w * lanes::detail::sum_of(rates[1]) - w2 * link.ox,
                             two_w * lanes::detail::sum_of(rates[0]) - w2 * link.oy};
    wrench[body].f += rotate(b.R, force);
    wrench[body].n += two_w * sum[3];
    s.force.torque[k] = 0;
  }
}

// Forces on a and on the link with those per independent joint.
inline void FloatingLinks::project(const Const& c, size_t index, const double* f,
                                   const Rot2<double>& R, Wrench<Planar, double>& wrench,
                                   Four* out) noexcept {
  const FloatingPlan::LinkPlan& l = plan_->links[index];
  const LinkMatrices<double>& m = c.reduced.links[index];
  Link& link = links_[index];
  const auto count = static_cast<int>(l.moving.size());
  const int* moving = l.moving.data();
  const Four *d = link.d, vx = link.vx, vy = link.vy, w = link.w;
  const auto with = [&]<int C>() { momenta<C>(m, link.spin, f, moving, d, vx, vy, w, out); };
  int done = count;
  switch (count) {
    case 0:
      with.template operator()<0>();
      break;
    case 2:
      with.template operator()<2>();
      break;
    case 4:
      with.template operator()<4>();
      break;
    case 6:
      with.template operator()<6>();
      break;
    default:
      with.template operator()<0>();
      done = 0;
      break;
  }
  for (; done < count; ++done) {
    const double* column = m.M.data() + moving[done] * m.ld;
    for (int i = 0; i < m.n; ++i) out[i] += all(column[i]) * d[done];
  }
  Four px = all(m.mass) * vx - all(link.oy) * w, py = all(m.mass) * vy + all(link.ox) * w,
       turn = all(link.inertia) * w + all(link.ox) * vy - all(link.oy) * vx;
  const double *sx = m.Sx.data(), *sy = m.Sy.data();
  for (int k = 0; k < count; ++k) {
    px += all(sx[moving[k]]) * d[k];
    py += all(sy[moving[k]]) * d[k];
    turn += all(link.spin[moving[k]]) * d[k];
  }
  link.px = px;
  link.py = py;
  link.turn = turn;
  wrench.f += rotate(R, Vec2<double>{px[kBias], py[kBias]});
}

void FloatingLinks::gather(Kin& kin, const Const& c, Wrenches& wrench, const double* r,
                           const double* added) noexcept {
  ReducedState<double>& s = kin.reduced;
  const FloatingPlan& plan = *plan_;
  detail::spread_nodes(kin, c, wrench);
  const auto add_inertia = [this](const Four& vx, const Four& px, const Four& vy, const Four& py,
                                  const Four& w, const Four& turn) {
    lanes::each<kJoints>([&]<int Z>() {
      inertia_[Z] += lanes::spread<Z>(vx) * px + lanes::spread<Z>(vy) * py;
      inertia_[Z] += lanes::spread<Z>(w) * turn;
    });
  };
  if (!known_) {
    for (Four& e : inertia_) e = Four{};
    for (const int i : plan.solids) {
      const auto& k = c.bodies[at(i)];
      const Vec2<double> com = rotate(kin.body[at(i) + 1].R, k.com);
      const Four *own = &body_[3 * (at(i) + 1)], w = own[0], x = own[1] - w * all(com.y),
                 y = own[2] + w * all(com.x);
      add_inertia(x, all(k.mass) * x, y, all(k.mass) * y, w, all(k.inertia) * w);
    }
  }
  const auto direct = [&](int dof) { return Four{0, 0, 0, r[dof] - added[dof]}; };
  const int modes = plan.modes;
  const Turn* turns = turns_.data();
  Link* links = links_.data();
  const double* shapes = c.reduced.shared.data();
  Four *on = on_.data(), *amplitude = on + plan.masters, *pull = pull_.data();
  for (int i = plan.ldb; i < plan.ldb + plan.slaves; ++i) on[i] = Four{};
  for (int i = 0; i < plan.modes; ++i) amplitude[i] = direct(plan.first_mode + i);
  for (size_t k = 0; k < links_.size(); ++k) {
    const FloatingPlan::LinkPlan& l = plan.links[k];
    wrench[at(l.body)].n += s.force.torque[k];
  }
  for (const FloatingPlan::Input& in : plan.inputs) {
    if (in.slave) continue;
    Four* to = on + in.at;
    if (in.pair) {
      const double fx = r[in.dof[0]] - added[in.dof[0]], fy = r[in.dof[1]] - added[in.dof[1]];
      const Rot2<double>& R = kin.body[at(in.body)].R;
      const double *x = &x_[at(in.at)], gx = R.c * fx + R.s * fy, gy = R.c * fy - R.s * fx;
      to[0] = Four{0, 0, 0, gx};
      to[1] = Four{0, 0, 0, gy};
      wrench[at(in.body)].n += x[0] * gy - x[1] * gx;
    } else {
      to[0] = direct(in.dof[0]);
    }
  }
  for (size_t k = 0; k < links_.size(); ++k) {
    const FloatingPlan::LinkPlan& l = plan.links[k];
    const double* a = links[k].a;
    Four f[kWidest];
    project(c, k, s.force.link[k].data(), kin.body[at(l.body)].R, wrench[at(l.body)], f);
    for (const FloatingPlan::Own& o : l.own) {
      on[o.component] += f[o.at];
      if (o.pair) on[o.component + 1] += f[o.at + 1];
    }
    const Four* modal = f + l.nx;
    with_size(modes, [&]<int N>(int n) {
      lanes::each<N>([&]<int I>() { amplitude[I] += modal[I]; });
      for (int i = N; i < n; ++i) amplitude[i] += modal[i];
    });
    for (const FloatingPlan::Foreign& p : l.foreign) {
      const Turn& t = turns[p.angle];
      const Four x = f[p.at], y = f[p.at + 1];
      Four turn = all(a[p.at]) * y - all(a[p.at + 1]) * x;
      on[p.component] += all(t.c) * x + all(t.s) * y;
      on[p.component + 1] += all(t.c) * y - all(t.s) * x;
      if (p.modal >= 0) {
        const Four mx = f[p.modal], my = f[p.modal + 1], gx = all(t.c) * mx + all(t.s) * my,
                   gy = all(t.c) * my - all(t.s) * mx;
        const double* shape = shapes + p.shape;
        with_size(modes, [&]<int N>(int n) {
          const auto mode = [&](int i) {
            amplitude[i] += all(shape[i]) * gx + all(shape[modes + i]) * gy;
          };
          lanes::each<N>([&]<int I>() { mode(I); });
          for (int i = N; i < n; ++i) mode(i);
        });
        turn += all(a[p.modal]) * my - all(a[p.modal + 1]) * mx;
      }
      pull[p.angle] = turn;
    }
  }
  // Slaves to masters and angles.
  for (const FloatingPlan::ClusterPlan& cluster : plan.clusters) {
    const double* w = &w_[at(cluster.first * plan.ldw)];
    const Four* f = on + plan.ldb + cluster.first;
    with_size(cluster.size, [&]<int N>(int n) {
      const int size = N > 0 ? N : n, ld = plan.ldw;
      const auto add = [&](const double* column, Four& to) {
        Four sum = to;
        for (int i = 0; i < size; ++i) sum += all(column[i * ld]) * f[i];
        to = sum;
      };
      for (const int master : cluster.masters) add(w + plan.ldf + master, on[master]);
      for (const int angle : cluster.angles) add(w + angle, pull[angle]);
    });
  }
  for (size_t k = 0; k < links_.size(); ++k)
    for (const FloatingPlan::Foreign& p : plan.links[k].foreign) {
      links[k].turn -= pull[p.angle];
      links[p.owner].turn += pull[p.angle];
    }
  for (size_t k = 0; k < links_.size(); ++k) {
    const Link& link = links[k];
    wrench[at(plan.links[k].body)].n += link.turn[kBias];
    if (!known_) add_inertia(link.vx, link.px, link.vy, link.py, link.w, link.turn);
  }
  // By joint; the bias with the sign of the right side.
  double *bias = bias_.data(), *across = system_.data();
  const int nz = known_ ? 0 : nz_, ldb = plan.ldb;
  for (int i = 0; i < ldb; i += lanes::kWidth) {
    Four e[lanes::kWidth] = {on[i], on[i + 1], on[i + 2], on[i + 3]};
    lanes::transpose(e);
    for (int z = 0; z < nz; ++z) store(e[z], across + z * ldb + i);
    store(-e[kBias], bias + i);
  }
}

// L D Lᵀ over (joints, b), the columns of the joints in b first.
bool FloatingLinks::factor(double tolerance) noexcept {
  if (known_) return true;
  const FloatingPlan& plan = *plan_;
  const int nz = nz_;
  double *pivots = pivots_.data(), *inverse = inverse_.data(), *system = system_.data();
  for (int z = 0; z < nz; ++z) {
    double row[lanes::kWidth], *column = system + z * plan.ldb;
    store(inertia_[z], row);
    double pivot = row[z];
    for (int j = 0; j < z; ++j) {
      double e = row[j];
      for (int k = 0; k < j; ++k) e -= lower_[z][k] * pivots[k] * lower_[j][k];
      lower_[z][j] = e * inverse[j];
      pivot -= lower_[z][j] * e;
      lanes::add(-e, system + j * plan.ldb, column, plan.ldb);
    }
    if (!(pivot > tolerance * row[z])) return false;
    pivots[z] = pivot;
    inverse[z] = 1 / pivot;
    lanes::scale(inverse[z], column, plan.ldb);
  }
  with_groups(plan.ldb / lanes::kWidth, [&]<int B>() {
    weigh_slaves<B>();
    known_ = lanes::detail::factor_panels<B, 0>(system, nz, plan.nb, tolerance, pivots, inverse,
                                                [&](auto& columns) { assemble<B>(columns); });
  });
  return known_;
}

// U = M_y· + ½ M_yy W; B groups of rows of b.
template <int B>
void FloatingLinks::weigh_slaves() noexcept {
  const FloatingPlan& plan = *plan_;
  constexpr int ldb = B * lanes::kWidth;
  const int ldw = plan.ldw;
  double* u = u_.data();
  const double* from = z_.data() + plan.nb * plan.ldz;
  for (const FloatingPlan::ClusterPlan& cluster : plan.clusters) {
    const double* w = w_.data() + cluster.first * ldw + plan.ldf;
    with_size(cluster.size, [&]<int N>(int n) {
      const int size = N > 0 ? N : n;
      for (int y = 0; y < size; ++y, from += plan.ldz, u += ldb) {
        const double* half = from + ldb + cluster.first;
        Four sum[B];
        lanes::each<B>([&]<int G>() { sum[G] = load(from + lanes::kWidth * G); });
        const auto follow = [&](int k) {
          const Four e = all(half[k]);
          lanes::each<B>([&]<int G>() { sum[G] += e * load(w + k * ldw + lanes::kWidth * G); });
        };
        lanes::each<N>([&]<int K>() { follow(K); });
        for (int k = N; k < size; ++k) follow(k);
        lanes::each<B>([&]<int G>() { store(sum[G], u + lanes::kWidth * G); });
      }
    });
  }
}

// C columns of M + Wᵀ U + Uᵀ W from the group of the diagonal down, the last K of B.
template <int B, int C, int K>
inline void FloatingLinks::assemble(Four (&columns)[C][K]) const noexcept {
  const FloatingPlan& plan = *plan_;
  constexpr int kFrom = (B - K) * lanes::kWidth, ldb = B * lanes::kWidth;
  const double *z = z_.data() + kFrom * plan.ldz + kFrom, *all_w = w_.data() + plan.ldf + kFrom,
               *all_u = u_.data() + kFrom;
  lanes::each<C>([&]<int J>() {
    lanes::each<K>([&]<int G>() { columns[J][G] = load(z + J * plan.ldz + lanes::kWidth * G); });
  });
  for (const int y : plan.slaves_of[B - K]) {
    const double *w = all_w + y * plan.ldw, *u = all_u + y * ldb;
    const auto add = [&](const double* factors, const double* vector) {
      lanes::each<C>([&]<int J>() {
        const Four f = all(factors[J]);
        lanes::each<K>([&]<int G>() { columns[J][G] += f * load(vector + lanes::kWidth * G); });
      });
    };
    add(w, u);
    add(u, w);
  }
}

void FloatingLinks::solve(const Kin& kin, const double* r, int joints, double* a) noexcept {
  const FloatingPlan& plan = *plan_;
  const int nb = plan.nb, ldb = plan.ldb, nz = nz_;
  const double *system = system_.data(), *inverse = inverse_.data();
  const Four* directions = directions_.data();
  double *x = solution_.data(), joint[lanes::kWidth];
  lanes::copy(bias_.data(), x, ldb);
  Four turning = {};
  for (int i = 0; i < joints; ++i) turning -= all(r[i]) * directions[i];
  store(turning, joint);
  for (int z = 0; z < nz; ++z) {
    for (int j = 0; j < z; ++j) joint[z] -= lower_[z][j] * joint[j];
    lanes::add(-joint[z], system + z * ldb, x, ldb);
  }
  with_groups(ldb / lanes::kWidth, [&]<int B>() {
    lanes::detail::solve_down<B, 0>(system + nz * ldb, nb, x);
    lanes::detail::solve_up<B, 0>(system + nz * ldb, nb, inverse + nz, x);
  });
  for (int z = nz - 1; z >= 0; --z) {
    joint[z] = joint[z] * inverse[z] - lanes::dot(system + z * ldb, x, ldb);
    for (int i = z + 1; i < nz; ++i) joint[z] -= lower_[i][z] * joint[i];
  }
  turning = load(joint);
  for (int i = 0; i < joints; ++i) a[i] += lanes::detail::sum_of(turning * directions[i]);
  for (int i = 0; i < plan.modes; ++i) a[plan.first_mode + i] = x[plan.masters + i];
  for (const FloatingPlan::Input& in : plan.inputs) {
    if (in.slave) continue;
    if (!in.pair) {
      a[in.dof[0]] = x[in.at];
      continue;
    }
    const auto& b = kin.body[at(in.body)];
    const double al = b.al + lanes::detail::sum_of(body_[at(3 * in.body)] * turning);
    const double *e = &x_[at(in.at)], *rate = &x_dot_[at(in.at)], w2 = b.w * b.w, two_w = 2 * b.w,
                 ex = x[in.at] - al * e[1] - two_w * rate[1] - w2 * e[0],
                 ey = x[in.at + 1] + al * e[0] + two_w * rate[0] - w2 * e[1];
    a[in.dof[0]] = b.R.c * ex - b.R.s * ey;
    a[in.dof[1]] = b.R.s * ex + b.R.c * ey;
  }
}

}  // namespace panto::erls
