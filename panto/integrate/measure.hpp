// What the sensors of a model would have delivered during a run (MEA-1).
#pragma once

#include <cstdint>

#include "panto/integrate/simulate.hpp"

namespace panto {

// Readings per second; 0: one at every reported time.
double sensor_rate(const Model& model, const Params& params, const Sensor& sensor);

// Fills run.measured, one series per sensor: reading k is taken at the first reported time at or after k / rate, so report at least that
// often. Reading = output + bias + noise · N(0, 1), rounded to the sensor's quantum. Noise comes from a counter-based stream: reading k of a
// sensor depends on the seed, the sensor's place in the model and k only.
void measure(const Model& model, const Params& params, std::uint64_t seed, Run& run);

}  // namespace panto
