#include "panto/estimation/kinematic_observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/mechanics/assembly.hpp"

namespace panto {

namespace {

constexpr double kMostDoubt = 1e4;  // of the variances at the start

View view(const Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }

bool positive(const std::vector<double>& values, size_t count) {
  return (values.size() == 1 || values.size() == count) &&
         std::all_of(values.begin(), values.end(),
                     [](double e) { return e > 0 && std::isfinite(e); });
}

bool not_negative(const std::vector<double>& values, size_t count) {
  return (values.size() == 1 || values.size() == count) &&
         std::all_of(values.begin(), values.end(),
                     [](double e) { return e >= 0 && std::isfinite(e); });
}

}  // namespace

std::vector<std::string> kinematic_filters() {
  std::vector<std::string> names{"ekf"};
  for (const FilterInfo& f : filters())
    if (f.name.ends_with("ukf") || f.name.ends_with("ckf")) names.push_back(f.name);
  return names;
}

Result<std::unique_ptr<KinematicObserver>> KinematicObserver::create(
    const Model& model, const Params& params, const KinematicSettings& settings,
    const std::vector<KinematicChannel>& inputs, const std::vector<KinematicChannel>& sensors) {
  Diagnostics notes;
  std::unique_ptr<KinematicObserver> o(new KinematicObserver);
  o->settings_ = settings;
  o->inputs_ = inputs;
  o->sensors_ = sensors;
  const std::vector<std::string> names = kinematic_filters();
  if (std::find(names.begin(), names.end(), settings.filter) == names.end())
    notes.error(801, settings.loc,
                fmt::format("filter \"{}\" is not one for kinematics{}; known: {}", settings.filter,
                            did_you_mean(settings.filter, names), fmt::join(names, ", ")));
  if (model.n_velocity_rows + model.n_acceleration_rows > 0) {
    notes.error(805, settings.loc,
                "a kinematic observer cannot run a model with velocity-controlled drives: leave "
                "them out, their motion is what the inputs measure");
    return notes;
  }
  o->workspace_ = Workspace::create(model, params);
  Result<AssembledState> start = assemble(*o->workspace_);
  notes.append(start.diagnostics());
  if (!start) return notes;
  o->q_ = start->q;
  o->v_ = start->v;
  o->workspace_->choose_partition(0, view(o->q_), true);
  const size_t nz = o->workspace_->independent_speeds().size();
  if (nz == 0) {
    notes.error(
        805, settings.loc,
        "nothing is free to move: a kinematic observer needs the model without its drivers");
    return notes;
  }
  const KinematicOptions& system = settings.system;
  if (system.order != 1 && system.order != 2)
    notes.error(804, settings.loc, "the order of a kinematic model is 1 or 2");
  if (system.scheme == Scheme::kIndex3)
    notes.error(805, settings.loc, "scheme \"index3\" needs forces; use euler, trapezoidal or rk4");
  if (system.top == TopState::kNewmarkPosition &&
      (system.order == 1 || system.scheme == Scheme::kEuler))
    notes.error(805, settings.loc,
                "accelerations from the change of coordinates need a second-order model and scheme "
                "\"trapezoidal\" or \"rk4\"");
  if (!(system.gamma > 0) || !(system.beta > 0) || !(system.enter >= 0) ||
      !(system.leave >= system.enter) || !(settings.dt > 0) ||
      !(settings.longest_pause >= settings.dt) || settings.lost_after < 1)
    notes.error(804, settings.loc,
                "gamma, beta, dt and lost_after are positive, leave is not below enter, "
                "longest_pause not below dt");
  for (const KinematicNoise* noise : {&system.noise, &system.fallback_noise})
    for (const auto* list : {&noise->position, &noise->speed, &noise->top})
      if (!not_negative(*list, nz))
        notes.error(804, settings.loc,
                    fmt::format("noise: expected one non-negative number or {} of them", nz));
  for (const auto* list :
       {&settings.sigma_coordinates, &settings.sigma_speeds, &settings.sigma_top})
    if (!positive(*list, nz))
      notes.error(804, settings.loc,
                  fmt::format("standard deviations at the start: expected one positive number or "
                              "{} of them",
                              nz));

  std::vector<std::string> outputs;
  for (const Output& e : model.outputs) outputs.push_back(e.name);
  const auto resolve = [&](KinematicChannel& c) {
    const int output = find_output(model, c.name);
    if (output < 0) {
      notes.error(802, c.loc,
                  fmt::format("sensor \"{}\" is not a sensor or output of the model{}", c.name,
                              did_you_mean(c.name, outputs)));
      return output;
    }
    for (const Sensor& e : model.sensors) {
      if (e.output != output) continue;
      if (c.sigma == 0 && e.noise >= 0) c.sigma = o->workspace_->number(e.noise);
      // A rounded reading is off by a uniform error.
      if (c.sigma == 0 && e.quantum >= 0)
        c.sigma = o->workspace_->number(e.quantum) / std::sqrt(12.0);
      if (c.period == 0 && e.rate >= 0) c.period = 1 / o->workspace_->number(e.rate);
    }
    if (!(c.sigma > 0) || !std::isfinite(c.sigma))
      notes.error(803, c.loc,
                  fmt::format("sensor \"{}\": its standard deviation must be positive; give "
                              "`sigma` here, or `noise` or `quantisation` in the model",
                              c.name));
    if (c.bias_sigma < 0 || c.bias_walk < 0 || c.period < 0 || c.hold < 0 || c.frozen_after < 0 ||
        !(c.lower < c.upper))
      notes.error(
          804, c.loc,
          fmt::format("sensor \"{}\": bias, period, hold and frozen_after are not negative, "
                      "lower is below upper",
                      c.name));
    return output;
  };
  std::vector<InputSensor> used_inputs;
  std::vector<UsedSensor> used_sensors;
  if (inputs.empty()) notes.error(802, settings.loc, "no input is named");
  if (sensors.empty()) notes.error(802, settings.loc, "no sensor that corrects is named");
  const Order wanted = system.order == 1 ? Order::kRate : Order::kAcceleration;
  for (KinematicChannel& c : o->inputs_) {
    const int output = resolve(c);
    if (output < 0) continue;
    const Output& out = model.outputs[static_cast<size_t>(output)];
    if (out.kind != OutputKind::kChannel || out.order != wanted)
      notes.error(805, c.loc,
                  fmt::format("input \"{}\": a model of order {} is driven by {}", c.name,
                              system.order, system.order == 1 ? "rates" : "accelerations"));
    c.hold = std::max(c.hold, c.period);
    used_inputs.push_back({output, c.sigma, c.period, c.bias_sigma, c.bias_walk});
  }
  for (KinematicChannel& c : o->sensors_) {
    const int output = resolve(c);
    if (output < 0) continue;
    const Output& out = model.outputs[static_cast<size_t>(output)];
    const bool held =
        out.order == Order::kValue ||
        (out.order == Order::kRate && (system.order == 2 || system.top != TopState::kNone)) ||
        (out.order == Order::kAcceleration && system.order == 2 && system.top != TopState::kNone);
    if (out.kind != OutputKind::kChannel || !held)
      notes.error(805, c.loc,
                  fmt::format("sensor \"{}\" reads what the state does not hold", c.name));
    UsedSensor u;
    u.output = output;
    u.sigma = c.sigma;
    u.circle = out.angle && out.order == Order::kValue && out.channel.kind != ChannelKind::kSum;
    u.bias_sigma = c.bias_sigma;
    u.bias_walk = c.bias_walk;
    used_sensors.push_back(u);
  }
  if (!notes.ok()) return notes;

  o->system_ = std::make_unique<KinematicSystem>(*o->workspace_, used_inputs, used_sensors, system);
  o->filter_ = make_filter(settings.filter, *o->system_, settings.options, settings.sigma, {});
  o->system_->initial_covariance(settings.sigma_coordinates, settings.sigma_speeds,
                                 settings.sigma_top, o->p0_);
  o->doubtful_ = o->p0_;
  const size_t m = inputs.size(), k = sensors.size();
  o->x_.assign(static_cast<size_t>(o->system_->storage()), 0.0);
  for (auto* v :
       {&o->before_, &o->now_, &o->between_begin_, &o->between_end_, &o->good_, &o->good_time_})
    v->assign(m, 0.0);
  o->values_.reserve(k);
  o->used_.reserve(k);
  o->input_watch_.resize(m);
  o->sensor_watch_.resize(k);
  o->report_.inputs.assign(m, Reading::kNone);
  o->report_.sensors.assign(k, Reading::kNone);
  o->counts_.bad_inputs.assign(m, 0);
  o->counts_.bad_sensors.assign(k, 0);
  return Result<std::unique_ptr<KinematicObserver>>(std::move(o), notes);
}

Status KinematicObserver::start(double t, View u) { return start(t, view(q_), view(v_), u); }

Status KinematicObserver::start(double t, View q, View v, View u) {
  workspace_->choose_partition(t, q, true);
  std::fill(input_watch_.begin(), input_watch_.end(), ReadingWatch{});
  std::fill(sensor_watch_.begin(), sensor_watch_.end(), ReadingWatch{});
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Reading r = input_watch_[i].judge(inputs_[i], u[i]);
    before_[i] = r == Reading::kUsed ? u[i] : std::numeric_limits<double>::quiet_NaN();
    good_[i] = before_[i];
    good_time_[i] = t;
  }
  system_->set_inputs(before_, before_);
  system_->pack(q, v, x_);
  const Status status = filter_->start(t, x_, p0_);
  if (status != Status::kOk) return status;
  // What is no part of (q, v): s, from the inputs where they give it.
  if (!system_->top(x_).empty() && system_->options().order == 2) {
    std::copy(filter_->state().begin(), filter_->state().end(), x_.begin());
    std::vector<double> s(static_cast<size_t>(system_->coordinates()));
    double margin = 0;
    if (system_->from_inputs(t, x_, s, margin) == Status::kOk &&
        margin > system_->options().enter) {
      system_->set_top(s, x_);
      return filter_->start(t, x_, p0_);
    }
  }
  return Status::kOk;
}

