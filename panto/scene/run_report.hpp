// The reports of runs and models: what `panto view` shows.
#pragma once

#include "panto/scene/report.hpp"

namespace panto::scene {

// A run with the model it came from; without a model there are plots, but nothing moves.
struct Recorded {
  const Run& run;
  const Model* model = nullptr;
  const Params* params = nullptr;
};

// Animation, outputs by unit, readings of sensors, energy and its drift, audit, cost and the model's numbers. A second run is laid over
// the first: its motion as a ghost (W0643 where its bodies are others), its outputs of the same names dashed.
Report report_of_run(const Recorded& run, const Recorded* second = nullptr);
Report report_of_run(const Model& model, const Params& params, const Run& run,
                     const Run* second = nullptr);

// The mechanism in its initial pose and its numbers. A model that cannot be assembled is drawn with all coordinates zero, with a note.
Report report_of_model(const Model& model, const Params& params);

}  // namespace panto::scene
