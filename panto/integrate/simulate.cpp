#include "panto/integrate/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "panto/integrate/adaptive.hpp"
#include "panto/integrate/recorder.hpp"
#include "panto/integrate/stability.hpp"
#include "panto/integrate/state_units.hpp"
#include "panto/integrate/stepper.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/references.hpp"
#include "panto/numerics/saddle.hpp"

namespace panto {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kEventAccuracy = 1e-11;  // [s]
constexpr double kMaxReports = 1e8;
constexpr double kWatch =
    0.02;  // of joints [rad, m]: then the modes of a reduced model are looked at, as in observers
constexpr double kStabilityMargin = 1.01;  // the limit is known at the initial state only

// Forces and drives whose work the potential energy does not hold.
bool exchanges_energy(const Model& m) {
  const auto force = [](const ForceElement& f) {
    return f.law != LawKind::kSpringDamper || f.damping >= 0;
  };
  const auto driven = [](const ConstraintRow& r) { return r.target != TargetKind::kConstant; };
  return !m.actuators.empty() || std::any_of(m.forces.begin(), m.forces.end(), force) ||
         std::any_of(m.rows.begin(), m.rows.end(), driven);
}

const IntegratorInfo* find_integrator(std::string_view name) {
  for (const IntegratorInfo& i : integrators())
    if (i.name == name) return &i;
  return nullptr;
}

// The options made whole, or the reasons why they cannot be.
struct Plan {
  IntegratorInfo integrator;
  std::vector<double> at;  // report times; empty: by interval
  double sample = 0;       // 0: every step
  int stop_output = -1;
};

Plan make_plan(const Model& model, const SimulationOptions& o, Diagnostics& d) {
  Plan plan;
  const std::string name = !o.integrator.empty() ? o.integrator : o.dt > 0 ? "rk4" : "auto";
  if (const IntegratorInfo* found = find_integrator(name)) {
    plan.integrator = *found;
  } else {
    std::vector<std::string> names;
    for (const IntegratorInfo& i : integrators()) names.push_back(i.name);
    d.error(511, {},
            fmt::format("integrator \"{}\" does not exist{}; there are {}", name,
                        did_you_mean(name, names), fmt::join(names, ", ")));
  }
  if (!(o.until > 0) || !std::isfinite(o.until))
    d.error(513, {}, fmt::format("until = {} s: a run ends at a finite time after 0", o.until));
  if (!(o.dt >= 0) || !std::isfinite(o.dt))
    d.error(513, {}, fmt::format("dt = {} s: a step is positive and finite", o.dt));
  if (!(o.sample >= 0) || !std::isfinite(o.sample))
    d.error(513, {},
            fmt::format("sample = {} s: a report interval is positive and finite", o.sample));
  if (!(o.tol >= 1e-14 && o.tol <= 0.1))
    d.error(514, {}, fmt::format("tol = {}: between 1e-14 and 0.1, please", o.tol));
  if (d.ok() && plan.integrator.fixed_step && o.dt == 0)
    d.error(513, {},
            fmt::format("integrator \"{}\" takes fixed steps: give dt", plan.integrator.name));
  if (d.ok() && !plan.integrator.fixed_step && o.dt > 0)
    d.warning(513, {},
              fmt::format("integrator \"{}\" chooses its own steps: dt = {} s is not used, tol is",
                          plan.integrator.name, o.dt));
  if (!(o.reduction_limit >= 0))
    d.error(937, {},
            fmt::format("reduction_limit = {}: from 0, which is never, please", o.reduction_limit));
  plan.at = o.at;
  for (const double t : o.at)
    if (!(t >= 0 && t <= o.until)) {
      d.error(513, {}, fmt::format("report time {} s lies outside the run, 0 to {} s", t, o.until));
    }
  if (d.ok()) {
    std::sort(plan.at.begin(), plan.at.end());
    plan.at.erase(std::unique(plan.at.begin(), plan.at.end()), plan.at.end());
    plan.sample = o.sample > 0 ? o.sample : plan.integrator.fixed_step ? 0 : o.until / 1000;
    const double interval = plan.sample > 0 ? plan.sample : o.dt;
    if (plan.at.empty() && o.until / interval > kMaxReports)
      d.error(513, {},
              fmt::format("{:.0f} reports would be kept; give a longer sample interval",
                          o.until / interval));
  }
  if (o.stop) {
    plan.stop_output = find_output(model, o.stop->output);
    std::vector<std::string> names;
    for (const Output& out : model.outputs) names.push_back(out.name);
    if (plan.stop_output < 0)
      d.error(512, {},
              fmt::format("stop event: output \"{}\" does not exist{}", o.stop->output,
                          did_you_mean(o.stop->output, names)));
    if (!std::isfinite(o.stop->value))
      d.error(512, {}, "stop event: the value to cross is not finite");
  }
  if (!o.q.empty() && o.q.size() != static_cast<size_t>(model.nq))
    d.error(
        515, {},
        fmt::format("initial state: {} coordinates given, the model has {}", o.q.size(), model.nq));
  if (!o.v.empty() && (o.v.size() != static_cast<size_t>(model.nv) || o.q.empty()))
    d.error(
        515, {},
        fmt::format("initial state: {} speeds and {} coordinates given, the model has {} and {}",
                    o.v.size(), o.q.size(), model.nv, model.nq));
  const auto finite = [](const std::vector<double>& x) {
    return std::all_of(x.begin(), x.end(), [](double e) { return std::isfinite(e); });
  };
  if (!finite(o.q) || !finite(o.v)) d.error(515, {}, "initial state: a value is not finite");
  return plan;
}

// Refuses an explicit step that cannot be stable at the initial state x (INT-12).
void check_stability(const Plan& plan, const SimulationOptions& o, Workspace& workspace, View x,
                     Diagnostics& d) {
  if (!plan.integrator.fixed_step || plan.integrator.implicit) return;
  Ode ode(workspace, false);
  Eigen::VectorXcd eigenvalues;
  const Status status =
      fast_eigenvalues(ode, 0, x.first(static_cast<size_t>(ode.size())), eigenvalues);
  if (!usable(status)) {
    d.warning(
        526, {},
        fmt::format("integrator \"{}\": whether dt = {:.4g} s is stable was not examined: the "
                    "motion cannot be linearised at the initial state ({})",
                    plan.integrator.name, o.dt, to_string(status)));
    return;
  }
  const StepLimit limit = step_limit(plan.integrator.name, eigenvalues, o.until);
  if (std::min(o.dt, o.until) <= kStabilityMargin * limit.step) return;
  const std::string mode = describe_mode(limit.eigenvalue);
  const std::string why =
      plan.integrator.name == "euler"
          ? fmt::format(
                "a mode {}, and with dt above {:.4g} s it grows more than a millionfold until "
                "t = {:.4g} s",
                mode, limit.step, o.until)
          : fmt::format("the fastest mode {}, the largest stable dt is {:.4g} s", mode, limit.step);
  d.error(525, {},
          fmt::format("integrator \"{}\": dt = {:.4g} s is not stable: {}; use a shorter dt or an "
                      "implicit integrator (radau5, trapezoidal)",
                      plan.integrator.name, o.dt, why));
}

// The report times in order.
class Schedule {
 public:
  Schedule(const Plan& plan, double until) : plan_(plan), until_(until) {
    if (plan.at.empty() && plan.sample > 0)
      count_ = static_cast<size_t>(std::ceil(until / plan.sample - 1e-9));
  }
  // Next time to report; infinity when there is none (or every step reports).
  [[nodiscard]] double next() const {
    if (!plan_.at.empty()) return index_ < plan_.at.size() ? plan_.at[index_] : INFINITY;
    if (plan_.sample == 0 || index_ > count_) return INFINITY;
    return index_ == count_ ? until_ : static_cast<double>(index_) * plan_.sample;
  }
  void advance() { ++index_; }
  [[nodiscard]] bool every_step() const { return plan_.at.empty() && plan_.sample == 0; }

