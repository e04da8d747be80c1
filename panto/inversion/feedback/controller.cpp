#include "panto/inversion/feedback/controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/numerics/small.hpp"

namespace panto {

const char* to_string(Law law) {
  switch (law) {
    case Law::kLqr:
      return "lqr";
    case Law::kSliding:
      return "sliding";
    case Law::kPid:
      return "pid";
    default:
      return "none";
  }
}

Wanted DesiredMotion::at(size_t k) const {
  const auto column = [k](const Eigen::MatrixXd& m) {
    return View{m.data() + static_cast<size_t>(m.rows()) * k, static_cast<size_t>(m.rows())};
  };
  return {t[k], column(y), column(v), column(w), column(u), column(z)};
}

DesiredMotion desired_motion(const Inversion& inversion) {
  DesiredMotion out;
  out.t = inversion.t;
  const auto put = [&](const std::vector<std::vector<double>>& from, Eigen::MatrixXd& to) {
    to.resize(static_cast<Eigen::Index>(from.size()), static_cast<Eigen::Index>(out.t.size()));
    for (size_t i = 0; i < from.size(); ++i)
      for (size_t k = 0; k < out.t.size(); ++k)
        to(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) = from[i][k];
  };
  put(inversion.y, out.y);
  put(inversion.v, out.v);
  put(inversion.w, out.w);
  put(inversion.u, out.u);
  put(inversion.desired, out.z);
  return out;
}

Result<DesiredMotion> desired_motion(ServoSystem& system, const Path& path,
                                     const InverseOptions& options, double until) {
  Result<std::unique_ptr<InverseModel>> made = InverseModel::create(system, path, options);
  if (!made.ok()) return made.diagnostics();
  InverseModel& m = **made;
  if (const Diagnostics d = m.start(0); !d.ok()) return d;
  const Eigen::Index steps = std::lround(until / options.dt);
  DesiredMotion out;
  out.y.resize(system.nv(), steps + 1);
  out.v = out.w = out.y;
  out.u.resize(system.nu(), steps + 1);
  out.z.resize(path.size(), steps + 1);
  for (Eigen::Index k = 0; k <= steps; ++k) {
    if (k > 0 && fatal(m.step())) {
      Diagnostics d;
      d.error(1024, {}, fmt::format("t = {:.6g} s: the step fails", m.t() + options.dt));
      return d;
    }
    const auto put = [k](View from, Eigen::MatrixXd& to) {
      std::copy(from.begin(), from.end(), to.col(k).data());
    };
    out.t.push_back(m.t());
    put(m.y(), out.y);
    put(m.v(), out.v);
    put(m.w(), out.w);
    put(m.u(), out.u);
    path.at(m.t(), 1, {out.z.col(k).data(), static_cast<size_t>(path.size())});
  }
  return out;
}

namespace {

class Feedforward final : public Controller {
 public:
  using Controller::Controller;
  Feedforward(int inputs, ActuatorLimits limits) : Controller(inputs, std::move(limits)) {}

 private:
  Status law(const Wanted& wanted, const Seen& /*seen*/, MutableView u) noexcept override {
    std::copy(wanted.u.begin(), wanted.u.end(), u.begin());
    return Status::kOk;
  }
};

// u = u_d - F (x - x_d) (FB-4).
class LinearQuadratic final : public Controller {
 public:
  LinearQuadratic(const GainSchedule& gains, int inputs, ActuatorLimits limits)
      : Controller(inputs, std::move(limits)), gains_(gains) {}

 private:
  Status law(const Wanted& wanted, const Seen& seen, MutableView u) noexcept override {
    const std::vector<double>& t = gains_.t;
    size_t k = 0;
    double share = 0;
    if (t.size() > 1) {
      const auto next = std::upper_bound(t.begin(), t.end(), wanted.t);
      k = static_cast<size_t>(std::clamp<std::ptrdiff_t>(
          next - t.begin() - 1, 0, static_cast<std::ptrdiff_t>(t.size()) - 2));
      share = std::clamp((wanted.t - t[k]) / (t[k + 1] - t[k]), 0.0, 1.0);
    }
    const size_t nv = wanted.y.size();
    for (size_t i = 0; i < u.size(); ++i) {
      u[i] = wanted.u[i];
      for (size_t j = 0; j < 2 * nv; ++j) {
        const auto row = static_cast<Eigen::Index>(i), column = static_cast<Eigen::Index>(j);
        double gain = gains_.F[k](row, column);
        if (share > 0) gain += share * (gains_.F[k + 1](row, column) - gain);
        u[i] -= gain * (j < nv ? seen.y[j] - wanted.y[j] : seen.v[j - nv] - wanted.v[j - nv]);
      }
    }
    return Status::kOk;
  }
  const GainSchedule& gains_;
};

// u = -M_s⁻¹ (f_s + ṡ_p + κ sat(σ / Φ)), M_s = Θ W (FB-5, FB-6): the model at the seen state, no feedforward beside it.
class SlidingMode final : public Controller {
 public:
  SlidingMode(const SlidingSettings& s, ServoSystem& system, ActuatorLimits limits)
      : Controller(system.nu(), std::move(limits)), s_(s), solver_(system) {
    m_.resize(system.nu(), system.nu());
    f_.resize(system.nu(), 1);
  }
  [[nodiscard]] bool adds_feedforward() const override { return false; }

