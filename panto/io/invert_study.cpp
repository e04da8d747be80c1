#include "panto/io/invert_study.hpp"

#include <fmt/format.h>

#include "panto/io/beside.hpp"
#include "panto/io/csv.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"

namespace panto {

Result<LoadedInvertStudy> load_invert_study(const ModelSpec& description) {
  Result<InvertStudy> study = invert_study(description);
  if (!study.ok()) return study.diagnostics();
  Diagnostics d;
  ModelSpec spec;
  Result<Model> model = load(model_beside(description.file, study->model), study->set, &spec);
  if (!model.ok()) {
    append_at(model.diagnostics(), description.root.find("model"), d);
    return d;
  }
  LoadedInvertStudy out{std::move(*model), std::move(study->servo), std::move(study->path),
                        std::move(study->options)};
  if (out.servo.inputs.empty()) {
    Result<ServoChoice> own = servo_choice(spec);
    if (!own.ok()) return own.diagnostics();
    out.servo = std::move(*own);
  }
  if (out.path.kind != PathSpec::Kind::kSamples) return out;
  const Result<SeriesTable> table = read_csv(file_beside(description.file, out.path.file));
  if (!table.ok()) return table.diagnostics();
  if (table->columns.size() != out.servo.outputs.size() + 1) {
    d.error(1002, out.path.loc,
            fmt::format("\"{}\" has {} columns; time and {} outputs are needed", out.path.file,
                        table->columns.size(), out.servo.outputs.size()));
    return d;
  }
  out.path.times = table->columns.front().values;
  out.path.points.assign(table->rows(), {});
  for (size_t c = 1; c < table->columns.size(); ++c)
    for (size_t i = 0; i < table->rows(); ++i)
      out.path.points[i].push_back(table->columns[c].values[i]);
  return out;
}

Result<LoadedInvertStudy> load_invert_study(const std::string& path) {
  const Result<ModelSpec> file = read_model_file(path);
  if (!file.ok()) return file.diagnostics();
  return load_invert_study(*file);
}

namespace {

// The servo system and the path, which may begin where the model rests.
struct Ready {
  std::unique_ptr<ModelServo> servo;
  std::optional<Path> path;
};
Result<Ready> ready(const LoadedInvertStudy& study) {
  Result<std::unique_ptr<ModelServo>> servo =
      ModelServo::create(study.model, nominal(study.model), study.servo);
  if (!servo.ok()) return servo.diagnostics();
  Result<AnalysedRest> rest = analyse_at_rest(**servo);
  if (!rest.ok()) return rest.diagnostics();
  Result<Path> path = path_of(study.path, *rest);
  if (!path.ok()) {
    Diagnostics d;
    for (const Diagnostic& item : path.diagnostics().items())
      d.error(item.id, study.path.loc, item.message);
    return d;
  }
  return Ready{std::move(*servo), std::move(*path)};
}

}  // namespace

Result<AnalysedRest> analyse_invert_study(const LoadedInvertStudy& study) {
  Result<Ready> r = ready(study);
  if (!r.ok()) return r.diagnostics();
  Result<AnalysedRest> rest = analyse_at_rest(*r->servo, *r->path);
  if (!rest.ok()) return rest.diagnostics();
  Diagnostics notes = judge(rest->analysis, *r->path);
  Diagnostics warnings;  // the analysis is what was asked for: what it finds is no failure
  for (const Diagnostic& item : notes.items()) warnings.warning(item.id, item.loc, item.message);
  return {std::move(*rest), std::move(warnings)};
}

Result<Inversion> run_invert_study(const LoadedInvertStudy& study) {
  Result<Ready> r = ready(study);
  if (!r.ok()) return r.diagnostics();
  return invert(study.model, nominal(study.model), study.servo, *r->path, study.options);
}

}  // namespace panto
