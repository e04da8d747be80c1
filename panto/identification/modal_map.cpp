#include "panto/identification/modal_map.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "panto/base/contract.hpp"
#include "panto/linear/linearize.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/numerics/eigenproblems.hpp"

namespace panto {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;
// Affine matrices agree with one more point to the round-off of the linearisation; curved ones miss by far more over steps of half the value.
constexpr double kAffine = 1e-10;
// Steps of central differences of fourth order, relative to the value: truncation 1e-12, round-off 1e-13 of the curvature.
constexpr double kStep = 1e-3;

double step_of(double value, double share) { return share * (value != 0 ? std::abs(value) : 1); }

bool near(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double scale) {
  return a.rows() == b.rows() && a.cols() == b.cols() && (a - b).norm() <= kAffine * scale;
}

}  // namespace

ModalMap::ModalMap(ModalMap&&) noexcept = default;
ModalMap& ModalMap::operator=(ModalMap&&) noexcept = default;
ModalMap::~ModalMap() = default;

ModalMap ModalMap::clone() const {
  ModalMap out;
  out.model_ = model_;
  out.params_ = params_;
  if (!affine_) out.workspace_ = Workspace::create(*model_, params_);
  out.parameters_ = parameters_;
  out.operation_ = operation_;
  out.q_ = q_;
  out.modes_ = modes_;
  out.affine_ = affine_;
  out.constant_mass_ = constant_mass_;
  out.base_ = base_;
  out.slopes_ = slopes_;
  out.reduced_ = reduced_;
  return out;
}

Result<ModalMap> ModalMap::create(const Model& model, const Params& nominal, View q,
                                  std::vector<int> parameters, Operation operation) {
  PANTO_EXPECT(!parameters.empty(), "at least one parameter");
  PANTO_EXPECT(static_cast<int>(q.size()) == model.nq, "one number per coordinate");
  ModalMap map;
  map.model_ = &model;
  map.params_ = nominal;
  map.workspace_ = Workspace::create(model, nominal);
  map.parameters_ = std::move(parameters);
  map.operation_ = operation;
  map.q_ = Eigen::Map<const Eigen::VectorXd>(q.data(), static_cast<Eigen::Index>(q.size()));
  const Diagnostics d = map.probe();
  if (!d.ok()) return d;
  return map;
}

Diagnostics ModalMap::linearise(View theta, Matrices& out) {
  for (size_t i = 0; i < parameters_.size(); ++i) params_.values(parameters_[i]) = theta[i];
  workspace_->set_parameters(params_);
  const auto point = operating_point(*workspace_, operation_, 0, view(q_));
  if (!point.ok()) return point.diagnostics();
  auto linear = linearize(*workspace_, *point);
  if (!linear.ok()) return linear.diagnostics();
  Diagnostics d;
  if (!linear->second_order()) {
    d.error(509, {},
            "modes: drives act on speeds, so there is no equation M z'' + D z' + K z = 0; look at "
            "the eigenvalues of `panto linearize`");
    return d;
  }
  out.m = std::move(linear->M_z);
  out.d = 0.5 * (linear->D_z + linear->D_z.transpose());
  out.k = 0.5 * (linear->K_z + linear->K_z.transpose());
  out.c = linear->C_x.leftCols(out.m.rows());
  return d;
}

Diagnostics ModalMap::probe() {
  const size_t n = parameters_.size();
  std::vector<double> at(n), steps(n), moved;
  for (size_t i = 0; i < n; ++i) {
    at[i] = params_.values(parameters_[i]);
    steps[i] = step_of(at[i], 0.5);
  }
  Matrices here;
  Diagnostics d = linearise(at, here);
  if (!d.ok()) return d;
  modes_ = static_cast<int>(here.k.rows());
  if (modes_ == 0) {
    d.error(706, {}, "frequencies: nothing is free to move, so there are no modes");
    return d;
  }
  base_ = here;
  slopes_.assign(n, {});
  affine_ = true;
  for (size_t i = 0; i < n && affine_; ++i) {
    moved = at;
    moved[i] += steps[i];
    Matrices& s = slopes_[i];
    affine_ = linearise(moved, s).ok() && s.k.rows() == modes_ && near(s.c, here.c, here.c.norm());
    if (!affine_) break;
    for (const auto part : {&Matrices::m, &Matrices::d, &Matrices::k}) {
      s.*part = (s.*part - here.*part) / steps[i];
      base_.*part -= at[i] * s.*part;
    }
  }
  if (affine_) {
    Matrices last, predicted = base_;
    for (size_t i = 0; i < n; ++i) {
      moved[i] = at[i] + steps[i] * (0.3 + 0.4 / static_cast<double>(i + 1));
      for (const auto part : {&Matrices::m, &Matrices::d, &Matrices::k})
        predicted.*part += moved[i] * slopes_[i].*part;
    }
    affine_ = linearise(moved, last).ok() && near(last.m, predicted.m, last.m.norm()) &&
              near(last.k, predicted.k, last.k.norm()) && near(last.d, predicted.d, last.d.norm());
  }
  for (size_t i = 0; i < n; ++i) params_.values(parameters_[i]) = at[i];
  workspace_->set_parameters(params_);
  if (!affine_) return d;
  constant_mass_ = true;
  for (size_t i = 0; i < n; ++i)
    constant_mass_ = constant_mass_ && slopes_[i].m.norm() * steps[i] <= kAffine * here.m.norm();
  if (!constant_mass_) return d;
  const auto inverse = inverse_factor(here.m);
  if (!inverse) {
    d.error(510, {},
            "modes: the mass matrix of the directions free to move is not positive definite");
    return d;
  }
  const auto reduce = [&](const Eigen::MatrixXd& k) -> Eigen::MatrixXd {
    return *inverse * k * inverse->transpose();
  };
  reduced_ = {reduce(base_.k)};
  for (const Matrices& s : slopes_) reduced_.push_back(reduce(s.k));
  return d;
}

