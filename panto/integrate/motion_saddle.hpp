// The sparse matrix [ T -Gᵀ; G 0 ] of an implicit step, multipliers as further unknowns: T has the pattern of the step's tangent, redundant rows of G are
// replaced by those of the unit matrix.
#pragma once

#include <algorithm>
#include <vector>

#include "panto/integrate/ode.hpp"
#include "panto/numerics/staged_lu.hpp"

namespace panto {

class MotionSaddle {
 public:
  explicit MotionSaddle(Workspace& workspace);
  // Values are not kept.
  [[nodiscard]] const RowMatrix& pattern() const { return pattern_; }
  // The step's tangent with its pattern, values of some pose.
  [[nodiscard]] const RowMatrix& tangent() const { return tangent_; }
  // Values of the matrix from those of T and the workspace's G.
  template <class Scalar>
  void fill(const Workspace& workspace, const std::vector<Scalar>& t,
            std::vector<Scalar>& out) const noexcept {
    const auto nv = static_cast<size_t>(tangent_.columns);
    const RowMatrix& g = workspace.constraint_rows();
    for (size_t i = 0; i < nv; ++i)
      std::copy(t.begin() + tangent_.start[i], t.begin() + tangent_.start[i + 1],
                out.begin() + pattern_.start[i]);
    const auto redundant = workspace.redundant_rows();
    for (int j = 0; j < g.rows(); ++j) {
      const bool kept = std::find(redundant.begin(), redundant.end(), j) == redundant.end();
      const auto row = static_cast<size_t>(j);
      auto to = static_cast<size_t>(pattern_.start[nv + row]);
      for (auto k = static_cast<size_t>(g.start[row]); k < static_cast<size_t>(g.start[row + 1]);
           ++k) {
        out[to++] = kept ? g.value[k] : 0;
        out[static_cast<size_t>(in_columns_[k])] = kept ? -g.value[k] : 0;
      }
      out[to] = kept ? 0 : 1;
    }
  }

 private:
  RowMatrix tangent_, pattern_;
  std::vector<int> in_columns_;  // entry of G -> place of the same in -Gᵀ
};

// The point of (t, x) where the independent speeds change at these rates; rest as by Ode::imbalance().
[[nodiscard]] Status balanced_point(Ode& ode, double t, View x, View rates, MutableView rest,
                                    Point& point) noexcept;

}  // namespace panto
