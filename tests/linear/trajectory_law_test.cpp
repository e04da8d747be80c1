// The time-varying linear model along a motion.
#include <cmath>

#include "panto/integrate/simulate.hpp"
#include "panto/linear/trajectory.hpp"
#include "panto/mechanics/closure.hpp"
#include "tests/linear/linear_case.hpp"

namespace panto {
namespace {

Run simulated(const Model& model, const SimulationOptions& options) {
  const auto run = simulate(model, nominal(model), options);
  if (!run.ok()) throw std::runtime_error(run.diagnostics().text());
  return *run;
}

Eigen::VectorXd state(const std::vector<std::vector<double>>& series, size_t i) {
  Eigen::VectorXd x(static_cast<Eigen::Index>(series.size()));
  for (size_t k = 0; k < series.size(); ++k) x(static_cast<Eigen::Index>(k)) = series[k][i];
  return x;
}

// Φ(T) of Φ̇ = A(t) Φ, Φ(0) = 1, by Runge's method of order 4 on every `stride`-th sample (steps of 2 strides).
Eigen::MatrixXd transition(const LinearTrajectory& along, size_t stride) {
  const auto n = along.models[0].A.rows();
  Eigen::MatrixXd phi = Eigen::MatrixXd::Identity(n, n);
  for (size_t i = 0; i + 2 * stride < along.time.size(); i += 2 * stride) {
    const double h = along.time[i + 2 * stride] - along.time[i];
    const Eigen::MatrixXd &a = along.models[i].A, &b = along.models[i + stride].A,
                          &c = along.models[i + 2 * stride].A;
    const Eigen::MatrixXd k1 = a * phi, k2 = b * (phi + h / 2 * k1), k3 = b * (phi + h / 2 * k2),
                          k4 = c * (phi + h * k3);
    phi += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return phi;
}

class Zoo : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, Zoo, testing::ValuesIn(zoo_names()),
                         [](const auto& model) { return model.param; });

// Where a small change of the initial state leads is the derivative of the motion by its initial state: by A(t), and by simulating neighbours.
TEST_P(Zoo, TransitionMatrixIsTheDerivativeOfTheFlow) {
  const auto model = load(GetParam());
  ASSERT_TRUE(model.ok());
  const auto w = Workspace::create(*model, nominal(*model));
  SimulationOptions options;
  options.tol = 1e-13;
  const auto followed = [&](double until, int steps) {
    options.until = until;
    options.at.clear();
    for (int i = 0; i <= steps; ++i) options.at.push_back(i < steps ? until * i / steps : until);
    const auto found = linearize_along(*w, simulated(*model, options));
    if (!found.ok()) throw std::runtime_error(found.diagnostics().text());
    return *found;
  };
  // Runge's error is of order 4 in the step: two steps tell its size, and extrapolation removes most of it. Stiff mechanisms are followed for a
  // shorter time, until that error is small.
  LinearTrajectory along;
  Eigen::MatrixXd phi;
  for (double until = std::min(0.4, model->run.until / 10);; until /= 2) {
    along = followed(until, 800);
    const Eigen::MatrixXd fine = transition(along, 1), coarse = transition(along, 2);
    phi = fine + (fine - coarse) / 15;
    if (std::isfinite(phi.norm()) && (fine - coarse).norm() <= 1e-5 * phi.norm()) break;
    ASSERT_GT(until, 1e-4);
  }
  const std::vector<int> zp(w->independent_positions().begin(), w->independent_positions().end()),
      zv(w->independent_speeds().begin(), w->independent_speeds().end());
  const auto np = static_cast<Eigen::Index>(zp.size()),
             n = np + static_cast<Eigen::Index>(zv.size());
  ASSERT_EQ(along.models[0].A.rows(), n);
  const Eigen::VectorXd q = along.points.front().q, v = along.points.front().v,
                        q_end = along.points.back().q, v_end = along.points.back().v;
  options.at = {options.until};
  const auto displaced = [&](Eigen::Index j, double x) {
    Eigen::VectorXd q0 = q, v0 = v, out(n);
    if (j < np) {
      const Eigen::VectorXd step = x * along.models[0].R.col(j);
      w->move(view(q0), view(step));
    } else {
      v0(zv[static_cast<size_t>(j - np)]) += x;
    }
    EXPECT_GE(static_cast<int>(w->close_positions(0, view(q0))), 0);
    EXPECT_GE(static_cast<int>(w->close_velocities(0, view(along.points[0].u), view(v0))), 0);
    // Closing moves the dependent coordinates only: x is what was asked for.
    options.q.assign(q0.begin(), q0.end());
    options.v.assign(v0.begin(), v0.end());
    const auto moved = simulated(*model, options);
    const Eigen::VectorXd dq = test::step_between(*model, q_end, state(moved.q, 0)),
                          dv = state(moved.v, 0) - v_end;
    for (Eigen::Index i = 0; i < np; ++i) out(i) = dq(zp[static_cast<size_t>(i)]);
    for (Eigen::Index i = np; i < n; ++i) out(i) = dv(zv[static_cast<size_t>(i - np)]);
    return out;
  };
  // Differences: truncation of order 4 after extrapolation, and the runs' error 1e-13 over the step. Beams bend little.
  for (Eigen::Index j = 0; j < n; ++j) {
    const double h = j < np && zp[static_cast<size_t>(j)] >= model->joint_nv() ? 2e-6 : 2e-4;
    const Eigen::VectorXd wide = (displaced(j, h) - displaced(j, -h)) / (2 * h),
                          narrow = (displaced(j, h / 2) - displaced(j, -h / 2)) / h,
                          flow = (4 * narrow - wide) / 3;
    EXPECT_LT((flow - phi.col(j)).norm(), 1e-6 * phi.norm())
        << along.models[0].states[static_cast<size_t>(j)] << "\nflow " << flow.transpose()
        << "\nlinear " << phi.col(j).transpose();
  }
}

TEST_P(Zoo, OneSetOfStatesServesTheWholeMotion) {
  const auto model = load(GetParam());
  ASSERT_TRUE(model.ok());
  SimulationOptions options;
  options.until = model->run.until / 10;
  options.sample = options.until / 20;
  const auto w = Workspace::create(*model, nominal(*model));
  const auto run = simulated(*model, options);
  const auto along = linearize_along(*w, run);
  ASSERT_TRUE(along.ok()) << along.diagnostics().text();
  ASSERT_EQ(along->time, run.t);
  for (size_t i = 0; i < along->time.size(); ++i) {
    EXPECT_EQ(along->models[i].states, along->models[0].states);
    EXPECT_EQ(along->points[i].t, run.t[i]);
    EXPECT_TRUE(along->models[i].A.allFinite());
  }
}

// At rest in an equilibrium nothing varies.
TEST(Trajectory, AtRestIsTheLinearModelOfTheEquilibrium) {
  const auto c = test::linearised(load("fourbar_f1"), Operation::kEquilibrium);
  SimulationOptions options;
  options.until = 0.5;
  options.sample = 0.1;
  options.q.assign(c.point.q.begin(), c.point.q.end());
  const auto along = linearize_along(*c.workspace, simulated(*c.model, options));
  ASSERT_TRUE(along.ok()) << along.diagnostics().text();
  ASSERT_EQ(along->models.size(), 6U);
  for (const LinearModel& m : along->models) {
    EXPECT_EQ(m.states, c.linear.states);
    // The equilibrium is known to 1e-10 or so, and the run moves by that much.
    EXPECT_LT((m.A - c.linear.A).norm(), 1e-8 * c.linear.A.norm());
    EXPECT_LT((m.C_x - c.linear.C_x).norm(), 1e-8 * c.linear.C_x.norm());
    EXPECT_LT((m.M_z - c.linear.M_z).norm(), 1e-8 * c.linear.M_z.norm());
  }
}

// A crank that turns all the way around, in a model that prefers no coordinate: coupler and rocker have dead points, the crank has none.
TEST(Trajectory, KeepsTheCoordinateWithoutDeadPoints) {
  auto model = load("fourbar_f1");
  ASSERT_TRUE(model.ok());
  model->preferred.clear();
  SimulationOptions options;
  options.until = 4;
  options.sample = 0.01;
  const auto turning = with_pose(*model, {{"theta_dot", 12}});
  ASSERT_TRUE(turning.ok());
  const auto run = simulated(*turning, options);
  ASSERT_GT(run.q[0].back() - run.q[0].front(), 7);
  const auto w = Workspace::create(*turning, nominal(*turning));
  const auto along = linearize_along(*w, run);
  ASSERT_TRUE(along.ok()) << along.diagnostics().text();
  EXPECT_EQ(along->models[0].independent, std::vector<std::string>{"theta"});
}

// A coupler and two rockers, none of which turns around: every coordinate has dead points, at different times.
TEST(Trajectory, WhoseStatesWouldHaveToChangeIsRefusedWithTheTime) {
  const auto model = test::model_of(R"(
space = "planar"
gravity = [0, -9.81]
body = [
  { name = "a", bar = { length = 1, mass = 1 } },
  { name = "b", bar = { length = 1, mass = 1 } },
  { name = "c", bar = { length = 1, mass = 1 } },
]
joint = [
  { name = "alpha", type = "revolute", parent = "ground", child = "a" },
  { name = "beta", type = "revolute", parent = "a.end", child = "b" },
  { name = "gamma", type = "revolute", parent = { body = "ground", at = [2.2, 0] }, child = "c" },
]
loop = [{ name = "pin", type = "pin", between = ["b.end", "c.end"] }]
initial = { alpha = 0.9, alpha_dot = -9, guess = { beta = -1, gamma = 2 } }
)");
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  SimulationOptions options;
  options.until = 3;
  options.sample = 0.002;
  const auto run = simulated(*model, options);
  const auto w = Workspace::create(*model, nominal(*model));
  const auto along = linearize_along(*w, run);
  ASSERT_FALSE(along.ok());
  const std::string text = along.diagnostics().text();
  EXPECT_NE(text.find("error[E0517]"), std::string::npos) << text;
  // The coordinate that serves longest stands still there while the mechanism moves on.
  const size_t at = text.find("after t = ");
  ASSERT_NE(at, std::string::npos) << text;
  const double end = std::stod(text.substr(at + 10));
  const auto last = static_cast<size_t>(std::round(end / options.sample));
  int still = 0, moving = 0;
  for (const auto& speed : run.v) {
    still += speed[last] * speed[last + 1] <= 0 ? 1 : 0;
    moving += std::abs(speed[last]) > 1 ? 1 : 0;
  }
  EXPECT_EQ(still, 1);
  EXPECT_EQ(moving, 2);
  // Up to there the motion has its linear model.
  options.until = end;
  EXPECT_TRUE(linearize_along(*w, simulated(*model, options)).ok());
}

TEST(Trajectory, OfARunWithoutStatesOrOfAnotherModelIsRefused) {
  const auto pendulum = load("pendulum"), other = load("double_pendulum");
  ASSERT_TRUE(pendulum.ok() && other.ok());
  SimulationOptions options;
  options.until = 0.1;
  const auto w = Workspace::create(*other, nominal(*other));
  EXPECT_NE(linearize_along(*w, simulated(*pendulum, options)).diagnostics().text().find("E0518"),
            std::string::npos);
  EXPECT_NE(linearize_along(*w, panto::Run{}).diagnostics().text().find("no samples"),
            std::string::npos);
  options.keep_states = false;
  EXPECT_NE(linearize_along(*w, simulated(*other, options)).diagnostics().text().find("states"),
            std::string::npos);
}

}  // namespace
}  // namespace panto
