#include "panto/io/feedback_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "panto/estimation/parallel.hpp"
#include "panto/estimation/study.hpp"
#include "panto/integrate/measure.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/csv.hpp"
#include "panto/io/hdf5.hpp"

namespace panto {
namespace {

// A filter of Pantograph in the loop, on a model without errors. Its sensors are outputs of the plant's model; what it delivers are the coordinates that the
// controller knows.
class ObserverInLoop final : public LoopObserver {
 public:
  ObserverInLoop(const Model& model, const Params& params, std::unique_ptr<Observer> observer,
                 const std::vector<SensorSettings>& settings, const Model& plant,
                 const ModelServo& servo)
      : balls_(model),
        observer_(std::move(observer)),
        u_(model.inputs.size(), std::numeric_limits<double>::quiet_NaN()),
        coordinates_(coordinates_by_name(model, servo.coordinate_names())),
        y_(coordinates_.size()),
        v_(coordinates_.size()),
        q_(static_cast<size_t>(model.nq)),
        rates_(q_),
        speeds_(static_cast<size_t>(model.nv)) {
    for (const std::string& name : servo.input_names())
      for (const Actuator& a : model.actuators)
        if (a.name == name) inputs_.push_back(a.input);
    Mechanism& mechanism = observer_->mechanism();
    for (int i = 0; i < static_cast<int>(settings.size()); ++i) {
      const int output = mechanism.sensor(i).output;
      sensors_.push_back(find_output(plant, model.outputs[static_cast<size_t>(output)].name));
      sigma_.push_back(mechanism.sensor(i).sigma);
      double rate = settings[static_cast<size_t>(i)].rate;
      for (const Sensor& s : model.sensors)
        if (rate == 0 && s.output == output) rate = sensor_rate(model, params, s);
      rate_.push_back(rate);
    }
    used_.reserve(sensors_.size());
    values_.reserve(sensors_.size());
  }
  [[nodiscard]] std::span<const int> sensors() const override { return sensors_; }
  [[nodiscard]] View sigma() const override { return sigma_; }
  [[nodiscard]] View rate() const override { return rate_; }
  Status start(double t, View y, View v) override {
    // What the controller does not know begins as the model says.
    Status status = observer_->start(t);
    if (status != Status::kOk) return status;
    take();
    for (size_t i = 0; i < coordinates_.size(); ++i) {
      q_[static_cast<size_t>(coordinates_[i])] = y[i];
      rates_[static_cast<size_t>(coordinates_[i])] = v[i];
    }
    balls_.speeds(q_, rates_, speeds_);
    observer_->workspace().normalise(q_);
    status = observer_->start(t, q_, speeds_);
    keep();
    return status;
  }
  Status step(double dt, View u, View readings) noexcept override {
    for (size_t i = 0; i < inputs_.size(); ++i) u_[static_cast<size_t>(inputs_[i])] = u[i];
    observer_->mechanism().set_inputs(u_);
    used_.clear();
    values_.clear();
    for (size_t i = 0; i < readings.size(); ++i)
      if (!std::isnan(readings[i])) {
        used_.push_back(static_cast<int>(i));
        values_.push_back(readings[i]);
      }
    const Status status = observer_->filter().step(dt, used_, values_);
    keep();
    return status;
  }
  [[nodiscard]] View y() const override { return y_; }
  [[nodiscard]] View v() const override { return v_; }

