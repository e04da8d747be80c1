// A controller, actuators that lag and have limits, a plant that is not the model, sensors with noise and perhaps an observer: run along a desired motion.
#pragma once

#include <functional>

#include "panto/inversion/feedback/controller.hpp"
#include "panto/inversion/feedback/plant.hpp"

namespace panto {

// A state observer in the loop: reads outputs of the plant, knows the inputs, delivers coordinates and speeds.
class LoopObserver {
 public:
  virtual ~LoopObserver() = default;
  [[nodiscard]] virtual std::span<const int> sensors() const = 0;  // outputs of the model
  [[nodiscard]] virtual View sigma() const = 0;  // standard deviation of a reading, per sensor
  [[nodiscard]] virtual View rate() const = 0;   // readings per second; 0: one every cycle
  [[nodiscard]] virtual Status start(double t, View y, View v) = 0;
  // dt later, the inputs having been u; readings that have not arrived are NaN. dt = 0: readings alone.
  [[nodiscard]] virtual Status step(double dt, View u, View readings) noexcept = 0;
  [[nodiscard]] virtual View y() const = 0;
  [[nodiscard]] virtual View v() const = 0;
};

enum class Hold : std::uint8_t {
  kZero,   // inputs stand still between cycles
  kLinear  // those of the inverse model go on straight to the next cycle's
};

// Per input, output, coordinate and speed; empty: zero (limits: none).
struct LoopSettings {
  int every = 1;  // steps of the desired motion per cycle of the controller
  Hold hold = Hold::kZero;
  double plant_step = 1e-3;  // longest step of the plant's integration [s]
  ActuatorLimits limits;
  std::vector<double> lag;           // time constants of the actuators [s]
  std::vector<double> disturbance;   // added to the inputs behind the actuators
  std::vector<double> output_noise;  // standard deviations of what the controller sees
  std::vector<double> position_noise, speed_noise;  // without an observer
  std::vector<double> start;         // the plant starts off the desired motion by this
  std::uint64_t seed = 1, draw = 0;  // of the noise
  std::function<bool(double)> progress;
};

struct OutputError {
  double rms = 0, max = 0,
         final = 0;  // of the true output minus the desired one; final: at the end
};
struct InputUse {
  double rms = 0, max = 0;  // of what the controller gives, limits counted in
  double saturated = 0;     // share of the cycles
  double first = -1;        // first time; -1: never
};
struct LoopRun {
  std::vector<double> t;
  // By row: true outputs, inputs as given by the controller and as they act, coordinates and speeds of the plant, coordinates as the controller sees them.
  std::vector<std::vector<double>> z, u, acting, y, v, seen;
  std::vector<OutputError> errors;
  std::vector<InputUse> inputs;
  double mean_cycle = 0, worst_cycle = 0;  // of observer and controller [s]
  Status status = Status::kOk;             // other: ended at failed_at, for this reason
  double failed_at = -1;
  std::string failed;    // "the plant", "the controller", "the observer"
  bool complete = true;  // false: stopped by progress
};

// E1058: settings that do not fit in size or sign. The observer may be missing; its sensors then need a plant made from a model.
Diagnostics check_loop(const DesiredMotion& motion, const LoopSettings& settings);
LoopRun run_loop(const DesiredMotion& motion, Controller& controller, Plant& plant,
                 const LoopSettings& settings, LoopObserver* observer = nullptr);

}  // namespace panto
