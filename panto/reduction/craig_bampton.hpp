// Craig–Bampton reduction: masters kept as they are, the interior by static shapes and fixed-interface modes (RED-1 … RED-4).
//
// paper symbol (Palomba, ch. 5) → code
//   x₁ masters, x₂ slaves → masters, interior      B = -K₂₂⁻¹K₂₁ → B      Φ, ω_ς² → Phi, omega2
//   M̄₁₁, M̄₁₂ = (M₁₂ + BᵀM₂₂)Φ, K̄₁₁ → M11, M12, K11      H̃ → basis()
#pragma once

#include <functional>
#include <vector>

#include "panto/reduction/system.hpp"

namespace panto {

// Called with the fraction done; false stops, and the work ends with E0909.
using ReductionProgress = std::function<bool(double)>;

struct CraigBamptonOptions {
  int modes = 0;        // interior modes to compute, the lowest; 0: none (Guyan); -1: all
  double up_to_hz = 0;  // or all interior modes up to this frequency; 0: `modes` decides
  ReductionProgress progress{};
};

struct CraigBampton {
  std::vector<int> masters, interior;  // degrees of freedom of the system
  Eigen::MatrixXd B;                   // interior x masters
  Eigen::MatrixXd Phi;                 // interior x modes, ΦᵀM₂₂Φ = I
  Eigen::VectorXd omega2;              // ascending [1/s²]
  Eigen::MatrixXd M11, K11;            // masters x masters
  Eigen::MatrixXd M12;                 // masters x modes
  Eigen::MatrixXd C;                   // (masters + modes)², empty without damping
  int rigid = 0;                       // motions of the whole system without strain energy

  [[nodiscard]] int modes() const { return static_cast<int>(omega2.size()); }
  [[nodiscard]] bool complete() const { return Phi.cols() == Phi.rows(); }
};

// Needs a system that check() has passed. E0905: the masters leave motions of the interior free that cost no strain energy; E0906: no interior, or
// a negative number of modes; E0907: negative stiffness; E0908: the iteration for interior modes failed; E0909: stopped.
// Cost: three factorisations of matrices like K₂₂, one solve per master, 2 to 3 solves per mode.
Result<CraigBampton> craig_bampton(const LinearSystem& system, std::vector<int> masters,
                                   const CraigBamptonOptions& options = {});

// Other interior modes for static shapes that are there: what craig_bampton() does after them. E0906, E0908, E0909.
Diagnostics interior_modes(const LinearSystem& system, const CraigBamptonOptions& options,
                           CraigBampton& cb);

// The reduced system with the interior modes `selected` (numbers from 0), in that order.
struct ReducedSystem {
  std::vector<std::string> names;  // masters' names, then "mode 7", from 1
  Eigen::MatrixXd M, K;
  Eigen::MatrixXd C;      // empty without damping
  Eigen::MatrixXd basis;  // H̃: x = H̃ y, rows in the order of the system
  std::vector<int> masters, selected;
};
ReducedSystem reduced(const LinearSystem& system, const CraigBampton& cb,
                      const std::vector<int>& selected);

// x = H̃ y (RED-2): columns of y are states of the reduced system.
Eigen::MatrixXd expand(const CraigBampton& cb, const std::vector<int>& selected,
                       const Eigen::MatrixXd& y);

// x as Craig–Bampton coordinates with all computed modes: {x₁; Φᵀ M₂₂ (x₂ - B x₁)}, exact for these modes.
Eigen::MatrixXd coordinates(const LinearSystem& system, const CraigBampton& cb,
                            const Eigen::MatrixXd& x);

// Blocks of a sparse symmetric matrix.
SparseMatrix sub_matrix(const SparseMatrix& a, const std::vector<int>& rows,
                        const std::vector<int>& columns);

}  // namespace panto
