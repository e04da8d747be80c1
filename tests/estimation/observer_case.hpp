// A true mechanism that moves beside an observer and is read by its sensors, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "panto/estimation/observer.hpp"
#include "panto/io/load.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/numerics/random.hpp"

namespace panto::test {

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
  double output(int o) {
    double y = 0;
    EXPECT_EQ(mechanism->outputs(t, x, std::span(&o, 1), MutableView(&y, 1)), Status::kOk);
    return y;
  }
};

constexpr double kDegree = std::numbers::pi / 180;

}  // namespace panto::test
