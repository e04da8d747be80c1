// A linear system M ẍ + C ẋ + K x = f to be reduced, with names for its degrees of freedom.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/linear/linearize.hpp"
#include "panto/numerics/sparse_pairs.hpp"

namespace panto {

// Degrees of freedom under one name: a face of a mesh, an actuator, a sensor.
struct DofSet {
  std::string name;
  std::vector<int> dofs;
};

struct LinearSystem {
  std::string name;
  SparseMatrix M, K;
  SparseMatrix C;                                             // empty: none
  double round_off = std::numeric_limits<double>::epsilon();  // of the entries of K, relative
  std::vector<std::string> dofs;  // "tray.5.y": a node's name ends before the last dot
  std::vector<DofSet> sets;

  [[nodiscard]] int size() const { return static_cast<int>(K.rows()); }
  [[nodiscard]] bool damped() const { return C.rows() > 0; }
};

// Where matrices come from, for findings about them and their remedies.
struct MatrixOrigin {
  Loc M{}, K{}, C{};       // files
  bool mechanism = false;  // linearised
};

// Sizes and names (E0901), finite numbers and symmetry (E0902), M positive definite (E0903). Round-off in symmetry, up to 1e-9 of both entries or 1e-12 of the largest (1e-9 of
// mechanisms), is averaged away in place.
Diagnostics check(LinearSystem& system, const MatrixOrigin& origin = {});

// The same findings with `place` where one has none.
Diagnostics located(const Diagnostics& findings, const Loc& place);

// The minimal form (LIN-2) of a mechanism linearised at a pose. Sets: per input the coordinates that it drives, per output those whose acceleration it reads, else whose position, else whose speed.
// Fails without second-order form (E0509), and where friction or follower forces make K_z unsymmetric (E0902).
Result<LinearSystem> linear_system(const LinearModel& linear, const std::string& name);

// Degrees of freedom by names, each once, in the order of the names: of a degree of freedom, a set, or a node (all of its degrees of freedom).
// E0904 with a suggestion; `place`: where the names stand.
Result<std::vector<int>> find_dofs(const LinearSystem& system,
                                   const std::vector<std::string>& names, const Loc& place = {});

}  // namespace panto
