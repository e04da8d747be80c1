// A beam reduced and put into a mechanism as a superelement, against the beam itself and against matrices assembled by hand.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "panto/integrate/simulate.hpp"
#include "panto/io/load.hpp"
#include "panto/io/reduction.hpp"
#include "panto/linear/modes.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

// A cantilever of four elements, 12 displacements; what stands behind its elements' number goes into the beam's table.
std::string cantilever(const std::string& more = "") {
  return "space = \"planar\"\nbody = [{ name = \"rod\", beam = { length = 0.8, rectangle = [0.03, "
         "0.01], E = 7e10, density = 2700, elements = 4" +
         more +
         " } }]\njoint = [{ name = \"clamp\", type = \"weld\", parent = \"ground\", child = "
         "\"rod\" "
         "}]\n";
}

struct Linear {
  Model model;
  std::unique_ptr<Workspace> workspace;
  OperatingPoint point;
  LinearModel linear;
  explicit Linear(const std::string& path, Operation operation = Operation::kHere)
      : model(loaded(path)), workspace(Workspace::create(model, nominal(model))) {
    auto p = operating_point(*workspace, operation);
    EXPECT_TRUE(p.ok()) << p.diagnostics().text();
    point = *p;
    auto l = linearize(*workspace, point);
    EXPECT_TRUE(l.ok()) << l.diagnostics().text();
    linear = *l;
  }
  static Model loaded(const std::string& path) {
    auto m = load(path);
    EXPECT_TRUE(m.ok()) << m.diagnostics().text();
    return std::move(*m);
  }
  [[nodiscard]] std::vector<double> hz() const {
    const auto found = modes(*workspace, point, linear);
    EXPECT_TRUE(found.ok()) << found.diagnostics().text();
    std::vector<double> out;
    for (const Mode& m : found->list) out.push_back(m.frequency_hz);
    return out;
  }
};

struct Case {
  test::TemporaryFolder folder;
  RankedReduction reduction;
  // Tip as master, `keep` interior modes; arm.modes.csv and what else the files of a reduction are.
  explicit Case(int keep, const std::string& more = "") {
    const Linear beam(folder.put("cantilever.toml", cantilever(more)));
    const auto system = linear_system(beam.linear, "arm");
    EXPECT_TRUE(system.ok()) << system.diagnostics().text();
    ReduceOptions o;
    o.masters = {"rod.n5"};
    o.keep = keep;
    auto r = reduce(*system, o);
    EXPECT_TRUE(r.ok()) << r.diagnostics().text();
    reduction = std::move(*r);
    const Diagnostics written = write_reduction(*system, reduction, folder.path("arm.h5"));
    EXPECT_TRUE(written.ok()) << written.text();
  }
  [[nodiscard]] std::string machine(const std::string& rest, const std::string& keys = "") const {
    return folder.put("machine.toml",
                      "space = \"planar\"\n" + keys +
                          "superelement = [{ name = \"arm\", modes = \"arm.modes.csv\", connect = "
                          "[{ node = \"rod.n5\", name = \"tip\", at = [0.8, 0] }] }]\n" +
                          rest);
  }
};

const std::string kMotor =
    "body = [{ name = \"motor\", mass = 0.7, com = [0, 0], inertia = 0.003 }]\n"
    "joint = [{ name = \"feet\", type = \"weld\", parent = \"arm.tip\", child = \"motor\" }]\n";
const std::string kLumped = ", lumped = [{ node = 5, mass = 0.7, inertia = 0.003 }]";

TEST(Superelement, WithAllModesCarriesAMassAsTheBeamItself) {
  const Case c(9);
  const Linear machine(c.machine(kMotor)), beam(c.folder.put("full.toml", cantilever(kLumped)));
  const std::vector<double> found = machine.hz(), exact = beam.hz();
  ASSERT_EQ(found.size(), 12u);
  for (size_t i = 0; i < 12;
       ++i)  // round-off of two eigenproblems, relative to their largest value
    EXPECT_NEAR(found[i], exact[i], 1e-8 * exact[i] + 1e-13 * exact[11] * exact[11] / exact[i])
        << i;
}

