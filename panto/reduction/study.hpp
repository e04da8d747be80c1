// A reduction described by a study file: where the system comes from, and what the reduced model is for.
#pragma once

#include <variant>

#include "panto/model/spec.hpp"
#include "panto/reduction/mesh.hpp"
#include "panto/reduction/reduce.hpp"

namespace panto {

// A mechanism linearised at a pose.
struct PosedModel {
  std::string model;
  std::vector<Override> set;
  std::vector<PoseValue> at;
  Operation operation = Operation::kEquilibrium;
};
// Matrix Market files.
struct MatrixFiles {
  std::string mass, stiffness, damping;  // damping: empty: none
};
// Matrices that CalculiX stored: job.sti, job.mas, job.dof.
struct CalculixJob {
  std::string job;
};

struct ReduceStudy {
  std::variant<PosedModel, MatrixFiles, CalculixJob, Plate, Prism, BeamFrame> source;
  std::string name;
  ReduceOptions options;
};

// Whether a description is such a study and not a model: it names masters, or what only a study has.
bool is_reduce_study(const ModelSpec& file);
// E0110 … E0115 for keys and types, E0302, E0304 for numbers.
Result<ReduceStudy> reduce_study(const ModelSpec& file);
// The options with those that `changes` holds, under the keys of a study, in their place; modes or a band stand for both, and for weights. Diagnostics as
// above.
Result<ReduceOptions> changed(ReduceOptions options, const ModelSpec& changes);

}  // namespace panto
