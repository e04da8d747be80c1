#include "panto/estimation/tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "panto/integrate/state_units.hpp"
#include "panto/numerics/quantiles.hpp"

namespace panto {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kLongestStep = 0.01;  // where nothing else is said [s]
constexpr double kStepSlack = 1e-6;    // of a step, for rounded stamps

size_t at(int i) { return static_cast<size_t>(i); }

}  // namespace

Result<std::vector<int>> outputs_named(const Model& model, const std::vector<std::string>& names) {
  std::vector<int> out;
  std::vector<std::string> known;
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    known.push_back(model.outputs[i].name);
    const bool sensor =
        std::any_of(model.sensors.begin(), model.sensors.end(),
                    [&](const Sensor& s) { return s.output == static_cast<int>(i); });
    if (names.empty() && !sensor) out.push_back(static_cast<int>(i));
  }
  Diagnostics notes;
  for (const std::string& name : names) {
    out.push_back(find_output(model, name));
    if (out.back() < 0)
      notes.error(
          802, {},
          fmt::format("\"{}\" is not an output of the model{}", name, did_you_mean(name, known)));
  }
  if (!notes.ok()) return notes;
  return out;
}

double gate_of(double probability) { return normal_quantile(0.5 * (1 + probability)); }

Tracker::Tracker(Observer& observer, const TrackerOptions& options, Sink sink)
    : observer_(observer),
      mechanism_(observer.mechanism()),
      system_(observer.system()),
      options_(options),
      sink_(std::move(sink)),
      watch_(options.window) {
  const Workspace& workspace = mechanism_.workspace();
  const Model& model = workspace.model();
  const auto m = at(mechanism_.sensors()), nu = model.inputs.size();
  if (options_.dt <= 0) {
    options_.dt = kLongestStep;
    for (const Sensor& s : model.sensors)
      if (const double rate = s.rate >= 0 ? workspace.number(s.rate) : 0; rate > 0)
        options_.dt = std::min(options_.dt, 1 / rate);
  }
  // Quantities.
  Run units;
  describe_states(model, units);
  const auto has = [&](const std::string& name) {
    return std::any_of(quantities_.begin(), quantities_.end(),
                       [&](const EstimatedQuantity& q) { return q.name == name; });
  };
  for (int dof : workspace.independent_positions()) {
    const auto joint = std::find_if(model.joints.begin(), model.joints.end(),
                                    [&](const Joint& j) { return dof >= j.v && dof < j.v + j.nv; });
    if (joint != model.joints.end() && joint->type == JointType::kSpherical)
      continue;  // no number: outputs tell where it points
    const auto c = at(workspace.coordinate_of(dof));
    positions_.push_back(dof);
    quantities_.push_back({model.coordinate_names[c], units.coordinate_units[c]});
  }
  for (int dof : workspace.independent_speeds()) {
    speeds_.push_back(dof);
    quantities_.push_back({model.speed_names[at(dof)], units.speed_units[at(dof)]});
  }
  const std::vector<std::string> names = system_.names();
  const int d = system_.motion();
  const size_t nf = system_.forces(observer.filter().state()).size();
  for (size_t i = 0; i < nf; ++i) {
    const bool angle = units.speed_units[at(workspace.independent_speeds()[i])].starts_with("rad");
    quantities_.push_back({names[at(d) + i], angle ? "N m" : "N"});
  }
  for (int i = 0; i < mechanism_.sensors(); ++i)
    if (mechanism_.sensor(i).bias_sigma > 0) {
      const Output& o = model.outputs[at(mechanism_.sensor(i).output)];
      quantities_.push_back({"bias " + o.name, unit_of(o)});
    }
  std::erase_if(options_.outputs, [&](int o) { return has(model.outputs[at(o)].name); });
  for (int o : options_.outputs)
    quantities_.push_back({model.outputs[at(o)].name, unit_of(model.outputs[at(o)])});

  for (int i = 0; i < mechanism_.sensors(); ++i) {
    const Output& o = model.outputs[at(mechanism_.sensor(i).output)];
    Sums s;
    s.record.name = o.name;
    s.record.unit = unit_of(o);
    sums_.push_back(std::move(s));
  }

  const int n = system_.size();
  x_.resize(at(system_.storage()));
  y_.resize(options_.outputs.size());
  readings_.resize(m);
  sensors_used_.reserve(m);
  memory_.resize(at(system_.memory()));
  p_.setZero(n, n);
  dq_.setZero(model.nv, d);
  dv_.setZero(model.nv, d);
  mass_.setZero(mechanism_.speeds(), mechanism_.speeds());
  change_.setZero(n, n);
  row_.setZero(n);
  h_.setZero(std::max<Eigen::Index>(1, static_cast<Eigen::Index>(y_.size())), n);
  estimate_ = estimate();

  const int events = std::max(2, options_.events);
  Event empty;
  empty.y.assign(m, kNone);
  empty.e = empty.s = empty.y;
  empty.u.assign(nu, kNone);
  empty.u_after = base_u_ = empty.u;
  empty.after = base_ = aside_ = observer.filter().snapshot();
  events_.assign(at(events), empty);
  order_.reserve(at(events));
  for (int i = events; i-- > 0;) free_.push_back(i);
}

