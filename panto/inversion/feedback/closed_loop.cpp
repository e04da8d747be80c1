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

// One run: at every step of the desired motion the plant is recorded, in every cycle the controller reads it, and the plant moves on.
class Loop {
 public:
  Loop(const DesiredMotion& motion, Controller& controller, Plant& plant, const LoopSettings& s,
       LoopObserver* observer)
      : motion_(motion),
        controller_(controller),
        plant_(plant),
        s_(s),
        observer_(observer),
        noise_(s.seed, s.draw),
        nv_(static_cast<size_t>(motion.y.rows())),
        nu_(static_cast<size_t>(motion.u.rows())),
        nz_(static_cast<size_t>(motion.z.rows())),
        actuators_(s, motion.at(0).u),
        y_(nv_),
        v_(nv_),
        z_(nz_),
        u_(motion.at(0).u.begin(), motion.at(0).u.end()),
        next_(nu_),
        acting_(nu_),
        until_(nu_),
        first_(nu_, -1.0) {
    for (auto* series : {&run_.y, &run_.v, &run_.seen}) series->resize(nv_);
    run_.z.resize(nz_);
    for (auto* series : {&run_.u, &run_.acting}) series->resize(nu_);
  }

  LoopRun run() {
    const size_t steps = motion_.t.size();
    bool going = start();
    for (size_t k = 0; k < steps && going && run_.complete; ++k) {
      going = record(k) && (k % static_cast<size_t>(s_.every) != 0 || control(k));
      if (!going) break;
      for (size_t i = 0; i < nv_; ++i) run_.seen[i].push_back(y_[i]);
      for (size_t i = 0; i < nu_; ++i) run_.u[i].push_back(u_[i]);
      if (k + 1 == steps) {
        for (size_t i = 0; i < nu_; ++i) run_.acting[i].push_back(acting_[i]);
        break;
      }
      going = advance(k);
      if (s_.progress)
        run_.complete = s_.progress(static_cast<double>(k + 1) / static_cast<double>(steps - 1));
    }
    for (auto* series : {&run_.u, &run_.acting, &run_.seen})
      for (std::vector<double>& x : *series) x.resize(run_.t.size(), x.empty() ? 0.0 : x.back());
    statistics();
    return std::move(run_);
  }

 private:
  // False, with what failed and when, where a part of the loop does.
  bool passed(const char* what, Status status, double t) {
    if (status == Status::kOk) return true;
    run_.status = status;
    run_.failed = what;
    run_.failed_at = t;
    return false;
  }

  bool start() {
    const Wanted begin = motion_.at(0);
    std::vector<double> off(begin.y.begin(), begin.y.end());
    for (size_t i = 0; i < nv_; ++i) off[i] += entry(s_.start, i);
    controller_.start();
    if (!passed("the plant", plant_.start(begin.t, off, begin.v), begin.t)) return false;
    if (observer_ == nullptr) return true;
    readings_.resize(observer_->sensors().size());
    return passed("the observer", observer_->start(begin.t, begin.y, begin.v), begin.t);
  }

  bool record(size_t k) {
    const double t = motion_.t[k];
    actuators_.act(actuators_.now(), acting_);
    if (!passed("the plant", plant_.outputs(acting_, z_), t)) return false;
    run_.t.push_back(t);
    for (size_t i = 0; i < nz_; ++i) run_.z[i].push_back(z_[i]);
    for (size_t i = 0; i < nv_; ++i) {
      run_.y[i].push_back(plant_.y()[i]);
      run_.v[i].push_back(plant_.v()[i]);
    }
    return true;
  }

  // Sensors of the observer in this cycle; between two readings of a slow one there are none.
  bool read(size_t cycle, double t) {
    if (!passed("the plant", plant_.read(observer_->sensors(), acting_, readings_), t))
      return false;
    const double period = motion_.dt() * s_.every;
    for (size_t i = 0; i < readings_.size(); ++i) {
      const double rate = observer_->rate()[i];
      const auto count = [&](size_t cycles) {
        return std::floor(static_cast<double>(cycles) * period * rate * (1 + 1e-12));
      };
      readings_[i] += observer_->sigma()[i] * noise_.at(1000 + i, cycle);
      if (rate > 0 && cycle > 0 && count(cycle) == count(cycle - 1))
        readings_[i] = std::numeric_limits<double>::quiet_NaN();
    }
    return true;
  }