 private:
  Status law(const Wanted& wanted, const Seen& seen, MutableView u) noexcept override {
    if (const Status status = solver_.solve(wanted.t, seen.y, seen.v); status != Status::kOk)
      return status;
    const Eigen::Index n = f_.rows(), nv = s_.rate.cols();
    const Eigen::MatrixXd& w = solver_.solution();
    for (Eigen::Index i = 0; i < n; ++i) {
      double sigma = 0, drift = 0;
      for (Eigen::Index j = 0; j < nv; ++j) {
        const auto at = static_cast<size_t>(j);
        const double speed = seen.v[at] - wanted.v[at];
        sigma += s_.rate(i, j) * speed + s_.position(i, j) * (seen.y[at] - wanted.y[at]);
        drift += s_.rate(i, j) * (w(j, 0) - wanted.w[at]) + s_.position(i, j) * speed;
      }
      f_(i, 0) = -drift - s_.reach[i] * std::clamp(sigma / s_.layer[i], -1.0, 1.0);
      for (Eigen::Index k = 0; k < n; ++k) {
        m_(i, k) = 0;
        for (Eigen::Index j = 0; j < nv; ++j) m_(i, k) += s_.rate(i, j) * w(j, k + 1);
      }
    }
    if (!eliminate(m_, f_)) return Status::kSingular;
    for (Eigen::Index i = 0; i < n; ++i) u[static_cast<size_t>(i)] = f_(i, 0);
    return f_.allFinite() ? Status::kOk : Status::kNotFinite;
  }
  const SlidingSettings& s_;
  MotionSolver solver_;
  Eigen::MatrixXd m_, f_;
};

// u = u_d + P e + ∫ I e + D ė, e = z_d - z (FB-7); the derivative through a lag, the integral stands still where it would push further into a limit.
class Pid final : public Controller {
 public:
  Pid(const PidSettings& s, double dt, int inputs, ActuatorLimits limits)
      : Controller(inputs, std::move(limits)),
        s_(s),
        dt_(dt),
        blend_(dt / ((s.filter > 0 ? s.filter : 2 * dt) + dt)),
        integral_(Eigen::VectorXd::Zero(inputs)),
        increment_(integral_),
        error_(Eigen::VectorXd::Zero(s.p.cols())),
        slope_(error_) {}
  void start() noexcept override {
    integral_.setZero();
    error_.setZero();
    slope_.setZero();
    running_ = false;
  }

