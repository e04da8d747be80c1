// Mass matrix of the links of a reduced model (RER-5), over (joints, masters, amplitudes).
#pragma once

#include <array>

#include "panto/mechanics/erls/reduced_forces.hpp"

namespace panto::erls {

// Assembled over (joints, masters, amplitudes | followers), the followers of a cluster being its static slaves y and the modal parts ψ of shared pairs,
// ground axes; then these give their part through W = ∂(y, ψ)/∂(joints, masters, amplitudes).
class ReducedMass {
 public:
  explicit ReducedMass(const Model& model) : layout_(model) {
    if (!layout_.active) return;
    first_mode_ = layout_.joints + layout_.masters;
    rows_ = first_mode_ + layout_.modes;
    ld_ = lanes::padded(rows_);
    followers_ = 2 * layout_.slaves;
    stride_ = ld_ + lanes::padded(followers_);
    z_.assign(static_cast<size_t>(stride_ * (ld_ + followers_)) + lanes::kWidth, 0.0);
    w_.assign(static_cast<size_t>(ld_ * followers_), 0.0);
    y_ = w_;
    p_.assign(static_cast<size_t>(ld_ * ld_), 0.0);
    size_t most = 1;
    for (const LinkLayout& l : layout_.links)
      most = std::max(most, static_cast<size_t>(lanes::padded(l.n)));
    for (std::vector<double>* v : {&h_, &t_, &column_}) v->assign(most, 0.0);
    for (const Joint& j : model.joints)
      for (int k = 0; k < j.nv; ++k)
        joint_body_.push_back(static_cast<int>(&j - model.joints.data()) + 1);
    for (int i = 0; i < layout_.slaves; ++i) modal_.push_back(follower(i, true));
    place();
  }
  [[nodiscard]] bool active() const noexcept { return layout_.active; }
  [[nodiscard]] const ReducedLayout& layout() const noexcept { return layout_; }

  // Other constants. A block of a link's M turned to ground axes is A₀ + A₁ cos α + A₂ sin α + A₃ cos 2α + A₄ sin 2α: the entries that count, in order.
  void bake(const ReducedConstants<double>& c) noexcept {
    for (size_t k = 0; k < links_.size(); ++k) {
      Link& l = links_[k];
      const LinkMatrices<double>& m = c.links[k];
      for (std::vector<double>& a : l.harmonic) std::fill(a.begin(), a.end(), 0.0);
      for (size_t e = 0; e < l.entries.size(); ++e) {
        const auto [i, j] = l.entries[e];
        const Pair &p = l.pair[static_cast<size_t>(i)], &o = l.pair[static_cast<size_t>(j)];
        const auto at = [&](int row, int column) {
          return m.M[static_cast<size_t>(column * m.ld + row)];
        };
        // (J x)_i of the row or column i: sign times the partner.
        const auto turned_row = [&](int column) { return p.sign * at(p.partner, column); };
        if (p.sign != 0 && o.sign != 0) {
          const double same = at(i, j), both = o.sign * turned_row(o.partner),
                       mixed = turned_row(j) + o.sign * at(i, o.partner);
          l.harmonic[0][e] = 0.5 * (same + both);
          l.harmonic[3][e] = 0.5 * (same - both);
          l.harmonic[4][e] = 0.5 * mixed;
        } else if (p.sign != 0) {
          l.harmonic[1][e] = at(i, j);
          l.harmonic[2][e] = turned_row(j);
        } else if (o.sign != 0) {
          l.harmonic[1][e] = at(i, j);
          l.harmonic[2][e] = o.sign * at(i, o.partner);
        } else {
          l.harmonic[0][e] = at(i, j);
        }
      }
    }
  }

  // Composite: mass, moment and inertia of the links about their origins, world axes, at fixed inputs.
  template <class Composite>
  void evaluate(const Kinematics<Planar, double>& kin, const Constants<Planar, double>& c,
                Composite* composite) noexcept {
    for (int j = 0; j < rows_; ++j) lanes::clear(z_.data() + j * stride_, ld_);
    for (int j = 0; j < followers_; ++j) lanes::clear(z_.data() + (ld_ + j) * stride_, stride_);
    for (size_t k = 0; k < links_.size(); ++k) link(kin, c.reduced, k, composite);
    if (followers_ == 0) return;
    dependence(kin, c.reduced);
    substitute();
  }

  // Entries over (joints, masters, amplitudes), i ≥ j.
  [[nodiscard]] double operator()(int i, int j) const noexcept {
    return z_[static_cast<size_t>(j * stride_ + i)];
  }
  // The same from row 0 on; what stands above the diagonal does not count.
  [[nodiscard]] const double* column(int j) const noexcept { return z_.data() + j * stride_; }
  [[nodiscard]] int stride() const noexcept { return stride_; }
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
  struct Pair {  // of a component of a: with J x = sign times its partner; sign 0: it does not turn
    int partner = 0;
    double sign = 0;
  };
  struct Link {
    std::vector<Pair> pair;                       // per component of a
    std::vector<std::pair<int, int>> entries;     // of M that are placed
    std::vector<int> to;                          // where in z
    std::array<std::vector<double>, 5> harmonic;  // padded
    // A column of a joint: entry i goes to base[i] + joint step[i].
    std::vector<int> base, step;
    std::vector<int> pairs;  // first components of pairs
  };