 private:
  const Plan& plan_;
  double until_;
  size_t index_ = 0, count_ = 0;
};

// Watches one output for a crossing.
class Event {
 public:
  Event(const std::optional<StopEvent>& stop, int output, Recorder& recorder)
      : active_(stop.has_value()), output_(output), recorder_(recorder) {
    if (stop) stop_ = *stop;
  }
  [[nodiscard]] bool active() const { return active_; }

  [[nodiscard]] Status begin(double t, View x) { return value(t, x, last_); }

  // Whether the output crosses between the last time and (t, x); then `found` is where. state(t, x) gives the states between.
  template <class StateAt>
  [[nodiscard]] Status look(double from, double t, View x, const StateAt& state,
                            MutableView scratch, std::optional<double>& found) {
    double now = 0;
    if (const Status s = value(t, x, now); s != Status::kOk) return s;
    const bool rising = last_ < 0 && now >= 0, falling = last_ > 0 && now <= 0;
    if (!((rising && stop_.direction >= 0) || (falling && stop_.direction <= 0))) {
      if (now != 0) last_ = now;
      return Status::kOk;
    }
    // Regula falsi with halving of the retained side (Illinois), bisection every third time.
    double a = from, b = t, ga = last_, gb = now;
    for (int k = 0; k < 200 && b - a > kEventAccuracy && gb != 0; ++k) {
      double c = k % 3 == 2 ? 0.5 * (a + b) : a - ga * (b - a) / (gb - ga);
      if (!(c > a && c < b)) c = 0.5 * (a + b);
      if (!(c > a && c < b)) break;
      if (const Status s = state(c, scratch); s != Status::kOk) return s;
      double gc = 0;
      if (const Status s = value(c, scratch, gc); s != Status::kOk) return s;
      if ((gc >= 0) == (now >= 0)) {
        b = c;
        gb = gc;
        ga *= 0.5;
      } else {
        a = c;
        ga = gc;
        gb *= 0.5;
      }
    }
    found = b;
    return Status::kOk;
  }

