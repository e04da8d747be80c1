#include "panto/inversion/feedback/plant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "panto/mechanics/assembly.hpp"
#include "panto/numerics/dense.hpp"

namespace panto {
namespace {

bool finite(View x) {
  return std::all_of(x.begin(), x.end(), [](double e) { return std::isfinite(e); });
}

// Classical Runge-Kutta step of (y, v) by h: rates(t, share of the step, y, v, ẏ, v̇) gives both.
template <class Rates>
Status runge_kutta(double t, double h, std::vector<double>& y, std::vector<double>& v,
                   const Rates& rates) {
  constexpr std::array<double, 4> kShare{0, 0.5, 0.5, 1}, kWeight{1. / 6, 1. / 3, 1. / 3, 1. / 6};
  std::vector<double> ys = y, vs = v, yd(y.size()), vd(v.size()), dy(y.size(), 0.0),
                      dv(v.size(), 0.0);
  for (size_t s = 0; s < 4; ++s) {
    for (size_t i = 0; s > 0 && i < y.size(); ++i) ys[i] = y[i] + kShare[s] * h * yd[i];
    for (size_t i = 0; s > 0 && i < v.size(); ++i) vs[i] = v[i] + kShare[s] * h * vd[i];
    if (const Status status = rates(t + kShare[s] * h, kShare[s], ys, vs, yd, vd);
        status != Status::kOk)
      return status;
    for (size_t i = 0; i < y.size(); ++i) dy[i] += kWeight[s] * yd[i];
    for (size_t i = 0; i < v.size(); ++i) dv[i] += kWeight[s] * vd[i];
  }
  for (size_t i = 0; i < y.size(); ++i) y[i] += h * dy[i];
  for (size_t i = 0; i < v.size(); ++i) v[i] += h * dv[i];
  return finite(y) && finite(v) ? Status::kOk : Status::kNotFinite;
}

class SystemPlant final : public Plant {
 public:
  explicit SystemPlant(ServoSystem& system)
      : system_(system),
        solver_(system),
        u_(static_cast<size_t>(system.nu())),
        w_(static_cast<size_t>(system.nv())),
        lambda_(static_cast<size_t>(system.n_lambda())) {
    values_.resize(system.nv(), system.n_lambda(), system.nu());
    for (int i = 0; i < system.n_lambda(); ++i) {
      const Level level = system.rows()[static_cast<size_t>(i)].level;
      if (level == Level::kPosition) positions_.push_back(i);
      if (level != Level::kAcceleration) speeds_.push_back(i);
    }
  }
  Status start(double t, View y, View v) override {
    t_ = t;
    y_.assign(y.begin(), y.end());
    v_.assign(v.begin(), v.end());
    return project();
  }
  Status advance(double h, View u0, View u1) override {
    const auto rates = [&](double t, double share, const std::vector<double>& y,
                           const std::vector<double>& v, std::vector<double>& yd,
                           std::vector<double>& vd) {
      if (const Status s = solver_.solve(t, y, v); s != Status::kOk) return s;
      for (size_t i = 0; i < u_.size(); ++i) u_[i] = u0[i] + share * (u1[i] - u0[i]);
      solver_.motion(u_, vd, lambda_);
      yd = v;
      return Status::kOk;
    };
    if (const Status s = runge_kutta(t_, h, y_, v_, rates); s != Status::kOk) return s;
    t_ += h;
    return project();
  }
  [[nodiscard]] View y() const override { return y_; }
  [[nodiscard]] View v() const override { return v_; }
  Status outputs(View u, MutableView z) override {
    if (const Status s = solver_.solve(t_, y_, v_); s != Status::kOk) return s;
    solver_.motion(u, w_, lambda_);
    system_.evaluate({t_, y_, v_, w_, lambda_, u}, false, values_);
    size_t k = 0;
    for (Eigen::Index i = system_.n_lambda(); i < static_cast<Eigen::Index>(system_.rows().size());
         ++i) {
      const AlgebraicRow& row = system_.rows()[static_cast<size_t>(i)];
      if (row.implicit) continue;
      z[k++] = row.level == Level::kPosition   ? values_.g0[i]
               : row.level == Level::kVelocity ? values_.g1[i]
                                               : values_.g2[i];
    }
    return Status::kOk;
  }

