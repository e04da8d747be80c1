// From study files to what update() takes: the study with its modal tables, and its model.
#pragma once

#include <string>

#include "panto/base/diagnostics.hpp"
#include "panto/io/study_model.hpp"
#include "panto/updating/study.hpp"

namespace panto {

using LoadedUpdateStudy = StudyWithModel<UpdateStudy>;

// Reads a study file, the modal tables it names (beside it) and its model: a file or folder beside the study, else as load() takes it.
Result<LoadedUpdateStudy> load_update_study(const std::string& path);
// The same of a description made in code; its `file` says beside what files are sought, empty: the working folder.
Result<LoadedUpdateStudy> load_update_study(const ModelSpec& description);
// The study and its tables alone, for a model that is at hand.
Result<UpdateStudy> read_update_study(const ModelSpec& description);

}  // namespace panto
