#include "panto/estimation/mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "panto/base/contract.hpp"
#include "panto/estimation/index3.hpp"

namespace panto {

namespace {

constexpr double kWorn = 0.1;  // of the best conditioning since the choice
constexpr double kWatch =
    0.02;  // of joints [rad, m]: then the modes of a reduced mechanism are looked at
constexpr double kBetter = 0.5;  // of the misfit in use: another reference is changed to
constexpr int kFixedPointLimit = 8, kNewtonLimit = 17;
constexpr double kRoundOff = 1e-15;       // of coordinates
constexpr double kPointTolerance = 1e-7;  // of a point's distance from point 0

size_t at(int i) { return static_cast<size_t>(i); }

double entry(const std::vector<double>& values, int i) {
  return values[values.size() == 1 ? 0 : at(i)];
}

bool usable(Status s) { return s == Status::kOk || s == Status::kRepartition; }

}  // namespace

Mechanism::Mechanism(Workspace& workspace, std::vector<UsedSensor> sensors,
                     const MechanismOptions& options)
    : workspace_(workspace),
      sensors_(std::move(sensors)),
      options_(options),
      nq_(workspace.model().nq),
      nv_(workspace.model().nv),
      np_(static_cast<int>(workspace.independent_positions().size())),
      nz_(static_cast<int>(workspace.independent_speeds().size())),
      nf_(options.forces ? nz_ : 0),
      motion_(workspace) {
  const auto one_or_each = [&](const std::vector<double>& v) {
    return v.size() == 1 || v.size() == at(nz_);
  };
  PANTO_EXPECT(one_or_each(options.acceleration_noise), "one noise density, or one per speed");
  PANTO_EXPECT(one_or_each(options.force_walk), "one force walk, or one per speed");
  bias_of_.assign(sensors_.size(), -1);
  for (size_t i = 0; i < sensors_.size(); ++i)
    if (sensors_[i].bias_sigma > 0) bias_of_[i] = nb_++;
  n_ = np_ + nz_ + nf_ + nb_;
  at_level_ = nq_ + 2 * nv_;
  at_force_ = at_level_ + 3;
  at_bias_ = at_force_ + nf_;
  storage_ = at_bias_ + nb_;
  const Model& m = workspace.model();
  const size_t nv = at(nv_);
  step_.assign(nv, 0.0);
  u_.assign(m.inputs.size(), 0.0);
  u_rate_.assign(m.inputs.size(), 0.0);
  outside_u_.assign(m.inputs.size(), 0.0);
  lambda_.assign(m.rows.size(), 0.0);
  force_.assign(nv, 0.0);
  bend_.assign(nv, 0.0);
  speed_.assign(nv, 0.0);
  acceleration_.assign(nv, 0.0);
  for (auto* k : {&k1_, &k2_, &k3_, &k4_}) k->assign(2 * nv, 0.0);
  stage_.assign(at(storage_), 0.0);
  first_.assign(at(storage_), 0.0);
  reserve_points(1);
  old_positions_.reserve(nv);
  old_speeds_.reserve(nv);
  outputs_.reserve(sensors_.size());
  const int d = np_ + nz_;
  a0_.setZero(d, d);
  a1_.setZero(d, d);
  left_.setIdentity(d, d);
  lu_.compute(left_);
  residual_.setZero(d);
  mass_.setZero(nv_, nv_);
  reduced_.setIdentity(nz_, nz_);
  llt_.compute(reduced_);
  added_.setZero(nz_);
  noise_.setZero(nz_, nz_);
  gamma_w_.setZero(nz_);
  gamma_.setZero(nz_, nz_);
  product_.setZero(d, d);
  mass_basis_.setZero(nv_, nz_);
  basis_ = mass_basis_;
  correction_.setZero(d);
  force_lu_.compute(reduced_);
  motion_.reserve_outputs(static_cast<int>(sensors_.size()));
  h_.setZero(static_cast<Eigen::Index>(sensors_.size()), d);
  h_force_.setZero(h_.rows(),
                   static_cast<Eigen::Index>(workspace.independent_accelerations().size()));
  best_conditioning_ = workspace.conditioning();
  if (options.reduction_limit > 0) references_ = references_of(workspace);
  if (references_ != nullptr) {
    const auto modes = static_cast<Eigen::Index>(m.reduction.modes.size());
    all_.setZero(2 * nv_, d);
    map_.setZero(2 * modes, 2 * nv_);
    mapped_.setZero(2 * modes, n_);
    watched_.assign(at(m.joint_nq()), std::numeric_limits<double>::quiet_NaN());
  }
  if (options.scheme == Scheme::kIndex3) index3_ = std::make_unique<Index3Plant>(workspace);
}

Mechanism::~Mechanism() = default;

void Mechanism::reserve_points(int count) {
  trend_.assign(at(count * nv_), 0.0);
  defect_.assign(at(count * nv_), 0.0);
}

std::vector<std::string> Mechanism::names() const {
  const Model& m = workspace_.model();
  std::vector<std::string> out;
  out.reserve(at(n_));
  for (int i : workspace_.independent_positions()) {
    std::string name = m.speed_names[at(i)];  // "theta_dot", or "ball.wx"
    if (name.ends_with("_dot")) {
      name.resize(name.size() - 4);
    } else {
      name.insert(0, "turn ");
    }
    out.push_back(name);
  }
  for (int i : workspace_.independent_speeds()) out.push_back(m.speed_names[at(i)]);
  for (int i = 0; i < nf_; ++i) out.push_back("force " + out[at(i)]);
  for (size_t i = 0; i < sensors_.size(); ++i)
    if (bias_of_[i] >= 0) out.push_back("bias " + m.outputs[at(sensors_[i].output)].name);
  return out;
}

void Mechanism::set_done(MutableView x, Done d) const { x[at(at_level_)] = static_cast<double>(d); }

bool Mechanism::present(View x) const {
  return done(x) != Done::kNothing && x[at(at_level_ + 1)] == stamp_;
}

void Mechanism::forget() noexcept {
  worn_ = false;
  workspace_.forget_pose();
  best_conditioning_ = workspace_.conditioning();
  stamp_ += 1;
  near_ = false;
  next_reference_ = -1;
  wants_reference_ = false;
  std::fill(watched_.begin(), watched_.end(), std::numeric_limits<double>::quiet_NaN());
  forget_guesses();
}

void Mechanism::forget_guesses() noexcept {
  std::fill(trend_.begin(), trend_.end(), 0.0);
  std::fill(defect_.begin(), defect_.end(), 0.0);
  contraction_ = 1;
}

void Mechanism::pack(View q, View v, MutableView x) const noexcept {
  std::fill(x.begin(), x.end(), 0.0);
  std::copy(q.begin(), q.end(), x.begin());
  std::copy(v.begin(), v.end(), x.begin() + nq_);
  if (references_ != nullptr) x[at(at_level_ + 2)] = references_->reference();
}

void Mechanism::set_inputs(View u) noexcept {
  outside_inputs_ = !u.empty();
  std::copy(u.begin(), u.end(), outside_u_.begin());
}

void Mechanism::inputs_at(double t) noexcept {
  workspace_.inputs_at(t, u_, u_rate_);
  if (!outside_inputs_) return;
  for (size_t i = 0; i < u_.size(); ++i)
    if (!std::isnan(outside_u_[i])) {
      u_[i] = outside_u_[i];
      u_rate_[i] = 0;
    }
}

void Mechanism::initial_covariance(View coordinates, View speeds, View forces,
                                   Eigen::MatrixXd& p) const {
  p.setZero(n_, n_);
  const auto fill = [&](View sigma, int first, int count) {
    for (int i = 0; i < count; ++i) {
      const double s = sigma[sigma.size() == 1 ? 0 : at(i)];
      p(first + i, first + i) = s * s;
    }
  };
  fill(coordinates, 0, np_);
  fill(speeds, np_, nz_);
  fill(forces, np_ + nz_, nf_);
  for (size_t i = 0; i < sensors_.size(); ++i)
    if (bias_of_[i] >= 0) {
      const int k = np_ + nz_ + nf_ + bias_of_[i];
      p(k, k) = sensors_[i].bias_sigma * sensors_[i].bias_sigma;
    }
}

// ---- state ---------------------------------------------------------------------------------------------------------------------------

void Mechanism::watch(View x) noexcept {
  bool moved = false;
  for (size_t i = 0; i < watched_.size(); ++i) moved |= !(std::abs(x[i] - watched_[i]) <= kWatch);
  if (!moved) return;
  std::copy_n(x.begin(), watched_.size(), watched_.begin());
  stamp_ += 1;  // the workspace has left the state it was at
  next_reference_ = -1;
  const double now = references_->reference_misfit(reference(x), q(x));
  wants_reference_ = now > options_.reduction_limit;
  if (!wants_reference_) return;
  double best = kBetter * now;
  for (int i = 0; i < references_->references(); ++i)
    if (const double misfit = references_->reference_misfit(i, q(x)); misfit < best) {
      best = misfit;
      next_reference_ = i;
    }
  wants_reference_ = next_reference_ < 0;
}

bool Mechanism::add_reference(View q) {
  if (references_ == nullptr || references_->add_reference(q) < 0) return false;
  std::fill(watched_.begin(), watched_.end(), std::numeric_limits<double>::quiet_NaN());
  wants_reference_ = false;
  stamp_ += 1;
  return true;
}

void Mechanism::first_reference() noexcept {
  if (references_ != nullptr) references_->use_reference(0);
}

Status Mechanism::close(double t, MutableView x) noexcept {
  if (present(x)) return Status::kOk;
  if (references_ != nullptr) references_->use_reference(reference(x));
  const MutableView q = x.first(at(nq_)), v = x.subspan(at(nq_), at(nv_));
  const Status closed =
      index3_ ? workspace_.hold_positions(t, q) : workspace_.close_positions(t, q);
  if (!usable(closed)) return closed;
  const double now = workspace_.conditioning();
  best_conditioning_ = std::max(best_conditioning_, now);
  worn_ = worn_ || closed == Status::kRepartition || now < kWorn * best_conditioning_;
  inputs_at(t);
  const Status moving = workspace_.close_velocities(t, u_, v);
  if (moving != Status::kOk) return moving;
  if (done(x) == Done::kNothing) set_done(x, Done::kVelocities);
  near_ = true;
  stamp_ += 1;
  x[at(at_level_ + 1)] = stamp_;
  return Status::kOk;
}

Status Mechanism::accelerate(double t, MutableView x) noexcept {
  if (done(x) == Done::kAccelerations) return Status::kOk;
  const Status closed = close(t, x);
  if (closed != Status::kOk) return closed;
  inputs_at(t);
  if (nf_ > 0) {
    const auto z = workspace_.independent_speeds();
    std::fill(force_.begin(), force_.end(), 0.0);
    for (int i = 0; i < nf_; ++i) force_[at(z[at(i)])] = x[at(at_force_ + i)];
    workspace_.set_added_forces(force_);
  }
  const Status status =
      workspace_.accelerations(t, v(x), u_, u_rate_, x.subspan(at(nq_ + nv_), at(nv_)));
  if (status == Status::kOk) {
    set_done(x, Done::kAccelerations);
  } else {
    // What is not a number stays out of states.
    std::fill_n(x.begin() + nq_ + nv_, nv_, 0.0);
  }
  return status;
}

Status Mechanism::settle(double t, MutableView x) noexcept {
  const Status status = done(x) == Done::kNothing ? close(t, x) : Status::kOk;
  if (status == Status::kOk && references_ != nullptr) watch(x);
  return status;
}

Status Mechanism::reduced_mass(View x) noexcept {
  if (!present(x)) {
    const Status held = workspace_.hold_positions(0, q(x));
    if (!usable(held)) return held;
    stamp_ += 1;  // the workspace has left the state it was at
  }
  // R by independent speeds, which may be fewer than the coordinates.
  const auto zv = workspace_.independent_speeds();
  basis_.setZero();
  for (int j = 0; j < nz_; ++j) {
    basis_(zv[at(j)], j) = 1;
    workspace_.complete(Level::kVelocity, {}, {basis_.col(j).data(), at(nv_)});
  }
  workspace_.mass_matrix(q(x), mass_);
  for (int j = 0; j < nz_; ++j) mass_basis_.col(j).noalias() = mass_ * basis_.col(j);
  reduced_.noalias() = basis_.transpose() * mass_basis_;
  llt_.compute(reduced_);
  return llt_.info() == Eigen::Success ? Status::kOk : Status::kSingular;
}

void Mechanism::move(View x, View w, MutableView out) noexcept {
  if (out.data() != x.data()) std::copy(x.begin(), x.end(), out.begin());
  set_done(out, Done::kNothing);
  for (int i = 0; i < nb_; ++i) out[at(at_bias_ + i)] += w[at(np_ + nz_ + nf_ + i)];
  const auto zp = workspace_.independent_positions(), zv = workspace_.independent_speeds();
  std::fill(step_.begin(), step_.end(), 0.0);
  for (int i = 0; i < np_; ++i) step_[at(zp[at(i)])] = w[at(i)];
  // Dependent coordinates follow along the tangent of the last closed state: a better start for closing the loops. The index-3 plant does not
  // close them: there the tangent is the correction itself.
  bool known = index3_ ? present(x) : near_;
  if (index3_ && !known) {
    stamp_ += 1;
    known = usable(workspace_.hold_positions(0, q(x)));
  }
  if (np_ < nv_ && known) workspace_.complete(Level::kPosition, {}, step_);
  workspace_.move(out.first(at(nq_)), step_);
  for (int i = 0; i < nz_; ++i) out[at(nq_ + zv[at(i)])] += w[at(np_ + i)];
  // A generalised force changes by what gives the acceleration δz̈ where the state has moved to.
  bool forced = false;
  for (int i = 0; i < nf_; ++i) {
    added_(i) = w[at(np_ + nz_ + i)];
    forced = forced || added_(i) != 0;
  }
  if (forced && reduced_mass(out) == Status::kOk)
    for (int i = 0; i < nf_; ++i) out[at(at_force_ + i)] += reduced_.row(i).dot(added_);
}

void Mechanism::difference(View a, View b, MutableView w) noexcept {
  workspace_.difference(q(a), q(b), step_);
  const auto zp = workspace_.independent_positions(), zv = workspace_.independent_speeds();
  for (int i = 0; i < np_; ++i) w[at(i)] = step_[at(zp[at(i)])];
  for (int i = 0; i < nz_; ++i) {
    const size_t k = at(nq_ + zv[at(i)]);
    w[at(np_ + i)] = a[k] - b[k];
  }
  if (nf_ > 0) {
    bool any = false;
    for (int i = 0; i < nf_; ++i) {
      added_(i) = a[at(at_force_ + i)] - b[at(at_force_ + i)];
      any = any || added_(i) != 0;
    }
    if (any && reduced_mass(a) == Status::kOk) llt_.solveInPlace(added_);
    for (int i = 0; i < nf_; ++i) w[at(np_ + nz_ + i)] = added_(i);
  }
  for (int i = 0; i < nb_; ++i)
    w[at(np_ + nz_ + nf_ + i)] = a[at(at_bias_ + i)] - b[at(at_bias_ + i)];
}

// ---- motion --------------------------------------------------------------------------------------------------------------------------

void Mechanism::advance(View x, double h, View speed, View acceleration, MutableView out) noexcept {
  if (out.data() != x.data()) std::copy(x.begin(), x.end(), out.begin());
  for (int i = 0; i < nv_; ++i) step_[at(i)] = h * speed[at(i)];
  workspace_.move(out.first(at(nq_)), step_);
  for (int i = 0; i < nv_; ++i) out[at(nq_ + i)] = x[at(nq_ + i)] + h * acceleration[at(i)];
  set_done(out, Done::kNothing);
}

// Dependent coordinates as the loops bend them while the free ones go straight on: a better start for closing.
void Mechanism::bend(double dt, View x, MutableView out) noexcept {
  if (np_ == nv_ || !present(x)) return;
  const View acceleration = a(x);
  std::copy(acceleration.begin(), acceleration.end(), step_.begin());
  workspace_.complete(Level::kPosition, {}, step_);
  for (int i = 0; i < nv_; ++i) step_[at(i)] = 0.5 * dt * dt * (acceleration[at(i)] - step_[at(i)]);
  workspace_.move(out.first(at(nq_)), step_);
}

Status Mechanism::step_point(int i, double t, double dt, MutableView x, MutableView out) noexcept {
  if (index3_) {
    // The accelerations in x are the plant's own, not the model's: derivatives are taken of a copy.
    if (options_.jacobian != TransitionJacobian::kConstant) {
      std::copy(x.begin(), x.end(), stage_.begin());
      set_done(stage_, Done::kNothing);
      const Status s = derivative(t, stage_, a0_);
      if (s != Status::kOk) return s;
    }
    std::copy(x.begin(), x.end(), out.begin());
    const auto z = workspace_.independent_speeds();
    std::fill(force_.begin(), force_.end(), 0.0);
    for (int k = 0; k < nf_; ++k) force_[at(z[at(k)])] = x[at(at_force_ + k)];
    inputs_at(t + dt);
    const Status s =
        index3_->step(t, dt, u_, u_rate_, force_, out.first(at(nq_)), out.subspan(at(nq_), at(nv_)),
                      out.subspan(at(nq_ + nv_), at(nv_)));
    set_done(out, Done::kNothing);
    return s == Status::kOk ? close(t + dt, out) : s;
  }
  const Status status = accelerate(t, x);
  if (status != Status::kOk) return status;
  if (options_.jacobian != TransitionJacobian::kConstant) {
    const Status s = derivative(t, x, a0_);
    if (s != Status::kOk) return s;
  }
  switch (options_.scheme) {
    case Scheme::kTrapezoidal:
      return trapezoidal(i, t, dt, x, out);
    case Scheme::kRungeKutta4:
      return runge_kutta(t, dt, x, out);
    default:
      advance(x, dt, v(x), a(x), out);
      bend(dt, x, out);
      return Status::kOk;
  }
}

// z1 = z0 + h/2 (ż0 + ż1), ż1 = ż0 + h/2 (z̈0 + z̈1): fixed point, started with the change of acceleration of the last step; Newton where that does
// not contract (stiff mechanisms). Of a point beside the first the difference from it counts, which is small: its error may be a share of that.
Status Mechanism::trapezoidal(int point, double t, double dt, MutableView x,
                              MutableView out) noexcept {
  const double h = 0.5 * dt;
  const auto zv = workspace_.independent_speeds();
  double tolerance = options_.fixed_point_tolerance;
  if (point == 0)
    std::copy(x.begin(), x.end(), first_.begin());
  else
    tolerance = std::max(tolerance, kPointTolerance * distance(dt, x));
  guess(point, x);
  place(dt, x, out);
  double before = 0;
  for (int iteration = 0; iteration < kFixedPointLimit; ++iteration) {
    const Status status = accelerate(t + dt, out);
    if (status != Status::kOk) return status;
    // What one more fixed-point step changes.
    double change = 0;
    const View a1 = a(out);
    for (int i : zv) change = std::max(change, h * h * std::abs(a1[at(i)] - acceleration_[at(i)]));
    if (iteration > 0) {
      const double ratio = change / before;
      if (!(ratio < 0.5)) break;
      if (change > kRoundOff) contraction_ = std::max(ratio, 0.1 * contraction_);
    }
    before = change;
    // The change, by speeds and coordinates; dependent ones along the tangent.
    const MutableView v1 = out.subspan(at(nq_), at(nv_));
    for (int i = 0; i < nv_; ++i) {
      const double dv = h * (a1[at(i)] - acceleration_[at(i)]);
      acceleration_[at(i)] = a1[at(i)];
      v1[at(i)] += dv;
      step_[at(i)] = h * dv;
    }
    if (np_ < nv_) workspace_.complete(Level::kPosition, {}, step_);
    workspace_.move(out.first(at(nq_)), step_);
    set_done(out, Done::kNothing);
    // What is left after it is smaller by the contraction, about (h²/4) |∂z̈/∂z|; found anew now and then.
    if (std::min(1.0, 4 * contraction_) * change <= tolerance) {
      if (iteration == 0) contraction_ = std::min(1.0, 1.05 * contraction_);
      keep_guesses(point, dt, x, out);
      return Status::kOk;
    }
  }
  return trapezoidal_newton(point, t, dt, x, out);
}

double Mechanism::distance(double dt, View x) const noexcept {
  double worst = 0;
  for (int i : workspace_.independent_positions()) {
    const size_t k = at(workspace_.coordinate_of(i));
    worst = std::max(worst, std::abs(x[k] - first_[k]));
  }
  for (int i : workspace_.independent_speeds())
    worst = std::max(worst, dt * std::abs(x[at(nq_ + i)] - first_[at(nq_ + i)]));
  return worst;
}

// acceleration_ at the end of the step, and bend_ of the coordinates.
void Mechanism::guess(int point, View x) noexcept {
  const View a0 = a(x);
  for (int i = 0; i < nv_; ++i) {
    acceleration_[at(i)] = a0[at(i)] + trend_[at(i)];
    bend_[at(i)] = defect_[at(i)];
    if (point == 0) continue;
    acceleration_[at(i)] += trend_[at(point * nv_ + i)];
    bend_[at(i)] += defect_[at(point * nv_ + i)];
  }
}

// out = x moved by the rule with acceleration_ at the end.
void Mechanism::place(double dt, View x, MutableView out) noexcept {
  const double h = 0.5 * dt;
  const View v0 = v(x), a0 = a(x);
  std::copy(x.begin(), x.end(), out.begin());
  for (int i = 0; i < nv_; ++i) {
    const double v1 = v0[at(i)] + h * (a0[at(i)] + acceleration_[at(i)]);
    out[at(nq_ + i)] = v1;
    step_[at(i)] = h * (v0[at(i)] + v1) + bend_[at(i)];
  }
  workspace_.move(out.first(at(nq_)), step_);
  set_done(out, Done::kNothing);
}

void Mechanism::keep_guesses(int point, double dt, View x, View out) noexcept {
  const double h = 0.5 * dt;
  const View v0 = v(x), a0 = a(x);
  workspace_.difference(q(out), q(x), step_);
  for (int i = 0; i < nv_; ++i) {
    const double a1 = acceleration_[at(i)];
    double trend = a1 - a0[at(i)],
           defect = step_[at(i)] - h * (2 * v0[at(i)] + h * (a0[at(i)] + a1));
    if (point > 0) {
      trend -= trend_[at(i)];
      defect -= defect_[at(i)];
    }
    trend_[at(point * nv_ + i)] = trend;
    defect_[at(point * nv_ + i)] = defect;
  }
  for (int i : workspace_.independent_positions()) defect_[at(point * nv_ + i)] = 0;
}

Status Mechanism::trapezoidal_newton(int point, double t, double dt, MutableView x,
                                     MutableView out) noexcept {
  const double h = 0.5 * dt;
  const View v0 = v(x), a0 = a(x);
  const auto zp = workspace_.independent_positions(), zv = workspace_.independent_speeds();
  forget_guesses();
  guess(point, x);
  place(dt, x, out);
  for (int iteration = 0; iteration < kNewtonLimit; ++iteration) {
    Status status = accelerate(t + dt, out);
    if (status == Status::kOk) status = derivative(t + dt, out, a1_);
    if (status != Status::kOk) return status;
    workspace_.difference(q(out), q(x), step_);
    const View v1 = v(out), a1 = a(out);
    double worst = 0;
    for (int i = 0; i < np_; ++i) {
      const size_t k = at(zp[at(i)]);
      residual_(i) = h * (v0[k] + v1[k]) - step_[k];
      worst = std::max(worst, std::abs(residual_(i)));
    }
    for (int i = 0; i < nz_; ++i) {
      const size_t k = at(zv[at(i)]);
      residual_(np_ + i) = v0[k] + h * (a0[k] + a1[k]) - v1[k];
      worst = std::max(worst, h * std::abs(residual_(np_ + i)));
    }
    if (worst <= options_.fixed_point_tolerance) {
      std::copy(a1.begin(), a1.end(), acceleration_.begin());
      keep_guesses(point, dt, x, out);
      return Status::kOk;
    }
    left_.setIdentity();
    left_ -= h * a1_;
    lu_.compute(left_);
    correction_ = lu_.solve(residual_);
    if (!correction_.allFinite()) return Status::kNotFinite;
    std::fill(step_.begin(), step_.end(), 0.0);
    for (int i = 0; i < np_; ++i) step_[at(zp[at(i)])] = correction_(i);
    if (np_ < nv_) workspace_.complete(Level::kPosition, {}, step_);
    workspace_.move(out.first(at(nq_)), step_);
    for (int i = 0; i < nz_; ++i) out[at(nq_ + zv[at(i)])] += correction_(np_ + i);
    set_done(out, Done::kNothing);
  }
  return Status::kNotConverged;
}

Status Mechanism::runge_kutta(double t, double dt, MutableView x, MutableView out) noexcept {
  const size_t nv = at(nv_);
  const auto store = [&](View from, std::vector<double>& k) {
    const View speed = v(from), acceleration = a(from);
    std::copy(speed.begin(), speed.end(), k.begin());
    std::copy(acceleration.begin(), acceleration.end(), k.begin() + nv_);
  };
  const auto part = [&](const std::vector<double>& k, int i) {
    return View(k).subspan(static_cast<size_t>(i) * nv, nv);
  };
  store(x, k1_);
  const auto stage = [&](double h, const std::vector<double>& from, std::vector<double>& to) {
    advance(x, h, part(from, 0), part(from, 1), stage_);
    const Status s = accelerate(t + h, stage_);
    if (s == Status::kOk) store(stage_, to);
    return s;
  };
  Status s = stage(0.5 * dt, k1_, k2_);
  if (s == Status::kOk) s = stage(0.5 * dt, k2_, k3_);
  if (s == Status::kOk) s = stage(dt, k3_, k4_);
  if (s != Status::kOk) return s;
  for (size_t i = 0; i < 2 * nv; ++i) k1_[i] = (k1_[i] + 2 * k2_[i] + 2 * k3_[i] + k4_[i]) / 6;
  advance(x, dt, part(k1_, 0), part(k1_, 1), out);
  return Status::kOk;
}

Point Mechanism::point(double t, View x) noexcept {
  Point p;
  p.t = t;
  p.q = q(x);
  p.v = v(x);
  p.a = a(x);
  p.lambda = lambda_;
  p.u = u_;
  p.u_rate = u_rate_;
  return p;
}

Status Mechanism::derivative(double t, MutableView x, Eigen::MatrixXd& out) noexcept {
  // The accelerations' factors must be those of x.
  if (!present(x) || done(x) != Done::kAccelerations) set_done(x, Done::kNothing);
  const Status status = accelerate(t, x);
  if (status != Status::kOk) return status;
  workspace_.multipliers(a(x), lambda_);
  const Status linear = motion_.accelerations(point(t, x));
  if (linear != Status::kOk) return linear;
  const auto zp = workspace_.independent_positions(), zv = workspace_.independent_speeds();
  for (int i = 0; i < np_; ++i) out.row(i) = motion_.dv().row(zp[at(i)]);
  for (int i = 0; i < nz_; ++i) out.row(np_ + i) = motion_.da().row(zv[at(i)]);
  return Status::kOk;
}

Status Mechanism::whole(double t, MutableView x, Eigen::MatrixXd& b) noexcept {
  const Status s = close(t, x);
  if (s != Status::kOk) return s;
  motion_.velocities(point(t, x));
  const int d = np_ + nz_, added = n_ - d;
  b.setZero(2 * nv_ + added, n_);
  b.topLeftCorner(nv_, d) = motion_.dq();
  b.block(nv_, 0, nv_, d) = motion_.dv();
  b.bottomRightCorner(added, added).setIdentity();
  return b.allFinite() ? Status::kOk : Status::kNotFinite;
}

void Mechanism::rates(View x, MutableView rate) const noexcept {
  const auto zp = workspace_.independent_positions(), zv = workspace_.independent_speeds();
  for (int i = 0; i < np_; ++i) rate[at(i)] = x[at(nq_ + zp[at(i)])];
  for (int i = 0; i < nz_; ++i) rate[at(np_ + i)] = x[at(nq_ + nv_ + zv[at(i)])];
}

void Mechanism::convective(const Eigen::VectorXd& w, Eigen::VectorXd& out) noexcept {
  const auto zv = workspace_.independent_speeds();
  std::fill(speed_.begin(), speed_.end(), 0.0);
  for (int i = 0; i < nz_; ++i) speed_[at(zv[at(i)])] = w(i);
  workspace_.complete(Level::kVelocity, {}, speed_);
  workspace_.convective_forces(speed_, force_);
  for (int i = 0; i < nz_; ++i) {
    out(i) = 0;
    for (int k = 0; k < nv_; ++k) out(i) += basis_(k, i) * force_[at(k)];
  }
}

// β(w) = Γ(w, w) is quadratic: Γ(e_i, e_k) = (β(e_i + e_k) - β(e_i) - β(e_k)) / 2.
Status Mechanism::inertial_derivative(double t, MutableView x, View accelerations,
                                      Eigen::MatrixXd& out) noexcept {
  if (!present(x) || done(x) != Done::kAccelerations) set_done(x, Done::kNothing);
  const Status status = accelerate(t, x);
  if (status != Status::kOk) return status;
  const Status massive = reduced_mass(x);
  if (massive != Status::kOk) return massive;
  const auto zv = workspace_.independent_speeds();
  out.setZero();
  for (int i = 0; i < std::min(np_, nz_); ++i) out(i, np_ + i) = 1;
  const bool diagonal = options_.rate_terms == RateTerms::kDiagonal;
  const auto add = [&](int i, int k, double times) {  // times Γ(e_i, e_k) = added_, column k
    const double speed = x[at(nq_ + zv[at(i)])];
    for (int r = 0; r < nz_; ++r) {
      out(np_ + r, np_ + k) -= times * speed * added_(r);
      if (i == k || !diagonal) out(np_ + r, k) -= 2 * times * accelerations[at(i)] * added_(r);
    }
  };
  for (int k = 0; k < nz_; ++k) {
    gamma_w_.setZero();
    gamma_w_(k) = 1;
    convective(gamma_w_, added_);
    llt_.solveInPlace(added_);
    gamma_.col(k) = added_;
    add(k, k, 1);
    for (int i = 0; i < k; ++i) {
      gamma_w_.setZero();
      gamma_w_(k) = gamma_w_(i) = 1;
      convective(gamma_w_, added_);
      llt_.solveInPlace(added_);
      added_ -= gamma_.col(k) + gamma_.col(i);
      add(i, k, 0.5);
      add(k, i, 0.5);
    }
  }
  stamp_ += 1;  // the workspace has been at other speeds
  return Status::kOk;
}

Status Mechanism::transition(double t, double dt, MutableView x, MutableView out,
                             Eigen::MatrixXd& f) noexcept {
  (void)x;
  f.setIdentity();
  const int d = np_ + nz_;
  auto state = f.topLeftCorner(d, d);
  const double h = dt, hh = 0.5 * dt * dt;
  switch (options_.jacobian) {
    case TransitionJacobian::kConstant:
      for (int i = 0; i < std::min(np_, nz_); ++i) f(i, np_ + i) = h;
      break;
    case TransitionJacobian::kFirstOrder:
      state += h * a0_;
      break;
    case TransitionJacobian::kSecondOrder:
      state += h * a0_;
      // z + h ż + h²/2 z̈: the rows of z̈ follow those of ż.
      if (np_ == nz_) state.topRows(np_) += hh * a0_.bottomRows(nz_);
      break;
    case TransitionJacobian::kExact:
      if (options_.scheme == Scheme::kTrapezoidal) {
        const Status s = derivative(t + dt, out, a1_);
        if (s != Status::kOk) return s;
        left_.setIdentity();
        left_ -= 0.5 * h * a1_;
        lu_.compute(left_);
        state += 0.5 * h * a0_;
        a1_ = state;
        state = lu_.solve(a1_);
      } else if (options_.scheme == Scheme::kEuler) {
        state += h * a0_;
      } else {
        // exp(h A) to the order of the scheme.
        a1_ = h * a0_;
        left_ = a1_;
        for (int k = 2; k <= 5; ++k) {
          state += left_;
          product_.noalias() = left_ * a1_;
          left_ = product_ / k;
        }
      }
      break;
  }
  for (int i = 0; i < std::min(nf_, np_); ++i) f(i, d + i) = hh;
  for (int i = 0; i < nf_; ++i) f(np_ + i, d + i) = h;
  return Status::kOk;
}

void Mechanism::process_noise(double t, double dt, View x, Eigen::MatrixXd& out) noexcept {
  (void)t;
  out.setZero();
  noise_.setZero();
  for (int i = 0; i < nz_; ++i) noise_(i, i) = entry(options_.acceleration_noise, i);
  // Forces at inputs: z̈ = M̄⁻¹ Rᵀ b u.
  if (!options_.input_noise.empty() && reduced_mass(x) == Status::kOk) {
    for (const InputNoise& n : options_.input_noise)
      for (const Actuator& actuator : workspace_.model().actuators) {
        if (actuator.input != n.input || actuator.group >= 0) continue;
        workspace_.channel(actuator.channel, Order::kValue, q(x), {}, force_);
        for (int i = 0; i < nz_; ++i) {
          double sum = 0;
          for (int k = 0; k < nv_; ++k) sum += basis_(k, i) * force_[at(k)];
          added_(i) = sum;
        }
        llt_.solveInPlace(added_);
        noise_.noalias() += n.density * added_ * added_.transpose();
      }
  }
  const double h = dt;
  if (options_.noise_form == NoiseForm::kVanLoan) {
    out.block(np_, np_, nz_, nz_) = h * noise_;
    if (np_ == nz_) {
      out.block(0, 0, np_, np_) = h * h * h / 3 * noise_;
      out.block(0, np_, np_, nz_) = h * h / 2 * noise_;
      out.block(np_, 0, nz_, np_) = h * h / 2 * noise_;
    }
  } else {
    out.block(np_, np_, nz_, nz_).diagonal() = h * h / 2 * noise_.diagonal();
    if (np_ == nz_) out.block(0, 0, np_, np_).diagonal() = h * h * h / 3 * noise_.diagonal();
  }
  const int d = np_ + nz_;
  for (int i = 0; i < nf_; ++i) out(d + i, d + i) = h * entry(options_.force_walk, i);
  for (size_t i = 0; i < sensors_.size(); ++i)
    if (bias_of_[i] >= 0) {
      const int k = d + nf_ + bias_of_[i];
      out(k, k) = h * sensors_[i].bias_walk * sensors_[i].bias_walk;
    }
}

// ---- sensors -------------------------------------------------------------------------------------------------------------------------

int Mechanism::free_entry(int output) const noexcept {
  const Output& o = workspace_.model().outputs[at(output)];
  if (o.kind != OutputKind::kChannel || o.channel.kind != ChannelKind::kCoordinate ||
      o.order == Order::kAcceleration)
    return -1;
  const bool value = o.order == Order::kValue;
  const auto z = value ? workspace_.independent_positions() : workspace_.independent_speeds();
  const auto found = std::find(z.begin(), z.end(), o.channel.dof);
  return found == z.end() ? -1 : (value ? 0 : np_) + static_cast<int>(found - z.begin());
}

Status Mechanism::outputs(double t, MutableView x, std::span<const int> outputs,
                          MutableView y) noexcept {
  const Model& m = workspace_.model();
  // Free entries of the state: nothing to close, nothing to evaluate.
  if (std::all_of(outputs.begin(), outputs.end(), [&](int o) { return free_entry(o) >= 0; })) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Output& out = m.outputs[at(outputs[i])];
      const int dof = out.channel.dof,
                place = out.order == Order::kValue ? workspace_.coordinate_of(dof) : nq_ + dof;
      y[i] = x[at(place)] + workspace_.number(out.offset);
    }
    return Status::kOk;
  }
  Level level = Level::kPosition;
  for (int o : outputs) level = std::max(level, workspace_.level_of(o));
  Status status = level == Level::kAcceleration ? accelerate(t, x) : settle(t, x);
  if (status != Status::kOk) return status;
  if (level == Level::kAcceleration) {
    if (!present(x)) {  // multipliers need the factors of x
      set_done(x, Done::kNothing);
      status = accelerate(t, x);
      if (status != Status::kOk) return status;
    }
    workspace_.multipliers(a(x), lambda_);
  }
  workspace_.readings(point(t, x), outputs, y);
  return Status::kOk;
}

