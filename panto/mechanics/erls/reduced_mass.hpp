// Mass matrix of the links of a reduced model (RER-5), over (joints, masters, amplitudes).
#pragma once

#include "panto/mechanics/erls/reduced_forces.hpp"

namespace panto::erls {

// Assembled over (joints, masters, amplitudes | slaves), then the slaves give their part through W = ∂slaves/∂(joints, masters).
class ReducedMass {
 public:
  explicit ReducedMass(const Model& model) : layout_(model) {
    if (!layout_.active) return;
    first_mode_ = layout_.joints + layout_.masters;
    rows_ = first_mode_ + layout_.modes;
    slave_ = lanes::padded(rows_);
    follow_ = lanes::padded(first_mode_);
    stride_ = slave_ + lanes::padded(layout_.slaves);
    const auto total = static_cast<size_t>(slave_ + layout_.slaves);
    z_.assign(static_cast<size_t>(stride_) * total + lanes::kWidth, 0.0);
    w_.assign(static_cast<size_t>(follow_ * layout_.slaves), 0.0);
    y_.assign(static_cast<size_t>(slave_ * layout_.slaves), 0.0);
    size_t most = 1, foreign = 1;
    for (const LinkLayout& l : layout_.links) {
      most = std::max(most, static_cast<size_t>(lanes::padded(l.n)));
      foreign = std::max(foreign, l.foreign.size());
      std::vector<int> to;
      for (const LinkLayout::Part& p : l.parts)
        for (int i = 0; i < (p.pair ? 2 : 1); ++i)
          to.push_back(p.slave ? slave_ + p.component + i - layout_.masters
                               : layout_.joints + p.component + i);
      place_.push_back(std::move(to));
    }
    for (std::vector<double>* v : {&h_, &t_, &column_, &other_}) v->assign(most, 0.0);
    shape_.assign(2 * foreign * static_cast<size_t>(std::max(layout_.modes, 1)), 0.0);
    for (const Joint& j : model.joints)
      for (int k = 0; k < j.nv; ++k)
        joint_body_.push_back(static_cast<int>(&j - model.joints.data()) + 1);
  }
  [[nodiscard]] bool active() const noexcept { return layout_.active; }
  [[nodiscard]] const ReducedLayout& layout() const noexcept { return layout_; }

  // Composite: mass, moment and inertia of the links about their origins, world axes, at fixed inputs.
  template <class Composite>
  void evaluate(const Kinematics<Planar, double>& kin, const Constants<Planar, double>& c,
                Composite* composite) noexcept {
    for (int j = 0; j < rows_; ++j) lanes::clear(z_.data() + j * stride_, slave_);
    for (int j = 0; j < layout_.slaves; ++j)
      lanes::clear(z_.data() + (slave_ + j) * stride_, stride_);
    for (size_t k = 0; k < layout_.links.size(); ++k) link(kin, c.reduced, k, composite);
    const double *factor = kin.reduced.factor.data(), *cross = kin.reduced.cross.data();
    for (const Cluster& cluster : layout_.clusters) {
      dependence(kin, cluster, factor, cross);
      substitute(cluster);
      factor += cluster.size * cluster.size;
      cross += static_cast<size_t>(cluster.size) * cluster.masters.size();
    }
  }

  // Entries over (joints, masters, amplitudes), i ≥ j.
  [[nodiscard]] double operator()(int i, int j) const noexcept {
    return z_[static_cast<size_t>(j * stride_ + i)];
  }
  [[nodiscard]] const double* column(int j) const noexcept { return z_.data() + j * stride_; }
  // Place of a speed in that order, -1: none.
  [[nodiscard]] int row_of(int speed) const noexcept {
    if (speed < layout_.joints) return speed;
    if (speed >= layout_.first_mode && speed < layout_.first_mode + layout_.modes)
      return speed - layout_.first_mode + first_mode_;
    for (size_t i = 0; i < layout_.master_dof.size(); ++i)
      if (layout_.master_dof[i] == speed) return layout_.joints + static_cast<int>(i);
    return -1;
  }

