#include "panto/io/results.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "panto/io/atomic_file.hpp"
#include "panto/io/csv.hpp"
#include "panto/io/hdf5.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"

namespace panto {
namespace {

constexpr std::string_view kEnergyPrefix = "energy.";
constexpr std::string_view kMeasuredSuffix = ".measured";

// A measured series on the time grid of the run.
std::vector<double> on_grid(const MeasuredSeries& series, const std::vector<double>& t) {
  std::vector<double> values(t.size(), std::numeric_limits<double>::quiet_NaN());
  size_t k = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    while (k < series.t.size() && series.t[k] < t[i]) ++k;
    if (k < series.t.size() && series.t[k] == t[i]) values[i] = series.values[k];
  }
  return values;
}

struct EnergyColumn {
  const char* name;
  std::vector<double> Run::*values;
};
constexpr EnergyColumn kEnergy[] = {{"kinetic", &Run::kinetic},
                                    {"potential", &Run::potential},
                                    {"entered", &Run::entered},
                                    {"taken", &Run::taken}};

// Energy balance of what was read: the file holds the series, not their summary.
void summarise_energy(Run& run) {
  const size_t n = run.t.size();
  if (n == 0 || run.kinetic.size() != n || run.potential.size() != n) return;
  const bool with_work = run.entered.size() == n && run.taken.size() == n;
  run.energy_initial = run.kinetic.front() + run.potential.front();
  run.energy_final = run.kinetic.back() + run.potential.back();
  for (size_t i = 0; i < n; ++i) {
    double e = run.kinetic[i] + run.potential[i] - run.energy_initial;
    if (with_work) e -= (run.entered[i] - run.entered.front()) - (run.taken[i] - run.taken.front());
    run.energy_max_drift = std::max(run.energy_max_drift, std::abs(e));
  }
}

Result<Run> run_of_csv(std::string_view text, const std::string& path) {
  Diagnostics notes;
  if (!text.empty() && text.back() != '\n') {
    // Ours end with a line end; a last line without one may have lost digits.
    const size_t end = text.find_last_of('\n');
    text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
    notes.warning(624, {path, 0, 0}, "is truncated: the last line is incomplete and left out");
  }
  Result<SeriesTable> table = parse_csv(text, path);
  notes.append(table.diagnostics());
  if (!table.ok()) return notes;
  if (table->columns.front().name != "t") {
    notes.error(626, {path, 1, 1},
                fmt::format("is not a run: the first column must be \"t [s]\", found \"{}\"",
                            table->columns.front().name));
    return notes;
  }
  Run run;
  run.t = table->columns.front().values;
  for (size_t i = 1; i < run.t.size(); ++i) {
    if (run.t[i] >= run.t[i - 1]) continue;
    notes.error(626, {path, 0, 0}, fmt::format("is not a run: time goes back at row {}", i + 1));
    return notes;
  }
  for (size_t j = 1; j < table->columns.size(); ++j) {
    SeriesColumn& c = table->columns[j];
    bool taken = false;
    for (const EnergyColumn& e : kEnergy) {
      if (c.name != std::string(kEnergyPrefix) + e.name) continue;
      run.*e.values = std::move(c.values);
      taken = true;
    }
    if (taken) continue;
    if (c.name.ends_with(kMeasuredSuffix)) {
      MeasuredSeries series{
          c.name.substr(0, c.name.size() - kMeasuredSuffix.size()), c.unit, {}, {}};
      for (size_t i = 0; i < run.t.size(); ++i) {
        if (std::isnan(c.values[i])) continue;
        series.t.push_back(run.t[i]);
        series.values.push_back(c.values[i]);
      }
      run.measured.push_back(std::move(series));
      continue;
    }
    run.output_names.push_back(c.name);
    run.output_units.push_back(c.unit);
    run.outputs.push_back(std::move(c.values));
  }
  summarise_energy(run);
  return {std::move(run), notes};
}

}  // namespace

Diagnostics write_csv(const Run& run, const std::string& path) {
  SeriesTable table;
  table.columns.push_back({"t", "s", run.t});
  for (size_t k = 0; k < run.outputs.size(); ++k)
    table.columns.push_back({run.output_names[k], run.output_units[k], run.outputs[k]});
  for (const MeasuredSeries& m : run.measured)
    table.columns.push_back({m.name + std::string(kMeasuredSuffix), m.unit, on_grid(m, run.t)});
  for (const EnergyColumn& e : kEnergy)
    if ((run.*e.values).size() == run.t.size())
      table.columns.push_back({std::string(kEnergyPrefix) + e.name, "J", run.*e.values});
  return write_text_atomically(path, csv_text(table));
}

Diagnostics write_hdf5(const Run& run, const std::string& path) {
  return write_atomically(path, [&run](const std::string& name) { return hdf5::write(run, name); });
}

Diagnostics write_hdf5(const LinearTrajectory& along, const std::string& model,
                       const std::string& path) {
  return write_atomically(path,
                          [&](const std::string& name) { return hdf5::write(along, model, name); });
}

Result<Run> read_run(const std::string& path) {
  Result<std::string> bytes = read_bytes(path);
  if (!bytes.ok()) return bytes.diagnostics();
  if (bytes->empty()) {
    Diagnostics errors;
    errors.error(626, {path, 0, 0}, "is empty, not a run");
    return errors;
  }
  if (hdf5::has_signature(*bytes)) return hdf5::read(*bytes, path);
  if (bytes->find('\0') != std::string::npos) {
    Diagnostics errors;
    errors.error(626, {path, 0, 0}, "is neither an HDF5 nor a CSV file");
    return errors;
  }
  return run_of_csv(*bytes, path);
}

Result<Model> model_of(const Run& run) {
  if (run.model_text.empty()) {
    Diagnostics errors;
    errors.error(629, {}, "the run does not keep the model it came from");
    return errors;
  }
  Result<ModelSpec> spec = parse_model_text(run.model_text, run.model + ".toml");
  if (!spec) return spec.diagnostics();
  std::vector<Override> overrides;
  for (const std::string& text : run.settings)
    if (const size_t equals = text.find('='); equals != std::string::npos)
      overrides.push_back({text.substr(0, equals), text.substr(equals + 1)});
  return compile(*spec, overrides);
}

}  // namespace panto
