// Mass matrix of the links of a reduced model (RER-5), over (joints, masters, amplitudes).
#pragma once

#include "panto/mechanics/erls/reduced_forces.hpp"

namespace panto::erls {

// Assembled over (joints, masters, slaves, amplitudes), then the slaves give their part through W = ∂slaves/∂(joints, masters, amplitudes).
class ReducedMass {
 public:
  explicit ReducedMass(const Model& model) : layout_(model) {
    if (!layout_.active) return;
    rows_ = layout_.joints + layout_.components() + layout_.modes;
    stride_ = (rows_ + 3) / 4 * 4;
    z_.assign(static_cast<size_t>(stride_ * rows_), 0.0);
    size_t most = 1, w = 0, paths = 1;
    for (const LinkLayout& l : layout_.links) {
      most = std::max(most, static_cast<size_t>(l.nx + layout_.modes));
      paths = std::max(paths, l.path.size());
    }
    for (const Cluster& c : layout_.clusters)
      w = std::max(w, static_cast<size_t>(c.size) * c.columns.size());
    w_.assign(w, 0.0);
    column_.assign(static_cast<size_t>(rows_), -1);
    turning_.assign(most, 0.0);
    turned_.assign(most, 0.0);
    coupling_.assign(most * paths, 0.0);
    matrix_.assign(most * most, 0.0);
  }
  [[nodiscard]] bool active() const noexcept { return layout_.active; }
  [[nodiscard]] const ReducedLayout& layout() const noexcept { return layout_; }

  // Composite: mass, moment and inertia of the links about their origins, world axes, at fixed inputs.
  template <class Composite>
  void evaluate(const Kinematics<Planar, double>& kin, const Constants<Planar, double>& c,
                Composite* composite) noexcept {
    for (double& e : z_) e = 0;
    for (size_t k = 0; k < layout_.links.size(); ++k)
      link(kin, c.reduced.links[k], layout_.links[k], kin.reduced.links[k], composite);
    const double* factor = kin.reduced.factor.data();
    for (const Cluster& cluster : layout_.clusters) {
      dependence(kin, c, cluster, factor);
      substitute(cluster);
      factor += cluster.size * cluster.size;
    }
  }

  // Entries over (joints, masters, amplitudes), i ≥ j in the order of (joints, masters, slaves, amplitudes).
  [[nodiscard]] double operator()(int i, int j) const noexcept {
    return z_[static_cast<size_t>(j * stride_ + i)];
  }
  // Place of a speed in that order.
  [[nodiscard]] int row_of(int speed) const noexcept {
    if (speed < layout_.joints) return speed;
    if (speed >= layout_.first_mode)
      return speed - layout_.first_mode + layout_.joints + layout_.components();
    for (size_t i = 0; i < layout_.master_dof.size(); ++i)
      if (layout_.master_dof[i] == speed) return layout_.joints + static_cast<int>(i);
    return -1;
  }

 private:
  // Adds to both triangles.
  void add(int i, int j, double value) noexcept {
    z_[static_cast<size_t>(j * stride_ + i)] += value;
    if (i != j) z_[static_cast<size_t>(i * stride_ + j)] += value;
  }

