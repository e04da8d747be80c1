// Laws of linearisation on every model of the zoo.
#include <algorithm>
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

// A point of the motion some time after the start, so that velocity terms count, and its linear model.
struct MovingPoint {
  std::unique_ptr<Workspace> workspace;
  OperatingPoint point;
  LinearModel linear;
  std::vector<int> positions, speeds;  // independent ones
};

MovingPoint moving_point(const Model& model) {
  MovingPoint m;
  m.workspace = Workspace::create(model, nominal(model));
  Workspace& w = *m.workspace;
  SimulationOptions options;
  options.until = std::min(0.1, model.run.until / 20);
  options.at = {options.until};
  options.tol = 1e-10;
  const auto run = simulate(model, nominal(model), options);
  if (!run.ok()) throw std::runtime_error(run.diagnostics().text());
  Eigen::VectorXd q(model.nq), v(model.nv);
  for (int i = 0; i < model.nq; ++i) q(i) = run->q[static_cast<size_t>(i)][0];
  for (int i = 0; i < model.nv; ++i) v(i) = run->v[static_cast<size_t>(i)][0];
  const auto point = point_of_motion(w, run->t[0], view(q), view(v));
  if (!point.ok()) throw std::runtime_error(point.diagnostics().text());
  m.point = *point;
  const auto linear = linearize(w, m.point);
  if (!linear.ok()) throw std::runtime_error(linear.diagnostics().text());
  m.linear = *linear;
  m.positions.assign(w.independent_positions().begin(), w.independent_positions().end());
  m.speeds.assign(w.independent_speeds().begin(), w.independent_speeds().end());
  return m;
}

// The point with one entry of (z, w, u, u̇) moved, closed again; a and λ of the motion there.
OperatingPoint displaced(const MovingPoint& m, Eigen::Index j, double x) {
  Workspace& w = *m.workspace;
  const auto np = static_cast<Eigen::Index>(m.positions.size()),
             n = np + static_cast<Eigen::Index>(m.speeds.size()), nu = m.point.u.size();
  OperatingPoint p = m.point;
  if (j < np) {
    const Eigen::VectorXd step = x * m.linear.R.col(j);
    w.move(view(p.q), view(step));
  } else if (j < n) {
    p.v(m.speeds[static_cast<size_t>(j - np)]) += x;
  } else if (j < n + nu) {
    p.u(j - n) += x;
  } else {
    p.u_rate(j - n - nu) += x;
  }
  EXPECT_GE(static_cast<int>(w.close_positions(p.t, view(p.q))), 0);
  EXPECT_GE(static_cast<int>(w.close_velocities(p.t, view(p.u), view(p.v))), 0);
  Point at;
  at.t = p.t;
  at.q = view(p.q);
  at.v = view(p.v);
  at.u = view(p.u);
  at.u_rate = view(p.u_rate);
  EXPECT_GE(static_cast<int>(w.forward_dynamics(at, p.a, p.lambda)), 0);
  return p;
}

// Central differences, extrapolated once: order 4 in the step.
template <class F>
Eigen::VectorXd difference(F f, double h = 2e-4) {
  const Eigen::VectorXd fine = (f(h / 2) - f(-h / 2)) / h, coarse = (f(h) - f(-h)) / (2 * h);
  return (4 * fine - coarse) / 3;
}

TEST_P(Zoo, StateMatricesAreTheDerivativesOfTheMotion) {
  const auto model = load(GetParam());
  ASSERT_TRUE(model.ok());
  const MovingPoint m = moving_point(*model);
  const auto np = static_cast<Eigen::Index>(m.positions.size()),
             nz = static_cast<Eigen::Index>(m.speeds.size());
  const int nu = model->nu();
  Eigen::MatrixXd all(np + nz, np + nz + 2 * nu);
  all << m.linear.A, m.linear.B_x, m.linear.B_rate;
  // How far the displaced motion runs away from the motion in a short time: exactly δż for coordinates, and δω - ω × δθ for ball joints up to the
  // square of the angle turned in that time.
  const double tau = 1e-3 / (1 + m.point.v.cwiseAbs().maxCoeff());
  const auto rate = [&](Eigen::Index j, double x) {
    const OperatingPoint p = displaced(m, j, x);
    Eigen::VectorXd out(np + nz);
    const auto apart = [&](double time) {
      Eigen::VectorXd here = m.point.q, there = p.q;
      const Eigen::VectorXd step = time * m.point.v, other = time * p.v;
      m.workspace->move(view(here), view(step));
      m.workspace->move(view(there), view(other));
      return test::step_between(*model, here, there);
    };
    const Eigen::VectorXd z_rate = (apart(tau) - apart(-tau)) / (2 * tau);
    for (Eigen::Index i = 0; i < np; ++i) out(i) = z_rate(m.positions[static_cast<size_t>(i)]);
    for (Eigen::Index i = 0; i < nz; ++i) out(np + i) = p.a(m.speeds[static_cast<size_t>(i)]);
    return out;
  };
  for (Eigen::Index j = 0; j < all.cols(); ++j) {
    const Eigen::VectorXd found = difference([&](double x) { return rate(j, x); }),
                          exact = all.col(j), error = found - exact;
    // Truncation of order 4 and round-off of the accelerations over the step.
    EXPECT_LT(error.tail(nz).norm(), 1e-6 * (1 + exact.norm() + m.linear.A.norm() * 1e-3)) << j;
    // The square of the angle: 1e-6 of the speed.
    if (np > 0) {
      EXPECT_LT(error.head(np).norm(), 2e-6 * (1 + m.point.v.cwiseAbs().maxCoeff())) << j;
    }
  }
}

