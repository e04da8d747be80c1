// Studies of `panto invert` from files: the model they name, and sampled paths beside them.
#pragma once

#include <string>

#include "panto/inversion/study.hpp"

namespace panto {

struct LoadedInvertStudy {
  Model model;
  ServoChoice servo;
  PathSpec path;
  InvertOptions options;
};
// The model beside the study file; servo tables of the study, or else those of the model. Errors: those of invert_study, of the model, E06xx of a sampled path.
Result<LoadedInvertStudy> load_invert_study(const ModelSpec& description);
Result<LoadedInvertStudy> load_invert_study(const std::string& path);

// The path is made at the rest where it begins, then inverted.
Result<Inversion> run_invert_study(const LoadedInvertStudy& study);
// What `panto invert --analyse` tells, at the beginning of the study's path.
Result<AnalysedRest> analyse_invert_study(const LoadedInvertStudy& study);

}  // namespace panto
