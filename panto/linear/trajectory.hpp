// Small motions about a motion: the linear model with time-varying matrices.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "panto/integrate/simulate.hpp"
#include "panto/linear/linearize.hpp"

namespace panto {

// ẋ = A(t) x + B_x(t) δu + B_rate(t) δu̇,  δy = C_x(t) x + D_x(t) δu + D_rate(t) δu̇,                            (LIN-5)
// sampled. All models are in the same states: models[i].states is the same list for every i.
struct LinearTrajectory {
  std::vector<double> time;
  std::vector<OperatingPoint> points;
  std::vector<LinearModel> models;
};

// At every sample of a run of the workspace's model; the run must keep its states (E0518). Independent coordinates: of the choices that are best
// at some sample, the one that is best where it is worst. Fails where none of them serves from the first sample to the last (E0517, with the time):
// a coordinate that passes a dead point does not tell the motion there, and A(t) has a pole. Dead points between samples are found by the space of
// possible motions, which turns by less than a right angle from sample to sample of a run that shows the motion.
// Cost: that of linearize() per sample, and one factorisation of the constraints per sample and choice.
Result<LinearTrajectory> linearize_along(Workspace& workspace, const Run& run);

struct AlongOptions {
  std::optional<double> until;   // [s]; absent: what the model says
  std::optional<double> sample;  // [s]; absent: until / 200
  std::optional<double> tol;     // of the simulation; absent: what the model says, else 1e-8
  std::function<bool(double fraction)> progress;  // as of simulate()
};
// Along the motion from the model's initial state, simulated with a variable step.
Result<LinearTrajectory> linearize_along(const Model& model, const Params& params,
                                         const AlongOptions& options = {});

}  // namespace panto
