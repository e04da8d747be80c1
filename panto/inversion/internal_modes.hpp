// Internal motion of an inverse model near a rest: the modes that the outputs do not see, by whether they decay, grow or do neither (SRV-40).
#pragma once

#include "panto/inversion/analysis.hpp"

namespace panto {

// Deviations d = (y - y_rest, v) of the linearised inverse equations with outputs that stay are spanned by decaying, neutral and growing modes. Real bases: a complex
// pair gives two columns. Speeds count in units of `frequency`, here and in all rows below.
struct InternalModes {
  std::vector<std::complex<double>> decaying, neutral, growing;  // zeros, slowest first
  Eigen::MatrixXd decaying_basis, neutral_basis, growing_basis;  // 2 nv rows
  // Rows of d that hold at every instant: those of the mechanism and its outputs on positions and speeds, and what the equations of motion demand where inputs do not
  // act on accelerations at once.
  Eigen::MatrixXd rows;
  Eigen::MatrixXd idle;  // columns of (λ, u) that do not act at once: as many as such demands
  double frequency = 1;

  [[nodiscard]] int size() const {
    return static_cast<int>(decaying_basis.cols() + neutral_basis.cols() + growing_basis.cols());
  }
  [[nodiscard]] Eigen::MatrixXd basis() const;
};

// zeros count as neutral where |Re s| < `marginal` times |s|.
InternalModes internal_modes(ServoSystem& system, double t, const Rest& rest,
                             double marginal = 1e-6);

// Conditions c (d - 0) = 0 at an end: rows of 2 nv numbers, speeds in units of `frequency`.
struct EndConditions {
  Eigen::MatrixXd rows;
  Eigen::MatrixXd forces;    // further conditions, on (λ, u) less those at rest
  std::vector<int> clamped;  // numbers in d, where conditions are on single components
};

// At the beginning the motion must leave rest along growing modes (SRV-41), at the end come to rest along decaying ones (SRV-42). Neutral modes begin at rest.
EndConditions leave_along_growing(const InternalModes& modes);
EndConditions arrive_along_decaying(const InternalModes& modes);
// At the beginning neutral modes alone at rest: for those who choose the others.
EndConditions rest_of_neutral(const InternalModes& modes);
// The same with single positions and speeds held at their rest (SRV-43): as many as there are modes to be kept out, chosen so that they tell these modes apart as
// well as can be, positions first; `chosen`: numbers in d to be taken instead. Empty rows where `chosen` cannot tell them apart.
EndConditions clamp_begin(const InternalModes& modes, const std::vector<int>& chosen = {});
EndConditions clamp_end(const InternalModes& modes, const std::vector<int>& chosen = {});

}  // namespace panto
