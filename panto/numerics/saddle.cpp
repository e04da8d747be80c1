#include "panto/numerics/saddle.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>

#include "panto/numerics/dense.hpp"

namespace panto {

namespace {
constexpr double kPivot = 1e-13;  // a pivot this far below its diagonal entry is round-off
}

struct SaddleSolver::Impl {
  Eigen::LLT<Eigen::MatrixXd> llt;
  MinimumNorm rows{1e-9}, columns{1e-9};
  Eigen::MatrixXd at;  // L⁻¹ Gᵀ
  Eigen::VectorXd w, residual;
  Impl(int n, int m) : llt(n), at(n, m), w(n), residual(m) {}

  // M = L Lᵀ; false when a pivot is round-off of its diagonal entry.
  bool factorise(const Eigen::MatrixXd& mass) {
    llt.compute(mass);
    if (llt.info() != Eigen::Success) return false;
    return (llt.matrixLLT().diagonal().array().square() > kPivot * mass.diagonal().array()).all();
  }
};

SaddleSolver::SaddleSolver(int n, int m) : impl_(std::make_unique<Impl>(n, m)) {}
SaddleSolver::~SaddleSolver() = default;
SaddleSolver::SaddleSolver(SaddleSolver&&) noexcept = default;
SaddleSolver& SaddleSolver::operator=(SaddleSolver&&) noexcept = default;

int SaddleSolver::rank() const { return impl_->at.cols() == 0 ? 0 : impl_->rows.rank(); }

Status SaddleSolver::solve(const Eigen::MatrixXd& mass, const Eigen::MatrixXd& g,
                           const Eigen::VectorXd& f, const Eigen::VectorXd& b, Eigen::VectorXd& a,
                           Eigen::VectorXd& lambda) {
  Impl& s = *impl_;
  s.w = f;
  if (!s.factorise(mass)) {
    // Without mass where the rows hold anyway: M + ρ GᵀG with f + ρ Gᵀb has the same a and λ, since G a = b.
    const double rows = g.squaredNorm();
    if (!(rows > 0)) return Status::kSingular;
    const double rho = std::max(mass.trace(), std::numeric_limits<double>::min()) / rows;
    if (!s.factorise(mass + rho * g.transpose() * g)) return Status::kSingular;
    s.w += rho * g.transpose() * b;
  }
  s.llt.matrixL().solveInPlace(s.w);  // unconstrained w0 = L⁻¹ f
  Status status = Status::kOk;
  lambda.resize(g.rows());
  if (g.rows() > 0) {
    s.at = g.transpose();
    s.llt.matrixL().solveInPlace(s.at);
    s.rows.compute(s.at.transpose());
    s.residual = b - s.at.transpose() * s.w;
    const Eigen::VectorXd step = s.rows.solve(s.residual);
    const Eigen::VectorXd left = s.residual - s.at.transpose() * step;
    if (left.norm() > 1e-7 * (1 + b.norm())) status = Status::kInconsistent;
    s.w += step;
    s.columns.compute(s.at);  // Aᵀ λ = step, minimum norm
    lambda = s.columns.solve(step);
  }
  a = s.w;
  s.llt.matrixU().solveInPlace(a);
  return a.allFinite() ? status : Status::kNotFinite;
}

}  // namespace panto
