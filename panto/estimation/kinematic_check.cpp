#include "panto/estimation/kinematic_check.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "panto/estimation/observability.hpp"
#include "panto/estimation/placement.hpp"
#include "panto/mechanics/assembly.hpp"

namespace panto {

namespace {

constexpr double kRankShare = 1e-9;  // singular values below it count as zero
constexpr double kLeaveFactor = 1.25;

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One pose of the motion, in the order of the observer's model.
struct Pose {
  double t = 0;
  std::vector<double> q, v, a, u;
};

Result<std::vector<Pose>> poses(KinematicObserver& observer,
                                const std::vector<KinematicChannel>& inputs, const Run& motion,
                                int samples, const Loc& loc) {
  Diagnostics notes;
  const Model& m = observer.model();
  if (motion.coordinate_names != m.coordinate_names || motion.speed_names != m.speed_names ||
      motion.t.size() < 3 || motion.a.size() != static_cast<size_t>(m.nv)) {
    notes.error(841, loc,
                "the motion must have the coordinates of the model, its accelerations and at least "
                "three poses");
    return notes;
  }
  std::vector<int> outputs;
  outputs.reserve(inputs.size());
  for (const KinematicChannel& c : inputs) outputs.push_back(find_output(m, c.name));
  const size_t count = std::min(motion.t.size(), static_cast<size_t>(std::max(samples, 3)));
  std::vector<Pose> list;
  for (size_t k = 0; k < count; ++k) {
    const size_t i = k * (motion.t.size() - 1) / (count - 1);
    Pose p;
    p.t = motion.t[i];
    for (const auto& e : motion.q) p.q.push_back(e[i]);
    for (const auto& e : motion.v) p.v.push_back(e[i]);
    for (const auto& e : motion.a) p.a.push_back(e[i]);
    p.u.resize(outputs.size());
    Point at;
    at.t = p.t;
    at.q = p.q;
    at.v = p.v;
    at.a = p.a;
    observer.system().workspace().readings(at, outputs, p.u);
    list.push_back(std::move(p));
  }
  return list;
}

struct Seen {
  int states = 0, rank = 0;
  double log10_condition = kBlind;
};

// Rank and κ of [H; HF; HF² …], derivatives counted in steps. A state that neither the next one nor a reading depends on, as s from the inputs, is none to be
// seen.
Seen observability_of(const Eigen::MatrixXd& f, const Eigen::MatrixXd& h,
                      const Eigen::VectorXd& scale) {
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < f.cols(); ++i)
    if (!f.col(i).isZero(0) || !h.col(i).isZero(0)) kept.push_back(i);
  const auto n = static_cast<Eigen::Index>(kept.size()), m = h.rows();
  const Eigen::MatrixXd scaled =
      (scale.asDiagonal().inverse() * f * scale.asDiagonal())(kept, kept);
  Eigen::MatrixXd block = (h * scale.asDiagonal())(Eigen::all, kept), all(n * m, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    all.middleRows(k * m, m) = block;
    block = (block * scaled).eval();
  }
  const Eigen::VectorXd s = all.jacobiSvd().singularValues();
  Seen seen;
  seen.states = static_cast<int>(n);
  for (Eigen::Index i = 0; i < s.size(); ++i)
    if (s(i) > kRankShare * s(0)) ++seen.rank;
  const double last = s(s.size() - 1);
  if (last > 0) seen.log10_condition = std::min(kBlind, std::log10(s(0) / last));
  return seen;
}

}  // namespace

