// Poses for identification, identification from measured modes.
#include <algorithm>
#include <tuple>

#include "panto/identification/identify.hpp"
#include "panto/identification/poses.hpp"
#include "panto/io/study.hpp"
#include "panto/io/toml.hpp"
#include "panto/scene/identification_report.hpp"
#include "python/page.hpp"
#include "python/studies.hpp"

namespace panto::python {
namespace {

// The matrices of all poses in one array: poses x rows x columns.
template <class Member>
py::array_t<double> stacked(const std::vector<ScoredPose>& poses, Eigen::Index rows,
                            Eigen::Index columns, Member member) {
  py::array_t<double> out(std::vector<py::ssize_t>{static_cast<py::ssize_t>(poses.size()),
                                                   static_cast<py::ssize_t>(rows),
                                                   static_cast<py::ssize_t>(columns)});
  auto cell = out.mutable_unchecked<3>();
  for (size_t k = 0; k < poses.size(); ++k)
    for (Eigen::Index i = 0; i < rows; ++i)
      for (Eigen::Index j = 0; j < columns; ++j)
        cell(static_cast<py::ssize_t>(k), i, j) = (poses[k].*member)(i, j);
  return out;
}

py::dict to_dict(PoseStudy& s) {
  const auto n = static_cast<Eigen::Index>(s.poses.size()),
             features = static_cast<Eigen::Index>(s.features.size()),
             count = static_cast<Eigen::Index>(s.parameters.size());
  Eigen::VectorXi number(n);
  Eigen::VectorXd score(n), information(n);
  Eigen::MatrixXd q(n, static_cast<Eigen::Index>(s.coordinates.size()));
  Eigen::MatrixXi told_by(n, count);
  for (Eigen::Index i = 0; i < n; ++i) {
    const ScoredPose& p = s.poses[static_cast<size_t>(i)];
    number(i) = p.number;
    score(i) = p.score;
    information(i) = p.information;
    q.row(i) = p.q;
    for (Eigen::Index k = 0; k < count; ++k) told_by(i, k) = p.told_by[static_cast<size_t>(k)];
  }
  py::dict ranges;
  for (const PoseRange& r : s.ranges) ranges[py::str(r.coordinate)] = py::make_tuple(r.low, r.high);
  py::dict d;
  d["correlation"] = stacked(s.poses, features, count, &ScoredPose::correlation);
  d["sensitivity"] = stacked(s.poses, features, count, &ScoredPose::sensitivity);
  d["number"] = std::move(number);
  d["score"] = std::move(score);
  d["information"] = std::move(information);
  d["q"] = std::move(q);
  d["told_by"] = std::move(told_by);
  d["parameters"] = std::move(s.parameters);
  d["features"] = std::move(s.features);
  d["coordinates"] = std::move(s.coordinates);
  d["nominal"] = Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(s.nominal.data(), count));
  d["ranges"] = std::move(ranges);
  d["chosen"] = std::move(s.together);
  d["together_information"] = s.together_information;
  d["together_deviation"] = std::move(s.together_deviation);
  d["drawn"] = s.drawn;
  d["unreachable"] = s.unreachable;
  d["beyond_limits"] = s.beyond_limits;
  d["singular"] = s.singular;
  d["complete"] = s.complete;
  return d;
}

py::tuple find_poses(const CompiledModel& m, std::vector<std::string> parameters,
                     const std::vector<std::tuple<std::string, double, double>>& ranges, int poses,
                     int samples, double spread, bool damping, bool local, int together,
                     std::uint64_t seed, int threads, py::object progress) {
  PosesOptions options;
  options.parameters = std::move(parameters);
  for (const auto& [name, low, high] : ranges) options.ranges.push_back({name, low, high});
  options.poses = poses;
  options.samples = samples;
  options.spread = spread;
  options.damping = damping;
  options.local = local;
  options.together = together;
  options.seed = seed;
  options.threads = threads;
  auto [study, notes] = found_by(
      [&](const std::function<bool(double)>& watch) {
        options.progress = watch;
        return panto::poses(*m.model, m.params, options);
      },
      std::move(progress));
  return py::make_tuple(to_dict(study), notes);
}

template <class Rows, class RowOf>
py::list listed(const Rows& rows, const RowOf& row_of) {
  py::list out;
  for (const auto& row : rows) out.append(row_of(row));
  return out;
}

py::dict to_dict(const Identification& found) {
  py::dict d;
  d["parameters"] = listed(found.parameters, [](const IdentifiedParameter& p) {
    return py::make_tuple(p.name, p.value, p.std, py::make_tuple(p.from, p.to), p.bounds_hit,
                          p.start, py::make_tuple(p.low, p.high));
  });
  d["solutions"] = listed(found.solutions, [](const Solution& s) {
    return py::make_tuple(s.theta, s.cost, s.error_hz, s.hits, s.explains, s.bounds_hit);
  });
  d["frequencies"] = listed(found.modes, [](const FittedMode& m) {
    return py::make_tuple(m.pose, m.mode, m.measured_hz, m.fitted_hz, m.sigma_hz,
                          m.measured_damping < 0 ? py::object(py::none())
                                                 : py::object(py::float_(m.measured_damping)),
                          m.fitted_damping, m.assurance);
  });
  d["errors"] = listed(found.errors, [](const SimulatedError& e) {
    return py::make_tuple(e.name, e.truth, e.mean, e.std, e.worst);
  });
  d["cost"] = found.cost;
  d["error_hz"] = found.error_hz;
  d["starts"] = found.starts;
  d["converged"] = found.converged;
  d["unseen"] = found.unseen;
  d["correlation"] = found.correlation;
  d["condition"] = found.condition;
  d["sigma_assumed"] = found.sigma_assumed;
  d["repeats"] = found.repeats;
  return d;
}

py::tuple run_identification(const ModelSpec& description, const CompiledModel& m,
                             const std::optional<std::string>& method, std::optional<int> starts,
                             std::optional<std::uint64_t> seed, std::optional<int> threads,
                             py::object progress) {
  IdentifyStudy study = value_of(read_identify_study(description));
  if (method && *method == "least_squares") {
    study.method = IdentifyMethod::kLeastSquares;
  } else if (method && *method == "interior_point") {
    study.method = IdentifyMethod::kInteriorPoint;
  } else if (method) {
    throw py::value_error("method: expected \"least_squares\" or \"interior_point\", got \"" +
                          *method + "\"");
  }
  if (starts && *starts < 1) throw py::value_error("starts: at least one is needed");
  study.starts = starts.value_or(study.starts);
  study.seed = seed.value_or(study.seed);
  study.threads = threads.value_or(study.threads);
  auto result = found_by(
      [&](const std::function<bool(double)>& watch) {
        return identify(*m.model, m.params, study, watch);
      },
      std::move(progress));
  const auto found = std::make_shared<const Identification>(std::move(result.first));
  py::dict d = to_dict(*found);
  d["_page"] =
      Page{[found, model = m.model] { return scene::report_of_identification(*model, *found); }};
  return py::make_tuple(d, result.second);
}

}  // namespace

void bind_identification(py::module_& module) {
  using py::arg;
  module.def("poses", &find_poses, arg("model"), arg("parameters"), arg("ranges"), arg("poses"),
             arg("samples"), arg("spread"), arg("damping"), arg("local"), arg("together"),
             arg("seed"), arg("threads"), arg("progress"));
  module.def(
      "read_study", [](const std::string& path) { return value_of(read_model_file(path)); },
      arg("path"));
  module.def(
      "study_model",
      [](const ModelSpec& study) { return model_of_study(load_identify_study(study)); },
      arg("study"));
  module.def(
      "study_settings",
      [](const ModelSpec& study) { return pairs_of(value_of(identify_study(study)).set); },
      arg("study"));
  module.def("identify", &run_identification, arg("study"), arg("model"), arg("method"),
             arg("starts"), arg("seed"), arg("threads"), arg("progress"));
}

}  // namespace panto::python
