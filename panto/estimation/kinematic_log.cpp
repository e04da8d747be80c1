#include "panto/estimation/kinematic_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "panto/integrate/state_units.hpp"

namespace panto {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, kReadingKinds> kReadings{
    "none", "used", "held", "not_finite", "saturated", "frozen", "rejected"};

size_t at(int i) { return static_cast<size_t>(i); }

// "theta_ddot" of "theta_dot", "rad/s^2" of "rad/s".
EstimatedQuantity acceleration_of(const std::string& speed, const std::string& unit) {
  const bool dotted = speed.ends_with("_dot");
  return {dotted ? speed.substr(0, speed.size() - 4) + "_ddot" : speed + "_dot",
          unit.ends_with("/s") ? unit + "^2" : unit + "/s"};
}

bool accelerated(const Model& model, int output) {
  return model.outputs[at(output)].order == Order::kAcceleration;
}

}  // namespace

std::string_view name_of(Reading reading) { return kReadings[static_cast<size_t>(reading)]; }

std::string_view name_of(Stamp stamp) {
  switch (stamp) {
    case Stamp::kGood:
      return "good";
    case Stamp::kRepeated:
      return "repeated";
    case Stamp::kBackward:
      return "backward";
    case Stamp::kJump:
      break;
  }
  return "jump";
}

std::string_view name_of(ChannelRole role) {
  return role == ChannelRole::kInput ? "input" : role == ChannelRole::kSensor ? "sensor" : "force";
}

Result<std::vector<int>> kinematic_outputs(const Model& model, int order,
                                           const std::vector<std::string>& names) {
  Result<std::vector<int>> found = outputs_named(model, names);
  if (!found) return found;
  Diagnostics notes;
  const auto given = [&](int o) {
    return model.outputs[at(o)].kind == OutputKind::kChannel &&
           (order == 2 || !accelerated(model, o));
  };
  for (const int o : *found)
    if (!names.empty() && !given(o))
      notes.error(805, {},
                  fmt::format("output \"{}\" is no position, speed{} of a kinematic model",
                              model.outputs[at(o)].name, order == 2 ? " or acceleration" : ""));
  if (!notes.ok()) return notes;
  std::erase_if(*found, [&](int o) { return !given(o); });
  return found;
}

Result<std::unique_ptr<KinematicTracker>> KinematicTracker::create(const Model& model,
                                                                   const Params& params,
                                                                   const KinematicSetup& setup,
                                                                   std::vector<int> outputs) {
  Diagnostics notes;
  std::unique_ptr<KinematicTracker> o(new KinematicTracker);
  auto first =
      KinematicObserver::create(model, params, setup.settings, setup.inputs, setup.sensors);
  notes.append(first.diagnostics());
  if (setup.forces) {
    auto second = ForceObserver::create(model, params, *setup.forces);
    notes.append(second.diagnostics());
    if (first && second)
      o->both_ = std::make_unique<TwoStageObserver>(std::move(*first), std::move(*second));
  } else if (first) {
    o->alone_ = std::move(*first);
  }
  if (!notes.ok()) return notes;

  o->order_ = setup.settings.system.order;
  o->top_ = setup.settings.system.top != TopState::kNone;
  o->ni_ = setup.inputs.size();
  o->ns_ = setup.sensors.size();
  const std::vector<std::string> names = setup.channels();
  for (size_t i = 0; i < names.size(); ++i) {
    ChannelRecord r;
    r.name = names[i];
    r.role = i < o->ni_            ? ChannelRole::kInput
             : i < o->ni_ + o->ns_ ? ChannelRole::kSensor
                                   : ChannelRole::kForce;
    if (const int output = find_output(model, r.name); output >= 0) {
      r.unit = unit_of(model.outputs[at(output)]);
    } else {
      for (const Input& e : model.inputs)
        if (e.name == r.name) r.unit = to_string(e.dim);
    }
    o->channels_.push_back(std::move(r));
  }
  std::stable_partition(outputs.begin(), outputs.end(),
                        [&](int e) { return !accelerated(model, e); });
  o->outputs_ = std::move(outputs);
  o->describe(model, setup.forces ? setup.forces->unknown : std::vector<UnknownForce>{});
  return Result<std::unique_ptr<KinematicTracker>>(std::move(o), notes);
}

