// Beams of many elements: a sparse matrix does what the exact full one does, at a cost per step that grows with the number of elements alone.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <chrono>
#include <functional>

#include "panto/integrate/families.hpp"
#include "panto/integrate/motion_matrix.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/integrate/stepper.hpp"
#include "panto/integrate/test/mechanisms.hpp"
#include "panto/mechanics/reduced_tangent.hpp"
#include "tests/allocation_counter.hpp"

namespace panto {
namespace {

using test::list;
using test::table;

// A beam under its weight, clamped at one end.
test::Rig cantilever(int elements) {
  Model m = test::build(table({{"name", "cantilever"},
                               {"space", "planar"},
                               {"gravity", list({0.0, -9.81})},
                               {"body", list({table({{"name", "beam"},
                                                     {"beam", table({{"length", 2.0},
                                                                     {"circle", 0.02},
                                                                     {"E", 2e11},
                                                                     {"mass", 5.0},
                                                                     {"elements", elements}})}})})},
                               {"joint", list({test::joint("clamp", "weld", "ground", "beam")})}}));
  std::vector<double> q(static_cast<size_t>(m.nq), 0.0), v(static_cast<size_t>(m.nv), 0.0);
  return {std::move(m), q, v};
}

// Implicit steps of one method with a matrix solved by elimination of the exact reduced Jacobian.
TEST(SparseMatrix, SolvesLikeTheExactJacobian) {
  test::Rig rig = cantilever(12);
  Ode& ode = *rig.ode;
  const auto nz = static_cast<size_t>(ode.independent());
  ASSERT_GE(nz, 36U);
  const double position = 2.5e-9, velocity = 5e-5;
  std::vector<double> x_dot(static_cast<size_t>(ode.size()));
  ASSERT_TRUE(usable(ode.rhs(0, rig.x, x_dot)));
  const std::vector<double> rates(x_dot.begin() + ode.coordinates(),
                                  x_dot.begin() + ode.dynamic_size());
  const auto matrix = MotionMatrix::create(ode);
  ASSERT_TRUE(usable(matrix->renew(0, rig.x, rates, position, velocity)));
  const Eigen::VectorXd rest = Eigen::VectorXd::LinSpaced(ode.independent(), 1, 2),
                        none = Eigen::VectorXd::Zero(ode.independent());
  Eigen::VectorXd change = Eigen::VectorXd::Zero(rig.model->nv);
  matrix->solve(rest, none, change);
  ode.prepare_derivatives();
  ASSERT_TRUE(usable(ode.linearise(0, rig.x)));
  const auto n = static_cast<Eigen::Index>(nz);
  const Eigen::MatrixXd& j = ode.reduced_jacobian();
  const Eigen::MatrixXd full =
      ode.motion().mass() * (Eigen::MatrixXd::Identity(n, n) - position * j.bottomLeftCorner(n, n) -
                             velocity * j.bottomRightCorner(n, n));
  const Eigen::VectorXd expected = full.lu().solve(-rest);
  EXPECT_LT((change - expected).norm(), 1e-10 * expected.norm());
}

// One method, solved in two ways: on states with the full exact Jacobian, and on accelerations with sparse matrices.
TEST(SparseRadau, TakesTheStepsOfRadau) {
  const struct {
    const char* name;
    std::function<test::Rig()> make;
    double step;
  } cases[] = {{"cantilever", [] { return cantilever(12); }, 1e-3},
               {"double pendulum", [] { return test::double_pendulum_rig(); }, 1e-2},
               {"four-bar", [] { return test::sanjurjo_rig(); }, 1e-2},
               {"driven, with work", [] { return test::driven_rig(true); }, 1e-2}};
  for (const auto& c : cases) {
    test::Rig one = c.make(), other = c.make();
    ASSERT_TRUE(one.ode->plain());
    const auto dense = make_radau("radau5", *one.ode, {}),
               sparse = make_sparse_radau(*other.ode, {});
    double t = 0, s = 0;
    for (int k = 0; k < 50; ++k) {
      ASSERT_EQ(dense->step(t, c.step, one.x), Status::kOk) << c.name << " at " << t;
      ASSERT_EQ(sparse->step(s, c.step, other.x), Status::kOk) << c.name << " at " << s;
    }
    // Both iterate to 1e-12 per step.
    for (size_t i = 0; i < one.x.size(); ++i)
      EXPECT_NEAR(other.x[i], one.x[i], 1e-9 * (1 + std::abs(one.x[i]))) << c.name << ", " << i;
  }
}

TEST(SparseRadau, DoesNotAllocate) {
  test::Rig rig = cantilever(100);
  ASSERT_TRUE(MotionMatrix::large(*rig.ode));
  const auto stepper = Stepper::create("radau5", *rig.ode);
  double t = 0;
  const long before = calls;
  for (int k = 0; k < 5; ++k) EXPECT_EQ(stepper->step(t, 1e-4, rig.x), Status::kOk);
  EXPECT_EQ(calls - before, 0);
}

TEST(SparseMatrix, MakesTheCostOfAStepProportionalToTheElements) {
  for (const char* name :
       {"generalised_alpha", "trapezoidal", "implicit_euler", "bdf2", "radau5"}) {
    const auto seconds = [&](int elements) {
      test::Rig rig = cantilever(elements);
      EXPECT_TRUE(MotionMatrix::large(*rig.ode));
      const auto stepper = Stepper::create(name, *rig.ode);
      double t = 0, best = 1e9;
      for (int k = 0; k < 40; ++k) {
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(stepper->step(t, 1e-4, rig.x), Status::kOk) << name << ", " << elements;
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        best = std::min(best, spent.count());
      }
      return best;
    };
    // Eight times the elements: 8 where the cost is linear, 64 where it is quadratic. Caches and other programs may triple it.
    EXPECT_LT(seconds(800), 24 * seconds(100)) << name;
  }
}

}  // namespace
}  // namespace panto
