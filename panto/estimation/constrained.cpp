#include "panto/estimation/constrained.hpp"

#include <algorithm>
#include <cmath>

#include "panto/base/contract.hpp"

namespace panto {

namespace {

constexpr double kDefinite =
    0.1;  // least standard deviation in all directions, of the constraints'

size_t at(int i) { return static_cast<size_t>(i); }

}  // namespace

AllCoordinates::AllCoordinates(Mechanism& mechanism, double constraint)
    : mechanism_(mechanism),
      workspace_(mechanism.workspace()),
      nq_(workspace_.model().nq),
      nv_(workspace_.model().nv),
      nb_(mechanism.size() - mechanism.motion()),
      share_(constraint),
      constraint_(constraint * workspace_.length()),
      scale_(at(nv_), 1.0) {
  const Model& m = workspace_.model();
  for (int i = 0; i < m.nv; ++i)
    if (is_slide(m, i)) scale_[at(i)] = workspace_.length();
  positions_.reserve(m.rows.size());
  rates_.reserve(m.rows.size());
  find_rows();
  constraints_ = static_cast<int>(positions_.size() + rates_.size());
  plain_.reserve(m.outputs.size());
  deep_.reserve(m.outputs.size());
  outputs_.reserve(at(mechanism.sensors()));
  closed_.assign(at(mechanism.storage()), 0.0);
  zero_.assign(at(nv_), 0.0);
  lambda_.assign(m.rows.size(), 0.0);
  y_.assign(std::max(m.outputs.size(), static_cast<size_t>(1)), 0.0);
  step_.assign(at(nv_), 0.0);
  dq_.setZero(nv_, 2 * nv_);
  dq_.leftCols(nv_).setIdentity();
  dv_.setZero(nv_, 2 * nv_);
  dv_.rightCols(nv_).setIdentity();
  none_.resize(nv_, 0);
  PANTO_EXPECT(mechanism.forces(closed_).empty(), "no forces among the states");
  const int g = mechanism.size();
  b_.setZero(2 * nv_ + nb_, g);
  noise_.setZero(g, g);
  change_ = noise_;
  product_.setZero(2 * nv_ + nb_, g);
  h_.setZero(static_cast<Eigen::Index>(m.outputs.size()), g);
  along_.y.resize(mechanism.sensors(), 2 * nv_);
  along_.phi_dot.resize(m.n_position_rows + m.n_velocity_rows, 2 * nv_);
  // One evaluation allocates the residual's blocks.
  Point p;
  std::vector<double> q(at(nq_), 0.0), u(m.inputs.size(), 0.0);
  for (const Joint& j : m.joints)
    if (j.type == JointType::kSpherical) q[at(j.q)] = 1;
  p.q = q;
  p.v = p.a = zero_;
  p.lambda = lambda_;
  p.u = u;
  workspace_.residual(p, false, residual_);
}

void AllCoordinates::find_rows() {
  const Model& m = workspace_.model();
  const auto redundant = workspace_.redundant_rows();
  positions_.clear();
  rates_.clear();
  for (int i = 0; i < m.n_position_rows + m.n_velocity_rows; ++i) {
    if (std::find(redundant.begin(), redundant.end(), i) != redundant.end()) continue;
    if (i < m.n_position_rows) positions_.push_back(i);
    rates_.push_back(i);
  }
}

std::vector<std::string> AllCoordinates::names() const {
  std::vector<std::string> out;
  for (std::string name : workspace_.model().speed_names) {
    if (name.ends_with("_dot")) name.resize(name.size() - 4);
    out.push_back(std::move(name));
  }
  for (const std::string& name : workspace_.model().speed_names) out.push_back(name);
  const std::vector<std::string> of_mechanism = mechanism_.names();
  out.insert(out.end(), of_mechanism.end() - nb_, of_mechanism.end());
  return out;
}

void AllCoordinates::pack(View q, View v, MutableView x) const noexcept {
  std::copy(q.begin(), q.end(), x.begin());
  std::copy(v.begin(), v.end(), x.begin() + nq_);
  std::fill(x.begin() + nq_ + nv_, x.end(), 0.0);
}

Status AllCoordinates::state_jacobian(double t, MutableView x, Eigen::MatrixXd& dq,
                                      Eigen::MatrixXd& dv) noexcept {
  (void)t, (void)x;
  dq = dq_;
  dv = dv_;
  return Status::kOk;
}

bool AllCoordinates::recall(double t, View memory, MutableView x,
                            Eigen::MatrixXd& change) noexcept {
  (void)change;
  close(x);
  (void)mechanism_.recall(t, memory, closed_, change_);
  find_rows();
  return false;
}

Point AllCoordinates::point(double t, View x) noexcept {
  Point p;
  p.t = t;
  p.q = q(x);
  p.v = v(x);
  p.a = zero_;
  p.lambda = lambda_;
  p.u = mechanism_.inputs(t);
  return p;
}

void AllCoordinates::close(View x) noexcept { mechanism_.pack(q(x), v(x), closed_); }

// Other independent coordinates where the present ones serve badly; the state does not know of them.
Status AllCoordinates::keep_independent(double t) noexcept {
  if (!mechanism_.worn()) return Status::kOk;
  const Status status = mechanism_.reframe(t, closed_, change_);
  if (status != Status::kOk) return status;
  find_rows();
  return static_cast<int>(positions_.size() + rates_.size()) == constraints_ ? Status::kOk
                                                                             : Status::kSingular;
}

void AllCoordinates::spread(const Eigen::MatrixXd& a, Eigen::MatrixXd& p) noexcept {
  product_.noalias() = b_ * a;
  p.noalias() = product_ * b_.transpose();
  const auto zp = workspace_.independent_positions(), zv = workspace_.independent_speeds();
  const auto np = static_cast<Eigen::Index>(zp.size());
  double position = 0, speed = 0, both = 0;
  for (size_t i = 0; i < zv.size(); ++i) {
    const Eigen::Index k = np + static_cast<Eigen::Index>(i);
    const double relative = a(k, k) / std::pow(scale_[at(zv[i])], 2);
    if (relative <= speed) continue;
    speed = relative;
    if (i >= zp.size() || zp[i] != zv[i]) continue;
    position = relative * a(k - np, k - np) / a(k, k);
    both = relative * a(k - np, k) / a(k, k);
  }
  const double least = std::pow(kDefinite * share_, 2);
  for (int i = 0; i < nv_; ++i) {
    const double s = std::pow(scale_[at(i)], 2);
    p(i, i) += s * (position + least);
    p(nv_ + i, nv_ + i) += s * (speed + least);
    p(i, nv_ + i) += s * both;
    p(nv_ + i, i) += s * both;
  }
}

Status AllCoordinates::initial_covariance(double t, View x, const Eigen::MatrixXd& independent,
                                          Eigen::MatrixXd& p) {
  close(x);
  const Status status = mechanism_.whole(t, closed_, b_);
  if (status != Status::kOk) return status;
  p.resize(size(), size());
  spread(independent, p);
  return Status::kOk;
}

void AllCoordinates::move(View x, View w, MutableView out) noexcept {
  if (out.data() != x.data()) std::copy(x.begin(), x.end(), out.begin());
  workspace_.move(out.first(at(nq_)), w.first(at(nv_)));
  for (int i = 0; i < nv_; ++i) out[at(nq_ + i)] += w[at(nv_ + i)];
  for (int i = 0; i < nb_; ++i) out[at(nq_ + nv_ + i)] += w[at(2 * nv_ + i)];
}

void AllCoordinates::difference(View a, View b, MutableView w) noexcept {
  workspace_.difference(q(a), q(b), w.first(at(nv_)));
  for (int i = 0; i < nv_; ++i) w[at(nv_ + i)] = a[at(nq_ + i)] - b[at(nq_ + i)];
  for (int i = 0; i < nb_; ++i) w[at(2 * nv_ + i)] = a[at(nq_ + nv_ + i)] - b[at(nq_ + nv_ + i)];
}

Status AllCoordinates::step(double t, double dt, MutableView x, MutableView out) noexcept {
  close(x);
  const Status status = mechanism_.accelerations(t, closed_);
  if (status != Status::kOk) return status;
  const View a = mechanism_.a(closed_);
  std::copy(x.begin(), x.end(), out.begin());
  for (int i = 0; i < nv_; ++i) step_[at(i)] = dt * x[at(nq_ + i)];
  workspace_.move(out.first(at(nq_)), step_);
  for (int i = 0; i < nv_; ++i) out[at(nq_ + i)] += dt * a[at(i)];
  return keep_independent(t);
}

Status AllCoordinates::transition(double t, double dt, MutableView x, MutableView out,
                                  Eigen::MatrixXd& f) noexcept {
  (void)t, (void)x, (void)out;
  f.setIdentity();
  for (int i = 0; i < nv_; ++i) f(i, nv_ + i) = dt;
  return Status::kOk;
}

void AllCoordinates::process_noise(double t, double dt, View x, Eigen::MatrixXd& out) noexcept {
  close(x);
  if (mechanism_.whole(t, closed_, b_) != Status::kOk) b_.setZero();
  mechanism_.process_noise(t, dt, closed_, noise_);
  spread(noise_, out);
}

Status AllCoordinates::outputs(double t, MutableView x, std::span<const int> outputs,
                               MutableView y) noexcept {
  plain_.clear();
  deep_.clear();
  for (int o : outputs)
    (workspace_.level_of(o) == Level::kAcceleration ? deep_ : plain_).push_back(o);
  if (!deep_.empty()) {
    close(x);
    const Status status = mechanism_.outputs(t, closed_, deep_, y_);
    if (status != Status::kOk) return status;
  }
  const auto deep = static_cast<std::ptrdiff_t>(deep_.size());
  if (!plain_.empty())
    workspace_.readings(point(t, x), plain_, MutableView(y_).subspan(deep_.size(), plain_.size()));
  auto next_deep = y_.begin(), next_plain = y_.begin() + deep;
  for (size_t i = 0; i < outputs.size(); ++i)
    y[i] = workspace_.level_of(outputs[i]) == Level::kAcceleration ? *next_deep++ : *next_plain++;
  return Status::kOk;
}

Status AllCoordinates::outputs_jacobian(double t, MutableView x, std::span<const int> outputs,
                                        Eigen::MatrixXd& h) noexcept {
  plain_.clear();
  deep_.clear();
  for (int o : outputs)
    (workspace_.level_of(o) == Level::kAcceleration ? deep_ : plain_).push_back(o);
  if (!deep_.empty()) {
    close(x);
    Status status = mechanism_.outputs(t, closed_, deep_, y_);
    if (status == Status::kOk) status = mechanism_.outputs_jacobian(t, closed_, deep_, h_);
    if (status != Status::kOk) return status;
  }
  // Also the constraints' rows, for sense_jacobian().
  workspace_.along(point(t, x), Level::kVelocity, dq_, dv_, none_, plain_, along_);
  const auto zp = workspace_.independent_positions(), zv = workspace_.independent_speeds();
  Eigen::Index next_deep = 0, next_plain = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto row = h.row(static_cast<Eigen::Index>(i));
    row.setZero();
    if (workspace_.level_of(outputs[i]) != Level::kAcceleration) {
      row.head(2 * nv_) = along_.y.row(next_plain++);
      continue;
    }
    for (size_t k = 0; k < zp.size(); ++k) row(zp[k]) = h_(next_deep, static_cast<Eigen::Index>(k));
    for (size_t k = 0; k < zv.size(); ++k)
      row(nv_ + zv[k]) = h_(next_deep, static_cast<Eigen::Index>(zp.size() + k));
    ++next_deep;
  }
  return Status::kOk;
}

