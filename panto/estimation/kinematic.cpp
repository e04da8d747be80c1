#include "panto/estimation/kinematic.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "panto/base/contract.hpp"

namespace panto {

namespace {

constexpr double kWorn = 0.1;  // of the best conditioning since the choice
constexpr int kIterationLimit = 40;
constexpr double kFixedPoint = 1e-12;  // of the trapezoidal iteration, relative
constexpr double kRoundOff = 1e-14;    // a pivot of SᵀWS this far below its diagonal entry
constexpr double kDifference = 1e-5;   // of central differences

double entry(const std::vector<double>& values, int i) {
  return values[values.size() == 1 ? 0 : static_cast<size_t>(i)];
}

bool usable(Status s) { return s == Status::kOk || s == Status::kRepartition; }

}  // namespace

KinematicSystem::KinematicSystem(Workspace& workspace, std::vector<InputSensor> inputs,
                                 std::vector<UsedSensor> sensors, const KinematicOptions& options)
    : workspace_(workspace),
      inputs_(std::move(inputs)),
      sensors_(std::move(sensors)),
      options_(options),
      nq_(workspace.model().nq),
      nv_(workspace.model().nv),
      nz_(static_cast<int>(workspace.independent_speeds().size())),
      m_(static_cast<int>(inputs_.size())),
      motion_(workspace) {
  const Model& model = workspace.model();
  PANTO_EXPECT(model.n_velocity_rows + model.n_acceleration_rows == 0,
               "constraints of position level alone");
  PANTO_EXPECT(options.order == 1 || options.order == 2, "a model of first or second order");
  PANTO_EXPECT(options.scheme != Scheme::kIndex3, "a scheme in independent coordinates");
  PANTO_EXPECT(options.top != TopState::kNewmarkPosition ||
                   (options.order == 2 && options.scheme != Scheme::kEuler),
               "derivatives by coordinates are of second order, and of a scheme of that order");
  PANTO_EXPECT(options.gamma > 0 && options.beta > 0 && options.leave >= options.enter,
               "gamma, beta > 0, leave >= enter");
  for (const KinematicNoise* noise : {&options.noise, &options.fallback_noise})
    for (const auto* list : {&noise->position, &noise->speed, &noise->top})
      PANTO_EXPECT(list->size() == 1 || list->size() == at(nz_), "one noise density, or one each");
  for (const InputSensor& e : inputs_) {
    const Output& o = model.outputs[at(e.output)];
    PANTO_EXPECT(o.kind == OutputKind::kChannel &&
                     o.order == (options.order == 1 ? Order::kRate : Order::kAcceleration),
                 "inputs are rates (first order) or accelerations (second order)");
    PANTO_EXPECT(e.sigma > 0, "inputs have noise");
    input_bias_.push_back(e.bias_sigma > 0 ? nbu_++ : -1);
    input_outputs_.push_back(e.output);
  }
  for (const UsedSensor& e : sensors_) sensor_bias_.push_back(e.bias_sigma > 0 ? nby_++ : -1);
  base_ = options.order * nz_;
  nt_ = options.top == TopState::kNone ? 0 : nz_;
  n_ = base_ + nt_ + nbu_ + nby_;
  at_level_ = nq_ + nv_;
  at_top_ = at_level_ + 3;
  at_bias_ = at_top_ + nt_;
  storage_ = at_bias_ + nbu_ + nby_;

  const size_t nv = at(nv_), nz = at(nz_), m = at(m_);
  for (auto* v : {&begin_, &end_, &between_, &weight_, &residual_}) v->assign(m, 0.0);
  for (auto* v : {&s_, &first_s_}) v->assign(nz, 0.0);
  for (auto* v : {&a_, &rest_, &step_, &row_}) v->assign(nv, 0.0);
  basis_.assign(nv * nz, 0.0);
  input_rows_.assign(nv * m, 0.0);
  normal_.assign(nz * nz, 0.0);
  for (auto* v : {&stage_, &plus_, &minus_}) v->assign(at(storage_), 0.0);
  for (auto* v : {&k1_, &k2_, &k3_, &k4_}) v->assign(nv + nz, 0.0);
  for (auto* v : {&w_, &w_minus_}) v->assign(at(n_), 0.0);
  noise_q_.assign(at(nq_), 0.0);
  pose_q_ = noise_q_;
  outputs_.reserve(sensors_.size());
  dofs_.reserve(nz);
  const int e = base_ + nbu_, rows = std::max(m_, static_cast<int>(sensors_.size()));
  s_matrix_.setZero(m_, nz_);
  pinv_.setZero(nz_, m_);
  noise_pinv_ = pinv_;
  noise_map_.setZero(n_, m_);
  for (auto* a : {&first_, &last_, &left_, &product_, &total_}) a->setZero(e, e);
  left_.setIdentity();
  lu_.compute(left_);
  rows_.setZero(rows, 2 * nz_);
  more_rows_ = rows_;
  da_.setZero(nv_, 2 * nz_);
  none_.resize(nv_, 0);
  by_top_.setZero(std::max(1, rows), nz_);
  frame_.setIdentity(n_, n_);
  frame_lu_.compute(frame_);
  top_lu_.compute(Eigen::MatrixXd::Identity(nz_, nz_));
  along_.y.resize(rows, 2 * nz_);
  motion_.reserve_outputs(rows);
  best_conditioning_ = workspace.conditioning();
  // One evaluation at any pose allocates the blocks of derivatives.
  std::vector<double> q(at(nq_), 0.0);
  for (const Joint& j : model.joints)
    if (j.type == JointType::kSpherical) q[at(j.q)] = 1;
  Point p;
  p.q = q;
  p.v = p.a = step_;
  workspace.along(p, Level::kAcceleration, da_, da_, none_, input_outputs_, along_);
  plain_.resize(sensors_.size());
  for (const UsedSensor& used : sensors_)
    sensor_offset_.push_back(model.outputs[at(used.output)].offset);
  find_plain();
  reserve_points(1);
}

std::vector<std::string> KinematicSystem::names() const {
  const Model& model = workspace_.model();
  const auto z = workspace_.independent_speeds();
  std::vector<std::string> coordinates, speeds, top, out;
  for (int i : z) {
    std::string name = model.speed_names[at(i)];  // "theta_dot", or "ball.wx"
    speeds.push_back(name);
    if (name.ends_with("_dot")) {
      name.resize(name.size() - 4);
      coordinates.push_back(name);
      top.push_back(name + "_ddot");
    } else {
      coordinates.push_back("turn " + name);
      top.push_back(name + "_dot");
    }
  }
  out = coordinates;
  if (options_.order == 2) out.insert(out.end(), speeds.begin(), speeds.end());
  if (nt_ > 0) {
    const auto& names = options_.order == 2 ? top : speeds;
    out.insert(out.end(), names.begin(), names.end());
  }
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (input_bias_[i] >= 0) out.push_back("bias " + model.outputs[at(inputs_[i].output)].name);
  for (size_t i = 0; i < sensors_.size(); ++i)
    if (sensor_bias_[i] >= 0) out.push_back("bias " + model.outputs[at(sensors_[i].output)].name);
  return out;
}

void KinematicSystem::set_inputs(View begin, View end) noexcept {
  std::copy(begin.begin(), begin.end(), begin_.begin());
  std::copy(end.begin(), end.end(), end_.begin());
  noise_known_ = pose_known_ = false;
  if (speeds_by_inputs()) stamp_ += 1;
}

View KinematicSystem::inputs_at(double share) noexcept {
  if (options_.hold == InputHold::kBegin) return begin_;
  for (size_t i = 0; i < between_.size(); ++i) {
    const double a = begin_[i], b = end_[i];
    between_[i] = std::isnan(a) ? b : std::isnan(b) ? a : a + share * (b - a);
  }
  return between_;
}

void KinematicSystem::forget() noexcept {
  worn_ = noise_known_ = pose_known_ = basis_known_ = near_ = false;
  std::fill(defect_.begin(), defect_.end(), 0.0);
  workspace_.forget_pose();
  best_conditioning_ = workspace_.conditioning();
  stamp_ += 1;
  find_plain();
}

void KinematicSystem::pack(View q, View v, MutableView x) const noexcept {
  std::fill(x.begin(), x.end(), 0.0);
  std::copy(q.begin(), q.end(), x.begin());
  std::copy(v.begin(), v.end(), x.begin() + nq_);
  if (options_.order == 1)
    for (int i = 0; i < nt_; ++i) x[at(at_top_ + i)] = x[speed_at(i)];
}

void KinematicSystem::initial_covariance(View coordinates, View speeds, View top,
                                         Eigen::MatrixXd& p) const {
  p.setZero(n_, n_);
  const auto fill = [&](View sigma, int first, int count) {
    for (int i = 0; i < count; ++i) {
      const double s = sigma[sigma.size() == 1 ? 0 : at(i)];
      p(first + i, first + i) = s * s;
    }
  };
  fill(coordinates, 0, nz_);
  if (options_.order == 2) fill(speeds, nz_, nz_);
  fill(top, base_, nt_);
  const auto bias = [&](int state, double sigma) {
    if (state >= 0) p(state, state) = sigma * sigma;
  };
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (input_bias_[i] >= 0) bias(base_ + nt_ + input_bias_[i], inputs_[i].bias_sigma);
  for (size_t i = 0; i < sensors_.size(); ++i)
    if (sensor_bias_[i] >= 0) bias(base_ + nt_ + nbu_ + sensor_bias_[i], sensors_[i].bias_sigma);
}

// ---- state ---------------------------------------------------------------------------------------------------------------------------

Status KinematicSystem::close(double t, MutableView x) noexcept {
  if (present(x)) return Status::kOk;
  const MutableView q = x.first(at(nq_)), v = x.subspan(at(nq_), at(nv_));
  const Status closed = workspace_.close_positions(t, q);
  if (!usable(closed)) return closed;
  if (!basis_known_ || !std::equal(pose_q_.begin(), pose_q_.end(), q.begin())) {
    basis_known_ = pose_known_ = false;
    std::copy(q.begin(), q.end(), pose_q_.begin());
  }
  const double now = workspace_.conditioning();
  best_conditioning_ = std::max(best_conditioning_, now);
  worn_ = worn_ || closed == Status::kRepartition || now < kWorn * best_conditioning_;
  if (options_.order == 1) {
    // Speeds are s: a state, or what the inputs say.
    if (speeds_by_inputs()) (void)solve(x, end_);
    for (int i = 0; i < nz_; ++i)
      x[speed_at(i)] = nt_ > 0 ? x[at(at_top_ + i)] : margin_ > 0 ? s_[at(i)] : x[speed_at(i)];
  }
  const Status moving = workspace_.close_velocities(t, {}, v);
  if (moving != Status::kOk) return moving;
  near_ = true;
  stamp_ += 1;
  x[at(at_level_)] = 1;
  x[at(at_level_ + 1)] = stamp_;
  return Status::kOk;
}

Status KinematicSystem::settle(double t, MutableView x) noexcept {
  return settled(x) ? Status::kOk : close(t, x);
}

void KinematicSystem::move(View x, View w, MutableView out) noexcept {
  if (out.data() != x.data()) std::copy(x.begin(), x.end(), out.begin());
  out[at(at_level_)] = 0;
  const auto z = workspace_.independent_speeds();
  bool turned = false;
  for (int i = 0; i < nz_; ++i) turned = turned || w[at(i)] != 0;
  if (turned) {
    std::fill(step_.begin(), step_.end(), 0.0);
    if (nz_ < nv_ && near_) {
      // Dependent coordinates follow along the tangent of the last closed state: a better start for closing the loops.
      find_basis();
      for (int j = 0; j < nz_; ++j) {
        const double* column = &basis_[at(j * nv_)];
        for (int i = 0; i < nv_; ++i) step_[at(i)] += w[at(j)] * column[i];
      }
    } else {
      for (int i = 0; i < nz_; ++i) step_[at(z[at(i)])] = w[at(i)];
    }
    workspace_.move(out.first(at(nq_)), step_);
  }
  if (options_.order == 2)
    for (int i = 0; i < nz_; ++i) out[speed_at(i)] += w[at(nz_ + i)];
  for (int i = base_; i < n_; ++i) out[at(at_top_ + i - base_)] += w[at(i)];
}

void KinematicSystem::difference(View a, View b, MutableView w) noexcept {
  workspace_.difference(q(a), q(b), step_);
  const auto z = workspace_.independent_speeds();
  for (int i = 0; i < nz_; ++i) w[at(i)] = step_[at(z[at(i)])];
  if (options_.order == 2)
    for (int i = 0; i < nz_; ++i) w[at(nz_ + i)] = a[speed_at(i)] - b[speed_at(i)];
  for (int i = base_; i < n_; ++i)
    w[at(i)] = a[at(at_top_ + i - base_)] - b[at(at_top_ + i - base_)];
}

// ---- what the inputs say (OBS-14) ----------------------------------------------------------------------------------------------------

// R at the pose closed last.
void KinematicSystem::find_basis() noexcept {
  if (basis_known_) return;
  basis_known_ = true;
  const size_t nz = at(nz_), nv = at(nv_);
  const auto z = workspace_.independent_speeds();
  std::fill(basis_.begin(), basis_.end(), 0.0);
  for (size_t j = 0; j < nz; ++j) {
    const MutableView column(&basis_[j * nv], nv);
    column[at(z[j])] = 1;
    workspace_.complete(Level::kVelocity, {}, column);
  }
}

// S, SᵀWS factorised and S⁺ = (SᵀWS)⁻¹SᵀW; false: singular.
bool KinematicSystem::solve_pose(View u) noexcept {
  const size_t nz = at(nz_), nv = at(nv_);
  if (pose_known_) return pose_margin_ > 0;
  pose_known_ = true;
  pose_margin_ = 0;
  find_basis();
  std::fill(normal_.begin(), normal_.end(), 0.0);
  for (int i = 0; i < m_; ++i) {
    const double sigma = inputs_[at(i)].sigma;
    weight_[at(i)] = std::isfinite(u[at(i)]) ? 1 / (sigma * sigma) : 0;
    const MutableView row(&input_rows_[at(i) * nv], nv);
    workspace_.output_row(inputs_[at(i)].output, row);
    for (size_t j = 0; j < nz; ++j) {
      double sum = 0;
      const double* column = &basis_[j * nv];
      for (size_t k = 0; k < nv; ++k) sum += row[k] * column[k];
      s_matrix_(i, static_cast<Eigen::Index>(j)) = sum;
    }
    for (int j = 0; j < nz_; ++j) {
      const double weighted = weight_[at(i)] * s_matrix_(i, j);
      for (int k = 0; k <= j; ++k) normal_[at(j * nz_ + k)] += weighted * s_matrix_(i, k);
    }
  }
  for (size_t i = 0; i < nz; ++i) {
    double* row = &normal_[i * nz];
    const double whole = row[i];
    for (size_t j = 0; j < i; ++j) {
      double sum = row[j];
      for (size_t k = 0; k < j; ++k) sum -= row[k] * normal_[j * nz + k];
      row[j] = sum / normal_[j * nz + j];
    }
    double pivot = whole;
    for (size_t k = 0; k < i; ++k) pivot -= row[k] * row[k];
    if (!(pivot > kRoundOff * whole)) return false;
    row[i] = std::sqrt(pivot);
  }
  double squares = 0;
  for (int i = 0; i < m_; ++i) {
    double* column = pinv_.col(i).data();
    for (int j = 0; j < nz_; ++j) column[j] = weight_[at(i)] * s_matrix_(i, j);
    solve_normal(column);
    for (int j = 0; j < nz_; ++j) squares += column[j] * column[j];
  }
  if (!std::isfinite(squares)) return false;
  pose_margin_ = 1 / std::sqrt(squares);
  return true;
}

// s = argmin |W^½ (S s - (u - b - γ))| = S⁺ (u - b - γ), γ: what the inputs read with s = 0.
bool KinematicSystem::solve(View x, View u) noexcept {
  margin_ = 0;
  if (!solve_pose(u)) return false;
  if (options_.order == 2) {
    workspace_.loop_accelerations(v(x), rest_);
  } else {
    std::fill(rest_.begin(), rest_.end(), 0.0);
    (void)workspace_.close_velocities(0, {}, rest_);
  }
  std::fill(s_.begin(), s_.end(), 0.0);
  for (int i = 0; i < m_; ++i) {
    if (weight_[at(i)] == 0) {
      residual_[at(i)] = 0;
      continue;
    }
    const int output = inputs_[at(i)].output, bias = input_bias_[at(i)];
    double rest = options_.order == 2
                      ? workspace_.closed_output(output)
                      : workspace_.number(workspace_.model().outputs[at(output)].offset);
    const double* row = &input_rows_[at(i * nv_)];
    for (int k = 0; k < nv_; ++k) rest += row[k] * rest_[at(k)];
    if (bias >= 0) rest += x[at(at_bias_ + bias)];
    residual_[at(i)] = u[at(i)] - rest;
    const double* column = pinv_.col(i).data();
    for (int j = 0; j < nz_; ++j) s_[at(j)] += column[j] * residual_[at(i)];
  }
  for (const double e : s_)
    if (!std::isfinite(e)) return false;
  if (m_ > nz_)
    for (int i = 0; i < m_; ++i)
      for (int j = 0; j < nz_; ++j)
        if (weight_[at(i)] > 0) residual_[at(i)] -= s_matrix_(i, j) * s_[at(j)];
  margin_ = pose_margin_;
  return true;
}

void KinematicSystem::solve_normal(double* b) const noexcept {
  const size_t nz = at(nz_);
  for (size_t i = 0; i < nz; ++i) {
    double sum = b[i];
    for (size_t k = 0; k < i; ++k) sum -= normal_[i * nz + k] * b[k];
    b[i] = sum / normal_[i * nz + i];
  }
  for (size_t i = nz; i-- > 0;) {
    double sum = b[i];
    for (size_t k = i + 1; k < nz; ++k) sum -= normal_[k * nz + i] * b[k];
    b[i] = sum / normal_[i * nz + i];
  }
}

Status KinematicSystem::from_inputs(double t, MutableView x, MutableView s,
                                    double& margin) noexcept {
  const Status closed = close(t, x);
  if (closed != Status::kOk) return closed;
  const bool known = solve(x, end_);
  std::copy(s_.begin(), s_.end(), s.begin());
  margin = margin_;
  return known ? Status::kOk : Status::kSingular;
}

// ---- motion --------------------------------------------------------------------------------------------------------------------------

Status KinematicSystem::stage(double t, MutableView x, View u) noexcept {
  const Status closed = close(t, x);
  if (closed != Status::kOk) return closed;
  return solve(x, u) && margin_ > options_.enter ? Status::kOk : Status::kSingular;
}

void KinematicSystem::store(View x, std::vector<double>& k) const noexcept {
  if (options_.order == 2) {
    std::copy_n(x.begin() + nq_, nv_, k.begin());
  } else {
    std::copy(rest_.begin(), rest_.end(), k.begin());
    for (size_t j = 0; j < at(nz_); ++j)
      for (size_t i = 0; i < at(nv_); ++i) k[i] += basis_[j * at(nv_) + i] * s_[j];
  }
  std::copy(s_.begin(), s_.end(), k.begin() + nv_);
}

void KinematicSystem::advance(View x, double h, const std::vector<double>& k,
                              MutableView out) noexcept {
  if (out.data() != x.data()) std::copy(x.begin(), x.end(), out.begin());
  for (int i = 0; i < nv_; ++i) step_[at(i)] = h * k[at(i)];
  workspace_.move(out.first(at(nq_)), step_);
  if (options_.order == 2)
    for (int i = 0; i < nz_; ++i) out[speed_at(i)] = x[speed_at(i)] + h * k[at(nv_ + i)];
  out[at(at_level_)] = 0;
}

// The zone with hysteresis (OBS-17), after solve() at x. On the way out also the next pose, at the present speed, must be clear of it.
bool KinematicSystem::in_zone_from(double t, double dt, View x) noexcept {
  if (margin_ <= options_.enter) return true;
  if (!in_zone(x)) return false;
  if (margin_ < options_.leave) return true;
  store(x, k2_);
  advance(x, dt, k2_, stage_);
  return close(t + dt, stage_) != Status::kOk || !solve(stage_, begin_) || margin_ < options_.leave;
}

void KinematicSystem::reserve_points(int count) { defect_.assign(at(count * nv_), 0.0); }

// Points beside the first start from the tangent there, off by a curvature that hardly changes from step to step.
Status KinematicSystem::step_point(int i, double t, double dt, MutableView x,
                                   MutableView out) noexcept {
  if (i > 0 && nz_ < nv_ && near_ && !std::equal(pose_q_.begin(), pose_q_.end(), x.begin())) {
    const MutableView q = x.first(at(nq_)), defect(&defect_[at(i * nv_)], at(nv_));
    std::copy(q.begin(), q.end(), stage_.begin());
    workspace_.move(q, defect);
    const Status closed = close(t, x);
    if (closed != Status::kOk) return closed;
    workspace_.difference(q, View(stage_).first(at(nq_)), defect);
    for (const int k : workspace_.independent_speeds()) defect[at(k)] = 0;
  }
  return step(t, dt, x, out);
}

Status KinematicSystem::step(double t, double dt, MutableView x, MutableView out) noexcept {
  Status status = close(t, x);
  if (status != Status::kOk) return status;
  bool inside = !solve(x, inputs_at(0));
  if (!inside) {
    store(x, k1_);
    std::copy(s_.begin(), s_.end(), first_s_.begin());
  }
  const bool first = !noise_known_;  // of the points of a step: its noise is asked for next
  if (first) {
    std::copy_n(x.begin(), nq_, noise_q_.begin());
    if (inside) {
      noise_pinv_.setZero();
    } else {
      noise_pinv_ = pinv_;
    }
    noise_known_ = true;
  }
  if (forced_ == Zone::kDecide) inside = inside || in_zone_from(t, dt, x);
  if (forced_ == Zone::kInside) inside = true;
  if (!inside) {
    status = scheme(t, dt, x, out);
    if (status == Status::kOk) status = predict_top(t, dt, x, out);
    // A stage of the step is in the zone: then all of it is.
    if (status == Status::kSingular) inside = true;
    if (status != Status::kOk && !inside) return status;
  }
  if (inside) fall_back(dt, x, out);
  out[at(at_level_ + 2)] = inside ? 1 : 0;
  if (first) noise_zone_ = inside;
  return Status::kOk;
}

Status KinematicSystem::scheme(double t, double dt, MutableView x, MutableView out) noexcept {
  if (options_.scheme == Scheme::kEuler) {
    // Dependent coordinates as the loops bend them while the others go straight on: a better start for closing.
    if (options_.order == 2 && nz_ < nv_)
      for (int i = 0; i < nv_; ++i) k1_[at(i)] += 0.5 * dt * rest_[at(i)];
    advance(x, dt, k1_, out);
    return Status::kOk;
  }
  const size_t size = k1_.size();
  if (options_.scheme == Scheme::kRungeKutta4) {
    const auto at_stage = [&](double share, const std::vector<double>& from,
                              std::vector<double>& to) {
      advance(x, share * dt, from, stage_);
      const Status s = stage(t + share * dt, stage_, inputs_at(share));
      if (s == Status::kOk) store(stage_, to);
      return s;
    };
    Status s = at_stage(0.5, k1_, k2_);
    if (s == Status::kOk) s = at_stage(0.5, k2_, k3_);
    if (s == Status::kOk) s = at_stage(1, k3_, k4_);
    if (s != Status::kOk) return s;
    for (size_t i = 0; i < size; ++i) k2_[i] = (k1_[i] + 2 * k2_[i] + 2 * k3_[i] + k4_[i]) / 6;
    advance(x, dt, k2_, out);
    return Status::kOk;
  }
  // Trapezoidal: mean of the rates at both ends, by fixed-point iteration.
  std::copy(k1_.begin(), k1_.end(), k3_.begin());  // at the end
  for (int iteration = 0; iteration < kIterationLimit; ++iteration) {
    for (size_t i = 0; i < size; ++i) k4_[i] = 0.5 * (k1_[i] + k3_[i]);
    advance(x, dt, k4_, out);
    if (iteration > 0) {
      double change = 0, scale = 1;
      for (size_t i = 0; i < size; ++i) {
        change = std::max(change, std::abs(k3_[i] - k2_[i]));
        scale = std::max(scale, std::abs(k3_[i]));
      }
      if (dt * change <= kFixedPoint * scale) return Status::kOk;
    }
    std::swap(k2_, k3_);
    const Status s = stage(t + dt, out, inputs_at(1));
    if (s != Status::kOk) return s;
    store(out, k3_);
  }
  return Status::kNotConverged;
}

// OBS-16, after the rest of the step.
Status KinematicSystem::predict_top(double t, double dt, View x, MutableView out) noexcept {
  const auto old = [&](int i) { return x[at(at_top_ + i)]; };
  const auto set = [&](int i, double value) { out[at(at_top_ + i)] = value; };
  const double g = options_.gamma, b = options_.beta;
  switch (options_.top) {
    case TopState::kNone:
      break;
    case TopState::kRandomWalk:
      if (options_.hold == InputHold::kLinear) {
        // The speeds of a first-order state are s itself, which is not known yet: they play no part in it.
        const Status s = stage(t + dt, out, inputs_at(1));
        if (s != Status::kOk) return s;
        std::copy(s_.begin(), s_.end(), first_s_.begin());
        out[at(at_level_)] = 0;
      }
      for (int i = 0; i < nz_; ++i) set(i, first_s_[at(i)]);
      break;
    case TopState::kNewmarkSpeed:
    case TopState::kCombined:
      if (options_.order == 1) workspace_.difference(q(out), q(x), step_);
      for (int i = 0; i < nz_; ++i) {
        const double change = options_.order == 1
                                  ? step_[at(workspace_.independent_speeds()[at(i)])]
                                  : out[speed_at(i)] - x[speed_at(i)];
        const double before = options_.top == TopState::kCombined ? first_s_[at(i)] : old(i);
        set(i, change / (g * dt) + (g - 1) / g * before);
      }
      break;
    case TopState::kNewmarkPosition:
      workspace_.difference(q(out), q(x), step_);
      for (int i = 0; i < nz_; ++i) {
        const double change = step_[at(workspace_.independent_speeds()[at(i)])];
        set(i, (change - dt * x[speed_at(i)]) / (b * dt * dt) + (1 - 1 / (2 * b)) * old(i));
      }
      break;
  }
  if (nt_ > 0 && options_.order == 1) out[at(at_level_)] = 0;
  return Status::kOk;
}

void KinematicSystem::fall_back(double dt, View x, MutableView out) noexcept {
  std::copy(x.begin(), x.end(), out.begin());
  if (options_.fallback == Fallback::kRandomWalk || base_ + nt_ == nz_) return;
  const auto z = workspace_.independent_speeds();
  const View speeds = v(x);
  for (int i = 0; i < nv_; ++i) step_[at(i)] = dt * speeds[at(i)];
  if (options_.order == 2)
    for (int i = 0; i < nt_; ++i) {
      const double s = x[at(at_top_ + i)];
      if (options_.scheme != Scheme::kEuler) step_[at(z[at(i)])] += 0.5 * dt * dt * s;
      out[speed_at(i)] += dt * s;
    }
  workspace_.move(out.first(at(nq_)), step_);
  out[at(at_level_)] = 0;
}

// ---- derivatives (OBS-15) --------------------------------------------------------------------------------------------------------------

Point KinematicSystem::point(double t, View x) noexcept {
  Point p;
  p.t = t;
  p.q = q(x);
  p.v = v(x);
  p.a = a_;
  return p;
}

void KinematicSystem::fill_accelerations(View x, View s) noexcept {
  const auto z = workspace_.independent_speeds();
  for (int i = 0; i < nz_; ++i) a_[at(z[at(i)])] = s[at(i)];
  workspace_.close_accelerations(v(x), {}, {}, a_);
}

void KinematicSystem::acceleration_rows(const Point& p) noexcept {
  da_.setZero();
  if (workspace_.model().n_rows() == 0) return;
  workspace_.along(p, Level::kAcceleration, motion_.dq(), motion_.dv(), none_, {}, along_);
  along_.phi_ddot *= -1;
  for (int j = 0; j < 2 * nz_; ++j)
    workspace_.complete(
        Level::kAcceleration,
        {along_.phi_ddot.col(j).data(), at(static_cast<int>(along_.phi_ddot.rows()))},
        {da_.col(j).data(), at(nv_)});
}

void KinematicSystem::rows_at(double t, View x, View s, std::span<const int> outputs,
                              Eigen::MatrixXd& rows) noexcept {
  const auto count = static_cast<Eigen::Index>(outputs.size());
  if (options_.order == 2) {
    fill_accelerations(x, s);
    const Point p = point(t, x);
    motion_.velocities(p);
    acceleration_rows(p);
    workspace_.along(p, Level::kAcceleration, motion_.dq(), motion_.dv(), da_, outputs, along_);
  } else {
    const auto z = workspace_.independent_speeds();
    for (int i = 0; i < nz_; ++i) a_[at(z[at(i)])] = s[at(i)];
    (void)workspace_.close_velocities(t, {}, a_);
    Point p = point(t, x);
    p.v = a_;
    motion_.velocities(p);
    workspace_.along(p, Level::kVelocity, motion_.dq(), motion_.dv(), none_, outputs, along_);
  }
  if (rows.rows() < count) rows.resize(count, 2 * nz_);
  rows.topRows(count) = along_.y.topRows(count);
}

// The least squares' own derivative: SᵀWS δs = -SᵀW δy + δSᵀ W ρ with the residuals ρ that more inputs than unknowns leave, δy at fixed s.
Status KinematicSystem::derivative(double t, View x, Eigen::MatrixXd& a) noexcept {
  rows_at(t, x, s_, input_outputs_, rows_);
  a.setZero();
  const int first = base_ - nz_;  // row of s: below ż, or all
  if (options_.order == 2)
    for (int i = 0; i < nz_; ++i) a(i, nz_ + i) = 1;
  for (int k = 0; k < base_; ++k)
    for (int j = 0; j < nz_; ++j) {
      double sum = 0;
      for (int i = 0; i < m_; ++i) sum -= pinv_(j, i) * rows_(i, k);
      a(first + j, k) = sum;
    }
  for (int i = 0; i < m_; ++i)
    if (input_bias_[at(i)] >= 0)
      for (int j = 0; j < nz_; ++j) a(first + j, base_ + input_bias_[at(i)]) = -pinv_(j, i);
  const auto used = std::count_if(weight_.begin(), weight_.end(), [](double w) { return w > 0; });
  if (used > nz_) {
    // y is linear in s: what a unit more of s_j changes of δy is δS_j.
    product_.setZero();
    for (int j = 0; j < nz_; ++j) {
      s_[at(j)] += 1;
      rows_at(t, x, s_, input_outputs_, more_rows_);
      s_[at(j)] -= 1;
      for (int k = 0; k < base_; ++k)
        for (int i = 0; i < m_; ++i)
          product_(j, k) += (more_rows_(i, k) - rows_(i, k)) * weight_[at(i)] * residual_[at(i)];
    }
    for (int k = 0; k < base_; ++k) {
      solve_normal(product_.col(k).data());
      for (int j = 0; j < nz_; ++j) a(first + j, k) += product_(j, k);
    }
  }
  return a.allFinite() ? Status::kOk : Status::kNotFinite;
}

Status KinematicSystem::transition(double t, double dt, MutableView x, MutableView out,
                                   Eigen::MatrixXd& f) noexcept {
  if (options_.jacobian == KinematicJacobian::kNumeric) return numeric_transition(t, dt, x, out, f);
  f.setIdentity();
  if (!in_zone(out)) return exact_transition(t, dt, x, out, f);
  if (options_.fallback == Fallback::kRandomWalk) return Status::kOk;
  for (int i = 0; i < nz_; ++i) {
    if (options_.order == 2) {
      f(i, nz_ + i) = dt;
      if (nt_ > 0 && options_.scheme != Scheme::kEuler) f(i, base_ + i) = 0.5 * dt * dt;
    }
    if (nt_ > 0) f(base_ - nz_ + i, base_ + i) = dt;
  }
  return Status::kOk;
}

Status KinematicSystem::exact_transition(double t, double dt, MutableView x, MutableView out,
                                         Eigen::MatrixXd& f) noexcept {
  const double h = dt;
  const auto linear = [&](double share, MutableView state, Eigen::MatrixXd& a) {
    Status s = close(t + share * dt, state);
    if (s != Status::kOk) return s;
    if (!solve(state, inputs_at(share))) return Status::kSingular;
    s = derivative(t + share * dt, state, a);
    return s;
  };
  Status s = linear(0, x, first_);
  if (s != Status::kOk) return s;
  total_.setIdentity();
  switch (options_.scheme) {
    case Scheme::kTrapezoidal:
      s = linear(1, out, last_);
      if (s != Status::kOk) return s;
      left_.setIdentity();
      left_ -= 0.5 * h * last_;
      lu_.compute(left_);
      total_ += 0.5 * h * first_;
      left_ = total_;
      total_ = lu_.solve(left_);
      break;
    case Scheme::kRungeKutta4: {
      // K_i = A_i (I + h c_i K_{i-1}), F = I + h/6 (K_1 + 2 K_2 + 2 K_3 + K_4).
      store(x, k1_);
      last_ = first_;
      total_ += h / 6 * first_;
      const std::vector<double>* from = &k1_;
      for (const auto& [share, weight, to] :
           {std::tuple{0.5, 2.0, &k2_}, std::tuple{0.5, 2.0, &k3_}, std::tuple{1.0, 1.0, &k4_}}) {
        advance(x, share * h, *from, stage_);
        s = linear(share, stage_, left_);
        if (s != Status::kOk) return s;
        store(stage_, *to);
        product_.noalias() = left_ * last_;
        last_ = left_ + share * h * product_;
        total_ += h * weight / 6 * last_;
        from = to;
      }
      break;
    }
    default:
      total_ += h * first_;
      break;
  }
  const auto place = [&](int row, const auto& values) {
    f.row(row).head(base_) = values.head(base_);
    f.row(row).segment(base_ + nt_, nbu_) = values.tail(nbu_);
  };
  for (int i = 0; i < base_; ++i) place(i, total_.row(i));
  if (nt_ == 0) return Status::kOk;
  const double g = options_.gamma, b = options_.beta;
  const int below = base_ - nz_;
  if (options_.top == TopState::kRandomWalk && options_.hold == InputHold::kLinear) {
    s = linear(1, out, last_);
    if (s != Status::kOk) return s;
    product_.noalias() = last_ * total_;
    first_ = product_;
  }
  for (int i = 0; i < nz_; ++i) {
    const int row = base_ + i;
    f.row(row).setZero();
    switch (options_.top) {
      case TopState::kNewmarkSpeed:
      case TopState::kCombined: {
        left_.row(0) = total_.row(below + i) / (g * h);
        left_(0, below + i) -= 1 / (g * h);
        if (options_.top == TopState::kCombined)
          left_.row(0) += (g - 1) / g * first_.row(below + i);
        place(row, left_.row(0));
        if (options_.top == TopState::kNewmarkSpeed) f(row, row) = (g - 1) / g;
        break;
      }
      case TopState::kNewmarkPosition:
        left_.row(0) = total_.row(i) / (b * h * h);
        left_(0, i) -= 1 / (b * h * h);
        left_(0, nz_ + i) -= 1 / (b * h);
        place(row, left_.row(0));
        f(row, row) = 1 - 1 / (2 * b);
        break;
      default:
        place(row, first_.row(below + i));
        break;
    }
  }
  return f.allFinite() ? Status::kOk : Status::kNotFinite;
}

Status KinematicSystem::numeric_transition(double t, double dt, View x, View out,
                                           Eigen::MatrixXd& f) noexcept {
  forced_ = in_zone(out) ? Zone::kInside : Zone::kOutside;
  Status status = Status::kOk;
  for (int i = 0; i < n_ && status == Status::kOk; ++i) {
    const auto changed = [&](double sign, std::vector<double>& to, std::vector<double>& w) {
      std::fill(w.begin(), w.end(), 0.0);
      w[at(i)] = sign * kDifference;
      move(x, w, plus_);
      const Status s = step(t, dt, plus_, minus_);
      if (s == Status::kOk) difference(minus_, out, to);
      return s;
    };
    status = changed(1, w_, w_);
    if (status != Status::kOk) break;
    status = changed(-1, w_minus_, w_minus_);
    if (status != Status::kOk) break;
    for (int k = 0; k < n_; ++k) f(k, i) = (w_[at(k)] - w_minus_[at(k)]) / (2 * kDifference);
  }
  forced_ = Zone::kDecide;
  return status;
}

void KinematicSystem::add_noise(const KinematicNoise& noise, double dt,
                                Eigen::MatrixXd& q) const noexcept {
  for (int i = 0; i < nz_; ++i) {
    q(i, i) += dt * entry(noise.position, i);
    if (options_.order == 2) q(nz_ + i, nz_ + i) += dt * entry(noise.speed, i);
    if (nt_ > 0) q(base_ + i, base_ + i) += dt * entry(noise.top, i);
  }
}

// Noise of the inputs goes the way of the inputs, through S⁺ (OBS-18).
void KinematicSystem::process_noise(double t, double dt, View x, Eigen::MatrixXd& q) noexcept {
  q.setZero();
  if (!noise_known_ || !std::equal(noise_q_.begin(), noise_q_.end(), x.begin())) {
    noise_known_ = false;
    std::copy(x.begin(), x.end(), minus_.begin());
    if (step(t, dt, minus_, plus_) != Status::kOk) return;
  }
  noise_known_ = false;
  if (noise_zone_) {
    add_noise(options_.fallback_noise, dt, q);
  } else {
    add_noise(options_.noise, dt, q);
    double top = 0;  // of s by a reading's error
    switch (options_.top) {
      case TopState::kNone:
        break;
      case TopState::kNewmarkSpeed:
        top = 1 / options_.gamma;
        break;
      case TopState::kNewmarkPosition:
        top = 1 / (2 * options_.beta);
        break;
      default:
        top = 1;
        break;
    }
    noise_map_.setZero();
    for (int i = 0; i < m_; ++i) {
      const InputSensor& e = inputs_[at(i)];
      const double sigma = e.sigma * std::sqrt(std::max(1.0, e.period / dt));
      for (int j = 0; j < nz_; ++j) {
        const double s = noise_pinv_(j, i) * sigma;
        if (options_.order == 2 && options_.scheme != Scheme::kEuler)
          noise_map_(j, i) = 0.5 * dt * dt * s;
        noise_map_(base_ - nz_ + j, i) = dt * s;
        if (nt_ > 0) noise_map_(base_ + j, i) = top * s;
      }
    }
    const int rows = base_ + nt_;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = 0;
        for (int k = 0; k < m_; ++k) sum += noise_map_(i, k) * noise_map_(j, k);
        q(i, j) += sum;
        if (i != j) q(j, i) += sum;
      }
  }
  const auto walk = [&](int state, double density) { q(state, state) += dt * density * density; };
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (input_bias_[i] >= 0) walk(base_ + nt_ + input_bias_[i], inputs_[i].bias_walk);
  for (size_t i = 0; i < sensors_.size(); ++i)
    if (sensor_bias_[i] >= 0) walk(base_ + nt_ + nbu_ + sensor_bias_[i], sensors_[i].bias_walk);
}