Estimate Tracker::estimate() const {
  Estimate e;
  e.value.assign(quantities_.size(), kNone);
  e.sigma = e.value;
  e.innovation.assign(sums_.size(), kNone);
  e.innovation_sigma = e.innovation;
  return e;
}

Status Tracker::start(double t) {
  std::fill(base_u_.begin(), base_u_.end(), kNone);
  mechanism_.set_inputs(base_u_);
  status_ = observer_.start(t);
  if (status_ != Status::kOk) return status_;
  observer_.filter().save(base_);
  started_ = true;
  settled_ = false;
  now_ = t;
  return status_;
}

const std::vector<double>& Tracker::inputs_before(size_t k) const {
  return k == 0 ? base_u_ : events_[at(order_[k - 1])].u_after;
}

// From the event before (the filter is there) to event k.
Status Tracker::process(size_t k) {
  Event& event = events_[at(order_[k])];
  Filter& filter = observer_.filter();
  const std::vector<double>& u = inputs_before(k);
  if (!u.empty()) mechanism_.set_inputs(u);
  sensors_used_.clear();
  for (size_t i = 0; i < event.y.size(); ++i)
    if (!std::isnan(event.y[i])) {
      readings_[sensors_used_.size()] = event.y[i];
      sensors_used_.push_back(static_cast<int>(i));
    }
  const View y(readings_.data(), sensors_used_.size());
  const double way = std::max(0.0, event.t - filter.time());
  const int steps = std::max(1, static_cast<int>(std::ceil(way / options_.dt - kStepSlack)));
  const auto began = std::chrono::steady_clock::now();
  Status status = Status::kOk;
  for (int i = 1; i <= steps && status == Status::kOk; ++i) {
    const bool arrived = i == steps;
    status =
        arrived ? filter.step(way / steps, sensors_used_, y) : filter.step(way / steps, {}, {});
    if (status == Status::kOk && options_.after_step) options_.after_step(arrived);
    if (status == Status::kOk) observer_.renew_reference();
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  steps_ += steps;
  if (status != Status::kOk) return status;

  const Innovations& found = filter.innovations();
  std::fill(event.e.begin(), event.e.end(), kNone);
  std::fill(event.s.begin(), event.s.end(), kNone);
  for (size_t i = 0; i < found.sensor.size(); ++i) {
    event.e[at(found.sensor[i])] = found.value[i];
    event.s[at(found.sensor[i])] = found.variance[i];
  }
  event.nis = found.nis;
  event.used = found.count;
  event.rejected = found.rejected;
  for (size_t i = 0; i < u.size(); ++i)
    event.u_after[i] = std::isnan(event.u[i]) ? u[i] : event.u[i];
  filter.save(event.after);
  return status;
}

Arrival Tracker::push(double t, View y, View u) {
  if (!started_ && start(t) != Status::kOk) return Arrival::kFailed;
  if (order_.size() == events_.size()) commit_first();
  const bool old = t < now_ - options_.lag || t < base_.t || (settled_ && t == base_.t);
  const bool late = t < now_;
  if (!old && t > now_ && (t - now_) / options_.dt > kMostSteps) return Arrival::kJump;
  for (size_t i = 0; i < y.size(); ++i) {
    if (std::isnan(y[i])) continue;
    SensorRecord& r = sums_[i].record;
    ++r.readings;
    if (old) {
      ++r.dropped;
    } else if (late) {
      ++r.late;
    }
  }
  if (old) return Arrival::kTooOld;

  // Its place; most are the newest.
  size_t k = order_.size();
  while (k > 0 && events_[at(order_[k - 1])].t >= t) --k;
  const bool known = k < order_.size() && events_[at(order_[k])].t == t;
  if (!known) {
    order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(k), free_.back());
    free_.pop_back();
    Event& event = events_[at(order_[k])];
    event.t = t;
    std::fill(event.y.begin(), event.y.end(), kNone);
    std::fill(event.u.begin(), event.u.end(), kNone);
  }
  Event& event = events_[at(order_[k])];
  bool news = !known;
  for (size_t i = 0; i < y.size(); ++i) {
    if (std::isnan(y[i])) continue;
    if (!std::isnan(event.y[i])) {
      ++sums_[i].record.repeated;
      continue;
    }
    event.y[i] = y[i];
    news = true;
  }
  for (size_t i = 0; i < u.size(); ++i) {
    if (std::isnan(u[i])) continue;
    event.u[i] = u[i];
    news = true;
  }
  now_ = std::max(now_, t);
  if (!news) return late ? Arrival::kLate : Arrival::kNew;
  if (k + 1 < order_.size() || known)
    observer_.filter().restore(k == 0 ? base_ : events_[at(order_[k - 1])].after);
  for (; k < order_.size(); ++k) {
    status_ = process(k);
    if (status_ == Status::kOk) continue;
    // The events before are good; those from here on are lost.
    while (order_.size() > k) {
      free_.push_back(order_.back());
      order_.pop_back();
    }
    if (options_.restart == Restart::kNever) return Arrival::kFailed;
    start_again();
    return status_ == Status::kOk ? Arrival::kNew : Arrival::kFailed;
  }
  while (!order_.empty() && events_[at(order_.front())].t < now_ - options_.lag) commit_first();
  if (alarm_ && options_.restart != Restart::kNever) start_again();
  return late ? Arrival::kLate : Arrival::kNew;
}

