#include "panto/inversion/invert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "panto/integrate/simulate.hpp"
#include "panto/integrate/state_units.hpp"
#include "panto/inversion/feedback/plant.hpp"

namespace panto {
namespace {

// The plant is at rest where inputs begin to act; the bounded motion has left it a little where its
// horizon begins.
void where_it_begins(const Inversion& found, std::vector<double>& y, std::vector<double>& v) {
  for (size_t i = 0; i < found.y.size(); ++i) {
    y.push_back(found.stable ? found.stable->rest[i] : found.y[i].front());
    v.push_back(found.stable ? 0.0 : found.v[i].front());
  }
}

// The plant moved by the inputs, from rest.
Result<Run> forward(const Model& model, const Params& params, const ModelServo& servo,
                    const Inversion& inversion, const InvertOptions& options) {
  Model plant = model;
  // Simulations begin at 0.
  std::vector<double> t = inversion.t;
  for (double& at : t) at -= inversion.t.front();
  const std::span<const int> inputs = servo.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    plant.inputs[static_cast<size_t>(inputs[i])].signal = static_cast<int>(plant.signals.size());
    plant.signals.push_back(Signal::table(t, inversion.u[i]));
    plant.signal_sources.emplace_back();
  }
  SimulationOptions o;
  o.until = t.back();
  o.tol = options.tol;
  o.at = std::move(t);
  o.keep_states = false;
  // Inputs that are noise drive a variable step to a crawl: there is no motion to verify then.
  constexpr double kSeconds = 20;
  const auto begin = std::chrono::steady_clock::now();
  o.progress = [begin, &options](double fraction) {
    if (options.progress && !options.progress(0.5 + 0.5 * fraction)) return false;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
           kSeconds;
  };
  std::vector<double> rates;
  where_it_begins(inversion, o.q, rates);
  o.v.resize(static_cast<size_t>(model.nv));
  BallCoordinates(model).speeds(o.q, rates, o.v);
  return simulate(plant, params, o);
}

std::string unit_of(const ServoOutput& o) {
  Output as;
  as.dim = o.dim;
  as.angle = o.angle;
  return panto::unit_of(as);
}

}  // namespace

bool end_agrees(const InvertOptions& o, double path_end) {
  return !(o.until > 0) || o.stable.after < 0 ||
         std::abs(path_end + o.stable.after - o.until) <= 1e-9 * std::max(1.0, o.until);
}

void describe(const Model& model, const ModelServo& servo, Inversion& found) {
  found.model = model.name;
  found.inputs = servo.input_names();
  found.coordinates = servo.coordinate_names();
  for (size_t i = static_cast<size_t>(servo.n_lambda()); i < servo.rows().size(); ++i)
    if (!servo.rows()[i].implicit) found.outputs.push_back(servo.rows()[i].name);
  for (const ServoOutput& o : servo.outputs()) found.output_units.push_back(unit_of(o));
  for (const int i : servo.inputs())
    found.input_units.push_back(to_string(model.inputs[static_cast<size_t>(i)].dim));
  Run states;
  describe_states(model, states);
  found.coordinate_units = states.coordinate_units;
}