// ---- sensors -------------------------------------------------------------------------------------------------------------------------

Status KinematicSystem::accelerations(double t, MutableView x, MutableView a) noexcept {
  if (options_.order == 1) return Status::kBadArgument;
  const Status closed = close(t, x);
  if (closed != Status::kOk) return closed;
  if (nt_ == 0) {
    if (!solve(x, end_)) return Status::kSingular;
    // In the zone the speeds stay, whatever the inputs say.
    if (in_zone(x) || margin_ <= options_.enter) std::fill(s_.begin(), s_.end(), 0.0);
  }
  fill_accelerations(x, nt_ > 0 ? top(x) : View(s_));
  if (a.data() != a_.data()) std::copy(a_.begin(), a_.end(), a.begin());
  return Status::kOk;
}

// Entry of w that a sensor of an independent coordinate or speed reads as it is; -1: another one.
int KinematicSystem::entry_of(int output) const noexcept {
  const Output& o = workspace_.model().outputs[at(output)];
  if (o.kind != OutputKind::kChannel || o.channel.kind != ChannelKind::kCoordinate ||
      o.order == Order::kAcceleration || (o.order == Order::kRate && options_.order == 1))
    return -1;
  const auto z = workspace_.independent_speeds();
  const auto found = std::find(z.begin(), z.end(), o.channel.dof);
  if (found == z.end()) return -1;
  return (o.order == Order::kRate ? nz_ : 0) + static_cast<int>(found - z.begin());
}