void KinematicTracker::describe(const Model& model, const std::vector<UnknownForce>& unknown) {
  KinematicSystem& system = observer().system();
  const Workspace& workspace = system.workspace();
  Run units;
  describe_states(model, units);
  for (const int dof : workspace.independent_speeds()) {
    speeds_.push_back(dof);
    const Joint& joint =
        *std::find_if(model.joints.begin(), model.joints.end(),
                      [&](const Joint& j) { return dof >= j.v && dof < j.v + j.nv; });
    if (joint.type == JointType::kSpherical) continue;  // no number: outputs tell where it points
    const auto c = at(workspace.coordinate_of(dof));
    positions_.push_back(dof);
    quantities_.push_back({model.coordinate_names[c], units.coordinate_units[c]});
  }
  for (const int dof : speeds_)
    quantities_.push_back({model.speed_names[at(dof)], units.speed_units[at(dof)]});
  for (size_t i = 0; i < speeds_.size() && order_ == 2; ++i)
    quantities_.push_back(
        acceleration_of(model.speed_names[at(speeds_[i])], units.speed_units[at(speeds_[i])]));
  nf_ = static_cast<int>(unknown.size());
  for (const UnknownForce& f : unknown) {
    std::string unit = "kg";
    for (const Input& e : model.inputs)
      if (!f.payload && e.name == f.name) unit = to_string(e.dim);
    quantities_.push_back({(f.payload ? "payload " : "force ") + f.name, unit});
  }
  const std::vector<std::string> names = system.names();
  const size_t nb = system.biases(observer().filter().state()).size();
  constexpr size_t kPrefix = 5;  // "bias "
  for (size_t i = names.size() - nb; i < names.size(); ++i)
    quantities_.push_back(
        {names[i], unit_of(model.outputs[at(find_output(model, names[i].substr(kPrefix)))])});
  std::erase_if(outputs_, [&](int e) {
    return std::any_of(quantities_.begin(), quantities_.end(),
                       [&](const auto& q) { return q.name == model.outputs[at(e)].name; });
  });
  for (const int e : outputs_)
    quantities_.push_back({model.outputs[at(e)].name, unit_of(model.outputs[at(e)])});
  slow_ = static_cast<size_t>(std::count_if(outputs_.begin(), outputs_.end(),
                                            [&](int e) { return !accelerated(model, e); }));

  const int n = system.size();
  q_.assign(at(model.nq), 0.0);
  v_.assign(at(model.nv), 0.0);
  a_ = v_;
  x_.assign(at(system.storage()), 0.0);
  y_.assign(outputs_.size(), 0.0);
  sigma_.assign(at(nf_), 0.0);
  squares_.assign(ns_, 0.0);
  normal_squares_.assign(ns_, 0.0);
  p_.setZero(n, n);
  h_.setZero(std::max<Eigen::Index>(1, static_cast<Eigen::Index>(outputs_.size())), n);
  row_.setZero(n);
}

void KinematicTracker::take_motion() noexcept {
  if (!both_) {
    alone_->motion(q_, v_, a_);
    return;
  }
  std::copy(both_->q().begin(), both_->q().end(), q_.begin());
  std::copy(both_->v().begin(), both_->v().end(), v_.begin());
  std::copy(both_->a().begin(), both_->a().end(), a_.begin());
}

Status KinematicTracker::begin(Status first, View readings) {
  if (first != Status::kOk) return first;
  if (both_ && both_->start(readings.subspan(ni_ + ns_)) != Status::kOk)
    return Status::kBadArgument;
  take_motion();
  started_ = true;
  return Status::kOk;
}

Status KinematicTracker::start(double t, View readings) {
  return begin(observer().start(t, readings.first(ni_)), readings);
}

Status KinematicTracker::start(double t, View q, View v, View readings) {
  return begin(observer().start(t, q, v, readings.first(ni_)), readings);
}

Stamp KinematicTracker::push(double t, View readings) noexcept {
  const View u = readings.first(ni_), y = readings.subspan(ni_, ns_);
  if (both_)
    both_->step(t, u, y, readings.subspan(ni_ + ns_));
  else
    alone_->step(t, u, y);
  const KinematicReport& report = observer().report();
  if (report.stamp != Stamp::kGood) return report.stamp;
  take_motion();
  for (size_t i = 0; i < channels_.size(); ++i) {
    const Reading r = i < ni_         ? report.inputs[i]
                      : i < ni_ + ns_ ? report.sensors[i - ni_]
                                      : both_->force().report().measured[i - ni_ - ns_];
    ++channels_[i].count[static_cast<size_t>(r)];
  }
  const Innovations& found = observer().filter().innovations();
  nis_ += found.nis;
  used_ += found.count;
  for (size_t i = 0; i < found.sensor.size(); ++i) {
    const auto k = at(found.sensor[i]);
    squares_[k] += found.value[i] * found.value[i];
    normal_squares_[k] += found.value[i] * found.value[i] / found.variance[i];
  }
  return report.stamp;
}

