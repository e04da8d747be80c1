#include "panto/identification/modal_map.hpp"

#include <cmath>
#include <numbers>

#include "panto/base/contract.hpp"
#include "panto/numerics/eigenproblems.hpp"

namespace panto {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kConstant = 1e-10;  // change of the mass matrix over half a parameter's value

}  // namespace

ModalMap ModalMap::clone() const {
  ModalMap out(matrices_.clone());
  out.constant_mass_ = constant_mass_;
  out.reduced_ = reduced_;
  return out;
}

Result<ModalMap> ModalMap::create(const Model& model, const Params& nominal, View q,
                                  std::vector<int> parameters, Operation operation) {
  Diagnostics d;
  const Eigen::VectorXd at = nominal.values(parameters);
  Result<ParameterMatrices> matrices =
      ParameterMatrices::create(model, nominal, q, std::move(parameters), operation);
  if (!matrices.ok()) return matrices.diagnostics();
  ModalMap map(std::move(*matrices));
  PoseMatrices here;
  if (!map.affine() || !map.matrices_.at({at.data(), static_cast<size_t>(at.size())}, here))
    return map;
  map.constant_mass_ = true;
  for (size_t i = 0; i < map.matrices_.slopes().size(); ++i) {
    const double value = at(static_cast<Eigen::Index>(i));
    const double step = 0.5 * (value != 0 ? std::abs(value) : 1);
    map.constant_mass_ = map.constant_mass_ &&
                         map.matrices_.slopes()[i].m.norm() * step <= kConstant * here.m.norm();
  }
  if (!map.constant_mass_) return map;
  const auto inverse = inverse_factor(here.m);
  if (!inverse) {
    d.error(510, {},
            "modes: the mass matrix of the directions free to move is not positive definite");
    return d;
  }
  const auto reduce = [&](const Eigen::MatrixXd& k) -> Eigen::MatrixXd {
    return *inverse * k * inverse->transpose();
  };
  map.reduced_ = {reduce(map.matrices_.base().k)};
  for (const PoseMatrices& s : map.matrices_.slopes()) map.reduced_.push_back(reduce(s.k));
  return map;
}

bool ModalMap::evaluate(View theta, ModalValues& values, ModalSlopes* slopes) {
  PoseMatrices at;
  if (!matrices_.at(theta, at)) return false;
  const int n = modes();
  const auto pairs = symmetric_pairs(at.k, at.m);
  if (!pairs) return false;
  const Eigen::MatrixXd& phi = pairs->vectors;
  const Eigen::VectorXd& square = pairs->values;
  const Eigen::VectorXd root = square.cwiseAbs().cwiseSqrt();
  // Below this a frequency is the round-off of a rigid mode.
  const double rigid = 1e-7 * root.maxCoeff();
  const Eigen::MatrixXd damping = phi.transpose() * at.d * phi;
  values.hz = root.cwiseProduct(square.cwiseSign()) / kTurn;
  values.damping = Eigen::VectorXd::Zero(n);
  for (int i = 0; i < n; ++i)
    if (square(i) > 0 && root(i) > rigid) values.damping(i) = damping(i, i) / (2 * root(i));
  values.shapes = at.c * phi;
  if (slopes == nullptr) return true;

  std::vector<PoseMatrices> d;
  if (!matrices_.slopes(theta, d)) return false;
  slopes->hz = slopes->damping = Eigen::MatrixXd::Zero(n, parameters());
  for (size_t p = 0; p < d.size(); ++p) {
    const auto column = static_cast<Eigen::Index>(p);
    const Eigen::MatrixXd k = phi.transpose() * d[p].k * phi, m = phi.transpose() * d[p].m * phi,
                          c = phi.transpose() * d[p].d * phi;
    for (int i = 0; i < n; ++i) {
      if (!(root(i) > rigid)) continue;
      const double square_slope = k(i, i) - square(i) * m(i, i);
      const double root_slope = square_slope / (2 * root(i));
      slopes->hz(i, column) = root_slope / kTurn;
      if (!(square(i) > 0)) continue;
      // φ_i' = Σ_j φ_j (K' - ω_i² M')_ji / (ω_i² - ω_j²) - ½ φ_i M'_ii
      double turned = -m(i, i) * damping(i, i);
      for (int j = 0; j < n; ++j) {
        const double gap = square(i) - square(j);
        if (j != i && std::abs(gap) > 1e-12 * square(n - 1))
          turned += 2 * damping(i, j) * (k(j, i) - square(i) * m(j, i)) / gap;
      }
      slopes->damping(i, column) =
          (c(i, i) + turned - damping(i, i) * root_slope / root(i)) / (2 * root(i));
    }
  }
  return true;
}

bool ModalMap::frequencies(const Eigen::MatrixXd& thetas, Eigen::MatrixXd& hz) {
  PANTO_EXPECT(thetas.rows() == parameters(), "one row per parameter");
  const Eigen::Index count = thetas.cols();
  const int n = modes();
  hz.resize(n, count);
  if (constant_mass_ && n <= 3) {
    small_symmetric_values(reduced_, thetas, hz);
    hz = hz.cwiseSign().cwiseProduct(hz.cwiseAbs().cwiseSqrt()) / kTurn;
    return true;
  }
  ModalValues values;
  for (Eigen::Index j = 0; j < count; ++j) {
    if (!evaluate({thetas.col(j).data(), static_cast<size_t>(parameters())}, values)) return false;
    hz.col(j) = values.hz;
  }
  return true;
}

}  // namespace panto