// Where in a state the coordinate or speed stands that such a sensor reads.
int KinematicSystem::place_of(int output) const noexcept {
  const Output& o = workspace_.model().outputs[at(output)];
  return o.order == Order::kValue ? workspace_.coordinate_of(o.channel.dof) : nq_ + o.channel.dof;
}

void KinematicSystem::find_plain() noexcept {
  for (size_t i = 0; i < sensors_.size(); ++i)
    plain_[i] = entry_of(sensors_[i].output) >= 0 ? place_of(sensors_[i].output) : -1;
}

Status KinematicSystem::outputs(double t, MutableView x, std::span<const int> outputs,
                                MutableView y) noexcept {
  Level level = Level::kPosition;
  bool plain = true;  // independent coordinates and speeds alone: nothing to close
  const Model& m = workspace_.model();
  for (int o : outputs) {
    if (m.outputs[at(o)].kind != OutputKind::kChannel) return Status::kBadArgument;
    level = std::max(level, workspace_.level_of(o));
    plain = plain && entry_of(o) >= 0;
  }
  if (plain) {
    for (size_t i = 0; i < outputs.size(); ++i)
      y[i] = x[at(place_of(outputs[i]))] + workspace_.number(m.outputs[at(outputs[i])].offset);
    return Status::kOk;
  }
  if (level == Level::kAcceleration) {
    const Status status = accelerations(t, x, a_);
    if (status != Status::kOk) return status;
    for (size_t i = 0; i < outputs.size(); ++i) y[i] = workspace_.closed_output(outputs[i]);
    return Status::kOk;
  }
  const Status status =
      level == Level::kVelocity && speeds_by_inputs() ? close(t, x) : settle(t, x);
  if (status != Status::kOk) return status;
  if (!present(x)) stamp_ += 1;  // the workspace leaves the state it was at
  workspace_.readings(point(t, x), outputs, y);
  return Status::kOk;
}