void Tracker::finish() {
  while (!order_.empty()) commit_first();
}

void Tracker::commit_first() {
  Event& event = events_[at(order_.front())];
  ++updates_;
  nis_ += event.nis;
  used_ += event.used;
  for (size_t i = 0; i < sums_.size(); ++i) {
    if (std::isnan(event.y[i])) continue;
    Sums& s = sums_[i];
    if (std::isnan(event.e[i])) {
      ++s.record.rejected;
      continue;
    }
    const double e = event.e[i], normal = e / std::sqrt(event.s[i]);
    if (s.record.used++ > 0) {
      s.product += normal * s.last;
      ++s.pairs;
    }
    s.last = normal;
    s.square += e * e;
    s.normal += normal;
    s.normal_square += normal * normal;
  }
  if (sink_) {
    Filter& filter = observer_.filter();
    const bool newest = order_.size() == 1;
    if (!newest) {
      filter.save(aside_);
      filter.restore(event.after);
    }
    if (!event.u_after.empty()) mechanism_.set_inputs(event.u_after);
    evaluate(estimate_);
    describe(event, estimate_);
    if (!newest) filter.restore(aside_);
    sink_(estimate_);
  }
  if (watch_.add(event.nis, event.used, event.rejected)) {
    if (diverged_++ == 0) diverged_at_ = event.t;
    alarm_ = true;
  }
  std::swap(base_, event.after);
  std::swap(base_u_, event.u_after);
  settled_ = true;
  free_.push_back(order_.front());
  order_.erase(order_.begin());
}

void Tracker::start_again() {
  Filter& filter = observer_.filter();
  if (!order_.empty()) filter.restore(events_[at(order_.back())].after);
  finish();
  filter.restore(base_);
  ++restarts_;
  alarm_ = false;
  watch_.reset();
  if (!base_u_.empty()) mechanism_.set_inputs(base_u_);
  status_ = restart(observer_, options_.restart, now_, x_);
  filter.save(base_);
  settled_ = true;
}

void Tracker::present(Estimate& out) {
  if (order_.empty()) {
    if (!base_u_.empty()) mechanism_.set_inputs(base_u_);
    evaluate(out);
    std::fill(out.innovation.begin(), out.innovation.end(), kNone);
    std::fill(out.innovation_sigma.begin(), out.innovation_sigma.end(), kNone);
    out.nis = 0;
    out.used = 0;
    return;
  }
  const Event& event = events_[at(order_.back())];
  if (!event.u_after.empty()) mechanism_.set_inputs(event.u_after);
  evaluate(out);
  describe(event, out);
}