 private:
  // Shortest steps back to the rows on positions, then on speeds.
  Status project() {
    if (speeds_.empty()) return Status::kOk;
    const auto correct = [&](const std::vector<int>& rows, const Eigen::VectorXd& g,
                             std::vector<double>& x) {
      Eigen::MatrixXd jacobian(static_cast<Eigen::Index>(rows.size()), system_.nv());
      Eigen::VectorXd rest(jacobian.rows());
      for (Eigen::Index k = 0; k < rest.size(); ++k) {
        jacobian.row(k) = values_.G.row(rows[static_cast<size_t>(k)]);
        rest[k] = g[rows[static_cast<size_t>(k)]];
      }
      solve_.compute(jacobian);
      const Eigen::VectorXd step = solve_.solve(rest);
      for (size_t i = 0; i < x.size(); ++i) x[i] -= step[static_cast<Eigen::Index>(i)];
      return step.cwiseAbs().maxCoeff();
    };
    std::fill(w_.begin(), w_.end(), 0.0);
    std::fill(lambda_.begin(), lambda_.end(), 0.0);
    std::fill(u_.begin(), u_.end(), 0.0);
    for (int i = 0; i < 10; ++i) {
      system_.evaluate({t_, y_, v_, w_, lambda_, u_}, true, values_);
      if (positions_.empty() || correct(positions_, values_.g0, y_) < 1e-13) break;
    }
    system_.evaluate({t_, y_, v_, w_, lambda_, u_}, true, values_);
    correct(speeds_, values_.g1, v_);
    return finite(y_) && finite(v_) ? Status::kOk : Status::kNotFinite;
  }
  ServoSystem& system_;
  MotionSolver solver_;
  MinimumNorm solve_;
  ServoValues values_;
  double t_ = 0;
  std::vector<int> positions_, speeds_;
  std::vector<double> y_, v_, u_, w_, lambda_;
};

const Actuator* find_actuator(const Model& model, const std::string& name) {
  const auto it = std::find_if(model.actuators.begin(), model.actuators.end(),
                               [&](const Actuator& a) { return a.name == name; });
  return it != model.actuators.end() ? &*it : nullptr;
}

class ModelPlant final : public Plant {
 public:
  ModelPlant(const Model& model, const Params& params, const ModelServo& servo)
      : balls_(model),
        workspace_(Workspace::create(model, params)),
        outputs_(servo.outputs()),
        u_(model.inputs.size()),
        u_rate_(u_),
        q_(static_cast<size_t>(model.nq)),
        v_(static_cast<size_t>(model.nv)),
        rates_(q_),
        a_(v_),
        closed_q_(q_),
        closed_v_(v_),
        lambda_(model.rows.size()) {
    for (const std::string& name : servo.input_names())
      inputs_.push_back(find_actuator(model, name)->input);
    for (const ServoOutput& o : outputs_)
      for (const std::string& name : o.names) read_.push_back(find_output(model, name));
    readings_.resize(read_.size());
    coordinates_ = coordinates_by_name(model, servo.coordinate_names());
    seen_y_.assign(coordinates_.size(), std::numeric_limits<double>::quiet_NaN());
    seen_v_ = seen_y_;
  }
  Status start(double t, View y, View v) override {
    t_ = t;
    const auto known =
        std::count_if(coordinates_.begin(), coordinates_.end(), [](int i) { return i >= 0; });
    if (static_cast<size_t>(known) < q_.size()) {
      const Result<AssembledState> rest = assemble(*workspace_, t);
      if (!rest.ok()) return Status::kNotConverged;
      std::copy(rest->q.begin(), rest->q.end(), q_.begin());
      std::copy(rest->v.begin(), rest->v.end(), v_.begin());
      workspace_->coordinate_rates(q_, v_, rates_);
    }
    for (size_t i = 0; i < coordinates_.size(); ++i) {
      if (coordinates_[i] < 0) continue;
      q_[static_cast<size_t>(coordinates_[i])] = y[i];
      rates_[static_cast<size_t>(coordinates_[i])] = v[i];
    }
    balls_.speeds(q_, rates_, v_);
    workspace_->normalise(q_);
    workspace_->choose_partition(t, q_, true);
    inputs_at(t, {}, {}, 0, 0);
    return settle();
  }
  Status advance(double h, View u0, View u1) override {
    const auto rates = [&](double t, double share, const std::vector<double>& q,
                           const std::vector<double>& v, std::vector<double>& qd,
                           std::vector<double>& vd) {
      inputs_at(t, u0, u1, share, h);
      closed_q_ = q;
      workspace_->normalise(closed_q_);
      closed_v_ = v;
      if (const Status s = accelerate(t, closed_q_, closed_v_, vd); s != Status::kOk) return s;
      workspace_->coordinate_rates(closed_q_, closed_v_, qd);
      return Status::kOk;
    };
    if (const Status s = runge_kutta(t_, h, q_, v_, rates); s != Status::kOk) return s;
    t_ += h;
    return settle();
  }
  [[nodiscard]] View y() const override { return seen_y_; }
  [[nodiscard]] View v() const override { return seen_v_; }
  Status outputs(View u, MutableView z) override {
    const Status s = read(read_, u, readings_);
    for (size_t i = 0, k = 0; i < outputs_.size(); k += outputs_[i++].of.size())
      z[i] = outputs_[i].value({readings_.data() + k, outputs_[i].of.size()});
    return s;
  }
  Status read(std::span<const int> outputs, View u, MutableView out) override {
    inputs_at(t_, u, u, 0, 1);
    closed_q_ = q_;
    closed_v_ = v_;
    if (const Status s = accelerate(t_, closed_q_, closed_v_, a_); s != Status::kOk) return s;
    workspace_->multipliers(a_, lambda_);
    workspace_->readings({t_, closed_q_, closed_v_, a_, lambda_, u_, u_rate_}, outputs, out);
    return Status::kOk;
  }