Status AllCoordinates::sense(double t, MutableView x, std::span<const int> sensors,
                             MutableView y) noexcept {
  const int measured = mechanism_.sensors();
  size_t count = 0;  // sensors come before constraints
  outputs_.clear();
  while (count < sensors.size() && sensors[count] < measured)
    outputs_.push_back(mechanism_.sensor(sensors[count++]).output);
  const Status status = outputs(t, x, outputs_, y);
  if (status != Status::kOk) return status;
  for (size_t i = 0; i < count; ++i)
    if (const int b = mechanism_.bias_of(sensors[i]); b >= 0) y[i] += x[at(nq_ + nv_ + b)];
  if (count == sensors.size()) return status;
  workspace_.residual(point(t, x), false, residual_);
  for (size_t i = count; i < sensors.size(); ++i) {
    const size_t k = at(sensors[i] - measured);
    y[i] = k < positions_.size() ? residual_.phi(positions_[k])
                                 : residual_.phi_dot(rates_[k - positions_.size()]);
  }
  return Status::kOk;
}

Status AllCoordinates::sense_jacobian(double t, MutableView x, std::span<const int> sensors,
                                      Eigen::MatrixXd& h) noexcept {
  const int measured = mechanism_.sensors();
  size_t count = 0;
  outputs_.clear();
  while (count < sensors.size() && sensors[count] < measured)
    outputs_.push_back(mechanism_.sensor(sensors[count++]).output);
  const Status status = outputs_jacobian(t, x, outputs_, h);
  if (status != Status::kOk) return status;
  for (size_t i = 0; i < count; ++i)
    if (const int b = mechanism_.bias_of(sensors[i]); b >= 0)
      h(static_cast<Eigen::Index>(i), 2 * nv_ + b) = 1;
  for (size_t i = count; i < sensors.size(); ++i) {
    const size_t k = at(sensors[i] - measured);
    auto row = h.row(static_cast<Eigen::Index>(i));
    row.setZero();
    // φ changes with δq as φ̇ with δv.
    if (k < positions_.size()) {
      row.head(nv_) = along_.phi_dot.row(positions_[k]).tail(nv_);
    } else {
      row.head(2 * nv_) = along_.phi_dot.row(rates_[k - positions_.size()]);
    }
  }
  return h.topRows(static_cast<Eigen::Index>(sensors.size())).allFinite() ? Status::kOk
                                                                          : Status::kNotFinite;
}

double AllCoordinates::variance(int sensor) const noexcept {
  return sensor < mechanism_.sensors() ? mechanism_.variance(sensor) : constraint_ * constraint_;
}

double AllCoordinates::innovation(int sensor, double reading, double expected) const noexcept {
  return sensor < mechanism_.sensors() ? mechanism_.innovation(sensor, reading, expected)
                                       : reading - expected;
}

}  // namespace panto
