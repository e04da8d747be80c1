// How the whole motion follows the independent coordinates and speeds: exact derivatives of q, v and a by
// w = (independent directions δq, independent speeds), m columns. One home for what integrators and filters linearise.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "panto/mechanics/workspace.hpp"

namespace panto {

class ReducedTangent {
 public:
  // The workspace must outlive this object and have its partition chosen; the numbers of independent entries must not change later.
  // Allocates everything that later calls need.
  explicit ReducedTangent(Workspace& workspace);

  // Each level includes those below it. After close_positions() at x.q, for velocities() and accelerations() also close_velocities().
  void positions() noexcept;
  void velocities(const Point& x) noexcept;
  // x.a: accelerations of the model at (x.q, x.v), x.lambda its multipliers. After Workspace::accelerations(). kSingular: reduced mass not definite.
  [[nodiscard]] Status accelerations(const Point& x) noexcept;
  // Up to so many outputs are asked for later without allocation.
  void reserve_outputs(int count);
  // First rows of y: outputs by w, after the level they read (x as there), multipliers included. y grows where it is too small.
  void outputs(const Point& x, Level level, std::span<const int> outputs,
               Eigen::MatrixXd& y) noexcept;
  // The same by independent accelerations, after accelerations().
  void outputs_by_acceleration(const Point& x, std::span<const int> outputs,
                               Eigen::MatrixXd& y) noexcept;

  [[nodiscard]] int columns() const { return m_; }
  [[nodiscard]] const Eigen::MatrixXd& dq() const { return dq_; }
  [[nodiscard]] const Eigen::MatrixXd& dv() const { return dv_; }
  [[nodiscard]] const Eigen::MatrixXd& da() const { return da_; }
  // Of the last accelerations(): RᵀMR, its factor, and R of acceleration level (nv x independent accelerations).
  [[nodiscard]] const Eigen::MatrixXd& mass() const { return reduced_mass_; }
  [[nodiscard]] const Eigen::LLT<Eigen::MatrixXd>& reduced_mass() const { return llt_; }
  [[nodiscard]] const Eigen::MatrixXd& basis() const { return basis_; }

 private:
  Workspace& workspace_;
  int nv_, np_, nz_, na_, m_;
  Eigen::MatrixXd dq_, dv_, da_, b_, mass_, force_, basis_, mass_basis_, reduced_mass_,
      reduced_force_, none_, still_;
  DirectionalTangent along_, by_acceleration_;
  Eigen::LLT<Eigen::MatrixXd> llt_;
  // unit_ = e_i and lever_ = x with G x = e_i, for a multiplier; lever_mass_ = xᵀ M R.
  void lever(int row) noexcept;
  Eigen::VectorXd unit_, lever_;
  Eigen::RowVectorXd lever_mass_;
};

}  // namespace panto
