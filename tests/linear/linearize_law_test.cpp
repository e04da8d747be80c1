// Laws of linearisation on every model of the zoo.
#include <cmath>

#include "panto/integrate/simulate.hpp"
#include "panto/linear/response.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "tests/linear/linear_case.hpp"

namespace panto {
namespace {

class Zoo : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, Zoo, testing::ValuesIn(zoo_names()),
                         [](const auto& model) { return model.param; });

// Accelerations near a point of motion against what A says, by central differences: order 2 in the step.
TEST_P(Zoo, StateMatrixIsTheDerivativeOfTheMotion) {
  const auto model = load(GetParam());
  ASSERT_TRUE(model.ok());
  const auto w = Workspace::create(*model, nominal(*model));
  const auto start = assemble(*w);
  ASSERT_TRUE(start.ok());
  // A moving point, so that velocity terms count.
  SimulationOptions options;
  options.until = std::min(0.1, model->run.until / 20);
  options.at = {options.until};
  options.tol = 1e-10;
  const auto run = simulate(*model, nominal(*model), options);
  if (!run.ok()) GTEST_SKIP() << run.diagnostics().text();
  Eigen::VectorXd q(model->nq), v(model->nv);
  for (int i = 0; i < model->nq; ++i) q(i) = run->q[static_cast<size_t>(i)][0];
  for (int i = 0; i < model->nv; ++i) v(i) = run->v[static_cast<size_t>(i)][0];
  const auto point = point_of_motion(*w, run->t[0], view(q), view(v));
  ASSERT_TRUE(point.ok()) << point.diagnostics().text();
  const auto linear = linearize(*w, *point);
  if (!linear.ok()) GTEST_SKIP() << linear.diagnostics().text();

  const auto zv = w->independent_speeds();
  const std::vector<int> speeds(zv.begin(), zv.end());
  const auto np = linear->R.cols();
  const auto nz = static_cast<Eigen::Index>(speeds.size());
  // ẇ at the state moved by x along column j of the state.
  const auto rate = [&](Eigen::Index j, double x) {
    Eigen::VectorXd moved = q, speed = v;
    if (j < np) {
      const Eigen::VectorXd step = x * linear->R.col(j);
      w->move(view(moved), view(step));
    } else {
      speed(speeds[static_cast<size_t>(j - np)]) += x;
    }
    EXPECT_GE(static_cast<int>(w->close_positions(point->t, view(moved))), 0);
    EXPECT_GE(static_cast<int>(w->close_velocities(point->t, view(point->u), view(speed))), 0);
    Eigen::VectorXd a = Eigen::VectorXd::Zero(model->nv), out(nz);
    EXPECT_GE(static_cast<int>(w->accelerations(point->t, view(speed), view(point->u),
                                                view(point->u_rate), view(a))),
              0);
    for (Eigen::Index i = 0; i < nz; ++i) out(i) = a(speeds[static_cast<size_t>(i)]);
    return out;
  };
  for (Eigen::Index j = 0; j < np + nz; ++j) {
    const double h = 2e-4;
    const Eigen::VectorXd fine = (rate(j, h / 2) - rate(j, -h / 2)) / h,
                          coarse = (rate(j, h) - rate(j, -h)) / (2 * h),
                          best = (4 * fine - coarse) / 3;
    const Eigen::VectorXd exact = linear->A.bottomRows(nz).col(j);
    EXPECT_LT((best - exact).norm(), 1e-6 * (1 + exact.norm() + linear->A.norm() * 1e-3))
        << "state " << linear->states[static_cast<size_t>(j)];
  }
}

TEST_P(Zoo, FrequenciesDoNotDependOnTheIndependentCoordinates) {
  const auto model = load(GetParam());
  ASSERT_TRUE(model.ok());
  const auto frequencies = [](const Model& m) -> std::vector<double> {
    const auto w = Workspace::create(m, nominal(m));
    const auto point = operating_point(*w, Operation::kHere);
    if (!point.ok()) return {};
    const auto linear = linearize(*w, *point);
    if (!linear.ok() || !linear->second_order()) return {};
    const auto found = modes(*w, *point, *linear);
    if (!found.ok()) return {};
    std::vector<double> squares;
    for (const Mode& mode : found->list)
      squares.push_back(mode.frequency_hz > 0 ? std::pow(mode.frequency_hz, 2)
                                              : -std::pow(mode.growth_rate, 2));
    return squares;
  };
  Model other = *model;
  other.preferred.clear();
  for (int i = model->nv - 1; i >= 0; --i) other.preferred.push_back(i);
  const auto a = frequencies(*model), b = frequencies(other);
  if (a.empty() || b.empty()) GTEST_SKIP() << "no second-order form at the initial pose";
  ASSERT_EQ(a.size(), b.size());
  double largest = 0;
  for (const double x : a) largest = std::max(largest, std::abs(x));
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-10 * (largest + 1e-300));
}

TEST(Response, OfAnOscillatorIsItsClosedForm) {
  const auto model = test::model_of(R"(
space = "planar"
body = [{ name = "m", mass = 2, inertia = 1 }]
joint = [{ name = "x", type = "prismatic", parent = "ground", child = "m", axis = "x" }]
force = [{ name = "k", type = "spring", between = [{ body = "ground", at = [-1, 0] }, "m"], stiffness = 50, damping = 3, free_length = 1 }]
actuator = [{ name = "f", type = "force", on = "x" }]
output = [
  { name = "x", type = "coordinate", of = "x" },
  { name = "acc", type = "acceleration", of = "m", axis = "x" },
]
)");
  if (!model.ok()) GTEST_FAIL() << model.diagnostics().text();
  const auto c = test::linearised(model, Operation::kEquilibrium);
  const std::array in{0};
  const std::array out{0, 1};
  const std::array f{0.1, 0.7, 0.79, 3.0};
  const auto h = frequency_response(c.linear, out, in, f);
  for (size_t i = 0; i < f.size(); ++i) {
    const std::complex<double> s(0, 2 * M_PI * f[i]), x = 1.0 / (2.0 * s * s + 3.0 * s + 50.0);
    EXPECT_LT(std::abs(h[i](0, 0) - x), 1e-13 * std::abs(x) * 10);
    EXPECT_LT(std::abs(h[i](1, 0) - s * s * x), 1e-12 * std::abs(s * s * x));
  }
  EXPECT_NEAR(c.modes.list[0].damping, 3 / (2 * std::sqrt(50 * 2.0)), 1e-14);
  EXPECT_EQ(zeros(c.linear, std::array{0}, in).size(), 0U);
  const auto z = zeros(c.linear, std::array{1}, in);
  ASSERT_EQ(z.size(), 2U);  // s² / (…): a double zero at the origin
  EXPECT_LT(std::abs(z[0]), 1e-5);
}

TEST(Pose, UnknownNamesAreAnsweredWithASuggestion) {
  const auto posed = with_pose(*load("three_link"), {{"theta_D", 1}});
  ASSERT_FALSE(posed.ok());
  EXPECT_NE(posed.diagnostics().text().find("did you mean"), std::string::npos);
}

}  // namespace
}  // namespace panto
