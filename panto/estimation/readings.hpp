// Readings of sensors over time, as a log or a simulated experiment gives them.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "panto/base/status.hpp"
#include "panto/mechanics/workspace.hpp"

namespace panto {

struct Readings {
  double dt = 0;          // step of the filter
  std::vector<double> t;  // ascending; the first may be the start itself
  // Per time: which sensors of the observer, none where nothing arrived, and what they read.
  std::vector<std::vector<int>> sensors;
  std::vector<std::vector<double>> values;
  // Inputs of the model on the way to each time, NaN: its own signal; empty: all its own.
  std::vector<std::vector<double>> inputs{};
  double start = 0;  // where the filter begins

  // Times ascend from the start, and lists are of the same length.
  [[nodiscard]] bool fit() const {
    bool ok = dt > 0 && sensors.size() == t.size() && values.size() == t.size() &&
              (inputs.empty() || inputs.size() == t.size());
    for (size_t k = 0; ok && k < t.size(); ++k)
      ok = (k == 0 ? t[k] >= start : t[k] > t[k - 1]) && sensors[k].size() == values[k].size();
    return ok;
  }
};

// step(dt, sensors, values) through all readings; a gap is divided evenly into steps of about `dt`. hold(inputs) is called before those that they
// hold for. Ends at the first step that is not kOk. kBadArgument: the readings do not fit.
template <class Hold, class Step>
[[nodiscard]] Status step_through(const Readings& r, Hold&& hold, Step&& step) {
  if (!r.fit()) return Status::kBadArgument;
  double t = r.start;
  for (size_t k = 0; k < r.t.size(); ++k) {
    if (!r.inputs.empty()) hold(View(r.inputs[k]));
    const int steps = std::max(1, static_cast<int>(std::lround((r.t[k] - t) / r.dt)));
    const double h = (r.t[k] - t) / steps;
    for (int i = 1; i <= steps; ++i) {
      const bool arrived = i == steps;
      const Status status =
          step(h, arrived ? std::span<const int>(r.sensors[k]) : std::span<const int>{},
               arrived ? View(r.values[k]) : View{});
      if (status != Status::kOk) return status;
    }
    t = r.t[k];
  }
  return Status::kOk;
}

}  // namespace panto