Status Mechanism::outputs_jacobian(double t, MutableView x, std::span<const int> outputs,
                                   Eigen::MatrixXd& h) noexcept {
  const auto rows = static_cast<Eigen::Index>(outputs.size());
  const int d = np_ + nz_;
  auto top = h.topRows(rows);
  top.setZero();
  Level level = Level::kPosition;
  bool plain = true;
  for (Eigen::Index i = 0; i < rows && plain; ++i) {
    const int entry = free_entry(outputs[static_cast<size_t>(i)]);
    plain = entry >= 0;
    if (plain) top(i, entry) = 1;
  }
  if (plain) return Status::kOk;
  top.setZero();
  for (int o : outputs) level = std::max(level, workspace_.level_of(o));
  if (level == Level::kAcceleration) {
    const Status s = derivative(t, x, a1_);
    if (s != Status::kOk) return s;
  } else {
    const Status s = close(t, x);
    if (s != Status::kOk) return s;
    motion_.velocities(point(t, x));
  }
  if (h_.rows() < rows) h_.resize(rows, d);
  motion_.outputs(point(t, x), std::max(level, Level::kVelocity), outputs, h_);
  top.leftCols(d) = h_.topRows(rows);
  // A generalised force acts on what accelerometers read: δa = R δz̈.
  if (level == Level::kAcceleration && nf_ > 0) {
    motion_.outputs_by_acceleration(point(t, x), outputs, h_force_);
    top.middleCols(d, nf_) = h_force_.topLeftCorner(rows, nf_);
  }
  return Status::kOk;
}

