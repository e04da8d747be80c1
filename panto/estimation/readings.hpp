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
  std::vector<double> t;  // ascending
  // Per time: which sensors of the observer, none where nothing arrived, and what they read.
  std::vector<std::vector<int>> sensors;
  std::vector<std::vector<double>> values;
};

// step(dt, sensors, values) through all readings from time t on; a gap is divided evenly into steps of about `dt`. Ends at the first step that is not
// kOk. kBadArgument: times do not ascend from t, or lists differ in length.
template <class Step>
[[nodiscard]] Status step_through(const Readings& r, double t, Step&& step) {
  if (!(r.dt > 0) || r.sensors.size() != r.t.size() || r.values.size() != r.t.size())
    return Status::kBadArgument;
  for (size_t k = 0; k < r.t.size(); ++k) {
    if (!(r.t[k] > t) || r.sensors[k].size() != r.values[k].size()) return Status::kBadArgument;
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