namespace {

void check_limits(const InvertOptions& options, const Inversion& found, Diagnostics& notes) {
  for (const InputLimit& limit : options.limits) {
    const auto it = std::find(found.inputs.begin(), found.inputs.end(), limit.actuator);
    if (it == found.inputs.end()) {
      notes.error(1003, {},
                  fmt::format("limits: there is no actuator \"{}\" among those that invert{}",
                              limit.actuator, did_you_mean(limit.actuator, found.inputs)));
      continue;
    }
    const std::vector<double>& u = found.u[static_cast<size_t>(it - found.inputs.begin())];
    double first = -1, worst = 0, at = 0;
    for (size_t k = 0; k < u.size(); ++k) {
      const double beyond = std::max(u[k] - limit.upper, limit.lower - u[k]);
      if (!(beyond > 0)) continue;
      if (first < 0) first = found.t[k];
      if (beyond > worst) worst = beyond, at = found.t[k];
    }
    if (first >= 0)
      notes.warning(1041, {},
                    fmt::format("actuator \"{}\" exceeds its limit from t = {:.4g} s on, most by "
                                "{:.4g} at t = {:.4g} s",
                                limit.actuator, first, worst, at));
  }
}

// What of the choices may be at fault where a step fails.
const char* hard_to_integrate(const InverseOptions& chosen, const ServoAnalysis& analysis) {
  if (chosen.formulation == Formulation::kOriginal && analysis.index > 3)
    return ", or the index is too high for the original equations: form \"projection\" lowers it";
  if (chosen.formulation == Formulation::kBaumgarte && analysis.index > 3)
    return ", or Baumgarte's form is unstable with this method: a lower order, or form "
           "\"projection\"";
  if (chosen.newton.jacobian == JacobianKind::kBroyden)
    return ", or Broyden's matrix is worn: more iterations or an earlier restart";
  return "";
}

// Step by step from t = 0.
Diagnostics march(ServoSystem& servo, const Path& path, const InvertOptions& options,
                  Inversion& found) {
  Diagnostics notes;
  if (path.begin() < 0) {
    notes.error(1022, {}, fmt::format("the path begins at t = {} s, before 0", path.begin()));
    return notes;
  }
  Result<std::unique_ptr<InverseModel>> inverse =
      InverseModel::create(servo, path, options.inverse);
  if (!inverse.ok()) return inverse.diagnostics();
  Result<AnalysedRest> rest = analyse_at_rest(servo, path);
  if (!rest.ok()) return rest.diagnostics();
  found.analysis = rest->analysis;
  const Diagnostics judged = judge(rest->analysis, path);
  for (const Diagnostic& item : judged.items()) {
    if (item.severity == Severity::kWarning || (options.force && item.id == 1031))
      notes.warning(item.id, item.loc, item.message);
    else
      notes.error(item.id, item.loc, item.message);
  }
  if (!notes.ok()) return notes;

  InverseModel& m = **inverse;
  const auto record = [&] {
    found.t.push_back(m.t());
    const auto put = [](View from, std::vector<std::vector<double>>& to) {
      for (size_t i = 0; i < to.size(); ++i) to[i].push_back(from[i]);
    };
    put(m.u(), found.u);
    put(m.y(), found.y);
    put(m.v(), found.v);
    put(m.w(), found.w);
  };
  if (Diagnostics d = m.start(0); !d.ok()) return d;
  record();
  ServoValues scratch;
  scratch.resize(servo.nv(), servo.n_lambda(), servo.nu());
  // Where all outputs are reached at once, the way to them is watched.
  const bool watched = found.analysis.configuration == Configuration::kOrthogonal;
  const auto side = [&] {
    return !watched
               ? 0
               : decoupling_side(servo, {m.t(), m.y(), m.v(), m.w(), m.lambda(), m.u()}, scratch);
  };
  int first_side = side();
  const double until =
      options.until > 0 ? options.until : path.end() + 0.25 * (path.end() - path.begin());
  const long steps = std::lround(until / options.inverse.dt);
  double unconverged = -1, since = -1, total = 0, usual = 1;
  for (long n = 0; n < steps && found.complete; ++n) {
    const auto begin = std::chrono::steady_clock::now();
    const Status status = m.step();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (status == Status::kOk) {
      since = -1;
      if (unconverged < 0) usual = std::max(usual, m.report().first_residual);
    } else if (since < 0) {
      since = fatal(status) ? m.t() + options.inverse.dt : m.t();
    }
    const auto fails = [&](double at, const char* how) {
      notes.error(
          1024, {},
          fmt::format(
              "t = {:.6g} s: {}{}; the inputs do not move the outputs there, or "
              "the path leaves the reach of the mechanism{}{}{}",
              at, how,
              since < at ? fmt::format(", steps do not converge from {:.6g} s on", since) : "",
              hard_to_integrate(options.inverse, found.analysis),
              options.expected.empty() ? "" : "; ", options.expected));
      return notes;
    };
    if (fatal(status)) return fails(m.t() + options.inverse.dt, to_string(status));
    total += seconds;
    found.times.worst = std::max(found.times.worst, seconds);
    found.times.over += seconds > options.inverse.dt ? 1 : 0;
    found.most_iterations = std::max(found.most_iterations, m.report().iterations);
    found.largest_residual = std::max(found.largest_residual, m.report().residual);
    if (status == Status::kNotConverged) {
      if (unconverged < 0) unconverged = m.t();
      ++found.not_converged;
    }
    record();
    if (!std::all_of(m.u().begin(), m.u().end(), [](double x) { return std::isfinite(x); })) {
      notes.error(1024, {},
                  fmt::format("t = {:.6g} s: the inputs are not finite{}{}", m.t(),
                              options.expected.empty() ? "" : "; ", options.expected));
      return notes;
    }
    ++found.times.cycles;
    if (const int now = side(); now * first_side < 0) {
      const std::string message = fmt::format(
          "singular decoupling: between t = {:.6g} s and {:.6g} s the inputs cease to move the "
          "outputs, or the path leaves the reach of the mechanism; what follows is no motion of "
          "the plant",
          m.t() - options.inverse.dt, m.t());
      if (!options.force) {
        notes.error(1025, {}, message);
        return notes;
      }
      notes.warning(1025, {}, message);
      first_side = 0;  // told once
    }
    // For more than one step further from a solution than any guess that led to one, by much more than round-off: what stands is no inverse.
    constexpr double kFurther = 10;
    if (since >= 0 && since < m.t() - 0.5 * options.inverse.dt && !options.force &&
        m.report().residual > kFurther * usual)
      return fails(m.t(), "the iteration diverges");
    const double done = static_cast<double>(n + 1) / static_cast<double>(steps);
    found.complete = !options.progress || options.progress(options.verify ? 0.5 * done : done);
  }
  if (found.times.cycles > 0) found.times.mean = total / static_cast<double>(found.times.cycles);
  if (found.not_converged > 0)
    notes.warning(
        1042, {},
        fmt::format("{} of {} steps did not converge, the first at t = {:.6g} s; largest "
                    "residual {:.3g}",
                    found.not_converged, found.times.cycles, unconverged, found.largest_residual));
  return notes;
}

// The bounded motion, at the cycle's instants: one of them is the beginning of the path.
Diagnostics solve_stably(ServoSystem& servo, const Path& path, const InvertOptions& options,
                         Inversion& found) {
  Diagnostics notes;
  const double dt = options.inverse.dt;
  StableOptions wanted = options.stable;
  wanted.cycle = dt;
  if (wanted.after < 0 && options.until > 0) wanted.after = options.until - path.end();
  if (!(dt > 0) || (options.until > 0 && options.until < path.end())) {
    notes.error(1072, {},
                dt > 0 ? "the run ends before the path does" : "the cycle must be longer than 0");
    return notes;
  }
  if (!end_agrees(options, path.end())) {
    notes.error(
        1072, {},
        fmt::format("the run is to end at {:.6g} s, the horizon after the path at {:.6g} s: "
                    "one of them says all",
                    options.until, path.end() + options.stable.after));
    return notes;
  }
  wanted.progress = [&options](double fraction) {
    return !options.progress || options.progress(options.verify ? 0.5 * fraction : fraction);
  };
  Result<StableInversion> solved = invert_stably(servo, path, wanted);
  notes.append(solved.diagnostics());
  if (!solved.ok()) return notes;
  const double begin = path.begin() - std::floor(solved->before / dt + 1e-6) * dt,
               length = solved->t.back() - begin;
  const auto count = static_cast<size_t>(length / dt + 1e-6) + 1;
  for (size_t k = 0; k < count; ++k) found.t.push_back(begin + static_cast<double>(k) * dt);
  const auto sample = [&](const std::vector<std::vector<double>>& from,
                          std::vector<std::vector<double>>& to) {
    for (size_t i = 0; i < to.size(); ++i) {
      const Signal course = Signal::table(solved->t, from[i]);
      for (const double t : found.t) to[i].push_back(course.at(t).value);
    }
  };
  sample(solved->u, found.u);
  sample(solved->y, found.y);
  sample(solved->v, found.v);
  sample(solved->w, found.w);
  found.stable = std::move(*solved);
  found.analysis = found.stable->analysis;
  return notes;
}

// Inputs and motion of a system whose inputs, outputs and coordinates have their names in `found`.
Diagnostics solve(ServoSystem& servo, const Path& path, const InvertOptions& options,
                  Inversion& found) {
  found.u.resize(found.inputs.size());
  for (auto* series : {&found.y, &found.v, &found.w}) series->resize(found.coordinates.size());
  Diagnostics notes = options.method == InvertMethod::kStable
                          ? solve_stably(servo, path, options, found)
                          : march(servo, path, options, found);
  if (!notes.ok()) return notes;
  found.desired.resize(found.outputs.size());
  std::vector<double> z(found.outputs.size());
  for (const double t : found.t) {
    path.at(t, 1, z);
    for (size_t i = 0; i < z.size(); ++i) found.desired[i].push_back(z[i]);
  }
  check_limits(options, found, notes);
  return notes;
}

// What may help where the plant does not follow.
std::string remedy(const Inversion& found) {
  const auto fastest =
      std::max_element(found.analysis.poles.begin(), found.analysis.poles.end(),
                       [](const auto& a, const auto& b) { return a.real() < b.real(); });
  if (fastest != found.analysis.poles.end() &&
      fastest->real() * (found.t.back() - found.t.front()) > 1)
    return fmt::format(
        "it is unstable in itself, with a pole at {} 1/s: inputs alone do not hold it "
        "on the path, feedback does (tables `[[feedback]]` of a study)",
        zero_text(*fastest));
  return found.stable
             ? "a smaller step, a smaller tolerance, a longer horizon or a smoother path may help"
             : "a smaller step, a higher order or a smoother path may help";
}

// What is known of outputs up to whole turns is counted on from the desired ones; errors.
void compare(const ServoSystem& servo, Inversion& found, Diagnostics& notes) {
  for (size_t i = 0; i < found.outputs.size(); ++i) {
    const AlgebraicRow& row = servo.rows()[static_cast<size_t>(servo.n_lambda()) + i];
    const int level = static_cast<int>(row.level);
    double worst = 0, sum = 0, range = 0;
    for (size_t k = 0; k < found.t.size(); ++k) {
      double& achieved = found.achieved[i][k];
      achieved = found.desired[i][k] + row.left(achieved - found.desired[i][k], level);
      const double e = achieved - found.desired[i][k];
      worst = std::max(worst, std::abs(e));
      sum += e * e;
      range = std::max(range, std::abs(found.desired[i][k] - found.desired[i][0]));
    }
    found.tracking_max.push_back(worst);
    found.tracking_rms.push_back(std::sqrt(sum / static_cast<double>(found.t.size())));
    if (!(worst <= 0.05 * std::max(range, 1e-12)) && range > 0)
      notes.warning(
          1043, {},
          fmt::format("the plant does not follow: output \"{}\" is off by up to {:.3g}; {}",
                      found.outputs[i], worst, remedy(found)));
  }
}

void not_verified(Diagnostics& notes, const std::string& why) {
  notes.warning(1044, {},
                fmt::format("not verified: the simulation of the plant with these inputs {}", why));
}

// Outputs of a system moved by the inputs. What went wrong; empty: nothing.
std::string forward(ServoSystem& system, const InvertOptions& options, Inversion& found) {
  if (const Diagnostics d = MotionSolver::check(system); !d.ok())
    return "failed: " + d.items().front().message;
  const std::unique_ptr<Plant> plant = make_plant(system);
  std::vector<Signal> inputs;
  for (const std::vector<double>& u : found.u) inputs.push_back(Signal::table(found.t, u));
  const auto inputs_at = [&](double t) {
    std::vector<double> u(inputs.size());
    for (size_t i = 0; i < u.size(); ++i) u[i] = inputs[i].at(t).value;
    return u;
  };
  std::vector<double> y, v, z(found.outputs.size());
  where_it_begins(found, y, v);
  std::vector<std::vector<double>> achieved(z.size());
  Status status = plant->start(found.t.front(), y, v);
  constexpr int kParts = 10;
  for (size_t k = 0; k < found.t.size(); ++k) {
    for (int part = 0; k > 0 && part < kParts && status == Status::kOk; ++part) {
      const double h = (found.t[k] - found.t[k - 1]) / kParts, t = found.t[k - 1] + part * h;
      status = plant->advance(h, inputs_at(t), inputs_at(t + h));
    }
    if (status == Status::kOk) status = plant->outputs(inputs_at(found.t[k]), z);
    if (status != Status::kOk)
      return fmt::format("failed at t = {:.4g} s: {}", found.t[k], to_string(status));
    for (size_t i = 0; i < z.size(); ++i) achieved[i].push_back(z[i]);
    const double share = static_cast<double>(k + 1) / static_cast<double>(found.t.size());
    if (options.progress && !options.progress(0.5 + 0.5 * share))
      return fmt::format("was given up after t = {:.4g} s", found.t[k]);
  }
  found.achieved = std::move(achieved);
  return "";
}

}  // namespace