bool ModalMap::matrices(View theta, Matrices& out) {
  if (!affine_) return linearise(theta, out).ok() && out.k.rows() == modes_;
  out = base_;
  for (size_t i = 0; i < parameters_.size(); ++i)
    for (const auto part : {&Matrices::m, &Matrices::d, &Matrices::k})
      out.*part += theta[i] * slopes_[i].*part;
  return true;
}

bool ModalMap::slopes_of_matrices(View theta, std::vector<Matrices>& out) {
  if (affine_) {
    out = slopes_;
    return true;
  }
  out.assign(parameters_.size(), {});
  std::vector<double> moved(theta.begin(), theta.end());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const double h = step_of(theta[i], kStep);
    Matrices at[4];
    constexpr double kAt[4] = {-2, -1, 1, 2}, kWeight[4] = {1, -8, 8, -1};
    for (int s = 0; s < 4; ++s) {
      moved[i] = theta[i] + kAt[s] * h;
      if (!matrices(moved, at[s])) return false;
    }
    moved[i] = theta[i];
    for (const auto part : {&Matrices::m, &Matrices::d, &Matrices::k}) {
      out[i].*part = Eigen::MatrixXd::Zero(modes_, modes_);
      for (int s = 0; s < 4; ++s) out[i].*part += kWeight[s] / (12 * h) * at[s].*part;
    }
  }
  return true;
}

bool ModalMap::evaluate(View theta, ModalValues& values, ModalSlopes* slopes) {
  PANTO_EXPECT(theta.size() == parameters_.size(), "one value per parameter");
  Matrices at;
  if (!matrices(theta, at)) return false;
  const auto pairs = symmetric_pairs(at.k, at.m);
  if (!pairs) return false;
  const Eigen::MatrixXd& phi = pairs->vectors;
  const Eigen::VectorXd& square = pairs->values;
  const Eigen::VectorXd root = square.cwiseAbs().cwiseSqrt();
  // Below this a frequency is the round-off of a rigid mode.
  const double rigid = 1e-7 * root.maxCoeff();
  const Eigen::MatrixXd damping = phi.transpose() * at.d * phi;
  values.hz = root.cwiseProduct(square.cwiseSign()) / kTurn;
  values.damping = Eigen::VectorXd::Zero(modes_);
  for (int i = 0; i < modes_; ++i)
    if (square(i) > 0 && root(i) > rigid) values.damping(i) = damping(i, i) / (2 * root(i));
  values.shapes = at.c * phi;
  if (slopes == nullptr) return true;

  std::vector<Matrices> d;
  if (!slopes_of_matrices(theta, d)) return false;
  slopes->hz = slopes->damping =
      Eigen::MatrixXd::Zero(modes_, static_cast<Eigen::Index>(parameters_.size()));
  for (size_t p = 0; p < d.size(); ++p) {
    const auto column = static_cast<Eigen::Index>(p);
    const Eigen::MatrixXd k = phi.transpose() * d[p].k * phi, m = phi.transpose() * d[p].m * phi,
                          c = phi.transpose() * d[p].d * phi;
    for (int i = 0; i < modes_; ++i) {
      if (!(root(i) > rigid)) continue;
      const double square_slope = k(i, i) - square(i) * m(i, i);
      const double root_slope = square_slope / (2 * root(i));
      slopes->hz(i, column) = root_slope / kTurn;
      if (!(square(i) > 0)) continue;
      // φ_i' = Σ_j φ_j (K' - ω_i² M')_ji / (ω_i² - ω_j²) - ½ φ_i M'_ii
      double turned = -m(i, i) * damping(i, i);
      for (int j = 0; j < modes_; ++j) {
        const double gap = square(i) - square(j);
        if (j != i && std::abs(gap) > 1e-12 * square(modes_ - 1))
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
  hz.resize(modes_, count);
  if (constant_mass_ && modes_ <= 3) {
    small_symmetric_values(reduced_, thetas, hz);
    hz = hz.cwiseSign().cwiseProduct(hz.cwiseAbs().cwiseSqrt()) / kTurn;
    return true;
  }
  ModalValues values;
  for (Eigen::Index j = 0; j < count; ++j) {
    if (!evaluate({thetas.col(j).data(), parameters_.size()}, values)) return false;
    hz.col(j) = values.hz;
  }
  return true;
}

}  // namespace panto
