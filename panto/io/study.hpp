// From study files to what identify() and run_twin() take: the study and its models. Settings of filters as files.
#pragma once

#include <string>

#include "panto/base/diagnostics.hpp"
#include "panto/estimation/kinematic_setup.hpp"
#include "panto/estimation/twin.hpp"
#include "panto/identification/study.hpp"
#include "panto/io/study_model.hpp"

namespace panto {

using LoadedStudy = StudyWithModel<IdentifyStudy>;

// Reads a study file and loads its model: a file or folder beside the study, else as load() takes it.
Result<LoadedStudy> load_identify_study(const std::string& path);

// The study alone, for a model that is at hand; modal tables that its poses name are read beside its file.
Result<IdentifyStudy> read_identify_study(const ModelSpec& description);

// The same of a description made in code; its `file` says beside what the model is sought, empty: the working folder.
Result<LoadedStudy> load_identify_study(const ModelSpec& description);

struct LoadedObserveStudy {
  ObserveStudy study;
  ModelLoader load;  // finds models beside the study first
};
Result<LoadedObserveStudy> load_observe_study(const std::string& path);
Result<LoadedObserveStudy> load_observe_study(const ModelSpec& description);

// Rows of a study, and the courses of its runs where they were kept (see docs/observe.md).
Diagnostics write_hdf5(const TwinResult& result, const std::string& path);

// A settings file: a filter and its sensors.
Result<FilterSetup> load_filter_setup(const std::string& path);
Diagnostics write_filter_setup(const FilterSetup& setup, const std::string& path);
// A settings file with a table [kinematic]: a kinematic observer, and the forces behind it.
Result<KinematicSetup> load_kinematic_setup(const std::string& path);
// Whether it is such a file; false where there is none.
bool is_kinematic_file(const std::string& path);

}  // namespace panto
