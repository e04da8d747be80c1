// Mass matrix of the tree by composite bodies (TREE-4), packed along the paths to the ground, and its factorisation without fill. Beams add
// theirs to it; with them the factorisation is not for use.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "panto/mechanics/beam_mass.hpp"
#include "panto/mechanics/rigid/structure.hpp"

namespace panto::rigid {

// Zero, of this size. Eigen clears entry by entry; the string instruction of a long memset is counted byte by byte by those who count instructions.
inline void clear(Eigen::MatrixXd& m, Eigen::Index rows, Eigen::Index columns) {
  constexpr Eigen::Index kRun = 128;
  m.resize(rows, columns);
  for (Eigen::Index at = 0; at < m.size(); at += kRun)
    std::memset(m.data() + at, 0,
                static_cast<size_t>(std::min(kRun, m.size() - at)) * sizeof(double));
}

template <class S>
class TreeMass {
 public:
  TreeMass(const Model& model, const Structure& structure)
      : model_(&model),
        structure_(&structure),
        composite_(model.bodies.size()),
        packed_(static_cast<size_t>(structure.mass_start.back())),
        factor_(packed_.size()) {
    if (!model.beams.empty()) beams_ = std::make_unique<BeamMass>(model);
  }

  // Other constants.
  void bake(const Constants<S, double>& c) noexcept {
    if constexpr (S::kPlanar)
      if (beams_) beams_->bake(c);
  }

  // M at the kinematics' positions. Cost: bodies plus the sum of path lengths.
  void evaluate(const Kinematics<S, double>& kin, const Constants<S, double>& c) noexcept {
    const Joint* joints = model_->joints.data();
    const BodyState<S, double>* bodies = kin.body.data() + 1;
    const Column<S, double>* columns = kin.column.data();
    const BodyConstants<S, double>* constants = c.bodies.data();
    const int* start = structure_->mass_start.data();
    Composite* composite = composite_.data();
    const auto n_bodies = static_cast<int>(composite_.size());
    for (int i = 0; i < n_bodies; ++i) {
      const BodyConstants<S, double>& k = constants[i];
      const Vec com = rotate(bodies[i].R, k.com);
      Composite& o = composite[i];
      o.mass = k.mass;
      o.moment = k.mass * com;
      if constexpr (S::kPlanar) {
        o.inertia = k.inertia + k.mass * dot(com, com);
      } else {
        o.inertia = shift_inertia(rotate_inertia(bodies[i].R, k.inertia), k.mass, Vec{}, com);
      }
    }
    if constexpr (S::kPlanar)
      if (beams_) beams_->evaluate(kin, c, composite);
    for (int i = n_bodies - 1; i >= 0; --i) {
      const Joint& j = joints[i];
      const Composite& o = composite[i];
      for (int k = j.v; k < j.v + j.nv; ++k) {
        const Column<S, double>& s = columns[k];
        const Vec f = o.mass * s.v + spin(s.w, o.moment);
        Ang n = o.inertia * s.w + moment(o.moment, s.v);
        double* entry = &packed_[static_cast<size_t>(start[k])];
        for (int l = k; l >= j.v; --l) *entry++ = inner(columns[l].w, n) + dot(columns[l].v, f);
        for (int b = i; joints[b].parent != kGround;) {
          n += moment(bodies[b].d, f);
          b = joints[b].parent;
          const Joint& up = joints[b];
          for (int l = up.v + up.nv - 1; l >= up.v; --l)
            *entry++ = inner(columns[l].w, n) + dot(columns[l].v, f);
        }
      }
      if (j.parent == kGround) continue;
      Composite& p = composite[j.parent];
      const Vec d = bodies[i].d;
      p.inertia += shift_inertia(o.inertia, o.mass, o.moment, d);
      p.mass += o.mass;
      p.moment += o.moment + o.mass * d;
    }
    if (beams_ && beams_->full())
      beams_->complete([this](double* to, int ld) {
        const int* parent = structure_->dof_parent.data();
        const double* entry = packed_.data();
        for (int j = 0; j < model_->joint_nv(); ++j)
          for (int k = j; k >= 0; k = parent[k]) to[k * ld + j] += *entry++;
      });
  }

