// What a study of feedback found: laws on plants, statistics over draws.
#pragma once

#include "panto/inversion/feedback/feedback_study.hpp"

namespace panto {

struct LoopCase {
  std::string feedback, plant;  // plant: "nominal", or the name of the perturbation
  LoopRun run;
};

// Statistics of all draws that ran to the end.
struct LoopDraws {
  std::string feedback;
  int draws = 0, failed = 0;
  std::vector<Spread> rms, max, final;                  // per output, of tracking errors
  std::vector<Spread> input_rms, input_max, saturated;  // per input
  std::vector<std::vector<double>> max_by_draw;         // per output; NaN: failed
};

struct FeedbackReport {
  std::vector<std::string> outputs, inputs, coordinates;
  std::vector<std::string> output_units, input_units, coordinate_units;
  std::vector<FeedbackDesign> designs;
  std::vector<LoopCase> cases;             // by law, then plant
  std::vector<LoopDraws> draws;            // by law; empty: none were asked for
  std::vector<std::string> varied;         // what was drawn: "m", "start x_T"
  std::vector<std::vector<double>> drawn;  // per quantity and draw: factor, offset or start
  bool complete = true;
};

}  // namespace panto
