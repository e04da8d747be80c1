// What is to be updated from what: parameters with bounds, modal tests in one or more poses, what else is known. Written by hand or read from a study file.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/linear/operating_point.hpp"
#include "panto/model/modal_test.hpp"
#include "panto/model/spec.hpp"
#include "panto/updating/expansion.hpp"

namespace panto {

struct UpdateParameter {
  std::string name;
  double low = 0, high = 0;  // of the value
  bool has_low = false, has_high = false;
  std::string low_text, high_text;  // as they were written, with their units; empty: numbers
  double range = 0.2;               // share of the model's value, for bounds that were not given
  double cost = 1;                  // of a change: diagonal of ΩᵀΩ in UPD-6
  Loc loc{};
};

// low ≤ Σ factor · value ≤ high, in the units of the values: total mass, equal moduli.
struct UpdateConstraint {
  std::string name;
  std::vector<std::pair<std::string, double>> terms;
  double low = -std::numeric_limits<double>::infinity(),
         high = std::numeric_limits<double>::infinity();
  Loc loc{};
};

// The pose was seen at rest: what the model leaves unbalanced along a coordinate is no more than friction holds (UPD-8).
struct StaticTest {
  std::string name;
  std::vector<PoseValue> at;
  std::vector<std::pair<std::string, double>> inputs;    // known loads; others as in the model
  std::vector<std::pair<std::string, double>> friction;  // independent coordinate -> bound [N m, N]
  Loc loc{};
};

struct UpdatePose {
  std::string name;
  std::vector<PoseValue> at;
  Operation operation = Operation::kHere;
  std::string file;  // of the modal table; empty: `test` was written in the study
  ModalTest test;
  std::vector<double> weights;  // per mode; empty: 1
  std::vector<int>
      modes;  // of the model, from 0, per mode; empty: by shape, without shapes by place
  Loc loc{};
};

// A test made by the model itself, with other parameters.
struct SimulatedTest {
  std::vector<std::pair<std::string, double>> truth;
  std::vector<MeasuredPoint> points;
  double frequency_noise = 0;  // standard deviation relative to each frequency
  double shape_noise = 0;      // relative to the largest entry
  int draws = 1;               // the first is reported, all count in `draws` of the result
  Loc loc{};
};

enum class UpdateMethod : std::uint8_t {
  kQuadratic,    // equations of balance, a convex program (UPD-5 … UPD-7)
  kSensitivity,  // frequencies and MAC, Levenberg–Marquardt (UPD-11)
};

struct UpdateStudy {
  std::string model;
  std::vector<Override> set;
  std::vector<UpdateParameter> parameters;
  std::vector<UpdatePose> poses;
  std::vector<UpdateConstraint> constraints;
  std::vector<UpdateConstraint>
      penalties;  // rows of Ω besides the costs; terms count in relative changes
  std::vector<StaticTest> statics;
  std::vector<SimulatedTest> simulate;  // none or one
  UpdateMethod method = UpdateMethod::kQuadratic;
  double lambda = -1;    // of UPD-6; negative: from the L-curve
  bool relative = true;  // each equation divided by ω²; false: as it is, for mass-normalised shapes
  bool as_printed = false;  // UPD-10 in place of UPD-7
  int iterations = 0;       // 0: 1 where the equations are linear, else 30
  ExpansionMethod expansion = ExpansionMethod::kShapeFunctions;
  double model_error = 0.2;  // of UPD-1
  double mac_weight = 0.1;   // of UPD-11
  bool cross_validate = false;
  // Rayleigh damping (UPD-12): names of the parameters that take α and β, empty: only reported; bounds.
  bool damping = false;
  std::string alpha, beta;
  double alpha_low = 0, alpha_high = std::numeric_limits<double>::infinity(), beta_low = 0,
         beta_high = std::numeric_limits<double>::infinity();
  Loc damping_loc{};
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores
};

// From a study file (parsed by io): E0110 … E0115 for keys and types, E0302, E0304 for numbers. Tables named by `test` are not read yet.
Result<UpdateStudy> update_study(const ModelSpec& file);

}  // namespace panto
