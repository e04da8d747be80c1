// Experimental modal analysis: natural frequencies, damping and shapes from measured frequency responses (docs/theory/ema.md).
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/model/frequency_data.hpp"
#include "panto/model/modal_test.hpp"

namespace panto {

struct EmaOptions {
  double from_hz = 0, to_hz = 0;  // band; to_hz 0: all lines
  int max_order = 40;  // of the denominator; poles sought at once: this times the references
  int references =
      0;  // combinations of excitations that the denominator sees; 0: up to 4, as many as carry the responses
  // A pole is stable where the one of the order before differs by less than this.
  double frequency_tolerance = 0.01, damping_tolerance = 0.05, participation_mac = 0.95;
  double max_damping = 0.2;
  // Poles to take, by frequency: the stable ones nearest to these. Empty: automatic.
  std::vector<double> select_hz;
  int refine = 20;  // steps of the nonlinear least squares that follow; 0: poles as selected
  std::function<bool(double fraction)> progress;  // false stops
};

enum class Stability : std::uint8_t { kNew, kFrequency, kDamping, kFull };

struct DiagramPole {
  int order = 0;
  double frequency_hz = 0, damping = 0;
  Stability stability = Stability::kNew;
};

struct EmaMode {
  double frequency_hz = 0, damping = 0;  // without the window's share
  double frequency_sigma = 0, damping_sigma = 0;
  Eigen::VectorXcd shape;  // at the responses, largest entry 1
  Eigen::VectorXd shape_sigma;
  Eigen::VectorXcd participation;  // at the excitations: residues are shape · participationᵀ
  double mpc = 0;                  // modal phase collinearity, 1: all points in phase or opposite
  double mpd = 0;                  // mean phase deviation [rad], 0: as before
  int orders = 0;                  // in which the pole was stable; 0: found in what others leave
  double significance = 0;         // of the residues (EMA-16), 1: the limit of chance
  // What the mode alone explains, over the energy of the responses within its half-width: about 2 where it stands free, little in the shadow of others.
  double share = 0;
  double assurance = 1;  // MAC with the true shape that the scatter lets expect
};

struct Ema {
  std::vector<DiagramPole> diagram;
  std::vector<EmaMode> modes;                         // ascending frequency
  std::vector<MeasuredPoint> responses, excitations;  // that were used
  Eigen::VectorXd frequency_hz;
  Eigen::MatrixXcd measured, synthesised;  // lines x pairs
  Eigen::VectorXd sum;                     // over all pairs of |H|
  Eigen::VectorXd correlation,
      error;                     // per pair: of synthesised and measured; relative error, energies
  Eigen::MatrixXd upper, lower;  // residual terms, responses x excitations
  int references = 0;
  bool complete = true;
};

// Errors: E0958 a band with too few lines, an order that the lines do not determine, no excitation or response that is complete; E0960 no stable pole, or none near a
// frequency that was asked for. Warnings: W0961 responses that were not measured for every excitation are left out; W0962 responses that the modes explain badly; W0966 modes whose
// shapes are lost in the scatter.
Result<Ema> ema(const FrequencyData& data, const EmaOptions& options = {});

// The measured modes at the points of the responses or, where a roving hammer gave more points, of the excitations (reciprocity).
ModalTest modal_test(const Ema& result);

// |aᴴb|² / (aᴴa bᴴb), modal assurance of two shapes.
double modal_assurance(const Eigen::VectorXcd& a, const Eigen::VectorXcd& b);

}  // namespace panto
