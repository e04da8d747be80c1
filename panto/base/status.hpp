// Outcome of a numerical operation: 0 ok, > 0 recoverable, < 0 fatal. Never thrown, never
// allocated.
#pragma once

namespace panto {

enum class Status : int {
  kOk = 0,
  kRepartition =
      1,  // the choice of independent coordinates became ill-conditioned; choose again and repeat
  kNotConverged = 2,   // an iteration stopped at its limit
  kSingular = -1,      // a matrix that must be regular is not
  kNotFinite = -2,     // a NaN or infinity appeared
  kInconsistent = -3,  // constraints contradict each other (a loop that cannot close)
  kBadArgument = -4,   // sizes or values that the operation cannot accept
  kIntegratorFailed = -5,
};

[[nodiscard]] constexpr bool ok(Status s) { return s == Status::kOk; }
[[nodiscard]] constexpr bool fatal(Status s) { return static_cast<int>(s) < 0; }
const char* to_string(Status s);

}  // namespace panto