Status Mechanism::state_jacobian(double t, MutableView x, Eigen::MatrixXd& dq,
                                 Eigen::MatrixXd& dv) noexcept {
  const Status status = close(t, x);
  if (status != Status::kOk) return status;
  motion_.velocities(point(t, x));
  dq = motion_.dq();
  dv = motion_.dv();
  return Status::kOk;
}

// Each coordinate's own speed alone: ∂(R_j ż_j)/∂z_j.
Status Mechanism::diagonal_rates(double t, MutableView x, std::span<const int> outputs,
                                 Eigen::MatrixXd& h) noexcept {
  const auto zv = workspace_.independent_speeds();
  std::copy(x.begin(), x.end(), stage_.begin());
  for (int j = 0; j < np_; ++j) {
    for (int i = 0; i < nv_; ++i) stage_[at(nq_ + i)] = 0;
    stage_[at(nq_ + zv[at(j)])] = x[at(nq_ + zv[at(j)])];
    set_done(stage_, Done::kNothing);
    const Status s = close(t, stage_);
    if (s != Status::kOk) return s;
    motion_.velocities(point(t, stage_));
    motion_.outputs(point(t, stage_), Level::kVelocity, outputs, h_);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (workspace_.level_of(outputs[i]) == Level::kVelocity)
        h(static_cast<Eigen::Index>(i), j) = h_(static_cast<Eigen::Index>(i), j);
  }
  return Status::kOk;
}

