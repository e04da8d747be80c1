// Modes of a reduced mechanism computed anew at another pose: what the state before and after have in common, and simulations that leave the region of
// the first modes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "panto/integrate/simulate.hpp"
#include "tests/flexible/reduced_case.hpp"

namespace panto {
namespace {

using test::ReducedCase;
using test::view;

struct Displacements {
  Eigen::VectorXd u, u_dot;
};
Displacements displacements(const ReducedCase& c, const Eigen::VectorXd& q,
                            const Eigen::VectorXd& v) {
  Displacements out{Eigen::VectorXd(3 * c.model->nodes.size()),
                    Eigen::VectorXd(3 * c.model->nodes.size())};
  c.ws->node_motion(view(q), view(v), view(out.u), view(out.u_dot));
  return out;
}

class ReducedSwitch : public testing::TestWithParam<const char*> {};

TEST_P(ReducedSwitch, KeepsJointsAndMastersAndMakesTheModesOrthonormal) {
  ReducedCase c(GetParam());
  test::ReducedPoint p = c.point(1);
  const Eigen::VectorXd q = p.q, v = p.v;
  double jump = 0;
  EXPECT_GT(c.ws->reduction_drift(view(q)), 1e-5);
  ASSERT_TRUE(c.ws->renew_reduction(view(p.q), view(p.v), jump));
  const auto kept = static_cast<Eigen::Index>(c.model->reduction.first_mode);
  EXPECT_EQ(p.q.head(kept), q.head(kept));
  EXPECT_EQ(p.v.head(kept), v.head(kept));
  EXPECT_LT(c.ws->reduction_drift(view(p.q)), 1e-9);  // round-off of the eigenproblem
  EXPECT_GT(jump, 0);
}

TEST_P(ReducedSwitch, ChangesNothingAtTheReference) {
  ReducedCase c(GetParam());
  test::ReducedPoint p = c.point(2);
  const Eigen::VectorXd start = assemble(*c.ws)->q;
  p.q.head(c.model->joint_nv()) = start.head(c.model->joint_nv());
  double jump = 0;
  ASSERT_TRUE(c.ws->renew_reduction(view(p.q), view(p.v), jump));
  const Eigen::VectorXd q = p.q, v = p.v;
  ASSERT_TRUE(c.ws->renew_reduction(view(p.q), view(p.v), jump));
  EXPECT_LT((p.q - q).norm(), 1e-10);  // round-off of two eigenproblems
  EXPECT_LT((p.v - v).norm(), 1e-9);
  EXPECT_LT(jump, 1e-11);
}

TEST_P(ReducedSwitch, HasOneSetOfModesPerPoseWhateverTheWayThere) {
  ReducedCase straight(GetParam()), around(GetParam());
  const Eigen::VectorXd there = straight.point(4).q;
  const auto mass = [&](ReducedCase& c) {
    Eigen::VectorXd q = there, v = Eigen::VectorXd::Zero(c.model->nv);
    double jump = 0;
    EXPECT_TRUE(c.ws->renew_reduction(view(q), view(v), jump));
    Eigen::MatrixXd m;
    c.ws->mass_matrix(view(there), m);
    return m;
  };
  for (unsigned seed = 5; seed < 9; ++seed) {
    test::ReducedPoint p = around.point(seed);
    double jump = 0;
    ASSERT_TRUE(around.ws->renew_reduction(view(p.q), view(p.v), jump));
  }
  const Eigen::MatrixXd one = mass(straight), other = mass(around);
  EXPECT_LT((other - one).norm(), 1e-10 * one.norm());
}

TEST_P(ReducedSwitch, IsAContinuousMotionOfAllNodesWhereAllModesAreKept) {
  std::string text = test::reduced_text(GetParam());
  test::keep_all_modes(text);
  ReducedCase c(text, 0);
  test::ReducedPoint p = c.point(3);
  const Displacements before = displacements(c, p.q, p.v);
  double jump = 1;
  ASSERT_TRUE(c.ws->renew_reduction(view(p.q), view(p.v), jump));
  const Displacements after = displacements(c, p.q, p.v);
  // Round-off, magnified by the stiff modes.
  EXPECT_LT((after.u - before.u).norm(), 1e-9 * before.u.norm());
  EXPECT_LT((after.u_dot - before.u_dot).norm(), 1e-9 * before.u_dot.norm());
  EXPECT_LT(jump, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Cases, ReducedSwitch,
                         testing::Values("manipulator", "welded", "gravity", "branches"));

// The manipulator opens its parallelogram by more than a radian and turns the last link by more than two.
std::string swinging() {
  std::string text = test::reduced_text("manipulator");
  const auto input = [&](const std::string& motor, const std::string& signal) {
    const std::string head = "name = \"" + motor + "\"\ntype = \"torque\"\n";
    text.replace(text.find(head), head.size(), head + "input = \"" + signal + "\"\n");
  };
  input("motor1", "-14*sin(2*pi*t/0.8)");
  input("motor2", "15*sin(2*pi*t/0.8)");
  input("motor5", "0.25*sin(2*pi*t/0.8)");
  return text;
}
panto::Run simulated(const Model& model, double until, double limit) {
  SimulationOptions o;
  o.until = until;
  o.tol = 1e-8;
  o.sample = 1e-3;
  o.reduction_limit = limit;
  auto run = simulate(model, nominal(model), o);
  EXPECT_TRUE(run.ok()) << run.diagnostics().text();
  return run.ok() ? *std::move(run) : panto::Run{};
}
const std::vector<double>& series(const panto::Run& run, const std::string& coordinate) {
  const auto at = std::find(run.coordinate_names.begin(), run.coordinate_names.end(), coordinate);
  return run.q[static_cast<size_t>(at - run.coordinate_names.begin())];
}

TEST(ReducedSwitching, FollowsTheFullMechanismWhereTheFirstModesHaveLeftTheirRegion) {
  ReducedCase c(swinging(), 0);
  const panto::Run full = simulated(*c.full, 0.8, 0), anew = simulated(*c.model, 0.8, 0.02),
                   once = simulated(*c.model, 0.8, 0);
  EXPECT_EQ(once.stats.references, 0);
  EXPECT_GE(anew.stats.references, 2);
  // Some twenty belong to each passage of EF through the line of CE; the links must move on before the next time, of 800 samples.
  EXPECT_LE(anew.stats.references, 120);
  EXPECT_LT(anew.stats.reference_jump, 1e-4);
  const auto& q1 = series(full, "q1");
  EXPECT_LT(q1.back() - q1.front(), -0.6);
  for (const std::string name : {"q1", "q2", "EF.n2.ux", "EF.n2.uy", "BC.n3.ux", "BC.n3.uy"}) {
    const auto &truth = series(full, name), &other = series(anew, name);
    double error = 0, size = 0;
    for (size_t i = 0; i < truth.size(); ++i) {
      error += std::pow(other[i] - truth[i], 2);
      size += std::pow(truth[i] - (name[0] == 'q' ? truth[0] : 0.0), 2);
    }
    EXPECT_LT(std::sqrt(error / size), 0.01) << name;
  }
}

}  // namespace
}  // namespace panto