TEST(Superelement, WithFewModesIsAsGoodAsTheReduction) {
  const Linear beam(test::TemporaryFolder().put("full.toml", cantilever(kLumped)));
  const std::vector<double> exact = beam.hz();
  double before = 1;
  for (const int keep : {0, 1, 2, 3}) {
    const Case c(keep);
    const std::vector<double> found = Linear(c.machine(kMotor)).hz();
    ASSERT_EQ(found.size(), static_cast<size_t>(3 + keep));
    // The same mass on the reduced matrices, by hand.
    Eigen::MatrixXd m = c.reduction.system.M;
    m.diagonal().head(3) += Eigen::Vector3d(0.7, 0.7, 0.003);
    const auto pairs = symmetric_pairs(c.reduction.system.K, m);
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i],
                  std::sqrt(pairs->values(static_cast<Eigen::Index>(i))) / (2 * std::numbers::pi),
                  1e-8 * found[i])
          << keep << ", mode " << i;
    // Ritz: from above, and nearer with every interior mode.
    const double error = found[1] / exact[1] - 1;
    EXPECT_GT(error, -1e-10);
    EXPECT_LE(error, before + 1e-12);
    before = error;
  }
  EXPECT_LT(before, 1e-3);
}

TEST(Superelement, CarriesAPendulumThatSwings) {
  const Case c(9);
  const Linear machine(
      c.machine("body = [{ name = \"bob\", mass = 0.5, com = [0, -0.3], inertia = 0.002 }]\n"
                "joint = [{ name = \"phi\", type = \"revolute\", parent = \"arm.tip\", child = "
                "\"bob\" }]\n",
                "gravity = [0, -9.81]\n"),
      Operation::kEquilibrium);
  // Small motions by hand: coordinates of the reduced beam and the angle, bob at x + l φ, y.
  const Eigen::Index n = c.reduction.system.M.rows();
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(n + 1, n + 1), k = m;
  m.topLeftCorner(n, n) = c.reduction.system.M;
  k.topLeftCorner(n, n) = c.reduction.system.K;
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n + 1), y = x, turn = x;
  x(0) = y(1) = turn(2) = turn(n) = 1;
  // The joint's angle is relative to the section that carries it.
  const Eigen::VectorXd at = x + 0.3 * turn;
  m += 0.5 * (at * at.transpose() + y * y.transpose()) + 0.002 * turn * turn.transpose();
  k += 0.5 * 9.81 * 0.3 * turn * turn.transpose();
  const auto pairs = symmetric_pairs(k, m);
  const std::vector<double> found = machine.hz();
  ASSERT_EQ(found.size(), static_cast<size_t>(n + 1));
  // The beam sags under the weight: second-order terms of 2 mm and 0.004 rad on the axial mode alone.
  for (size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(found[i],
                std::sqrt(pairs->values(static_cast<Eigen::Index>(i))) / (2 * std::numbers::pi),
                1e-4 * found[i])
        << i;
  // The weight, by the beam's own flexibility: F L³ / (3 E I).
  const double sag = 0.5 * 9.81 * std::pow(0.8, 3) / (3 * 7e10 * 0.03 * std::pow(0.01, 3) / 12);
  EXPECT_NEAR(machine.point.q(find_dof(machine.model, "arm.tip.y")), -sag, 1e-9 * sag);
}

TEST(Superelement, MovesInTimeAsTheBeamItself) {
  const Case c(9, ", damping = { beta = 1e-5 }");
  const std::string push =
      "force = [{ name = \"push\", type = \"force\", on = \"PLACE\", value = [0, \"20*sin(40*t)\"] "
      "}]\noutput = [{ name = \"y\", type = \"position\", of = \"PLACE\", axis = \"y\" }]\n";
  const auto with = [&](std::string text, const std::string& place) {
    for (size_t p = 0; (p = text.find("PLACE")) != std::string::npos;) text.replace(p, 5, place);
    return text;
  };
  const auto run = [&](const std::string& path) {
    const Model model = Linear::loaded(path);
    SimulationOptions o;
    o.until = 0.3;
    o.tol = 1e-9;
    o.at = {0.1, 0.2, 0.3};
    const auto r = simulate(model, nominal(model), o);
    EXPECT_TRUE(r.ok()) << r.diagnostics().text();
    return r->outputs[static_cast<size_t>(find_output(model, "y"))];
  };
  const auto machine = run(c.machine(kMotor + with(push, "motor")));
  const auto beam = run(c.folder.put(
      "full.toml", cantilever(kLumped + ", damping = { beta = 1e-5 }") + with(push, "rod.end")));
  ASSERT_EQ(machine.size(), beam.size());
  // Tolerance of two integrations. Damping per mass would act on the lumped mass of the beam, not on the motor.
  for (size_t i = 0; i < machine.size(); ++i) EXPECT_NEAR(machine[i], beam[i], 2e-4 * 0.02) << i;
}