 private:
  Status law(const Wanted& wanted, const Seen& seen, MutableView u) noexcept override {
    for (Eigen::Index k = 0; k < error_.size(); ++k) {
      const auto at = static_cast<size_t>(k);
      const double e = wanted.z[at] - seen.z[at];
      if (running_) slope_[k] += blend_ * ((e - error_[k]) / dt_ - slope_[k]);
      error_[k] = e;
    }
    running_ = true;
    for (Eigen::Index i = 0; i < integral_.size(); ++i) {
      double x = wanted.u[static_cast<size_t>(i)] + integral_[i];
      increment_[i] = 0;
      for (Eigen::Index k = 0; k < error_.size(); ++k) {
        x += s_.p(i, k) * error_[k] + s_.d(i, k) * slope_[k];
        increment_[i] += dt_ * s_.i(i, k) * error_[k];
      }
      u[static_cast<size_t>(i)] = x;
    }
    return Status::kOk;
  }
  void taken(View asked, View given) noexcept override {
    for (Eigen::Index i = 0; i < integral_.size(); ++i) {
      const double beyond = asked[static_cast<size_t>(i)] - given[static_cast<size_t>(i)];
      if (beyond * increment_[i] <= 0) integral_[i] += increment_[i];
    }
  }
  const PidSettings& s_;
  double dt_, blend_;
  bool running_ = false;
  Eigen::VectorXd integral_, increment_, error_, slope_;
};

}  // namespace

Controller::Controller(int inputs, ActuatorLimits limits)
    : limits_(std::move(limits)),
      asked_(static_cast<size_t>(inputs), 0.0),
      saturated_(static_cast<size_t>(inputs), 0) {
  limits_.lower.resize(asked_.size(), -1e300);
  limits_.upper.resize(asked_.size(), 1e300);
}

Status Controller::step(const Wanted& wanted, const Seen& seen, MutableView u) noexcept {
  if (const Status status = law(wanted, seen, asked_); status != Status::kOk) return status;
  for (size_t i = 0; i < asked_.size(); ++i) {
    if (!std::isfinite(asked_[i])) return Status::kNotFinite;
    const double given = std::clamp(asked_[i], limits_.lower[i], limits_.upper[i]);
    saturated_[i] = given != asked_[i] ? 1 : 0;
    u[i] = given;
  }
  taken(asked_, u);
  return Status::kOk;
}

std::unique_ptr<Controller> Controller::create(const FeedbackDesign& design, ServoSystem& system,
                                               ActuatorLimits limits) {
  switch (design.settings.law) {
    case Law::kLqr:
      return std::make_unique<LinearQuadratic>(design.gains, system.nu(), std::move(limits));
    case Law::kSliding:
      return std::make_unique<SlidingMode>(design.settings.sliding, system, std::move(limits));
    case Law::kPid:
      return std::make_unique<Pid>(design.settings.pid, design.dt, system.nu(), std::move(limits));
    default:
      return std::make_unique<Feedforward>(system.nu(), std::move(limits));
  }
}

Result<FeedbackDesign> design_feedback(ServoSystem& system, const DesiredMotion& motion,
                                       const FeedbackSettings& settings, double dt) {
  Diagnostics d;
  FeedbackDesign out{settings, {}, dt};
  const Eigen::Index nv = system.nv(), nu = system.nu(), nz = motion.z.rows();
  const auto size = [&](const char* name, const Eigen::MatrixXd& m, Eigen::Index rows,
                        Eigen::Index columns) {
    if (m.rows() != rows || m.cols() != columns)
      d.error(1055, settings.loc,
              fmt::format("{} \"{}\": {} is {} x {}, {} x {} is needed", to_string(settings.law),
                          settings.name, name, m.rows(), m.cols(), rows, columns));
    else if (!m.allFinite())
      d.error(1055, settings.loc,
              fmt::format("{} \"{}\": {} holds a number that is not finite",
                          to_string(settings.law), settings.name, name));
  };
  if (settings.law == Law::kLqr) {
    Result<GainSchedule> gains = lqr_gains(system, motion, settings.lqr);
    if (!gains.ok()) {
      for (const Diagnostic& item : gains.diagnostics().items())
        d.error(item.id, settings.loc, fmt::format("lqr \"{}\": {}", settings.name, item.message));
      return d;
    }
    out.gains = std::move(*gains);
  } else if (settings.law == Law::kPid) {
    size("p", settings.pid.p, nu, nz);
    size("i", settings.pid.i, nu, nz);
    size("d", settings.pid.d, nu, nz);
  } else if (settings.law == Law::kSliding) {
    const SlidingSettings& s = settings.sliding;
    size("the surface's rate", s.rate, nu, nv);
    size("the surface's position", s.position, nu, nv);
    size("reach", s.reach, nu, 1);
    size("layer", s.layer, nu, 1);
    if (d.ok() && !(s.reach.minCoeff() > 0 && s.layer.minCoeff() > 0))
      d.error(1055, settings.loc,
              fmt::format("sliding \"{}\": reach and layer must be positive", settings.name));
    d.append(MotionSolver::check(system));
    if (!d.ok()) return d;
    MotionSolver solver(system);
    double largest = 0;
    for (size_t k = 0; k < motion.t.size(); ++k) {
      const Wanted x = motion.at(k);
      const Status status = solver.solve(x.t, x.y, x.v);
      Eigen::MatrixXd m = s.rate * solver.solution().topRightCorner(nv, nu);
      largest = std::max(largest, m.cwiseAbs().maxCoeff());
      for (Eigen::Index i = 0; i < nu; ++i)  // rows have units of their own
        if (const double norm = m.row(i).norm(); norm > 1e-12 * largest) m.row(i) /= norm;
      Eigen::MatrixXd one = Eigen::MatrixXd::Identity(nu, nu);
      if (status == Status::kOk && eliminate(m, one) && one.norm() < 1e9) continue;
      d.error(1056, settings.loc,
              fmt::format("sliding \"{}\": t = {:.6g} s: the inputs do not move the surface there "
                          "(M_s is singular); choose other rates",
                          settings.name, x.t));
      return d;
    }
  }
  if (!d.ok()) return d;
  return out;
}

}  // namespace panto