std::vector<ChannelRecord> KinematicTracker::records() const {
  std::vector<ChannelRecord> out = channels_;
  for (size_t i = 0; i < ns_; ++i) {
    ChannelRecord& r = out[ni_ + i];
    const auto used = static_cast<double>(std::max(1L, r.of(Reading::kUsed)));
    r.rms = std::sqrt(squares_[i] / used);
    r.nis = normal_squares_[i] / used;
  }
  return out;
}

KinematicEstimate KinematicTracker::estimate() const {
  KinematicEstimate e;
  e.value.assign(quantities_.size(), kNone);
  e.sigma = e.value;
  e.innovation.assign(ns_, kNone);
  e.innovation_sigma = e.innovation;
  e.readings.assign(channels_.size(), Reading::kNone);
  return e;
}

void KinematicTracker::present(KinematicEstimate& out) noexcept {
  KinematicObserver& o = observer();
  KinematicSystem& system = o.system();
  const Workspace& workspace = system.workspace();
  const KinematicReport& report = o.report();
  const Filter& filter = o.filter();
  out.t = o.time();
  out.zone = report.zone;
  out.restarted = report.restarted;
  out.force_zone = both_ && both_->force().report().zone;
  std::copy(report.inputs.begin(), report.inputs.end(), out.readings.begin());
  std::copy(report.sensors.begin(), report.sensors.end(),
            out.readings.begin() + static_cast<std::ptrdiff_t>(ni_));
  if (both_)
    std::copy(both_->force().report().measured.begin(), both_->force().report().measured.end(),
              out.readings.begin() + static_cast<std::ptrdiff_t>(ni_ + ns_));
  const Innovations& found = filter.innovations();
  std::fill(out.innovation.begin(), out.innovation.end(), kNone);
  std::fill(out.innovation_sigma.begin(), out.innovation_sigma.end(), kNone);
  for (size_t i = 0; i < found.sensor.size(); ++i) {
    out.innovation[at(found.sensor[i])] = found.value[i];
    out.innovation_sigma[at(found.sensor[i])] = std::sqrt(found.variance[i]);
  }
  out.nis = found.nis;
  out.used = found.count;

  size_t to = 0;
  const auto put = [&](double value, double variance) {
    out.value[to] = value;
    out.sigma[to++] = variance >= 0 ? std::sqrt(variance) : kNone;
  };
  const auto spread = [&](const auto& by) {
    row_.noalias() = p_ * by.transpose();
    return by.dot(row_);
  };
  std::copy(filter.state().begin(), filter.state().end(), x_.begin());
  filter.covariance(p_);
  const bool known = system.whole(out.t, x_, whole_) == Status::kOk;
  const int nv = workspace.model().nv, n = system.size();
  // Rows of the coordinates, the speeds and, where they are a state, the accelerations of all joints.
  const int levels = order_ + (top_ ? 1 : 0);
  const auto variance = [&](int level, int dof) {
    return known && level < levels ? spread(whole_.row(level * nv + dof).head(n)) : kNone;
  };
  for (const int dof : positions_) put(q_[at(workspace.coordinate_of(dof))], variance(0, dof));
  for (const int dof : speeds_) put(v_[at(dof)], variance(1, dof));
  for (size_t i = 0; i < speeds_.size() && order_ == 2; ++i)
    put(a_[at(speeds_[i])], variance(2, speeds_[i]));
  if (both_) {
    both_->force().unknown_sigma(sigma_);
    for (int i = 0; i < nf_; ++i) put(unknown()[at(i)], sigma_[at(i)] * sigma_[at(i)]);
  }
  const View biases = system.biases(x_);
  for (size_t i = 0; i < biases.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(at(n) - biases.size() + i);
    put(biases[i], p_(k, k));
  }
  // Accelerations may be unknown where positions are not. What the inputs say and no state holds has no deviation.
  const auto read = [&](size_t from, size_t count) {
    const std::span<const int> some(outputs_.data() + from, count);
    if (some.empty()) return;
    const MutableView y(y_.data() + from, count);
    const bool valued = system.outputs(out.t, x_, some, y) == Status::kOk;
    const bool linear = valued && system.outputs_jacobian(out.t, x_, some, h_) == Status::kOk;
    for (size_t i = 0; i < count; ++i) {
      const Order order = workspace.model().outputs[at(some[i])].order;
      const bool held = linear && static_cast<int>(order) < levels;
      put(valued ? y[i] : kNone, held ? spread(h_.row(static_cast<Eigen::Index>(i))) : kNone);
    }
  };
  read(0, slow_);
  read(slow_, outputs_.size() - slow_);
}