TEST_P(Zoo, OutputMatricesAreTheDerivativesOfTheOutputs) {
  const auto model = load(GetParam());
  ASSERT_TRUE(model.ok());
  const MovingPoint m = moving_point(*model);
  const auto ny = static_cast<Eigen::Index>(model->outputs.size());
  const Eigen::Index n = m.linear.A.rows();
  Eigen::MatrixXd all(ny, n + 2 * model->nu());
  all << m.linear.C_x, m.linear.D_x, m.linear.D_rate;
  const auto outputs = [&](Eigen::Index j, double x) {
    const OperatingPoint p = displaced(m, j, x);
    Point at;
    at.t = p.t;
    at.q = view(p.q);
    at.v = view(p.v);
    at.a = view(p.a);
    at.lambda = view(p.lambda);
    at.u = view(p.u);
    at.u_rate = view(p.u_rate);
    Eigen::VectorXd y(ny);
    m.workspace->outputs(at, view(y));
    return y;
  };
  if (all.cols() == 0) GTEST_SKIP() << "nothing is free to move and there are no inputs";
  const Eigen::VectorXd size = outputs(0, 0);
  for (Eigen::Index j = 0; j < all.cols(); ++j) {
    const Eigen::VectorXd found = difference([&](double x) { return outputs(j, x); });
    // Truncation of order 4; round-off of outputs as large as `size` over the step.
    for (Eigen::Index i = 0; i < ny; ++i)
      EXPECT_LT(
          std::abs(found(i) - all(i, j)),
          1e-6 * (1 + std::abs(all(i, j)) + 1e-3 * all.row(i).norm()) + 1e-9 * std::abs(size(i)))
          << m.linear.outputs[static_cast<size_t>(i)] << " by column " << j << ": " << found(i)
          << " is not " << all(i, j);
  }
}

// f² of every mode in the initial pose, -growth² where it is unstable; empty: no second-order form there.
std::vector<double> squares(const Model& m) {
  const auto w = Workspace::create(m, nominal(m));
  const auto point = operating_point(*w, Operation::kHere);
  if (!point.ok()) return {};
  const auto linear = linearize(*w, *point);
  if (!linear.ok() || !linear->second_order()) return {};
  const auto found = modes(*w, *point, *linear);
  if (!found.ok()) return {};
  std::vector<double> out;
  for (const Mode& mode : found->list)
    out.push_back(mode.frequency_hz > 0 ? std::pow(mode.frequency_hz, 2)
                                        : -std::pow(mode.growth_rate, 2));
  return out;
}

void same_frequencies(const Model& one, const Model& other) {
  const auto a = squares(one), b = squares(other);
  if (a.empty() || b.empty()) GTEST_SKIP() << "no second-order form at the initial pose";
  ASSERT_EQ(a.size(), b.size());
  double largest = 0;
  for (const double x : a) largest = std::max(largest, std::abs(x));
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-10 * (largest + 1e-300));
}

TEST_P(Zoo, FrequenciesDoNotDependOnTheIndependentCoordinates) {
  const auto model = load(GetParam());
  ASSERT_TRUE(model.ok());
  Model other = *model;
  other.preferred.clear();
  for (int i = model->nv - 1; i >= 0; --i) other.preferred.push_back(i);
  same_frequencies(*model, other);
}

TEST_P(Zoo, FrequenciesDoNotDependOnTheOrderOfBodiesAndJoints) {
  auto spec = load_spec(GetParam());
  ASSERT_TRUE(spec.ok());
  const auto model = compile(*spec);
  ASSERT_TRUE(model.ok());
  for (const char* list : {"body", "joint", "force"})
    if (Node* items = spec->root.find(list))
      if (auto* array = std::get_if<Node::Array>(&items->value))
        std::reverse(array->begin(), array->end());
  const auto other = compile(*spec);
  ASSERT_TRUE(other.ok()) << other.diagnostics().text();
  same_frequencies(*model, *other);
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
