// Laws of the element on a moving link.
#include <gtest/gtest.h>

#include "panto/elements/beam.hpp"
#include "panto/elements/test/support.hpp"
#include "panto/numerics/dual.hpp"
#include "tests/allocation_counter.hpp"

namespace panto {
namespace {

using test::Complex;
using test::random_vector;

// A link with origin (x, y) and angle α that carries the element on its x axis, and the element's u: nine coordinates p.
constexpr int kCount = 9;
using Coordinates = Eigen::Vector<double, kCount>;

BeamElement<double> beam() {
  return make_beam(0.8, 5e9, 2700.0, rectangle_section(0.02, 0.03), RotaryInertia::kIncluded);
}

template <class T>
BeamVector<T> elastic(const Eigen::Vector<T, kCount>& p) {
  return p.template tail<6>();
}
// Nodes of the rigid link: speeds from the speeds of the link.
template <class T>
BeamVector<T> node_speeds(const Eigen::Vector<T, kCount>& p, const Eigen::Vector<T, kCount>& v,
                          double length) {
  using std::cos;
  using std::sin;
  BeamVector<T> r;
  r << v[0], v[1], v[2], v[0] - length * sin(p[2]) * v[2], v[1] + length * cos(p[2]) * v[2], v[2];
  return r;
}
BeamVector<double> node_accelerations(const Coordinates& p, const Coordinates& v,
                                      const Coordinates& a, double length) {
  const double c = std::cos(p[2]), s = std::sin(p[2]);
  BeamVector<double> r;
  r << a[0], a[1], a[2], a[0] - length * (s * a[2] + c * v[2] * v[2]),
      a[1] + length * (c * a[2] - s * v[2] * v[2]), a[2];
  return r;
}
template <class T>
T kinetic(const BeamMatrices<double>& m, double length, const Eigen::Vector<T, kCount>& p,
          const Eigen::Vector<T, kCount>& v) {
  return kinetic_energy(m, turn(p[2]), v[2], node_speeds(p, v, length), elastic(p), elastic(v));
}

// Momentum ∂T/∂v and force ∂T/∂p by duals, one direction at a time.
Coordinates gradient(const BeamMatrices<double>& m, double length, const Coordinates& p,
                     const Coordinates& v, bool by_speed) {
  Coordinates g;
  for (int i = 0; i < kCount; ++i) {
    Eigen::Vector<Dual, kCount> dp = p.cast<Dual>(), dv = v.cast<Dual>();
    (by_speed ? dv : dp)[i].v[0] = 1;
    g[i] = kinetic(m, length, dp, dv).v[0];
  }
  return g;
}

// The nine generalised forces from those on the nodes and on the link's angle.
Coordinates generalised(const BeamForce<double>& f, const Coordinates& p, double length) {
  Coordinates g;
  g[0] = f.nodal[0] + f.nodal[3];
  g[1] = f.nodal[1] + f.nodal[4];
  g[2] = f.nodal[2] + f.nodal[5] +
         length * (std::cos(p[2]) * f.nodal[4] - std::sin(p[2]) * f.nodal[3]) + f.link;
  g.tail<6>() = f.nodal;
  return g;
}

TEST(BeamLaw, InertiaForceIsLagrangesOfTheKineticEnergy) {
  std::mt19937 random(1);
  const auto element = beam();
  const auto m = beam_matrices(element);
  for (int k = 0; k < 20; ++k) {
    const Coordinates p = random_vector<kCount>(random, 0.7), v = random_vector<kCount>(random, 3),
                      a = random_vector<kCount>(random, 20);
    // d/dt ∂T/∂v along p + v t + a t²/2 by central differences of fourth order.
    const double h = 2e-3;
    const auto momentum = [&](double t) {
      return gradient(m, element.L, Coordinates(p + v * t + a * (t * t / 2)),
                      Coordinates(v + a * t), true);
    };
    const Coordinates rate =
        (8 * (momentum(h) - momentum(-h)) - (momentum(2 * h) - momentum(-2 * h))) / (12 * h);
    const Coordinates expected = rate - gradient(m, element.L, p, v, false);
    const BeamMotion<double> motion{
        turn(p[2]), v[2],       a[2],      node_accelerations(p, v, a, element.L),
        elastic(p), elastic(v), elastic(a)};
    const Coordinates own =
        generalised(inertia_force(m, motion, LinkTerms::kComplete), p, element.L);
    // Truncation h⁴ times fifth derivatives of a motion of 20 rad/s².
    EXPECT_LT((own - expected).norm(), 1e-7 * expected.norm()) << k;
  }
}

TEST(BeamLaw, KineticEnergyIsTheIntegralOverThePoints) {
  std::mt19937 random(2);
  const auto element = make_beam(0.8, 5e9, 2700.0, rectangle_section(0.02, 0.03));
  const auto m = beam_matrices(element);
  const Coordinates p = random_vector<kCount>(random, 0.7), v = random_vector<kCount>(random, 3);
  // Velocity of p = origin + R (x, 0) + R N T u by a complex step in time.
  const Complex t(0, 1e-40);
  Eigen::Vector<Complex, kCount> z = p.cast<Complex>() + v.cast<Complex>() * t;
  const Rot2<Complex> R = turn(z[2]);
  const BeamVector<Complex> d = to_local(R, elastic(z));
  double energy = 0;
  for (const auto& [xi, weight] : test::gauss_rule(8)) {
    const Eigen::Vector<Complex, 2> n = displacement_rows(element, xi).cast<Complex>() * d;
    const Vec2<Complex> at = rotate(R, Vec2<Complex>{xi * element.L + n[0], n[1]});
    const double vx = (z[0] + at.x).imag() / 1e-40, vy = (z[1] + at.y).imag() / 1e-40;
    energy += 0.5 * weight * element.L * element.mu * (vx * vx + vy * vy);
  }
  EXPECT_NEAR(kinetic(m, element.L, p, v) / energy, 1, 1e-13);
}

TEST(BeamLaw, ElasticForceIsTheGradientOfTheStrainEnergy) {
  std::mt19937 random(3);
  const auto m = beam_matrices(beam());
  for (BeamStrain strain : {BeamStrain::kLinear, BeamStrain::kStiffening})
    for (int k = 0; k < 10; ++k) {
      const Coordinates p = random_vector<kCount>(random, 0.5);
      const BeamForce<double> f =
          elastic_force(m, turn(p[2]), elastic(p), LinkTerms::kComplete, strain);
      Eigen::Vector<double, 7> g;
      for (int i = 0; i < 7; ++i) {
        Eigen::Vector<Complex, kCount> z = p.cast<Complex>();
        z[2 + i] += Complex(0, 1e-40);
        g[i] = strain_energy(m, turn(z[2]), elastic(z), strain).imag() / 1e-40;
      }
      EXPECT_LT((f.nodal - g.tail<6>()).norm(), 1e-12 * g.norm());
      EXPECT_NEAR(f.link, g[0], 1e-12 * g.norm());
    }
}

TEST(BeamLaw, StiffeningStrainEnergyIsThatOfTheMeanStrain) {
  std::mt19937 random(8);
  const auto element = beam();
  const BeamVector<double> d = random_vector<6>(random, 0.1);
  double shortening = 0, bending = 0;
  for (const auto& [xi, weight] : test::gauss_rule(6)) {
    shortening += 0.5 * weight * element.L * std::pow(slope_row(element, xi).dot(d), 2);
    bending +=
        0.5 * weight * element.L * element.EI * std::pow(curvature_row(element, xi).dot(d), 2);
  }
  const double strain = (d[3] - d[0] + shortening) / element.L;
  EXPECT_NEAR(strain_energy(beam_matrices(element), Rot2<double>{}, d, BeamStrain::kStiffening) /
                  (0.5 * element.EA * element.L * strain * strain + bending),
              1, 1e-12);
}

TEST(BeamLaw, AnUndeformedLinkIsARigidRod) {
  // Newton and Euler for a slender uniform rod about its centre.
  std::mt19937 random(4);
  const auto element = make_beam(0.8, 5e9, 2700.0, rectangle_section(0.02, 0.03));
  const auto m = beam_matrices(element);
  Coordinates p = random_vector<kCount>(random, 2), v = random_vector<kCount>(random, 3),
              a = random_vector<kCount>(random, 20);
  p.tail<6>().setZero();
  v.tail<6>().setZero();
  a.tail<6>().setZero();
  const double mass = element.mu * element.L, half = element.L / 2;
  const double c = std::cos(p[2]), s = std::sin(p[2]);
  const double ax = a[0] - half * (s * a[2] + c * v[2] * v[2]),
               ay = a[1] + half * (c * a[2] - s * v[2] * v[2]);
  for (LinkTerms terms : {LinkTerms::kFirst, LinkTerms::kComplete}) {
    const BeamMotion<double> motion{
        turn(p[2]), v[2],       a[2],      node_accelerations(p, v, a, element.L),
        elastic(p), elastic(v), elastic(a)};
    const Coordinates g = generalised(inertia_force(m, motion, terms), p, element.L);
    EXPECT_NEAR(g[0], mass * ax, 1e-12 * mass * 20);
    EXPECT_NEAR(g[1], mass * ay, 1e-12 * mass * 20);
    EXPECT_NEAR(g[2], mass * element.L * element.L / 12 * a[2] + half * mass * (c * ay - s * ax),
                1e-12 * mass * 20);
  }
}

TEST(BeamLaw, FirstTermsAreThoseOfPalombasMatrices) {
  std::mt19937 random(5);
  const auto m = beam_matrices(beam());
  BeamMotion<double> motion{turn(0.4),
                            2.5,
                            -7.0,
                            random_vector<6>(random, 10),
                            random_vector<6>(random, 0.1),
                            random_vector<6>(random, 2),
                            random_vector<6>(random, 30)};
  const BeamVector<double> expected =
      to_global(motion.R, m.M) * (motion.r_ddot + motion.u_ddot) +
      2 * erls_gyroscopic_matrix(m, motion.R, motion.omega) * motion.u_dot;
  const BeamForce<double> own = inertia_force(m, motion, LinkTerms::kFirst);
  EXPECT_LT((own.nodal - expected).norm(), 1e-14 * expected.norm());
  EXPECT_EQ(own.link, 0);
  EXPECT_EQ(elastic_force(m, motion.R, motion.u, LinkTerms::kFirst).link, 0);
}

TEST(BeamLaw, SmallRigidMotionsOfTheNodesStrainNothing) {
  const auto element = beam();
  const auto m = beam_matrices(element);
  const double l = element.L;
  BeamMatrix<double> rigid = BeamMatrix<double>::Zero();
  rigid.col(0) << 1, 0, 0, 1, 0, 0;
  rigid.col(1) << 0, 1, 0, 0, 1, 0;
  rigid.col(2) << 0, 0, 1, 0, l, 1;
  EXPECT_LT((m.K * rigid).norm(), 1e-15 * m.K.norm());
  // Mass, centre and inertia about the start of the rod.
  const double mass = element.mu * l;
  Eigen::Matrix3d inertia = (rigid.transpose() * m.M * rigid).topLeftCorner<3, 3>(), expected;
  expected << mass, 0, 0, 0, mass, mass * l / 2, 0, mass * l / 2,
      mass * l * l / 3 + element.rhoI * l;
  EXPECT_LT((inertia - expected).norm(), 1e-13 * mass);
}

TEST(BeamLaw, ConstantStrainAndCurvaturePassOnUnequalElements) {
  const std::vector<double> at{0, 0.3, 0.5, 1.2, 1.3};
  const double strain = 2e-3, curvature = 0.05;
  Eigen::VectorXd u(15), f = Eigen::VectorXd::Zero(15);
  for (int i = 0; i < 5; ++i) {
    const double x = at[static_cast<size_t>(i)];
    u.segment<3>(3 * i) << strain * x, curvature * x * x / 2, curvature * x;
  }
  double ea = 0, ei = 0;
  for (int i = 0; i < 4; ++i) {
    const auto element = make_beam(at[static_cast<size_t>(i) + 1] - at[static_cast<size_t>(i)], 5e9,
                                   2700.0, rectangle_section(0.02, 0.03));
    ea = element.EA;
    ei = element.EI;
    f.segment<6>(3 * i) += stiffness_matrix(element) * u.segment<6>(3 * i);
  }
  Eigen::VectorXd expected = Eigen::VectorXd::Zero(15);
  expected[0] = -ea * strain;
  expected[12] = ea * strain;
  expected[2] = -ei * curvature;
  expected[14] = ei * curvature;
  EXPECT_LT((f - expected).norm(), 1e-11 * expected.norm());
}

TEST(BeamLaw, DualsGiveTheDerivativesOfComplexSteps) {
  std::mt19937 random(6);
  const auto m = beam_matrices(beam());
  const Coordinates p = random_vector<kCount>(random, 0.5), v = random_vector<kCount>(random, 2);
  const BeamVector<double> r = random_vector<6>(random, 5), a = random_vector<6>(random, 5);
  const auto force = [&]<class T>(const Eigen::Vector<T, kCount>& q) {
    const BeamMotion<T> motion{
        turn(q[2]), q[0], q[1], r.cast<T>(), elastic(q), v.tail<6>().cast<T>(), a.cast<T>()};
    const BeamForce<T> f = inertia_force(m, motion, LinkTerms::kComplete);
    Eigen::Vector<T, 7> out;
    out << f.nodal, f.link;
    return out;
  };
  for (int i = 0; i < kCount; ++i) {
    Eigen::Vector<Dual, kCount> d = p.cast<Dual>();
    d[i].v[0] = 1;
    Eigen::Vector<Complex, kCount> z = p.cast<Complex>();
    z[i] += Complex(0, 1e-40);
    const Eigen::Vector<Dual, 7> fd = force(d);
    const Eigen::Vector<double, 7> step = force(z).imag() / 1e-40;
    for (int k = 0; k < 7; ++k) EXPECT_NEAR(fd[k].v[0], step[k], 1e-12 * (1 + step.norm())) << i;
  }
}

TEST(BeamLaw, EvaluationDoesNotAllocate) {
  std::mt19937 random(7);
  const auto element = beam();
  const BeamMotion<double> motion{turn(0.4),
                                  2.5,
                                  -7.0,
                                  random_vector<6>(random, 10),
                                  random_vector<6>(random, 0.1),
                                  random_vector<6>(random, 2),
                                  random_vector<6>(random, 30)};
  const long before = calls;
  const auto m = beam_matrices(element);
  const auto f = inertia_force(m, motion, LinkTerms::kComplete);
  const auto g = elastic_force(m, motion.R, motion.u, LinkTerms::kComplete);
  const auto k = to_global(motion.R, geometric_stiffness(element, 1.0, 2.0, 3.0));
  EXPECT_EQ(calls - before, 0);
  EXPECT_GT(f.nodal.norm() + g.nodal.norm() + k.norm(), 0);
}

}  // namespace
}  // namespace panto
