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
  StepperOptions options;
  options.newton_tolerance = 1e-14;
  const auto stepper = Stepper::create(integrator, *rig.ode, options);
  double t = 0;
  for (int k = 0; k < steps; ++k) {
    const Status status = stepper->step(t, c.until / steps, rig.x);
    if (status != Status::kOk) {
      EXPECT_LT(steps, 32) << integrator << " at " << t << ": " << to_string(status);
      return 10;  // too long a step for Newton
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
    // Shorten the step by about √2 each time. The order over a factor of two, or where it still moves, p(h) = p + c h, its limit for h = 0,
    // must lie within 0.2 of theory, the former twice running. Errors below 1e-11 belong to round-off and to the reference.
    bool reached = false;
    std::vector<double> counts, errors, orders, limits;
    const auto near = [&](const std::vector<double>& p, size_t times) {
      bool all = p.size() >= times;
      for (size_t k = 1; all && k <= times; ++k) all = std::abs(p[p.size() - k] - info.order) < 0.2;
      return all;
    };
    for (double steps = 4; steps <= 16384 && !reached; steps *= std::sqrt(2.0)) {
      counts.push_back(std::round(steps));
      errors.push_back(error_of(c, info.name, static_cast<int>(counts.back()), exact));
      const size_t n = errors.size();
      if (errors.back() < 1e-11) break;
      if (n < 3) continue;
      orders.push_back(std::log(errors[n - 3] / errors[n - 1]) /
                       std::log(counts[n - 1] / counts[n - 3]));
      if (n >= 5) limits.push_back(2 * orders.back() - orders[orders.size() - 3]);
      reached = near(orders, 2) || (near(limits, 1) && std::abs(orders.back() - info.order) < 0.6);
    }
    const double order = orders.empty() ? 0 : near(orders, 2) ? orders.back() : limits.back();
    EXPECT_TRUE(reached) << info.name << " on " << c.name << ": order " << order << " at error "
                         << errors.back();
    RecordProperty(info.name, std::to_string(order));
  }
}

INSTANTIATE_TEST_SUITE_P(On, Order, ::testing::Range(size_t{0}, cases().size()),
                         [](const auto& p) { return std::string(cases()[p.param].name); });

}  // namespace
}  // namespace panto
