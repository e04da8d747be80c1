// Laws that the mechanics of every model must obey, as functions of a model. A failed law is a gtest failure that names what broke.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "panto/mechanics/workspace.hpp"

namespace panto::laws {

// A consistent motion (position and velocity constraints hold at t, q, v, u) with arbitrary a and λ.
struct Sample {
  double t = 0;
  Eigen::VectorXd q, v, a, lambda, u, u_rate;
  [[nodiscard]] Point point() const;
};

// Random motions around the initial pose; the same for the same seed. Fails the test when the model cannot be assembled.
std::vector<Sample> samples(const Model& model, int count, unsigned seed);

// M symmetric, positive definite along the possible motions, r(a) - r(0) = M a, kinetic energy = vᵀ M v / 2.
void mass_matrix_is_inertia(const Model& model, const Sample& s);
// Every channel of the model: rate and acceleration are derivatives of the value along the motion, rate = gradient · v, and a unit
// force on the channel adds -gradient to r.
void channels_are_power_conjugate(const Model& model, const Sample& s);
// Every block of the tangent equals the complex step of the residual.
void tangent_is_complex_step(const Model& model, const Sample& s, double tolerance = 1e-12);
// Forward dynamics with multipliers and in independent coordinates agree and satisfy r = 0, φ'' = 0.
void forms_agree(const Model& model, const Sample& s);
// With a force on every coordinate, inverse dynamics finds forces that make forward dynamics reproduce any possible acceleration.
void inverse_undoes_forward(const Model& model, const Sample& s);
// d(kinetic + potential)/dt = power entering - power taken.
void energy_is_balanced(const Model& model, const Sample& s);
// The reaction in a joint, along its free direction, is what acts on its coordinate.
void reactions_carry_the_coordinate_forces(const Model& model, const Sample& s);
// Closing positions and velocities in independent coordinates leaves constraints at round-off, and G R = 0.
void independent_coordinates_close(const Model& model, const Sample& s);
// A planar model and the same model in space have the same equations, outputs, energies, accelerations and reactions.
void planar_equals_spatial(const Model& model, const Sample& s);

// All of the above.
void all(const Model& model, int count, unsigned seed);

// The planar model as a spatial one.
Model lifted(const Model& planar);

}  // namespace panto::laws
