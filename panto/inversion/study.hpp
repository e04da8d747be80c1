// An inversion described by a study file: the model, the path, the method, limits.
#pragma once

#include "panto/inversion/feedback/feedback_study.hpp"
#include "panto/inversion/invert.hpp"
#include "panto/model/spec.hpp"

namespace panto {

// A path as it is written; `sampled` names a file that somebody else reads.
struct PathSpec {
  enum class Kind : std::uint8_t { kLine, kCircle, kPoints, kSamples } kind = Kind::kLine;
  std::vector<double> from, to, centre;  // from empty: the outputs at rest in the initial pose
  double start = 0, duration = 1, turns = 1;
  double speed = 0;           // > 0: the largest by arc length, in place of a duration
  int smooth = -1;            // -1: as smooth as the analysis asks for, bounded motions once more
  std::vector<double> times;  // kPoints: empty where they are passed by arc length
  std::vector<std::vector<double>> points;
  std::string file;  // kSamples: a column of time, then one per output
  Loc loc;
};

// When it ends, where that is written: not of a path with a speed, nor of one in a file.
std::optional<double> end_of(const PathSpec& path);

struct InvertStudy {
  std::string model;
  std::vector<Override> set;
  ServoChoice servo;  // without inputs: that of the model file
  PathSpec path;
  InvertOptions options;
  FeedbackStudy feedback;
  std::optional<Redefinition> redefine;  // follow other outputs than those asked for
  std::string
      feedforward;  // file of another inversion, taken in place of one of this study; empty: none
};

// Names of methods: "euler", "linear_euler", "bdf1" … "bdf6", "radau5". False: there is no such method.
bool inverse_method(const std::string& name, InverseOptions& options);
// "original", "projection", "substitution", "minimal_extension", "baumgarte"; "analytic", "difference", "broyden".
// The same, or "stable".
bool invert_method(const std::string& name, InvertOptions& options);
// "eigenspaces", "clamped".
std::optional<EndKind> end_kind_of(const std::string& name);
// "rest", "linear".
std::optional<StableGuess> stable_guess_of(const std::string& name);
std::optional<StableMethod> optimal_solver_of(const std::string& name);
std::optional<Formulation> formulation_of(const std::string& name);
std::optional<JacobianKind> jacobian_of(const std::string& name);

// Whether a description is such a study and not a model: it has a path.
bool is_invert_study(const ModelSpec& file);
// E0110 … E0115 for keys and types, E0302, E0304 for numbers.
Result<InvertStudy> invert_study(const ModelSpec& file);

// The path of a study for a mechanism at rest (where `from` is left out). kSamples: times and points have been filled in.
Result<Path> path_of(const PathSpec& spec, const AnalysedRest& rest, InvertMethod method);

}  // namespace panto
