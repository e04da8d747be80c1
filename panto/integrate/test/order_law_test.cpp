// The order of every fixed-step integrator, measured on a tree, a closed loop, quaternions with and without a loop, and driven mechanisms.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "panto/integrate/adaptive.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/integrate/stepper.hpp"
#include "panto/integrate/test/mechanisms.hpp"

namespace panto {
namespace {

using test::Rig;

struct Case {
  const char* name;
  std::function<Rig()> make;
  double until;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"double_pendulum", [] { return test::double_pendulum_rig(); }, 1},
      {"fourbar", [] { return test::sanjurjo_rig(); }, 1},
      {"heavy_top", [] { return test::heavy_top_rig(); }, 0.5},
      {"distance_rod", [] { return test::distance_rod_rig(); }, 0.5},
      {"driven", [] { return test::driven_rig(true); }, 0.5},
      {"velocity0", [] { return test::velocity_rig(0); }, 0.5},
      {"velocity1", [] { return test::velocity_rig(1); }, 0.5},
      {"velocity2", [] { return test::velocity_rig(2); }, 0.5},
  };
  return kCases;
}

std::vector<double> full_state(Rig& rig, double t, const std::vector<double>& x) {
  std::vector<double> q(static_cast<size_t>(rig.model->nq)), v(static_cast<size_t>(rig.model->nv));
  EXPECT_TRUE(usable(rig.ode->unpack(t, x, q, v)));
  q.insert(q.end(), v.begin(), v.end());
  for (auto i = static_cast<size_t>(rig.ode->dynamic_size()); i < x.size(); ++i) q.push_back(x[i]);
  return q;
}

// Adams at a step tolerance of 1e-14: errors below 1e-11, a hundred times under the smallest error used here.
std::vector<double> reference(const Case& c) {
  Rig rig = c.make();
  const auto cvode = Adaptive::create("cvode", *rig.ode, 1e-12);
  EXPECT_TRUE(usable(cvode->start(0, rig.x)));
  while (cvode->time() < c.until) {
    if (!usable(cvode->step(c.until))) {
      ADD_FAILURE() << cvode->failure();
      break;
    }
  }
  EXPECT_TRUE(usable(cvode->at(c.until, rig.x)));
  return full_state(rig, c.until, rig.x);
}

double error_of(const Case& c, const std::string& integrator, int steps,
                const std::vector<double>& exact) {
  Rig rig = c.make();
  const auto stepper = Stepper::create(integrator, *rig.ode);
  double t = 0;
  for (int k = 0; k < steps; ++k) {
    const Status status = stepper->step(t, c.until / steps, rig.x);
    if (status != Status::kOk) {
      ADD_FAILURE() << integrator << " at " << t << ": " << to_string(status);
      return 1;
    }
  }
  const std::vector<double> x = full_state(rig, c.until, rig.x);
  double error = 0;
  for (size_t i = 0; i < x.size(); ++i) error = std::max(error, std::abs(x[i] - exact[i]));
  return error;
}

class Order : public ::testing::TestWithParam<size_t> {};

TEST_P(Order, OfEveryFixedStepIntegratorIsReached) {
  const Case& c = cases()[GetParam()];
  const std::vector<double> exact = reference(c);
  for (const IntegratorInfo& info : integrators()) {
    if (!info.fixed_step) continue;
    // Halve the step until two successive orders lie within 0.2 of theory, as truncation takes over from higher terms; stop where
    // round-off and the reference's own error (1e-10) would.
    bool reached = false;
    double before = error_of(c, info.name, 16, exact), last_order = 0, error = before;
    for (int steps = 32; steps <= 16384 && !reached; steps *= 2) {
      error = error_of(c, info.name, steps, exact);
      if (error < 3e-10) break;
      const double order = std::log2(before / error);
      reached = std::abs(order - info.order) < 0.2 && std::abs(last_order - info.order) < 0.3;
      last_order = order;
      before = error;
    }
    EXPECT_TRUE(reached) << info.name << " on " << c.name << ": order " << last_order
                         << " at error " << error;
  }
}

INSTANTIATE_TEST_SUITE_P(On, Order, ::testing::Range(size_t{0}, cases().size()),
                         [](const auto& p) { return std::string(cases()[p.param].name); });

}  // namespace
}  // namespace panto
