// Laws that both ANCF elements obey.
#include <gtest/gtest.h>

#include "panto/elements/ancf_cable.hpp"
#include "panto/elements/ancf_shear.hpp"
#include "panto/elements/test/support.hpp"
#include "panto/numerics/dual.hpp"
#include "tests/allocation_counter.hpp"

namespace panto {
namespace {

using test::random_vector;

constexpr double kLength = 0.4;

AncfShearElement<double> shear(double length = kLength, AncfLaw law = AncfLaw::kSplit) {
  return make_ancf_shear(length, {2.07e11, 0.3, 7850.0}, rectangle_section(0.08, 0.1), law);
}
AncfCableElement<double> cable(double length = kLength) {
  return make_ancf_cable(length, 1e4, 2.0, 1.5);
}

// Turns every nodal vector.
template <class V>
V turned(const V& e, double angle) {
  V out;
  for (int i = 0; i < e.size(); i += 2) {
    out[i] = std::cos(angle) * e[i] - std::sin(angle) * e[i + 1];
    out[i + 1] = std::sin(angle) * e[i] + std::cos(angle) * e[i + 1];
  }
  return out;
}
template <class V>
V quarter(const V& e) {
  V out;
  for (int i = 0; i < e.size(); i += 2) {
    out[i] = -e[i + 1];
    out[i + 1] = e[i];
  }
  return out;
}

TEST(AncfLaw, FiniteRigidMotionsStrainNothing) {
  for (double angle : {0.0, 0.7, 2.9}) {
    const Vec2<double> along{std::cos(angle), std::sin(angle)}, start{13, -7};
    const auto s = straight_ancf_shear(start, along, kLength);
    const auto c = straight_ancf_cable(start, along, kLength);
    // Round-off of coordinates near 13 m, relative to the stiffness times one length.
    EXPECT_LT(elastic_force(shear(), s).norm(), 1e-14 * 2.07e11);
    EXPECT_LT(elastic_force(cable(), c).norm(), 1e-12 * 1e4);
    EXPECT_LT(strain_energy(shear(), s), 1e-14 * 2.07e11);
    EXPECT_LT(strain_energy(cable(), c), 1e-12 * 1e4);
  }
}

TEST(AncfLaw, OnlyRigidMotionsCostNoEnergy) {
  // Three zero eigenvalues at the straight shape, the rest positive: no mechanism is left by the choice of strains and points.
  const auto check = [](const auto& tangent) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver{Eigen::MatrixXd(tangent)};
    const Eigen::VectorXd& values = solver.eigenvalues();
    const double largest = values[values.size() - 1];
    EXPECT_LT(values.head<3>().cwiseAbs().maxCoeff(), 1e-14 * largest);
    EXPECT_GT(values[3], 1e-8 * largest);
  };
  const Vec2<double> along{0.6, 0.8};
  for (AncfLaw law : {AncfLaw::kSplit, AncfLaw::kPlaneStress, AncfLaw::kPlaneStrain})
    check(
        elastic_tangent(shear(kLength, law), straight_ancf_shear(Vec2<double>{}, along, kLength)));
  check(elastic_tangent(cable(), straight_ancf_cable(Vec2<double>{}, along, kLength)));
}

TEST(AncfLaw, EnergyIsBlindToRigidMotionAndForcesTurnWithIt) {
  std::mt19937 random(1);
  const AncfShearVector<double> s =
      straight_ancf_shear(Vec2<double>{}, Vec2<double>{1, 0}, kLength) +
      random_vector<12>(random, 0.1);
  const AncfCableVector<double> c =
      straight_ancf_cable(Vec2<double>{}, Vec2<double>{1, 0}, kLength) +
      random_vector<8>(random, 0.1);
  EXPECT_NEAR(strain_energy(shear(), turned(s, 1.1)) / strain_energy(shear(), s), 1, 1e-13);
  EXPECT_NEAR(strain_energy(cable(), turned(c, 1.1)) / strain_energy(cable(), c), 1, 1e-13);
  const auto fs = elastic_force(shear(), s);
  const auto fc = elastic_force(cable(), c);
  EXPECT_LT((elastic_force(shear(), turned(s, 1.1)) - turned(fs, 1.1)).norm(), 1e-13 * fs.norm());
  EXPECT_LT((elastic_force(cable(), turned(c, 1.1)) - turned(fc, 1.1)).norm(), 1e-13 * fc.norm());
  // No resultant, and no moment: e turned by a quarter does no work.
  EXPECT_LT(std::abs(fs[0] + fs[6]) + std::abs(fs[1] + fs[7]), 1e-13 * fs.norm());
  EXPECT_LT(std::abs(fs.dot(quarter(s))), 1e-13 * fs.norm());
  EXPECT_LT(std::abs(fc[0] + fc[4]) + std::abs(fc[1] + fc[5]), 1e-13 * fc.norm());
  EXPECT_LT(std::abs(fc.dot(quarter(c))), 1e-13 * fc.norm());
}

TEST(AncfLaw, RigidMotionHasTheMomentumAndEnergyOfARod) {
  // Speed of the start v, turning at ω about it.
  const double omega = 3, vx = 2, vy = -1, angle = 0.7;
  const auto rate = [&](auto e) {
    auto v = quarter(e);
    v *= omega;
    const int second = static_cast<int>(e.size()) / 2;
    v[0] += vx;
    v[second] += vx;
    v[1] += vy;
    v[second + 1] += vy;
    return v;
  };
  const auto check = [&](const auto& mass, const auto& v, double m, double inertia) {
    const auto p = (mass * v).eval();
    const int second = static_cast<int>(v.size()) / 2;
    const double half = kLength / 2;
    const double cx = vx - omega * half * std::sin(angle), cy = vy + omega * half * std::cos(angle);
    EXPECT_NEAR(p[0] + p[second], m * cx, 1e-12 * m);
    EXPECT_NEAR(p[1] + p[second + 1], m * cy, 1e-12 * m);
    EXPECT_NEAR(0.5 * v.dot(p), 0.5 * m * (cx * cx + cy * cy) + 0.5 * inertia * omega * omega,
                1e-12 * m);
  };
  const Vec2<double> along{std::cos(angle), std::sin(angle)};
  const auto s = straight_ancf_shear(Vec2<double>{}, along, kLength);
  const auto c = straight_ancf_cable(Vec2<double>{}, along, kLength);
  const double ms = 7850 * 0.008 * kLength, mc = 1.5 * kLength;
  check(mass_matrix(shear()), rate(s), ms, ms * (kLength * kLength + 0.1 * 0.1) / 12);
  check(mass_matrix(cable()), rate(c), mc, mc * kLength * kLength / 12);
}

TEST(AncfLaw, HomogeneousDeformationPassesOnUnequalElements) {
  const std::vector<double> at{0, 0.3, 0.5, 1.2, 1.3};
  const Vec2<double> a{1.02, 0.3}, c{-0.2, 0.97};  // stretch, shear, thickness, rotation
  for (AncfLaw law : {AncfLaw::kSplit, AncfLaw::kPlaneStress, AncfLaw::kPlaneStrain}) {
    Eigen::VectorXd f = Eigen::VectorXd::Zero(30);
    for (int i = 0; i < 4; ++i) {
      const double x0 = at[static_cast<size_t>(i)], x1 = at[static_cast<size_t>(i) + 1];
      AncfShearVector<double> e;
      e << x0 * a.x, x0 * a.y, a.x, a.y, c.x, c.y, x1 * a.x, x1 * a.y, a.x, a.y, c.x, c.y;
      f.segment<12>(6 * i) += elastic_force(shear(x1 - x0, law), e);
    }
    // Inner nodes: forces on positions balance; those on ∂r/∂y are what keeps the section sheared and thick, in proportion to the lengths.
    for (int i = 1; i < 4; ++i) {
      EXPECT_LT(f.segment<4>(6 * i).norm(), 1e-12 * f.norm()) << i;
      const double share = (at[static_cast<size_t>(i) + 1] - at[static_cast<size_t>(i) - 1]) / 2;
      EXPECT_LT((f.segment<2>(6 * i + 4) / share - f.segment<2>(4) / 0.15).norm(),
                1e-11 * f.norm());
    }
  }
  Eigen::VectorXd f = Eigen::VectorXd::Zero(20);
  for (int i = 0; i < 4; ++i) {
    const double x0 = at[static_cast<size_t>(i)], x1 = at[static_cast<size_t>(i) + 1];
    AncfCableVector<double> e;
    e << x0 * a.x, x0 * a.y, a.x, a.y, x1 * a.x, x1 * a.y, a.x, a.y;
    f.segment<8>(4 * i) += elastic_force(cable(x1 - x0), e);
  }
  EXPECT_LT(f.segment<12>(4).norm(), 1e-12 * f.norm());
  const double length = std::hypot(a.x, a.y);
  EXPECT_NEAR(f[16], 1e4 * (length - 1) * a.x / length, 1e-10);
}

TEST(AncfLaw, EvaluationDoesNotAllocate) {
  std::mt19937 random(2);
  const AncfShearVector<double> s =
      straight_ancf_shear(Vec2<double>{}, Vec2<double>{1, 0}, kLength) +
      random_vector<12>(random, 0.1);
  const AncfCableVector<double> c =
      straight_ancf_cable(Vec2<double>{}, Vec2<double>{1, 0}, kLength) +
      random_vector<8>(random, 0.1);
  const AncfShearVector<Dual> ds = s.cast<Dual>();
  const auto shear_element = shear();
  const auto cable_element = cable();
  const long before = calls;
  double sum = elastic_force(shear_element, s).norm() + elastic_tangent(shear_element, s).norm() +
               mass_matrix(shear_element).norm();
  sum += elastic_force(cable_element, c).norm() + elastic_tangent(cable_element, c).norm() +
         mass_matrix(cable_element).norm();
  sum += elastic_force(shear_element, ds)[0].a + strain_energy(shear_element, s);
  EXPECT_EQ(calls - before, 0);
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace panto
