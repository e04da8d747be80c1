#include "panto/integrate/motion_matrix.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "panto/integrate/motion_saddle.hpp"
#include "panto/integrate/stepper.hpp"
#include "panto/mechanics/reduced_tangent.hpp"
#include "panto/numerics/sparse_lu.hpp"

namespace panto {

namespace {

// Independent coordinates from which on a sparse matrix is quicker, and from which on a full one would take too much time and memory.
constexpr int kSparse = 10, kLarge = 200;
// Of beams: from so many on the fastest vibration is some ten thousand times as fast as the slowest.
constexpr int kManyVibrations = 64;
// Up to so many, products with an inverse are quicker than solutions with sparse factors.
constexpr int kInverse = 64;

// The inverse of a matrix that changes smoothly with time: the last ones that were made, and the polynomial through as many of them as would have
// foretold the newest best (INT-14).
class InverseInTime {
 public:
  void resize(Eigen::Index rows, Eigen::Index columns) {
    for (Made& m : made_) m.inverse.setZero(rows, columns);
    now_.setZero(rows, columns);
  }
  void forget() noexcept { count_ = used_ = 0; }
  // The inverse made at t.
  void add(double t, const Eigen::MatrixXd& inverse) noexcept {
    if (count_ == 0 || made_[0].t != t) {
      used_ = 1;
      double least = std::numeric_limits<double>::infinity();
      for (size_t n = 1; n <= count_; ++n) {
        extrapolate(t, n);
        const double error = (now_ - inverse).squaredNorm();
        if (!(error < least)) continue;
        least = error;
        used_ = n + 1;
      }
      std::rotate(made_.begin(), made_.end() - 1, made_.end());
      count_ = std::min(count_ + 1, made_.size());
      used_ = std::min(used_, count_);
    }
    made_[0].t = t;
    made_[0].inverse = inverse;
    now_ = inverse;
  }
  void foretell(double t) noexcept {
    if (count_ > 0) extrapolate(t, used_);
  }
  [[nodiscard]] const Eigen::MatrixXd& now() const { return now_; }

 private:
  static constexpr size_t kMade = 3;
  struct Made {
    double t = 0;
    Eigen::MatrixXd inverse;
  };
  // Through the newest n.
  void extrapolate(double t, size_t n) noexcept {
    std::array<double, kMade> w{};
    for (size_t i = 0; i < n; ++i) {
      w[i] = 1;
      for (size_t j = 0; j < n; ++j)
        if (j != i) w[i] *= (t - made_[j].t) / (made_[i].t - made_[j].t);
    }
    if (n == 1)
      now_ = made_[0].inverse;
    else if (n == 2)
      now_ = w[0] * made_[0].inverse + w[1] * made_[1].inverse;
    else
      now_ = w[0] * made_[0].inverse + w[1] * made_[1].inverse + w[2] * made_[2].inverse;
  }

  std::array<Made, kMade> made_;  // newest first
  size_t count_ = 0, used_ = 0;   // known, and those that serve
  Eigen::MatrixXd now_;
};

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
    kept_.resize(nz_, nz_);
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
    if (!inverse_.allFinite()) return Status::kSingular;
    kept_.add(t, inverse_);
    return status;
  }
  void foretell(double t) noexcept override { kept_.foretell(t); }
  void forget() noexcept override { kept_.forget(); }

  void solve(const Eigen::VectorXd& rest, const Eigen::VectorXd& ahead,
             Eigen::VectorXd& change) noexcept override {
    const auto zv = ode_.workspace().independent_speeds(),
               za = ode_.workspace().independent_accelerations();
    right_ = ahead;
    for (size_t k = 0, i = 0; k < za.size(); ++k, ++i) {
      while (zv[i] != za[k]) ++i;
      right_(static_cast<Eigen::Index>(i)) = -rest(static_cast<Eigen::Index>(k));
    }
    solution_.noalias() = kept_.now() * right_;
    for (Eigen::Index i = 0; i < nz_; ++i) change(zv[static_cast<size_t>(i)]) = solution_(i);
  }

 private:
  Ode& ode_;
  Eigen::Index nz_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  Eigen::MatrixXd weight_, matrix_, inverse_;
  InverseInTime kept_;
  Eigen::VectorXd right_, solution_;
};

