#include "panto/identification/modal_fit.hpp"

#include <cmath>

#include "panto/base/contract.hpp"
#include "panto/linear/assurance.hpp"
#include "panto/numerics/assignment.hpp"

namespace panto {

ModalFit::ModalFit(std::vector<PoseTarget> poses) : poses_(std::move(poses)) {
  PANTO_EXPECT(!poses_.empty(), "at least one pose");
  for (const PoseTarget& p : poses_) {
    pairs_.emplace_back();
    assurance_.emplace_back(p.modes.size(), 1.0);
    for (const ModeTarget& m : p.modes) {
      pairs_.back().push_back(m.mode);
      size_ += m.damping >= 0 ? 2 : 1;
    }
  }
}

ModalFit ModalFit::clone() const {
  std::vector<PoseTarget> poses;
  for (const PoseTarget& p : poses_) poses.push_back({p.map.clone(), p.modes, p.outputs});
  return ModalFit(std::move(poses));
}

// Measured modes with a shape take the model modes that resemble them most; the others keep their number.
void ModalFit::pair(size_t pose, const ModalValues& values) {
  const PoseTarget& p = poses_[pose];
  std::vector<size_t> shaped;
  for (size_t i = 0; i < p.modes.size(); ++i)
    if (p.modes[i].shape.size() > 0) shaped.push_back(i);
  if (shaped.empty()) return;
  const auto rows = static_cast<Eigen::Index>(p.outputs.size());
  Eigen::MatrixXd measured(rows, static_cast<Eigen::Index>(shaped.size())),
      model(rows, values.hz.size());
  for (Eigen::Index i = 0; i < rows; ++i)
    model.row(i) = values.shapes.row(p.outputs[static_cast<size_t>(i)]);
  for (size_t i = 0; i < shaped.size(); ++i)
    measured.col(static_cast<Eigen::Index>(i)) = p.modes[shaped[i]].shape;
  const Eigen::MatrixXd mac = modal_assurance(measured, model);
  const std::vector<int> column = best_assignment(mac);
  for (size_t i = 0; i < shaped.size(); ++i) {
    pairs_[pose][shaped[i]] = column[i];
    assurance_[pose][shaped[i]] = mac(static_cast<Eigen::Index>(i), column[i]);
  }
}

bool ModalFit::evaluate(View theta, Eigen::VectorXd& residual, Eigen::MatrixXd* jacobian) {
  residual.resize(size_);
  if (jacobian != nullptr) jacobian->resize(size_, static_cast<Eigen::Index>(theta.size()));
  ModalValues values;
  ModalSlopes slopes;
  Eigen::Index row = 0;
  double square = 0;
  for (size_t k = 0; k < poses_.size(); ++k) {
    if (!poses_[k].map.evaluate(theta, values, jacobian != nullptr ? &slopes : nullptr))
      return false;
    pair(k, values);
    for (size_t i = 0; i < poses_[k].modes.size(); ++i) {
      const ModeTarget& m = poses_[k].modes[i];
      const int mode = pairs_[k][i];
      const double error = values.hz(mode) - m.hz;
      square += error * error;
      if (jacobian != nullptr) jacobian->row(row) = slopes.hz.row(mode) / m.sigma_hz;
      residual(row++) = error / m.sigma_hz;
      if (m.damping < 0) continue;
      if (jacobian != nullptr) jacobian->row(row) = slopes.damping.row(mode) / m.damping_sigma;
      residual(row++) = (values.damping(mode) - m.damping) / m.damping_sigma;
    }
  }
  error_hz_ = std::sqrt(square);
  return residual.allFinite() && (jacobian == nullptr || jacobian->allFinite());
}

}  // namespace panto