Result<KinematicCheck> check_kinematic(const Model& model, const Params& params,
                                       const KinematicSettings& settings,
                                       const std::vector<KinematicChannel>& inputs,
                                       const std::vector<KinematicChannel>& sensors,
                                       const Run& motion, const KinematicCheckOptions& options) {
  auto made = KinematicObserver::create(model, params, settings, inputs, sensors);
  if (!made) return made.diagnostics();
  KinematicSystem& anywhere = (*made)->system();
  const auto list = poses(**made, inputs, motion, options.samples, settings.loc);
  if (!list) return list.diagnostics();

  KinematicCheck c;
  const int n = anywhere.size(), nz = anywhere.coordinates();
  c.degrees_of_freedom = nz;
  c.inputs = anywhere.inputs();
  c.sensors = anywhere.sensors();
  c.states = n;
  std::vector<double> x(static_cast<size_t>(anywhere.storage())), next(x),
      s(static_cast<size_t>(nz)), margins, conditions, y(sensors.size());
  for (const Pose& p : *list) {
    anywhere.workspace().choose_partition(p.t, p.q);
    anywhere.forget();
    anywhere.set_inputs(p.u, p.u);
    anywhere.pack(p.q, p.v, x);
    double margin = 0;
    if (anywhere.from_inputs(p.t, x, s, margin) != Status::kOk) margin = 0;
    margins.push_back(margin);
  }
  c.median_margin = median_of(margins);
  c.least_margin = *std::min_element(margins.begin(), margins.end());
  c.enter = settings.system.enter > 0 ? settings.system.enter : options.share * c.median_margin;
  c.leave = std::max(settings.system.leave, kLeaveFactor * c.enter);
  for (size_t k = 0; k < margins.size(); ++k) {
    if (margins[k] > c.enter) continue;
    const Pose& p = (*list)[k];
    if (k == 0 || margins[k - 1] > c.enter) c.failing.push_back({p.t, p.t, p.t, margins[k], p.q});
    FailingPoses& f = c.failing.back();
    f.to = p.t;
    if (margins[k] < f.margin) {
      f.margin = margins[k];
      f.worst = p.t;
      f.q = p.q;
    }
    c.failing_share += 1 / static_cast<double>(margins.size());
  }
  c.exists = c.median_margin > 0 && c.failing.empty();

  // Covariance along the motion, by the derivatives of an observer with these thresholds: a step into the failing poses is one of its fall-back.
  KinematicSettings zoned = settings;
  zoned.system.enter = c.enter;
  zoned.system.leave = c.leave;
  const auto used = KinematicObserver::create(model, params, zoned, inputs, sensors);
  if (!used) return used.diagnostics();
  KinematicSystem& system = (*used)->system();
  const double h = settings.dt;
  Eigen::VectorXd scale = Eigen::VectorXd::Ones(n);
  const int levels = settings.system.order + (settings.system.top == TopState::kNone ? 0 : 1);
  for (int level = 1; level < levels; ++level)
    scale.segment(level * nz, nz).setConstant(std::pow(h, -level));
  Eigen::MatrixXd p, f(n, n), q(n, n), rows(static_cast<Eigen::Index>(sensors.size()), n),
      unit = Eigen::MatrixXd::Identity(n, n), r = Eigen::MatrixXd::Zero(rows.rows(), rows.rows());
  system.initial_covariance(settings.sigma_coordinates, settings.sigma_speeds, settings.sigma_top,
                            p);
  std::vector<int> all;
  for (int i = 0; i < system.sensors(); ++i) {
    all.push_back(i);
    r(i, i) = system.variance(i);
  }
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(n);
  int counted = 0;
  c.least_rank = n;
  for (size_t k = 0; k < list->size(); ++k) {
    const Pose& pose = (*list)[k];
    if (margins[k] <= c.enter) continue;
    system.workspace().choose_partition(pose.t, pose.q, k == 0);
    system.forget();
    system.set_inputs(pose.u, pose.u);
    system.pack(pose.q, pose.v, x);
    if (!system.top(x).empty()) {
      const auto z = system.workspace().independent_speeds();
      for (size_t i = 0; i < s.size(); ++i)
        s[i] = (settings.system.order == 2 ? pose.a : pose.v)[static_cast<size_t>(z[i])];
      system.set_top(s, x);
    }
    if (system.step(pose.t, h, x, next) != Status::kOk ||
        system.transition(pose.t, h, x, next, f) != Status::kOk ||
        system.sense(pose.t, x, all, y) != Status::kOk ||
        system.sense_jacobian(pose.t, x, all, rows) != Status::kOk)
      continue;
    system.process_noise(pose.t, h, x, q);
    const Seen seen = observability_of(f, rows, scale);
    const double condition = seen.log10_condition;
    // Of the pose that lacks most: a step into the zone may depend on more states than others.
    const int lacking = seen.states - seen.rank, before = c.states - c.least_rank;
    if (conditions.empty() || lacking > before || (lacking == before && seen.states < c.states)) {
      c.states = seen.states;
      c.least_rank = seen.rank;
    }
    conditions.push_back(condition);
    if (conditions.size() == 1 || condition > c.worst) {
      c.worst = condition;
      c.worst_time = pose.t;
    }
    // As many steps as lie between two poses.
    const double next_time = k + 1 < list->size() ? (*list)[k + 1].t : pose.t + h;
    const int steps = std::clamp(static_cast<int>(std::lround((next_time - pose.t) / h)), 1, 1000);
    for (int i = 0; i < steps; ++i) {
      p = (f * p * f.transpose() + q).eval();
      const Eigen::MatrixXd spread = rows * p * rows.transpose() + r;
      const Eigen::MatrixXd gain = spread.llt().solve(rows * p).transpose();
      const Eigen::MatrixXd left = unit - gain * rows;
      p = (left * p * left.transpose() + gain * r * gain.transpose()).eval();
    }
    if (2 * k >= list->size()) {
      sum += p.diagonal();
      ++counted;
    }
  }
  c.median = conditions.empty() ? kBlind : median_of(conditions);
  if (conditions.empty()) c.least_rank = 0;
  c.observable = !conditions.empty() && c.least_rank == c.states && c.median <= options.threshold;
  const std::vector<std::string> names = system.names();
  for (int i = 0; i < n && counted > 0; ++i)
    c.deviations.emplace_back(names[static_cast<size_t>(i)], std::sqrt(sum(i) / counted));
  return Result<KinematicCheck>(std::move(c), made.diagnostics());
}