 private:
  void take() noexcept {
    const View state = observer_->filter().state(), q = observer_->system().q(state);
    std::copy(q.begin(), q.end(), q_.begin());
    observer_->workspace().coordinate_rates(q_, observer_->system().v(state), rates_);
  }
  void keep() noexcept {
    take();
    for (size_t i = 0; i < coordinates_.size(); ++i) {
      y_[i] = q_[static_cast<size_t>(coordinates_[i])];
      v_[i] = rates_[static_cast<size_t>(coordinates_[i])];
    }
  }
  BallCoordinates balls_;
  std::unique_ptr<Observer> observer_;
  std::vector<int> inputs_, sensors_, used_;
  std::vector<double> u_, sigma_, rate_, values_;
  std::vector<int> coordinates_;  // of the observer's model, by coordinate of the controller
  std::vector<double> y_, v_, q_, rates_, speeds_;
};

// What every run needs, made once and read by all threads.
struct Setup {
  const LoadedInvertStudy& study;
  DesiredMotion motion;
  LoopNames names;
  LoopSettings loop;
  std::optional<FilterSetup> observer;
};

const Model& plant_model(const LoadedInvertStudy& study) {
  return study.plant ? study.plant->model : study.model;
}
const Params& plant_params(const LoadedInvertStudy& study) {
  return study.plant ? study.plant->params : study.params;
}

// Whether the models of the loop have what they must know of each other. E1100.
Diagnostics check_models(const Setup& s, const ModelServo& servo) {
  const LoadedInvertStudy& study = s.study;
  Diagnostics d = check_plant(plant_model(study), servo);
  const auto lacks = [&](const Model& model, const char* who) {
    for (const std::string& name : missing_coordinates(model, servo))
      d.error(1100, study.feedback.loop_loc,
              fmt::format("{} \"{}\" has no coordinate \"{}\", which the controller needs", who,
                          model.name, name));
  };
  if (!s.observer) {
    lacks(plant_model(study), "without an observer: the plant");
    return d;
  }
  const Model& model = study.observer ? study.observer->model : study.model;
  lacks(model, "the observer's model");
  for (const std::string& name : servo.input_names())
    if (std::none_of(model.actuators.begin(), model.actuators.end(),
                     [&](const Actuator& a) { return a.name == name; }))
      d.error(1100, study.feedback.loop_loc,
              fmt::format("the observer's model \"{}\" has no actuator \"{}\"", model.name, name));
  for (const SensorSettings& sensor :
       s.observer->sensors.empty() ? sensors_of(model) : s.observer->sensors)
    if (find_output(plant_model(study), sensor.name) < 0)
      d.error(1100, sensor.loc,
              fmt::format("the plant \"{}\" has no sensor \"{}\"", plant_model(study).name,
                          sensor.name));
  return d;
}

Result<std::unique_ptr<ObserverInLoop>> make_observer(const Setup& s, const ModelServo& servo) {
  const LoadedInvertStudy& study = s.study;
  const Model& model = study.observer ? study.observer->model : study.model;
  const Params& params = study.observer ? study.observer->params : study.params;
  const std::vector<SensorSettings> sensors =
      s.observer->sensors.empty() ? sensors_of(model) : s.observer->sensors;
  Result<std::unique_ptr<Observer>> made =
      Observer::create(model, params, s.observer->settings, sensors);
  if (!made.ok()) return made.diagnostics();
  return std::make_unique<ObserverInLoop>(model, params, std::move(*made), sensors,
                                          plant_model(study), servo);
}

// One law on one plant: everything of its own, but for the setup and the design.
Result<LoopRun> run_one(const Setup& s, const FeedbackDesign& design, const Perturbation* change,
                        std::uint64_t seed, std::uint64_t draw) {
  const LoadedInvertStudy& study = s.study;
  Diagnostics d;
  Params params = plant_params(study);
  LoopSettings loop = s.loop;
  loop.seed = seed;
  loop.draw = draw;
  if (change != nullptr) {
    Result<Params> changed = perturbed(plant_model(study), params, *change);
    if (!changed.ok()) return changed.diagnostics();
    params = std::move(*changed);
    const std::string what = fmt::format("\"{}\"", change->name);
    if (!change->start.empty())
      loop.start = listed(change->start, s.names.coordinates, what + ": start", change->loc, d);
    if (!change->disturbance.empty())
      loop.disturbance =
          listed(change->disturbance, s.names.inputs, what + ": disturbance", change->loc, d);
  }
  if (!d.ok()) return d;
  Result<std::unique_ptr<ModelServo>> servo =
      ModelServo::create(study.model, study.params, study.servo);
  if (!servo.ok()) return servo.diagnostics();
  std::unique_ptr<ObserverInLoop> observer;
  if (s.observer) {
    Result<std::unique_ptr<ObserverInLoop>> made = make_observer(s, **servo);
    if (!made.ok()) return made.diagnostics();
    observer = std::move(*made);
  }
  const auto controller = Controller::create(design, **servo, loop.limits);
  const auto plant = make_plant(plant_model(study), params, **servo);
  return run_loop(s.motion, *controller, *plant, loop, observer.get());
}

Result<Setup> prepare(const LoadedInvertStudy& study, const Inversion& inversion) {
  Diagnostics d;
  Setup s{study, desired_motion(inversion), {}, {}, std::nullopt};
  s.names = {inversion.inputs, inversion.outputs, inversion.coordinates};
  Result<LoopSettings> loop = settings_of(study.feedback, s.names, s.motion.dt());
  if (!loop.ok()) return loop.diagnostics();
  s.loop = std::move(*loop);
  if (!study.options.limits.empty()) {
    s.loop.limits.lower.assign(inversion.inputs.size(), -1e300);
    s.loop.limits.upper.assign(inversion.inputs.size(), 1e300);
    for (const InputLimit& limit : study.options.limits) {
      const auto it = std::find(inversion.inputs.begin(), inversion.inputs.end(), limit.actuator);
      if (it == inversion.inputs.end()) continue;  // invert() has refused it
      const auto i = static_cast<size_t>(it - inversion.inputs.begin());
      s.loop.limits.lower[i] = limit.lower;
      s.loop.limits.upper[i] = limit.upper;
    }
  }
  d.append(check_loop(s.motion, s.loop));
  if (study.feedback.observer) {
    ModelSpec table;
    table.root = *study.feedback.observer;
    table.file = table.root.loc.file;
    Result<FilterSetup> setup = filter_setup(table);
    if (!setup.ok())
      d.append(setup.diagnostics());
    else
      s.observer = std::move(*setup);
  }
  if (!d.ok()) return d;
  return s;
}

std::string failure(const LoopCase& c) {
  return fmt::format("feedback \"{}\", plant \"{}\": {} fails at t = {:.6g} s: {}", c.feedback,
                     c.plant, c.run.failed, c.run.failed_at, to_string(c.run.status));
}

void tell_limits(const LoopCase& c, const std::vector<std::string>& inputs, Diagnostics& notes) {
  for (size_t i = 0; i < c.run.inputs.size(); ++i)
    if (const InputUse& use = c.run.inputs[i]; use.first >= 0)
      notes.warning(1061, {},
                    fmt::format("feedback \"{}\", plant \"{}\": actuator \"{}\" reaches its limit "
                                "at t = {:.4g} s, and is there for {:.3g} % of the cycles",
                                c.feedback, c.plant, inputs[i], use.first, 100 * use.saturated));
}

// All draws of one law; results by number, whichever thread made them.
bool run_draws(const Setup& s, const FeedbackDesign& design,
               const std::function<bool(double)>& progress, LoopDraws& out, Diagnostics& notes) {
  const MonteCarlo& mc = s.study.feedback.monte_carlo;
  std::vector<LoopRun> runs(static_cast<size_t>(mc.draws));
  std::vector<Diagnostics> refused(static_cast<size_t>(mc.draws));
  const bool complete = for_all(mc.draws, mc.threads, progress, [&](int k) {
    const Perturbation change = drawn(mc, k);
    Result<LoopRun> run = run_one(s, design, &change, mc.seed, static_cast<std::uint64_t>(k) + 1);
    const auto at = static_cast<size_t>(k);
    if (!run.ok()) {
      refused[at] = run.diagnostics();
      return;
    }
    runs[at] = std::move(*run);
    for (auto* series :
         {&runs[at].u, &runs[at].acting, &runs[at].y, &runs[at].v, &runs[at].seen, &runs[at].z})
      series->clear();
  });
  for (const Diagnostics& d : refused)
    if (!d.ok()) {
      notes.append(d);
      return complete;
    }
  if (!complete) return false;
  const size_t nz = s.names.outputs.size(), nu = s.names.inputs.size();
  std::vector<std::vector<double>> rms(nz), max(nz), final(nz), u_rms(nu), u_max(nu), share(nu);
  out.max_by_draw.assign(nz, {});
  int first = -1;
  for (size_t k = 0; k < runs.size(); ++k) {
    const LoopRun& r = runs[k];
    const bool failed = r.status != Status::kOk;
    if (failed && out.failed++ == 0) first = static_cast<int>(k);
    for (size_t i = 0; i < nz; ++i) {
      out.max_by_draw[i].push_back(failed ? std::numeric_limits<double>::quiet_NaN()
                                          : r.errors[i].max);
      if (failed) continue;
      rms[i].push_back(r.errors[i].rms);
      max[i].push_back(r.errors[i].max);
      final[i].push_back(std::abs(r.errors[i].final));
    }
    for (size_t i = 0; i < nu && !failed; ++i) {
      u_rms[i].push_back(r.inputs[i].rms);
      u_max[i].push_back(r.inputs[i].max);
      share[i].push_back(r.inputs[i].saturated);
    }
  }
  const auto all = [](const std::vector<std::vector<double>>& values, std::vector<Spread>& to) {
    for (const std::vector<double>& v : values) to.push_back(spread_of(v));
  };
  all(rms, out.rms);
  all(max, out.max);
  all(final, out.final);
  all(u_rms, out.input_rms);
  all(u_max, out.input_max);
  all(share, out.saturated);
  if (first >= 0) {
    const LoopRun& r = runs[static_cast<size_t>(first)];
    notes.warning(
        1059, {},
        fmt::format("{} of {} draws fail, the first is draw {}: {}", out.failed, mc.draws,
                    first + 1, failure({out.feedback, fmt::format("draw {}", first + 1), r})));
  }
  return true;
}

}  // namespace

Result<FeedbackReport> run_feedback(const LoadedInvertStudy& study, const Inversion& inversion,
                                    const std::function<bool(double)>& progress) {
  Result<Setup> setup = prepare(study, inversion);
  if (!setup.ok()) return setup.diagnostics();
  const Setup& s = *setup;
  const FeedbackStudy& wanted = study.feedback;
  FeedbackReport out;
  out.outputs = inversion.outputs;
  out.inputs = inversion.inputs;
  out.coordinates = inversion.coordinates;
  out.output_units = inversion.output_units;
  out.input_units = inversion.input_units;
  out.coordinate_units = inversion.coordinate_units;
  Diagnostics notes;
  Result<std::unique_ptr<ModelServo>> servo =
      ModelServo::create(study.model, study.params, study.servo);
  if (!servo.ok()) return servo.diagnostics();
  notes.append(check_models(s, **servo));
  if (!notes.ok()) return notes;
  for (const LawSpec& law : wanted.laws) {
    const Result<FeedbackSettings> settings = settings_of(law, s.names);
    if (!settings.ok()) {
      notes.append(settings.diagnostics());
      continue;
    }
    Result<FeedbackDesign> design =
        design_feedback(**servo, s.motion, *settings, s.motion.dt() * s.loop.every);
    if (design.ok())
      out.designs.push_back(std::move(*design));
    else
      notes.append(design.diagnostics());
  }
  // All names first: nothing is run that would end in an error.
  for (const Perturbation& p : wanted.perturbed)
    if (const Result<Params> r = perturbed(plant_model(study), plant_params(study), p); !r.ok())
      notes.append(r.diagnostics());
  if (wanted.monte_carlo.draws > 0) {
    Perturbation names = drawn(wanted.monte_carlo, 0);
    names.name = "monte_carlo";
    if (const Result<Params> r = perturbed(plant_model(study), plant_params(study), names); !r.ok())
      notes.append(r.diagnostics());
    listed(names.start, s.names.coordinates, "monte_carlo: start", names.loc, notes);
  }
  if (!notes.ok()) return notes;

  const double parts =
      static_cast<double>(out.designs.size()) *
      (static_cast<double>(wanted.perturbed.size()) + 1 + wanted.monte_carlo.draws);
  double done = 0;
  const auto report = [&](double share) { return !progress || progress((done + share) / parts); };
  for (const FeedbackDesign& design : out.designs) {
    for (size_t k = 0; k <= wanted.perturbed.size(); ++k) {
      const Perturbation* change = k > 0 ? &wanted.perturbed[k - 1] : nullptr;
      Result<LoopRun> run = run_one(s, design, change, wanted.seed, 0);
      if (!run.ok()) return run.diagnostics();
      LoopCase c{design.settings.name, change != nullptr ? change->name : "nominal",
                 std::move(*run)};
      if (c.run.status != Status::kOk) {
        if (change == nullptr) {
          notes.error(1059, {}, failure(c));
          return notes;
        }
        notes.warning(1059, {}, failure(c));
      }
      tell_limits(c, out.inputs, notes);
      out.cases.push_back(std::move(c));
      if (!report(1)) {
        out.complete = false;
        return {std::move(out), std::move(notes)};
      }
      done += 1;
    }
    const MonteCarlo& mc = wanted.monte_carlo;
    if (mc.draws == 0) continue;
    LoopDraws draws;
    draws.feedback = design.settings.name;
    draws.draws = mc.draws;
    const bool complete = run_draws(
        s, design, [&](double share) { return report(share * mc.draws); }, draws, notes);
    if (!notes.ok()) return notes;
    if (!complete) {
      out.complete = false;
      return {std::move(out), std::move(notes)};
    }
    done += mc.draws;
    out.draws.push_back(std::move(draws));
  }
  for (int k = 0; k < wanted.monte_carlo.draws; ++k) {
    const Perturbation change = drawn(wanted.monte_carlo, k);
    size_t at = 0;
    const auto add = [&](const NamedValues& values, const std::string& prefix) {
      for (const auto& [name, value] : values) {
        if (k == 0) {
          out.varied.push_back(prefix + name);
          out.drawn.emplace_back();
        }
        out.drawn[at++].push_back(value);
      }
    };
    add(change.factor, "factor ");
    add(change.offset, "offset ");
    add(change.start, "start ");
  }
  return {std::move(out), std::move(notes)};
}

namespace {

std::vector<std::string> rates(std::vector<std::string> units, const char* per) {
  for (std::string& unit : units) unit += per;
  return units;
}

}  // namespace

Diagnostics write_inversion(const Inversion& inversion, const FeedbackReport* feedback,
                            const std::string& path) {
  SeriesTable table;
  table.columns.push_back({"t", "s", inversion.t});
  const auto add = [&](const std::string& prefix, const std::vector<std::string>& names,
                       const char* suffix, const std::vector<std::string>& units,
                       const std::vector<std::vector<double>>& values) {
    for (size_t i = 0; i < names.size() && i < values.size(); ++i) {
      table.columns.push_back({prefix + names[i] + suffix, units[i], values[i]});
      // A loop that failed ends before the others.
      table.columns.back().values.resize(inversion.t.size(),
                                         std::numeric_limits<double>::quiet_NaN());
    }
  };
  add("", inversion.inputs, "", inversion.input_units, inversion.u);
  add("", inversion.outputs, "_desired", inversion.output_units, inversion.desired);
  add("", inversion.outputs, "_achieved", inversion.output_units, inversion.achieved);
  add("", inversion.coordinates, "_q", inversion.coordinate_units, inversion.y);
  add("", inversion.coordinates, "_v", rates(inversion.coordinate_units, "/s"), inversion.v);
  add("", inversion.coordinates, "_a", rates(inversion.coordinate_units, "/s^2"), inversion.w);
  if (feedback != nullptr)
    for (const LoopCase& c : feedback->cases) {
      const std::string prefix = c.feedback + "." + c.plant + ".";
      add(prefix, feedback->outputs, "", feedback->output_units, c.run.z);
      add(prefix, feedback->inputs, "", feedback->input_units, c.run.u);
      add(prefix, feedback->inputs, "_acting", feedback->input_units, c.run.acting);
      add(prefix, feedback->coordinates, "_q", feedback->coordinate_units, c.run.y);
      add(prefix, feedback->coordinates, "_seen", feedback->coordinate_units, c.run.seen);
    }
  if (path.ends_with(".h5") || path.ends_with(".hdf5"))
    return write_atomically(path,
                            [&](const std::string& name) { return hdf5::write(table, name); });
  return write_text_atomically(path, csv_text(table));
}

}  // namespace panto
