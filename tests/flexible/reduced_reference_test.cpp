// The manipulator of Palomba's thesis with 13 in place of 30 degrees of freedom (Sec. 5.4): frequencies and shapes within ±0.5 rad of the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "panto/mechanics/references.hpp"
#include "panto/numerics/eigenproblems.hpp"
#include "tests/flexible/reduced_case.hpp"

namespace panto {
namespace {

using test::ReducedCase;
using test::view;

struct Comparison {
  std::vector<double> hz, error, nco;  // of the first elastic modes: full, relative error, shape
  double highest = 0;                  // frequency of the reduced model [Hz]
};

// Basis H over (joints, masters, amplitudes), rows all coordinates of the full model.
Comparison compare(ReducedCase& c, const Eigen::VectorXd& q, const Eigen::MatrixXd& basis) {
  const Eigen::VectorXd at = c.full_q(q), zero = Eigen::VectorXd::Zero(c.full->nv);
  Point x;
  x.q = view(at);
  x.v = x.a = view(zero);
  Tangent t;
  c.full_ws->tangent(x, Blocks{}, t);
  Eigen::MatrixXd full_r, reduced_r;
  c.full_ws->choose_partition(0, view(at));
  c.full_ws->null_space(full_r);
  c.ws->choose_partition(0, view(q));
  c.ws->null_space(reduced_r);
  const Eigen::MatrixXd h = basis * reduced_r;
  const auto pairs = [&](const Eigen::MatrixXd& r) {
    const Eigen::MatrixXd k = r.transpose() * t.r_q * r, m = r.transpose() * t.r_a * r;
    return *symmetric_pairs(0.5 * (k + k.transpose()), 0.5 * (m + m.transpose()));
  };
  const ModalPairs full = pairs(full_r), reduced = pairs(h);
  Comparison out;
  for (int i = 3; i < 9; ++i) {
    const double f = std::sqrt(full.values(i)), g = std::sqrt(std::abs(reduced.values(i)));
    out.hz.push_back(f / (2 * std::numbers::pi));
    out.error.push_back(std::abs(f - g) / f);
    const Eigen::VectorXd u = full_r * full.vectors.col(i), w = h * reduced.vectors.col(i);
    out.nco.push_back(std::pow(u.dot(t.r_a * w), 2) / (u.dot(t.r_a * u) * w.dot(t.r_a * w)));
  }
  out.highest = std::sqrt(reduced.values.maxCoeff()) / (2 * std::numbers::pi);
  return out;
}

TEST(ReducedManipulator, HasThirteenDegreesOfFreedom) {
  ReducedCase c("manipulator");
  c.ws->choose_partition(0, view(assemble(*c.ws)->q));
  EXPECT_EQ(c.ws->independent_positions().size(), 13U);
  EXPECT_EQ(c.model->coordinate_names.back(), "eta7");
}

TEST(ReducedManipulator, HasTheInteriorFrequenciesOfTheIndependentComputation) {
  const ReducedCase c("manipulator");
  const double expected[] = {45.0, 121.7, 198.9, 246.0, 299.8, 429.5, 446.6, 499.8};
  for (size_t i = 0; i < 8; ++i)  // printed with one digit
    EXPECT_NEAR(c.model->reduction.frequencies[i], expected[i], 0.06) << i;
}

TEST(ReducedManipulator, AtTheReferenceHasSixModesOfTheFullOne) {
  ReducedCase c("manipulator");
  const Eigen::VectorXd q = test::manipulator_pose(c, 0, 0);
  const Comparison r = compare(c, q, c.velocity_map(q));
  const double expected[] = {0.012, 0.001, 0.025,
                             0.051, 1.03,  0.026};  // %, independent computation
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_LT(r.error[i], 0.015) << i;
    EXPECT_NEAR(100 * r.error[i], expected[i], 0.006) << i;  // printed digits
    EXPECT_GT(r.nco[i], 0.995) << i;
  }
  EXPECT_LT(c.ws->reduction_drift(view(q)), 1e-9);
}

TEST(ReducedManipulator, KeepsThemHalfARadianAround) {
  ReducedCase c("manipulator");
  double drift = 0;
  for (const double q1 : {-0.5, -0.25, 0.0, 0.25, 0.5})
    for (const double q2 : {-0.5, -0.25, 0.0, 0.25, 0.5}) {
      const Eigen::VectorXd q = test::manipulator_pose(c, q1, q2);
      const Comparison r = compare(c, q, c.velocity_map(q));
      for (size_t i = 0; i < 6; ++i) {
        EXPECT_LT(r.error[i], 0.05) << q1 << " " << q2 << " mode " << i;
        EXPECT_GT(r.nco[i], 0.995) << q1 << " " << q2 << " mode " << i;
      }
      drift = std::max(drift, c.ws->reduction_drift(view(q)));
    }
  EXPECT_LE(drift, 0.02);
  EXPECT_NEAR(drift, 0.0101, 1e-4);  // of the independent computation, printed digits
}

TEST(ReducedManipulator, FailsWithModesThatDoNotTurnWithTheLinks) {
  ReducedCase c("manipulator");
  const Eigen::MatrixXd at_reference = c.velocity_map(test::manipulator_pose(c, 0, 0));
  const auto modes = static_cast<Eigen::Index>(c.model->reduction.modes.size());
  double worst = 1;
  for (const double q1 : {-0.5, 0.5})
    for (const double q2 : {-0.5, 0.5}) {
      const Eigen::VectorXd q = test::manipulator_pose(c, q1, q2);
      Eigen::MatrixXd basis = c.velocity_map(q);
      basis.rightCols(modes) = at_reference.rightCols(modes);
      for (const double n : compare(c, q, basis).nco) worst = std::min(worst, n);
    }
  EXPECT_LT(worst, 0.9);  // the independent computation found 0.47
}

// Where EF lies in the line of CE their pin can move across both: a soft motion that modes of elsewhere can only make by stretching EF.
TEST(ReducedManipulator, TellsWhereAPinIsHeldTooStiffly) {
  ReducedCase c("manipulator");
  Eigen::VectorXd q = test::manipulator_pose(c, 0, 0), v = Eigen::VectorXd::Zero(c.model->nv);
  q(4) = 0;
  EXPECT_GT(compare(c, q, c.velocity_map(q)).error[0], 0.03);
  EXPECT_LT(c.ws->reduction_drift(view(q)), 0.002);  // masses see nothing of it
  EXPECT_GT(references_of(*c.ws)->misfit(view(q)), 0.1);
  double jump = 0;
  ASSERT_TRUE(c.ws->renew_reduction(view(q), view(v), jump));
  EXPECT_LT(compare(c, q, c.velocity_map(q)).error[0], 2e-4);
  EXPECT_LT(references_of(*c.ws)->misfit(view(q)), 1e-9);
}

TEST(ReducedManipulator, HasSixModesAndNoFastOneWhereverTheLastLinkPoints) {
  ReducedCase c("manipulator");
  for (double q5 = -3; q5 <= 3; q5 += 0.2) {
    Eigen::VectorXd q = test::manipulator_pose(c, 0, 0), v = Eigen::VectorXd::Zero(c.model->nv);
    q(4) = q5;
    double jump = 0;
    ASSERT_TRUE(c.ws->renew_reduction(view(q), view(v), jump));
    const Comparison r = compare(c, q, c.velocity_map(q));
    for (size_t i = 0; i < 6; ++i) EXPECT_LT(r.error[i], 0.015) << q5 << " mode " << i;
    EXPECT_LT(r.highest, 1100) << q5;  // 1015 Hz at the reference
  }
}

// The operation counts of the thesis (6.9), n = 30, 9 masters, 4 interior modes.
}  // namespace
}  // namespace panto
