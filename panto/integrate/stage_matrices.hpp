// The matrices of a step with three stages whose equations are decoupled by a real and a pair of complex eigenvalues λ of its Runge-Kutta matrix, on the
// accelerations (INT-15): M + λ h C + (λ h)² K, sparse, as in MotionMatrix.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <vector>

#include "panto/integrate/motion_saddle.hpp"
#include "panto/numerics/sparse_lu.hpp"

namespace panto {

class StageMatrices {
 public:
  // Every independent coordinate is the integral of one independent speed.
  explicit StageMatrices(Ode& ode);
  // Made and factorised at (t, x), where the independent speeds change at about these rates.
  [[nodiscard]] Status renew(double t, View x, View rates, double h, double real,
                             std::complex<double> pair) noexcept;
  // Changes of the accelerations (all speeds) that remove imbalances, by independent acceleration: first the one of the real eigenvalue, then real and
  // imaginary parts of the one of the pair.
  void solve(const Eigen::MatrixXd& rest, Eigen::MatrixXd& change) noexcept;

 private:
  template <class Scalar>
  struct Factors {
    explicit Factors(const RowMatrix& pattern)
        : lu(pattern),
          values(pattern.column.size()),
          column(Eigen::Matrix<Scalar, Eigen::Dynamic, 1>::Zero(pattern.columns)) {}
    BasicSparseLU<Scalar> lu;
    std::vector<Scalar> tangent, values;
    Eigen::Matrix<Scalar, Eigen::Dynamic, 1> column;  // right-hand side, then solution
  };
  template <class Scalar>
  [[nodiscard]] bool factor(Factors<Scalar>& factors, Scalar eigenvalue) noexcept;

  Ode& ode_;
  MotionSaddle saddle_;
  RowMatrix mass_, damped_, stiff_;  // M, M + h C, M + h² K
  std::vector<double> rest_;
  Factors<double> real_;
  Factors<std::complex<double>> pair_;
};

}  // namespace panto
