#include "panto/elements/ancf_cable.hpp"

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

constexpr CableCurvature kKinds[] = {CableCurvature::kPerUnstretchedLength,
                                     CableCurvature::kPerStretchedLength};

AncfCableElement<double> element(CableCurvature kind = CableCurvature::kPerUnstretchedLength) {
  return make_ancf_cable(0.4, 1e4, 2.0, 1.5, kind);
}
AncfCableVector<double> deformed(std::mt19937& random) {
  return straight_ancf_cable(Vec2<double>{0.3, -0.2}, Vec2<double>{0.6, 0.8}, 0.4) +
         random_vector<8>(random, 0.1);
}

TEST(AncfCable, BadNumbersAreRefused) {
  for (double bad : {0.0, -1.0, std::nan("")}) {
    EXPECT_THROW((void)make_ancf_cable(bad, 1.0, 1.0, 1.0), std::logic_error);
    EXPECT_THROW((void)make_ancf_cable(1.0, bad, 1.0, 1.0), std::logic_error);
    EXPECT_THROW((void)make_ancf_cable(1.0, 1.0, 1.0, bad), std::logic_error);
  }
  EXPECT_THROW((void)make_ancf_cable(1.0, 1.0, -1.0, 1.0), std::logic_error);
  EXPECT_THROW((void)make_ancf_cable(1.0, 1.0, std::nan(""), 1.0), std::logic_error);
  EXPECT_NO_THROW((void)make_ancf_cable(1.0, 1.0, 0.0, 1.0));
}

TEST(AncfCable, MassIsTheIntegralOverTheLength) {
  const auto cable = element();
  AncfCableMatrix<double> m = AncfCableMatrix<double>::Zero();
  for (const auto& [xi, weight] : gauss_rule(8)) {
    const auto w = position_weights(cable, xi);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        for (int d : {0, 1})
          m(2 * i + d, 2 * j + d) +=
              weight * cable.L * cable.rhoA * w[static_cast<size_t>(i)] * w[static_cast<size_t>(j)];
  }
  EXPECT_LT(relative_difference(mass_matrix(cable), m), 1e-14);
  AncfCableVector<double> field;
  field << 2, -9, 0, 0, 2, -9, 0, 0;
  EXPECT_LT(relative_difference(gravity_load(cable, Vec2<double>{2, -9}),
                                AncfCableVector<double>(m * field)),
            1e-14);
}

TEST(AncfCable, StrainAndCurvatureOfACircleAreThoseOfTheCircle) {
  // Arc of radius 2 stretched by 1 %: tangents of length 1.01 and a turn of 0.4/2.
  const auto arc = [](double length) {
    const double turn = 1.01 * length / 2;
    AncfCableVector<double> e;
    e << 0, 0, 1.01, 0, 2 * std::sin(turn), 2 * (1 - std::cos(turn)), 1.01 * std::cos(turn),
        1.01 * std::sin(turn);
    return e;
  };
  for (CableCurvature kind : kKinds) {
    double last = 0;
    for (double length : {0.4, 0.2}) {
      const auto cable = make_ancf_cable(length, 1e4, 2.0, 1.0, kind);
      const double exact = kind == CableCurvature::kPerUnstretchedLength ? 1.01 / 2 : 0.5;
      EXPECT_NEAR(axial_strain(cable, arc(length), 0.5), 0.01, 1e-4);
      const double error = curvature(cable, arc(length), 0.5) - exact;
      if (last != 0) {
        EXPECT_NEAR(test::order(last, error), 2, 0.1);  // second derivative of a cubic
      }
      last = error;
    }
  }
}

TEST(AncfCable, EnergyIsTheIntegralOfItsStrainsUpToTheQuadrature) {
  std::mt19937 random(2);
  for (CableCurvature kind : kKinds) {
    const auto cable = element(kind);
    // A smooth shape: bent by 0.3 rad and stretched by 1 %.
    AncfCableVector<double> e;
    e << 0, 0, 1.01, 0, 0.4 * 0.99, 0.4 * 0.15, std::cos(0.3), std::sin(0.3);
    double u = 0;
    for (const auto& [xi, weight] : gauss_rule(20)) {
      const double strain = axial_strain(cable, e, xi), k = curvature(cable, e, xi);
      u += 0.5 * weight * cable.L * (cable.EA * strain * strain + cable.EI * k * k);
    }
    EXPECT_NEAR(strain_energy(cable, e) / u, 1, 1e-4);
  }
}

TEST(AncfCable, ForceIsTheGradientOfTheEnergy) {
  std::mt19937 random(3);
  for (CableCurvature kind : kKinds) {
    const auto cable = element(kind);
    const auto e = deformed(random);
    AncfCableVector<double> g;
    for (int i = 0; i < 8; ++i) {
      AncfCableVector<Complex> z = e.cast<Complex>();
      z[i] += Complex(0, 1e-40);
      g[i] = strain_energy(cable, z).imag() / 1e-40;
    }
    EXPECT_LT(relative_difference(elastic_force(cable, e), g), 1e-13);
  }
}

TEST(AncfCable, TangentIsTheComplexStepOfTheForceAndSymmetric) {
  std::mt19937 random(4);
  for (CableCurvature kind : kKinds)
    for (double ea : {1e4, 1.0}) {  // with a small EA the bending part is seen to all digits
      const auto cable = make_ancf_cable(0.4, ea, 2.0, 1.5, kind);
      const auto e = deformed(random);
      const auto k = elastic_tangent(cable, e);
      const auto step = test::complex_step_jacobian<8>(
          e, [&](const AncfCableVector<Complex>& z) { return elastic_force(cable, z); });
      EXPECT_LT(relative_difference(k, step), 1e-13);
      EXPECT_LT((k - k.transpose()).norm(), 1e-14 * k.norm());
    }
}

TEST(AncfCable, DualsCarryDerivativesByCoordinatesAndParameters) {
  std::mt19937 random(5);
  const auto e = deformed(random);
  AncfCableVector<Dual> d = e.cast<Dual>();
  d[3].v[3] = 1;
  const auto cable = make_ancf_cable(Dual(0.4, 0), Dual(1e4, 1), Dual(2.0, 2), Dual(1.0));
  const AncfCableVector<Dual> f = elastic_force(cable, d);
  for (int p = 0; p < 4; ++p) {
    const auto z = [&](int which, double value) {
      return Complex(value, which == p ? 1e-30 : 0.0);
    };
    AncfCableVector<Complex> ez = e.cast<Complex>();
    ez[3] = z(3, e[3]);
    const AncfCableVector<double> step =
        elastic_force(make_ancf_cable(z(0, 0.4), z(1, 1e4), z(2, 2.0), z(-1, 1.0)), ez).imag() /
        1e-30;
    AncfCableVector<double> own;
    for (int i = 0; i < 8; ++i) own[i] = f[i].v[p];
    EXPECT_LT(relative_difference(own, step), 1e-12) << p;
  }
}

TEST(AncfCable, TheTangentAngleHasItsGradient) {
  std::mt19937 random(6);
  const auto cable = element();
  const auto e = deformed(random);
  for (int i = 0; i < 8; ++i) {
    AncfCableVector<Dual> d = e.cast<Dual>();
    d[i].v[0] = 1;
    EXPECT_NEAR(axis_angle(cable, d, 0.3).value.v[0], axis_angle(cable, e, 0.3).gradient[i], 1e-13);
  }
}

}  // namespace
}  // namespace panto