void Tracker::describe(const Event& event, Estimate& out) const {
  out.t = event.t;
  out.nis = event.nis;
  out.used = event.used;
  for (size_t i = 0; i < sums_.size(); ++i) {
    out.innovation[i] = event.e[i];
    out.innovation_sigma[i] = std::sqrt(event.s[i]);
  }
}

void Tracker::evaluate(Estimate& out) {
  const Filter& filter = observer_.filter();
  std::copy(filter.state().begin(), filter.state().end(), x_.begin());
  filter.covariance(p_);
  evaluate_copy(filter.time(), out);
}

void Tracker::evaluate(double t, View x, const Eigen::MatrixXd& p, View u, Estimate& out) {
  if (!u.empty()) mechanism_.set_inputs(u);
  std::copy(x.begin(), x.end(), x_.begin());
  system_.unsettle(x_);
  p_ = p;
  evaluate_copy(t, out);
}

// At x_ with covariance p_.
void Tracker::evaluate_copy(double t, Estimate& out) {
  const Workspace& workspace = mechanism_.workspace();
  out.t = t;
  system_.remember(memory_);
  std::fill(out.value.begin(), out.value.end(), kNone);
  std::fill(out.sigma.begin(), out.sigma.end(), kNone);
  size_t to = 0;
  const auto put = [&](double value, double variance) {
    out.value[to] = value;
    out.sigma[to++] = variance >= 0 ? std::sqrt(variance) : kNone;
  };
  const int d = system_.motion();
  if (system_.state_jacobian(t, x_, dq_, dv_) == Status::kOk) {
    const View q = system_.q(x_), v = system_.v(x_);
    const auto spread = [&](const Eigen::MatrixXd& by, int dof) {
      row_.head(d).noalias() = p_.topLeftCorner(d, d) * by.row(dof).transpose();
      return by.row(dof).dot(row_.head(d));
    };
    for (int dof : positions_) put(q[at(workspace.coordinate_of(dof))], spread(dq_, dof));
    for (int dof : speeds_) put(v[at(dof)], spread(dv_, dof));
    const View forces = system_.forces(x_), biases = system_.biases(x_);
    const auto nf = static_cast<int>(forces.size());
    // A change of a force is that of the acceleration times the mass.
    if (nf > 0 && mechanism_.accelerations(t, x_) == Status::kOk) {
      mechanism_.workspace().reduced_mass(mass_);
      for (int i = 0; i < nf; ++i) {
        row_.head(nf).noalias() = p_.block(d, d, nf, nf) * mass_.row(i).transpose();
        put(forces[at(i)], mass_.row(i).dot(row_.head(nf)));
      }
    }
    to = positions_.size() + speeds_.size() + at(nf);
    for (size_t i = 0; i < biases.size(); ++i) {
      const auto k = static_cast<Eigen::Index>(at(d + nf) + i);
      put(biases[i], p_(k, k));
    }
    if (!options_.outputs.empty() && system_.outputs(t, x_, options_.outputs, y_) == Status::kOk) {
      const bool linear = system_.outputs_jacobian(t, x_, options_.outputs, h_) == Status::kOk;
      for (size_t i = 0; i < y_.size(); ++i) {
        const auto row = h_.row(static_cast<Eigen::Index>(i));
        row_.noalias() = p_ * row.transpose();
        put(y_[i], linear ? row.dot(row_) : kNone);
      }
    }
  }
  (void)system_.recall(t, memory_, x_, change_);
}

std::vector<SensorRecord> Tracker::sensors() const {
  std::vector<SensorRecord> out;
  out.reserve(sums_.size());
  for (const Sums& s : sums_) {
    SensorRecord r = s.record;
    if (r.used > 0) {
      const auto n = static_cast<double>(r.used);
      r.rms = std::sqrt(s.square / n);
      r.mean = s.normal / n;
      r.nis = s.normal_square / n;
      if (s.pairs > 0 && s.normal_square > 0)
        r.correlation = s.product / static_cast<double>(s.pairs) / r.nis;
    }
    out.push_back(std::move(r));
  }
  return out;
}

}  // namespace panto