Status KinematicSystem::outputs_jacobian(double t, MutableView x, std::span<const int> outputs,
                                         Eigen::MatrixXd& h) noexcept {
  const auto count = static_cast<Eigen::Index>(outputs.size());
  auto top = h.topRows(count);
  top.setZero();
  Level level = Level::kPosition;
  bool plain = true;
  for (Eigen::Index i = 0; i < count; ++i) {
    const int o = outputs[static_cast<size_t>(i)], e = entry_of(o);
    level = std::max(level, workspace_.level_of(o));
    plain = plain && e >= 0;
    if (e >= 0) top(i, e) = 1;
  }
  if (plain) return Status::kOk;
  top.setZero();
  Status status = close(t, x);
  if (status != Status::kOk) return status;
  const bool by_inputs =
      nt_ == 0 && (level == Level::kAcceleration || (level == Level::kVelocity && base_ == nz_));
  if (by_inputs && !solve(x, end_)) return Status::kSingular;
  if (level == Level::kAcceleration) {
    std::copy(s_.begin(), s_.end(), first_s_.begin());
    rows_at(t, x, nt_ > 0 ? this->top(x) : View(first_s_), outputs, more_rows_);
  } else {
    const Point p = point(t, x);
    motion_.velocities(p);
    motion_.outputs(p, Level::kVelocity, outputs, more_rows_);
  }
  top.leftCols(base_) = more_rows_.topRows(count).leftCols(base_);
  // By s: R along the row of the output, where it reads that derivative.
  const Level of_s = options_.order == 2 ? Level::kAcceleration : Level::kVelocity;
  if (level < of_s) return top.allFinite() ? Status::kOk : Status::kNotFinite;
  if (by_top_.rows() < count) by_top_.resize(count, nz_);
  by_top_.topRows(count).setZero();
  const auto z = workspace_.independent_speeds();
  for (int j = 0; j < nz_; ++j) {
    std::fill(step_.begin(), step_.end(), 0.0);
    step_[at(z[at(j)])] = 1;
    workspace_.complete(Level::kVelocity, {}, step_);
    for (Eigen::Index i = 0; i < count; ++i) {
      const int o = outputs[static_cast<size_t>(i)];
      if (workspace_.level_of(o) != of_s) continue;
      workspace_.output_row(o, row_);
      double sum = 0;
      for (size_t k = 0; k < at(nv_); ++k) sum += row_[k] * step_[k];
      by_top_(i, j) = sum;
    }
  }
  if (!by_inputs) {
    top.middleCols(base_, nz_) = by_top_.topRows(count);
  } else {
    status = derivative(t, x, first_);
    if (status != Status::kOk) return status;
    for (Eigen::Index i = 0; i < count; ++i)
      for (int j = 0; j < nz_; ++j) {
        top.row(i).head(base_) += by_top_(i, j) * first_.row(base_ - nz_ + j).head(base_);
        top.row(i).segment(base_, nbu_) += by_top_(i, j) * first_.row(base_ - nz_ + j).tail(nbu_);
      }
  }
  return top.allFinite() ? Status::kOk : Status::kNotFinite;
}

