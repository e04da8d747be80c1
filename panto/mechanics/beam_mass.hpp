// Mass matrix of the beams (ERLS-4, ANCF-3): what they add to the composite bodies of their links, the sparse block of the elastic coordinates with its
// factor, and the coupling of displacements and joints.
#pragma once

#include <map>

#include "panto/mechanics/ancf/forces.hpp"
#include "panto/mechanics/erls/reduced_mass.hpp"
#include "panto/numerics/sparse_cholesky.hpp"

namespace panto::rigid {

class BeamMass {
 public:
  explicit BeamMass(const Model& model)
      : model_(&model),
        joints_(static_cast<size_t>(model.joint_nv())),
        elastic_(model.elastic.size()),
        coupling_(joints_ * elastic_),
        pattern_(pattern_of(model, element_entry_, ancf_entry_, turn_entry_)),
        block_(pattern_.size()),
        constant_(pattern_.size()),
        factor_(static_cast<int>(elastic_), pattern_),
        reduced_(model) {
    full_ = reduced_.active();
    if (!full_) return;
    turning_.resize(joints_ * joints_);
    for (int dof = model.joint_nv(); dof < model.nv; ++dof) {
      reduced_row_.push_back(reduced_.row_of(dof));
      full_ = full_ && reduced_row_.back() == dof;
    }
    if (!full_) return;
    const int n = static_cast<int>(elastic_), rows = lanes::padded(n);
    full_factor_.resize(static_cast<size_t>(n * rows));
    pivots_.resize(3 * elastic_);
    right_.resize(static_cast<size_t>(rows), 0.0);
    ld_ = lanes::padded(model.nv);
    joint_columns_.resize(joints_ * static_cast<size_t>(ld_));
    product_.resize(static_cast<size_t>(ld_));
  }

  // Other constants: the part of ANCF beams anew, which no pose changes.
  void bake(const Constants<Planar, double>& c) noexcept {
    std::fill(constant_.begin(), constant_.end(), 0.0);
    const int* entry = ancf_entry_.data();
    const auto add = [&](double mass) {
      for (int component = 0; component < 2; ++component, ++entry)
        if (*entry >= 0) constant_[static_cast<size_t>(*entry)] += mass;
    };
    for (const ancf::ElementConstants<double>& e : c.ancf.elements) {
      for (size_t i = 0; i < 4; ++i)
        for (size_t j = 0; j <= i; ++j) add(e.mass[4 * i + j]);
      if (!e.shear) continue;
      add(e.section_mass);
      add(0.5 * e.section_mass);
      add(e.section_mass);
    }
    inertia_turns_ = false;
    for (size_t i = 0; i < c.ancf.nodes.size(); ++i) {
      const AncfNode& n = model_->ancf_nodes[i];
      for (const int dof : n.place)
        if (dof >= 0) constant_[static_cast<size_t>(dof) - joints_] += c.ancf.nodes[i].mass;
      inertia_turns_ = inertia_turns_ || c.ancf.nodes[i].inertia != 0;
    }
    factored_ = false;
    if (reduced_.active()) reduced_.bake(c.reduced);
  }

  // Composite: mass, moment and inertia about the body's origin, world axes.
  template <class Composite>
  void evaluate(const Kinematics<Planar, double>& kin, const Constants<Planar, double>& c,
                Composite* composite) noexcept {
    if (full_) {
      reduced_.evaluate(kin, c, composite);
      return;
    }
    for (double& e : coupling_) e = 0;
    std::copy(constant_.begin(), constant_.end(), block_.begin());
    if (inertia_turns_) turning_inertia(kin, c);
    if (reduced_.active()) {
      reduced_.evaluate(kin, c, composite);
      take_reduced();
      return;
    }
    const size_t first = model_->bodies.size() + 1;
    for (size_t i = 0; i < kin.node.size(); ++i) {
      const double mass = c.beams.nodes[i].mass, inertia = c.beams.nodes[i].inertia;
      if (mass == 0 && inertia == 0) continue;
      const BeamNode& n = model_->nodes[i];
      const int link = model_->beams[static_cast<size_t>(n.beam)].body;
      const Vec2<double> d = kin.body[first + i].d;
      Composite& o = composite[link];
      o.mass += mass;
      o.moment += mass * d;
      o.inertia += mass * dot(d, d) + inertia;
      couple(kin, n.dof[0], link, {mass, 0}, -mass * d.y);
      couple(kin, n.dof[1], link, {0, mass}, mass * d.x);
      couple(kin, n.dof[2], link, {0, 0}, inertia);
      add_diagonal(n.dof[0], mass);
      add_diagonal(n.dof[1], mass);
      add_diagonal(n.dof[2], inertia);
    }
    const int* entry = element_entry_.data();
    for (const erls::ElementConstants<double>& e : c.beams.elements) {
      element(kin, c, e, entry, composite);
      entry += kEntries;
    }
  }