std::vector<double> course_of(const ServoOutput& output,
                              const std::vector<std::vector<double>>& of_model) {
  std::vector<double> out(of_model.at(static_cast<size_t>(output.of.front())).size()),
      now(output.of.size());
  for (size_t k = 0; k < out.size(); ++k) {
    for (size_t i = 0; i < now.size(); ++i) now[i] = of_model[static_cast<size_t>(output.of[i])][k];
    out[k] = output.value(now);
  }
  return out;
}

Result<AnalysedRest> analyse_at_rest(ServoSystem& servo, const Path& path) {
  Result<Rest> rest = rest_at(servo, path, path.begin());
  if (!rest.ok()) return rest.diagnostics();
  AnalysedRest out;
  out.outputs.resize(static_cast<size_t>(path.size()));
  path.at(path.begin(), 1, out.outputs);
  out.analysis = analyse(servo, path.begin(), *rest);
  out.rest = std::move(*rest);
  return out;
}

Result<Path> path_at_rest(ModelServo& servo) {
  const auto n = static_cast<size_t>(servo.nv());
  std::vector<double> y(n), still(n, 0.0), lambda(static_cast<size_t>(servo.n_lambda()), 0.0),
      u(static_cast<size_t>(servo.nu()), 0.0);
  servo.guess(y);
  ServoValues values;
  values.resize(servo.nv(), servo.n_lambda(), servo.nu());
  servo.evaluate({0, y, still, still, lambda, u}, false, values);
  std::vector<double> z;
  for (int i = servo.n_lambda(); i < static_cast<int>(servo.rows().size()); ++i) {
    const AlgebraicRow& row = servo.rows()[static_cast<size_t>(i)];
    if (!row.implicit) z.push_back(row.level == Level::kPosition ? values.g0[i] : 0.0);
  }
  if (z.empty()) {
    Diagnostics d;
    d.error(1002, {}, "at least one output must follow a path");
    return d;
  }
  return Path::line(z, z, 0, 1, 0);
}