Status Mechanism::sense(double t, MutableView x, std::span<const int> sensors,
                        MutableView y) noexcept {
  outputs_.clear();
  for (int s : sensors) outputs_.push_back(sensors_[at(s)].output);
  const Status status = outputs(t, x, outputs_, y);
  if (status != Status::kOk) return status;
  for (size_t i = 0; i < sensors.size(); ++i)
    if (const int b = bias_of_[at(sensors[i])]; b >= 0) y[i] += x[at(at_bias_ + b)];
  return Status::kOk;
}

Status Mechanism::sense_jacobian(double t, MutableView x, std::span<const int> sensors,
                                 Eigen::MatrixXd& h) noexcept {
  outputs_.clear();
  for (int s : sensors) outputs_.push_back(sensors_[at(s)].output);
  Status status = outputs_jacobian(t, x, outputs_, h);
  if (status == Status::kOk && options_.rate_terms == RateTerms::kDiagonal && np_ == nz_)
    status = diagonal_rates(t, x, outputs_, h);
  if (status != Status::kOk) return status;
  for (size_t i = 0; i < sensors.size(); ++i)
    if (const int b = bias_of_[at(sensors[i])]; b >= 0)
      h(static_cast<Eigen::Index>(i), np_ + nz_ + nf_ + b) = 1;
  return h.topRows(static_cast<Eigen::Index>(sensors.size())).allFinite() ? Status::kOk
                                                                          : Status::kNotFinite;
}

