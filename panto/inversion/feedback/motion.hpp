// The motion that inputs make: accelerations of a servo system as a linear function of its inputs, and small motions about a state, on the manifold
// that the mechanism's rows leave.
#pragma once

#include "panto/base/diagnostics.hpp"
#include "panto/inversion/servo_system.hpp"

namespace panto {

// w = w0 + W u and λ = λ0 + L u at (t, y, v), from the equations of motion and the mechanism's rows on accelerations (FB-1).
class MotionSolver {
 public:
  // E1053: rows that hold inputs on positions or speeds (drives of order 0): accelerations then depend on rates of inputs.
  static Diagnostics check(const ServoSystem& system);
  // The system must outlive the solver and have passed check().
  explicit MotionSolver(ServoSystem& system);
  // kSingular: rows that depend on each other, or no mass. Does not allocate.
  [[nodiscard]] Status solve(double t, View y, View v) noexcept;
  [[nodiscard]] const Eigen::MatrixXd& solution() const {
    return right_;
  }  // w above λ; column 0, then one per input
  // w and λ for inputs u.
  void motion(View u, MutableView w, MutableView lambda) const noexcept;
  [[nodiscard]] ServoSystem& system() const { return system_; }
  // Of the last solve().
  [[nodiscard]] const ServoValues& values() const { return values_; }

 private:
  ServoSystem& system_;
  std::vector<double> zero_;
  ServoValues values_;
  Eigen::MatrixXd left_, right_;
};

// (δy, δv) = T ξ, ξ̇ = A ξ + B δu: small motions about the motion through (t, y, v) under inputs u (FB-2). T has orthonormal columns; without rows on
// positions and speeds it is the identity.
struct LinearMotion {
  Eigen::MatrixXd T, A, B;
};
// E1053, E1054 (singular).
Result<LinearMotion> linearise_motion(ServoSystem& system, double t, View y, View v, View u);

}  // namespace panto
