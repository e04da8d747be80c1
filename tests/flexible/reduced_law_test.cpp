// A reduced flexible mechanism is the full one held to u = H(q) (masters, amplitudes): its equations are those of the full one, projected by the velocity map.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

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
