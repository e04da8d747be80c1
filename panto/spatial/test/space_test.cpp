#include "panto/spatial/space.hpp"

#include <gtest/gtest.h>

#include <complex>

namespace panto {
namespace {

TEST(Space, TurnAboutAGeneralAxisAgreesWithTheCoordinateAxes) {
  const double angle = 0.7;
  const Mat3<double> start = turn_about(identity3<double>(), {1, 0, 0}, 0.3);
  const double eps = 1e-300;  // not exactly a coordinate axis, so the general formula runs
  for (int axis = 0; axis < 3; ++axis) {
    Vec3<double> k{axis == 0 ? 1.0 : eps, axis == 1 ? 1.0 : eps, axis == 2 ? 1.0 : eps};
    const Mat3<double> special = turn_about(start, k, angle);
    (axis == 0 ? k.x : axis == 1 ? k.y : k.z) = 1.0 - 1e-16;
    const Mat3<double> general = turn_about(start, k, angle);
    EXPECT_NEAR(special.x.y, general.x.y, 1e-15);
    EXPECT_NEAR(special.y.z, general.y.z, 1e-15);
    EXPECT_NEAR(special.z.x, general.z.x, 1e-15);
  }
}

TEST(Space, QuaternionOfAQuarterTurnAboutZSendsXToY) {
  const double h = std::sqrt(0.5);
  const Mat3<double> r = quaternion_rotation(h, 0.0, 0.0, h);
  EXPECT_NEAR(r.x.y, 1, 1e-15);
  EXPECT_NEAR(r.x.x, 0, 1e-15);
  EXPECT_NEAR(r.z.z, 1, 1e-15);
}

TEST(Space, ShiftedInertiaOfAPointMassIsSteinersTerm) {
  // A unit point mass at h from the old point, reference moved by d: inertia about the new point is that of the mass at d + h.
  const Vec3<double> h{0.3, -0.2, 0.5}, d{1.0, 2.0, -0.7};
  const auto about = [](const Vec3<double>& r) {
    return Sym3<double>{r.y * r.y + r.z * r.z,
                        r.x * r.x + r.z * r.z,
                        r.x * r.x + r.y * r.y,
                        -r.x * r.y,
                        -r.x * r.z,
                        -r.y * r.z};
  };
  const Sym3<double> got = shift_inertia(about(h), 1.0, h, d);
  const Sym3<double> want = about(h + d);
  EXPECT_NEAR(got.xx, want.xx, 1e-14);
  EXPECT_NEAR(got.yy, want.yy, 1e-14);
  EXPECT_NEAR(got.zz, want.zz, 1e-14);
  EXPECT_NEAR(got.xy, want.xy, 1e-14);
  EXPECT_NEAR(got.xz, want.xz, 1e-14);
  EXPECT_NEAR(got.yz, want.yz, 1e-14);
  const Vec2<double> h2{0.3, -0.2}, d2{1.0, 2.0};
  EXPECT_NEAR(shift_inertia(dot(h2, h2), 1.0, h2, d2), dot(h2 + d2, h2 + d2), 1e-14);
}

TEST(Space, RotatedInertiaKeepsItsActionOnRotatedVectors) {
  const Mat3<double> r =
      turn_about(turn_about(identity3<double>(), {0, 0, 1}, 0.4), {1, 0, 0}, -1.1);
  const Sym3<double> i{1, 2, 3, 0.1, -0.2, 0.3};
  const Vec3<double> v{0.5, -1, 2};
  const Vec3<double> a = rotate_inertia(r, i) * (r * v);
  const Vec3<double> b = r * (i * v);
  EXPECT_NEAR(a.x, b.x, 1e-14);
  EXPECT_NEAR(a.y, b.y, 1e-14);
  EXPECT_NEAR(a.z, b.z, 1e-14);
}

TEST(Space, ProductsDoNotConjugateComplexNumbers) {
  using C = std::complex<double>;
  const Vec3<C> a{C(0, 1), C(1, 0), C(0, 0)};
  EXPECT_EQ(dot(a, a), C(0, 0));  // i*i + 1
  const Vec2<C> b{C(0, 1), C(0, 0)};
  EXPECT_EQ(dot(b, b), C(-1, 0));
}

}  // namespace
}  // namespace panto