  // y += what is beyond the joints' own block; y of the displacements is set. `still`: those of x are zero.
  void multiply(const double* x, double* y, bool still) const noexcept {
    const double* u = x + joints_;
    double* out = y + joints_;
    if (reduced_.active())
      for (size_t i = 0; i < joints_; ++i)
        for (size_t j = 0; j < joints_; ++j) y[i] += turning_[i * joints_ + j] * x[j];
    for (size_t k = 0; k < elastic_; ++k) {
      const double* row = coupling_.data() + k * joints_;
      double sum = 0;
      for (size_t j = 0; j < joints_; ++j) sum += row[j] * x[j];
      out[k] = sum;
    }
    if (still) return;
    for (size_t k = 0; k < elastic_; ++k)
      for (size_t j = 0; j < joints_; ++j) y[j] += coupling_[k * joints_ + j] * u[k];
    for (size_t k = 0; k < block_.size(); ++k) {
      const auto [i, j] = pattern_[k];
      out[i] += block_[k] * u[j];
      if (i != j) out[j] += block_[k] * u[i];
    }
  }

  // All elastic coordinates are those of reduced links: M is dense, and kept by columns of the joints and of the block below the diagonal.
  [[nodiscard]] bool full() const noexcept { return full_; }
  // With the joints' own block, by add(columns, ld) on the lower triangle.
  template <class Add>
  void complete(const Add& add) noexcept {
    const int n = static_cast<int>(joints_);
    double* columns = joint_columns_.data();
    for (int j = 0; j < n; ++j) lanes::copy(reduced_.column(j), columns + j * ld_, ld_);
    add(columns, ld_);
    for (int j = 1; j < n; ++j)
      for (int i = 0; i < j; ++i) columns[j * ld_ + i] = columns[i * ld_ + j];
  }
  // y = M x, all of it; still: elastic entries of x are zero.
  void multiply_full(const double* x, double* y, bool still) noexcept {
    const int n = static_cast<int>(joints_), ne = static_cast<int>(elastic_);
    double* sum = product_.data();
    lanes::clear(sum, ld_);
    lanes::add_product(joint_columns_.data(), ld_, ld_, n, x, sum);
    for (int i = 0; i < n + ne; ++i) y[i] = sum[i];
    if (still) return;
    const double* u = x + n;
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < ne; ++k)
        y[j] += joint_columns_[static_cast<size_t>(j * ld_ + n + k)] * u[k];
    for (int j = 0; j < ne; ++j)
      for (int i = j; i < ne; ++i) {
        const double e = reduced_(n + i, n + j);
        y[n + i] += e * u[j];
        if (i != j) y[n + j] += e * u[i];
      }
  }
  // Entries of the block of the elastic coordinates, i ≥ j, and its columns from row `joints` on.
  [[nodiscard]] const double* block_column(int j) const noexcept {
    return reduced_.column(static_cast<int>(joints_) + j) + joints_;
  }
  // Coupling and turning as other models have them.
  void spill() noexcept {
    if (!full_) return;
    const int n = static_cast<int>(joints_);
    for (int j = 0; j < n; ++j) {
      const double* column = reduced_.column(j);
      for (int i = 0; i < static_cast<int>(elastic_); ++i)
        coupling_[static_cast<size_t>(i * n + j)] = column[n + i];
      for (int i = j; i < n; ++i)
        turning_[static_cast<size_t>(i * n + j)] = turning_[static_cast<size_t>(j * n + i)] =
            column[i];
    }
  }

