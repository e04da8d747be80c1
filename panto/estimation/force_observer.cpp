#include "panto/estimation/force_observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "panto/base/contract.hpp"
#include "panto/mechanics/assembly.hpp"

namespace panto {

namespace {

size_t at(int i) { return static_cast<size_t>(i); }
constexpr double kDifference = 1e-6;  // of a user's law, relative to its deviation at the start

double one_or_each(const std::vector<double>& values, int i) {
  return values[values.size() == 1 ? 0 : at(i)];
}

double pole(double bandwidth, double dt) {
  return std::exp(-2 * std::numbers::pi * bandwidth * dt);
}

}  // namespace

// ---- system --------------------------------------------------------------------------------------------------------------------------

ForceSystem::ForceSystem(Workspace& workspace, std::vector<Place> measured,
                         std::vector<double> sigma, std::vector<Place> unknown,
                         const ForceSettings& settings)
    : workspace_(workspace),
      measured_(std::move(measured)),
      unknown_(std::move(unknown)),
      sigma_(std::move(sigma)),
      settings_(settings),
      nv_(workspace.model().nv),
      nz_(static_cast<int>(workspace.independent_speeds().size())),
      n1_(static_cast<int>(measured_.size())),
      n2_(static_cast<int>(unknown_.size())) {
  const bool f12 = settings_.form == ForceForm::kF12;
  PANTO_EXPECT(f12 ? n1_ == nz_ : n2_ <= nz_, "forces that the equations determine");
  n_ = n1_ + n2_;
  for (const UnknownForce& e : settings_.unknown)
    colour_.push_back(e.law == ForceLaw::kColoured && f12 ? n_++ : -1);
  const int solved = f12 ? n1_ : n2_, others = f12 ? n2_ : n1_;
  const Model& m = workspace.model();
  basis_.assign(at(nv_ * nz_), 0.0);
  row_.assign(at(nv_), 0.0);
  v_ = a_ = row_;
  q_.assign(at(m.nq), 0.0);
  u_.assign(m.inputs.size(), 0.0);
  b1_.setZero(nz_, n1_);
  b2_.setZero(nz_, n2_);
  pinv_.setZero(solved, nz_);
  normal_.setIdentity(solved, solved);
  llt_.compute(normal_);
  gain_.setZero(solved, others);
  effort_.setZero(nz_);
  offset_.setZero(solved);
  residual_.r.setZero(nv_);
  residual_.phi.setZero(m.n_position_rows);
  residual_.phi_dot.setZero(m.n_position_rows + m.n_velocity_rows);
  residual_.phi_ddot.setZero(m.n_rows());
}

// Column of B: Rᵀ times the lever arms of a force of one. A payload of one kilogramme acts by g - p̈.
void ForceSystem::column(const Place& place, Eigen::MatrixXd& b, int j) noexcept {
  const Model& m = workspace_.model();
  b.col(j).setZero();
  for (size_t k = 0; k < place.outputs.size(); ++k) {
    double factor = 1;
    if (place.payload) {
      factor = workspace_.number(m.gravity[k]) - workspace_.closed_output(place.outputs[k]);
    }
    workspace_.output_row(place.outputs[k], row_);
    for (int z = 0; z < nz_; ++z) {
      double sum = 0;
      for (int i = 0; i < nv_; ++i) sum += basis_[at(z * nv_ + i)] * row_[at(i)];
      b(z, j) += factor * sum;
    }
  }
}

// B1 F1 + B2 F2 = Rᵀ (M a + k - Q - B u) (OBS-19).
Status ForceSystem::set_motion(double t, View q, View v, View a, View u) noexcept {
  std::copy(q.begin(), q.end(), q_.begin());
  std::copy(v.begin(), v.end(), v_.begin());
  std::copy(a.begin(), a.end(), a_.begin());
  Point p;
  p.t = t;
  p.q = q_;
  p.v = v_;
  p.a = a_;
  p.u = u;
  workspace_.residual(p, false, residual_);
  // The motion is closed already, by the first stage: only the factors are needed.
  Status held = workspace_.hold_positions(t, q_);
  if (held != Status::kOk) {
    workspace_.choose_partition(t, q_);
    held = workspace_.hold_positions(t, q_);
  }
  bool known = held == Status::kOk || held == Status::kRepartition;
  if (known) {
    const auto z = workspace_.independent_speeds();
    for (int j = 0; j < nz_; ++j) {
      const MutableView r(&basis_[at(j * nv_)], at(nv_));
      std::fill(r.begin(), r.end(), 0.0);
      r[at(z[at(j)])] = 1;
      workspace_.complete(Level::kVelocity, {}, r);
      double sum = 0;
      for (int i = 0; i < nv_; ++i) sum += r[at(i)] * residual_.r(i);
      effort_(j) = sum;
    }
    workspace_.close_accelerations(v_, {}, {}, a_);
    for (int j = 0; j < n1_; ++j) column(measured_[at(j)], b1_, j);
    for (int j = 0; j < n2_; ++j) column(unknown_[at(j)], b2_, j);
    const bool f12 = settings_.form == ForceForm::kF12;
    const Eigen::MatrixXd &target = f12 ? b1_ : b2_, &other = f12 ? b2_ : b1_;
    normal_.noalias() = target.transpose() * target;
    llt_.compute(normal_);
    known = llt_.info() == Eigen::Success;
    if (known) {
      pinv_ = target.transpose();
      llt_.solveInPlace(pinv_);
      offset_.noalias() = pinv_ * effort_;
      gain_.noalias() = pinv_ * other;
      gain_ *= -1;
      known = offset_.allFinite() && gain_.allFinite();
    }
  }
  margin_ = known ? 1 / pinv_.norm() : 0;
  zone_ = !known || margin_ <= settings_.enter || (zone_ && margin_ < settings_.leave);
  return zone_ ? Status::kSingular : Status::kOk;
}

void ForceSystem::solve(View others, MutableView forces) const noexcept {
  for (Eigen::Index i = 0; i < offset_.size(); ++i) {
    double sum = offset_(i);
    for (Eigen::Index j = 0; j < gain_.cols(); ++j)
      sum += gain_(i, j) * others[static_cast<size_t>(j)];
    forces[static_cast<size_t>(i)] = sum;
  }
}

void ForceSystem::initial_covariance(Eigen::MatrixXd& p) const {
  p.setZero(n_, n_);
  for (int i = 0; i < n1_; ++i) p(i, i) = sigma_[at(i)] * sigma_[at(i)];
  for (int i = 0; i < n2_; ++i) {
    const UnknownForce& e = settings_.unknown[at(i)];
    p(n1_ + i, n1_ + i) = e.start_sigma * e.start_sigma;
    if (colour_[at(i)] >= 0) p(colour_[at(i)], colour_[at(i)]) = e.start_sigma * e.start_sigma;
  }
}

void ForceSystem::move(View x, View w, MutableView out) noexcept {
  for (int i = 0; i < n_; ++i) out[at(i)] = x[at(i)] + w[at(i)];
}

void ForceSystem::difference(View a, View b, MutableView w) noexcept {
  for (int i = 0; i < n_; ++i) w[at(i)] = a[at(i)] - b[at(i)];
}

Status ForceSystem::step(double t, double dt, MutableView x, MutableView out) noexcept {
  std::copy(x.begin(), x.end(), out.begin());
  if (solved(true)) {
    if (!at_end()) solve(x.subspan(at(n1_), at(n2_)), out.first(at(n1_)));
  } else if (solved(false)) {
    solve(x.first(at(n1_)), out.subspan(at(n1_), at(n2_)));
    return Status::kOk;
  }
  for (int i = 0; i < n2_; ++i) {
    const UnknownForce& e = settings_.unknown[at(i)];
    double& force = out[at(n1_ + i)];
    switch (e.law) {
      case ForceLaw::kRandomWalk:
        break;
      case ForceLaw::kLowPass:
        force *= pole(e.bandwidth, dt);
        break;
      case ForceLaw::kColoured:
        if (const int c = colour_[at(i)]; c >= 0) {
          force += dt * x[at(c)];
          out[at(c)] *= pole(e.bandwidth, dt);
        }
        break;
      case ForceLaw::kUser:
        force = e.user(t, dt, force);
        break;
    }
  }
  if (solved(true) && at_end()) solve(out.subspan(at(n1_), at(n2_)), out.first(at(n1_)));
  return Status::kOk;
}

Status ForceSystem::transition(double t, double dt, MutableView x, MutableView out,
                               Eigen::MatrixXd& f) noexcept {
  (void)out;
  f.setIdentity();
  if (solved(true)) {
    f.topLeftCorner(n1_, n1_).setZero();
    f.block(0, n1_, n1_, n2_) = gain_;
  } else if (solved(false)) {
    f.block(n1_, n1_, n2_, n2_).setZero();
    f.block(n1_, 0, n2_, n1_) = gain_;
    return Status::kOk;
  }
  for (int i = 0; i < n2_; ++i) {
    const UnknownForce& e = settings_.unknown[at(i)];
    const int k = n1_ + i;
    if (e.law == ForceLaw::kLowPass) f(k, k) = pole(e.bandwidth, dt);
    if (const int c = colour_[at(i)]; c >= 0) {
      f(k, c) = dt;
      f(c, c) = pole(e.bandwidth, dt);
    }
    if (e.law == ForceLaw::kUser) {
      const double d = kDifference * e.start_sigma, force = x[at(k)];
      f(k, k) = (e.user(t, dt, force + d) - e.user(t, dt, force - d)) / (2 * d);
    }
  }
  if (solved(true) && at_end()) f.topRows(n1_) = gain_.lazyProduct(f.middleRows(n1_, n2_));
  return f.allFinite() ? Status::kOk : Status::kNotFinite;
}

void ForceSystem::process_noise(double t, double dt, View x, Eigen::MatrixXd& q) noexcept {
  (void)t, (void)x;
  q.setZero();
  for (int i = 0; i < n1_; ++i) {
    const double s = solved(true) ? one_or_each(settings_.model_sigma, i)
                                  : settings_.measured_walk * std::sqrt(dt);
    q(i, i) = s * s;
  }
  for (int i = 0; i < n2_; ++i) {
    const UnknownForce& e = settings_.unknown[at(i)];
    const int k = n1_ + i;
    if (solved(false)) {
      const double s = one_or_each(settings_.model_sigma, i);
      q(k, k) = s * s;
      continue;
    }
    if (e.law == ForceLaw::kLowPass) {
      const double a = pole(e.bandwidth, dt);
      q(k, k) = e.sigma * e.sigma * (1 - a * a);
    } else if (const int c = colour_[at(i)]; c >= 0) {
      q(c, c) = e.walk * e.walk * dt;
    } else {
      q(k, k) = e.walk * e.walk * dt;
    }
  }
  if (!solved(true) || !at_end()) return;
  // What is new in the unknown forces is in the measured ones at once.
  for (int i = 0; i < n1_; ++i)
    for (int j = 0; j < n2_; ++j) {
      const double c = gain_(i, j) * q(n1_ + j, n1_ + j);
      q(i, n1_ + j) = q(n1_ + j, i) = c;
      for (int k = 0; k < n1_; ++k) q(i, k) += c * gain_(k, j);
    }
}

Status ForceSystem::sense(double t, MutableView x, std::span<const int> sensors,
                          MutableView y) noexcept {
  (void)t;
  for (size_t i = 0; i < sensors.size(); ++i) y[i] = x[at(sensors[i])];
  return Status::kOk;
}

Status ForceSystem::sense_jacobian(double t, MutableView x, std::span<const int> sensors,
                                   Eigen::MatrixXd& h) noexcept {
  (void)t, (void)x;
  h.topRows(static_cast<Eigen::Index>(sensors.size())).setZero();
  for (size_t i = 0; i < sensors.size(); ++i) h(static_cast<Eigen::Index>(i), sensors[i]) = 1;
  return Status::kOk;
}

double ForceSystem::variance(int sensor) const noexcept {
  return sigma_[at(sensor)] * sigma_[at(sensor)];
}

// ---- observer ------------------------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<ForceObserver>> ForceObserver::create(const Model& model,
                                                             const Params& params,
                                                             const ForceSettings& settings) {
  Diagnostics notes;
  std::unique_ptr<ForceObserver> o(new ForceObserver);
  o->settings_ = settings;
  o->model_ = std::make_unique<Model>(model);
  Model& m = *o->model_;
  const std::vector<std::string> names = kinematic_filters();
  if (std::find(names.begin(), names.end(), settings.filter) == names.end())
    notes.error(801, settings.loc,
                fmt::format("filter \"{}\" is not one for forces{}; known: {}", settings.filter,
                            did_you_mean(settings.filter, names), fmt::join(names, ", ")));
  if (m.n_velocity_rows + m.n_acceleration_rows > 0)
    notes.error(805, settings.loc,
                "forces are not observed of a model with velocity-controlled drives");
  std::vector<std::string> inputs, frames;
  for (const Input& e : m.inputs) inputs.push_back(e.name);
  for (const Frame& e : m.frames) frames.push_back(e.name);
  const auto add = [&](const Channel& channel, Order order) {
    Output out;
    out.channel = channel;
    out.order = order;
    m.outputs.push_back(out);
    return static_cast<int>(m.outputs.size()) - 1;
  };
  std::vector<int> taken;
  const auto force_place = [&](const std::string& name, const Loc& loc) {
    ForceSystem::Place place;
    const auto found = std::find(inputs.begin(), inputs.end(), name);
    const auto input = static_cast<int>(found - inputs.begin());
    if (found != inputs.end())
      for (const Actuator& e : m.actuators)
        if (e.input == input && e.group < 0) place.outputs.push_back(add(e.channel, Order::kRate));
    if (place.outputs.empty()) {
      notes.error(802, loc,
                  fmt::format("\"{}\" is not an input of the model that is a force or torque{}",
                              name, did_you_mean(name, inputs)));
      return place;
    }
    if (std::find(taken.begin(), taken.end(), input) != taken.end())
      notes.error(805, loc, fmt::format("force \"{}\" is named twice", name));
    taken.push_back(input);
    return place;
  };
  std::vector<ForceSystem::Place> measured, unknown;
  std::vector<double> sigma;
  for (KinematicChannel& c : o->settings_.measured) {
    measured.push_back(force_place(c.name, c.loc));
    if (!(c.sigma > 0) || !std::isfinite(c.sigma))
      notes.error(
          803, c.loc,
          fmt::format("measured force \"{}\": its standard deviation must be positive", c.name));
    sigma.push_back(c.sigma);
  }
  for (const UnknownForce& e : settings.unknown) {
    if (!e.payload) {
      unknown.push_back(force_place(e.name, e.loc));
    } else {
      ForceSystem::Place place;
      place.payload = true;
      const auto found = std::find(frames.begin(), frames.end(), e.name);
      if (found == frames.end()) {
        notes.error(802, e.loc,
                    fmt::format("payload \"{}\" is not a frame of the model{}", e.name,
                                did_you_mean(e.name, frames)));
      } else {
        Channel point;
        point.kind = ChannelKind::kPoint;
        point.frame_a = static_cast<int>(found - frames.begin());
        for (point.axis = 0; point.axis < (m.space == SpaceKind::kPlanar ? 2 : 3); ++point.axis)
          place.outputs.push_back(add(point, Order::kAcceleration));
      }
      unknown.push_back(place);
    }
    const bool spread = e.law == ForceLaw::kLowPass ? e.sigma > 0 : e.walk > 0;
    const bool banded = e.law == ForceLaw::kLowPass || e.law == ForceLaw::kColoured;
    if (!spread || !(e.start_sigma > 0) || (banded && !(e.bandwidth > 0)) ||
        (e.law == ForceLaw::kUser && !e.user))
      notes.error(804, e.loc,
                  fmt::format("unknown force \"{}\": deviations and bandwidth are positive, and a "
                              "law of the user is given",
                              e.name));
  }
  const bool f12 = settings.form == ForceForm::kF12;
  const size_t solved = f12 ? measured.size() : unknown.size();
  const auto bad = [](double e) { return !(e > 0) || !std::isfinite(e); };
  if ((settings.model_sigma.size() != 1 && settings.model_sigma.size() != solved) ||
      std::any_of(settings.model_sigma.begin(), settings.model_sigma.end(), bad) ||
      bad(settings.measured_walk) || !(settings.enter >= 0) || !(settings.leave >= settings.enter))
    notes.error(804, settings.loc,
                "model_sigma (one or one per force solved for) and measured_walk are positive, "
                "leave is not below enter");
  if (!notes.ok()) return notes;

  o->workspace_ = Workspace::create(m, params);
  Result<AssembledState> start = assemble(*o->workspace_);
  notes.append(start.diagnostics());
  if (!start) return notes;
  o->workspace_->choose_partition(0, {start->q.data(), static_cast<size_t>(start->q.size())}, true);
  const size_t nz = o->workspace_->independent_speeds().size();
  if (unknown.empty() || unknown.size() > nz || (f12 && measured.size() != nz))
    notes.error(
        805, settings.loc,
        fmt::format(
            "{} degrees of freedom: from one to as many unknown forces can be "
            "found, here {}{}",
            nz, unknown.size(),
            f12 ? fmt::format("; as many must be measured, here {}", measured.size()) : ""));
  if (!notes.ok()) return notes;
  o->system_ =
      std::make_unique<ForceSystem>(*o->workspace_, measured, sigma, unknown, o->settings_);
  o->filter_ = make_filter(settings.filter, *o->system_, settings.options, settings.sigma, {});
  o->system_->initial_covariance(o->p0_);
  o->p_ = o->p0_;
  o->u_.assign(m.inputs.size(), 0.0);
  o->u_rate_ = o->u_;
  o->q_.assign(static_cast<size_t>(m.nq), 0.0);
  o->v_.assign(static_cast<size_t>(m.nv), 0.0);
  o->a_ = o->v_;
  o->values_.reserve(measured.size());
  o->used_.reserve(measured.size());
  o->watch_.resize(measured.size());
  o->report_.measured.assign(measured.size(), Reading::kNone);
  return Result<std::unique_ptr<ForceObserver>>(std::move(o), notes);
}

