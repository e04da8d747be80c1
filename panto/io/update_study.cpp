#include "panto/io/update_study.hpp"

#include <utility>

#include "panto/io/beside.hpp"
#include "panto/io/modal_test.hpp"
#include "panto/io/toml.hpp"

namespace panto {

Result<UpdateStudy> read_update_study(const ModelSpec& description) {
  Result<UpdateStudy> study = update_study(description);
  if (!study) return study;
  Diagnostics notes = study.diagnostics();
  for (UpdatePose& pose : study->poses) {
    if (pose.file.empty()) continue;
    Result<ModalTest> test = read_modal_test(file_beside(description.file, pose.file));
    notes.append(test.diagnostics());
    if (test) pose.test = std::move(*test);
  }
  if (!notes.ok()) return notes;
  return {std::move(*study), std::move(notes)};
}

Result<LoadedUpdateStudy> load_update_study(const ModelSpec& description) {
  return study_with_model(description, read_update_study(description));
}

Result<LoadedUpdateStudy> load_update_study(const std::string& path) {
  const Result<ModelSpec> file = read_model_file(path);
  if (!file) return file.diagnostics();
  return load_update_study(*file);
}

}  // namespace panto
