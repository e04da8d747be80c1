// Equations of motion at a point, assembly, check, equilibrium and inverse dynamics.
#include <algorithm>
#include <complex>
#include <functional>
#include <tuple>

#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/inverse_motion.hpp"
#include "python/bindings.hpp"

namespace panto::python {

Arguments arguments(CompiledModel& m, double t, const Array& q, const std::optional<Array>& v,
                    const std::optional<Array>& a, const std::optional<Array>& lambda,
                    const std::optional<Array>& u) {
  const Model& model = *m.model;
  const auto nu = static_cast<size_t>(model.nu());
  Arguments out;
  out.zeros.assign(static_cast<size_t>(std::max(model.nv, model.n_rows())), 0.0);
  const View zeros(out.zeros);
  const auto nv = static_cast<size_t>(model.nv), rows = static_cast<size_t>(model.n_rows());
  out.point.t = t;
  out.point.q = view_of(q, "q", model.nq);
  out.point.v = v ? view_of(*v, "v", model.nv) : zeros.first(nv);
  out.point.a = a ? view_of(*a, "a", model.nv) : zeros.first(nv);
  out.point.lambda = lambda ? view_of(*lambda, "lam", model.n_rows()) : zeros.first(rows);
  out.u.assign(nu, 0.0);
  out.u_rate.assign(nu, 0.0);
  if (u) {
    out.point.u = view_of(*u, "u", model.nu());
  } else {
    m.workspace().inputs_at(t, out.u, out.u_rate);
    out.point.u = out.u;
  }
  out.point.u_rate = out.u_rate;
  return out;
}

namespace {

using Optional = std::optional<Array>;

py::dict residual(CompiledModel& m, double t, const Array& q, const Optional& v, const Optional& a,
                  const Optional& lambda, const Optional& u) {
  const Arguments x = arguments(m, t, q, v, a, lambda, u);
  Residual out;
  m.workspace().residual(x.point, true, out);
  py::dict d;
  d["r"] = std::move(out.r);
  d["phi"] = std::move(out.phi);
  d["phi_dot"] = std::move(out.phi_dot);
  d["phi_ddot"] = std::move(out.phi_ddot);
  d["y"] = std::move(out.y);
  return d;
}

py::dict tangent(CompiledModel& m, double t, const Array& q, const Optional& v, const Optional& a,
                 const Optional& lambda, const Optional& u, const std::vector<std::string>& by,
                 const std::vector<int>& theta, bool outputs) {
  const auto wanted = [&](const char* block) {
    return std::find(by.begin(), by.end(), block) != by.end();
  };
  Blocks blocks;
  blocks.q = wanted("q");
  blocks.v = wanted("v");
  blocks.a = wanted("a");
  blocks.lambda = wanted("lambda");
  blocks.u = wanted("u");
  blocks.y = outputs;
  blocks.theta = theta;
  const Arguments x = arguments(m, t, q, v, a, lambda, u);
  Tangent out;
  m.workspace().tangent(x.point, blocks, out);
  py::dict d;
  const auto put = [&](bool asked, const char* name, Eigen::MatrixXd& block) {
    if (asked) d[name] = std::move(block);
  };
  put(blocks.q, "r_q", out.r_q);
  put(blocks.v, "r_v", out.r_v);
  put(blocks.a, "r_a", out.r_a);
  put(blocks.lambda, "r_lambda", out.r_lambda);
  put(blocks.u, "r_u", out.r_u);
  put(!theta.empty(), "r_theta", out.r_theta);
  put(blocks.q, "phi_q", out.phi_q);
  put(blocks.q, "phi_dot_q", out.phi_dot_q);
  put(blocks.v, "phi_dot_v", out.phi_dot_v);
  put(blocks.u, "phi_dot_u", out.phi_dot_u);
  put(blocks.q, "phi_ddot_q", out.phi_ddot_q);
  put(blocks.v, "phi_ddot_v", out.phi_ddot_v);
  put(blocks.a, "phi_ddot_a", out.phi_ddot_a);
  put(blocks.u, "phi_ddot_u", out.phi_ddot_u);
  put(!theta.empty(), "phi_theta", out.phi_theta);
  put(!theta.empty(), "phi_dot_theta", out.phi_dot_theta);
  put(!theta.empty(), "phi_ddot_theta", out.phi_ddot_theta);
  put(outputs && blocks.q, "y_q", out.y_q);
  put(outputs && blocks.v, "y_v", out.y_v);
  put(outputs && blocks.a, "y_a", out.y_a);
  put(outputs && blocks.lambda, "y_lambda", out.y_lambda);
  put(outputs && blocks.u, "y_u", out.y_u);
  put(outputs && !theta.empty(), "y_theta", out.y_theta);
  return d;
}

py::tuple forward_dynamics(CompiledModel& m, double t, const Array& q, const Array& v,
                           const Optional& u) {
  const Arguments x = arguments(m, t, q, v, {}, {}, u);
  Eigen::VectorXd a, lambda;
  const Status status = m.workspace().forward_dynamics(x.point, a, lambda);
  if (fatal(status)) throw NumericalFailure(status, "forward dynamics");
  return py::make_tuple(std::move(a), std::move(lambda));
}

// Reactions of the joints as the file names them: those of a compound joint's last primitive, which carries the child body.
py::dict reactions(CompiledModel& m, double t, const Array& q, const Array& v, const Optional& a,
                   const Optional& lambda, const Optional& u) {
  const Arguments x = arguments(m, t, q, v, a, lambda, u);
  std::vector<JointReaction> all;
  m.workspace().reactions(x.point, all);
  py::dict d;
  for (const FileJoint& joint : m.model->file_joints) {
    const JointReaction& r = all[static_cast<size_t>(joint.first + joint.count - 1)];
    d[py::str(joint.name)] = py::make_tuple(py::array_t<double>(3, r.force.data()),
                                            py::array_t<double>(3, r.torque.data()));
  }
  return d;
}

Eigen::MatrixXd mass_matrix(CompiledModel& m, const Array& q) {
  Eigen::MatrixXd out;
  m.workspace().mass_matrix(view_of(q, "q", m.model->nq), out);
  return out;
}

Eigen::MatrixXd constraint_jacobian(CompiledModel& m, double t, const Array& q) {
  Eigen::MatrixXd out;
  m.workspace().constraint_jacobian(t, view_of(q, "q", m.model->nq), out);
  return out;
}

std::pair<double, double> energy(CompiledModel& m, const Array& q, const Array& v) {
  const Energy e = m.workspace().energy(view_of(q, "q", m.model->nq), view_of(v, "v", m.model->nv));
  return {e.kinetic, e.potential};
}

py::tuple initial_state(const CompiledModel& m, double t, const Optional& guess) {
  const View start = view_of(guess, "guess", m.model->nq);
  AssembledState state;
  {
    const py::gil_scoped_release release;
    state = value_of(assemble(*m.new_workspace(), t, start));
  }
  return py::make_tuple(std::move(state.q), std::move(state.v));
}

py::tuple check_model(const CompiledModel& m) {
  std::optional<Result<CheckReport>> result;
  {
    const py::gil_scoped_release release;
    result = check(*m.new_workspace());
  }
  const py::list notes = to_python(result->diagnostics());
  CheckReport report = value_of(std::move(*result));
  py::dict d;
  d["bodies"] = report.bodies;
  d["joints"] = report.joints;
  d["loops"] = report.loops;
  d["coordinates"] = report.coordinates;
  d["rows"] = report.rows;
  d["degrees_of_freedom"] = report.degrees_of_freedom;
  d["mobility"] = report.mobility;
  d["redundant"] = std::move(report.redundant);
  d["independent"] = std::move(report.independent);
  d["conditioning"] = report.conditioning;
  d["singular_pose"] = report.singular_pose;
  d["frequencies_hz"] = py::array_t<double>(py::cast(report.frequencies_hz));
  d["q"] = std::move(report.q);
  d["v"] = std::move(report.v);
  return py::make_tuple(std::move(d), notes);
}

py::tuple find_equilibrium(const CompiledModel& m, double t, const Optional& guess) {
  const View start = view_of(guess, "guess", m.model->nq);
  std::optional<Result<Equilibrium>> result;
  {
    const py::gil_scoped_release release;
    result = equilibrium(*m.new_workspace(), t, {.q = start});
  }
  const py::list notes = to_python(result->diagnostics());
  Equilibrium found = value_of(std::move(*result));
  std::vector<std::complex<double>> eigenvalues;
  for (const auto& [real, imaginary] : found.eigenvalues) eigenvalues.emplace_back(real, imaginary);
  py::dict d;
  d["q"] = std::move(found.q);
  d["lam"] = std::move(found.lambda);
  d["residual"] = found.residual;
  d["stable"] = found.stable;
  d["growth_rate"] = found.growth_rate;
  d["eigenvalues"] = py::array_t<std::complex<double>>(static_cast<py::ssize_t>(eigenvalues.size()),
                                                       eigenvalues.data());
  d["iterations"] = found.iterations;
  return py::make_tuple(std::move(d), notes);
}

// One row of q, v, a per instant. Answers u, lambda, residual and the first instant whose motion is out of reach (-1: none).
py::tuple inverse_dynamics_rows(const CompiledModel& m, const Array& t, const Array& q,
                                const Array& v, const Array& a, const std::vector<int>& actuators) {
  const Model& model = *m.model;
  const auto check_shape = [&](const Array& array, const char* name, int columns) {
    if (array.ndim() != 2 || array.shape(0) != t.shape(0) || array.shape(1) != columns) {
      const std::string shape = py::str(array.attr("shape"));
      throw py::value_error(std::string(name) + ": expected shape (" + std::to_string(t.shape(0)) +
                            ", " + std::to_string(columns) + "), got " + shape);
    }
  };
  check_shape(q, "q", model.nq);
  check_shape(v, "v", model.nv);
  check_shape(a, "a", model.nv);
  const auto row = [](const Array& array, py::ssize_t i) {
    return View(array.data(i, 0), static_cast<size_t>(array.shape(1)));
  };
  const py::ssize_t n = t.shape(0);
  py::array_t<double> u({n, static_cast<py::ssize_t>(model.nu())});
  py::array_t<double> lambda({n, static_cast<py::ssize_t>(model.n_rows())});
  py::array_t<double> left(n);
  std::vector<double> own(static_cast<size_t>(model.nu())), own_rate(own.size());
  double* const u_row = u.mutable_data();
  double* const lambda_row = lambda.mutable_data();
  double* const left_row = left.mutable_data();
  py::ssize_t unreachable = -1;
  Watch watch;
  {
    const py::gil_scoped_release release;
    const std::unique_ptr<Workspace> workspace = m.new_workspace();
    InverseDynamics out;
    for (py::ssize_t i = 0; i < n && watch(0); ++i) {
      const double time = *t.data(i);
      workspace->inputs_at(time, own, own_rate);
      const Point x{time, row(q, i), row(v, i), row(a, i), {}, own, own_rate};
      const Status status = inverse_dynamics(*workspace, x, actuators, out);
      if (status == Status::kSingular) {
        if (unreachable < 0) unreachable = i;
      } else if (!ok(status)) {
        throw NumericalFailure(status, "inverse dynamics");
      }
      std::copy_n(out.u.data(), model.nu(), u_row + i * model.nu());
      std::copy_n(out.lambda.data(), model.n_rows(), lambda_row + i * model.n_rows());
      left_row[i] = out.residual;
    }
  }
  watch.rethrow();
  return py::make_tuple(u, lambda, left, unreachable);
}

std::vector<double> vector_of(const Optional& array, const char* name) {
  if (!array) return {};
  if (array->ndim() != 1) throw py::value_error(std::string(name) + ": expected a row of numbers");
  return {array->data(), array->data() + array->size()};
}

// motion: (coordinate, value, rate, acceleration), the last two may be absent.
py::tuple inverse_along(
    const CompiledModel& m, const Array& t,
    const std::vector<std::tuple<std::string, Array, Optional, Optional>>& motion,
    const std::vector<int>& actuators) {
  PrescribedMotion prescribed;
  prescribed.t = vector_of(t, "t");
  for (const auto& [name, value, rate, acceleration] : motion) {
    const char* const label = name.c_str();
    prescribed.coordinates.push_back(
        {name, vector_of(value, label), vector_of(rate, label), vector_of(acceleration, label)});
  }
  Watch watch;
  std::optional<Result<InverseMotion>> result;
  {
    const py::gil_scoped_release release;
    result = inverse_motion(*m.new_workspace(), prescribed, actuators, std::ref(watch));
  }
  watch.rethrow();
  const py::list notes = to_python(result->diagnostics());
  auto kept = std::make_unique<InverseMotion>(value_of(std::move(*result)));
  const InverseMotion& found = *kept;
  // Lives as long as one of the arrays below.
  const py::capsule owner(kept.release(), [](void* p) { delete static_cast<InverseMotion*>(p); });
  const auto named = [&](const auto& name_of, const std::vector<std::vector<double>>& series) {
    py::dict out;
    for (size_t k = 0; k < series.size(); ++k) {
      out[py::str(name_of(k))] = array_on(series[k], owner);
    }
    return out;
  };
  const auto input = [&](size_t k) {
    return m.model->inputs[static_cast<size_t>(found.inputs[k])].name;
  };
  const auto coordinate = [&](size_t k) { return m.model->coordinate_names[k]; };
  const auto speed = [&](size_t k) { return m.model->speed_names[k]; };
  py::dict d;
  d["t"] = array_on(found.t, owner);
  d["inputs"] = named(input, found.efforts);
  d["q"] = named(coordinate, found.q);
  d["v"] = named(speed, found.v);
  d["a"] = named(speed, found.a);
  d["max_residual"] = found.max_residual;
  return py::make_tuple(std::move(d), notes);
}

}  // namespace

void bind_mechanics(py::module_& module) {
  using py::arg;
  module.def("residual", &residual, arg("model"), arg("t"), arg("q"), arg("v"), arg("a"),
             arg("lam"), arg("u"));
  module.def("tangent", &tangent, arg("model"), arg("t"), arg("q"), arg("v"), arg("a"), arg("lam"),
             arg("u"), arg("by"), arg("theta"), arg("outputs"));
  module.def("forward_dynamics", &forward_dynamics, arg("model"), arg("t"), arg("q"), arg("v"),
             arg("u"));
  module.def("reactions", &reactions, arg("model"), arg("t"), arg("q"), arg("v"), arg("a"),
             arg("lam"), arg("u"));
  module.def("mass_matrix", &mass_matrix, arg("model"), arg("q"));
  module.def("constraint_jacobian", &constraint_jacobian, arg("model"), arg("t"), arg("q"));
  module.def("energy", &energy, arg("model"), arg("q"), arg("v"));
  module.def("initial_state", &initial_state, arg("model"), arg("t"), arg("guess"));
  module.def("check", &check_model, arg("model"));
  module.def("equilibrium", &find_equilibrium, arg("model"), arg("t"), arg("guess"));
  module.def("inverse_dynamics", &inverse_dynamics_rows, arg("model"), arg("t"), arg("q"), arg("v"),
             arg("a"), arg("actuators"));
  module.def("inverse_motion", &inverse_along, arg("model"), arg("t"), arg("motion"),
             arg("actuators"));
}

}  // namespace panto::python