// Inputs that are neither measured nor unknown follow the model's signals; the others act by their columns.
Status ForceObserver::set_motion(double t, View q, View v, View a) noexcept {
  workspace_->inputs_at(t, u_, u_rate_);
  const auto leave_out = [&](const std::string& name) {
    for (size_t i = 0; i < u_.size(); ++i)
      if (model_->inputs[i].name == name) u_[i] = 0;
  };
  for (const KinematicChannel& c : settings_.measured) leave_out(c.name);
  for (const UnknownForce& e : settings_.unknown)
    if (!e.payload) leave_out(e.name);
  return system_->set_motion(t, q, v, a, u_);
}

Status ForceObserver::start(double t, View q, View v, View a, View forces) {
  std::vector<double> x(static_cast<size_t>(system_->size()), 0.0);
  for (size_t i = 0; i < watch_.size(); ++i) {
    watch_[i] = {};
    if (watch_[i].judge(settings_.measured[i], forces[i]) == Reading::kUsed) x[i] = forces[i];
  }
  std::copy(q.begin(), q.end(), q_.begin());
  std::copy(v.begin(), v.end(), v_.begin());
  std::copy(a.begin(), a.end(), a_.begin());
  return filter_->start(t, x, p0_);
}

const ForceReport& ForceObserver::step(double t, View q, View v, View a, View forces) noexcept {
  const double dt = t - filter_->time();
  const bool begin = settings_.motion == MotionAt::kBegin;
  const Status motion = begin ? set_motion(filter_->time(), q_, v_, a_) : set_motion(t, q, v, a);
  report_.zone = motion != Status::kOk;
  used_.clear();
  values_.clear();
  for (size_t i = 0; i < watch_.size(); ++i) {
    report_.measured[i] = watch_[i].judge(settings_.measured[i], forces[i]);
    if (report_.measured[i] != Reading::kUsed) continue;
    used_.push_back(static_cast<int>(i));
    values_.push_back(forces[i]);
  }
  report_.status = filter_->step(dt, used_, values_);
  if (report_.status != Status::kOk) {
    // The state is the last good one.
    std::copy(filter_->state().begin(), filter_->state().end(), p_.col(0).data());
    (void)filter_->start(t, {p_.col(0).data(), static_cast<size_t>(p_.rows())}, p0_);
  }
  std::copy(q.begin(), q.end(), q_.begin());
  std::copy(v.begin(), v.end(), v_.begin());
  std::copy(a.begin(), a.end(), a_.begin());
  return report_;
}

