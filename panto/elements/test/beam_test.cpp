#include "panto/elements/beam.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "panto/elements/test/support.hpp"
#include "panto/numerics/dual.hpp"

namespace panto {
namespace {

using test::Complex;
using test::gauss_rule;
using test::relative_difference;

BeamElement<double> rod(RotaryInertia rotary = RotaryInertia::kNeglected) {
  return make_beam(0.425, 69e9, 2700.0, circle_section(0.03), rotary);
}

// Shape functions written again, from their end conditions: cubic with value and slope.
double cubic(int which, double x, double length) {
  Eigen::Matrix4d conditions;
  conditions << 1, 0, 0, 0, 0, 1, 0, 0, 1, length, length * length, std::pow(length, 3), 0, 1,
      2 * length, 3 * length * length;
  const Eigen::Vector4d c = conditions.lu().solve(Eigen::Vector4d::Unit(which));
  return c[0] + x * (c[1] + x * (c[2] + x * c[3]));
}
Eigen::Matrix<double, 2, 6> shape(double x, double length) {
  Eigen::Matrix<double, 2, 6> n = Eigen::Matrix<double, 2, 6>::Zero();
  n(0, 0) = 1 - x / length;
  n(0, 3) = x / length;
  const int place[] = {1, 2, 4, 5};
  for (int i = 0; i < 4; ++i) n(1, place[i]) = cubic(i, x, length);
  return n;
}

TEST(Beam, ZeroLengthAndNegativeNumbersAreRefused) {
  const auto section = circle_section(0.03);
  EXPECT_THROW((void)make_beam(0.0, 69e9, 2700.0, section), std::logic_error);
  EXPECT_THROW((void)make_beam(-1.0, 69e9, 2700.0, section), std::logic_error);
  EXPECT_THROW((void)make_beam(1.0, 0.0, 2700.0, section), std::logic_error);
  EXPECT_THROW((void)make_beam(1.0, 69e9, -1.0, section), std::logic_error);
  EXPECT_THROW((void)make_beam(1.0, 69e9, 2700.0, CrossSection<double>{-1, 1, 1}),
               std::logic_error);
  EXPECT_THROW((void)make_beam(1.0, 69e9, 2700.0, CrossSection<double>{1, 0, 1}), std::logic_error);
}

TEST(Beam, ShapeFunctionsAreTheCubicsOfTheirEndConditions) {
  const auto beam = rod();
  for (double xi : {0.0, 0.2, 0.5, 0.9, 1.0})
    EXPECT_LT((displacement_rows(beam, xi) - shape(xi * beam.L, beam.L)).norm(), 1e-13) << xi;
}

TEST(Beam, SlopeAndCurvatureAreDerivativesOfTheDisplacement) {
  const auto beam = rod();
  for (double xi : {0.1, 0.6}) {
    const double h = 1e-4;
    const auto y = [&](double x) { return Eigen::RowVectorXd(displacement_rows(beam, x).row(1)); };
    const Eigen::RowVectorXd slope = (y(xi + h) - y(xi - h)) / (2 * h * beam.L);
    const Eigen::RowVectorXd curvature =
        (y(xi + h) - 2 * y(xi) + y(xi - h)) / std::pow(h * beam.L, 2);
    EXPECT_LT((slope - slope_row(beam, xi)).norm(), 1e-6);          // truncation h²
    EXPECT_LT((curvature - curvature_row(beam, xi)).norm(), 1e-5);  // round-off over h²
  }
}

TEST(Beam, StrainIsStretchLessHeightTimesCurvature) {
  const auto beam = rod();
  BeamVector<double> d;
  d << 1e-3, 0, 0, 3e-3, 0, 0;
  EXPECT_NEAR(strain_row(beam, 0.3, 0.015).dot(d), 2e-3 / beam.L, 1e-16);
  d << 0, 0, -0.01, 0, 0, 0.01;  // constant curvature 0.02/L
  EXPECT_NEAR(strain_row(beam, 0.3, 0.015).dot(d), -0.015 * 0.02 / beam.L, 1e-16);
}

TEST(Beam, MassIsTheIntegralOfItsShapeFunctions) {
  const auto beam = rod(RotaryInertia::kIncluded);
  BeamMatrix<double> m = BeamMatrix<double>::Zero();
  for (const auto& [xi, weight] : gauss_rule(8)) {
    const auto n = shape(xi * beam.L, beam.L);
    const BeamRow<double> s = slope_row(beam, xi);
    m += weight * beam.L * (beam.mu * n.transpose() * n + beam.rhoI * s.transpose() * s);
  }
  EXPECT_LT(relative_difference(mass_matrix(beam), m), 1e-14);
  EXPECT_GT(beam.rhoI, 0);
}

TEST(Beam, StiffnessIsTheIntegralOfItsStrainEnergy) {
  const auto beam = rod();
  BeamMatrix<double> k = BeamMatrix<double>::Zero();
  for (const auto& [xi, weight] : gauss_rule(8)) {
    const BeamRow<double> axial = strain_row(beam, xi, 0.0), bending = curvature_row(beam, xi);
    k += weight * beam.L *
         (beam.EA * axial.transpose() * axial + beam.EI * bending.transpose() * bending);
  }
  EXPECT_LT(relative_difference(stiffness_matrix(beam), k), 1e-13);
}

TEST(Beam, GyroscopicMatrixIsTheIntegralAndAntisymmetric) {
  const auto beam = rod();
  Eigen::Matrix2d j;
  j << 0, -1, 1, 0;
  BeamMatrix<double> g = BeamMatrix<double>::Zero();
  for (const auto& [xi, weight] : gauss_rule(8)) {
    const auto n = shape(xi * beam.L, beam.L);
    g += weight * beam.L * beam.mu * n.transpose() * j * n;
  }
  const BeamMatrix<double> own = gyroscopic_matrix(beam);
  EXPECT_LT(relative_difference(own, g), 1e-14);
  EXPECT_EQ((own + own.transpose()).norm(), 0);
}

TEST(Beam, GeometricStiffnessOfAConstantForceIsTheTextbookMatrix) {
  const auto beam = rod();
  const double n = 800, l = beam.L, f = n / (30 * l);
  Eigen::Matrix4d book;
  book << 36, 3 * l, -36, 3 * l, 3 * l, 4 * l * l, -3 * l, -l * l, -36, -3 * l, 36, -3 * l, 3 * l,
      -l * l, -3 * l, 4 * l * l;
  const BeamMatrix<double> k = geometric_stiffness(beam, n, n, n);
  const std::vector<int> bending{1, 2, 4, 5};
  EXPECT_LT(relative_difference(Eigen::MatrixXd(k(bending, bending)), Eigen::MatrixXd(f * book)),
            1e-14);
  EXPECT_EQ(k.row(0).norm() + k.row(3).norm(), 0);
}

TEST(Beam, GeometricStiffnessOfAQuadraticForceIsItsIntegral) {
  const auto beam = rod();
  const auto force = [](double xi) { return 100 - 30 * xi - 50 * xi * xi; };
  BeamMatrix<double> k = BeamMatrix<double>::Zero();
  for (const auto& [xi, weight] : gauss_rule(8)) {
    const BeamRow<double> s = slope_row(beam, xi);
    k += weight * beam.L * force(xi) * s.transpose() * s;
  }
  EXPECT_LT(relative_difference(geometric_stiffness(beam, force(0), force(0.5), force(1)), k),
            1e-14);
}

TEST(Beam, GravityLoadIsMassTimesAUniformField) {
  const auto beam = rod();
  BeamVector<double> field;
  field << 3, -9, 0, 3, -9, 0;
  EXPECT_LT(relative_difference(gravity_load(beam, Vec2<double>{3, -9}),
                                BeamVector<double>(mass_matrix(beam) * field)),
            1e-14);
}

TEST(Beam, TurningIntoGlobalAxesIsTheCongruenceWithT) {
  const Rot2<double> R = turn(0.7);
  BeamMatrix<double> t = BeamMatrix<double>::Identity();
  for (int n : {0, 3}) {
    t(n, n) = t(n + 1, n + 1) = R.c;
    t(n, n + 1) = R.s;
    t(n + 1, n) = -R.s;
  }
  const BeamMatrix<double> k = stiffness_matrix(rod());
  EXPECT_LT(relative_difference(to_global(R, k), BeamMatrix<double>(t.transpose() * k * t)), 1e-15);
  const BeamVector<double> v = BeamVector<double>::LinSpaced(1, 6);
  EXPECT_LT((to_local(R, v) - t * v).norm(), 1e-15);
  EXPECT_LT((to_global(R, to_local(R, v)) - v).norm(), 1e-14);
}

TEST(Beam, ErlsGyroscopicMatrixIsTheIntegralOfPalomba) {
  // (4.20): ∫ρ (TᵀNᵀRᵀ Ṙ N T + TᵀNᵀN Ṫ) dv with Ṙ = ω R J and Ṫ from Rᵀ.
  const auto beam = rod();
  const double omega = 3, angle = 0.7;
  Eigen::Matrix2d r, j;
  r << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  j << 0, -1, 1, 0;
  const Eigen::Matrix2d r_dot = omega * r * j;
  BeamMatrix<double> t = BeamMatrix<double>::Identity(), t_dot = BeamMatrix<double>::Zero();
  for (int n : {0, 3}) {
    t.block<2, 2>(n, n) = r.transpose();
    t_dot.block<2, 2>(n, n) = r_dot.transpose();
  }
  BeamMatrix<double> expected = BeamMatrix<double>::Zero();
  for (const auto& [xi, weight] : gauss_rule(8)) {
    const auto n = shape(xi * beam.L, beam.L);
    const Eigen::Matrix<double, 6, 2> left = t.transpose() * n.transpose();
    expected +=
        weight * beam.L * beam.mu * (left * r.transpose() * r_dot * n * t + left * n * t_dot);
  }
  const auto m = beam_matrices(beam);
  EXPECT_LT(relative_difference(erls_gyroscopic_matrix(m, turn(angle), omega), expected), 1e-14);
}

TEST(Beam, DerivativesByParametersAreThoseOfComplexSteps) {
  const double length = 0.5, modulus = 69e9, density = 2700, diameter = 0.016;
  const auto dual = make_beam(Dual(length, 0), Dual(modulus, 1), Dual(density, 2),
                              circle_section(Dual(diameter, 3)), RotaryInertia::kIncluded);
  for (int p = 0; p < 4; ++p) {
    const double scale = p == 1 ? 1e11 : p == 2 ? 1e3 : 1.0;
    const auto z = [&](int which, double value) {
      return Complex(value, which == p ? scale * 1e-30 : 0.0);
    };
    const auto beam = make_beam(z(0, length), z(1, modulus), z(2, density),
                                circle_section(z(3, diameter)), RotaryInertia::kIncluded);
    const BeamMatrix<Complex> m = mass_matrix(beam), k = stiffness_matrix(beam);
    const BeamMatrix<Dual> dm = mass_matrix(dual), dk = stiffness_matrix(dual);
    BeamMatrix<double> by_dual_m, by_dual_k;
    for (int i = 0; i < 36; ++i) {
      by_dual_m(i) = dm(i).v[p];
      by_dual_k(i) = dk(i).v[p];
    }
    const BeamMatrix<double> by_step_m = m.imag() / (scale * 1e-30),
                             by_step_k = k.imag() / (scale * 1e-30);
    EXPECT_LE((by_dual_m - by_step_m).norm(), 1e-13 * by_step_m.norm()) << p;
    EXPECT_LE((by_dual_k - by_step_k).norm(), 1e-13 * by_step_k.norm()) << p;
  }
}

}  // namespace
}  // namespace panto
