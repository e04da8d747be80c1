#include "panto/io/study.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "panto/io/atomic_file.hpp"
#include "panto/io/beside.hpp"
#include "panto/io/hdf5.hpp"
#include "panto/io/load.hpp"
#include "panto/io/modal_test.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/write_toml.hpp"

namespace panto {

namespace fs = std::filesystem;

std::string model_beside(const std::string& file, const std::string& model) {
  const fs::path candidate = fs::path(file).parent_path() / model;
  std::error_code failure;
  const bool found = fs::is_regular_file(candidate, failure) ||
                     fs::is_regular_file(candidate / "model.toml", failure);
  return found ? candidate.string() : model;
}

std::string file_beside(const std::string& file, const std::string& name) {
  return (fs::path(file).parent_path() / name).string();
}

void append_at(const Diagnostics& from, const Node* key, Diagnostics& to) {
  for (const Diagnostic& d : from.items()) {
    const Loc& at = d.loc.file.empty() && key != nullptr ? key->loc : d.loc;
    if (d.severity == Severity::kError)
      to.error(d.id, at, d.message);
    else
      to.warning(d.id, at, d.message);
  }
}

Result<IdentifyStudy> read_identify_study(const ModelSpec& description) {
  Result<IdentifyStudy> study = identify_study(description);
  if (!study) return study;
  Diagnostics notes = study.diagnostics();
  for (MeasuredPose& pose : study->poses) {
    if (pose.file.empty()) continue;
    const Result<ModalTest> test = read_modal_test(file_beside(description.file, pose.file));
    notes.append(test.diagnostics());
    if (!test) continue;
    if (!pose.mode_numbers.empty() && pose.mode_numbers.size() != test->modes.size())
      notes.error(113, pose.loc,
                  fmt::format("pose \"{}\": modes: {} values for {} frequencies", pose.name,
                              pose.mode_numbers.size(), test->modes.size()));
    for (const MeasuredMode& mode : test->modes) {
      MeasuredFrequency m;
      m.frequency_hz = mode.frequency_hz;
      m.sigma_hz = mode.frequency_sigma;
      m.loc = pose.loc;
      if (pose.modes.size() < pose.mode_numbers.size())
        m.mode = pose.mode_numbers[pose.modes.size()];
      pose.modes.push_back(m);
    }
  }
  if (!notes.ok()) return notes;
  return {std::move(*study), std::move(notes)};
}

Result<LoadedStudy> load_identify_study(const ModelSpec& description) {
  return study_with_model(description, read_identify_study(description));
}

Result<LoadedStudy> load_identify_study(const std::string& path) {
  const Result<ModelSpec> file = read_model_file(path);
  if (!file) return file.diagnostics();
  return load_identify_study(*file);
}

Result<LoadedObserveStudy> load_observe_study(const ModelSpec& description) {
  Result<ObserveStudy> study = observe_study(description);
  if (!study) return study.diagnostics();
  LoadedObserveStudy out;
  out.study = std::move(*study);
  out.load = [file = description.file](const std::string& name, const std::vector<Override>& set) {
    return load(model_beside(file, name), set);
  };
  return {std::move(out), study.diagnostics()};
}

Result<LoadedObserveStudy> load_observe_study(const std::string& path) {
  const Result<ModelSpec> file = read_model_file(path);
  if (!file) return file.diagnostics();
  return load_observe_study(*file);
}

Diagnostics write_hdf5(const TwinResult& result, const std::string& path) {
  return write_atomically(path, [&](const std::string& name) { return hdf5::write(result, name); });
}

Result<FilterSetup> load_filter_setup(const std::string& path) {
  const Result<ModelSpec> file = read_model_file(path);
  if (!file) return file.diagnostics();
  return filter_setup(*file);
}

Result<KinematicSetup> load_kinematic_setup(const std::string& path) {
  const Result<ModelSpec> file = read_model_file(path);
  if (!file) return file.diagnostics();
  return kinematic_setup(*file);
}

bool is_kinematic_file(const std::string& path) {
  const Result<ModelSpec> file = read_model_file(path);
  return file && is_kinematic(*file);
}

Diagnostics write_filter_setup(const FilterSetup& setup, const std::string& path) {
  return write_text_atomically(path, write_toml(describe(setup)));
}

}  // namespace panto