Reading ReadingWatch::judge(const KinematicChannel& c, double reading) noexcept {
  if (std::isnan(reading)) return Reading::kNone;
  if (!std::isfinite(reading)) return Reading::kNotFinite;
  equal = reading == last ? equal + 1 : 1;
  last = reading;
  if (reading <= c.lower || reading >= c.upper) return Reading::kSaturated;
  if (c.frozen_after > 0 && equal >= c.frozen_after) return Reading::kFrozen;
  return Reading::kUsed;
}

const KinematicReport& KinematicObserver::step(double t, View u, View y) noexcept {
  report_.status = Status::kOk;
  report_.restarted = false;
  std::fill(report_.inputs.begin(), report_.inputs.end(), Reading::kNone);
  std::fill(report_.sensors.begin(), report_.sensors.end(), Reading::kNone);
  const double ahead = t - time();
  report_.stamp = !std::isfinite(t) || ahead > settings_.longest_pause ? Stamp::kJump
                  : ahead == 0                                         ? Stamp::kRepeated
                  : ahead < 0                                          ? Stamp::kBackward
                                                                       : Stamp::kGood;
  switch (report_.stamp) {
    case Stamp::kJump:
      ++counts_.jumps;
      return report_;
    case Stamp::kRepeated:
      ++counts_.repeated;
      return report_;
    case Stamp::kBackward:
      ++counts_.backward;
      return report_;
    case Stamp::kGood:
      break;
  }
  const auto bad = [](Reading r) {
    return r == Reading::kNotFinite || r == Reading::kSaturated || r == Reading::kFrozen;
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Reading r = input_watch_[i].judge(inputs_[i], u[i]);
    if (bad(r)) ++counts_.bad_inputs[i];
    now_[i] = std::numeric_limits<double>::quiet_NaN();
    if (r == Reading::kUsed) {
      now_[i] = good_[i] = u[i];
      good_time_[i] = t;
    } else if (t - good_time_[i] <= inputs_[i].hold * (1 + 1e-9)) {
      now_[i] = good_[i];
      if (r == Reading::kNone) r = Reading::kHeld;
    }
    report_.inputs[i] = r;
  }
  used_.clear();
  values_.clear();
  for (size_t i = 0; i < sensors_.size(); ++i) {
    const Reading r = sensor_watch_[i].judge(sensors_[i], y[i]);
    if (bad(r)) ++counts_.bad_sensors[i];
    report_.sensors[i] = r;
    if (r != Reading::kUsed) continue;
    used_.push_back(static_cast<int>(i));
    values_.push_back(y[i]);
  }
  const bool before = system_->in_zone(filter_->state());
  report_.status = advance(t, values_);
  report_.zone = system_->in_zone(filter_->state());
  if (report_.zone && !before) ++counts_.crossings;
  if (report_.status == Status::kOk && !used_.empty()) {
    const auto& kept = filter_->innovations().sensor;
    bool lost = false;
    for (const int i : used_) {
      ReadingWatch& watch = sensor_watch_[static_cast<size_t>(i)];
      const bool rejected = std::find(kept.begin(), kept.end(), i) == kept.end();
      watch.rejected = rejected ? watch.rejected + 1 : 0;
      lost = lost || watch.rejected >= settings_.lost_after;
      if (rejected) report_.sensors[static_cast<size_t>(i)] = Reading::kRejected;
    }
    if (kept.size() == used_.size()) doubt_ = 1;
    if (lost) restart(t);
  }
  std::copy(now_.begin(), now_.end(), before_.begin());
  ++counts_.steps;
  return report_;
}

