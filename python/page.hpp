// A report page that Python may ask for later.
#pragma once

#include <functional>

#include "panto/scene/report.hpp"
#include "python/bindings.hpp"

namespace panto::python {

// Made when it is asked for; keeps what it is made of.
struct Page {
  std::function<scene::Report()> report;
};

}  // namespace panto::python
