#include "panto/reduction/superelement.hpp"

#include <cmath>

#include "panto/base/contract.hpp"

namespace panto {
namespace {

constexpr double kCoupled = 1e-6;  // of the damping of two modes: round-off of proportional damping

}  // namespace

Result<SuperelementModes> superelement_modes(const ReducedSystem& system, int rigid) {
  const auto pairs = symmetric_pairs(system.K, system.M);
  PANTO_EXPECT(pairs.has_value(), "a reduced mass matrix is positive definite");
  SuperelementModes out;
  const size_t masters = system.masters.size();
  out.masters.assign(system.names.begin(),
                     system.names.begin() + static_cast<std::ptrdiff_t>(masters));
  out.omega2 = pairs->values.cwiseMax(0);
  out.omega2.head(std::min<Eigen::Index>(rigid, out.omega2.size())).setZero();
  out.shapes = pairs->vectors.topRows(static_cast<Eigen::Index>(masters));
  if (system.C.rows() == 0) return out;
  const Eigen::MatrixXd c = pairs->vectors.transpose() * system.C * pairs->vectors;
  out.damping = c.diagonal();
  const double largest = out.damping.cwiseAbs().maxCoeff();
  if (out.damping.minCoeff() < -1e-12 * largest) {
    Diagnostics notes;
    notes.warning(920, {},
                  "the damping matrix drives a mode, so that there is no file of modes for a "
                  "superelement");
    return notes;
  }
  out.damping = out.damping.cwiseMax(0);
  for (Eigen::Index i = 0; i < c.rows(); ++i)
    for (Eigen::Index j = 0; j < i; ++j)
      if (std::abs(c(i, j)) > kCoupled * std::sqrt(out.damping(i) * out.damping(j)) &&
          std::abs(c(i, j)) > 1e-12 * largest) {
        Diagnostics notes;
        notes.warning(920, {},
                      "the damping matrix couples modes, so that there is no file of modes for a "
                      "superelement; damping of the form C = αM + βK does not");
        return notes;
      }
  return out;
}

}  // namespace panto
