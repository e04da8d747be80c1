// Kinematic and two-stage observers: logs, readings one by one, choice of sensors.
#include <functional>
#include <map>

#include "panto/estimation/kinematic_log.hpp"
#include "panto/io/sensor_log.hpp"
#include "python/estimation.hpp"

namespace panto::python {
namespace {

// Laws of unknown forces that are Python functions. An error in one stops nothing at once: the force stays, and rethrow() tells.
class Laws {
 public:
  explicit Laws(std::map<std::string, py::function> functions) : functions_(std::move(functions)) {}

  void give_to(std::vector<UnknownForce>& forces) const {
    for (UnknownForce& f : forces) {
      const auto found = functions_.find(f.name);
      if (found == functions_.end()) continue;
      f.law = ForceLaw::kUser;
      f.user = [function = found->second, error = error_](double t, double dt, double force) {
        const py::gil_scoped_acquire lock;
        try {
          return function(t, dt, force).cast<double>();
        } catch (...) {
          if (!*error) *error = std::current_exception();
          return force;
        }
      };
    }
  }
  void rethrow() const {
    if (*error_) std::rethrow_exception(std::exchange(*error_, nullptr));
  }

 private:
  std::map<std::string, py::function> functions_;
  std::shared_ptr<std::exception_ptr> error_ = std::make_shared<std::exception_ptr>();
};

// What Python asks of a kinematic observer: a description of a settings file, and what goes before it.
struct KinematicWanted {
  ModelSpec settings;
  std::optional<std::string> filter;
  double gate = 0, dt = 0;
  Laws laws;

  [[nodiscard]] KinematicSetup setup() const {
    KinematicSetup out = value_of(kinematic_setup(settings));
    if (filter) out.settings.filter = *filter;
    if (gate > 0) out.settings.options.gate = gate_of(gate);
    if (dt > 0) out.settings.dt = dt;
    if (out.forces) laws.give_to(out.forces->unknown);
    return out;
  }
};

KinematicSetup completed(KinematicSetup setup, const CompiledModel& m,
                         const std::vector<std::string>& present, Diagnostics& notes) {
  Result<KinematicSetup> out = complete(std::move(setup), *m.model, m.params, present);
  notes.append(out.diagnostics());
  return value_of(std::move(out));
}

std::unique_ptr<KinematicTracker> tracker_of(const CompiledModel& m, const KinematicSetup& setup,
                                             const std::vector<std::string>& outputs) {
  return value_of(KinematicTracker::create(
      *m.model, m.params, setup,
      value_of(kinematic_outputs(*m.model, setup.settings.system.order, outputs))));
}

py::dict to_dict(const ChannelRecord& r) {
  py::dict d;
  d["role"] = name_of(r.role);
  for (int k = 0; k < kReadingKinds; ++k)
    d[py::str(std::string(name_of(static_cast<Reading>(k))))] = r.of(static_cast<Reading>(k));
  d["rms"] = r.rms;
  d["nis"] = r.nis;
  return d;
}

py::dict to_dict(const KinematicCounts& c) {
  py::dict d;
  d["steps"] = c.steps;
  d["crossings"] = c.crossings;
  d["restarts"] = c.restarts;
  d["repeated"] = c.repeated;
  d["backward"] = c.backward;
  d["jumps"] = c.jumps;
  return d;
}

py::tuple observe_kinematic(const CompiledModel& m, const LogSource& source,
                            const KinematicWanted& wanted, const std::vector<std::string>& outputs,
                            py::object progress) {
  Diagnostics notes;
  KinematicSetup setup = wanted.setup();
  SensorLog log;
  if (const auto* path = std::get_if<std::string>(&source)) {
    Result<SensorLog> read = read_sensor_log(*path, *m.model, m.params, setup);
    notes.append(read.diagnostics());
    log = value_of(std::move(read));
  } else {
    log = log_from(std::get<LogColumns>(source), *m.model);
    std::vector<std::string> present;
    for (const LogSeries& s : log.sensors) present.push_back(s.name);
    setup = completed(std::move(setup), m, present, notes);
  }
  const std::unique_ptr<KinematicTracker> tracker = tracker_of(m, setup, outputs);
  Watch watch(std::move(progress));
  EstimateSeries series;
  series.model = m.model->name;
  series.filter = setup.settings.filter;
  std::optional<Result<KinematicLogSummary>> result;
  {
    const py::gil_scoped_release release;
    result = run_log(
        *tracker, log, [&](const KinematicEstimate& e) { add(series, e); }, std::ref(watch));
  }
  watch.rethrow();
  wanted.laws.rethrow();
  notes.append(result->diagnostics());
  const KinematicLogSummary summary = value_of(std::move(*result));
  label(series, *tracker);
  py::dict d = columns_of(series);
  d["readings"] = by_name(series.readings, [](const WordColumn& c) { return c.words; });
  d["zone"] = array(series.zone);
  d["channels"] = by_name(summary.channels, [](const ChannelRecord& r) { return to_dict(r); });
  d["counts"] = to_dict(summary.counts);
  d["nis_mean"] = summary.nis;
  d["enter"] = setup.settings.system.enter;
  d["leave"] = setup.settings.system.leave;
  d["complete"] = summary.complete;
  return py::make_tuple(d, to_python(notes));
}

// An observer that takes readings one by one.
class KinematicStream {
 public:
  KinematicStream(const CompiledModel& m, const KinematicWanted& wanted,
                  const std::vector<std::string>& outputs)
      : model_(m.model), laws_(wanted.laws) {
    Diagnostics notes;
    tracker_ = tracker_of(m, completed(wanted.setup(), m, {}, notes), outputs);
    notes_ = to_python(notes);
    estimate_ = tracker_->estimate();
  }

