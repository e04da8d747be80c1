// The largest stable step of explicit methods is one: below it beams stay bounded, above it they do not.
#include <Eigen/Eigenvalues>

#include "panto/integrate/motion_matrix.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/integrate/stability.hpp"
#include "panto/integrate/stepper.hpp"
#include "panto/integrate/test/mechanisms.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/mechanics/assembly.hpp"
#include "tests/linear/linear_case.hpp"
#include "tests/source_dir.hpp"

namespace panto {
namespace {

constexpr int kSteps = 1000;
constexpr double kNudge = 1e-6;  // of all speeds, so that every mode takes part

struct Flexible : testing::TestWithParam<const char*> {
  void SetUp() override {
    model = load(GetParam());
    ASSERT_TRUE(model.ok()) << model.diagnostics().text();
    const auto start = assemble(*Workspace::create(*model, nominal(*model)));
    ASSERT_TRUE(start.ok()) << start.diagnostics().text();
    q.assign(start->q.begin(), start->q.end());
    for (const double speed : start->v) v.push_back(speed + kNudge);
  }
  // Largest speed met on the way; infinity where a step fails.
  [[nodiscard]] double fastest_speed(const char* integrator, double h) const {
    test::Rig rig(*model, q, v);
    const auto stepper = Stepper::create(integrator, *rig.ode);
    double t = 0, largest = 0;
    for (int k = 0; k < kSteps; ++k) {
      if (!usable(stepper->step(t, h, rig.x))) return HUGE_VAL;
      for (const double speed : rig.ode->speeds()) largest = std::max(largest, std::abs(speed));
    }
    return largest;
  }
  Result<Model> model{Diagnostics{}};
  std::vector<double> q, v;
};
INSTANTIATE_TEST_SUITE_P(Zoo, Flexible,
                         testing::Values("flexible_manipulator", "single_flexible_link",
                                         "slider_crank_flexible"));

TEST_P(Flexible, StepsAreStableUpToTheLimit) {
  for (const char* integrator : {"rk4", "semi_implicit_euler"}) {
    test::Rig rig(*model, q, v);
    Eigen::VectorXcd values;
    ASSERT_TRUE(usable(fast_eigenvalues(*rig.ode, 0, rig.x, values)));
    const double limit = step_limit(integrator, values, 1).step;
    const double below = fastest_speed(integrator, 0.98 * limit),
                 above = fastest_speed(integrator, 1.02 * limit);
    EXPECT_LT(below, 100) << integrator;
    EXPECT_GT(above, 1e3 * below) << integrator;
  }
}

// The eigenvalues of the linear model are computed by other code, from the matrices of the full tangent.
TEST_P(Flexible, LimitIsThatOfTheHighestMode) {
  const auto c = test::linearised(model, Operation::kHere);
  test::Rig rig(*model, q, v);
  Eigen::VectorXcd values;
  ASSERT_TRUE(usable(fast_eigenvalues(*rig.ode, 0, rig.x, values)));
  const StepLimit limit = step_limit("rk4", values, 1);
  const double highest = c.modes.list.back().frequency_hz * 2 * M_PI;
  EXPECT_NEAR(std::abs(limit.eigenvalue) / highest, 1, 1e-2);
  EXPECT_NEAR(limit.step / step_limit("rk4", c.modes.eigenvalues, 1).step, 1, 1e-3);
}

// Where no matrix is made, the fastest modes are those of the matrix.
TEST(LargeBeam, HasTheLimitOfItsMatrix) {
  const auto source = read_bytes(PANTO_SOURCE_DIR "/models/single_flexible_link/model.toml");
  ASSERT_TRUE(source.ok());
  std::string text = *source;
  const size_t at = text.find("elements = ");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string("elements = 4").size(), "elements = 80");
  const auto spec = parse_model_text(text, "large.toml");
  ASSERT_TRUE(spec.ok()) << spec.diagnostics().text();
  const auto large = compile(*spec);
  ASSERT_TRUE(large.ok()) << large.diagnostics().text();
  const auto start = assemble(*Workspace::create(*large, nominal(*large)));
  ASSERT_TRUE(start.ok());
  test::Rig rig(*large, {start->q.begin(), start->q.end()}, {start->v.begin(), start->v.end()});
  ASSERT_TRUE(MotionMatrix::large(*rig.ode));
  Eigen::VectorXcd values;
  ASSERT_TRUE(usable(fast_eigenvalues(*rig.ode, 0, rig.x, values)));
  rig.ode->prepare_derivatives();
  ASSERT_TRUE(usable(rig.ode->linearise(0, rig.x)));
  const StepLimit dense = step_limit("rk4", rig.ode->reduced_jacobian().eigenvalues(), 1),
                  found = step_limit("rk4", values, 1);
  EXPECT_NEAR(found.step / dense.step, 1, 1e-3);  // of the iteration and of differences
}

TEST(RigidMechanisms, AreNotRefusedAtTheirOwnSettings) {
  for (const std::string& name : zoo_names()) {
    const auto rigid = load(name);
    ASSERT_TRUE(rigid.ok()) << rigid.diagnostics().text();
    if (rigid->nq != rigid->joint_nq()) continue;
    SimulationOptions options;
    options.dt = rigid->run.dt > 0 ? rigid->run.dt : 1e-4;
    options.until = 3 * options.dt;
    options.integrator = "rk4";
    const auto run = simulate(*rigid, nominal(*rigid), options);
    EXPECT_TRUE(run.ok()) << name << ": " << run.diagnostics().text();
    EXPECT_TRUE(run.diagnostics().items().empty()) << name << ": " << run.diagnostics().text();
  }
}

}  // namespace
}  // namespace panto