  template <class Composite>
  void link(const Kinematics<Planar, double>& kin, const LinkMatrices<double>& m,
            const LinkLayout& l, const LinkState<double>& s, Composite* composite) noexcept {
    const auto& b = kin.body[static_cast<size_t>(l.body)];
    const Rot2<double> R = b.R;
    const int n = m.n;
    const double* a = s.a.data();
    double *h = turning_.data(), *jx = turned_.data();  // h + G a − M Ĵ x, and −Ĵ x
    for (int i = 0; i < n; ++i) jx[i] = 0;
    detail::add_quarter_turn(l, -1.0, a, jx);
    for (int i = 0; i < n; ++i) h[i] = m.h[static_cast<size_t>(i)];
    double sxa = 0, sya = 0, sxj = 0, syj = 0, inertia = m.inertia;
    const double *G = m.G.data(), *M = m.M.data(), *Mt = m.Mt.data();
    for (int j = 0; j < n; ++j) {
      const double aj = a[j];
      double ma = 0;
      for (int i = 0; i < n; ++i) {
        h[i] += G[i] * aj;
        ma += Mt[i] * a[i];
      }
      inertia += (2 * m.s1[static_cast<size_t>(j)] + ma) * aj;
      G += n;
      Mt += n;
    }
    // ½ of the inertia of −Ĵ x counts twice: once with h, once after M is added.
    for (int i = 0; i < m.nx; ++i) inertia += h[i] * jx[i];
    for (int j = 0; j < m.nx; ++j) {
      const double e = jx[j];
      for (int i = 0; i < n; ++i) h[i] += M[i] * e;
      M += n;
    }
    for (int i = 0; i < m.nx; ++i) inertia += h[i] * jx[i];
    for (int i = 0; i < n; ++i) {
      sxa += m.Sx[static_cast<size_t>(i)] * a[i];
      sya += m.Sy[static_cast<size_t>(i)] * a[i];
    }
    for (int i = 0; i < m.nx; ++i) {
      sxj += m.Sx[static_cast<size_t>(i)] * jx[i];
      syj += m.Sy[static_cast<size_t>(i)] * jx[i];
    }
    Composite& o = composite[l.body - 1];
    o.mass += m.mass;
    o.moment += rotate(R, Vec2<double>{m.moment + sxa + syj, sya - sxj});
    o.inertia += inertia;

    // Coupling of a with the joints on the way to the ground: twist of the link per unit speed, link axes.
    const int joints = layout_.joints, mode_row = joints + layout_.components();
    for (const int k : l.path) {
      const auto& column = kin.column[static_cast<size_t>(k)];
      const auto& child = kin.body[static_cast<size_t>(joint_body(kin, k))];
      const Vec2<double> v = column.v + spin(column.w, b.p - child.p);
      const double vx = R.c * v.x + R.s * v.y, vy = R.c * v.y - R.s * v.x;
      double* row = coupling_.data();
      for (int i = 0; i < n; ++i)
        row[i] =
            h[i] * column.w + m.Sx[static_cast<size_t>(i)] * vx + m.Sy[static_cast<size_t>(i)] * vy;
      for (const LinkLayout::Part& p : l.parts) {
        const int to = joints + p.component;
        if (p.pair) {
          add(to, k, R.c * row[p.at] - R.s * row[p.at + 1]);
          add(to + 1, k, R.s * row[p.at] + R.c * row[p.at + 1]);
        } else {
          add(to, k, row[p.at]);
        }
      }
      for (int i = 0; i < layout_.modes; ++i) add(mode_row + i, k, row[m.nx + i]);
    }
    // M in ground axes: rows of pairs turned, then columns.
    double* g = matrix_.data();
    M = m.M.data();
    for (int j = 0; j < n; ++j) {
      const double* from = M + j * n;
      double* to = g + j * n;
      for (const LinkLayout::Part& p : l.parts) {
        if (p.pair) {
          to[p.at] = R.c * from[p.at] - R.s * from[p.at + 1];
          to[p.at + 1] = R.s * from[p.at] + R.c * from[p.at + 1];
        } else {
          to[p.at] = from[p.at];
        }
      }
      for (int i = m.nx; i < n; ++i) to[i] = from[i];
    }
    for (const LinkLayout::Part& p : l.parts) {
      double *first = g + p.at * n, *second = first + n;
      if (!p.pair) continue;
      for (int i = 0; i < n; ++i) {
        const double x = first[i], y = second[i];
        first[i] = R.c * x - R.s * y;
        second[i] = R.s * x + R.c * y;
      }
    }
    const auto place = [&](const double* column, int j) {
      double* to = z_.data() + j * stride_;
      for (const LinkLayout::Part& p : l.parts) {
        to[joints + p.component] += column[p.at];
        if (p.pair) to[joints + p.component + 1] += column[p.at + 1];
      }
      for (int i = 0; i < layout_.modes; ++i) to[mode_row + i] += column[m.nx + i];
    };
    for (const LinkLayout::Part& p : l.parts) {
      place(g + p.at * n, joints + p.component);
      if (p.pair) place(g + (p.at + 1) * n, joints + p.component + 1);
    }
    for (int i = 0; i < layout_.modes; ++i) place(g + (m.nx + i) * n, mode_row + i);
  }

  static int joint_body(const Kinematics<Planar, double>& kin, int speed) noexcept {
    for (size_t i = 0; i < kin.link.size(); ++i)
      if (speed >= kin.link[i].v && speed < kin.link[i].v + kin.link[i].nv)
        return static_cast<int>(i) + 1;
    return 0;
  }

