// The feedback of a study tried out: every law on the model itself, on plants that differ from it, and on draws of them.
#pragma once

#include "panto/io/invert_study.hpp"

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

// Along an inversion of the same study. Errors: E1051 … E1058, those of observers (E08xx), E1059: the loop on the model itself fails, with its time.
// Warnings: W1059 the same of other plants, W1061 an actuator reaches its limit: when first, for which share of the cycles.
Result<FeedbackReport> run_feedback(const LoadedInvertStudy& study, const Inversion& inversion,
                                    const std::function<bool(double)>& progress = {});

// Inputs, outputs and coordinates of an inversion over time and of every loop, columns "law.plant.name"; as HDF5 where the name ends with .h5.
Diagnostics write_inversion(const Inversion& inversion, const FeedbackReport* feedback,
                            const std::string& path);

}  // namespace panto
