#include "panto/estimation/observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "panto/estimation/continuous_ekf.hpp"
#include "panto/estimation/ekf.hpp"
#include "panto/mechanics/assembly.hpp"

namespace panto {

namespace {

constexpr double kDegree = std::numbers::pi / 180;
// Where settings are silent: what one knows of a mechanism that was placed by hand, and acceleration noise of the size of its own accelerations.
constexpr double kStartAngle = 5 * kDegree, kStartSpeed = 5 * kDegree, kStartForce = 5 * kDegree;
constexpr double kStartLength = 0.05;  // of the mechanism's length
constexpr double kNoiseShare = 0.1;

template <class E>
struct Named {
  E value;
  std::string_view name;
};
constexpr Named<Scheme> kSchemes[] = {{Scheme::kEuler, "euler"},
                                      {Scheme::kTrapezoidal, "trapezoidal"},
                                      {Scheme::kRungeKutta4, "rk4"},
                                      {Scheme::kIndex3, "index3"}};
constexpr Named<TransitionJacobian> kJacobians[] = {
    {TransitionJacobian::kConstant, "constant"},
    {TransitionJacobian::kFirstOrder, "first_order"},
    {TransitionJacobian::kSecondOrder, "second_order"},
    {TransitionJacobian::kExact, "exact"}};
constexpr Named<NoiseForm> kForms[] = {{NoiseForm::kVanLoan, "van_loan"},
                                       {NoiseForm::kDiagonal, "diagonal"}};

template <class E>
std::optional<E> find(std::span<const Named<E>> list, std::string_view name) {
  for (const auto& e : list)
    if (e.name == name) return e.value;
  return std::nullopt;
}
template <class E>
std::string_view find(std::span<const Named<E>> list, E value) {
  for (const auto& e : list)
    if (e.value == value) return e.name;
  return "";
}

bool sigma_point(const std::string& name) {
  return name.find("ukf") != std::string::npos || name.find("ckf") != std::string::npos;
}

bool positive(const std::vector<double>& values, size_t count, bool zero_allowed) {
  if (values.size() != 1 && values.size() != count) return false;
  return std::all_of(values.begin(), values.end(),
                     [&](double e) { return std::isfinite(e) && (zero_allowed ? e >= 0 : e > 0); });
}

}  // namespace

std::optional<Scheme> scheme_named(std::string_view name) { return find<Scheme>(kSchemes, name); }
std::optional<TransitionJacobian> jacobian_named(std::string_view name) {
  return find<TransitionJacobian>(kJacobians, name);
}
std::optional<NoiseForm> noise_form_named(std::string_view name) {
  return find<NoiseForm>(kForms, name);
}
std::string_view name_of(Scheme scheme) { return find<Scheme>(kSchemes, scheme); }
std::string_view name_of(TransitionJacobian jacobian) {
  return find<TransitionJacobian>(kJacobians, jacobian);
}
std::string_view name_of(NoiseForm form) { return find<NoiseForm>(kForms, form); }

const std::vector<FilterInfo>& filters() {
  using S = Scheme;
  using J = TransitionJacobian;
  static const std::vector<FilterInfo> list = {
      {"dekf", "extended, Euler step, constant transition", S::kEuler, J::kConstant},
      {"dekf_exact", "extended, Euler step, exact transition", S::kEuler, J::kExact},
      {"error_ekf", "error-state (indirect), trapezoidal plant, constant transition",
       S::kTrapezoidal, J::kConstant},
      {"error_ekf_ej", "error-state, trapezoidal plant, exact derivatives of the accelerations",
       S::kTrapezoidal, J::kSecondOrder},
      {"error_ekf_fe", "error-state with force estimation", S::kTrapezoidal, J::kSecondOrder},
      {"cekf", "continuous extended, trapezoidal", S::kTrapezoidal, J::kConstant},
      {"iekf", "iterated extended in all coordinates, constraints as perfect measurements",
       S::kEuler, J::kConstant},
      {"ukf_fe", "unscented, Euler step", S::kEuler, J::kConstant},
      {"ukf", "unscented, trapezoidal step", S::kTrapezoidal, J::kConstant},
      {"ukf_rk4", "unscented, Runge-Kutta step", S::kRungeKutta4, J::kConstant},
      {"ss_ukf", "spherical simplex unscented, trapezoidal step", S::kTrapezoidal, J::kConstant},
      {"ckf", "cubature, trapezoidal step", S::kTrapezoidal, J::kConstant},
      {"sr_ukf", "square-root unscented, trapezoidal step", S::kTrapezoidal, J::kConstant},
      {"sr_ss_ukf", "square-root spherical simplex unscented, trapezoidal step", S::kTrapezoidal,
       J::kConstant},
      {"sr_ckf", "square-root cubature, trapezoidal step", S::kTrapezoidal, J::kConstant},
      {"particle", "bootstrap particle filter, the reference for all others", S::kTrapezoidal,
       J::kConstant},
  };
  return list;
}

std::vector<SensorSettings> sensors_of(const Model& model) {
  std::vector<SensorSettings> out;
  for (const Sensor& s : model.sensors) {
    out.emplace_back();
    out.back().name = model.outputs[static_cast<size_t>(s.output)].name;
  }
  return out;
}

std::unique_ptr<Filter> make_filter(const std::string& name, System& system,
                                    const FilterOptions& options, SigmaOptions sigma,
                                    const ParticleOptions& particles) {
  if (sigma_point(name)) {
    sigma.set = name.find("ss_ukf") != std::string::npos ? SigmaSet::kSphericalSimplex
                : name.find("ckf") != std::string::npos  ? SigmaSet::kCubature
                                                         : SigmaSet::kUnscented;
    sigma.square_root = sigma.square_root || name.starts_with("sr_");
    return std::make_unique<SigmaFilter>(system, options, sigma);
  }
  if (name == "particle") return std::make_unique<ParticleFilter>(system, options, particles);
  return std::make_unique<Ekf>(system, options);
}

Result<std::unique_ptr<Observer>> Observer::create(const Model& model, const Params& params,
                                                   const ObserverSettings& settings,
                                                   const std::vector<SensorSettings>& sensors) {
  Diagnostics notes;
  std::unique_ptr<Observer> o(new Observer);
  o->settings_ = settings;
  std::vector<std::string> names;
  for (const FilterInfo& f : filters()) {
    names.push_back(f.name);
    if (f.name == settings.filter) o->info_ = &f;
  }
  if (o->info_ == nullptr) {
    notes.error(801, settings.loc,
                fmt::format("filter \"{}\" is not known{}; known: {}", settings.filter,
                            did_you_mean(settings.filter, names), fmt::join(names, ", ")));
    return notes;
  }
  const FilterInfo& info = *o->info_;

  o->workspace_ = Workspace::create(model, params);
  Result<AssembledState> start = assemble(*o->workspace_);
  notes.append(start.diagnostics());
  if (!start) return notes;
  o->q_ = start->q;
  o->v_ = start->v;
  const View q(o->q_.data(), static_cast<size_t>(o->q_.size()));
  o->workspace_->choose_partition(0, q, true);
  const size_t nz = o->workspace_->independent_speeds().size(),
               np = o->workspace_->independent_positions().size();
  if (nz == 0) {
    notes.error(805, settings.loc, "nothing is free to move: there is no state to observe");
    return notes;
  }

  // Sensors.
  std::vector<UsedSensor> used;
  std::vector<std::string> outputs;
  for (const Output& e : model.outputs) outputs.push_back(e.name);
  if (sensors.empty()) notes.error(802, settings.loc, "no sensor is named");
  for (const SensorSettings& s : sensors) {
    const int output = find_output(model, s.name);
    if (output < 0) {
      notes.error(802, s.loc,
                  fmt::format("sensor \"{}\" is not a sensor or output of the model{}", s.name,
                              did_you_mean(s.name, outputs)));
      continue;
    }
    UsedSensor u;
    u.output = output;
    u.sigma = s.sigma;
    const Output& out = model.outputs[static_cast<size_t>(output)];
    u.circle = out.angle && out.kind == OutputKind::kChannel && out.order == Order::kValue &&
               out.channel.kind != ChannelKind::kSum;
    if (u.sigma == 0)
      for (const Sensor& e : model.sensors)
        if (e.output == output && e.noise >= 0) u.sigma = o->workspace_->number(e.noise);
    if (!(u.sigma > 0) || !std::isfinite(u.sigma))
      notes.error(803, s.loc,
                  fmt::format("sensor \"{}\": its standard deviation must be positive; give "
                              "`sigma` here or `noise` in the model",
                              s.name));
    u.bias_sigma = s.bias_sigma;
    u.bias_walk = s.bias_walk;
    if (s.bias_sigma < 0 || s.bias_walk < 0)
      notes.error(804, s.loc, fmt::format("sensor \"{}\": negative bias settings", s.name));
    used.push_back(u);
  }
  MechanismOptions m;
  m.scheme = settings.scheme.value_or(info.scheme);
  m.jacobian = settings.jacobian.value_or(info.jacobian);
  if (sigma_point(info.name) || info.name == "particle") m.jacobian = TransitionJacobian::kConstant;
  if (!sigma_point(info.name)) m.fixed_point_tolerance = 1e-9;
  m.reduction_limit = info.name == "iekf" || info.name == "particle" ? 0 : settings.reduction_limit;
  m.rate_terms = settings.rate_terms;
  m.noise_form = settings.noise_form;
  m.forces = info.name == "error_ekf_fe";
  if (m.scheme == Scheme::kIndex3 && model.n_velocity_rows + model.n_acceleration_rows > 0)
    notes.error(805, settings.loc,
                "scheme \"index3\" cannot run a model with velocity-controlled inputs; use "
                "\"trapezoidal\"");
  if (m.scheme == Scheme::kIndex3 && (sigma_point(info.name) || info.name == "cekf" ||
                                      info.name == "iekf" || info.name == "particle"))
    notes.error(
        805, settings.loc,
        fmt::format("scheme \"index3\" is for the error-state filters, not for {}", info.name));
  for (const auto& [name, density] : settings.input_noise) {
    int input = -1;
    std::vector<std::string> inputs;
    for (size_t i = 0; i < model.inputs.size(); ++i) {
      inputs.push_back(model.inputs[i].name);
      if (model.inputs[i].name == name) input = static_cast<int>(i);
    }
    const bool force = std::any_of(model.actuators.begin(), model.actuators.end(),
                                   [&](auto& a) { return a.input == input && a.group < 0; });
    if (input < 0 || !force || !(density >= 0)) {
      notes.error(806, settings.loc,
                  fmt::format("noise of input \"{}\": {}", name,
                              input < 0 ? "the model has no such input" + did_you_mean(name, inputs)
                              : !force  ? "it prescribes a motion; noise can be mapped through "
                                          "forces and torques only"
                                        : "the spectral density is negative"));
      continue;
    }
    m.input_noise.push_back({input, density});
  }
  o->automatic(model);
  ObserverSettings& s = o->settings_;
  const auto demand = [&](const std::vector<double>& values, size_t count, bool zero,
                          const char* what) {
    if (!positive(values, count, zero))
      notes.error(804, settings.loc,
                  fmt::format("{}: expected one {} number or {} of them", what,
                              zero ? "non-negative" : "positive", count));
  };
  demand(s.sigma_coordinates, np, false, "standard deviation of the initial coordinates");
  demand(s.sigma_speeds, nz, false, "standard deviation of the initial speeds");
  demand(s.sigma_forces, nz, false, "standard deviation of the initial forces");
  demand(s.acceleration_noise, nz, true, "acceleration noise");
  demand(s.force_walk, nz, true, "force walk");
  if (!(s.reduction_limit >= 0))
    notes.error(804, settings.loc, "the limit of a reduction's misfit must not be negative");
  if (s.sigma.alpha <= 0 || s.sigma.beta < s.sigma.alpha * s.sigma.alpha || s.sigma.w0 < 0 ||
      s.sigma.w0 >= 1)
    notes.error(
        804, settings.loc,
        "sigma points: alpha must be positive, beta at least alpha^2, w0 from 0 to below 1");
  if (info.name == "iekf" && (s.iterations < 1 || !(s.constraint > 0)))
    notes.error(804, settings.loc,
                "iekf: at least one iteration, and a positive standard deviation of constraints");
  if (info.name == "particle" && (s.particles < 2 || !(s.jitter >= 0 && s.jitter < 1)))
    notes.error(804, settings.loc,
                "particles: at least two are needed, and their jitter is from 0 to below 1");
  if (!notes.ok()) return notes;
  m.acceleration_noise = s.acceleration_noise;
  m.force_walk = s.force_walk;
  if (m.forces && settings.acceleration_noise.empty()) m.acceleration_noise = {0.0};

  o->mechanism_ = std::make_unique<Mechanism>(*o->workspace_, std::move(used), m);
  o->system_ = o->mechanism_.get();
  o->mechanism_->initial_covariance(s.sigma_coordinates, s.sigma_speeds, s.sigma_forces, o->p0_);
  if (info.name == "cekf") {
    o->filter_ = std::make_unique<ContinuousEkf>(
        *o->mechanism_, s.options, s.acceleration_noise,
        settings.jacobian.value_or(TransitionJacobian::kConstant) != TransitionJacobian::kExact);
  } else if (info.name == "iekf") {
    o->constrained_ = std::make_unique<AllCoordinates>(*o->mechanism_, s.constraint);
    o->system_ = o->constrained_.get();
    o->filter_ = std::make_unique<Ekf>(*o->constrained_, s.options, s.iterations);
  } else {
    o->filter_ =
        make_filter(info.name, *o->mechanism_, s.options, s.sigma, {s.particles, s.seed, s.jitter});
  }
  o->x_.resize(static_cast<size_t>(o->system_->storage()));
  return Result<std::unique_ptr<Observer>>(std::move(o), notes);
}

void Observer::automatic(const Model& model) {
  ObserverSettings& s = settings_;
  const auto slides = [&](int dof) { return is_slide(model, dof); };
  const double length = workspace_->length();
  const auto zp = workspace_->independent_positions(), zv = workspace_->independent_speeds();
  if (s.sigma_coordinates.empty())
    for (int i : zp) s.sigma_coordinates.push_back(slides(i) ? kStartLength * length : kStartAngle);
  if (s.sigma_speeds.empty())
    for (int i : zv) s.sigma_speeds.push_back(slides(i) ? kStartLength * length : kStartSpeed);
  if (s.sigma_forces.empty()) s.sigma_forces = {kStartForce};
  if (s.acceleration_noise.empty() || s.force_walk.empty()) {
    // Size of the accelerations at the start; at least one radian (a tenth of a length) per second squared.
    std::vector<double> q(q_.data(), q_.data() + q_.size()), v(v_.data(), v_.data() + v_.size()),
        a(static_cast<size_t>(model.nv), 0.0), u(model.inputs.size()), u_rate(model.inputs.size());
    workspace_->inputs_at(0, u, u_rate);
    const bool known = workspace_->close_positions(0, q) >= Status::kOk &&
                       workspace_->close_velocities(0, u, v) == Status::kOk &&
                       workspace_->accelerations(0, v, u, u_rate, a) == Status::kOk;
    std::vector<double> noise;
    for (int i : zv) {
      const double least = slides(i) ? 0.1 * length : 1;
      noise.push_back(kNoiseShare *
                      std::max(least, known ? std::abs(a[static_cast<size_t>(i)]) : 0.0) * least);
    }
    if (s.acceleration_noise.empty()) s.acceleration_noise = noise;
    if (s.force_walk.empty()) s.force_walk = noise;
  }
}

bool Observer::renew_reference() {
  return mechanism_->wants_reference() &&
         mechanism_->add_reference(mechanism_->q(filter_->state()));
}

Status Observer::start(double t) {
  mechanism_->first_reference();
  workspace_->choose_partition(t, {q_.data(), static_cast<size_t>(q_.size())}, true);
  return start(t, {q_.data(), static_cast<size_t>(q_.size())},
               {v_.data(), static_cast<size_t>(v_.size())});
}

Status Observer::start(double t, View q, View v) {
  workspace_->choose_partition(t, q, true);
  mechanism_->forget();
  system_->pack(q, v, x_);
  if (constrained_) {
    mechanism_->initial_covariance(settings_.sigma_coordinates, settings_.sigma_speeds,
                                   settings_.sigma_forces, p_);
    const Status status = constrained_->initial_covariance(t, x_, p_, p0_);
    if (status != Status::kOk) return status;
  }
  return filter_->start(t, x_, p0_);
}

Status Observer::outputs(std::span<const int> outputs, MutableView y, MutableView sigma) {
  const double t = filter_->time();
  std::copy(filter_->state().begin(), filter_->state().end(), x_.begin());
  Status status = system_->outputs(t, x_, outputs, y);
  if (status != Status::kOk) return status;
  h_.setZero(static_cast<Eigen::Index>(outputs.size()), system_->size());
  status = system_->outputs_jacobian(t, x_, outputs, h_);
  if (status != Status::kOk) return status;
  filter_->covariance(p_);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto row = h_.row(static_cast<Eigen::Index>(i));
    double variance = 0;
    for (Eigen::Index k = 0; k < row.size(); ++k)
      if (row(k) != 0) variance += row(k) * row.dot(p_.col(k));
    sigma[i] = std::sqrt(std::max(0.0, variance));
  }
  return Status::kOk;
}

}  // namespace panto
