// Mass matrix of the tree by composite bodies, packed along the paths to the ground, and its factorisation without fill.
#pragma once

#include "panto/mechanics/rigid/kinematics.hpp"
#include "panto/mechanics/rigid/structure.hpp"

namespace panto::rigid {

template <class S>
class TreeMass {
 public:
  TreeMass(const Model& model, const Structure& structure)
      : model_(&model),
        structure_(&structure),
        composite_(model.bodies.size()),
        packed_(static_cast<size_t>(structure.mass_start.back())),
        factor_(packed_.size()) {}

  // M at the kinematics' positions. Cost: bodies plus the sum of path lengths.
  void evaluate(const Kinematics<S, double>& kin, const Constants<S, double>& c) noexcept {
    for (size_t i = 0; i < composite_.size(); ++i) {
      const BodyConstants<S, double>& k = c.bodies[i];
      const BodyState<S, double>& b = kin.body[i + 1];
      Composite& o = composite_[i];
      const Vec com = rotate(b.R, k.com);
      o.mass = k.mass;
      o.moment = k.mass * com;
      if constexpr (S::kPlanar) {
        o.inertia = k.inertia + k.mass * dot(com, com);
      } else {
        o.inertia = shift_inertia(rotate_inertia(b.R, k.inertia), k.mass, Vec{}, com);
      }
    }
    for (size_t i = composite_.size(); i-- > 0;) {
      const Joint& j = model_->joints[i];
      const Composite& o = composite_[i];
      for (int k = j.v; k < j.v + j.nv; ++k) {
        const Column<S, double>& s = kin.column[static_cast<size_t>(k)];
        Vec f = o.mass * s.v + spin(s.w, o.moment);
        Ang n = o.inertia * s.w + moment(o.moment, s.v);
        double* entry =
            &packed_[static_cast<size_t>(structure_->mass_start[static_cast<size_t>(k)])];
        for (int l = k; l >= j.v; --l) {
          const Column<S, double>& t = kin.column[static_cast<size_t>(l)];
          *entry++ = inner(t.w, n) + dot(t.v, f);
        }
        for (size_t b = i; model_->joints[b].parent != kGround;) {
          n += moment(kin.body[b + 1].d, f);
          b = static_cast<size_t>(model_->joints[b].parent);
          const Joint& up = model_->joints[b];
          for (int l = up.v + up.nv - 1; l >= up.v; --l) {
            const Column<S, double>& t = kin.column[static_cast<size_t>(l)];
            *entry++ = inner(t.w, n) + dot(t.v, f);
          }
        }
      }
      if (j.parent == kGround) continue;
      Composite& p = composite_[static_cast<size_t>(j.parent)];
      const Vec d = kin.body[i + 1].d;
      p.inertia += shift_inertia(o.inertia, o.mass, o.moment, d);
      p.mass += o.mass;
      p.moment += o.moment + o.mass * d;
    }
  }

  // y = M x
  void multiply(const double* x, double* y) const noexcept {
    const int n = model_->nv;
    for (int j = 0; j < n; ++j) y[j] = 0;
    for (int j = 0; j < n; ++j) {
      const double* entry =
          &packed_[static_cast<size_t>(structure_->mass_start[static_cast<size_t>(j)])];
      double sum = *entry++ * x[j];
      for (int k = structure_->dof_parent[static_cast<size_t>(j)]; k >= 0;
           k = structure_->dof_parent[static_cast<size_t>(k)]) {
        sum += *entry * x[k];
        y[k] += *entry++ * x[j];
      }
      y[j] += sum;
    }
  }

  // M = Lᵀ D L along the tree. False if not positive definite.
  bool factorise() noexcept {
    factor_ = packed_;  // same size: no allocation
    for (int k = model_->nv - 1; k >= 0; --k) {
      double* row = &factor_[static_cast<size_t>(structure_->mass_start[static_cast<size_t>(k)])];
      const int length = structure_->mass_start[static_cast<size_t>(k) + 1] -
                         structure_->mass_start[static_cast<size_t>(k)];
      if (!(row[0] > 0)) return false;
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
    const int n = model_->nv;
    m.setZero(n, n);
    for (int j = 0; j < n; ++j) {
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
};

}  // namespace panto::rigid
