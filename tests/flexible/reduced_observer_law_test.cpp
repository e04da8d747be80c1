// References of a reduced mechanism under an observer (RER-8): the hand-over between two of them with its derivatives, and filters that change on the way.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>

#include "panto/estimation/observer.hpp"
#include "panto/estimation/smoother.hpp"
#include "panto/mechanics/references.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/flexible/reduced_case.hpp"

namespace panto {
namespace {

using test::ReducedCase;
using test::view;

Eigen::VectorXd displacements(const ReducedCase& c, const Eigen::VectorXd& q,
                              const Eigen::VectorXd& v, Eigen::VectorXd& rates) {
  Eigen::VectorXd u(3 * c.model->nodes.size());
  rates.resize(u.size());
  c.ws->node_motion(view(q), view(v), view(u), view(rates));
  return u;
}

class ReducedReferences : public testing::TestWithParam<const char*> {};

TEST_P(ReducedReferences, HandOverThereAndBackIsNothingWhereAllModesAreKept) {
  std::string text = test::reduced_text(GetParam());
  const int slaves = test::keep_all_modes(text);
  ReducedCase c(text, 0);
  References* r = references_of(*c.ws);
  ASSERT_NE(r, nullptr);
  const test::ReducedPoint there = c.point(4);
  ASSERT_EQ(r->add_reference(view(there.q)), 1);
  test::ReducedPoint p = c.point(5);
  const Eigen::VectorXd q = p.q, v = p.v;
  Eigen::VectorXd rates, rates_after;
  const Eigen::VectorXd u = displacements(c, p.q, p.v, rates);
  Eigen::MatrixXd out(2 * slaves, 2 * c.model->nv), back = out;
  ASSERT_TRUE(r->hand_over(0, 1, view(p.q), view(p.v), out));
  EXPECT_EQ(r->reference(), 1);
  EXPECT_GT((p.q - q).norm(), 1e-6 * q.norm());
  const Eigen::VectorXd after = displacements(c, p.q, p.v, rates_after);
  // Round-off, magnified by the stiff modes.
  EXPECT_LT((after - u).norm(), 1e-9 * u.norm());
  EXPECT_LT((rates_after - rates).norm(), 1e-9 * rates.norm());
  ASSERT_TRUE(r->hand_over(1, 0, view(p.q), view(p.v), back));
  EXPECT_LT((p.q - q).norm(), 1e-9 * q.norm());
  EXPECT_LT((p.v - v).norm(), 1e-8 * v.norm());
}

TEST_P(ReducedReferences, ChangeIsTheDerivativeOfTheHandOver) {
  ReducedCase c(GetParam());
  References* r = references_of(*c.ws);
  ASSERT_EQ(r->add_reference(view(c.point(4).q)), 1);
  const test::ReducedPoint p = c.point(5);
  const auto modes = static_cast<Eigen::Index>(c.model->reduction.modes.size());
  const Eigen::Index nv = c.model->nv, first = c.model->reduction.first_mode;
  Eigen::MatrixXd change(2 * modes, 2 * nv), unused = change;
  const auto at = [&](Eigen::Index k, double step) {
    Eigen::VectorXd q = p.q, v = p.v;
    (k < nv ? q(k) : v(k - nv)) += step;
    EXPECT_TRUE(r->hand_over(0, 1, view(q), view(v), unused));
    Eigen::VectorXd out(2 * modes);
    out << q.segment(first, modes), v.segment(first, modes);
    return out;
  };
  Eigen::VectorXd q = p.q, v = p.v;
  ASSERT_TRUE(r->hand_over(0, 1, view(q), view(v), change));
  for (Eigen::Index k = 0; k < 2 * nv; ++k) {
    const double h = 1e-5;
    const Eigen::VectorXd slope = (at(k, h) - at(k, -h)) / (2 * h);
    // Central differences of central differences: steps squared, and round-off over the step.
    EXPECT_LT((slope - change.col(k)).norm(), 1e-7 * (1 + change.col(k).norm())) << k;
  }
}

TEST_P(ReducedReferences, MisfitIsTheLargestOfThreeAndVanishesAtTheReference) {
  ReducedCase c(GetParam());
  References* r = references_of(*c.ws);
  const test::ReducedPoint p = c.point(6);
  ASSERT_EQ(r->add_reference(view(p.q)), 1);
  EXPECT_LT(r->reference_misfit(1, view(p.q)), 1e-9);  // round-off of the eigenproblem
  Eigen::MatrixXd mass;
  c.ws->mass_matrix(view(p.q), mass);
  const auto n = static_cast<Eigen::Index>(c.model->reduction.modes.size()),
             first = static_cast<Eigen::Index>(c.model->reduction.first_mode);
  const Eigen::MatrixXd off = mass.block(first, first, n, n) - Eigen::MatrixXd::Identity(n, n);
  const double expected =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(off).eigenvalues().cwiseAbs().maxCoeff();
  EXPECT_NEAR(c.ws->reduction_drift(view(p.q)), expected, 1e-10);
  EXPECT_GT(expected, 1e-5);
  EXPECT_GE(r->misfit(view(p.q)), expected - 1e-10);
  EXPECT_EQ(r->misfit(view(p.q)), r->reference_misfit(0, view(p.q)));
  const Eigen::VectorXd start = assemble(*c.ws)->q;
  r->use_reference(1);
  EXPECT_LT(r->misfit(view(p.q)), 1e-9);
  EXPECT_GT(r->misfit(view(start)), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Cases, ReducedReferences,
                         testing::Values("manipulator", "welded", "gravity", "branches"));

TEST(ReducedReferences, ThereAreNoneWithoutModes) {
  ReducedCase c("manipulator");
  EXPECT_EQ(references_of(*c.full_ws), nullptr);
}

// The manipulator pushed out of the region of its first modes, at a limit low enough for a short run.
std::string pushed() {
  std::string text = test::reduced_text("manipulator");
  const auto input = [&](const std::string& motor, const std::string& signal) {
    const std::string head = "name = \"" + motor + "\"\ntype = \"torque\"\n";
    text.replace(text.find(head), head.size(), head + "input = \"" + signal + "\"\n");
  };
  input("motor1", "-14*sin(2*pi*t/0.8)");
  input("motor2", "15*sin(2*pi*t/0.8)");
  return text;
}

std::unique_ptr<Observer> observer(const Model& model, const std::string& filter, double limit) {
  ObserverSettings s;
  s.filter = filter;
  s.scheme = Scheme::kRungeKutta4;
  s.jacobian = TransitionJacobian::kExact;
  s.acceleration_noise = {1e-4};
  s.sigma_coordinates = {1e-4};
  s.sigma_speeds = {1e-3};
  s.reduction_limit = limit;
  std::vector<SensorSettings> sensors;
  for (const char* name : {"angle1", "angle2", "angle5"})
    sensors.push_back({.name = name, .sigma = 1e-4});
  for (const char* name : {"gauge1", "gauge2", "gauge4"})
    sensors.push_back({.name = name, .sigma = 3e-7});
  auto made = Observer::create(model, nominal(model), s, sensors);
  EXPECT_TRUE(made.ok()) << made.diagnostics().text();
  EXPECT_EQ((*made)->start(), Status::kOk);
  return std::move(*made);
}

struct Followed {
  Eigen::VectorXd q, sigma;
  int changes = 0;
  Status status = Status::kOk;
  bool allocated = false;
};
Followed follow(const Model& model, const std::string& filter, double limit, int steps,
                bool beforehand) {
  Followed out;
  const auto made = observer(model, filter, limit);
  Observer& o = *made;
  Mechanism& m = o.mechanism();
  if (beforehand)  // along the way that the torques take; the last link keeps its direction
    for (int i = 1; i <= 24; ++i) {
      std::vector<double> q(m.q(o.filter().state()).begin(), m.q(o.filter().state()).end());
      const double d1 = -0.03 * i, d2 = 0.015 * i;
      q[0] += d1;
      q[1] += d2;
      q[2] += d2 - d1;
      q[3] += d1 - d2;
      q[4] -= d1;
      EXPECT_TRUE(m.add_reference(q));
    }
  const long before = calls;
  for (int k = 0; k < steps && out.status == Status::kOk; ++k) {
    out.status = o.filter().step(2e-4, {}, {});
    if (!beforehand) o.renew_reference();
  }
  out.allocated = calls != before;
  const View x = o.filter().state();
  out.q = Eigen::Map<const Eigen::VectorXd>(m.q(x).data(), model.nq);
  out.changes = o.filter().reframed();
  std::vector<int> outputs;
  for (const char* name : {"angle1", "angle2", "angle5", "gauge1", "gauge2", "gauge4"})
    outputs.push_back(find_output(model, name));
  Eigen::VectorXd y(6);
  out.sigma.resize(6);
  EXPECT_EQ(o.outputs(outputs, view(y), view(out.sigma)), Status::kOk);
  return out;
}

TEST(ReducedObserver, ChangesReferencesWithStateAndCovariance) {
  ReducedCase c(pushed(), 0);
  const int steps = 1000;
  for (const std::string filter : {"dekf_exact", "ss_ukf"}) {
    const Followed kept = follow(*c.model, filter, 0, steps, false),
                   anew = follow(*c.model, filter, 5e-4, steps, false);
    ASSERT_EQ(kept.status, Status::kOk) << filter;
    ASSERT_EQ(anew.status, Status::kOk) << filter;
    EXPECT_EQ(kept.changes, 0);
    EXPECT_GE(anew.changes, 2) << filter;
    // The motion of joints and masters is the same but for what the modes left out do, 0.1 % of displacements and no less in covariance.
    const Eigen::VectorXd start = assemble(*c.ws)->q;
    for (Eigen::Index i = 0; i < c.model->reduction.first_mode; ++i)
      EXPECT_NEAR(anew.q(i), kept.q(i), 2e-3 * (kept.q - start).cwiseAbs().maxCoeff()) << i;
    for (Eigen::Index i = 0; i < 6; ++i)
      EXPECT_NEAR(anew.sigma(i), kept.sigma(i), 0.02 * kept.sigma(i)) << filter << " " << i;
  }
}

TEST(ReducedObserver, ChangesBetweenReferencesMadeBeforehandWithoutAllocating) {
  ReducedCase c(pushed(), 0);
  for (const std::string filter : {"dekf_exact", "ss_ukf"}) {
    const Followed run = follow(*c.model, filter, 5e-4, 1000, true);
    EXPECT_EQ(run.status, Status::kOk);
    EXPECT_GE(run.changes, 2) << filter;
    EXPECT_FALSE(run.allocated) << filter;
  }
}

TEST(ReducedObserver, GoesBackAcrossAChangeToTheLastBit) {
  ReducedCase c(pushed(), 0);
  const auto o = observer(*c.model, "dekf_exact", 5e-4);
  Filter& filter = o->filter();
  const auto steps = [&](int count) {
    for (int k = 0; k < count; ++k) {
      ASSERT_EQ(filter.step(2e-4, {}, {}), Status::kOk);
      o->renew_reference();
    }
  };
  steps(1000);  // what references the way needs are there
  const int changes = filter.reframed();
  ASSERT_GE(changes, 2);
  ASSERT_EQ(o->start(), Status::kOk);
  steps(100);
  const Snapshot then = filter.snapshot();
  steps(900);
  const std::vector<double> x(filter.state().begin(), filter.state().end());
  Eigen::MatrixXd p, again;
  filter.covariance(p);
  EXPECT_GT(filter.reframed(), changes);
  filter.restore(then);
  steps(900);
  filter.covariance(again);
  const View q = o->mechanism().q(filter.state());
  for (size_t i = 0; i < q.size(); ++i) EXPECT_EQ(q[i], x[i]) << i;
  EXPECT_EQ((p - again).norm(), 0);
}

TEST(ReducedObserver, SmoothsAcrossAChange) {
  ReducedCase c(pushed(), 0);
  std::array<std::vector<double>, 2> first;
  for (const double limit : {0.0, 5e-4}) {
    const auto o = observer(*c.model, "dekf_exact", limit);
    Smoother smoother(o->filter());
    ASSERT_EQ(smoother.begin(), Status::kOk);
    const std::vector<int> which{3, 4, 5};
    for (int k = 0; k < 800; ++k) {
      // Readings of nothing: what matters is that both runs are told the same.
      const std::vector<double> y{1e-6, 1e-6, 1e-6};
      const bool read = k % 100 == 99;
      ASSERT_EQ(o->filter().step(2e-4, read ? std::span<const int>(which) : std::span<const int>(),
                                 read ? View(y) : View()),
                Status::kOk);
      ASSERT_EQ(smoother.record(), Status::kOk);
      o->renew_reference();
    }
    Smoothed out;
    ASSERT_EQ(smoother.smooth(out), Status::kOk);
    if (limit > 0) {
      EXPECT_GE(o->filter().reframed(), 1);
    }
    first[limit > 0 ? 1 : 0] = out.x[400];
  }
  // Joints and masters half way: alike but for what the modes left out do.
  for (size_t i = 0; i < static_cast<size_t>(c.model->reduction.first_mode); ++i)
    EXPECT_NEAR(first[1][i], first[0][i], 2e-3) << i;
}

}  // namespace
}  // namespace panto
