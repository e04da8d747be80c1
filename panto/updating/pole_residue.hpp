// Frequency responses as a sum of modes with residual terms (EMA-5): residues by linear least squares, poles by nonlinear least squares.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <vector>

namespace panto {

// H(s) = s^q ( Σ_k R_k / (s - λ_k) + conj(R_k) / (s - conj λ_k) + U + L / s² ), s = 2πi f + σ; q = 0, 1, 2 for displacement, velocity, acceleration per
// force, σ the rate of an exponential window of the responses, U and L (real) stand for modes above and below the band.
class PoleResidueModel {
 public:
  // The frequencies must be positive where q < 2 and σ = 0.
  PoleResidueModel(const Eigen::VectorXd& frequency_hz, int q, double window_decay);

  // Real and imaginary parts below each other, twice as many rows as lines; columns: two per pole (of Re R and Im R), then U, L.
  [[nodiscard]] Eigen::MatrixXd basis(const Eigen::VectorXcd& poles) const;
  // Derivatives of the columns of the poles: four per pole (of each column by Re λ, then of each by Im λ).
  [[nodiscard]] Eigen::MatrixXd derivatives(const Eigen::VectorXcd& poles) const;

  // Of the lines within the half-width of a pole, and of the nearest.
  [[nodiscard]] double energy_around(std::complex<double> pole,
                                     const Eigen::VectorXd& line_energy) const;

  [[nodiscard]] static Eigen::MatrixXd stacked(const Eigen::MatrixXcd& h);
  [[nodiscard]] static Eigen::MatrixXcd unstacked(const Eigen::MatrixXd& h);

 private:
  Eigen::VectorXcd s_, factor_;
};

struct RefinedPoles {
  Eigen::VectorXcd poles;
  Eigen::VectorXd frequency_sigma_hz, damping_sigma;
  // How far the residues of a pole stand out of the noise: mean square of residues over their variance, 1 for noise alone.
  Eigen::VectorXd significance;
  // What a pole alone explains, over the energy of the responses within its half-width: about 2 for a mode that stands free, the square of the ratio for one in
  // the shadow of others.
  Eigen::VectorXd share;
  Eigen::MatrixXcd rest;  // of the responses, what poles with free residues leave; lines x pairs
  int iterations = 0;
};

// Poles that minimise the error of all responses, each weighted by the inverse of its size, residues eliminated (variable projection, EMA-7), and standard deviations
// from the scatter of the fit. Poles marked in `fixed` stay. `h`: lines x pairs.
RefinedPoles refine_poles(const PoleResidueModel& model, const Eigen::MatrixXcd& h,
                          const Eigen::VectorXcd& poles, const std::vector<bool>& fixed,
                          int iterations);

struct ShapeFit {
  Eigen::MatrixXcd shapes;         // responses x modes
  Eigen::MatrixXd sigma;           // of their real and imaginary parts
  Eigen::MatrixXcd participation;  // excitations x modes, as they were given or found
  Eigen::MatrixXcd synthesised;    // lines x pairs
  Eigen::MatrixXd upper, lower;    // residual terms, responses x excitations
};

// Residues ψ_k l_kᵀ of rank one: the participations l_k begin as first singular vectors of free residues, for modes marked in `close` as they are given. Then shapes,
// participations, shapes … by linear least squares until the error stays (EMA-6). The poles of `outside` have free residues, as the residual terms.
// `h`: lines x pairs, column response + responses · excitation.
ShapeFit fit_shapes(const PoleResidueModel& model, const Eigen::MatrixXcd& h, int responses,
                    int excitations, const Eigen::VectorXcd& poles, const std::vector<bool>& close,
                    const Eigen::MatrixXcd& given, const Eigen::VectorXcd& outside);

}  // namespace panto