  // y = M x; still: the displacements of beams in x are zero.
  void multiply(const double* x, double* y, bool still = false) noexcept {
    if (beams_ && beams_->full()) {
      beams_->multiply_full(x, y, still);
      return;
    }
    const int n = model_->joint_nv();
    const int* parent = structure_->dof_parent.data();
    const double* entry = packed_.data();
    for (int j = 0; j < n; ++j) {
      const double xj = x[j];
      double sum = *entry++ * xj;
      for (int k = parent[j]; k >= 0; k = parent[k]) {
        sum += *entry * x[k];
        y[k] += *entry++ * xj;
      }
      y[j] = sum;  // speeds nearer the ground come first: y[k] is already there
    }
    if (beams_) beams_->multiply(x, y, still);
  }

  // The beams' own part, with the block of their displacements and its factor.
  [[nodiscard]] BeamMass* beams() noexcept { return beams_.get(); }
  [[nodiscard]] const BeamMass* beams() const noexcept { return beams_.get(); }

  // M = Lᵀ D L along the tree. False if not positive definite.
  bool factorise() noexcept {
    factor_ = packed_;  // same size: no allocation
    for (int k = model_->nv - 1; k >= 0; --k) {
      double* row = &factor_[static_cast<size_t>(structure_->mass_start[static_cast<size_t>(k)])];
      const int length = structure_->mass_start[static_cast<size_t>(k) + 1] -
                         structure_->mass_start[static_cast<size_t>(k)];
      // A pivot that is round-off of its diagonal entry: a motion without inertia.
      if (!(row[0] >
            1e-13 * packed_[static_cast<size_t>(structure_->mass_start[static_cast<size_t>(k)])]))
        return false;
      int i = k;
      for (int p = 1; p < length; ++p) {
        i = structure_->dof_parent[static_cast<size_t>(i)];
        const double l = row[p] / row[0];
        double* up = &factor_[static_cast<size_t>(structure_->mass_start[static_cast<size_t>(i)])];
        for (int s = p; s < length; ++s) up[s - p] -= l * row[s];
        row[p] = l;
      }
    }
    return true;
  }

  // x <- M⁻¹ x, after factorise().
  void solve(double* x) const noexcept {
    const int n = model_->nv;
    for (int i = n - 1; i >= 0; --i) {
      const double* row =
          &factor_[static_cast<size_t>(structure_->mass_start[static_cast<size_t>(i)])];
      const double xi = x[i];
      x[i] = xi / *row++;
      for (int k = structure_->dof_parent[static_cast<size_t>(i)]; k >= 0;
           k = structure_->dof_parent[static_cast<size_t>(k)])
        x[k] -= *row++ * xi;
    }
    for (int i = 0; i < n; ++i) {
      const double* row =
          &factor_[static_cast<size_t>(structure_->mass_start[static_cast<size_t>(i)])] + 1;
      for (int k = structure_->dof_parent[static_cast<size_t>(i)]; k >= 0;
           k = structure_->dof_parent[static_cast<size_t>(k)])
        x[i] -= *row++ * x[k];
    }
  }

  void dense(Eigen::MatrixXd& m) const {
    clear(m, model_->nv, model_->nv);
    if (!beams_ || !beams_->full()) place_joints(m);
    if (beams_) beams_->dense(m);
  }
  // The block of the joints, first in a matrix that is zero there.
  void place_joints(Eigen::MatrixXd& m) const noexcept {
    for (int j = 0; j < model_->joint_nv(); ++j) {
      const double* entry =
          &packed_[static_cast<size_t>(structure_->mass_start[static_cast<size_t>(j)])];
      for (int k = j; k >= 0; k = structure_->dof_parent[static_cast<size_t>(k)])
        m(j, k) = m(k, j) = *entry++;
    }
  }

 private:
  using Vec = typename S::template Vec<double>;
  using Ang = typename S::template Ang<double>;
  struct Composite {  // about the body origin, world axes
    double mass = 0;
    Vec moment{};
    typename S::template Inertia<double> inertia{};
  };
  const Model* model_;
  const Structure* structure_;
  std::vector<Composite> composite_;
  std::vector<double> packed_, factor_;
  std::unique_ptr<BeamMass> beams_;
};

}  // namespace panto::rigid
