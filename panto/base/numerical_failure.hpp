// Which diagnostics report a calculation that failed on acceptable input; all others speak about what was given.
#pragma once

#include <algorithm>
#include <array>

#include "panto/base/diagnostics.hpp"

namespace panto {

// Every error is of that kind.
inline bool numerical_failure(const Diagnostics& diagnostics) {
  constexpr std::array kIds{505, 510,  516,  517,  540,  718,  813,  908,
                            960, 1021, 1023, 1024, 1025, 1059, 1073, 1074};
  return std::all_of(diagnostics.items().begin(), diagnostics.items().end(),
                     [&](const Diagnostic& d) {
                       return d.severity == Severity::kWarning ||
                              std::find(kIds.begin(), kIds.end(), d.id) != kIds.end();
                     });
}

}  // namespace panto
