// Identities of the rankings: IMR's closed form against the fictitious force of its derivation, its sum rule, EBR's split of the energy.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "panto/reduction/test/cases.hpp"

namespace panto {
namespace {

struct Horn {
  LinearSystem system = *plate(test::horn_plate());
  std::vector<int> masters = *find_dofs(system, test::horn_masters());
  CraigBampton cb;
  explicit Horn(int modes = -1) {
    CraigBamptonOptions options;
    options.modes = modes;
    cb = *craig_bampton(system, masters, options);
  }
};

// Palomba (5.12) - (5.19), with ω_f in the ratio of (5.19): responses of interior coordinates to M u_i cos ω_f t, times their share in q_i.
Eigen::VectorXd by_excitation(const Horn& h, const FullModes& full, Eigen::Index i,
                              double detuning) {
  const double wi2 = full.omega2(i), wf2 = wi2 * std::pow(1 + detuning, 2);
  const Eigen::VectorXd u = full.U.col(i), u1 = u(h.cb.masters), u2 = u(h.cb.interior);
  const Eigen::MatrixXd m21(sub_matrix(h.system.M, h.cb.interior, h.cb.masters)),
      m22(sub_matrix(h.system.M, h.cb.interior, h.cb.interior));
  const Eigen::VectorXd m =
      (wi2 * m21 + wf2 * m22 * h.cb.B) / (wf2 * (wi2 - wf2)) * u1 + m22 / wf2 * u2;
  // Row i of Γ₂ = UᵀM {0; Φ}.
  const Eigen::VectorXd gamma = h.cb.Phi.transpose() * (m21 * u1 + m22 * u2);
  const Eigen::VectorXd eta =
      ((h.cb.Phi.transpose() * m).array() / (h.cb.omega2.array() / wf2 - 1)).matrix();
  return (gamma.array() * eta.array()).matrix() * (wi2 - wf2);  // relative to q̂ = 1/(ω_i² - ω_f²)
}

TEST(RankLaws, ImrsClosedFormIsTheResponseToTheFictitiousForce) {
  const Horn h;
  const FullModes full = *full_modes(h.system, {7, 13});
  const auto imr = rank_imr(h.system, h.cb, full);
  for (Eigen::Index i = 0; i < 2; ++i)
    for (const double detuning : {1e-2, 1e-4}) {
      const Eigen::VectorXd other = by_excitation(h, full, i, detuning);
      EXPECT_LT((imr.upsilon.row(i).transpose() - other).cwiseAbs().maxCoeff(), 1e-8)
          << i << ", detuned by " << detuning;
    }
}

TEST(RankLaws, ImrsTermsAreSharesOfStrainEnergyThatAddUpToOne) {
  const Horn h;
  const FullModes full = *full_modes(h.system, {4, 7, 13, 40});
  const auto imr = rank_imr(h.system, h.cb, full);
  for (Eigen::Index i = 0; i < 4; ++i) {
    EXPECT_NEAR(imr.statics(i) + imr.upsilon.row(i).sum(), 1, 1e-8);
    EXPECT_GT(imr.upsilon.row(i).minCoeff(), -1e-9);
    // (ω_ς²/ω_i²) (φᵀM₂₂w)²: strain energy of the interior coordinate by that of the mode.
    const Eigen::VectorXd eta = coordinates(h.system, h.cb, full.U.col(i)).bottomRows(h.cb.modes());
    const Eigen::VectorXd share =
        (h.cb.omega2.array() * eta.array().square() / full.omega2(i)).matrix();
    EXPECT_LT((imr.upsilon.row(i).transpose() - share).cwiseAbs().maxCoeff(), 1e-8);
  }
}

TEST(RankLaws, WhatModesThatWereNotComputedHoldIsKnown) {
  const Horn few(40), all;
  const FullModes full = *full_modes(all.system, {7, 13});
  const auto some = rank_imr(few.system, few.cb, full), every = rank_imr(all.system, all.cb, full);
  for (Eigen::Index i = 0; i < 2; ++i)
    EXPECT_NEAR(some.rest(i), every.upsilon.row(i).tail(all.cb.modes() - 40).sum(), 1e-8);
  const auto e = some.error(some.order);
  EXPECT_NEAR(e.back(), 0.5 * some.rest.sum(), 1e-14);
  EXPECT_TRUE(std::is_sorted(e.rbegin(), e.rend()));
}

TEST(RankLaws, WeightsTurnTheRankingTowardsAMode) {
  const Horn h;
  const FullModes full = *full_modes(h.system, {7, 13});
  const auto first = rank_imr(h.system, h.cb, full, {999, 1}),
             alone = rank_imr(h.system, h.cb, *full_modes(h.system, {7}));
  EXPECT_EQ(first.order[0], alone.order[0]);
  EXPECT_NEAR(first.weights.sum(), 1, 1e-15);
}

TEST(RankLaws, WeightsCountByTheirRatioWhateverTheirSize) {
  const Horn h;
  const FullModes full = *full_modes(h.system, {7, 13});
  const auto huge = rank_imr(h.system, h.cb, full, {1e308, 1e308}),
             alike = rank_imr(h.system, h.cb, full);
  EXPECT_EQ(huge.weights, alike.weights);
  EXPECT_EQ(huge.order, alike.order);
}

TEST(RankLaws, ARigidModeNeedsNoInteriorMode) {
  const Horn h;
  const auto imr = rank_imr(h.system, h.cb, *full_modes(h.system, {0, 1, 2}));
  EXPECT_LT(imr.error(imr.order).front(),
            1e-6);  // φᵀM₂₂w of a rigid motion: round-off of M against K
}

TEST(RankLaws, ARigidModeAmongOthersDoesNotChangeTheirRanking) {
  const Horn h;
  const auto with = rank_imr(h.system, h.cb, *full_modes(h.system, {0, 1, 2, 7})),
             without = rank_imr(h.system, h.cb, *full_modes(h.system, {7}));
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(with.order[i], without.order[i]) << i;
}

// Mean energy over a period of the full system, ¼ xᴴ(K + ω²M)x, is that of masters and interior modes together.
TEST(RankLaws, EbrSplitsTheEnergyOfTheResponse) {
  LinearSystem feeder = *beam_frame(test::feeder_frame(), "feeder");
  const std::vector<int> masters = *find_dofs(feeder, test::feeder_masters());
  CraigBamptonOptions options;
  options.modes = -1;
  std::vector<Harmonic> forces = test::feeder_forces(masters);
  for (const double phase : {0.0, 0.7})
    for (const double damping : {0.0, 0.02}) {
      forces[0].forces[1].second = std::polar(1.0, phase);
      const CraigBampton cb = *craig_bampton(feeder, masters, options);
      const Eigen::MatrixXcd x = *forced_response(feeder, forces, damping);
      const EnergyRanking ebr = rank_ebr(feeder, cb, forces, x);
      double energy = 0;
      for (Eigen::Index k = 0; k < 2; ++k) {
        const double w = 2 * std::numbers::pi * forces[static_cast<size_t>(k)].hz;
        const Eigen::MatrixXcd sum =
            Eigen::MatrixXd(feeder.K + w * w * feeder.M).cast<std::complex<double>>();
        energy += 0.25 * (x.col(k).adjoint() * sum * x.col(k)).value().real();
      }
      EXPECT_NEAR((ebr.master_energy + ebr.interior_energy) / energy, 1, 1e-12);
    }
}

// The responses that the ranking uses, by dense complex algebra, with a damping matrix too.
TEST(RankLaws, ForcedResponsesSolveTheEquationsOfMotion) {
  LinearSystem feeder = *beam_frame(test::feeder_frame(), "feeder");
  const std::vector<int> masters = *find_dofs(feeder, test::feeder_masters());
  const std::vector<Harmonic> forces = test::feeder_forces(masters);
  feeder.C = 0.8 * feeder.M + 2e-5 * feeder.K;
  using Complex = std::complex<double>;
  const Eigen::MatrixXcd x = *forced_response(feeder, forces, 0.01);
  for (Eigen::Index k = 0; k < 2; ++k) {
    const double w = 2 * std::numbers::pi * forces[static_cast<size_t>(k)].hz;
    Eigen::VectorXcd f = Eigen::VectorXcd::Zero(feeder.size());
    for (const auto& [dof, amplitude] : forces[static_cast<size_t>(k)].forces) f(dof) += amplitude;
    const Eigen::MatrixXcd a = Complex(1, 0.02) * Eigen::MatrixXd(feeder.K).cast<Complex>() +
                               Complex(0, w) * Eigen::MatrixXd(feeder.C).cast<Complex>() -
                               w * w * Eigen::MatrixXd(feeder.M).cast<Complex>();
    const Eigen::VectorXcd exact = a.partialPivLu().solve(f);
    EXPECT_LT((x.col(k) - exact).norm(), 1e-9 * exact.norm());
  }
}

// Near and at a natural frequency, where what is left of GMRES is large beside the forces.
TEST(RankLaws, DampedResponsesAtResonanceSolveTheEquationsOfMotion) {
  const LinearSystem feeder = *beam_frame(test::feeder_frame(), "feeder");
  using Complex = std::complex<double>;
  const double natural = std::sqrt(full_modes(feeder, {2})->omega2(0)) / (2 * std::numbers::pi);
  for (const double ratio : {0.997, 1.0, 1.0003, 1.002})
    for (const double damping : {1e-3, 0.01, 0.02}) {
      const double hz = ratio * natural, w = 2 * std::numbers::pi * hz;
      const int dof = find_dofs(feeder, {"exciter1"})->front();
      const auto x = forced_response(feeder, {{hz, {{dof, 1.0}}}}, damping);
      ASSERT_TRUE(x.ok()) << x.diagnostics().text();
      const Eigen::MatrixXcd a =
          Complex(1, 2 * damping) * Eigen::MatrixXd(feeder.K).cast<Complex>() -
          w * w * Eigen::MatrixXd(feeder.M).cast<Complex>();
      const Eigen::VectorXcd exact =
          a.partialPivLu().solve(Eigen::VectorXcd::Unit(feeder.size(), dof));
      EXPECT_LT((x->col(0) - exact).norm(), 1e-7 * exact.norm()) << ratio << ' ' << damping;
    }
}

TEST(RankLaws, ModesOfOneFrequencyAreJudgedTogether) {
  // A square bar bends alike in both directions.
  Prism p;
  p.sections = {{0, 0.02, 0.02}, {0.2, 0.02, 0.02}};
  p.across_x = p.across_y = 2;
  p.z = equal_steps(0, 0.2, 6);
  p.material = {70e9, 0.3, 2700};
  const LinearSystem bar = *prism(p);
  const std::vector<int> masters = *find_dofs(bar, {"z_min"});
  CraigBamptonOptions options;
  options.modes = -1;
  const CraigBampton cb = *craig_bampton(bar, masters, options);
  const FullModes full = *full_modes(bar, {0, 5, 6, 8});
  EXPECT_EQ(full.alike[2], 2);
  const Eigen::MatrixXd loads = mode_loads(bar, cb, full.U);
  for (const ModeError& e : mode_errors(cb, full, loads, rank_sbe(cb).order)) {
    EXPECT_NEAR(e.nco, 1, 1e-9);
    EXPECT_LT(e.frequency, 1e-5);
  }
}

TEST(RankLaws, AllModesReproduceTheResponseWithAndWithoutADampingMatrix) {
  for (const bool damped : {false, true}) {
    LinearSystem feeder = *beam_frame(test::feeder_frame(), "feeder");
    if (damped) feeder.C = 0.8 * feeder.M + 2e-5 * feeder.K;
    const std::vector<int> masters = *find_dofs(feeder, test::feeder_masters());
    CraigBamptonOptions options;
    options.modes = -1;
    const CraigBampton cb = *craig_bampton(feeder, masters, options);
    const std::vector<Harmonic> forces = test::feeder_forces(masters);
    const Eigen::MatrixXcd x = *forced_response(feeder, forces, 0.01);
    const ResponseScan scan(feeder, cb, forces, 0.01, x);
    const ResponseError last = scan.errors(rank_sbe(cb).order).back();
    EXPECT_NEAR(last.mac, 1, 1e-10);
    EXPECT_LT(last.gain, 1e-8);
  }
}

// A reduced model that the force drives at its own natural frequency has no response: that is no agreement.
TEST(RankLaws, AReducedModelAtResonanceDoesNotAgree) {
  // Interior b on a spring of its own frequency 2 1/s; statically b follows a: K11 = 2, M11 = 2, resonance at 1 1/s.
  BeamFrame f;
  f.masses = {{"a", 1}, {"b", 1}};
  f.springs = {{"a", "ground", 2}, {"a", "b", 4}};
  const LinearSystem two = *beam_frame(f, "two");
  CraigBamptonOptions options;
  options.modes = -1;
  const CraigBampton cb = *craig_bampton(two, {0}, options);
  const std::vector<Harmonic> forces{{0.5 / std::numbers::pi, {{0, 1.0}}}};
  const ResponseScan scan(two, cb, forces, 0, *forced_response(two, forces, 0));
  const std::vector<ResponseError> errors = scan.errors({0});
  EXPECT_EQ(errors[0].mac, 0);
  EXPECT_EQ(errors[0].gain, std::numeric_limits<double>::infinity());
  EXPECT_NEAR(errors[1].mac, 1, 1e-12);
  EXPECT_LT(errors[1].gain, 1e-12);
}

TEST(RankLaws, RigidModesOfAModelWithoutElasticOnesAreExact) {
  BeamFrame f;
  f.masses = {{"a", 1}, {"b", 1}};
  f.springs = {{"a", "b", 1e4}};
  const LinearSystem free = *beam_frame(f, "free");
  const CraigBampton cb = *craig_bampton(free, {0});
  const FullModes full = *full_modes(free, {0});
  const ModeError e = mode_errors(cb, full, mode_loads(free, cb, full.U), {}).front();
  EXPECT_EQ(e.frequency, 0);
  EXPECT_NEAR(e.nco, 1, 1e-12);
}

TEST(RankLaws, RankingsDoNotDependOnTheUnitOfLength) {
  // Millimetres: masses as they are, forces in mN.
  Plate p = test::horn_plate();
  const Horn metres;
  for (double& x : p.x) x *= 1000;
  for (double& y : p.y) y *= 1000;
  for (PlateSlot& s : p.slots) s = {1000 * s.x_from, 1000 * s.x_to, 1000 * s.y_from, 1000 * s.y_to};
  p.thickness *= 1000;
  p.material.density *= 1e-9;
  p.material.youngs_modulus *= 1e-3;
  LinearSystem mm = *plate(p);
  CraigBamptonOptions options;
  options.modes = -1;
  const CraigBampton cb = *craig_bampton(mm, metres.masters, options);
  const auto a = rank_imr(metres.system, metres.cb, *full_modes(metres.system, {7, 13})),
             b = rank_imr(mm, cb, *full_modes(mm, {7, 13}));
  for (int t = 0; t < 20; ++t)
    EXPECT_EQ(a.order[static_cast<size_t>(t)], b.order[static_cast<size_t>(t)]);
}

}  // namespace
}  // namespace panto
