// Derivatives of the equations with ANCF beams against differences; accelerations against the λ form.
#include <fmt/format.h>

#include <random>
#include <stdexcept>

#include "panto/io/load.hpp"
#include "panto/mechanics/assembly.hpp"
#include "tests/linear/linear_case.hpp"

namespace panto {
namespace {

// Everything at once: shear with lumped inertia on a rigid link, a driven section, a perpendicular one, springs on its end, a cable pinned to its tip.
const std::string kMixed = R"toml(
space = "planar"
gravity = [0.3, -9.81]
body = [
  { name = "link", bar = { length = 0.5, mass = 0.7 } },
  { name = "arm", ancf = { element = "shear", length = 0.8, rectangle = [0.03, 0.04], E = 2e7, poisson = 0.3, density = 1200, elements = 2, at = [0.5, 0], angle = 0.4, perpendicular = [1], lumped = [{ node = 3, mass = 0.2, inertia = 0.01 }] } },
  { name = "rope", ancf = { length = 0.6, circle = 0.02, E = 1e7, density = 900, elements = 3, at = ["0.5 + 0.8*cos(0.4)", "0.8*sin(0.4)"], angle = -0.3, rate = 0.5, lumped = [{ node = 4, mass = 0.3, inertia = 2e-3 }] } },
]
joint = [
  { name = "alpha", type = "revolute", parent = "ground", child = "link" },
  { name = "beta", type = "revolute", parent = "link.end", child = "arm" },
  { name = "tie", type = "revolute", parent = "arm.end", child = "rope" },
]
actuator = [
  { name = "motor", type = "torque", on = "alpha", input = "0.5*sin(t)" },
  { name = "elbow", type = "torque", on = "beta", input = "0.2" },
]
force = [
  { name = "spring", type = "spring", between = ["rope.end", { body = "ground", at = [2, 1] }], stiffness = 50, damping = 2, free_length = 0.3 },
  { name = "bush", type = "torsion_spring", on = "beta", stiffness = 3, damping = 0.1 },
]
output = [
  { name = "tip", type = "position", of = "rope.end", axis = "y" },
  { name = "section", type = "angle", of = "arm.end", from = "link" },
  { name = "shear", type = "angle", of = "arm.n2", from = "arm.n2.axis" },
  { name = "kinetic", type = "kinetic_energy" },
  { name = "potential", type = "potential_energy" },
]
)toml";
const std::string kRotating = R"toml(
space = "planar"
rotating = { rate = 7, setting = 0.6 }
body = [{ name = "arm", ancf = { element = "shear", length = 0.8, rectangle = [0.03, 0.04], E = 2e7, density = 1200, elements = 2, angle = 0.3, lumped = [{ node = 3, mass = 0.2, inertia = 0.01 }] } }]
joint = [{ name = "j", type = "revolute", parent = { body = "ground", at = [0.1, 0.2] }, child = "arm" }]
)toml";

struct Case {
  Model model;
  std::unique_ptr<Workspace> workspace;
  std::vector<double> q, v, a, lambda, u;
  static Model compiled(const std::string& text) {
    auto model = test::model_of(text);
    if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
    return std::move(*model);
  }
  explicit Case(const std::string& text) : model(compiled(text)) {
    workspace = Workspace::create(model, nominal(model));
    std::mt19937 draw(5);
    std::uniform_real_distribution<double> any(-1, 1);
    const auto fill = [&](std::vector<double>& x, int n, double scale) {
      x.resize(static_cast<size_t>(n));
      for (double& e : x) e = scale * any(draw);
    };
    fill(q, model.nq, 0.05);
    fill(v, model.nv, 0.5);
    fill(a, model.nv, 2);
    fill(lambda, model.n_rows(), 3);
    fill(u, model.nu(), 1);
  }
  [[nodiscard]] Point point() const {
    Point x;
    x.q = q;
    x.v = v;
    x.a = a;
    x.lambda = lambda;
    x.u = u;
    return x;
  }
};

class AncfLaw : public testing::TestWithParam<const std::string*> {};
INSTANTIATE_TEST_SUITE_P(Models, AncfLaw, testing::Values(&kMixed, &kRotating));