  // Block of the displacements: its factor, false where it is not positive definite; x <- its inverse times x.
  [[nodiscard]] bool factorise(double tolerance) noexcept {
    if (full_) {
      const int n = static_cast<int>(elastic_), rows = lanes::padded(n);
      for (int j = 0; j < n; ++j)
        lanes::copy(block_column(j), full_factor_.data() + j * rows, rows);
      return lanes::factor(full_factor_.data(), n, rows, tolerance, pivots_.data());
    }
    if (factored_) return true;
    factored_ = factor_.factor(block_.data(), tolerance);
    const bool good = factored_;
    if (!constant()) factored_ = false;
    return good;
  }
  // The block is the same in all poses.
  [[nodiscard]] bool constant() const noexcept { return model_->nodes.empty() && !inertia_turns_; }
  void solve(double* x) noexcept {
    if (!full_) {
      factor_.solve(x);
      return;
    }
    const int n = static_cast<int>(elastic_);
    double* right = right_.data();
    for (int i = 0; i < n; ++i) right[i] = x[i];
    lanes::solve(full_factor_.data(), n, lanes::padded(n), pivots_.data(), right);
    for (int i = 0; i < n; ++i) x[i] = right[i];
  }
  // Row of an elastic coordinate in the coupling with joints; all zero without ERLS beams.
  [[nodiscard]] const double* coupling(size_t coordinate) const noexcept {
    return coupling_.data() + coordinate * joints_;
  }
  [[nodiscard]] bool coupled() const noexcept { return !model_->nodes.empty() && joints_ > 0; }