  // Follower of a slave component, static or modal part.
  [[nodiscard]] int follower(int slave, bool modal) const {
    for (const Cluster& c : layout_.clusters)
      if (slave >= c.first && slave < c.first + c.size)
        return c.first + slave + (modal ? c.size : 0);
    return 0;
  }

  void place() {
    for (const LinkLayout& l : layout_.links) {
      Link out;
      const auto n = static_cast<size_t>(l.n);
      std::vector<int> at(n, 0);  // in (joints, masters, amplitudes | followers)
      out.pair.resize(n);
      const auto couple = [&](int first) {
        out.pair[static_cast<size_t>(first)] = {first + 1, -1.0};
        out.pair[static_cast<size_t>(first) + 1] = {first, 1.0};
        out.pairs.push_back(first);
      };
      for (const LinkLayout::Part& p : l.parts) {
        for (int i = 0; i < (p.pair ? 2 : 1); ++i)
          at[static_cast<size_t>(p.at + i)] =
              p.slave ? ld_ + follower(p.component + i - layout_.masters, false)
                      : layout_.joints + p.component + i;
        if (p.pair) couple(p.at);
      }
      for (int i = 0; i < layout_.modes; ++i) at[static_cast<size_t>(l.nx + i)] = first_mode_ + i;
      for (const LinkLayout::Foreign& f : l.foreign) {
        for (int i = 0; i < 2; ++i)
          at[static_cast<size_t>(f.at + i)] = ld_ + follower(f.slave + i, true);
        couple(f.at);
      }
      for (int j = 0; j < l.n; ++j) {
        const int column = at[static_cast<size_t>(j)];
        for (int i = 0; i < l.n; ++i) {
          const int row = at[static_cast<size_t>(i)];
          if (column < ld_ && (row < column || row >= ld_)) continue;
          out.entries.emplace_back(i, j);
          out.to.push_back(column * stride_ + row);
        }
        out.base.push_back(column < ld_ ? column : column * stride_);
        out.step.push_back(column < ld_ ? stride_ : 1);
      }
      const auto padded = static_cast<size_t>(lanes::padded(static_cast<int>(out.to.size())));
      for (std::vector<double>& a : out.harmonic) a.assign(padded, 0.0);
      turned_.resize(std::max(turned_.size(), padded));
      links_.push_back(std::move(out));
    }
  }

  template <class Composite>
  void link(const Kinematics<Planar, double>& kin, const ReducedConstants<double>& c, size_t index,
            Composite* composite) noexcept {
    const LinkLayout& l = layout_.links[index];
    const Link& own = links_[index];
    const LinkMatrices<double>& m = c.links[index];
    const auto& b = kin.body[static_cast<size_t>(l.body)];
    const double rc = b.R.c, rs = b.R.s;
    const int ld = m.ld, n = m.n;
    const double* a = kin.reduced.links[index].a.data();
    double *h = h_.data(), *t = t_.data(), *column = column_.data(), *z = z_.data();
    {
      lanes::harmonics(own.harmonic[0].data(), own.harmonic[1].data(), own.harmonic[2].data(),
                       own.harmonic[3].data(), own.harmonic[4].data(), rc, rs,
                       static_cast<int>(own.harmonic[0].size()), turned_.data());
      const int* to = own.to.data();
      const double* from = turned_.data();
      const auto count = static_cast<int>(own.to.size());
      for (int i = 0; i < count; ++i) z[to[i]] += from[i];
    }
    // t = ∂ȧ/∂ω at fixed inputs; h + G a, then with M t.
    lanes::clear(t, ld);
    for (const int p : own.pairs) {
      t[p] = a[p + 1];
      t[p + 1] = -a[p];
    }
    const LinkState<double>& s = kin.reduced.links[index];
    lanes::copy(s.spin.data(), h, ld);
    double inertia = s.inertia + lanes::dot(h, t, ld);
    lanes::add_product(m.M.data(), ld, ld, n, t, h);
    inertia += lanes::dot(h, t, ld);
    const double *sx = m.Sx.data(), *sy = m.Sy.data();
    Composite& o = composite[l.body - 1];
    o.mass += m.mass;
    o.moment += rotate(
        b.R, Vec2<double>{s.moment.x + lanes::dot(sy, t, ld), s.moment.y - lanes::dot(sx, t, ld)});
    o.inertia += inertia;
    // Momentum of a per speed of a joint on the way to the ground, ground axes.
    const int *base = own.base.data(), *step = own.step.data();
    for (const int k : l.path) {
      const auto& twist = kin.column[static_cast<size_t>(k)];
      const auto& child = kin.body[static_cast<size_t>(joint_body_[static_cast<size_t>(k)])];
      const Vec2<double> v = twist.v + spin(twist.w, b.p - child.p);
      lanes::combine(rc * v.x + rs * v.y, sx, rc * v.y - rs * v.x, sy, twist.w, h, column, ld);
      for (const int p : own.pairs) {
        const double x = column[p], y = column[p + 1];
        column[p] = rc * x - rs * y;
        column[p + 1] = rs * x + rc * y;
      }
      for (int i = 0; i < n; ++i) z[base[i] + k * step[i]] += column[i];
    }
  }

