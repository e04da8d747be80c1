#include "panto/integrate/stepper.hpp"

#include <algorithm>
#include <cmath>

#include "panto/base/contract.hpp"
#include "panto/integrate/families.hpp"

namespace panto {

Stepper::Stepper(Ode& ode) : ode_(ode), next_(static_cast<size_t>(ode.size())) {}

std::unique_ptr<Stepper> Stepper::create(std::string_view name, Ode& ode,
                                         const StepperOptions& options) {
  using Make = std::unique_ptr<Stepper> (*)(std::string_view, Ode&, const StepperOptions&);
  for (const Make make :
       {make_explicit, make_implicit, make_bdf, make_radau, make_generalised_alpha})
    if (auto stepper = make(name, ode, options)) return stepper;
  return nullptr;
}

void Stepper::commit(double, View) noexcept {}
void Stepper::repartitioned(double) noexcept {}

Status Stepper::trial(double t, double h, View x, MutableView out) noexcept {
  side_ = true;
  const Status status = attempt(t, h, x, out);
  side_ = false;
  return status;
}

Status Stepper::attempt(double t, double h, View x, MutableView out) noexcept {
  const Status advanced = advance(t, h, x, out);
  if (!usable(advanced)) return advanced;
  const Status closed = ode_.project(t + h, out);
  if (!usable(closed)) return closed;
  for (const double e : out)
    if (!std::isfinite(e)) return Status::kNotFinite;
  return Status::kOk;
}

Status Stepper::step(double& t, double h, MutableView x) noexcept {
  PANTO_EXPECT(x.size() == next_.size(), "state of another system");
  Status status = attempt(t, h, x, next_);
  if (status != Status::kOk) {
    // The step may lead where the present choice of coordinates cannot close the loops: another choice, another try.
    if (ode_.repartition(t, x, true) != Status::kRepartition) return status;
    ++repartitions_;
    repartitioned(t);
    status = attempt(t, h, x, next_);
    if (status != Status::kOk) return status;
  }
  std::copy(next_.begin(), next_.end(), x.begin());
  t += h;
  ++steps_;
  commit(t, x);
  if (!ode_.worn()) return Status::kOk;
  const Status chosen = ode_.repartition(t, x);
  if (chosen == Status::kRepartition) {
    ++repartitions_;
    repartitioned(t);
    return Status::kOk;
  }
  return chosen;
}

}  // namespace panto
