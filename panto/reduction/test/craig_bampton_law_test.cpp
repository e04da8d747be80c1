// What holds for every Craig–Bampton model: exact with all modes, statics exact with none, rigid motions kept, expansion and blocks consistent.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numeric>

#include "panto/reduction/superelement.hpp"
#include "panto/reduction/test/cases.hpp"

namespace panto {
namespace {

struct Case {
  LinearSystem system;
  std::vector<int> masters;
};

Case horn() {
  Case c{*plate(test::horn_plate()), {}};
  c.masters = *find_dofs(c.system, test::horn_masters());
  return c;
}
Case feeder() {
  Case c{*beam_frame(test::feeder_frame(), "feeder"), {}};
  c.masters = *find_dofs(c.system, test::feeder_masters());
  // Rayleigh damping.
  c.system.C = 0.5 * c.system.M + 1e-5 * c.system.K;
  return c;
}

CraigBampton all_modes(const Case& c) {
  CraigBamptonOptions options;
  options.modes = -1;
  return *craig_bampton(c.system, c.masters, options);
}

std::vector<int> numbers(int count) {
  std::vector<int> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

TEST(CraigBamptonLaws, WithAllModesFrequenciesAreThoseOfTheFullSystem) {
  for (const Case& c : {horn(), feeder()}) {
    const CraigBampton cb = all_modes(c);
    EXPECT_TRUE(cb.complete());
    const ReducedSystem r = reduced(c.system, cb, numbers(cb.modes()));
    const auto full = symmetric_pairs(Eigen::MatrixXd(c.system.K), Eigen::MatrixXd(c.system.M));
    const auto same = symmetric_pairs(r.K, r.M);
    ASSERT_TRUE(full && same);
    for (Eigen::Index i = cb.rigid; i < full->values.size(); ++i)
      EXPECT_NEAR(std::sqrt(same->values(i) / full->values(i)), 1, 1e-8) << i;
    // Rigid motions: zero to the round-off of the largest value.
    for (Eigen::Index i = 0; i < cb.rigid; ++i)
      EXPECT_LT(std::abs(same->values(i)), 1e-11 * full->largest);
  }
}

TEST(CraigBamptonLaws, BlocksAreProjectionsOnTheBasis) {
  const Case c = feeder();
  const CraigBampton cb = all_modes(c);
  const ReducedSystem r = reduced(c.system, cb, {4, 0, 7});
  const Eigen::MatrixXd h = r.basis;
  const auto close = [](const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
  };
  EXPECT_LT(close(r.M, h.transpose() * (c.system.M * h)), 1e-12);
  EXPECT_LT(close(r.K, h.transpose() * (c.system.K * h)), 1e-12);
  EXPECT_LT(close(r.C, h.transpose() * (c.system.C * h)), 1e-12);
  EXPECT_EQ(r.names.back(), "mode 8");
}

TEST(CraigBamptonLaws, GuyansBasisIsExactInStatics) {
  const Case c = feeder();
  const CraigBampton cb = *craig_bampton(c.system, c.masters);
  EXPECT_EQ(cb.modes(), 0);
  Eigen::VectorXd f1(6);
  f1 << 1, -2, 3, 0.5, 0, -1;
  Eigen::VectorXd f = Eigen::VectorXd::Zero(c.system.size());
  f(c.masters) = f1;
  const Eigen::VectorXd exact = SparseSymmetric(c.system.K).solve(f);
  const Eigen::VectorXd x = expand(cb, {}, cb.K11.ldlt().solve(f1));
  EXPECT_LT((x - exact).norm(), 1e-10 * exact.norm());
}

TEST(CraigBamptonLaws, ExpansionAndCoordinatesAreInverse) {
  const Case c = horn();
  const CraigBampton cb = all_modes(c);
  const Eigen::MatrixXd x = Eigen::MatrixXd::Random(c.system.size(), 3);
  const Eigen::MatrixXd back = expand(cb, numbers(cb.modes()), coordinates(c.system, cb, x));
  EXPECT_LT((back - x).norm(), 1e-9 * x.norm());
}

TEST(CraigBamptonLaws, AFreeBodyKeepsItsRigidMotions) {
  const Case c = horn();
  CraigBamptonOptions options;
  options.modes = 5;
  const CraigBampton cb = *craig_bampton(c.system, c.masters, options);
  EXPECT_EQ(cb.rigid, 3);
  const ReducedSystem r = reduced(c.system, cb, numbers(5));
  const auto pairs = symmetric_pairs(r.K, r.M);
  EXPECT_LT(pairs->values.head(3).cwiseAbs().maxCoeff(), 1e-9 * pairs->values(3));
}

// Strain energies that nearly cancel are told from none: soft supports are no rigid motion, and one that pushes is refused.
TEST(CraigBamptonLaws, SoftSupportsAreNotRigid) {
  CraigBamptonOptions options;
  options.modes = 3;
  for (const int elements : {80, 500}) {
    const LinearSystem s = *beam_frame(test::soft_frame(600, elements), "bar");
    const CraigBampton cb = *craig_bampton(s, *find_dofs(s, test::soft_masters(elements)), options);
    EXPECT_EQ(cb.rigid, 0) << elements;
    const SuperelementModes modes = *superelement_modes(reduced(s, cb, {0, 1, 2}), cb.rigid);
    // Round-off of K̄₁₁ = K₁₁ + K₁₂B: a sum of terms of 12 EI/h³.
    const double tolerance = elements > 80 ? 1 : 0.01;
    EXPECT_NEAR(modes.omega2(0), 75, tolerance) << elements;
    EXPECT_NEAR(modes.omega2(1), 225, tolerance) << elements;
  }
  const LinearSystem s = *beam_frame(test::soft_frame(600), "bar");
  const std::vector<int> masters = *find_dofs(s, test::soft_masters());

  LinearSystem pushed = s;
  pushed.K.coeffRef(masters.front(), masters.front()) -= 1200;
  const auto refused = craig_bampton(pushed, masters, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.diagnostics().items().front().id, 907);
  pushed.K.coeffRef(masters.front(), masters.front()) += 600;
  pushed.K.coeffRef(masters[2], masters[2]) -= 600;
  EXPECT_EQ(craig_bampton(pushed, masters, options)->rigid, 2);
}

TEST(CraigBamptonLaws, FewModesByIterationAreTheLowestOfAll) {
  const Case c = horn();
  const CraigBampton all = all_modes(c);
  CraigBamptonOptions options;
  options.modes = 30;  // Lanczos, sparse
  const CraigBampton few = *craig_bampton(c.system, c.masters, options);
  // Round-off of the dense solution: 1e-16 of the largest ω², which is 1e5 times the lowest, and some hundred operations.
  for (int i = 0; i < 30; ++i) EXPECT_NEAR(few.omega2(i) / all.omega2(i), 1, 1e-9) << i;
  options.modes = 0;
  options.up_to_hz = 100e3;
  const CraigBampton band = *craig_bampton(c.system, c.masters, options);
  EXPECT_EQ(band.modes(), (all.omega2.array() < std::pow(2 * M_PI * 100e3, 2)).count());
}

}  // namespace
}  // namespace panto
