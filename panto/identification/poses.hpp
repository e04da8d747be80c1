// In which pose do the frequencies tell most about the parameters? Monte Carlo over poses and parameter sets (Čepon et al.), or local
// sensitivities; single poses by how well each frequency belongs to one parameter, sets of poses by D-optimality.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/model/model.hpp"

namespace panto {

// Values of a coordinate that poses are drawn from.
struct PoseRange {
  std::string coordinate;
  double low = 0, high = 0;
};

struct PosesOptions {
  std::vector<std::string> parameters;  // names; at least one
  // Coordinates that are drawn, uniformly. Empty: all independent ones, in the joint's own range; without one, ±90° for angles, while slides
  // keep their initial value.
  std::vector<PoseRange> ranges;
  int poses = 1000, samples = 1000;
  double spread = 0.5;   // parameters are drawn uniformly within ± this share of their value
  bool damping = false;  // damping ratios count beside the frequencies
  bool local =
      false;  // no parameter sets: correlations from the derivatives at the nominal values (IDN-4)
  int together = 1;  // size of the set of poses that is measured together (IDN-6)
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores
  // Called now and then, from any thread; returning false ends the work, and the result is what was done so far.
  std::function<bool(double fraction)> progress;
};

struct ScoredPose {
  int number = 0;               // of the draw, from 0
  Eigen::VectorXd q;            // all coordinates
  Eigen::MatrixXd correlation;  // features x parameters: Pearson coefficients (IDN-3)
  Eigen::MatrixXd sensitivity;  // ∂ ln feature / ∂ ln parameter at the nominal values (IDN-2)
  std::vector<int> told_by;     // per parameter: the feature that is its own, -1: none
  double score = 0;             // of localisation, at most 1 (IDN-5)
  // log10 of det(SᵀS)^(1/2p): -1 means, ten times less information per parameter than one frequency that it governs alone.
  double information = -std::numeric_limits<double>::infinity();
};

struct PoseStudy {
  std::vector<std::string> parameters, features,
      coordinates;              // features: "f1", "f2", …, "damping1", …
  std::vector<double> nominal;  // of the parameters
  std::vector<PoseRange> ranges;
  std::vector<ScoredPose> poses;  // best score first
  std::vector<int> together;      // indices into `poses`: the set with the largest information
  double together_information = 0;
  // Standard deviation of each parameter, relative, per unit of relative frequency error, when the set is measured.
  std::vector<double> together_deviation;
  int drawn = 0, unreachable = 0, beyond_limits = 0, singular = 0;
  bool complete = true;  // false: ended by the caller
};

// Errors: an unknown parameter or coordinate (E0701, E0506), a range beyond the joint's limits or empty (E0702), a parameter of value zero (E0703),
// no reachable pose (E0704). A best pose at the border of a range is worth a warning (W0705).
// Under mpirun every rank computes its share and all return the same study. Results do not depend on threads or ranks.
Result<PoseStudy> poses(const Model& model, const Params& params, const PosesOptions& options);

// Localisation (IDN-5): the best pairing of parameters and features; its mean |ρ| minus the mean of the other |ρ| of the paired
// features. 1: each of them depends on its own parameter alone.
double localisation(const Eigen::MatrixXd& correlation, std::vector<int>& told_by);

// The `count` different poses with the largest det of Σ SᵀS, by greedy choice and exchange until none helps. Relative sensitivities
// (features x parameters) per pose.
std::vector<int> most_informative(const std::vector<const Eigen::MatrixXd*>& sensitivity,
                                  int count);

}  // namespace panto