  py::tuple start(double t, const Array& readings, const std::optional<Array>& q,
                  const std::optional<Array>& v) {
    const View y = view_of(readings, "readings", static_cast<int>(tracker_->channels().size()));
    const std::vector<double> rest(static_cast<size_t>(model_->nv), 0.0);
    const Status status = q ? tracker_->start(t, view_of(*q, "q", model_->nq),
                                              v ? view_of(*v, "v", model_->nv) : View(rest), y)
                            : tracker_->start(t, y);
    if (status != Status::kOk) throw NumericalFailure(status, "the filter cannot be started");
    return present(Stamp::kGood);
  }

  py::tuple step(double t, const Array& readings) {
    if (!tracker_->started()) return start(t, readings, {}, {});
    return present(tracker_->push(
        t, view_of(readings, "readings", static_cast<int>(tracker_->channels().size()))));
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> quantities() const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const EstimatedQuantity& q : tracker_->quantities()) out.emplace_back(q.name, q.unit);
    return out;
  }
  [[nodiscard]] py::dict channels() const {
    return by_name(tracker_->records(), [](const ChannelRecord& r) { return to_dict(r); });
  }
  [[nodiscard]] py::dict counts() const { return to_dict(tracker_->counts()); }
  [[nodiscard]] py::list warnings() const { return notes_; }
  [[nodiscard]] py::array_t<double> q() const { return copy(tracker_->q()); }
  [[nodiscard]] py::array_t<double> v() const { return copy(tracker_->v()); }
  [[nodiscard]] py::array_t<double> a() const { return copy(tracker_->a()); }
  [[nodiscard]] py::array_t<double> unknown() const { return copy(tracker_->unknown()); }

 private:
  static py::array_t<double> copy(View v) {
    return py::array_t<double>(static_cast<py::ssize_t>(v.size()), v.data());
  }
  // t, value, sigma, innovation, innovation_sigma, nis, readings, zone, restarted, stamp.
  py::tuple present(Stamp stamp) {
    laws_.rethrow();
    tracker_->present(estimate_);
    std::vector<std::string_view> readings;
    for (const Reading r : estimate_.readings) readings.push_back(name_of(r));
    return py::make_tuple(
        estimate_.t, array(estimate_.value), array(estimate_.sigma), array(estimate_.innovation),
        array(estimate_.innovation_sigma),
        estimate_.used > 0 ? estimate_.nis : std::numeric_limits<double>::quiet_NaN(), readings,
        estimate_.zone, estimate_.restarted, name_of(stamp));
  }

