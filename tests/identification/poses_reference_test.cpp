// Pose selection against an independent calculation for the three-link chain of Čepon et al., and on a closed loop.
#include <gtest/gtest.h>

#include <numbers>

#include "panto/identification/poses.hpp"
#include "panto/numerics/random.hpp"
#include "tests/linear/linear_case.hpp"

namespace panto {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

Model zoo(const std::string& name) {
  auto model = load(name);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  return std::move(*model);
}

PosesOptions within(double low, double high) {
  PosesOptions o;
  o.parameters = {"kA", "kB", "kC"};
  o.ranges = {{"theta_B", low * kDegree, high * kDegree},
              {"theta_C", low * kDegree, high * kDegree}};
  return o;
}

PoseStudy study_of(const Model& model, const PosesOptions& o) {
  auto study = poses(model, nominal(model), o);
  if (!study.ok()) throw std::runtime_error(study.diagnostics().text());
  return std::move(*study);
}

TEST(Poses, CorrelationsOfTheStraightChain) {
  const Model model = zoo("three_link");
  PosesOptions o = within(0, 0);
  o.poses = 1;
  const double rho[3][3] = {{0.942, 0.292, 0.043}, {0.333, 0.666, 0.636}, {0.045, 0.539, 0.846}};
  const PoseStudy s = study_of(model, o);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)  // 0.1: three standard errors of 1000 sets
      EXPECT_NEAR(s.poses[0].correlation(i, k), rho[i][k], 0.1) << i << k;
}

TEST(Poses, WithinARightAngleTheCornerIsBest) {
  const Model model = zoo("three_link");
  for (const std::uint64_t seed : {1, 2, 3}) {
    PosesOptions o = within(-90, 90);
    o.seed = seed;
    const PoseStudy s = study_of(model, o);
    const Eigen::VectorXd q = s.poses[0].q / kDegree;
    EXPECT_LT(q(1) * q(2), 0);
    EXPECT_GT(std::abs(q(1)), 60);  // spread of repeated searches, outliers included
    EXPECT_GT(std::abs(q(2)), 80);
    EXPECT_EQ(s.poses[0].told_by, (std::vector<int>{0, 1, 2}));
    for (size_t i = 1; i < s.poses.size(); ++i) EXPECT_LE(s.poses[i].score, s.poses[i - 1].score);
  }
}

TEST(Poses, WithinAHalfTurnAFoldedPoseIsBetter) {
  const Model model = zoo("three_link");
  const PoseStudy narrow = study_of(model, within(-90, 90)),
                  wide = study_of(model, within(-180, 180));
  EXPECT_GT(wide.poses[0].score, narrow.poses[0].score + 0.03);
  EXPECT_GT(wide.poses[0].q.tail(2).cwiseAbs().minCoeff() / kDegree, 95);
}

TEST(Poses, DoNotDependOnThreads) {
  const Model model = zoo("three_link");
  PosesOptions o = within(-90, 90);
  o.poses = 60;
  o.samples = 50;
  o.threads = 1;
  const PoseStudy one = study_of(model, o);
  o.threads = 3;
  const PoseStudy three = study_of(model, o);
  ASSERT_EQ(one.poses.size(), three.poses.size());
  for (size_t i = 0; i < one.poses.size(); ++i) {
    EXPECT_EQ(one.poses[i].number, three.poses[i].number);
    EXPECT_EQ(one.poses[i].score, three.poses[i].score);
    EXPECT_EQ(one.poses[i].correlation, three.poses[i].correlation);
  }
}

TEST(Poses, LocalCorrelationsAreTheLimitOfSmallSpreads) {
  const Model model = zoo("three_link");
  PosesOptions o = within(40, 40);
  o.poses = 1;
  o.spread = 1e-3;
  o.samples = 40000;
  const PoseStudy sampled = study_of(model, o);
  o.local = true;
  const PoseStudy local = study_of(model, o);
  // 0.015: three standard errors of 40000 sets.
  EXPECT_LT((sampled.poses[0].correlation - local.poses[0].correlation).cwiseAbs().maxCoeff(),
            0.015);
}

