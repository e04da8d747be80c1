#include "panto/reduction/rank.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "panto/base/contract.hpp"

namespace panto {
namespace {

// Of strain energy, of all interior modes together: round-off in rigid modes of fine meshes comes near.
constexpr double kNoShare = 1e-6;

std::vector<int> descending(const Eigen::VectorXd& coefficient) {
  std::vector<int> order(static_cast<size_t>(coefficient.size()));
  std::iota(order.begin(), order.end(), 0);
  // Equal ones by frequency.
  std::stable_sort(order.begin(), order.end(),
                   [&](int i, int j) { return coefficient(i) > coefficient(j); });
  return order;
}

}  // namespace

Ranking rank_sbe(const CraigBampton& cb) {
  Ranking out;
  out.coefficient = cb.omega2.cwiseInverse();
  out.order = descending(out.coefficient);
  return out;
}

InteriorModeRanking rank_imr(const LinearSystem& system, const CraigBampton& cb,
                             const FullModes& full, const std::vector<double>& weights) {
  const Eigen::Index count = full.U.cols();
  PANTO_EXPECT(weights.empty() || static_cast<Eigen::Index>(weights.size()) == count,
               "one weight per mode");
  InteriorModeRanking out;
  out.weights = Eigen::VectorXd::Constant(count, 1.0 / static_cast<double>(count));
  if (!weights.empty()) {
    for (Eigen::Index i = 0; i < count; ++i) out.weights(i) = weights[static_cast<size_t>(i)];
    PANTO_EXPECT(out.weights.minCoeff() > 0, "weights are positive");
    out.weights /= out.weights.maxCoeff();  // their sum may not be a number
    out.weights /= out.weights.sum();
  }
  // RED-6: [φᵀ(M₂₁u₁ + M₂₂u₂)] · [φᵀM₂₂(u₂ - B u₁)].
  const auto m = static_cast<Eigen::Index>(cb.masters.size());
  const Eigen::MatrixXd loads = mode_loads(system, cb, full.U);
  const Eigen::MatrixXd y = coordinates(system, cb, full.U);
  out.upsilon = (loads.bottomRows(cb.modes()).array() * y.bottomRows(cb.modes()).array())
                    .matrix()
                    .transpose();
  // Γ₁u₁ = uᵀM{I; B}u₁. The terms are shares of strain energy, none is negative: what is left to 1 is the sum of the modes not computed.
  out.statics =
      (loads.topRows(m).array() * y.topRows(m).array()).colwise().sum().matrix().transpose();
  out.rest = (1 - out.statics.array() - out.upsilon.rowwise().sum().array()).max(0.0).matrix();
  if (cb.complete()) out.rest.setZero();
  out.coefficient = Eigen::VectorXd::Zero(cb.modes());
  for (Eigen::Index i = 0; i < count; ++i) {
    // Shares of a mode that moves no interior mode, a rigid one say, are round-off: not to be scaled up.
    const double norm = out.upsilon.row(i).norm();
    out.coefficient +=
        (out.weights(i) / (norm > kNoShare ? norm : 1)) * out.upsilon.row(i).cwiseAbs().transpose();
  }
  out.order = descending(out.coefficient);
  return out;
}

std::vector<double> InteriorModeRanking::error(const std::vector<int>& taken) const {
  const Eigen::VectorXd share = upsilon.cwiseAbs().transpose() * weights;
  std::vector<double> out(taken.size() + 1);
  // Smallest terms first, against round-off.
  double left = weights.dot(rest);
  std::vector<char> kept(static_cast<size_t>(share.size()), 0);
  for (const int mode : taken) kept[static_cast<size_t>(mode)] = 1;
  for (Eigen::Index i = 0; i < share.size(); ++i)
    if (kept[static_cast<size_t>(i)] == 0) left += share(i);
  for (size_t t = taken.size() + 1; t-- > 0;) {
    out[t] = left;
    if (t > 0) left += share(taken[t - 1]);
  }
  return out;
}

EnergyRanking rank_ebr(const LinearSystem& system, const CraigBampton& cb,
                       const std::vector<Harmonic>& harmonics, const Eigen::MatrixXcd& response) {
  PANTO_EXPECT(response.rows() == system.size() &&
                   response.cols() == static_cast<Eigen::Index>(harmonics.size()),
               "one column of the response per harmonic");
  const auto m = static_cast<Eigen::Index>(cb.masters.size());
  EnergyRanking out;
  out.coefficient = Eigen::VectorXd::Zero(cb.modes());
  const Eigen::MatrixXd re = coordinates(system, cb, response.real()),
                        im = coordinates(system, cb, response.imag());
  for (size_t k = 0; k < harmonics.size(); ++k) {
    const double w2 = std::pow(2 * std::numbers::pi * harmonics[k].hz, 2);
    const auto c = static_cast<Eigen::Index>(k);
    for (const auto& part : {Eigen::VectorXd(re.col(c)), Eigen::VectorXd(im.col(c))}) {
      const auto x1 = part.head(m);
      out.master_energy += 0.25 * (x1.dot(cb.K11 * x1) + w2 * x1.dot(cb.M11 * x1));
    }
    // ½(ω_ς² + ω_k²)|η|² + ω_k² Re(x₁ᴴ p η).
    const Eigen::ArrayXd eta_re = re.col(c).tail(cb.modes()), eta_im = im.col(c).tail(cb.modes());
    const Eigen::ArrayXd p_re = cb.M12.transpose() * re.col(c).head(m),
                         p_im = cb.M12.transpose() * im.col(c).head(m);
    const Eigen::ArrayXd energy =
        0.5 * (cb.omega2.array() + w2) * (eta_re.square() + eta_im.square()) +
        w2 * (p_re * eta_re + p_im * eta_im);
    out.interior_energy += 0.5 * energy.sum();
    out.coefficient += energy.abs().matrix();
  }
  out.order = descending(out.coefficient);
  return out;
}

}  // namespace panto