Status KinematicSystem::sense(double t, MutableView x, std::span<const int> sensors,
                              MutableView y) noexcept {
  if (std::all_of(sensors.begin(), sensors.end(), [&](int s) { return plain_[at(s)] >= 0; })) {
    for (size_t i = 0; i < sensors.size(); ++i) {
      const size_t s = at(sensors[i]);
      y[i] = x[at(plain_[s])] + workspace_.number(sensor_offset_[s]);
      if (const int b = sensor_bias_[s]; b >= 0) y[i] += x[at(at_bias_ + nbu_ + b)];
    }
    return Status::kOk;
  }
  outputs_.clear();
  for (int s : sensors) outputs_.push_back(sensors_[at(s)].output);
  const Status status = outputs(t, x, outputs_, y);
  if (status != Status::kOk) return status;
  for (size_t i = 0; i < sensors.size(); ++i)
    if (const int b = sensor_bias_[at(sensors[i])]; b >= 0) y[i] += x[at(at_bias_ + nbu_ + b)];
  return Status::kOk;
}

Status KinematicSystem::sense_jacobian(double t, MutableView x, std::span<const int> sensors,
                                       Eigen::MatrixXd& h) noexcept {
  outputs_.clear();
  for (int s : sensors) outputs_.push_back(sensors_[at(s)].output);
  const Status status = outputs_jacobian(t, x, outputs_, h);
  if (status != Status::kOk) return status;
  for (size_t i = 0; i < sensors.size(); ++i)
    if (const int b = sensor_bias_[at(sensors[i])]; b >= 0)
      h(static_cast<Eigen::Index>(i), base_ + nt_ + nbu_ + b) = 1;
  return Status::kOk;
}

