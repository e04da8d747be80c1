// Feedback as a study file describes it: laws, the loop, plants that are not the model, draws of them.
#pragma once

#include <optional>
#include <utility>

#include "panto/inversion/feedback/closed_loop.hpp"
#include "panto/model/spec.hpp"

namespace panto {

using NamedValues = std::vector<std::pair<std::string, double>>;

// Numbers as written: one, a list, a list of lists, or by name.
struct GainSpec {
  std::vector<std::vector<double>> rows;  // one row: a list; one entry: a number
  NamedValues named;
  [[nodiscard]] bool empty() const { return rows.empty() && named.empty(); }
};

struct LawSpec {
  std::string name;  // default: that of the law
  Law law = Law::kNone;
  GainSpec q, r;  // lqr
  LqrSettings::Where at = LqrSettings::Where::kEnd;
  int samples = 20;
  std::vector<NamedValues> rate, position;  // sliding: per actuator
  std::vector<double> reach, layer;
  GainSpec p, i, d;  // pid
  double filter = 0;
  Loc loc;
};

// A plant that is not the model.
struct Perturbation {
  std::string name;
  NamedValues factor, offset;  // of parameters: value · factor + offset
  NamedValues start;           // coordinates off the desired start by
  NamedValues disturbance;     // by actuator, in place of the loop's
  Loc loc;
};

// The same at random: standard deviations of factor - 1, offset and start.
struct MonteCarlo {
  int draws = 0;
  std::uint64_t seed = 1;
  int threads = 0;       // 0: all cores
  bool uniform = false;  // instead of normal, with the same standard deviation
  NamedValues factor, offset, start;
  Loc loc;
};

struct FeedbackStudy {
  std::vector<LawSpec> laws;  // empty: no feedback is asked for
  double sample = 0;          // cycle of the controller [s]; 0: that of the inverse model
  Hold hold = Hold::kZero;
  double plant_step = 1e-3;
  NamedValues lag, noise,
      disturbance;  // by actuator; by output, coordinate or speed ("phi_dot"); by actuator
  std::uint64_t seed = 1;
  std::string plant;  // model of the plant; empty: the one that is inverted
  std::optional<Node>
      observer;                // settings of a filter and its sensors, as `panto observe` has them
  std::string observer_model;  // empty: the one that is inverted
  std::vector<Perturbation> perturbed;
  MonteCarlo monte_carlo;
  Loc loop_loc;
};

// Keys of a study that belong to feedback.
std::vector<std::string> feedback_keys();
// E0110 … E0115, E0302 ….
FeedbackStudy feedback_study(const ModelSpec& file, Diagnostics& d);

// What the names of a study mean.
struct LoopNames {
  std::vector<std::string> inputs, outputs, coordinates;
};
// E1055: lists that do not fit. E1057: no such actuator, output or coordinate.
Result<FeedbackSettings> settings_of(const LawSpec& law, const LoopNames& names);
// E1057, E1058 (a cycle that is no multiple of the inverse model's). Limits and draws are left to the caller.
Result<LoopSettings> settings_of(const FeedbackStudy& study, const LoopNames& names, double dt);
// By name into a list of `size` zeros. E1057.
std::vector<double> listed(const NamedValues& values, const std::vector<std::string>& names,
                           const std::string& what, const Loc& loc, Diagnostics& d);

// Parameters of the plant. E1057: there is no such parameter.
Result<Params> perturbed(const Model& model, const Params& params, const Perturbation& change);
// Draw number k (from 0): depends on the seed, the name's place in the list and k alone.
Perturbation drawn(const MonteCarlo& spec, int k);

// Of a number over draws.
struct Spread {
  double mean = 0, deviation = 0, smallest = 0, largest = 0, most = 0;  // most: 95 % are below
};
Spread spread_of(std::vector<double> values);

}  // namespace panto
