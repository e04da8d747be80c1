// Twin studies of state observers.
#include <functional>

#include "panto/io/study.hpp"
#include "python/bindings.hpp"

namespace panto::python {
namespace {

py::dict named(const std::vector<std::string>& names, const std::vector<double>& values) {
  py::dict d;
  for (size_t i = 0; i < values.size(); ++i) d[py::str(names[i])] = values[i];
  return d;
}

py::dict to_dict(const TwinResult& r) {
  py::list rows, cells, series;
  for (const TwinRow& e : r.rows) {
    if (e.rmse.empty()) continue;  // stopped before it
    rows.append(py::make_tuple(e.filter, e.sensors, e.rate_hz, e.error_level, e.seed,
                               named(r.channels, e.rmse), e.coverage95, e.nees, e.nis_mean,
                               e.whiteness, e.rejected, e.diverged, to_string(e.status),
                               e.us_per_step));
  }
  for (const TwinCell& c : r.cells)
    cells.append(py::make_tuple(c.filter, c.sensors, c.rate_hz, c.error_level, c.runs, c.diverged,
                                c.failed, named(r.channels, c.rmse_mean),
                                named(r.channels, c.rmse_std), c.coverage95, c.nees, c.nis_mean,
                                c.whiteness, c.us_per_step));
  const auto array = [](const std::vector<double>& v) {
    return py::array_t<double>(static_cast<py::ssize_t>(v.size()), v.data());
  };
  for (const TwinSeries& s : r.series) {
    py::dict channels, innovations;
    for (size_t i = 0; i < s.truth.size(); ++i)
      channels[py::str(r.channels[i])] =
          py::make_tuple(array(s.truth[i]), array(s.estimate[i]), array(s.sigma[i]));
    for (size_t i = 0; i < s.sensors.size(); ++i)
      innovations[py::str(s.sensors[i])] = py::make_tuple(
          array(s.innovation_t[i]), array(s.innovation[i]), array(s.innovation_sigma[i]));
    series.append(py::make_tuple(s.row, array(s.t), channels, innovations));
  }
  py::dict d;
  d["model"] = r.model;
  d["channels"] = r.channels;
  d["units"] = r.units;
  d["rows"] = rows;
  d["cells"] = cells;
  d["series"] = series;
  d["complete"] = r.complete;
  d["seconds"] = r.seconds;
  return d;
}

py::tuple observe(const ModelSpec& description,
                  const std::optional<std::vector<std::uint64_t>>& seeds,
                  std::optional<int> threads, bool series, py::object progress) {
  LoadedObserveStudy loaded = value_of(load_observe_study(description));
  if (seeds && seeds->empty()) throw py::value_error("seeds: at least one is needed");
  if (seeds) loaded.study.seeds = *seeds;
  loaded.study.threads = threads.value_or(loaded.study.threads);
  Watch watch(std::move(progress));
  TwinOptions options;
  options.series = series;
  options.progress = std::ref(watch);
  std::optional<Result<TwinResult>> result;
  {
    const py::gil_scoped_release release;
    result = run_twin(loaded.study, loaded.load, options);
  }
  watch.rethrow();
  const py::list notes = to_python(result->diagnostics());
  return py::make_tuple(to_dict(value_of(std::move(*result))), notes);
}

}  // namespace

void bind_estimation(py::module_& module) {
  using py::arg;
  module.def("observe", &observe, arg("study"), arg("seeds"), arg("threads"), arg("series"),
             arg("progress"));
  module.def("filters", [] {
    std::vector<std::pair<std::string, std::string>> out;
    for (const FilterInfo& f : filters()) out.emplace_back(f.name, f.title);
    return out;
  });
}

}  // namespace panto::python
