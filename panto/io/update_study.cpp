#include "panto/io/update_study.hpp"

#include <utility>

#include "panto/io/beside.hpp"
#include "panto/io/load.hpp"
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
  LoadedUpdateStudy out;
  Result<UpdateStudy> study = read_update_study(description);
  if (!study) return study.diagnostics();
  Diagnostics notes = study.diagnostics();
  out.study = std::move(*study);
  Result<Model> model =
      load(model_beside(description.file, out.study.model), out.study.set, &out.spec);
  append_at(model.diagnostics(), description.root.find("model"), notes);
  if (!model) return notes;
  out.model = std::move(*model);
  return {std::move(out), std::move(notes)};
}

Result<LoadedUpdateStudy> load_update_study(const std::string& path) {
  const Result<ModelSpec> file = read_model_file(path);
  if (!file) return file.diagnostics();
  return load_update_study(*file);
}

}  // namespace panto
