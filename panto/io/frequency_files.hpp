// What the readers and writers of frequency responses share, private to this folder's sources.
#pragma once

#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "panto/model/frequency_data.hpp"

namespace panto::frequency_files {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::string_view kWindow = "exponential window ";

inline bool same(const MeasuredPoint& a, const MeasuredPoint& b) {
  return a.frame == b.frame && (a.direction - b.direction).norm() < 1e-9;
}

inline size_t index_of(std::vector<MeasuredPoint>& points, const MeasuredPoint& point) {
  for (size_t i = 0; i < points.size(); ++i)
    if (same(points[i], point)) return i;
  points.push_back(point);
  return points.size() - 1;
}

struct MotionText {
  Motion motion;
  int specific_type;
  const char *label, *unit, *per_force;
};
inline constexpr MotionText kMotions[] = {
    {Motion::kDisplacement, 8, "Displacement", "m", "m/N"},
    {Motion::kVelocity, 11, "Velocity", "m/s", "m/s/N"},
    {Motion::kAcceleration, 12, "Acceleration", "m/s^2", "m/s^2/N"},
};
inline const MotionText& text_of(Motion motion) { return kMotions[static_cast<size_t>(motion)]; }

inline void resize(FrequencyData& data, Eigen::Index lines, bool coherence) {
  data.h = Eigen::MatrixXcd::Constant(lines, data.pairs(), std::complex<double>(kNaN, kNaN));
  if (coherence) data.coherence = Eigen::MatrixXd::Constant(lines, data.pairs(), kNaN);
}

inline bool ascends(const Eigen::VectorXd& f) {
  for (Eigen::Index i = 0; i < f.size(); ++i)
    if (!std::isfinite(f(i)) || f(i) < 0 || (i > 0 && !(f(i) > f(i - 1)))) return false;
  return f.size() > 0;
}

}  // namespace panto::frequency_files
