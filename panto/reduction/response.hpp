// Full-order results that rankings are made for and reduced models measured by: chosen modes, steady responses to periodic forces.
#pragma once

#include <complex>
#include <utility>
#include <vector>

#include "panto/reduction/craig_bampton.hpp"

namespace panto {

// Some modes of the full system, rigid ones counted: the first has the number 0.
struct FullModes {
  std::vector<int> numbers;
  Eigen::VectorXd omega2;  // ascending
  Eigen::MatrixXd U;       // UᵀMU = I
  std::vector<int> alike;  // modes of the same frequency, itself included
};
// E0911 where a number is not that of a mode; E0908 where the iteration fails.
Result<FullModes> full_modes(const LinearSystem& system, const std::vector<int>& numbers);
// Elastic modes with from_hz <= f <= to_hz; E0911 where there are none.
Result<FullModes> full_modes(const LinearSystem& system, double from_hz, double to_hz, int rigid);

// Forces f e^{iωt} of one frequency: degree of freedom and complex amplitude (magnitude and phase) each.
struct Harmonic {
  double hz = 0;
  std::vector<std::pair<int, std::complex<double>>> forces;
};

// Complex amplitudes, one column per harmonic, of (K (1 + 2iζ) + iωC - ω²M) x = f (RED-12). ζ: structural damping, the damping ratio that every mode has
// at its resonance. Without damping x is real where the forces are. E0912 where an undamped system is excited at a natural frequency.
Result<Eigen::MatrixXcd> forced_response(const LinearSystem& system,
                                         const std::vector<Harmonic>& harmonics, double damping);

// How well one mode of the full system is kept by a reduced one: that with the largest NCO (RED-9); by as many together as have the same frequency in the full system,
// whose shapes are a choice among them.
struct ModeError {
  double frequency =
      0;  // |f* - f| / f; of a rigid mode relative to the lowest elastic frequency of the reduced system, 0 where it has none
  double nco = 0;
};
// `loaded`: {x₁; η} products HᵀMU with all computed modes, from mode_loads().
Eigen::MatrixXd mode_loads(const LinearSystem& system, const CraigBampton& cb,
                           const Eigen::MatrixXd& u);
std::vector<ModeError> mode_errors(const CraigBampton& cb, const FullModes& full,
                                   const Eigen::MatrixXd& loaded, const std::vector<int>& selected);

// Of the forced response: the smallest MAC of all harmonics, amplitudes taken as complex vectors and expanded to all degrees of freedom, and the
// largest relative error of the amplitude at a master (RED-11). 0 and infinity where the reduced model has no bounded response.
struct ResponseError {
  double mac = 1, gain = 0;
};
// Errors of reduced models that take in interior modes one by one, in the order given. Without a damping matrix a step costs m³ + (m + τ)², m masters.
class ResponseScan {
 public:
  // sample: place among the masters, -1: the master that moves most, per harmonic.
  ResponseScan(const LinearSystem& system, const CraigBampton& cb,
               const std::vector<Harmonic>& harmonics, double damping, const Eigen::MatrixXcd& full,
               int sample = -1);
  // Entry τ: with the first τ modes of `order`; NaN where it was not asked for. Every `step`-th size and the last.
  [[nodiscard]] std::vector<ResponseError> errors(const std::vector<int>& order,
                                                  int step = 1) const;

 private:
  [[nodiscard]] Eigen::VectorXcd reduced_response(size_t harmonic,
                                                  const std::vector<int>& selected) const;
  [[nodiscard]] ResponseError compare(size_t harmonic, const std::vector<int>& selected,
                                      const Eigen::VectorXcd& y) const;
  const CraigBampton& cb_;
  double damping_;
  std::vector<double> omega_;
  std::vector<Eigen::VectorXcd> force_;  // at the masters
  std::vector<Eigen::VectorXcd> full_;   // Hᵀx, all computed modes
  std::vector<double> norm2_;            // xᴴx
  std::vector<Eigen::Index> sample_;
  Eigen::VectorXcd amplitude_;  // full, at the sample
  Eigen::MatrixXd gram_;        // HᵀH
};

}  // namespace panto