 private:
  [[nodiscard]] Status value(double t, View x, double& g) {
    const Status s = recorder_.output(output_, t, x, g);
    g -= stop_.value;
    return s;
  }
  bool active_;
  StopEvent stop_;
  int output_;
  Recorder& recorder_;
  double last_ = 0;
};

// One run in progress.
class Runner {
 public:
  Runner(const Model& model, const SimulationOptions& options, const Plan& plan, Ode& ode, Run& run)
      : model_(model),
        options_(options),
        plan_(plan),
        ode_(ode),
        run_(run),
        recorder_(model, options, ode, run),
        schedule_(plan, options.until),
        event_(options.stop, plan.stop_output, recorder_),
        between_(static_cast<size_t>(ode.size())),
        began_(Clock::now()),
        called_(began_) {}

  // False: failed, with the reason in `why_`.
  bool go(std::vector<double>& x) {
    if (event_.active() && !check(event_.begin(0, x), 0)) return false;
    if (schedule_.every_step() && !check(recorder_.record(0, x), 0)) return false;
    if (!report_until(0, [&](double, MutableView out) {
          std::copy(x.begin(), x.end(), out.begin());
          return Status::kOk;
        }))
      return false;
    const bool done = plan_.integrator.fixed_step ? fixed(x) : adaptive(x);
    if (done && run_.stopped_by.empty() && !check(recorder_.audit(time_, x), time_)) return false;
    run_.stats.evaluations = ode_.evaluations() + own_evaluations_;
    run_.stats.wall_seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    run_.stats.real_time_factor = run_.stats.wall_seconds > 0 ? time_ / run_.stats.wall_seconds : 0;
    return done;
  }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  bool check(Status status, double t, const std::string& detail = {}) {
    if (usable(status)) return true;
    why_ =
        fmt::format("integrator \"{}\" failed at t = {:.9g} s: {}{}; {}", plan_.integrator.name, t,
                    to_string(status), detail.empty() ? "" : " (" + detail + ")", remedy(status));
    return false;
  }