double Mechanism::variance(int sensor) const noexcept {
  const double s = sensors_[at(sensor)].sigma;
  return s * s;
}

double Mechanism::innovation(int sensor, double reading, double expected) const noexcept {
  const double e = reading - expected;
  return sensors_[at(sensor)].circle ? std::remainder(e, 2 * std::numbers::pi) : e;
}

// ---- other independent coordinates ---------------------------------------------------------------------------------------------------

Status Mechanism::reframe(double t, MutableView x, Eigen::MatrixXd& change) noexcept {
  set_done(x, Done::kNothing);
  const Status closed = close(t, x);
  if (closed != Status::kOk) return closed;
  motion_.velocities(point(t, x));
  const int d = np_ + nz_;
  const int from = reference(x), to = next_reference_;
  next_reference_ = -1;
  if (to >= 0) {
    all_.topRows(nv_) = motion_.dq();
    all_.bottomRows(nv_) = motion_.dv();
    if (!references_->hand_over(from, to, x.first(at(nq_)), x.subspan(at(nq_), at(nv_)), map_))
      return Status::kSingular;
    x[at(at_level_ + 2)] = to;
    change_amplitudes();
  }
  if (to < 0 || worn_) workspace_.choose_partition(t, q(x));
  stamp_ += 1;
  set_done(x, Done::kNothing);
  const auto zp = workspace_.independent_positions(), zv = workspace_.independent_speeds();
  if (static_cast<int>(zp.size()) != np_ || static_cast<int>(zv.size()) != nz_)
    return Status::kSingular;
  worn_ = false;
  best_conditioning_ = workspace_.conditioning();
  near_ = false;
  forget_guesses();
  change.setIdentity();
  if (to < 0) {
    for (int i = 0; i < np_; ++i) change.row(i).head(d) = motion_.dq().row(zp[at(i)]);
    for (int i = 0; i < nz_; ++i) change.row(np_ + i).head(d) = motion_.dv().row(zv[at(i)]);
  } else {
    for (int i = 0; i < np_; ++i) change.row(i).head(d) = all_.row(zp[at(i)]);
    for (int i = 0; i < nz_; ++i) change.row(np_ + i).head(d) = all_.row(nv_ + zv[at(i)]);
  }
  carry_forces(x, change);
  return change.allFinite() ? Status::kOk : Status::kNotFinite;
}

