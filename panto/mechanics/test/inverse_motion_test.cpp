#include "panto/mechanics/inverse_motion.hpp"

#include <gtest/gtest.h>

#include "panto/mechanics/test/four_bar.hpp"

namespace panto {
namespace {

using test::FourBar;
using test::ModelBuilder;

struct DrivenFourBar : FourBar {
  int torque;
  DrivenFourBar() {
    torque = actuator("torque", theta);
    initial("theta", theta, 0);
    guess(beta, 1.5);
    guess(gamma, 2.5);
  }
};

// theta = 0.4 + 1.5 t - t^3, from a pose away from the initial one.
PrescribedMotion smooth_motion(bool with_rates) {
  PrescribedMotion m;
  PrescribedCoordinate c;
  c.name = "theta";
  for (int i = 0; i <= 40; ++i) {
    const double t = 0.05 * i;
    m.t.push_back(t);
    c.value.push_back(0.4 + 1.5 * t - t * t * t);
    if (!with_rates) continue;
    c.rate.push_back(1.5 - 3 * t * t);
    c.acceleration.push_back(-6 * t);
  }
  m.coordinates = {c};
  return m;
}

TEST(InverseMotion, UnknownCoordinatesAndBadSamplesAreAllReported) {
  const DrivenFourBar b;
  const auto w = Workspace::create(b.model, nominal(b.model));
  PrescribedMotion m;
  m.t = {0, 0, 1};
  m.coordinates = {{"thetta", {0, 0, 0}, {}, {}}, {"gamma", {0, 0}, {}, {}}};
  const auto r = inverse_motion(*w, m, std::vector<int>{b.torque});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.diagnostics().text(),
            "error[E0633]: the times of the motion must increase: 0 s comes after 0 s\n"
            "error[E0631]: the motion prescribes \"thetta\", which is no joint coordinate; did you "
            "mean \"theta\"?\n"
            "error[E0633]: \"gamma\": one finite value per time is needed\n");
}

TEST(InverseMotion, ItsEffortsProduceTheMotion) {
  const DrivenFourBar b;
  const auto w = Workspace::create(b.model, nominal(b.model));
  const PrescribedMotion m = smooth_motion(true);
  const auto r = inverse_motion(*w, m, std::vector<int>{b.torque});
  ASSERT_TRUE(r.ok()) << r.diagnostics().text();
  EXPECT_TRUE(r.diagnostics().items().empty()) << r.diagnostics().text();
  for (size_t i = 0; i < m.t.size(); ++i) {
    std::vector<double> q, v;
    for (const auto& x : r->q) q.push_back(x[i]);
    for (const auto& x : r->v) v.push_back(x[i]);
    const std::vector<double> u{r->efforts[0][i]}, rate{0};
    double position = 0, velocity = 0;
    w->violation(m.t[i], q, v, u, position, velocity);
    EXPECT_LT(position, 1e-12);
    EXPECT_LT(velocity, 1e-11);
    Eigen::VectorXd a, lambda;
    ASSERT_TRUE(ok(w->forward_dynamics({m.t[i], q, v, {}, {}, u, rate}, a, lambda)));
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(a[k], r->a[static_cast<size_t>(k)][i], 1e-9 * (1 + std::abs(a[k])));
    EXPECT_NEAR(a[0], -6 * m.t[i], 1e-9);
  }
}

TEST(InverseMotion, SamplesAloneAreDifferentiated) {
  const DrivenFourBar b;
  const auto w = Workspace::create(b.model, nominal(b.model));
  const std::vector<int> inputs{b.torque};
  const auto exact = inverse_motion(*w, smooth_motion(true), inputs);
  const auto sampled = inverse_motion(*w, smooth_motion(false), inputs);
  ASSERT_TRUE(exact.ok() && sampled.ok());
  // A cubic is differentiated exactly; round-off of 1e-16 over h^2 = 2.5e-3, times inertias of some 10 kg m^2.
  for (size_t i = 0; i < exact->t.size(); ++i)
    EXPECT_NEAR(sampled->efforts[0][i], exact->efforts[0][i], 1e-9);
}

TEST(InverseMotion, ADependentCoordinateServesAsWell) {
  const DrivenFourBar b;
  const auto w = Workspace::create(b.model, nominal(b.model));
  const std::vector<int> inputs{b.torque};
  const auto by_theta = inverse_motion(*w, smooth_motion(true), inputs);
  ASSERT_TRUE(by_theta.ok());
  PrescribedMotion m;
  m.t = by_theta->t;
  m.coordinates = {{"gamma", by_theta->q[2], by_theta->v[2], by_theta->a[2]}};
  const auto by_gamma = inverse_motion(*w, m, inputs);
  ASSERT_TRUE(by_gamma.ok()) << by_gamma.diagnostics().text();
  for (size_t i = 0; i < m.t.size(); ++i)
    EXPECT_NEAR(by_gamma->efforts[0][i], by_theta->efforts[0][i],
                1e-6 * (1 + std::abs(by_theta->efforts[0][i])));
}

TEST(InverseMotion, AMotionThatLeavesFreedomIsRefused) {
  ModelBuilder b(SpaceKind::kPlanar);
  const int first = b.body("alpha", JointType::kRevolute, kGround, -1, -1, {b.bar(1, 1)});
  b.body("beta", JointType::kRevolute, first, b.frame(first, {1, 0}), -1, {b.bar(1, 1)});
  const int torque = b.actuator("torque", b.coordinate(0));
  const auto w = Workspace::create(b.model, nominal(b.model));
  const PrescribedMotion m{{0, 1, 2}, {{"alpha", {0, 0.1, 0.2}, {}, {}}}};
  const auto r = inverse_motion(*w, m, std::vector<int>{torque});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.diagnostics().items().at(0).id, 634);
}

TEST(InverseMotion, TheCallerMayEndItEarly) {
  const DrivenFourBar b;
  const auto w = Workspace::create(b.model, nominal(b.model));
  const PrescribedMotion m = smooth_motion(true);
  const std::vector<int> inputs{b.torque};
  const auto whole = inverse_motion(*w, m, inputs);
  const auto part = inverse_motion(*w, m, inputs, [](double done) { return done < 0.5; });
  ASSERT_TRUE(whole.ok() && part.ok());
  const size_t n = (m.t.size() + 1) / 2;
  ASSERT_EQ(part->t.size(), n);
  ASSERT_EQ(part->efforts[0].size(), n);
  ASSERT_EQ(part->q[2].size(), n);
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(part->efforts[0][i], whole->efforts[0][i]);
}

TEST(InverseMotion, LoopsThatCannotFollowAreReported) {
  const DrivenFourBar b;
  const auto w = Workspace::create(b.model, nominal(b.model));
  const PrescribedMotion m{{0, 1, 2}, {{"gamma", {2.55, 1.5, 0.3}, {}, {}}}};
  const auto r = inverse_motion(*w, m, std::vector<int>{b.torque});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.diagnostics().items().at(0).id, 635);
}

}  // namespace
}  // namespace panto
