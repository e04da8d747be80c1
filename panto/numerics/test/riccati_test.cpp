// Riccati and Lyapunov equations against closed forms and independent programs.
#include "panto/numerics/riccati.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "panto/numerics/random.hpp"

namespace panto {
namespace {

const Eigen::MatrixXd kOne = Eigen::MatrixXd::Identity(1, 1);

Eigen::MatrixXd some(int rows, int columns, std::uint64_t seed) {
  Eigen::MatrixXd m(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < columns; ++k)
      m(i, k) = normal(seed, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k));
  return m;
}

TEST(Riccati, WeightsThatCannotBeAreRefused) {
  const Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2, 2), b = Eigen::MatrixXd::Ones(2, 1),
                        q = Eigen::MatrixXd::Identity(2, 2);
  EXPECT_EQ(solve_riccati(a, b, kOne, kOne).outcome, RiccatiOutcome::kBadWeights);
  EXPECT_EQ(solve_riccati(a, b, -q, kOne).outcome, RiccatiOutcome::kBadWeights);
  EXPECT_EQ(solve_riccati(a, b, q, 0 * kOne).outcome, RiccatiOutcome::kBadWeights);
  EXPECT_EQ(solve_riccati(a, b, q, q).outcome, RiccatiOutcome::kBadWeights);
}

// ẋ = a x + b u: P = (a + √(a² + b² q / r)) r / b².
TEST(Riccati, OfOneStateIsTheRootOfAQuadraticEquation) {
  for (const double a : {-3.0, 0.0, 2.0}) {
    const double b = 0.5, q = 7, r = 0.2;
    const Riccati s = solve_riccati(a * kOne, b * kOne, q * kOne, r * kOne);
    ASSERT_EQ(s.outcome, RiccatiOutcome::kSolved);
    const double p = (a + std::sqrt(a * a + b * b * q / r)) * r / (b * b);
    EXPECT_NEAR(s.P(0, 0), p, 1e-13 * p);
    EXPECT_NEAR(s.poles[0].real(), -std::sqrt(a * a + b * b * q / r), 1e-13);
  }
}

// Double integrator, Q = diag(1, 0), R = 1: F = (1, √2).
TEST(Riccati, OfTheDoubleIntegrator) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2, 2), b(2, 1), q = a;
  a(0, 1) = 1;
  b << 0, 1;
  q(0, 0) = 1;
  const Riccati s = solve_riccati(a, b, q, kOne);
  ASSERT_EQ(s.outcome, RiccatiOutcome::kSolved);
  EXPECT_NEAR(s.F(0, 0), 1, 1e-13);
  EXPECT_NEAR(s.F(0, 1), std::sqrt(2.0), 1e-13);
  EXPECT_LT(s.residual, 1e-14);
}

// scipy 1.10.1, linalg.solve_continuous_are; its twelve digits.
TEST(Riccati, AgreesWithAnIndependentProgram) {
  Eigen::MatrixXd a(4, 4), b(4, 2), q = Eigen::Vector4d(1, 2, 3, 4).asDiagonal(), r(2, 2), p(4, 4);
  a << 0, 1, 0, 0, -2, -0.1, 1, 0, 0, 0, 0, 1, 1, 0, 3, 0.2;
  b << 0, 0, 1, 0, 0, 0.5, 0.3, 2;
  q(0, 1) = q(1, 0) = 0.5;
  r << 2, 0.3, 0.3, 1;
  p << 4.047037264033, 0.344467221248, -0.768727121941, 0.231953644054,  //
      0.344467221248, 2.081763689278, 0.695700011091, 0.091517627787,    //
      -0.768727121941, 0.695700011091, 3.291132088738, 0.579959303237,   //
      0.231953644054, 0.091517627787, 0.579959303237, 1.030107429267;
  const Riccati s = solve_riccati(a, b, q, r);
  ASSERT_EQ(s.outcome, RiccatiOutcome::kSolved);
  EXPECT_LT((s.P - p).cwiseAbs().maxCoeff(), 2e-12);
  EXPECT_LT(s.residual, 1e-14);
}

TEST(Riccati, PolesAreTheStableEigenvaluesOfTheHamiltonianMatrix) {
  for (const int n : {3, 8, 15}) {
    // Few unstable modes: two inputs on many of them make P, and with it the error of any method, large.
    const Eigen::MatrixXd a = some(n, n, 1) - 0.7 * std::sqrt(n) * Eigen::MatrixXd::Identity(n, n),
                          b = some(n, 2, 2), q = Eigen::MatrixXd::Identity(n, n),
                          r = Eigen::Vector2d(0.01, 100).asDiagonal();
    const Riccati s = solve_riccati(a, b, q, r);
    ASSERT_EQ(s.outcome, RiccatiOutcome::kSolved);
    Eigen::MatrixXd h(2 * n, 2 * n);
    h << a, -b * r.inverse() * b.transpose(), -q, -a.transpose();
    std::vector<std::complex<double>> stable;
    const Eigen::VectorXcd all = Eigen::EigenSolver<Eigen::MatrixXd>(h).eigenvalues();
    for (const std::complex<double>& e : all)
      if (e.real() < 0) stable.push_back(e);
    ASSERT_EQ(stable.size(), s.poles.size());
    for (const std::complex<double>& pole : s.poles) {
      double nearest = 1e300;
      for (const auto& e : stable) nearest = std::min(nearest, std::abs(e - pole));
      EXPECT_LT(nearest, 1e-8 * std::max(1.0, std::abs(pole)));
    }
    EXPECT_LT(s.residual, 1e-12);
  }
}

TEST(Riccati, NamesTheModeThatNoInputMoves) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(3, 3), b = Eigen::MatrixXd::Zero(3, 1);
  a.diagonal() << -1, 0.3, 2;
  b(0) = b(1) = 1;
  const Riccati s = solve_riccati(a, b, Eigen::MatrixXd::Identity(3, 3), kOne);
  EXPECT_EQ(s.outcome, RiccatiOutcome::kNotStabilisable);
  EXPECT_NEAR(s.mode.real(), 2, 1e-12);
  EXPECT_FALSE(unstabilisable_mode(a.topLeftCorner(2, 2), b.topRows(2)));
  a(2, 2) = -2;  // it decays by itself
  EXPECT_EQ(solve_riccati(a, b, Eigen::MatrixXd::Identity(3, 3), kOne).outcome,
            RiccatiOutcome::kSolved);
}

// An oscillator that is not weighted: nothing damps it, whatever it costs.
TEST(Riccati, NamesTheModeThatTheWeightsDoNotSee) {
  Eigen::MatrixXd a(2, 2), b(2, 1);
  a << 0, 1, -4, 0;
  b << 0, 1;
  const Riccati s = solve_riccati(a, b, Eigen::MatrixXd::Zero(2, 2), kOne);
  EXPECT_EQ(s.outcome, RiccatiOutcome::kUnseen);
  EXPECT_NEAR(std::abs(s.mode.imag()), 2, 1e-6);
}

TEST(Lyapunov, EquationIsObeyed) {
  const Eigen::MatrixXd a = some(6, 6, 3) - 3 * Eigen::MatrixXd::Identity(6, 6),
                        half = some(6, 6, 4), c = half * half.transpose();
  Eigen::MatrixXd x;
  ASSERT_TRUE(solve_lyapunov(a, c, x));
  EXPECT_LT((a.transpose() * x + x * a + c).norm(), 1e-13 * c.norm());
  EXPECT_FALSE(solve_lyapunov(Eigen::MatrixXd::Zero(2, 2), Eigen::MatrixXd::Identity(2, 2), x));
}

}  // namespace
}  // namespace panto
