// Reproductions of published results.
#include "python/bindings.hpp"
#include "validation/cases.hpp"

namespace panto::python {
namespace {

// Rows of the cases "key" or "key:item", each as (case, quantity, printed, computed, unit, band, reproduced, note, assumed).
py::tuple reproduce(const std::string& what) {
  const auto cases = value_of(validation::cases_of(what));
  py::list rows;
  Diagnostics notes;
  for (const validation::Case* c : cases) {
    std::optional<Result<std::vector<validation::Row>>> result;
    {
      const py::gil_scoped_release release;
      result = c->run();
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    notes.append(result->diagnostics());
    const std::vector<std::string> assumed(c->assumed.begin(), c->assumed.end());
    for (const validation::Row& r : value_of(std::move(*result))) {
      rows.append(py::make_tuple(validation::name_of(*c), r.quantity, r.printed, r.computed, r.unit,
                                 r.band, r.reproduced(), r.note, assumed));
    }
  }
  return py::make_tuple(rows, to_python(notes));
}

}  // namespace

void bind_validation(py::module_& module) {
  module.def("reproduce", &reproduce, py::arg("what"));
  module.def("reproductions", [] {
    py::dict out;
    for (const validation::Case& c : validation::cases()) {
      out[py::str(validation::name_of(c))] = c.title;
    }
    return out;
  });
}

}  // namespace panto::python
