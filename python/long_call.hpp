// Calls of the library that take long.
#pragma once

#include <functional>
#include <type_traits>

#include "python/bindings.hpp"

namespace panto::python {

// What calculate(progress) -> Result<T> finds, without the interpreter's lock, and its warnings: pair of T and list. Ctrl-C and the user's `progress` stop it.
template <class Calculate>
auto found_by(const Calculate& calculate, py::object progress) {
  using Found = std::invoke_result_t<Calculate, std::function<bool(double)>>;
  Watch watch(std::move(progress));
  std::optional<Found> result;
  {
    const py::gil_scoped_release release;
    result = calculate(std::ref(watch));
  }
  watch.rethrow();
  py::list notes = to_python(result->diagnostics());
  return std::pair(value_of(std::move(*result)), std::move(notes));
}

}  // namespace panto::python