  [[nodiscard]] std::string remedy(Status status) const {
    const bool fixed = plan_.integrator.fixed_step, implicit = plan_.integrator.implicit;
    if (fixed && !implicit)
      return "the step is too long for an explicit method: use a shorter dt or an implicit "
             "integrator (radau5, trapezoidal)";
    if (fixed && status == Status::kNotConverged) return "use a shorter dt";
    if (status == Status::kSingular)
      return "the mechanism may be in a singular position, or a part of it has no mass";
    if (fixed) return "use a shorter dt";
    return "check the model with `panto check`, loosen tol, or try another integrator";
  }

  // Calls the caller now and then; false: stop.
  bool progress(double t) {
    if (!options_.progress) return true;
    const auto now = Clock::now();
    if (now - called_ < std::chrono::milliseconds(50)) return true;
    called_ = now;
    if (options_.progress(t / options_.until)) return true;
    run_.complete = false;
    run_.stopped_by = "caller";
    return false;
  }

  // Records every report time up to `end`; state(t, x) gives the state there.
  template <class StateAt>
  bool report_until(double end, const StateAt& state) {
    while (schedule_.next() <= end) {
      const double t = schedule_.next();
      if (!check(state(t, between_), t) || !check(recorder_.record(t, between_), t)) return false;
      schedule_.advance();
    }
    return true;
  }

  bool stop_at(double t, View x) {
    time_ = t;
    run_.stopped_by = fmt::format("event: {} = {}", options_.stop->output, options_.stop->value);
    return check(recorder_.record(t, x), t);
  }

  // Where an input jumps, and the end.
  [[nodiscard]] std::vector<double> jumps() const {
    std::vector<double> stops;
    for (const Signal& s : model_.signals)
      for (const double t : s.breakpoints(0, options_.until)) stops.push_back(t);
    stops.push_back(options_.until);
    std::sort(stops.begin(), stops.end());
    stops.erase(std::unique(stops.begin(), stops.end()), stops.end());
    return stops;
  }

  // Steps end on the grid k dt, and wherever an input jumps.
  bool fixed(std::vector<double>& x) {
    const auto stepper = Stepper::create(plan_.integrator.name, ode_);
    const double same = 1e-10 * options_.dt;  // the same time up to round-off
    const std::vector<double> stops = jumps();
    const auto count = static_cast<long>(std::ceil(options_.until / options_.dt - 1e-9));
    std::vector<double> end(x.size());
    long k = 1;
    for (size_t segment = 0; segment < stops.size(); ++segment) {
      const double stop = stops[segment];
      ode_.set_window(time_, stop);
      if (segment > 0) {
        if (!check(jump(x), time_)) return false;
        stepper->reset();
      }
      while (time_ < stop) {
        double next = k >= count ? options_.until : static_cast<double>(k) * options_.dt;
        if (next <= time_ + same) {
          ++k;
          continue;
        }
        next = next >= stop - same ? stop : next;
        if (!fixed_step(*stepper, next, same, x, end)) return false;
        if (drifted(x)) {
          if (!check(renew(x), time_)) return false;
          stepper->reset();
        }
        run_.stats.steps = stepper->steps();
        run_.stats.repartitions = stepper->repartitions();
        run_.stats.jacobians = ode_.linearisations();
        if (!run_.stopped_by.empty() || !progress(time_)) return true;
      }
    }
    return true;
  }

  bool fixed_step(Stepper& stepper, double next, double same, std::vector<double>& x,
                  std::vector<double>& end) {
    double t = time_;
    const auto state = [&](double at, MutableView out) { return stepper.trial(t, at - t, x, out); };
    if (event_.active()) {
      if (!check(stepper.trial(t, next - t, x, end), t)) return false;
      std::optional<double> found;
      if (!check(event_.look(t, next, end, state, between_, found), t)) return false;
      if (found) {
        if (!report_until(std::min(*found, next - 2 * same), state)) return false;
        if (*found < next - same && !check(state(*found, end), t)) return false;
        return stop_at(*found, end);
      }
    }
    if (!report_until(next - 2 * same, state)) return false;
    if (!check(stepper.step(t, next - t, x), t)) return false;
    time_ = next;
    speeds_.assign(ode_.speeds().begin(), ode_.speeds().end());
    if (schedule_.every_step() && !check(recorder_.record(next, x), next)) return false;
    return report_until(next + 2 * same, [&](double, MutableView out) {
      std::copy(x.begin(), x.end(), out.begin());
      return Status::kOk;
    });
  }