Result<AnalysedRest> analyse_at_rest(ModelServo& servo) {
  const Result<Path> here = path_at_rest(servo);
  if (!here.ok()) return here.diagnostics();
  return analyse_at_rest(servo, *here);
}

Result<Inversion> invert(const Model& model, const Params& params, const ServoChoice& choice,
                         const Path& path, const InvertOptions& options) {
  Result<std::unique_ptr<ModelServo>> servo = ModelServo::create(model, params, choice);
  if (!servo.ok()) return servo.diagnostics();
  Inversion found;
  describe(model, **servo, found);
  Diagnostics notes = solve(**servo, path, options, found);
  if (!notes.ok()) return notes;
  if (!options.verify || !found.complete) return {std::move(found), std::move(notes)};

  const Result<Run> run = forward(model, params, **servo, found, options);
  if (!run.ok() || !run->complete || run->t.size() != found.t.size()) {
    not_verified(notes, !run.ok()        ? "failed: " + run.diagnostics().items().front().message
                        : run->t.empty() ? "was given up"
                                         : fmt::format("was given up after t = {:.4g} s",
                                                       found.t.front() + run->t.back()));
    return {std::move(found), std::move(notes)};
  }
  for (const ServoOutput& output : (*servo)->outputs())
    found.achieved.push_back(course_of(output, run->outputs));
  compare(**servo, found, notes);
  found.plant = run->outputs;
  return {std::move(found), std::move(notes)};
}

Result<Inversion> invert(ServoSystem& system, const Path& path, const InvertOptions& options) {
  Inversion found;
  found.inputs = system.input_names();
  found.coordinates = system.coordinate_names();
  for (size_t i = static_cast<size_t>(system.n_lambda()); i < system.rows().size(); ++i)
    if (!system.rows()[i].implicit) found.outputs.push_back(system.rows()[i].name);
  Diagnostics notes = solve(system, path, options, found);
  if (!notes.ok()) return notes;
  if (!options.verify || !found.complete) return {std::move(found), std::move(notes)};
  if (const std::string wrong = forward(system, options, found); wrong.empty())
    compare(system, found, notes);
  else
    not_verified(notes, wrong);
  return {std::move(found), std::move(notes)};
}

}  // namespace panto