// ---- logs ----------------------------------------------------------------------------------------------------------------------------

Result<KinematicLogSummary> run_log(KinematicTracker& tracker, const SensorLog& log,
                                    const std::function<void(const KinematicEstimate&)>& sink,
                                    const std::function<bool(double)>& progress) {
  struct Item {
    double t, value;
    long arrival;
    size_t channel;
  };
  Diagnostics notes;
  std::vector<Item> items;
  bool any = false;
  for (size_t k = 0; k < tracker.channels().size(); ++k) {
    bool there = false;
    for (const auto* list : {&log.sensors, &log.inputs})
      for (const LogSeries& series : *list) {
        if (tracker.channels()[k].name != series.name) continue;
        there = true;
        for (const LogSample& s : series.samples) {
          items.push_back({s.t, s.value, s.arrival, k});
          any = any || std::isfinite(s.value);
        }
      }
    if (!there)
      notes.error(810, {log.file, 0, 0},
                  fmt::format("has no readings of \"{}\"", tracker.channels()[k].name));
  }
  if (notes.ok() && !any)
    notes.error(815, {log.file, 0, 0}, "holds no reading of the sensors that are used");
  if (!notes.ok()) return notes;
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.arrival < b.arrival; });
  KinematicLogSummary summary;
  KinematicEstimate estimate = tracker.estimate();
  std::vector<double> row(tracker.channels().size());
  std::vector<bool> taken(row.size());
  long zone = 0;
  for (size_t i = 0; i < items.size();) {
    // What follows with the same stamp goes together; a second reading of one channel does not.
    std::fill(row.begin(), row.end(), kNone);
    std::fill(taken.begin(), taken.end(), false);
    const double t = items[i].t;
    for (; i < items.size() && items[i].t == t && !taken[items[i].channel]; ++i) {
      row[items[i].channel] = items[i].value;
      taken[items[i].channel] = true;
    }
    if (!tracker.started()) {
      const Status status = tracker.start(t, row);
      if (status != Status::kOk) {
        notes.error(813, {log.file, 0, 0},
                    fmt::format("the filter cannot be started: {}", to_string(status)));
        return notes;
      }
      summary.begin = t;
    } else {
      const auto began = std::chrono::steady_clock::now();
      const Stamp stamp = tracker.push(t, row);
      summary.step_seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      if (stamp == Stamp::kGood) {
        tracker.present(estimate);
        if (estimate.zone) ++zone;
        if (sink) sink(estimate);
      }
    }
    if (progress && !progress(static_cast<double>(i) / static_cast<double>(items.size()))) {
      summary.complete = false;
      break;
    }
  }
  summary.channels = tracker.records();
  summary.quantities = tracker.quantities();
  summary.counts = tracker.counts();
  summary.end = tracker.time();
  summary.nis = tracker.mean_nis();
  if (summary.counts.steps > 0)
    summary.zone_share = static_cast<double>(zone) / static_cast<double>(summary.counts.steps);
  return {std::move(summary), notes};
}

void add(EstimateSeries& series, const KinematicEstimate& e) {
  series.add(e);
  series.zone.push_back(e.zone ? 1 : 0);
  series.readings.resize(e.readings.size());
  for (size_t i = 0; i < e.readings.size(); ++i)
    series.readings[i].words.emplace_back(name_of(e.readings[i]));
}

void label(EstimateSeries& series, const KinematicTracker& tracker) {
  const auto name = [](auto& columns, const auto& named) {
    for (size_t i = 0; i < columns.size(); ++i) {
      columns[i].name = named[i].name;
      columns[i].unit = named[i].unit;
    }
  };
  name(series.estimates, tracker.quantities());
  std::vector<ChannelRecord> sensors;
  for (const ChannelRecord& r : tracker.channels())
    if (r.role == ChannelRole::kSensor) sensors.push_back(r);
  name(series.innovations, sensors);
  for (size_t i = 0; i < series.readings.size(); ++i)
    series.readings[i].name = tracker.channels()[i].name;
}

}  // namespace panto
