#include "panto/integrate/motion_blocks.hpp"

#include "panto/integrate/stepper.hpp"

namespace panto {

MotionBlocks::MotionBlocks(Ode& ode)
    : ode_(ode),
      saddle_(ode.workspace()),
      mass_(saddle_.tangent()),
      damped_(mass_),
      stiff_(mass_),
      rest_(ode.workspace().independent_accelerations().size()) {}

Status MotionBlocks::renew(double t, View x, View rates, double h) noexcept {
  Point at;
  const Status status = balanced_point(ode_, t, x, rates, rest_, at);
  if (usable(status)) renew(at, h);
  return status;
}

void MotionBlocks::renew(const Point& at, double h) noexcept {
  Workspace& w = ode_.workspace();
  h_ = h;
  w.step_tangent(at, 0, 0, mass_);
  w.step_tangent(at, 0, h, damped_);
  w.step_tangent(at, h * h, 0, stiff_);
  ode_.count_linearisation();
}

void MotionBlocks::border_unit(std::vector<double>& tangent,
                               std::vector<double>& out) const noexcept {
  for (int i = 0; i < mass_.rows(); ++i)
    for (auto k = static_cast<size_t>(mass_.start[static_cast<size_t>(i)]);
         k < static_cast<size_t>(mass_.start[static_cast<size_t>(i) + 1]); ++k)
      tangent[k] = mass_.column[k] == i ? 1 : 0;
  saddle_.fill(ode_.workspace(), tangent, out);
}

void MotionBlocks::multiply(double mass, const double* a, double stiffness, const double* b,
                            double* out) const noexcept {
  const double k_factor = stiffness / (h_ * h_);
  for (int i = 0; i < mass_.rows(); ++i) {
    double sum = 0;
    for (auto k = static_cast<size_t>(mass_.start[static_cast<size_t>(i)]);
         k < static_cast<size_t>(mass_.start[static_cast<size_t>(i) + 1]); ++k) {
      const auto j = static_cast<size_t>(mass_.column[k]);
      sum += mass * mass_.value[k] * a[j] - k_factor * (stiff_.value[k] - mass_.value[k]) * b[j];
    }
    out[i] = sum;
  }
}

}  // namespace panto
