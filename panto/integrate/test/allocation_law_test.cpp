// No fixed step allocates: the C allocator of this program counts its calls, and with it operator new and Eigen.
#include <gtest/gtest.h>

#include "panto/integrate/simulate.hpp"
#include "panto/integrate/stepper.hpp"
#include "panto/integrate/test/mechanisms.hpp"
#include "tests/allocation_counter.hpp"

namespace panto {
namespace {

using test::Rig;

void expect_no_allocation(Rig (*make)(), int steps, double h, bool expect_repartition = false) {
  for (const IntegratorInfo& info : integrators()) {
    if (!info.fixed_step) continue;
    Rig rig = make();
    const auto stepper = Stepper::create(info.name, *rig.ode);
    ASSERT_TRUE(stepper) << info.name;
    double t = 0;
    Status status = Status::kOk;
    const long before = calls;
    for (int k = 0; k < steps && status == Status::kOk; ++k) status = stepper->step(t, h, rig.x);
    const long after = calls;
    EXPECT_EQ(status, Status::kOk) << info.name << " at " << t << ": " << to_string(status);
    EXPECT_EQ(after - before, 0) << info.name;
    if (expect_repartition) {
      EXPECT_GT(stepper->repartitions(), 0) << info.name;
    }
  }
}

TEST(Allocation, TheCounterCounts) {
  const long before = calls;
  std::vector<double> v(8);
  EXPECT_NE(v.data(), nullptr);
  Eigen::MatrixXd m(5, 5);
  EXPECT_NE(m.data(), nullptr);
  EXPECT_GE(calls - before, 2);
}

TEST(Allocation, NoneOnAPlanarFourBar) {
  expect_no_allocation([] { return test::sanjurjo_rig(); }, 200, 2e-3);
}

TEST(Allocation, NoneOnQuaternions) { expect_no_allocation(test::heavy_top_rig, 200, 1e-3); }

TEST(Allocation, NoneOnQuaternionsInALoop) {
  expect_no_allocation(test::distance_rod_rig, 200, 1e-3);
}

TEST(Allocation, NoneOnADrivenMechanismWithWork) {
  expect_no_allocation([] { return test::driven_rig(true); }, 200, 1e-3);
}

TEST(Allocation, NoneOnVelocityControl) {
  expect_no_allocation([] { return test::velocity_rig(0); }, 100, 1e-3);
  expect_no_allocation([] { return test::velocity_rig(1); }, 100, 1e-3);
}

TEST(Allocation, NoneWhenOtherCoordinatesAreChosen) {
  // Up to 1.2 s: later the rod spins too fast for explicit Euler with this step.
  expect_no_allocation(test::distance_rod_rig, 600, 2e-3, true);
}

}  // namespace
}  // namespace panto
