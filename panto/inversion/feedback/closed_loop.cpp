#include "panto/inversion/feedback/closed_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "panto/numerics/random.hpp"

namespace panto {
namespace {

double entry(const std::vector<double>& list, size_t i) { return list.empty() ? 0 : list[i]; }

// Streams of noise: one per draw and quantity that is read.
class Noise {
 public:
  Noise(std::uint64_t seed, std::uint64_t draw) : seed_(seed), base_(draw << 20U) {}
  [[nodiscard]] double at(std::uint64_t quantity, size_t cycle) const {
    return normal(seed_, base_ + quantity, cycle);
  }

 private:
  std::uint64_t seed_, base_;
};

// Inputs on their way through the actuators.
class Actuators {
 public:
  Actuators(const LoopSettings& s, View start)
      : s_(s), now_(start.begin(), start.end()), next_(now_) {}
  // By h, commands going straight from c0 to c1: τ u̇ = c - u solved exactly (FB-8).
  void advance(double h, double share0, double share1, View c0, View c1) {
    for (size_t i = 0; i < now_.size(); ++i) {
      const double slope = (c1[i] - c0[i]) * (share1 - share0) / h,
                   command = c0[i] + share0 * (c1[i] - c0[i]), lag = entry(s_.lag, i);
      // A lag that is short beside the step: the command itself.
      if (!(lag > 1e-9 * h)) {
        now_[i] = command;
        next_[i] = command + slope * h;
        continue;
      }
      const double decay = std::exp(-h / lag);
      next_[i] = command + slope * (h - lag) + (now_[i] - command + slope * lag) * decay;
    }
  }
  void accept() { now_ = next_; }
  void act(const std::vector<double>& x, std::vector<double>& out) const {
    for (size_t i = 0; i < x.size(); ++i) out[i] = x[i] + entry(s_.disturbance, i);
  }
  [[nodiscard]] const std::vector<double>& now() const { return now_; }
  [[nodiscard]] const std::vector<double>& next() const { return next_; }

