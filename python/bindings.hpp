// What the binding files share: the model as Python holds it, arrays in and out, errors on their way to Python.
#pragma once

#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/base/status.hpp"
#include "panto/mechanics/workspace.hpp"
#include "panto/model/model.hpp"
#include "panto/model/spec.hpp"

namespace panto::python {

namespace py = pybind11;

// ---- errors -----------------------------------------------------------------------------------------------------------

// Becomes pantograph.ModelError, or pantograph.NumericalError where the diagnostics report a numerical failure.
class Rejected : public std::exception {
 public:
  explicit Rejected(Diagnostics diagnostics) : diagnostics_(std::move(diagnostics)) {}
  [[nodiscard]] const Diagnostics& diagnostics() const { return diagnostics_; }
  [[nodiscard]] const char* what() const noexcept override { return "rejected"; }

 private:
  Diagnostics diagnostics_;
};

// Becomes pantograph.NumericalError.
class NumericalFailure : public std::runtime_error {
 public:
  NumericalFailure(Status status, const std::string& message)
      : std::runtime_error(message + " (" + to_string(status) + ")") {}
};

template <class T>
T value_of(Result<T>&& result) {
  if (!result) throw Rejected(result.diagnostics());
  return std::move(*result);
}

// list[Diagnostic] of the Python package.
py::list to_python(const Diagnostics& diagnostics);

// ---- long calls -------------------------------------------------------------------------------------------------------

// Looks after signals, and calls the user, every 50 ms of a call that has released the interpreter's lock. A Python error
// (Ctrl-C among them) is kept until rethrow(). Calls from other threads than the one that made it, where Python takes no signals, are
// answered with yes.
class Watch {
 public:
  // callback: None, or called with the fraction done; False stops.
  explicit Watch(py::object callback = py::none()) : callback_(std::move(callback)) {}
  // Whether to go on. Does not throw.
  bool operator()(double fraction) noexcept;
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPeriod{50};

  py::object callback_;
  std::thread::id owner_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now() + kPeriod;
  std::exception_ptr error_;
};

// ---- arrays -----------------------------------------------------------------------------------------------------------

// An argument: no copy where the caller's array holds contiguous doubles.
using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;

// The numbers of a vector of the wanted length; ValueError names the argument otherwise.
View view_of(const Array& array, const char* name, int size);
// Absent: empty.
View view_of(const std::optional<Array>& array, const char* name, int size);

// A read-only array on numbers that `owner` keeps alive.
py::array_t<double> array_on(const std::vector<double>& numbers, const py::handle& owner);

// ---- model ------------------------------------------------------------------------------------------------------------

// The compiled model at one θ. Copies with another θ share everything else.
struct CompiledModel {
  std::shared_ptr<const Model> model;
  Params params;
  Diagnostics warnings;

  // Scratch for the short calls, which hold the interpreter's lock; long calls make their own.
  Workspace& workspace();
  [[nodiscard]] std::unique_ptr<Workspace> new_workspace() const {
    return Workspace::create(*model, params);
  }

 private:
  std::unique_ptr<Workspace> workspace_;
};

// Point of EOM-2..4 from Python arguments, with the storage of what was not given.
struct Arguments {
  Point point;
  std::vector<double> zeros, u, u_rate;
};
// v, a, lambda: zero where absent. u absent: the model's own inputs at t.
Arguments arguments(CompiledModel& m, double t, const Array& q, const std::optional<Array>& v,
                    const std::optional<Array>& a, const std::optional<Array>& lambda,
                    const std::optional<Array>& u);

void bind_model(py::module_& module);
void bind_mechanics(py::module_& module);
void bind_integrate(py::module_& module);
void bind_linear(py::module_& module);
void bind_identification(py::module_& module);
void bind_updating(py::module_& module);
void bind_reduction(py::module_& module);
void bind_inversion(py::module_& module);
void bind_modal(py::module_& module);
void bind_estimation(py::module_& module);
void bind_io(py::module_& module);
void bind_validation(py::module_& module);
void bind_scene(py::module_& module);

}  // namespace panto::python
