// What a model says in the poses of a study, as a function of dimensionless changes: shared by both methods of updating.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "panto/linear/parameter_matrices.hpp"
#include "panto/numerics/eigenproblems.hpp"
#include "panto/updating/expansion.hpp"
#include "panto/updating/study.hpp"

namespace panto {

// One pose as it was measured.
struct PoseReadings {
  std::vector<double> omega, omega_sigma, weights;
  std::vector<Eigen::VectorXd> shapes;  // of the points; empty: not measured
  std::vector<double> shape_sigma;
  std::vector<int> modes;  // of the model, asked for; -1: by shape
};

// One pose of the model at some χ.
struct PoseState {
  PoseMatrices matrices;
  std::vector<PoseMatrices> slopes;  // ∂/∂χ of m and k
  ModalPairs pairs;
  Eigen::MatrixXd rows;  // of the points
  PointSplines splines;  // kSpline only
};

// Rows of UPD-8: forces that a pose at rest leaves along some coordinates, with its known loads.
struct RestBalance {
  std::shared_ptr<const Model> model;  // of the matrices
  ParameterMatrices matrices;
  std::vector<Eigen::Index> rows;
};

struct ModePairing {
  std::vector<int> modes;   // of the model, per measured mode
  std::vector<double> mac;  // NaN without a shape
  Eigen::MatrixXd table;    // measured x model modes
};

class UpdateEngine {
 public:
  struct Pose {
    ParameterMatrices matrices;
    std::vector<MeasuredPoint> points;
  };
  // The model of with_body_frames().
  UpdateEngine(std::shared_ptr<const Model> model, Params params, std::vector<int> index,
               Eigen::VectorXd nominal, Eigen::VectorXd reference, const UpdateStudy& study);
  UpdateEngine clone() const;  // for another thread

  std::vector<Pose> poses;
  std::vector<RestBalance> balances;
  // Of all poses and balances: one linearisation is exact.
  [[nodiscard]] bool affine() const { return affine_poses() && affine_balances(); }
  [[nodiscard]] bool affine_balances() const;
  [[nodiscard]] Eigen::VectorXd theta(const Eigen::VectorXd& chi) const {
    return nominal_ + reference_.cwiseProduct(chi);
  }
  [[nodiscard]] const Eigen::VectorXd& reference() const { return reference_; }
  [[nodiscard]] const Eigen::VectorXd& nominal_values() const { return nominal_; }

  // False where the model has no modes at χ.
  [[nodiscard]] bool evaluate(const Eigen::VectorXd& chi, bool slopes, std::vector<PoseState>& out);
  // All rows of the balances, and their slopes ∂/∂χ. False where a pose cannot be linearised at χ.
  [[nodiscard]] bool unbalanced(const Eigen::VectorXd& chi, Eigen::VectorXd& forces,
                                Eigen::MatrixXd& slopes);
  // Measured modes and those of the model: by the best total MAC, modes within an octave first, else by number.
  [[nodiscard]] ModePairing pair(const PoseState& state, const PoseReadings& readings) const;
  // Shapes in the coordinates z; those not measured are the model's own.
  [[nodiscard]] std::vector<ExpandedShape> shapes(const PoseState& state,
                                                  const PoseReadings& readings,
                                                  const ModePairing& pairing) const;

 private:
  [[nodiscard]] bool affine_poses() const;

  std::shared_ptr<const Model> model_;
  Params params_;
  std::vector<int> index_;
  Eigen::VectorXd nominal_, reference_;
  const UpdateStudy& study_;
  std::unique_ptr<Workspace> workspace_;
  std::vector<PoseState> fixed_;  // affine: rows and slopes, which stay
};

// The sensitivity method (UPD-11): residuals of frequencies and MAC, and of the penalty, within bounds.
struct SensitivityProblem {
  UpdateEngine* engine = nullptr;
  const std::vector<PoseReadings>* readings = nullptr;
  double mac_weight = 0.1;
  Eigen::MatrixXd omega;
  double lambda = 0;
  Eigen::VectorXd low, high;
};
// Residuals without those of the penalty, and their deviations by the scatter of the test. False where the model has no modes.
[[nodiscard]] bool sensitivity_residuals(const SensitivityProblem& problem,
                                         const Eigen::VectorXd& chi, Eigen::VectorXd& residual,
                                         Eigen::MatrixXd* jacobian,
                                         Eigen::VectorXd* scatter = nullptr);
struct SensitivityMinimum {
  bool converged = false;
  Eigen::VectorXd chi;
  int iterations = 0;
};
SensitivityMinimum minimise(const SensitivityProblem& problem, const Eigen::VectorXd& start);

}  // namespace panto
