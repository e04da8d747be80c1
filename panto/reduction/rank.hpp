// Which interior modes a reduced model needs: rankings by what the model is for.
#pragma once

#include <string>
#include <vector>

#include "panto/reduction/response.hpp"

namespace panto {

struct Ranking {
  std::vector<int> order;       // interior modes, most important first
  Eigen::VectorXd coefficient;  // by interior mode
};

// Ascending frequency (SBE): coefficient 1/ω_ς².
Ranking rank_sbe(const CraigBampton& cb);

// Interior mode ranking (IMR) for chosen modes of the full system, weighted (RED-5, RED-6, RED-7, RED-8).
struct InteriorModeRanking : Ranking {
  Eigen::MatrixXd upsilon;  // Υ_{i,ς}/q̂_i: full modes x interior modes, not negative
  Eigen::VectorXd statics;  // share of the static shapes: statics + Σ over all modes of Υ = 1
  Eigen::VectorXd rest;     // Σ Υ over the interior modes that were not computed
  Eigen::VectorXd weights;  // αᵢ, sum 1

  // A-priori truncation error ε of a model with the first τ of the modes `taken`, for τ = 0 … : Σ αᵢ Σ Υ over what is left out, modes that
  // were not computed included.
  [[nodiscard]] std::vector<double> error(const std::vector<int>& taken) const;
};
// weights: one per mode, positive, of any sum; empty: equal.
InteriorModeRanking rank_imr(const LinearSystem& system, const CraigBampton& cb,
                             const FullModes& full, const std::vector<double>& weights = {});

// Energy-based ranking (EBR) for known periodic forces on masters: interior part of the mean energy of the full system's response, harmonics by
// columns (RED-10).
struct EnergyRanking : Ranking {
  double master_energy = 0, interior_energy = 0;  // mean over a period; together: of the system
};
EnergyRanking rank_ebr(const LinearSystem& system, const CraigBampton& cb,
                       const std::vector<Harmonic>& harmonics, const Eigen::MatrixXcd& response);

}  // namespace panto
