// Chains of ANCF elements against closed forms, the elastica and Timoshenko's beam.
#include <gtest/gtest.h>

#include "panto/elements/ancf_cable.hpp"
#include "panto/elements/ancf_shear.hpp"
#include "panto/elements/test/support.hpp"

namespace panto {
namespace {

using test::Chain;
using test::kPi;
using test::order;

constexpr double kLength = 2.0, kModulus = 2.07e11;

struct Tip {
  double ux, uy;
};

// Extensible elastica under the dead tip force (0, f): θ' from the moment, M' = −r' × f, shooting on the moment at the root. Unstretched: M = EI θ',
// N = EA (λ − 1); stretched: M = EI θ'/λ², N = EA (λ − 1) − EI θ'²/λ³. With GA > 0 the section also shears (Reissner): the force across it over GA.
Tip elastica(double ea, double ei, double f, CableCurvature kind, double ga = 0) {
  struct State {
    double x, y, angle, moment;
  };
  const auto rate = [&](const State& s) {
    const double along = f * std::sin(s.angle), across = f * std::cos(s.angle);
    const bool unstretched = kind == CableCurvature::kPerUnstretchedLength;
    const double lambda =
        unstretched ? 1 + along / ea : (ea + along) / (ea - s.moment * s.moment / ei);
    const double gamma = ga > 0 ? across / ga : 0;
    const double dx = lambda * std::cos(s.angle) - gamma * std::sin(s.angle),
                 dy = lambda * std::sin(s.angle) + gamma * std::cos(s.angle);
    return State{dx, dy, s.moment / ei * (unstretched ? 1 : lambda * lambda), -dx * f};
  };
  const auto run = [&](double moment) {
    State s{0, 0, 0, moment};
    const int steps = 2000;
    const double h = kLength / steps;
    const auto step = [](const State& a, double k, const State& b) {
      return State{a.x + k * b.x, a.y + k * b.y, a.angle + k * b.angle, a.moment + k * b.moment};
    };
    for (int i = 0; i < steps; ++i) {
      const State k1 = rate(s), k2 = rate(step(s, h / 2, k1)), k3 = rate(step(s, h / 2, k2)),
                  k4 = rate(step(s, h, k3));
      s = step(step(step(step(s, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
    }
    return s;
  };
  const double moment =
      test::bisect([&](double m) { return run(m).moment; }, 0.3 * f * kLength, f * kLength);
  const State end = run(moment);
  return {end.x - kLength, end.y};
}

// Static equilibrium of a clamped chain under a dead force on the last position, by Newton's iteration in load steps.
template <class Element, class Vector, int nodal>
Eigen::VectorXd equilibrium(const Element& element, const Vector& straight_first, int n,
                            const std::vector<int>& clamp, double fx, double fy) {
  const Chain c{n, nodal};
  Eigen::VectorXd e(c.size());
  for (int i = 0; i <= n; ++i) {
    e.segment<nodal>(nodal * i) = straight_first.template head<nodal>();
    e[nodal * i] = i * element.L;
  }
  std::vector<int> keep;
  for (int i = 0; i < c.size(); ++i)
    if (std::find(clamp.begin(), clamp.end(), i) == clamp.end()) keep.push_back(i);
  const int steps = 10;
  for (int load = 1; load <= steps; ++load)
    for (int iteration = 0; iteration < 40; ++iteration) {
      Eigen::VectorXd r = Eigen::VectorXd::Zero(c.size());
      Eigen::MatrixXd k = Eigen::MatrixXd::Zero(c.size(), c.size());
      for (int i = 0; i < n; ++i) {
        const Vector part = e.segment<2 * nodal>(nodal * i);
        r.segment<2 * nodal>(nodal * i) += elastic_force(element, part);
        k.block<2 * nodal, 2 * nodal>(nodal * i, nodal * i) += elastic_tangent(element, part);
      }
      r[nodal * n] -= fx * load / steps;
      r[nodal * n + 1] -= fy * load / steps;
      const Eigen::VectorXd change =
          Eigen::MatrixXd(k(keep, keep)).ldlt().solve(Eigen::VectorXd(r(keep)));
      for (size_t i = 0; i < keep.size(); ++i) e[keep[i]] -= change[static_cast<int>(i)];
      if (change.norm() < 1e-12) break;
      EXPECT_LT(iteration, 39) << "Newton's iteration at load " << load;
    }
  return e;
}

Tip cable_tip(int n, double height, CableCurvature kind) {
  const auto s = rectangle_section(0.1, height);
  const double ei = kModulus * s.second_moment;
  const auto element = make_ancf_cable(kLength / n, kModulus * s.area, ei, 7850 * s.area, kind);
  const auto e = equilibrium<AncfCableElement<double>, AncfCableVector<double>, 4>(
      element, straight_ancf_cable(Vec2<double>{}, Vec2<double>{1, 0}, element.L), n, {0, 1, 3}, 0,
      -3 * ei / (kLength * kLength));
  return {e[4 * n] - kLength, e[4 * n + 1]};
}
Tip shear_tip(int n, double height, AncfLaw law, double nu) {
  const auto s = rectangle_section(0.1, height);
  const auto element = make_ancf_shear(kLength / n, {kModulus, nu, 7850.0}, s, law);
  const auto e = equilibrium<AncfShearElement<double>, AncfShearVector<double>, 6>(
      element, straight_ancf_shear(Vec2<double>{}, Vec2<double>{1, 0}, element.L), n, {0, 1, 4, 5},
      0, -3 * kModulus * s.second_moment / (kLength * kLength));
  return {e[6 * n] - kLength, e[6 * n + 1]};
}

TEST(AncfReference, CableCantileverConvergesToTheElastica) {
  const auto s = rectangle_section(0.1, 0.1);
  const double ea = kModulus * s.area, ei = kModulus * s.second_moment;
  for (CableCurvature kind :
       {CableCurvature::kPerUnstretchedLength, CableCurvature::kPerStretchedLength}) {
    const Tip exact = elastica(ea, ei, -3 * ei / (kLength * kLength), kind);
    if (kind == CableCurvature::kPerUnstretchedLength) {
      // 256 elements of Exudyn's cable (its example of this cantilever), nine digits.
      EXPECT_NEAR(exact.ux, -0.508537304, 1e-9);
      EXPECT_NEAR(exact.uy, -1.207239855, 1e-9);
    }
    const auto error = [&](int n) {
      const Tip t = cable_tip(n, 0.1, kind);
      return std::hypot(t.ux - exact.ux, t.uy - exact.uy);
    };
    const double e8 = error(8), e16 = error(16), e32 = error(32);
    // Order 4 of the cubic; on coarse meshes order 6 of the axial strain that bending leaves, weighed by EA/EI.
    EXPECT_GT(order(e8, e16), 4);
    EXPECT_GT(order(e16, e32), 4);
    EXPECT_LT(order(e16, e32), order(e8, e16));
    EXPECT_LT(e8, 6e-5);
    EXPECT_LT(e32, 5e-8);
  }
}

TEST(AncfReference, CableBentToAFullCircleByATipMoment) {
  // M = 2π EI/L closes the circle; the torque acts through the gradient of the tangent's angle, which is why the tip's tangent enters the tangent matrix.
  const auto error = [](int n) {
    const double length = 1, ea = 1e3, ei = 1;
    const auto element = make_ancf_cable(length / n, ea, ei, 1.0);
    Eigen::VectorXd e(4 * n + 4);
    for (int i = 0; i <= n; ++i) e.segment<4>(4 * i) << i * element.L, 0, 1, 0;
    const std::vector<int> clamp{0, 1, 3};
    const int steps = 20;
    for (int load = 1; load <= steps; ++load)
      for (int iteration = 0; iteration < 30; ++iteration) {
        const double moment = 2 * kPi * ei / length * load / steps;
        Eigen::VectorXd r = Eigen::VectorXd::Zero(e.size());
        Eigen::MatrixXd k = Eigen::MatrixXd::Zero(e.size(), e.size());
        for (int i = 0; i < n; ++i) {
          const AncfCableVector<double> part = e.segment<8>(4 * i);
          r.segment<8>(4 * i) += elastic_force(element, part);
          k.block<8, 8>(4 * i, 4 * i) += elastic_tangent(element, part);
        }
        const AncfCableVector<double> last = e.tail<8>();
        r.tail<8>() -= moment * axis_angle(element, last, 1.0).gradient;
        // Derivative of the gradient (−y, x)/|r′|² by r′.
        const double x = last[6], y = last[7], s = x * x + y * y;
        Eigen::Matrix2d turn;
        turn << 2 * x * y, y * y - x * x, y * y - x * x, -2 * x * y;
        k.bottomRightCorner<2, 2>() -= moment / (s * s) * turn;
        for (int c : clamp) {
          r[c] = 0;
          k.row(c).setZero();
          k(c, c) = 1;
        }
        const Eigen::VectorXd change = k.lu().solve(r);
        e -= change;
        if (change.norm() < 1e-11) break;
      }
    return std::hypot(e[4 * n], e[4 * n + 1]);
  };
  const double e16 = error(16), e32 = error(32);
  EXPECT_GT(order(e16, e32), 3.9);
  EXPECT_LT(e32, 2e-4);
}

Tip difference(const Tip& a, const Tip& b) { return {a.ux - b.ux, a.uy - b.uy}; }
double size(const Tip& a) { return std::hypot(a.ux, a.uy); }
// From n and 2n elements, free of the error of order 2.
Tip extrapolated(const Tip& coarse, const Tip& fine) {
  return {fine.ux + (fine.ux - coarse.ux) / 3, fine.uy + (fine.uy - coarse.uy) / 3};
}
Tip reissner(double height, double nu, double stiffer = 1) {
  const auto s = rectangle_section(0.1, height);
  const double ea = kModulus * s.area, ei = kModulus * s.second_moment;
  return elastica(ea, stiffer * ei, -3 * ei / (kLength * kLength),
                  CableCurvature::kPerUnstretchedLength, 5.0 / 6 * ea / (2 * (1 + nu)));
}

TEST(AncfReference, ShearCantileverConvergesAtOrderTwoToReissnersBeamUpToTheThickness) {
  const double nu = 0.3;
  double gap[2];
  for (int i = 0; i < 2; ++i) {
    const double height = i == 0 ? 0.1 : 0.05;
    const Tip t16 = shear_tip(16, height, AncfLaw::kSplit, nu),
              t32 = shear_tip(32, height, AncfLaw::kSplit, nu),
              t64 = shear_tip(64, height, AncfLaw::kSplit, nu);
    // One section gradient per element is a constant curvature: order 2.
    EXPECT_NEAR(order(size(difference(t16, t32)), size(difference(t32, t64))), 2, 0.1);
    gap[i] = size(difference(extrapolated(t32, t64), reissner(height, nu)));
    EXPECT_LT(gap[i], 1.5e-3);
  }
  // Green–Lagrange strain is not proportional to the stretch: what is left is the square of the strain at the surface, so of the thickness.
  EXPECT_NEAR(order(gap[0], gap[1]), 2, 0.1);
}

TEST(AncfReference, ShearCantileverUnderASmallLoadMissesAKnownPartOfBending) {
  // v = (F L³/3EI)(1 − 1/4N²) + F L/κGA: piecewise constant curvature, exact shear.
  const double nu = 0.3;
  const auto s = rectangle_section(0.1, 0.2);
  const double bending = std::pow(kLength, 3) / (3 * kModulus * s.second_moment),
               sheared = kLength / (5.0 / 6 * kModulus / (2 * (1 + nu)) * s.area);
  for (int n : {1, 2, 5}) {
    const auto element = make_ancf_shear(kLength / n, {kModulus, nu, 7850.0}, s);
    const std::vector<int> clamp{0, 1, 4, 5};
    const Eigen::MatrixXd k = Chain{n, 6}.assemble<AncfShearMatrix<double>>({elastic_tangent(
        element, straight_ancf_shear(Vec2<double>{}, Vec2<double>{1, 0}, element.L))});
    Eigen::VectorXd f = Eigen::VectorXd::Zero(6 * n + 6);
    f[6 * n + 1] = 1;
    const Eigen::VectorXd u = test::free_part(k, clamp).ldlt().solve(test::free_part(f, clamp));
    EXPECT_NEAR(u[6 * n + 1 - 4] / (bending * (1 - 0.25 / (n * n)) + sheared), 1, 1e-9) << n;
  }
}

TEST(AncfReference, PlainShearElementLocksByThicknessAndByPoissonsRatio) {
  // Thickness: a thin beam of eight elements, no Poisson's ratio.
  const Tip thin = reissner(0.025, 0);
  EXPECT_GT(size(difference(shear_tip(8, 0.025, AncfLaw::kPlaneStrain, 0), thin)), 0.1);
  EXPECT_LT(size(difference(shear_tip(8, 0.025, AncfLaw::kSplit, 0), thin)), 0.005);
  // Poisson: converged, the plain element is a beam with the bending stiffness EI (1 − ν)/((1 + ν)(1 − 2ν)).
  const double nu = 0.3, factor = (1 - nu) / ((1 + nu) * (1 - 2 * nu));
  const Tip plain = shear_tip(32, 0.1, AncfLaw::kPlaneStrain, nu);
  EXPECT_GT(size(difference(plain, reissner(0.1, nu))), 0.2);
  EXPECT_LT(size(difference(plain, reissner(0.1, nu, factor))), 0.003);
}

// Squared frequencies about the straight shape.
template <class Element, class Vector, int nodal>
Eigen::VectorXd straight_frequencies(const Element& element, const Vector& straight, int n,
                                     const std::vector<int>& fixed) {
  const Chain c{n, nodal};
  using M = Eigen::Matrix<double, 2 * nodal, 2 * nodal>;
  return test::squared_frequencies(c.assemble<M>({elastic_tangent(element, straight)}),
                                   c.assemble<M>({mass_matrix(element)}), fixed);
}

TEST(AncfReference, CablePinnedPinnedFrequenciesConvergeAtOrderFour) {
  const double ei = 3, mu = 2;
  const auto frequency = [&](int n, int mode) {
    const auto element = make_ancf_cable(kLength / n, 1e5, ei, mu);
    return std::sqrt(straight_frequencies<AncfCableElement<double>, AncfCableVector<double>, 4>(
        element, straight_ancf_cable(Vec2<double>{}, Vec2<double>{1, 0}, element.L), n,
        {0, 1, 4 * n + 1})[mode]);
  };
  for (int mode : {0, 1}) {
    const double exact = std::pow((mode + 1) * kPi / kLength, 2) * std::sqrt(ei / mu);
    EXPECT_NEAR(order(frequency(8, mode) / exact - 1, frequency(16, mode) / exact - 1), 4, 0.1);
  }
}

TEST(AncfReference, ShearPinnedPinnedFrequenciesConvergeAtOrderTwoToTimoshenko) {
  const double nu = 0.3, rho = 7850;
  const auto s = rectangle_section(0.1, 0.2);
  const double ei = kModulus * s.second_moment, ga = 5.0 / 6 * kModulus / (2 * (1 + nu)) * s.area,
               ra = rho * s.area, ri = rho * s.second_moment;
  const auto frequency = [&](int n, int mode) {
    const auto element = make_ancf_shear(kLength / n, {kModulus, nu, rho}, s);
    return std::sqrt(straight_frequencies<AncfShearElement<double>, AncfShearVector<double>, 6>(
        element, straight_ancf_shear(Vec2<double>{}, Vec2<double>{1, 0}, element.L), n,
        {0, 1, 6 * n + 1})[mode]);
  };
  const double k = kPi / kLength;
  // (GA k² − ρA ω²)(EI k² + GA − ρI ω²) = (GA k)²
  const double a = ra * ri, b = ga * k * k * ri + ra * (ei * k * k + ga),
               c = ga * k * k * ei * k * k;
  const double exact = std::sqrt(2 * c / (b + std::sqrt(b * b - 4 * a * c)));
  EXPECT_LT(exact, 0.99 * k * k * std::sqrt(ei / ra));  // shear and rotary inertia are felt
  const double coarse = frequency(16, 0) / exact - 1, fine = frequency(32, 0) / exact - 1;
  EXPECT_NEAR(order(coarse, fine), 2, 0.05);
  EXPECT_LT(fine, 1e-3);
}

TEST(AncfReference, PlainShearElementHasTheFirstFrequencyOfTheFlexibleArm) {
  // Drücker's one-link arm (Tab. 6.3): E = 12 MPa, 0.09 × 0.09 m, ρ = 910 kg/m³, L = 1 m, ν = 0; slender beam: 10.49 rad/s.
  const auto element = make_ancf_shear(1.0 / 10, {1.2e7, 0.0, 910.0}, rectangle_section(0.09, 0.09),
                                       AncfLaw::kPlaneStrain);
  const auto w2 = straight_frequencies<AncfShearElement<double>, AncfShearVector<double>, 6>(
      element, straight_ancf_shear(Vec2<double>{}, Vec2<double>{1, 0}, element.L), 10,
      {0, 1, 4, 5});
  EXPECT_NEAR(std::sqrt(w2[0]), 10.49, 0.1);  // shear lowers, ten elements raise by less than 1 %
}

}  // namespace
}  // namespace panto
