#include "panto/elements/solid.hpp"

#include <Eigen/LU>
#include <array>

#include "panto/base/contract.hpp"
#include "panto/elements/gauss.hpp"
#include "panto/elements/section.hpp"

namespace panto {
namespace {

// Corners of the unit square or cube in the order of the nodes.
constexpr std::array<std::array<int, 3>, 8> kCorner{
    {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};

void expect_elastic(const ElasticMaterial& m) {
  using element_detail::positive;
  PANTO_EXPECT(
      positive(m.youngs_modulus) && positive(m.density) && m.poisson > -1 && m.poisson < 0.5,
      "an elastic body has positive modulus and density and a Poisson ratio in (-1, 0.5)");
}

// Multilinear shape functions and their derivatives at xi in [0, 1]^D.
template <int D>
void shape(const Eigen::Vector<double, D>& xi, Eigen::Vector<double, (1 << D)>& n,
           Eigen::Matrix<double, (1 << D), D>& dn) {
  for (int a = 0; a < (1 << D); ++a) {
    n[a] = 1;
    dn.row(a).setOnes();
    for (int d = 0; d < D; ++d) {
      const bool far = kCorner[static_cast<size_t>(a)][static_cast<size_t>(d)] == 1;
      const double value = far ? xi[d] : 1 - xi[d], slope = far ? 1 : -1;
      n[a] *= value;
      for (int e = 0; e < D; ++e) dn(a, e) *= e == d ? slope : value;
    }
  }
}

// Rows of strain (ε, then γ) times nodal displacements, from gradients of the shape functions.
Eigen::Matrix<double, 3, 8> strain_rows(const Eigen::Matrix<double, 4, 2>& g) {
  Eigen::Matrix<double, 3, 8> b = Eigen::Matrix<double, 3, 8>::Zero();
  for (int a = 0; a < 4; ++a) {
    b(0, 2 * a) = b(2, 2 * a + 1) = g(a, 0);
    b(1, 2 * a + 1) = b(2, 2 * a) = g(a, 1);
  }
  return b;
}
Eigen::Matrix<double, 6, 24> strain_rows(const Eigen::Matrix<double, 8, 3>& g) {
  Eigen::Matrix<double, 6, 24> b = Eigen::Matrix<double, 6, 24>::Zero();
  for (int a = 0; a < 8; ++a) {
    const int x = 3 * a, y = x + 1, z = x + 2;
    b(0, x) = b(3, y) = b(5, z) = g(a, 0);
    b(1, y) = b(3, x) = b(4, z) = g(a, 1);
    b(2, z) = b(4, y) = b(5, x) = g(a, 2);
  }
  return b;
}

// M = ∫ρ NᵀN dV, K = ∫BᵀD B dV (ELM-21).
template <int D, class Elasticity>
SolidMatrices<D*(1 << D)> integrate(const Eigen::Matrix<double, (1 << D), D>& nodes,
                                    const Elasticity& elasticity, double density) {
  constexpr int kNodes = 1 << D;
  SolidMatrices<D * kNodes> out;
  out.M.setZero();
  out.K.setZero();
  Eigen::Vector<double, kNodes> n;
  Eigen::Matrix<double, kNodes, D> dn;
  for (int point = 0; point < kNodes; ++point) {
    Eigen::Vector<double, D> xi;
    double weight = 1;
    for (int d = 0; d < D; ++d) {
      const GaussPoint& g =
          kGauss2[static_cast<size_t>(kCorner[static_cast<size_t>(point)][static_cast<size_t>(d)])];
      xi[d] = g.xi;
      weight *= g.weight;
    }
    shape<D>(xi, n, dn);
    const Eigen::Matrix<double, D, D> jacobian = nodes.transpose() * dn;  // ∂x/∂ξ
    const double volume = jacobian.determinant();
    PANTO_EXPECT(volume > 0, "an element needs its nodes in order around a convex shape");
    const Eigen::Matrix<double, kNodes, D> gradient = dn * jacobian.inverse();
    const auto b = strain_rows(gradient);
    out.K.noalias() += (weight * volume) * (b.transpose() * elasticity * b);
    for (int i = 0; i < kNodes; ++i)
      for (int j = 0; j < kNodes; ++j)
        for (int d = 0; d < D; ++d)
          out.M(D * i + d, D * j + d) += weight * volume * density * n[i] * n[j];
  }
  return out;
}

}  // namespace

QuadMatrices quad_matrices(const Eigen::Matrix<double, 4, 2>& nodes,
                           const ElasticMaterial& material, double thickness, PlaneState state) {
  expect_elastic(material);
  PANTO_EXPECT(element_detail::positive(thickness), "a plane element needs a positive thickness");
  // Plane strain is plane stress with E/(1 − ν²) and ν/(1 − ν).
  const double nu0 = material.poisson;
  const bool strain = state == PlaneState::kStrain;
  const double e = strain ? material.youngs_modulus / (1 - nu0 * nu0) : material.youngs_modulus;
  const double nu = strain ? nu0 / (1 - nu0) : nu0;
  Eigen::Matrix3d elasticity;
  elasticity << 1, nu, 0, nu, 1, 0, 0, 0, (1 - nu) / 2;
  elasticity *= thickness * e / (1 - nu * nu);
  return integrate<2>(nodes, elasticity, material.density * thickness);
}

BrickMatrices brick_matrices(const Eigen::Matrix<double, 8, 3>& nodes,
                             const ElasticMaterial& material) {
  expect_elastic(material);
  const double e = material.youngs_modulus, nu = material.poisson;
  const double shear = e / (2 * (1 + nu)), lame = e * nu / ((1 + nu) * (1 - 2 * nu));
  Eigen::Matrix<double, 6, 6> elasticity = Eigen::Matrix<double, 6, 6>::Zero();
  elasticity.topLeftCorner<3, 3>().setConstant(lame);
  elasticity.diagonal() << lame + 2 * shear, lame + 2 * shear, lame + 2 * shear, shear, shear,
      shear;
  return integrate<3>(nodes, elasticity, material.density);
}

}  // namespace panto
