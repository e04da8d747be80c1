// Observer of the flexible manipulator on its reduced model (Chapter 6, Figs. 6.4 to 6.13): the plant has 30 degrees of freedom, the observer 13.
//
// The thesis shows curves and no numbers. Bands, set before the run: errors of angles and displacements 1 % and of speeds 15 % of the signal's RMS,
// spectral lines 5 %, no drift: what an independent computation with the same assumptions keeps within. Assumed, as not printed: see README.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "panto/estimation/observer.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"
#include "validation/support.hpp"

namespace panto::validation::palomba {

namespace {

constexpr double kStep = 1e-4;
constexpr double kEncoder = 2 * std::numbers::pi / 4096;  // resolution [rad]
constexpr double kCurvature = 2e-5;                       // standard deviation [1/m]
// Torque sensors: 0.2 % of full scale, then 24 bits over ±10 V.
constexpr std::array<double, 3> kScale{15, 60, 2};
constexpr double kShare = 0.002;
const std::vector<std::string> kAngles{"q1", "q2", "q5"};
const std::vector<std::string> kMasters{"AD.n2.ux", "AD.n2.uy", "BC.n3.ux",
                                        "BC.n3.uy", "EF.n2.ux", "EF.n2.uy"};

struct Plants {
  std::unique_ptr<Model> full, reduced;
};

// The zoo's reduced manipulator with the torques (6.7), and the same without its [reduction].
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

// Course of coordinates by name, q and v.
struct Course {
  std::vector<double> t;
  std::vector<std::vector<double>> q, v;  // by angle and master
};

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

// Readings of the plant: angles quantised by the encoders, curvatures with noise, torques with noise and quantised.
struct Readings {
  std::vector<std::vector<double>> y, u;  // [step][sensor], [step][motor]
};

const std::vector<std::string> kSensors{"angle1", "angle2", "angle5", "gauge1", "gauge2", "gauge4"};

std::vector<SensorSettings> sensors(const Model& m) {
  std::vector<SensorSettings> out;
  for (const std::string& name : kSensors) {
    SensorSettings s;
    s.name = name;
    s.sigma = kEncoder / std::sqrt(12.0);
    for (const Sensor& e : m.sensors)
      if (m.outputs[static_cast<size_t>(e.output)].name == name && e.type == "strain_gauge")
        s.sigma = kCurvature * (name == "gauge4" ? 0.012 : 0.015);
    out.push_back(s);
  }
  return out;
}

Result<Course> truth(const Model& full, double until, Readings& readings) {
  SimulationOptions o;
  o.until = until;
  o.integrator = "trapezoidal";
  o.dt = kStep / 2;
  o.sample = kStep;
  const Result<Run> run = simulate(full, nominal(full), o);
  if (!run) return run.diagnostics();
  Course out;
  out.t = run->t;
  for (const int k : compared(full)) {
    out.q.push_back(run->q[static_cast<size_t>(k)]);
    out.v.push_back(run->v[static_cast<size_t>(k)]);
  }
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto quantised = [](double x, double step) { return step * std::round(x / step); };
  const std::vector<SensorSettings> used = sensors(full);
  const double pi = std::numbers::pi;
  for (size_t i = 0; i < run->t.size(); ++i) {
    std::vector<double> y, u;
    for (const SensorSettings& s : used) {
      const double value = run->outputs[static_cast<size_t>(find_output(full, s.name))][i];
      y.push_back(s.name[0] == 'a' ? quantised(value, kEncoder) : value + s.sigma * normal(random));
    }
    const double t = run->t[i];
    const std::array<double, 3> torque{1.4 * std::sin(2 * pi * 8 * t),
                                       7 * std::sin(2 * pi * 10 * t),
                                       0.1 * std::sin(2 * pi * 11 * t)};
    for (size_t k = 0; k < 3; ++k)
      u.push_back(quantised(torque[k] + kShare * kScale[k] * normal(random),
                            2 * kScale[k] / std::pow(2.0, 24)));
    readings.y.push_back(std::move(y));
    readings.u.push_back(std::move(u));
  }
  return {std::move(out), {}};
}

Result<Course> observed(const Model& model, const std::string& filter, const Course& plant,
                        const Readings& readings) {
  ObserverSettings s;
  s.filter = filter;
  s.scheme = Scheme::kRungeKutta4;
  s.jacobian = TransitionJacobian::kSecondOrder;
  // The noise of the torques, and what the reduction leaves out.
  s.acceleration_noise = {1e-10 / kStep};
  for (size_t k = 0; k < 3; ++k)
    s.input_noise.emplace_back(model.inputs[k].name, std::pow(kShare * kScale[k], 2) * kStep);
  s.sigma_coordinates = {1e-4};
  s.sigma_speeds = {1e-3};
  auto made = Observer::create(model, nominal(model), s, sensors(model));
  if (!made) return made.diagnostics();
  Observer& observer = **made;
  Diagnostics d;
  if (observer.start() != Status::kOk) {
    d.error(804, {}, "the observer of the reduced manipulator does not start");
    return d;
  }
  const std::vector<int> which{0, 1, 2, 3, 4, 5}, at = compared(model);
  Course out;
  out.t = plant.t;
  out.q.resize(at.size());
  out.v.resize(at.size());
  const auto keep = [&] {
    const View x = observer.filter().state();
    for (size_t k = 0; k < at.size(); ++k) {
      out.q[k].push_back(observer.mechanism().q(x)[static_cast<size_t>(at[k])]);
      out.v[k].push_back(observer.mechanism().v(x)[static_cast<size_t>(at[k])]);
    }
  };
  keep();
  for (size_t i = 1; i < plant.t.size(); ++i) {
    // The torque between two samples: mean of both readings.
    std::vector<double> u(3);
    for (size_t k = 0; k < 3; ++k) u[k] = 0.5 * (readings.u[i - 1][k] + readings.u[i][k]);
    observer.mechanism().set_inputs(u);
    const Status status = observer.filter().step(kStep, which, readings.y[i]);
    if (status != Status::kOk) {
      d.error(804, {},
              fmt::format("the observer failed at {} s: {}", plant.t[i], to_string(status)));
      return d;
    }
    keep();
  }
  return {std::move(out), {}};
}

// Angles less their place at the start.
std::vector<double> moved(const std::vector<double>& x, bool angle, double origin) {
  std::vector<double> out = x;
  if (angle)
    for (double& e : out) e -= origin;
  return out;
}
// RMS of the difference in % of the RMS of the signal, from index `first` on.
double error_of(const std::vector<double>& truth, const std::vector<double>& estimate,
                size_t first = 0) {
  double error = 0, size = 0;
  for (size_t i = first; i < truth.size(); ++i) {
    error += std::pow(truth[i] - estimate[i], 2);
    size += std::pow(truth[i], 2);
  }
  return 100 * std::sqrt(error / size);
}
// Amplitude of a line over the first n samples, Hann window.
double line(const std::vector<double>& x, double hz, size_t n) {
  std::complex<double> sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const double window =
        1 - std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
    sum += window * x[i] *
           std::exp(std::complex<double>(
               0, -2 * std::numbers::pi * hz * kStep * static_cast<double>(i)));
  }
  return 2 * std::abs(sum) / static_cast<double>(n);
}

void errors(const std::string& name, const Course& plant, const Course& estimate,
            std::vector<Row>& rows) {
  double angle = 0, displacement = 0, turning = 0, moving = 0, drift = 0;
  for (size_t k = 0; k < plant.q.size(); ++k) {
    const bool is_angle = k < kAngles.size();
    const std::vector<double> truth = moved(plant.q[k], is_angle, plant.q[k].front()),
                              found = moved(estimate.q[k], is_angle, plant.q[k].front());
    double& place = is_angle ? angle : displacement;
    double& rate = is_angle ? turning : moving;
    place = std::max(place, error_of(truth, found));
    rate = std::max(rate, error_of(plant.v[k], estimate.v[k]));
    // Drift: error of the last third.
    drift = std::max(drift, error_of(truth, found, 2 * truth.size() / 3));
  }
  rows.push_back(
      {name + ", angles: largest RMS error", 0, angle, "%", 1, "independent computation: 0.2"});
  rows.push_back({name + ", elastic displacements: largest RMS error", 0, displacement, "%", 1,
                  "independent computation: 0.7"});
  rows.push_back({name + ", angular speeds: largest RMS error", 0, turning, "%", 15,
                  "independent computation: 6"});
  rows.push_back({name + ", elastic speeds: largest RMS error", 0, moving, "%", 15,
                  "independent computation: 9"});
  rows.push_back({name + ", angles and displacements, last third: largest RMS error", 0, drift, "%",
                  1, "no drift"});
}

}  // namespace

