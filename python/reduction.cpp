// Reduction of linear systems.
#include "panto/io/reduction.hpp"

#include <fmt/format.h>

#include <functional>

#include "panto/reduction/reduce.hpp"
#include "panto/scene/reduction_report.hpp"
#include "python/linear.hpp"

namespace panto::python {
namespace {

// What came out, with the system it came from.
struct Reduced {
  std::shared_ptr<const LinearSystem> system;
  ReduceOptions options;
  RankedReduction result;
};

using SystemPtr = std::shared_ptr<LinearSystem>;

SystemPtr shared(LinearSystem&& system) {
  return std::make_shared<LinearSystem>(std::move(system));
}

py::tuple system_of_model(const CompiledModel& m,
                          const std::vector<std::pair<std::string, double>>& at,
                          const std::string& where) {
  const Linearised l = linearised(m, at, where, 0);
  return py::make_tuple(shared(value_of(linear_system(l.linear, m.model->name))),
                        to_python(l.notes));
}

// Rows, columns and values of the entries that are not zero.
struct Entries {
  int size = 0;
  std::vector<int> rows, columns;
  std::vector<double> values;
};

SparseMatrix matrix_of(const char* name, const Entries& e) {
  std::vector<Eigen::Triplet<double, Eigen::Index>> entries;
  entries.reserve(e.values.size());
  for (size_t i = 0; i < e.values.size(); ++i) {
    if (e.rows[i] < 0 || e.rows[i] >= e.size || e.columns[i] < 0 || e.columns[i] >= e.size)
      throw py::value_error(std::string(name) + ": an entry outside of the matrix");
    entries.emplace_back(e.rows[i], e.columns[i], e.values[i]);
  }
  SparseMatrix out(e.size, e.size);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

SystemPtr system_of_entries(const Entries& m, const Entries& k, const std::optional<Entries>& c,
                            std::vector<std::string> dofs, const std::string& name) {
  LinearSystem system;
  system.name = name;
  system.M = matrix_of("M", m);
  system.K = matrix_of("K", k);
  if (c) system.C = matrix_of("C", *c);
  if (dofs.empty())
    for (int i = 0; i < k.size; ++i) dofs.push_back(fmt::format("d{}", i + 1));
  system.dofs = std::move(dofs);
  const Diagnostics wrong = check(system);
  if (!wrong.ok()) throw Rejected(wrong);
  return shared(std::move(system));
}

std::vector<int> from_one(std::vector<int> modes) {
  for (int& mode : modes) ++mode;
  return modes;
}

py::dict curve(const RankingCurve& c) {
  const auto column = [&](double SizePoint::*value) {
    std::vector<double> out;
    for (const SizePoint& p : c.points) out.push_back(p.*value);
    return py::array_t<double>(static_cast<py::ssize_t>(out.size()), out.data());
  };
  std::vector<int> sizes;
  for (const SizePoint& p : c.points) sizes.push_back(p.size);
  py::dict d;
  d["name"] = to_string(c.method);
  d["needed"] = c.needed >= 0 ? py::object(py::int_(c.needed)) : py::object(py::none());
  d["order"] = from_one(c.ranking.order);
  d["coefficient"] = c.ranking.coefficient;
  d["size"] = py::array_t<int>(static_cast<py::ssize_t>(sizes.size()), sizes.data());
  d["epsilon"] = column(&SizePoint::epsilon);
  d["frequency_error"] = column(&SizePoint::frequency);
  d["nco"] = column(&SizePoint::nco);
  d["mac"] = column(&SizePoint::mac);
  d["gain_error"] = column(&SizePoint::gain);
  return d;
}

py::dict to_dict(const Reduced& r) {
  const RankedReduction& found = r.result;
  const auto hz = [](const Eigen::VectorXd& omega2) {
    return Eigen::VectorXd(omega2.cwiseMax(0).cwiseSqrt() / (2 * EIGEN_PI));
  };
  py::dict d;
  py::list modes, rankings;
  if (found.modes) {
    const Eigen::VectorXd frequency = hz(found.modes->omega2);
    for (size_t i = 0; i < found.mode_errors.size(); ++i)
      modes.append(py::make_tuple(found.modes->numbers[i] + 1,
                                  frequency(static_cast<Eigen::Index>(i)),
                                  found.mode_errors[i].frequency, found.mode_errors[i].nco));
  }
  for (const RankingCurve& c : found.rankings) rankings.append(curve(c));
  d["name"] = r.system->name;
  d["dofs"] = r.system->dofs;
  d["names"] = found.system.names;
  d["masters"] = std::vector<std::string>(
      found.system.names.begin(),
      found.system.names.begin() + static_cast<std::ptrdiff_t>(found.cb.masters.size()));
  d["kept"] = from_one(found.selected);
  d["M"] = found.system.M;
  d["K"] = found.system.K;
  d["C"] = found.system.C.rows() > 0 ? py::cast(found.system.C) : py::object(py::none());
  d["basis"] = found.system.basis;
  d["interior_hz"] = hz(found.cb.omega2);
  d["rigid"] = found.cb.rigid;
  d["unseen"] = found.unseen;
  d["modes"] = std::move(modes);
  d["rankings"] = std::move(rankings);
  return d;
}

py::tuple run(const SystemPtr& system, ReduceOptions options, py::object progress) {
  Watch watch(std::move(progress));
  options.progress = std::ref(watch);
  std::optional<Result<RankedReduction>> result;
  {
    const py::gil_scoped_release release;
    result = reduce(*system, options);
  }
  watch.rethrow();
  const py::list notes = to_python(result->diagnostics());
  options.progress = {};
  auto out =
      std::make_shared<Reduced>(Reduced{system, std::move(options), value_of(std::move(*result))});
  py::dict d = to_dict(*out);
  return py::make_tuple(std::move(out), std::move(d), notes);
}

}  // namespace

void bind_reduction(py::module_& module) {
  using py::arg;
  py::class_<Entries>(module, "MatrixEntries")
      .def(py::init<int, std::vector<int>, std::vector<int>, std::vector<double>>(), arg("size"),
           arg("rows"), arg("columns"), arg("values"));
  py::class_<LinearSystem, SystemPtr>(module, "LinearSystem")
      .def_readonly("name", &LinearSystem::name)
      .def_readonly("dofs", &LinearSystem::dofs);
  py::class_<ReduceOptions>(module, "ReduceOptions")
      .def(py::init<>())
      .def(
          "changed",
          [](const ReduceOptions& o, const ModelSpec& changes) {
            return value_of(changed(o, changes));
          },
          arg("changes"));
  py::class_<Reduced, std::shared_ptr<Reduced>>(module, "Reduced")
      .def(
          "write",
          [](const Reduced& r, const std::string& path) {
            Diagnostics outcome;
            {
              const py::gil_scoped_release release;
              outcome = write_reduction(*r.system, r.result, path);
            }
            if (!outcome.ok()) throw Rejected(outcome);
            return to_python(outcome);
          },
          arg("path"))
      .def("html", [](const Reduced& r) {
        return value_of(scene::to_html(scene::report_of_reduction(*r.system, r.result, r.options)));
      });
  module.def(
      "reduced_model",
      [](const ModelSpec& spec, const CompiledModel& m, const Reduced& r) {
        Result<std::string> text = reduced_model(spec, *m.model, m.params, *r.system, r.result);
        const py::list notes = to_python(text.diagnostics());
        return py::make_tuple(value_of(std::move(text)), notes);
      },
      arg("spec"), arg("model"), arg("reduced"));
  module.def("is_reduce_study", &is_reduce_study, arg("study"));
  module.def(
      "reduce_study",
      [](const ModelSpec& study) {
        std::optional<Result<LoadedReduceStudy>> result;
        {
          const py::gil_scoped_release release;
          result = load_reduce_study(study);
        }
        const py::list notes = to_python(result->diagnostics());
        LoadedReduceStudy loaded = value_of(std::move(*result));
        return py::make_tuple(shared(std::move(loaded.system)), std::move(loaded.options), notes);
      },
      arg("study"));
  // Options, and where the model of a study is linearised: at, where, set.
  module.def(
      "reduce_posed_study",
      [](const ModelSpec& description) {
        ReduceStudy study = value_of(reduce_study(description));
        const PosedModel& m = std::get<PosedModel>(study.source);
        std::vector<std::pair<std::string, double>> at;
        std::vector<std::pair<std::string, std::string>> set;
        for (const PoseValue& p : m.at) at.emplace_back(p.name, p.value);
        for (const Override& o : m.set) set.emplace_back(o.name, o.value);
        return py::make_tuple(std::move(study.options), at,
                              m.operation == Operation::kHere ? "here" : "equilibrium", set);
      },
      arg("study"));
  module.def("linear_system_of_model", &system_of_model, arg("model"), arg("at"), arg("where"));
  module.def("linear_system_of_matrices", &system_of_entries, arg("M"), arg("K"), arg("C"),
             arg("dofs"), arg("name"));
  module.def(
      "read_matrices",
      [](const std::string& mass, const std::string& stiffness, const std::string& damping) {
        const py::gil_scoped_release release;
        return shared(value_of(read_matrices({mass, stiffness, damping})));
      },
      arg("mass"), arg("stiffness"), arg("damping"));
  module.def(
      "read_calculix",
      [](const std::string& job) {
        const py::gil_scoped_release release;
        return shared(value_of(read_calculix(job)));
      },
      arg("job"));
  module.def("reduce", &run, arg("system"), arg("options"), arg("progress"));
}

}  // namespace panto::python
