// What the bindings of linear models share: a model linearised at a pose.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "panto/linear/linearize.hpp"
#include "python/bindings.hpp"

namespace panto::python {

struct Linearised {
  std::shared_ptr<const Model> model;
  std::unique_ptr<Workspace> workspace;
  OperatingPoint point;
  LinearModel linear;
  Diagnostics notes;
};

// where: "equilibrium", "here" or "steady"; releases the interpreter's lock while it computes.
Linearised linearised(const CompiledModel& m, const std::vector<std::pair<std::string, double>>& at,
                      const std::string& where, double t);

}  // namespace panto::python