// Central differences, step 1e-6: 2e-8 relative to the largest entry, and the round-off of the forces over the step.
TEST_P(AncfLaw, TangentsAreDerivatives) {
  Case c(*GetParam());
  Tangent tangent;
  Blocks blocks;
  blocks.y = true;
  c.workspace->tangent(c.point(), blocks, tangent);
  const double h = 1e-6;
  for (const bool position : {true, false}) {
    Eigen::MatrixXd r(c.model.nv, c.model.nv), phi(c.model.n_rows(), c.model.nv),
        y(static_cast<Eigen::Index>(c.model.outputs.size()), c.model.nv);
    for (int j = 0; j < c.model.nv; ++j) {
      Residual out[2];
      for (const int side : {0, 1}) {
        Case moved(*GetParam());
        (position ? moved.q : moved.v)[static_cast<size_t>(j)] += side == 0 ? -h : h;
        moved.workspace->residual(moved.point(), true, out[side]);
      }
      r.col(j) = (out[1].r - out[0].r) / (2 * h);
      phi.col(j) = (out[1].phi_ddot - out[0].phi_ddot) / (2 * h);
      y.col(j) = (out[1].y - out[0].y) / (2 * h);
    }
    Residual here;
    c.workspace->residual(c.point(), false, here);
    const double round_off = 1e-15 / h * here.r.cwiseAbs().maxCoeff();
    const auto close = [&](const Eigen::MatrixXd& found, const Eigen::MatrixXd& wanted) {
      if (wanted.size() == 0) return;
      EXPECT_LT((found - wanted).cwiseAbs().maxCoeff(),
                2e-8 * (1 + wanted.cwiseAbs().maxCoeff()) + round_off);
    };
    close(position ? tangent.r_q : tangent.r_v, r);
    close(position ? tangent.phi_ddot_q : tangent.phi_ddot_v, phi);
    close(position ? tangent.y_q : tangent.y_v, y);
  }
  // r is linear in a and λ.
  Residual with, without;
  c.workspace->residual(c.point(), false, with);
  Point x = c.point();
  const std::vector<double> zero(c.a.size(), 0.0);
  x.a = zero;
  x.lambda = {};
  c.workspace->residual(x, false, without);
  const Eigen::Map<const Eigen::VectorXd> a(c.a.data(), c.model.nv),
      lambda(c.lambda.data(), c.model.n_rows());
  Eigen::VectorXd linear = tangent.r_a * a;
  if (lambda.size() > 0) linear += tangent.r_lambda * lambda;
  EXPECT_LT((with.r - without.r - linear).cwiseAbs().maxCoeff(), 1e-11);
}

TEST_P(AncfLaw, DerivativesAlongDirectionsAreTheTangentTimesThem) {
  Case c(*GetParam());
  Tangent tangent;
  c.workspace->tangent(c.point(), {}, tangent);
  const Eigen::MatrixXd dq = Eigen::MatrixXd::Random(c.model.nv, 3),
                        dv = Eigen::MatrixXd::Random(c.model.nv, 3),
                        da = Eigen::MatrixXd::Random(c.model.nv, 3);
  DirectionalTangent along;
  c.workspace->along(c.point(), Level::kAcceleration, dq, dv, da, {}, along);
  const Eigen::MatrixXd wanted = tangent.r_q * dq + tangent.r_v * dv + tangent.r_a * da;
  EXPECT_LT((along.r - wanted).cwiseAbs().maxCoeff(), 1e-11 * (1 + wanted.cwiseAbs().maxCoeff()));
}

// The sparse elimination against the dense saddle point (LOOP-6), on the closed pose.
TEST_P(AncfLaw, AccelerationsAreThoseOfTheSaddlePoint) {
  Case c(*GetParam());
  Workspace& w = *c.workspace;
  const auto start = assemble(w);
  ASSERT_TRUE(start.ok()) << start.diagnostics().text();
  std::vector<double> q(start->q.begin(), start->q.end());
  w.choose_partition(0, q);
  for (size_t i = 0; i < q.size(); ++i) q[i] += 0.2 * c.q[i];
  ASSERT_EQ(w.close_positions(0, q), Status::kOk);
  ASSERT_EQ(w.close_velocities(0, c.u, c.v), Status::kOk);
  std::vector<double> a(c.a.size()), rates(c.u.size(), 0.0);
  ASSERT_EQ(w.accelerations(0, c.v, c.u, rates, a), Status::kOk);
  Point x;
  x.q = q;
  x.v = c.v;
  x.u = c.u;
  x.u_rate = rates;
  Eigen::VectorXd dense, lambda;
  ASSERT_EQ(w.forward_dynamics(x, dense, lambda), Status::kOk);
  for (int i = 0; i < c.model.nv; ++i)
    EXPECT_NEAR(a[static_cast<size_t>(i)], dense(i), 1e-8 * (1 + dense.cwiseAbs().maxCoeff())) << i;
}

}  // namespace
}  // namespace panto
