// panto linearize --along: the linear model along a motion.
#pragma once

#include <optional>

#include "apps/cli/operating.hpp"

namespace panto::cli {

struct AlongArguments {
  bool along = false;
  double until = 0, sample = 0, tol = 0;
  CLI::Option *until_given = nullptr, *sample_given = nullptr, *tol_given = nullptr;
  std::string out;
};
// --along and what goes with it; what asks for a single pose excludes it.
void add_along_arguments(CLI::App& verb, AlongArguments& arguments);

int linearize_along_verb(const OperatingArguments& operating, const AlongArguments& arguments);

}  // namespace panto::cli
