// What a modal test of a machine measured: frequencies, damping ratios and shapes at named points.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace panto {

// One measured degree of freedom: motion of a frame of the model along a direction of the ground.
struct MeasuredPoint {
  std::string frame;
  Eigen::Vector3d direction = Eigen::Vector3d::UnitX();
};

struct MeasuredMode {
  double frequency_hz = 0;
  double damping = 0;          // ratio of critical damping
  Eigen::VectorXcd shape;      // one entry per point; NaN where this mode was not measured there
  double frequency_sigma = 0;  // standard deviations; 0: not known
  double damping_sigma = 0;
  Eigen::VectorXd shape_sigma;  // per point; empty: not known
};

struct ModalTest {
  std::vector<MeasuredPoint> points;
  std::vector<MeasuredMode> modes;  // ascending frequency
};

}  // namespace panto