TEST(Superelement, AForceOnARowIsWhatTheStructureFeels) {
  const Case c(3);
  const Linear machine(
      c.machine(
          kMotor + "output = [{ name = \"load\", type = \"force_of\", of = \"arm.tip.y\" }]\n",
          "gravity = [0, -9.81]\n"),
      Operation::kEquilibrium);
  Residual r;
  Point x;
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(machine.model.nv);
  x.q = {machine.point.q.data(), static_cast<size_t>(machine.point.q.size())};
  x.v = x.a = {zero.data(), static_cast<size_t>(zero.size())};
  x.lambda = {machine.point.lambda.data(), static_cast<size_t>(machine.point.lambda.size())};
  machine.workspace->residual(x, true, r);
  EXPECT_NEAR(std::abs(r.y(0)), 0.7 * 9.81, 1e-6);
}

TEST(Superelement, InSpaceCarriesAPointMass) {
  test::TemporaryFolder folder;
  folder.put("mount.modes.csv",
             "omega2,top.x,top.y,top.z\n1e4,0.5,0,0.1\n4e4,0,0.4,0\n9e4,0.1,0,0.6\n");
  const Linear machine(folder.put(
      "mount.toml",
      "space = \"spatial\"\nsuperelement = [{ name = \"mount\", modes = \"mount.modes.csv\", "
      "connect "
      "= [{ node = \"top\", at = [0, 0, 1] }] }]\nbody = [{ name = \"load\", mass = 2, com = [0, "
      "0, "
      "0], inertia = [1, 1, 1] }]\njoint = [{ name = \"bolt\", type = \"weld\", parent = "
      "\"mount.top\", child = \"load\" }]\n"));
  Eigen::Matrix3d u;  // rows x, y, z, columns modes
  u << 0.5, 0, 0.1, 0, 0.4, 0, 0.1, 0, 0.6;
  const Eigen::Matrix3d m = Eigen::Matrix3d::Identity() + 2 * u.transpose() * u,
                        k = Eigen::Vector3d(1e4, 4e4, 9e4).asDiagonal();
  const auto pairs = symmetric_pairs(k, m);
  const std::vector<double> found = machine.hz();
  ASSERT_EQ(found.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(found[i],
                std::sqrt(pairs->values(static_cast<Eigen::Index>(i))) / (2 * std::numbers::pi),
                1e-9 * found[i]);
}

TEST(Superelement, DampingThatCouplesModesIsNotWritten) {
  Case c(2);
  LinearSystem system;
  system.name = "pair";
  const auto matrix = [](double a, double b, double d) {
    SparseMatrix m(2, 2);
    m.insert(0, 0) = a;
    m.insert(0, 1) = b;
    m.insert(1, 0) = b;
    m.insert(1, 1) = d;
    return m;
  };
  system.M = matrix(1, 0, 1);
  system.K = matrix(100, -50, 100);
  system.C = matrix(1, 0, 0);
  system.dofs = {"a.x", "b.x"};
  ReduceOptions o;
  o.masters = {"a.x"};
  o.keep = 1;
  const auto r = reduce(system, o);
  ASSERT_TRUE(r.ok()) << r.diagnostics().text();
  const Diagnostics notes = write_reduction(system, *r, c.folder.path("pair.h5"));
  EXPECT_TRUE(notes.ok());
  EXPECT_NE(notes.text().find("W0920"), std::string::npos) << notes.text();
  EXPECT_FALSE(std::filesystem::exists(c.folder.path("pair.modes.csv")));
}

}  // namespace
}  // namespace panto