  void dense(Eigen::MatrixXd& m) const {
    const auto n = static_cast<Eigen::Index>(joints_);
    if (full_) {
      for (Eigen::Index j = 0; j < n; ++j)
        for (Eigen::Index i = 0; i < m.rows(); ++i)
          m(i, j) = m(j, i) = joint_columns_[static_cast<size_t>(j * ld_ + i)];
      place_block(n, m);
      return;
    }
    for (size_t k = 0; k < elastic_; ++k) {
      const auto row = n + static_cast<Eigen::Index>(k);
      for (size_t j = 0; j < joints_; ++j)
        m(row, static_cast<Eigen::Index>(j)) = m(static_cast<Eigen::Index>(j), row) =
            coupling_[k * joints_ + j];
    }
    add_turning(m);
    place_block(n, m);
  }
  // What shared displacements of a reduced model, which follow the joints, add to the joints' own block.
  void add_turning(Eigen::MatrixXd& m) const noexcept {
    if (!reduced_.active()) return;
    for (size_t i = 0; i < joints_; ++i)
      for (size_t j = 0; j < joints_; ++j)
        m(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) += turning_[i * joints_ + j];
  }
  // The block of the displacements in a matrix that is zero there, from row and column `first`.
  void place_block(Eigen::Index first, Eigen::MatrixXd& m) const noexcept {
    if (full_) {
      const auto n = static_cast<int>(elastic_);
      for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i)
          m(first + i, first + j) = m(first + j, first + i) = block_column(j)[i];
      return;
    }
    for (size_t k = 0; k < block_.size(); ++k) {
      const auto [i, j] = pattern_[k];
      m(first + i, first + j) = m(first + j, first + i) = block_[k];
    }
  }

 private:
  using Kin = Kinematics<Planar, double>;

  static constexpr int kEntries = 21;  // lower triangle of an element's matrix, by rows

  // Lower triangle of the block: all diagonal entries, then what elements add; `entry`: where each entry of each ERLS element stands, -1: nowhere;
  // `ancf`: the same for both components of each pair of nodal vectors of ANCF elements, in the order of bake(); `turn`: of both
  // components of the gradient that the inertia of each ANCF node turns with.
  static std::vector<std::pair<int, int>> pattern_of(const Model& m, std::vector<int>& entry,
                                                     std::vector<int>& ancf,
                                                     std::vector<int>& turn) {
    std::vector<std::pair<int, int>> pattern;
    std::map<std::pair<int, int>, int> known;
    const auto place = [&](int i, int j) {
      const auto [at, fresh] =
          known.try_emplace({std::max(i, j), std::min(i, j)}, static_cast<int>(pattern.size()));
      if (fresh) pattern.push_back(at->first);
      return at->second;
    };
    for (int i = 0; i < static_cast<int>(m.elastic.size()); ++i) place(i, i);
    if (m.reduction.active()) {
      const int end =
          m.reduction.first_mode + static_cast<int>(m.reduction.modes.size()) - m.joint_nv();
      for (int i = 0; i < end; ++i)
        for (int j = 0; j < i; ++j) place(i, j);
    }
    for (const BeamSpan& e : m.elements) {
      const auto dof = [&](int i) {
        return m.nodes[static_cast<size_t>(e.node + i / 3)].dof[static_cast<size_t>(i % 3)];
      };
      for (int i = 0; i < 6 && !m.reduction.active(); ++i)
        for (int j = 0; j <= i; ++j)
          entry.push_back(
              dof(i) < 0 || dof(j) < 0 ? -1 : place(dof(i) - m.joint_nv(), dof(j) - m.joint_nv()));
    }
    const auto pair = [&](const std::array<int, 2>& a, const std::array<int, 2>& b) {
      for (size_t k = 0; k < 2; ++k)
        ancf.push_back(a[k] < 0 || b[k] < 0 ? -1 : place(a[k] - m.joint_nv(), b[k] - m.joint_nv()));
    };
    for (const BeamSpan& e : m.ancf_elements) {
      const auto dofs = ancf::detail::axis_dofs(m, e.node);
      for (size_t i = 0; i < 4; ++i)
        for (size_t j = 0; j <= i; ++j) pair(*dofs[i], *dofs[j]);
      if (m.beams[static_cast<size_t>(e.beam)].kind != BeamKind::kAncfShear) continue;
      const AncfNode &a = m.ancf_nodes[static_cast<size_t>(e.node)],
                     &b = m.ancf_nodes[static_cast<size_t>(e.node) + 1];
      pair(a.section, a.section);
      pair(b.section, a.section);
      pair(b.section, b.section);
    }
    for (const AncfNode& n : m.ancf_nodes) {
      const std::array<int, 2>& g = ancf::detail::gradient_dofs(m, n, 0);
      turn.push_back(n.inertia >= 0 && g[0] >= 0 && g[1] >= 0
                         ? place(g[0] - m.joint_nv(), g[1] - m.joint_nv())
                         : -1);
    }
    return pattern;
  }
  // I ∂φ/∂g (∂φ/∂g)ᵀ of lumped inertias.
  void turning_inertia(const Kin& kin, const Constants<Planar, double>& c) noexcept {
    for (size_t i = 0; i < c.ancf.nodes.size(); ++i) {
      const double inertia = c.ancf.nodes[i].inertia;
      if (inertia == 0) continue;
      const AncfNode& n = model_->ancf_nodes[i];
      const Vec2<double>& g = ancf::detail::gradient(*model_, n, 0, kin.ancf_node[i]);
      const std::array<int, 2>& dofs = ancf::detail::gradient_dofs(*model_, n, 0);
      const double square = dot(g, g), factor = inertia / (square * square);
      add_diagonal(dofs[0], factor * g.y * g.y);
      add_diagonal(dofs[1], factor * g.x * g.x);
      if (turn_entry_[i] >= 0) block_[static_cast<size_t>(turn_entry_[i])] -= factor * g.x * g.y;
    }
  }
  void take_reduced() noexcept {
    const auto reduced = [this](size_t i) { return reduced_row_[i] >= 0; };
    for (size_t k = 0; k < block_.size(); ++k) {
      const auto i = static_cast<size_t>(pattern_[k].first),
                 j = static_cast<size_t>(pattern_[k].second);
      if (reduced(i) && reduced(j)) block_[k] += reduced_(reduced_row_[i], reduced_row_[j]);
    }
    for (size_t k = 0; k < elastic_; ++k)
      for (size_t j = 0; j < joints_ && reduced(k); ++j)
        coupling_[k * joints_ + j] = reduced_(reduced_row_[k], static_cast<int>(j));
    for (size_t i = 0; i < joints_; ++i)
      for (size_t j = 0; j < joints_; ++j)
        turning_[i * joints_ + j] =
            reduced_(static_cast<int>(std::max(i, j)), static_cast<int>(std::min(i, j)));
  }
  void add_diagonal(int dof, double value) noexcept {
    if (dof >= 0) block_[static_cast<size_t>(dof) - joints_] += value;
  }
  // Wrench on the link per unit acceleration of a displacement, projected on the joints that carry the link.
  void couple(const Kin& kin, int dof, int link, const Vec2<double>& f, double n) noexcept {
    if (dof < 0) return;
    double* row = coupling_.data() + static_cast<size_t>(dof - static_cast<int>(joints_)) * joints_;
    for (int b = link; b != kGround;) {
      const Joint& j = model_->joints[static_cast<size_t>(b)];
      for (int k = j.v; k < j.v + j.nv; ++k) {
        const auto& s = kin.column[static_cast<size_t>(k)];
        row[k] += s.w * n + dot(s.v, f);
      }
      n += moment(kin.body[static_cast<size_t>(b + 1)].d, f);
      b = j.parent;
    }
  }

  // In link axes, v and ω of the link, w = T u̇: c = E v + s ω + w, momentum of w per ω: h = M s + G d.
  template <class Composite>
  void element(const Kin& kin, const Constants<Planar, double>& c,
               const erls::ElementConstants<double>& e, const int* entry,
               Composite* composite) noexcept {
    const auto& link = kin.body[static_cast<size_t>(e.body)];
    const auto at = static_cast<size_t>(e.node_a);
    const BeamMatrices<double>& m = e.matrices;
    BeamVector<double> u = BeamVector<double>::Zero();
    if (e.terms == LinkTerms::kComplete)
      for (int k = 0; k < 2; ++k) {
        const erls::NodeState<double>& s = kin.node[at + static_cast<size_t>(k)];
        u.segment<3>(3 * k) << s.u.x, s.u.y, s.turn;
      }
    const BeamVector<double> d = to_local(link.R, u);
    BeamVector<double> s;
    s << d[1], c.beams.nodes[at].x - d[0], 1, d[4], c.beams.nodes[at + 1].x - d[3], 1;
    const BeamVector<double> gd = m.G * d, ms = m.M * s, h = ms + gd;
    Composite& o = composite[e.body - 1];
    o.mass += e.mass;
    o.moment += rotate(link.R, Vec2<double>{h[1] + h[4], -(h[0] + h[3])});
    o.inertia += s.dot(ms) + 2 * s.dot(gd) + d.dot(m.M_translation * d);
    const BeamMatrix<double> mass = to_global(link.R, m.M);
    const BeamVector<double> turning = to_global(link.R, h);
    for (int i = 0; i < 6; ++i) {
      const int row =
          model_->nodes[at + static_cast<size_t>(i / 3)].dof[static_cast<size_t>(i % 3)];
      if (row >= 0)
        couple(kin, row, e.body - 1, {mass(i, 0) + mass(i, 3), mass(i, 1) + mass(i, 4)},
               turning[i]);
      for (int j = 0; j <= i; ++j, ++entry)
        if (*entry >= 0) block_[static_cast<size_t>(*entry)] += mass(i, j);
    }
  }

  const Model* model_;
  size_t joints_, elastic_;
  std::vector<double> coupling_;    // rows: displacements
  std::vector<int> element_entry_;  // kEntries per ERLS element
  std::vector<int> ancf_entry_, turn_entry_;
  std::vector<std::pair<int, int>> pattern_;  // of block_, in displacements
  std::vector<double> block_, constant_;
  bool inertia_turns_ = false;  // lumped inertias on ANCF nodes
  bool factored_ = false;       // and the block is constant
  SparseCholesky factor_;
  erls::ReducedMass reduced_;
  std::vector<int> reduced_row_;  // elastic coordinate -> row of reduced_, -1: of an ANCF beam
  std::vector<double> turning_;
  // All elastic coordinates are those of reduced_, in its order: their block is dense.
  bool full_ = true;
  std::vector<double> full_factor_, pivots_, right_, product_;
  int ld_ = 0;
  std::vector<double> joint_columns_;  // ld_ apart
};

}  // namespace panto::rigid
