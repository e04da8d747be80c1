#include "panto/numerics/sparse_pairs.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace panto {
namespace {

// n masses of 1 kg in a row, springs of 1 N/m between them; fixed at both ends or free.
SparseMatrix chain(int n, bool fixed) {
  SparseMatrix k(n, n);
  for (int i = 0; i < n; ++i) {
    k.insert(i, i) = fixed || (i > 0 && i < n - 1) ? 2 : 1;
    if (i > 0) k.insert(i, i - 1) = k.insert(i - 1, i) = -1;
  }
  return k;
}
SparseMatrix unit(int n) {
  SparseMatrix m(n, n);
  m.setIdentity();
  return m;
}
// Two equal systems side by side.
SparseMatrix twice(const SparseMatrix& a) {
  const Eigen::Index n = a.rows();
  SparseMatrix out(2 * n, 2 * n);
  for (Eigen::Index j = 0; j < a.outerSize(); ++j)
    for (SparseMatrix::InnerIterator i(a, j); i; ++i) {
      out.insert(i.row(), i.col()) = i.value();
      out.insert(n + i.row(), n + i.col()) = i.value();
    }
  return out;
}

TEST(SparsePairs, AChainHasItsClosedFormFrequencies) {
  const int n = 300;
  const auto pairs = lowest_pairs(chain(n, true), unit(n), 40);
  ASSERT_TRUE(pairs);
  for (int i = 0; i < 40; ++i) {
    const double exact = std::pow(2 * std::sin(std::numbers::pi * (i + 1) / (2 * (n + 1))), 2);
    EXPECT_NEAR(pairs->values(i), exact, 1e-11 * 4) << i;  // round-off of the largest value, 4
  }
  const Eigen::MatrixXd gram = pairs->vectors.transpose() * pairs->vectors;
  EXPECT_LT((gram - Eigen::MatrixXd::Identity(40, 40)).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(SparsePairs, AFreeChainHasARigidMode) {
  const auto pairs = lowest_pairs(chain(200, false), unit(200), 3);
  ASSERT_TRUE(pairs);
  EXPECT_NEAR(pairs->values(0), 0, 1e-12);
  EXPECT_GT(pairs->values(1), 1e-5);
}

TEST(SparsePairs, EveryCopyOfADoubleValueIsFound) {
  const int n = 150;
  const SparseMatrix k = twice(chain(n, true));
  const auto pairs = lowest_pairs(k, unit(2 * n), 20);
  ASSERT_TRUE(pairs);
  for (int i = 0; i < 20; ++i) {
    const int mode = i / 2 + 1;  // each value is there twice
    const double exact = std::pow(2 * std::sin(std::numbers::pi * mode / (2 * (n + 1))), 2);
    EXPECT_NEAR(pairs->values(i), exact, 1e-11) << i;
  }
}

TEST(SparsePairs, AsManyAsThereAreIsTheDenseSolution) {
  const auto all = lowest_pairs(chain(60, true), unit(60), 60);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->values.size(), 60);
  EXPECT_NEAR(all->values.sum(), 120, 1e-10);  // trace
}

TEST(SparsePairs, AMassThatIsNotDefiniteIsRefused) {
  SparseMatrix m = unit(200);
  m.coeffRef(7, 7) = -1;
  EXPECT_FALSE(lowest_pairs(chain(200, true), m, 3));
}

TEST(SparsePairs, InertiaCountsTheValuesBelow) {
  const int n = 100;
  for (const int below : {0, 1, 17, 99}) {
    const double value =
        std::pow(2 * std::sin(std::numbers::pi * (below + 0.5) / (2 * (n + 1))), 2);
    EXPECT_EQ(values_below(chain(n, true), unit(n), value), below);
  }
}

TEST(SparsePairs, TheWeakestPivotTellsASingularMatrix) {
  EXPECT_GT(SparseSymmetric(chain(50, true)).weakest(), 0.1);
  EXPECT_LT(std::abs(SparseSymmetric(chain(50, false)).weakest()), 1e-12);
}

// A beam with both ends clamped (EI = 100 N m², 1 kg/m, 1 m) in elements of these lengths; two degrees of freedom a node.
struct Pencil {
  SparseMatrix k, m;
};
Pencil clamped_beam(const std::vector<double>& lengths) {
  const auto n = static_cast<Eigen::Index>(2 * (lengths.size() - 1));
  std::vector<Eigen::Triplet<double, Eigen::Index>> stiffness, mass;
  for (size_t e = 0; e < lengths.size(); ++e) {
    const double h = lengths[e], b = 100 / (h * h * h), r = h / 420;
    const double k[4][4] = {{12, 6 * h, -12, 6 * h},
                            {6 * h, 4 * h * h, -6 * h, 2 * h * h},
                            {-12, -6 * h, 12, -6 * h},
                            {6 * h, 2 * h * h, -6 * h, 4 * h * h}};
    const double m[4][4] = {{156, 22 * h, 54, -13 * h},
                            {22 * h, 4 * h * h, 13 * h, -3 * h * h},
                            {54, 13 * h, 156, -22 * h},
                            {-13 * h, -3 * h * h, -22 * h, 4 * h * h}};
    for (Eigen::Index i = 0; i < 4; ++i)
      for (Eigen::Index j = 0; j < 4; ++j) {
        const Eigen::Index row = 2 * static_cast<Eigen::Index>(e) - 2 + i,
                           column = 2 * static_cast<Eigen::Index>(e) - 2 + j;
        if (row < 0 || column < 0 || row >= n || column >= n) continue;
        stiffness.emplace_back(row, column, b * k[i][j]);
        mass.emplace_back(row, column, r * m[i][j]);
      }
  }
  Pencil out{SparseMatrix(n, n), SparseMatrix(n, n)};
  out.k.setFromTriplets(stiffness.begin(), stiffness.end());
  out.m.setFromTriplets(mass.begin(), mass.end());
  return out;
}

// cos x cosh x = 1: 22.373, 61.673, 120.90 for ω sqrt(μ L⁴/EI). The lowest values lie far below the first shift; K holds them to round-off that grows with its largest entries.
TEST(SparsePairs, FineAndGradedMeshesHaveTheFrequenciesOfCoarseOnes) {
  std::vector<double> graded(81, 1.0 / 80);
  graded[40] = 1e-4;
  struct {
    std::vector<double> lengths;
    double tolerance;
  } const cases[] = {{std::vector<double>(100, 0.01), 1e-6},
                     {graded, 1e-3},
                     {std::vector<double>(3000, 1.0 / 3000), 1e-2}};
  for (const auto& c : cases) {
    double length = 0;
    for (const double h : c.lengths) length += h;
    const Pencil beam = clamped_beam(c.lengths);
    const auto pairs = lowest_pairs(beam.k, beam.m, 3);
    ASSERT_TRUE(pairs) << c.lengths.size();
    const double exact[] = {22.373285, 61.672823, 120.903392};
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(std::sqrt(pairs->values(i)) * length * length / 10, exact[i],
                  c.tolerance * exact[i])
          << c.lengths.size();
  }
}

struct Matrices {
  Eigen::MatrixXd k, m;
};

// K symmetric, of both signs; M positive definite. band: entries off the diagonal that are not zero.
Matrices random_matrices(int n, int band, unsigned seed) {
  std::mt19937 gen(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  Matrices out{Eigen::MatrixXd::Zero(n, n), Eigen::MatrixXd::Zero(n, n)};
  for (int i = 0; i < n; ++i) {
    out.k(i, i) = 3 * u(gen);
    out.m(i, i) = band + 1;
    for (int j = std::max(0, i - band); j < i; ++j) {
      out.k(i, j) = out.k(j, i) = u(gen);
      out.m(i, j) = out.m(j, i) = 0.4 * u(gen);
    }
  }
  return out;
}

TEST(LowestPairs, AreTheFirstOfAllPairsWithSparseAndWithFullMatrices) {
  for (const int band : {2, 60}) {
    const Matrices a = random_matrices(120, band, 7);
    const auto all = symmetric_pairs(a.k, a.m), few = lowest_pairs(a.k, a.m, 6);
    ASSERT_TRUE(all && few);
    ASSERT_EQ(few->values.size(), 6);
    EXPECT_LT(all->values(0), 0);
    for (Eigen::Index i = 0; i < 6; ++i) {
      const double size = all->largest;
      EXPECT_NEAR(few->values(i), all->values(i), 1e-12 * size);
      const Eigen::VectorXd x = few->vectors.col(i);
      EXPECT_NEAR(x.dot(a.m * x), 1, 1e-12);
      EXPECT_LT((a.k * x - few->values(i) * a.m * x).norm(), 1e-8 * size * (a.m * x).norm());
    }
    // The scale of round-off, by power iteration.
    EXPECT_LE(few->largest, all->largest * (1 + 1e-12));
    EXPECT_GT(few->largest, 0.5 * all->largest);
  }
}

TEST(LowestPairs, OfFreeBodiesAreZero) {
  const int n = 100;
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(n, n);
  for (int i = 1; i < n; ++i) {
    k(i, i) += 1;
    k(i - 1, i - 1) += 1;
    k(i, i - 1) = k(i - 1, i) = -1;
  }
  const auto few = lowest_pairs(k, Eigen::MatrixXd::Identity(n, n), 3);
  ASSERT_TRUE(few);
  EXPECT_NEAR(few->values(0), 0, 1e-14);
  EXPECT_NEAR(few->values(1), 4 * std::pow(std::sin(M_PI / (2 * n)), 2), 1e-14);
  EXPECT_TRUE(lowest_pairs(Eigen::MatrixXd::Zero(n, n), Eigen::MatrixXd::Identity(n, n), 1));
}

TEST(LowestPairs, NeedAPositiveDefiniteMass) {
  Matrices a = random_matrices(50, 2, 1);
  a.m(20, 20) = -1;
  EXPECT_FALSE(lowest_pairs(a.k, a.m, 4));
  a.m.setZero();
  EXPECT_FALSE(lowest_pairs(a.k, a.m, 4));
}

// Stiffness of a grid of nx x ny x nz masses with springs to their neighbours and, weaker, across; 3 degrees of freedom each, numbered at random.
SparseMatrix grid(int nx, int ny, int nz) {
  const int n = 3 * nx * ny * nz;
  std::vector<int> number(static_cast<size_t>(n));
  std::iota(number.begin(), number.end(), 0);
  std::shuffle(number.begin(), number.end(), std::mt19937(1));
  std::vector<Eigen::Triplet<double, Eigen::Index>> entries;
  const auto dof = [&](int x, int y, int z, int axis) {
    return number[static_cast<size_t>(3 * ((z * ny + y) * nx + x) + axis)];
  };
  const auto spring = [&](int a, int b, double k) {
    entries.emplace_back(a, a, k);
    entries.emplace_back(b, b, k);
    entries.emplace_back(a, b, -k);
    entries.emplace_back(b, a, -k);
  };
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x)
        for (int axis = 0; axis < 3; ++axis) {
          entries.emplace_back(dof(x, y, z, axis), dof(x, y, z, axis), 0.01 * (1 + axis));
          spring(dof(x, y, z, axis), dof(x, y, z, (axis + 1) % 3), 0.3);
          if (x + 1 < nx) spring(dof(x, y, z, axis), dof(x + 1, y, z, axis), 1);
          if (y + 1 < ny) spring(dof(x, y, z, axis), dof(x, y + 1, z, axis), 1);
          if (z + 1 < nz) spring(dof(x, y, z, axis), dof(x, y, z + 1, axis), 1);
        }
  SparseMatrix k(n, n);
  k.setFromTriplets(entries.begin(), entries.end());
  return k;
}

TEST(SparseSymmetric, SolvesAndCountsAsDenseAlgebra) {
  const SparseMatrix k = grid(4, 3, 5);
  const Eigen::MatrixXd dense(k);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> values(dense, Eigen::EigenvaluesOnly);
  for (const double shift : {0.0, 0.7, 2.9}) {  // definite, then ever more negative values
    const SparseMatrix a = k - shift * unit(static_cast<int>(k.rows()));
    const SparseSymmetric factors(a);
    ASSERT_TRUE(factors.ok());
    EXPECT_EQ(factors.negative(), (values.eigenvalues().array() < shift).count()) << shift;
    const Eigen::MatrixXd b = Eigen::MatrixXd::Random(k.rows(), 3), x = factors.solve(b);
    EXPECT_LT((a * x - b).norm(), 1e-9 * b.norm()) << shift;  // without pivoting: growth of L
    const Eigen::VectorXd one = b.col(1);
    EXPECT_LT((factors.solve(one) - x.col(1)).norm(), 1e-12 * x.col(1).norm());
    EXPECT_GE(factors.entries(), k.rows());
  }
}

TEST(SparseSymmetric, KeepsPartsThatDoNotTouchApart) {
  SparseMatrix a = twice(grid(3, 3, 3));
  a.coeffRef(5, 5) += 1;
  const Eigen::VectorXd b = Eigen::VectorXd::Random(a.rows());
  const SparseSymmetric factors(a);
  EXPECT_LT((a * factors.solve(b) - b).norm(), 1e-11 * b.norm());
  EXPECT_EQ(factors.negative(), 0);
  const SparseMatrix one = unit(1);
  EXPECT_EQ(SparseSymmetric(one).solve(Eigen::VectorXd(Eigen::VectorXd::Constant(1, 3)))(0), 3);
}

TEST(SparseSymmetric, TellsAPivotThatVanishes) {
  SparseMatrix a(2, 2);
  a.insert(0, 1) = a.insert(1, 0) = 1;
  EXPECT_FALSE(SparseSymmetric(a).ok());
  EXPECT_EQ(SparseSymmetric(a).weakest(), 0);
}

}  // namespace
}  // namespace panto