double KinematicSystem::variance(int sensor) const noexcept {
  const double s = sensors_[at(sensor)].sigma;
  return s * s;
}

double KinematicSystem::innovation(int sensor, double reading, double expected) const noexcept {
  const double e = reading - expected;
  return sensors_[at(sensor)].circle ? std::remainder(e, 2 * std::numbers::pi) : e;
}

// ---- other independent coordinates ---------------------------------------------------------------------------------------------------

Status KinematicSystem::prepare_frame(double t, MutableView x) noexcept {
  x[at(at_level_)] = 0;
  pose_known_ = false;
  const Status closed = close(t, x);
  if (closed != Status::kOk) return closed;
  find_basis();
  const bool accelerated = nt_ > 0 && options_.order == 2;
  if (accelerated) fill_accelerations(x, top(x));
  const Point p = point(t, x);
  motion_.velocities(p);
  if (accelerated) acceleration_rows(p);
  return Status::kOk;
}

void KinematicSystem::frame_rows(std::span<const int> dofs, Eigen::MatrixXd& rows) const noexcept {
  rows.setIdentity();
  const auto r = [&](int dof, int j) { return basis_[at(j) * at(nv_) + at(dof)]; };
  for (int i = 0; i < nz_; ++i) {
    const int dof = dofs[at(i)];
    rows.row(i).head(base_) = motion_.dq().row(dof).head(base_);
    if (options_.order == 2) rows.row(nz_ + i).head(base_) = motion_.dv().row(dof);
    if (nt_ == 0) continue;
    rows.row(base_ + i).head(base_) =
        (options_.order == 2 ? da_ : motion_.dv()).row(dof).head(base_);
    for (int j = 0; j < nz_; ++j) rows(base_ + i, base_ + j) = r(dof, j);
  }
}

