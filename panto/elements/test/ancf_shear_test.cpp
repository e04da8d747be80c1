#include "panto/elements/ancf_shear.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "panto/elements/test/support.hpp"
#include "panto/numerics/dual.hpp"

namespace panto {
namespace {

using test::Complex;
using test::gauss_rule;
using test::random_vector;
using test::relative_difference;

constexpr AncfMaterial<double> kSteel{2.07e11, 0.3, 7850.0};
constexpr AncfLaw kLaws[] = {AncfLaw::kSplit, AncfLaw::kPlaneStress, AncfLaw::kPlaneStrain};

AncfShearElement<double> element(AncfLaw law = AncfLaw::kSplit) {
  return make_ancf_shear(0.4, kSteel, rectangle_section(0.08, 0.1), law);
}
// Straight, then disturbed by finite strains.
AncfShearVector<double> deformed(std::mt19937& random) {
  return straight_ancf_shear(Vec2<double>{0.3, -0.2}, Vec2<double>{0.6, 0.8}, 0.4) +
         random_vector<12>(random, 0.1);
}

TEST(AncfShear, BadNumbersAreRefused) {
  const auto section = rectangle_section(0.1, 0.1);
  EXPECT_THROW((void)make_ancf_shear(0.0, kSteel, section), std::logic_error);
  EXPECT_THROW((void)make_ancf_shear(-1.0, kSteel, section), std::logic_error);
  EXPECT_THROW((void)make_ancf_shear(1.0, kSteel, CrossSection<double>{1, -1, 1}),
               std::logic_error);
  for (double nu : {-0.1, 0.5, std::nan("")})
    EXPECT_THROW((void)make_ancf_shear(1.0, {1e9, nu, 1e3}, section), std::logic_error) << nu;
  EXPECT_THROW((void)make_ancf_shear(1.0, {0.0, 0.3, 1e3}, section), std::logic_error);
  EXPECT_THROW((void)make_ancf_shear(1.0, {1e9, 0.3, 0.0}, section), std::logic_error);
  EXPECT_THROW((void)make_ancf_shear(1.0, {1e9, 0.3, 1e3, 0.0}, section), std::logic_error);
}

TEST(AncfShear, WeightsInterpolateTheNodes) {
  std::mt19937 random(1);
  const auto beam = element();
  const auto e = deformed(random);
  const auto at = [&](double xi, double y) { return weighted(position_weights(beam, xi, y), e); };
  EXPECT_NEAR(at(0, 0).x, e[0], 1e-15);
  EXPECT_NEAR(at(1, 0).y, e[7], 1e-15);
  EXPECT_NEAR(at(1, 0.05).x, e[6] + 0.05 * e[10], 1e-15);
  const double h = 1e-5;
  for (double xi : {0.2, 0.7}) {
    const Vec2<double> a = weighted(axis_weights(beam, xi, 0.03), e),
                       c = weighted(section_weights(beam, xi), e);
    EXPECT_NEAR(a.x, (at(xi + h, 0.03).x - at(xi - h, 0.03).x) / (2 * h * beam.L), 1e-8);
    EXPECT_NEAR(c.y, (at(xi, 0.03 + h).y - at(xi, 0.03 - h).y) / (2 * h), 1e-8);
  }
}

TEST(AncfShear, MassIsTheIntegralOverTheVolume) {
  const auto beam = element();
  AncfShearMatrix<double> m = AncfShearMatrix<double>::Zero();
  for (const auto& [xi, wx] : gauss_rule(8))
    for (const auto& [s, wy] : gauss_rule(4)) {
      const auto w = position_weights(beam, xi, 0.1 * (s - 0.5));
      Eigen::Matrix<double, 2, 12> phi = Eigen::Matrix<double, 2, 12>::Zero();
      for (int i = 0; i < 6; ++i) phi(0, 2 * i) = phi(1, 2 * i + 1) = w[static_cast<size_t>(i)];
      m += wx * wy * beam.L * 0.1 * 0.08 * kSteel.density * phi.transpose() * phi;
    }
  EXPECT_LT(relative_difference(mass_matrix(beam), m), 1e-14);
}

TEST(AncfShear, GravityLoadIsMassTimesAUniformField) {
  const auto beam = element();
  AncfShearVector<double> field = AncfShearVector<double>::Zero();
  field[0] = field[6] = 2;
  field[1] = field[7] = -9;
  EXPECT_LT(relative_difference(gravity_load(beam, Vec2<double>{2, -9}),
                                AncfShearVector<double>(mass_matrix(beam) * field)),
            1e-14);
}

// Energy of Green–Lagrange strain over the volume, point by point; coupling on the axis only and thickness strain from the nodes where the law says so.
double volume_energy(const AncfShearElement<double>& beam, const AncfShearVector<double>& e,
                     AncfLaw law) {
  const double E = kSteel.youngs_modulus, nu = kSteel.poissons_ratio, G = E / (2 * (1 + nu));
  const double lambda = E * nu / ((1 - 2 * nu) * (1 + nu)), flat = E / (1 - nu * nu);
  double u = 0;
  for (const auto& [xi, wx] : gauss_rule(7)) {
    const auto thickness = [&](double at) {
      const Vec2<double> c = weighted(section_weights(beam, at), e);
      return 0.5 * (dot(c, c) - 1);
    };
    const double x = xi;
    const auto strains = [&](double y) {
      const Vec2<double> a = weighted(axis_weights(beam, x, y), e),
                         c = weighted(section_weights(beam, x), e);
      const double across =
          law == AncfLaw::kSplit ? (1 - x) * thickness(0) + x * thickness(1) : thickness(x);
      return Eigen::Vector3d(0.5 * (dot(a, a) - 1), across, 0.5 * dot(a, c));
    };
    const auto density = [](const Eigen::Vector3d& s, double normal, double coupling,
                            double shear) {
      return normal / 2 * (s[0] * s[0] + s[1] * s[1]) + coupling * s[0] * s[1] +
             2 * shear * s[2] * s[2];
    };
    for (const auto& [s, wy] : gauss_rule(5)) {
      const double w = wx * wy * beam.L * 0.1 * 0.08;
      const Eigen::Vector3d at = strains(0.1 * (s - 0.5));
      if (law == AncfLaw::kPlaneStrain) u += w * density(at, lambda + 2 * G, lambda, G);
      if (law == AncfLaw::kPlaneStress) u += w * density(at, flat, nu * flat, G);
      if (law == AncfLaw::kSplit) {
        u += w * density(at, E, 0, 5.0 / 6 * G);
        u += w * density(strains(0), flat - E, nu * flat, 0);
      }
    }
  }
  return u;
}

TEST(AncfShear, EnergyIsThatOfTheVolume) {
  std::mt19937 random(2);
  for (AncfLaw law : kLaws)
    for (int k = 0; k < 5; ++k) {
      const auto e = deformed(random);
      EXPECT_NEAR(strain_energy(element(law), e) / volume_energy(element(law), e, law), 1, 1e-12);
    }
}

TEST(AncfShear, ForceIsTheGradientOfTheEnergy) {
  std::mt19937 random(3);
  for (AncfLaw law : kLaws) {
    const auto e = deformed(random);
    AncfShearVector<double> g;
    for (int i = 0; i < 12; ++i) {
      AncfShearVector<Complex> z = e.cast<Complex>();
      z[i] += Complex(0, 1e-40);
      g[i] = strain_energy(element(law), z).imag() / 1e-40;
    }
    EXPECT_LT(relative_difference(elastic_force(element(law), e), g), 1e-13);
  }
}

TEST(AncfShear, TangentIsTheComplexStepOfTheForceAndSymmetric) {
  std::mt19937 random(4);
  for (AncfLaw law : kLaws) {
    const auto beam = element(law);
    const auto e = deformed(random);
    const auto k = elastic_tangent(beam, e);
    const auto step = test::complex_step_jacobian<12>(
        e, [&](const AncfShearVector<Complex>& z) { return elastic_force(beam, z); });
    EXPECT_LT(relative_difference(k, step), 1e-13);
    EXPECT_EQ((k - k.transpose()).norm(), 0);
  }
}

TEST(AncfShear, DualsCarryDerivativesByCoordinatesAndParameters) {
  std::mt19937 random(5);
  const auto e = deformed(random);
  // Lanes: length, E, ν, height, e[5].
  AncfShearVector<Dual> d = e.cast<Dual>();
  d[5].v[4] = 1;
  const auto beam = make_ancf_shear(Dual(0.4, 0), {Dual(2.07e11, 1), Dual(0.3, 2), Dual(7850.0)},
                                    rectangle_section(Dual(0.08), Dual(0.1, 3)));
  const AncfShearVector<Dual> f = elastic_force(beam, d);
  for (int p = 0; p < 5; ++p) {
    const double scale = p == 1 ? 1e11 : 1.0;
    const auto z = [&](int which, double value) {
      return Complex(value, which == p ? scale * 1e-30 : 0.0);
    };
    const auto stepped = make_ancf_shear(z(0, 0.4), {z(1, 2.07e11), z(2, 0.3), z(-1, 7850)},
                                         rectangle_section(z(-1, 0.08), z(3, 0.1)));
    AncfShearVector<Complex> ez = e.cast<Complex>();
    ez[5] = z(4, e[5]);
    const AncfShearVector<double> step = elastic_force(stepped, ez).imag() / (scale * 1e-30);
    AncfShearVector<double> own;
    for (int i = 0; i < 12; ++i) own[i] = f[i].v[p];
    EXPECT_LT(relative_difference(own, step), 1e-12) << p;
  }
}

TEST(AncfShear, AnglesHaveTheirGradients) {
  std::mt19937 random(6);
  const auto beam = element();
  AncfShearVector<double> e = straight_ancf_shear(Vec2<double>{}, Vec2<double>{0.6, 0.8}, 0.4);
  EXPECT_NEAR(section_angle(beam, e, 0.3).value, std::atan2(0.8, 0.6), 1e-15);
  EXPECT_NEAR(axis_angle(beam, e, 0.3).value, std::atan2(0.8, 0.6), 1e-15);
  e = deformed(random);
  for (int i = 0; i < 12; ++i) {
    AncfShearVector<Dual> d = e.cast<Dual>();
    d[i].v[0] = 1;
    EXPECT_NEAR(section_angle(beam, d, 0.3).value.v[0], section_angle(beam, e, 0.3).gradient[i],
                1e-14);
    EXPECT_NEAR(axis_angle(beam, d, 0.3).value.v[0], axis_angle(beam, e, 0.3).gradient[i], 1e-13);
  }
}

TEST(AncfShear, LawsAgreeWithoutPoissonsRatioAndShearFactorWhereSectionsAreParallel) {
  std::mt19937 random(7);
  auto e = deformed(random);
  e.segment<2>(10) = e.segment<2>(4);
  const AncfMaterial<double> material{2.07e11, 0.0, 7850.0, 1.0};
  const auto section = rectangle_section(0.08, 0.1);
  const double u = strain_energy(make_ancf_shear(0.4, material, section, AncfLaw::kPlaneStrain), e);
  EXPECT_NEAR(strain_energy(make_ancf_shear(0.4, material, section, AncfLaw::kPlaneStress), e) / u,
              1, 1e-14);
  EXPECT_NEAR(strain_energy(make_ancf_shear(0.4, material, section, AncfLaw::kSplit), e) / u, 1,
              1e-14);
}

}  // namespace
}  // namespace panto
