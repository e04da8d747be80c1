// Inverse models of underactuated mechanisms.
#include <pybind11/complex.h>

#include <algorithm>
#include <functional>

#include "panto/io/feedback_report.hpp"
#include "panto/scene/inversion_report.hpp"
#include "python/bindings.hpp"

namespace panto::python {
namespace {

using StudyPtr = std::shared_ptr<LoadedInvertStudy>;
// What came out, and of what.
using Limits = std::vector<std::tuple<std::string, double, double>>;

py::tuple study_of(Result<LoadedInvertStudy>&& loaded) {
  const py::list notes = to_python(loaded.diagnostics());
  return py::make_tuple(std::make_shared<LoadedInvertStudy>(value_of(std::move(loaded))), notes);
}

InvertChanges changes_of(
    std::optional<std::vector<std::string>> outputs, std::optional<std::vector<std::string>> inputs,
    std::optional<std::vector<double>> to, std::optional<double> duration,
    std::optional<double> step, std::optional<std::string> method, std::optional<std::string> form,
    std::optional<int> smooth, std::optional<double> until, std::optional<bool> verify,
    std::optional<bool> force, const std::optional<Limits>& limits, std::optional<std::string> ends,
    std::optional<std::string> guess, std::optional<double> before, std::optional<double> after,
    std::optional<std::vector<std::string>> clamp_begin,
    std::optional<std::vector<std::string>> clamp_end, std::optional<double> tolerance,
    std::optional<std::vector<std::string>> redefine, std::optional<std::string> along,
    std::optional<double> weight, std::optional<std::string> solver) {
  InvertChanges c;
  c.solver = std::move(solver);
  c.redefine = std::move(redefine);
  c.along = std::move(along);
  c.weight = weight;
  c.outputs = std::move(outputs);
  c.inputs = std::move(inputs);
  c.to = std::move(to);
  c.duration = duration;
  c.step = step;
  if (until && !(*until > 0)) throw py::value_error("until: expected a time above 0");
  c.until = until;
  c.method = std::move(method);
  c.form = std::move(form);
  c.smooth = smooth;
  c.verify = verify;
  c.force = force;
  const auto not_negative = [](const char* name, const std::optional<double>& value) {
    if (value && !(*value >= 0))
      throw py::value_error(std::string(name) + ": expected a time of at least 0");
    return value;
  };
  c.ends = std::move(ends);
  c.guess = std::move(guess);
  c.before = not_negative("before", before);
  c.after = not_negative("after", after);
  c.clamp_begin = std::move(clamp_begin);
  c.clamp_end = std::move(clamp_end);
  if (tolerance && !(*tolerance > 0)) throw py::value_error("tolerance: expected more than 0");
  c.tolerance = tolerance;
  if (!limits) return c;
  c.limits.emplace();
  for (const auto& [actuator, lower, upper] : *limits) {
    if (!(lower <= upper))
      throw py::value_error("limits: expected the lower one first, of \"" + actuator + "\"");
    c.limits->push_back({actuator, lower, upper});
  }
  return c;
}

LoadedInvertStudy changed(const LoadedInvertStudy& study, const InvertChanges& changes) {
  LoadedInvertStudy out = study;
  if (const std::optional<UnknownWord> unknown = apply(changes, out)) {
    std::string name = unknown->option;
    std::replace(name.begin(), name.end(), '-', '_');
    throw py::value_error(name + ": expected " + unknown->expected +
                          (unknown->word.empty() ? "" : ", got \"" + unknown->word + "\""));
  }
  return out;
}

template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::dict to_dict(const ServoAnalysis& a) {
  py::dict d;
  d["type"] = to_string(a.type);
  d["configuration"] = to_string(a.configuration);
  d["reachable"] = a.reachable;
  d["regular"] = a.regular;
  d["poles"] = array_of(a.poles);
  d["zeros"] = array_of(a.zeros);
  d["zeros_qz"] = array_of(a.zeros_qz);
  d["zeros_second_order"] =
      a.has_second_order ? py::object(array_of(a.zeros_second_order)) : py::object(py::none());
  d["relative_degree"] = a.relative_degree;
  d["total_relative_degree"] = a.total_relative_degree;
  d["decoupling_regular"] = a.decoupling_regular;
  d["index"] = a.index;
  d["motion_index"] = a.motion_index;
  d["plant_index"] = a.plant_index;
  d["smoothness"] = a.smoothness;
  return d;
}

// name -> numbers, or a number, as far as there are any.
py::dict by_name(const std::vector<std::string>& names,
                 const std::vector<std::vector<double>>& values) {
  py::dict d;
  for (size_t i = 0; i < names.size() && i < values.size(); ++i)
    d[py::str(names[i])] = array_of(values[i]);
  return d;
}
py::dict by_name(const std::vector<std::string>& names, const std::vector<double>& values) {
  py::dict d;
  for (size_t i = 0; i < names.size() && i < values.size(); ++i) d[py::str(names[i])] = values[i];
  return d;
}

py::dict to_dict(const RedefinedOutput& r) {
  py::dict d;
  py::list weights, worst, zeros, truth;
  for (const WeightedZeros& at : r.along) {
    weights.append(at.weight);
    worst.append(at.worst);
    zeros.append(array_of(at.zeros));
  }
  for (const TrueOutput& o : r.truth) {
    py::dict t;
    t["name"] = o.name;
    t["unit"] = o.unit;
    t["inverse"] = array_of(o.inverse);
    t["plant"] = array_of(o.plant);
    t["mean_square"] = o.mean_square;
    t["largest"] = o.largest;
    t["residual"] = o.residual;
    truth.append(std::move(t));
  }
  d["outputs"] = r.choice.outputs;
  d["weight"] = r.weight;
  d["axial"] = r.axial >= 0 ? py::object(py::float_(r.axial)) : py::object(py::none());
  d["limit"] = r.limit;
  d["together"] = r.together;
  d["weights"] = std::move(weights);
  d["worst"] = std::move(worst);
  d["zeros"] = std::move(zeros);
  d["truth"] = std::move(truth);
  return d;
}

py::dict to_dict(const StableReport& s) {
  py::dict d;
  d["ends"] = s.method != StableMethod::kBoundaryValue ? "none"
              : s.ends == EndKind::kClamped            ? "clamped"
                                                       : "eigenspaces";
  d["growing"] = array_of(s.modes.growing);
  d["decaying"] = array_of(s.modes.decaying);
  d["neutral"] = array_of(s.modes.neutral);
  d["path_begin"] = s.path_begin;
  d["path_end"] = s.path_end;
  d["clamped_begin"] = s.clamped_begin;
  d["clamped_end"] = s.clamped_end;
  d["before"] = s.before;
  d["after"] = s.after;
  d["pre_actuation"] = s.pre_actuation;
  d["post_actuation"] = s.post_actuation;
  d["leakage_begin"] = s.leakage_begin;
  d["leakage_end"] = s.leakage_end;
  d["error"] = s.error;
  d["intervals"] = s.intervals;
  d["meshes"] = s.meshes;
  d["iterations"] = s.iterations;
  d["slow_downs"] = s.slow_downs;
  return d;
}

py::dict to_dict(const Inversion& r) {
  py::dict d, units;
  const auto add_units = [&](const std::vector<std::string>& names,
                             const std::vector<std::string>& texts) {
    for (size_t i = 0; i < names.size(); ++i) units[py::str(names[i])] = texts[i];
  };
  add_units(r.coordinates, r.coordinate_units);
  add_units(r.outputs, r.output_units);
  add_units(r.inputs, r.input_units);
  d["model"] = r.model;
  d["analysis"] = to_dict(r.analysis);
  d["t"] = array_of(r.t);
  d["inputs"] = by_name(r.inputs, r.u);
  d["desired"] = by_name(r.outputs, r.desired);
  d["achieved"] = by_name(r.outputs, r.achieved);
  d["q"] = by_name(r.coordinates, r.y);
  d["v"] = by_name(r.coordinates, r.v);
  d["a"] = by_name(r.coordinates, r.w);
  d["units"] = std::move(units);
  d["tracking_max"] = by_name(r.outputs, r.tracking_max);
  d["tracking_rms"] = by_name(r.outputs, r.tracking_rms);
  d["complete"] = r.complete;
  d["most_iterations"] = r.most_iterations;
  d["not_converged"] = r.not_converged;
  d["largest_residual"] = r.largest_residual;
  d["stable"] = r.stable ? py::object(to_dict(*r.stable)) : py::object(py::none());
  d["cycle"] = py::make_tuple(r.times.mean, r.times.worst, r.times.cycles, r.times.over);
  d["redefined"] = r.redefined ? py::object(to_dict(*r.redefined)) : py::object(py::none());
  return d;
}

// An inversion and, where its study asks for feedback, what that did.
struct Inverted {
  Inversion inversion;
  std::optional<FeedbackReport> feedback;
  LoadedInvertStudy study;
};

py::dict to_dict(const Spread& s) {
  py::dict d;
  d["mean"] = s.mean;
  d["deviation"] = s.deviation;
  d["smallest"] = s.smallest;
  d["largest"] = s.largest;
  d["p95"] = s.most;
  return d;
}

py::dict to_dict(const OutputError& e) {
  py::dict d;
  d["rms"] = e.rms;
  d["max"] = e.max;
  d["final"] = e.final;
  return d;
}

py::dict to_dict(const InputUse& u) {
  py::dict d;
  d["rms"] = u.rms;
  d["max"] = u.max;
  d["saturated"] = u.saturated;
  d["first_saturated"] = u.first >= 0 ? py::object(py::float_(u.first)) : py::object(py::none());
  return d;
}

template <class T>
py::dict each(const std::vector<std::string>& names, const std::vector<T>& values) {
  py::dict d;
  for (size_t i = 0; i < names.size() && i < values.size(); ++i)
    d[py::str(names[i])] = to_dict(values[i]);
  return d;
}

py::dict to_dict(const LoopCase& c, const FeedbackReport& r) {
  py::dict d;
  d["feedback"] = c.feedback;
  d["plant"] = c.plant;
  d["status"] = to_string(c.run.status);
  d["failed_at"] =
      c.run.failed_at >= 0 ? py::object(py::float_(c.run.failed_at)) : py::object(py::none());
  d["t"] = array_of(c.run.t);
  d["outputs"] = by_name(r.outputs, c.run.z);
  d["given"] = by_name(r.inputs, c.run.u);
  d["acting"] = by_name(r.inputs, c.run.acting);
  d["q"] = by_name(r.coordinates, c.run.y);
  d["v"] = by_name(r.coordinates, c.run.v);
  d["seen"] = by_name(r.coordinates, c.run.seen);
  d["tracking"] = each(r.outputs, c.run.errors);
  d["use"] = each(r.inputs, c.run.inputs);
  d["cycle"] = py::make_tuple(c.run.mean_cycle, c.run.worst_cycle);
  return d;
}

py::dict to_dict(const LoopDraws& m, const FeedbackReport& r) {
  py::dict d;
  d["feedback"] = m.feedback;
  d["draws"] = m.draws;
  d["failed"] = m.failed;
  d["rms"] = each(r.outputs, m.rms);
  d["max"] = each(r.outputs, m.max);
  d["final"] = each(r.outputs, m.final);
  d["input_rms"] = each(r.inputs, m.input_rms);
  d["input_max"] = each(r.inputs, m.input_max);
  d["saturated"] = each(r.inputs, m.saturated);
  d["max_by_draw"] = by_name(r.outputs, m.max_by_draw);
  d["drawn"] = by_name(r.varied, r.drawn);
  return d;
}

py::tuple feedback_of(const FeedbackReport& r) {
  py::list loops, draws, gains;
  for (const LoopCase& c : r.cases) loops.append(to_dict(c, r));
  for (const LoopDraws& m : r.draws) draws.append(to_dict(m, r));
  for (const FeedbackDesign& g : r.designs) {
    if (g.settings.law != Law::kLqr) continue;
    py::list poles;
    for (const auto& p : g.gains.poles) poles.append(array_of(p));
    gains.append(py::make_tuple(g.settings.name, array_of(g.gains.t), g.gains.F, poles));
  }
  return py::make_tuple(loops, draws, gains, r.complete);
}

py::tuple run_inversion(const LoadedInvertStudy& study, const InvertChanges& changes,
                        py::object progress) {
  LoadedInvertStudy wanted = changed(study, changes);
  if (!has_path(wanted))
    throw py::value_error(
        "to: expected the outputs at the end of a line; a study has other paths as well");
  Watch watch(std::move(progress));
  wanted.options.progress = std::ref(watch);
  std::optional<Result<Inversion>> result;
  std::optional<Result<FeedbackReport>> tried;
  {
    const py::gil_scoped_release release;
    result = run_invert_study(wanted);
    if (result->ok() && (*result)->complete && !wanted.feedback.laws.empty())
      tried = run_feedback(wanted, **result, std::ref(watch));
  }
  watch.rethrow();
  Diagnostics all = result->diagnostics();
  wanted.options.progress = nullptr;
  auto found = std::make_shared<Inverted>(
      Inverted{value_of(std::move(*result)), std::nullopt, std::move(wanted)});
  py::dict d = to_dict(found->inversion);
  if (tried) {
    all.append(tried->diagnostics());
    found->feedback = value_of(std::move(*tried));
    d["feedback"] = feedback_of(*found->feedback);
  } else {
    d["feedback"] = py::none();
  }
  return py::make_tuple(std::move(found), std::move(d), to_python(all));
}

py::tuple run_analysis(const LoadedInvertStudy& study, const InvertChanges& changes) {
  Result<StudyAnalysis> rest = analyse_invert_study(changed(study, changes));
  const py::list notes = to_python(rest.diagnostics());
  const StudyAnalysis found = value_of(std::move(rest));
  py::dict d = to_dict(found.analysis);
  d["redefined"] = found.redefined ? py::object(to_dict(*found.redefined)) : py::none();
  return py::make_tuple(std::move(d), notes);
}

}  // namespace

void bind_inversion(py::module_& module) {
  using py::arg;
  // Opaque: a model with its path, what is said over it, and what came out.
  const py::class_<LoadedInvertStudy, StudyPtr> opaque(module, "InvertStudy");
  py::class_<InvertChanges>(module, "InvertChanges")
      .def(py::init(&changes_of), arg("output"), arg("by"), arg("to"), arg("duration"), arg("step"),
           arg("method"), arg("form"), arg("smooth"), arg("until"), arg("verify"), arg("force"),
           arg("limits"), arg("ends"), arg("guess"), arg("before"), arg("after"),
           arg("clamp_begin"), arg("clamp_end"), arg("tolerance"), arg("redefine"), arg("along"),
           arg("weight"), arg("solver"));
  py::class_<Inverted, std::shared_ptr<Inverted>>(module, "Inverted")
      .def(
          "write",
          [](const Inverted& found, const std::string& path) {
            const Diagnostics d =
                write_inversion(found.inversion, found.feedback ? &*found.feedback : nullptr, path);
            if (!d.ok()) throw Rejected(d);
          },
          arg("path"))
      .def("html", [](const Inverted& r) {
        scene::Report report = scene::report_of_inversion(r.study.model, r.study.params,
                                                          r.inversion, r.study.options.limits);
        if (r.feedback) scene::add_feedback(*r.feedback, r.inversion, report);
        return value_of(scene::to_html(report));
      });
  module.def("is_invert_study", &is_invert_study, arg("study"));
  module.def(
      "invert_study", [](const ModelSpec& study) { return study_of(load_invert_study(study)); },
      arg("study"));
  module.def(
      "invert_study_of_model",
      [](const ModelSpec& study, const CompiledModel& m, const ModelSpec& spec) {
        return study_of(load_invert_study(study, *m.model, m.params, spec));
      },
      arg("study"), arg("model"), arg("spec"));
  module.def(
      "invert_model",
      [](const CompiledModel& m, const ModelSpec& spec) {
        return study_of(invert_model(*m.model, m.params, spec));
      },
      arg("model"), arg("spec"));
  module.def("invert", &run_inversion, arg("study"), arg("changes"), arg("progress"));
  module.def("analyse_inverse", &run_analysis, arg("study"), arg("changes"));
}

}  // namespace panto::python