void ForceObserver::unknown_sigma(MutableView sigma) noexcept {
  filter_->covariance(p_);
  for (int i = 0; i < system_->unknown(); ++i) {
    const int k = system_->measured() + i;
    sigma[at(i)] = std::sqrt(std::max(0.0, p_(k, k)));
  }
}

// ---- both stages ---------------------------------------------------------------------------------------------------------------------

TwoStageObserver::TwoStageObserver(std::unique_ptr<KinematicObserver> kinematic,
                                   std::unique_ptr<ForceObserver> force)
    : kinematic_(std::move(kinematic)), force_(std::move(force)) {
  const Model& m = kinematic_->model();
  q_.assign(static_cast<size_t>(m.nq), 0.0);
  v_.assign(static_cast<size_t>(m.nv), 0.0);
  a_ = v_;
}

Status TwoStageObserver::start(View forces) {
  kinematic_->motion(q_, v_, a_);
  return force_->start(kinematic_->time(), q_, v_, a_, forces);
}

void TwoStageObserver::step(double t, View u, View y, View forces) noexcept {
  if (kinematic_->step(t, u, y).stamp != Stamp::kGood) return;
  kinematic_->motion(q_, v_, a_);
  force_->step(t, q_, v_, a_, forces);
}

}  // namespace panto