// To t in steps of at most dt, readings of the inputs taken linear over a pause.
Status KinematicObserver::advance(double t, View y) noexcept {
  const double from = time();
  const int steps = std::max(1, static_cast<int>(std::ceil((t - from) / settings_.dt - 1e-9)));
  Status worst = Status::kOk;
  for (int k = 0; k < steps; ++k) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const double slope = (now_[i] - before_[i]) / steps;
      between_begin_[i] = k == 0 ? before_[i] : before_[i] + k * slope;
      between_end_[i] = k + 1 == steps ? now_[i] : before_[i] + (k + 1) * slope;
    }
    system_->set_inputs(between_begin_, between_end_);
    const bool last = k + 1 == steps;
    const double h = last ? t - time() : (t - from) / steps;
    const Status status = filter_->step(
        h, last ? std::span<const int>(used_) : std::span<const int>{}, last ? y : View{});
    if (status == Status::kOk) continue;
    worst = status;
    restart(t);
    break;
  }
  return worst;
}

// At the present state, which is the last good one, with less and less known of it.
void KinematicObserver::restart(double t) noexcept {
  report_.restarted = true;
  ++counts_.restarts;
  for (ReadingWatch& w : sensor_watch_) w.rejected = 0;
  doubtful_ = doubt_ * p0_;
  doubt_ = std::min(4 * doubt_, kMostDoubt);
  std::copy(filter_->state().begin(), filter_->state().end(), x_.begin());
  system_->unsettle(x_);
  if (filter_->start(t, x_, doubtful_) == Status::kOk) return;
  system_->pack(view(q_), view(v_), x_);
  workspace_->choose_partition(t, view(q_), true);
  (void)filter_->start(t, x_, doubtful_);
}

void KinematicObserver::motion(MutableView q, MutableView v, MutableView a) noexcept {
  std::copy(filter_->state().begin(), filter_->state().end(), x_.begin());
  if (system_->accelerations(time(), x_, a) != Status::kOk) std::fill(a.begin(), a.end(), 0.0);
  const View qx = system_->q(x_), vx = system_->v(x_);
  std::copy(qx.begin(), qx.end(), q.begin());
  std::copy(vx.begin(), vx.end(), v.begin());
}

}  // namespace panto
