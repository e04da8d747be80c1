#include "panto/integrate/measure.hpp"

#include <cmath>

#include "panto/numerics/random.hpp"

namespace panto {
namespace {

std::vector<double> slot_values(const Model& model, const Params& params) {
  std::vector<double> slots(model.slots.size());
  const std::span<const double> theta(params.values.data(),
                                      static_cast<size_t>(params.values.size()));
  evaluate_slots<double>(model, theta, slots);
  return slots;
}

double at(const std::vector<double>& slots, Slot slot) {
  return slot < 0 ? 0 : slots[static_cast<size_t>(slot)];
}

}  // namespace

double sensor_rate(const Model& model, const Params& params, const Sensor& sensor) {
  return at(slot_values(model, params), sensor.rate);
}

void measure(const Model& model, const Params& params, std::uint64_t seed, Run& run) {
  const std::vector<double> slots = slot_values(model, params);
  run.measured.clear();
  for (size_t j = 0; j < model.sensors.size(); ++j) {
    const Sensor& sensor = model.sensors[j];
    const auto k = static_cast<size_t>(sensor.output);
    const double rate = at(slots, sensor.rate), noise = at(slots, sensor.noise),
                 bias = at(slots, sensor.bias), quantum = at(slots, sensor.quantum);
    MeasuredSeries series{run.output_names[k], run.output_units[k], {}, {}};
    std::uint64_t reading = 0;
    for (size_t i = 0; i < run.t.size(); ++i) {
      // A sample instant that the report grid meets up to round-off is met.
      const double phase = rate > 0 ? run.t[i] * rate + 1e-6 : static_cast<double>(i);
      if (phase < static_cast<double>(reading)) continue;
      if (rate > 0) reading = static_cast<std::uint64_t>(std::floor(phase));
      double value = run.outputs[k][i] + bias;
      if (noise > 0) value += noise * normal(seed, j, reading);
      if (quantum > 0) value = quantum * std::round(value / quantum);
      series.t.push_back(run.t[i]);
      series.values.push_back(value);
      ++reading;
    }
    run.measured.push_back(std::move(series));
  }
}

}  // namespace panto
