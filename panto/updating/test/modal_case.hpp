// Frequency responses of a modal model that is known.
#pragma once

#include <complex>
#include <numbers>

#include "panto/model/frequency_data.hpp"
#include "panto/numerics/random.hpp"

namespace panto::test {

struct KnownModes {
  Eigen::VectorXd frequency_hz, damping;
  Eigen::MatrixXcd shapes, participation;  // responses x modes, excitations x modes
  Eigen::MatrixXd upper, lower;            // empty: none
};

// Shapes of a string at evenly spaced points, so that all modes differ.
inline KnownModes string_modes(const Eigen::VectorXd& frequency_hz, const Eigen::VectorXd& damping,
                               int responses, int excitations) {
  KnownModes m{frequency_hz, damping, {}, {}, {}, {}};
  const auto shape = [&](int points) {
    Eigen::MatrixXcd out(points, frequency_hz.size());
    for (Eigen::Index k = 0; k < out.cols(); ++k)
      for (int i = 0; i < points; ++i)
        out(i, k) =
            std::sin(std::numbers::pi * (static_cast<double>(k) + 1) * (i + 1) / (points + 1.37));
    return out;
  };
  m.shapes = shape(responses);
  m.participation = shape(excitations);
  // A mass of 2 kg: residues 1 / (2i ω_d m).
  for (Eigen::Index k = 0; k < frequency_hz.size(); ++k) {
    const double w = 2 * std::numbers::pi * frequency_hz(k);
    m.participation.col(k) /=
        std::complex<double>(0, 2 * w * std::sqrt(1 - damping(k) * damping(k)) * 2);
  }
  return m;
}

inline FrequencyData responses_of(const KnownModes& m, const Eigen::VectorXd& lines,
                                  Motion motion = Motion::kAcceleration, double window = 0) {
  FrequencyData data;
  data.motion = motion;
  data.window_decay = window;
  data.frequency_hz = lines;
  for (Eigen::Index i = 0; i < m.shapes.rows(); ++i)
    data.responses.push_back({"r" + std::to_string(i), Eigen::Vector3d::UnitZ()});
  for (Eigen::Index i = 0; i < m.participation.rows(); ++i)
    data.excitations.push_back({"e" + std::to_string(i), Eigen::Vector3d::UnitZ()});
  data.h.resize(lines.size(), data.pairs());
  for (Eigen::Index i = 0; i < lines.size(); ++i) {
    const std::complex<double> s(window, 2 * std::numbers::pi * lines(i));
    Eigen::MatrixXcd h = Eigen::MatrixXcd::Zero(m.shapes.rows(), m.participation.rows());
    for (Eigen::Index k = 0; k < m.frequency_hz.size(); ++k) {
      const double w = 2 * std::numbers::pi * m.frequency_hz(k), z = m.damping(k);
      const std::complex<double> pole(-z * w, w * std::sqrt(1 - z * z));
      const Eigen::MatrixXcd residue = m.shapes.col(k) * m.participation.col(k).transpose();
      h += residue / (s - pole) + residue.conjugate() / (s - std::conj(pole));
    }
    if (m.upper.size() > 0) h += m.upper;
    if (m.lower.size() > 0) h += m.lower / (s * s);
    if (motion != Motion::kDisplacement) h *= s;
    if (motion == Motion::kAcceleration) h *= s;
    data.h.row(i) = h.reshaped().transpose();
  }
  return data;
}

// Every response with normal noise of this share of its root mean square, in its real and its imaginary part together.
inline void add_noise(FrequencyData& data, double share, std::uint64_t seed) {
  for (Eigen::Index k = 0; k < data.h.cols(); ++k) {
    const double rms = data.h.col(k).norm() / std::sqrt(static_cast<double>(data.h.rows()));
    for (Eigen::Index i = 0; i < data.h.rows(); ++i) {
      const auto at = static_cast<std::uint64_t>(2 * i);
      const auto stream = static_cast<std::uint64_t>(k);
      data.h(i, k) += std::complex<double>(normal(seed, stream, at), normal(seed, stream, at + 1)) *
                      (share * rms / std::numbers::sqrt2);
    }
  }
}

}  // namespace panto::test
