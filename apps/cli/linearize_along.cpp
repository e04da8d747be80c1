#include "apps/cli/linearize_along.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/cli/json.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "panto/io/results.hpp"
#include "panto/linear/response.hpp"

namespace panto::cli {
namespace {

void matrices(JsonWriter& json, const char* name, const LinearTrajectory& along,
              Eigen::MatrixXd LinearModel::*matrix) {
  json.key(name).begin_array();
  for (const LinearModel& m : along.models) {
    const Eigen::MatrixXd& a = m.*matrix;
    json.begin_array();
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      json.begin_array();
      for (Eigen::Index j = 0; j < a.cols(); ++j) json.value(a(i, j));
      json.end_array();
    }
    json.end_array();
  }
  json.end_array();
}

void vectors(JsonWriter& json, const char* name, const LinearTrajectory& along,
             Eigen::VectorXd OperatingPoint::*vector) {
  json.key(name).begin_array();
  for (const OperatingPoint& p : along.points) {
    const Eigen::VectorXd& x = p.*vector;
    json.value(std::span<const double>(x.data(), static_cast<size_t>(x.size())));
  }
  json.end_array();
}

std::string json_of(const Model& model, const LinearTrajectory& along) {
  const LinearModel& first = along.models.front();
  JsonWriter json;
  json.begin_object()
      .member("model", model.name)
      .member("coordinates", first.coordinates)
      .member("independent", first.independent)
      .member("states", first.states)
      .member("inputs", first.inputs)
      .member("outputs", first.outputs)
      .member("output_units", first.output_units)
      .member("time", along.time);
  json.key("state_space").begin_object();
  matrices(json, "A", along, &LinearModel::A);
  matrices(json, "B", along, &LinearModel::B_x);
  matrices(json, "B_rate", along, &LinearModel::B_rate);
  matrices(json, "C", along, &LinearModel::C_x);
  matrices(json, "D", along, &LinearModel::D_x);
  matrices(json, "D_rate", along, &LinearModel::D_rate);
  json.end_object();
  json.key("minimal").begin_object();
  matrices(json, "R", along, &LinearModel::R);
  matrices(json, "M", along, &LinearModel::M_z);
  matrices(json, "D", along, &LinearModel::D_z);
  matrices(json, "K", along, &LinearModel::K_z);
  matrices(json, "B", along, &LinearModel::B_z);
  json.end_object();
  json.key("eigenvalues").begin_array();
  for (const LinearModel& m : along.models) {
    json.begin_array();
    for (const auto& s : poles(m)) json.begin_array().value(s.real()).value(s.imag()).end_array();
    json.end_array();
  }
  json.end_array();
  vectors(json, "q", along, &OperatingPoint::q);
  vectors(json, "v", along, &OperatingPoint::v);
  vectors(json, "u", along, &OperatingPoint::u);
  json.end_object();
  return json.text() + "\n";
}

// Some 20 of the samples, the first and the last among them.
std::vector<size_t> shown_rows(size_t count) {
  constexpr size_t kMost = 21;
  std::vector<size_t> rows;
  const size_t shown = std::min(count, kMost);
  for (size_t k = 0; k < shown; ++k) rows.push_back(shown == 1 ? 0 : k * (count - 1) / (shown - 1));
  return rows;
}

std::string table_of(const Model& model, const LinearTrajectory& along, const std::string& file) {
  const LinearModel& first = along.models.front();
  std::string text = fmt::format(
      "{}: linear model along {} s of motion, {} samples, {} states, {} inputs, {} outputs "
      "(matrices: --json, --out)\n\n  states ",
      model.name, along.time.back() - along.time.front(), along.time.size(), first.states.size(),
      first.inputs.size(), first.outputs.size());
  for (const std::string& name : first.states) text += " " + name;
  text += "\n\n        time [s]   largest real part [1/s]   frequencies [Hz]\n";
  for (const size_t i : shown_rows(along.time.size())) {
    const auto values = poles(along.models[i]);
    std::vector<double> hz;
    for (const auto& s : values)
      if (s.imag() > 0) hz.push_back(s.imag() / (2 * std::numbers::pi));
    std::sort(hz.begin(), hz.end());
    std::string frequencies;
    constexpr size_t kMostFrequencies = 6;
    for (size_t k = 0; k < hz.size() && k < kMostFrequencies; ++k)
      frequencies += fmt::format(" {:>10.5g}", hz[k]);
    if (hz.size() > kMostFrequencies) frequencies += " ...";
    // Eigenvalues come by decreasing real part.
    text += fmt::format("  {:>14.6g}  {:>24.6g}  {}\n", along.time[i],
                        values.empty() ? 0.0 : values.front().real(),
                        frequencies.empty() ? "          -" : frequencies);
  }
  if (!file.empty()) text += fmt::format("\n  written     {}\n", file);
  return text;
}

}  // namespace

void add_along_arguments(CLI::App& verb, AlongArguments& a) {
  auto* along = verb.add_flag("--along", a.along, "Along the motion from the initial state");
  a.until_given =
      verb.add_option("--until", a.until, "End of the motion [s] (default: the model's)")
          ->transform(times())
          ->type_name("T")
          ->needs(along);
  a.sample_given =
      verb.add_option("--sample", a.sample, "Linearise every so many seconds (default: 200 times)")
          ->transform(times())
          ->type_name("s")
          ->needs(along);
  a.tol_given = verb.add_option("--tol", a.tol, "Relative tolerance of the motion")
                    ->type_name("e")
                    ->needs(along);
  verb.add_option("-o,--out", a.out, "Write the matrices over time to an HDF5 file")
      ->type_name("linear.h5")
      ->needs(along);
  for (const char* single :
       {"--equilibrium", "--here", "--steady", "--time", "--from", "--to", "--sweep"})
    along->excludes(verb.get_option(single));
}

int linearize_along_verb(const OperatingArguments& operating, const AlongArguments& a) {
  int exit_code = kOk;
  Diagnostics notes;
  const std::optional<Model> model = posed_model(operating, notes, exit_code);
  if (!model) return exit_code;
  AlongOptions options;
  if (a.until_given->count() > 0) options.until = a.until;
  if (a.sample_given->count() > 0) options.sample = a.sample;
  if (a.tol_given->count() > 0) options.tol = a.tol;
  const Interrupt interrupt;
  Progress progress("linearize " + model->name);
  options.progress = [&](double fraction) {
    progress.show(fraction);
    return !Interrupt::requested();
  };
  const Result<LinearTrajectory> along = linearize_along(*model, nominal(*model), options);
  progress.wipe();
  notes.append(along.diagnostics());
  if (along.ok() && !a.out.empty()) notes.append(write_hdf5(*along, model->name, a.out));
  if (!notes.ok()) return fail(notes, operating.json);
  print(notes);
  if (operating.json) {
    out(json_of(*model, *along));
  } else {
    summary(table_of(*model, *along, a.out));
  }
  return Interrupt::requested() ? kInterrupted : kOk;
}

}  // namespace panto::cli
