// Linearisation and modes.
#include "python/linear.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "panto/linear/modes.hpp"
#include "panto/linear/response.hpp"
#include "panto/linear/trajectory.hpp"
#include "panto/scene/modes_report.hpp"

namespace panto::python {
namespace {

Operation operation_of(const std::string& name) {
  if (name == "equilibrium") return Operation::kEquilibrium;
  if (name == "here") return Operation::kHere;
  if (name == "steady") return Operation::kSteady;
  throw py::value_error("where: expected \"equilibrium\", \"here\" or \"steady\", got \"" + name +
                        "\"");
}

}  // namespace

Linearised linearised(const CompiledModel& m, const std::vector<std::pair<std::string, double>>& at,
                      const std::string& where, double t) {
  const Operation operation = operation_of(where);
  const py::gil_scoped_release release;
  std::vector<PoseValue> pose;
  pose.reserve(at.size());
  for (const auto& [name, value] : at) pose.push_back({name, value});
  Linearised out;
  out.model =
      pose.empty() ? m.model : std::make_shared<const Model>(value_of(with_pose(*m.model, pose)));
  out.workspace = Workspace::create(*out.model, m.params);
  Result<OperatingPoint> point = operating_point(*out.workspace, operation, t);
  out.notes = point.diagnostics();
  out.point = value_of(std::move(point));
  out.linear = value_of(linearize(*out.workspace, out.point));
  return out;
}

namespace {

void add_point(py::dict& d, Linearised& l) {
  d["q"] = std::move(l.point.q);
  d["v"] = std::move(l.point.v);
  d["residual"] = l.point.residual;
}

py::tuple linear_model(const CompiledModel& m,
                       const std::vector<std::pair<std::string, double>>& at,
                       const std::string& where, double t) {
  Linearised l = linearised(m, at, where, t);
  LinearModel& s = l.linear;
  py::dict d;
  d["coordinates"] = std::move(s.coordinates);
  d["independent"] = std::move(s.independent);
  d["states"] = std::move(s.states);
  d["inputs"] = std::move(s.inputs);
  d["outputs"] = std::move(s.outputs);
  d["output_units"] = std::move(s.output_units);
  d["rows"] = std::move(s.rows);
  d["M"] = std::move(s.M);
  d["D"] = std::move(s.D);
  d["K"] = std::move(s.K);
  d["B"] = std::move(s.B);
  d["G"] = std::move(s.G);
  d["R"] = std::move(s.R);
  d["M_z"] = std::move(s.M_z);
  d["D_z"] = std::move(s.D_z);
  d["K_z"] = std::move(s.K_z);
  d["B_z"] = std::move(s.B_z);
  d["A"] = std::move(s.A);
  d["B_x"] = std::move(s.B_x);
  d["B_rate"] = std::move(s.B_rate);
  d["C_x"] = std::move(s.C_x);
  d["D_x"] = std::move(s.D_x);
  d["D_rate"] = std::move(s.D_rate);
  add_point(d, l);
  return py::make_tuple(std::move(d), to_python(l.notes));
}

// One array (times x rows x columns) from a matrix per time.
py::array_t<double> stacked(const LinearTrajectory& along, Eigen::MatrixXd LinearModel::*matrix) {
  const Eigen::MatrixXd& first = along.models.front().*matrix;
  py::array_t<double> out({static_cast<py::ssize_t>(along.models.size()),
                           static_cast<py::ssize_t>(first.rows()),
                           static_cast<py::ssize_t>(first.cols())});
  double* to = out.mutable_data();
  for (const LinearModel& m : along.models)
    for (Eigen::Index i = 0; i < first.rows(); ++i)
      for (Eigen::Index j = 0; j < first.cols(); ++j) *to++ = (m.*matrix)(i, j);
  return out;
}

// One array (times x entries) from a vector per time.
py::array_t<double> stacked(const LinearTrajectory& along,
                            Eigen::VectorXd OperatingPoint::*vector) {
  const Eigen::Index n = (along.points.front().*vector).size();
  py::array_t<double> out(
      {static_cast<py::ssize_t>(along.points.size()), static_cast<py::ssize_t>(n)});
  double* to = out.mutable_data();
  for (const OperatingPoint& p : along.points) to = std::copy_n((p.*vector).data(), n, to);
  return out;
}

py::tuple linear_trajectory(const CompiledModel& m, const std::shared_ptr<Run>& run,
                            const std::vector<std::pair<std::string, double>>& at,
                            std::optional<double> until, std::optional<double> sample,
                            std::optional<double> tol) {
  Watch watch;
  std::optional<Result<LinearTrajectory>> result;
  {
    const py::gil_scoped_release release;
    if (run) {
      result = linearize_along(*m.new_workspace(), *run);
    } else {
      AlongOptions options{until, sample, tol, std::ref(watch)};
      std::vector<PoseValue> pose;
      pose.reserve(at.size());
      for (const auto& [name, value] : at) pose.push_back({name, value});
      if (pose.empty()) {
        result = linearize_along(*m.model, m.params, options);
      } else {
        const Model posed = value_of(with_pose(*m.model, pose));
        result = linearize_along(posed, m.params, options);
      }
    }
  }
  watch.rethrow();
  const py::list notes = to_python(result->diagnostics());
  const LinearTrajectory along = value_of(std::move(*result));
  const LinearModel& first = along.models.front();
  py::dict d;
  d["time"] = Eigen::Map<const Eigen::VectorXd>(along.time.data(),
                                                static_cast<Eigen::Index>(along.time.size()))
                  .eval();
  d["coordinates"] = first.coordinates;
  d["independent"] = first.independent;
  d["states"] = first.states;
  d["inputs"] = first.inputs;
  d["outputs"] = first.outputs;
  d["output_units"] = first.output_units;
  d["A"] = stacked(along, &LinearModel::A);
  d["B_x"] = stacked(along, &LinearModel::B_x);
  d["B_rate"] = stacked(along, &LinearModel::B_rate);
  d["C_x"] = stacked(along, &LinearModel::C_x);
  d["D_x"] = stacked(along, &LinearModel::D_x);
  d["D_rate"] = stacked(along, &LinearModel::D_rate);
  d["R"] = stacked(along, &LinearModel::R);
  d["M_z"] = stacked(along, &LinearModel::M_z);
  d["D_z"] = stacked(along, &LinearModel::D_z);
  d["K_z"] = stacked(along, &LinearModel::K_z);
  d["B_z"] = stacked(along, &LinearModel::B_z);
  d["q"] = stacked(along, &OperatingPoint::q);
  d["v"] = stacked(along, &OperatingPoint::v);
  d["u"] = stacked(along, &OperatingPoint::u);
  return py::make_tuple(std::move(d), notes);
}

// Modes, notes and, where asked for, the page.
py::tuple natural_modes(const CompiledModel& m,
                        const std::vector<std::pair<std::string, double>>& at,
                        const std::string& where, double t, int count, bool view,
                        std::optional<double> deformation) {
  Linearised l = linearised(m, at, where, t);
  Modes found = value_of(modes(*l.workspace, l.point, l.linear, {.count = count}));
  std::optional<std::string> html;
  if (view) {
    scene::Report report = scene::report_of_modes(*l.workspace, l.point, found);
    report.deformation = deformation;
    html = value_of(scene::to_html(report));
  }
  const auto n = static_cast<Eigen::Index>(found.list.size());
  Eigen::VectorXd hz(n), damping(n), growth(n);
  Eigen::MatrixXd shapes(l.model->nv, n),
      strain(static_cast<Eigen::Index>(found.elements.size()), n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Mode& mode = found.list[static_cast<size_t>(i)];
    hz(i) = mode.frequency_hz;
    damping(i) = mode.damping;
    growth(i) = mode.growth_rate;
    shapes.col(i) = mode.shape;
    for (Eigen::Index e = 0; e < strain.rows(); ++e)
      strain(e, i) = mode.strain[static_cast<size_t>(e)];
  }
  py::dict d;
  d["frequencies_hz"] = std::move(hz);
  d["damping"] = std::move(damping);
  d["growth_rates"] = std::move(growth);
  d["shapes"] = std::move(shapes);
  d["strain"] = std::move(strain);
  d["coordinates"] = std::move(l.linear.coordinates);
  d["elements"] = std::move(found.elements);
  d["eigenvalues"] = std::move(found.eigenvalues);
  d["stable"] = found.stable;
  add_point(d, l);
  return py::make_tuple(std::move(d), to_python(l.notes), std::move(html));
}

}  // namespace

void bind_linear(py::module_& module) {
  using py::arg;
  module.def("linearize", &linear_model, arg("model"), arg("at"), arg("where"), arg("t"));
  module.def("linearize_along", &linear_trajectory, arg("model"), arg("run"), arg("at"),
             arg("until"), arg("sample"), arg("tol"));
  module.def("modes", &natural_modes, arg("model"), arg("at"), arg("where"), arg("t"), arg("count"),
             arg("view"), arg("deformation"));
}

}  // namespace panto::python
