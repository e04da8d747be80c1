// The scalar of exact first derivatives: eight directions at once.
#pragma once

#include <ceres/jet.h>

namespace panto {

inline constexpr int kDualLanes = 8;
using Dual = ceres::Jet<double, kDualLanes>;

}  // namespace panto