// [ T -Gᵀ; G 0 ] with T = M + velocity C + position K, multipliers as further unknowns; redundant rows are left out. How R changes with the pose is
// neglected: it changes the matrix by the order of the step. Of small ones the inverse is kept, as far as it answers imbalances.
class SparseMotionMatrix final : public MotionMatrix {
 public:
  explicit SparseMotionMatrix(Ode& ode)
      : ode_(ode),
        saddle_(ode.workspace()),
        tangent_(saddle_.tangent()),
        rest_(ode.workspace().independent_accelerations().size()),
        lu_(saddle_.pattern()) {
    const Model& model = ode.workspace().model();
    matrix_.resize(saddle_.pattern().column.size());
    const Eigen::Index n = ode.independent(), small = n <= kInverse ? n : 1;
    columns_.setZero(saddle_.pattern().columns, small);
    if (n <= kInverse) {
      kept_.emplace();
      kept_->resize(model.nv, n);
      inverse_.setZero(model.nv, n);
    }
    // Pivots are chosen here, for the mass matrix, so that steps need not allocate.
    saddle_.fill(ode.workspace(), tangent_.value, matrix_);
    (void)lu_.factor(matrix_);
  }

  Status renew(double t, View x, View rates, double position, double velocity) noexcept override {
    Point at;
    const Status status = balanced_point(ode_, t, x, rates, rest_, at);
    if (!usable(status)) return status;
    Workspace& w = ode_.workspace();
    w.step_tangent(at, position, velocity, tangent_);
    ode_.count_linearisation();
    saddle_.fill(w, tangent_.value, matrix_);
    if (!lu_.factor(matrix_)) return Status::kSingular;
    if (!kept_) return status;
    const auto z = w.independent_accelerations();
    columns_.setZero();
    for (Eigen::Index i = 0; i < columns_.cols(); ++i) columns_(z[static_cast<size_t>(i)], i) = 1;
    lu_.solve(columns_.data(), static_cast<int>(columns_.cols()));
    inverse_ = columns_.topRows(inverse_.rows());
    if (!inverse_.allFinite()) return Status::kSingular;
    kept_->add(t, inverse_);
    return status;
  }
  void foretell(double t) noexcept override {
    if (kept_) kept_->foretell(t);
  }
  void forget() noexcept override {
    if (kept_) kept_->forget();
  }

  void solve(const Eigen::VectorXd& rest, const Eigen::VectorXd&,
             Eigen::VectorXd& change) noexcept override {
    if (kept_) {
      change.noalias() = kept_->now() * rest;
      change *= -1;
      return;
    }
    const auto z = ode_.workspace().independent_accelerations();
    columns_.setZero();
    for (size_t i = 0; i < z.size(); ++i) columns_(z[i], 0) = -rest(static_cast<Eigen::Index>(i));
    lu_.solve(columns_.data(), 1);
    change = columns_.col(0).head(change.size());
  }

 private:
  Ode& ode_;
  MotionSaddle saddle_;
  RowMatrix tangent_;
  std::vector<double> matrix_, rest_;
  SparseLU lu_;
  Eigen::MatrixXd columns_;  // right-hand sides, then solutions
  Eigen::MatrixXd inverse_;
  std::optional<InverseInTime> kept_;
};

bool sparse(const Ode& ode) {
  const Workspace& w = ode.workspace();
  return ode.plain() && ode.independent() >= kSparse &&
         w.independent_accelerations().size() == w.independent_speeds().size();
}

}  // namespace

bool MotionMatrix::large(const Ode& ode) { return sparse(ode) && ode.independent() >= kLarge; }

bool MotionMatrix::many_vibrations(const Ode& ode) {
  const Model& model = ode.workspace().model();
  const bool flexible = !model.beams.empty() || !model.ancf_elements.empty();
  return flexible && sparse(ode) && ode.independent() >= kManyVibrations;
}

std::unique_ptr<MotionMatrix> MotionMatrix::create(Ode& ode) {
  if (sparse(ode)) return std::make_unique<SparseMotionMatrix>(ode);
  return std::make_unique<DenseMotionMatrix>(ode);
}

}  // namespace panto