 private:
  const LoopSettings& s_;
  std::vector<double> now_, next_;
};

void statistics(const DesiredMotion& motion, const std::vector<char>& saturated, size_t nu,
                LoopRun& run) {
  for (size_t i = 0; i < run.z.size(); ++i) {
    OutputError e;
    for (size_t k = 0; k < run.z[i].size(); ++k) {
      const double x =
          run.z[i][k] - motion.z(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
      e.rms += x * x;
      e.max = std::max(e.max, std::abs(x));
      e.final = x;
    }
    e.rms = std::sqrt(e.rms / static_cast<double>(std::max<size_t>(run.z[i].size(), 1)));
    run.errors.push_back(e);
  }
  const size_t cycles = saturated.size() / nu;
  for (size_t i = 0; i < nu; ++i) {
    InputUse use;
    for (const double x : run.u[i]) {
      use.rms += x * x;
      use.max = std::max(use.max, std::abs(x));
    }
    use.rms = std::sqrt(use.rms / static_cast<double>(std::max<size_t>(run.u[i].size(), 1)));
    for (size_t k = 0; k < cycles; ++k)
      if (saturated[k * nu + i] != 0) use.saturated += 1.0 / static_cast<double>(cycles);
    run.inputs.push_back(use);
  }
}

}  // namespace

Diagnostics check_loop(const DesiredMotion& motion, const LoopSettings& s) {
  Diagnostics d;
  const auto list = [&](const char* name, const std::vector<double>& values, Eigen::Index size,
                        bool signs) {
    if (values.empty()) return;
    if (static_cast<Eigen::Index>(values.size()) != size)
      d.error(1058, {},
              fmt::format("loop: {} has {} entries, {} are needed", name, values.size(), size));
    for (const double x : values)
      if (!std::isfinite(x) || (!signs && x < 0)) {
        d.error(1058, {},
                fmt::format("loop: {} must be finite{}", name, signs ? "" : " and not negative"));
        break;
      }
  };
  list("lag", s.lag, motion.u.rows(), false);
  list("disturbance", s.disturbance, motion.u.rows(), true);
  list("noise of outputs", s.output_noise, motion.z.rows(), false);
  list("noise of coordinates", s.position_noise, motion.y.rows(), false);
  list("noise of speeds", s.speed_noise, motion.y.rows(), false);
  list("start", s.start, motion.y.rows(), true);
  if (s.every < 1 || !(s.plant_step > 0))
    d.error(1058, {}, "loop: sample and plant_step must be positive");
  if (motion.t.size() < 2) d.error(1058, {}, "loop: the desired motion has no steps");
  return d;
}

LoopRun run_loop(const DesiredMotion& motion, Controller& controller, Plant& plant,
                 const LoopSettings& s, LoopObserver* observer) {
  using Clock = std::chrono::steady_clock;
  LoopRun run;
  const auto nv = static_cast<size_t>(motion.y.rows()), nu = static_cast<size_t>(motion.u.rows()),
             nz = static_cast<size_t>(motion.z.rows());
  const double dt = motion.dt();
  const Noise noise(s.seed, s.draw);
  std::vector<double> y(nv), v(nv), z(nz), u(nu), next(nu), acting(nu), until(nu), readings,
      start(nv);
  run.z.resize(nz);
  run.u.resize(nu);
  run.acting.resize(nu);
  run.y.resize(nv);
  run.v.resize(nv);
  run.seen.resize(nv);
  std::vector<char> saturated;
  std::vector<double> first(nu, -1.0);
  const auto fail = [&](const char* what, Status status, double t) {
    run.status = status;
    run.failed = what;
    run.failed_at = t;
  };
  const Wanted begin = motion.at(0);
  for (size_t i = 0; i < nv; ++i) start[i] = begin.y[i] + entry(s.start, i);
  Status status = plant.start(begin.t, start, begin.v);
  if (status != Status::kOk) fail("the plant", status, begin.t);
  if (observer != nullptr && run.status == Status::kOk) {
    status = observer->start(begin.t, begin.y, begin.v);
    if (status != Status::kOk) fail("the observer", status, begin.t);
    readings.resize(observer->sensors().size());
  }
  controller.start();
  std::copy(begin.u.begin(), begin.u.end(), u.begin());
  Actuators actuators(s, u);
  double total = 0;
  long cycles = 0;
  const size_t steps = motion.t.size();
  for (size_t k = 0; k < steps && run.status == Status::kOk && run.complete; ++k) {
    const Wanted wanted = motion.at(k);
    actuators.act(actuators.now(), acting);
    if (status = plant.outputs(acting, z); status != Status::kOk) {
      fail("the plant", status, wanted.t);
      break;
    }
    run.t.push_back(wanted.t);
    for (size_t i = 0; i < nz; ++i) run.z[i].push_back(z[i]);
    for (size_t i = 0; i < nv; ++i) {
      run.y[i].push_back(plant.y()[i]);
      run.v[i].push_back(plant.v()[i]);
    }
    if (k % static_cast<size_t>(s.every) == 0) {
      const size_t cycle = k / static_cast<size_t>(s.every);
      for (size_t i = 0; i < nz; ++i)
        if (const double sigma = entry(s.output_noise, i); sigma > 0)
          z[i] += sigma * noise.at(i, cycle);
      std::copy(plant.y().begin(), plant.y().end(), y.begin());
      std::copy(plant.v().begin(), plant.v().end(), v.begin());
      if (observer != nullptr) {
        status = plant.read(observer->sensors(), acting, readings);
        if (status != Status::kOk) {
          fail("the plant", status, wanted.t);
          break;
        }
        for (size_t i = 0; i < readings.size(); ++i) {
          const double rate = observer->rate()[i], period = dt * s.every;
          readings[i] += observer->sigma()[i] * noise.at(1000 + i, cycle);
          // Between two readings of a slow sensor there are none.
          if (rate > 0 && cycle > 0 &&
              std::floor(static_cast<double>(cycle) * period * rate * (1 + 1e-12)) ==
                  std::floor(static_cast<double>(cycle - 1) * period * rate * (1 + 1e-12)))
            readings[i] = std::numeric_limits<double>::quiet_NaN();
        }
      } else {
        for (size_t i = 0; i < nv; ++i) {
          if (const double sigma = entry(s.position_noise, i); sigma > 0)
            y[i] += sigma * noise.at(2000 + i, cycle);
          if (const double sigma = entry(s.speed_noise, i); sigma > 0)
            v[i] += sigma * noise.at(4000 + i, cycle);
        }
      }
      const auto clock = Clock::now();
      if (observer != nullptr) {
        status = observer->step(k == 0 ? 0.0 : dt * s.every, u, readings);
        if (status != Status::kOk) {
          fail("the observer", status, wanted.t);
          break;
        }
        std::copy(observer->y().begin(), observer->y().end(), y.begin());
        std::copy(observer->v().begin(), observer->v().end(), v.begin());
      }
      status = controller.step(wanted, {y, v, z}, u);
      const double seconds = std::chrono::duration<double>(Clock::now() - clock).count();
      if (status != Status::kOk) {
        fail("the controller", status, wanted.t);
        break;
      }
      total += seconds;
      run.worst_cycle = std::max(run.worst_cycle, seconds);
      ++cycles;
      for (size_t i = 0; i < nu; ++i) {
        saturated.push_back(controller.saturated(static_cast<int>(i)) ? 1 : 0);
        if (saturated.back() != 0 && first[i] < 0) first[i] = wanted.t;
      }
    }
    for (size_t i = 0; i < nv; ++i) run.seen[i].push_back(y[i]);
    for (size_t i = 0; i < nu; ++i) run.u[i].push_back(u[i]);
    if (k + 1 == steps) {
      for (size_t i = 0; i < nu; ++i) run.acting[i].push_back(acting[i]);
      break;
    }
    // What is asked for at the end of the step.
    next = u;
    if (s.hold == Hold::kLinear && controller.adds_feedforward()) {
      const Wanted after = motion.at(k + 1);
      for (size_t i = 0; i < nu; ++i) {
        next[i] += after.u[i] - wanted.u[i];
        if (!s.limits.lower.empty())
          next[i] = std::clamp(next[i], s.limits.lower[i], s.limits.upper[i]);
      }
    }
    const auto parts = static_cast<int>(std::max(1.0, std::ceil(dt / s.plant_step - 1e-9)));
    for (int part = 0; part < parts; ++part) {
      actuators.advance(dt / parts, part / static_cast<double>(parts),
                        (part + 1) / static_cast<double>(parts), u, next);
      actuators.act(actuators.now(), acting);
      if (part == 0)
        for (size_t i = 0; i < nu; ++i) run.acting[i].push_back(acting[i]);
      actuators.act(actuators.next(), until);
      status = plant.advance(dt / parts, acting, until);
      if (status != Status::kOk) {
        fail("the plant", status, wanted.t + dt);
        break;
      }
      actuators.accept();
    }
    u = next;
    if (s.progress)
      run.complete = s.progress(static_cast<double>(k + 1) / static_cast<double>(steps - 1));
  }
  for (auto* series : {&run.u, &run.acting, &run.seen})
    for (std::vector<double>& x : *series) x.resize(run.t.size(), x.empty() ? 0.0 : x.back());
  statistics(motion, saturated, nu, run);
  for (size_t i = 0; i < nu; ++i) run.inputs[i].first = first[i];
  if (cycles > 0) run.mean_cycle = total / static_cast<double>(cycles);
  return run;
}

}  // namespace panto
