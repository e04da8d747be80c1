// From "any consistent subset" of initial values to a full state: positions that close all loops, then speeds.
#pragma once

#include "panto/base/diagnostics.hpp"
#include "panto/mechanics/workspace.hpp"

namespace panto {

struct AssembledState {
  Eigen::VectorXd q, v;
  int iterations = 0;
};

// Positions: Newton from the guesses (damped, minimum-norm steps in the given metric) on loops and given values together; speeds: the
// smallest that satisfy loops and given speeds. On failure the diagnostics name the loop that cannot close, by how much, and the given values that conflict.
// q_guess: start from these coordinates instead of the model's guesses (empty: the model's).
Result<AssembledState> assemble(Workspace& workspace, double t = 0, View q_guess = {});

// Mobility and health of a model at its assembled pose: `panto check`. Warnings accompany the report:
// W0521 a body that moves without inertia, W0522 singular pose, W0523 stiff element, W0524 coordinate out of its range.
struct CheckReport {
  int bodies = 0, joints = 0, loops = 0, coordinates = 0, rows = 0;
  int degrees_of_freedom = 0;  // speeds minus the generic rank of position and velocity rows
  int mobility = 0;            // the same with the rank at the pose: more in a singular one
  std::vector<std::string> redundant;  // rows that follow from the rows before them: "loop pin: y"
  std::vector<std::string> independent;  // chosen independent coordinates
  double conditioning = 0;               // smallest relative pivot
  bool singular_pose = false;  // rank drops here compared with the neighbourhood on the motion
  std::vector<double>
      frequencies_hz;  // implied by stiff elements: sqrt(k / reduced mass) per element, 0 where none
  Eigen::VectorXd q, v;
};
Result<CheckReport> check(Workspace& workspace);

// Generalised forces of the chosen inputs that produce accelerations a at (t, q, v): solves r = 0 for λ and u of `actuators` (input indices;
// the others are as in u). Rank-revealing: kSingular when the actuators cannot produce the motion, then u is the least-squares answer.
struct InverseDynamics {
  Eigen::VectorXd u, lambda;
  double residual = 0;  // norm of what no input can produce
};
[[nodiscard]] Status inverse_dynamics(Workspace& workspace, const Point& motion,
                                      std::span<const int> actuators, InverseDynamics& out);

// Static equilibrium with constant inputs at time t, from a guess. Stability from the tangent: eigenvalues of the linearised motion.
struct EquilibriumOptions {
  View q{};  // guess; empty: the assembled initial pose
  // Steady motion: speeds that are kept (made to fit the loops as these move); empty: at rest.
  View v{};
  bool search = true;     // false: the forces at the guess itself, loops closed
  bool stability = true;  // also eigenvalues, where at rest
};
struct Equilibrium {
  Eigen::VectorXd q, v, lambda;
  double residual = 0;  // largest generalised force left along the independent directions
  // At rest only: no eigenvalue with positive real part, and the largest real part [1/s].
  bool stable = false;
  double growth_rate = 0;
  std::vector<std::pair<double, double>> eigenvalues;
  int iterations = 0;
};
Result<Equilibrium> equilibrium(Workspace& workspace, double t,
                                const EquilibriumOptions& options = {});

}  // namespace panto