std::string in_words(const KinematicCheck& c, const Model& model) {
  std::string text =
      fmt::format("{} degree{} of freedom, {} input{}, {} sensor{}: ", c.degrees_of_freedom,
                  c.degrees_of_freedom == 1 ? "" : "s", c.inputs, c.inputs == 1 ? "" : "s",
                  c.sensors, c.sensors == 1 ? "" : "s");
  if (c.median_margin == 0) {
    text += "the inputs do not determine the motion anywhere";
  } else if (c.failing.empty()) {
    text += fmt::format("the inputs determine the motion everywhere (1/|S+| at least {:.3g})",
                        c.least_margin);
  } else {
    const FailingPoses& f = *std::min_element(
        c.failing.begin(), c.failing.end(),
        [](const FailingPoses& a, const FailingPoses& b) { return a.margin < b.margin; });
    text += fmt::format(
        "the inputs do not determine the motion in {} place{} ({:.1f} % of it), worst at {:.4g} s:",
        c.failing.size(), c.failing.size() == 1 ? "" : "s", 100 * c.failing_share, f.worst);
    for (size_t i = 0; i < f.q.size(); ++i)
      text += fmt::format("{} {} = {:.4g}", i == 0 ? "" : ",", model.coordinate_names[i], f.q[i]);
    text += fmt::format("; enter = {:.3g}, leave = {:.3g} keep out of them", c.enter, c.leave);
  }
  text += c.observable
              ? fmt::format("; observable (log10 of the condition number {:.1f}, at worst {:.1f})",
                            c.median, c.worst)
              : fmt::format("; not observable: rank {} of {}", c.least_rank, c.states);
  return text;
}