Result<std::vector<Row>> fig6() {
  const Result<Plants> p = plants();
  if (!p) return p.diagnostics();
  std::vector<Row> rows;
  Readings readings;
  const Result<Course> plant = truth(*p->full, 3, readings);
  if (!plant) return plant.diagnostics();
  const std::array<std::array<const char*, 2>, 2> both{
      {{"dekf_exact", "EKF"}, {"ss_ukf", "SS-UKF"}}};
  for (const auto& pair : both) {
    const char* title = pair[1];
    const Result<Course> found = observed(*p->reduced, pair[0], *plant, readings);
    if (!found) return found.diagnostics();
    errors(fmt::format("{}, 3 s", title), *plant, *found, rows);
    // Lines of the tip displacements: excitation, first natural frequency, and the third in the first 0.2 s.
    const size_t n = plant->t.size() - 1;
    for (size_t k = 7; k < 9; ++k) {
      const std::vector<double>&truth = plant->q[k], &other = found->q[k];
      const auto add = [&](double hz, size_t samples) {
        const double is = 1e6 * line(truth, hz, samples), got = 1e6 * line(other, hz, samples);
        rows.push_back({fmt::format("{}, {} at {} Hz", title, kMasters[k - 3], hz), is, got, "um",
                        0.05 * is, "line of the plant beside that of the estimate"});
      };
      for (const double hz : {8.0, 10.0, 11.0, 12.95}) add(hz, n);
      add(61.84, 2000);
    }
  }
  Readings longer;
  const Result<Course> minute = truth(*p->full, 60, longer);
  if (!minute) return minute.diagnostics();
  const Result<Course> found = observed(*p->reduced, "dekf_exact", *minute, longer);
  // A minute: the torques leave the links with a mean speed, the last one turns by more than a turn.
  rows.push_back({"EKF, 60 s: runs to the end", 1, found.ok() ? 1.0 : 0.0, "", 0.5,
                  found.ok() ? "" : found.diagnostics().items().front().message});
  if (found.ok()) errors("EKF, 60 s", *minute, *found, rows);
  return {std::move(rows), {}};
}

}  // namespace panto::validation::palomba
