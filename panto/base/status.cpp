#include "panto/base/status.hpp"

namespace panto {

const char* to_string(Status s) {
  switch (s) {
    case Status::kOk:
      return "ok";
    case Status::kRepartition:
      return "independent coordinates must be chosen again";
    case Status::kNotConverged:
      return "iteration did not converge";
    case Status::kSingular:
      return "singular matrix";
    case Status::kNotFinite:
      return "a value is not finite";
    case Status::kInconsistent:
      return "constraints contradict each other";
    case Status::kBadArgument:
      return "argument of wrong size or value";
    case Status::kIntegratorFailed:
      return "integrator failed";
  }
  return "unknown status";
}

}  // namespace panto
