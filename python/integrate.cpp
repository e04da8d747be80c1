// Simulation and its runs.
#include <algorithm>
#include <functional>
#include <tuple>

#include "panto/integrate/measure.hpp"
#include "panto/integrate/simulate.hpp"
#include "python/bindings.hpp"

namespace panto::python {
namespace {

bool takes_fixed_steps(const std::string& integrator) {
  const auto& all = integrators();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const IntegratorInfo& i) { return i.name == integrator; });
  return found != all.end() && found->fixed_step;
}

// What was given, on top of what the model says.
SimulationOptions options_of(const Model& model, std::optional<double> until,
                             std::optional<double> dt, std::optional<double> tol,
                             const std::optional<std::string>& integrator) {
  const RunDefaults& defaults = model.run;
  SimulationOptions options;
  options.until = until.value_or(defaults.until);
  if (dt) {
    options.dt = *dt;
  } else if (tol) {
    options.tol = *tol;
  } else {
    options.dt = defaults.dt;
    if (defaults.tol > 0) options.tol = defaults.tol;
  }
  if (integrator) {
    options.integrator = *integrator;
    if (!dt && !takes_fixed_steps(*integrator)) options.dt = 0;
  } else if (takes_fixed_steps(defaults.integrator) == (options.dt > 0)) {
    options.integrator = defaults.integrator;  // unless the other kind of step is asked for
  }
  return options;
}

py::tuple run_simulation(const CompiledModel& m, std::optional<double> until,
                         std::optional<double> dt, std::optional<double> tol,
                         const std::optional<std::string>& integrator, std::vector<double> at,
                         std::optional<double> sample,
                         const std::optional<std::tuple<std::string, double, int>>& stop,
                         std::vector<double> q, std::vector<double> v,
                         std::optional<std::uint64_t> seed, std::string model_text,
                         std::vector<std::string> settings, py::object progress) {
  SimulationOptions options = options_of(*m.model, until, dt, tol, integrator);
  options.at = std::move(at);
  options.sample = sample.value_or(0);
  options.q = std::move(q);
  options.v = std::move(v);
  if (stop) options.stop = StopEvent{std::get<0>(*stop), std::get<1>(*stop), std::get<2>(*stop)};
  if (seed && !sample && options.at.empty()) {  // report as often as the fastest sensor reads
    double rate = 0;
    for (const Sensor& s : m.model->sensors) {
      rate = std::max(rate, sensor_rate(*m.model, m.params, s));
    }
    if (rate > 0) options.sample = 1 / rate;
  }
  Watch watch(std::move(progress));
  options.progress = std::ref(watch);
  std::optional<Result<Run>> result;
  {
    const py::gil_scoped_release release;
    result = simulate(*m.model, m.params, options);
    if (result->ok() && seed) measure(*m.model, m.params, *seed, **result);
  }
  watch.rethrow();
  const py::list notes = to_python(result->diagnostics());
  auto run = std::make_shared<Run>(value_of(std::move(*result)));
  run->model_text = std::move(model_text);
  run->settings = std::move(settings);
  return py::make_tuple(std::move(run), notes);
}

// name -> read-only view, for each series.
py::dict views(const std::vector<std::string>& names,
               const std::vector<std::vector<double>>& series, const py::handle& owner) {
  py::dict out;
  for (size_t k = 0; k < names.size() && k < series.size(); ++k) {
    out[py::str(names[k])] = array_on(series[k], owner);
  }
  return out;
}

py::dict energy_of(const py::object& self) {
  const auto& run = self.cast<const Run&>();
  py::dict d;
  d["initial"] = run.energy_initial;
  d["final"] = run.energy_final;
  d["max_drift"] = run.energy_max_drift;
  d["kinetic"] = array_on(run.kinetic, self);
  d["potential"] = array_on(run.potential, self);
  d["entered"] = array_on(run.entered, self);
  d["taken"] = array_on(run.taken, self);
  return d;
}

// sensor -> (t, values, unit)
py::dict measured_of(const py::object& self) {
  py::dict out;
  for (const MeasuredSeries& series : self.cast<const Run&>().measured) {
    out[py::str(series.name)] =
        py::make_tuple(array_on(series.t, self), array_on(series.values, self), series.unit);
  }
  return out;
}

py::dict units_of(const Run& run) {
  py::dict out;
  const auto put = [&](const std::vector<std::string>& names,
                       const std::vector<std::string>& units) {
    for (size_t k = 0; k < names.size() && k < units.size(); ++k) {
      if (!out.contains(names[k])) out[py::str(names[k])] = units[k];
    }
  };
  put(run.output_names, run.output_units);
  put(run.coordinate_names, run.coordinate_units);
  put(run.speed_names, run.speed_units);
  put(run.multiplier_names, run.multiplier_units);
  return out;
}

py::dict stats_of(const Run& run) {
  py::dict d;
  d["steps"] = run.stats.steps;
  d["evaluations"] = run.stats.evaluations;
  d["jacobians"] = run.stats.jacobians;
  d["repartitions"] = run.stats.repartitions;
  d["rejected"] = run.stats.rejected;
  d["references"] = run.stats.references;
  d["reference_jump"] = run.stats.reference_jump;
  d["wall_seconds"] = run.stats.wall_seconds;
  d["real_time_factor"] = run.stats.real_time_factor;
  return d;
}

}  // namespace

void bind_integrate(py::module_& module) {
  using py::arg;
  const auto series = [](auto names, auto values) {
    return [names, values](const py::object& self) {
      const auto& run = self.cast<const Run&>();
      return views(run.*names, run.*values, self);
    };
  };
  py::class_<Run, std::shared_ptr<Run>>(module, "Run", "One simulated motion.")
      .def_readonly("model", &Run::model)
      .def_readonly("integrator", &Run::integrator)
      .def_readonly("complete", &Run::complete)
      .def_readonly("stopped_by", &Run::stopped_by)
      .def_readonly("model_text", &Run::model_text)
      .def_readonly("settings", &Run::settings)
      .def_property_readonly("units", &units_of)
      .def_property_readonly(
          "t", [](const py::object& self) { return array_on(self.cast<const Run&>().t, self); })
      .def_property_readonly("outputs", series(&Run::output_names, &Run::outputs))
      .def_property_readonly("q", series(&Run::coordinate_names, &Run::q))
      .def_property_readonly("v", series(&Run::speed_names, &Run::v))
      .def_property_readonly("a", series(&Run::speed_names, &Run::a))
      .def_property_readonly("lam", series(&Run::multiplier_names, &Run::lambda))
      .def_property_readonly("measured", &measured_of)
      .def_property_readonly("energy", &energy_of)
      .def_property_readonly("violation",
                             [](const Run& run) {
                               return py::make_tuple(run.max_position_violation,
                                                     run.max_velocity_violation);
                             })
      .def_property_readonly("stats", &stats_of);
  module.def("simulate", &run_simulation, arg("model"), arg("until"), arg("dt"), arg("tol"),
             arg("integrator"), arg("at"), arg("sample"), arg("stop"), arg("q"), arg("v"),
             arg("seed"), arg("model_text"), arg("settings"), arg("progress"));
  module.def("integrators", [] {
    py::list out;
    for (const IntegratorInfo& i : integrators()) {
      out.append(py::make_tuple(i.name, i.title, i.order, i.fixed_step, i.implicit));
    }
    return out;
  });
}

}  // namespace panto::python
