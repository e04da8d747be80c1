// Model updating from modal tests.
#include "panto/io/update_study.hpp"
#include "panto/scene/updating_report.hpp"
#include "panto/updating/update.hpp"
#include "python/page.hpp"
#include "python/studies.hpp"

namespace panto::python {
namespace {

py::dict to_dict(const Model& model, const Updating& found) {
  py::dict d;
  py::list parameters, modes, limits;
  for (const UpdatedParameter& p : found.parameters)
    parameters.append(py::make_tuple(p.name, p.nominal, p.value, p.change, p.std,
                                     py::make_tuple(p.low, p.high), p.bounds_hit, p.resolution,
                                     p.unmovable));
  for (const UpdatedMode& m : found.modes)
    modes.append(py::make_tuple(m.pose, m.measured_hz, m.before_hz, m.after_hz, m.mode_before,
                                m.mode_after, m.mac_before, m.mac_after, m.left_out_hz, m.misfit,
                                m.weight, m.damping));
  for (const UpdatedLimit& l : found.limits)
    limits.append(py::make_tuple(l.name, l.low, l.high, l.before, l.after, l.active));
  d["parameters"] = std::move(parameters);
  d["modes"] = std::move(modes);
  d["limits"] = std::move(limits);
  py::dict differences;
  for (const UpdatedPose& p : found.poses) differences[py::str(p.name)] = p.frame_difference;
  d["frame_differences"] = std::move(differences);
  d["mean_error_before"] = found.mean_error_before();
  d["mean_error_after"] = found.mean_error_after();
  d["mac_before"] = found.poses.front().mac_before;
  d["mac_after"] = found.poses.front().mac_after;
  d["lambda_"] = found.lambda;
  d["kkt"] = found.kkt;
  d["objective"] = found.objective;
  d["objective_as_printed"] = found.objective_as_printed;
  d["iterations"] = found.iterations;
  d["converged"] = found.converged;
  d["rank"] = found.identifiability.rank;
  py::list collinear;
  for (const std::vector<int>& group : found.identifiability.collinear) {
    py::list names;
    for (const int h : group) names.append(found.parameters[static_cast<size_t>(h)].name);
    collinear.append(std::move(names));
  }
  d["collinear"] = std::move(collinear);
  d["covariance"] = found.covariance;
  d["l_curve"] = py::make_tuple(found.curve.lambda, found.curve.residual, found.curve.size);
  d["damping"] = found.has_damping
                     ? py::object(py::make_tuple(found.damping.alpha, found.damping.beta))
                     : py::object(py::none());
  d["draws"] = found.draws.draws > 0
                   ? py::object(py::make_tuple(
                         found.draws.draws, found.draws.failed, found.draws.all_improved,
                         found.draws.all_nearer, found.draws.within_bounds,
                         found.draws.mean_error_before, found.draws.mean_error_after))
                   : py::object(py::none());
  // Every value that changed, Rayleigh damping included.
  py::dict values;
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    const double value = found.params.values(static_cast<Eigen::Index>(i));
    if (value != model.parameters[i].value) values[py::str(model.parameters[i].name)] = value;
  }
  d["values"] = std::move(values);
  return d;
}

py::tuple run_updating(const ModelSpec& description, const CompiledModel& m,
                       const std::optional<std::string>& method, std::optional<double> lambda,
                       std::optional<bool> as_printed, std::optional<bool> cross_validate,
                       std::optional<int> threads, py::object progress) {
  UpdateStudy study = value_of(read_update_study(description));
  if (method && *method == "quadratic") {
    study.method = UpdateMethod::kQuadratic;
  } else if (method && *method == "sensitivity") {
    study.method = UpdateMethod::kSensitivity;
  } else if (method) {
    throw py::value_error("method: expected \"quadratic\" or \"sensitivity\", got \"" + *method +
                          "\"");
  }
  if (lambda && !(*lambda >= 0)) throw py::value_error("penalty: not below 0");
  study.lambda = lambda.value_or(study.lambda);
  study.as_printed = as_printed.value_or(study.as_printed);
  study.cross_validate = cross_validate.value_or(study.cross_validate);
  study.threads = threads.value_or(study.threads);
  auto result = found_by(
      [&](const std::function<bool(double)>& watch) {
        return update(*m.model, m.params, study, watch);
      },
      std::move(progress));
  const auto found = std::make_shared<const Updating>(std::move(result.first));
  py::dict d = to_dict(*m.model, *found);
  d["_page"] = Page{[found, model = m.model] { return scene::report_of_updating(*model, *found); }};
  return py::make_tuple(d, result.second);
}

}  // namespace

void bind_updating(py::module_& module) {
  using py::arg;
  module.def(
      "update_study_model",
      [](const ModelSpec& study) { return model_of_study(load_update_study(study)); },
      arg("study"));
  module.def(
      "update_study_settings",
      [](const ModelSpec& study) { return pairs_of(value_of(update_study(study)).set); },
      arg("study"));
  module.def("update", &run_updating, arg("study"), arg("model"), arg("method"), arg("penalty"),
             arg("as_printed"), arg("cross_validate"), arg("threads"), arg("progress"));
}

}  // namespace panto::python
