// A reduced flexible mechanism is the full one held to u = H(q) (masters, amplitudes): its equations are those of the full one, projected by the velocity map.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "tests/flexible/reduced_case.hpp"

namespace panto {
namespace {

using test::ReducedCase;

class ReducedMechanism : public testing::TestWithParam<const char*> {};

TEST_P(ReducedMechanism, HasTheMassMatrixOfTheFullOneThroughTheVelocityMap) {
  ReducedCase c(GetParam());
  for (unsigned seed = 1; seed < 4; ++seed) {
    const test::ReducedPoint p = c.point(seed);
    const Eigen::MatrixXd v = c.velocity_map(p.q);
    Eigen::MatrixXd full, reduced;
    c.full_ws->mass_matrix(test::view(c.full_q(p.q)), full);
    c.ws->mass_matrix(test::view(p.q), reduced);
    const Eigen::MatrixXd expected = v.transpose() * full * v;
    // Round-off; the velocity map is exact, column by column.
    EXPECT_LT((reduced - expected).norm(), 1e-11 * expected.norm());
  }
}

TEST_P(ReducedMechanism, HasTheResidualOfTheFullOneProjectedByTheTransposedVelocityMap) {
  ReducedCase c(GetParam());
  for (unsigned seed = 1; seed < 4; ++seed) {
    const test::ReducedPoint p = c.point(seed);
    const Eigen::MatrixXd v = c.velocity_map(p.q);
    const Eigen::VectorXd q = c.full_q(p.q), speed = v * p.v;
    // Acceleration of the full coordinates: V a + V̇ v, the latter by central differences along the motion.
    const double h = 1e-5;
    const Eigen::MatrixXd ahead = c.velocity_map(p.q + h * p.v + 0.5 * h * h * p.a),
                          behind = c.velocity_map(p.q - h * p.v + 0.5 * h * h * p.a);
    const Eigen::VectorXd a = v * p.a + (ahead - behind) / (2 * h) * p.v;
    Residual full, reduced;
    Point x;
    x.q = test::view(q);
    x.v = test::view(speed);
    x.a = test::view(a);
    c.full_ws->residual(x, true, full);
    x.q = test::view(p.q);
    x.v = test::view(p.v);
    x.a = test::view(p.a);
    c.ws->residual(x, true, reduced);
    const Eigen::VectorXd expected = v.transpose() * full.r;
    // The difference quotient errs by h² of the third derivative and by round-off over h.
    EXPECT_LT((reduced.r - expected).norm(), 2e-7 * expected.norm()) << expected.transpose() << "\n"
                                                                     << reduced.r.transpose();
    // Sensors and coordinates that both have: angles, strains, masters. Strains are differences of large terms.
    for (size_t i = 0; i < c.model->outputs.size(); ++i) {
      const int other = find_output(*c.full, c.model->outputs[i].name);
      if (other < 0) continue;
      const double y = full.y(other);
      EXPECT_NEAR(reduced.y(static_cast<Eigen::Index>(i)), y, 1e-8 * (std::abs(y) + 1e-4))
          << c.model->outputs[i].name;
    }
  }
}

TEST_P(ReducedMechanism, HasTheEnergyOfTheFullOne) {
  ReducedCase c(GetParam());
  const test::ReducedPoint p = c.point(5);
  const Eigen::VectorXd q = c.full_q(p.q), speed = c.velocity_map(p.q) * p.v;
  const Energy full = c.full_ws->energy(test::view(q), test::view(speed)),
               reduced = c.ws->energy(test::view(p.q), test::view(p.v));
  EXPECT_NEAR(reduced.kinetic, full.kinetic, 1e-11 * full.kinetic);  // round-off
  EXPECT_NEAR(reduced.potential, full.potential,
              1e-9 * full.potential);  // stiff axial terms cancel
}

// Forward dynamics takes the links as floating frames (RER-9); the residual does not.
TEST_P(ReducedMechanism, AcceleratesSoThatNothingOfTheResidualIsLeft) {
  ReducedCase c(GetParam());
  for (unsigned seed = 1; seed < 4; ++seed) {
    test::ReducedPoint p = c.point(seed);
    const auto nv = static_cast<size_t>(c.model->nv);
    // The last one with modes that have been computed anew.
    double jump = 0;
    if (seed == 3) {
      ASSERT_TRUE(c.ws->renew_reduction(test::view(p.q), test::view(p.v), jump));
    }
    Eigen::VectorXd u = Eigen::VectorXd::LinSpaced(c.model->nu(), 1, 2), rate = 0 * u,
                    lambda(c.model->n_rows()),
                    added = Eigen::VectorXd::LinSpaced(c.model->nv, -1, 2);
    c.ws->choose_partition(0, test::view(p.q));
    ASSERT_EQ(c.ws->close_positions(0, test::view(p.q)), Status::kOk);
    ASSERT_EQ(c.ws->close_velocities(0, test::view(u), test::view(p.v)), Status::kOk);
    c.ws->set_added_forces(test::view(added));
    Residual at_rest, moving;
    Point x;
    x.q = test::view(std::as_const(p.q));
    x.v = test::view(std::as_const(p.v));
    x.u = test::view(std::as_const(u));
    x.u_rate = test::view(std::as_const(rate));
    const std::vector<double> zero(nv, 0.0);
    x.a = zero;
    c.ws->residual(x, false, at_rest);
    // Twice: with factors to make, and with those of the pose.
    for (int repeat = 0; repeat < 2; ++repeat) {
      ASSERT_EQ(
          c.ws->accelerations(0, test::view(p.v), test::view(u), test::view(rate), test::view(p.a)),
          Status::kOk);
      c.ws->multipliers(test::view(p.a), test::view(lambda));
      x.a = test::view(std::as_const(p.a));
      x.lambda = test::view(std::as_const(lambda));
      c.ws->residual(x, false, moving);
      // Round-off of the stiff elastic forces, and what the last digits of the coordinates do: the static slaves are found twice, in other axes.
      double last_digits = 0;
      for (const double share : {-1e-15, 1e-15, 2e-15}) {
        const Eigen::VectorXd beside = (1 + share) * p.q;
        Point there = x;
        there.q = test::view(beside);
        Residual other;
        c.ws->residual(there, false, other);
        last_digits = std::max(last_digits, (other.r - moving.r).norm());
      }
      c.ws->residual(x, false, moving);
      EXPECT_LT((moving.r - added).norm(), 1e-10 * at_rest.r.norm() + 5 * last_digits);
      EXPECT_LT(moving.phi_ddot.norm(), 1e-10 * (1 + p.a.norm()));
      x.lambda = {};
    }
    // The mass matrix that others ask for afterwards.
    Eigen::MatrixXd mass, reduced, r;
    c.ws->reduced_mass(reduced);
    c.ws->null_space(r);
    c.ws->mass_matrix(test::view(p.q), mass);
    EXPECT_LT((reduced - r.transpose() * mass * r).norm(), 1e-11 * reduced.norm());
  }
}

TEST_P(ReducedMechanism, DampingTakesThePowerOfTheFullOne) {
  ReducedCase c(GetParam());
  const test::ReducedPoint p = c.point(6);
  const Eigen::VectorXd q = c.full_q(p.q), speed = c.velocity_map(p.q) * p.v,
                        zero_full = Eigen::VectorXd::Zero(c.full->nv);
  double entering = 0, full = 0, reduced = 0;
  Point x;
  x.q = test::view(q);
  x.v = test::view(speed);
  x.a = test::view(zero_full);
  c.full_ws->power(x, entering, full);
  x.q = test::view(p.q);
  x.v = test::view(p.v);
  x.a = test::view(p.a);
  c.ws->power(x, entering, reduced);
  EXPECT_NEAR(reduced, full, 1e-9 * std::abs(full));  // stiff axial terms cancel
}

INSTANTIATE_TEST_SUITE_P(Cases, ReducedMechanism,
                         testing::Values("manipulator", "welded", "gravity", "branches"));

}  // namespace
}  // namespace panto
