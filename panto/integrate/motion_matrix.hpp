// The matrix of an implicit step: how the imbalance of the equations of motion follows the accelerations at the end of the step,
// Rᵀ (M + velocity C + position K) R, C and K the derivatives by speeds and coordinates (INT-13).
#pragma once

#include <Eigen/Core>
#include <memory>

#include "panto/integrate/ode.hpp"

namespace panto {

class MotionMatrix {
 public:
  // The ode must outlive the matrix. Allocates what later calls need.
  static std::unique_ptr<MotionMatrix> create(Ode& ode);
  virtual ~MotionMatrix() = default;
  // Whether nothing of the size n x n is to be made for this ode: its matrix is a sparse one, and n is large.
  static bool large(const Ode& ode);
  // Whether it has beams of so many elements that a method which chooses its steps should let the fastest vibrations go (INT-18); its matrix is a sparse one.
  static bool many_vibrations(const Ode& ode);
  // Made and factorised at (t, x), where the independent speeds change at about these rates.
  [[nodiscard]] virtual Status renew(double t, View x, View rates, double position,
                                     double velocity) noexcept = 0;
  // At t what the last ones lead to expect (INT-14); stays as it is where only factors are kept.
  virtual void foretell(double t) noexcept = 0;
  // The motion goes on elsewhere, or with other weights: nothing is to be expected of the past.
  virtual void forget() noexcept = 0;
  // Change of the accelerations (all speeds; of dependent ones as far as it is known) that removes the imbalance `rest`, by independent acceleration,
  // and `ahead`, by independent speed: what the rates that follow from others are ahead of those assumed.
  virtual void solve(const Eigen::VectorXd& rest, const Eigen::VectorXd& ahead,
                     Eigen::VectorXd& change) noexcept = 0;
};

}  // namespace panto
