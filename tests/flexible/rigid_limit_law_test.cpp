// Beams that do not bend are rigid links; energy of beams that do.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "panto/integrate/simulate.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/model/compile.hpp"

namespace panto {
namespace {

Result<Model> model_of(const std::string& text) {
  const auto spec = parse_model_text(text, "test.toml");
  if (!spec.ok()) return spec.diagnostics();
  return compile(*spec);
}

// A four-bar under gravity whose moving links are bars or beams of the same mass.
std::string fourbar(bool flexible) {
  const auto link = [&](const char* name, double length, double mass) {
    std::string text = std::string("[[body]]\nname = \"") + name + "\"\n";
    text += flexible ? "beam = { circle = 0.02, E = 2e11, elements = 3, length = "
                     : "bar = { length = ";
    return text + std::to_string(length) + ", mass = " + std::to_string(mass) + " }\n";
  };
  return "space = \"planar\"\ngravity = [0.5, -9.81]\n" + link("a", 0.3, 1.1) +
         link("b", 0.9, 2.3) + link("c", 0.7, 1.9) + R"(
[[joint]]
name = "j1"
type = "revolute"
parent = "ground"
child = "a"
[[joint]]
name = "j2"
type = "revolute"
parent = "a.end"
child = "b"
[[joint]]
name = "j3"
type = "revolute"
parent = { body = "ground", at = [0.8, 0.1] }
child = "c"
[[loop]]
name = "pin"
type = "pin"
between = ["b.end", "c.end"]
[initial]
j1 = 0.9
[initial.guess]
j2 = -0.6
j3 = 1.4
)";
}

// Without displacements the rows of the joints are those of the rigid mechanism: the cubic functions hold rigid motion exactly.
TEST(FlexibleFourbar, WithoutDisplacementsHasTheEquationsOfTheRigidOne) {
  const auto rigid = model_of(fourbar(false)), flexible = model_of(fourbar(true));
  ASSERT_TRUE(rigid.ok()) << rigid.diagnostics().text();
  ASSERT_TRUE(flexible.ok()) << flexible.diagnostics().text();
  const auto w = Workspace::create(*rigid, nominal(*rigid)),
             f = Workspace::create(*flexible, nominal(*flexible));
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> uniform(-2, 2);
  const int n = rigid->nv, m = rigid->n_rows();
  for (int k = 0; k < 5; ++k) {
    Eigen::VectorXd q(n), v(n), a(n), lambda(m);
    for (auto* x : {&q, &v, &a, &lambda})
      for (double& e : *x) e = uniform(generator);
    const auto grown = [&](const Eigen::VectorXd& x) {
      Eigen::VectorXd y = Eigen::VectorXd::Zero(flexible->nv);
      y.head(n) = x;
      return y;
    };
    const Eigen::VectorXd qf = grown(q), vf = grown(v), af = grown(a);
    Residual r, rf;
    w->residual({0, view(q), view(v), view(a), view(lambda), {}, {}}, false, r);
    f->residual({0, view(qf), view(vf), view(af), view(lambda), {}, {}}, false, rf);
    EXPECT_LT((r.r - rf.r.head(n)).norm(), 1e-12 * r.r.norm());
    EXPECT_LT((r.phi - rf.phi).norm(), 1e-14);
    const Energy e = w->energy(view(q), view(v)), ef = f->energy(view(qf), view(vf));
    EXPECT_NEAR(e.kinetic, ef.kinetic, 1e-12 * e.kinetic);
    EXPECT_NEAR(e.potential, ef.potential, 1e-12 * (1 + std::abs(e.potential)));
  }
}

TEST(FlexibleFourbar, IsNotStrainedByRigidMotion) {
  const auto model =
      model_of("space = \"planar\"\n" + fourbar(true).substr(fourbar(true).find("[[body]]")));
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  const auto w = Workspace::create(*model, nominal(*model));
  Eigen::VectorXd q = Eigen::VectorXd::Zero(model->nq), zero = Eigen::VectorXd::Zero(model->nv);
  q.head(3) << 0.3, -1.2, 2.1;
  Residual r;
  w->residual({0, view(q), view(zero), view(zero), {}, {}, {}}, false, r);
  EXPECT_EQ(r.r.norm(), 0);
  Tangent t;
  w->tangent({0, view(q), view(zero), view(zero), {}, {}, {}}, {}, t);
  const int nj = model->joint_nv();
  const double stiffness = t.r_q.cwiseAbs().maxCoeff();
  EXPECT_GT(stiffness, 1e6);
  EXPECT_EQ(t.r_q.leftCols(nj).norm(), 0) << "turning the links strains nothing";
  // K S = 0: forces of displacements do no work on rigid motion.
  EXPECT_LT(t.r_q.topRows(nj).norm(), 1e-15 * stiffness * static_cast<double>(model->nv));
}

// A pendulum let go: deflections, and with them what they do to the motion, fall as 1/E.
TEST(FlexiblePendulum, TendsToTheRigidOneAsOneOverE) {
  const auto swing = [](const std::string& body) {
    const auto model = model_of(
        "space = \"planar\"\ngravity = [0, -9.81]\n[[body]]\nname = \"b\"\n" + body +
        "\n[[joint]]\nname = \"j\"\ntype = \"revolute\"\nparent = \"ground\"\nchild = "
        "\"b\"\n[[output]]\nname = \"y\"\ntype = \"position\"\nof = \"b.end\"\naxis = \"y\"\n");
    EXPECT_TRUE(model.ok()) << model.diagnostics().text();
    SimulationOptions o;
    o.until = 0.5;
    o.tol = 1e-10;
    for (int i = 1; i <= 50; ++i) o.at.push_back(0.01 * i);
    const auto run = simulate(*model, nominal(*model), o);
    EXPECT_TRUE(run.ok()) << run.diagnostics().text();
    return run->outputs[0];
  };
  const auto rigid = swing("bar = { length = 1, mass = 1 }");
  const auto error = [&](double e) {
    const auto y = swing("beam = { length = 1, mass = 1, circle = 0.03, elements = 2, E = " +
                         std::to_string(e) + " }");
    double worst = 0;
    for (size_t i = 0; i < y.size(); ++i) worst = std::max(worst, std::abs(y[i] - rigid[i]));
    return worst;
  };
  const double soft = error(2e9), stiff = error(2e10);
  EXPECT_LT(stiff, 1e-3);
  EXPECT_NEAR(std::log10(soft / stiff), 1, 0.2);
}

TEST(SingleFlexibleLink, KeepsItsEnergyBalance) {
  const auto model = load("single_flexible_link");
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  SimulationOptions o;
  o.until = 2;
  o.tol = 1e-9;
  const auto run = simulate(*model, nominal(*model), o);
  ASSERT_TRUE(run.ok()) << run.diagnostics().text();
  double largest = 0;
  for (double e : run->kinetic) largest = std::max(largest, e);
  EXPECT_GT(largest, 0.01);
  EXPECT_LT(run->energy_max_drift, 1e-6 * largest);
}

// Inertia without products with the displacements: the mass matrix of the straight links, and accelerations that are wrong in second order.
TEST(FirstTerms, AreTheCompleteOnesWithoutDisplacements) {
  const auto spun = [](const char* terms) {
    const auto made = model_of(std::string(R"(
space = "planar"
body = [{ name = "rod", beam = { length = 1, circle = 0.02, E = 2e9, density = 2700, elements = 3, terms = ")") +
                               terms + R"(" } }]
joint = [{ name = "pivot", type = "revolute", parent = "ground", child = "rod" }]
)");
    EXPECT_TRUE(made.ok()) << made.diagnostics().text();
    return *made;
  };
  const Model complete = spun("complete"), first = spun("first");
  const auto wc = Workspace::create(complete, nominal(complete)),
             wf = Workspace::create(first, nominal(first));
  // Accelerations of all speeds and the mass matrix where the displacements have this size, at 3 rad/s.
  const auto at = [](Workspace& w, double size, Eigen::MatrixXd& mass) {
    const Model& m = w.model();
    std::vector<double> q(static_cast<size_t>(m.nq), 0.0), v(static_cast<size_t>(m.nv), 0.0),
        a(v.size(), 0.0);
    v[0] = 3;
    for (size_t i = 1; i < q.size(); ++i) q[i] = size * std::sin(1.7 * static_cast<double>(i));
    w.choose_partition(0, q, true);
    EXPECT_EQ(w.close_positions(0, q), Status::kOk);
    EXPECT_EQ(w.close_velocities(0, {}, v), Status::kOk);
    EXPECT_EQ(w.accelerations(0, v, {}, {}, a), Status::kOk);
    w.mass_matrix(q, mass);
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(a.data(), m.nv));
  };
  Eigen::MatrixXd straight, mass;
  const Eigen::VectorXd same = at(*wc, 0, straight);
  EXPECT_LT((at(*wf, 0, mass) - same).norm(), 1e-12 * same.norm());
  EXPECT_LT((mass - straight).norm(), 1e-14 * straight.norm());
  double last = 0;
  for (const double size : {1e-4, 5e-5}) {
    Eigen::MatrixXd bent;
    const Eigen::VectorXd full = at(*wc, size, bent), part = at(*wf, size, mass);
    EXPECT_LT((mass - straight).norm(), 1e-14 * straight.norm());
    EXPECT_GT((bent - straight).norm(), 1e-6 * straight.norm());
    const double difference = (full - part).norm();
    EXPECT_GT(difference, 0);
    if (last > 0) {
      // What is missing of the mass and the accelerations that it would change are both of the displacements' size.
      EXPECT_NEAR(last / difference, 4, 0.02);
    }
    last = difference;
  }
}

}  // namespace
}  // namespace panto
