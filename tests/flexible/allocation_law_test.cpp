// No fixed step of a mechanism with beams allocates. The C allocator of this program counts its calls.
#include "panto/integrate/simulate.hpp"
#include "panto/integrate/stepper.hpp"
#include "panto/integrate/test/mechanisms.hpp"
#include "panto/io/load.hpp"
#include "panto/mechanics/assembly.hpp"
#include "tests/allocation_counter.hpp"

namespace panto {
namespace {

// Short enough for the explicit methods: the rod of the slider-crank stretches at 1e5 rad/s.
constexpr double kStep = 5e-6;
constexpr int kSteps = 100;

class FlexibleSteps : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Zoo, FlexibleSteps,
                         testing::Values("flexible_manipulator", "single_flexible_link",
                                         "slider_crank_flexible", "flexible_arm",
                                         "flexible_two_link"));

TEST_P(FlexibleSteps, AllocateNothing) {
  const auto model = load(GetParam());
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  const auto start = assemble(*Workspace::create(*model, nominal(*model)));
  ASSERT_TRUE(start.ok()) << start.diagnostics().text();
  for (const IntegratorInfo& info : integrators()) {
    if (!info.fixed_step) continue;
    test::Rig rig(*model, {start->q.begin(), start->q.end()}, {start->v.begin(), start->v.end()});
    const auto stepper = Stepper::create(info.name, *rig.ode);
    ASSERT_TRUE(stepper) << info.name;
    double t = 0;
    Status status = Status::kOk;
    const long before = calls;
    for (int k = 0; k < kSteps && status == Status::kOk; ++k)
      status = stepper->step(t, kStep, rig.x);
    const long after = calls;
    EXPECT_EQ(status, Status::kOk) << info.name << " at " << t << ": " << to_string(status);
    EXPECT_EQ(after - before, 0) << info.name;
  }
}

}  // namespace
}  // namespace panto
