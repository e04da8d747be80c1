// Natural vibrations of a linearised mechanism.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "panto/linear/linearize.hpp"

namespace panto {

// An undamped mode: K_z φ = ω² M_z φ, symmetric part of K_z.                                                  (MOD-1)
struct Mode {
  double frequency_hz = 0;  // 0 for a rigid mode, and where ω² < 0 (then growth_rate tells)
  double growth_rate = 0;   // sqrt(-ω²) [1/s] of an unstable mode without damping
  double damping = 0;       // φᵀ D_z φ / (2 ω φᵀ M_z φ)
  Eigen::VectorXd z;        // φᵀ M_z φ = 1
  Eigen::VectorXd shape;    // δq, largest entry 1
  // Shares of the potential energy ½ φᵀ K_z φ: per force element (a spring's ½ k x²); what gravity, preload and constraint forces add is the rest.
  std::vector<double> strain;
  double strain_rest = 0;
  // Share of the kinetic energy per coordinate; how each input drives the mode, φᵀ B_z (mass-normalised).
  Eigen::VectorXd kinetic, participation;
};

struct Modes {
  std::vector<Mode> list;             // ascending frequency; unstable ones first
  std::vector<std::string> elements;  // names of the force elements
  Eigen::VectorXcd eigenvalues;       // of A, damping and gyroscopic terms included
  Eigen::MatrixXcd vectors;           // δq per eigenvalue, largest entry 1
  bool stable = true;                 // no eigenvalue grows, beyond round-off
  double growth_rate = 0;             // largest real part [1/s]
  double asymmetry =
      0;  // of K_z relative to its size: friction, follower forces; MOD-1 uses the symmetric part
};

struct ModesOptions {
  // Lowest modes only, without eigenvalues of A; 0: all. Large models (300 states z) then take the sparse path: Lanczos iteration on sparse factors of K_z
  // and M_z. Relative coordinates of a long chain have full matrices, and dense factors; still far fewer operations than all modes.
  int count = 0;
};

// Fails where the minimal form does not exist (drives act on speeds, E0509).
Result<Modes> modes(Workspace& workspace, const OperatingPoint& point, const LinearModel& linear,
                    const ModesOptions& options = {});

}  // namespace panto
