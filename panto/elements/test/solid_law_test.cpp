// Patch tests, rigid-body modes, symmetry and definiteness of continuum elements of any shape.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "panto/elements/solid.hpp"

namespace panto {
namespace {

const ElasticMaterial kSteel{210e9, 0.3, 7850};
// Round-off of sums of some hundred terms.
constexpr double kRoundOff = 1e-13;

// A square or cube with its corners moved by up to 15 %, one per seed.
template <int N, int D>
Eigen::Matrix<double, N, D> shape_of(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> move(-0.15, 0.15);
  Eigen::Matrix<double, N, D> nodes;
  for (int a = 0; a < N; ++a) {
    const int in_face = a % 4;
    nodes(a, 0) = (in_face == 1 || in_face == 2 ? 1 : 0) + move(random);
    nodes(a, 1) = (in_face >= 2 ? 1 : 0) + move(random);
    if constexpr (D == 3) nodes(a, 2) = (a < 4 ? 0 : 1) + move(random);
  }
  return nodes;
}

template <int N>
int rank(const Eigen::Matrix<double, N, N>& k) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, N, N>> solver(k);
  const double largest = solver.eigenvalues().maxCoeff();
  EXPECT_GT(solver.eigenvalues().minCoeff(), -kRoundOff * largest);
  return static_cast<int>((solver.eigenvalues().array() > 1e-10 * largest).count());
}

class SolidLaws : public ::testing::TestWithParam<unsigned> {};

TEST_P(SolidLaws, AQuadHasThreeRigidMotionsAndNoOtherWithoutEnergy) {
  for (const PlaneState state : {PlaneState::kStress, PlaneState::kStrain}) {
    const QuadMatrices e = quad_matrices(shape_of<4, 2>(GetParam()), kSteel, 0.1, state);
    EXPECT_EQ(rank<8>(e.K), 5);
    EXPECT_EQ(rank<8>(e.M), 8);
  }
}

TEST_P(SolidLaws, ABrickHasSixRigidMotionsAndNoOtherWithoutEnergy) {
  const BrickMatrices e = brick_matrices(shape_of<8, 3>(GetParam()), kSteel);
  EXPECT_EQ(rank<24>(e.K), 18);
  EXPECT_EQ(rank<24>(e.M), 24);
}

// Patch test: one inner node among the elements finds its place in a state of constant strain, whatever the elements' shapes.
TEST_P(SolidLaws, AnInnerNodeOfAPlanePatchFollowsConstantStrain) {
  // A 2 x 2 patch with moved nodes; the middle one is node 4.
  std::mt19937 random(GetParam());
  std::uniform_real_distribution<double> move(-0.2, 0.2);
  Eigen::Matrix<double, 9, 2> p;
  for (int a = 0; a < 9; ++a) {
    const int column = a % 3, row = a / 3;
    p.row(a) << column + move(random), row + move(random);
  }
  Eigen::Matrix2d gradient;
  gradient << 1e-3, 2e-4, -5e-4, 7e-4;
  Eigen::Matrix<double, 18, 18> k = Eigen::Matrix<double, 18, 18>::Zero();
  for (const int corner : {0, 1, 3, 4}) {
    const int node[] = {corner, corner + 1, corner + 4, corner + 3};
    Eigen::Matrix<double, 4, 2> nodes;
    for (int a = 0; a < 4; ++a) nodes.row(a) = p.row(node[a]);
    const auto e = quad_matrices(nodes, kSteel, 0.1, PlaneState::kStress);
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) k(2 * node[i / 2] + i % 2, 2 * node[j / 2] + j % 2) += e.K(i, j);
  }
  Eigen::Vector<double, 18> u;
  for (int a = 0; a < 9; ++a) u.segment<2>(2 * a) = gradient * p.row(a).transpose();
  const Eigen::Vector<double, 18> force = k * u;
  EXPECT_LT(force.segment<2>(8).norm(), 1e-12 * force.norm());
}

TEST_P(SolidLaws, AnInnerNodeOfASolidPatchFollowsConstantStrain) {
  std::mt19937 random(GetParam());
  std::uniform_real_distribution<double> move(-0.15, 0.15);
  Eigen::Matrix<double, 27, 3> p;
  for (int a = 0; a < 27; ++a) {
    const int column = a % 3, row = a / 3 % 3, layer = a / 9;
    p.row(a) << column + move(random), row + move(random), layer + move(random);
  }
  Eigen::Matrix3d gradient;
  gradient << 1e-3, 2e-4, 3e-4, -5e-4, 7e-4, 1e-4, 2e-4, -6e-4, 4e-4;
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(81, 81);
  for (int corner = 0; corner < 8; ++corner) {
    const int n = corner % 2 + 3 * (corner / 2 % 2) + 9 * (corner / 4);
    const int node[] = {n, n + 1, n + 4, n + 3, n + 9, n + 10, n + 13, n + 12};
    Eigen::Matrix<double, 8, 3> nodes;
    for (int a = 0; a < 8; ++a) nodes.row(a) = p.row(node[a]);
    const auto e = brick_matrices(nodes, kSteel);
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j) k(3 * node[i / 3] + i % 3, 3 * node[j / 3] + j % 3) += e.K(i, j);
  }
  Eigen::VectorXd u(81);
  for (int a = 0; a < 27; ++a) u.segment<3>(3 * a) = gradient * p.row(a).transpose();
  const Eigen::VectorXd force = k * u;
  EXPECT_LT(force.segment<3>(39).norm(), 1e-12 * force.norm());
}

INSTANTIATE_TEST_SUITE_P(Shapes, SolidLaws, ::testing::Range(1u, 6u));

}  // namespace
}  // namespace panto
