// Chains of Euler–Bernoulli elements against closed forms of the continuous beam.
#include <gtest/gtest.h>

#include "panto/elements/beam.hpp"
#include "panto/elements/test/support.hpp"

namespace panto {
namespace {

using test::bisect;
using test::Chain;
using test::kPi;
using test::order;

constexpr double kLength = 2.0;

struct Assembled {
  Eigen::MatrixXd k, m;
};
// Unit EI and μ: ω = (β/L)².
BeamElement<double> piece(int n) { return {kLength / n, 1e3, 1.0, 1.0, 0.0}; }
Assembled chain(int n) {
  const Chain c{n, 3};
  const auto e = piece(n);
  return {c.assemble<BeamMatrix<double>>({stiffness_matrix(e)}),
          c.assemble<BeamMatrix<double>>({mass_matrix(e)})};
}
// All x coordinates: only bending is looked at.
std::vector<int> axial(int n) {
  std::vector<int> fixed;
  for (int i = 0; i <= n; ++i) fixed.push_back(3 * i);
  return fixed;
}
// Errors with 8 and 16 elements tell order 4. The error is near (β h)⁴/1440 with β up to 3π/L; the next order shows as up to 0.06 in the order.
void expect_order_four(const std::function<double(int)>& frequency, double exact) {
  const double coarse = frequency(8) / exact - 1, fine = frequency(16) / exact - 1;
  EXPECT_GT(fine, 0);  // a displacement method approaches from above
  EXPECT_NEAR(order(coarse, fine), 4, 0.1);
  EXPECT_LT(fine, 1e-4);
  testing::Test::RecordProperty("order", std::to_string(order(coarse, fine)));
}

TEST(BeamReference, ClampedFreeFrequenciesConvergeAtOrderFour) {
  const auto f = [](double b) { return std::cos(b) * std::cosh(b) + 1; };
  const double betas[] = {bisect(f, 1.5, 2.5), bisect(f, 4, 5.5)};
  for (int mode = 0; mode < 2; ++mode)
    expect_order_four(
        [&](int n) {
          std::vector<int> fixed = axial(n);
          fixed.insert(fixed.end(), {1, 2});
          const auto a = chain(n);
          return std::sqrt(test::squared_frequencies(a.k, a.m, fixed)[mode]);
        },
        std::pow(betas[mode] / kLength, 2));
}

TEST(BeamReference, PinnedPinnedFrequenciesConvergeAtOrderFour) {
  for (int mode = 0; mode < 3; ++mode)
    expect_order_four(
        [&](int n) {
          std::vector<int> fixed = axial(n);
          fixed.insert(fixed.end(), {1, 3 * n + 1});
          const auto a = chain(n);
          return std::sqrt(test::squared_frequencies(a.k, a.m, fixed)[mode]);
        },
        std::pow((mode + 1) * kPi / kLength, 2));
}

TEST(BeamReference, FreeFreeFrequenciesConvergeAtOrderFourAboveTwoRigidModes) {
  const double beta = bisect([](double b) { return std::cos(b) * std::cosh(b) - 1; }, 4, 5.5);
  expect_order_four(
      [&](int n) {
        const auto a = chain(n);
        const Eigen::VectorXd w2 = test::squared_frequencies(a.k, a.m, axial(n));
        EXPECT_LT(std::abs(w2[0]) + std::abs(w2[1]), 1e-12 * w2[w2.size() - 1]);
        return std::sqrt(w2[2]);
      },
      std::pow(beta / kLength, 2));
}

TEST(BeamReference, FrequenciesWithATipMassConvergeAtOrderFour) {
  const double ratio = 0.7;  // tip mass over beam mass
  const double beta = bisect(
      [&](double b) {
        return 1 + std::cos(b) * std::cosh(b) +
               ratio * b * (std::cos(b) * std::sinh(b) - std::sin(b) * std::cosh(b));
      },
      0.5, 2.5);
  expect_order_four(
      [&](int n) {
        std::vector<int> fixed = axial(n);
        fixed.insert(fixed.end(), {1, 2});
        auto a = chain(n);
        a.m(3 * n + 1, 3 * n + 1) += ratio * kLength;
        return std::sqrt(test::squared_frequencies(a.k, a.m, fixed)[0]);
      },
      std::pow(beta / kLength, 2));
}

TEST(BeamReference, AxialFrequenciesOfABarConvergeAtOrderTwo) {
  const auto frequency = [](int n) {
    const auto a = chain(n);
    std::vector<int> fixed{0};
    for (int i = 0; i <= n; ++i) fixed.insert(fixed.end(), {3 * i + 1, 3 * i + 2});
    return std::sqrt(test::squared_frequencies(a.k, a.m, fixed)[0]);
  };
  const double exact = kPi / (2 * kLength) * std::sqrt(1e3);
  EXPECT_NEAR(order(frequency(8) / exact - 1, frequency(16) / exact - 1), 2, 0.02);
}

TEST(BeamReference, RotaryInertiaGivesRayleighsFrequencies) {
  // Pinned ends: ω² = EI k⁴ / (μ + ρI k²).
  const double rho_i = 0.02, k = kPi / kLength;
  const double exact = k * k / std::sqrt(1 + rho_i * k * k);
  expect_order_four(
      [&](int n) {
        std::vector<int> fixed = axial(n);
        fixed.insert(fixed.end(), {1, 3 * n + 1});
        auto e = piece(n);
        e.rhoI = rho_i;
        const auto a = chain(n);
        const Eigen::MatrixXd m = Chain{n, 3}.assemble<BeamMatrix<double>>({mass_matrix(e)});
        return std::sqrt(test::squared_frequencies(a.k, m, fixed)[0]);
      },
      exact);
}

TEST(BeamReference, CantileverStaticsAreExactAtTheNodes) {
  // Tip force and tip moment; distributed load through the consistent load.
  for (int n : {1, 3}) {
    const auto a = chain(n);
    const std::vector<int> clamp{0, 1, 2};
    const auto solve = [&](const Eigen::VectorXd& f) {
      return Eigen::VectorXd(test::free_part(a.k, clamp).ldlt().solve(test::free_part(f, clamp)));
    };
    Eigen::VectorXd f = Eigen::VectorXd::Zero(3 * n + 3);
    f[3 * n + 1] = 5;
    EXPECT_NEAR(solve(f)[3 * n - 2], 5 * std::pow(kLength, 3) / 3, 1e-11);
    f.setZero();
    f[3 * n + 2] = 5;
    EXPECT_NEAR(solve(f)[3 * n - 2], 5 * std::pow(kLength, 2) / 2, 1e-11);
    f.setZero();
    for (int i = 0; i < n; ++i)
      f.segment<6>(3 * i) += gravity_load(piece(n), Vec2<double>{0, -9.81});
    EXPECT_NEAR(solve(f)[3 * n - 2], -9.81 * std::pow(kLength, 4) / 8, 1e-11);
  }
}

TEST(BeamReference, BucklingLoadOfPinnedColumnConvergesAtOrderFour) {
  const auto load = [](int n) {
    const Eigen::MatrixXd g =
        Chain{n, 3}.assemble<BeamMatrix<double>>({geometric_stiffness(piece(n), 1.0, 1.0, 1.0)});
    std::vector<int> fixed = axial(n);
    fixed.insert(fixed.end(), {1, 3 * n + 1});
    return test::squared_frequencies(chain(n).k, g, fixed)[0];
  };
  expect_order_four(load, std::pow(kPi / kLength, 2));
}

// Flapping of a cantilever that turns about its root, unit EI, μ and length: y⁗ − γ²/2 ((1 − x²) y′)′ = λ² y with two starting values, by its power series.
double flap_condition(double gamma, double lambda) {
  const auto ends = [&](int start) {
    std::vector<double> c(120, 0.0);
    c[static_cast<size_t>(start)] = 1;
    // Coefficient of x^k: (k+4)(k+3)(k+2)(k+1) c[k+4] = γ²/2 ((k+2)(k+1) c[k+2] − k(k+1) c[k]) + λ² c[k].
    for (size_t k = 0; k + 4 < c.size(); ++k) {
      const double j = static_cast<double>(k);
      c[k + 4] = (gamma * gamma / 2 * ((j + 2) * (j + 1) * c[k + 2] - j * (j + 1) * c[k]) +
                  lambda * lambda * c[k]) /
                 ((j + 4) * (j + 3) * (j + 2) * (j + 1));
    }
    double second = 0, third = 0;
    for (size_t k = 2; k < c.size(); ++k) {
      const double j = static_cast<double>(k);
      second += j * (j - 1) * c[k];
      third += j * (j - 1) * (j - 2) * c[k];
    }
    return std::pair(second, third);
  };
  const auto [a2, a3] = ends(2);
  const auto [b2, b3] = ends(3);
  return a2 * b3 - a3 * b2;
}

TEST(BeamReference, RotatingCantileverFlapsAndLagsAsThePowerSeries) {
  for (double gamma : {0.0, 1.0, 3.0, 6.0}) {
    const double flap = bisect([&](double w) { return flap_condition(gamma, w); }, 3.4, 9);
    const auto matrices = [&](int n) {
      const Chain c{n, 3};
      std::vector<BeamMatrix<double>> k, m;
      const BeamElement<double> e{1.0 / n, 1e6, 1.0, 1.0, 0.0};
      const auto tension = [&](double x) { return 0.5 * gamma * gamma * (1 - x * x); };
      for (int i = 0; i < n; ++i) {
        const double x = static_cast<double>(i) / n;
        k.push_back(stiffness_matrix(e) +
                    geometric_stiffness(e, tension(x), tension(x + 0.5 / n), tension(x + 1.0 / n)));
        m.push_back(mass_matrix(e));
      }
      return Assembled{c.assemble(k), c.assemble(m)};
    };
    const auto fixed = [](int n) {
      std::vector<int> f = axial(n);
      f.insert(f.end(), {1, 2});
      return f;
    };
    expect_order_four(
        [&](int n) {
          const auto a = matrices(n);
          return std::sqrt(test::squared_frequencies(a.k, a.m, fixed(n))[0]);
        },
        flap);
    const auto a = matrices(16);
    const Eigen::MatrixXd lag = a.k - gamma * gamma * a.m;
    const double w2 = test::squared_frequencies(lag, a.m, fixed(16))[0];
    EXPECT_NEAR(std::sqrt(w2), std::sqrt(flap * flap - gamma * gamma), 1e-5);
    if (gamma == 1.0) {
      EXPECT_NEAR(flap, 3.6816, 5e-5);  // Wright et al. 1982
    }
  }
}

// Lag frequency of a chain on a turning link, from the moving element itself: steady stretch, then eigenvalues of the linearised motion in link axes.
double lag_on_a_link(int n, double omega, double ea) {
  const BeamElement<double> element{1.0 / n, ea, 1.0, 1.0, 0.0};
  const auto m = beam_matrices(element);
  const auto force = [&]<class T>(int i, const BeamVector<T>& d, const BeamVector<T>& d_dot) {
    const double x = i * element.L, w2 = omega * omega;
    BeamVector<double> r_ddot;
    r_ddot << -w2 * x, 0, 0, -w2 * (x + element.L), 0, 0;
    const BeamVector<T> jd = quarter_turn(d), jjd = quarter_turn(jd);
    const BeamMotion<T> motion{Rot2<T>{},
                               T(omega),
                               T(0.0),
                               r_ddot.cast<T>(),
                               d,
                               BeamVector<T>(d_dot + T(omega) * jd),
                               BeamVector<T>(T(2 * omega) * quarter_turn(d_dot) + T(w2) * jjd)};
    return BeamVector<T>(
        inertia_force(m, motion, LinkTerms::kComplete).nodal +
        elastic_force(m, motion.R, d, LinkTerms::kComplete, BeamStrain::kStiffening).nodal);
  };
  using test::Complex;
  const int size = 3 * n + 3;
  Eigen::VectorXd d = Eigen::VectorXd::Zero(size);
  const std::vector<int> clamp{0, 1, 2};
  Eigen::MatrixXd k, c;
  for (int iteration = 0; iteration < 8; ++iteration) {
    Eigen::VectorXd r = Eigen::VectorXd::Zero(size);
    k = c = Eigen::MatrixXd::Zero(size, size);
    const BeamVector<Complex> still = BeamVector<Complex>::Zero();
    for (int i = 0; i < n; ++i) {
      const BeamVector<double> part = d.segment<6>(3 * i), rest = BeamVector<double>::Zero();
      r.segment<6>(3 * i) += force(i, part, rest);
      k.block<6, 6>(3 * i, 3 * i) += test::complex_step_jacobian<6>(
          part, [&](const BeamVector<Complex>& z) { return force(i, z, still); });
      c.block<6, 6>(3 * i, 3 * i) +=
          test::complex_step_jacobian<6>(rest, [&](const BeamVector<Complex>& z) {
            return force(i, BeamVector<Complex>(part.cast<Complex>()), z);
          });
    }
    d.tail(3 * n) -= test::free_part(k, clamp).lu().solve(test::free_part(r, clamp));
  }
  const Eigen::MatrixXd mass =
      test::free_part(Chain{n, 3}.assemble<BeamMatrix<double>>({m.M}), clamp);
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(6 * n, 6 * n);
  a.topRightCorner(3 * n, 3 * n).setIdentity();
  a.bottomLeftCorner(3 * n, 3 * n) = -mass.ldlt().solve(test::free_part(k, clamp));
  a.bottomRightCorner(3 * n, 3 * n) = -mass.ldlt().solve(test::free_part(c, clamp));
  double lowest = 1e300;
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(a, false);
  for (const test::Complex& s : solver.eigenvalues())
    if (s.imag() > 0) lowest = std::min(lowest, s.imag());
  return lowest;
}

TEST(BeamReference, AMovingElementThatStiffensLagsAsThePowerSeries) {
  // Without stiffening the motion would be unstable here: γ is above the first frequency 3.516.
  const double gamma = 6;
  const double flap = bisect([&](double w) { return flap_condition(gamma, w); }, 3.4, 9);
  const double exact = std::sqrt(flap * flap - gamma * gamma);
  // EA is large: the stretch of the beam, γ²/EA, moves the frequency by less than 1e-5.
  const double coarse = lag_on_a_link(6, gamma, 1e8) - exact,
               fine = lag_on_a_link(12, gamma, 1e8) - exact;
  // The tension is constant in an element: order 2.
  EXPECT_NEAR(order(coarse, fine), 2, 0.1);
  EXPECT_LT(std::abs(fine), 0.01);
}

}  // namespace
}  // namespace panto
