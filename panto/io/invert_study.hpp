// Studies of `panto invert` from files: the model they name, and sampled paths beside them.
#pragma once

#include <optional>
#include <string>

#include "panto/inversion/study.hpp"
#include "panto/io/csv.hpp"

namespace panto {

struct LoopModel {
  Model model;
  Params params;
};
struct LoadedInvertStudy {
  Model model;
  Params params;
  ServoChoice servo;
  PathSpec path;
  InvertOptions options;
  FeedbackStudy feedback;  // laws empty: none is asked for
  std::optional<Redefinition> redefine;
  std::optional<SeriesTable>
      feedforward{};  // an inversion that was written to a file, taken in place of one's own
  std::optional<LoopModel> plant{}, observer{};  // of the loop, where they are other models
};
// The model beside the study file; servo tables of the study, or else those of the model. Errors: those of invert_study, of the model, E06xx of a sampled path.
Result<LoadedInvertStudy> load_invert_study(const ModelSpec& description);
Result<LoadedInvertStudy> load_invert_study(const std::string& path);
// With a model that is there already, described by `spec`, in place of the one that the study names.
Result<LoadedInvertStudy> load_invert_study(const ModelSpec& description, Model model,
                                            Params params, const ModelSpec& spec);
// A model alone, with its own servo tables: where to is still to be said.
Result<LoadedInvertStudy> invert_model(Model model, Params params, const ModelSpec& spec);

// What a caller says over a study; what is left out stays.
struct InvertChanges {
  std::optional<std::vector<std::string>> outputs, inputs;  // outputs: in place of conditions, too
  std::optional<std::vector<double>> to;                    // makes the path a line
  std::optional<double> duration, step, until;
  std::optional<std::string> method, solver, form, ends, guess;
  std::optional<double> before, after, tolerance;                  // of method "stable"
  std::optional<std::vector<std::string>> clamp_begin, clamp_end;  // the same
  std::optional<int> smooth;
  std::optional<bool> verify, force;
  std::optional<std::vector<InputLimit>> limits;
  std::optional<std::vector<std::string>> redefine;  // the rigid outputs
  std::optional<std::string> along;
  std::optional<double> weight;
};
struct UnknownWord {
  std::string option, word, expected;
};
// A word that names no method or formulation is handed back.
std::optional<UnknownWord> apply(const InvertChanges& changes, LoadedInvertStudy& study);
// Whether it says where to go.
bool has_path(const LoadedInvertStudy& study);

// The path is made at the rest where it begins, then inverted, by redefined outputs where these are asked for; or the feedforward is taken from its file, by name of
// actuators and coordinates, and judged by the path: E1101 where it holds no inputs of the study's actuators over equal steps, W1102 coordinates that it lacks, which
// stay at rest.
Result<Inversion> run_invert_study(const LoadedInvertStudy& study);
// What `panto invert --analyse` tells, at the beginning of the study's path; without one where the model rests. Of redefined outputs where these are asked for.
struct StudyAnalysis : AnalysedRest {
  std::optional<RedefinedOutput> redefined;
};
Result<StudyAnalysis> analyse_invert_study(const LoadedInvertStudy& study);

}  // namespace panto
