#include "validation/support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "panto/base/contract.hpp"
#include "panto/io/load.hpp"

namespace panto::validation {

namespace fs = std::filesystem;

std::string folder() {
  std::error_code failure;
  if (const char* given = std::getenv("PANTO_VALIDATION"); given != nullptr && *given != '\0')
    return given;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  if (!failure) {
    const fs::path shared = program.parent_path().parent_path() / "share/pantograph/validation";
    if (fs::is_directory(shared, failure)) return shared.string();
  }
  return PANTO_VALIDATION_DIR;
}

Result<Loaded> load_model(const std::string& name, std::span<const Override> overrides) {
  const bool own_file = name.ends_with(".toml");
  Result<Model> model = load(own_file ? folder() + "/" + name : name, overrides);
  if (!model.ok()) return model.diagnostics();
  Loaded loaded;
  loaded.model = std::make_unique<Model>(std::move(*model));
  loaded.params = nominal(*loaded.model);
  loaded.workspace = Workspace::create(*loaded.model, loaded.params);
  return {std::move(loaded), model.diagnostics()};
}

Result<Run> run_at(const Loaded& loaded, const RunSettings& settings) {
  SimulationOptions options;
  options.at = settings.at;
  options.until = *std::max_element(settings.at.begin(), settings.at.end());
  options.dt = settings.dt;
  options.tol = settings.tol;
  options.integrator = settings.integrator;
  return simulate(*loaded.model, loaded.params, options);
}

Result<SeriesTable> reference(const std::string& name) {
  return read_csv(folder() + "/reference/" + name + ".csv");
}

const std::vector<double>& output(const Run& run, const std::string& name) {
  const auto found = std::find(run.output_names.begin(), run.output_names.end(), name);
  PANTO_EXPECT(found != run.output_names.end(), "the model has no output " + name);
  return run.outputs[static_cast<size_t>(found - run.output_names.begin())];
}

Result<std::vector<Row>> compare_with_reference(const std::string& model,
                                                std::span<const Override> overrides,
                                                const std::string& reference_name, double share,
                                                const std::string& prefix) {
  const Result<SeriesTable> table = reference(reference_name);
  if (!table.ok()) return table.diagnostics();
  const Result<Loaded> loaded = load_model(model, overrides);
  if (!loaded.ok()) return loaded.diagnostics();
  const SeriesColumn& time = table->columns.front();
  const Result<Run> run = run_at(*loaded, {.at = time.values});
  if (!run.ok()) return run.diagnostics();
  std::vector<Row> rows;
  for (const SeriesColumn& c : table->columns) {
    if (&c == &time) continue;
    const std::vector<double>& series = output(*run, c.name);
    const auto k = std::find(run->output_names.begin(), run->output_names.end(), c.name);
    const std::string unit = run->output_units[static_cast<size_t>(k - run->output_names.begin())];
    double scale = 0, deviation = 0;
    for (size_t i = 0; i < c.values.size(); ++i) {
      scale = std::max(scale, std::abs(c.values[i]));
      deviation = std::max(deviation, std::abs(series[i] - c.values[i]));
    }
    rows.push_back({fmt::format("{}{}({:g} s)", prefix, c.name, time.values.back()),
                    c.values.back(), series.back(), unit, share * scale, ""});
    rows.push_back(
        {fmt::format("{}{}, largest deviation at {} times", prefix, c.name, c.values.size()), 0,
         deviation, unit, share * scale, ""});
  }
  return rows;
}

}  // namespace panto::validation
