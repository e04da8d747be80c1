#include "validation/papers/palomba/flexible_observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "panto/estimation/observer.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"

namespace panto::validation::palomba {

namespace {

constexpr double kStep = kFlexibleStep;
constexpr double kEncoder = 2 * std::numbers::pi / 4096;  // resolution [rad]
constexpr double kFastest = 1;       // [rad/s]: an edge is passed within a step of this speed
constexpr double kCurvature = 2e-5;  // standard deviation [1/m]
constexpr std::array<double, 3> kHeight{0.015, 0.015, 0.012};  // of the gauges [m]
// Torque sensors: 0.2 % of full scale, then 24 bits over ±10 V.
constexpr std::array<double, 3> kScale{15, 60, 2};
constexpr double kShare = 0.002;
const std::vector<std::string> kSensors{"angle1", "angle2", "angle5", "gauge1", "gauge2", "gauge4"};

double sigma(size_t sensor, Encoders encoders) {
  if (sensor >= 3) return kCurvature * kHeight[sensor - 3];
  return (encoders == Encoders::kEdges ? kFastest * kStep : kEncoder) / std::sqrt(12.0);
}
double quantised(double x, double step) { return step * std::round(x / step); }

int coordinate(const Model& m, const std::string& name) {
  return static_cast<int>(std::find(m.coordinate_names.begin(), m.coordinate_names.end(), name) -
                          m.coordinate_names.begin());
}
std::vector<int> compared(const Model& m) {
  std::vector<int> out;
  for (const auto* list : {&kAngles, &kMasters})
    for (const std::string& name : *list) out.push_back(coordinate(m, name));
  return out;
}

}  // namespace

Result<Plants> plants() {
  const Result<ModelSpec> spec = load_spec("flexible_manipulator_reduced");
  if (!spec) return spec.diagnostics();
  std::string text = spec->source_text;
  const std::array<const char*, 3> motor{"motor1", "motor2", "motor5"},
      torque{"1.4*sin(2*pi*8*t)", "7*sin(2*pi*10*t)", "0.1*sin(2*pi*11*t)"};
  for (size_t i = 0; i < 3; ++i) {
    const std::string head = fmt::format("name = \"{}\"\ntype = \"torque\"\n", motor[i]);
    text.replace(text.find(head), head.size(), head + fmt::format("input = \"{}\"\n", torque[i]));
  }
  Plants out;
  const auto made = [](const std::string& t) -> Result<std::unique_ptr<Model>> {
    const auto parsed = parse_model_text(t, "flexible_manipulator_reduced.toml");
    if (!parsed) return parsed.diagnostics();
    auto model = compile(*parsed);
    if (!model) return model.diagnostics();
    return {std::make_unique<Model>(std::move(*model)), model.diagnostics()};
  };
  auto reduced = made(text), full = made(text.substr(0, text.find("[reduction]")));
  if (!reduced) return reduced.diagnostics();
  if (!full) return full.diagnostics();
  out.reduced = std::move(*reduced);
  out.full = std::move(*full);
  return {std::move(out), {}};
}

Result<Plant> run_plant(const Model& full, double until) {
  SimulationOptions o;
  o.until = until;
  o.integrator = "trapezoidal";
  o.dt = kStep / 2;
  o.sample = kStep;
  Result<Run> run = simulate(full, nominal(full), o);
  if (!run) return run.diagnostics();
  Plant out;
  out.course.t = run->t;
  for (const int k : compared(full)) {
    out.course.q.push_back(run->q[static_cast<size_t>(k)]);
    out.course.v.push_back(run->v[static_cast<size_t>(k)]);
  }
  for (const std::string& name : kSensors)
    out.sensors.push_back(run->outputs[static_cast<size_t>(find_output(full, name))]);
  return {std::move(out), {}};
}

Readings read(const Plant& plant, Encoders encoders, unsigned seed) {
  Readings out;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const double pi = std::numbers::pi;
  for (size_t i = 0; i < plant.course.t.size(); ++i) {
    std::vector<double> y, u;
    for (size_t k = 0; k < kSensors.size(); ++k) {
      const double value = plant.sensors[k][i];
      y.push_back(k < 3 && encoders != Encoders::kWhite
                      ? quantised(value, kEncoder)
                      : value + sigma(k, encoders) * normal(random));
    }
    const double t = plant.course.t[i];
    const std::array<double, 3> torque{1.4 * std::sin(2 * pi * 8 * t),
                                       7 * std::sin(2 * pi * 10 * t),
                                       0.1 * std::sin(2 * pi * 11 * t)};
    for (size_t k = 0; k < 3; ++k)
      u.push_back(quantised(torque[k] + kShare * kScale[k] * normal(random),
                            2 * kScale[k] / std::pow(2.0, 24)));
    out.y.push_back(std::move(y));
    out.u.push_back(std::move(u));
  }
  return out;
}

Result<Observed> observe(const Model& reduced, const std::string& filter, const Plant& plant,
                         const Readings& readings, Encoders encoders) {
  ObserverSettings s;
  s.filter = filter;
  s.scheme = Scheme::kRungeKutta4;
  // The model's fastest modes, damped by 80 % where the last link stands across, grow under a transition of first order in the speeds.
  s.jacobian = TransitionJacobian::kExact;
  // The noise of the torques, and what the reduction leaves out.
  s.acceleration_noise = {1e-10 / kStep};
  for (size_t k = 0; k < 3; ++k)
    s.input_noise.emplace_back(reduced.inputs[k].name, std::pow(kShare * kScale[k], 2) * kStep);
  s.sigma_coordinates = {1e-4};
  s.sigma_speeds = {1e-3};
  std::vector<SensorSettings> used;
  for (size_t k = 0; k < kSensors.size(); ++k)
    used.push_back({.name = kSensors[k], .sigma = sigma(k, encoders)});
  auto made = Observer::create(reduced, nominal(reduced), s, used);
  if (!made) return made.diagnostics();
  Observer& observer = **made;
  Diagnostics d;
  if (observer.start() != Status::kOk) {
    d.error(804, {}, "the observer of the reduced manipulator does not start");
    return d;
  }
  const std::vector<int> at = compared(reduced);
  Observed out;
  out.course.t = plant.course.t;
  out.course.q.resize(at.size());
  out.course.v.resize(at.size());
  const auto keep = [&] {
    const View x = observer.filter().state();
    for (size_t k = 0; k < at.size(); ++k) {
      out.course.q[k].push_back(observer.mechanism().q(x)[static_cast<size_t>(at[k])]);
      out.course.v[k].push_back(observer.mechanism().v(x)[static_cast<size_t>(at[k])]);
    }
  };
  keep();
  std::vector<int> which;
  std::vector<double> y, u(3);
  for (size_t i = 1; i < plant.course.t.size(); ++i) {
    // The torque between two samples: mean of both readings.
    for (size_t k = 0; k < 3; ++k) u[k] = 0.5 * (readings.u[i - 1][k] + readings.u[i][k]);
    observer.mechanism().set_inputs(u);
    which.clear();
    y.clear();
    for (size_t k = 0; k < kSensors.size(); ++k) {
      const double now = readings.y[i][k], before = readings.y[i - 1][k];
      const bool edge = encoders == Encoders::kEdges && k < 3;
      if (edge && now == before) continue;
      which.push_back(static_cast<int>(k));
      y.push_back(edge ? 0.5 * (now + before) : now);
    }
    const Status status = observer.filter().step(kStep, which, y);
    if (status != Status::kOk) {
      d.error(804, {},
              fmt::format("the observer failed at {} s: {}", plant.course.t[i], to_string(status)));
      return d;
    }
    observer.renew_reference();
    keep();
  }
  out.references = observer.filter().reframed();
  return {std::move(out), {}};
}

}  // namespace panto::validation::palomba
