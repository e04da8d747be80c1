// The extension module pantograph._core: errors, arrays and the bindings of each module.
#include "panto/base/numerical_failure.hpp"
#include "python/bindings.hpp"

namespace panto::python {

py::list to_python(const Diagnostics& diagnostics) {
  const py::object make = py::module_::import("pantograph._errors").attr("Diagnostic");
  py::list out;
  for (const Diagnostic& d : diagnostics.items()) {
    const bool error = d.severity == Severity::kError;
    out.append(make(error ? "error" : "warning", d.id, d.loc.file, d.loc.line, d.loc.column,
                    d.message, to_string(d)));
  }
  return out;
}

namespace {

// Sets the Python error `name` of the package, made from one argument.
void raise(const char* name, const py::object& argument) {
  const py::object type = py::module_::import("pantograph._errors").attr(name);
  PyErr_SetObject(type.ptr(), type(argument).ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(std::move(thrown));
  } catch (const Rejected& e) {
    const bool failed = numerical_failure(e.diagnostics());
    raise(failed ? "NumericalError" : "ModelError", to_python(e.diagnostics()));
  } catch (const NumericalFailure& e) {
    raise("NumericalError", py::str(e.what()));
  }
}

}  // namespace

bool Watch::operator()(double fraction) noexcept {
  if (std::this_thread::get_id() != owner_) return true;
  if (error_ || Clock::now() < next_) return !error_;
  const py::gil_scoped_acquire lock;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!callback_.is_none() && callback_(fraction).is(py::bool_(false))) return false;
  } catch (...) {
    error_ = std::current_exception();
    return false;
  }
  next_ = Clock::now() + kPeriod;
  return true;
}

View view_of(const Array& array, const char* name, int size) {
  if (array.ndim() != 1 || array.shape(0) != size) {
    const std::string shape = py::str(array.attr("shape"));
    throw py::value_error(std::string(name) + ": expected " + std::to_string(size) +
                          " numbers, got an array of shape " + shape);
  }
  return {array.data(), static_cast<size_t>(size)};
}

View view_of(const std::optional<Array>& array, const char* name, int size) {
  return array ? view_of(*array, name, size) : View{};
}

py::array_t<double> array_on(const std::vector<double>& numbers, const py::handle& owner) {
  py::array_t<double> out(static_cast<py::ssize_t>(numbers.size()), numbers.data(), owner);
  out.attr("setflags")(py::arg("write") = false);
  return out;
}

}  // namespace panto::python

PYBIND11_MODULE(_core, module) {
  namespace python = panto::python;
  module.doc() = "Compiled part of pantograph; use the names of the package itself.";
  module.attr("__version__") = PANTO_VERSION;
  pybind11::register_exception_translator(&python::translate);
  python::bind_model(module);
  python::bind_mechanics(module);
  python::bind_integrate(module);
  python::bind_linear(module);
  python::bind_identification(module);
  python::bind_updating(module);
  python::bind_reduction(module);
  python::bind_inversion(module);
  python::bind_modal(module);
  python::bind_estimation(module);
  python::bind_io(module);
  python::bind_validation(module);
  python::bind_scene(module);
}