// Rows of amplitudes and their rates in all_, from one reference to another.
void Mechanism::change_amplitudes() noexcept {
  const int first = workspace_.model().reduction.first_mode;
  const auto modes = map_.rows() / 2;
  auto mapped = mapped_.leftCols(all_.cols());
  mapped.noalias() = map_ * all_;
  all_.middleRows(first, modes) = mapped.topRows(modes);
  all_.middleRows(nv_ + first, modes) = mapped.bottomRows(modes);
}

// f_oldᵀ δz_old = f_newᵀ δz_new.
void Mechanism::carry_forces(MutableView x, Eigen::MatrixXd& change) noexcept {
  if (nf_ == 0) return;
  const int d = np_ + nz_;
  const auto speeds = change.block(np_, np_, nz_, nz_);
  change.block(d, d, nf_, nf_) = speeds;
  reduced_ = speeds.transpose();
  force_lu_.compute(reduced_);
  for (int i = 0; i < nf_; ++i) correction_(i) = x[at(at_force_ + i)];
  added_ = force_lu_.solve(correction_.head(nf_));
  for (int i = 0; i < nf_; ++i) x[at(at_force_ + i)] = added_(i);
}

void Mechanism::adopt(const Eigen::MatrixXd& b, MutableView x, Eigen::MatrixXd& change) noexcept {
  const auto zp = workspace_.independent_positions(), zv = workspace_.independent_speeds();
  for (int i = 0; i < np_; ++i) change.row(i) = b.row(zp[at(i)]);
  for (int i = 0; i < nz_; ++i) change.row(np_ + i) = b.row(nv_ + zv[at(i)]);
  change.bottomRows(nf_ + nb_) = b.bottomRows(nf_ + nb_);
  // Modes of an earlier reference.
  if (const int now = references_ != nullptr ? references_->reference() : 0;
      references_ != nullptr && reference(x) != now &&
      references_->hand_over(reference(x), now, x.first(at(nq_)), x.subspan(at(nq_), at(nv_)),
                             map_)) {
    const int first = workspace_.model().reduction.first_mode;
    const auto modes = map_.rows() / 2;
    mapped_.noalias() = map_ * b.topRows(2 * nv_);
    const auto row = [&](int dof) {
      return dof >= first && dof < first + modes ? dof - first : -1;
    };
    for (int i = 0; i < np_; ++i)
      if (const int k = row(zp[at(i)]); k >= 0) change.row(i) = mapped_.row(k);
    for (int i = 0; i < nz_; ++i)
      if (const int k = row(zv[at(i)]); k >= 0) change.row(np_ + i) = mapped_.row(modes + k);
    x[at(at_level_ + 2)] = now;
    stamp_ += 1;
    set_done(x, Done::kNothing);
  }
  carry_forces(x, change);
}

