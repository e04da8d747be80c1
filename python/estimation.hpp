// What the bindings of observers share: logs in, columns of estimates out.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "panto/estimation/log.hpp"
#include "python/bindings.hpp"

namespace panto::python {

// name, t, values.
using LogColumns = std::vector<std::tuple<std::string, std::vector<double>, std::vector<double>>>;
// A file, or columns.
using LogSource = std::variant<std::string, LogColumns>;
// Columns named as outputs of the model are sensors, the others inputs.
SensorLog log_from(const LogColumns& columns, const Model& model);

py::array_t<double> array(const std::vector<double>& v);
py::dict dict_of(const std::vector<std::pair<std::string, double>>& values);

// name -> value(column).
template <class Columns, class Value>
py::dict by_name(const Columns& columns, const Value& value) {
  py::dict d;
  for (const auto& c : columns) d[py::str(c.name)] = value(c);
  return d;
}

// model, filter, t, values, sigma, units, innovations, innovation_sigma, nis.
py::dict columns_of(const EstimateSeries& series);

void bind_kinematic(py::module_& module);

}  // namespace panto::python
