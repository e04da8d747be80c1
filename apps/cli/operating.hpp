// What modes and linearize share: where the mechanism is linearised.
#pragma once

#include <memory>
#include <optional>

#include "apps/cli/verbs.hpp"
#include "panto/linear/linearize.hpp"

namespace panto::cli {

struct OperatingArguments : ModelArguments {
  std::string at;
  bool equilibrium = false, here = false, steady = false;
  double time = 0;
};
void add_operating_arguments(CLI::App& verb, OperatingArguments& arguments);

// "30deg", "5mm" or a bare number, in SI units; false when it is none.
bool parse_value(const std::string& text, double& value);

// For options that are numbers: times with their unit, "20ms", "2 s".
CLI::Validator times();

// "theta=30deg,s=2mm": false with a message where a pair is none.
bool parse_pose(const std::string& text, std::vector<PoseValue>& pose, std::string& message);

// The model in its pose, with a workspace, the point and its linear model.
struct Linearised {
  Model model;
  std::unique_ptr<Workspace> workspace;
  OperatingPoint point;
  LinearModel linear;
  Diagnostics notes;
};
// nullptr: failed, diagnostics printed, the exit code is in `exit_code`.
std::unique_ptr<Linearised> linearised(const OperatingArguments& arguments, int& exit_code);

// The model in the pose that was asked for; empty: failed as above.
std::optional<Model> posed_model(const OperatingArguments& arguments, Diagnostics& notes,
                                 int& exit_code);

// "operating_point": {"t": …, "coordinates": {…}, "speeds": {…}, "outputs": {…}} and "residual".
class JsonWriter;
void write_point(JsonWriter& json, const Linearised& l);

}  // namespace panto::cli