// trend | defect | joints watched | contraction, best conditioning, worn | independent coordinates | independent speeds
void Mechanism::remember(MutableView out) const noexcept {
  auto to = std::copy(trend_.begin(), trend_.end(), out.begin());
  to = std::copy(defect_.begin(), defect_.end(), to);
  to = std::copy(watched_.begin(), watched_.end(), to);
  *to++ = contraction_;
  *to++ = best_conditioning_;
  *to++ = worn_ ? 1 : 0;
  for (int i : workspace_.independent_positions()) *to++ = i;
  for (int i : workspace_.independent_speeds()) *to++ = i;
}

bool Mechanism::recall(double t, View memory, MutableView x, Eigen::MatrixXd& change) noexcept {
  auto from = memory.begin();
  for (auto* guesses : {&trend_, &defect_, &watched_}) {
    std::copy_n(from, guesses->size(), guesses->begin());
    from += static_cast<std::ptrdiff_t>(guesses->size());
  }
  contraction_ = *from++;
  best_conditioning_ = *from++;
  worn_ = *from++ != 0;
  next_reference_ = -1;
  wants_reference_ = false;
  unsettle(x);
  const View then(from, memory.end());
  const auto zp = workspace_.independent_positions(), zv = workspace_.independent_speeds();
  if (std::equal(zp.begin(), zp.end(), then.begin()) &&
      std::equal(zv.begin(), zv.end(), then.begin() + np_))
    return false;
  worn_ = false;
  forget_guesses();
  if (close(t, x) != Status::kOk) return false;
  best_conditioning_ = workspace_.conditioning();
  motion_.velocities(point(t, x));
  // w_then = S w_now, T = S⁻¹.
  const int d = np_ + nz_;
  const auto dof = [&](int i) { return static_cast<Eigen::Index>(then[at(i)]); };
  for (int i = 0; i < np_; ++i) left_.row(i) = motion_.dq().row(dof(i)).head(d);
  for (int i = 0; i < nz_; ++i) left_.row(np_ + i) = motion_.dv().row(dof(np_ + i)).head(d);
  // The work of the forces stays.
  for (int i = 0; i < nf_; ++i) added_(i) = x[at(at_force_ + i)];
  for (int i = 0; i < nf_; ++i) {
    double sum = 0;
    for (int k = 0; k < nf_; ++k) sum += left_(np_ + k, np_ + i) * added_(k);
    x[at(at_force_ + i)] = sum;
  }
  lu_.compute(left_);
  product_.setIdentity();
  left_ = lu_.solve(product_);
  change.setIdentity();
  change.topLeftCorner(d, d) = left_;
  if (nf_ > 0) change.block(d, d, nf_, nf_) = left_.block(np_, np_, nz_, nz_);
  set_done(x, Done::kNothing);
  return true;
}

}  // namespace panto
