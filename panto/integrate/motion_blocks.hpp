// M, C = ∂r/∂v and K = ∂r/∂q of the motion at one point, sparse, and the matrices of implicit steps that are made of them: M + s C + s² K, bordered by
// the constraints (motion_saddle.hpp). One evaluation serves every s, real or complex.
#pragma once

#include <complex>
#include <vector>

#include "panto/integrate/motion_saddle.hpp"
#include "panto/numerics/sparse_lu.hpp"

namespace panto {

class MotionBlocks {
 public:
  // Every independent coordinate is the integral of one independent speed.
  explicit MotionBlocks(Ode& ode);
  [[nodiscard]] const RowMatrix& pattern() const { return saddle_.pattern(); }

  // At (t, x), where the independent speeds change at about these rates. h: a step of the size to come, in which inertia and stiffness are weighed.
  [[nodiscard]] Status renew(double t, View x, View rates, double h) noexcept;
  // At a point; G is that of the workspace's last pose.
  void renew(const Point& at, double h) noexcept;

  // Values of [ M + s C + s² K, -Gᵀ; G, 0 ] in the places of the pattern.
  template <class Scalar>
  void combine(Scalar s, std::vector<Scalar>& tangent, std::vector<Scalar>& out) const noexcept {
    const Scalar e = s / h_;
    for (size_t i = 0; i < mass_.value.size(); ++i) {
      const double m = mass_.value[i];
      tangent[i] = m + e * ((damped_.value[i] - m) + e * (stiff_.value[i] - m));
    }
    saddle_.fill(ode_.workspace(), tangent, out);
  }
  // The same with the unit matrix in the place of M.
  void border_unit(std::vector<double>& tangent, std::vector<double>& out) const noexcept;
  [[nodiscard]] int speeds() const { return mass_.rows(); }
  [[nodiscard]] size_t entries() const { return mass_.value.size(); }
  // out = mass M a - stiffness K b, by speed.
  void multiply(double mass, const double* a, double stiffness, const double* b,
                double* out) const noexcept;

 private:
  Ode& ode_;
  MotionSaddle saddle_;
  double h_ = 1;
  RowMatrix mass_, damped_, stiff_;  // M, M + h C, M + h² K
  std::vector<double> rest_;
};

// Factors of such a matrix, with room for one right-hand side.
template <class Scalar>
struct BorderedFactors {
  explicit BorderedFactors(const MotionBlocks& blocks)
      : lu(blocks.pattern()),
        tangent(blocks.entries()),
        values(blocks.pattern().column.size()),
        column(Eigen::Matrix<Scalar, Eigen::Dynamic, 1>::Zero(blocks.pattern().columns)) {}
  [[nodiscard]] bool factor(const MotionBlocks& blocks, Scalar s) noexcept {
    shift = s;
    blocks.combine(s, tangent, values);
    return lu.factor(values);
  }
  // (I - s ∂f/∂x)⁻¹ of changes of coordinates and speeds, both by speed and obeying the constraints (INT-16):
  // δq - s δv = b_q and (M + s C + s² K) δv = M b_v - s K b_q.
  void solve_shifted(const MotionBlocks& blocks, Scalar* step, Scalar* speed) noexcept {
    column.setZero();
    blocks.multiply(1, speed, shift, step, column.data());
    lu.solve(column.data(), 1);
    const Eigen::Index n = blocks.speeds();
    for (Eigen::Index i = 0; i < n; ++i) {
      speed[i] = column(i);
      step[i] += shift * column(i);
    }
  }
  BasicSparseLU<Scalar> lu;
  std::vector<Scalar> tangent, values;
  Eigen::Matrix<Scalar, Eigen::Dynamic, 1> column;  // right-hand side, then solution
  Scalar shift{};                                   // s of the last factor()
};

}  // namespace panto
