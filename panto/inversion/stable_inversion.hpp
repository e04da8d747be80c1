// Stable inversion: the bounded motion of a mechanism whose outputs follow a path, also where its internal motion would grow in a forward integration. Inputs begin
// to act before the path does, and go on after it (docs/theory/stable-inversion.md).
#pragma once

#include "panto/inversion/collocation.hpp"
#include "panto/inversion/inverse_model.hpp"

namespace panto {

enum class EndKind : std::uint8_t {
  kEigenspaces,  // leave rest along growing, reach it along decaying internal modes
  kClamped,      // hold single positions and speeds at rest
};

enum class StableMethod : std::uint8_t {
  kBoundaryValue,  // conditions at the ends
  kDirect,  // none: of the motions over the horizon the one nearest to rest, by an interior point method (SRV-52)
  kIndirect,  // the same by the adjoint equations (SRV-53)
};

// Continuous derivatives of a path beyond those that the inverse needs, with which meshes converge: where inputs, or the rates of forces within, have a kink the error falls
// slowly, if at all.
inline constexpr int kSmootherPath = 2;

// Where Newton's method begins.
enum class StableGuess : std::uint8_t {
  kRest,    // at rest where the path is, instant by instant: links as rigid as they are at rest
  kLinear,  // the bounded motion of the equations linearised along that rest (SRV-65)
};

struct StableOptions {
  StableMethod method = StableMethod::kBoundaryValue;
  EndKind ends = EndKind::kEigenspaces;
  StableGuess guess = StableGuess::kRest;  // kBoundaryValue
  double
      before = -1,
      after =
          -1;  // horizon before and after the path [s]; -1: until internal motion has decayed to `leakage`, where it hardly decays no longer than (SRV-66); where it is neutral alone a quarter of the path after it
  double leakage = 1e-6;
  double dt = 0;            // > 0: a mesh of this spacing, finer after slowing down; not refined
  double cycle = 0;         // > 0: inputs are to be delivered in steps of this length (E1078)
  double tolerance = 1e-6;  // of positions, speeds and inputs, relative to their largest values
  int most_intervals = 20000;
  int iterations = 25;
  double newton_tolerance = 1e-8;
  // kClamped: names of coordinates, with "'" their speeds; empty: chosen.
  std::vector<std::string> clamp_begin, clamp_end;
  std::function<bool(double)> progress;  // fraction done; false stops
};

// How it was found.
struct StableReport {
  ServoAnalysis analysis;  // at the beginning
  InternalModes modes;     // there
  StableMethod method = StableMethod::kBoundaryValue;
  EndKind ends = EndKind::kEigenspaces;
  std::vector<std::string> clamped_begin, clamped_end;
  double path_begin = 0, path_end = 0;
  std::vector<double> rest;      // coordinates at the beginning of the path
  double before = 0, after = 0;  // horizon
  double
      pre_actuation = 0,
      post_actuation =
          0;  // how long inputs differ from rest by more than a thousandth of their largest change; after the path infinite where neutral oscillation keeps them from it
  double
      leakage_begin = 0,
      leakage_end =
          0;  // distance from rest at the ends, relative to the largest from the rest along the path
  double error = 0;  // by the change since the mesh before; 0 with a mesh that was given
  int intervals = 0, meshes = 0, iterations = 0, slow_downs = 0;
};

struct StableInversion : StableReport {
  std::vector<double> t;  // instants of the mesh and the middles of its intervals
  std::vector<std::vector<double>> y, v, w, lambda, u;  // by row
};

// E1078 where even the slowest growing or decaying internal motion changes e-fold within dt.
Diagnostics resolves(const InternalModes& modes, double dt);

// Errors: E1021 (no rest at the beginning or end), E1032 (no inverse), E1071 (no bounded motion: a zero at the origin, or one that crosses the axis on the way),
// E1072 (options that cannot be: clamps, horizon), E1078 (a mesh that is too coarse), E1073 (Newton's method fails, also from slower motions), E1074 (the mesh would need more than `most_intervals`), E1075 (stopped), E1090
// (indirect, where inputs do not act on accelerations at once; direct, where they act by way of more than four derivatives).
// Warnings: W1076 (zeros on the imaginary axis: oscillations that do not decay), W1077 (a horizon that is too short, and the one that would do), W1033.
Result<StableInversion> invert_stably(ServoSystem& system, const Path& path,
                                      const StableOptions& options);

}  // namespace panto