  // W of a cluster by columns: −A⁻¹ ∂F/∂(masters, angles), and the modes with their turning.
  void dependence(const Kinematics<Planar, double>& kin, const Constants<Planar, double>& c,
                  const Cluster& cluster, const double* factor) noexcept {
    const int size = cluster.size, first = layout_.masters + cluster.first;
    const auto columns = static_cast<int>(cluster.columns.size());
    double* w = w_.data();
    for (int i = 0; i < size * columns; ++i) w[i] = 0;
    for (int j = 0; j < columns; ++j)
      column_[static_cast<size_t>(cluster.columns[static_cast<size_t>(j)])] = j;
    const int joints = layout_.joints, mode_row = joints + layout_.components();
    for (const int k : cluster.links) {
      const LinkLayout& l = layout_.links[static_cast<size_t>(k)];
      const LinkMatrices<double>& m = c.reduced.links[static_cast<size_t>(k)];
      const LinkState<double>& s = kin.reduced.links[static_cast<size_t>(k)];
      const Rot2<double> R = kin.body[static_cast<size_t>(l.body)].R;
      // Ĵ f − k Ĵ x
      double *z = turning_.data(), *jx = turned_.data();
      for (int i = 0; i < m.nx; ++i) jx[i] = 0;
      detail::add_quarter_turn(l, -1.0, s.still.data(), jx);
      detail::multiply(m.k, m.nx, m.nx, jx, z);
      detail::add_quarter_turn(l, 1.0, s.pull.data(), z);
      const auto take = [&](const double* f, double factor_of, double* to) {
        for (const LinkLayout::Part& p : l.parts) {
          if (!p.slave) continue;
          double* e = to + p.component - first;
          if (p.pair) {
            e[0] -= factor_of * (R.c * f[p.at] - R.s * f[p.at + 1]);
            e[1] -= factor_of * (R.s * f[p.at] + R.c * f[p.at + 1]);
          } else {
            e[0] -= factor_of * f[p.at];
          }
        }
      };
      for (const int joint : l.path) {
        const double turn = kin.column[static_cast<size_t>(joint)].w;
        if (turn != 0) take(z, turn, w + size * column_[static_cast<size_t>(joint)]);
      }
      for (const LinkLayout::Part& p : l.parts) {
        if (p.slave) continue;
        const double* at = m.k.data() + p.at * m.nx;
        double* to = w + size * column_[static_cast<size_t>(joints + p.component)];
        if (p.pair) {  // columns of k times the turned unit vectors
          take(at, R.c, to);
          take(at + m.nx, -R.s, to);
          take(at, R.s, to + size);
          take(at + m.nx, R.c, to + size);
        } else {
          take(at, 1.0, to);
        }
      }
    }
    for (int j = 0; j < columns; ++j)
      if (cluster.columns[static_cast<size_t>(j)] < mode_row)
        detail::solve_factored(size, factor, w + size * j);
    for (const LinkInput& in : layout_.inputs) {
      const int at = in.at - first;
      if (in.owner < 0 || at < 0 || at >= size) continue;
      const LinkLayout& owner = layout_.links[static_cast<size_t>(in.owner)];
      const Rot2<double> R = kin.body[static_cast<size_t>(owner.body)].R;
      const double* shape =
          c.reduced.shared.data() + static_cast<size_t>((in.at - layout_.masters) * layout_.modes);
      for (int i = 0; i < layout_.modes; ++i) {
        double* to = w + size * column_[static_cast<size_t>(mode_row + i)] + at;
        if (in.pair) {
          to[0] = R.c * shape[i] - R.s * shape[layout_.modes + i];
          to[1] = R.s * shape[i] + R.c * shape[layout_.modes + i];
        } else {
          to[0] = shape[i];
        }
      }
      if (!in.pair) continue;
      for (const int joint : owner.path) {
        const double turn = kin.column[static_cast<size_t>(joint)].w;
        double* to = w + size * column_[static_cast<size_t>(joint)] + at;
        to[0] -= turn * kin.reduced.modal[static_cast<size_t>(in.at) + 1];
        to[1] += turn * kin.reduced.modal[static_cast<size_t>(in.at)];
      }
    }
  }

  // Z <- Vᵀ Z V with the rows W of the cluster's slaves.
  void substitute(const Cluster& cluster) noexcept {
    const int size = cluster.size, first = layout_.joints + layout_.masters + cluster.first;
    const auto columns = static_cast<int>(cluster.columns.size());
    const double* w = w_.data();
    for (int j = 0; j < columns; ++j, w += size) {
      double* to = z_.data() + cluster.columns[static_cast<size_t>(j)] * stride_;
      for (int s = 0; s < size; ++s) {
        const double factor = w[s];
        const double* from = z_.data() + (first + s) * stride_;
        for (int i = 0; i < stride_; ++i) to[i] += factor * from[i];
      }
    }
    for (int c = 0; c < rows_; ++c) {
      double* column = z_.data() + c * stride_;
      w = w_.data();
      for (int j = 0; j < columns; ++j, w += size) {
        double sum = 0;
        for (int s = 0; s < size; ++s) sum += w[s] * column[first + s];
        column[cluster.columns[static_cast<size_t>(j)]] += sum;
      }
    }
  }

  ReducedLayout layout_;
  int rows_ = 0, stride_ = 0;
  std::vector<double> z_, w_, turning_, turned_, coupling_, matrix_;
  std::vector<int> column_;
};

}  // namespace panto::erls
