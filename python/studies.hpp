// What bindings of verbs share that take a study.
#pragma once

#include "panto/io/study_model.hpp"
#include "python/long_call.hpp"

namespace panto::python {

inline std::vector<std::pair<std::string, std::string>> pairs_of(
    const std::vector<Override>& overrides) {
  std::vector<std::pair<std::string, std::string>> out;
  out.reserve(overrides.size());
  for (const Override& o : overrides) out.emplace_back(o.name, o.value);
  return out;
}

// The study's model: its description, what the study sets, compiled with that.
template <class Study>
py::tuple model_of_study(Result<StudyWithModel<Study>> result) {
  CompiledModel compiled;
  compiled.warnings = result.diagnostics();
  StudyWithModel<Study> loaded = value_of(std::move(result));
  compiled.params = nominal(loaded.model);
  compiled.model = std::make_shared<const Model>(std::move(loaded.model));
  return py::make_tuple(std::move(loaded.spec), pairs_of(loaded.study.set), std::move(compiled));
}

}  // namespace panto::python
