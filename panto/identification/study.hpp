// What is to be identified from what: unknown parameters, and modes measured in one or more poses. Written by hand or read from a study file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/linear/operating_point.hpp"
#include "panto/model/spec.hpp"

namespace panto {

struct UnknownParameter {
  std::string name;
  double low = 0, high = 0, start = 0;
  // Which of them were given; what was not follows from the model's value v: start v, bounds v/100 and 100 v.
  bool has_low = false, has_high = false, has_start = false;
  Loc loc{};
};

struct MeasuredFrequency {
  double frequency_hz = 0;
  double sigma_hz = 0;  // standard deviation; 0: not known
  int mode = -1;        // of the model, from 0; -1: by its place in the list, or by its shape
  double damping = -1, damping_sigma = 0;  // ratio; -1: not measured; sigma 0: not known
  std::vector<std::pair<std::string, double>>
      shape;  // what named outputs read; empty: not measured
  Loc loc{};
};

struct MeasuredPose {
  std::string name;
  std::vector<PoseValue> at;
  Operation operation = Operation::kHere;
  std::vector<MeasuredFrequency> modes;
  std::string file;  // of a modal table with the frequencies; empty: written in the study
  std::vector<int>
      mode_numbers;  // of the model, from 0, of the modes of that table; empty: by their place
  Loc loc{};
};

// Measurements made by the model itself, to see how well parameters would be identified.
struct SimulatedMeasurement {
  std::vector<std::pair<std::string, double>>
      truth;            // parameters; those not named are as in the model
  double round_hz = 0;  // readings are rounded to multiples of this
  double noise = 0;     // standard deviation relative to each frequency
  int repeats = 1;
  Loc loc{};
};

enum class IdentifyMethod : std::uint8_t {
  kLeastSquares,  // bounded Levenberg–Marquardt on the residuals (Ceres)
  kInteriorPoint,  // interior point on the error of all frequencies (IPOPT), the formulation of Čepon et al.
};

struct IdentifyStudy {
  std::string model;  // name or file; a file is sought beside the study first
  std::vector<Override> set;
  std::vector<UnknownParameter> parameters;
  std::vector<MeasuredPose> poses;
  std::vector<SimulatedMeasurement> simulate;  // none or one
  IdentifyMethod method = IdentifyMethod::kLeastSquares;
  int starts = 100;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores
};

// From a study file (parsed by io): E0110 … E0115 for keys and types, E0302, E0304 for numbers, E0710 for measurements that cannot be
// (frequencies that are not positive).
// Tables named by `test` are not read yet.
Result<IdentifyStudy> identify_study(const ModelSpec& file);

}  // namespace panto
