// The verbs of the program. Each add_ function, in a file of its own, describes the verb's command line; its callback does the work
// and leaves the exit code in `exit_code`.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/model/model.hpp"
#include "panto/model/spec.hpp"

namespace panto::cli {

void add_simulate(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_equilibrium(CLI::App& app, int& exit_code);
void add_inverse_dynamics(CLI::App& app, int& exit_code);
void add_invert(CLI::App& app, int& exit_code);
void add_modes(CLI::App& app, int& exit_code);
void add_linearize(CLI::App& app, int& exit_code);
void add_poses(CLI::App& app, int& exit_code);
void add_identify(CLI::App& app, int& exit_code);
void add_update(CLI::App& app, int& exit_code);
void add_ema(CLI::App& app, int& exit_code);
void add_impact(CLI::App& app, int& exit_code);
void add_reduce(CLI::App& app, int& exit_code);
void add_observe(CLI::App& app, int& exit_code);
void add_models(CLI::App& app, int& exit_code);
void add_new(CLI::App& app, int& exit_code);
void add_schema(CLI::App& app, int& exit_code);
void add_import(CLI::App& app, int& exit_code);
void add_view(CLI::App& app, int& exit_code);
void add_reproduce(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);

// What nearly every verb takes: MODEL, --set and --json.
struct ModelArguments {
  std::string model;
  std::vector<std::string> set;
  bool json = false;
};
void add_model_arguments(CLI::App& verb, ModelArguments& arguments);
// --deformation: how a report draws elastic displacements.
CLI::Option* add_deformation(CLI::App& verb, std::optional<double>& scale);
// name=value pairs; false with a message where one is none.
bool parse_settings(const std::vector<std::string>& set, std::vector<Override>& overrides,
                    std::string& message);

// The model with its settings; says what it has read when verbose.
Result<Model> load_model(const std::string& model, const std::vector<Override>& overrides,
                         ModelSpec* spec = nullptr);

// A real number; false when the text is not exactly one.
bool parse_number(const std::string& text, double& number);
// Numbers separated by commas or blanks.
bool parse_numbers(const std::string& text, std::vector<double>& numbers);

}  // namespace panto::cli
