// Measured frequency responses of a machine: what points did when forces acted at points.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "panto/model/modal_test.hpp"

namespace panto {

enum class Motion : std::uint8_t { kDisplacement, kVelocity, kAcceleration };

struct FrequencyData {
  std::vector<MeasuredPoint> responses, excitations;
  Eigen::VectorXd frequency_hz;  // ascending
  // One column per pair of points, lines x pairs; motion per force in SI units. NaN: the pair was not measured.
  Eigen::MatrixXcd h;
  Eigen::MatrixXd coherence;  // as h; empty: not measured
  Motion motion = Motion::kAcceleration;
  // Rate [1/s] of an exponential window that the responses were multiplied with, exp(-rate t): it adds itself to the decay of every mode.
  double window_decay = 0;

  [[nodiscard]] Eigen::Index pair(size_t response, size_t excitation) const {
    return static_cast<Eigen::Index>(excitation * responses.size() + response);
  }
  [[nodiscard]] Eigen::Index pairs() const {
    return static_cast<Eigen::Index>(responses.size() * excitations.size());
  }
};

}  // namespace panto