  // W by rows of followers: of y −A⁻¹ (∂F/∂angles, ∂F/∂masters), of ψ its shapes and its turning.
  void dependence(const Kinematics<Planar, double>& kin,
                  const ReducedConstants<double>& c) noexcept {
    const double *factor = kin.reduced.factor.data(), *cross = kin.reduced.cross.data();
    const int ld = ld_;
    for (const Cluster& cluster : layout_.clusters) {
      const int size = cluster.size;
      double* w = w_.data() + 2 * cluster.first * ld;
      for (int i = 0; i < size; ++i) {
        double* row = w + i * ld;
        lanes::clear(row, ld);
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
            double* to = w + (p.component - layout_.masters - cluster.first) * ld + joint;
            to[0] -= turn * turning[p.at];
            if (p.pair) to[ld] -= turn * turning[p.at + 1];
          }
        }
      }
      for (int i = 1; i < size; ++i)
        for (int k = 0; k < i; ++k) lanes::add(-factor[i * size + k], w + k * ld, w + i * ld, ld);
      for (int i = size - 1; i >= 0; --i) {
        double* row = w + i * ld;
        lanes::scale(factor[i * size + i], row, ld);
        for (int k = i + 1; k < size; ++k) lanes::add(-factor[k * size + i], w + k * ld, row, ld);
      }
      factor += size * size;
    }
    const int modes = layout_.modes;
    for (const LinkInput& in : layout_.inputs) {
      if (in.owner < 0 || !in.pair) continue;
      const int slave = in.at - layout_.masters;
      const LinkLayout& owner = layout_.links[static_cast<size_t>(in.owner)];
      const Rot2<double> R = kin.body[static_cast<size_t>(owner.body)].R;
      double *first = w_.data() + modal_[static_cast<size_t>(slave)] * ld, *second = first + ld;
      lanes::clear(first, ld);
      lanes::clear(second, ld);
      const double* shape = c.shared.data() + slave * modes;
      const double* eta = kin.reduced.eta.data();
      double px = 0, py = 0;
      for (int j = 0; j < modes; ++j) {
        const double x = R.c * shape[j] - R.s * shape[modes + j],
                     y = R.s * shape[j] + R.c * shape[modes + j];
        first[first_mode_ + j] = x;
        second[first_mode_ + j] = y;
        px += x * eta[j];
        py += y * eta[j];
      }
      for (const int joint : owner.path) {
        const double turn = kin.column[static_cast<size_t>(joint)].w;
        first[joint] = -turn * py;
        second[joint] = turn * px;
      }
    }
  }

  // Z += W Yᵀ + Y Wᵀ, Y = Z_zf + ½ W Z_ff, over (joints, masters, amplitudes).
  void substitute() noexcept {
    double *y = y_.data(), *z = z_.data();
    const double* w = w_.data();
    const int ld = ld_;
    for (const Cluster& cluster : layout_.clusters) {
      const int first = 2 * cluster.first, size = 2 * cluster.size;
      for (int f = first; f < first + size; ++f) {
        const double* from = z + (ld + f) * stride_;
        double* to = y + f * ld;
        lanes::clear(to, ld);
        lanes::add_product(w + first * ld, ld, ld, size, from + ld + first, to);
        lanes::combine(1, from, 0.5, to, to, ld);
      }
    }
    // P = Y Wᵀ, column by column, then the lower triangle of P + Pᵀ.
    double* p = p_.data();
    for (int j = 0; j < rows_; ++j) {
      double* to = p + j * ld;
      lanes::clear(to, ld);
      lanes::add_product(y, ld, ld, followers_, w + j, to, ld);
    }
    for (int j = 0; j < rows_; ++j) {
      double* to = z + j * stride_;
      const double *from = p + j * ld, *across = p + j;
      for (int i = j; i < rows_; ++i) to[i] += from[i] + across[i * ld];
    }
  }

  ReducedLayout layout_;
  // Places in a column: joints, masters, from first_mode_ amplitudes, from ld_ followers.
  int rows_ = 0, ld_ = 0, stride_ = 0, first_mode_ = 0, followers_ = 0;
  std::vector<double> z_, w_, y_, p_, h_, t_, column_, turned_;
  std::vector<Link> links_;
  std::vector<int> modal_;       // slave component -> follower of its modal part
  std::vector<int> joint_body_;  // per speed
};

}  // namespace panto::erls
