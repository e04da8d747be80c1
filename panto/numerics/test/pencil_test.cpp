#include "panto/numerics/pencil.hpp"

#include <gtest/gtest.h>

namespace panto {
namespace {

Eigen::MatrixXd none(Eigen::Index n) { return Eigen::MatrixXd(n, 0); }

TEST(Pencil, RegularEHasIndexZeroAndTheEigenvaluesOfItsMatrix) {
  const Eigen::Matrix2d a = (Eigen::Matrix2d() << 0, 1, -4, 0).finished();
  const PencilStructure s = reduce_pencil(Eigen::Matrix2d::Identity(), a, none(2));
  EXPECT_TRUE(s.regular);
  EXPECT_EQ(s.index, 0);
  const auto values = s.values();
  ASSERT_EQ(values.size(), 2U);
  EXPECT_NEAR(std::abs(values[0].imag()), 2, 1e-14);
}

// A nilpotent block of size k has index k and no finite eigenvalue; QZ would see k of them at about ε^(-1/k).
TEST(Pencil, NilpotentBlocksHaveTheirSizeAsIndex) {
  for (int k = 1; k <= 11; ++k) {
    Eigen::MatrixXd e = Eigen::MatrixXd::Zero(k + 1, k + 1),
                    a = Eigen::MatrixXd::Identity(k + 1, k + 1);
    for (int i = 0; i + 1 < k; ++i) e(i, i + 1) = 1;
    e(k, k) = 1;
    a(k, k) = -3;
    // Mixed by a regular matrix from both sides.
    Eigen::MatrixXd mix = Eigen::MatrixXd::Identity(k + 1, k + 1);
    for (int i = 0; i < k; ++i) mix(i, i + 1) = 0.5, mix(i + 1, i) = -0.25;
    const PencilStructure s = reduce_pencil(mix * e * mix, mix * a * mix, none(k + 1));
    ASSERT_TRUE(s.regular) << k;
    EXPECT_EQ(s.index, k);
    ASSERT_EQ(s.values().size(), 1U) << k;
    EXPECT_NEAR(s.values()[0].real(), -3, 1e-9);
  }
}

TEST(Pencil, SingularPencilsAreNoticed) {
  const Eigen::Matrix2d e = (Eigen::Matrix2d() << 1, 0, 0, 0).finished(),
                        a = (Eigen::Matrix2d() << 1, 0, 0, 0).finished();
  EXPECT_FALSE(reduce_pencil(e, a, none(2)).regular);
}

// x1' = x2 + u, 0 = x1 - x2: x1' = x1 + u.
TEST(Pencil, InputsGoThroughTheReduction) {
  const Eigen::Matrix2d e = (Eigen::Matrix2d() << 1, 0, 0, 0).finished(),
                        a = (Eigen::Matrix2d() << 0, 1, 1, -1).finished();
  const PencilStructure s = reduce_pencil(e, a, Eigen::Vector2d(1, 0));
  ASSERT_TRUE(s.regular);
  EXPECT_EQ(s.index, 1);
  EXPECT_EQ(s.direct, 0);
  ASSERT_EQ(s.A.rows(), 1);
  EXPECT_NEAR(s.A(0, 0) / s.E(0, 0), 1, 1e-14);
  EXPECT_NEAR(s.N(0, 0) * s.B(0, 0) / s.E(0, 0), 1, 1e-14);
}

}  // namespace
}  // namespace panto