  bool control(size_t k) {
    const Wanted wanted = motion_.at(k);
    const size_t cycle = k / static_cast<size_t>(s_.every);
    const auto blur = [&](std::vector<double>& x, const std::vector<double>& sigmas,
                          std::uint64_t stream) {
      for (size_t i = 0; i < x.size(); ++i)
        if (const double sigma = entry(sigmas, i); sigma > 0)
          x[i] += sigma * noise_.at(stream + i, cycle);
    };
    blur(z_, s_.output_noise, 0);
    if (observer_ != nullptr) {
      if (!read(cycle, wanted.t)) return false;
    } else {
      std::copy(plant_.y().begin(), plant_.y().end(), y_.begin());
      std::copy(plant_.v().begin(), plant_.v().end(), v_.begin());
      blur(y_, s_.position_noise, 2000);
      blur(v_, s_.speed_noise, 4000);
    }
    using Clock = std::chrono::steady_clock;
    const auto clock = Clock::now();
    if (observer_ != nullptr) {
      const double since = k == 0 ? 0.0 : motion_.dt() * s_.every;
      if (!passed("the observer", observer_->step(since, u_, readings_), wanted.t)) return false;
      std::copy(observer_->y().begin(), observer_->y().end(), y_.begin());
      std::copy(observer_->v().begin(), observer_->v().end(), v_.begin());
    }
    if (!passed("the controller", controller_.step(wanted, {y_, v_, z_}, u_), wanted.t))
      return false;
    const double seconds = std::chrono::duration<double>(Clock::now() - clock).count();
    total_ += seconds;
    run_.worst_cycle = std::max(run_.worst_cycle, seconds);
    for (size_t i = 0; i < nu_; ++i) {
      saturated_.push_back(controller_.saturated(static_cast<int>(i)) ? 1 : 0);
      if (saturated_.back() != 0 && first_[i] < 0) first_[i] = wanted.t;
    }
    return true;
  }

  // Actuators and plant to the next step of the desired motion.
  bool advance(size_t k) {
    const Wanted wanted = motion_.at(k);
    const double dt = motion_.dt();
    // What is asked for at the end of the step.
    next_ = u_;
    if (s_.hold == Hold::kLinear && controller_.adds_feedforward()) {
      const Wanted after = motion_.at(k + 1);
      for (size_t i = 0; i < nu_; ++i) {
        next_[i] += after.u[i] - wanted.u[i];
        if (!s_.limits.lower.empty())
          next_[i] = std::clamp(next_[i], s_.limits.lower[i], s_.limits.upper[i]);
      }
    }
    const auto parts = static_cast<int>(std::max(1.0, std::ceil(dt / s_.plant_step - 1e-9)));
    for (int part = 0; part < parts; ++part) {
      actuators_.advance(dt / parts, part / static_cast<double>(parts),
                         (part + 1) / static_cast<double>(parts), u_, next_);
      actuators_.act(actuators_.now(), acting_);
      if (part == 0)
        for (size_t i = 0; i < nu_; ++i) run_.acting[i].push_back(acting_[i]);
      actuators_.act(actuators_.next(), until_);
      if (!passed("the plant", plant_.advance(dt / parts, acting_, until_), wanted.t + dt))
        return false;
      actuators_.accept();
    }
    u_ = next_;
    return true;
  }

  void statistics() {
    for (size_t i = 0; i < nz_; ++i) {
      OutputError e;
      for (size_t k = 0; k < run_.z[i].size(); ++k) {
        const double x =
            run_.z[i][k] - motion_.z(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
        e.rms += x * x;
        e.max = std::max(e.max, std::abs(x));
        e.final = x;
      }
      e.rms = std::sqrt(e.rms / static_cast<double>(std::max<size_t>(run_.z[i].size(), 1)));
      run_.errors.push_back(e);
    }
    const size_t cycles = saturated_.size() / nu_;
    for (size_t i = 0; i < nu_; ++i) {
      InputUse use;
      use.first = first_[i];
      for (const double x : run_.u[i]) {
        use.rms += x * x;
        use.max = std::max(use.max, std::abs(x));
      }
      use.rms = std::sqrt(use.rms / static_cast<double>(std::max<size_t>(run_.u[i].size(), 1)));
      for (size_t k = 0; k < cycles; ++k)
        if (saturated_[k * nu_ + i] != 0) use.saturated += 1.0 / static_cast<double>(cycles);
      run_.inputs.push_back(use);
    }
    if (cycles > 0) run_.mean_cycle = total_ / static_cast<double>(cycles);
  }

  const DesiredMotion& motion_;
  Controller& controller_;
  Plant& plant_;
  const LoopSettings& s_;
  LoopObserver* observer_;
  Noise noise_;
  size_t nv_, nu_, nz_;
  Actuators actuators_;
  // As the controller sees them; u_: what it asks for, next_: at the end of the step, acting_, until_: the same behind the actuators.
  std::vector<double> y_, v_, z_, u_, next_, acting_, until_, readings_;
  std::vector<char> saturated_;  // by cycle and input
  std::vector<double> first_;
  double total_ = 0;
  LoopRun run_;
};

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
                 const LoopSettings& settings, LoopObserver* observer) {
  return Loop(motion, controller, plant, settings, observer).run();
}

}  // namespace panto
