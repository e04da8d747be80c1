#include "panto/elements/solid.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <stdexcept>

namespace panto {
namespace {

const ElasticMaterial kSteel{210e9, 0.3, 7850};

Eigen::Matrix<double, 4, 2> skewed_quad() {
  Eigen::Matrix<double, 4, 2> nodes;
  nodes << 0, 0, 1.1, 0.1, 0.9, 1.2, -0.2, 0.8;
  return nodes;
}
Eigen::Matrix<double, 8, 3> skewed_brick() {
  Eigen::Matrix<double, 8, 3> nodes;
  nodes << 0, 0, 0, 1, 0.1, -0.1, 1.1, 1, 0, 0, 0.9, 0.1, 0.1, 0, 1, 1, 0, 1.2, 1, 1.1, 1, 0, 1,
      0.9;
  return nodes;
}

TEST(Solid, NumbersThatNoBodyHasAreRefused) {
  Eigen::Matrix<double, 4, 2> clockwise = skewed_quad().colwise().reverse();
  EXPECT_THROW((void)quad_matrices(clockwise, kSteel, 0.01, PlaneState::kStress), std::logic_error);
  EXPECT_THROW((void)quad_matrices(skewed_quad(), kSteel, 0, PlaneState::kStress),
               std::logic_error);
  EXPECT_THROW((void)quad_matrices(skewed_quad(), {210e9, 0.5, 7850}, 0.01, PlaneState::kStrain),
               std::logic_error);
  EXPECT_THROW((void)brick_matrices(skewed_brick(), {210e9, 0.3, 0}), std::logic_error);
}

TEST(Solid, AQuadsMassIsThatOfItsArea) {
  const QuadMatrices e = quad_matrices(skewed_quad(), kSteel, 0.02, PlaneState::kStress);
  const auto p = skewed_quad();
  double area = 0;  // shoelace formula
  for (int i = 0; i < 4; ++i)
    area += 0.5 * (p(i, 0) * p((i + 1) % 4, 1) - p((i + 1) % 4, 0) * p(i, 1));
  Eigen::Vector<double, 8> x = Eigen::Vector<double, 8>::Zero();
  for (int a = 0; a < 4; ++a) x[2 * a] = 1;
  EXPECT_NEAR(x.dot(e.M * x), 7850 * 0.02 * area, 1e-12 * 7850);
}

TEST(Solid, ACubesStiffnessIsTheClosedFormUnderUniformTension) {
  Eigen::Matrix<double, 8, 3> cube;
  cube << 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1;
  const BrickMatrices e = brick_matrices(cube, kSteel);
  // Strain ε along x and -νε across: energy ½ E ε² per volume.
  Eigen::Vector<double, 24> u;
  for (int a = 0; a < 8; ++a)
    u.segment<3>(3 * a) = Eigen::Vector3d(cube(a, 0), -0.3 * cube(a, 1), -0.3 * cube(a, 2));
  EXPECT_NEAR(u.dot(e.K * u), 210e9, 1e-9 * 210e9);
  Eigen::Vector<double, 24> all = Eigen::Vector<double, 24>::Ones();
  EXPECT_NEAR(all.dot(e.M * all), 3 * 7850, 1e-9);
}

TEST(Solid, PlaneStrainIsStifferThanPlaneStress) {
  Eigen::Matrix<double, 4, 2> square;
  square << 0, 0, 1, 0, 1, 1, 0, 1;
  Eigen::Vector<double, 8> u;
  for (int a = 0; a < 4; ++a) u.segment<2>(2 * a) = Eigen::Vector2d(square(a, 0), 0);
  // Sides held: E/(1 − ν²) and (λ + 2μ).
  const double stress = u.dot(quad_matrices(square, kSteel, 1, PlaneState::kStress).K * u);
  const double strain = u.dot(quad_matrices(square, kSteel, 1, PlaneState::kStrain).K * u);
  EXPECT_NEAR(stress, 210e9 / (1 - 0.09), 1);
  EXPECT_NEAR(strain, 210e9 * 0.7 / (1.3 * 0.4), 1);
}

}  // namespace
}  // namespace panto
