// A model brought to what modal tests have measured: `panto update`.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/model/model.hpp"
#include "panto/updating/equations.hpp"
#include "panto/updating/study.hpp"

namespace panto {

struct UpdatedParameter {
  std::string name;
  double nominal = 0, value = 0, low = 0, high = 0;
  double change = 0;  // χ: relative to the nominal value, to the upper bound where that is zero
  double std = std::numeric_limits<
      double>::quiet_NaN();  // of the value (UPD-13); NaN: the test tells no scatter
  double resolution = 0;     // 1: told by the data, 0: by the penalty alone
  bool bounds_hit = false, unmovable = false;
};

struct UpdatedMode {
  std::string pose;
  double measured_hz = 0, before_hz = 0, after_hz = 0;
  int mode_before = 0, mode_after = 0;   // of the model, from 1
  double mac_before = 0, mac_after = 0;  // NaN without a shape
  double weight = 1;
  double misfit = 0;  // of the expansion, |C z - y| / |y|
  double left_out_hz =
      std::numeric_limits<double>::quiet_NaN();  // predicted by an update without this mode
  double damping = 0;
  [[nodiscard]] double error_before() const { return before_hz / measured_hz - 1; }
  [[nodiscard]] double error_after() const { return after_hz / measured_hz - 1; }
};

// MAC of measured (rows) and model modes (columns).
struct UpdatedPose {
  std::string name;
  Eigen::VectorXd q;
  Eigen::MatrixXd mac_before, mac_after;
  std::vector<int> columns_before, columns_after;  // numbers of the model modes, from 1
  Eigen::MatrixXd shapes_measured, shapes_before,
      shapes_after;  // points x measured modes, unit length
  std::vector<std::string> points;
  Eigen::MatrixXd dq_measured, dq_after;  // δq x measured modes, for drawing
  double frame_difference =
      0;  // of exact and linearised ERLS coordinates at 1 mm (UPD-3); 0 without beams
};

// Residual of a constraint or static test at the updated values, in its own units.
struct UpdatedLimit {
  std::string name;
  double low = 0, high = 0, before = 0, after = 0;
  bool active = false;
};

// Over simulated tests.
struct DrawnUpdates {
  int draws = 0, failed = 0;
  int all_improved = 0;  // draws in which every error against the measured frequency became smaller
  int all_nearer = 0;    // draws in which every frequency came nearer to the true one
  int within_bounds = 0;                               // draws that kept all bounds
  Eigen::VectorXd mean, std;                           // of the parameters' values
  double mean_error_before = 0, mean_error_after = 0;  // of |frequency errors|
};

struct Updating {
  std::vector<UpdatedParameter> parameters;
  std::vector<UpdatedMode> modes;
  std::vector<UpdatedPose> poses;
  std::vector<UpdatedLimit> limits;
  LCurve curve;
  double lambda = 0;
  double kkt = 0;        // of the program
  double objective = 0;  // of UPD-6, and what UPD-10 leaves of it
  double objective_as_printed = 0;
  Eigen::VectorXd change_as_printed;
  int iterations = 0;
  bool converged = true, linear = true;  // linear: one iteration is exact
  Identifiability identifiability;
  Eigen::MatrixXd covariance;   // of χ; NaN where unknown
  UpdatingEquations equations;  // of the last iteration
  bool has_damping = false;
  RayleighFit damping;
  DrawnUpdates draws;
  bool complete = true;
  Params params;  // the whole θ with the updated values

  [[nodiscard]] double mean_error_before() const;  // of |frequency errors| of modes that count
  [[nodiscard]] double mean_error_after() const;
};

// Errors: E0701 unknown parameter, E0713 pose out of reach, E0970 a point that the model does not have, E0971 bounds that cannot be, E0972 a test that does not fit the
// model, E0973 constraints that contradict each other, E0974 constraints with the sensitivity method, E0975 the model has no modes at the values sought.
// Warnings: W0976 pairs that cross, W0977 parameters that no mode moves, W0978 fewer equations than parameters, W0979 at a bound, W0980 a mode without shape,
// W0981 a mode unlike any of the model's, W0982 not converged, W0983 no scatter given, W0984 collinear parameters, W0985 damping of too few modes.
Result<Updating> update(const Model& model, const Params& params, const UpdateStudy& study,
                        const std::function<bool(double)>& progress = {});

}  // namespace panto