  bool adaptive(std::vector<double>& x) {
    const auto integrator = Adaptive::create(plan_.integrator.name, ode_, options_.tol);
    const std::vector<double> stops = jumps();
    const auto state = [&](double t, MutableView out) { return integrator->at(t, out); };
    bool going = true;
    for (size_t k = 0; k < stops.size() && going; ++k) {
      ode_.set_window(time_, stops[k]);
      if (k > 0 && !check(jump(x), time_)) return false;
      const Status started = integrator->start(time_, x);
      if (!check(started, time_, integrator->failure())) return false;
      while (integrator->time() < stops[k] && going) {
        const Status stepped = integrator->step(stops[k]);
        if (!check(stepped, integrator->time(), integrator->failure())) return false;
        const double now = integrator->time();
        if (event_.active()) {
          if (!check(integrator->at(now, x), now)) return false;
          std::optional<double> found;
          if (!check(event_.look(integrator->previous(), now, x, state, between_, found), now))
            return false;
          if (found) {
            if (!report_until(std::nextafter(*found, 0), state)) return false;
            if (!check(integrator->at(*found, x), *found)) return false;
            count(*integrator);
            return stop_at(*found, x);
          }
        }
        if (!report_until(now, state)) return false;
        time_ = now;
        if (model_.reduction.active() && now < stops[k]) {
          if (!check(integrator->at(now, x), now)) return false;
          if (drifted(x)) {
            if (!check(renew(x), now)) return false;
            const Status again = integrator->start(now, x);
            if (!check(again, now, integrator->failure())) return false;
          }
        }
        going = progress(now);
      }
      if (!check(integrator->at(integrator->time(), x), time_)) return false;
      speeds_.assign(ode_.speeds().begin(), ode_.speeds().end());
    }
    count(*integrator);
    return true;
  }

  // The interior modes of a reduced model no longer fit the pose of x.
  bool drifted(std::vector<double>& x) {
    const double limit = options_.reduction_limit;
    if (!model_.reduction.active() || limit == 0) return false;
    if (!usable(ode_.project(time_, x))) return false;
    const View q = ode_.positions();
    bool moved = watched_.empty();
    for (size_t i = 0; i < watched_.size(); ++i) moved |= std::abs(q[i] - watched_[i]) > kWatch;
    if (!moved) return false;
    watched_.assign(q.begin(), q.begin() + model_.joint_nq());
    References* references = references_of(ode_.workspace());
    return references != nullptr && references->misfit(q) > limit;
  }
  // They are computed anew there; what that does to the energy enters the balance. Right after, they fit: the links must move as far again before the
  // next time.
  Status renew(std::vector<double>& x) {
    Workspace& w = ode_.workspace();
    const Status closed = ode_.project(time_, x);
    if (!usable(closed)) return closed;
    std::vector<double> q(ode_.positions().begin(), ode_.positions().end()),
        v(ode_.speeds().begin(), ode_.speeds().end());
    const Energy before = w.energy(q, v);
    double jump = 0;
    if (!w.renew_reduction(q, v, jump)) return Status::kSingular;
    const Energy after = w.energy(q, v);
    ode_.pack(q, v, x);
    if (ode_.with_work())
      x[static_cast<size_t>(ode_.dynamic_size())] +=
          after.kinetic + after.potential - before.kinetic - before.potential;
    ++run_.stats.references;
    run_.stats.reference_jump = std::max(run_.stats.reference_jump, jump);
    return ode_.project(time_, x);
  }

