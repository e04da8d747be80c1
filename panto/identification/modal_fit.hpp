// How far a model's modes are from measured ones, and the search for parameters that bring them together.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "panto/identification/modal_map.hpp"
#include "panto/identification/study.hpp"

namespace panto {

// A measured mode, ready to be compared.
struct ModeTarget {
  double hz = 0, sigma_hz = 1;
  int mode = 0;                            // of the model; with shapes, only the first guess
  double damping = -1, damping_sigma = 1;  // damping < 0: not measured
  Eigen::VectorXd shape;                   // rows: the pose's `outputs`; empty: paired by `mode`
};
struct PoseTarget {
  ModalMap map;
  std::vector<ModeTarget> modes;
  std::vector<int> outputs;  // that shapes were measured with
};

class ModalFit {
 public:
  explicit ModalFit(std::vector<PoseTarget> poses);
  [[nodiscard]] ModalFit clone() const;

  [[nodiscard]] int size() const { return size_; }  // of the residual
  [[nodiscard]] int parameters() const { return poses_.front().map.parameters(); }
  [[nodiscard]] std::vector<PoseTarget>& poses() { return poses_; }

  // Residuals (model - measured) / σ: all frequencies in order of poses and modes, each followed by its damping where measured; ∂/∂θ. False where the
  // model has no modes.
  [[nodiscard]] bool evaluate(View theta, Eigen::VectorXd& residual,
                              Eigen::MatrixXd* jacobian = nullptr);
  // Model mode of each measured one at the last evaluation, and their MAC (1 where there is no shape).
  [[nodiscard]] const std::vector<std::vector<int>>& pairs() const { return pairs_; }
  [[nodiscard]] const std::vector<std::vector<double>>& assurance() const { return assurance_; }
  // sqrt of the sum of squared frequency errors [Hz] at the last evaluation: the ε of Čepon et al.
  [[nodiscard]] double error_hz() const { return error_hz_; }

 private:
  void pair(size_t pose, const ModalValues& values);

  std::vector<PoseTarget> poses_;
  int size_ = 0;
  std::vector<std::vector<int>> pairs_;
  std::vector<std::vector<double>> assurance_;
  double error_hz_ = 0;
};

struct Bounds {
  Eigen::VectorXd low, high;
};
struct LocalMinimum {
  bool converged = false;
  Eigen::VectorXd theta;
  double cost = 0;  // ½ Σ residual²
  int iterations = 0;
};
// A local minimum from `start`, within bounds. Parameters with positive bounds are searched by their logarithm.
// kLeastSquares: Levenberg–Marquardt within a trust region (Ceres), on the residuals. kInteriorPoint: IPOPT on Σ residual² with
// quasi-Newton second derivatives. Not to be called by two threads at once with kInteriorPoint (its linear solver keeps global state).
LocalMinimum minimise(ModalFit& fit, const Bounds& bounds, const Eigen::VectorXd& start,
                      IdentifyMethod method);

}  // namespace panto