 private:
  void inputs_at(double t, View u0, View u1, double share, double h) {
    workspace_->inputs_at(t, u_, u_rate_);
    for (size_t i = 0; i < inputs_.size() && i < u0.size(); ++i) {
      u_[static_cast<size_t>(inputs_[i])] = u0[i] + share * (u1[i] - u0[i]);
      u_rate_[static_cast<size_t>(inputs_[i])] = (u1[i] - u0[i]) / h;
    }
  }
  Status accelerate(double t, std::vector<double>& q, std::vector<double>& v,
                    std::vector<double>& a) {
    const auto usable = [](Status s) { return s == Status::kOk || s == Status::kRepartition; };
    Status s = workspace_->close_positions(t, q);
    worn_ = worn_ || s == Status::kRepartition;
    if (usable(s)) s = workspace_->close_velocities(t, u_, v);
    if (usable(s)) s = workspace_->accelerations(t, v, u_, u_rate_, a);
    return usable(s) ? Status::kOk : s;
  }
  // Dependent coordinates and speeds from the independent ones.
  Status settle() {
    workspace_->normalise(q_);
    Status s = workspace_->close_positions(t_, q_);
    if (fatal(s)) return s;
    if (s == Status::kRepartition || worn_) {
      workspace_->choose_partition(t_, q_);
      worn_ = false;
      s = workspace_->close_positions(t_, q_);
      if (fatal(s)) return s;
    }
    s = workspace_->close_velocities(t_, u_, v_);
    workspace_->coordinate_rates(q_, v_, rates_);
    for (size_t i = 0; i < coordinates_.size(); ++i) {
      if (coordinates_[i] < 0) continue;
      seen_y_[i] = q_[static_cast<size_t>(coordinates_[i])];
      seen_v_[i] = rates_[static_cast<size_t>(coordinates_[i])];
    }
    return fatal(s) ? s : Status::kOk;
  }

  BallCoordinates balls_;
  std::unique_ptr<Workspace> workspace_;
  std::vector<int> inputs_, read_;  // of the model; read_: what outputs_ are made of
  std::vector<int> coordinates_;    // of the model, by coordinate of the servo system; -1: none
  std::vector<ServoOutput> outputs_;
  double t_ = 0;
  bool worn_ = false;
  std::vector<double> readings_, u_, u_rate_, q_, v_, rates_, a_, closed_q_, closed_v_, lambda_;
  std::vector<double> seen_y_, seen_v_;  // as the servo system counts
};

}  // namespace

Status Plant::read(std::span<const int> outputs, View u, MutableView out) {
  (void)outputs, (void)u, (void)out;
  return Status::kBadArgument;
}

std::unique_ptr<Plant> make_plant(ServoSystem& system) {
  return std::make_unique<SystemPlant>(system);
}
std::unique_ptr<Plant> make_plant(const Model& model, const Params& params,
                                  const ModelServo& servo) {
  return std::make_unique<ModelPlant>(model, params, servo);
}

Diagnostics check_plant(const Model& model, const ModelServo& servo) {
  Diagnostics d;
  for (const std::string& name : servo.input_names())
    if (find_actuator(model, name) == nullptr)
      d.error(1100, {}, fmt::format("\"{}\" has no actuator \"{}\"", model.name, name));
  for (const ServoOutput& output : servo.outputs())
    for (const std::string& name : output.names)
      if (find_output(model, name) < 0)
        d.error(1100, {}, fmt::format("\"{}\" has no output \"{}\"", model.name, name));
  return d;
}

std::vector<int> coordinates_by_name(const Model& model, const std::vector<std::string>& names) {
  std::vector<int> out;
  for (const std::string& name : names) {
    const auto it = std::find(model.coordinate_names.begin(), model.coordinate_names.end(), name);
    out.push_back(it != model.coordinate_names.end()
                      ? static_cast<int>(it - model.coordinate_names.begin())
                      : -1);
  }
  return out;
}

std::vector<std::string> missing_coordinates(const Model& model, const ModelServo& servo) {
  const std::vector<int> at = coordinates_by_name(model, servo.coordinate_names());
  std::vector<std::string> out;
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i] < 0) out.push_back(servo.coordinate_names()[i]);
  return out;
}

}  // namespace panto
