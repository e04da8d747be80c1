// The benchmark of Sanjurjo et al.: four-bar and five-bar, 5 ms, 10 s, from rest; a filter that knows gravity and the initial angles wrongly.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "panto/estimation/observer.hpp"
#include "panto/estimation/readings.hpp"
#include "panto/io/load.hpp"
#include "panto/mechanics/assembly.hpp"

namespace panto::test {

constexpr double kPi = std::numbers::pi, kDegree = kPi / 180;

// splitmix64, and pairs of normal numbers from it.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed) {}
  std::pair<double, double> normals() {
    const double u1 = uniform(), u2 = uniform(), r = std::sqrt(-2 * std::log(1 - u1));
    return {r * std::cos(2 * kPi * u2), r * std::sin(2 * kPi * u2)};
  }

 private:
  double uniform() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    z ^= z >> 31U;
    return static_cast<double>(z >> 11U) * 0x1p-53;
  }
  std::uint64_t state_;
};

// Gravity and the error of the initial angles; points: in natural coordinates.
inline Model sanjurjo_model(bool five, double g, double angle_error, bool points = false) {
  const auto number = [](double e) { return fmt::format("{:.17g}", e); };
  std::vector<Override> o{{"g", number(g)}};
  if (five) {
    o.push_back({"initial.theta1", number(angle_error)});
    o.push_back({"initial.theta2", number(kPi + angle_error)});
  } else {
    o.push_back({"initial.theta", number(kPi / 3 + angle_error)});
  }
  const std::string natural = zoo_folder() + "/../validation/papers/sanjurjo2017/";
  auto model = load(points ? natural + (five ? "five_bar_points.toml" : "fourbar_points.toml")
                           : (five ? "five_bar" : "fourbar_sanjurjo"),
                    o);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  return std::move(*model);
}

inline std::vector<SensorSettings> sensors_named(const std::vector<std::string>& names) {
  std::vector<SensorSettings> out;
  for (const std::string& name : names) {
    SensorSettings s;
    s.name = name;
    out.push_back(s);
  }
  return out;
}

// True motion by the trapezoidal rule, read with noise at every step.
inline Readings sanjurjo_readings(const Model& model, const std::vector<std::string>& sensors,
                                  int steps = 2000) {
  const double dt = 0.005;
  ObserverSettings settings;  // its plant is the trapezoidal one
  auto truth = Observer::create(model, nominal(model), settings, sensors_named(sensors));
  if (!truth.ok()) throw std::runtime_error(truth.diagnostics().text());
  if ((*truth)->start() != Status::kOk) throw std::runtime_error("no start");
  Mechanism& m = (*truth)->mechanism();
  const View start = (*truth)->filter().state();
  std::vector<double> x(start.begin(), start.end()), next(x.size());
  std::vector<int> all(sensors.size());
  std::iota(all.begin(), all.end(), 0);
  Readings r;
  r.dt = dt;
  Noise noise(1);
  for (int k = 1; k <= steps; ++k) {
    std::vector<double> y(sensors.size());
    if (m.step((k - 1) * dt, dt, x, next) != Status::kOk ||
        m.sense(k * dt, next, all, y) != Status::kOk)
      throw std::runtime_error("the true motion failed");
    std::swap(x, next);
    const auto [n1, n2] = noise.normals();
    for (size_t i = 0; i < y.size(); ++i) y[i] += kDegree * (i == 0 ? n1 : n2);
    r.t.push_back(k * dt);
    r.sensors.push_back(all);
    r.values.push_back(y);
  }
  return r;
}

inline ObserverSettings sanjurjo_settings(bool five, const std::string& filter) {
  ObserverSettings s;
  s.filter = filter;
  s.sigma_coordinates = s.sigma_speeds = {5 * kDegree};
  s.acceleration_noise = {(five ? 31.5 : 5.25) * kDegree};
  return s;
}

}  // namespace panto::test