Status KinematicSystem::reframe(double t, MutableView x, Eigen::MatrixXd& change) noexcept {
  const Status status = prepare_frame(t, x);
  if (status != Status::kOk) return status;
  workspace_.choose_partition(t, q(x));
  stamp_ += 1;
  pose_known_ = basis_known_ = near_ = false;
  std::fill(defect_.begin(), defect_.end(), 0.0);
  x[at(at_level_)] = 0;
  const auto z = workspace_.independent_speeds();
  if (static_cast<int>(z.size()) != nz_) return Status::kSingular;
  worn_ = false;
  best_conditioning_ = workspace_.conditioning();
  find_plain();
  frame_rows(z, change);
  const View from = options_.order == 2 ? View(a_) : v(x);
  for (int i = 0; i < nt_; ++i) x[at(at_top_ + i)] = from[at(z[at(i)])];
  return change.allFinite() ? Status::kOk : Status::kNotFinite;
}

// Rows of w for every speed, a column with what s is there, then the biases.
Status KinematicSystem::whole(double t, MutableView x, Eigen::MatrixXd& b) noexcept {
  const Status status = prepare_frame(t, x);
  if (status != Status::kOk) return status;
  const int parts = n_ - nbu_ - nby_;
  b.setZero(parts / nz_ * nv_ + nbu_ + nby_, n_ + 1);
  dofs_.resize(at(nz_));
  for (int first = 0; first < nv_; first += nz_) {
    for (int i = 0; i < nz_; ++i) dofs_[at(i)] = std::min(first + i, nv_ - 1);
    frame_rows(dofs_, frame_);
    for (int i = 0; i < nz_ && first + i < nv_; ++i)
      for (int part = 0; part < parts / nz_; ++part)
        b.row(part * nv_ + first + i).head(n_) = frame_.row(part * nz_ + i);
  }
  const View from = options_.order == 2 ? View(a_) : v(x);
  for (int i = 0; i < nv_ && nt_ > 0; ++i) b((base_ / nz_) * nv_ + i, n_) = from[at(i)];
  for (int i = 0; i < nbu_ + nby_; ++i) b(b.rows() - nbu_ - nby_ + i, parts + i) = 1;
  return b.allFinite() ? Status::kOk : Status::kNotFinite;
}

