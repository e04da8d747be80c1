#include "panto/integrate/motion_matrix.hpp"

#include <Eigen/LU>
#include <algorithm>

#include "panto/integrate/stepper.hpp"
#include "panto/mechanics/reduced_tangent.hpp"
#include "panto/numerics/sparse_lu.hpp"

namespace panto {

namespace {

// Independent coordinates from which on a sparse matrix is quicker, and from which on a full one would take too much time and memory.
constexpr int kSparse = 10, kLarge = 200;

// From the exact reduced Jacobian of ẋ = f: with A, B its derivatives of accelerations, D (I - position A - velocity B), where D turns missing
// accelerations into missing forces. Kept as its inverse, which a solution only multiplies.
class DenseMotionMatrix final : public MotionMatrix {
 public:
  explicit DenseMotionMatrix(Ode& ode)
      : ode_(ode),
        nz_(ode.independent()),
        lu_(nz_),
        weight_(nz_, nz_),
        matrix_(nz_, nz_),
        inverse_(nz_, nz_),
        right_(nz_),
        solution_(nz_) {
    ode.prepare_derivatives();
  }

  Status renew(double t, View x, View, double position, double velocity) noexcept override {
    const Status status = ode_.linearise(t, x);
    if (!usable(status)) return status;
    const Workspace& w = ode_.workspace();
    const auto zp = w.independent_positions(), zv = w.independent_speeds(),
               za = w.independent_accelerations();
    const Eigen::Index np = ode_.reduced_size() - nz_;
    const Eigen::MatrixXd& j = ode_.reduced_jacobian();
    for (Eigen::Index k = 0; k < nz_; ++k) {
      const auto at = std::lower_bound(zp.begin(), zp.end(), zv[static_cast<size_t>(k)]);
      inverse_.col(k) =
          -position * j.col(at - zp.begin()).tail(nz_) - velocity * j.col(np + k).tail(nz_);
      inverse_(k, k) += 1;
    }
    // Rows of independent accelerations: RᵀMR; a rate that follows from them lacks what is left beside R.
    const ReducedTangent& motion = ode_.motion();
    weight_.setIdentity();
    const auto place = [&](size_t k) {
      return std::lower_bound(zv.begin(), zv.end(), za[k]) - zv.begin();
    };
    for (size_t k = 0; k < za.size(); ++k) {
      const Eigen::Index column = place(k);
      for (Eigen::Index i = 0; i < nz_; ++i)
        weight_(i, column) -=
            motion.basis()(zv[static_cast<size_t>(i)], static_cast<Eigen::Index>(k));
      for (size_t i = 0; i < za.size(); ++i)
        weight_(place(i), column) =
            motion.mass()(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
    }
    // Column by column: products of large matrices allocate.
    for (Eigen::Index k = 0; k < nz_; ++k) matrix_.col(k).noalias() = weight_ * inverse_.col(k);
    lu_.compute(matrix_);
    for (Eigen::Index k = 0; k < nz_; ++k) {
      right_ = Eigen::VectorXd::Unit(nz_, k);
      inverse_.col(k) = lu_.solve(right_);
    }
    return inverse_.allFinite() ? status : Status::kSingular;
  }

  void solve(const Eigen::VectorXd& rest, const Eigen::VectorXd& ahead,
             Eigen::VectorXd& change) noexcept override {
    const auto zv = ode_.workspace().independent_speeds(),
               za = ode_.workspace().independent_accelerations();
    right_ = ahead;
    for (size_t k = 0, i = 0; k < za.size(); ++k, ++i) {
      while (zv[i] != za[k]) ++i;
      right_(static_cast<Eigen::Index>(i)) = -rest(static_cast<Eigen::Index>(k));
    }
    solution_.noalias() = inverse_ * right_;
    for (Eigen::Index i = 0; i < nz_; ++i) change(zv[static_cast<size_t>(i)]) = solution_(i);
  }

 private:
  Ode& ode_;
  Eigen::Index nz_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  Eigen::MatrixXd weight_, matrix_, inverse_;
  Eigen::VectorXd right_, solution_;
};

// [ T -Gᵀ; G 0 ] with T = M + velocity C + position K, multipliers as further unknowns; redundant rows are left out. How R changes with the pose is
// neglected: it changes the matrix by the order of the step.
class SparseMotionMatrix final : public MotionMatrix {
 public:
  explicit SparseMotionMatrix(Ode& ode)
      : ode_(ode),
        rest_(ode.workspace().independent_accelerations().size()),
        x_dot_(static_cast<size_t>(ode.size())) {
    Workspace& w = ode.workspace();
    const Model& model = w.model();
    const std::vector<double> q(static_cast<size_t>(model.nq), 0.0),
        v(static_cast<size_t>(model.nv), 0.0), u(model.inputs.size(), 0.0);
    Point x;
    x.q = q;
    x.v = x.a = v;
    x.u = x.u_rate = u;
    w.step_tangent(x, 0, 0, tangent_);
    const RowMatrix& g = w.constraint_rows();
    std::vector<std::vector<std::pair<int, int>>> columns(static_cast<size_t>(model.nv));
    for (int j = 0; j < g.rows(); ++j)
      for (int k = g.start[static_cast<size_t>(j)]; k < g.start[static_cast<size_t>(j) + 1]; ++k)
        columns[static_cast<size_t>(g.column[static_cast<size_t>(k)])].emplace_back(j, k);
    matrix_.columns = model.nv + g.rows();
    in_columns_.resize(g.column.size());
    const auto end_row = [&] { matrix_.start.push_back(static_cast<int>(matrix_.column.size())); };
    for (int i = 0; i < model.nv; ++i) {
      const auto at = static_cast<size_t>(i);
      matrix_.column.insert(matrix_.column.end(), tangent_.column.begin() + tangent_.start[at],
                            tangent_.column.begin() + tangent_.start[at + 1]);
      for (const auto& [row, entry] : columns[at]) {
        in_columns_[static_cast<size_t>(entry)] = static_cast<int>(matrix_.column.size());
        matrix_.column.push_back(model.nv + row);
      }
      end_row();
    }
    for (int j = 0; j < g.rows(); ++j) {
      const auto at = static_cast<size_t>(j);
      matrix_.column.insert(matrix_.column.end(), g.column.begin() + g.start[at],
                            g.column.begin() + g.start[at + 1]);
      matrix_.column.push_back(model.nv + j);
      end_row();
    }
    matrix_.value.assign(matrix_.column.size(), 0.0);
    right_.resize(static_cast<size_t>(matrix_.columns));
    lu_ = std::make_unique<SparseLU>(matrix_);
    // Pivots are chosen here, for the mass matrix, so that steps need not allocate.
    fill();
    (void)lu_->factor(matrix_);
  }

