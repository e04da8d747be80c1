// Files that other files name.
#pragma once

#include <string>
#include <utility>

#include "panto/base/diagnostics.hpp"
#include "panto/io/load.hpp"
#include "panto/io/study_model.hpp"
#include "panto/model/spec.hpp"

namespace panto {

// A model file or folder beside `file`, else the name as it is.
std::string model_beside(const std::string& file, const std::string& model);
// A file beside `file`; absolute names stay.
std::string file_beside(const std::string& file, const std::string& name);

// What was found about a model that a key names: findings without a place of their own stand at the key.
void append_at(const Diagnostics& from, const Node* key, Diagnostics& to);

// A study (what `model` and `set` are members of) and its model, sought beside the description's file first.
template <class Study>
Result<StudyWithModel<Study>> study_with_model(const ModelSpec& description, Result<Study> study) {
  if (!study) return study.diagnostics();
  Diagnostics notes = study.diagnostics();
  StudyWithModel<Study> out;
  out.study = std::move(*study);
  Result<Model> model =
      load(model_beside(description.file, out.study.model), out.study.set, &out.spec);
  append_at(model.diagnostics(), description.root.find("model"), notes);
  if (!model) return notes;
  out.model = std::move(*model);
  return {std::move(out), std::move(notes)};
}

}  // namespace panto