TEST(Poses, OfAClosedLoopAreClosedAndWithinLimits) {
  const auto model = test::model_of(R"toml(
space = "planar"
parameters = { k = 40, c = 3 }
body = [{ name = "crank", bar = { length = 0.2, mass = 1 } },
        { name = "coupler", bar = { length = 0.5, mass = 2 } },
        { name = "rocker", bar = { length = 0.4, mass = 2 } }]
joint = [{ name = "a", type = "revolute", parent = "ground", child = "crank" },
         { name = "b", type = "revolute", parent = { body = "crank", at = [0.2, 0] }, child = "coupler" },
         { name = "d", type = "revolute", parent = { body = "ground", at = [0.5, 0] }, child = "rocker", range = ["60 deg", "130 deg"] }]
loop = [{ name = "pin", type = "pin", between = [{ body = "coupler", at = [0.5, 0] }, { body = "rocker", at = [0.4, 0] }] }]
force = [{ name = "s", type = "torsion_spring", on = "d", stiffness = "k", free_angle = "90 deg" },
         { name = "r", type = "torsion_spring", on = "a", stiffness = "c" }]
initial = { a = "60 deg", guess = { b = "-30 deg", d = "100 deg" } }
)toml");
  ASSERT_TRUE(model) << model.diagnostics().text();
  PosesOptions o;
  o.parameters = {"k", "c"};
  o.ranges = {{"a", -180 * kDegree, 180 * kDegree}};
  o.poses = 200;
  o.samples = 50;
  const PoseStudy s = study_of(*model, o);
  EXPECT_EQ(s.poses.size(), 200u);
  EXPECT_GT(s.beyond_limits, 0);
  const auto workspace = Workspace::create(*model, nominal(*model));
  for (const ScoredPose& p : s.poses) {
    double position = 0, velocity = 0;
    const Eigen::VectorXd v = Eigen::VectorXd::Zero(model->nv);
    workspace->violation(0, {p.q.data(), static_cast<size_t>(p.q.size())},
                         {v.data(), static_cast<size_t>(v.size())}, {}, position, velocity);
    EXPECT_LT(position, 1e-9);
    EXPECT_GE(p.q(2), 60 * kDegree - 1e-9);
    EXPECT_LE(p.q(2), 130 * kDegree + 1e-9);
    EXPECT_EQ(p.correlation.rows(), 1);  // one degree of freedom
  }
}

TEST(Poses, DampingRatiosTellAboutDampers) {
  const auto model = test::model_of(R"toml(
space = "planar"
parameters = { k = 100, c = 2 }
body = [{ name = "a", mass = 1, inertia = 1 }]
joint = [{ name = "x", type = "prismatic", parent = "ground", child = "a", range = [-1, 1] }]
force = [{ name = "s", type = "joint_spring", on = "x", stiffness = "k", damping = "c" }]
)toml");
  ASSERT_TRUE(model) << model.diagnostics().text();
  PosesOptions o;
  o.parameters = {"k", "c"};
  o.damping = true;
  o.poses = 3;
  o.local = true;
  const PoseStudy s = study_of(*model, o);
  EXPECT_EQ(s.features, (std::vector<std::string>{"f1", "damping1"}));
  EXPECT_EQ(s.poses[0].told_by, (std::vector<int>{0, 1}));
  // ζ = c / (2 sqrt(k m)): -1/2 and 1.
  EXPECT_NEAR(s.poses[0].sensitivity(1, 0), -0.5, 1e-12);
  EXPECT_NEAR(s.poses[0].sensitivity(1, 1), 1, 1e-12);
  EXPECT_NEAR(s.poses[0].sensitivity(0, 0), 0.5, 1e-12);
  EXPECT_NEAR(s.poses[0].sensitivity(0, 1), 0, 1e-12);
}

TEST(Poses, TheSetIsTheBestOfAllPairs) {
  std::vector<Eigen::MatrixXd> blocks;
  std::vector<const Eigen::MatrixXd*> pointers;
  for (std::uint64_t i = 0; i < 12; ++i)
    blocks.push_back(Eigen::MatrixXd::NullaryExpr(2, 3, [&](Eigen::Index r, Eigen::Index c) {
      return normal(5, i, static_cast<std::uint64_t>(3 * r + c));
    }));
  pointers.reserve(blocks.size());
  for (const auto& b : blocks) pointers.push_back(&b);
  const auto value = [&](size_t i, size_t j) {
    return (blocks[i].transpose() * blocks[i] + blocks[j].transpose() * blocks[j]).determinant();
  };
  double best = 0;
  for (size_t i = 0; i < 12; ++i)
    for (size_t j = 0; j < i; ++j) best = std::max(best, value(i, j));
  const std::vector<int> chosen = most_informative(pointers, 2);
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_NEAR(value(static_cast<size_t>(chosen[0]), static_cast<size_t>(chosen[1])), best,
              1e-9 * best);
}

TEST(Localisation, IsOneOnlyWhereEachFrequencyHasItsParameter) {
  std::vector<int> told_by;
  Eigen::MatrixXd rho(3, 2);
  rho << 0, -1, 0.3, 0.3, 1, 0;  // f2 is not needed
  EXPECT_DOUBLE_EQ(localisation(rho, told_by), 1);
  EXPECT_EQ(told_by, (std::vector<int>{2, 0}));
  EXPECT_NEAR(localisation(Eigen::MatrixXd::Constant(2, 2, 0.7), told_by), 0, 1e-15);
}

}  // namespace
}  // namespace panto