 private:
  // Adds to the entry of two joints, which is on or below the diagonal.
  void add_joints(int i, int j, double value) noexcept {
    z_[static_cast<size_t>(std::min(i, j) * stride_ + std::max(i, j))] += value;
  }

  template <class Composite>
  void link(const Kinematics<Planar, double>& kin, const ReducedConstants<double>& c, size_t index,
            Composite* composite) noexcept {
    const LinkLayout& l = layout_.links[index];
    const LinkMatrices<double>& m = c.links[index];
    const LinkState<double>& s = kin.reduced.links[index];
    const auto& b = kin.body[static_cast<size_t>(l.body)];
    const Rot2<double> R = b.R;
    const int ld = m.ld, nx = m.nx, modes = layout_.modes, stride = stride_;
    const double* a = s.a.data();
    double *h = h_.data(), *t = t_.data(), *column = column_.data(), *other = other_.data(),
           *z = z_.data();
    const int* place = place_[index].data();
    // t = ∂ȧ/∂ω at fixed inputs; h + G a, then with M t.
    lanes::clear(t, ld);
    detail::add_quarter_turn(l, -1.0, a, t);
    for (const LinkLayout::Foreign& f : l.foreign) {
      t[f.at] = a[f.at + 1];
      t[f.at + 1] = -a[f.at];
    }
    lanes::combine(1, m.h.data(), 0, m.h.data(), h, ld);
    lanes::add_product(m.G.data(), ld, ld, m.n, a, h);
    double inertia = m.inertia + 2 * lanes::dot(m.s1.data(), a, ld) + lanes::dot(h, t, ld);
    lanes::clear(column, ld);
    lanes::add_product(m.Mt.data(), ld, ld, m.n, a, column);
    inertia += lanes::dot(column, a, ld);
    lanes::add_product(m.M.data(), ld, ld, m.n, t, h);
    inertia += lanes::dot(h, t, ld);
    const double *sx = m.Sx.data(), *sy = m.Sy.data();
    Composite& o = composite[l.body - 1];
    o.mass += m.mass;
    o.moment += rotate(R, Vec2<double>{m.moment + lanes::dot(sx, a, ld) + lanes::dot(sy, t, ld),
                                       lanes::dot(sy, a, ld) - lanes::dot(sx, t, ld)});
    o.inertia += inertia;
    // Modal part of foreign pairs in the link's axes, per amplitude.
    for (size_t i = 0; i < l.foreign.size(); ++i) {
      const double* shape = c.shared.data() + l.foreign[i].slave * modes;
      double* to = shape_.data() + 2 * i * static_cast<size_t>(modes);
      const Rot2<double> e = s.relative[i];
      for (int j = 0; j < modes; ++j) {
        to[2 * j] = e.c * shape[j] - e.s * shape[modes + j];
        to[2 * j + 1] = e.s * shape[j] + e.c * shape[modes + j];
      }
    }
    // Momentum of a per speed of a joint: to inputs, amplitudes and the joints of owners.
    const auto project = [&](const double* p, int joint) {
      double* to = z + joint * stride;
      for (const LinkLayout::Part& e : l.parts) {
        const double* f = p + e.at;
        const double first = e.pair ? R.c * f[0] - R.s * f[1] : f[0],
                     second = e.pair ? R.s * f[0] + R.c * f[1] : 0.0;
        if (e.slave) {
          double* at = z + place[e.at] * stride + joint;
          at[0] += first;
          if (e.pair) at[stride] += second;
        } else {
          to[place[e.at]] += first;
          if (e.pair) to[place[e.at] + 1] += second;
        }
      }
      double* on = to + first_mode_;
      for (int j = 0; j < modes; ++j) on[j] += p[nx + j];
      for (size_t i = 0; i < l.foreign.size(); ++i) {
        const double fx = p[l.foreign[i].at], fy = p[l.foreign[i].at + 1],
                     *shape = shape_.data() + 2 * i * static_cast<size_t>(modes);
        for (int j = 0; j < modes; ++j) on[j] += shape[2 * j] * fx + shape[2 * j + 1] * fy;
      }
    };
    // Its part along the turning of the owner of a foreign pair.
    const auto turned = [&](const LinkLayout::Foreign& f, const double* p) {
      return a[f.at] * p[f.at + 1] - a[f.at + 1] * p[f.at];
    };
    for (const int k : l.path) {
      const auto& twist = kin.column[static_cast<size_t>(k)];
      const auto& child = kin.body[static_cast<size_t>(joint_body_[static_cast<size_t>(k)])];
      const Vec2<double> v = twist.v + spin(twist.w, b.p - child.p);
      lanes::combine(R.c * v.x + R.s * v.y, sx, R.c * v.y - R.s * v.x, sy, column, ld);
      lanes::add(twist.w, h, column, ld);
      project(column, k);
      for (const LinkLayout::Foreign& f : l.foreign) {
        const double value = turned(f, column);
        for (const int joint : layout_.links[static_cast<size_t>(f.owner)].path) {
          const double both = value * kin.column[static_cast<size_t>(joint)].w;
          add_joints(joint, k, joint == k ? 2 * both : both);
        }
      }
    }
    for (size_t i = 0; i < l.foreign.size(); ++i) {
      const LinkLayout::Foreign& f = l.foreign[i];
      const double* from = m.M.data() + f.at * ld;
      lanes::combine(-a[f.at + 1], from, a[f.at], from + ld, column, ld);
      for (const int joint : layout_.links[static_cast<size_t>(f.owner)].path) {
        const double w = kin.column[static_cast<size_t>(joint)].w;
        if (w == 0) continue;
        lanes::combine(w, column, 0, column, other, ld);
        project(other, joint);
        // Both orders of two foreign pairs come by; of one and the same, joint by joint, each pair once.
        for (const LinkLayout::Foreign& g : l.foreign) {
          const double value = turned(g, other);
          for (const int k : layout_.links[static_cast<size_t>(g.owner)].path)
            if (k <= joint) add_joints(joint, k, value * kin.column[static_cast<size_t>(k)].w);
        }
      }
    }
    // Inputs among each other, ground axes.
    const auto inputs = [&](const double* p, int j) {
      double* to = z + j * stride;
      const bool slave = j >= slave_;
      for (const LinkLayout::Part& e : l.parts) {
        const int i = place[e.at];
        if (!slave && (e.slave || i + 1 < j)) continue;
        const double* f = p + e.at;
        if (e.pair) {
          to[i] += R.c * f[0] - R.s * f[1];
          to[i + 1] += R.s * f[0] + R.c * f[1];
        } else {
          to[i] += f[0];
        }
      }
    };
    for (const LinkLayout::Part& e : l.parts) {
      const double* from = m.M.data() + e.at * ld;
      if (e.pair) {
        lanes::combine(R.c, from, -R.s, from + ld, column, m.ldx);
        inputs(column, place[e.at]);
        lanes::combine(R.s, from, R.c, from + ld, column, m.ldx);
        inputs(column, place[e.at] + 1);
      } else {
        inputs(from, place[e.at]);
      }
    }
    // Amplitudes with inputs and with each other.
    for (int j = 0; j < modes; ++j) {
      const double* p = m.M.data() + (nx + j) * ld;
      if (!l.foreign.empty()) {
        lanes::combine(1, p, 0, p, column, ld);
        for (size_t i = 0; i < l.foreign.size(); ++i) {
          const double *from = m.M.data() + l.foreign[i].at * ld,
                       *shape = shape_.data() + 2 * i * static_cast<size_t>(modes);
          lanes::add(shape[2 * j], from, column, ld);
          lanes::add(shape[2 * j + 1], from + ld, column, ld);
        }
        p = column;
      }
      double* to = z + first_mode_ + j;
      for (const LinkLayout::Part& e : l.parts) {
        const double* f = p + e.at;
        double* at = to + place[e.at] * stride;
        if (e.pair) {
          at[0] += R.c * f[0] - R.s * f[1];
          at[stride] += R.s * f[0] + R.c * f[1];
        } else {
          at[0] += f[0];
        }
      }
      to += (first_mode_ + j) * stride - j;
      for (int i = j; i < modes; ++i) {
        double sum = p[nx + i];
        for (size_t f = 0; f < l.foreign.size(); ++f) {
          const double* shape =
              shape_.data() + 2 * (f * static_cast<size_t>(modes) + static_cast<size_t>(i));
          sum += shape[0] * p[l.foreign[f].at] + shape[1] * p[l.foreign[f].at + 1];
        }
        to[i] += sum;
      }
    }
  }

