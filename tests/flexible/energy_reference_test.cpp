// Energy of the undamped manipulator over ten seconds of free motion.
#include <algorithm>

#include "panto/integrate/simulate.hpp"
#include "tests/linear/linear_case.hpp"

namespace panto {
namespace {

// Released from the shapes of its first two elastic modes (13 and 45 Hz) while it turns, slowly enough for its parallelogram not to fold up in
// that time. The trapezoidal rule takes nothing from vibrations; what it misses falls with the square of the step, to 3e-7 here.
TEST(FlexibleManipulator, KeepsItsEnergyInFreeMotion) {
  const auto c = test::linearised(load("flexible_manipulator"), Operation::kHere);
  ASSERT_GT(c.modes.list.size(), 5U);
  const Eigen::VectorXd q = c.point.q + 2e-3 * c.modes.list[3].shape + 6e-4 * c.modes.list[4].shape;
  SimulationOptions options;
  options.until = 10;
  options.sample = 0.01;
  options.integrator = "trapezoidal";
  options.dt = 1e-4;
  options.q.assign(q.begin(), q.end());
  options.v.assign(static_cast<size_t>(c.model->nv), 0.0);
  const std::vector<std::string>& names = c.model->speed_names;
  for (const auto& [name, speed] : {std::pair{"q1_dot", 0.2}, {"q2_dot", 0.2}, {"q5_dot", 0.3}}) {
    const auto at = std::find(names.begin(), names.end(), name);
    ASSERT_NE(at, names.end()) << name;
    options.v[static_cast<size_t>(at - names.begin())] = speed;
  }
  const auto run = simulate(*c.model, nominal(*c.model), options);
  ASSERT_TRUE(run.ok()) << run.diagnostics().text();
  // Beams bend on the way: 3 % of the energy is theirs.
  EXPECT_GT(*std::max_element(run->potential.begin(), run->potential.end()),
            0.03 * run->energy_initial);
  EXPECT_LE(run->energy_max_drift, 1e-6 * run->energy_initial);
}

}  // namespace
}  // namespace panto
