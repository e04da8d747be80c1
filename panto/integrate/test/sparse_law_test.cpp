// Beams of many elements: a sparse matrix does what the exact full one does, at a cost per step that grows with the number of elements alone.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <chrono>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "panto/integrate/adaptive.hpp"
#include "panto/integrate/families.hpp"
#include "panto/integrate/motion_matrix.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/integrate/sparse_system.hpp"
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

// Runs of CVODE, IDA and the automatic choice on a beam of 25 elements: none of them makes a full matrix there, while radau5 with a fixed step does.
TEST(SparseVariableStep, AgreesWithShortFixedSteps) {
  test::Rig rig = cantilever(25);
  ASSERT_TRUE(MotionMatrix::many_vibrations(*rig.ode));
  SimulationOptions options;
  options.q = {rig.x.begin(), rig.x.begin() + rig.ode->coordinates()};
  options.until = 0.01;
  options.at = {0.0067, 0.01};
  options.integrator = "radau5";
  options.dt = 2e-5;
  const auto fixed = simulate(*rig.model, nominal(*rig.model), options);
  ASSERT_TRUE(fixed.ok());
  options.dt = 0;
  options.tol = 1e-6;
  for (const char* name : {"auto", "cvode_bdf", "ida"}) {
    options.integrator = name;
    const auto run = simulate(*rig.model, nominal(*rig.model), options);
    ASSERT_TRUE(run.ok()) << name << run.diagnostics().text();
    EXPECT_LT(run->stats.steps, 2500) << name;
    for (size_t k = 0; k < run->q.size(); ++k)
      for (size_t i = 0; i < options.at.size(); ++i)
        EXPECT_NEAR(run->q[k][i], fixed->q[k][i], 1e-6) << name << ", " << k;
  }
}

// The same equation solved by the full matrix of CVODE and by the sparse factors: (I - γ ∂f/∂x) δ = b.
TEST(SparseVariableStep, SolvesLikeTheFullJacobian) {
  for (const bool loop : {false, true}) {
    test::Rig rig = loop ? test::sanjurjo_rig() : cantilever(6);
    Ode& ode = *rig.ode;
    const auto n = static_cast<Eigen::Index>(ode.size());
    const double gamma = 1e-3;
    std::vector<double> x_dot(static_cast<size_t>(n));
    ASSERT_TRUE(usable(ode.rhs(0, rig.x, x_dot)));
    SparseOdeSystem system(ode);
    ASSERT_TRUE(usable(system.linearise(0, rig.x, x_dot, 2 * gamma)));
    ASSERT_TRUE(system.factor(gamma));
    Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(n, 1, 2);
    Eigen::MatrixXd jacobian;
    ASSERT_TRUE(usable(ode.jacobian(0, rig.x, jacobian)));
    const Eigen::VectorXd expected =
        (Eigen::MatrixXd::Identity(n, n) - gamma * jacobian).lu().solve(b);
    system.solve({b.data(), static_cast<size_t>(n)});
    // Without loops exact; a loop turns with the pose, which is neglected: an error of the order of γ times speed.
    EXPECT_LT((b - expected).norm(), (loop ? 0.02 : 1e-9) * expected.norm())
        << loop << (b - expected).norm() / expected.norm();
  }
}