void KinematicSystem::adopt(const Eigen::MatrixXd& b, MutableView x,
                            Eigen::MatrixXd& change) noexcept {
  const auto z = workspace_.independent_speeds();
  const int parts = n_ - nbu_ - nby_;
  for (int part = 0; part < parts / nz_; ++part)
    for (int i = 0; i < nz_; ++i)
      change.row(part * nz_ + i) = b.row(part * nv_ + z[at(i)]).head(n_);
  change.bottomRows(nbu_ + nby_) = b.bottomRows(nbu_ + nby_).leftCols(n_);
  for (int i = 0; i < nt_; ++i) x[at(at_top_ + i)] = b((base_ / nz_) * nv_ + z[at(i)], n_);
}

// best conditioning, worn | independent speeds | defect
void KinematicSystem::remember(MutableView out) const noexcept {
  out[0] = best_conditioning_;
  out[1] = worn_ ? 1 : 0;
  const auto z = workspace_.independent_speeds();
  for (int i = 0; i < nz_; ++i) out[at(2 + i)] = z[at(i)];
  std::copy(defect_.begin(), defect_.end(), out.begin() + 2 + nz_);
}

bool KinematicSystem::recall(double t, View memory, MutableView x,
                             Eigen::MatrixXd& change) noexcept {
  best_conditioning_ = memory[0];
  worn_ = memory[1] != 0;
  noise_known_ = pose_known_ = basis_known_ = false;
  unsettle(x);
  const View then = memory.subspan(2);
  std::copy_n(then.begin() + nz_, defect_.size(), defect_.begin());
  const auto z = workspace_.independent_speeds();
  if (std::equal(z.begin(), z.end(), then.begin())) return false;
  worn_ = false;
  std::fill(defect_.begin(), defect_.end(), 0.0);
  dofs_.resize(at(nz_));
  for (int i = 0; i < nz_; ++i) dofs_[at(i)] = static_cast<int>(then[at(i)]);
  if (close(t, x) != Status::kOk) return false;
  best_conditioning_ = workspace_.conditioning();
  if (nt_ > 0) {
    // s of then at other speeds: a = c + R s.
    if (options_.order == 2) {
      std::fill(rest_.begin(), rest_.end(), 0.0);
      workspace_.close_accelerations(v(x), {}, {}, rest_);
      auto block = frame_.topLeftCorner(nz_, nz_);
      Eigen::Map<Eigen::VectorXd> right(w_.data(), nz_), s(w_minus_.data(), nz_);
      for (int j = 0; j < nz_; ++j) {
        std::fill(step_.begin(), step_.end(), 0.0);
        step_[at(z[at(j)])] = 1;
        workspace_.complete(Level::kVelocity, {}, step_);
        for (int i = 0; i < nz_; ++i) block(i, j) = step_[at(dofs_[at(i)])];
      }
      for (int i = 0; i < nz_; ++i) right(i) = x[at(at_top_ + i)] - rest_[at(dofs_[at(i)])];
      top_lu_.compute(block);
      s = top_lu_.solve(right);
      for (int i = 0; i < nz_; ++i) x[at(at_top_ + i)] = s(i);
    } else {
      for (int i = 0; i < nz_; ++i) x[at(at_top_ + i)] = x[speed_at(i)];
    }
  }
  if (prepare_frame(t, x) != Status::kOk) return false;
  // w_then = T⁻¹ w_now.
  frame_rows(dofs_, frame_);
  frame_lu_.compute(frame_);
  frame_.setIdentity();
  change = frame_lu_.solve(frame_);
  x[at(at_level_)] = 0;
  return true;
}

}  // namespace panto
