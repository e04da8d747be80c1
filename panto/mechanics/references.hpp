// References of a reduced mechanism (RER-7, RER-8, RER-11): interior modes computed with the links at several poses, between which a run changes without
// allocating. Number 0 is the model's.
#pragma once

#include <Eigen/Core>

#include "panto/mechanics/workspace.hpp"

namespace panto {

class References {
 public:
  References() = default;
  virtual ~References() = default;
  References(const References&) = delete;
  References& operator=(const References&) = delete;

  [[nodiscard]] virtual int references() const noexcept = 0;
  // The one in use; -1: modes that renew_reduction() made.
  [[nodiscard]] virtual int reference() const noexcept = 0;
  // One more, with the links where they are at q, its modes in the order and sense of the model's. -1: there are none. Allocates.
  [[nodiscard]] virtual int add_reference(View q) = 0;
  // Amplitudes are from now on those of reference i.
  virtual void use_reference(int i) noexcept = 0;
  // RER-11 at q, with the modes in use and with those of reference i.
  [[nodiscard]] virtual double misfit(View q) noexcept = 0;
  [[nodiscard]] virtual double reference_misfit(int i, View q) noexcept = 0;
  // (q, v) in amplitudes of reference `from` becomes the same motion in those of `to` (RER-8), which is then in use. change: derivatives of the new
  // amplitudes, then of their rates, by (δq, δv) before: 2 modes x 2 nv. False, with nothing changed: modes that are not independent.
  [[nodiscard]] virtual bool hand_over(int from, int to, MutableView q, MutableView v,
                                       Eigen::MatrixXd& change) noexcept = 0;
};

// Of a workspace of a reduced model; null: nothing is reduced, or by masters alone.
[[nodiscard]] References* references_of(Workspace& workspace);

}  // namespace panto