// The Newton system of IDA, written out with full blocks.
TEST(SparseVariableStep, SolvesTheFullEquationsWithALoop) {
  test::Rig rig = test::sanjurjo_rig();
  Ode& ode = *rig.ode;
  Workspace& w = ode.workspace();
  std::vector<double> x_dot(static_cast<size_t>(ode.size()));
  ASSERT_TRUE(usable(ode.rhs(0, rig.x, x_dot)));
  const std::vector<double> lambda(ode.multipliers().begin(), ode.multipliers().end());
  Point at;
  at.q = ode.positions();
  at.v = ode.speeds();
  at.a = ode.accelerations();
  at.lambda = lambda;
  at.u = ode.inputs();
  at.u_rate = ode.input_rates();
  Tangent t;
  w.tangent(at, {}, t);
  const Eigen::Index n = rig.model->nv, m = t.phi_q.rows();
  ASSERT_GT(m, 0);
  const double c = 300;
  Eigen::MatrixXd j = Eigen::MatrixXd::Zero(2 * (n + m), 2 * (n + m));
  j.topLeftCorner(n, n).setIdentity();
  j.topLeftCorner(n, n) *= c;
  j.block(0, n, n, n) = -Eigen::MatrixXd::Identity(n, n);
  j.topRightCorner(n, m) = -t.phi_q.transpose();
  j.block(n, 0, n, n) = t.r_q;
  j.block(n, n, n, n) = c * t.r_a + t.r_v;
  j.block(n, 2 * n, n, m) = t.r_lambda;
  j.block(2 * n, n, m, n) = t.phi_q;
  j.block(2 * n + m, 0, m, n) = t.phi_q;
  const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(2 * (n + m), -1, 2);
  Eigen::VectorXd x = b;
  std::vector<int> rows(static_cast<size_t>(m));
  std::iota(rows.begin(), rows.end(), 0);
  SparseFullSystem system(ode);
  ASSERT_TRUE(usable(w.hold_positions(0, at.q)));
  ASSERT_TRUE(system.factor(at, c, w));
  system.solve(x.data(), x.data() + n, x.data() + 2 * n, x.data() + 2 * n + m, rows);
  EXPECT_LT((j * x - b).norm(), 1e-9 * (j.norm() * x.norm()));
}

TEST(SparseVariableStep, CostsInProportionToTheElements) {
  const auto seconds = [](const char* name, int elements) {
    test::Rig rig = cantilever(elements);
    const auto integrator = Adaptive::create(name, *rig.ode, 1e-6);
    EXPECT_EQ(integrator->start(0, rig.x), Status::kOk);
    double best = 1e9;
    for (int k = 0; k < 40; ++k) {
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_EQ(integrator->step(1), Status::kOk) << name << ", " << elements;
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      best = std::min(best, spent.count());
    }
    return best;
  };
  // Eight times the elements: 8 where the cost is linear, 64 where it is quadratic. Caches and other programs may triple it.
  for (const char* name : {"auto", "cvode_bdf", "ida"})
    EXPECT_LT(seconds(name, 800), 24 * seconds(name, 100)) << name;
}

// A cantilever of Euler and Bernoulli whose weight is switched on: tip displacement and slope of the first 400 modes (roots of cos b cosh b = -1).
TEST(SparseVariableStep, AutomaticChoiceReachesTheClosedForm) {
  const test::Rig rig = cantilever(100);
  SimulationOptions options;
  options.q.assign(static_cast<size_t>(rig.model->nq), 0.0);
  options.until = 0.05;
  options.at = {0.05};
  options.tol = 1e-7;
  const auto run = simulate(*rig.model, nominal(*rig.model), options);
  ASSERT_TRUE(run.ok()) << run.diagnostics().text();
  EXPECT_EQ(run->integrator, "radau5");
  EXPECT_LT(run->stats.steps, 1000);
  const double length = 2, diameter = 0.02, area = std::numbers::pi * diameter * diameter / 4,
               density = 5 / (area * length),
               speed = std::sqrt(2e11 * diameter * diameter / 16 / density);
  double u = 0, slope = 0;
  for (int i = 0; i < 400; ++i) {
    double b = i == 0 ? 1.8751 : (i + 0.5) * std::numbers::pi;
    for (int k = 0; k < 20; ++k)
      b += (std::cos(b) + 1 / std::cosh(b)) / (std::sin(b) + std::tanh(b) / std::cosh(b));
    const double sigma = b < 300 ? (std::cosh(b) + std::cos(b)) / (std::sinh(b) + std::sin(b)) : 1,
                 omega = speed * b * b / (length * length), sign = i % 2 == 0 ? 1 : -1;
    const double amplitude =
        -9.81 * 2 * sigma / b / (omega * omega) * (1 - std::cos(omega * options.until));
    u += 2 * sign * amplitude;
    slope += 2 * sign * sigma * b / length * amplitude;
  }
  EXPECT_NEAR(run->q[run->q.size() - 2][0], u, 1e-7);
  EXPECT_NEAR(run->q[run->q.size() - 1][0], slope, 1e-6);
}

}  // namespace
}  // namespace panto