Result<KinematicAdvice> advise_kinematic(const Model& model, const Params& params,
                                         const KinematicSettings& settings,
                                         std::vector<KinematicChannel> candidates,
                                         const Run& motion, int spare,
                                         const KinematicCheckOptions& options) {
  Diagnostics notes;
  const auto workspace = Workspace::create(model, params);
  Result<AssembledState> start = assemble(*workspace);
  if (!start) return start.diagnostics();
  workspace->choose_partition(0, {start->q.data(), static_cast<size_t>(start->q.size())}, true);
  KinematicAdvice advice;
  const auto nz = static_cast<int>(workspace->independent_speeds().size());
  advice.degrees_of_freedom = nz;
  const bool first = settings.system.order == 1;
  advice.needed = fmt::format(
      "{} degree{} of freedom: at least {} independent sensor{} of {} as inputs, and {} of "
      "position",
      nz, nz == 1 ? "" : "s", nz, nz == 1 ? "" : "s",
      first ? "velocity (rates, gyroscopes)" : "acceleration (accelerometers)", nz);
  if (candidates.empty())
    for (const Sensor& e : model.sensors)
      if (e.noise >= 0 || e.quantum >= 0)
        candidates.push_back({.name = model.outputs[static_cast<size_t>(e.output)].name});
  std::vector<KinematicChannel> inputs, positions;
  for (const KinematicChannel& c : candidates) {
    const int o = find_output(model, c.name);
    if (o < 0) {
      notes.error(802, c.loc,
                  fmt::format("sensor \"{}\" is not a sensor or output of the model", c.name));
      continue;
    }
    const Output& out = model.outputs[static_cast<size_t>(o)];
    if (out.kind != OutputKind::kChannel) continue;
    if (out.order == (first ? Order::kRate : Order::kAcceleration)) inputs.push_back(c);
    if (out.order == Order::kValue) positions.push_back(c);
  }
  if (!notes.ok()) return notes;
  const auto input_sets = subsets(static_cast<int>(inputs.size()), nz, nz + spare),
             position_sets = subsets(static_cast<int>(positions.size()), 1, nz);
  if (nz == 0 || input_sets.empty() || position_sets.empty() ||
      input_sets.size() * position_sets.size() > 10000) {
    notes.error(
        842, settings.loc,
        fmt::format("{}; the candidates have {} and {}, which is too few or gives more than "
                    "10000 sets",
                    advice.needed, inputs.size(), positions.size()));
    return notes;
  }
  for (const auto& u : input_sets)
    for (const auto& y : position_sets) {
      AdvisedSet set;
      std::vector<KinematicChannel> used_inputs, used_sensors;
      for (int i : u) used_inputs.push_back(inputs[static_cast<size_t>(i)]);
      for (int i : y) used_sensors.push_back(positions[static_cast<size_t>(i)]);
      auto check =
          check_kinematic(model, params, settings, used_inputs, used_sensors, motion, options);
      if (!check) return check.diagnostics();
      set.check = std::move(*check);
      for (const auto& c : used_inputs) set.inputs.push_back(c.name);
      for (const auto& c : used_sensors) set.sensors.push_back(c.name);
      advice.sets.push_back(std::move(set));
    }
  const auto size = [nz](const AdvisedSet& s) {
    double sum = 0;
    for (size_t i = 0; i < std::min(s.check.deviations.size(), static_cast<size_t>(nz)); ++i)
      sum += s.check.deviations[i].second * s.check.deviations[i].second;
    return s.check.deviations.empty() ? std::numeric_limits<double>::infinity() : sum;
  };
  std::stable_sort(advice.sets.begin(), advice.sets.end(),
                   [&](const AdvisedSet& a, const AdvisedSet& b) {
                     if (a.check.observable != b.check.observable) return a.check.observable;
                     if (a.check.exists != b.check.exists) return a.check.exists;
                     return size(a) < size(b);
                   });
  return advice;
}

}  // namespace panto