  // W of a cluster by rows of slaves: −A⁻¹ (∂F/∂angles, ∂F/∂masters).
  void dependence(const Kinematics<Planar, double>& kin, const Cluster& cluster,
                  const double* factor, const double* cross) noexcept {
    const int size = cluster.size;
    double* w = w_.data();
    for (int i = 0; i < size; ++i) {
      double* row = w + i * follow_;
      lanes::clear(row, follow_);
      for (const int master : cluster.masters) row[layout_.joints + master] = -*cross++;
    }
    for (const int k : cluster.links) {
      const LinkLayout& l = layout_.links[static_cast<size_t>(k)];
      const double* turning = kin.reduced.links[static_cast<size_t>(k)].turning.data();
      for (const int joint : l.path) {
        const double turn = kin.column[static_cast<size_t>(joint)].w;
        if (turn == 0) continue;
        for (const LinkLayout::Part& p : l.parts) {
          if (!p.slave) continue;
          double* to = w + (p.component - layout_.masters - cluster.first) * follow_ + joint;
          to[0] -= turn * turning[p.at];
          if (p.pair) to[follow_] -= turn * turning[p.at + 1];
        }
      }
    }
    for (int i = 1; i < size; ++i)
      for (int k = 0; k < i; ++k)
        lanes::add(-factor[i * size + k], w + k * follow_, w + i * follow_, follow_);
    for (int i = size - 1; i >= 0; --i) {
      double* row = w + i * follow_;
      lanes::combine(factor[i * size + i], row, 0, row, row, follow_);
      for (int k = i + 1; k < size; ++k)
        lanes::add(-factor[k * size + i], w + k * follow_, row, follow_);
    }
  }

