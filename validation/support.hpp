// What the cases share: models, runs and reference tables.
#pragma once

#include <memory>

#include "panto/integrate/simulate.hpp"
#include "panto/io/csv.hpp"
#include "panto/mechanics/workspace.hpp"
#include "panto/model/spec.hpp"
#include "validation/cases.hpp"

namespace panto::validation {

// Folder of reference data and of the cases' own files: $PANTO_VALIDATION, share/pantograph/validation beside the program, or the
// source tree.
std::string folder();

// A model with its parameters and a workspace. Movable; the model stays where it is.
struct Loaded {
  std::unique_ptr<Model> model;
  Params params;
  std::unique_ptr<Workspace> workspace;
};
// `name`: zoo model, or a file of folder().
Result<Loaded> load_model(const std::string& name, std::span<const Override> overrides = {});

// The run at exactly these times with states; dt = 0: variable step of tolerance `tol`.
struct RunSettings {
  std::vector<double> at{};
  double dt = 0, tol = 1e-12;
  std::string integrator{};
};
Result<Run> run_at(const Loaded& loaded, const RunSettings& settings);

// reference/<name>.csv.
Result<SeriesTable> reference(const std::string& name);

// Series of an output; misuse when there is none.
const std::vector<double>& output(const Run& run, const std::string& name);

// For every column of the reference: its final value, and the largest deviation of the whole curve. Band: `share` of the column's largest value.
Result<std::vector<Row>> compare_with_reference(const std::string& model,
                                                std::span<const Override> overrides,
                                                const std::string& reference_name, double share,
                                                const std::string& prefix = {});

}  // namespace panto::validation