  Status renew(double t, View x, View rates, double position, double velocity) noexcept override {
    const Status status = ode_.imbalance(t, x, rates, x_dot_, rest_);
    if (!usable(status)) return status;
    Workspace& w = ode_.workspace();
    Point at;
    at.t = ode_.inside_window(t);
    at.q = ode_.positions();
    at.v = ode_.speeds();
    at.a = ode_.accelerations();
    at.lambda = ode_.balancing_multipliers();
    at.u = ode_.inputs();
    at.u_rate = ode_.input_rates();
    w.step_tangent(at, position, velocity, tangent_);
    ode_.count_linearisation();
    fill();
    return lu_->factor(matrix_) ? status : Status::kSingular;
  }

  void solve(const Eigen::VectorXd& rest, const Eigen::VectorXd&,
             Eigen::VectorXd& change) noexcept override {
    const auto z = ode_.workspace().independent_accelerations();
    std::fill(right_.begin(), right_.end(), 0.0);
    for (size_t i = 0; i < z.size(); ++i)
      right_[static_cast<size_t>(z[i])] = -rest(static_cast<Eigen::Index>(i));
    lu_->solve(right_.data());
    change = Eigen::Map<const Eigen::VectorXd>(right_.data(), change.size());
  }

 private:
  // matrix_ from tangent_ and the workspace's G.
  void fill() noexcept {
    const int nv = tangent_.columns;
    const RowMatrix& g = ode_.workspace().constraint_rows();
    double* value = matrix_.value.data();
    for (int i = 0; i < nv; ++i) {
      const auto row = static_cast<size_t>(i);
      std::copy(tangent_.value.begin() + tangent_.start[row],
                tangent_.value.begin() + tangent_.start[row + 1], value + matrix_.start[row]);
    }
    const auto redundant = ode_.workspace().redundant_rows();
    for (int j = 0; j < g.rows(); ++j) {
      const bool kept = std::find(redundant.begin(), redundant.end(), j) == redundant.end();
      int to = matrix_.start[static_cast<size_t>(nv + j)];
      for (auto k = static_cast<size_t>(g.start[static_cast<size_t>(j)]);
           k < static_cast<size_t>(g.start[static_cast<size_t>(j) + 1]); ++k) {
        value[to++] = kept ? g.value[k] : 0;
        value[in_columns_[k]] = kept ? -g.value[k] : 0;
      }
      value[to] = kept ? 0 : 1;
    }
  }

  Ode& ode_;
  RowMatrix tangent_, matrix_;
  std::vector<int> in_columns_;  // entry of G -> place of the same in -Gᵀ
  std::vector<double> rest_, x_dot_, right_;
  std::unique_ptr<SparseLU> lu_;
};

bool sparse(const Ode& ode) {
  const Workspace& w = ode.workspace();
  return ode.plain() && ode.independent() >= kSparse &&
         w.independent_accelerations().size() == w.independent_speeds().size();
}

}  // namespace

bool MotionMatrix::large(const Ode& ode) { return sparse(ode) && ode.independent() >= kLarge; }

std::unique_ptr<MotionMatrix> MotionMatrix::create(Ode& ode) {
  if (sparse(ode)) return std::make_unique<SparseMotionMatrix>(ode);
  return std::make_unique<DenseMotionMatrix>(ode);
}

}  // namespace panto