  // Z += W Yᵀ + Y Wᵀ, Y = Z_zs + ½ W Z_ss, over (joints, masters, amplitudes), rows from the diagonal on.
  void substitute(const Cluster& cluster) noexcept {
    const int size = cluster.size;
    double *y = y_.data(), *z = z_.data();
    const double* w = w_.data();
    for (int s = 0; s < size; ++s) {
      const double* from = z + (slave_ + cluster.first + s) * stride_;
      double* to = y + s * slave_;
      lanes::combine(1, from, 0, from, to, slave_);
      for (int t = 0; t < size; ++t)
        lanes::add(0.5 * from[slave_ + cluster.first + t], w + t * follow_, to, follow_);
    }
    for (int j = 0; j < rows_; ++j) {
      const int top = j / lanes::kWidth * lanes::kWidth;
      double* column = z + j * stride_;
      if (top < follow_)
        for (int s = 0; s < size; ++s)
          lanes::add(y[s * slave_ + j], w + s * follow_ + top, column + top, follow_ - top);
      if (j < first_mode_)
        for (int s = 0; s < size; ++s)
          lanes::add(w[s * follow_ + j], y + s * slave_ + top, column + top, slave_ - top);
    }
  }

  ReducedLayout layout_;
  // Places in a column: joints, masters, first_mode_ amplitudes, slave_ slaves. follow_: joints and masters, padded.
  int rows_ = 0, stride_ = 0, first_mode_ = 0, slave_ = 0, follow_ = 0;
  std::vector<double> z_, w_, y_, h_, t_, column_, other_, shape_;
  std::vector<std::vector<int>> place_;  // per link and input
  std::vector<int> joint_body_;          // per speed
};

}  // namespace panto::erls
