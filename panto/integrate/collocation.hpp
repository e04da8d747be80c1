// One step by Gauss collocation with six stages (INT-11, order 12), solved by fixed-point iteration: for smooth, non-stiff motion over long steps. No stage lies
// within a tenth of the step from its middle.
#pragma once

#include <array>

#include "panto/integrate/ode.hpp"

namespace panto {

class Collocation {
 public:
  explicit Collocation(Ode& ode);
  // From x0 at t to x1 at t + h, loops closed. kNotConverged: the step is too long for the iteration.
  [[nodiscard]] Status step(double t, double h, View x0, MutableView x1) noexcept;

 private:
  static constexpr size_t kStages = 6;
  Ode& ode_;
  std::array<double, kStages> nodes_{}, weights_{};
  std::array<std::array<double, kStages>, kStages> a_{};
  std::array<std::vector<double>, kStages> rate_, next_;
  std::vector<double> stage_;
};

}  // namespace panto
