// A true mechanism that moves beside an observer and is read by its sensors, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "panto/estimation/observer.hpp"
#include "panto/io/load.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/numerics/random.hpp"

namespace panto::test {

constexpr double kSigma = 0.01;  // of sensors that tests add

inline View view(const Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }

inline std::unique_ptr<Model> zoo_model(const std::string& name) {
  const auto model = load(name);
  if (!model.ok()) throw std::runtime_error(model.diagnostics().text());
  return std::make_unique<Model>(*model);
}

inline Params with(const Model& model, const std::string& name, double value) {
  Params p = nominal(model);
  p.values(find_parameter(model, name)) = value;
  return p;
}

inline std::unique_ptr<Observer> observer(const Model& model, const Params& params,
                                          const ObserverSettings& settings,
                                          const std::vector<SensorSettings>& sensors) {
  auto o = Observer::create(model, params, settings, sensors);
  if (!o.ok()) throw std::runtime_error(o.diagnostics().text());
  return std::move(*o);
}

// The mechanism itself, by the trapezoidal rule; with_noise() adds acceleration noise as filters assume it.
struct Truth {
  std::unique_ptr<Workspace> workspace;
  std::unique_ptr<Mechanism> mechanism;
  Eigen::VectorXd q, v;  // at the start
  std::vector<double> x, next;
  double t = 0;
  Eigen::MatrixXd noise, factor, change;

  Truth(const Model& model, const Params& params, std::vector<double> acceleration_noise = {0.0},
        Scheme scheme = Scheme::kTrapezoidal) {
    workspace = Workspace::create(model, params);
    const auto start = assemble(*workspace);
    if (!start.ok()) throw std::runtime_error(start.diagnostics().text());
    q = start->q;
    v = start->v;
    workspace->choose_partition(0, view(q));
    MechanismOptions options;
    options.scheme = scheme;
    options.acceleration_noise = std::move(acceleration_noise);
    mechanism = std::make_unique<Mechanism>(*workspace, std::vector<UsedSensor>{}, options);
    x.resize(static_cast<size_t>(mechanism->storage()));
    next = x;
    noise.setZero(mechanism->size(), mechanism->size());
    factor = change = noise;
    mechanism->pack(view(q), view(v), x);
  }
  // Noise drawn by seed and stream; 0: none.
  Status step(double dt, std::uint64_t seed = 0, std::uint64_t stream = 0,
              std::uint64_t index = 0) noexcept {
    Status s = mechanism->step(t, dt, x, next);
    if (s != Status::kOk) return s;
    if (seed != 0) {
      mechanism->process_noise(t, dt, x, noise);
      noise_factor(noise, factor);
      Eigen::VectorXd z(noise.rows());
      for (Eigen::Index i = 0; i < z.size(); ++i)
        z(i) = normal(seed, stream, index * 64 + static_cast<std::uint64_t>(i));
      const Eigen::VectorXd w = factor * z;
      mechanism->move(next, view(w), next);
    }
    std::swap(x, next);
    t += dt;
    s = mechanism->settle(t, x);
    if (s == Status::kOk && mechanism->worn()) s = mechanism->reframe(t, x, change);
    return s;
  }
  // Back to the start, at time zero.
  void restart() {
    t = 0;
    workspace->choose_partition(0, view(q), true);
    mechanism->forget();
    mechanism->pack(view(q), view(v), x);
  }
  double output(int o) {
    double y = 0;
    EXPECT_EQ(mechanism->outputs(t, x, std::span(&o, 1), MutableView(&y, 1)), Status::kOk);
    return y;
  }
};

// Encoders on the independent one-dof joints, put into the model as outputs, and its first few own outputs of positions and speeds.
inline std::vector<SensorSettings> give_sensors(Model& model) {
  const auto w = Workspace::create(model, nominal(model));
  const auto start = assemble(*w);
  if (!start.ok()) throw std::runtime_error(start.diagnostics().text());
  w->choose_partition(0, view(start->q));
  std::vector<SensorSettings> sensors;
  for (size_t i = 0; i < model.outputs.size() && sensors.size() < 3; ++i)
    if (model.outputs[i].kind == OutputKind::kChannel &&
        w->level_of(static_cast<int>(i)) != Level::kAcceleration)
      sensors.push_back({.name = model.outputs[i].name, .sigma = kSigma});
  for (const Joint& j : model.joints)
    for (const int dof : w->independent_positions())
      if (j.nv == 1 && j.v == dof) {
        Output o;
        o.name = "encoder of " + j.name;
        o.channel.kind = ChannelKind::kCoordinate;
        o.channel.dof = dof;
        model.outputs.push_back(o);
        sensors.push_back({.name = o.name, .sigma = kSigma});
      }
  return sensors;
}

// A step that schemes of second order can follow. Beams stretch at up to 8e4 rad/s, ANCF elements bend at up to 2e5.
inline double short_step(const Model& model, int steps) {
  return std::min(!model.ancf_nodes.empty() ? 1e-6
                  : !model.beams.empty()    ? 1e-5
                                            : 1e-3,
                  model.run.until / steps);
}

// Readings of all sensors with their noise at every step, each a row.
inline std::vector<std::vector<double>> readings(Truth& truth, const Model& model,
                                                 const std::vector<SensorSettings>& sensors,
                                                 int steps, double dt) {
  std::vector<int> outputs;
  outputs.reserve(sensors.size());
  for (const SensorSettings& s : sensors) outputs.push_back(find_output(model, s.name));
  std::vector<std::vector<double>> rows;
  for (int k = 0; k < steps; ++k) {
    if (truth.step(dt) != Status::kOk) break;
    std::vector<double> y(outputs.size());
    if (truth.mechanism->outputs(truth.t, truth.x, outputs, y) != Status::kOk) break;
    for (size_t i = 0; i < y.size(); ++i)
      y[i] += sensors[i].sigma * normal(1, i, static_cast<std::uint64_t>(k));
    rows.push_back(y);
  }
  return rows;
}

inline bool definite(const Eigen::MatrixXd& p) {
  Eigen::MatrixXd l(p.rows(), p.cols());
  return p.isApprox(p.transpose(), 1e-12) && cholesky(p, l);
}

constexpr double kDegree = std::numbers::pi / 180;

}  // namespace panto::test
