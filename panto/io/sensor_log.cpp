#include "panto/io/sensor_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "panto/base/units.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/csv.hpp"
#include "panto/io/hdf5.hpp"
#include "panto/io/results.hpp"

namespace panto {
namespace {

constexpr std::string_view kMeasured = ".measured";

int input_named(const Model& model, std::string_view name) {
  for (size_t i = 0; i < model.inputs.size(); ++i)
    if (model.inputs[i].name == name) return static_cast<int>(i);
  return -1;
}

bool is_sensor(const Model& model, int output) {
  return std::any_of(model.sensors.begin(), model.sensors.end(),
                     [&](const Sensor& s) { return s.output == output; });
}

std::string without_suffix(const std::string& name) {
  return name.ends_with(kMeasured) ? name.substr(0, name.size() - kMeasured.size()) : name;
}

bool wants(const std::vector<std::string>& wanted, const Model& model, const std::string& name) {
  if (wanted.empty()) return is_sensor(model, find_output(model, name));
  return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

// What one unit of the column is in SI; an error where it does not fit.
double factor_of(const std::string& column, const std::string& unit, Dim dim, const Loc& loc,
                 Diagnostics& notes) {
  if (unit.empty()) return 1;
  const std::optional<Unit> found = parse_unit(unit);
  if (!found) {
    notes.error(811, loc,
                fmt::format("column \"{}\": unit \"{}\" is not known{}", column, unit,
                            did_you_mean(unit, unit_symbols())));
    return 1;
  }
  if (!(found->dim == dim))
    notes.error(811, loc,
                fmt::format("column \"{}\" is in {}, but must be in {} (or a multiple of it)",
                            column, unit, dim == Dim{} ? "rad or without unit" : to_string(dim)));
  return found->factor;
}

// Every sensor that was asked for is there, and at least one.
void demand(const SensorLog& log, const Model& model, const std::vector<std::string>& wanted,
            const std::vector<std::string>& present, Diagnostics& notes) {
  const auto has = [&](const std::string& name) {
    return std::any_of(log.sensors.begin(), log.sensors.end(),
                       [&](const LogSeries& s) { return s.name == name; });
  };
  for (const std::string& name : wanted)
    if (!has(name))
      notes.error(
          810, {log.file, 0, 0},
          fmt::format("has no readings of sensor \"{}\"{}", name, did_you_mean(name, present)));
  if (wanted.empty() && log.sensors.empty()) {
    std::vector<std::string> names;
    for (const Sensor& s : model.sensors)
      names.push_back(model.outputs[static_cast<size_t>(s.output)].name);
    std::string nearest_one;
    for (const std::string& name : present)
      if (nearest_one.empty())
        if (const auto guess = nearest(name, names))
          nearest_one = fmt::format("; is \"{}\" \"{}\"?", name, *guess);
    notes.error(810, {log.file, 0, 0},
                names.empty() ? "the model has no sensors; name outputs of it that were measured"
                              : fmt::format("has no readings of a sensor of the model ({}){}",
                                            fmt::join(names, ", "), nearest_one));
  }
}

void ignored(const std::vector<std::string>& names, const std::string& file, Diagnostics& notes) {
  if (!names.empty())
    notes.warning(814, {file, 0, 0},
                  fmt::format("columns that are no output or input of the model are ignored: {}",
                              fmt::join(names, ", ")));
}

size_t time_column(const SeriesTable& table) {
  for (const char* name : {"t", "time"})
    if (const int i = table.find(name); i >= 0) return static_cast<size_t>(i);
  return 0;
}

// Adds to the series of that name.
void append(std::vector<LogSeries>& all, const std::string& name, const LogSample& sample) {
  auto found =
      std::find_if(all.begin(), all.end(), [&](const LogSeries& s) { return s.name == name; });
  if (found == all.end()) {
    all.push_back({name, {}});
    found = all.end() - 1;
  }
  found->samples.push_back(sample);
}

struct Stamps {
  std::vector<double> t;  // NaN: none
};

Stamps stamps_of(const SeriesTable& table, const std::string& file, Diagnostics& notes) {
  const SeriesColumn& c = table.columns[time_column(table)];
  const double factor = factor_of(c.name, c.unit, dim::kTime, {file, 1, 1}, notes);
  Stamps s;
  long lost = 0;
  for (const double t : c.values) {
    s.t.push_back(factor * t);
    if (!std::isfinite(t)) ++lost;
  }
  if (lost > 0)
    notes.warning(818, {file, 0, 0}, fmt::format("{} rows without a time are left out", lost));
  return s;
}

SensorLog long_table(const SeriesTable& table, const std::string& file, const Model& model,
                     const std::vector<std::string>& wanted, Diagnostics& notes) {
  SensorLog log;
  log.file = file;
  const Stamps stamps = stamps_of(table, file, notes);
  const std::vector<std::string>& names =
      table.columns[static_cast<size_t>(table.find("sensor"))].texts;
  const std::vector<double>& values =
      table.columns[static_cast<size_t>(table.find("value"))].values;
  std::vector<std::string> present, unknown;
  const auto note = [](std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  };
  for (size_t i = 0; i < names.size(); ++i) {
    if (!std::isfinite(stamps.t[i])) continue;
    const LogSample sample{stamps.t[i], values[i], static_cast<long>(i), table.lines[i]};
    note(present, names[i]);
    if (find_output(model, names[i]) >= 0) {
      if (wants(wanted, model, names[i])) append(log.sensors, names[i], sample);
    } else if (input_named(model, names[i]) >= 0) {
      append(log.inputs, names[i], sample);
    } else {
      note(unknown, names[i]);
    }
  }
  ignored(unknown, file, notes);
  demand(log, model, wanted, present, notes);
  return log;
}

SensorLog wide_table(const SeriesTable& table, const std::string& file, const Model& model,
                     const std::vector<std::string>& wanted, Diagnostics& notes) {
  SensorLog log;
  log.file = file;
  const size_t time = time_column(table);
  const Stamps stamps = stamps_of(table, file, notes);
  std::vector<std::string> present, unknown;
  for (size_t j = 0; j < table.columns.size(); ++j) {
    if (j == time) continue;
    const SeriesColumn& c = table.columns[j];
    const std::string name = without_suffix(c.name);
    const int output = find_output(model, name), input = input_named(model, name);
    present.push_back(name);
    if (output < 0 && input < 0) {
      if (!c.name.starts_with("energy.")) unknown.push_back(c.name);
      continue;
    }
    // The ideal values beside measured ones are no readings.
    const bool ideal = c.name == name && table.find(name + std::string(kMeasured)) >= 0;
    if (ideal || (output >= 0 && !wants(wanted, model, name))) continue;
    const Dim dim = output >= 0 ? model.outputs[static_cast<size_t>(output)].dim
                                : model.inputs[static_cast<size_t>(input)].dim;
    const double factor = factor_of(c.name, c.unit, dim, {file, 1, 1}, notes);
    LogSeries series{name, {}};
    for (size_t i = 0; i < c.values.size(); ++i)
      if (std::isfinite(stamps.t[i]))
        series.samples.push_back(
            {stamps.t[i], factor * c.values[i], static_cast<long>(i), table.lines[i]});
    (output >= 0 ? log.sensors : log.inputs).push_back(std::move(series));
  }
  ignored(unknown, file, notes);
  demand(log, model, wanted, present, notes);
  return log;
}

SensorLog measured_run(const Run& run, const std::string& file, const Model& model,
                       const std::vector<std::string>& wanted, Diagnostics& notes) {
  SensorLog log;
  log.file = file;
  if (run.measured.empty()) {
    notes.error(810, {file, 0, 0},
                "the run holds no measurements; simulate with --seed to have the sensors read");
    return log;
  }
  // In the order of time, sensor by sensor at each.
  std::vector<double> times;
  for (const MeasuredSeries& m : run.measured) times.insert(times.end(), m.t.begin(), m.t.end());
  std::sort(times.begin(), times.end());
  std::vector<std::string> present, unknown;
  for (const MeasuredSeries& m : run.measured) {
    present.push_back(m.name);
    if (find_output(model, m.name) < 0) {
      unknown.push_back(m.name);
      continue;
    }
    if (!wants(wanted, model, m.name)) continue;
    LogSeries series{m.name, {}};
    for (size_t i = 0; i < m.t.size(); ++i) {
      const auto place = std::lower_bound(times.begin(), times.end(), m.t[i]) - times.begin();
      series.samples.push_back({m.t[i], m.values[i], static_cast<long>(place), 0});
    }
    log.sensors.push_back(std::move(series));
  }
  ignored(unknown, file, notes);
  demand(log, model, wanted, present, notes);
  return log;
}

}  // namespace

Result<SensorLog> parse_sensor_log(std::string_view csv, const std::string& file,
                                   const Model& model, const std::vector<std::string>& wanted) {
  const Result<SeriesTable> table = parse_csv(csv, file, "sensor");
  if (!table.ok()) return table.diagnostics();
  Diagnostics notes = table.diagnostics();
  const bool rows = table->find("sensor") >= 0 && table->find("value") >= 0;
  SensorLog log = rows ? long_table(*table, file, model, wanted, notes)
                       : wide_table(*table, file, model, wanted, notes);
  if (!notes.ok()) return notes;
  return {std::move(log), notes};
}

Result<SensorLog> read_sensor_log(const std::string& path, const Model& model,
                                  const std::vector<std::string>& wanted) {
  Result<std::string> bytes = read_bytes(path);
  if (!bytes.ok()) return bytes.diagnostics();
  if (!hdf5::has_signature(*bytes)) return parse_sensor_log(*bytes, path, model, wanted);
  const Result<Run> run = hdf5::read(*bytes, path);
  if (!run.ok()) return run.diagnostics();
  Diagnostics notes = run.diagnostics();
  SensorLog log = measured_run(*run, path, model, wanted, notes);
  if (!notes.ok()) return notes;
  return {std::move(log), notes};
}

Result<SensorLog> read_sensor_log(const std::string& path, const Model& model,
                                  std::vector<SensorSettings>& sensors) {
  std::vector<std::string> names;
  names.reserve(sensors.size());
  for (const SensorSettings& s : sensors) names.push_back(s.name);
  Result<SensorLog> log = read_sensor_log(path, model, names);
  if (log.ok() && sensors.empty())
    for (const LogSeries& s : log->sensors) {
      sensors.emplace_back();
      sensors.back().name = s.name;
    }
  return log;
}

Result<SensorLog> read_sensor_log(const std::string& path, const Model& model, const Params& params,
                                  KinematicSetup& setup) {
  std::vector<std::string> present;
  const bool load_cells =
      setup.forces && setup.forces->form == ForceForm::kF12 && setup.forces->measured.empty();
  if (setup.inputs.empty() || setup.sensors.empty() || load_cells) {
    const Result<SensorLog> all = read_sensor_log(path, model, std::vector<std::string>{});
    if (!all) return all.diagnostics();
    for (const LogSeries& s : all->sensors) present.push_back(s.name);
  }
  Result<KinematicSetup> completed = complete(std::move(setup), model, params, present);
  if (!completed) return completed.diagnostics();
  setup = std::move(*completed);
  std::vector<std::string> wanted;
  for (const std::string& name : setup.channels())
    if (find_output(model, name) >= 0) wanted.push_back(name);
  Result<SensorLog> log = read_sensor_log(path, model, wanted);
  if (!log) return log;
  Diagnostics notes = completed.diagnostics();
  notes.append(log.diagnostics());
  return {std::move(*log), notes};
}

Diagnostics write_csv(const EstimateSeries& s, const std::string& path) {
  SeriesTable table;
  table.comments = {fmt::format("model {}, filter {}", s.model, s.filter)};
  table.columns.push_back({"t", "s", s.t});
  for (const EstimateColumn& c : s.estimates) {
    table.columns.push_back({c.name, c.unit, c.value});
    table.columns.push_back({c.name + ".sigma", c.unit, c.sigma});
  }
  for (const EstimateColumn& c : s.innovations) {
    table.columns.push_back({c.name + ".innovation", c.unit, c.value});
    table.columns.push_back({c.name + ".innovation.sigma", c.unit, c.sigma});
  }
  table.columns.push_back({"nis", "", s.nis});
  if (!s.zone.empty()) table.columns.push_back({"zone", "", s.zone});
  for (const WordColumn& c : s.readings)
    table.columns.push_back({c.name + ".reading", "", {}, c.words});
  return write_text_atomically(path, csv_text(table));
}

Diagnostics write_hdf5(const EstimateSeries& s, const std::string& path) {
  return write_atomically(path, [&](const std::string& name) { return hdf5::write(s, name); });
}

}  // namespace panto
