// Modes as functions of parameters: the kept sums agree with the linearised mechanism, the slopes with differences.
#include <gtest/gtest.h>

#include "panto/identification/modal_map.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/numerics/random.hpp"
#include "tests/linear/linear_case.hpp"

namespace panto {
namespace {

struct Mapped {
  std::unique_ptr<Model> model;
  std::vector<int> parameters;
  Eigen::VectorXd q, nominal;
  std::unique_ptr<ModalMap> map;
};

Mapped mapped(const std::string& name, const std::vector<std::string>& parameters,
              Operation operation = Operation::kHere) {
  Mapped out;
  auto model = load(name);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  out.model = std::make_unique<Model>(std::move(*model));
  const Params params = nominal(*out.model);
  for (const std::string& p : parameters) out.parameters.push_back(find_parameter(*out.model, p));
  out.nominal = params.values(out.parameters);
  const auto workspace = Workspace::create(*out.model, params);
  const auto start = assemble(*workspace);
  if (!start.ok()) throw std::runtime_error(start.diagnostics().text());
  out.q = start->q;
  auto map = ModalMap::create(*out.model, params, view(out.q), out.parameters, operation);
  if (!map.ok()) throw std::runtime_error(map.diagnostics().text());
  out.map = std::make_unique<ModalMap>(std::move(*map));
  return out;
}

Eigen::VectorXd drawn(const Eigen::VectorXd& nominal, int trial) {
  Eigen::VectorXd theta = nominal;
  for (Eigen::Index i = 0; i < theta.size(); ++i)
    theta(i) *= 0.5 + uniform(3, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(trial));
  return theta;
}

// The mechanism itself, linearised at θ.
std::vector<double> direct(const Mapped& m, const Eigen::VectorXd& theta) {
  Params params = nominal(*m.model);
  params.values(m.parameters) = theta;
  const auto workspace = Workspace::create(*m.model, params);
  const auto point = operating_point(*workspace, Operation::kHere, 0, view(m.q));
  const auto linear = linearize(*workspace, *point);
  const auto found = modes(*workspace, *point, *linear);
  std::vector<double> hz;
  for (const Mode& mode : found->list) hz.push_back(mode.frequency_hz);
  return hz;
}

TEST(ModalMap, OfStiffnessesMassesAndInertiasIsAffineAndExact) {
  for (const auto& parameters :
       {std::vector<std::string>{"kA", "kB", "kC"}, std::vector<std::string>{"kA", "m2", "J3"}}) {
    const Mapped m = mapped("three_link", parameters);
    EXPECT_TRUE(m.map->affine());
    for (int trial = 0; trial < 5; ++trial) {
      const Eigen::VectorXd theta = drawn(m.nominal, trial);
      ModalValues values;
      ASSERT_TRUE(m.map->evaluate(view(theta), values));
      const std::vector<double> hz = direct(m, theta);
      // 1e-10: round-off of the eigenproblem, amplified by the ratio of squared frequencies (200).
      for (size_t i = 0; i < hz.size(); ++i)
        EXPECT_NEAR(values.hz(static_cast<Eigen::Index>(i)), hz[i], 1e-10 * hz.back());
    }
  }
}

TEST(ModalMap, OfLengthsIsNotAffineAndStillExact) {
  const Mapped m = mapped("three_link", {"kA", "L2"});
  EXPECT_FALSE(m.map->affine());
  const Eigen::VectorXd theta = drawn(m.nominal, 1);
  ModalValues values;
  ASSERT_TRUE(m.map->evaluate(view(theta), values));
  const std::vector<double> hz = direct(m, theta);
  for (size_t i = 0; i < hz.size(); ++i)
    EXPECT_NEAR(values.hz(static_cast<Eigen::Index>(i)), hz[i], 1e-12 * hz.back());
}

// Two masses on springs and dampers, so that damping ratios depend on all parameters and shapes couple.
constexpr const char* kDamped = R"toml(
space = "planar"
parameters = { m = 2, k1 = 300, k2 = 500, c1 = 1.5, c2 = 0.4 }
body = [{ name = "a", mass = "m", inertia = 1 }, { name = "b", mass = 1, inertia = 1 }]
joint = [{ name = "x", type = "prismatic", parent = "ground", child = "a" },
         { name = "y", type = "prismatic", parent = "a", child = "b" }]
force = [{ name = "s1", type = "joint_spring", on = "x", stiffness = "k1", damping = "c1" },
         { name = "s2", type = "joint_spring", on = "y", stiffness = "k2", damping = "c2" }]
)toml";

void slopes_are_differences(ModalMap& map, const Eigen::VectorXd& theta) {
  ModalValues values, up, down;
  ModalSlopes slopes;
  ASSERT_TRUE(map.evaluate(view(theta), values, &slopes));
  for (Eigen::Index k = 0; k < theta.size(); ++k) {
    // Central difference: truncation h² f'''/6, of relative size 1e-8 here.
    const double h = 1e-4 * theta(k);
    Eigen::VectorXd moved = theta;
    moved(k) += h;
    ASSERT_TRUE(map.evaluate(view(moved), up));
    moved(k) -= 2 * h;
    ASSERT_TRUE(map.evaluate(view(moved), down));
    for (Eigen::Index i = 0; i < values.hz.size(); ++i) {
      EXPECT_NEAR(slopes.hz(i, k), (up.hz(i) - down.hz(i)) / (2 * h),
                  1e-6 * values.hz(i) / theta(k));
      EXPECT_NEAR(slopes.damping(i, k), (up.damping(i) - down.damping(i)) / (2 * h),
                  1e-6 * std::max(values.damping(i), 1e-3) / theta(k));
    }
  }
}

TEST(ModalMap, SlopesOfFrequencyAndDampingAreTheDifferences) {
  const auto model = test::model_of(kDamped);
  ASSERT_TRUE(model) << model.diagnostics().text();
  const Params params = nominal(*model);
  std::vector<int> all;
  for (const char* name : {"m", "k1", "k2", "c1", "c2"})
    all.push_back(find_parameter(*model, name));
  const std::vector<double> q(static_cast<size_t>(model->nq));
  auto map = ModalMap::create(*model, params, q, all, Operation::kHere);
  ASSERT_TRUE(map) << map.diagnostics().text();
  EXPECT_TRUE(map->affine());
  slopes_are_differences(*map, params.values(all));
}

TEST(ModalMap, SlopesOfLengthsAreTheDifferences) {
  const Mapped m = mapped("three_link", {"kB", "L1", "L2"});
  slopes_are_differences(*m.map, m.nominal);
}

TEST(ModalMap, BatchesAgreeWithSingleEvaluations) {
  const Mapped m = mapped("three_link", {"kA", "kB", "kC"});
  Eigen::MatrixXd thetas(3, 20), hz;
  for (int j = 0; j < 20; ++j) thetas.col(j) = drawn(m.nominal, j);
  ASSERT_TRUE(m.map->frequencies(thetas, hz));
  for (int j = 0; j < 20; ++j) {
    ModalValues values;
    const Eigen::VectorXd theta = thetas.col(j);
    ASSERT_TRUE(m.map->evaluate(view(theta), values));
    // The closed form is accurate relative to the largest ω².
    EXPECT_LT((hz.col(j) - values.hz).norm(), 1e-9 * values.hz(2));
  }
}

// dln f / dln k is half the strain energy share (re-computed values for Čepon et al., Configuration 1).
TEST(ModalMap, RelativeSlopesAreHalfTheStrainEnergy) {
  const Mapped m = mapped("three_link", {"kA", "kB", "kC"});
  ModalValues values;
  ModalSlopes slopes;
  ASSERT_TRUE(m.map->evaluate(view(m.nominal), values, &slopes));
  const double share[3][3] = {
      {0.7618, 0.2114, 0.0268}, {0.2073, 0.4181, 0.3746}, {0.0308, 0.3705, 0.5986}};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(2 * slopes.hz(i, k) * m.nominal(k) / values.hz(i), share[i][k], 1e-4);
}

TEST(ModalMap, ClonesAgree) {
  const Mapped m = mapped("three_link", {"kA", "L2"});
  ModalMap other = m.map->clone();
  ModalValues a, b;
  ASSERT_TRUE(m.map->evaluate(view(m.nominal), a));
  ASSERT_TRUE(other.evaluate(view(m.nominal), b));
  EXPECT_EQ(a.hz, b.hz);
}

}  // namespace
}  // namespace panto
