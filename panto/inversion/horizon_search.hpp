// How Newton's method is led to the bounded motion over a horizon: the mesh it begins on and how that is refined, the first guess, and slower paths, whose motion is
// sped up where that of the path itself is out of reach (docs/theory/stable-inversion.md, SRV-48, SRV-49, SRV-65).
#pragma once

#include "panto/inversion/stable_inversion.hpp"

namespace panto {

// A path that is followed more slowly: `stretch` times its duration, from the same beginning.
struct SlowedPath {
  const Path& path;
  double stretch = 1;
  [[nodiscard]] double own_time(double t) const {
    return path.begin() + (t - path.begin()) / stretch;
  }
  [[nodiscard]] double end() const { return path.begin() + (path.end() - path.begin()) * stretch; }
  [[nodiscard]] Targets targets() const;
};

// Parts of the horizon with equal spacing inside; the boundaries are instants of the mesh.
std::vector<double> equal_intervals(const std::vector<double>& boundaries, double spacing);

// At rest where the path is, instant by instant: columns (y, v, w, λ, u); speeds and accelerations by differences. E1021.
Result<Eigen::MatrixXd> rest_along(ServoSystem& system, const SlowedPath& slowed,
                                   const std::vector<double>& mesh, const Rest& begin);

// Where the search begins and what it obeys.
struct HorizonProblem {
  const Rest& rest;        // at the beginning
  HorizonEnd first, last;  // conditions at the ends
  double spacing;          // of the first mesh
  int smoothness;          // continuous derivatives that the inverse needs of the path
  double before, after;    // the horizon that would be taken were none given
};

// The motion, its mesh, error and counts into `out`, whose horizon and modes are known. Errors: E1021, E1073, E1074, E1075.
Diagnostics search_motion(ServoSystem& system, const Path& path, const StableOptions& options,
                          const HorizonProblem& problem, StableInversion& out);

}  // namespace panto
