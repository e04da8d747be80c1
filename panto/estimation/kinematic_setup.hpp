// Settings of kinematic and two-stage observers as files have them, and what they leave open from the model and its own motion.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/estimation/force_observer.hpp"
#include "panto/estimation/kinematic_check.hpp"
#include "panto/model/spec.hpp"

namespace panto {

struct KinematicSetup {
  KinematicSettings
      settings;  // defaults of files are those with the least error: "rk4", inputs "linear", forces at the "end" of a step
  std::vector<KinematicChannel> inputs, sensors;  // empty: open
  std::optional<ForceSettings> forces;            // second stage
  // Per measured force, what holds its readings: a sensor of the model that reads it, or the input itself. Set by complete().
  std::vector<std::string> load_cells;
  bool zone_open = true, fallback_open = true,
       top_open = true;  // `enter`, `fallback_noise`, `sigma_top` are not given

  KinematicSetup() {
    settings.system.scheme = Scheme::kRungeKutta4;
    settings.system.hold = InputHold::kLinear;
  }

  // Inputs, sensors, load cells: all that is read.
  [[nodiscard]] std::vector<std::string> channels() const;
};

// Whether a settings file is one of these: it has a table [kinematic].
bool is_kinematic(const ModelSpec& file);
// From a settings file: E0110 … E0115 for keys and types, E0302 … for numbers, E0819 a sensor that is there twice.
Result<KinematicSetup> kinematic_setup(const ModelSpec& file);

// The model's own run.
Result<Run> own_motion(const Model& model, const Params& params);

// Fills what is open. Inputs and sensors: those of `present` (none: sensors of the model) that the order can use; measured forces: of `present`, those
// that read an input which is not unknown. Along the model's own motion: sigma_top at least the root mean square of what the inputs give; enter a fifth of
// the median of 1/|S⁺|; noise in the zone such that what is unknown there has its deviation of the start when a passage as long as their median is over.
// W0843: there is no such motion, and no zone.
// Errors: those of KinematicObserver.
Result<KinematicSetup> complete(KinematicSetup setup, const Model& model, const Params& params,
                                const std::vector<std::string>& present = {});

// Check of the setup's sensors along the model's own motion, and sets of candidates ranked there (check_kinematic, advise_kinematic).
struct KinematicReview {
  std::vector<std::string> inputs, sensors;  // that were checked
  std::optional<KinematicCheck> check;       // none: neither setup nor model has sensors for it
  KinematicAdvice advice;
};
Result<KinematicReview> review(KinematicSetup setup, const Model& model, const Params& params,
                               const std::vector<KinematicChannel>& candidates, int spare = 0);

}  // namespace panto
