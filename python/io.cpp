// Model files, the zoo, result files.
#include "panto/io/load.hpp"
#include "panto/io/results.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/schema.hpp"
#include "python/bindings.hpp"

namespace panto::python {
namespace {

void require(const Diagnostics& diagnostics) {
  if (!diagnostics.ok()) throw Rejected(diagnostics);
}

}  // namespace

void bind_io(py::module_& module) {
  using py::arg;
  module.def(
      "read_spec", [](const std::string& name) { return value_of(load_spec(name)); }, arg("name"));
  module.def(
      "text_of",
      [](const ModelSpec& spec) {
        return spec.source_text.empty() ? to_toml(spec) : spec.source_text;
      },
      arg("spec"));
  module.def("json_schema", &json_schema);
  module.def("zoo_names", &zoo_names);
  module.def("zoo_folder", &zoo_folder);
  module.def(
      "write_run",
      [](const Run& run, const std::string& path, const std::string& format) {
        const py::gil_scoped_release release;
        require(format == "csv" ? write_csv(run, path) : write_hdf5(run, path));
      },
      arg("run"), arg("path"), arg("format"));
  module.def(
      "read_run",
      [](const std::string& path) {
        std::optional<Result<Run>> result;
        {
          const py::gil_scoped_release release;
          result = read_run(path);
        }
        const py::list notes = to_python(result->diagnostics());
        return py::make_tuple(std::make_shared<Run>(value_of(std::move(*result))), notes);
      },
      arg("path"));
}

}  // namespace panto::python
