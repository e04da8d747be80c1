// Frequency responses as a sum of modes with residual terms (EMA-5): residues by linear least squares, poles by nonlinear least squares, each response weighted by its noise.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <limits>
#include <optional>
#include <vector>

namespace panto {

// Standard deviation of the noise in real and imaginary parts: one factor per line, one per pair (EMA-13).
struct ResponseNoise {
  Eigen::VectorXd lines, pairs;
};
// From differences of neighbouring lines, medians over lines and pairs; at least a thousandth of a response's root mean square.
ResponseNoise response_noise(const Eigen::MatrixXcd& h);

// H(s) = s^q ( Σ_k R_k / (s - λ_k) + conj(R_k) / (s - conj λ_k) + U + L / s² + V s² ), s = 2πi f + σ; q = 0, 1, 2 for displacement, velocity, acceleration per
// force, σ the rate of an exponential window of the responses; U, L and V (real) stand for modes above and below the band.
class PoleResidueModel {
 public:
  static constexpr Eigen::Index kResiduals = 3;

  // The frequencies must be positive where q < 2 and σ = 0.
  PoleResidueModel(const Eigen::VectorXd& frequency_hz, int q, double window_decay,
                   ResponseNoise noise);

  [[nodiscard]] Eigen::Index lines() const { return s_.size(); }
  [[nodiscard]] const ResponseNoise& noise() const { return noise_; }
  // Between two lines [1/s].
  [[nodiscard]] double spacing() const;
  // Of a pole's peak in the responses [1/s]: with the window's share.
  [[nodiscard]] double half_width(std::complex<double> pole) const {
    return s_(0).real() - pole.real();
  }
  [[nodiscard]] double line(Eigen::Index i) const { return s_(i).imag(); }
  // The first line that is not below; their number where all are.
  [[nodiscard]] Eigen::Index line_from(double omega) const;

  // Everything below in units of the noise: real and imaginary parts below each other, twice as many rows as lines. Columns of the basis: two per pole (of Re R and
  // Im R), then U, L, V.
  [[nodiscard]] Eigen::MatrixXd basis(const Eigen::VectorXcd& poles) const;
  // The two columns of a pole at lines first … first + count alone.
  [[nodiscard]] Eigen::MatrixXd columns(std::complex<double> pole, Eigen::Index first,
                                        Eigen::Index count) const;
  // Derivatives of the columns of the poles: four per pole (of each column by Re λ, then of each by Im λ).
  [[nodiscard]] Eigen::MatrixXd derivatives(const Eigen::VectorXcd& poles) const;
  [[nodiscard]] Eigen::MatrixXd stacked(const Eigen::MatrixXcd& h) const;
  [[nodiscard]] Eigen::MatrixXcd unstacked(const Eigen::MatrixXd& h) const;

  // Of the lines within the half-width of a pole, and of the nearest.
  [[nodiscard]] double energy_around(std::complex<double> pole,
                                     const Eigen::VectorXd& line_energy) const;

 private:
  void stack(const Eigen::VectorXcd& values, Eigen::Index first,
             Eigen::Ref<Eigen::VectorXd> out) const;

  Eigen::VectorXcd s_, factor_;
  ResponseNoise noise_;
};

// How far a pole stands out: the largest singular value of its residues (responses x excitations, in units of their scatter), squared, over the one that noise alone
// has in one of a thousand bands (EMA-16); below 1 it may be chance. And what the pole alone explains over the energy of the responses within its half-width: about 2
// for a mode that stands free, the square of the ratio for one in the shadow of others.
struct Standing {
  double significance = 0, share = 0;
};

struct RefinedPoles {
  Eigen::VectorXcd poles;
  Eigen::VectorXd frequency_sigma_hz, damping_sigma;
  std::vector<Standing> standing;
  double unexplained = 0;  // energy that poles with free residues leave, of the whole
  int iterations = 0;
};

// Poles that minimise the error of all responses, residues eliminated (variable projection, EMA-7), and standard deviations from the scatter of the fit. Poles marked
// in `fixed` stay. `y`: stacked responses, column response + responses · excitation.
RefinedPoles refine_poles(const PoleResidueModel& model, const Eigen::MatrixXd& y, int responses,
                          const Eigen::VectorXcd& poles, const std::vector<bool>& fixed,
                          int iterations);

// What poles with free residues leave of the responses, and how one more would stand there.
class Leftover {
 public:
  // `model` must outlive it.
  Leftover(const PoleResidueModel& model, const Eigen::MatrixXd& y, int responses,
           const Eigen::VectorXcd& poles);
  // By the lines within `reach` [1/s] of the pole.
  [[nodiscard]] Standing of(std::complex<double> pole,
                            double reach = std::numeric_limits<double>::infinity()) const;
  // The pole that stands out most, of all frequencies and widths up to `max_damping`, further than two half-widths from `known`, with at least this share; none where
  // all may be chance.
  [[nodiscard]] std::optional<std::complex<double>> best(
      const std::vector<std::complex<double>>& known, double max_damping, double least_share) const;

 private:
  const PoleResidueModel& model_;
  int responses_;
  Eigen::MatrixXd q_, left_;
  Eigen::VectorXd line_energy_;
  double limit_;
};

struct ShapeFit {
  Eigen::MatrixXcd shapes;         // responses x modes
  Eigen::MatrixXd sigma;           // of their real and imaginary parts
  Eigen::MatrixXcd participation;  // excitations x modes, as they were given or found
  Eigen::MatrixXcd synthesised;    // lines x pairs
  Eigen::MatrixXd upper, lower;    // residual terms U, L, responses x excitations
};

// Residues ψ_k l_kᵀ of rank one: the participations l_k begin as first singular vectors of free residues, for modes marked in `close` as they are given. Then shapes,
// participations, shapes … by linear least squares until the error stays (EMA-6). The poles of `outside` have free residues, as the residual terms.
ShapeFit fit_shapes(const PoleResidueModel& model, const Eigen::MatrixXd& y, int responses,
                    const Eigen::VectorXcd& poles, const std::vector<bool>& close,
                    const Eigen::MatrixXcd& given, const Eigen::VectorXcd& outside);

}  // namespace panto
