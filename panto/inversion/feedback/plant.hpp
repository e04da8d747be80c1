// The plant of a closed loop: moved by inputs in short Runge-Kutta steps, read by sensors.
#pragma once

#include <memory>

#include "panto/inversion/feedback/motion.hpp"
#include "panto/inversion/model_servo.hpp"

namespace panto {

class Plant {
 public:
  virtual ~Plant() = default;
  Plant() = default;
  Plant(const Plant&) = delete;
  Plant& operator=(const Plant&) = delete;

  // At these coordinates and speeds, as near as the mechanism's rows let them be.
  [[nodiscard]] virtual Status start(double t, View y, View v) = 0;
  // By h, with inputs that go straight from u0 to u1. Other than kOk: broken off on the way.
  [[nodiscard]] virtual Status advance(double h, View u0, View u1) = 0;
  // Of all coordinates, as the servo system counts them.
  [[nodiscard]] virtual View y() const = 0;
  [[nodiscard]] virtual View v() const = 0;
  // Outputs that follow the path, under inputs u.
  [[nodiscard]] virtual Status outputs(View u, MutableView z) = 0;
  // Any outputs of a model.
  [[nodiscard]] virtual Status read(std::span<const int> outputs, View u, MutableView out);
};

// Any servo system (matrices, code). Rows on positions and speeds are kept by projection after each step. Must not outlive it.
std::unique_ptr<Plant> make_plant(ServoSystem& system);
// A model with parameters of its own, or another model with check_plant(): inputs, outputs and coordinates are those of the names that `servo` has.
// Dependent coordinates and speeds follow from the independent ones; what `servo` does not know begins as the model says, and what the model does not know is
// NaN. Must not outlive the model.
std::unique_ptr<Plant> make_plant(const Model& model, const Params& params,
                                  const ModelServo& servo);
// E1100: the model lacks an actuator or an output that the controller has.
Diagnostics check_plant(const Model& model, const ModelServo& servo);
// Which coordinates of a model have these names; -1: none.
std::vector<int> coordinates_by_name(const Model& model, const std::vector<std::string>& names);
// Coordinates of `servo` that a model lacks.
std::vector<std::string> missing_coordinates(const Model& model, const ModelServo& servo);

}  // namespace panto
