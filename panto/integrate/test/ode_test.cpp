#include "panto/integrate/ode.hpp"

#include <gtest/gtest.h>

#include "panto/integrate/stepper.hpp"
#include "panto/integrate/test/mechanisms.hpp"

namespace panto {
namespace {

using test::Rig;

// Central difference extrapolated once (Richardson): error h⁴, with h = 1e-3 about 1e-10.
Eigen::MatrixXd difference_jacobian(Ode& ode, double t, const std::vector<double>& x) {
  const auto n = static_cast<size_t>(ode.size());
  Eigen::MatrixXd j(ode.size(), ode.size());
  std::vector<double> plus(n), minus(n), y(n);
  const auto slope = [&](size_t k, double h) {
    y = x;
    y[k] += h;
    EXPECT_TRUE(usable(ode.rhs(t, y, plus)));
    y[k] = x[k] - h;
    EXPECT_TRUE(usable(ode.rhs(t, y, minus)));
    return Eigen::VectorXd((Eigen::Map<Eigen::VectorXd>(plus.data(), ode.size()) -
                            Eigen::Map<Eigen::VectorXd>(minus.data(), ode.size())) /
                           (2 * h));
  };
  for (size_t k = 0; k < n; ++k)
    j.col(static_cast<Eigen::Index>(k)) = (4 * slope(k, 5e-4) - slope(k, 1e-3)) / 3;
  return j;
}

void expect_exact_jacobian(Rig rig, double t) {
  Eigen::MatrixXd exact;
  ASSERT_TRUE(usable(rig.ode->project(t, rig.x)));
  ASSERT_TRUE(usable(rig.ode->jacobian(t, rig.x, exact)));
  const Eigen::MatrixXd difference = difference_jacobian(*rig.ode, t, rig.x);
  const int n = rig.ode->dynamic_size();
  const double scale = 1 + difference.topLeftCorner(n, n).cwiseAbs().maxCoeff();
  EXPECT_LT((exact - difference).topLeftCorner(n, n).cwiseAbs().maxCoeff(), 1e-8 * scale)
      << exact << "\n\n"
      << difference;
  // The factors multiply to the same matrix.
  ASSERT_TRUE(usable(rig.ode->linearise(t, rig.x)));
  Eigen::VectorXd w(rig.ode->reduced_size());
  for (int k = 0; k < n; ++k) {
    Eigen::VectorXd e = Eigen::VectorXd::Unit(n, k);
    rig.ode->reduce({e.data(), static_cast<size_t>(n)}, {w.data(), static_cast<size_t>(w.size())});
    EXPECT_LT((rig.ode->columns() * w - exact.col(k).head(n)).cwiseAbs().maxCoeff(), 1e-12 * scale);
  }
}

TEST(OdeJacobian, EqualsDifferencesForATree) {
  expect_exact_jacobian(test::double_pendulum_rig(), 0);
}

TEST(OdeJacobian, EqualsDifferencesForAPlanarLoop) {
  Rig rig = test::sanjurjo_rig();
  rig.x[3] = 0.7;
  expect_exact_jacobian(std::move(rig), 0);
}

TEST(OdeJacobian, EqualsDifferencesForQuaternions) {
  expect_exact_jacobian(test::heavy_top_rig(), 0);
}

TEST(OdeJacobian, EqualsDifferencesForQuaternionsInALoop) {
  expect_exact_jacobian(test::distance_rod_rig(), 0);
}

TEST(OdeJacobian, EqualsDifferencesForADrivenMechanism) {
  expect_exact_jacobian(test::driven_rig(false), 0.05);
}

TEST(OdeJacobian, EqualsDifferencesForVelocityControlOfEveryOrder) {
  for (int order = 0; order < 3; ++order)
    expect_exact_jacobian(test::velocity_rig(order, false), 0.3);
}

TEST(Ode, DoesNotDependOnTheDependentCoordinates) {
  Rig rig = test::sanjurjo_rig();
  std::vector<double> f(rig.x.size()), g(rig.x.size());
  ASSERT_TRUE(usable(rig.ode->rhs(0, rig.x, f)));
  for (size_t i = 1; i < 3; ++i) rig.x[i] += 0.01;
  ASSERT_TRUE(usable(rig.ode->rhs(0, rig.x, g)));
  for (size_t i = 0; i < f.size(); ++i) EXPECT_NEAR(f[i], g[i], 1e-10 * (1 + std::abs(f[i])));
}

TEST(Ode, RepartitionKeepsTheState) {
  Rig rig = test::sanjurjo_rig();
  rig.x[3] = 0.7;
  std::vector<double> q(3), v(3), q2(3), v2(3);
  ASSERT_TRUE(usable(rig.ode->unpack(0, rig.x, q, v)));
  EXPECT_FALSE(fatal(rig.ode->repartition(0, rig.x)));
  ASSERT_TRUE(usable(rig.ode->unpack(0, rig.x, q2, v2)));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(q[i], q2[i], 1e-12);
    EXPECT_NEAR(v[i], v2[i], 1e-12);
  }
}

}  // namespace
}  // namespace panto