  // A driver whose rate jumps at time_ acts by an impulse: M (v⁺ - v⁻) = Gᵀ Λ, G v⁺ = b⁺. What it does enters the energy balance.
  Status jump(std::vector<double>& x) {
    Workspace& w = ode_.workspace();
    const auto rows = model_.n_position_rows + model_.n_velocity_rows;
    if (rows == 0) return Status::kOk;
    const Status closed = ode_.project(time_, x);
    if (!usable(closed)) return closed;
    const std::vector<double> q(ode_.positions().begin(), ode_.positions().end());
    std::vector<double> v = speeds_, zero(v.size(), 0.0);
    double position = 0, velocity = 0;
    w.violation(time_, q, v, ode_.inputs(), position, velocity);
    if (velocity < 1e-9) return Status::kOk;
    Point still;
    still.t = time_;
    still.q = q;
    still.v = still.a = zero;
    still.u = ode_.inputs();
    Residual residual;
    w.residual(still, false, residual);
    Eigen::MatrixXd mass, g;
    w.mass_matrix(q, mass);
    w.constraint_jacobian(time_, q, g);
    const Eigen::VectorXd before = Eigen::Map<const Eigen::VectorXd>(v.data(), model_.nv);
    Eigen::VectorXd after, impulse;
    SaddleSolver saddle(model_.nv, rows);
    const Status solved =
        saddle.solve(mass, g.topRows(rows), mass * before, -residual.phi_dot, after, impulse);
    if (solved != Status::kOk) return solved;
    ode_.pack(q, {after.data(), v.size()}, x);
    if (ode_.with_work())
      x[static_cast<size_t>(ode_.dynamic_size())] +=
          0.5 * (after.dot(mass * after) - before.dot(mass * before));
    return Status::kOk;
  }

  void count(const Adaptive& integrator) {
    const Adaptive::Counts c = integrator.counts();
    run_.stats.steps = c.steps;
    own_evaluations_ = c.evaluations;
    run_.stats.jacobians = c.jacobians;
    run_.stats.repartitions = c.repartitions;
    run_.stats.rejected = c.rejected;
    run_.integrator = integrator.method();
  }

  const Model& model_;
  const SimulationOptions& options_;
  const Plan& plan_;
  Ode& ode_;
  Run& run_;
  Recorder recorder_;
  Schedule schedule_;
  Event event_;
  std::vector<double> between_, speeds_, watched_;  // watched_: joints when drifted() last looked
  Clock::time_point began_, called_;
  double time_ = 0;
  long own_evaluations_ = 0;
  std::string why_;
};

}  // namespace

Result<Run> simulate(const Model& model, const Params& params, const SimulationOptions& options) {
  Diagnostics d;
  const Plan plan = make_plan(model, options, d);
  if (!d.ok()) return d;

  const auto workspace = Workspace::create(model, params);
  std::vector<double> q = options.q, v = options.v;
  if (q.empty()) {
    const Result<AssembledState> assembled = assemble(*workspace);
    d.append(assembled.diagnostics());
    if (!assembled.ok()) return d;
    q.assign(assembled->q.data(), assembled->q.data() + assembled->q.size());
    v.assign(assembled->v.data(), assembled->v.data() + assembled->v.size());
  }
  v.resize(static_cast<size_t>(model.nv), 0.0);
  workspace->choose_partition(0, q);
  Ode ode(*workspace, exchanges_energy(model));
  std::vector<double> x(static_cast<size_t>(ode.size()), 0.0);
  ode.pack(q, v, x);
  const Status closed = ode.project(0, x);
  if (!usable(closed)) {
    d.error(515, {},
            fmt::format("initial state: the loops do not close there ({})", to_string(closed)));
    return d;
  }

  check_stability(plan, options, *workspace, x, d);
  if (!d.ok()) return d;

  Run run;
  run.integrator = plan.integrator.name;
  const Energy e = workspace->energy(ode.positions(), ode.speeds());
  run.energy_initial = e.kinetic + e.potential;
  Runner runner(model, options, plan, ode, run);
  if (!runner.go(x)) {
    d.error(510, {}, runner.why());
    return d;
  }
  describe_states(model, run);
  return {std::move(run), std::move(d)};
}

}  // namespace panto