  std::shared_ptr<const Model> model_;
  Laws laws_;
  std::unique_ptr<KinematicTracker> tracker_;
  KinematicEstimate estimate_;
  py::list notes_;
};

py::dict to_dict(const KinematicCheck& c, const Model& model,
                 const std::vector<std::string>& inputs, const std::vector<std::string>& sensors) {
  py::list failing;
  for (const FailingPoses& f : c.failing) {
    py::dict pose;
    for (size_t i = 0; i < f.q.size(); ++i) pose[py::str(model.coordinate_names[i])] = f.q[i];
    failing.append(py::make_tuple(f.from, f.to, f.worst, f.margin, pose));
  }
  py::dict d;
  d["inputs"] = inputs;
  d["sensors"] = sensors;
  d["exists"] = c.exists;
  d["observable"] = c.observable;
  d["median_margin"] = c.median_margin;
  d["least_margin"] = c.least_margin;
  d["enter"] = c.enter;
  d["leave"] = c.leave;
  d["failing"] = failing;
  d["failing_share"] = c.failing_share;
  d["rank"] = c.least_rank;
  d["states"] = c.states;
  d["median"] = c.median;
  d["worst"] = c.worst;
  d["deviations"] = dict_of(c.deviations);
  d["words"] = in_words(c, model);
  return d;
}

// candidates: as the inputs of a settings file.
py::dict advise_kinematic(const CompiledModel& m, const KinematicWanted& wanted,
                          const std::optional<ModelSpec>& candidates, int spare) {
  std::vector<KinematicChannel> chosen;
  if (candidates) chosen = value_of(kinematic_setup(*candidates)).inputs;
  const KinematicReview found = value_of(review(wanted.setup(), *m.model, m.params, chosen, spare));
  py::list sets;
  for (const AdvisedSet& s : found.advice.sets)
    sets.append(to_dict(s.check, *m.model, s.inputs, s.sensors));
  py::dict d;
  d["degrees_of_freedom"] = found.advice.degrees_of_freedom;
  d["needed"] = found.advice.needed;
  d["check"] = found.check
                   ? py::object(to_dict(*found.check, *m.model, found.inputs, found.sensors))
                   : py::object(py::none());
  d["sets"] = sets;
  return d;
}

}  // namespace

void bind_kinematic(py::module_& module) {
  using py::arg;
  module.def("is_kinematic", &is_kinematic, arg("settings"));
  py::class_<KinematicWanted>(module, "KinematicWanted")
      .def(py::init([](ModelSpec settings, std::optional<std::string> filter, double gate,
                       double dt, std::map<std::string, py::function> laws) {
             return KinematicWanted{std::move(settings), std::move(filter), gate, dt,
                                    Laws(std::move(laws))};
           }),
           arg("settings"), arg("filter"), arg("gate"), arg("dt"), arg("laws"));
  module.def("observe_kinematic", &observe_kinematic, arg("model"), arg("log"), arg("wanted"),
             arg("outputs"), arg("progress"));
  module.def("advise_kinematic", &advise_kinematic, arg("model"), arg("wanted"), arg("candidates"),
             arg("spare"));
  py::class_<KinematicStream>(module, "KinematicStream")
      .def(
          py::init<const CompiledModel&, const KinematicWanted&, const std::vector<std::string>&>(),
          arg("model"), arg("wanted"), arg("outputs"))
      .def("start", &KinematicStream::start, arg("t"), arg("readings"), arg("q"), arg("v"))
      .def("step", &KinematicStream::step, arg("t"), arg("readings"))
      .def_property_readonly("quantities", &KinematicStream::quantities)
      .def_property_readonly("channels", &KinematicStream::channels)
      .def_property_readonly("counts", &KinematicStream::counts)
      .def_property_readonly("warnings", &KinematicStream::warnings)
      .def_property_readonly("q", &KinematicStream::q)
      .def_property_readonly("v", &KinematicStream::v)
      .def_property_readonly("a", &KinematicStream::a)
      .def_property_readonly("unknown", &KinematicStream::unknown);
}

}  // namespace panto::python
